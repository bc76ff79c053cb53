"""Sadiev, Malinovsky, Gorbunov, Sokolov, Khaled, Burlachenko, Richtarik: Random Reshuffling and Gradient Compression.

Theorem 2.1 with one function a client (n = 1): compressed gradient descent; m random coordinates, omega = d/m - 1.
"""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.program import algorithm


@algorithm
def compressed(w, x, *, gamma, m):
    """The mean of the clients' compressed gradients."""
    return x - gamma * w.mean(w.keep(w.gradient(x), m))


CLAIMS = (
    claim(
        "theorem-2-1",
        "E(norm2(x[k] - xstar)) <= (1 - gamma*mu)**k*norm2(x0 - xstar) "
        "+ 2*gamma*omega/(mu*N)*mean_n(norm2(grad(f_n, xstar)))",
        of=compressed, where={"omega": "d/m - 1"},
        assuming=(
            "smooth(f_n, L)", "strongly_convex(f_n, mu)", "gamma <= 1/((1 + 2*omega/N)*L)", "m <= d",
        ),
        equation="(5)", title="compressed gradient descent", sure="read",
        source="Sadiev et al., Federated Optimization Algorithms with Random Reshuffling and Gradient Compression, "
        "Theorem 2.1, n = 1",
    ),
)  # fmt: skip

PAPER = Paper("qrr", "Random Reshuffling and Gradient Compression", "Sadiev et al.", CLAIMS, family="compression")
