"""Worst cases against closed forms of the literature and other programs; certificates that stand, and that fall."""

import itertools
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.rounds import chosen as some
from tests.rounds import compressed as kept
from tests.rounds import descent, noisy
from tests.rounds import sgd as sampled
from theory import algorithm, claim
from theory.worst_case.certificate import UpperBound
from validate.breaks import accepted
from validate.mutate.judged import QUICK, finding_of, of_the_worst
from validate.mutate.neighbours import Neighbour
from validate.mutate.oracle import Oracle
from validate.worst_case import NoReadingError, WorstRatio, worst_case_of
from validate.worst_case.stage import told, worst

Exact = Fraction


@algorithm
def local(w, x, *, eta, H, tau):  # type: ignore[no-untyped-def]
    y = w.each(x)
    for h in w.repeat(H):
        y = y - eta * w.before(h, tau) * w.gradient(y)
    return w.mean(y)


CONVEX = ("smooth(f, L)", "convex(f)", "N <= 1")
STRONG = ("smooth(f, L)", "strongly_convex(f, mu)", "N <= 1")
DISTANCE, START = "norm2(x[k] - xstar)", "norm2(x0 - xstar)"


def encloses(found: WorstRatio, value: Fraction, width: float = 1e-6) -> None:
    """The enclosure holds the value, is proved and narrow, and stands the re-check."""
    assert found.status == "proved", found
    assert found.lower is not None
    assert found.upper is not None
    assert found.lower <= value <= found.upper, found
    assert found.upper - found.lower <= width * max(1, value)
    assert found.check()


def bounds(found: WorstRatio, value: Fraction, width: float = 1e-6) -> None:
    """The proved bound is the value, but for what the solver leaves."""
    assert found.status == "bounded", found
    assert found.upper is not None
    assert value <= found.upper <= value + Exact(width)
    assert found.check()
    assert found.instance is None


# --- closed forms of the literature


@pytest.mark.parametrize("step", ["1/2", "1", "3/2"])
def test_gradient_norm(step: str) -> None:
    """|grad f(x_n)|^2 <= L^2 R^2/(n h + 1)^2 for short steps (Taylor, Hendrickx and Glineur 2017, Section 4.1)."""
    one = claim("c", f"norm2(grad(f, x[k])) <= L**2*{START}", of=descent, assuming=CONVEX)
    encloses(worst_case_of(one, {"L": 1, "eta": step}, rounds=4), 1 / (4 * Exact(step) + 1) ** 2)


@pytest.mark.parametrize(("step", "mu", "L", "steps"), [("1/2", "1/10", 1, 1), ("3/2", "1/10", 1, 3), ("1/2", 1, 3, 2)])
def test_strongly_convex_contraction(step: str, mu: Any, L: Any, steps: int) -> None:
    """|x_K - x*|^2 <= max((1 - h mu)^2, (1 - h L)^2)^K R^2, attained by quadratics."""
    one = claim("c", f"{DISTANCE} <= {START}", of=descent, assuming=STRONG)
    h = Exact(step)
    value = max((1 - h * Exact(mu)) ** 2, (1 - h * Exact(L)) ** 2) ** steps
    encloses(worst_case_of(one, {"L": L, "mu": mu, "eta": step}, rounds=steps), value, 1e-5)


def test_initial_gap_under_strong_convexity() -> None:
    """f(x_1) - f* <= max((1 - h mu)^2, (1 - h L)^2) (f(x_0) - f*) (de Klerk, Glineur and Taylor 2017, Theorem 4.2)."""
    one = claim("c", "f(x[k]) - fstar <= f(x0) - fstar", of=descent, assuming=STRONG)
    encloses(worst_case_of(one, {"L": 1, "mu": "1/5", "eta": "6/5"}), Exact("0.76") ** 2, 1e-5)


@pytest.mark.parametrize("n", [1, 5])
def test_a_start_bounded_in_value_alone(n: int) -> None:
    """|grad f(x_n)|^2 <= 2 L (f(x_0) - f*)/(2 n + 1) at step 1/L; x* may be far away.

    Source: Kim and Fessler, "Optimizing the efficiency of first-order methods for decreasing the gradient of smooth
    convex functions", J. Optim. Theory Appl. 188 (2021).
    """
    one = claim("c", "norm2(grad(f, x[k])) <= L*(f(x0) - fstar)", of=descent, assuming=CONVEX)
    encloses(worst_case_of(one, {"L": 2, "eta": "1/2"}, rounds=n), Exact(2, 2 * n + 1))


