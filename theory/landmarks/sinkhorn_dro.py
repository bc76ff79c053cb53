"""Wang, Gao, Xie: Sinkhorn Distributionally Robust Optimization (arXiv 2109.11926v5), Lemma EC.7.

The Euclidean case without constraint and bias; M bounds every sample's gradients, where the paper bounds a second
moment.
"""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.program import algorithm


@algorithm
def subgradient(w, x, *, step):
    """A step along a sampled gradient."""
    return x - step * w.mean(w.gradient(x, w.sample()))


CLAIMS = (
    claim(
        "lemma-ec7",
        "E(f(mean_k(x[k+1]))) - fstar <= M*norm(x0 - xstar)/sqrt(K)",
        of=subgradient,
        assuming=("convex(f_ni)", "bounded_gradients(f_ni, M)", "step == norm(x0 - xstar)/(M*sqrt(K))", "N <= 1"),
        kind="lemma", title="the subgradient method, averaged from the second point on", sure="transcribed",
        source="Wang, Gao, Xie, Sinkhorn Distributionally Robust Optimization, Lemma EC.7",
        remarks=("M bounds every gradient, which is more than the paper assumes: a break of this is one of the lemma",),
    ),
)  # fmt: skip

PAPER = Paper(
    "sinkhorn-dro", "Sinkhorn Distributionally Robust Optimization", "Wang, Gao, Xie", CLAIMS, family="stochastic"
)
