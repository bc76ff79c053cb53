"""The claims about shuffling: how they are measured, against brute force and the oracle; their verdicts."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from validate.papers.perm import shuffling
from validate.papers.perm.shuffling_epochs import Epoch, quantile
from validate.papers.perm.shuffling_refutations import BROKEN, left_side, parameters_of
from validate.papers.perm.shuffling_runs import Run, personal_sides, run_cases, single_loop, two_stage
from validate.papers.perm.shuffling_scenarios import epoch, in_floats, personal, plane_epochs, scalar_epochs, scenarios
from validate.papers.perm.shuffling_tools import Products, Vectors, tool_cases

from sim.algorithms import ShufflingSGD
from sim.exact_shuffling import shuffling_moments
from theory.papers.perm import PAPER
from validate import certificate
from validate.assumptions import unmet
from validate.bounds import breaks, compare, exact_sides
from validate.checking import check_claim
from validate.survey import Pool

F = Fraction
CLAIMS = {c.label: c for c in PAPER}
SCALAR = list(scalar_epochs(40))
PLANE = list(plane_epochs(12))
VERDICTS = {
    "refuted": (
        *("proposition-1", "lemma-7", "proposition-2", "lemma-10", "lemma-10/unnormalised", "lemma-11a"),
        *("lemma-11a/unnormalised", "lemma-11b", "lemma-11b/unnormalised", "lemma-12", "lemma-12/unnormalised"),
        "theorem-2-step/unnormalised",
    ),
    "not broken": (  # the lines of a proof hold, and do not reach the claim
        *("proposition-1/corrected", "lemma-7/corrected", "lemma-8", "proposition-2/corrected", "proposition-3"),
        *("lemma-10/corrected", "lemma-10/corrected-2", "lemma-11a/corrected", "lemma-11a/corrected-2"),
        *("lemma-11b/corrected", "lemma-11b/corrected-2", "lemma-12/corrected", "lemma-12/corrected-2"),
        *("lemma-13/corrected", "theorem-2-step/corrected", "theorem-2-step/corrected-2"),
        *("theorem-2-unrolled/corrected", "theorem-3-explicit/corrected"),
    ),
    "supported": ("lemma-9", "lemma-13"),
}
SLOW_VERDICTS = {  # no scenario of the pool satisfies the repaired theorems' hypotheses, so nothing earns support
    "undecided": ("theorem-2/corrected", "theorem-2/corrected-2", "theorem-3/corrected", "theorem-3"),
    "vacuous": ("theorem-2", "theorem-2-step", "theorem-2-unrolled", "theorem-3-explicit"),
}


# --- an epoch --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("e", [*SCALAR[::4], *(in_floats(e) for e in SCALAR[::9]), *PLANE[::3]], ids=lambda e: e.name)
def test_an_epoch_has_the_moments_of_the_oracle(e: Epoch) -> None:
    """E over orders and noise, by the oracle's recursion over subsets and its samples."""
    algorithm = ShufflingSGD(step=e.step, local_steps=e.local_steps, weights=tuple(e.alpha))
    found = shuffling_moments(algorithm, e.problem, epochs=1, start=e.start)
    ends = [e.end(order) for order in e.orders]
    mean = sum(ends, 0 * e.start) / len(ends)
    second = sum(v @ v + e.noise_squared(order) for v, order in zip(ends, e.orders, strict=True)) / len(ends)
    if e.exact:
        assert (found.mean[1] == mean).all()
        assert found.squared_iterate_norm[1] == second
    else:
        np.testing.assert_allclose(found.mean[1], mean, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found.squared_iterate_norm[1], second, rtol=1e-9)


@pytest.mark.parametrize("e", [*SCALAR[:12], *PLANE], ids=lambda e: e.name)
def test_summation_by_parts_leaves_what_lemma_12_bounds(e: Epoch) -> None:
    """v^r - v^{r+1} = sum_j Q_j grad f_j(v^r) - (what Lemma 12 is about), by Lemmas 7 and 8."""
    for order in e.orders:
        rest = sum(e.shifts, 0 * e.start) - (e.start - e.end(order))
        if e.exact:
            assert rest @ rest == e.cross(order)
        else:
            assert rest @ rest == pytest.approx(e.cross(order), rel=1e-6, abs=1e-20)


