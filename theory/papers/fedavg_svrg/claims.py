"""Rostami, Kia: Federated Learning Using Variance Reduced Stochastic Gradient for Probabilistically Activated Agents.

Every numbered result as printed, in the paper's order, and repairs as claims of their own.

Notation: theta^k is the server's model at round k; w_{n,s,m}^k client n's inner iterate in snapshot s, step m;
v_{n,s,m}^k its variance-reduced gradient; f = (1/N) sum_n f_n. E||v_{n,s,m}^k||^2 is over everything random and
concerns every client, also one that does not take part in the round (the proof sums over all n).
"""

from __future__ import annotations

from theory.assumptions import (
    BoundedEstimatorSecondMoment,
    Convex,
    IndependentParticipation,
    Smooth,
    StronglyConvex,
    UnbiasedSampling,
)
from theory.claim import Claim, Hypothesis, Inference, OrderLine, Paper, Parameter, Quantity, Step, Use
from theory.domain import AT_LEAST_ONE, COUNT, INDEX, NONNEGATIVE, OPEN_UNIT, POSITIVE, REAL
from theory.papers.fedavg_svrg.appendix import PROOF_OF_LEMMA_A1, PROOF_OF_LEMMA_A2
from theory.papers.fedavg_svrg.lines import DESCENT, UPDATE, substituted

# --- parameters ------------------------------------------------------------------------------------------------------

delta = Parameter("delta", POSITIVE, "step size of the inner updates")
L = Parameter("L", POSITIVE, "Lipschitz constant of every client's gradient")
mu = Parameter("mu", POSITIVE, "strong convexity modulus of every client's function")
K = Parameter("K", COUNT, "rounds")
S = Parameter("S", COUNT, "snapshots a round")
M = Parameter("M", COUNT, "inner steps a snapshot")
N = Parameter("N", COUNT, "clients")
G2 = Parameter("G2", NONNEGATIVE, "G^2, which bounds E||v||^2 of every client, snapshot and inner step")
f0_gap = Parameter("f0_gap", NONNEGATIVE, "f(theta^0) - f*")
f_drop = Parameter("f_drop", REAL, "E f(theta^0) - E f(theta^K)")
drift_sum = Parameter(
    "drift_sum", NONNEGATIVE, "sum over k,n,s,m and m'<m of E||v_{n,s,m'}^k||^2 (drift within one snapshot)"
)
lexicographic_drift_sum = Parameter(
    "lexicographic_drift_sum",
    NONNEGATIVE,
    "sum over k,n,s,m of (sM+m) times the sum over (s',m')<(s,m) of E||v_{n,s',m'}^k||^2 (drift since the round began)",
)
weighted_sum = Parameter("weighted_sum", NONNEGATIVE, "sum over k,n of (1/p_n^k) sum over s,m of E||v_{n,s,m}^k||^2")
mean_inv_p = Parameter("mean_inv_p", AT_LEAST_ONE, "(1/(KN)) sum over k,n of 1/p_n^k")
sum_inv_p = Parameter("sum_inv_p", AT_LEAST_ONE, "sum over n of 1/p_n (p_n constant in k)")
D = Parameter("D", NONNEGATIVE, "bound on E f_n(theta^k) - f_n* for every n and k")
eps = Parameter("eps", POSITIVE, "exponent of the step size, delta = K^-eps")
k_index = Parameter("k", INDEX, "round")
s_index = Parameter("s", INDEX, "snapshot")
m_index = Parameter("m", INDEX, "inner step")
cost = Parameter("cost", REAL, "E f(theta^k)")
squared_gradient_norm = Parameter("squared_gradient_norm", NONNEGATIVE, "E||grad f(theta^k)||^2")
inner_product_sum = Parameter(
    "inner_product_sum", REAL, "sum over s,m of E<grad f(theta^k), (1/N) sum_n grad f_n(w_{n,s,m}^k)>"
)
aggregate_second_moment = Parameter(
    "aggregate_second_moment", NONNEGATIVE, "E||sum_n (1_n^k/p_n^k) sum over s,m of v_{n,s,m}^k||^2"
)
weighted_round = Parameter("weighted_round", NONNEGATIVE, "sum over n of (1/p_n^k) sum over s,m of E||v_{n,s,m}^k||^2")
drift_round = Parameter("drift_round", NONNEGATIVE, "sum over n and m'<m of E||v_{n,s,m'}^k||^2")
lexicographic_drift_round = Parameter(
    "lexicographic_drift_round", NONNEGATIVE, "sum over n and (s',m')<(s,m) of E||v_{n,s',m'}^k||^2"
)
weighted_drift_round = Parameter(
    "weighted_drift_round",
    NONNEGATIVE,
    "sum over n,s,m of (sM+m) times the sum over (s',m')<(s,m) of E||v_{n,s',m'}^k||^2",
)
full_drift_round = Parameter(
    "full_drift_round", NONNEGATIVE, "sum over n,s,m and all m' in 0..M-1 of E||v_{n,s,m'}^k||^2"
)
local_gap = Parameter("local_gap", NONNEGATIVE, "E f_n(w_{n,m}^k) - f_n*")
snapshot_gap = Parameter("snapshot_gap", NONNEGATIVE, "E f_n(w~) - f_n* at the snapshot w~")
start_gap = Parameter("start_gap", NONNEGATIVE, "E f_n(theta^k) - f_n*")

# --- quantities ------------------------------------------------------------------------------------------------------

MEAN_SQUARED_GRADIENT_NORM = Quantity(
    "mean_squared_gradient_norm",
    "average over the rounds k=0..K-1 of E||grad f(theta^k)||^2",
    r"\frac{1}{K}\sum_{k=0}^{K-1}\mathbb{E}\Vert\nabla f(\theta^k)\Vert^2",
)
SQUARED_DISTANCE = Quantity("squared_distance", "E||theta^k - theta*||^2", r"\mathbb{E}\Vert\theta^k-\theta^*\Vert^2")
CONVERGENCE_ORDER = Quantity(
    "convergence_order", "order in K of the average squared gradient norm with delta = K^-eps", r"\mathrm{rate}(K)"
)
SERVER_UPDATE = Quantity("server_update", "theta^{k+1} - theta^k", r"\theta^{k+1}-\theta^k")
EXPECTED_NEXT_COST = Quantity("expected_next_cost", "E f(theta^{k+1})", r"\mathbb{E} f(\theta^{k+1})")
SCALED_AGGREGATE = Quantity(
    "scaled_aggregate",
    "(delta^2 L/(2N^2)) E||sum_n (1_n^k/p_n^k) sum over s,m of v_{n,s,m}^k||^2",
    r"\frac{\delta^2 L}{2N^2}\mathbb{E}\Vert\sum_n\frac{1_n^k}{p_n^k}\sum_{s,m}v_{n,s,m}^k\Vert^2",
)
NEGATIVE_INNER_PRODUCT = Quantity(
    "negative_inner_product",
    "-delta E<grad f(theta^k), (1/N) sum_n grad f_n(w_{n,s,m}^k)>",
    r"-\delta\,\mathbb{E}\langle\nabla f(\theta^k),\frac{1}{N}\sum_n\nabla f_n(w_{n,s,m}^k)\rangle",
)
ESTIMATOR_SECOND_MOMENT = Quantity("estimator_second_moment", "E||v_{n,m}^k||^2", r"\mathbb{E}\Vert v_{n,m}^k\Vert^2")
LOCAL_SUBOPTIMALITY = Quantity(
    "local_suboptimality", "E f_n(w_{n,m}^k) - f_n*", r"\mathbb{E}[f_n(w_{n,m}^k)-f_n(w_n^*)]"
)
MEAN_LOCAL_SUBOPTIMALITY = Quantity(
    "mean_local_suboptimality",
    "average over m=0..M-1 of E f_n(w_{n,m}^k) - f_n*",
    r"\frac{1}{M}\sum_{m=0}^{M-1}\mathbb{E}[f_n(w_{n,m}^k)-f_n(w_n^*)]",
)
DRIFT = Quantity("drift", "sum over m'<m of E||v_{n,m'}^k||^2", r"\sum_{m'=0}^{m-1}\mathbb{E}\Vert v_{n,m'}^k\Vert^2")

