"""fedmim's theorems with the mean gradient kept: on exact runs, on functions with bounded gradients, on convex ones."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rationals import rationals
from tests.theory.fedmim_moments import Round, Run, simulate
from theory.calculator import in_numbers
from theory.evaluate import exact as exactly
from theory.papers.fedmim import PAPER

CLAIMS = {c.label: c for c in PAPER}
F = Fraction


def exact(claim, at):
    return exactly(*in_numbers(claim, at))


FIRST = ("theorem-iv1-eq7", "theorem-iv1-eq35")
SECOND = ("theorem-iv2-eq9", "theorem-iv2-eq39")
LIMIT, KEPT = CLAIMS["eq33/corrected-2"], CLAIMS["eq33/kept-mean"]


@pytest.mark.parametrize("label", [*FIRST, *SECOND])
def test_the_second_repair_asks_for_less_and_claims_as_much(label: str) -> None:
    printed, first, second = CLAIMS[label], CLAIMS[f"{label}/corrected"], CLAIMS[f"{label}/corrected-2"]
    assert second.amends == label
    assert second.statement == printed.statement == first.statement
    assert second.where["Psi"] == printed.where["Psi"]
    assert second.assuming == first.assuming
    assert not second.standing


@given(
    e=st.fractions(F(1, 1000), F(3, 16)),
    A=st.fractions(F(1, 100), 1),
    B=st.fractions(0, 4),
    S=st.integers(1, 50),
)
@settings(deadline=None, max_examples=60)
def test_the_limits_of_lambda_are_ordered(e: Fraction, A: Fraction, B: Fraction, S: int) -> None:
    at = {"A": A, "K": 1, "L": 1, "eta_l": e, "B": B}
    weakest = exact(LIMIT, {**at, "S": S})
    assert weakest >= exact(CLAIMS["eq33/corrected"], at)
    assert weakest >= F(1, 2) - 32 * e * B**2 - 36 * e**2 * A * B**2


def test_eight_is_enough_and_seven_is_not() -> None:
    """What the gradient is multiplied by over eta, at eta L = 3/16, A = S = 1: 7.375 eta L B^2 + 36 (eta L)^2 B^2."""
    e = F(3, 16)
    found = 4 * e + 24 * e**2 * (4 * e + F(3, 2))
    assert 7 * e + 36 * e**2 < found == F(59, 8) * e + 36 * e**2 < 8 * e + 36 * e**2


# --- quadratics ------------------------------------------------------------------------------------------------------

_PROBLEMS = [
    ((1.0, 0.5, 0.2), (0.3, -0.1, -0.2)),
    ((1.0, 0.8, 0.4, 0.3), (0.0, 0.0, 0.0, 0.0)),
    ((1.0, 0.9), (1.0, -1.0)),
]
_INERTIA = [((0.0,), (0.0,)), ((0.9,), (0.0,)), ((0.3, 0.2), (0.5, 0.5)), ((0.6, 0.3), (0.1, 0.9))]


def _runs(share: float) -> list[Run]:
    """eta_l a share of 3/(16KL), L = 1; the fourth has two lags and noise."""
    found = []
    for n in range(12):
        (h, b), (alpha, beta), K = _PROBLEMS[n % 3], _INERTIA[n % 4], (1, 2, 5)[n % 3 - n // 6]
        found.append(Run(h, b, alpha, beta, K, 1 + n % 2, share * 3 / (16 * K), (0.0, 0.5)[len(alpha) - 1]))
    return found


@cache
def _simulated(run: Run) -> list[Round]:
    return simulate(run, 30)


def _constants(run: Run) -> dict[str, object]:
    c = run.constants
    at: dict[str, object] = {"alpha": run.alpha, "beta": run.beta, "K": run.K, "L": c["L"], "eta_l": run.eta_l}
    return at | {"S": run.S, "G": c["G"], "B": c["B"], "sigma2": run.sigma2}


@pytest.mark.parametrize("label", FIRST)
def test_theorem_iv1_on_exact_runs(label: str) -> None:
    claim, before = CLAIMS[f"{label}/corrected-2"], CLAIMS[f"{label}/corrected"]
    met = more = 0
    for share in (0.5, 0.3, 0.1):
        for run in _runs(share):
            rounds = _simulated(run)
            at = {**_constants(run), "f0_gap": rounds[0].gap, "C": max(r.average_sq for r in rounds), "T": 1}
            limit = float(claim.terms(**at, lam=0.1)["lam_max"])
            if limit <= 0:
                continue
            at["lam"] = 0.99 * limit
            assert not claim.violated(**at)
            met += 1
            more += bool(before.violated(**at))
            for T in (1, 7, 30):
                assert min(r.grad_u2 for r in rounds[:T]) <= claim.bound(**{**at, "T": T})
    assert met >= 15
    assert more >= 10  # where the first repair says nothing


def test_a_round_descends_on_exact_runs() -> None:
    largest = -math.inf
    for share in (1.0, 0.3):
        for run in _runs(share):
            for now in _simulated(run)[:5]:
                right = KEPT.bound(**_constants(run), delta_sq=now.delta_sq, grad_u2=now.grad_u2)
                assert now.next_gap - now.gap <= right + 1e-12
                largest = max(largest, (now.next_gap - now.gap) / abs(right))
    assert largest < 1


@pytest.mark.parametrize("label", SECOND)
def test_theorem_iv2_on_exact_runs(label: str) -> None:
    claim = CLAIMS[f"{label}/corrected-2"]
    for alpha, beta in (((0.0,), (0.0,)), ((0.5,), (0.2,))):
        run = Run((1.0, 0.8), (0.1, -0.1), alpha, beta, 2, 1, 0.01, 0.01, x0=10.0)
        rounds = simulate(run, 600)
        at = {**_constants(run), "mu": run.constants["mu"], "T": 600, "f0_gap": rounds[0].gap, "lam": 0.12}
        at["C"] = max(r.average_sq for r in rounds)
        assert not claim.violated(**at)
        assert "lam < lam_max" in CLAIMS[f"{label}/corrected"].violated(**at)
        p = 1 - run.constants["mu"] * 2 * run.eta_l * 0.12
        weights = p ** -np.arange(600.0)
        assert float(weights @ [r.grad_u2 for r in rounds] / weights.sum()) <= claim.bound(**at)


# --- bounded gradients, which alone allow B < 1 ----------------------------------------------------------------------


def _log_cosh(x: float) -> float:
    return abs(x) + math.log1p(math.exp(-2 * abs(x))) - math.log(2)


def _round(
    x: float,
    deltas: list[float],
    shifts: list[float],
    alpha: list[float],
    beta: list[float],
    K: int,
    S: int,
    eta_l: float,
    noise: float,
) -> list[float]:
    """x_{t+1} for every choice of S clients and of the signs of the noise, f_i = log cosh(x - shift_i)."""
    A = 1 - sum(alpha)
    inertia = sum(a * d for a, d in zip(alpha, deltas, strict=True))
    back = sum(b * d for b, d in zip(beta, deltas, strict=True))
    signs = list(product((1, -1), repeat=K)) if noise else [(0,) * K]

    def local(shift: float, own: tuple[int, ...]) -> float:
        at = x
        for sign in own:
            at = at - inertia - A * eta_l * (math.tanh(at - back - shift) + sign * noise)
        return at

    ends = [[local(shift, own) for own in signs] for shift in shifts]
    return [sum(end) / S for chosen in combinations(ends, S) for end in product(*chosen)]


def _right_side(at: dict[str, float], alpha: list[float], beta: list[float], deltas: list[float], lam: float) -> float:
    """(33)(d) with E||delta||^2 in the place of eta_l^2 C, written down again."""
    K, S, eta_l, G2, s2, gradient = (at[name] for name in ("K", "S", "eta_l", "G2", "sigma2", "gradient"))
    A, rho, J = 1 - sum(alpha), sum(beta), len(alpha)
    lags = 0.0
    for a, b, d in zip(alpha, beta, deltas, strict=True):
        P = rho * b + K**2 * J * (1 - A) ** 2 / A**2
        lags += (6 * K**2 * (a + 4 * A * eta_l**2 * P) + P) * d**2
    inside = eta_l * s2 / S + 4 * eta_l * K * G2 / S + 3 * lags
    inside += 9 * eta_l**2 * K * A**2 * s2 + 72 * eta_l**2 * A * K**2 * G2
    return K * eta_l * (-lam * gradient + inside)


weight = st.floats(0, 0.45)
small = st.floats(-0.5, 0.5)


@given(
    x=st.floats(-6, 6),
    lags=st.lists(st.tuples(weight, st.floats(0, 1), small), min_size=1, max_size=2),
    shifts=st.lists(st.floats(-3, 3), min_size=1, max_size=4),
    alike=st.booleans(),
    K=st.integers(1, 3),
    S=st.integers(1, 4),
    share=st.floats(0.01, 1),
    B=st.floats(0, 0.5),
    noise=st.sampled_from([0.0, 0.0, 0.4]),
)
@settings(deadline=None, max_examples=150)
def test_a_round_descends_for_small_b(
    x: float,
    lags: list[tuple[float, float, float]],
    shifts: list[float],
    alike: bool,
    K: int,
    S: int,
    share: float,
    B: float,
    noise: float,
) -> None:
    """From any x_t and delta: (33)(d) at the limit of lambda. L = 1; like clients have G^2 = 1 - B^2, others G = 1."""
    alpha, beta, deltas = (list(column) for column in zip(*lags, strict=True))
    if alike:
        shifts = [shifts[0]] * len(shifts)
    S = min(S, len(shifts))
    if noise:
        S, K = min(S, 2), min(K, 2)
    A, eta_l = 1 - sum(alpha), share * 3 / (16 * K)
    later = [sum(alpha[j:]) for j in range(len(alpha))]

    def f(u: float) -> float:
        return sum(_log_cosh(u - c) for c in shifts) / len(shifts)

    def u(at: float, past: list[float]) -> float:
        return at - K / A * sum(c * d for c, d in zip(later, past, strict=True))

    start = u(x, deltas)
    gradient = (sum(math.tanh(start - c) for c in shifts) / len(shifts)) ** 2
    ends = _round(x, deltas, shifts, alpha, beta, K, S, eta_l, noise)
    left = sum(f(u(end, [(x - end) / K, *deltas[:-1]])) for end in ends) / len(ends) - f(start)
    lam = LIMIT.bound(A=A, K=K, L=1, eta_l=eta_l, S=S, B=B)
    at = {"K": K, "S": S, "eta_l": eta_l, "G2": 1 - B**2 if alike else 1.0, "sigma2": noise**2, "gradient": gradient}
    assert left <= _right_side(at, alpha, beta, deltas, lam) + 1e-12
    constants = {"alpha": alpha, "beta": beta, "K": K, "L": 1, "eta_l": eta_l, "S": S, "G": math.sqrt(at["G2"]), "B": B}
    squares = {"sigma2": noise**2, "delta_sq": [d**2 for d in deltas], "grad_u2": gradient}
    assert left <= KEPT.bound(**constants, **squares) + 1e-12


@pytest.mark.parametrize("label", [*FIRST, *(f"{name}/corrected-2" for name in FIRST)])
@pytest.mark.parametrize(("alpha", "beta"), [(0.0, 0.0), (0.5, 0.3)])
def test_theorem_iv1_with_b_below_one_half(label: str, alpha: float, beta: float) -> None:
    """Ten like clients log cosh, nine of them a round: every choice is the same; G^2 = 1 - B^2."""
    claim, T = CLAIMS[label], 4000
    for B in (0.0, 0.25, 0.45):
        for K, share in ((1, 1.0), (3, 0.1)):
            eta_l = share * 3 / (16 * K)
            x, delta, gradients, steps = 5.0, 0.0, [], []
            for _ in range(T):
                gradients.append(math.tanh(x - K / (1 - alpha) * alpha * delta) ** 2)
                (following,) = _round(x, [delta], [0.0], [alpha], [beta], K, 1, eta_l, 0)
                moved = (x - following) / K
                steps.append(((moved - alpha * delta) / (1 - alpha) / eta_l) ** 2)
                x, delta = following, moved
            at = {"alpha": [alpha], "beta": [beta], "K": K, "L": 1, "eta_l": eta_l, "S": 9, "B": B, "sigma2": 0}
            at |= {"G": math.sqrt(1 - B**2), "C": max(steps), "f0_gap": _log_cosh(5.0), "T": T, "lam": 0.1}
            at["lam"] = 0.99 * float(claim.terms(**at)["lam_max"])
            if at["lam"] <= 0:
                assert B == 0.45
                continue
            assert not claim.violated(**at)
            for rounds in (1, 50, T):
                assert min(gradients[:rounds]) <= claim.bound(**{**at, "T": rounds})


# --- convex clients without (33) -------------------------------------------------------------------------------------


def _any_lambda(eta: Fraction, T: int, f0_gap: Fraction, B: Fraction) -> dict[str, object]:
    at: dict[str, object] = {"alpha": [0], "beta": [0], "K": 1, "L": 1, "eta_l": eta, "S": 1, "G": 0, "B": B}
    return at | {"sigma2": 0, "C": 1, "T": T, "f0_gap": f0_gap, "lam": F(49, 100)}


def test_any_lambda_is_false_of_convex_clients() -> None:
    """f = (v . x)^2/2 with v = (sqrt(99), +-1)/10: second moments of the two coordinates, which stay uncorrelated."""
    q, steep, flat = F(3, 16), F(99, 100), F(1, 100)
    first, second, smallest = F(0), F(1), F(1)
    for _ in range(545):
        smallest = min(smallest, steep**2 * first + flat**2 * second)
        crossing = q**2 * steep * flat
        first, second = (
            (1 - q * steep) ** 2 * first + crossing * second,
            (1 - q * flat) ** 2 * second + crossing * first,
        )
        # rounded down, both enter with positive factors
        first, second = (F(math.floor(v * 2**80), 2**80) for v in (first, second))
    assert smallest == F(1, 10000)
    claim = CLAIMS["theorem-iv1-eq7"]
    at = _any_lambda(q, 545, flat / 2, F(10))
    # B^2 = 100: the mean of ||grad f_i||^2 is steep x^2 + flat y^2, ||grad f||^2 is steep^2 x^2 + flat^2 y^2
    assert steep <= 100 * steep**2
    assert flat <= 100 * flat**2
    assert not claim.violated(**at)
    assert exact(claim, at) < smallest


@given(
    h=st.lists(rationals(0, 1, 50), min_size=1, max_size=6).filter(any),
    eta=st.fractions(F(1, 100), F(3, 16)),
    T=st.integers(1, 400),
)
@settings(deadline=None, max_examples=60)
def test_any_lambda_is_true_of_convex_clients_on_a_line(h: list[Fraction], eta: Fraction, T: int) -> None:
    mean, squares = sum(h) / len(h), sum(s**2 for s in h) / len(h)
    growth = 1 - 2 * eta * mean + eta**2 * squares
    assert growth <= 1 - eta * mean * (2 - eta)
    at = _any_lambda(eta, T, mean / 2, F(1))
    assert float(mean) ** 2 * float(growth) ** (T - 1) <= float(exact(CLAIMS["theorem-iv1-eq7"], at))


# --- rates -----------------------------------------------------------------------------------------------------------


def test_remark_iv2_with_its_logarithm() -> None:
    """(39) at the remark's step over (1+ell)/(ST) + ell^2/T^2 stays below one number, in K, S and T."""
    at = {"alpha": [0.5], "beta": [0.0], "L": 1, "G": 1, "B": 1, "sigma2": 1, "C": 1, "f0_gap": 1, "lam": 0.1, "mu": 1}
    quotients = []
    for K, S, T in product((1, 30), (1, 50), (10**5, 10**8, 10**11)):
        ell = math.log(S * T)
        bound = CLAIMS["theorem-iv2-eq39"].bound(**at, K=K, S=S, T=T, eta_l=ell / (0.1 * K * T))
        quotients.append(bound / ((1 + ell) / (S * T) + (ell / T) ** 2))
    first_order, second_order = 2 * (1 + 4) / 0.1**2 + 4, 2 * (9 / 4 + 36 + 3 * (3 + (27 / 64 + 1))) / 0.1**3
    assert max(quotients) <= first_order + second_order
    # and without the logarithm it does not
    assert quotients[2] * (1 + math.log(10**11)) > 3 * quotients[0] * (1 + math.log(10**5)) / 2