def test_noise_is_the_same_by_its_outcomes_and_by_its_variance() -> None:
    noisy = [e for e in SCALAR if e.spread and e.clients * e.local_steps <= 6]
    assert len(noisy) >= 3
    for e in noisy:
        for order in e.orders[:6]:
            sums = e.noise_sums(order)
            assert sums is not None
            assert (sums * sums).sum() / len(sums) == e.noise_squared(order)
            assert sums.sum() == 0


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=12), st.fractions(F(1, 100), F(99, 100)))
@settings(max_examples=100, deadline=None)
def test_the_quantile_is_the_least_bound_with_probability_at_least_1_minus_p(values: list[int], p: Fraction) -> None:
    bound = quantile(values, p)

    def exceeded(c: int) -> Fraction:
        return F(sum(v > c for v in values), len(values))

    assert exceeded(bound) <= p
    assert all(exceeded(v) > p for v in values if v < bound)


def test_next_distance_projects() -> None:
    """One client, f = v^2/2 - 3v on [-1, 1] from 0: one step of 1/2 goes to 3/2 and back to 1 = v*."""
    e = epoch("", [1], [3], [1], F(1, 2), 1, 1, 0, 1)
    assert e.best is not None
    assert (e.best[0], e.end((0,))[0], e.next_distance((0,))) == (1, F(3, 2), 0)
    noisy = epoch("", [1], [0], [1], F(1, 2), 1, 1, 0, 1, 4)  # to +2 or -2, back to the ends of W
    assert noisy.next_distance((0,)) == 1


@pytest.mark.parametrize("label", ["proposition-3", "lemma-10/corrected-2", "lemma-11b/corrected-2", "lemma-13"])
def test_cases_are_the_same_in_fractions_and_in_floats(label: str) -> None:
    claim, seen = CLAIMS[label], 0
    for e in SCALAR[:20]:
        exact, rounded = shuffling.cases(claim, e), shuffling.cases(claim, in_floats(e))
        assert (exact is None) == (rounded is None)
        if exact is not None and rounded is not None:
            seen += 1
            assert exact.left.dtype == object
            np.testing.assert_allclose(exact.left.astype(float), rounded.left, rtol=1e-9, atol=1e-15)
            for name, value in rounded.parameters.items():
                np.testing.assert_allclose(np.asarray(exact.parameters[name], dtype=float), value, rtol=1e-9)
    assert seen >= 3


@pytest.mark.parametrize("label", ["proposition-3", "lemma-10/corrected-2"])
def test_rational_claims_hold_exactly(label: str) -> None:
    claim = CLAIMS[label]
    for e in SCALAR:
        cases = shuffling.cases(claim, e)
        if cases is None or unmet(claim, e, cases.parameters_at(0)):  # type: ignore[arg-type]
            continue
        for i in range(len(cases)):
            assert not breaks(claim, *exact_sides(claim, cases, i))


# --- runs ------------------------------------------------------------------------------------------------------------

RUN: dict[str, Any] = {"h": np.array([1.0, 0.5, 2.0]), "b": np.array([1.0, -1.0, 0.3])}


def test_a_run_has_the_moments_of_the_oracle() -> None:
    alpha = np.array([0.5, 0.2, 0.3])
    run = Run(name="", **RUN, weights=np.tile(alpha, (5, 1)), step=0.02, local_steps=2, start=1.5, spread=0.7)
    algorithm = ShufflingSGD(step=0.02, local_steps=2, weights=tuple(alpha))
    found = shuffling_moments(algorithm, run.problem, epochs=4, start=np.array([1.5]))
    assert found.squared_distance is not None
    best = run.best(alpha)
    np.testing.assert_allclose([run.distance(r, best) for r in range(5)], found.squared_distance, rtol=1e-10)


