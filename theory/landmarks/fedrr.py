"""Mishchenko, Khaled, Richtarik: Proximal and Federated Random Reshuffling (arXiv 2102.06704), FedRR: Theorem 4.

Devices have one sample each, and R = mu/2*norm2 is in the functions: f_n = F_n + R.
"""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.program import algorithm

SOURCE = "Mishchenko, Khaled, Richtarik, Proximal and Federated Random Reshuffling, 2021"


@algorithm
def fedrr_one(w, x, *, gamma, mu):
    """Algorithm 3 as printed, one sample a device: the mean of the devices' points, no prox step of R."""
    return w.mean(x - gamma * (w.gradient(x) - mu * x))


@algorithm
def fedrr_one_with_prox(w, x, *, gamma, mu):
    """The same with the prox step of R = mu/2*norm2 after the mean."""
    return w.mean(x - gamma * (w.gradient(x) - mu * x)) / (1 + gamma * mu)


BOUND = (
    "E(norm2(x[k] - xstar)) <= (1 + 2*gamma*mu)**(-k)*norm2(x0 - xstar) "
    "+ gamma**2*Lmax/(N*mu)*sum_n(norm2(grad(f_n, xstar) - mu*xstar))"
)
ASSUMED = ("smooth(f_n, L)", "strongly_convex(f_n, mu)", "gamma <= 1/(L - mu)", "L > mu")


CLAIMS = (
    claim(
        "theorem-4", BOUND, of=fedrr_one, where={"Lmax": "L - mu"}, assuming=ASSUMED,
        rests_on=("proxrr/theorem-1", "proxrr/theorem-3"),
        title="federated random reshuffling", source=f"{SOURCE}, Theorem 4", sure="read",
        remarks=("one sample a device, R = mu/2*norm2, f_n = F_n + R",),
    ),
    claim(
        "theorem-4/with-prox", BOUND, of=fedrr_one_with_prox, where={"Lmax": "L - mu"}, assuming=ASSUMED,
        amends="theorem-4", title="the same with the prox step of R after the mean", source=f"{SOURCE}, Theorem 4",
        sure="read",
    ),
)  # fmt: skip

PAPER = Paper("fedrr", "Federated Random Reshuffling", "Mishchenko, Khaled, Richtarik", CLAIMS, family="reshuffling")
