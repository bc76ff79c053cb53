"""What the claims of fedmim share: parameters, quantities, hypotheses, formulas.

Notation (the paper's): lags j = 0, ..., J-1; A = 1 - sum alpha; rho = sum beta; delta_t = -(x_t - x_{t-1})/K, 0 for
t <= 0; y2 = x_{i,k} - sum_j beta_j delta_{t-j}, where the gradient g_{i,k} is sampled; S of N clients a round,
uniformly without replacement; K local steps with step eta_l, eta = K eta_l; dtilde_t = (eta_l/(SK)) sum g;
u_t = x_t - (K/A) sum_j (sum_{s>=j} alpha_s) delta_{t-j}.

What a client that is not selected would have computed is meant where a sum runs over all clients.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from theory.assumptions import (
    BoundedAverageStep,
    PolyakLojasiewicz,
    RelativeDissimilarity,
    Smooth,
    UnbiasedSampling,
    UniformParticipation,
    VarianceAtMost,
)
from theory.claim import Hypothesis, Parameter, Quantity
from theory.domain import COUNT, INDEX, NONNEGATIVE, POSITIVE, PROBABILITY, Domain
from theory.papers import results

PAPER_NAME = "fedmim"
WEIGHT = Domain(0, 1, upper_open=True)

# --- parameters ------------------------------------------------------------------------------------------------------

alpha = Parameter(
    "alpha", WEIGHT, "weights of the inertia on the iterate, by lag from 0; their sum is below 1", "vector"
)
beta = Parameter("beta", NONNEGATIVE, "weights of the inertia in the gradient's argument, by lag from 0", "vector")
K = Parameter("K", COUNT, "local steps a round")
k = Parameter("k", COUNT, "index of a local step, 1 to K")
L = Parameter("L", POSITIVE, "Lipschitz constant of every client's gradient")
eta_l = Parameter("eta_l", POSITIVE, "local step size")
S = Parameter("S", COUNT, "clients selected a round")
N = Parameter("N", COUNT, "clients")
G = Parameter("G", NONNEGATIVE, "constant part of the clients' dissimilarity (6)")
B = Parameter("B", NONNEGATIVE, "relative part of the clients' dissimilarity (6)")
sigma2 = Parameter("sigma2", NONNEGATIVE, "sigma_l^2, bound of the variance of a sampled gradient")
C = Parameter("C", NONNEGATIVE, "E||dtilde_t||^2 <= eta_l^2 C in every round")
T = Parameter("T", COUNT, "rounds")
f0_gap = Parameter("f0_gap", NONNEGATIVE, "f(x_0) - f_*")
lam = Parameter(
    "lam", Domain(0, 0.5, lower_open=True, upper_open=True), "lambda, the share of the descent that is kept"
)
mu = Parameter("mu", POSITIVE, "constant of the Polyak-Lojasiewicz inequality (4)")
delta_sq = Parameter("delta_sq", NONNEGATIVE, "E||delta_{t-j}||^2, by lag from 0", "vector")
dtilde_sq = Parameter("dtilde_sq", NONNEGATIVE, "E||dtilde_t||^2")
grad_u2 = Parameter("grad_u2", NONNEGATIVE, "E||grad f(u_t)||^2")
x_sq = Parameter("x_sq", NONNEGATIVE, "E||x_{i,k} - x_t||^2")
drift = Parameter("drift", NONNEGATIVE, "the mean over clients of E||x_{i,k} - x_t||^2")
gradients_sq = Parameter("gradients_sq", NONNEGATIVE, "(1/N) sum_i E||grad f_i(y2)||^2")
mean_sq = Parameter("mean_sq", NONNEGATIVE, "E||(1/N) sum_i grad f_i(y2)||^2")
selected_sq = Parameter("selected_sq", NONNEGATIVE, "(1/K) sum_k E||(1/S) sum_{i in S_t} grad f_i(y2)||^2")
gap = Parameter("gap", NONNEGATIVE, "E f(u_t) - f_*")
A = Parameter("A", PROBABILITY, "1 - sum alpha")
rho = Parameter("rho", NONNEGATIVE, "sum beta")
J = Parameter("J", INDEX, "lags")

# --- formulas --------------------------------------------------------------------------------------------------------

LAGS = {"A": "1 - sum(alpha)", "rho": "sum(beta)", "J": "sum(0*alpha + 1)"}
P_J = "rho*beta + K**2*J*(1-A)**2/A**2"
DRIFT_LAGS = {**LAGS, "P": P_J, "M": "alpha + 4*A*L**2*eta_l**2*P"}
V_FORMULA = "6*(1-A)*K**2 + (27/32*A + 1)*(rho**2 + K**2*J**2*(1-A)**2/A**2)"
LAMBDA_LIMIT = "1/2 - 32*K*eta_l*L*B**2 - 36*eta_l**2*A*K**2*B**2*L**2"
LAMBDA_LIMIT_CORRECTED = "1/2 - 4*K*eta_l*L - 16*K*eta_l*L*B**2 - 36*eta_l**2*A*K**2*B**2*L**2"
LAMBDA_LIMIT_KEPT = "1/2 - 8*K*eta_l*L*B**2/S - 36*eta_l**2*A*K**2*B**2*L**2"

# --- quantities ------------------------------------------------------------------------------------------------------

_GRADIENT = r"\nabla f_i(y_{i,k,2}^t)"
GRADIENT_U = r"\mathbb{E}\Vert\nabla f(u_t)\Vert^2"
DELTA = r"\mathbb{E}\Vert\delta_{t-j}\Vert^2"
MIN_GRADIENT = Quantity(
    "min_squared_gradient", "min over t < T of E||grad f(u_t)||^2", r"\min_{t}\mathbb{E}\Vert\nabla f(u_t)\Vert^2"
)
OUT_GRADIENT = Quantity(
    "output_squared_gradient",
    "E||grad f(u_out)||^2, u_out = u_t, t < T, with probability proportional to (1 - mu eta lam)^{-t}",
    r"\mathbb{E}\Vert\nabla f(u^{out})\Vert^2",
)
CLIENT_GRADIENT = Quantity(
    "client_squared_gradient", "E||grad f_i(y2)||^2 of any client", r"\mathbb{E}\Vert" + _GRADIENT + r"\Vert^2"
)
MEAN_CLIENT_GRADIENT = Quantity(
    "mean_client_squared_gradient",
    "(1/N) sum_i E||grad f_i(y2)||^2",
    r"\frac{1}{N}\sum_i\mathbb{E}\Vert" + _GRADIENT + r"\Vert^2",
)
CLIENT_DRIFT = Quantity(
    "client_drift",
    "(1/(KN)) sum over clients and k = 1, ..., K of E||x_{i,k} - x_t||^2",
    r"\frac{1}{KN}\sum_{i,k}\mathbb{E}\Vert x_{i,k}^t-x_t\Vert^2",
)
ONE_CLIENT_DRIFT = Quantity(
    "one_client_drift", "E||x_{i,k} - x_t||^2 of any client", r"\mathbb{E}\Vert x_{i,k}^t-x_t\Vert^2"
)
MEAN_DRIFT = Quantity(
    "mean_drift",
    "(1/N) sum_i E||x_{i,k} - x_t||^2",
    r"\frac{1}{N}\sum_i\mathbb{E}\Vert x_{i,k}^t-x_t\Vert^2",
)
AVERAGE_GRADIENT = Quantity(
    "average_gradient_squared",
    "E||(1/(SK)) sum over selected clients and k of g_{i,k}||^2",
    r"\mathbb{E}\Vert\frac{1}{SK}\sum_{i\in S_t,k}g_{i,k}^t\Vert^2",
)
SELECTED_GRADIENT = Quantity(
    "selected_gradient_squared",
    "E||(1/S) sum over selected clients of grad f_i(y2)||^2",
    r"\mathbb{E}\Vert\frac{1}{S}\sum_{i\in S_t}" + _GRADIENT + r"\Vert^2",
)
NEXT_DELTA = Quantity("next_delta_squared", "E||delta_{t+1}||^2", r"\mathbb{E}\Vert\delta_{t+1}\Vert^2")
DESCENT = Quantity("descent", "E[f(u_{t+1}) - f(u_t)]", r"\mathbb{E}[f(u_{t+1})-f(u_t)]")
LAMBDA_VALUE = Quantity("lambda", "the lambda of the proof", r"\lambda")
SQUARED_GRADIENT = Quantity("squared_gradient", "E||grad f(u_t)||^2", GRADIENT_U)

# --- hypotheses ------------------------------------------------------------------------------------------------------

A1 = Hypothesis("smooth clients", "Assumption 1: every grad f_i is L-Lipschitz", assumption=Smooth("L"))
A2 = Hypothesis("PL", "Assumption 2: ||grad f||^2/2 >= mu (f - f_*)", assumption=PolyakLojasiewicz("mu"))
UNBIASED = Hypothesis("unbiased sampling", "Assumption 3: E g = grad f_i", assumption=UnbiasedSampling())
A3 = Hypothesis(
    "bounded variance",
    "Assumption 3: E||g - grad f_i||^2 <= sigma_l^2",
    assumption=VarianceAtMost("sigma2", at="iterates"),
)
A4 = Hypothesis(
    "dissimilarity",
    "Assumption 4: (1/N) sum_i ||grad f_i||^2 <= G^2 + B^2 ||grad f||^2 at every x",
    assumption=RelativeDissimilarity("G", "B"),
)
NOISE = (UNBIASED, A3)
WEIGHTS = Hypothesis("weights", "sum of alpha below 1 (Algorithm 1)", relation="sum(alpha) < 1")
WEIGHTS_IN_WORDS = Hypothesis(WEIGHTS.name, WEIGHTS.statement)
UNIFORM = Hypothesis(
    "uniform participation", "S of the N clients, uniformly without replacement", assumption=UniformParticipation()
)
DRIFT_STEP = Hypothesis("drift step", "eta_l <= 1/(4 L K sqrt A)", relation="eta_l <= 1/(4*L*K*sqrt(A))")
DESCENT_STEP = Hypothesis("descent step", "eta_l <= 3/(16 K L)", relation="eta_l <= 3/(16*K*L)")
LAMBDA_OF_33 = Hypothesis(
    "lambda exists",
    "(33): lambda < 1/2 - 32 eta L B^2 - 36 eta_l^2 A K^2 B^2 L^2; not implied by the step sizes",
    relation="lam < lam_max",
    where="(33)(d), the proof of Theorem IV.1, which introduces lambda for the lines after it",
)
LAMBDA = replace(LAMBDA_OF_33, printed=False, where="")
BOUNDED_DTILDE = Hypothesis(
    "C",
    "E||dtilde_t||^2 <= eta_l^2 C in every round",
    assumption=BoundedAverageStep("C", "eta_l"),
    where="the proof of Lemma 6, which introduces C by assuming this",
)
DRIFT_STEP_OF_8 = replace(DRIFT_STEP, where="Lemma 8, through which the proof of Lemma 9 goes")
DESCENT_STEP_OF_33 = replace(
    DESCENT_STEP, where="Theorem IV.1, whose proof that of Theorem IV.2 takes over ('Similar to the ... case')"
)
SMOOTH_PL = Hypothesis("mu <= L", "as Assumptions 1 and 2 imply", relation="mu <= L")

identifier = partial(results.identifier, PAPER_NAME)
result = partial(results.result, PAPER_NAME)
