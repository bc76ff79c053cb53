"""Alistarh, Grubic, Li, Tomioka, Vojnovic: QSGD (NeurIPS 2017), Lemma 3.1.

The operator is no primitive. For a vector of N entries u_n = abs(v_n)/norm(v), with l_n/s <= u_n <= (l_n + 1)/s,
entry n is (l_n + 1)/s with probability s*u_n - l_n, else l_n/s: mean, variance and number of non-zero entries are
sums over n.
"""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.domain import COUNT, INDEX, NONNEGATIVE

SOURCE = "Alistarh, Grubic, Li, Tomioka, Vojnovic, QSGD, NeurIPS 2017, Lemma 3.1"
LEVELS = ("sum_n(u_n**2) == 1", "l_n <= s*u_n", "s*u_n <= l_n + 1")
UP = "(s*u_n - l_n)"
GIVEN = {
    "parameters": {"u_n": NONNEGATIVE, "l_n": INDEX, "s": COUNT}, "assuming": LEVELS,
    "kind": "lemma", "source": SOURCE, "sure": "secondary",
}  # fmt: skip

CLAIMS = (
    claim("lemma-3-1/mean", f"{UP}*(l_n + 1)/s + (1 - {UP})*l_n/s == u_n", title="QSGD is unbiased", **GIVEN),
    claim(
        "lemma-3-1/variance",
        f"sum_n({UP}*((l_n + 1)/s - u_n)**2 + (1 - {UP})*(l_n/s - u_n)**2) <= min(N/s**2, sqrt(N)/s)",
        title="the variance of QSGD", **GIVEN,
    ),
    claim(
        "lemma-3-1/sparsity",
        f"sum_n({UP} + (1 - {UP})*min(l_n, 1)) <= s*(s + sqrt(N))",
        title="non-zero entries of QSGD", **GIVEN,
    ),
)  # fmt: skip

PAPER = Paper("qsgd", "QSGD", "Alistarh, Grubic, Li, Tomioka, Vojnovic", CLAIMS)
