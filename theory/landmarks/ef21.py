"""Richtarik, Sokolov, Fatkhullin: EF21 (NeurIPS 2021), Theorem 1, with the m largest coordinates (alpha = m/d)."""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.program import algorithm


@algorithm(x="x0", g="each 0")
def ef21(w, x, g, *, gamma, m):
    """A step along the mean of the estimates, which then move towards the gradients."""
    new = x - gamma * w.mean(g)
    return new, g + w.top(w.gradient(new) - g, m)


CLAIMS = (
    claim(
        "theorem-1",
        "mean_k(E(norm2(grad(f, x[k])))) <= 2*(f(x0) - fstar)/(gamma*K) "
        "+ mean_n(norm2(g[0] - grad(f_n, x0)))/(theta*K)",
        of=ef21, where={"theta": "1 - sqrt(1 - m/d)", "beta": "(1 - m/d)/theta"},
        assuming=("smooth(f_n, L)", "bounded_below(f)", "gamma <= 1/(L + L*sqrt(beta/theta))", "m <= d"),
        title="EF21, not convex", source="Richtarik, Sokolov, Fatkhullin, EF21, NeurIPS 2021, Theorem 1", sure="memory",
        remarks=("all L_i are L here",),
    ),
)  # fmt: skip

PAPER = Paper("ef21", "EF21", "Richtarik, Sokolov, Fatkhullin", CLAIMS, family="compression")
