"""Equations (A.19) to (A.25), the lines of the proof of Theorem V.1 as claims, and their repairs."""

from __future__ import annotations

from theory.claim import Claim, Parameter
from theory.papers.fedavg_svrg.theorem_v1_proof import NOISE_7, PROOF_OF_THEOREM
from theory.papers.fedavg_svrg.words import (
    BASE,
    EXPECTED_NEXT_COST,
    LHS,
    MEAN_SQUARED_GRADIENT_NORM,
    SERVER_UPDATE,
    V2,
    V2_PRIME,
    K,
    L,
    M,
    N,
    S,
    aggregate_second_moment,
    cost,
    delta,
    drift_sum,
    f0_gap,
    f_drop,
    full_drift_round,
    identifier,
    inner_product_sum,
    lexicographic_drift_sum,
    squared_gradient_norm,
    weighted_drift_round,
    weighted_round,
    weighted_sum,
)


def _round_claim(
    label: str,
    equation: str,
    title: str,
    parameters: tuple[Parameter, ...],
    right: str,
    latex: str,
    statement: str,
    remarks: tuple[str, ...] = (),
) -> Claim:
    """A displayed line that bounds E f(theta^{k+1})."""
    return Claim(
        id=identifier(label),
        kind="equation",
        title=title,
        equation=equation,
        statement=statement,
        latex=EXPECTED_NEXT_COST.latex + r"\leq " + latex,
        quantity=EXPECTED_NEXT_COST,
        source=f"proof of Theorem V.1, {equation}",
        parameters=parameters,
        hypotheses=BASE,
        relation="<=",
        right=right,
        remarks=remarks,
    )


A19 = Claim(
    id=identifier("eq-a19"),
    kind="equation",
    title="the server's update as a sum of substituted gradients",
    equation="(A.19)",
    statement="theta^{k+1} - theta^k = -(delta/N) sum_n (1_n^k/p_n^k) sum_{s,m} v_{n,s,m}^k.",
    latex=r"\theta^{k+1}-\theta^k=-\frac{\delta}{N}\sum_n\frac{1_n^k}{p_n^k}\sum_{s,m}v_{n,s,m}^k",
    quantity=SERVER_UPDATE,
    source="proof of Theorem V.1, (A.19)",
    relation="=",
)
A20 = _round_claim(
    "eq-a20",
    "(A.20)",
    "descent, expectation taken",
    (delta, L, N, cost, inner_product_sum, aggregate_second_moment),
    "cost - delta*inner_product_sum + delta**2*L/(2*N**2)*aggregate_second_moment",
    PROOF_OF_THEOREM[2].right,
    "E f(theta^{k+1}) <= E f(theta^k) - delta sum_{s,m} E<grad f(theta^k), (1/N) sum_n grad f_n(w_{n,s,m}^k)> + "
    "(delta^2 L/(2N^2)) E||sum_n (1_n^k/p_n^k) sum_{s,m} v_{n,s,m}^k||^2 (printed given theta^k).",
)
A21 = _round_claim(
    "eq-a21",
    "(A.21)",
    "descent, with the aggregate bounded",
    (delta, L, N, S, M, cost, inner_product_sum, weighted_round),
    "cost - delta*inner_product_sum + L*S*M*delta**2/(2*N)*weighted_round",
    PROOF_OF_THEOREM[4].right,
    "E[f(theta^{k+1})|theta^k] <= f(theta^k) - delta sum_{s,m} E[<grad f(theta^k), (1/N) sum_n grad f_n(w_{n,s,m}^k)>"
    "|theta^k] + (L S M delta^2/(2N)) sum_n (1/p_n^k) sum_{s,m} E[||v_{n,s,m}^k||^2|theta^k].",
    ("It uses what the proof of Lemma A.1 shows; from the lemma as stated it would not follow.",),
)
A22 = _round_claim(
    "eq-a22",
    "(A.22)",
    "descent, in total expectation",
    (delta, L, N, S, M, cost, inner_product_sum, weighted_round),
    "cost - delta*inner_product_sum + L*S*M*delta**2/(2*N)*weighted_round",
    PROOF_OF_THEOREM[5].right,
    "E f(theta^{k+1}) <= E f(theta^k) - delta sum_{s,m} E<grad f(theta^k), (1/N) sum_n grad f_n(w_{n,s,m}^k)> + "
    "(L S M delta^2/(2N)) sum_n (1/p_n^k) sum_{s,m} E||v_{n,s,m}^k||^2.",
)
A23 = _round_claim(
    "eq-a23",
    "(A.23)",
    "descent, with Lemma A.2",
    (delta, L, N, S, M, cost, squared_gradient_norm, full_drift_round, weighted_round),
    "cost + delta**3*L**2*(M-1)/(2*N)*full_drift_round - delta*S*M/2*squared_gradient_norm"
    " + L*S*M*delta**2/(2*N)*weighted_round",
    PROOF_OF_THEOREM[7].right,
    "E f(theta^{k+1}) <= E f(theta^k) + (delta^3 L^2 (M-1)/(2N)) sum_{n,s,m} sum_{m'=0}^{M-1} E||v_{n,s,m'}^k||^2 - "
    "(delta S M/2) E||grad f(theta^k)||^2 + (L S M delta^2/(2N)) sum_n (1/p_n^k) sum_{s,m} E||v_{n,s,m}^k||^2.",
    ("The inner sum is printed up to M-1; Lemma A.2 gives m-1, which is stronger.",),
)
A23_CORRECTED = Claim(
    id=identifier("eq-a23/corrected"),
    kind="equation",
    title="descent, with the corrected Lemma A.2",
    equation="(A.23), corrected",
    statement=(
        "E f(theta^{k+1}) <= E f(theta^k) + (delta^3 L^2/(2N)) sum_{n,s,m} (sM+m) sum over (s',m')<(s,m) of "
        "E||v_{n,s',m'}^k||^2 - (delta S M/2) E||grad f(theta^k)||^2 + (L S M delta^2/(2N)) sum_n (1/p_n^k) sum_{s,m} "
        "E||v_{n,s,m}^k||^2."
    ),
    latex=EXPECTED_NEXT_COST.latex
    + r"\leq\mathbb{E}f(\theta^k)+\frac{\delta^3L^2}{2N}\sum_{n,s,m}(sM+m)\sum_{(s',m')<(s,m)}"
    r"\mathbb{E}\Vert v_{n,s',m'}^k\Vert^2-\frac{\delta SM}{2}\mathbb{E}\Vert\nabla f(\theta^k)\Vert^2"
    r"+\frac{LSM\delta^2}{2N}\sum_n\frac{1}{p_n^k}\sum_{s,m}" + V2,
    quantity=EXPECTED_NEXT_COST,
    source="repair of (A.23)",
    parameters=(delta, L, N, S, M, cost, squared_gradient_norm, weighted_drift_round, weighted_round),
    hypotheses=BASE,
    relation="<=",
    right="cost + delta**3*L**2/(2*N)*weighted_drift_round - delta*S*M/2*squared_gradient_norm"
    " + L*S*M*delta**2/(2*N)*weighted_round",
    amends=identifier("eq-a23"),
    derivation="Put lemma-a2/corrected, summed over s and m, into (A.22).",
)

