"""What the claims of the open-fl paper share: parameters, quantities and hypotheses.

Notation: x^k is a client's iterate, f its cost, x* the minimiser of f, g a sampled gradient at x^k; h, v, vhat are the
moments of Adam (3), vhat the running maximum. A norm without a name is Euclidean.
"""

from __future__ import annotations

from theory.assumptions import (
    BoundedStochasticGradient,
    BoundedVariance,
    MinimisersInBall,
    ShortStep,
    Smooth,
    StronglyConvex,
    UnbiasedSampling,
)
from theory.claim import Hypothesis, Parameter, Quantity
from theory.domain import COUNT, NONNEGATIVE, POSITIVE, Domain

PAPER_NAME = "open-fl"
BELOW_ONE = Domain(0, 1, upper_open=True)

mu = Parameter("mu", POSITIVE, "strong convexity modulus of every client's function")
L = Parameter("L", POSITIVE, "Lipschitz constant of every client's gradient")
r = Parameter("r", NONNEGATIVE, "radius of the ball about 0 that contains every client's minimiser")
sigma = Parameter("sigma", NONNEGATIVE, "bound on the standard deviation of a sampled gradient (Assumption 3)")
gradient_bound = Parameter("sigma", NONNEGATIVE, "bound on the norm of every sampled gradient (Assumption 4)")
eta = Parameter("eta", POSITIVE, "step size of the local updates")
beta1 = Parameter("beta1", BELOW_ONE, "Adam's factor of the first moment")
beta2 = Parameter("beta2", BELOW_ONE, "Adam's factor of the second moment")
eps = Parameter("eps", POSITIVE, "Adam's epsilon, inside the square root")
dimension = Parameter("d", COUNT, "dimension of the iterates")

ROOT_MEAN_SQUARE_ITERATE = Quantity(
    "root_mean_square_iterate",
    "the root of E[||x^{k+1}||^2 | x^k], for any x^k with ||x^k|| <= the right side",
    r"\sqrt{\mathbb{E}[\Vert x^{k+1}\Vert^2|x^k]}",
)
NEXT_SQUARED_ITERATE_NORM = Quantity(
    "next_squared_iterate_norm",
    "E[||x^{k+1}||^2 | x^k]",
    r"\mathbb{E}[\Vert x^{k+1}\Vert^2|x^k]",
)

A1_CONVEX = Hypothesis(
    "strongly convex clients", "Assumption 1: every f_i is mu-strongly convex", assumption=StronglyConvex("mu")
)
A1_SMOOTH = Hypothesis("smooth clients", "Assumption 1: every f_i is L-smooth", assumption=Smooth("L"))
SMOOTH_OVER_CONVEX = Hypothesis(
    "smoothness over strong convexity", "mu <= L, as Assumption 1 implies", relation="mu <= L"
)
A2 = Hypothesis("minimisers in a ball", "Assumption 2: every x_i* is in B(0,r)", assumption=MinimisersInBall("r"))
UNBIASED = Hypothesis("unbiased sampling", "Assumptions 3 and 4: E g = grad f_i(x)", assumption=UnbiasedSampling())
A3 = Hypothesis(
    "bounded variance", "Assumption 3: E||g - grad f_i(x)||^2 <= sigma^2", assumption=BoundedVariance("sigma")
)
A4 = Hypothesis(
    "bounded sampled gradient",
    "Assumption 4: ||g|| <= sigma, printed for the iterates x_i^k",
    assumption=BoundedStochasticGradient("sigma"),
)
STEP_SIZE = Hypothesis("step size", "eta in (0, 1/L]", assumption=ShortStep("L"))


def identifier(label: str) -> str:
    """The claim's id, from its label."""
    return f"{PAPER_NAME}/{label}"
