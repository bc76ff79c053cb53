"""Parameters, quantities and hypotheses that the textbook results share."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from theory.assumptions import Convex, IndependentParticipation, Smooth, StronglyConvex, UnbiasedSampling
from theory.claim import Claim, Hypothesis, Kind, Parameter, Quantity, VectorLine
from theory.domain import COUNT, INDEX, NONNEGATIVE, POSITIVE, REAL

PAPER_NAME = "textbook"

# --- sources ---------------------------------------------------------------------------------------------------------

NESTEROV = "Nesterov, Lectures on Convex Optimization (2018)"
BAUSCHKE = "Bauschke, Combettes, Convex Analysis and Monotone Operator Theory in Hilbert Spaces (2017)"
JOHNSON_ZHANG = (
    "Johnson, Zhang, Accelerating Stochastic Gradient Descent using Predictive Variance Reduction, NIPS 2013"
)
GOWER = "Gower, Loizou, Qian, Sailanbayev, Shulgin, Richtarik, SGD: General Analysis and Improved Rates, ICML 2019"
KARIMI = (
    "Karimi, Nutini, Schmidt, Linear Convergence of Gradient and Proximal-Gradient Methods Under the "
    "Polyak-Lojasiewicz Condition, ECML 2016"
)
SCAFFOLD = "Karimireddy, Kale, Mohri, Reddi, Stich, Suresh, SCAFFOLD, ICML 2020"
RESHUFFLING = "Mishchenko, Khaled, Richtarik, Random Reshuffling: Simple Analysis with Vast Improvements, NeurIPS 2020"
LOCAL_SGD = "Stich, Local SGD Converges Fast and Communicates Little, ICLR 2019"
COMPOSITE = (
    "Taylor, Hendrickx, Glineur, Exact Worst-Case Performance of First-Order Methods for Composite Convex "
    "Optimization, SIAM J. Optim. 27 (2017)"
)

# --- parameters ------------------------------------------------------------------------------------------------------

delta = Parameter("delta", POSITIVE, "step size")
L = Parameter("L", POSITIVE, "Lipschitz constant of the gradient")
mu = Parameter("mu", POSITIVE, "strong convexity modulus")
K = Parameter("K", COUNT, "steps, or rounds")
N = Parameter("N", COUNT, "clients, or the size of a batch")
M = Parameter("M", COUNT, "inner steps, or local steps of a round")
k = Parameter("k", INDEX, "steps, or rounds, taken so far")
t = Parameter("t", POSITIVE, "free parameter of the inequality")
R2 = Parameter("R2", NONNEGATIVE, "squared distance of the start from the minimiser")
f0_gap = Parameter("f0_gap", NONNEGATIVE, "f(x_0) - f*")
gap = Parameter("gap", NONNEGATIVE, "f(x) - f*")
distance2 = Parameter("distance2", NONNEGATIVE, "squared distance of the two points")
gradient_distance2 = Parameter("gradient_distance2", NONNEGATIVE, "squared distance of the two gradients")
gradient2 = Parameter("gradient2", NONNEGATIVE, "squared norm of the gradient")
fx = Parameter("fx", REAL, "f(x)")
slope = Parameter("slope", REAL, "<grad f(x), y-x>")
a2 = Parameter("a2", NONNEGATIVE, "||a||^2")
b2 = Parameter("b2", NONNEGATIVE, "||b||^2")
sigma2 = Parameter("sigma2", NONNEGATIVE, "variance of one sampled gradient, or its bound along the run")
sigma_star2 = Parameter("sigma_star2", NONNEGATIVE, "E||grad f_i(x*)||^2 for a sampled i")
G2 = Parameter("G2", NONNEGATIVE, "bound on E||v||^2 of every sampled gradient v")

# --- quantities ------------------------------------------------------------------------------------------------------

SQUARED_DISTANCE = Quantity("squared_distance", "E||x_k - x*||^2", r"\mathbb{E}\Vert x_k-x^*\Vert^2")
SUBOPTIMALITY = Quantity("suboptimality", "E f(x_k) - f*", r"\mathbb{E}f(x_k)-f^*")
MEAN_SQUARED_GRADIENT_NORM = Quantity(
    "mean_squared_gradient_norm",
    "average over the steps k=0..K-1 of E||grad f(x_k)||^2",
    r"\frac{1}{K}\sum_{k=0}^{K-1}\mathbb{E}\Vert\nabla f(x_k)\Vert^2",
)
GRADIENT_PRODUCT = Quantity(
    "gradient_product", "<grad f(x) - grad f(y), x - y>", r"\langle\nabla f(x)-\nabla f(y),x-y\rangle"
)
SQUARED_GRADIENT = Quantity("squared_gradient", "||grad f(x)||^2", r"\Vert\nabla f(x)\Vert^2")
IMAGE_DISTANCE = Quantity("image_distance", "squared distance of the two images", r"\Vert T(x)-T(y)\Vert^2")

# --- hypotheses ------------------------------------------------------------------------------------------------------

SMOOTH = Hypothesis("smooth", "the gradient of f is L-Lipschitz", assumption=Smooth("L"))
SMOOTH_SAMPLES = Hypothesis(
    "smooth samples", "the gradient of every f_i is L-Lipschitz", assumption=Smooth("L", "sample")
)
CONVEX = Hypothesis("convex", "f is convex", assumption=Convex("client"))
CONVEX_SAMPLES = Hypothesis("convex samples", "every f_i is convex", assumption=Convex("sample"))
STRONGLY_CONVEX = Hypothesis("strongly convex", "f is mu-strongly convex", assumption=StronglyConvex("mu"))
MODULI = Hypothesis("moduli", "mu <= L, which the two constants imply", relation="mu <= L")
UNBIASED = Hypothesis("unbiased", "the index is drawn uniformly", assumption=UnbiasedSampling())
PARTICIPATION = Hypothesis(
    "participation", "clients take part independently with probabilities p_n > 0", assumption=IndependentParticipation()
)
STEP_1 = Hypothesis("step size", "delta <= 1/L", relation="delta <= 1/L")
STEP_2 = Hypothesis("step size", "delta <= 2/L", relation="delta <= 2/L")
STEP_HALF = Hypothesis("step size", "delta <= 1/(2L)", relation="delta <= 1/(2*L)")

Values = Mapping[str, Fraction]


def result(
    label: str,
    title: str,
    statement: str,
    latex: str,
    quantity: Quantity,
    source: str,
    *,
    kind: Kind = "lemma",
    vectors: VectorLine | None = None,
    **rest: Any,
) -> Claim:
    """A textbook result; `rest` are further fields of `Claim`."""
    return Claim(
        id=f"{PAPER_NAME}/{label}",
        kind=kind,
        title=title,
        equation=label,
        statement=statement,
        latex=latex,
        quantity=quantity,
        source=source,
        vectors=vectors,
        **rest,
    )
