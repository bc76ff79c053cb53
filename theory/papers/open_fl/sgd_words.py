"""What the claims about SGD share beyond `words`: parameters, quantities, hypotheses, formulas."""

from __future__ import annotations

from theory.claim import Hypothesis, Parameter, Quantity
from theory.domain import NONNEGATIVE, REAL
from theory.papers.open_fl.words import (
    A1_CONVEX,
    A1_SMOOTH,
    A2,
    A3,
    NEXT_SQUARED_ITERATE_NORM,
    SMOOTH_OVER_CONVEX,
    STEP_SIZE,
    UNBIASED,
)

# --- parameters ------------------------------------------------------------------------------------------------------

radius = Parameter("R", NONNEGATIVE, "radius of the ball about 0")
second_moment = Parameter("R2", NONNEGATIVE, "bound on E||x_i||^2 of every client, before the averaging")
iterate_norm = Parameter("iterate_norm", NONNEGATIVE, "||x^k||")
minimiser_norm = Parameter("minimiser_norm", NONNEGATIVE, "||x*||")
gradient_norm = Parameter("gradient_norm", NONNEGATIVE, "||grad f(x^k)||")
distance2 = Parameter("distance2", NONNEGATIVE, "||x^k - x*||^2")
iterate_product = Parameter("iterate_product", REAL, "E[<x^k, g> | x^k]")
sampled_gradient2 = Parameter("sampled_gradient2", NONNEGATIVE, "E[||g||^2 | x^k]")

# --- quantities ------------------------------------------------------------------------------------------------------

EVERY_SQUARED_ITERATE_NORM = Quantity(
    "every_squared_iterate_norm",
    "E||x^k||^2 for any k, given any x^0 with ||x^0|| <= R",
    r"\mathbb{E}\Vert x^k\Vert^2",
)
ROOT_MEAN_SQUARE_EVER = Quantity(
    "root_mean_square_ever",
    "the root of E||x_i^k||^2, for any k and i, given E||x_i^0||^2 <= the right side squared for every i",
    r"\sqrt{\mathbb{E}\Vert x_i^k\Vert^2}",
)
AVERAGED_SQUARE = Quantity(
    "averaged_square",
    "E||sum_i d_i x_i / sum_i d_i||^2",
    r"\mathbb{E}\Vert\frac{\sum_i\delta_ix_i}{\sum_i\delta_i}\Vert^2",
)
MOVED_NORM = Quantity("moved_norm", "||x - eta D||", r"\Vert x-\eta\Delta x\Vert")
GRADIENT_PRODUCT = Quantity("gradient_product", "E[<x^k - x*, g> | x^k]", r"\mathbb{E}[\langle x^k-x^*,g\rangle|x^k]")
ITERATE_PRODUCT = Quantity("iterate_product", "E[<x^k, g> | x^k]", r"\mathbb{E}[\langle x^k,g\rangle|x^k]")
SAMPLED_GRADIENT2 = Quantity("sampled_gradient2", "E[||g||^2 | x^k]", r"\mathbb{E}[\Vert g\Vert^2|x^k]")

# --- hypotheses ------------------------------------------------------------------------------------------------------

FULL_STEP = Hypothesis("full step", "eta = 1/L, the only step size that the proof looks at")
KAPPA_3 = Hypothesis("condition number", "kappa >= 3 (mu is lowered to L/3 where it is not)", relation="3*mu <= L")
STABLE_CLIENT = Hypothesis(
    "stable local optimiser",
    "Definition 1 holds for every client's local optimiser at one R that is the same for all",
)
WEIGHTS = Hypothesis("weights", "d_i >= 0, independent of the clients' numbers (printed: i.i.d.)")
SOMEBODY = Hypothesis(
    "somebody is selected",
    "sum_i d_i > 0, or the clients keep their models: (4) is 0/0 when nobody is selected, which Bernoulli(p) draws do "
    "with probability (1-p)^N",
    where="(4), which divides by sum_i d_i, and Algorithm 1, line 7: the average is over a subset of the clients",
)
INDEPENDENT_WEIGHTS = Hypothesis("independent weights", "the d_i are independent of the iterates that are averaged")
MOMENTS_ONLY = Hypothesis("second moments", "E||x_i||^2 <= R2 for every client that is averaged")
IN_BALL = Hypothesis("in the ball", "||x|| <= R")
FULL_STEP_IN_BALL = Hypothesis("full step in the ball", "||x - D/L|| <= R")
SHORT_STEP = Hypothesis("short step", "eta in (0, 1/L]", relation="eta*L <= 1")
CURVED_OR_SHORT = Hypothesis(
    "kappa > 1 or eta < 1/L", "excludes kappa = 1 with eta = 1/L, where the formula is 0/0", relation="eta*(mu + L) < 2"
)

CLASS = (A1_CONVEX, A1_SMOOTH, SMOOTH_OVER_CONVEX)
ONE_STEP = (*CLASS, A2, UNBIASED, A3, STEP_SIZE)
LINE = (*CLASS, A2, UNBIASED)

KAPPA = {"kappa": "L/mu"}
NEXT = NEXT_SQUARED_ITERATE_NORM.latex
PRODUCTS = r"\frac{L^{-1}\Vert\nabla f(x^k)\Vert^2}{1+\kappa^{-1}}+\frac{\mu\Vert x^k-x^*\Vert^2}{1+\kappa^{-1}}"
LATEX_7 = PRODUCTS + r"-r\Vert\nabla f(x^k)\Vert"
LATEX_8 = (
    r"\Vert x^k\Vert^2-\frac{2}{L}\mathbb{E}[\langle x^k,g\rangle|x^k]+\frac{1}{L^2}\mathbb{E}[\Vert g\Vert^2|x^k]"
)
LATEX_10 = (
    r"\Vert x^k\Vert^2+\frac{2r}{L}\Vert\nabla f(x^k)\Vert"
    r"-\frac{1}{L^2}(\frac{1-\kappa^{-1}}{1+\kappa^{-1}})\Vert\nabla f(x^k)\Vert^2"
    r"-\frac{2\mu}{L(1+\kappa^{-1})}\Vert x^k-x^*\Vert^2+\frac{\sigma^2}{L^2}"
)
LATEX_11 = r"\Vert x^k\Vert^2+2r^2-\kappa^{-1}(\Vert x^k\Vert-\Vert x^*\Vert)^2+\frac{\sigma^2}{L^2}"
SQUARED_FULL_STEP = r"\frac{\kappa+1}{2}(r^2+\frac{\sigma^2}{L^2})"
