"""Mishchenko, Khaled, Richtarik: Proximal and Federated Random Reshuffling (arXiv 2102.06704), psi = 0.

One round is one epoch; the n components are the N clients, visited in random order. Theorem 1 bounds the shuffling
radius, and stands in the place of it in Theorem 2.
"""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.program import algorithm

SOURCE = "Mishchenko, Khaled, Richtarik, Proximal and Federated Random Reshuffling, 2021"


@algorithm
def reshuffle(w, x, *, gamma):
    """A gradient step on each component, in an order drawn afresh."""
    return w.visit(x, lambda v, one: v - gamma * one.gradient(v))


CLAIMS = (
    claim(
        "theorem-2",
        "E(norm2(x[k] - xstar)) <= (1 - gamma*mu)**(N*k)*norm2(x0 - xstar) "
        "+ gamma**2*L*N/(2*mu)*mean_n(norm2(grad(f_n, xstar)))",
        of=reshuffle, assuming=("smooth(f_n, L)", "strongly_convex(f_n, mu)", "gamma <= 1/L"),
        title="random reshuffling, strongly convex components", source=f"{SOURCE}, Theorems 1 and 2", sure="read",
    ),
)  # fmt: skip

PAPER = Paper("proxrr", "Proximal and Federated Random Reshuffling", "Mishchenko, Khaled, Richtarik", CLAIMS)
