"""Bubeck: Convex Optimization, Algorithms and Complexity (2015), section 6.3: SVRG of Johnson and Zhang.

alpha of the book is mu here, beta is L. A round is an epoch; its end is the mean of the first H inner points.
"""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.program import algorithm

SOURCE = "Bubeck, Convex Optimization: Algorithms and Complexity, 2015, section 6.3"


@algorithm
def svrg(w, y, *, eta, H):
    """H inner steps from y; the next y is their mean, y itself the first."""
    full = w.full_gradient(y)
    x = y
    total = 0 * y
    for _ in w.repeat(H):
        i = w.sample()
        total = total + x
        x = x - eta * (w.mean(w.gradient(x, i) - w.gradient(y, i)) + full)
    return total / H


ASSUMED = ("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)", "N <= 1")

CLAIMS = (
    claim(
        "epoch",
        "E(f(y[k+1])) - fstar <= (1/(mu*eta*(1 - 2*L*eta)*H) + 2*L*eta/(1 - 2*L*eta))*(E(f(y[k])) - fstar)",
        of=svrg, assuming=(*ASSUMED, "eta < 1/(2*L)"),
        kind="equation", title="an epoch of SVRG", source=f"{SOURCE}, p. 338", sure="transcribed",
    ),
    claim(
        "theorem-6-5",
        "E(f(y[k])) - fstar <= (9/10)**k*(f(x0) - fstar)",
        of=svrg, assuming=(*ASSUMED, "eta == 1/(10*L)", "H == 20*L/mu"),
        rests_on=("epoch",), title="SVRG, strongly convex", source=f"{SOURCE}, Theorem 6.5", sure="transcribed",
    ),
)  # fmt: skip

PAPER = Paper(
    "bubeck-svrg",
    "Convex Optimization: Algorithms and Complexity, section 6.3",
    "Bubeck",
    CLAIMS,
    family="variance reduction",
)
