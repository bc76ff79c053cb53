"""The claims of fedmim on exact instances and exact runs: what is false is broken, what is repaired holds."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from tests.theory.fedmim_moments import Run, simulate
from theory.calculator import calculator, in_numbers
from theory.evaluate import exact as exactly
from theory.papers.fedmim import PAPER

CLAIMS = {c.label: c for c in PAPER}
F = Fraction


def exact(claim, at):
    return exactly(*in_numbers(claim, at))


# --- what is false, on exact instances -------------------------------------------------------------------------------


def test_theorem_iv1_without_33_is_false() -> None:
    """f_1 = x^2/2, f_2 = -(9/20) x^2, one of them a round, one step of 3/16: the second moment grows."""
    h, eta, lam = (F(1), F(-9, 10)), F(3, 16), F(49, 100)
    growth = sum((1 - eta * s) ** 2 for s in h) / 2
    assert growth > 1
    mean = sum(h) / 2
    assert sum(s**2 for s in h) / 2 == 362 * mean**2
    claim = CLAIMS["theorem-iv1-eq7"]
    at = {"alpha": [0], "beta": [0], "K": 1, "L": 1, "eta_l": eta, "S": 1, "G": 0, "sigma2": 0, "C": 1, "lam": lam}
    # B enters no term of the bound; 20 is above the root of 362
    bounds = [exact(claim, {**at, "B": 20, "T": T, "f0_gap": mean / 2}) for T in (108, 109)]
    left = min(mean**2 * growth**t for t in range(109))
    assert left == F(1, 400)
    assert bounds[1] < left < bounds[0]
    assert not claim.violated(**at, B=20, T=109, f0_gap=mean / 2)
    assert "lam < lam_max" in CLAIMS["theorem-iv1-eq7/with-lambda"].violated(**at, B=20, T=109, f0_gap=mean / 2)


@pytest.mark.parametrize(("N", "up", "K", "T"), [(11, 6, 1, 60), (7, 4, 2, 40), (7, 4, 3, 39), (12, 7, 8, 33)])
def test_theorem_iv1_without_33_fails_early(N: int, up: int, K: int, T: int) -> None:
    """`up` clients x^2/2 and N - `up` clients -x^2/2, one a round, the largest step: false from T rounds on."""
    eta, lam, mean = F(3, 16 * K), F(49, 100), F(2 * up - N, N)
    growth = (up * (1 - eta) ** (2 * K) + (N - up) * (1 + eta) ** (2 * K)) / N
    at = {"alpha": [0], "beta": [0], "K": K, "L": 1, "eta_l": eta, "S": 1, "G": 0, "B": 1 / mean, "sigma2": 0}
    at |= {"C": 1, "lam": lam, "f0_gap": mean / 2}
    claim = CLAIMS["theorem-iv1-eq7"]
    assert not claim.violated(**at, T=T)
    assert mean**2 * min(F(1), growth ** (T - 1)) > exact(claim, {**at, "T": T})


def test_theorem_iv2_without_an_upper_step_is_false() -> None:
    at = {"alpha": [0], "beta": [0], "K": 1, "L": 1, "eta_l": 3, "S": 1, "G": 0, "B": 1, "sigma2": 0, "C": 9, "T": 2}
    at |= {"f0_gap": 0.5, "lam": 0.25, "mu": 1}
    claim = CLAIMS["theorem-iv2-eq9"]
    assert claim.violated(**at) == ("eta_l <= 3/(16*H*L)",)
    p = 1 - F(3, 4)
    assert (1 + 4 / p) / (1 + 1 / p) == F(17, 5)
    assert claim.bound(**at) == pytest.approx(2 * math.exp(-1.5))
    assert claim.bound(**at) < 3.4


def test_theorem_iv2_without_33_is_false() -> None:
    """The two clients of Theorem IV.1's counterexample: PL with mu = 1/20."""
    mean, T = F(1, 20), 220
    assert sum((1 - F(3, 16) * s) ** 2 for s in (F(1), F(-9, 10))) > 2
    at = {"alpha": [0], "beta": [0], "K": 1, "L": 1, "eta_l": "3/16", "S": 1, "G": 0, "B": 20, "sigma2": 0, "C": 1}
    at |= {"T": T, "f0_gap": mean / 2, "lam": "49/100", "mu": mean}
    assert not CLAIMS["theorem-iv2-eq9"].violated(**at)
    assert "lam < lam_max" in CLAIMS["theorem-iv2-eq9/with-lambda"].violated(**at)
    # every squared gradient is at least the first
    assert CLAIMS["theorem-iv2-eq9"].bound(**at) < mean**2


