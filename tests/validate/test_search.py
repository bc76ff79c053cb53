"""The unguided search: what it refutes, what it leaves alone, and the pieces it is made of."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from validate.papers.open_fl import cases as of_open_fl
from validate.papers.perm import cases

from sim.algorithms import FedAvg
from theory.catalog import claim
from theory.claim import Claim, Parameter, Quantity
from theory.domain import COUNT, NONNEGATIVE
from theory.feasible.points import simplest
from validate import certificate
from validate.bounds import Cases, breaks
from validate.falsify import Counterexample, confirm, size
from validate.scenario import Scenario, Spec
from validate.search.landscape import Landscape, at_fixed_point, excess, measured, most_rounds, survey
from validate.search.reduce import check_instance, confirm_fixed_point, reduced
from validate.search.simple import height, simpler, simplest_near
from validate.search.space import structures
from validate.search.unguided import FixedPoint, Structure, certificate_of, search, search_evidence

LEMMA = claim("perm/lemma-6/corrected")
STEP = claim("perm/lemma-4/corrected")


def tightened(one: Claim, factor: str = "1/2") -> Claim:
    """The claim with a right side that is too small."""
    return replace(one, right=f"({one.right})*({factor})")


FALSE = tightened(LEMMA)
PAIR = Structure(1, 2, 1, 1, 1, present=True, algorithm="local-sgd")


def assert_refutes(one: Claim, found: Counterexample) -> None:
    again = confirm(one, found.spec, cases)
    assert again is not None
    assert (again.left, again.right) == (found.left, found.right)
    assert breaks(one, found.left, found.right)
    assert certificate.verify(certificate_of(one, found)).valid


def test_a_false_claim_is_refuted_without_a_hint() -> None:
    result = search(FALSE, cases, seconds=300, evaluations=40_000, seed=0)
    assert result.counterexample is not None
    assert result.found is result.counterexample
    assert_refutes(FALSE, result.counterexample)
    spec = result.counterexample.spec
    assert size(spec)[:4] == (1, 1, 1, 1)  # one client, one sample, one round of one step: the least
    assert result.excess is not None
    assert result.excess > 0
    assert result.ratio is not None
    assert result.ratio > 1
    assert "exact arithmetic" in result.detail


DRIFT = Claim(
    id="toy/drift",
    kind="theorem",
    title="t",
    equation="(1)",
    statement="the squared gradient norm after K rounds",
    latex="q",
    quantity=Quantity("final_squared_gradient_norm", "the squared gradient norm after K rounds", "q"),
    source="nowhere",
    parameters=(Parameter("K", COUNT, "rounds"), Parameter("c", NONNEGATIVE, "the largest squared slope")),
    right="c/K",
    relation="<=",
)


def at_the_end(one: Claim, scenario: Scenario) -> Cases | None:
    """Local SGD with everybody, and where it ends."""
    if not isinstance(scenario.algorithm, FedAvg) or not (scenario.participation.p == 1).all():
        return None
    slopes = [h * h * (1 + a * a) for h, a in zip(scenario.problem.hessian.ravel(), scenario.problem.linear.ravel(),
                                                   strict=True)]  # fmt: skip
    left = scenario.moments().squared_gradient_norm[-1:]
    return Cases(np.array(left), {"K": scenario.rounds, "c": max(slopes)}, {})


def test_a_claim_for_every_K_is_refuted_at_a_fixed_point() -> None:
    structure = Structure(2, 1, 1, 5, present=True, stationary=True, algorithm="local-sgd")
    result = search(DRIFT, at_the_end, seconds=300, evaluations=3_000, structures=[structure])
    found = result.fixed_point
    assert result.counterexample is None
    assert isinstance(found, FixedPoint)
    assert found.right < found.left
    assert 1 < found.rounds == found.parameters["K"] <= most_rounds(structure)
    assert confirm_fixed_point(DRIFT, found.spec, at_the_end, found.rounds) == found
    assert confirm_fixed_point(DRIFT, found.spec, at_the_end, found.rounds // 2) is None


def test_a_search_is_repeatable() -> None:
    shapes = [PAIR, replace(PAIR, clients=2, inner=2)]
    results = [search(LEMMA, cases, seconds=300, evaluations=2_000, seed=s, structures=shapes) for s in (3, 3, 4)]
    assert results[0] == results[1]
    assert results[0].spec != results[2].spec


@pytest.mark.parametrize("one", [LEMMA, STEP], ids=lambda one: one.label)
def test_true_claims_survive(one: Claim) -> None:
    shapes = [replace(PAIR, clients=2, inner=3), replace(PAIR, clients=2, samples=1, inner=2, rounds=2)]
    result = search(one, cases, seconds=300, evaluations=3_000, structures=shapes)
    assert result.found is None, result.found
    assert result.structures
    assert result.excess is not None
    assert result.excess <= 1e-9
    assert result.ratio is None or 0 < result.ratio <= 1 + 1e-9


@pytest.mark.parametrize("relation", ["=", ">="])
def test_other_relations_are_searched_too(relation: Any) -> None:
    one = replace(LEMMA, relation=relation)
    result = search(one, cases, seconds=300, evaluations=1_500, structures=[PAIR])
    assert result.counterexample is not None
    assert breaks(one, result.counterexample.left, result.counterexample.right)
    assert result.ratio is None


def drifting(one: Claim, scenario: Scenario) -> Cases | None:
    """A claim about local SGD: where it ends, in the place of a left side."""
    if not isinstance(scenario.algorithm, FedAvg):
        return None
    left = scenario.moments().squared_gradient_norm[-1:]
    start = scenario.moments().squared_gradient_norm[0]
    return Cases(np.array(left), {"squared_gradient_norm": start, "delta": scenario.algorithm.step}, {})


def test_only_algorithms_of_which_the_claim_speaks_are_searched() -> None:
    one = replace(DRIFT, right="squared_gradient_norm", parameters=(
        Parameter("squared_gradient_norm", NONNEGATIVE, "at the start"), Parameter("delta", NONNEGATIVE, "the step")
    ))  # fmt: skip
    result = search(one, drifting, seconds=300, evaluations=2_000)
    assert result.counterexample is not None
    assert result.counterexample.spec["algorithm"] == "local-sgd"
    assert all(s.algorithm == "local-sgd" for s in result.structures)
    evidence, found = search_evidence(one, drifting, seconds=300, evaluations=2_000)
    assert (evidence.kind, evidence.outcome) == ("search", "fails")
    assert found == result.counterexample


def test_evidence() -> None:
    evidence, found = search_evidence(LEMMA, cases, seconds=300, evaluations=1_000)
    assert found is None
    assert evidence.outcome == "holds"
    nothing, found = search_evidence(LEMMA, lambda claim, scenario: None, seconds=300, evaluations=1_000)
    assert found is None
    assert nothing.outcome == "undecided"
    assert nothing.data is not None
    assert nothing.data["structures"] == 0


BIG: Spec = {
    "algorithm": "local-sgd",
    "clients": [
        {"h": ["11/13", "1"], "a": ["0", "3/7"], "p": "1"},
        {"h": ["1", "17/16"], "a": ["-1/9", "0"], "p": "1"},
    ],
    "step": "1/17",
    "local_steps": 2,
    "K": 2,
    "theta0": "19/7",
}


def test_a_reduction_is_never_larger_and_still_breaks() -> None:
    one = tightened(LEMMA, "1/8")
    found = confirm(one, BIG, cases)
    assert found is not None
    less = reduced(found, check_instance(one, cases), checks=15)
    least = reduced(found, check_instance(one, cases))
    assert size(least.spec) <= size(less.spec) <= size(found.spec)
    assert size(least.spec) < size(found.spec)
    for smaller in (less, least):
        assert_refutes(one, smaller)
    assert reduced(least, check_instance(one, cases)) == least


@given(st.fractions(max_denominator=200), st.fractions(min_value=0, max_denominator=200))
@settings(max_examples=200, deadline=None)
def test_the_simplest_rational_between(low: Fraction, width: Fraction) -> None:
    found = simplest(low, low + width)
    assert low <= found <= low + width
    for q in range(1, found.denominator):
        first = -((-low.numerator * q) // low.denominator)  # ceil(low q)
        assert first > (low + width) * q
    first, last = -((-low * found.denominator) // 1), (low + width) * found.denominator // 1
    assert abs(found.numerator) == min(abs(x) for x in (first, last, 0) if first <= x <= last)


@pytest.mark.parametrize(
    ("value", "tolerance", "expected"),
    [
        (0.3333333333, 1e-6, "1/3"),
        (-0.625, 1e-9, "-5/8"),
        (0.1, 1e-12, "1/10"),
        (0.142857, 1e-5, "1/7"),
        (2.9999, 1e-3, "3"),
        (0.02, 0.05, "0"),
        (0.0, 0.0, "0"),
        (0.75, 0.3, "1"),
    ],
)
def test_floats_become_the_rationals_that_they_are_near_to(value: float, tolerance: float, expected: str) -> None:
    assert simplest_near(value, tolerance) == Fraction(expected)


def test_rounded_chances_stay_chances() -> None:
    structure = Structure(2, 2, 1, 2)
    unit = np.random.default_rng(1).random((4, structure.dimension))
    unit[:, -3:-1] = 0.0  # p at the least that there is
    for i in range(4):
        for spec in structure.roundings(structure.decode(unit, False), i):
            scenario = Scenario.from_spec(spec, exact=True)
            assert all(0 < p <= 1 for p in scenario.participation.p.ravel())
            assert scenario.algorithm.step > 0
    near = list(structure.roundings(structure.decode(unit, False), 0))[-1]
    assert max(abs(Fraction(a)) for c in near["clients"] for a in c["a"]) <= 1


def test_simpler_numbers_are_simpler() -> None:
    for text in ("355/113", "-7/2", "1", "0", "9999/10000"):
        value = Fraction(text)
        heights = [height(v) for v in simpler(value)]
        assert heights == sorted(heights)
        assert all(height(v) < height(value) or v == -value > 0 for v in simpler(value))
    assert simpler(Fraction(0)) == []
    assert Fraction(7, 2) in simpler(Fraction(-7, 2))
    assert Fraction(22, 7) in simpler(Fraction(355, 113))


def test_the_usual_structures_grow() -> None:
    usual = structures(DRIFT)
    assert [s.work for s in usual] == sorted(s.work for s in usual)
    assert len(set(usual)) == len(usual)
    assert any(s.stationary for s in usual)
    assert not any(s.stationary for s in structures(claim("open-fl/theorem-2")))
    assert "fixed point" in str(next(s for s in usual if s.stationary))


def test_a_claim_of_one_round_is_searched_in_one_round() -> None:
    rng = np.random.default_rng(0)
    assert survey(claim("open-fl/eq10"), replace(PAIR, rounds=2), of_open_fl, rng) is None
    assert survey(LEMMA, replace(PAIR, rounds=2), cases, rng) is not None
    assert survey(LEMMA, Structure(1, 1, 2, 2, 1), cases, rng) is None  # FedAvg-SVRG


def test_fixed_points_are_for_claims_in_which_nothing_else_grows() -> None:
    structure = Structure(2, 1, 1, 3, present=True, stationary=True, algorithm="local-sgd")
    spec = structure.specification(structure.decode(np.full((1, 5), 0.7), True), 0)
    moved = {**spec, "clients": [{**spec["clients"][0], "a": ["2"]}, {**spec["clients"][1], "h": ["1/3"]}]}

    def growing(one: Claim, scenario: Scenario) -> Cases | None:
        found = at_the_end(one, scenario)
        return None if found is None else replace(found, parameters={**found.parameters, "c": scenario.rounds})

    assert at_fixed_point(DRIFT, moved, growing, exact=True) is None
    assert at_fixed_point(DRIFT, moved, at_the_end, exact=True) is not None
    random = {**moved, "clients": [{**moved["clients"][0], "p": "1/2"}, moved["clients"][1]]}
    assert at_fixed_point(DRIFT, random, at_the_end, exact=True) is None
    assert confirm_fixed_point(replace(DRIFT, right="c*(1 + 1/K)"), moved, at_the_end) is None  # true
    assert confirm_fixed_point(replace(DRIFT, relation=">="), moved, at_the_end) is None


def test_zero_against_zero_says_nothing() -> None:
    one = replace(DRIFT, right="c")
    found = Cases(np.array([0.0, 0.5]), {"K": 1, "c": np.array([0.0, 1.0])}, {})
    assert excess(one, found) == pytest.approx(-1 / 3)
    assert excess(one, replace(found, left=np.array([0.0, 2.0]))) == pytest.approx(1 / 3)


def test_instances_that_leave_the_floats_are_passed_over() -> None:
    wild: Spec = {**BIG, "step": "1e200", "K": 3}
    assert measured(LEMMA, wild, cases) is None
    assert check_instance(LEMMA, cases)(wild) is None
    flat = Landscape(DRIFT, replace(PAIR, samples=1), at_the_end)
    assert flat.oracle(np.full(4, 0.9)) > -1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seconds": 0}, r"seconds=0 is outside \(0, inf\)"),
        ({"seconds": float("nan")}, r"seconds=nan is outside \(0, inf\)"),
        ({"seconds": True}, r"seconds=True is outside \(0, inf\)"),
        ({"evaluations": 0}, r"evaluations=0 is outside the integers in \[1, inf\)"),
        ({"evaluations": 2.5}, r"evaluations=2.5 is outside the integers in \[1, inf\)"),
        ({"seed": -1}, r"seed=-1 is outside the integers in \[0, inf\)"),
        ({"seed": True}, r"seed=True is outside the integers in \[0, inf\)"),
        ({"structures": []}, "structures is empty"),
    ],
)
def test_bad_budgets_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        search(LEMMA, cases, **arguments)


def test_bad_pieces_are_refused() -> None:
    with pytest.raises(ValueError, match="no right side"):
        search(replace(LEMMA, right=None), cases)
    with pytest.raises(ValueError, match=r"inner=0 is outside the integers in \[1, inf\)"):
        Structure(inner=0)
    with pytest.raises(ValueError, match="algorithm='sgd' is not one of"):
        Structure(algorithm="sgd")
    with pytest.raises(ValueError, match=r"snapshots=2 is outside \{1\}"):
        Structure(snapshots=2, algorithm="local-sgd")
    with pytest.raises(ValueError, match="nothing may be random"):
        Structure(2, stationary=True)
    with pytest.raises(ValueError, match="value=nan is not a finite number"):
        simplest_near(float("nan"), 0.1)
    with pytest.raises(ValueError, match=r"tolerance=-1 is outside \[0, inf\)"):
        simplest_near(1.0, -1)
    with pytest.raises(ValueError, match=r"low=1 is outside \(-inf, high=0\]"):
        simplest(Fraction(1), Fraction(0))
