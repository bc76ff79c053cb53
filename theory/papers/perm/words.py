"""What the claims of perm share: parameters, quantities, hypotheses.

Notation (the paper's): N clients with n_j samples; f_i the empirical loss of client i, printed as a sum over its
samples and used as an average; F = (1/N) sum_j f_j; w* its minimiser over W; a = alpha_i a point of the simplex;
Phi(a, v) = (1/N) sum_j a_j f_j(v) by (3); v*(a) its minimiser over W; s_r a random permutation of the clients;
s = eta N K what an epoch moves in units of a step.

Two readings of Phi are kept apart. `grad_phi` is ||grad Phi|| with (3) as printed. `grad_sum` is
||sum_j a_j grad f_j(v)||, the reading that the proofs use; claims that are read so have ids that end in `unnormalised`,
and repairs say so. With (3), grad_sum = N grad_phi.
"""

from __future__ import annotations

from functools import partial

from theory.assumptions import (
    BoundedDissimilarity,
    BoundedDomain,
    BoundedGradient,
    HalfStep,
    InteriorMinimiser,
    Smooth,
    StronglyConvex,
    UnbiasedSampling,
    VarianceAtMost,
)
from theory.claim import Hypothesis, Parameter, Quantity
from theory.domain import COUNT, INDEX, NONNEGATIVE, OPEN_UNIT, POSITIVE, REAL, Domain
from theory.papers import results

PAPER_NAME = "perm"
UNIT = Domain(0, 1)

# --- parameters ------------------------------------------------------------------------------------------------------