def test_clients_of_two_classes() -> None:
    """Each has its own constants and its own number of steps; with one class of clients, as many as all have."""
    one = claim(
        "c", f"{DISTANCE} <= {START}", of=local,
        assuming=("smooth(f_n, L_n)", "strongly_convex(f_n, mu_n)", "same_minimiser(f_n)"),
    )  # fmt: skip
    values = {"eta": "1/2", "H": 2, "tau": [2, 2], "L": [1, 1], "mu": ["1/10", "1/10"]}
    alike = worst_case_of(one, values, clients=2)
    encloses(alike, Exact("0.95") ** 4)
    other = worst_case_of(one, {**values, "tau": [2, 1], "mu": ["1/10", "1/5"]}, clients=2)
    slowest = (Exact("0.95") ** 2 + Exact("0.9")) / 2  # quadratics of least curvature, in one direction
    assert other.upper is not None
    assert other.upper >= slowest**2
    encloses(other, slowest**2, 1e-5)


def test_sampling_a_shared_minimiser_contracts() -> None:
    one = claim(
        "c", f"E({DISTANCE}) <= {START}", of=some,
        assuming=("smooth(f_n, L)", "strongly_convex(f_n, mu)", "same_minimiser(f_n)"),
    )  # fmt: skip
    found = worst_case_of(one, {"L": 1, "mu": "1/10", "eta": "1/5", "S": 1}, clients=3, rounds=2)
    encloses(found, Exact("0.98") ** 4, 1e-5)


# --- noise, coordinates, dissimilarity: bounds


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_noise_adds_up(rounds: int) -> None:
    """E|x_K - x*|^2 <= c^K R^2 + h^2 sigma^2 (1 + c + ..), c = (1 - h mu)^2, and no less, for every law of noise."""
    right = "(1 - eta*mu)**(2*k)*norm2(x0 - xstar) + {}*eta**2*sigma2*(1 - (1 - eta*mu)**(2*k))/(1 - (1 - eta*mu)**2)"
    values = {"L": 1, "mu": "1/10", "eta": "1/2", "sigma2": 2}
    one = claim("c", f"E({DISTANCE}) <= {right.format(1)}", of=noisy, assuming=STRONG)
    bounds(worst_case_of(one, values, rounds=rounds), Exact(1), 2e-6)
    less = claim("c", f"E({DISTANCE}) <= {right.format('9/10')}", of=noisy, assuming=STRONG)
    found = worst_case_of(less, values, rounds=rounds)
    assert found.upper is not None
    assert found.upper >= Exact(10, 9)


def test_noise_of_clients_is_independent() -> None:
    """Of the mean over N clients a share 1/N is left."""
    right = "(1 - eta*mu)**2*norm2(x0 - xstar) + eta**2*sigma2/N"
    assumed = ("smooth(f_n, L)", "strongly_convex(f_n, mu)", "same_minimiser(f_n)")
    one = claim("c", f"E({DISTANCE}) <= {right}", of=noisy, assuming=assumed)
    values = {"L": 1, "mu": "1/10", "eta": "1/2", "sigma2": 1}
    bounds(worst_case_of(one, values, clients=3), Exact(1))


def test_coordinates_kept_at_random() -> None:
    """1 - 2 h a + (d/m) h^2 a^2 at the worst curvature a."""
    one = claim("c", f"E({DISTANCE}) <= {START}", of=kept, assuming=STRONG)
    values = {"L": 1, "mu": "1/10", "eta": "1/4", "m": 1, "d": 3}
    bounds(worst_case_of(one, values), max(1 - a / 2 + 3 * a * a / 16 for a in (Exact(1), Exact(1, 10))))
    with pytest.raises(NoReadingError, match="m=1 is outside"):
        worst_case_of(one, {**values, "d": "1/2"})


def test_dissimilarity_is_used() -> None:
    assumed = ("smooth(f_n, L)", "strongly_convex(f_n, mu)", "dissimilar(G, B)")
    one = claim("c", f"mean_n(norm2(grad(f_n, x[0]))) <= G**2 + B**2*L**2*{START}", of=descent, assuming=assumed)
    values = {"L": 1, "mu": "1/10", "eta": 1, "G": 2, "B": "3/2"}
    bounds(worst_case_of(one, values, clients=2), Exact(1))
    apart = ("smooth(f_n, L)", "strongly_convex(f_n, mu)", "dissimilar(zeta)")
    left = "mean_n(norm2(grad(f_n, x[0]) - grad(f, x[0])))"
    one = claim("c", f"{left} <= zeta**2 + {START}", of=descent, assuming=apart)
    bounds(worst_case_of(one, {"L": 1, "mu": "1/10", "eta": 1, "zeta": 3}, clients=2), Exact(1))


def test_bounded_variance_of_samples() -> None:
    right = "(1 - eta*mu)**2*norm2(x0 - xstar) + eta**2*sigma2"
    assumed = ("smooth(f_ni, L)", "strongly_convex(f_ni, mu)", "bounded_variance(sigma2)")
    one = claim("c", f"E({DISTANCE}) <= {right}", of=sampled, assuming=assumed)
    bounds(worst_case_of(one, {"L": 1, "mu": "1/10", "eta": "1/2", "sigma2": 1}, samples=2), Exact(1))


