"""What the claims of fedavg-svrg share: parameters, quantities, hypotheses.

Notation: theta^k is the server's model at round k; w_{n,s,m}^k client n's inner iterate in snapshot s, step m;
v_{n,s,m}^k its variance-reduced gradient; f = (1/N) sum_n f_n. E||v_{n,s,m}^k||^2 is over everything random and
concerns every client, also one that does not take part in the round (the proof sums over all n).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from theory.assumptions import (
    BoundedEstimatorSecondMoment,
    Convex,
    IndependentParticipation,
    Smooth,
    StronglyConvex,
    UnbiasedSampling,
)
from theory.claim import Hypothesis, Parameter, Quantity
from theory.domain import AT_LEAST_ONE, COUNT, INDEX, NONNEGATIVE, POSITIVE, REAL
from theory.papers import results

PAPER_NAME = "fedavg-svrg"

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
SVRG_STEP_OF_ALPHA = replace(
    SVRG_STEP, where="alpha = h(mu, L, delta, M) < 1, the factor of a contraction (Theorem 1 of [19])"
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

V2 = r"\mathbb{E}\Vert v_{n,s,m}^k\Vert^2"
V2_PRIME = r"\mathbb{E}\Vert v_{n,s,m'}^k\Vert^2"
LHS = MEAN_SQUARED_GRADIENT_NORM.latex

identifier = partial(results.identifier, PAPER_NAME)