mu = Parameter("mu", POSITIVE, "strong convexity modulus of every client's function")
L = Parameter("L", POSITIVE, "Lipschitz constant of every client's gradient")
N = Parameter("N", COUNT, "clients")
K = Parameter("K", COUNT, "local steps a round, or a client and epoch")
R = Parameter("R", COUNT, "communication rounds (Algorithm 3), epochs (Algorithms 1, 2 and 4)")
M = Parameter("M", COUNT, "size of a mini-batch")
T = Parameter("T", INDEX, "steps of mini-batch SGD")
T_a = Parameter("T_a", COUNT, "gradient steps on the mixing weights")
eta = Parameter("eta", POSITIVE, "step size of the personalised models")
gamma = Parameter("gamma", POSITIVE, "step size of the global model")
p = Parameter("p", OPEN_UNIT, "failure probability")
lam = Parameter("lam", POSITIVE, "lambda, the weight of the regulariser in (2)")
n = Parameter("n", COUNT, "n_j, samples of each client", "vector")
z = Parameter("z", NONNEGATIVE, "z_j, squared gradient dissimilarity of client j", "vector")
vc = Parameter("vc", NONNEGATIVE, "VC dimension of each client's model class", "vector")
alpha_weights = Parameter("alpha", UNIT, "mixing weights, a point of the simplex", "vector")
alpha_one = Parameter("alpha", UNIT, "the mixing weight of the client that is processed")
rad = Parameter("rad", NONNEGATIVE, "R_j, empirical Rademacher complexity on each client's sample", "vector")
disc = Parameter("disc", NONNEGATIVE, "disc(D_j, D_i), discrepancy of each client's distribution", "vector")
C = Parameter("C", NONNEGATIVE, "the constant of the deviation term, with the failure probability in it")
risk_star = Parameter("risk_star", REAL, "L_i(h_i*), least risk of client i")
zeta_vector = Parameter("zeta", NONNEGATIVE, "zeta_ij(w*) = ||grad f_i(w*) - grad f_j(w*)||^2 for every j", "vector")
zeta = Parameter("zeta", NONNEGATIVE, "sup over W of max_i ||grad f_i - grad F||^2, a square already")
zbar = Parameter("zbar", NONNEGATIVE, "(1/N) sum_j zeta_ij(w*)")
dist2 = Parameter("dist2", NONNEGATIVE, "||w^R - w*||^2")
dist0 = Parameter("dist0", NONNEGATIVE, "E||w^0 - w*||^2")
dist = Parameter("dist", NONNEGATIVE, "E||w^t - w*||^2")
gap = Parameter("gap", NONNEGATIVE, "E F(w^t) - F(w*)")
phi_gap = Parameter("gap", NONNEGATIVE, "E of sum_j a_j f_j at v^r above its least value on W")
drift = Parameter("drift", NONNEGATIVE, "(1/N) sum_i E||w_i^t - w^t||^2")
delta2 = Parameter("delta2", NONNEGATIVE, "delta^2, bound of the variance of a sampled gradient")
delta = Parameter("delta", NONNEGATIVE, "delta, bound of the standard deviation of a sampled gradient")
G = Parameter("G", NONNEGATIVE, "bound of the norm of every client's gradient on W")
D = Parameter("D", NONNEGATIVE, "diameter of W")
dv2 = Parameter("dv2", NONNEGATIVE, "||vt - v*(ahat)||^2")
da2 = Parameter("da2", NONNEGATIVE, "||ahat - a*||^2")
start2 = Parameter("start2", NONNEGATIVE, "squared distance of the first weights from the best ones")
weight_drift2 = Parameter("weight_drift2", NONNEGATIVE, "the largest E||a^{r+1} - a^r||^2 over the epochs r < R")
F_gap = Parameter("F_gap", NONNEGATIVE, "F(w^0) - F(w*)")
V = Parameter("V", NONNEGATIVE, "E||v^r - v*||^2")
V0 = Parameter("V0", NONNEGATIVE, "E||v^0 - v*||^2")
grad_phi = Parameter("grad_phi", NONNEGATIVE, "||grad Phi(a, v^r)||, Phi with the factor 1/N of (3)")
grad_sum = Parameter("grad_sum", NONNEGATIVE, "||sum_j a_j grad f_j(v^r)||, which is N ||grad Phi|| with (3)")
a_step = Parameter("a", NONNEGATIVE, "factor of the matrices A_t")
b_step = Parameter("b", NONNEGATIVE, "factor of the matrices B_t (0 for the first statement)")
low = Parameter("l", INDEX, "first index of the products")
high = Parameter("h", INDEX, "last index of the products")
last = Parameter("n", INDEX, "last index of the partial sum, which begins at 0")
count = Parameter("n", COUNT, "clients in the partial sum")
total_vectors = Parameter("n", COUNT, "vectors, all in all")
drawn = Parameter("i", COUNT, "vectors drawn")

# --- quantities ------------------------------------------------------------------------------------------------------

WEIGHT_DISTANCE = r"\Vert\alpha_g^*(w^R)-\alpha_g^*(w^*)\Vert"
DISTANCE_NEXT = Quantity("next_squared_distance", "E||w^{t+1} - w*||^2", r"\mathbb{E}\Vert w^{t+1}-w^*\Vert^2")
CLIENT_DRIFT = Quantity(
    "client_drift", "(1/N) sum_i ||w_i^t - w^t||^2", r"\frac{1}{N}\sum_{i}\Vert w_i^{r,t}-w^{r,t}\Vert^2"
)
GLOBAL_DISTANCE = Quantity("squared_distance", "E||w^R - w*||^2", r"\mathbb{E}\Vert w^R-w^*\Vert^2")
MODEL_DISTANCE = Quantity("model_squared_distance", "E||v^R - v*(a)||^2", r"\mathbb{E}\Vert v^R-v^*(\hat\alpha)\Vert^2")
PERSONAL_GAP = Quantity(
    "personal_gap",
    "E[Phi(a*, vhat) - Phi(a*, v*(a*))]",
    r"\mathbb{E}[\Phi(\alpha^*,\hat v)-\Phi(\alpha^*,v^*(\alpha^*))]",
)
WEIGHT_ERROR = Quantity("weight_error", "E||alpha_i^R - alpha_i*||^2", r"\mathbb{E}\Vert\alpha_i^R-\alpha_i^*\Vert^2")

