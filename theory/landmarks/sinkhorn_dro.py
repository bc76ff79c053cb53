"""Wang, Gao, Xie: Sinkhorn Distributionally Robust Optimization (arXiv 2109.11926v5), Lemma EC.7.

The Euclidean case without constraint and bias.
"""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.program import algorithm


@algorithm
def subgradient(w, x, *, step):
    """A step along a sampled gradient."""
    return x - step * w.mean(w.gradient(x, w.sample()))


MOMENT = "for every x: mean_n(mean_i(norm2(grad(f_ni, x)))) <= M**2"

CLAIMS = (
    claim(
        "lemma-ec7",
        "E(f(mean_k(x[k+1]))) - fstar <= M*norm(x0 - xstar)/sqrt(K)",
        of=subgradient,
        assuming=("convex(f_ni)", MOMENT, "step == norm(x0 - xstar)/(M*sqrt(K))", "N <= 1"),
        kind="lemma", title="the subgradient method, averaged from the second point on", sure="transcribed",
        source="Wang, Gao, Xie, Sinkhorn Distributionally Robust Optimization, Lemma EC.7",
    ),
)  # fmt: skip

PAPER = Paper(
    "sinkhorn-dro", "Sinkhorn Distributionally Robust Optimization", "Wang, Gao, Xie", CLAIMS, family="stochastic"
)