def test_lemma_7_is_false_of_one_client_and_by_its_index() -> None:
    at = {"alpha": [0], "beta": [0], "K": 1, "G": 0, "delta_sq": [0], "x_sq": 0}
    # f_1 = 5 x^2/2, four clients 0, x = 1: B^2 = 5
    assert CLAIMS["lemma-7"].bound(**at, L=5, B=math.sqrt(5), grad_u2=1) < 25
    # f = x^2/2, eta_l = 4, from 1: the gradient at x_{i,1} = -3 against x_{i,0} = x_t
    assert CLAIMS["lemma-7"].bound(**at, L=1, B=1, grad_u2=1) < 9


@pytest.mark.parametrize(("label", "N", "k"), [("eq25", 9, 2), ("eq26", 25, 1)])
def test_the_drift_of_one_client_is_not_bounded(label: str, N: int, k: int) -> None:
    """f_1 = N x^2/2, the others 0, from x_t = 1: grad f = 1, G = 0, B^2 = N, L = N; a very short step."""
    eta = F(1, 10**6)
    at = {"alpha": [0], "beta": [0], "K": 2, "L": N, "eta_l": eta, "G": 0, "B": F(math.isqrt(N)), "sigma2": 0}
    at |= {"delta_sq": [0], "grad_u2": 1, "k": k}
    if label == "eq25":
        at["x_sq"] = (1 - (1 - eta * N)) ** 2
    assert math.isqrt(N) ** 2 == N
    assert not CLAIMS[label].violated(**at)
    assert (1 - (1 - eta * N) ** k) ** 2 > exact(CLAIMS[label], at)


def test_lemma_9_is_false_for_small_b() -> None:
    """Ten clients with the same linear function of slope 1, nine selected: G = 1, B = 0."""
    at = {"alpha": [0], "beta": [0], "K": 1, "L": 1, "S": 9, "G": 1, "B": 0, "sigma2": 0, "delta_sq": [0], "grad_u2": 1}
    assert exact(CLAIMS["lemma-9"], {**at, "eta_l": "1/100"}) < 1
    assert exact(CLAIMS["lemma-9/corrected"], {**at, "eta_l": "1/100"}) >= 8
    assert not CLAIMS["lemma-9"].violated(**at, eta_l=0.01)


def test_30_is_an_equality_with_other_factors() -> None:
    rng = random.Random(1)
    for N in (2, 3, 5):
        a = [F(rng.randint(-9, 9)) for _ in range(N)]
        mean, every = (sum(a) / N) ** 2, sum(v * v for v in a) / N
        for S in range(1, N + 1):
            subsets = [(sum(c) / S) ** 2 for c in combinations(a, S)]
            left = sum(subsets) / len(subsets)
            at = {"S": S, "N": N, "mean_sq": mean, "gradients_sq": every}
            assert exact(CLAIMS["eq30/corrected"], at) == left <= exact(CLAIMS["eq30"], at)
    # strict as printed: one of two clients with gradients 1 and -1
    assert exact(CLAIMS["eq30"], {"S": 1, "N": 2, "mean_sq": 0, "gradients_sq": 1}) == 1


# --- what is true, on exact runs -------------------------------------------------------------------------------------

_PROBLEMS = [
    ((1.0, 0.5, 0.2), (0.3, -0.1, -0.2)),
    ((1.0, -0.2, 0.4, 0.3), (0.0, 0.0, 0.0, 0.0)),
    ((1.0, 0.9), (1.0, -1.0)),
]
_INERTIA = [((0.0,), (0.0,)), ((0.9,), (0.0,)), ((0.3, 0.2), (0.5, 0.5)), ((0.6, 0.3), (0.1, 0.9))]