# --- hypotheses ------------------------------------------------------------------------------------------------------

A1_SMOOTH = Hypothesis("smooth clients", "Assumption 1: every f_i is L-smooth", assumption=Smooth("L"))
A1_CONVEX = Hypothesis(
    "strongly convex clients", "Assumption 1: every f_i is mu-strongly convex", assumption=StronglyConvex("mu")
)
MODULI = Hypothesis("smoothness over strong convexity", "mu <= L, as Assumption 1 implies", relation="mu <= L")
A1 = (A1_SMOOTH, A1_CONVEX, MODULI)
UNBIASED = Hypothesis("unbiased sampling", "sampled gradients are unbiased", assumption=UnbiasedSampling())
A2 = Hypothesis(
    "bounded variance", "Assumption 2: E||grad f_i(w;xi) - grad f_i(w)||^2 <= delta^2 on W", assumption=VarianceAtMost()
)
A2_RUN = Hypothesis(
    "bounded variance along the run",
    "the variance is at most delta^2 at the local iterates too, which may leave W before the projection",
    assumption=VarianceAtMost(at="iterates"),
)
A3 = Hypothesis("bounded domain", "Assumption 3: W is convex and has diameter at most D", assumption=BoundedDomain())
A4 = Hypothesis("bounded gradients", "Assumption 4: sup over W of ||grad f_i|| <= G", assumption=BoundedGradient())
DISSIMILARITY = Hypothesis(
    "dissimilarity",
    "Definition 2: zeta = sup over W of max_i ||grad f_i - grad F||^2",
    assumption=BoundedDissimilarity(),
)
DISSIMILARITY_RUN = Hypothesis(
    "dissimilarity along the run",
    "||grad f_i - grad F||^2 <= zeta at the local iterates too, which may leave W before the projection",
    assumption=BoundedDissimilarity(at="iterates"),
)
INTERIOR = Hypothesis("minimiser inside W", "grad F(w*) = 0: W does not bind at w*", assumption=InteriorMinimiser("F"))
HALF_STEP = Hypothesis("step size", "gamma <= 1/(2L), chosen in the proof of Lemma 6", relation="gamma <= 1/(2*L)")
SIMPLEX = Hypothesis("simplex", "alpha is a point of the simplex", relation="sum(alpha) == 1")
EPOCH_STEP = Hypothesis(
    "step size of the epochs",
    "eta <= 1/(4NKRL), chosen in the proof of Lemma 11",
    relation="eta <= 1/(4*N*K*R*L)",
)
SHORT_EPOCH = Hypothesis("short epochs", "eta N K L <= 1/4", relation="4*eta*N*K*L <= 1")
_IN_LEMMA_6 = "the proof of Lemma 6: 'Since we choose gamma <= 1/(2L)'"
HALF_STEP_OF_6 = Hypothesis(HALF_STEP.name, "gamma <= 1/(2L)", relation="gamma <= 1/(2*L)", where=_IN_LEMMA_6)
UNLISTED_HALF_STEP = Hypothesis(  # of a claim that has no parameter L
    HALF_STEP.name, "gamma <= 1/(2L)", assumption=HalfStep("L"), where=_IN_LEMMA_6
)
# of claims that have no parameter L, or R
UNLISTED_EPOCH_STEP = Hypothesis(EPOCH_STEP.name, EPOCH_STEP.statement)
EPOCH_STEP_OF_11 = Hypothesis(
    EPOCH_STEP.name,
    "eta <= 1/(4NKRL)",
    where="the proof of Lemma 11 (a), before (12): 'Since we choose eta <= 1/(4NKRL)'",
)

identifier = partial(results.identifier, PAPER_NAME)
result = partial(results.result, PAPER_NAME)
