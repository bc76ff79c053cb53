"""Law: where a side is undefined the instance says nothing, and is counted; an undefined relation does not hold."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.laws import units
from tests.shares import share
from theory import claim
from theory.claim import Claim
from validate.examine import examine
from validate.instances.hunt import hunt
from validate.instances.pool import drawn


def told(one: Claim, out: Path) -> tuple[str, str]:
    result = examine(one, quick=True, out=out)
    return result.verdict, " ".join(item.detail for item in result.evidence)


@pytest.mark.parametrize("one", units.UNDEFINED, ids=lambda one: one.label)
def test_undefined_rows_are_counted_and_break_nothing(one: Claim) -> None:
    found = hunt(one, pool=60, evaluations=0)
    assert found.broken is None
    assert found.undefined > 0
    assert found.seen


@pytest.mark.parametrize("one", units.DEFINED, ids=lambda one: one.label)
def test_large_rows_are_no_undefined_ones(one: Claim) -> None:
    found = hunt(one, pool=60, evaluations=0)
    assert (found.broken, found.undefined) == (None, 0)
    assert found.seen


@pytest.mark.slow
@pytest.mark.parametrize("one", units.UNDEFINED, ids=lambda one: one.label)
def test_what_is_undefined_somewhere_is_counted(one: Claim, tmp_path: Path) -> None:
    verdict, text = told(one, tmp_path)
    assert verdict == "supported"
    assert "a side is undefined in" in text


@pytest.mark.slow
@pytest.mark.parametrize("one", units.DEFINED, ids=lambda one: one.label)
def test_what_is_large_is_not_undefined(one: Claim, tmp_path: Path) -> None:
    verdict, text = told(one, tmp_path)
    assert verdict == "supported"
    assert "undefined" not in text


@pytest.mark.usefixtures("few_instances", "without_search")
def test_what_is_undefined_everywhere_supports_nothing(tmp_path: Path) -> None:
    verdict, text = told(units.NEVER, tmp_path)
    assert verdict == "undecided"
    assert "no instance on which it says something" in text
    assert not hunt(units.NEVER, pool=100, evaluations=100).seen


@pytest.mark.parametrize("relation", share(["delta <= 10/(1 - L)**2", "1/(1 - L)**2 < 10**9", "k <= 1/(1 - L)**2"], 3))
def test_an_instance_on_which_a_relation_is_undefined_is_none(relation: str) -> None:
    """A division by zero is no infinity: no relation holds there, whichever side it is on."""
    one = replace(units.DEFINED[0], assuming=(*units.ASSUMED, relation))
    found = [d for d in (drawn(one, seed) for seed in range(300)) if d is not None]
    assert found
    assert all(d.values["L"] != 1 for d in found)
    without = [d for d in (drawn(units.DEFINED[0], seed) for seed in range(300)) if d is not None]
    assert any(d.values["L"] == 1 for d in without)


def test_a_relation_that_is_undefined_without_noise_leaves_out_what_has_none() -> None:
    one = units.made("as-long-as-the-noise-allows", units.DISTANCE, "R2*noise", assuming=("delta <= R2/noise",))
    for seed in range(100):
        found = drawn(one, seed)
        if found is not None:
            gradients = found.instance.problem
            assert gradients is not None
            assert max(gradients.samples(n) for n in range(gradients.clients)) > 1


@pytest.mark.parametrize(
    ("statement", "relation"), [("sqrt(-1 - y)**2 == -1 - y", "y >= 0"), ("log(-1 - y) - log(-1 - y) == 0", "y >= 0")]
)
def test_numbers_without_a_value_are_neither_proved_nor_refuted(statement: str, relation: str, tmp_path: Path) -> None:
    assert examine(claim("odd", statement, assuming=(relation,)), quick=True, out=tmp_path).verdict == "undecided"
