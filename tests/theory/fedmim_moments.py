"""FedMIM on scalar quadratics, from scratch: exact second moments over all subsets of S of N clients, in floats.

f_i(x) = h_i x^2/2 + b_i x with sum b = 0. Every number of a round is an affine form in (x_t, ..., x_{t-J}, 1) and in
the N K independent noises of the round; a second moment is a quadratic form of the coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np


@dataclass(frozen=True)
class Run:
    """A problem and a configuration; see the module's docstring."""

    h: tuple[float, ...]
    b: tuple[float, ...]
    alpha: tuple[float, ...]
    beta: tuple[float, ...]
    K: int
    S: int
    eta_l: float
    sigma2: float
    x0: float = 1.0

    @property
    def constants(self) -> dict[str, float]:
        """L, mu, and B, G with (6): (h x + b)^2 <= 2 h^2 x^2 + 2 b^2."""
        h, b = np.array(self.h), np.array(self.b)
        double = 2.0 if b.any() else 1.0
        B2 = double * np.mean(h**2) / np.mean(h) ** 2
        return {
            "L": float(np.max(np.abs(h))),
            "mu": float(np.mean(h)),
            "B": float(np.sqrt(B2)),
            "G": float(np.sqrt(double * np.mean(b**2))),
        }


@dataclass
class Round:
    """Expectations in one round; lists are by local step (0 to K-1; `drift` 0 to K), `delta_sq` by lag."""

    grad_u2: float
    gap: float
    delta_sq: np.ndarray
    average_sq: float = 0.0
    next_delta_sq: float = 0.0
    next_gap: float = 0.0
    u_error: float = 0.0
    drift: list[float] = field(default_factory=list)
    gradients_sq: list[float] = field(default_factory=list)
    mean_sq: list[float] = field(default_factory=list)
    selected_sq: list[float] = field(default_factory=list)


def simulate(run: Run, rounds: int) -> list[Round]:
    """The rounds 0, ..., `rounds` - 1."""
    N, K, J = len(run.h), run.K, len(run.alpha)
    alpha, beta = np.array(run.alpha), np.array(run.beta)
    A, mu = 1 - alpha.sum(), float(np.mean(run.h))
    size = J + 2
    width = size + N * K
    one = np.eye(width)
    x, constant = one[0], one[size - 1]
    deltas = [-(one[j] - one[j + 1]) / K for j in range(J)]
    inertia = sum((a * d for a, d in zip(alpha, deltas, strict=True)), np.zeros(width))
    shift = sum((c * d for c, d in zip(beta, deltas, strict=True)), np.zeros(width))
    later = [alpha[j:].sum() for j in range(J)]
    u = x - K / A * sum((c * d for c, d in zip(later, deltas, strict=True)), np.zeros(width))
    local, gradients, noisy = np.empty((N, K + 1, width)), np.empty((N, K, width)), np.empty((N, K, width))
    for i in range(N):
        local[i, 0] = x
        for k in range(K):
            gradients[i, k] = run.h[i] * (local[i, k] - shift) + run.b[i] * constant
            noisy[i, k] = gradients[i, k] + one[size + i * K + k]
            local[i, k + 1] = local[i, k] - inertia - A * run.eta_l * noisy[i, k]
    subsets = [list(c) for c in combinations(range(N), run.S)]
    state = np.full((size, size), run.x0**2)
    state[-1, :] = state[:, -1] = run.x0
    state[-1, -1] = 1
    found = []
    for _ in range(rounds):
        moments = np.zeros((width, width))
        moments[:size, :size] = state
        moments[size:, size:] = run.sigma2 * np.eye(N * K)

        def square(form: np.ndarray, moments: np.ndarray = moments) -> float:
            return float(form @ moments @ form)

        now = Round(mu**2 * square(u), mu / 2 * square(u), np.array([square(d) for d in deltas]))
        now.drift = [float(np.mean([square(local[i, k] - x) for i in range(N)])) for k in range(K + 1)]
        now.gradients_sq = [float(np.mean([square(g) for g in gradients[:, k]])) for k in range(K)]
        now.mean_sq = [square(gradients[:, k].mean(0)) for k in range(K)]
        now.selected_sq = [float(np.mean([square(gradients[c, k].mean(0)) for c in subsets])) for k in range(K)]
        following = np.zeros((size, size))
        for c in subsets:
            average = noisy[c].mean((0, 1))
            x_next = local[c, K].mean(0)
            delta_next = (x - x_next) / K
            u_next = x_next - K / A * sum(
                (later[j] * (delta_next if j == 0 else deltas[j - 1]) for j in range(J)), np.zeros(width)
            )
            step = np.vstack([x_next, one[: size - 2], constant])
            following += step @ moments @ step.T / len(subsets)
            now.average_sq += square(average) / len(subsets)
            now.next_delta_sq += square(delta_next) / len(subsets)
            now.next_gap += mu / 2 * square(u_next) / len(subsets)
            now.u_error += square(u_next - u + K * run.eta_l * average)
        state = following
        found.append(now)
    return found
