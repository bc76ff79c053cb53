"""Needell, Srebro, Ward: SGD, Weighted Sampling, and the Randomized Kaczmarz Algorithm (arXiv 1310.5715v5)."""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.program import algorithm


@algorithm
def sgd(w, x, *, gamma):
    """One sample a step."""
    return x - gamma * w.mean(w.gradient(x, w.sample()))


CLAIMS = (
    claim(
        "theorem-2-1",
        "E(norm2(x[k] - xstar)) <= (1 - 2*gamma*mu*(1 - gamma*L))**k*norm2(x0 - xstar) "
        "+ gamma*sigma2/(mu*(1 - gamma*L))",
        of=sgd, assuming=("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)", "gamma*L < 1", "N <= 1"),
        where={"sigma2": "mean_n(mean_i(norm2(grad(f_ni, xstar))))"}, equation="(2.4)", title="SGD, strongly convex",
        source="Needell, Srebro, Ward, SGD, Weighted Sampling, and the Randomized Kaczmarz, 2016, Theorem 2.1",
        sure="transcribed",
    ),
)  # fmt: skip

PAPER = Paper(
    "needell2014",
    "SGD, Weighted Sampling, and Randomized Kaczmarz",
    "Needell, Srebro, Ward",
    CLAIMS,
    family="stochastic",
)
