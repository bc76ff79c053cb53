"""Sampling clients without replacement (Lemmas 9 and 10), and the norm of Q_j (Proposition 3)."""

from __future__ import annotations

from theory.claim import Claim, Hypothesis, Quantity, Step
from theory.papers.perm.words import (
    A1,
    A4,
    G,
    K,
    L,
    N,
    alpha_one,
    count,
    drawn,
    eta,
    grad_phi,
    grad_sum,
    last,
    p,
    result,
    total_vectors,
)

MEAN_DEVIATION = Quantity(
    "mean_deviation",
    "||(1/i) sum_{j<=i} g_s(j) - gbar||, the (1-p)-quantile over the permutation",
    r"\Vert\frac{1}{i}\sum_{j=1}^ig_{\sigma(j)}-\bar g\Vert",
)
PARTIAL_SUM = Quantity(
    "partial_sum",
    "||sum_{j=0}^n a_s(j) grad f_s(j)(v^r)||, the (1-p)-quantile over the permutation",
    r"\Vert\sum_{j=0}^n\hat\alpha(\sigma(j))\nabla f_{\sigma(j)}(v^r)\Vert",
)
PARTIAL_SUM_OF_COUNT = Quantity(
    "partial_sum_of_count",
    "||the sum of a_s(j) grad f_s(j)(v^r) over the first n clients||, the (1-p)-quantile over the permutation",
    r"\Vert\sum_{j=1}^n\hat\alpha(\sigma(j))\nabla f_{\sigma(j)}(v^r)\Vert",
)
Q_NORM = Quantity("q_norm", "||Q_j||", r"\Vert Q_j\Vert")
LEMMA_9 = result(
    "lemma-9",
    "lemma",
    "sampling without replacement",
    "Lemma 9",
    "||g_j|| <= G: with probability at least 1-p, ||(1/i) sum_{j<=i} g_s(j) - gbar|| <= G sqrt(8 (1-(i-1)/n) "
    "log(2/p)/i), for n >= 2 and i <= n (cited).",
    MEAN_DEVIATION.latex + r"\leq G\sqrt{\frac{8(1-\frac{i-1}{n})\log\frac{2}{p}}{i}}",
    MEAN_DEVIATION,
    "Lemma 9, appendix B.3; Schneider, AISTATS 2016, Theorem 2",
    parameters=(G, drawn, total_vectors, p),
    hypotheses=(
        Hypothesis("vectors", "n >= 2", relation="n >= 2"),
        Hypothesis("drawn", "i <= n", relation="i <= n"),
    ),
    relation="<=",
    right="G*sqrt(8*(1-(i-1)/n)*log(2/p)/i)",
    steps=(Step("Lemma 9", MEAN_DEVIATION.latex, "<=", r"G\sqrt{\dots}", "cited", "Schneider, Theorem 2"),),
    remarks=("For one i that is fixed in advance; Lemma 11 uses it for every i of every epoch at once.",),
)

