"""Equations (9) to (14), the lines of Lemma V.1's proof as claims, and their repairs."""

from __future__ import annotations

from dataclasses import replace

from theory.claim import Claim, Parameter, Quantity, Recursion, Step
from theory.domain import OPEN_UNIT
from theory.papers.fedavg_svrg.lemma_v1 import PROOF_OF_LEMMA
from theory.papers.fedavg_svrg.lines import substituted
from theory.papers.fedavg_svrg.words import (
    A1,
    A2,
    A4,
    ALPHA,
    BASE,
    CONVEX_SAMPLES,
    DRIFT,
    ESTIMATOR_SECOND_MOMENT,
    LEMMA,
    LHS,
    LOCAL_SUBOPTIMALITY,
    MEAN_LOCAL_SUBOPTIMALITY,
    MEAN_SQUARED_GRADIENT_NORM,
    SAMPLES,
    SMOOTH_OVER_CONVEX,
    SMOOTH_SAMPLES,
    SVRG_CONTRACTION,
    SVRG_STEP,
    SVRG_STEP_OF_ALPHA,
    D,
    K,
    L,
    M,
    N,
    delta,
    f0_gap,
    identifier,
    k_index,
    local_gap,
    m_index,
    mu,
    snapshot_gap,
    start_gap,
    sum_inv_p,
)


def _with_samples(claim: Claim) -> Claim:
    """The claim with what Theorem 1 of Johnson and Zhang, which its proof cites, needs of the samples."""
    return replace(
        claim,
        id=f"{claim.id}/with-samples",
        title=f"{claim.title}, samples convex and smooth",
        hypotheses=(*claim.hypotheses, SMOOTH_SAMPLES, CONVEX_SAMPLES),
        remarks=(
            "Assumptions 1 and 4 are about f_n; the theorem that the proof cites is about every f_{n,i}. With its "
            "hypotheses the line is false all the same.",
        ),
    )


EQ9 = Claim(
    id=identifier("lemma-v1-eq9"),
    kind="equation",
    title="substituted gradient bounded by suboptimality",
    equation="(9)",
    statement="S=1: E||v_{n,m}^k||^2 <= 4L [E f_n(w_{n,m}^k) - f_n* + E f_n(w~) - f_n*].",
    latex=ESTIMATOR_SECOND_MOMENT.latex
    + r"\leq 4L[\mathbb{E}f_n(w_{n,m}^k)-f_n(w_n^*)+\mathbb{E}f_n(\tilde w)-f_n(w_n^*)]",
    quantity=ESTIMATOR_SECOND_MOMENT,
    source="proof of Lemma V.1, the lines before (9) and (9)",
    parameters=(L, local_gap, snapshot_gap),
    hypotheses=(A1, A2, A4),
    relation="<=",
    right="4*L*(local_gap + snapshot_gap)",
    remarks=(
        "Assumption 1 bounds the curvature of f_n, an average; the cited theorem needs that of every f_{n,i}, and "
        "their convexity.",
        "In (9) itself m' runs to m-1, but the random iterate is drawn from 0..m-2.",
    ),
)

EQ9_CORRECTED = Claim(
    id=identifier("lemma-v1-eq9/corrected"),
    kind="equation",
    title="(9) under the hypotheses of the theorem that it cites",
    equation="(9), corrected",
    statement=(
        "S=1, every f_{n,i} convex and L-smooth: E||v_{n,m}^k||^2 <= 4L [E f_n(w_{n,m}^k) - f_n* + E f_n(w~) - f_n*]."
    ),
    latex=EQ9.latex,
    quantity=ESTIMATOR_SECOND_MOMENT,
    source="Johnson and Zhang (2013), proof of Theorem 1",
    parameters=(L, local_gap, snapshot_gap),
    hypotheses=(A2, A4, *SAMPLES),
    relation="<=",
    right="4*L*(local_gap + snapshot_gap)",
    amends=identifier("lemma-v1-eq9"),
    derivation=(
        "For convex L-smooth f_i: ||grad f_i(w) - grad f_i(w*)||^2 <= 2L (f_i(w) - f_i(w*) - <grad f_i(w*), w-w*>), "
        "averaged over i. Then E||v||^2 <= 2E||grad f_#(w)-grad f_#(w*)||^2 + 2E||X-EX||^2 with E||X-EX||^2 <= "
        "E||X||^2."
    ),
    steps=(
        PROOF_OF_LEMMA[0],
        Step(
            "second",
            r"2\mathbb{E}\Vert\nabla f_\#(w)-\nabla f_\#(w_n^*)\Vert^2+2\mathbb{E}\Vert X-\mathbb{E}X\Vert^2",
            "<=",
            PROOF_OF_LEMMA[2].right,
            "inequality",
            "X = grad f_#(w~) - grad f_#(w_n*); E||X - EX||^2 <= E||X||^2",
            vectors=substituted(1, "<=", 3),
            chain=substituted(0, "<=", 3),
            uses=(PROOF_OF_LEMMA[0].label,),
        ),
        Step(
            "third",
            PROOF_OF_LEMMA[3].left,
            "<=",
            PROOF_OF_LEMMA[3].right,
            "cited",
            "Johnson and Zhang (2013), (8), for w and for the snapshot",
            vectors=substituted(3, "<=", 4, given="samples"),
            chain=substituted(0, "<=", 4, given="samples"),
            uses=("second",),
            needs=(SMOOTH_SAMPLES, CONVEX_SAMPLES),
        ),
    ),
)