# --- hypotheses ------------------------------------------------------------------------------------------------------

A1 = Hypothesis("smooth clients", "Assumption 1 (3): every f_n has an L-Lipschitz gradient", assumption=Smooth("L"))
A2 = Hypothesis("unbiased sampling", "Assumption 2 (4)", assumption=UnbiasedSampling())
A3 = Hypothesis(
    "bounded substituted gradient",
    "Assumption 3 (5): E||v_{n,s,m}^k||^2 <= G^2; here along the run, which is weaker than the printed 'for all w'",
    assumption=BoundedEstimatorSecondMoment("G2"),
)
A4 = Hypothesis(
    "strongly convex clients", "Assumption 4 (6): every f_n is mu-strongly convex", assumption=StronglyConvex("mu")
)
PARTICIPATION = Hypothesis(
    "independent participation",
    "agents take part by independent draws with p_n^k > 0, independent of the sampling",
    assumption=IndependentParticipation(),
)
SMOOTH_OVER_CONVEX = Hypothesis("smoothness over strong convexity", "mu <= L", relation="mu <= L")
SVRG_STEP = Hypothesis(
    "step size", "delta < 1/(2L), so that the SVRG contraction factor is positive", relation="delta < 1/(2*L)"
)
SVRG_CONTRACTION = Hypothesis("contraction", "the SVRG factor alpha is below 1", relation="alpha < 1")
SMOOTH_SAMPLES = Hypothesis(
    "smooth samples",
    "every f_{n,i} has an L-Lipschitz gradient: Theorem 1 of Johnson and Zhang (2013), which the proof cites, needs it",
    assumption=Smooth("L", of="sample"),
    printed=False,
)
CONVEX_SAMPLES = Hypothesis(
    "convex samples",
    "every f_{n,i} is convex: Theorem 1 of Johnson and Zhang (2013), which the proof cites, needs it",
    assumption=Convex("sample"),
    printed=False,
)

BASE = (A1, A2, PARTICIPATION)
LEMMA = (A1, A2, PARTICIPATION, A4, SMOOTH_OVER_CONVEX)
# The repaired lemma states what Johnson and Zhang need, so there it counts as printed.
SAMPLES = (
    Hypothesis("smooth samples", SMOOTH_SAMPLES.statement, assumption=Smooth("L", of="sample")),
    Hypothesis("convex samples", CONVEX_SAMPLES.statement, assumption=Convex("sample")),
)

ALPHA = "1/(mu*delta*(1-2*L*delta)*M) + 2*L*delta/(1-2*L*delta)"
PAPER_NAME = "fedavg-svrg"


def _id(label: str) -> str:
    return f"{PAPER_NAME}/{label}"


# --- Theorem V.1 -----------------------------------------------------------------------------------------------------

V2 = r"\mathbb{E}\Vert v_{n,s,m}^k\Vert^2"
V2_PRIME = r"\mathbb{E}\Vert v_{n,s,m'}^k\Vert^2"
LHS = MEAN_SQUARED_GRADIENT_NORM.latex
GAP = r"\frac{2}{\delta KSM}(f(\theta^0)-f^*)"
DRIFT_7 = (
    r"\frac{\delta^2L^2(M-1)}{KSMN}\sum_{k=0}^{K-1}\sum_{n=1}^{N}\sum_{s=0}^{S-1}\sum_{m=0}^{M-1}\sum_{m'=0}^{m-1}"
    + V2_PRIME
)
NOISE_7 = r"\frac{\delta L}{KN}\sum_{k=0}^{K-1}\sum_{n=1}^{N}\frac{1}{p_n^k}\sum_{s=0}^{S-1}\sum_{m=0}^{M-1}" + V2
NOISE_8 = r"\frac{\delta LSMG^2}{KN}\sum_{k=0}^{K-1}\sum_{n=1}^{N}\frac{1}{p_n^k}"