def test_bounded_gradients_against_a_number_and_a_length() -> None:
    """f(x0) - f* <= G |x0 - x*| <= (R + G^2 |x0 - x*|^2/R)/2, with equality at |x0 - x*| = R/G."""
    one = claim(
        "c", "f(x[0]) - fstar <= R/2 + G**2*norm2(x0 - xstar)/(2*R)", of=descent,
        assuming=("smooth(f, L)", "convex(f)", "bounded_gradients(f, G)", "N <= 1"),
    )  # fmt: skip
    found = worst_case_of(one, {"L": 1000, "eta": 1, "G": 2, "R": 3})
    assert found.upper is not None
    assert Exact(99, 100) <= found.upper <= 1 + Exact(1, 10**5)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("norm(x[1] - xstar) <= sigma2", "with noise"),
        ("E(norm(x[1] - xstar)) <= sigma2", "length, with noise"),
        ("E(max(norm2(x[1]), norm2(x[1] - xstar))) <= sigma2", "mean of a max, with noise"),
        ("norm2(E(x[2]) - xstar) <= norm2(x0 - xstar)", "gradient at a noisy point"),
        ("f(x[1]) - fstar <= sigma2", "outside of E"),
    ],
)
def test_what_noise_leaves_unread(text: str, why: str) -> None:
    one = claim("c", text, of=noisy, assuming=STRONG)
    with pytest.raises(NoReadingError, match=why):
        worst_case_of(one, {"L": 1, "mu": "1/10", "eta": "1/2", "sigma2": 1}, rounds=2)


def test_the_mean_of_a_step_has_no_noise() -> None:
    one = claim("c", "norm2(E(x[1]) - xstar) <= norm2(x0 - xstar) + sigma2", of=noisy, assuming=STRONG)
    found = worst_case_of(one, {"L": 1, "mu": "1/10", "eta": "1/2", "sigma2": 5})
    assert found.upper is not None
    assert abs(found.upper - Exact("0.95") ** 2) <= 1e-6


def test_a_false_claim_about_noise_is_refuted_by_points() -> None:
    """The worst law of exact play, on a function that is no quadratic; the verifier accepts it."""
    assumed = ("smooth(f, L)", "convex(f)", "eta <= 1/L", "N <= 1")
    text = "mean_k(E(f(x[k]) - fstar)) <= norm2(x0 - xstar)/(2*eta*K) + eta*sigma2/{}"
    false = claim("false", text.format(8), of=noisy, assuming=assumed)
    found = worst(false, quick=True, accepted=lambda seen: accepted(false, seen, True))
    assert found.broken is not None
    true = claim("true", text.format(1), of=noisy, assuming=assumed)
    found = worst(true, quick=True)
    assert found.broken is None
    assert not found.suspects
    assert any(bound.upper is not None and bound.upper <= 1 + Exact(1, 10**5) for _, bound in found.bounds)
    assert "proved by exact multipliers" in told(true, found)[0].detail


# --- certificates


@cache
def federated() -> WorstRatio:
    """Two clients, two local steps, not merged."""
    one = claim(
        "c", f"{DISTANCE} <= {START} + mean_n(norm2(grad(f_n, xstar)))/L**2", of=local,
        assuming=("smooth(f_n, L)", "strongly_convex(f_n, mu)"),
    )  # fmt: skip
    values = {"L": 1, "mu": "1/10", "eta": "1/10", "H": 2, "tau": [2, 2]}
    return worst_case_of(one, values, clients=2, rounds=2, alike=False)


def test_certificates_that_were_tampered_with_fall() -> None:
    found = federated()
    proof, instance, problem = found.certificate, found.attained, found.problem.program
    assert proof is not None
    assert instance is not None
    assert proof.check(problem)
    assert instance.check(problem)
    k, y = proof.multipliers[-1]
    rest = proof.multipliers[:-1]
    assert not UpperBound(proof.bound - Exact(1, 10**9), proof.multipliers).check(problem)
    assert not UpperBound(proof.bound, (*rest, (k, y * 2))).check(problem)
    assert not UpperBound(proof.bound, rest).check(problem)
    assert not UpperBound(proof.bound, ((k, -y), *rest)).check(problem)
    assert not UpperBound(proof.bound, (*proof.multipliers, (k, Fraction(0)))).check(problem)
    assert not UpperBound(proof.bound, (*rest, (problem.conditions, y))).check(problem)
    shrunk = tuple([(j, z * Exact(999, 1000)) for j, z in proof.multipliers])
    assert not UpperBound(proof.bound * Exact(999, 1000), shrunk).check(problem)
    assert not replace(instance, value=instance.value + Exact(1, 10**15)).check(problem)
    assert not replace(instance, vectors=()).check(problem)
    larger = tuple([tuple([tuple([c * 2 for c in v]) for v in block]) for block in instance.vectors])
    assert not replace(instance, vectors=larger).check(problem)


