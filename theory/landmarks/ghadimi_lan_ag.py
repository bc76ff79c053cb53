"""Ghadimi, Lan: Accelerated Gradient Methods for Nonconvex Nonlinear and Stochastic Programming (arXiv 1310.3787v1).

Round k is the paper's step k + 1, so alpha, beta, lam of round k are its alpha_{k+1}, ... and Gam_k its
Gamma_{k+1}; one client. The random output is a weighted sum over the rounds.
"""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.domain import PROBABILITY
from theory.program import algorithm

SOURCE = "Ghadimi, Lan, Accelerated Gradient Methods for Nonconvex Nonlinear and Stochastic Programming, 2016"


@algorithm(x="x0", ag="x0")
def rsag(w, x, ag, *, alpha, beta, lam, sigma2):
    """Algorithm 3."""
    md = (1 - alpha) * ag + alpha * x
    w.tap("md", md)
    g = w.full_gradient(md) + w.mean(w.noise(sigma2))
    w.tap("g", g)
    return x - lam * g, md - beta * g


MD = {"md": "(1 - alpha)*a + alpha*b"}

CLAIMS = (
    claim(
        "eq-3-10",
        "f(md - beta*(grad(f, md) + delta)) <= (1 - alpha)*f(a) + alpha*f(x) + alpha*dot(grad(f, md), b - x) "
        "- beta*norm2(grad(f, md)) + beta*dot(grad(f, md), delta) + L*beta**2/2*norm2(grad(f, md) + delta)",
        vectors=("a", "b", "delta", "x"), where=MD, parameters={"alpha": PROBABILITY},
        assuming=("smooth(f, L)", "convex(f)"),
        kind="equation", equation="(3.10)", title="a step, convex", source=f"{SOURCE}, (3.10)", sure="transcribed",
    ),
    claim(
        "eq-3-10/as-added",
        "f(md - beta*(grad(f, md) + delta)) <= (1 - alpha)*f(a) + alpha*f(x) + alpha*dot(grad(f, md), b - x) "
        "- beta*norm2(grad(f, md)) - beta*dot(grad(f, md), delta) + L*beta**2/2*norm2(grad(f, md) + delta)",
        vectors=("a", "b", "delta", "x"), where=MD, parameters={"alpha": PROBABILITY}, amends="eq-3-10",
        assuming=("smooth(f, L)", "convex(f)"),
        kind="equation", title="the same with the sign that the step has", source=f"{SOURCE}, (3.10)",
        sure="transcribed",
    ),
)  # fmt: skip

PAPER = Paper("ghadimi-lan-ag", "Accelerated Gradient Methods", "Ghadimi, Lan", CLAIMS)