PROOF_OF_THEOREM = (
    Step(
        "(A.18)",
        r"\mathbb{E}[f(\theta^{k+1})|\theta^k]",
        "<=",
        r"f(\theta^k)+\langle\nabla f(\theta^k),\mathbb{E}[\theta^{k+1}-\theta^k|\theta^k]\rangle"
        r"+\frac{L}{2}\mathbb{E}[\Vert\theta^{k+1}-\theta^k\Vert^2|\theta^k]",
        "inequality",
        "smoothness of f, which follows from (3)",
        vectors=DESCENT,
    ),
    Step(
        "(A.19)",
        r"\theta^{k+1}-\theta^k",
        "=",
        r"-\frac{\delta}{N}\sum_n\frac{1_n^k}{p_n^k}\sum_{s,m}v_{n,s,m}^k",
        "identity",
        "line 14 and line 20 of Algorithm 1, telescoped",
        claim=_id("eq-a19"),
        vectors=UPDATE,
    ),
    Step(
        "(A.20)",
        r"\mathbb{E}[f(\theta^{k+1})|\theta^k]",
        "<=",
        r"f(\theta^k)-\delta\sum_{s,m}\mathbb{E}[\langle\nabla f(\theta^k),\frac{1}{N}\sum_n\nabla f_n(w_{n,s,m}^k)"
        r"\rangle|\theta^k]+\frac{\delta^2L}{2N^2}\mathbb{E}[\Vert\sum_n\frac{1_n^k}{p_n^k}\sum_{s,m}v_{n,s,m}^k\Vert^2"
        r"|\theta^k]",
        "moment identity",
        "(A.18) with (A.19); E 1_n^k = p_n^k and E v = E grad f_n(w)",
        claim=_id("eq-a20"),
        uses=("(A.18)", "(A.19)"),
    ),
    Step(
        "(A.16)",
        SCALED_AGGREGATE.latex,
        "<=",
        r"NSM\sum_n\frac{1}{p_n^k}\sum_{s,m}" + V2,
        "inequality",
        "Lemma A.1; the factor delta^2 L/(2N^2) of the left side is missing on the right",
        claim=_id("lemma-a1"),
        slip=_id("lemma-a1/corrected"),
    ),
    Step(
        "(A.21)",
        r"\mathbb{E}[f(\theta^{k+1})|\theta^k]",
        "<=",
        r"f(\theta^k)-\delta\sum_{s,m}\mathbb{E}[\langle\nabla f(\theta^k),\frac{1}{N}\sum_n\nabla f_n(w_{n,s,m}^k)"
        r"\rangle|\theta^k]+\frac{LSM\delta^2}{2N}\sum_n\frac{1}{p_n^k}\sum_{s,m}" + V2,
        "inequality",
        "what the proof of Lemma A.1 shows, not what the lemma states",
        claim=_id("eq-a21"),
        uses=("(A.20)", "(A.16)"),
        inference=Inference(
            (
                Use("(A.20)"),
                Use("(A.16)", at={"scaled_aggregate": "delta**2*L/(2*N**2)*aggregate_second_moment"}),
            )
        ),
    ),
    Step(
        "(A.22)",
        r"\mathbb{E}f(\theta^{k+1})",
        "<=",
        r"\mathbb{E}f(\theta^k)-\delta\sum_{s,m}\mathbb{E}\langle\nabla f(\theta^k),\frac{1}{N}\sum_n"
        r"\nabla f_n(w_{n,s,m}^k)\rangle+\frac{LSM\delta^2}{2N}\sum_n\frac{1}{p_n^k}\sum_{s,m}" + V2,
        "moment identity",
        "total expectation of (A.21)",
        claim=_id("eq-a22"),
        uses=("(A.21)",),
        inference=Inference((Use("(A.21)"),)),
    ),
    Step(
        "(A.17)",
        NEGATIVE_INNER_PRODUCT.latex,
        "<=",
        r"\frac{\delta^3L^2(M-1)}{2N}\sum_n\sum_{m'=0}^{m-1}"
        + V2_PRIME
        + r"-\frac{\delta}{2}\mathbb{E}\Vert\nabla f(\theta^k)\Vert^2",
        "inequality",
        "Lemma A.2; its proof replaces theta^k - w_{n,s,m} by the steps since the last snapshot only",
        claim=_id("lemma-a2"),
    ),
    Step(
        "(A.23)",
        r"\mathbb{E}f(\theta^{k+1})",
        "<=",
        r"\mathbb{E}f(\theta^k)+\frac{\delta^3L^2(M-1)}{2N}\sum_{n,s,m}\sum_{m'=0}^{M-1}"
        + V2_PRIME
        + r"-\frac{\delta SM}{2}\mathbb{E}\Vert\nabla f(\theta^k)\Vert^2+\frac{LSM\delta^2}{2N}\sum_n\frac{1}{p_n^k}"
        r"\sum_{s,m}" + V2,
        "substitution",
        "(A.17) summed over s and m into (A.22); the inner sum is printed up to M-1, which is weaker",
        claim=_id("eq-a23"),
        uses=("(A.22)", "(A.17)"),
        inference=Inference(
            (
                Use("(A.22)"),
                Use(  # summed over s and m
                    "(A.17)",
                    at={
                        "negative_inner_product": "-delta*inner_product_sum",
                        "drift_round": "drift_within",
                        "squared_gradient_norm": "S*M*squared_gradient_norm",
                    },
                ),
            ),
            at={"full_drift_round": "drift_within + drift_after"},
        ),
    ),
    Step(
        "(A.24)",
        LHS,
        "<=",
        r"\frac{2}{\delta KSM}(\mathbb{E}f(\theta^0)-"
        r"\mathbb{E}f(\theta^k))+\frac{\delta^2L^2(M-1)}{KSMN}[\sum_{k,n,s,m}"
        r"\sum_{m'=0}^{m-1}" + V2_PRIME + "+" + NOISE_7 + "]",
        "summation",
        "(A.23) summed over k; the bracket is closed after the last term, and theta^k stands for theta^K",
        claim=_id("eq-a24"),
        uses=("(A.23)",),
        inference=Inference(
            (
                Use(  # summed over k
                    "(A.23)",
                    factor="2/(delta*K*S*M)",
                    at={
                        "expected_next_cost": "-f_drop",
                        "cost": "0",
                        "squared_gradient_norm": "K*mean_squared_gradient_norm",
                        "full_drift_round": "drift_sum + drift_after",
                        "weighted_round": "weighted_sum",
                    },
                ),
            )
        ),
    ),
    Step(
        "(A.25)",
        LHS,
        "<=",
        GAP + r"+\frac{\delta^2L^2(M-1)}{KSMN}[\sum_{k,n,s,m}\sum_{m'=0}^{m-1}" + V2_PRIME + "+" + NOISE_7 + "]",
        "substitution",
        "f(theta^K) >= f*; the bracket as in (A.24)",
        claim=_id("eq-a25"),
        uses=("(A.24)",),
        inference=Inference((Use("(A.24)", at={"f_drop": "f0_gap - f_rest"}),)),
    ),
    Step(
        "(7)",
        LHS,
        "<=",
        GAP + "+" + DRIFT_7 + "+" + NOISE_7,
        "substitution",
        "(A.25), with the bracket closed after the drift sum",
        claim=_id("theorem-v1-eq7"),
        uses=("(A.25)",),
        inference=Inference((Use("(A.25)"),)),
    ),
)

THEOREM_7 = Claim(
    id=_id("theorem-v1-eq7"),
    kind="theorem",
    title="average squared gradient norm, in terms of the substituted gradients",
    equation="(7)",
    statement=(
        "Under Assumptions 1 and 2, for convex and non-convex costs alike, (1/K) sum_k E||grad f(theta^k)||^2 <= "
        "2 f0_gap/(delta K S M) + delta^2 L^2 (M-1)/(K S M N) drift_sum + delta L/(K N) weighted_sum."
    ),
    latex=LHS + r"\leq " + GAP + "+" + DRIFT_7 + "+" + NOISE_7,
    quantity=MEAN_SQUARED_GRADIENT_NORM,
    source="Theorem V.1, equation (7); proof in the appendix",
    parameters=(delta, L, K, S, M, N, f0_gap, drift_sum, weighted_sum),
    hypotheses=BASE,
    definitions={
        "optimisation_term": "2*f0_gap/(delta*K*S*M)",
        "drift_term": "delta**2*L**2*(M-1)/(K*S*M*N)*drift_sum",
        "noise_term": "delta*L/(K*N)*weighted_sum",
    },
    right="optimisation_term + drift_term + noise_term",
    steps=PROOF_OF_THEOREM,
    remarks=(
        "No restriction on the step size is stated.",
        "The drift sum counts the steps since the last snapshot; the proof needs those since the round began.",
    ),
)

