"""False theorems of gradient methods, written as a reader would, are refuted; true ones are not."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from theory import catalog
from theory.claim import Paper
from validate.examine import examine
from validate.expected import lines
from validate.instances import read_instance
from validate.instances.pool import Drawn
from validate.instances.problems import in_floats
from validate.on_instance import setting_of

FILES = [
    Path(__file__).parent.parent / "language" / f"{name}.py" for name in ("gradient_methods", "schedules", "sizes")
]


def claims():
    found = {}
    for path in FILES:
        names: dict[str, object] = {}
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)
        paper = names["PAPER"]
        assert isinstance(paper, Paper)
        found |= {f"{c.label}" if path == FILES[0] else f"{c.label}-{path.stem}": c for c in paper}
    return found


CLAIMS = claims()
QUICK = ("t1-sizes", "t3-sizes")
LONG = ("f7", "f16-sizes", "f1-schedules", "f2-schedules", "f1-sizes", "f10-sizes", "f7-sizes")
"""What is true and does not take a check long, and what is false and does."""
OPEN = {"t6": "runs near a knee come nearer to its bound as K grows, so slowly that no limit shows"}
"""What is true and neither proved nor supported."""


def labels(first: str) -> list[object]:
    """Of the claims that begin so, slow where a check takes long."""
    slow = [x for x in CLAIMS if (x not in QUICK if first == "t" else x in LONG)]

    def marks(label: str) -> list[pytest.MarkDecorator]:
        expected = [pytest.mark.xfail(reason=OPEN[label], strict=True)] if label in OPEN else []
        return [*([pytest.mark.slow] if label in slow else []), *expected]

    return [pytest.param(x, marks=marks(x)) for x in CLAIMS if x.startswith(first)]


@pytest.mark.parametrize("label", labels("f"))
def test_a_false_theorem_is_refuted(label, tmp_path):
    result = examine(CLAIMS[label], quick=True, out=tmp_path)
    assert result.verdict == "refuted", result.covered
    assert result.origin in ("pool", "search")


@pytest.mark.parametrize("label", labels("t"))
def test_a_true_theorem_is_supported_or_proved(label, tmp_path):
    result = examine(CLAIMS[label], quick=True, out=tmp_path)
    assert result.verdict in ("supported", "proved"), (result.covered, result.evidence[0].detail)


def test_what_cancels_far_from_the_origin_is_no_break():
    """The minimiser is 10, and after 100 epochs both sides are the rounding of values near -200."""
    claim = catalog.claim("textbook/svrg-contraction")
    data = {
        "algorithm": "textbook/svrg",
        "parameters": {"H": 5, "eta": "1/28"},
        "problem": {"clients": [[{"h": 7, "b": 70}, {"h": 1, "b": 10}]]},
        "start": "1/2",
        "rounds": 100,
    }
    instance = read_instance(data, claim.of)
    constants = {"L": Fraction(7), "mu": Fraction(4)}
    one = Drawn(instance, constants, {**instance.parameters, **constants})
    found = lines(claim, in_floats(instance.problem.quadratic), setting_of(claim, one))
    assert len(found) == 100
    assert {line.status for line in found} == {"holds"}
    high = replace(claim, statement="mean_h(E(f(y[k, h])) - fstar) <= -1e-6*alpha**0")
    broken = lines(high, in_floats(instance.problem.quadratic), setting_of(high, one))
    assert {line.status for line in broken} == {"broken"}


@pytest.mark.parametrize("label", [label for label in CLAIMS if label.startswith("v")])
def test_what_the_algorithm_cannot_run_with_is_vacuous(label, tmp_path):
    assert examine(CLAIMS[label], quick=True, out=tmp_path).verdict == "vacuous"
