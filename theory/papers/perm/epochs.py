"""What an epoch of Algorithm 4 does: bias and size of its move (Lemma 11).

Each of Lemmas 11a, 11b and 12 has two repairs: `corrected` follows the printed route with its constants put right, and
`corrected-2` needs no probability and is smaller, because the weights of the clients sum to one.
"""

from __future__ import annotations

from dataclasses import replace

from theory.claim import Claim, Hypothesis, Quantity, Step
from theory.papers.perm.words import (
    A1,
    A4,
    EPOCH_STEP,
    EPOCH_STEP_OF_11,
    SHORT_EPOCH,
    UNLISTED_EPOCH_STEP,
    G,
    K,
    L,
    N,
    R,
    eta,
    grad_phi,
    grad_sum,
    identifier,
    p,
    result,
)

_QSUM = r"\sum_{j=1}^NQ_j\nabla f_{\sigma(j)}(v^r)"
EPOCH_BIAS_SUM = Quantity(
    "epoch_bias_sum",
    "||sum_j Q_j grad f_s(j)(v^r) - eta N K sum_j a_s(j) grad f_s(j)(v^r)||^2, the (1-p)-quantile over the permutation",
    r"\Vert " + _QSUM + r"-\eta NK\sum_j\hat\alpha(\sigma(j))\nabla f_{\sigma(j)}(v^r)\Vert^2",
)
EPOCH_PART = Quantity(
    "epoch_part",
    "||sum_{j<N'} Q_j grad f_s(j)(v^r)|| for any N' < N, the (1-p)-quantile over the permutation",
    r"\Vert\sum_{j=1}^{N'-1}Q_j\nabla f_{\sigma(j)}(v^r)\Vert",
)

E_R = "exp(1)/(4*R-exp(1))"
NORM = {
    "grad_phi": r"\Vert\nabla\Phi(\hat\alpha,v^r)\Vert",
    "grad_sum": r"\Vert\sum_j\hat\alpha(j)\nabla f_j(v^r)\Vert",
}
_BOUND_11A = r"%s\eta^2N^2K^2e_R^2%s^2+128\eta^2N^3K^2e_R^2G^2\log(%s),\;e_R=\frac{e}{4R-e}"
_BOUND_11B = r"3e\eta NK(%s+G\sqrt{8N\log(%s)})"
UNION = "log(2N/p): Lemma 9's constant, for all partial sums of the epoch together."
SMALLER = "The second repair is smaller for every p: the weights sum to 1."


def _lemma_11a(factor: int, gradient: str, chance: str) -> dict[str, str]:
    return {
        "e_R": E_R,
        "gradient_term": f"{factor}*eta**2*N**2*K**2*e_R**2*{gradient}**2",
        "deviation_term": f"128*eta**2*N**3*K**2*e_R**2*G**2*log({chance})",
    }