THEOREM_7_CORRECTED = Claim(
    id=_id("theorem-v1-eq7/corrected"),
    kind="theorem",
    title="(7) with the drift since the beginning of the round",
    equation="(7), corrected",
    statement=(
        "Under Assumptions 1 and 2, (1/K) sum_k E||grad f(theta^k)||^2 <= 2 f0_gap/(delta K S M) + delta^2 L^2/(K S "
        "M N) "
        "sum over k,n,s,m of (sM+m) sum over (s',m')<(s,m) of E||v_{n,s',m'}^k||^2 + delta L/(K N) weighted_sum."
    ),
    latex=LHS
    + r"\leq "
    + GAP
    + r"+\frac{\delta^2L^2}{KSMN}\sum_{k,n,s,m}(sM+m)\sum_{(s',m')<(s,m)}\mathbb{E}\Vert v_{n,s',m'}^k\Vert^2+"
    + NOISE_7,
    quantity=MEAN_SQUARED_GRADIENT_NORM,
    source="repair of (7)",
    parameters=(delta, L, K, S, M, N, f0_gap, lexicographic_drift_sum, weighted_sum),
    hypotheses=BASE,
    definitions={
        "optimisation_term": "2*f0_gap/(delta*K*S*M)",
        "drift_term": "delta**2*L**2/(K*S*M*N)*lexicographic_drift_sum",
        "noise_term": "delta*L/(K*N)*weighted_sum",
    },
    right="optimisation_term + drift_term + noise_term",
    amends=_id("theorem-v1-eq7"),
    derivation=(
        "theta^k - w_{n,s,m}^k is delta times the sum of ALL sM+m earlier substituted gradients of the round, so by "
        "Jensen E||theta^k - w_{n,s,m}^k||^2 <= delta^2 (sM+m) sum over (s',m')<(s,m) of E||v_{n,s',m'}^k||^2 "
        "(lemma-a2/corrected). The rest of the printed proof stands: put it into (A.22), sum over s, m and k, multiply "
        "by 2/(delta K S M), and use f(theta^K) >= f*."
    ),
)

PRINTED_7 = Step(
    "(7)",
    LHS,
    "<=",
    GAP + "+" + DRIFT_7 + "+" + NOISE_7,
    "substitution",
    "the first half of the theorem, into which Assumption 3 is put",
    claim=_id("theorem-v1-eq7"),
)

THEOREM_8 = Claim(
    id=_id("theorem-v1-eq8"),
    kind="theorem",
    title="average squared gradient norm, with bounded substituted gradients",
    equation="(8)",
    statement=(
        "Under Assumptions 1, 2 and 3, (1/K) sum_k E||grad f(theta^k)||^2 <= 2 f0_gap/(delta K S M) + "
        "delta^2 L^2 (M-1)^2 G^2 + delta L S M G^2 (1/(KN)) sum_{k,n} 1/p_n^k."
    ),
    latex=LHS + r"\leq " + GAP + r"+\delta^2L^2(M-1)^2G^2+" + NOISE_8,
    quantity=MEAN_SQUARED_GRADIENT_NORM,
    source="Theorem V.1, equation (8)",
    parameters=(delta, L, K, S, M, G2, f0_gap, mean_inv_p),
    hypotheses=(*BASE, A3),
    definitions={
        "optimisation_term": "2*f0_gap/(delta*K*S*M)",
        "drift_term": "delta**2*L**2*(M-1)**2*G2",
        "noise_term": "delta*L*S*M*G2*mean_inv_p",
    },
    right="optimisation_term + drift_term + noise_term",
    steps=(
        PRINTED_7,
        Step(
            "(7) to (8), drift",
            r"\frac{\delta^2L^2(M-1)}{KSMN}\cdot KNS\frac{M(M-1)}{2}G^2",
            "<=",
            r"\delta^2L^2(M-1)^2G^2",
            "substitution",
            "the sum over m and m'<m has M(M-1)/2 terms, so half of the printed term suffices",
            identity=("delta**2*L**2*(M-1)/(K*S*M*N)*K*N*S*M*(M-1)/2*G2", "delta**2*L**2*(M-1)**2*G2"),
        ),
        Step(
            "(7) to (8), noise",
            r"\frac{\delta L}{KN}\cdot KN\,SM\,G^2\,\overline{p^{-1}}",
            "=",
            r"\delta LSMG^2\,\overline{p^{-1}}",
            "substitution",
            identity=("delta*L/(K*N)*K*N*S*M*G2*mean_inv_p", "delta*L*S*M*G2*mean_inv_p"),
        ),
        Step(
            "(8)",
            LHS,
            "<=",
            GAP + r"+\delta^2L^2(M-1)^2G^2+" + NOISE_8,
            "substitution",
            "E||v||^2 <= G^2 in (7), term by term",
            claim=_id("theorem-v1-eq8"),
            uses=("(7)", "(7) to (8), drift", "(7) to (8), noise"),
        ),
    ),
    remarks=(
        "Its printed derivation goes through (7), which is false for S >= 3; the claim needs, and has, another proof: "
        "see theorem-v1-eq8/corrected-2.",
        "Assumption 3 'for all w' cannot hold for strongly convex f_n (the gradient is unbounded), so it does not hold "
        "in the paper's own least-squares experiments; along the run it can, and that is what is tested here.",
    ),
)

THEOREM_8_CORRECTED = Claim(
    id=_id("theorem-v1-eq8/corrected"),
    kind="theorem",
    title="(8) as it follows from the corrected (7)",
    equation="(8), corrected",
    statement=(
        "Under Assumptions 1, 2 and 3, (1/K) sum_k E||grad f(theta^k)||^2 <= 2 f0_gap/(delta K S M) + "
        "delta^2 L^2 (SM-1)(2SM-1)/6 G^2 + delta L S M G^2 (1/(KN)) sum_{k,n} 1/p_n^k."
    ),
    latex=LHS + r"\leq " + GAP + r"+\delta^2L^2\frac{(SM-1)(2SM-1)}{6}G^2+" + NOISE_8,
    quantity=MEAN_SQUARED_GRADIENT_NORM,
    source="repair of (8)",
    parameters=(delta, L, K, S, M, G2, f0_gap, mean_inv_p),
    hypotheses=(*BASE, A3),
    definitions={
        "optimisation_term": "2*f0_gap/(delta*K*S*M)",
        "drift_term": "delta**2*L**2*(S*M-1)*(2*S*M-1)/6*G2",
        "noise_term": "delta*L*S*M*G2*mean_inv_p",
    },
    right="optimisation_term + drift_term + noise_term",
    amends=_id("theorem-v1-eq8"),
    derivation=(
        "Put E||v||^2 <= G^2 into the corrected (7): with t = sM+m the drift term is delta^2 L^2/(SM) times the sum of "
        "t^2 over t = 0..SM-1, which is SM(SM-1)(2SM-1)/6."
    ),
    steps=(
        Step(
            "drift",
            r"\frac{1}{T}\sum_{t=0}^{T-1}t^2",
            "=",
            r"\frac{(T-1)(2T-1)}{6}",
            "summation",
            "T = SM; the sum of squares",
            identity=("(S*M-1)*(S*M)*(2*S*M-1)/6/(S*M)", "(S*M-1)*(2*S*M-1)/6"),
        ),
    ),
)

