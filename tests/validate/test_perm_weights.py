"""The claims of perm about mixing weights: both sides against code of the tests' own, proofs, refutations."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from validate.papers import perm
from validate.papers.perm import minimisers, mixing, mixing_scenarios
from validate.papers.perm.mixing import MixingScenario
from validate.papers.perm.mixing_refutations import REFUTED, made
from validate.papers.perm.proofs import PROOFS
from validate.papers.perm.special import is_best, programs

from sim.algorithms import FedAvg
from sim.exact import moments
from sim.participation import full
from sim.problems import from_samples, scalar
from tests.validate.pools import applicable, assert_told_apart
from theory import claim
from theory.assumptions import BoundedDomain, BoundedGradient, InteriorMinimiser, VarianceAtMost
from theory.mixing import exact_weights
from validate import certificate
from validate.algebra import at_most
from validate.assumptions import satisfied, unmet
from validate.bounds import Cases, compare, compare_all

F = Fraction
# right sides that are below the left side somewhere
FALSE = {
    "lipschitz-observation": "2/3*L**2*kappa_g**2*dissimilarity*dist2",
    "lemma-3/corrected": "2/3*L*kappa_g*sqrt(dissimilarity*dist2)",
    "theorem-1-alpha-rate/corrected": "2/3*(1-amin(n)/amax(n))**(2*T_a)*start2",
    "theorem-1/corrected": "descent_term/1000 + model_term/1000",
    "lemma-15/corrected": "descent_term/1000 + model_term/1000",
    "lemma-14/corrected": "descent_term/10000 + motion_term/10000",
    "lemma-2": "model_term/100 + weights_term/100",
    "lemma-2/unnormalised": "model_term/100 + weights_term/100",
}


def of(label):
    return claim(f"perm/{label}")


@pytest.fixture(scope="module")
def pool():
    return [*mixing_scenarios.scenarios(quick=True), *minimisers.scenarios(quick=True)]


@pytest.mark.parametrize("label", FALSE)
def test_no_true_claim_is_broken_and_its_false_neighbour_is(label, pool):
    c = of(label)
    assert_told_apart(c, FALSE[label], applicable(c, pool, perm.cases))


@pytest.mark.parametrize("label", ["lemma-3", "theorem-1-alpha-rate", "lemma-14-alpha-rate"])
def test_false_claims_are_broken_in_floats_too(label, pool):
    assert any(
        comparison.broken
        for comparison in compare_all(of(label), [cases for _, cases in applicable(of(label), pool, perm.cases)])
    )


# --- what is measured ------------------------------------------------------------------------------------------------


def noisy():
    problem = from_samples(
        [[np.array([[1.0, 0.2], [0.2, 0.5]])] * 2, [np.array([[0.7, 0.0], [0.0, 0.9]])] * 2],
        [[np.array([1.0, 0.0]), np.array([0.0, 1.0])], [np.array([-1.0, 2.0]), np.array([0.5, 0.0])]],
    )
    start = np.array([2.0, -1.0])
    return MixingScenario("two clients", problem, np.array([3.0, 8.0]), 20.0, 1, 4, start, 0.3, 2, 2)


def test_outcomes_have_the_moments_of_the_oracle():
    s = noisy()
    m = moments(FedAvg(step=s.step, local_steps=2), s.problem, full(), rounds=2, start=s.start)
    for r, points in enumerate(s.path):
        assert points.shape == (16**r * 1 if r == 0 else 4 ** (2 * r), 2)
        assert points.mean(axis=0) == pytest.approx(m.mean[r])
        assert (points[:, :, None] * points[:, None]).mean(axis=0) == pytest.approx(m.second_moment[r])


def project_by_bisection(v):
    """The nearest point of the simplex: max(v - t, 0) with sum 1."""
    low, high = v.min() - 1, v.max()
    for _ in range(200):
        t = (low + high) / 2
        low, high = (t, high) if np.maximum(v - t, 0).sum() > 1 else (low, t)
    return np.maximum(v - (low + high) / 2, 0)


def test_weights_along_a_run_against_a_loop():
    s = noisy()
    points = s.path[-1][::37]
    best, came = s.best_weights(points), s.descended(points)
    step = s.counts.min() / (2 * s.lam)
    for w, a_best, a_came in zip(points, best, came, strict=True):
        g = [s.problem.client_hessian[j] @ w - s.problem.client_linear[j] for j in (0, 1)]
        z = np.array([float((g[1] - g[j]) @ (g[1] - g[j])) for j in (0, 1)])
        a = np.array([0.5, 0.5])
        for _ in range(s.weight_steps):
            a = project_by_bisection(a - step * (z + 2 * s.lam * a / s.counts))
        assert a_came == pytest.approx(a, abs=1e-12)
        grid = np.linspace(0, 1, 20001)
        cost = grid * z[0] + (1 - grid) * z[1] + s.lam * (grid**2 / s.counts[0] + (1 - grid) ** 2 / s.counts[1])
        assert a_best[0] == pytest.approx(grid[cost.argmin()], abs=1e-4)


def test_parameters_of_theorem_1():
    s = noisy()
    cases = perm.cases(of("theorem-1/corrected"), s)
    given = cases.parameters_at(0)
    star = np.linalg.solve(s.problem.mean_hessian, s.problem.mean_linear)
    g = [s.problem.client_hessian[j] @ star - s.problem.client_linear[j] for j in (0, 1)]
    assert given["zbar"] == pytest.approx(float((g[0] - g[1]) @ (g[0] - g[1])) / 2)
    assert given["dist0"] == pytest.approx(float((s.start - star) @ (s.start - star)))
    assert given["delta2"] == pytest.approx(max(0.5, 0.75**2 + 1))
    assert (given["N"], given["K"], given["R"], given["T_a"]) == (2, 2, 2, 4)
    assert list(given["n"]) == [3, 8]
    assert all(np.linalg.norm(w - star) <= given["D"] for w in s.visited)
    lemma = perm.cases(of("lemma-3/corrected"), s).parameters_at(0)
    assert list(lemma["zeta"]) == pytest.approx([2 * given["zbar"], 0])


def test_an_interval_stops_the_run():
    s = next(s for s in mixing_scenarios.scenarios(quick=True) if s.radius is not None)
    assert s.minimiser == pytest.approx([1.0])
    assert s.problem.minimiser[0] > 1
    assert all((np.abs(points) <= 1).all() for points in s.path)
    assert s.least_constant(InteriorMinimiser()) is None
    assert not satisfied(InteriorMinimiser(), s, {})
    assert "minimiser inside W" in unmet(
        of("lemma-14/corrected"), s, perm.cases(of("lemma-14/corrected"), s).parameters_at(0)
    )
    assert unmet(of("lemma-15/corrected"), s, perm.cases(of("lemma-15/corrected"), s).parameters_at(0)) == ()


def test_constants_of_a_scenario():
    s = noisy()
    assert satisfied(BoundedDomain(), s, {"D": s.diameter})
    assert not satisfied(BoundedDomain(), s, {"D": 0.9 * s.diameter})
    largest = max(np.linalg.norm(s.problem.client_gradient(w), axis=1).max() for w in s.visited)
    assert satisfied(BoundedGradient(), s, {"G": largest})
    assert not satisfied(BoundedGradient(), s, {"G": 0.99 * largest})
    assert not satisfied(VarianceAtMost(at="iterates"), s, {"delta2": 0.1})


def test_vector_parameters_have_as_many_entries_as_clients():
    """Two scenarios of two and of three clients are compared at once, each with its own."""
    c = of("lemma-3")
    made_cases = []
    for size in (2, 3):
        vector = np.ones((4, size))
        made_cases.append(Cases(np.zeros(4), {"L": 1.0, "lam": 1.0, "n": vector, "zeta": vector, "dist2": 1.0}, {}))
    found = compare_all(c, made_cases)
    # kappa_g^2 N (2 + 4) 4 = 6 N
    assert [f.right for f in found] == [12, 18]
    assert compare(c, made_cases[1]).right == 18


# --- proofs and programs ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("label", PROOFS)
def test_proofs_are_shown(label, tmp_path):
    evidence, path = perm.special(of(label), tmp_path)
    assert [e.outcome for e in evidence] == ["holds"]
    assert "do not reach the claim" in evidence[0].detail
    assert path is None
    lines, _ = PROOFS[label]
    assert len(lines()) >= 4


def test_wrong_lines_are_not_shown():
    assert not at_most("L**2*d**2*9/16*(8*b**2+16*L**2*d**2)", "2*L**2*d**2*(2*b**2+4*L**2*d**2)")
    assert not at_most("2/(2*L+r)-4*L/(2*L+r)**2", "0")


def test_weights_that_are_not_best_are_found_out():
    for z, n, lam in programs(60):
        right = exact_weights(z, n, lam).weights
        assert is_best(right, z, n, lam)
        other = exact_weights(z, n, 3 * lam).weights
        assert is_best(other, z, n, lam) == (other == right)
        assert not is_best([a / 2 for a in right], z, n, lam)


@given(st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_best_weights_beat_every_point_of_a_grid(seed):
    z, n, lam = programs(1, seed)[0]
    best = exact_weights(z, n, lam)
    points = [p for p in product(range(4), repeat=min(len(z), 4)) if sum(p) > 0]
    for p in points:
        a = [F(x, sum(p)) for x in p] + [F(0)] * (len(z) - len(p))
        cost = sum(x * z_j + lam * x * x / n_j for x, z_j, n_j in zip(a, z, n, strict=True))
        assert cost >= best.objective


@pytest.mark.parametrize("label", ["gen", "eq1", "eq2", "eq2-heterogeneous", "eq3"])
def test_definitions(label, tmp_path):
    evidence, path = perm.special(of(label), tmp_path)
    assert path is None
    assert [e.outcome for e in evidence] == (["undecided"] if label in ("gen", "eq3") else ["holds"])


# --- refutations -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("label", REFUTED)
def test_certificates(label, tmp_path):
    evidence, path = perm.special(of(label), tmp_path)
    assert [e.outcome for e in evidence] == ["refuted"]
    assert certificate.verify(path).valid
    assert certificate.differences(certificate.read(path), of(label)) == ()


def test_values_of_the_refutations_by_hand():
    """Two clients, n = (1, 1): a*(w) = (1/2 + t, 1/2 - t), t = min(1/2, z/(4 lam))."""
    data = made(of("theorem-1"))
    assert F(data["left_value"]) == F(25, 64) ** 4 / 8
    data = made(of("lemma-14"))
    assert F(data["left_value"]) == 2 * (F(1, 2) - F(25, 64)) ** 2
    data = made(of("lemma-3"))
    z = [(F(2) - w) ** 2 for w in (F(203, 300), F(2, 3))]
    assert float(data["left_value"]) ** 2 == pytest.approx(float((z[0] - z[1]) ** 2 / 32), rel=1e-8)
    data = made(of("theorem-1-alpha-rate"))
    # z = 0: one step multiplies a - a* = (1/2 - 1/11)(1, -1) by (0, 9/10), and the plane takes the mean off
    assert F(data["left_value"]) == 2 * (F(9, 22) * F(9, 10) / 2) ** 2


def test_a_false_claim_with_the_square_put_back():
    """Lemma 3 for functions 100 times as large: the squared left side exceeds the right side."""
    scale = 100
    problem = scalar([[1.0 * scale], [2.0 * scale]], [[0.0], [1.0]])
    s = MixingScenario("scaled", problem, np.ones(2), 2.0 * scale**2, 0, 1, np.array([2 / 3 + 0.01]), 0.001, 1, 0)
    cases = mixing.cases(of("lemma-3"), s)
    assert float(cases.left[0]) ** 2 > compare(of("lemma-3"), cases).right