_GEOMETRIC = (
    Step(
        "(12), three steps",
        r"(1+\frac{x}{3})^3-1",
        "<=",
        r"\frac{x}{1-x}",
        "inequality",
        "K = 3, x = eta N K L < 1 written as 1/(1+r); in the same way (1+x/K)^K - 1 <= x/(1-x) for every K",
        identity=("(1+1/(3*(1+r)))**3 - 1", "1/r"),
    ),
    Step(
        "(12)",
        r"\frac{1}{4R-1}",
        "<=",
        r"\frac{e}{4R-e}",
        "inequality",
        "x = 1/(4R), e = 1 + u, 4R = 1 + u + v",
        identity=("1/(u+v)", "(1+u)/v"),
        uses=("(12), three steps",),
    ),
)
_CONSTANTS = (
    Step(
        "constant of the gradient",
        r"2T_1+2T_2",
        "=",
        r"10\eta^2N^2K^2e_R^2\Vert\nabla\Phi\Vert^2+\dots",
        "summation",
        "T1 gives 1, T2 gives 2*2^2 = 8: 2 (1 + 8) = 18, not 10",
        identity=("2*1 + 2*2*2**2", "10"),
    ),
    Step(
        "constant of the deviation",
        r"2\cdot2\cdot2^2\cdot8",
        "=",
        "128",
        "summation",
        identity=("2*2*2**2*8", "128"),
    ),
)
LEMMA_11A = result(
    "lemma-11a",
    "lemma",
    "an epoch is nearly a gradient step",
    "Lemma 11 (a)",
    "eta <= 1/(4NKRL), e_R = e/(4R-e): with probability at least 1-p, ||sum_j Q_j grad f_s(j) - eta N K sum_j a_s(j) "
    "grad f_s(j)||^2 <= 10 eta^2 N^2 K^2 e_R^2 ||grad Phi||^2 + 128 eta^2 N^3 K^2 e_R^2 G^2 log(1/p); Phi as in (3).",
    EPOCH_BIAS_SUM.latex + r"\leq " + _BOUND_11A % ("10", NORM["grad_phi"], "1/p"),
    EPOCH_BIAS_SUM,
    "Lemma 11 (a), appendix B.3",
    parameters=(eta, N, K, R, G, p, grad_phi),
    hypotheses=(*A1[:2], A4, UNLISTED_EPOCH_STEP),
    definitions=_lemma_11a(10, "grad_phi", "1/p"),
    relation="<=",
    right="gradient_term + deviation_term",
    steps=(*_GEOMETRIC, *_CONSTANTS),
    remarks=(
        "Printed with eta N K sum_j a(j) grad f_s(j), which pairs the weight of client j with the gradient of client "
        "s(j); its proof has a(j) grad f_j, and that is read here.",
        "False for p near 1, where log(1/p) tends to 0; true for log(1/p) >= 1/(128 N), by lemma-11a/corrected-2.",
        "The proof divides by a_s(j), which is 0 for the sparse weights of (2); has Q_{N-1} for Q_N; and uses Lemma "
        "10, for one n, for all n < N and all epochs at once.",
        "The constant is 18 by the printed route. (12) is true, by Proposition 2 with the right number of factors.",
    ),
)
LEMMA_11A_UNNORMALISED = result(
    "lemma-11a/unnormalised",
    "lemma",
    "an epoch is nearly a gradient step",
    "Lemma 11 (a), read with Phi = sum a_j f_j",
    "The same with ||sum_j a_j grad f_j(v^r)|| in the place of ||grad Phi|| on the right.",
    EPOCH_BIAS_SUM.latex + r"\leq " + _BOUND_11A % ("10", NORM["grad_sum"], "1/p"),
    EPOCH_BIAS_SUM,
    "Lemma 11 (a), as its proof reads (3)",
    parameters=(eta, N, K, R, G, p, grad_sum),
    hypotheses=(*A1[:2], A4, UNLISTED_EPOCH_STEP),
    definitions=_lemma_11a(10, "grad_sum", "1/p"),
    relation="<=",
    right="gradient_term + deviation_term",
    remarks=("True for log(1/p) >= 1/(128 N), by lemma-11a/corrected-2; for p nearer to 1 it may fail.",),
)
LEMMA_11A_CORRECTED = result(
    "lemma-11a/corrected",
    "lemma",
    "an epoch is nearly a gradient step",
    "Lemma 11 (a), corrected",
    "eta <= 1/(4NKRL): with probability at least 1-p, ||sum_j Q_j grad f_s(j) - eta N K sum_j a_j grad f_j||^2 <= 18 "
    "eta^2 N^2 K^2 e_R^2 ||sum_j a_j grad f_j||^2 + 128 eta^2 N^3 K^2 e_R^2 G^2 log(2N/p).",
    EPOCH_BIAS_SUM.latex + r"\leq " + _BOUND_11A % ("18", NORM["grad_sum"], "2N/p"),
    EPOCH_BIAS_SUM,
    "repair of Lemma 11 (a), Phi = sum a_j f_j",
    parameters=(eta, N, K, R, L, G, p, grad_sum),
    hypotheses=(*A1[:2], A4, EPOCH_STEP),
    definitions=_lemma_11a(18, "grad_sum", "2*N/p"),
    relation="<=",
    right="gradient_term + deviation_term",
    steps=(
        *_GEOMETRIC,
        replace(
            _CONSTANTS[0], right=r"18\eta^2N^2K^2e_R^2\Vert\nabla\Phi\Vert^2+\dots", note="", identity=("2+2*8", "18")
        ),
        _CONSTANTS[1],
    ),
    amends="lemma-11a",
    derivation=(
        "The printed route with Q_j/a_j replaced by eta N sum_tau prod_t' (I - eta a_s(j) N H_t'), which needs no "
        "division, Q_N, lemma-10/corrected for all n < N together (log(2N/p)), and 2 (1 + 2*2^2) = 18. Also by "
        "lemma-11a/corrected-2, as 128 N log(2N/p) >= 1."
    ),
    remarks=(UNION, SMALLER),
)
LEMMA_11A_CORRECTED_2 = result(
    "lemma-11a/corrected-2",
    "lemma",
    "an epoch is nearly a gradient step, without probability",
    "Lemma 11 (a), corrected",
    "eta <= 1/(4NKRL): for every permutation, ||sum_j Q_j grad f_s(j) - eta N K sum_j a_j grad f_j||^2 <= eta^2 N^2 "
    "K^2 e_R^2 G^2.",
    EPOCH_BIAS_SUM.latex + r"\leq\eta^2N^2K^2e_R^2G^2,\;e_R=\frac{e}{4R-e}",
    EPOCH_BIAS_SUM,
    "repair of Lemma 11 (a), Phi = sum a_j f_j",
    parameters=(eta, N, K, R, L, G),
    hypotheses=(*A1[:2], A4, EPOCH_STEP),
    definitions={"e_R": E_R},
    relation="<=",
    right="eta**2*N**2*K**2*e_R**2*G**2",
    steps=(
        *_GEOMETRIC,
        Step(
            "sum over the clients",
            r"\sum_j\eta NKe_R\hat\alpha(j)G",
            "=",
            r"\eta NKe_RG",
            "identity",
            "||Q_j - eta N K a_j I|| <= eta N K a_j e_R, and the weights sum to 1 (two clients)",
            identity=("s*e_R*a1*G + s*e_R*(1-a1)*G", "s*e_R*G"),
            uses=("(12)",),
        ),
    ),
    amends="lemma-11a",
    derivation=(
        "||Q_j - eta N K a_j I|| <= eta a_j N sum_tau ((1+eta N L)^{K-1-tau} - 1) <= eta N K a_j ((1+eta N L)^K - 1) "
        "<= eta N K a_j/(4R-1) <= eta N K a_j e_R (proposition-2/corrected), so the difference is at most sum_j eta "
        "N K a_j e_R G = eta N K e_R G. Summation by parts and concentration are not needed."
    ),
)