_TEN = r"\leq G\sqrt{8n\log(1/p)}+\frac{n}{N}"
_VACUOUS = (
    "The weights sum to 1, so the partial sum is at most G with certainty; log(2/p) > log 2 makes G sqrt(8 n log(2/p)) "
    "larger than 2G for every n >= 1 and p: the concentration gains nothing here."
)
LEMMA_10 = result(
    "lemma-10",
    "lemma",
    "partial sums of weighted gradients",
    "Lemma 10",
    "||sum_{j=0}^n a_s(j) grad f_s(j)(v^r)|| <= G sqrt(8 n log(1/p)) + (n/N) ||grad Phi(a, v^r)||; Phi as in (3).",
    PARTIAL_SUM.latex + _TEN + r"\Vert\nabla\Phi(\hat\alpha,v^r)\Vert",
    PARTIAL_SUM,
    "Lemma 10, appendix B.3",
    parameters=(G, last, N, p, grad_phi),
    hypotheses=(A4, Hypothesis("clients", "the sum runs over n+1 of the N clients", relation="n <= N - 1")),
    definitions={"deviation": "G*sqrt(8*n*log(1/p))", "mean_term": "n/N*grad_phi"},
    relation="<=",
    right="deviation + mean_term",
    steps=(
        Step(
            "number of terms",
            r"\sum_{j=0}^{n}1",
            "=",
            "n",
            "identity",
            "n+1 terms",
            identity=("n + 1", "n"),
        ),
        Step(
            "rescaled",
            r"\frac{n}{N}N\sqrt{\frac{8}{n}}",
            "=",
            r"\sqrt{8n}",
            "identity",
            "Lemma 9 for the vectors a_j N grad f_j, of norm up to N G; it has log(2/p), not log(1/p)",
            identity=("(n/N*N)**2*8/n", "8*n"),
        ),
    ),
    remarks=(
        "The sum from 0 to n has n+1 terms; at n = 0 the right side is 0.",
        "Lemma 9 has log(2/p); with log(1/p) the bound is false for p near 1, where a single n is concerned.",
        "The probability is not stated; the printed inequality is used for all n and all epochs at once.",
        _VACUOUS,
    ),
)
LEMMA_10_UNNORMALISED = result(
    "lemma-10/unnormalised",
    "lemma",
    "partial sums of weighted gradients",
    "Lemma 10, read with Phi = sum a_j f_j",
    "||sum_{j=0}^n a_s(j) grad f_s(j)(v^r)|| <= G sqrt(8 n log(1/p)) + (n/N) ||sum_j a_j grad f_j(v^r)||.",
    PARTIAL_SUM.latex + _TEN + r"\Vert\sum_j\hat\alpha(j)\nabla f_j(v^r)\Vert",
    PARTIAL_SUM,
    "Lemma 10, as its proof reads (3)",
    parameters=(G, last, N, p, grad_sum),
    hypotheses=(A4, Hypothesis("clients", "the sum runs over n+1 of the N clients", relation="n <= N - 1")),
    definitions={"deviation": "G*sqrt(8*n*log(1/p))", "mean_term": "n/N*grad_sum"},
    relation="<=",
    right="deviation + mean_term",
)
LEMMA_10_CORRECTED = result(
    "lemma-10/corrected",
    "lemma",
    "partial sums of weighted gradients",
    "Lemma 10, corrected",
    "With probability at least 1-p, for a fixed n: the sum over the first n clients is at most G sqrt(8 n log(2/p)) + "
    "(n/N) ||sum_j a_j grad f_j(v^r)||.",
    PARTIAL_SUM_OF_COUNT.latex + r"\leq G\sqrt{8n\log(2/p)}+\frac{n}{N}\Vert\sum_j\hat\alpha(j)\nabla f_j(v^r)\Vert",
    PARTIAL_SUM_OF_COUNT,
    "repair of Lemma 10, Phi = sum a_j f_j",
    parameters=(G, count, N, p, grad_sum),
    hypotheses=(A4, Hypothesis("clients", "n <= N", relation="n <= N")),
    definitions={"deviation": "G*sqrt(8*n*log(2/p))", "mean_term": "n/N*grad_sum"},
    relation="<=",
    right="deviation + mean_term",
    steps=LEMMA_10.steps[1:],
    amends="lemma-10",
    derivation=(
        "Lemma 9 for g_j = N a_j grad f_j, ||g_j|| <= N G, whose mean is sum_j a_j grad f_j, times n/N: n/N * N G "
        "sqrt(8 (1-(n-1)/N) log(2/p)/n) <= G sqrt(8 n log(2/p)). (Also by lemma-10/corrected-2.)"
    ),
    remarks=(_VACUOUS,),
)
LEMMA_10_CORRECTED_2 = result(
    "lemma-10/corrected-2",
    "lemma",
    "partial sums of weighted gradients, without probability",
    "Lemma 10, corrected",
    "For every permutation and every n: the sum over the first n clients is at most G.",
    PARTIAL_SUM_OF_COUNT.latex + r"\leq G",
    PARTIAL_SUM_OF_COUNT,
    "repair of Lemma 10",
    parameters=(G,),
    hypotheses=(A4,),
    relation="<=",
    right="G",
    steps=(
        Step(
            "weights",
            r"\sum_{j\leq n}\hat\alpha(\sigma(j))G",
            "<=",
            r"\sum_j\hat\alpha(j)G",
            "inequality",
            "the weights are not negative and sum to 1",
            identity=("part*G", "(part+rest)*G"),
        ),
    ),
    amends="lemma-10",
    derivation="Triangle inequality: sum_{j<=n} a_s(j) ||grad f_s(j)|| <= G sum_j a_j = G.",
)
PROPOSITION_3 = result(
    "proposition-3",
    "proposition",
    "norm of Q_j",
    "Proposition 3",
    "||Q_j|| <= eta a_s(j) N K (1 + eta N L)^K.",
    Q_NORM.latex + r"\leq\eta\hat\alpha(\sigma(j))NK(1+\eta NL)^K",
    Q_NORM,
    "Proposition 3, appendix B.3",
    parameters=(eta, alpha_one, N, K, L),
    hypotheses=A1[:2],
    relation="<=",
    right="eta*alpha*N*K*(1+eta*N*L)**K",
    steps=(
        Step(
            "three local steps",
            r"\sum_{\tau<3}(1+\eta\alpha NL)^{2-\tau}",
            "<=",
            r"3(1+\eta NL)^3",
            "inequality",
            "K = 3, x = eta a N L and eta N L = x + rest; no condition on the step is needed",
            identity=("1 + (1+x) + (1+x)**2", "3*(1+x+rest)**3"),
        ),
    ),
    remarks=("The condition eta N L <= 1/K that is named for the last step is not needed.",),
)
CLAIMS: tuple[Claim, ...] = (
    LEMMA_9,
    LEMMA_10,
    LEMMA_10_UNNORMALISED,
    LEMMA_10_CORRECTED,
    LEMMA_10_CORRECTED_2,
    PROPOSITION_3,
)
