"""What breaks perm as printed and no check finds at once; repairs that are not proved, on random instances."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from theory import evaluate
from theory.calculator import in_numbers
from theory.claim import Claim
from theory.papers.perm import PAPER

CLAIMS = {c.label: c for c in PAPER}
F = Fraction
E = math.e


def exact(claim: Claim, values: dict[str, object]) -> F:
    """The right side as a fraction."""
    return evaluate.exact(*in_numbers(claim, values))


# --- instances that break what is printed, and not the repairs -------------------------------------------------------


def weights(z: list[F], n: list[int], lam: F) -> list[F]:
    """argmin over the simplex of sum a_j z_j + lam sum a_j^2/n_j: a_j = n_j (nu - z_j)^+/(2 lam)."""
    order = sorted(range(len(z)), key=lambda j: z[j])
    for size in range(len(z), 0, -1):
        kept = order[:size]
        nu = (2 * lam + sum(n[j] * z[j] for j in kept)) / sum(n[j] for j in kept)
        if nu > z[kept[-1]] or size == 1:
            break
    return [n[j] * max(F(0), nu - z[j]) / (2 * lam) for j in range(len(z))]


def squared(a: list[F], b: list[F]) -> F:
    return sum(((x - y) ** 2 for x, y in zip(a, b, strict=True)), F(0))


def test_lemma_4_is_false_for_long_steps_and_where_W_binds() -> None:
    common = {"N": 1, "delta2": 0, "drift": 0, "mu": 1, "L": 1}
    # f = w^2/2, w = 1, gamma = 1: the next iterate is w*
    assert exact(CLAIMS["lemma-4"], {**common, "gamma": 1, "dist": 1, "gap": F(1, 2)}) == -1
    assert exact(CLAIMS["lemma-4/corrected"], {**common, "gamma": 1, "dist": 1, "gap": F(1, 2)}) == 1
    # f = w^2/2 on W = [1, 2], w = w* = 1, gamma = 1/2: the next iterate is 1/2
    assert exact(CLAIMS["lemma-4"], {**common, "gamma": F(1, 2), "dist": 0, "gap": 0}) == 0 < F(1, 4)


def test_lemma_6_is_false_where_W_binds() -> None:
    """f = x^2 + x y + y^2 on [1, 2] x [-1, 1], one client, exact gradients, from w* = (1, -1/2): K = 2, R = 1."""
    gamma, x, y = F(1, 6), F(1), F(-1, 2)
    for _ in range(2):
        x, y = x - gamma * (2 * x + y), y - gamma * (x + 2 * y)
    x = max(x, F(1))
    given = {"mu": 1, "L": 3, "N": 1, "K": 2, "R": 1, "gamma": gamma, "delta2": 0, "zeta": 0, "dist0": 0}
    assert CLAIMS["lemma-6"].violated(**given) == ()
    assert (x - 1) ** 2 + (y + F(1, 2)) ** 2 == F(1, 576) > exact(CLAIMS["lemma-6"], given) == 0


def test_the_weights_differ_although_all_gradients_agree_at_the_optimum() -> None:
    """Theorem 1, Lemmas 14 and 15: f_j = h_j w^2/2, zbar(w*) = 0."""
    w = (1 - F(1, 4) * F(3, 2)) ** 2  # two rounds of one step of 1/4 from 1
    there, best = (weights([F(0), (1 - 2) ** 2 * v * v], [1, 1], F(1)) for v in (w, F(0)))
    assert squared(there, best) > 0


def test_lemmas_11_and_12_are_false() -> None:
    # two equal clients, gradient 1, K = 1, weights 1/2, R = 25, L = 1: sum Q grad = 2 eta, eta N K grad Phi = eta
    eta = F(1, 200)
    given = {"eta": eta, "N": 2, "K": 1, "R": 25, "G": 1, "p": "1/2", "grad_phi": "1/2"}
    assert float(eta**2) > CLAIMS["lemma-11a"].bound(**given)
    # gradients 1 and -1: one of them alone
    given = {"eta": eta, "N": 2, "K": 1, "G": 1, "p": "9999/10000", "grad_phi": 0}
    assert float(eta) > CLAIMS["lemma-11b"].bound(**given)
    # f_j = v^2/4000 -+ v at 0, weights 1/2, K = 1: Q H Q grad = eta^2 L
    L, eta = F(1, 2000), F(250)
    given = {"eta": eta, "N": 2, "K": 1, "L": L, "G": 1, "p": "1/2"}
    assert CLAIMS["lemma-12"].violated(**given, grad_phi=0) == ()
    assert float(eta**4 * L**2) > CLAIMS["lemma-12"].bound(**given, grad_phi=0)
    del given["p"]
    assert float(eta**4 * L**2) <= CLAIMS["lemma-12/corrected-2"].bound(**given)


# --- repairs on random instances -------------------------------------------------------------------------------------

hundredths = st.integers(1, 100).map(lambda k: k / 100)
signed = st.integers(-300, 300).map(lambda k: k / 100)


@settings(max_examples=120, deadline=None)
@given(
    st.lists(st.tuples(hundredths, signed, hundredths), min_size=1, max_size=4),
    signed,
    st.integers(1, 4),
    hundredths,
    st.sampled_from([0.0, 0.5, 5.0]),
)
def test_epochs_obey_their_repaired_bounds(
    clients: list[tuple[float, float, float]], v: float, K: int, share: float, delta2: float
) -> None:
    """Scalar quadratics: exact means and variances over all permutations."""
    h, b, a = (np.array(column) for column in zip(*clients, strict=True))
    a, N = a / a.sum(), len(a)
    L, s = float(h.max()), share / (4 * float(h.max()))
    eta, gradient = s / (N * K), h * v - b
    best, G = float(a @ b / (a @ h)), float(np.abs(h * v - b).max())
    room = 1 + 1e-9
    moments = []
    for order in itertools.permutations(range(N)):
        mean, variance, Q = v, 0.0, []
        for j in order:
            c = eta * a[j] * N
            for _ in range(K):
                mean, variance = mean - c * (h[j] * mean - b[j]), (1 - c * h[j]) ** 2 * variance + c * c * delta2
            Q.append((1 - (1 - c * h[j]) ** K) / h[j])
        moments.append((mean - best) ** 2 + variance)
        noise = CLAIMS["lemma-13/corrected"].bound(eta=eta, N=N, K=K, L=L, delta=math.sqrt(delta2))
        assert variance <= room * noise
        moved = [q * gradient[j] for q, j in zip(Q, order, strict=True)]
        size = {"eta": eta, "N": N, "K": K, "L": L, "G": G}
        assert (sum(moved) - s * float(a @ gradient)) ** 2 <= room * CLAIMS["lemma-11a/corrected-2"].bound(**size, R=1)
        part = CLAIMS["lemma-11b/corrected-2"].bound(**size)
        assert all(abs(sum(moved[:k])) <= room * part for k in range(N + 1))
        cross = sum(
            math.prod(1 - Q[i] * h[order[i]] for i in range(k + 1, N)) * Q[k] * h[order[k]] * sum(moved[:k])
            for k in range(1, N)
        )
        assert cross**2 <= room * CLAIMS["lemma-12/corrected-2"].bound(**size)
    given = {"mu": float(h.min()), "L": L, "N": N, "K": K, "eta": eta, "G": G, "delta2": delta2}
    right = CLAIMS["theorem-2-step/corrected-2"].bound(**given, V=(v - best) ** 2)
    assert np.mean(moments) <= room * right + 1e-12


@settings(max_examples=100, deadline=None)
@given(
    st.tuples(hundredths, hundredths, hundredths),
    st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(0, 50)),
    st.sampled_from([0.001, 0.5, 0.999]),
    st.sampled_from([0.0, 1.0, 100.0]),
)
def test_repairs_by_the_printed_route_follow_from_those_without_probability(
    real: tuple[float, float, float], whole: tuple[int, int, int], p: float, delta2: float
) -> None:
    mu, share, gradient = real
    N, K, more = whole
    L = 1.0
    R = math.ceil(L / mu) + more
    base = {"eta": share / (4 * N * K * R * L), "N": N, "K": K, "L": L, "G": 1.5}
    for label, extra in (("lemma-11a", {"R": R}), ("lemma-11b", {}), ("lemma-12", {})):
        weaker = CLAIMS[f"{label}/corrected"].bound(**base, **extra, p=p, grad_sum=gradient)
        assert CLAIMS[f"{label}/corrected-2"].bound(**base, **extra) <= weaker
    epoch = {**base, "mu": mu, "delta2": delta2, "V": gradient}
    assert CLAIMS["theorem-2-step/corrected"].violated(**epoch, R=R, p=p) in ((), ("eta <= 1/(4*N*H*R*L)",))
    weaker = CLAIMS["theorem-2-step/corrected"].bound(**epoch, R=R, p=p)
    assert CLAIMS["theorem-2-step/corrected-2"].bound(**epoch) <= weaker


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(hundredths, st.integers(-90, 90), st.integers(1, 9)), min_size=1, max_size=3),
    st.tuples(hundredths, hundredths, st.sampled_from([0.05, 0.5, 5.0])),
    st.tuples(st.integers(1, 3), st.integers(2, 6), st.integers(1, 3)),
    st.randoms(use_true_random=False),
)
def test_the_single_loop_obeys_its_repaired_bounds(
    clients: list[tuple[float, int, int]],
    shares: tuple[float, float, float],
    counts: tuple[int, int, int],
    rng: random.Random,
) -> None:
    """Algorithm 2 with exact gradients on scalar quadratics over W = [-1, 1], minimisers inside; any permutations."""
    h = np.array([c[0] for c in clients])
    b, n, N = h * np.array([c[1] / 100 for c in clients]), [c[2] for c in clients], len(clients)
    mu, L = float(h.min()), float(h.max())
    s, gamma, lam = shares[0] / (4 * L), shares[1] / L, shares[2]
    K, R, T_a = counts
    eta, G, D = s / (N * K), float(max(np.abs(h * w - b).max() for w in (-1.0, 1.0))), 2.0
    best = float(b.sum() / h.sum())

    def z(w: float) -> np.ndarray:
        return (h[0] * w - b[0] - h * w + b) ** 2

    def descend(a: np.ndarray, w: float) -> np.ndarray:
        step = min(n) / (2 * lam)
        for _ in range(T_a):
            a = a - step * (z(w) + 2 * lam * a / n)
            top = np.sort(a)[::-1]
            shifts = (np.cumsum(top) - 1) / np.arange(1, N + 1)
            a = np.maximum(0, a - shifts[np.nonzero(top > shifts)[0][-1]])
        return a

    def optimum(w: float) -> np.ndarray:
        return np.array([float(a) for a in weights([F(float(x)) for x in z(w)], n, F(lam))])

    common = {"mu": mu, "L": L, "N": N, "gamma": gamma, "delta2": 0, "M": 1, "D": D, "lam": lam, "n": n, "T_a": T_a}
    common |= {"zbar": float(z(best).mean())}
    a, v, w = np.full(N, 1 / N), rng.uniform(-1, 1), rng.uniform(-1, 1)
    for r in range(1, R + 1):
        order = list(range(N))
        rng.shuffle(order)
        for j in order:
            for _ in range(K):
                v -= eta * a[j] * N * (h[j] * v - b[j])
        v, w = float(np.clip(v, -1, 1)), float(np.clip(w - gamma * np.mean(h * w - b), -1, 1))
        before, a = a, descend(a, w)
        if r >= 2:
            move = CLAIMS["lemma-14/corrected"].bound(**common, k=r - 1)
            assert np.sum((a - before) ** 2) <= move * (1 + 1e-9) + 1e-12
    end = CLAIMS["lemma-15/corrected"].bound(**common, T=R)
    there = optimum(best)
    assert np.sum((a - there) ** 2) <= end * (1 + 1e-9) + 1e-12
    v = float(np.clip(v - (a @ (h * v - b)) / L, -1, 1))
    gap = (there @ h) / 2 * (v - float(there @ b / (there @ h))) ** 2
    whole = {**common, "K": K, "R": R, "eta": eta, "G": G}
    assert CLAIMS["theorem-3/corrected"].violated(**whole) in ((), ("4*eta*N*H*L <= 1",), ("gamma <= 1/L",))
    assert gap <= CLAIMS["theorem-3/corrected"].bound(**whole) * (1 + 1e-9) + 1e-12
