"""Mishchenko, Khaled, Richtarik: Proximal and Federated Random Reshuffling (arXiv 2102.06704).

One round is one epoch; the n components are the N clients, visited in random order. The shuffling radius, a largest
expectation over the places of an order, has no formula but at the last place, where all others have been visited: its
bound, Theorem 1, stands in the place of it in Theorem 2, with psi = 0, and in Theorem 3, with psi = mu/2*norm2, which
is in the functions: f_n = (component n) + psi.
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
def reshuffle_prox(w, x, *, gamma, mu, N):
    """Algorithm 1 with psi = mu/2*norm2."""
    return w.visit(x, lambda v, one: v - gamma * (one.gradient(v) - mu * v)) / (1 + gamma * N * mu)


CLAIMS = (
    claim(
        "theorem-1", title="a bound of the shuffling radius", source=f"{SOURCE}, Theorem 1", sure="read",
        remarks=(
            "for every gamma > 0 sigma_rad**2 <= L_max/2*n*(n*norm2(grad f(x*)) + sigma_*2/2), where sigma_rad**2 is "
            "the largest of (1/gamma**2)*E D_{f_{pi_i}}(x*^i, x*) over i = 0, ..., n - 1",
        ),
    ),
    claim(
        "theorem-1/last-place",
        "mean_n(f_n(last) - f_n(z) - dot(grad(f_n, z), last - z))/gamma**2 "
        "<= L/2*N*(N*norm2(grad(f, z)) + mean_n(norm2(grad(f_n, z) - grad(f, z)))/2)",
        vectors=("z",), where={"last": "z - gamma*(N*grad(f, z) - grad(f_n, z))"},
        assuming=("smooth(f_n, L)", "convex(f_n)"),
        title="the same at i = n - 1", source=f"{SOURCE}, Theorem 1", sure="read",
        remarks=("z minimises f + psi for the linear psi whose gradient is -grad(f, z)",),
    ),
    claim(
        "theorem-2",
        "E(norm2(x[k] - xstar)) <= (1 - gamma*mu)**(N*k)*norm2(x0 - xstar) "
        "+ gamma**2*L*N/(2*mu)*mean_n(norm2(grad(f_n, xstar)))",
        of=reshuffle, assuming=("smooth(f_n, L)", "strongly_convex(f_n, mu)", "gamma <= 1/L"),
        rests_on=("theorem-1",),
        title="random reshuffling, strongly convex components", source=f"{SOURCE}, Theorems 1 and 2", sure="read",
    ),
    claim(
        "theorem-3",
        "E(norm2(x[k] - xstar)) <= (1 + 2*gamma*mu*N)**(-k)*norm2(x0 - xstar) "
        "+ gamma**2/mu*Lmax/2*N*(N*norm2(mu*xstar) + mean_n(norm2(grad(f_n, xstar)))/2)",
        of=reshuffle_prox, where={"Lmax": "L - mu"},
        assuming=("smooth(f_n, L)", "strongly_convex(f_n, mu)", "gamma <= 1/(L - mu)", "L > mu"),
        rests_on=("theorem-1",),
        title="random reshuffling, strongly convex psi", source=f"{SOURCE}, Theorems 1 and 3", sure="read",
        remarks=("psi = mu/2*norm2",),
    ),
)  # fmt: skip

PAPER = Paper(
    "proxrr", "Proximal and Federated Random Reshuffling", "Mishchenko, Khaled, Richtarik", CLAIMS, family="reshuffling"
)
