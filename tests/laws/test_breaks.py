"""Law: a break that was found is never denied. Confirm what was found as it was found, then make it smaller."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory import Convex, Hypothesis, Paper, Smooth, StronglyConvex
from theory.claim import Claim
from validate import papers, verifier
from validate.bounds import breaks
from validate.checking import EVALUATIONS, check_claim
from validate.falsify import recomputed, smallest
from validate.own import claim, parameters, run
from validate.own.module import OwnModule
from validate.scenario import read_scenario
from validate.search import Structure, certificate_of, search, search_evidence
from validate.survey import Pool, pool_of, survey
from validate.verdict import BEYOND, Result

SYMBOLS = parameters(
    delta="step",
    mu="strong_convexity",
    L="sample_smoothness",
    H="local_steps",
    k="round",
    R2="start_distance",
    noise="noise_at_minimiser",
    G2="largest_second_moment",
    zeta2="largest_dissimilarity",
)
ONE_STEP = Hypothesis("one local step", "clients average after each step", relation="H <= 1")
CONDITIONS = (
    Hypothesis("smooth", "every sample", assumption=Smooth("L", "sample")),
    Hypothesis("convex", "every sample", assumption=Convex("sample")),
    Hypothesis("strongly convex", "every client", assumption=StronglyConvex("mu")),
    Hypothesis("step size", "delta <= 1/(2L)", relation="delta <= 1/(2*L)"),
)
SEVERAL = "(1-delta*mu)**k*R2 + 2*delta*noise/mu + 100*H**2*delta*{zeta}/mu**2"
"""By (label, quantity, right side): with a square or a power that is not there, or without one that is."""
WRONG_UNITS = (
    ("start-squared", "squared_distance", "(1-delta*mu)**k*R2**2 + 2*delta*noise/mu"),
    ("noise-squared", "squared_distance", "(1-delta*mu)**k*R2 + 2*delta*noise**2/mu"),
    ("step-squared", "squared_distance", "(1-delta*mu)**k*R2 + 2*delta**2*noise/mu"),
    ("mu-squared", "squared_distance", "(1-delta*mu**2)**k*R2 + 2*delta*noise/mu"),
    ("moment-squared", "squared_distance", "(1-delta*mu)**k*R2 + delta*G2**2/mu"),
    ("smoothness-squared", "suboptimality", "L**2/2*(1-delta*mu)**k*R2 + L**2*delta*noise/mu"),
    ("smoothness-once", "squared_gradient_norm", "L*R2 + L*delta*noise"),
)


def own(label: str, quantity: str, right: str, hypotheses: tuple[Hypothesis, ...] = (*CONDITIONS, ONE_STEP)) -> Claim:
    return claim(f"units/{label}", "words", quantity, right, parameters=SYMBOLS, hypotheses=hypotheses)


def checked(one: Claim, monkeypatch: pytest.MonkeyPatch, out: Path, evaluations: int = EVALUATIONS[True]) -> Result:
    """The verdict on a claim of a file of one's own, quick."""
    module = OwnModule(Paper("units", "Units", "me", (one,)))
    monkeypatch.setattr(papers, "_added", {"units": module})
    return check_claim(one, module, pool_of(module, True, lambda text: None, "units"), (), out, evaluations, True)


@pytest.mark.parametrize(("label", "quantity", "right"), WRONG_UNITS, ids=[label for label, *_ in WRONG_UNITS])
def test_a_wrong_unit_is_never_supported(
    label: str, quantity: str, right: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    result = checked(own(label, quantity, right), monkeypatch, tmp_path)
    assert result.verdict in ("refuted", "undecided")
    assert result.evidence[0].outcome in ("refuted", "fails")
    assert result.broken


def test_what_breaks_in_its_own_units_only_is_confirmed_there() -> None:
    """In unit scale, where the start is 1 away, the square is no less: the break is at starts that are nearer."""
    one = own("start", "squared_distance", "(1-delta*mu)**k*R2**2")
    found = search(one, run.cases, evaluations=600, structures=[Structure(algorithm="local-sgd", present=True)])
    assert found.counterexample is not None
    assert breaks(one, found.counterexample.left, found.counterexample.right)
    assert (
        0
        < abs(Fraction(found.counterexample.spec["theta0"]) - Fraction(found.counterexample.spec["clients"][0]["a"][0]))
        < 1
    )
    assert verifier.verify(certificate_of(one, found.counterexample)).valid


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    factor=st.fractions(Fraction(1, 2), Fraction(1), max_denominator=2**40),
    power=st.integers(1, 2),
    curvature=st.integers(-1, 1),
    seed=st.integers(0, 5),
)
def test_a_search_whose_best_point_breaks_the_claim_says_so(
    factor: Fraction, power: int, curvature: int, seed: int
) -> None:
    """A bound that is attained, times a factor of at most 1, in any units: what says "holds" is not broken where it is
    nearest to it, in fractions."""
    one = own("attained", "squared_distance", f"({factor})*(1-delta*mu)**(2*k)*R2**{power}*L**{curvature}", CONDITIONS)
    shapes = [Structure(algorithm="local-sgd", present=True)]
    evidence, found = search_evidence(one, run.cases, seed=seed, evaluations=120)
    result = search(one, run.cases, seed=seed, evaluations=400, structures=shapes)
    for outcome, counterexample, spec in (
        (evidence.outcome, found, (evidence.data or {}).get("spec")),
        ("holds" if result.found is None and result.suspect is None else "fails", result.found, result.spec),
    ):
        if counterexample is not None:
            assert outcome == "fails"
            assert breaks(one, counterexample.left, counterexample.right)
        elif spec is not None:
            assert (outcome == "holds") == (recomputed(one, spec, run.cases)[1] is None)


