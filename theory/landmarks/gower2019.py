"""Gower, Loizou, Qian, Sailanbayev, Shulgin, Richtarik: SGD, General Analysis and Improved Rates (ICML 2019)."""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.program import algorithm


@algorithm
def sgd(w, x, *, gamma):
    """One sample a step."""
    return x - gamma * w.mean(w.gradient(x, w.sample()))


CLAIMS = (
    claim(
        "theorem-3-1",
        "E(norm2(x[k] - xstar)) <= (1 - gamma*mu)**k*norm2(x0 - xstar) + 2*gamma*sigma2/mu",
        of=sgd, assuming=("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)", "gamma <= 1/(2*L)", "N <= 1"),
        where={"sigma2": "mean_n(mean_i(norm2(grad(f_ni, xstar))))"}, title="SGD with one sample a step",
        source="Gower et al., SGD: General Analysis and Improved Rates, ICML 2019, Theorem 3.1", sure="memory",
        remarks=("f is quasi strongly convex in print; expected smoothness with one sample a step is L",),
    ),
)  # fmt: skip

PAPER = Paper(
    "gower2019",
    "SGD: General Analysis and Improved Rates",
    "Gower, Loizou, Qian, Sailanbayev, Shulgin, Richtarik",
    CLAIMS,
    family="stochastic",
)
