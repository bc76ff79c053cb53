"""Gower, Loizou, Qian, Sailanbayev, Shulgin, Richtarik: SGD, General Analysis and Improved Rates (ICML 2019)."""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.program import algorithm


@algorithm
def sgd(w, x, *, gamma):
    """One sample a step."""
    return x - gamma * w.mean(w.gradient(x, w.sample()))


QUASI_STRONG = "for every x: fstar >= f(x) + dot(grad(f, x), xstar - x) + mu/2*norm2(xstar - x)"
EXPECTED_SMOOTH = "for every x: mean_n(mean_i(norm2(grad(f_ni, x) - grad(f_ni, xstar)))) <= 2*A*(f(x) - fstar)"

CLAIMS = (
    claim(
        "theorem-3-1",
        "E(norm2(x[k] - xstar)) <= (1 - gamma*mu)**k*norm2(x0 - xstar) + 2*gamma*sigma2/mu",
        of=sgd, assuming=(QUASI_STRONG, EXPECTED_SMOOTH, "gamma <= 1/(2*A)", "N <= 1"),
        where={"sigma2": "mean_n(mean_i(norm2(grad(f_ni, xstar))))"}, title="SGD with one sample a step",
        source="Gower et al., SGD: General Analysis and Improved Rates, ICML 2019, Theorem 3.1", sure="memory",
        remarks=("A is the constant of expected smoothness; v samples one function uniformly",),
    ),
    claim(
        "theorem-3-1/smooth-and-convex",
        "E(norm2(x[k] - xstar)) <= (1 - gamma*mu)**k*norm2(x0 - xstar) + 2*gamma*sigma2/mu",
        of=sgd, assuming=("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)", "gamma <= 1/(2*L)", "N <= 1"),
        where={"sigma2": "mean_n(mean_i(norm2(grad(f_ni, xstar))))"},
        title="the same of smooth and convex functions, for which A is L",
        source="Gower et al., SGD: General Analysis and Improved Rates, ICML 2019, Theorem 3.1", sure="memory",
        rests_on=("theorem-3-1",),
    ),
)  # fmt: skip

PAPER = Paper(
    "gower2019",
    "SGD: General Analysis and Improved Rates",
    "Gower, Loizou, Qian, Sailanbayev, Shulgin, Richtarik",
    CLAIMS,
    family="stochastic",
)