LEMMA_11B = result(
    "lemma-11b",
    "lemma",
    "part of an epoch",
    "Lemma 11 (b)",
    "With probability at least 1-p, for any N' < N: ||sum_{j=1}^{N'-1} Q_j grad f_s(j)|| <= 3e eta N K (||grad Phi|| "
    "+ G sqrt(8 N log(1/p))); Phi as in (3).",
    EPOCH_PART.latex + r"\leq " + _BOUND_11B % (NORM["grad_phi"], "1/p"),
    EPOCH_PART,
    "Lemma 11 (b), appendix B.3",
    parameters=(eta, N, K, G, p, grad_phi),
    hypotheses=(*A1[:2], A4),
    standing=(EPOCH_STEP_OF_11,),
    definitions={"deviation": "G*sqrt(8*N*log(1/p))"},
    relation="<=",
    right="3*exp(1)*eta*N*K*(grad_phi + deviation)",
    remarks=(
        "Stated for N'-1 terms and proved for N'.",
        "False for p near 1: parts of a sum that vanishes need not vanish.",
    ),
)
LEMMA_11B_UNNORMALISED = replace(
    LEMMA_11B,
    id=identifier("lemma-11b/unnormalised"),
    equation="Lemma 11 (b), read with Phi = sum a_j f_j",
    statement=LEMMA_11B.statement.replace("||grad Phi||", "||sum_j a_j grad f_j||").replace("; Phi as in (3)", ""),
    latex=EPOCH_PART.latex + r"\leq " + _BOUND_11B % (NORM["grad_sum"], "1/p"),
    source="Lemma 11 (b), as its proof reads (3)",
    parameters=(eta, N, K, G, p, grad_sum),
    right="3*exp(1)*eta*N*K*(grad_sum + deviation)",
    remarks=("True for log(1/p) >= 1/8, by lemma-11b/corrected-2.",),
)
LEMMA_11B_CORRECTED = result(
    "lemma-11b/corrected",
    "lemma",
    "part of an epoch",
    "Lemma 11 (b), corrected",
    "eta N K L <= 1/4: with probability at least 1-p, for every N' <= N: ||sum_{j<=N'} Q_j grad f_s(j)|| <= 3e eta N K "
    "(||sum_j a_j grad f_j|| + G sqrt(8 N log(2N/p))).",
    EPOCH_PART.latex + r"\leq " + _BOUND_11B % (NORM["grad_sum"], "2N/p"),
    EPOCH_PART,
    "repair of Lemma 11 (b), Phi = sum a_j f_j",
    parameters=(eta, N, K, L, G, p, grad_sum),
    hypotheses=(*A1[:2], A4, SHORT_EPOCH),
    definitions={"deviation": "G*sqrt(8*N*log(2*N/p))"},
    relation="<=",
    right="3*exp(1)*eta*N*K*(grad_sum + deviation)",
    amends="lemma-11b",
    derivation="By lemma-11b/corrected-2, as 3 sqrt(8 N log(2N/p)) >= 1.",
    remarks=(UNION, SMALLER),
)
LEMMA_11B_CORRECTED_2 = result(
    "lemma-11b/corrected-2",
    "lemma",
    "part of an epoch, without probability",
    "Lemma 11 (b), corrected",
    "eta N K L <= 1: for every permutation and every N' <= N, ||sum_{j<=N'} Q_j grad f_s(j)|| <= e eta N K G.",
    EPOCH_PART.latex + r"\leq e\eta NKG",
    EPOCH_PART,
    "repair of Lemma 11 (b)",
    parameters=(eta, N, K, L, G),
    hypotheses=(*A1[:2], A4, Hypothesis("short epochs", "eta N K L <= 1", relation="eta*N*K*L <= 1")),
    relation="<=",
    right="exp(1)*eta*N*K*G",
    amends="lemma-11b",
    derivation=(
        "||Q_j|| <= eta a_j N K (1+eta N L)^K <= e eta a_j N K (Proposition 3), ||grad f_j|| <= G, and the weights "
        "sum to 1."
    ),
)
CLAIMS: tuple[Claim, ...] = (
    LEMMA_11A,
    LEMMA_11A_UNNORMALISED,
    LEMMA_11A_CORRECTED,
    LEMMA_11A_CORRECTED_2,
    LEMMA_11B,
    LEMMA_11B_UNNORMALISED,
    LEMMA_11B_CORRECTED,
    LEMMA_11B_CORRECTED_2,
)
