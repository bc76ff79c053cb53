"""Alistarh, Grubic, Li, Tomioka, Vojnovic: QSGD (NeurIPS 2017), Lemma 3.1.

The operator is no primitive. A vector of N entries has abs(v_n)/norm(v) = u_n = (l_n + t_n)/s, l_n an integer, t_n in
[0, 1]: entry n is (l_n + 1)/s with probability t_n, else l_n/s. Mean, variance and number of non-zero entries are sums
over n, each a claim of its own. That sum_n(u_n**2) = 1 is a formula for s, which is any positive number here and an
integer in print.
"""

from __future__ import annotations

from theory.claim import Paper, claim
from theory.domain import INDEX, Domain

SOURCE = "Alistarh, Grubic, Li, Tomioka, Vojnovic, QSGD, NeurIPS 2017, Lemma 3.1"
GIVEN = {
    "where": {"u_n": "(l_n + t_n)/s", "s": "sqrt(sum_n((l_n + t_n)**2))"},
    "parameters": {"t_n": Domain(0, 1), "l_n": INDEX}, "kind": "lemma", "source": SOURCE, "sure": "secondary",
}  # fmt: skip

CLAIMS = (
    claim(
        "lemma-3-1",
        "sum_n(t_n*((l_n + 1)/s - u_n)**2 + (1 - t_n)*(l_n/s - u_n)**2) <= min(N/s**2, sqrt(N)/s)",
        equation="(ii)", title="the variance of QSGD", **GIVEN,
    ),
    claim(
        "lemma-3-1/mean", "t_n*(l_n + 1)/s + (1 - t_n)*l_n/s == u_n", equation="(i)", title="QSGD is unbiased", **GIVEN
    ),
    claim(
        "lemma-3-1/sparsity",
        "sum_n(t_n + (1 - t_n)*min(l_n, 1)) <= s*(s + sqrt(N))",
        equation="(iii)", title="non-zero entries of QSGD", **GIVEN,
    ),
)  # fmt: skip

PAPER = Paper("qsgd", "QSGD", "Alistarh, Grubic, Li, Tomioka, Vojnovic", CLAIMS, family="compression")
