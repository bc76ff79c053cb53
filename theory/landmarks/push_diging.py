"""Nedic, Olshevsky, Shi: Achieving Geometric Convergence for Distributed Optimization over Time-Varying Graphs (2017).

Theorem 18 (Push-DIGing). The division node by node has no counterpart; that lam is the ratio of a linear rate is one of
numbers. Q1 and delta, which the number of nodes and B fix in print, are any numbers here, r is the number of nodes.
"""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.domain import AT_LEAST_ONE, COUNT, Domain

SOURCE = "Nedic, Olshevsky, Shi, Achieving Geometric Convergence, 2017, Theorem 18"
LAST = "1.5*(1 - delta)**2/(mubar*J2)"
SWITCH = "1.5*(sqrt(J2**2 + (1 - delta**2)*J2) - delta*J2)**2/(mubar*J2*(J2 + 1)**2)"
J2 = "3*Q1*Vmax*kappabar*B*(delta + Q1*(B - 1))*(1 + sqrt(r))*(1 + 4*sqrt(r)*sqrt(kappabar))"
GIVEN = {
    "parameters": {
        "delta": Domain(0, 1, lower_open=True, upper_open=True), "Q1": AT_LEAST_ONE, "Vmax": AT_LEAST_ONE,
        "kappabar": AT_LEAST_ONE, "B": COUNT, "r": COUNT,
    },
    "source": SOURCE, "sure": "transcribed",
}  # fmt: skip
LARGE = {"J2": J2, "lam": "(sqrt(alpha*mubar*J2/1.5) + delta)**(1/B)"}

CLAIMS = (
    claim(
        "theorem-18", "lam < 1", where=LARGE, assuming=(f"alpha > {SWITCH}", f"alpha <= {LAST}"), **GIVEN,
        rests_on=("diging/theorem-3",), title="the ratio of the linear rate, larger steps",
    ),
    claim(
        "theorem-18/small-steps", "lam < 1", where={"J2": J2, "lam": "(1 - alpha*mubar/1.5)**(1/(2*B))"},
        assuming=(f"alpha <= {SWITCH}",), **GIVEN, title="the ratio of the linear rate, smaller steps",
    ),
    claim(
        "theorem-18/corrected", "lam < 1", where=LARGE, assuming=(f"alpha > {SWITCH}", f"alpha < {LAST}"), **GIVEN,
        amends="theorem-18", title="the same without the end of the range of steps",
    ),
)  # fmt: skip

PAPER = Paper(
    "push-diging",
    "Achieving Geometric Convergence: Push-DIGing",
    "Nedic, Olshevsky, Shi",
    CLAIMS,
    family="decentralised",
)