THEOREM_8_SHARPER = Claim(
    id=_id("theorem-v1-eq8/corrected-2"),
    kind="theorem",
    title="(8) without its drift term, which implies (8) as printed",
    equation="(8), sharpened",
    statement=(
        "Under Assumptions 1, 2 and 3, (1/K) sum_k E||grad f(theta^k)||^2 <= 2 f0_gap/(delta K S M) + "
        "delta L S M G^2 (1/(KN)) sum_{k,n} 1/p_n^k."
    ),
    latex=LHS + r"\leq " + GAP + "+" + NOISE_8,
    quantity=MEAN_SQUARED_GRADIENT_NORM,
    source="a proof of (8) that does not use (7)",
    parameters=(delta, L, K, S, M, G2, f0_gap, mean_inv_p),
    hypotheses=(*BASE, A3),
    definitions={
        "optimisation_term": "2*f0_gap/(delta*K*S*M)",
        "noise_term": "delta*L*S*M*G2*mean_inv_p",
    },
    right="optimisation_term + noise_term",
    amends=_id("theorem-v1-eq8"),
    derivation=(
        "Let T = SM, h = delta L T, t = sM+m, g = grad f(theta^k), b_t = (1/N) sum_n grad f_n(w_{n,t}), V_{n,t} the "
        "sum "
        "of the first t substituted gradients of client n, V_n = V_{n,T}. "
        "If h > 1 the noise term exceeds G^2, and E||g||^2 <= (1/N) sum_n E||v_{n,0,0}||^2 <= G^2. Let h <= 1. "
        "Smoothness and 2<g,b> = ||g||^2 + ||b||^2 - ||g-b||^2 give E||g||^2 <= (2/(delta T)) (E f(theta^k) - "
        "E f(theta^{k+1})) + X - B + (L/(delta T)) E||theta^{k+1}-theta^k||^2, with B = (1/T) sum_t E||b_t||^2 and "
        "X = (1/T) sum_t E||g-b_t||^2 <= (L^2 delta^2/T) max_n sum_t E||V_{n,t}||^2 <= h^2 (T-1)(2T-1)/(6T^2) G^2. "
        "The printed proof throws B away; it pays for the drift. "
        "N >= 2: clients are independent given theta^k, so E||theta^{k+1}-theta^k||^2 <= delta^2 (T^2 B + (1/N^2) "
        "sum_n "
        "T^2 G^2/p_n); the last term is at most h B + (h/N) G^2 q, where q = (1/N) sum_n 1/p_n >= 1, and "
        "h^2/3 + h q/N <= h q because h/3 <= 1/3 <= 1 - 1/N. "
        "N = 1: the last term is (h/p) E||V_T||^2/T^2 with E||V_T||^2 <= T^2 G^2, so it is enough that "
        "X <= h (G^2 - E||V_T||^2/T^2) + B. As v_t - b_t has mean zero given the past, E||V_T||^2 = sum_t "
        "(E||v_t||^2 + "
        "2 E<V_t,b_t>) <= T G^2 + (1/T) sum_t E||V_t||^2 + T^2 B; with C = (1/T^3) sum_t E||V_t||^2 <= "
        "(T-1)(2T-1)/(6T^2) G^2 and X <= h^2 C, h <= 1, it is enough that 2C <= (1-1/T) G^2, that is (2T-1)/(3T) <= 1. "
        "Sum over k."
    ),
    steps=(
        Step(
            "N >= 2",
            r"\frac{h^2}{3}+\frac{hq}{N}",
            "<=",
            r"hq",
            "inequality",
            "for 0 < h <= 1, q >= 1, N >= 2; with h = 1/(1+a), q = 1+b, N = 2+c",
            identity=("1/3/(1+a)**2 + (1+b)/((1+a)*(2+c))", "(1+b)/(1+a)"),
        ),
        Step(
            "N = 1",
            r"2\frac{(T-1)(2T-1)}{6T^2}",
            "<=",
            r"1-\frac{1}{T}",
            "inequality",
            "T = 1+a",
            identity=("2*a*(2*a+1)/(6*(1+a)**2)", "1-1/(1+a)"),
        ),
    ),
)


def _orders(noise: str, extra: str, best: str, rate: str) -> tuple[Step, Step]:
    """The remark's lines: the orders of the terms of (8), and the best exponent of the step.

    Args:
        noise: the third term's order in delta and K, in LaTeX.
        extra: what it adds to eps in the exponent of 1/K, "" or "1+".
        best: the best eps.
        rate: the exponent of 1/K there.
    """
    bound, schedule = _id("theorem-v1-eq8"), {"delta": "K**(-eps)"}
    given = {"optimisation_term": "eps-1", "drift_term": "-2*eps", "noise_term": f"-({extra}eps)"}
    return (
        Step(
            "orders of the terms",
            r"\frac{1}{\delta K},\delta^2," + noise,
            "=",
            r"K^{-(1-\epsilon)},K^{-2\epsilon},K^{-(" + extra + r"\epsilon)}",
            "order",
            "the terms of (8) with delta = K^-eps",
            order=OrderLine(bound, schedule, given),
        ),
        Step(
            "best exponent",
            r"\epsilon",
            "=",
            best + r"\Rightarrow O(K^{-" + rate + r"})",
            "order",
            "the eps at which the largest term is smallest",
            order=OrderLine(bound, schedule, best=(best, f"-{rate}")),
            uses=("orders of the terms",),
        ),
    )


REMARK = Claim(
    id=_id("remark-rate"),
    kind="remark",
    title="the rate K^-2/3 at delta = K^-1/3",
    equation="Remark after Theorem V.1",
    statement=(
        "By (8) the rate is determined by min[1/(delta K), delta^2, delta/K]; with delta = K^-eps the best choice is "
        "eps = 1/3, which gives convergence of order O(K^-2/3) for convex and non-convex costs alike."
    ),
    latex=r"\min[K^{-(1-\epsilon)},K^{-2\epsilon},K^{-(1+\epsilon)}],\quad \epsilon=\frac{1}{3}\Rightarrow O(K^{-2/3})",
    quantity=CONVERGENCE_ORDER,
    source="Remark after Theorem V.1",
    parameters=(K, eps),
    hypotheses=(*BASE, A3),
    definitions={
        "optimisation_order": "K**(eps-1)",
        "drift_order": "K**(-2*eps)",
        "noise_order": "K**(-1-eps)",
        "claimed_best": "K**(-2/3)",
    },
    right="min(optimisation_order, drift_order, noise_order)",
    steps=_orders(r"\frac{\delta}{K}", "1+", "1/3", "2/3"),
    remarks=(
        "A sum is of the order of its largest term, so min should be max.",
        "The third term of (8) is delta times an average over k of 1/p_n^k: of order delta, not delta/K.",
        "The remark's own three orders have the minimum K^-(1+eps), which is neither attained nor K^-2/3.",
    ),
)

