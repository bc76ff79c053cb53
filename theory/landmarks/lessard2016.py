"""Lessard, Recht, Packard: Analysis and Design of Optimization Algorithms via Integral Quadratic Constraints.

SIAM J. Optim. 2016; arXiv 1408.3595v7. m of the paper is mu here. The limit of the heavy-ball cycle is no sentence:
that the three points are mapped to one another is.
"""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.domain import PROBABILITY

SOURCE = "Lessard, Recht, Packard, Analysis and Design of Optimization Algorithms via IQCs, 2016"
CLASS = ("smooth(f, L)", "strongly_convex(f, mu)", "mu < L")
G_Y, G_B = (f"grad(f, {v}) - grad(f, z) - mu*({v} - z)" for v in "yb")

CLAIMS = (
    claim(
        "lemma-6",
        "-2*mu*L*norm2(y - z) + 2*(L + mu)*dot(y - z, grad(f, y) - grad(f, z)) - 2*norm2(grad(f, y) - grad(f, z)) >= 0",
        vectors=("y", "z"), assuming=CLASS,
        kind="lemma", equation="(3.14)", title="sector", source=f"{SOURCE}, Lemma 6", sure="transcribed",
    ),
    claim(
        "eq-3-18",
        f"dot({G_Y}, L*(y - b) - (grad(f, y) - grad(f, b))) >= q_y - q_b",
        vectors=("y", "b", "z"),
        where={
            "q_y": "(L - mu)*(f(y) - f(z) - mu/2*norm2(y - z)) - norm2(grad(f, y) - mu*(y - z))/2",
            "q_b": "(L - mu)*(f(b) - f(z) - mu/2*norm2(b - z)) - norm2(grad(f, b) - mu*(b - z))/2",
        },
        assuming=CLASS,
        kind="equation", equation="(3.18)", title="off-by-one, a line of its proof", source=f"{SOURCE}, (3.18)",
        sure="transcribed", remarks=("the definition of q (3.16) is from memory",),
    ),
    claim(
        "lemma-10",
        f"dot({G_B}, L*(b - z) - (grad(f, b) - grad(f, z))) + rho**(-2)*dot({G_Y}, L*(y - z - rb**2*(b - z)) "
        "- (grad(f, y) - grad(f, z) - rb**2*(grad(f, b) - grad(f, z)))) >= 0",
        vectors=("y", "b", "z"), parameters={"rho": PROBABILITY, "rb": PROBABILITY}, assuming=(*CLASS, "rb <= rho"),
        kind="lemma", equation="(3.20)", title="weighted off-by-one, two points", source=f"{SOURCE}, Lemma 10",
        sure="transcribed",
    ),
)  # fmt: skip

PAPER = Paper(
    "lessard2016", "Analysis and Design of Optimization Algorithms via IQCs", "Lessard, Recht, Packard", CLAIMS
)
