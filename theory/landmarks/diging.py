"""Nedic, Olshevsky, Shi: Achieving Geometric Convergence for Distributed Optimization over Time-Varying Graphs (2017).

Theorem 3, the small gain theorem, for m = 2 numbers in the place of the norms: a and b are the two suprema up to K.
"""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.domain import NONNEGATIVE

CLAIMS = (
    claim(
        "theorem-3",
        "a <= (omega_1*gamma_2 + omega_2)/(1 - gamma_1*gamma_2)",
        parameters=dict.fromkeys(("a", "b", "gamma_1", "gamma_2"), NONNEGATIVE),
        assuming=("b <= gamma_1*a + omega_1", "a <= gamma_2*b + omega_2", "gamma_1*gamma_2 < 1"),
        equation="(7)", title="small gain, two sequences", sure="transcribed",
        source="Nedic, Olshevsky, Shi, Achieving Geometric Convergence, 2017, Theorem 3",
        remarks=("m = 2; a and b are the weighted norms of the two sequences up to K, finite for every K",),
    ),
)  # fmt: skip

PAPER = Paper(
    "diging",
    "Achieving Geometric Convergence over Time-Varying Graphs",
    "Nedic, Olshevsky, Shi",
    CLAIMS,
    family="decentralised",
)
