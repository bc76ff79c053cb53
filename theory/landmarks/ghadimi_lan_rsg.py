"""Ghadimi, Lan: Stochastic First- and Zeroth-Order Methods for Nonconvex Stochastic Programming (arXiv 1309.5549v1)."""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.program import algorithm


@algorithm
def rsg(w, x, *, gamma, sigma2):
    """A step along the gradient with noise."""
    return x - gamma * (w.full_gradient(x) + w.mean(w.noise(sigma2)))


CLAIMS = (
    claim(
        "theorem-2-1a",
        "sum_k((2*gamma_k - L*gamma_k**2)*E(norm2(grad(f, x[k]))))/(L*S) "
        "<= (2*(f(x0) - fstar)/L + sigma2*sum_k(gamma_k**2))/S",
        of=rsg, where={"S": "sum_k(2*gamma_k - L*gamma_k**2)"},
        assuming=("smooth(f, L)", "bounded_below(f)", "gamma_k*L < 2", "N <= 1"),
        equation="(2.4)", title="SGD with a random output, not convex", sure="transcribed",
        source="Ghadimi, Lan, Stochastic First- and Zeroth-Order Methods, 2013, Theorem 2.1 (a)",
        remarks=("the random output is a weighted mean over the rounds",),
    ),
)  # fmt: skip

PAPER = Paper(
    "ghadimi-lan-rsg", "Stochastic First- and Zeroth-Order Methods", "Ghadimi, Lan", CLAIMS, family="stochastic"
)