REMARK_CORRECTED = Claim(
    id=_id("remark-rate/corrected"),
    kind="remark",
    title="the rate K^-1/2 at delta = K^-1/2",
    equation="Remark, corrected",
    statement=(
        "By (8) the rate is of the order of max[1/(delta K), delta^2, delta]; with delta = K^-eps the best choice is "
        "eps = 1/2, which gives O(K^-1/2)."
    ),
    latex=r"\max[K^{-(1-\epsilon)},K^{-2\epsilon},K^{-\epsilon}],\quad \epsilon=\frac{1}{2}\Rightarrow O(K^{-1/2})",
    quantity=CONVERGENCE_ORDER,
    source="repair of the remark",
    parameters=(K, eps),
    hypotheses=(*BASE, A3),
    definitions={
        "optimisation_order": "K**(eps-1)",
        "drift_order": "K**(-2*eps)",
        "noise_order": "K**(-eps)",
        "claimed_best": "K**(-1/2)",
    },
    right="max(optimisation_order, drift_order, noise_order)",
    steps=_orders(r"\delta", "", "1/2", "1/2"),
    amends=_id("remark-rate"),
    derivation=(
        "The mean of 1/p_n^k over k and n does not shrink with K, so the third term of (8) is of order delta. The "
        "largest of K^(eps-1), K^(-2 eps), K^(-eps) is smallest where 1-eps = eps."
    ),
)

# --- Lemma V.1 -------------------------------------------------------------------------------------------------------

PROOF_OF_LEMMA = (
    Step(
        "before (9), first",
        r"\mathbb{E}\Vert v\Vert^2",
        "<=",
        r"2\mathbb{E}\Vert\nabla f_\#(w)-\nabla f_\#(w_n^*)\Vert^2+2\mathbb{E}\Vert[\nabla f_\#(\tilde w)-"
        r"\nabla f_\#(w_n^*)]-\nabla f_n(\tilde w)\Vert^2",
        "inequality",
        "||x+y||^2 <= 2||x||^2 + 2||y||^2",
        vectors=substituted(0, "<=", 1),
    ),
    Step(
        "before (9), second",
        r"2\mathbb{E}\Vert X-\mathbb{E}X\Vert^2",
        "=",
        r"2\mathbb{E}\Vert X\Vert^2-\mathbb{E}\Vert X\Vert^2",
        "identity",
        "X = grad f_#(w~) - grad f_#(w_n*); printed as an equality, true is 2E||X||^2 - 2||EX||^2",
        identity=("2*(second_moment - squared_mean)", "2*second_moment - second_moment"),
        vectors=substituted(1, "=", 2, given="strong samples"),
        chain=substituted(0, "<=", 2, given="strong samples", samples=(4,), mu="1/100"),
        uses=("before (9), first",),
    ),
    Step(
        "before (9), third",
        r"2\mathbb{E}\Vert\nabla f_\#(w)-\nabla f_\#(w_n^*)\Vert^2+2\mathbb{E}\Vert X\Vert^2-\mathbb{E}\Vert X\Vert^2",
        "<=",
        r"2\mathbb{E}\Vert\nabla f_\#(w)-\nabla f_\#(w_n^*)\Vert^2+2\mathbb{E}\Vert X\Vert^2",
        "inequality",
        "true of E||v||^2 whatever stands before it, as E||X - EX||^2 <= E||X||^2",
        vectors=substituted(2, "<=", 3),
        chain=substituted(0, "<=", 3),
        uses=("before (9), second",),
    ),
    Step(
        "before (9), fourth",
        r"2\mathbb{E}\Vert\nabla f_\#(w)-\nabla f_\#(w_n^*)\Vert^2+2\mathbb{E}\Vert X\Vert^2",
        "<=",
        r"4L[f_n(w)-f_n(w_n^*)+f_n(\tilde w)-f_n(w_n^*)]",
        "cited",
        "Theorem 1 of Johnson and Zhang, whose hypotheses are on every f_{n,i}; with them the line is true",
        vectors=substituted(3, "<=", 4, given="client"),
        chain=substituted(0, "<=", 4, given="client"),
        uses=("before (9), third",),
        needs=(SMOOTH_SAMPLES, CONVEX_SAMPLES),
    ),
    Step(
        "(9)",
        r"\sum_{m'=0}^{m-1}\mathbb{E}\Vert v_{n,m'}^k\Vert^2",
        "<=",
        r"4Lm(\mathbb{E}[f_n(w_{n,m}^k)-f_n(w_n^*)]+\mathbb{E}[f_n(\tilde w)-f_n(w_n^*)])",
        "cited",
        "needs every f_{n,i} to be convex and L-smooth; w_{n,m} is a random earlier iterate, which Algorithm 1 never "
        "draws",
        claim=_id("lemma-v1-eq9"),
        uses=("before (9), fourth",),
        needs=(SMOOTH_SAMPLES, CONVEX_SAMPLES),
    ),
    Step(
        "(10)",
        r"\mathbb{E}[f_n(w_{n,m}^k)-f_n(w_n^*)]",
        "<=",
        r"\alpha^k\mathbb{E}[f_n(\tilde w_n^k)-f_n(w_n^*)]",
        "cited",
        "the cited theorem contracts once a snapshot of ONE client's own SVRG; k counts rounds, which restart at "
        "theta^k",
        claim=_id("lemma-v1-eq10"),
        needs=(SVRG_STEP, SVRG_CONTRACTION, SMOOTH_SAMPLES, CONVEX_SAMPLES),
    ),
    Step(
        "(11)",
        r"\mathbb{E}[f_n(w_{n,m}^k)-f_n(w_n^*)]",
        "<=",
        r"\alpha^kD",
        "substitution",
        "(10) with the bound D",
        claim=_id("lemma-v1-eq10"),
        uses=("(10)",),
        inference=Inference(remains=("q*start_gap", "q*(start_gap + rest)")),
    ),
    Step(
        "(12)",
        DRIFT.latex,
        "<=",
        r"8Lm\alpha^kD",
        "substitution",
        "(10) into both expectations of (9); the snapshot's is at theta^k itself and does not shrink with k",
        claim=_id("lemma-v1-eq12"),
        uses=("(9)", "(10)", "(11)"),
        inference=Inference(remains=("4*L*m*(q*D + q*D)", "8*L*m*q*D")),
    ),
    Step(
        "(13)",
        r"\sum_{k=0}^{K-1}\alpha^k",
        "=",
        r"\frac{1-\alpha^K}{1-\alpha}",
        "summation",
        "geometric sum",
        claim=_id("lemma-v1-eq13"),
    ),
    Step(
        "(14)",
        LHS,
        "<=",
        r"\frac{2}{\delta KM}(f(\theta^0)-f^*)+\frac{8D\delta^2L^3(M-1)^2(1-\alpha^K)}{K(1-\alpha)}"
        r"+\frac{8D\delta L^2(M-1)}{KN}\sum_{k=0}^{K-1}\alpha^k\sum_n\frac{1}{p_n}",
        "substitution",
        "(12) and (13) into (7); the last factor should be M, as the sum over m has M terms",
        claim=_id("lemma-v1-eq14"),
        uses=("(12)", "(13)"),
        inference=Inference(  # g the sum of alpha^k, c the sum of alpha^k/p_n
            remains=(
                "delta**2*L**2*(M-1)/(K*M*N)*N*8*L*D*g*M*(M-1)/2 + delta*L/(K*N)*8*L*M*D*c",
                "8*D*delta**2*L**3*(M-1)**2*g/K + 8*D*delta*L**2*(M-1)/(K*N)*c",
            )
        ),
    ),
)