EQ10 = Claim(
    id=identifier("lemma-v1-eq10"),
    kind="equation",
    title="geometric decay of the local suboptimality over the rounds",
    equation="(10)",
    statement="S=1: E f_n(w_{n,m}^k) - f_n* <= alpha^k (E f_n(theta^k) - f_n*) <= alpha^k D.",
    latex=LOCAL_SUBOPTIMALITY.latex + r"\leq\alpha^k\,\mathbb{E}[f_n(\tilde w_n^k)-f_n(w_n^*)]",
    quantity=LOCAL_SUBOPTIMALITY,
    source="proof of Lemma V.1, (10) and (11)",
    parameters=(mu, L, delta, M, k_index, start_gap),
    hypotheses=(*LEMMA, SVRG_CONTRACTION),
    standing=(SVRG_STEP_OF_ALPHA,),
    definitions={"alpha": ALPHA},
    relation="<=",
    right="alpha**k*start_gap",
    remarks=("At m=0 the left side is E f_n(theta^k) - f_n* itself, so for k >= 1 the line says that it is 0.",),
)

EQ10_CORRECTED = Claim(
    id=identifier("lemma-v1-eq10/corrected"),
    kind="equation",
    title="one contraction a snapshot, for the average inner iterate",
    equation="(10), corrected",
    statement="S=1: (1/M) sum_m E f_n(w_{n,m}^k) - f_n* <= alpha (E f_n(theta^k) - f_n*), for every round k.",
    latex=MEAN_LOCAL_SUBOPTIMALITY.latex + r"\leq\alpha\,\mathbb{E}[f_n(\theta^k)-f_n(w_n^*)]",
    quantity=MEAN_LOCAL_SUBOPTIMALITY,
    source="Johnson and Zhang (2013), Theorem 1",
    parameters=(mu, L, delta, M, start_gap),
    hypotheses=(A2, A4, SMOOTH_OVER_CONVEX, SVRG_STEP, *SAMPLES),
    definitions={"alpha": ALPHA},
    relation="<=",
    right="alpha*start_gap",
    amends=identifier("lemma-v1-eq10"),
    derivation=(
        "Johnson and Zhang's Theorem 1 for client n within one round: its inner iterates start at the snapshot "
        "theta^k, and it bounds the iterate drawn at random from w_0..w_{M-1}, whose expectation is the average."
    ),
)

EQ12 = Claim(
    id=identifier("lemma-v1-eq12"),
    kind="equation",
    title="geometric decay of the drift over the rounds",
    equation="(12)",
    statement="S=1: sum_{m'<m} E||v_{n,m'}^k||^2 <= 8 L m alpha^k D.",
    latex=DRIFT.latex + r"\leq 8Lm\alpha^kD",
    quantity=DRIFT,
    source="proof of Lemma V.1, (12)",
    parameters=(mu, L, delta, M, m_index, k_index, D),
    hypotheses=(*LEMMA, SVRG_CONTRACTION),
    standing=(SVRG_STEP_OF_ALPHA,),
    definitions={"alpha": ALPHA},
    relation="<=",
    right="8*L*m*alpha**k*D",
)

EQ12_CORRECTED = Claim(
    id=identifier("lemma-v1-eq12/corrected"),
    kind="equation",
    title="the drift of a round, in terms of where the round starts",
    equation="(12), corrected",
    statement=(
        "S=1: sum_{m'<m} E||v_{n,m'}^k||^2 <= 4 L (m + 1/(mu delta (1-2L delta)) + 2 L delta m/(1-2L delta)) D."
    ),
    latex=DRIFT.latex + r"\leq 4L(m+\frac{1}{\mu\delta(1-2L\delta)}+\frac{2L\delta m}{1-2L\delta})D",
    quantity=DRIFT,
    source="repair of (12)",
    parameters=(mu, L, delta, m_index, D),
    hypotheses=(A2, A4, SMOOTH_OVER_CONVEX, SVRG_STEP, *SAMPLES),
    definitions={
        "distance_term": "1/(mu*delta*(1-2*L*delta))",
        "variance_term": "2*L*delta*m/(1-2*L*delta)",
    },
    relation="<=",
    right="4*L*(m + distance_term + variance_term)*D",
    amends=identifier("lemma-v1-eq12"),
    derivation=(
        "Sum lemma-v1-eq9/corrected over m' < m; the snapshot's part is m D, and Johnson and Zhang's recursion summed "
        "over the first m steps bounds the iterates' part by (1/(mu delta (1-2L delta)) + 2L delta m/(1-2L delta)) D."
    ),
)

