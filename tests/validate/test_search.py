"""The unguided search: what it refutes, what it leaves alone, and the pieces it is made of."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.algorithms import FedAvg
from theory.catalog import claim, paper
from theory.claim import Claim
from theory.feasible.points import simplest
from validate import certificate
from validate.bounds import Cases, breaks
from validate.falsify import Counterexample, confirm, size
from validate.papers.fedavg_svrg import cases
from validate.scenario import Scenario, Spec
from validate.search.landscape import Landscape, _Adam, at_fixed_point, excess, measured, most_rounds, survey
from validate.search.recursion import UnsupportedError, evaluate, sides, supports
from validate.search.reduce import check_instance, confirm_fixed_point, reduced
from validate.search.scoring import INFEASIBLE
from validate.search.simple import height, simpler, simplest_near
from validate.search.space import structures
from validate.search.unguided import FixedPoint, Structure, certificate_of, search, search_evidence

torch = pytest.importorskip("torch")
torch.set_num_threads(1)


def svrg(label: str) -> Claim:
    return claim(f"fedavg-svrg/{label}")


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e5])
def test_steps_of_adam_are_those_of_torch(scale: float) -> None:
    draw = torch.Generator().manual_seed(1)
    start = torch.rand(7, 5, dtype=torch.float64, generator=draw)
    theirs, own = start.clone().requires_grad_(True), start.clone()
    optimiser, moments = torch.optim.Adam([theirs]), _Adam(own)
    for i in range(60):
        rate, slope = 0.03 * (1 - i / 60), scale * torch.randn(7, 5, dtype=torch.float64, generator=draw)
        optimiser.param_groups[0]["lr"], theirs.grad = rate, slope.clone()
        optimiser.step()
        moments.move(own, slope, rate)
        assert torch.equal(theirs.detach(), own)


SHAPES = (
    Structure(1, 1, 4, 1, 1),
    Structure(2, 2, 2, 3, 2),
    Structure(3, 2, 1, 12, 1),
    Structure(2, 1, 3, 2, 3),
    Structure(2, 2, 1, 7, 1, present=True),
)


@pytest.mark.parametrize("structure", SHAPES, ids=str)
def test_the_torch_recursion_is_the_oracle(structure: Structure) -> None:
    rng = np.random.default_rng(structure.work)
    compared = 0
    for one in paper("fedavg-svrg"):
        if not supports(one, structure):
            continue
        point = structure.decode(rng.random((3, structure.dimension)), True)
        left, right, _ = sides(one, structure, {name: torch.from_numpy(v) for name, v in point.items()})
        for i in range(3):
            found = measured(one, structure.specification(point, i), cases)
            if found is None:
                continue
            measured_left = np.asarray(found[1].left, dtype=np.float64)
            count = len(measured_left)
            ours, theirs = left[i].numpy(), right[i].numpy()
            if one.label.startswith("lemma-v1-eq12"):  # it speaks of m >= 1 only
                keep = np.arange(left.shape[1]) % structure.inner > 0
                ours, theirs = ours[keep], theirs[keep]
            bound = np.broadcast_to(one.bound(**found[1].parameters), (count,))
            scale = max(1.0, float(np.max(np.abs(measured_left))))
            np.testing.assert_allclose(ours[:count], measured_left, rtol=1e-10, atol=1e-12 * scale)
            finite = np.isfinite(bound)
            np.testing.assert_allclose(theirs[:count][finite], bound[finite], rtol=1e-10, atol=1e-12 * scale)
            compared += 1
    assert compared > 30


@pytest.mark.parametrize("label", ["theorem-v1-eq7", "lemma-a2", "lemma-v1-eq14", "lemma-v1-eq9"])
def test_hypotheses_are_seen_alike_by_both_routes(label: str) -> None:
    one, structure = svrg(label), Structure(2, 2, 1, 40, 1)
    land = survey(one, structure, cases, np.random.default_rng(0))
    assert land is not None
    assert land.differentiable
    points = np.random.default_rng(5).random((40, structure.dimension))
    fast, slow = land.score(points), np.array([land.oracle(u) for u in points])
    feasible = slow >= -1
    np.testing.assert_array_equal(fast >= -1, feasible)
    np.testing.assert_allclose(fast[feasible], slow[feasible], rtol=0, atol=1e-8)
    assert (fast[~feasible] < INFEASIBLE).all()


def test_at_a_fixed_point_both_routes_agree() -> None:
    structure = Structure(2, 1, 1, 40, present=True, stationary=True)
    land = survey(svrg("lemma-v1-eq14"), structure, cases, np.random.default_rng(0))
    assert land is not None
    assert land.differentiable
    assert land.rounds == most_rounds(structure) == 50_000
    points = np.random.default_rng(6).random((20, structure.dimension))
    fast, slow = land.score(points), np.array([land.oracle(u) for u in points])
    feasible = (slow >= -1) & (slow < 1)
    assert feasible.sum() >= 3
    np.testing.assert_allclose(fast[feasible], slow[feasible], rtol=1e-6, atol=1e-6)


def assert_refutes(one: Claim, found: Counterexample) -> None:
    again = confirm(one, found.spec, cases)
    assert again is not None
    assert (again.left, again.right) == (found.left, found.right)
    assert breaks(one, found.left, found.right)
    assert certificate.verify(certificate_of(one, found)).valid


def test_lemma_a2_is_refuted_without_a_hint() -> None:
    one = svrg("lemma-a2")
    result = search(one, cases, seconds=300, evaluations=40_000, seed=0)
    assert result.counterexample is not None
    assert result.found is result.counterexample
    assert_refutes(one, result.counterexample)
    spec = result.counterexample.spec
    assert size(spec)[:4] == (1, 1, 1, 2)  # one client, one sample, one round, two snapshots of one step: the least
    assert result.excess is not None
    assert result.excess > 0
    assert "exact arithmetic" in result.detail


@pytest.mark.slow
def test_equation_7_is_refuted_without_a_hint() -> None:
    one = svrg("theorem-v1-eq7")
    result = search(one, cases, seconds=300, evaluations=200_000, seed=0)
    assert result.counterexample is not None
    assert_refutes(one, result.counterexample)


def test_equation_7_is_refuted_with_six_snapshots() -> None:
    one = svrg("theorem-v1-eq7")
    result = search(one, cases, seconds=300, evaluations=20_000, structures=[Structure(1, 2, 6, 1, 2)])
    assert result.counterexample is not None
    assert_refutes(one, result.counterexample)
    assert result.ratio is not None
    assert result.ratio > 1
    assert size(result.counterexample.spec)[:3] == (1, 1, 1)


def test_equation_14_is_refuted_at_a_fixed_point() -> None:
    one = svrg("lemma-v1-eq14")
    structure = Structure(2, 1, 1, 40, present=True, stationary=True)
    result = search(one, cases, seconds=300, evaluations=10_000, structures=[structure])
    found = result.fixed_point
    assert result.counterexample is None
    assert isinstance(found, FixedPoint)
    assert found.right < found.left
    assert found.rounds == found.parameters["K"] <= 50_000
    assert certificate.verify(certificate_of(one, found)).valid
    assert confirm_fixed_point(one, found.spec, cases, found.rounds) == found
    assert confirm_fixed_point(one, found.spec, cases, found.rounds // 2) is None


def test_a_search_is_repeatable() -> None:
    one = svrg("theorem-v1-eq8/corrected-2")
    shapes = [Structure(1, 1, 2, 2, 1), Structure(2, 2, 1, 2, 2)]
    results = [search(one, cases, seconds=300, evaluations=3_000, seed=s, structures=shapes) for s in (3, 3, 4)]
    assert results[0] == results[1]
    assert results[0].spec != results[2].spec


TRUE = (
    "theorem-v1-eq7/corrected",
    "theorem-v1-eq8",
    "theorem-v1-eq8/corrected-2",
    "lemma-a1/corrected",
    "lemma-a2/corrected",
    "eq-a21",
    "eq-a22",
    "eq-a24/corrected",
    "lemma-v1-eq9/corrected",
    "lemma-v1-eq14/corrected",
)


@pytest.mark.parametrize("label", TRUE)
def test_true_claims_survive(label: str) -> None:
    shapes = [Structure(2, 2, 1, 3), Structure(1, 2, 2, 2, 2)]
    if "14" in label:
        shapes = [Structure(2, 1, 1, 40), Structure(2, 1, 1, 40, present=True, stationary=True)]
    result = search(svrg(label), cases, seconds=300, evaluations=5_000, structures=shapes)
    assert result.found is None, result.found
    assert result.structures
    assert result.excess is not None
    assert result.excess <= 1e-9
    assert result.ratio is None or 0 < result.ratio <= 1 + 1e-9


def test_without_torch_recursion_the_oracle_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("validate.search.landscape.supports", lambda claim, structure: False)
    one = svrg("lemma-a2")
    result = search(one, cases, seconds=300, evaluations=1_500, structures=[Structure(2, 1, 2, 1)])
    assert result.counterexample is not None
    assert_refutes(one, result.counterexample)


@pytest.mark.parametrize("relation", ["=", ">="])
def test_other_relations_are_searched_too(relation: Any) -> None:
    one = replace(svrg("eq-a22"), relation=relation)
    result = search(one, cases, seconds=300, evaluations=1_500, structures=[Structure(2, 1, 1, 2)])
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


def test_other_algorithms_are_searched_where_the_claim_speaks_of_them() -> None:
    one = replace(
        svrg("lemma-a2"),
        parameters=tuple(p for p in svrg("lemma-a2").parameters if p.name in ("squared_gradient_norm", "delta")),
        right="squared_gradient_norm",
    )
    result = search(one, drifting, seconds=300, evaluations=2_000)
    assert result.counterexample is not None
    assert result.counterexample.spec["algorithm"] == "local-sgd"
    assert all(s.algorithm == "local-sgd" for s in result.structures)
    evidence, found = search_evidence(one, drifting, seconds=300, evaluations=2_000)
    assert (evidence.kind, evidence.outcome) == ("search", "fails")
    assert found == result.counterexample


def test_evidence() -> None:
    evidence, found = search_evidence(svrg("lemma-a2/corrected"), cases, seconds=300, evaluations=1_000)
    assert found is None
    assert evidence.outcome == "holds"
    nothing, found = search_evidence(svrg("lemma-a2"), lambda claim, scenario: None, seconds=300, evaluations=1_000)
    assert found is None
    assert nothing.outcome == "undecided"
    assert nothing.data is not None
    assert nothing.data["structures"] == 0


BIG: Spec = {
    "algorithm": "fedavg-svrg",
    "clients": [
        {"h": ["11/13", "1"], "a": ["0", "3/7"], "p": "9/10"},
        {"h": ["1", "17/16"], "a": ["-1/9", "0"], "p": "1"},
    ],
    "step": "13/17",
    "S": 3,
    "M": 2,
    "K": 2,
    "theta0": "19/7",
}


def test_a_reduction_is_never_larger_and_still_breaks() -> None:
    one = svrg("lemma-a2")
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
    usual = structures(svrg("lemma-v1-eq14"))
    assert [s.work for s in usual] == sorted(s.work for s in usual)
    assert len(set(usual)) == len(usual)
    assert any(s.stationary for s in usual)
    assert not any(s.stationary for s in structures(svrg("lemma-a2")))
    assert "fixed point" in str(next(s for s in usual if s.stationary))


def test_a_claim_of_one_round_is_searched_in_one_round() -> None:
    rng = np.random.default_rng(0)
    assert survey(svrg("lemma-a1/corrected"), Structure(1, 1, 1, 2, 2), cases, rng) is None
    assert survey(svrg("lemma-a1/corrected"), Structure(1, 1, 1, 2, 1), cases, rng) is not None
    assert survey(svrg("lemma-v1-eq14"), Structure(1, 1, 2, 2, 1), cases, rng) is None  # S = 1 there


def test_fixed_points_are_for_claims_in_which_nothing_else_grows() -> None:
    structure = Structure(2, 1, 1, 3, present=True, stationary=True)
    spec = structure.specification(structure.decode(np.full((1, 5), 0.7), True), 0)
    moved = {**spec, "clients": [{**spec["clients"][0], "a": ["2"]}, {**spec["clients"][1], "h": ["1/3"]}]}
    assert at_fixed_point(svrg("theorem-v1-eq7"), moved, cases, exact=True) is None  # its sums grow with K
    assert at_fixed_point(svrg("theorem-v1-eq8"), moved, cases, exact=True) is not None
    random = {**moved, "clients": [{**moved["clients"][0], "p": "1/2"}, moved["clients"][1]]}
    assert at_fixed_point(svrg("theorem-v1-eq8"), random, cases, exact=True) is None
    assert confirm_fixed_point(svrg("theorem-v1-eq8"), moved, cases) is None  # true
    assert confirm_fixed_point(replace(svrg("theorem-v1-eq8"), relation=">="), moved, cases) is None


def test_formulas_over_tensors() -> None:
    names = {"x": torch.tensor([0.5, 2.0]), "y": torch.tensor(3.0, dtype=torch.float64)}
    found = evaluate("max(sqrt(x**2), 1, y/4) + min(exp(-x), log(y), 1/10)*abs(-x)", names)
    x = np.array([0.5, 2.0])
    expected = np.maximum(np.maximum(x, 1), 0.75) + np.minimum(np.minimum(np.exp(-x), np.log(3)), 0.1) * x
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)
    with pytest.raises(UnsupportedError, match="sum is not one of"):
        evaluate("sum(x)", names)


def test_zero_against_zero_says_nothing() -> None:
    one = svrg("lemma-a1")
    parameters = {"N": 1, "S": 1, "M": 1, "weighted_round": np.array([0.0, 1.0])}
    assert excess(one, Cases(np.array([0.0, 0.5]), parameters, {})) == pytest.approx(-1 / 3)
    assert excess(one, Cases(np.array([0.0, 2.0]), parameters, {})) == pytest.approx(1 / 3)


def test_instances_that_leave_the_floats_are_passed_over() -> None:
    wild: Spec = {**BIG, "step": "1e200", "K": 3}
    assert measured(svrg("lemma-a2"), wild, cases) is None
    assert check_instance(svrg("lemma-a2"), cases)(wild) is None
    assert Landscape(svrg("lemma-a2"), Structure(1), cases).oracle(np.full(5, 0.9)) > -1


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
        search(svrg("lemma-a2"), cases, **arguments)


def test_bad_pieces_are_refused() -> None:
    with pytest.raises(ValueError, match="no right side"):
        search(svrg("lemma-v1"), cases)
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