def _cases(share: float) -> list[Run]:
    """Runs with eta_l a share of 3/(16KL) (L = 1 in all problems); noise with two lags only."""
    cases = []
    for (h, b), (alpha, beta), K, S in (
        (_PROBLEMS[n % 3], _INERTIA[n % 4], (1, 2, 5)[n % 3 - n // 6], 1 + n % 2) for n in range(12)
    ):
        cases.append(Run(h, b, alpha, beta, K, S, share * 3 / (16 * K), (0.0, 0.5)[len(alpha) - 1]))
    return cases


@pytest.mark.parametrize("share", [1.0, 0.3])
def test_the_lemmas_hold_on_exact_runs(share: float) -> None:
    slack = 1 + 1e-9
    for run in _cases(share):
        c = run.constants
        base = {"alpha": run.alpha, "beta": run.beta, "K": run.K, "L": c["L"], "G": c["G"], "B": c["B"]}
        for now in simulate(run, 5):
            at = {**base, "delta_sq": now.delta_sq, "grad_u2": now.grad_u2}
            stepped = {**at, "eta_l": run.eta_l, "sigma2": run.sigma2}
            assert now.u_error <= 1e-18 * (1 + now.grad_u2)
            dtilde = run.eta_l**2 * now.average_sq
            jensen = CLAIMS["eq21"].bound(alpha=run.alpha, dtilde_sq=dtilde, delta_sq=now.delta_sq)
            assert now.next_delta_sq <= jensen * slack
            for k in range(run.K):
                assert now.gradients_sq[k] <= CLAIMS["lemma-7/corrected"].bound(**at, drift=now.drift[k]) * slack
                assert now.selected_sq[k] <= CLAIMS["eq31"].bound(**at, S=run.S, drift=now.drift[k]) * slack
                counts = {"S": run.S, "N": len(run.h), "mean_sq": now.mean_sq[k], "gradients_sq": now.gradients_sq[k]}
                assert now.selected_sq[k] == pytest.approx(CLAIMS["eq30/corrected"].bound(**counts))
                assert now.drift[k + 1] <= CLAIMS["eq26/corrected"].bound(**stepped, k=k + 1) * slack
                if k:
                    assert (
                        now.drift[k + 1]
                        <= CLAIMS["eq25/corrected"].bound(**stepped, k=k + 1, drift=now.drift[k]) * slack
                    )
            assert np.mean(now.drift[1:]) <= CLAIMS["lemma-8"].bound(**stepped) * slack
            assert now.average_sq <= CLAIMS["lemma-9"].bound(**stepped, S=run.S) * slack
            assert now.average_sq <= CLAIMS["lemma-9/corrected"].bound(**stepped, S=run.S) * slack
            split = {"K": run.K, "S": run.S, "sigma2": run.sigma2, "selected_sq": np.mean(now.selected_sq)}
            assert now.average_sq <= CLAIMS["eq29"].bound(**split) * slack


@pytest.mark.parametrize(
    "name", ["theorem-iv1-eq35/corrected", "theorem-iv1-eq7/corrected", "theorem-iv1-eq35/without-c"]
)
def test_the_repairs_of_theorem_iv1_hold_on_exact_runs(name: str) -> None:
    claim = CLAIMS[name]
    met = 0
    for share in (0.1, 0.01):
        for run in _cases(share):
            rounds = simulate(run, 40)
            c = run.constants
            at = {"alpha": run.alpha, "beta": run.beta, "K": run.K, "L": c["L"], "eta_l": run.eta_l, "S": run.S}
            at |= {"G": c["G"], "B": c["B"], "sigma2": run.sigma2, "f0_gap": rounds[0].gap, "T": 1, "lam": 0.1}
            if "C" in claim.where:
                at["C"] = max(r.average_sq for r in rounds)
            limit = float(claim.terms(**at)["lam_max"])
            for lam in (0.99 * limit, 0.1 * limit):
                if lam <= 0 or claim.violated(**{**at, "lam": lam}):
                    continue
                met += 1
                for T in (1, 7, 40):
                    left = min(r.grad_u2 for r in rounds[:T])
                    assert left <= claim.bound(**{**at, "lam": lam, "T": T})
    assert met >= 10


@pytest.mark.parametrize("name", ["theorem-iv2-eq39/corrected", "theorem-iv2-eq9/corrected"])
def test_the_repairs_of_theorem_iv2_hold_on_exact_runs(name: str) -> None:
    claim = CLAIMS[name]
    for alpha, beta in (((0.0,), (0.0,)), ((0.5,), (0.2,))):
        run = Run((1.0, 0.8), (0.1, -0.1), alpha, beta, 2, 1, 0.003, 0.01, x0=10.0)
        rounds = simulate(run, 2000)
        c = run.constants
        at = {"alpha": alpha, "beta": beta, "K": 2, "eta_l": run.eta_l, "S": 1, "sigma2": run.sigma2, "T": 2000, **c}
        at |= {"f0_gap": rounds[0].gap, "lam": 0.2, "C": max(r.average_sq for r in rounds)}
        assert not claim.violated(**at)
        for now in rounds[:50]:
            lags = {"delta_sq": now.delta_sq, "grad_u2": now.grad_u2, "gap": now.gap}
            names = {q.name for q in calculator(CLAIMS["eq37"]).bound.parameters}
            bound = CLAIMS["eq37"].bound(**{n: v for n, v in {**at, **lags}.items() if n in names})
            assert now.next_gap - now.gap <= bound
        p = 1 - c["mu"] * 2 * run.eta_l * 0.2
        weights = p ** -np.arange(2000.0)
        left = float(weights @ [r.grad_u2 for r in rounds] / weights.sum())
        assert left <= claim.bound(**at)