EQ13 = Claim(
    id=identifier("lemma-v1-eq13"),
    kind="equation",
    title="geometric sum",
    equation="(13)",
    statement="sum_{k<K} alpha^k = (1 - alpha^K)/(1 - alpha) for alpha < 1.",
    latex=r"\sum_{k=0}^{K-1}\alpha^k=\frac{1-\alpha^K}{1-\alpha}",
    quantity=Quantity(
        "geometric_sum",
        "sum over k<K of alpha^k",
        r"\sum_{k=0}^{K-1}\alpha^k",
        recursion=Recursion("K", 0, "0", "geometric_sum + alpha**K"),
    ),
    source="proof of Lemma V.1, (13)",
    parameters=(Parameter("alpha", OPEN_UNIT, "contraction factor"), K),
    right="(1-alpha**K)/(1-alpha)",
    relation="=",
)

EQ14 = Claim(
    id=identifier("lemma-v1-eq14"),
    kind="equation",
    title="average squared gradient norm of order 1/K",
    equation="(14)",
    statement=(
        "S=1, p_n constant in k: (1/K) sum_k E||grad f(theta^k)||^2 <= 2 f0_gap/(delta K M) + 8 D delta^2 L^3 (M-1)^2 "
        "(1-alpha^K)/(K(1-alpha)) + (8 D delta L^2 (M-1)/(K N)) sum_k alpha^k sum_n 1/p_n, with alpha < 1 the SVRG "
        "contraction factor of Johnson and Zhang (2013)."
    ),
    latex=LHS + r"\leq " + PROOF_OF_LEMMA[-1].right,
    quantity=MEAN_SQUARED_GRADIENT_NORM,
    source="proof of Lemma V.1, (14)",
    parameters=(mu, L, delta, M, K, D, f0_gap, sum_inv_p, N),
    hypotheses=(*LEMMA, SVRG_CONTRACTION),
    standing=(SVRG_STEP_OF_ALPHA,),
    definitions={
        "alpha": ALPHA,
        "optimisation_term": "2*f0_gap/(delta*K*M)",
        "drift_term": "8*D*delta**2*L**3*(M-1)**2*(1-alpha**K)/(K*(1-alpha))",
        "noise_term": "8*D*delta*L**2*(M-1)/(K*N)*(1-alpha**K)/(1-alpha)*sum_inv_p",
    },
    relation="<=",
    right="optimisation_term + drift_term + noise_term",
    remarks=(
        "From (12) the drift term would be half of the printed one, and the noise term would have M in place of M-1.",
    ),
)

EQ14_CORRECTED = Claim(
    id=identifier("lemma-v1-eq14/corrected"),
    kind="equation",
    title="decay of order 1/K down to a floor",
    equation="(14), corrected",
    statement=(
        "S=1, p_n constant in k, every f_{n,i} convex and L-smooth: (1/K) sum_k E||grad f(theta^k)||^2 <= "
        "2 f0_gap/(delta K M) + 2 D delta^2 L^3 (M-1)^2 (1+2 alpha) + 4 D delta L^2 M (1+alpha) (1/N) sum_n 1/p_n."
    ),
    latex=LHS
    + r"\leq\frac{2}{\delta KM}(f(\theta^0)-f^*)+2D\delta^2L^3(M-1)^2(1+2\alpha)+4D\delta L^2M(1+\alpha)\frac{1}{N}"
    r"\sum_n\frac{1}{p_n}",
    quantity=MEAN_SQUARED_GRADIENT_NORM,
    source="repair of (14)",
    parameters=(mu, L, delta, M, K, D, f0_gap, sum_inv_p, N),
    hypotheses=(*BASE, A4, SMOOTH_OVER_CONVEX, SVRG_STEP, *SAMPLES),
    definitions={
        "alpha": ALPHA,
        "optimisation_term": "2*f0_gap/(delta*K*M)",
        "drift_floor": "2*D*delta**2*L**3*(M-1)**2*(1+2*alpha)",
        "noise_floor": "4*D*delta*L**2*M*(1+alpha)*sum_inv_p/N",
    },
    relation="<=",
    right="optimisation_term + drift_floor + noise_floor",
    amends=identifier("lemma-v1-eq14"),
    derivation=(
        "(7) is true for S=1 (there is only one snapshot). Put lemma-v1-eq12/corrected into it. With beta = "
        "1/(mu delta (1-2L delta)) and gamma = 2L delta/(1-2L delta), alpha = beta/M + gamma: the noise sum is at most "
        "4 L M (1+alpha) D a client and round, and the drift term 4 D delta^2 L^3 (M-1)^2 ((1+gamma)/2 + beta/M), "
        "where (1+gamma)/2 + beta/M <= 1/2 + alpha. It does not go to 0 with K, and by lemma-v1's certificate it "
        "cannot."
    ),
)

CLAIMS: tuple[Claim, ...] = (
    EQ9,
    EQ9_CORRECTED,
    EQ10,
    _with_samples(EQ10),
    EQ10_CORRECTED,
    EQ12,
    _with_samples(EQ12),
    EQ12_CORRECTED,
    EQ13,
    EQ14,
    _with_samples(EQ14),
    EQ14_CORRECTED,
)
