"""Malinovsky, Yi, Richtarik: Variance Reduced ProxSkip (NeurIPS 2022), Theorems 6 and 8, for federated learning.

r is the indicator of consensus, its prox the average; sums over the clients are written as means.
"""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.program import algorithm

SOURCE = "Malinovsky, Yi, Richtarik, Variance Reduced ProxSkip, NeurIPS 2022"


@algorithm(x="each x0", h="each 0")
def proxskip(w, x, h, *, gamma, p):
    """Algorithm 1 with exact gradients: with probability p the clients average."""
    moved = x - gamma * (w.gradient(x) - h)
    after = w.where(w.coin(p), w.each(w.mean(moved - gamma / p * h)), moved)
    return after, h + p / gamma * (after - moved)


@algorithm(x="each x0", h="each 0")
def sproxskip(w, x, h, *, gamma, p):
    """The same with sampled gradients."""
    moved = x - gamma * (w.gradient(x, w.sample()) - h)
    after = w.where(w.coin(p), w.each(w.mean(moved - gamma / p * h)), moved)
    return after, h + p / gamma * (after - moved)


PSI = "mean_n(E(norm2(x[k] - xstar))) + gamma**2/p**2*mean_n(E(norm2(h[k] - grad(f_n, xstar))))"
PSI0 = "(norm2(x0 - xstar) + gamma**2/p**2*mean_n(norm2(grad(f_n, xstar))))"
RATE = "max((1 - gamma*mu)**k, (1 - p**2)**k)"

CLAIMS = (
    claim(
        "theorem-6",
        f"{PSI} <= {RATE}*{PSI0}",
        of=proxskip, assuming=("smooth(f_n, L)", "strongly_convex(f_n, mu)", "gamma <= 1/L", "p <= 1"),
        equation="(8)", title="ProxSkip", source=f"{SOURCE}, Theorem 6", sure="read",
    ),
    claim(
        "theorem-8",
        f"{PSI} <= {RATE}*{PSI0} + gamma**2*mean_n(mean_i(norm2(grad(f_ni, xstar) - grad(f_n, xstar))))"
        "/min(gamma*mu, p**2)",
        of=sproxskip,
        assuming=(
            "smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f_n, mu)", "gamma <= min(1/mu, 1/L)", "p <= 1",
        ),
        equation="(9)", title="SProxSkip", source=f"{SOURCE}, Theorem 8", sure="read",
    ),
    claim(
        "theorem-8/corrected",
        f"{PSI} <= {RATE}*{PSI0} + 2*gamma**2*mean_n(mean_i(norm2(grad(f_ni, xstar) - grad(f_n, xstar))))"
        "/min(gamma*mu, p**2)",
        of=sproxskip,
        assuming=(
            "smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f_n, mu)", "gamma <= min(1/mu, 1/(2*L))", "p <= 1",
        ),
        amends="theorem-8", title="the same with both factors of 2 that a square of a sum has",
        source=f"{SOURCE}, Theorem 8", sure="read",
    ),
)  # fmt: skip

PAPER = Paper("proxskip-vr", "Variance Reduced ProxSkip", "Malinovsky, Yi, Richtarik", CLAIMS, family="ProxSkip")