def test_certificates_with_noise_that_were_tampered_with_fall() -> None:
    """Multipliers of equations have either sign; those of inequalities do not, nor do equations help for nothing."""
    one = claim("c", f"E(f(x[k]) - fstar) <= L*{START} + sigma2/L", of=noisy, assuming=CONVEX)
    found = worst_case_of(one, {"L": 1, "eta": "1/2", "sigma2": 1}, rounds=2)
    proof, problem = found.certificate, found.problem.program
    assert proof is not None
    assert proof.check(problem)
    equations = [(k, y) for k, y in proof.multipliers if problem.equations[k]]
    others = [(k, y) for k, y in proof.multipliers if not problem.equations[k]]
    assert any(y < 0 for _, y in equations)
    assert not UpperBound(proof.bound, tuple(others)).check(problem)
    assert not UpperBound(proof.bound, (*equations, *[(k, -y) for k, y in others])).check(problem)
    assert not UpperBound(proof.bound * Exact(99, 100), proof.multipliers).check(problem)


# --- against other programs


def by_cvxpy(steps: int, step: float, mu: float) -> float:
    """Gradient descent, L = R = 1, by the primal problem, written anew: G of (x0, g_0, ..), values f_0, .., f_n."""
    import cvxpy as cp

    n = steps + 2
    gram, f = cp.Variable((n, n), PSD=True), cp.Variable(steps + 1)
    unit = np.eye(n)
    x = [unit[0] - step * unit[1 : k + 1].sum(axis=0) for k in range(steps + 1)] + [np.zeros(n)]
    g = [*unit[1:], np.zeros(n)]
    values = [*[f[k] for k in range(steps + 1)], 0.0]

    def dot(u: np.ndarray, v: np.ndarray) -> Any:
        return cp.sum(cp.multiply(gram, np.outer(u, v)))

    rules = [gram[0, 0] <= 1]
    for i, j in itertools.permutations(range(steps + 2), 2):
        d, e = g[i] - g[j], x[i] - x[j]
        rest = (dot(d, d) + mu * dot(e, e) - 2 * mu * dot(d, e)) / (2 * (1 - mu))
        rules.append(values[i] >= values[j] + dot(g[j], e) + rest)
    problem = cp.Problem(cp.Maximize(f[steps]), rules)
    problem.solve(solver="CLARABEL")
    return float(problem.value)


@pytest.mark.parametrize(("step", "mu"), [("19/10", "0"), ("17/10", "1/4")])
def test_against_cvxpy(step: str, mu: str) -> None:
    assumed = CONVEX if mu == "0" else STRONG
    one = claim("c", f"f(x[k]) - fstar <= L*{START}", of=descent, assuming=assumed)
    values = {"L": 1, "eta": step, **({} if mu == "0" else {"mu": mu})}
    found = worst_case_of(one, values, rounds=3)
    assert found.status == "proved"
    assert found.value == pytest.approx(by_cvxpy(3, float(Exact(step)), float(Exact(mu))), abs=2e-6)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::Warning:PEPit", "ignore::Warning:cvxpy")
def test_against_pepit() -> None:
    """Problems of `benchmarks/worst_case.py` that are quick for PEPit (its floats are good to about 1e-5)."""
    pytest.importorskip("PEPit")
    from benchmarks.worst_case import PROBLEMS, ours, pepit

    for name in ("gradient descent, 10 steps", "FedAvg, 2 clients, 5 local steps, 2 rounds"):
        assert ours(PROBLEMS[name])["value"] == pytest.approx(pepit(PROBLEMS[name])["value"], abs=2e-5)


def test_neighbours_meet_functions_of_several_dimensions() -> None:
    """Gradients of two steps keep their direction on quadratics and in one dimension, and not in the plane."""
    assumed = (*CONVEX, "eta == 1/L")
    angle = claim("angle", "dot(grad(f, x[k]), grad(f, x[k+2])) >= 0", of=descent, assuming=assumed)
    seen = of_the_worst(angle)
    assert seen is not None
    assert accepted(angle, seen, True)
    turned = Neighbour("angle/mutant", angle, "relation turned round", "turned round")
    effort = replace(QUICK, pool=20, evaluations=20, oracle=10)
    finding = finding_of(turned, Oracle(angle, 0), effort, None)
    assert finding.killed
    assert finding.counterexample is not None
    tight = "f(x[K]) - fstar <= L*norm2(x0 - xstar)/(4*K + 2)"
    assert of_the_worst(claim("tight", tight, of=descent, assuming=assumed)) is None