def test_the_gap_of_the_final_model_by_brute_force() -> None:
    """Every sequence of orders of two clients with weights that move, without noise."""
    h, b = np.array([1.0, 0.25]), np.array([1.0, -0.5])
    options: dict[str, Any] = {"step": 0.05, "local_steps": 2, "start": 2.0, "name": ""}
    n = np.array([3.0, 1.0])
    run = single_loop(h, b, n, 0.5, 0.4, 2, -1.0, 3, **options)
    gaps = []
    for orders in itertools.product([(0, 1), (1, 0)], repeat=3):
        v = 2.0
        for r, order in enumerate(orders):
            for j in order:
                for _ in range(2):
                    v -= 0.05 * run.weights[r, j] * 2 * (h[j] * v - b[j])
        v -= (run.weights[-1] @ (h * v - b)) / 1.0
        wanted = run.wanted
        best = wanted @ b / (wanted @ h)
        gaps.append(
            sum(a * (hj / 2 * (v**2 - best**2) - bj * (v - best)) for a, hj, bj in zip(wanted, h, b, strict=True))
        )
    assert run.final_gap(run.wanted) == pytest.approx(np.mean(gaps), rel=1e-9)


def test_runs_stay_in_their_domain() -> None:
    rng = np.random.default_rng(3)
    for run in [
        *(s for s in scenarios(quick=True) if isinstance(s, Run)),
        *personal(4, single=False, logarithmic=False),
    ]:
        low, high = run.domain
        v = run.start
        for alpha in run.weights[:-1]:
            for j in rng.permutation(len(run.h)):
                for sign in rng.choice([-1, 1], run.local_steps):
                    v -= run.step * alpha[j] * len(run.h) * (run.h[j] * v - run.b[j] + sign * run.spread)
                    assert low - 1e-9 <= v <= high + 1e-9
        assert low <= run.best(run.weights[0]) <= high


def test_the_weights_of_the_two_stages_tend_to_the_wanted_ones() -> None:
    h, b = np.array([1.0, 0.5, 2.0]), np.array([1.0, -1.0, 0.3])
    options: dict[str, Any] = {"step": 0.01, "local_steps": 1, "start": 0.0, "name": ""}
    run = two_stage(h, b, np.array([4.0, 4.0, 5.0]), 3.0, 0.2, 200, 0.0, 200, **options)
    np.testing.assert_allclose(run.weights[-1], run.wanted, atol=1e-9)
    assert run.wanted.sum() == pytest.approx(1)


def test_more_noise_is_seen_in_a_run() -> None:
    """A measurement that ignored the noise would not grow with it."""
    claim = CLAIMS["theorem-2-unrolled/corrected"]
    lefts = []
    for spread in (0.0, 1.0):
        weights = np.full((4, 3), 1 / 3)
        run = Run(name="", **RUN, weights=weights, step=0.02, local_steps=2, start=0.0, spread=spread)
        cases = run_cases(claim, run)
        assert cases is not None
        assert not compare(claim, cases).broken
        lefts.append(cases.left)
    assert (lefts[1] > lefts[0]).all()


@pytest.mark.parametrize("label", ["theorem-2/corrected", "theorem-3/corrected"])
def test_repaired_theorems_are_measured_where_they_can_hold(label: str) -> None:
    claim = CLAIMS[label]
    sides = personal_sides(claim, list(personal(10, single=label == "theorem-3/corrected", logarithmic=False)))
    assert len(sides) >= 5
    assert all(0 <= left <= right for left, right in sides)
    assert max(left for left, _ in sides) > 0


# --- tools -----------------------------------------------------------------------------------------------------------


def test_lemma_9_over_all_permutations() -> None:
    g = np.array([[1.0], [-2.0], [0.5], [0.5]])
    cases = tool_cases(CLAIMS["lemma-9"], Vectors("", g))
    assert cases is not None
    at = [i for i in range(len(cases)) if cases.parameters_at(i)["i"] == 2 and cases.parameters_at(i)["p"] == 0.1]
    values = [abs((g[p[0], 0] + g[p[1], 0]) / 2) for p in itertools.permutations(range(4))]
    assert cases.left[at[0]] == pytest.approx(quantile(values, F(1, 10)))


def test_the_repaired_bound_on_products_is_attained() -> None:
    A = np.full((3, 1, 1), -2.0)
    cases = tool_cases(CLAIMS["proposition-2/corrected"], Products("", A, 0 * A, 0.5, 0.0, 2.0, 1))
    assert cases is not None
    assert cases.left[0] == pytest.approx(CLAIMS["proposition-2/corrected"].bound(**cases.parameters_at(0)))


# --- verdicts --------------------------------------------------------------------------------------------------------


@cache
def pool() -> Pool:
    """Every other one of the quick ones."""
    return Pool((), tuple(scenarios(quick=True))[::2])


