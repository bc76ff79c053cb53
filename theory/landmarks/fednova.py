"""Wang, Liu, Liang, Joshi, Poor: Tackling the Objective Inconsistency Problem in Heterogeneous Federated Optimization.

NeurIPS 2020, Lemma 1 and Theorem 2. Clients take tau_n local steps each: in turn h client n moves if h < tau_n. Of
Lemma 1, whose limit is no sentence, the fixed point is said; of Theorem 2 the step from one objective to the other
at a point.
"""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.domain import AT_LEAST_ONE, NONNEGATIVE
from theory.program import algorithm

SOURCE = "Wang, Liu, Liang, Joshi, Poor, Tackling the Objective Inconsistency Problem, NeurIPS 2020"


@algorithm
def fedavg(w, x, *, eta, tau, H):
    """Client n takes tau_n of the H local steps."""
    y = w.each(x)
    for h in w.repeat(H):
        y = y - eta * w.before(h, tau) * w.gradient(y)
    return w.mean(y)


CLAIMS = (
    claim(
        "lemma-1",
        "norm2(x[1] - x[0]) <= 0",
        of=fedavg,
        assuming=(
            "quadratic(f_n)", "smooth(f_n, L)", "strongly_convex(f_n, mu)", "L == 1", "mu == 1", "max_n(tau_n) <= H",
            "norm2(x0 - sum_n(tau_n*xstar_n)/sum_n(tau_n)) <= 0",
        ),
        kind="lemma", title="the point to which FedAvg with unequal numbers of local steps converges",
        source=f"{SOURCE}, Lemma 1", sure="read",
        remarks=("for sufficiently small eta; the limit in K is said as a fixed point",),
    ),
    claim(
        "theorem-2",
        "norm2(sum_n(p_n*a_n)) <= 2*(chi2*(beta2 - 1) + 1)*norm2(sum_n(w_n*a_n)) + 2*chi2*kappa2",
        vectors=("a_n",), where={"chi2": "sum_n((p_n - w_n)**2/w_n)"}, parameters={"beta2": AT_LEAST_ONE,
        "kappa2": NONNEGATIVE, "p_n": NONNEGATIVE},
        assuming=(
            "sum_n(p_n) == 1", "sum_n(w_n) == 1", "sum_n(w_n*norm2(a_n)) <= beta2*norm2(sum_n(w_n*a_n)) + kappa2",
        ),
        equation="(10)", title="from the surrogate objective to the true one, at a point",
        source=f"{SOURCE}, Theorem 2", sure="read", remarks=("a_n are the gradients of the clients at the point",),
    ),
)  # fmt: skip

PAPER = Paper(
    "fednova", "Tackling the Objective Inconsistency Problem", "Wang, Liu, Liang, Joshi, Poor", CLAIMS, family="FedAvg"
)