LEMMA_V1 = Claim(
    id=_id("lemma-v1"),
    kind="lemma",
    title="convergence to the optimal point at rate O(1/K) with a constant step",
    equation="Lemma V.1",
    statement=(
        "Under Assumption 4 (and those of Theorem V.1), Algorithm 1 with a constant step converges to the optimal "
        "point "
        "at a rate of no less than O(1/K)."
    ),
    latex=r"\theta^k\to\theta^*\ \mathrm{at\ rate}\ O(1/K)",
    quantity=SQUARED_DISTANCE,
    source="Lemma V.1",
    hypotheses=LEMMA,
    steps=PROOF_OF_LEMMA,
    remarks=(
        "With different clients, local steps have a fixed point other than the optimum (client drift), whatever K.",
        "With p_n < 1 the participation noise does not vanish at the optimum.",
        "What is true: a decay of order 1/K down to a floor, lemma-v1-eq14/corrected.",
    ),
)

EQ9 = Claim(
    id=_id("lemma-v1-eq9"),
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
    right="4*L*(local_gap + snapshot_gap)",
    remarks=(
        "Assumption 1 bounds the curvature of f_n, an average; the cited theorem needs that of every f_{n,i}, and "
        "their "
        "convexity.",
        "In (9) itself m' runs to m-1, but the random iterate is drawn from 0..m-2.",
    ),
)

EQ9_CORRECTED = Claim(
    id=_id("lemma-v1-eq9/corrected"),
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
    right="4*L*(local_gap + snapshot_gap)",
    amends=_id("lemma-v1-eq9"),
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
    id=_id("lemma-v1-eq10"),
    kind="equation",
    title="geometric decay of the local suboptimality over the rounds",
    equation="(10)",
    statement="S=1: E f_n(w_{n,m}^k) - f_n* <= alpha^k (E f_n(theta^k) - f_n*) <= alpha^k D.",
    latex=LOCAL_SUBOPTIMALITY.latex + r"\leq\alpha^k\,\mathbb{E}[f_n(\tilde w_n^k)-f_n(w_n^*)]",
    quantity=LOCAL_SUBOPTIMALITY,
    source="proof of Lemma V.1, (10) and (11)",
    parameters=(mu, L, delta, M, k_index, start_gap),
    hypotheses=(*LEMMA, SVRG_STEP, SVRG_CONTRACTION, SMOOTH_SAMPLES, CONVEX_SAMPLES),
    definitions={"alpha": ALPHA},
    right="alpha**k*start_gap",
    remarks=("At m=0 the left side is E f_n(theta^k) - f_n* itself, so for k >= 1 the line says that it is 0.",),
)

EQ10_CORRECTED = Claim(
    id=_id("lemma-v1-eq10/corrected"),
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
    right="alpha*start_gap",
    amends=_id("lemma-v1-eq10"),
    derivation=(
        "Johnson and Zhang's Theorem 1 for client n within one round: its inner iterates start at the snapshot "
        "theta^k, "
        "and it bounds the iterate drawn at random from w_0..w_{M-1}, whose expectation is the average."
    ),
)

EQ12 = Claim(
    id=_id("lemma-v1-eq12"),
    kind="equation",
    title="geometric decay of the drift over the rounds",
    equation="(12)",
    statement="S=1: sum_{m'<m} E||v_{n,m'}^k||^2 <= 8 L m alpha^k D.",
    latex=DRIFT.latex + r"\leq 8Lm\alpha^kD",
    quantity=DRIFT,
    source="proof of Lemma V.1, (12)",
    parameters=(mu, L, delta, M, m_index, k_index, D),
    hypotheses=(*LEMMA, SVRG_STEP, SVRG_CONTRACTION, SMOOTH_SAMPLES, CONVEX_SAMPLES),
    definitions={"alpha": ALPHA},
    right="8*L*m*alpha**k*D",
)

EQ12_CORRECTED = Claim(
    id=_id("lemma-v1-eq12/corrected"),
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
    right="4*L*(m + distance_term + variance_term)*D",
    amends=_id("lemma-v1-eq12"),
    derivation=(
        "Sum lemma-v1-eq9/corrected over m' < m; the snapshot's part is m D, and Johnson and Zhang's recursion summed "
        "over the first m steps bounds the iterates' part by (1/(mu delta (1-2L delta)) + 2L delta m/(1-2L delta)) D."
    ),
)

EQ13 = Claim(
    id=_id("lemma-v1-eq13"),
    kind="equation",
    title="geometric sum",
    equation="(13)",
    statement="sum_{k<K} alpha^k = (1 - alpha^K)/(1 - alpha) for alpha < 1.",
    latex=r"\sum_{k=0}^{K-1}\alpha^k=\frac{1-\alpha^K}{1-\alpha}",
    quantity=Quantity("geometric_sum", "sum over k<K of alpha^k", r"\sum_{k=0}^{K-1}\alpha^k"),
    source="proof of Lemma V.1, (13)",
    parameters=(Parameter("alpha", OPEN_UNIT, "contraction factor"), K),
    right="(1-alpha**K)/(1-alpha)",
    relation="=",
)

EQ14 = Claim(
    id=_id("lemma-v1-eq14"),
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
    hypotheses=(*LEMMA, SVRG_STEP, SVRG_CONTRACTION, SMOOTH_SAMPLES, CONVEX_SAMPLES),
    definitions={
        "alpha": ALPHA,
        "optimisation_term": "2*f0_gap/(delta*K*M)",
        "drift_term": "8*D*delta**2*L**3*(M-1)**2*(1-alpha**K)/(K*(1-alpha))",
        "noise_term": "8*D*delta*L**2*(M-1)/(K*N)*(1-alpha**K)/(1-alpha)*sum_inv_p",
    },
    right="optimisation_term + drift_term + noise_term",
    remarks=(
        "From (12) the drift term would be half of the printed one, and the noise term would have M in place of M-1.",
    ),
)

EQ14_CORRECTED = Claim(
    id=_id("lemma-v1-eq14/corrected"),
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
    right="optimisation_term + drift_floor + noise_floor",
    amends=_id("lemma-v1-eq14"),
    derivation=(
        "(7) is true for S=1 (there is only one snapshot). Put lemma-v1-eq12/corrected into it. With beta = "
        "1/(mu delta (1-2L delta)) and gamma = 2L delta/(1-2L delta), alpha = beta/M + gamma: the noise sum is at most "
        "4 L M (1+alpha) D a client and round, and the drift term 4 D delta^2 L^3 (M-1)^2 ((1+gamma)/2 + beta/M), "
        "where "
        "(1+gamma)/2 + beta/M <= 1/2 + alpha. It does not go to 0 with K, and by lemma-v1's certificate it cannot."
    ),
)

# --- appendix --------------------------------------------------------------------------------------------------------