A24_RIGHT = "optimisation_term + delta**2*L**2*(M-1)/(K*S*M*N)*(drift_sum + noise_term)"
BRACKET = (
    "As printed, the bracket opened before the drift sum closes after the noise term, so the factor (M-1) multiplies "
    "both, and for M=1 both vanish.",
)


def _bracket_claim(label: str, equation: str, gap: Parameter, gap_latex: str, remarks: tuple[str, ...]) -> Claim:
    """(A.24) and (A.25), with the bracket where it is printed."""
    return Claim(
        id=identifier(label),
        kind="equation",
        title="the sum over the rounds, with the bracket as printed",
        equation=equation,
        statement=(
            f"(1/K) sum_k E||grad f(theta^k)||^2 <= 2 {gap.name}/(delta K S M) + delta^2 L^2 (M-1)/(K S M N) "
            "[drift_sum + delta L/(K N) weighted_sum]."
        ),
        latex=LHS
        + r"\leq\frac{2}{\delta KSM}"
        + gap_latex
        + r"+\frac{\delta^2L^2(M-1)}{KSMN}[\sum_{k,n,s,m}\sum_{m'=0}^{m-1}"
        + V2_PRIME
        + "+"
        + NOISE_7
        + "]",
        quantity=MEAN_SQUARED_GRADIENT_NORM,
        source=f"proof of Theorem V.1, {equation}",
        parameters=(delta, L, K, S, M, N, gap, drift_sum, weighted_sum),
        hypotheses=BASE,
        definitions={
            "optimisation_term": f"2*{gap.name}/(delta*K*S*M)",
            "noise_term": "delta*L/(K*N)*weighted_sum",
        },
        relation="<=",
        right=A24_RIGHT,
        remarks=remarks,
    )


A24 = _bracket_claim(
    "eq-a24",
    "(A.24)",
    f_drop,
    r"(\mathbb{E}f(\theta^0)-\mathbb{E}f(\theta^k))",
    (*BRACKET, "theta^k outside the sum over k is read as theta^K, which is what the summation gives."),
)
A25 = _bracket_claim("eq-a25", "(A.25)", f0_gap, r"(f(\theta^0)-f^*)", BRACKET)
A24_CORRECTED = Claim(
    id=identifier("eq-a24/corrected"),
    kind="equation",
    title="the sum over the rounds, with the bracket and the drift mended",
    equation="(A.24), corrected",
    statement=(
        "(1/K) sum_k E||grad f(theta^k)||^2 <= 2 f_drop/(delta K S M) + delta^2 L^2/(K S M N) "
        "lexicographic_drift_sum + "
        "delta L/(K N) weighted_sum, f_drop = E f(theta^0) - E f(theta^K)."
    ),
    latex=LHS
    + r"\leq\frac{2}{\delta KSM}(\mathbb{E}f(\theta^0)-\mathbb{E}f(\theta^K))"
    + r"+\frac{\delta^2L^2}{KSMN}\sum_{k,n,s,m}(sM+m)\sum_{(s',m')<(s,m)}\mathbb{E}\Vert v_{n,s',m'}^k\Vert^2+"
    + NOISE_7,
    quantity=MEAN_SQUARED_GRADIENT_NORM,
    source="repair of (A.24)",
    parameters=(delta, L, K, S, M, N, f_drop, lexicographic_drift_sum, weighted_sum),
    hypotheses=BASE,
    definitions={
        "optimisation_term": "2*f_drop/(delta*K*S*M)",
        "drift_term": "delta**2*L**2/(K*S*M*N)*lexicographic_drift_sum",
        "noise_term": "delta*L/(K*N)*weighted_sum",
    },
    relation="<=",
    right="optimisation_term + drift_term + noise_term",
    amends=identifier("eq-a24"),
    derivation="eq-a23/corrected summed over k and multiplied by 2/(delta K S M). With f(theta^K) >= f* it gives "
    "theorem-v1-eq7/corrected, which is also the repair of (A.25).",
)

CLAIMS: tuple[Claim, ...] = (
    A19,
    A20,
    A21,
    A22,
    A23,
    A23_CORRECTED,
    A24,
    A24_CORRECTED,
    A25,
)