def test_a_factor_that_floats_can_hardly_tell_is_told_by_fractions() -> None:
    """An attained bound times 1 - 2^-40: the break is smaller than what counts as rounding."""
    factor = 1 - Fraction(1, 2**40)
    one = own("attained", "squared_distance", f"({factor})*(1-delta*mu)**(2*k)*R2", CONDITIONS)
    result = search(one, run.cases, evaluations=400, structures=[Structure(algorithm="local-sgd", present=True)])
    assert result.counterexample is not None
    assert breaks(one, result.counterexample.left, result.counterexample.right)
    true = own("attained", "squared_distance", "(1-delta*mu)**(2*k)*R2", CONDITIONS)
    assert (
        search(true, run.cases, evaluations=400, structures=[Structure(algorithm="local-sgd", present=True)]).found
        is None
    )


def unable(*arguments: Any) -> Any:
    raise ValueError("beyond what fractions can hold")


def test_a_break_that_cannot_be_confirmed_stays_a_break(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("validate.search.unguided.recomputed", unable)
    monkeypatch.setattr("validate.search.reduce.confirm", unable)
    monkeypatch.setattr("validate.falsify.recomputed", unable)
    one = own("quarter", "squared_distance", "R2/4", CONDITIONS)
    evidence, found = search_evidence(one, run.cases, evaluations=300)
    assert found is None
    assert evidence.outcome == "fails"
    assert "beyond what fractions can hold" in evidence.detail
    assert "did not break" not in evidence.detail
    assert evidence.data is not None
    assert read_scenario(evidence.data["spec"], exact=True).rounds >= 1
    result = checked(one, monkeypatch, tmp_path, evaluations=300)
    assert result.verdict == "undecided"
    assert [e.outcome for e in result.evidence[:2]] == ["fails", "fails"]  # the search's and the pool's
    assert result.broken


def test_a_break_that_fractions_show_to_be_rounding_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("validate.search.unguided.recomputed", lambda *arguments: (True, None))
    monkeypatch.setattr("validate.search.reduce.confirm", lambda *arguments: None)
    one = own("quarter", "squared_distance", "R2/4", CONDITIONS)
    shapes = [Structure(algorithm="local-sgd", present=True)]
    result = search(one, run.cases, evaluations=300, structures=shapes)
    assert result.found is result.suspect is None


def test_a_suspect_of_the_pool_that_cannot_be_recomputed_stays_suspected(monkeypatch: pytest.MonkeyPatch) -> None:
    one = own("quarter", "squared_distance", "R2/4", CONDITIONS)
    module = OwnModule(Paper("units", "Units", "me", (one,)))
    looked = survey(one, module, pool_of(module, True, lambda text: None, "units"))
    assert len(looked.suspects) > 3
    monkeypatch.setattr("validate.falsify.recomputed", unable)
    assert smallest(one, looked.suspects, module.cases) == (None, 0)
    [said] = [item for item in looked.evidence(0) if item.kind == "exact"]
    assert said.outcome == "fails"


def test_where_the_simpler_instance_breaks_nothing_the_original_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that is simpler is accepted: the instance is the point that was found, to the last bit."""
    monkeypatch.setattr("validate.search.reduce.confirm", lambda *arguments: None)
    one = own("quarter", "squared_distance", "R2/4", CONDITIONS)
    result = search(one, run.cases, evaluations=300, structures=[Structure(algorithm="local-sgd", present=True)])
    assert result.counterexample is not None
    assert Fraction(result.counterexample.spec["step"]).denominator > 2**20
    assert breaks(one, result.counterexample.left, result.counterexample.right)


def test_a_search_that_time_ends_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    one = own("true", "squared_distance", "R2 + 2*delta*noise/mu", (*CONDITIONS, ONE_STEP))
    clock = iter(range(10**9))
    monkeypatch.setattr("validate.search.unguided.time.monotonic", lambda: float(next(clock)))
    evidence, _ = search_evidence(one, run.cases, seconds=10, evaluations=10**6)
    assert "its limit of 10 seconds stopped it" in evidence.detail
    assert evidence.data is not None
    assert evidence.data["stopped_after_seconds"] == 10
    assert evidence.data["evaluations"] < evidence.data["budget"] == 10**6


def test_an_empty_pool_does_not_hide_what_the_search_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A part of the check that fails takes nothing of the others with it."""
    monkeypatch.setattr("validate.checking.survey", unable)
    one = own("quarter", "squared_distance", "R2/4", CONDITIONS)
    module = OwnModule(Paper("units", "Units", "me", (one,)))
    monkeypatch.setattr(papers, "_added", {"units": module})
    result = check_claim(one, module, Pool((), ()), (), tmp_path, 300, True)
    assert result.verdict == "refuted"
    assert result.origin == "search"
    assert any("beyond what fractions can hold" in e.detail and e.outcome == "undecided" for e in result.evidence)
    assert (result.tightness or 0) < BEYOND
    assert replace(result, evidence=()).broken is False