LEMMA_A1 = Claim(
    id=_id("lemma-a1"),
    kind="lemma",
    title="second moment of the aggregate",
    equation="(A.16)",
    statement=(
        "(delta^2 L/(2N^2)) E[||sum_n (1_n^k/p_n^k) sum_{s,m} v_{n,s,m}^k||^2 | theta^k] <= N S M sum_n (1/p_n^k) "
        "sum_{s,m} E[||v_{n,s,m}^k||^2 | theta^k]."
    ),
    latex=SCALED_AGGREGATE.latex + r"\leq NSM\sum_n\frac{1}{p_n^k}\sum_{s,m}" + V2,
    quantity=SCALED_AGGREGATE,
    source="Lemma A.1, (A.16)",
    parameters=(N, S, M, weighted_round),
    hypotheses=BASE,
    right="N*S*M*weighted_round",
    steps=PROOF_OF_LEMMA_A1,
    remarks=("The proof bounds the expectation without the factor delta^2 L/(2N^2), and (A.21) uses it so.",),
)

LEMMA_A1_CORRECTED = Claim(
    id=_id("lemma-a1/corrected"),
    kind="lemma",
    title="second moment of the aggregate, with its factor on both sides",
    equation="(A.16), corrected",
    statement=(
        "(delta^2 L/(2N^2)) E[||sum_n (1_n^k/p_n^k) sum_{s,m} v_{n,s,m}^k||^2 | theta^k] <= (delta^2 L S M/(2N)) sum_n "
        "(1/p_n^k) sum_{s,m} E[||v_{n,s,m}^k||^2 | theta^k]."
    ),
    latex=SCALED_AGGREGATE.latex + r"\leq\frac{\delta^2LSM}{2N}\sum_n\frac{1}{p_n^k}\sum_{s,m}" + V2,
    quantity=SCALED_AGGREGATE,
    source="what the proof of Lemma A.1 shows",
    parameters=(delta, L, N, S, M, weighted_round),
    hypotheses=BASE,
    right="delta**2*L*S*M/(2*N)*weighted_round",
    amends=_id("lemma-a1"),
    derivation="Jensen over the N S M terms, and E (1_n/p_n)^2 = 1/p_n; multiply by delta^2 L/(2N^2).",
)

LEMMA_A2 = Claim(
    id=_id("lemma-a2"),
    kind="lemma",
    title="the inner product with the gradients at the inner iterates",
    equation="(A.17)",
    statement=(
        "-delta E<grad f(theta^k), (1/N) sum_n grad f_n(w_{n,s,m}^k)> <= (delta^3 L^2 (M-1)/(2N)) sum_n sum_{m'<m} "
        "E||v_{n,s,m'}^k||^2 - (delta/2) E||grad f(theta^k)||^2."
    ),
    latex=NEGATIVE_INNER_PRODUCT.latex
    + r"\leq\frac{\delta^3L^2(M-1)}{2N}\sum_n\sum_{m'=0}^{m-1}"
    + V2_PRIME
    + r"-\frac{\delta}{2}\mathbb{E}\Vert\nabla f(\theta^k)\Vert^2",
    quantity=NEGATIVE_INNER_PRODUCT,
    source="Lemma A.2, (A.17)",
    parameters=(delta, L, M, N, drift_round, squared_gradient_norm),
    hypotheses=BASE,
    right="delta**3*L**2*(M-1)/(2*N)*drift_round - delta/2*squared_gradient_norm",
    steps=PROOF_OF_LEMMA_A2,
    remarks=("True for s=0; for s >= 1 the drift of the earlier snapshots is forgotten.",),
)

LEMMA_A2_CORRECTED = Claim(
    id=_id("lemma-a2/corrected"),
    kind="lemma",
    title="the inner product, with the drift since the beginning of the round",
    equation="(A.17), corrected",
    statement=(
        "-delta E<grad f(theta^k), (1/N) sum_n grad f_n(w_{n,s,m}^k)> <= (delta^3 L^2 (sM+m)/(2N)) sum_n sum over "
        "(s',m')<(s,m) of E||v_{n,s',m'}^k||^2 - (delta/2) E||grad f(theta^k)||^2."
    ),
    latex=NEGATIVE_INNER_PRODUCT.latex
    + r"\leq\frac{\delta^3L^2(sM+m)}{2N}\sum_n\sum_{(s',m')<(s,m)}\mathbb{E}\Vert v_{n,s',m'}^k\Vert^2"
    r"-\frac{\delta}{2}\mathbb{E}\Vert\nabla f(\theta^k)\Vert^2",
    quantity=NEGATIVE_INNER_PRODUCT,
    source="repair of Lemma A.2",
    parameters=(delta, L, M, N, s_index, m_index, lexicographic_drift_round, squared_gradient_norm),
    hypotheses=BASE,
    right="delta**3*L**2*(s*M+m)/(2*N)*lexicographic_drift_round - delta/2*squared_gradient_norm",
    amends=_id("lemma-a2"),
    derivation=(
        "-<a,b> = -(||a||^2 + ||b||^2 - ||a-b||^2)/2 with a = grad f(theta^k); Jensen over n and smoothness give "
        "||a-b||^2 <= (L^2/N) sum_n ||theta^k - w_{n,s,m}^k||^2, and theta^k - w_{n,s,m}^k is delta times the sum of "
        "the "
        "sM+m earlier substituted gradients."
    ),
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
        id=_id(label),
        kind="equation",
        title=title,
        equation=equation,
        statement=statement,
        latex=EXPECTED_NEXT_COST.latex + r"\leq " + latex,
        quantity=EXPECTED_NEXT_COST,
        source=f"proof of Theorem V.1, {equation}",
        parameters=parameters,
        hypotheses=BASE,
        right=right,
        remarks=remarks,
    )


A19 = Claim(
    id=_id("eq-a19"),
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
    id=_id("eq-a23/corrected"),
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
    right="cost + delta**3*L**2/(2*N)*weighted_drift_round - delta*S*M/2*squared_gradient_norm"
    " + L*S*M*delta**2/(2*N)*weighted_round",
    amends=_id("eq-a23"),
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
        id=_id(label),
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
    id=_id("eq-a24/corrected"),
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
    right="optimisation_term + drift_term + noise_term",
    amends=_id("eq-a24"),
    derivation="eq-a23/corrected summed over k and multiplied by 2/(delta K S M). With f(theta^K) >= f* it gives "
    "theorem-v1-eq7/corrected, which is also the repair of (A.25).",
)

PAPER = Paper(
    name=PAPER_NAME,
    title="Federated Learning Using Variance Reduced Stochastic Gradient for Probabilistically Activated Agents",
    authors="Mohammadreza Rostami, Solmaz S. Kia",
    claims=(
        THEOREM_7,
        THEOREM_7_CORRECTED,
        THEOREM_8,
        THEOREM_8_CORRECTED,
        THEOREM_8_SHARPER,
        REMARK,
        REMARK_CORRECTED,
        LEMMA_V1,
        EQ9,
        EQ9_CORRECTED,
        EQ10,
        EQ10_CORRECTED,
        EQ12,
        EQ12_CORRECTED,
        EQ13,
        EQ14,
        EQ14_CORRECTED,
        LEMMA_A1,
        LEMMA_A1_CORRECTED,
        LEMMA_A2,
        LEMMA_A2_CORRECTED,
        A19,
        A20,
        A21,
        A22,
        A23,
        A23_CORRECTED,
        A24,
        A24_CORRECTED,
        A25,
    ),
)
