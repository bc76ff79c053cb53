"""Mishchenko, Khaled, Richtarik: Proximal and Federated Random Reshuffling (arXiv 2102.06704), psi = 0.

One round is one epoch; the n components are the N clients, visited in random order. Theorem 1 bounds the shuffling radius,
and stands in the place of it in Theorem 2. Of FedRR (Theorem 4) devices have one sample each, and R = mu/2*norm2.
"""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.program import algorithm

SOURCE = "Mishchenko, Khaled, Richtarik, Proximal and Federated Random Reshuffling, 2021"


@algorithm
def reshuffle(w, x, *, gamma):
    """A gradient step on each component, in an order drawn afresh."""
    return w.visit(x, lambda v, one: v - gamma * one.gradient(v))


@algorithm
def fedrr_one(w, x, *, gamma, mu):
    """FedRR with one sample a device: f_n is F_n + mu/2*norm2, the prox step of R = mu/2*norm2 is left out."""
    return w.mean(x - gamma * (w.gradient(x) - mu * x)) / (1 + gamma * mu)


CLAIMS = (
    claim(
        "theorem-2",
        "E(norm2(x[k] - xstar)) <= (1 - gamma*mu)**(N*k)*norm2(x0 - xstar) "
        "+ gamma**2*L*N/(2*mu)*mean_n(norm2(grad(f_n, xstar)))",
        of=reshuffle, assuming=("smooth(f_n, L)", "strongly_convex(f_n, mu)", "gamma <= 1/L"),
        title="random reshuffling, strongly convex components", source=f"{SOURCE}, Theorems 1 and 2", sure="read",
    ),
    claim(
        "fedrr/theorem-4",
        "E(norm2(x[k] - xstar)) <= (1 + 2*gamma*mu)**(-k)*norm2(x0 - xstar) "
        "+ gamma**2*Lmax/(N*mu)*sum_n(norm2(grad(f_n, xstar) - mu*xstar))",
        of=fedrr_one, where={"Lmax": "L - mu"},
        assuming=("smooth(f_n, L)", "strongly_convex(f_n, mu)", "gamma <= 1/(L - mu)", "L > mu"),
        title="federated random reshuffling", source=f"{SOURCE}, Theorem 4", sure="read",
        remarks=("one sample a device, R = mu/2*norm2, f_n = F_n + R",),
    ),
)  # fmt: skip

PAPER = Paper("proxrr", "Proximal and Federated Random Reshuffling", "Mishchenko, Khaled, Richtarik", CLAIMS)
