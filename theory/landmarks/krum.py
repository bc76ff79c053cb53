"""Blanchard, El Mhamdi, Guerraoui, Stainer: Byzantine Tolerant Gradient Descent (Krum; NeurIPS 2017).

The choice by comparison is no sentence; what is printed of the order of eta(n, f) is one of numbers, q for f, r for
n.
"""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.derivation import cases, combined, domain, root
from theory.domain import COUNT, INDEX

SOURCE = "Blanchard, El Mhamdi, Guerraoui, Stainer, Machine Learning with Adversaries, NeurIPS 2017"
ETA = {"eta2": "2*(r - q + (q*(r - q - 2) + q**2*(r - q - 1))/(r - 2*q - 2))"}

N = "(q*(r - q - 2) + q**2*(r - q - 1))"
W = "(r - 2*q - 2)"
Q = "(r/4 + r**2/16)"
QUARTER = (
    combined("left", f"{W} > 0", "2*q + 2 < r"),
    cases(
        "at least one",
        f"1 <= {W}",
        "r <= 2*q + 2",
        first=[combined("never", None, f"2*q + 2 < r; r <= 2*q + 2 times 1/{W}")],
        second=[combined("whole", None, "2*q + 2 + 1 <= r")],
    ),
    combined("six", f"r <= 6*{W}", "4*q <= r; at least one times 4"),
    domain("some", "0 <= q"),
    combined("two", "2 <= r", "2*q + 2 < r; some times 2"),
    combined(
        "numerator", f"{N} <= r*{Q}", "4*q <= r times r/4; 4*q <= r times r*(4*q + r)/16", "1 times 2*q**2 + 2*q + q**3"
    ),
    combined("ratio", f"{N}/{W} <= 6*{Q}", f"numerator times 1/{W}; six times {Q}/{W}"),
    combined("squared", f"2*(r - q + {N}/{W}) <= (2*r)**2", "ratio times 2; two times 5/2*r", "1 times 3/4*r**2 + 2*q"),
    root("all", "squared"),
)

CLAIMS = (
    claim(
        "proposition-1", title="Krum is Byzantine resilient", source=f"{SOURCE}, Proposition 1", sure="read",
        remarks=("with 2f + 2 < n and eta(n, f)*sqrt(d)*sigma < norm(g) Krum is (alpha, f)-Byzantine resilient",),
    ),
    claim(
        "eta-order",
        "sqrt(eta2) <= C*r",
        where=ETA, parameters={"r": COUNT, "q": INDEX}, assuming=("2*q + 2 < r",),
        in_words={"C": "the constant that O(n) hides, where f is any multiple of n below 1/2"},
        kind="remark", title="eta(n, f) = O(n)", source=f"{SOURCE}, beside Proposition 1", sure="read",
    ),
    claim(
        "eta-order/largest",
        "sqrt(eta2) <= 2*r",
        where=ETA, parameters={"r": COUNT, "q": INDEX}, assuming=("2*q + 2 < r",),
        kind="remark", title="the same with a constant of 2, up to the most Byzantine workers", sure="read",
        source=f"{SOURCE}, beside Proposition 1",
        remarks=(
            "no constant is printed; with n - 2f - 2 = 1 eta grows as n**(3/2): none serves for every f allowed",
        ),
    ),
    claim(
        "eta-order/corrected",
        "sqrt(eta2) <= 2*r",
        where=ETA, parameters={"r": COUNT, "q": INDEX}, assuming=("2*q + 2 < r", "4*q <= r"),
        amends="eta-order/largest", kind="remark", proof=QUARTER, title="the same where at most a quarter is Byzantine",
        sure="read",
        source=f"{SOURCE}, beside Proposition 1",
    ),
)  # fmt: skip

PAPER = Paper(
    "krum", "Machine Learning with Adversaries", "Blanchard, El Mhamdi, Guerraoui, Stainer", CLAIMS, family="stochastic"
)
