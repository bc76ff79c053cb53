"""Law: nothing is fed. What somebody wrote by hand is tried last, and evidence from it says `given`."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.laws import units
from theory import claim
from theory.claim import Claim
from validate import examine as examining
from validate import files
from validate.certificate import read, verify
from validate.examine import examine
from validate.instances.seen import Hunt

NOISY: dict[str, Any] = {
    "algorithm": "a/parallel_sgd",
    "parameters": {"delta": "1/4"},
    "problem": {"clients": [[{"h": "1", "a": "1"}, {"h": "1", "a": "-1"}]]},
    "start": ["0"],
    "rounds": 1,
    "constants": {"mu": "1", "L": "1"},
}
QUIET = {**NOISY, "problem": {"clients": [[{"h": "1", "a": "0"}]]}, "start": ["1"]}


def made(*given: dict[str, Any]) -> Claim:
    """True without noise, where it is attained, and false with noise."""
    return claim(
        "without-noise",
        "E(norm2(x[k] - xstar)) <= (1 - delta*mu)**(2*k)*norm2(x0 - xstar)",
        of=units.parallel_sgd,
        assuming=("smooth(f_n, L)", "strongly_convex(f_n, mu)", "mu == L"),
        given=given,
    )


@pytest.fixture
def nothing_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pool and a search that find nothing."""
    monkeypatch.setattr(examining, "hunt", lambda *arguments, **more: Hunt())


@pytest.mark.usefixtures("nothing_made")
def test_what_is_given_says_so(tmp_path: Path) -> None:
    result = examine(made(QUIET, NOISY), quick=True, out=tmp_path)
    assert result.verdict == "refuted"
    assert result.origin == "given"
    assert all(e.origin == "given" for e in result.evidence if e.outcome in ("refuted", "fails"))


@pytest.mark.usefixtures("nothing_made")
def test_what_is_given_supports_nothing(tmp_path: Path) -> None:
    result = examine(made(QUIET), quick=True, out=tmp_path)
    assert result.verdict == "undecided"
    assert not any(e.outcome == "holds" for e in result.evidence if e.kind != "hypotheses")


def test_what_the_pool_breaks_needs_nothing_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examining, "_given", lambda *arguments: pytest.fail("it was asked for"))
    result = examine(made(NOISY), quick=True, out=tmp_path)
    assert result.verdict == "refuted"
    assert result.origin == "pool"


def test_what_the_search_finds_says_so(tmp_path: Path) -> None:
    """It is false of hardly any number, and the search steps there."""
    one = claim("narrow", "(t - 3701/1000)**2 >= 1/10000")
    result = examine(one, quick=True, out=tmp_path)
    assert result.verdict == "refuted"
    assert result.origin == "search"


def test_a_name_or_an_id_decides_nothing(tmp_path: Path) -> None:
    """The same words are tried on the same instances, whoever says them."""
    one = made()
    ours, theirs = (examine(replace(one, paper=p, label="x"), quick=True, out=tmp_path / p) for p in ("me", "textbook"))
    assert ours.verdict == theirs.verdict
    assert [e.detail for e in ours.evidence] == [e.detail for e in theirs.evidence]


ANGLE = """
from theory import Paper, algorithm, claim


@algorithm
def descent(w, x, *, eta):
    return x - eta * w.full_gradient(x)


GIVEN = {
    "algorithm": "turning.py:descent", "parameters": {"eta": "1/80"}, "start": [-3, 2], "rounds": 97,
    "problem": {"clients": [[{"ridges": [
        {"a": [1, 0], "knots": [-3], "slopes": [0, "1/2"]}, {"a": [-3, 3], "knots": [6], "slopes": [0, "1/4"]},
        {"a": [-1, -3], "knots": [1], "slopes": [0, "1/2"]},
    ], "b": ["-3/2", 0]}]]},
}
CLAIM = claim(
    "angle", "dot(grad(f, x0), grad(f, x[k])) >= 0", of=descent,
    assuming=("smooth(f, L)", "convex(f)", "eta <= 1/(10*L)"), given=(GIVEN,),
)
PAPER = Paper("turning", "Gradients that turn", "me", (CLAIM,))
"""


def test_a_given_instance_has_the_constants_that_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The best L of ridges in slanted directions is irrational: one just above it stands in the certificate."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "turning.py").write_text(ANGLE, encoding="utf-8")
    with files.forgetting():
        (one,) = files.load("turning.py")
        ((evidence, path),) = examining._given(one, tmp_path, True)
    assert (evidence.outcome, evidence.origin) == ("refuted", "given")
    assert path is not None
    assert verify(path).valid
    assert Fraction(read(path)["parameters"]["L"]) < 8