@pytest.mark.parametrize(("verdict", "label"), [(v, label) for v, labels in VERDICTS.items() for label in labels])
def test_verdicts(verdict: str, label: str, tmp_path: Path) -> None:
    result = check_claim(CLAIMS[label], shuffling, pool(), (), tmp_path)
    if verdict == "not broken":
        assert result.verdict in ("supported", "undecided"), [e.detail for e in result.evidence]
        assert not result.broken
        assert any("do not reach the claim" in e.detail for e in result.evidence)
    else:
        assert result.verdict == verdict, [e.detail for e in result.evidence]
    assert (result.certificate is not None) == (verdict == "refuted")
    if result.certificate is not None:
        made = certificate.read(result.certificate)
        assert certificate.differences(made, CLAIMS[label]) == ()


@pytest.mark.slow
@pytest.mark.parametrize(("verdict", "label"), [(v, label) for v, labels in SLOW_VERDICTS.items() for label in labels])
def test_slow_verdicts(verdict: str, label: str, tmp_path: Path) -> None:
    result = check_claim(CLAIMS[label], shuffling, pool(), (), tmp_path)
    assert result.verdict == verdict, [e.detail for e in result.evidence]
    assert not result.broken
    if label.partition("/")[2].startswith("corrected"):
        assert result.covered == "not called supported: no scenario of the pool was compared"
        assert any(e.outcome in ("holds", "proved") for e in result.evidence)


def test_repairs_are_never_broken_on_the_pool() -> None:
    """Beyond rounding; and every repair that has scalar parameters and a bound is measured."""
    measured = set()
    for claim in PAPER:
        if claim.amends is None or not claim.has_bound or claim.label.startswith(("theorem-2/", "theorem-3/")):
            continue
        for scenario in pool().scenarios:
            cases = shuffling.cases(claim, scenario)
            if cases is not None and not unmet(claim, scenario, cases.parameters_at(0)):
                measured.add(claim.label)
                assert not compare(claim, cases).broken, (claim.label, scenario.name)
    assert measured >= {label for label in VERDICTS["not broken"] if CLAIMS[label].amends and CLAIMS[label].has_bound}


@pytest.mark.parametrize(
    ("label", "share"),
    [("lemma-10/corrected-2", 0.9), ("lemma-11b/corrected-2", 0.3), ("proposition-3", 0.9), ("lemma-9", 0.35)],
)
def test_a_bound_that_is_smaller_would_be_seen_to_fail(label: str, share: float) -> None:
    claim = CLAIMS[label]
    smaller = replace(claim, right=f"{share}*({claim.right})")
    found = [c for e in pool().scenarios if (c := shuffling.cases(claim, e)) is not None]
    assert any(compare(smaller, cases).broken for cases in found)


def test_other_claims_and_scenarios_are_not_measured() -> None:
    e = in_floats(SCALAR[0])
    assert shuffling.cases(CLAIMS["lemma-5"], e) is None
    assert shuffling.cases(CLAIMS["lemma-12"], object()) is None
    assert shuffling.special(CLAIMS["lemma-5"], Path("unused")) == ([], None)
    assert list(shuffling.instances()) == []


# --- certificates ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("label", BROKEN)
def test_broken_epochs_break_the_claim_by_floats_too(label: str) -> None:
    claim = CLAIMS[label]
    for broken in BROKEN[label]:
        parameters = parameters_of(claim, broken)
        own = {p.name: parameters[p.name] for p in claim.parameters}
        assert claim.violated(**own) == ()
        assert float(left_side(claim, broken)) > claim.bound(**{name: float(value) for name, value in own.items()})


def test_the_written_verifier_accepts_the_certificates(tmp_path: Path) -> None:
    paths = [shuffling.special(CLAIMS[label], tmp_path)[1] for label in VERDICTS["refuted"]]
    assert all(path is not None for path in paths)
    folder = tmp_path / "certificates"
    files = sorted(path.name for path in folder.glob("*.json"))
    assert len(files) == len(VERDICTS["refuted"]) + 4  # second certificates
    run = subprocess.run(
        [sys.executable, "-I", "-S", "verify.py", *files], cwd=folder, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.count("VALID for the claim as printed above: compare it with your paper") == len(files)
    assert all(json.loads((folder / name).read_text())["format"] for name in files)
