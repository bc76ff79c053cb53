"""The unguided search over rounds of FedMIM: what it refutes, what it leaves alone, and the pieces it is made of."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.exact_moments import DivergenceError
from tests.validate.inertial_certificates import ANY_STEP, CLAIMS
from theory.catalog import claim
from theory.claim import Claim
from validate import certificate
from validate.bounds import breaks
from validate.falsify import Counterexample, confirm, size
from validate.inertial_scenario import InertialScenario
from validate.papers.fedmim import cases
from validate.scenario import Spec, fraction_text
from validate.search.inertial_moves import jointly, negative, numbers, structural
from validate.search.inertial_recursion import Played, replayed
from validate.search.inertial_space import InertialStructure, structures
from validate.search.landscape import in_floats, survey
from validate.search.reduce import certificate_of, check_instance, reduced
from validate.search.scoring import INFEASIBLE
from validate.search.space import Structure
from validate.search.spaces import usual_structures
from validate.search.unguided import search


def fedmim(label: str) -> Claim:
    return CLAIMS[label]


SHAPES = (
    InertialStructure((1,), 1, 1, 1, 0, "curvature"),
    InertialStructure((1, 1), 1, 2, 5, 1, "both"),
    InertialStructure((2, 1), 2, 3, 4, 2, "both", 2),
    InertialStructure((1, 1, 1), 3, 1, 30, 2, "curvature", 2),
    InertialStructure((4, 3), 1, 2, 12, 0, "curvature"),
    InertialStructure((3,), 2, 2, 3, 1, "slope"),
)


def assert_same_moments(ours: InertialScenario, theirs: InertialScenario) -> None:
    mine, oracle = ours.moments(), theirs.moments()
    for entry in fields(oracle):
        a, b = getattr(mine, entry.name), getattr(oracle, entry.name)
        assert (a is None) == (b is None), entry.name
        if b is not None:
            scale = max(1.0, float(np.max(np.abs(b))))
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-11 * scale, err_msg=entry.name)


@pytest.mark.parametrize("structure", SHAPES, ids=str)
def test_the_recursion_is_the_oracle(structure: InertialStructure) -> None:
    unit = np.random.default_rng(structure.work).random((8, structure.dimension))
    point = structure.decode(unit, False)
    for i, ours in enumerate(structure.scenarios(point)):
        spec = structure.specification(point, i)
        theirs = InertialScenario.from_spec(spec, exact=False)
        try:
            ours.moments()
        except DivergenceError:
            with pytest.raises(DivergenceError):
                theirs.moments()
            continue
        assert_same_moments(ours, theirs)
        assert_same_moments(in_floats(spec), theirs)


def test_what_the_recursion_does_not_know_is_left_to_the_oracle() -> None:
    spec: Spec = {**BIG, "clients": [{"h": ["1", "2"], "b": ["0", "1"]}]}  # the noise depends on x
    known: Spec = {**spec, "clients": [{"h": ["2", "2"], "b": ["0", "1"]}]}
    for changed in (spec, {**known, "step": ["1/8"] * 4}, {**known, "K": 0}):
        assert not isinstance(in_floats({**changed, "S": 1}), Played)
    found = in_floats({**known, "S": 1})
    assert isinstance(found, Played)
    assert found.moments() is found.found  # and the oracle is not asked
    exact = InertialScenario.from_spec({**known, "S": 1}, exact=True)
    assert replayed(exact) is exact


def test_instances_that_leave_the_floats_are_refused() -> None:
    wild = in_floats({**BIG, "step": "1e200"})
    assert isinstance(wild, Played)
    with pytest.raises(DivergenceError, match="leave the range of float64"):
        wild.moments()


@pytest.mark.parametrize(
    ("label", "structure"),
    [
        ("theorem-iv1-eq7", InertialStructure((1, 1), 1, 1, 60, 0, "curvature")),
        (ANY_STEP, InertialStructure((1, 1), 1, 1, 6, 0, "curvature")),
        ("lemma-7", InertialStructure((1, 4), 1, 2, 2, 0, "both")),
        ("lemma-9/corrected", InertialStructure((1, 1), 1, 2, 3, 1, "both", 2)),
        ("eq26", InertialStructure((1, 1), 2, 2, 3, 2, "curvature")),
    ],
)
def test_both_routes_to_the_score_agree(label: str, structure: InertialStructure) -> None:
    land = survey(fedmim(label), structure, cases, np.random.default_rng(0))
    assert land is not None
    points = np.random.default_rng(5).random((16, structure.dimension))
    fast, slow = land.score(points), np.array([land.oracle(u) for u in points])
    feasible = slow >= -1
    np.testing.assert_array_equal(fast >= -1, feasible)
    np.testing.assert_allclose(fast[feasible], slow[feasible], rtol=0, atol=1e-7)
    assert feasible.any()
    assert (fast[~feasible] < INFEASIBLE).all()


def assert_refutes(one: Claim, found: Counterexample) -> None:
    again = confirm(one, found.spec, cases)
    assert again is not None
    assert (again.left, again.right) == (found.left, found.right)
    assert breaks(one, found.left, found.right)
    made = certificate_of(one, found)
    assert made["kind"] == "inertial"
    assert certificate.verify(made).valid


def test_lemma_7_is_refuted_without_a_hint() -> None:
    one = fedmim("lemma-7")
    result = search(one, cases, seconds=300, evaluations=12_000)
    assert result.counterexample is not None
    assert_refutes(one, result.counterexample)
    assert size(result.counterexample.spec)[:2] == (1, 1)
    assert result.ratio is not None
    assert result.ratio > 1


@pytest.mark.parametrize(
    ("label", "structure", "clients"),
    [
        ("eq25", InertialStructure((1, 11), 1, 2, 1, 0, "curvature"), 7),
        pytest.param("eq26", InertialStructure((1, 24), 1, 1, 1, 0, "curvature"), 25, marks=pytest.mark.slow),
        pytest.param("lemma-9", InertialStructure((12,), 12, 1, 1, 0, "slope"), 9, marks=pytest.mark.slow),
    ],
)
def test_false_claims_about_many_clients_are_refuted(label: str, structure: InertialStructure, clients: int) -> None:
    one = fedmim(label)
    assert structure in structures(one)
    result = search(one, cases, seconds=300, evaluations=2_000, structures=[structure])
    assert result.counterexample is not None
    assert_refutes(one, result.counterexample)
    assert len(result.counterexample.spec["clients"]) == clients


@pytest.mark.slow
@pytest.mark.parametrize("label", ["theorem-iv1-eq7", ANY_STEP, "eq25", "eq26", "lemma-9"])
def test_false_claims_are_refuted_without_a_hint(label: str) -> None:
    one = fedmim(label)
    result = search(one, cases, seconds=600, evaluations=60_000)
    assert result.counterexample is not None
    assert_refutes(one, result.counterexample)


def test_theorem_iv2_for_any_step_is_refuted() -> None:  # its right side has an exponential
    one = fedmim(ANY_STEP)
    structure = InertialStructure((1,), 1, 1, 6, 0, "both")
    assert structure in structures(one)
    result = search(one, cases, seconds=300, evaluations=400, structures=[structure])
    assert result.counterexample is not None
    assert_refutes(one, result.counterexample)


def test_theorem_iv1_for_any_lambda_is_refuted_with_two_clients() -> None:
    one = fedmim("theorem-iv1-eq7")
    structure = InertialStructure((1, 1), 1, 1, 400, 0, "curvature")
    assert structure in structures(one)
    result = search(one, cases, seconds=300, evaluations=400, structures=[structure])
    assert result.counterexample is not None
    assert_refutes(one, result.counterexample)
    curvatures = sorted(Fraction(c["h"][0]) for c in result.counterexample.spec["clients"])
    assert curvatures[0] < 0 < curvatures[-1]


TRUE = (
    ("theorem-iv1-eq7", InertialStructure((1, 1), 1, 2, 6, 0, "both")),
    ("theorem-iv1-eq35/corrected", InertialStructure((1, 1), 1, 1, 6, 0, "curvature")),
    ("theorem-iv2-eq39/corrected", InertialStructure((1,), 1, 1, 400, 0, "curvature")),
    ("lemma-7/corrected", InertialStructure((1, 1), 1, 2, 3, 1, "both")),
    ("lemma-8", InertialStructure((1, 1), 2, 2, 3, 1, "curvature")),
    ("lemma-9/corrected", InertialStructure((12,), 12, 1, 1, 0, "slope")),
    ("eq25/corrected", InertialStructure((1, 11), 1, 2, 1, 0, "curvature")),
    ("eq26/corrected", InertialStructure((1, 24), 1, 1, 1, 0, "curvature")),
    ("eq31", InertialStructure((1, 1), 1, 2, 3, 1, "both")),
)


@pytest.mark.parametrize(("label", "structure"), TRUE, ids=[label for label, _ in TRUE])
def test_true_claims_survive(label: str, structure: InertialStructure) -> None:
    result = search(fedmim(label), cases, seconds=300, evaluations=300, structures=[structure])
    assert result.found is None
    assert result.structures == (structure,)
    assert result.excess is not None
    assert result.excess <= 1e-9
    assert result.ratio is None or 0 < result.ratio <= 1 + 1e-9


def test_a_search_is_repeatable() -> None:
    shapes = [InertialStructure((1, 1), 1, 1, 2, 1, "both")]
    one = fedmim("lemma-8")
    results = [search(one, cases, seconds=300, evaluations=300, seed=s, structures=shapes) for s in (3, 3, 4)]
    assert results[0] == results[1]
    assert results[0].spec != results[2].spec


BIG: Spec = {
    "algorithm": "fedmim",
    "clients": [
        {"h": ["11/13", "11/13"], "b": ["0", "1/9"]},
        {"h": ["-1", "-1"], "b": ["1/7", "1/7"]},
        {"h": ["1", "1"], "b": ["0", "0"]},
    ],
    "S": 2,
    "local_steps": 2,
    "step": "37/17",
    "alpha": ["1/10", "0"],
    "beta": ["1/20"],
    "x0": "19/7",
    "K": 4,
}


def test_a_reduction_is_never_larger_and_still_breaks() -> None:
    one = fedmim("lemma-7")
    found = confirm(one, BIG, cases)
    assert found is not None
    less = reduced(found, check_instance(one, cases), checks=15)
    least = reduced(found, check_instance(one, cases))
    assert size(least.spec) <= size(less.spec) <= size(found.spec)
    assert size(least.spec) < size(found.spec)
    for smaller in (less, least):
        assert_refutes(one, smaller)
    assert reduced(least, check_instance(one, cases)) == least


def test_every_move_gives_an_instance() -> None:
    assert negative(BIG) == 2
    for stage in (structural, jointly, numbers):
        moved = list(stage(BIG))
        assert moved
        for spec in moved:
            scenario = InertialScenario.from_spec(spec, exact=True)
            assert 1 <= scenario.participation.size <= scenario.problem.clients
            assert scenario.rounds >= 1
            assert scenario.algorithm.step > 0
    assert {int(spec["K"]) for spec in structural(BIG)} == {1, 2, 3, 4}
    assert any(len(spec["clients"]) == 2 for spec in structural(BIG))


@given(st.integers(0, 10**6), st.sampled_from(SHAPES), st.booleans())
@settings(max_examples=60, deadline=None)
def test_decoded_and_rounded_instances_are_instances(seed: int, structure: InertialStructure, convex: bool) -> None:
    unit = np.random.default_rng(seed).integers(0, 3, (1, structure.dimension)) / 2  # corners of the cube, and middles
    point = structure.decode(unit, convex)
    assert point["h"].shape == (1, structure.clients)
    assert (np.abs(point["h"]) <= 1).all()
    assert not convex or (point["h"] >= 0).all()
    if structure.terms == "slope":
        assert not point["h"].any()
    for spec in structure.roundings(point, 0):
        scenario = InertialScenario.from_spec(spec, exact=True)
        assert scenario.algorithm.step > 0
        assert sum(scenario.algorithm.alpha) < 1
        assert scenario.problem.samples == structure.samples
        assert (scenario.problem.clients, scenario.participation.size) == (structure.clients, structure.selected)
    assert float(Fraction(spec["step"])) == pytest.approx(point["step"][0], rel=1e-6)
    assert [float(Fraction(c["h"][0])) for c in spec["clients"]] == pytest.approx(point["h"][0], abs=1e-6)


def test_the_structures_grow_and_fit_the_claim() -> None:
    for label in ("lemma-7", "theorem-iv1-eq7"):
        usual = structures(fedmim(label))
        assert usual_structures(fedmim(label)) == usual
        assert [s.work for s in usual] == sorted(s.work for s in usual)
        assert len(set(usual)) == len(usual) < 200
        assert (max(s.rounds for s in usual) > 100) == (label != "lemma-7")
    assert all(isinstance(s, Structure) for s in usual_structures(claim("perm/lemma-6")))


def test_one_smaller() -> None:
    structure = InertialStructure((1, 2), 3, 2, 8, 1, "curvature", 2)
    point = structure.decode(np.full((1, structure.dimension), 0.7), False)
    point["h"][0, 0] = 0.5
    smaller = structure.smaller(structure.specification(point, 0))
    assert InertialStructure((2,), 2, 2, 8, 1, "curvature", 2) in smaller
    assert InertialStructure((1, 1), 2, 2, 8, 1, "curvature", 2) in smaller
    assert {s.rounds for s in smaller} == {4, 6, 7, 8}
    assert structure not in smaller
    least = InertialStructure((1,), 1, 1, 1, 0, "curvature")
    point = least.decode(np.full((1, least.dimension), 0.7), False)
    assert least.smaller(least.specification(point, 0)) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"copies": ()}, r"copies=\(\) is not a tuple of integers in \[1, inf\), at least one"),
        ({"copies": (1, 0)}, r"copies=\(1, 0\) is not a tuple"),
        ({"selected": 2}, r"selected=2 is outside the integers in \[1, 1\]"),
        ({"local_steps": 0}, r"local_steps=0 is outside the integers in \[1, inf\)"),
        ({"rounds": True}, r"rounds=True is outside the integers in \[1, inf\)"),
        ({"lags": -1}, r"lags=-1 is outside the integers in \[0, inf\)"),
        ({"samples": 3}, r"samples=3 is outside the integers in \[1, 2\]"),
        ({"terms": "cubic"}, "terms='cubic' is not one of"),
    ],
)
def test_bad_structures_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        InertialStructure(**arguments)


def test_the_step_is_in_units_of_one_over_k_l() -> None:
    structure = InertialStructure((1, 1), 1, 5, 1, 0, "curvature")
    point = structure.decode(np.ones((1, structure.dimension)), False)
    assert structure.specification(point, 0, 1e-9)["step"] == fraction_text(Fraction(4, 5))
