"""Gorbunov, Burlachenko, Li, Richtarik: MARINA (ICML 2021), Theorem 2.1; m random coordinates (omega = d/m - 1)."""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.program import algorithm


@algorithm(x="x0", g="grad(f, x0)")
def marina(w, x, g, *, gamma, p, m):
    """With probability p the full gradient, else compressed differences are added."""
    new = x - gamma * g
    moved = g + w.mean(w.keep(w.gradient(new) - w.gradient(x), m))
    return new, w.where(w.coin(p), w.full_gradient(new), moved)


CLAIMS = (
    claim(
        "theorem-2-1",
        "mean_k(E(norm2(grad(f, x[k])))) <= 2*(f(x0) - fstar)/(gamma*K)",
        of=marina, where={"omega": "d/m - 1"},
        assuming=(
            "smooth(f_n, L)", "bounded_below(f)", "gamma <= 1/(L*(1 + sqrt((1 - p)*omega/(p*N))))", "m <= d", "p <= 1",
        ),
        title="MARINA, not convex", source="Gorbunov, Burlachenko, Li, Richtarik, MARINA, ICML 2021, Theorem 2.1",
        sure="memory", remarks=("all L_i are L here",),
    ),
)  # fmt: skip

PAPER = Paper("marina", "MARINA", "Gorbunov, Burlachenko, Li, Richtarik", CLAIMS, family="compression")
