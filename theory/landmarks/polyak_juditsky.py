"""Polyak, Juditsky: Acceleration of Stochastic Approximation by Averaging (SIAM J. Control Optim. 1992).

Theorem 2 is of a limit in distribution, which no sentence says.
"""

from __future__ import annotations

from theory.claim import Paper, claim

CLAIMS = (
    claim(
        "theorem-2", title="averaged stochastic approximation is asymptotically normal", equation="(11)",
        source="Polyak, Juditsky, Acceleration of Stochastic Approximation by Averaging, 1992, Theorem 2",
        sure="transcribed",
        remarks=(
            "x_t = x_{t-1} - gamma_t*(R(x_{t-1}) + xi_t), xbar_t = (1/t)*sum_{i<t} x_i (7); under Assumptions 3.1 to "
            "3.4 xbar_t -> x* almost surely and sqrt(t)*(xbar_t - x*) -> N(0, V) in distribution, V = G^{-1} S "
            "(G^{-1})^T",
            "the assumptions are transcribed in part",
        ),
    ),
)  # fmt: skip

PAPER = Paper(
    "polyak-juditsky",
    "Acceleration of Stochastic Approximation by Averaging",
    "Polyak, Juditsky",
    CLAIMS,
    family="stochastic",
)
