"""The proof of Theorem 2 as printed, line by line, and the proofs of its repairs.

In the scalar lines of the printed proof kappa = 3 + z, T = R - r with T^2 = kappa (2 r^2 + s2), and s2 = sigma^2/L^2.
"""

from __future__ import annotations

from theory.claim import Inference, Step, Use
from theory.papers.open_fl import sgd_lines as lines
from theory.papers.open_fl.sgd_words import (
    AVERAGED_SQUARE,
    GRADIENT_PRODUCT,
    ITERATE_PRODUCT,
    LATEX_7,
    LATEX_8,
    LATEX_10,
    LATEX_11,
    MOVED_NORM,
    NEXT,
    PRODUCTS,
    SAMPLED_GRADIENT2,
)
from theory.papers.open_fl.words import identifier

PROOF_OF_THEOREM_2 = (
    Step(
        "Lemma 4",
        MOVED_NORM.latex,
        "<=",
        "R",
        "inequality",
        "used with x and the sampled gradient as vectors of the Hilbert space of square-integrable random vectors, "
        "where the ball E||.||^2 <= R^2 is convex as well; so eta = 1/L is the worst step size",
        claim=identifier("lemma-4"),
        vectors=lines.LEMMA4,
    ),
    Step(
        "(6)",
        GRADIENT_PRODUCT.latex,
        ">=",
        PRODUCTS,
        "inequality",
        "strong convexity and smoothness (Nesterov (2004), Theorem 2.1.12)",
        claim=identifier("eq6"),
        vectors=lines.EQ6,
    ),
    Step(
        "(7)",
        ITERATE_PRODUCT.latex,
        ">=",
        LATEX_7,
        "inequality",
        "E<g,x*> added to both sides; rest = <x*, grad f> + r ||grad f|| >= 0 by Cauchy and Schwarz",
        claim=identifier("eq7"),
        vectors=lines.EQ7,
        uses=("(6)",),
        inference=Inference(parts=(Use("(6)"),), at={"iterate_product": "gradient_product + rest - r*gradient_norm"}),
    ),
    Step(
        "(8)",
        NEXT,
        "=",
        LATEX_8,
        "identity",
        "eta = 1/L",
        claim=identifier("eq8"),
        vectors=lines.EQ8,
        uses=("Lemma 4",),
    ),
    Step(
        "(9)",
        SAMPLED_GRADIENT2.latex,
        "<=",
        r"\sigma^2+\Vert\nabla f(x^k)\Vert^2",
        "moment identity",
        "Assumption 3",
        claim=identifier("eq9"),
        vectors=lines.EQ9,
    ),
    Step(
        "(10)",
        NEXT,
        "<=",
        LATEX_10,
        "substitution",
        "(7) and (9) put into (8)",
        claim=identifier("eq10"),
        vectors=lines.EQ10,
        uses=("(7)", "(8)", "(9)"),
        inference=Inference(parts=(Use("(8)"), Use("(7)", factor="2/L"), Use("(9)", factor="1/L**2"))),
    ),
    Step(
        "(11), first line",
        NEXT,
        "<=",
        r"\Vert x^k\Vert^2+r^2\frac{1+\kappa^{-1}}{1-\kappa^{-1}}"
        r"-2\frac{\kappa^{-1}}{1+\kappa^{-1}}\Vert x^k-x^*\Vert^2+\frac{\sigma^2}{L^2}",
        "inequality",
        "the largest value of the concave (10) over the gradient's norm",
        vectors=lines.EQ11_FIRST,
        uses=("(10)",),
    ),
    Step(
        "(11)",
        NEXT,
        "<=",
        LATEX_11,
        "inequality",
        "kappa >= 3. The inference has kappa = 3 + z, ||grad f|| at its worst plus y, ||x|| = ||x*|| + v and "
        "||x-x*||^2 = v^2 + w with w >= 0; y and v come as squares only, so their sign does not matter",
        claim=identifier("eq11"),
        vectors=lines.EQ11,
        uses=("(10)", "(11), first line"),
        inference=Inference(
            parts=(
                Use(
                    "(10)",
                    at={
                        "L": "mu*(3+z)",
                        "gradient_norm": "mu*(3+z)*(r*(4+z)/(2+z) + y)",
                        "distance2": "v**2 + w",
                        "iterate_norm": "minimiser_norm + v",
                    },
                ),
            ),
            at={"L": "mu*(3+z)", "iterate_norm": "minimiser_norm + v"},
        ),
    ),
    Step(
        "x below r",
        r"\Vert x^k\Vert<r:\ r^2+2r^2+\frac{\sigma^2}{L^2}",
        "<=",
        "R^2",
        "inequality",
        "printed as 'the problem becomes trivial'. x^{k+1} may leave B(0,r); the line is true because (11) without its "
        "negative term is at most 3 r^2 + sigma^2/L^2",
        identity=("3*r**2 + s2", "r**2 + 2*r*T + (3+z)*(2*r**2 + s2)"),
        uses=("(11)",),
    ),
    Step(
        "Q",
        NEXT,
        "<=",
        r"Q(\Vert x^k\Vert)=\Vert x^k\Vert^2+2r^2-\kappa^{-1}(\Vert x^k\Vert-r)^2+\frac{\sigma^2}{L^2}",
        "inequality",
        "||x*|| <= r <= ||x^k||; rho = r - ||x*||, p = ||x^k|| - r",
        identity=("p**2", "(p + rho)**2"),
        uses=("(11)",),
    ),
    Step(
        "Q is convex",
        "Q(tR)",
        "<=",
        "(1-t)Q(0)+tQ(R)",
        "inequality",
        "so its largest value on [0, R] is at an end; t = 1/(1+b), C = Q(0)",
        identity=(
            "(1-1/(3+z))*(R/(1+b))**2 + 2*r*(R/(1+b))/(3+z) + C",
            "b/(1+b)*C + 1/(1+b)*((1-1/(3+z))*R**2 + 2*r*R/(3+z) + C)",
        ),
        uses=("Q",),
    ),
    Step(
        "Q(R)",
        "Q(R)",
        "=",
        "R^2",
        "identity",
        "R = r + T, with s2 written as T^2/kappa - 2 r^2",
        identity=("(r+T)**2 + 2*r**2 - ((r+T)-r)**2/(3+z) + (T**2/(3+z) - 2*r**2)", "(r+T)**2"),
        uses=("Q",),
    ),
    Step(
        "Q(0)",
        "Q(0)",
        "<=",
        "R^2",
        "inequality",
        "printed with '<', which fails at r = sigma = 0 only, where both sides are 0; the conclusion needs '<=' alone",
        identity=("2*r**2 - r**2/(3+z) + s2", "r**2 + 2*r*T + (3+z)*(2*r**2 + s2)"),
        uses=("Q",),
    ),
    Step(
        "conclusion",
        NEXT,
        "<=",
        "R^2",
        "substitution",
        claim=identifier("theorem-2"),
        vectors=lines.PRINTED,
        uses=("Lemma 4", "x below r", "Q is convex", "Q(R)", "Q(0)"),
    ),
)

AFFINE_BOUND = Step(
    "affine bound",
    r"\Vert x-\eta\nabla f(x)\Vert^2",
    "<=",
    r"(1+q)(c\Vert x\Vert^2+(1-c)\Vert x^*\Vert^2)",
    "inequality",
    "c = 1 - eta(L+mu)/2, s = eta(L-mu)/2, q = s^2/(c(1-c)); at eta = 1/L: (kappa-1)/(kappa+1) ||x||^2 + ||x*||^2. "
    "What is left is (1+1/q) eta^2 <g-mu u, Lu-g> + ||q p + eta e||^2/q with u = x-x*, p = cx+(1-c)x*, e = g-(L+mu)u/2",
    vectors=lines.AFFINE,
)

FULL_STEP_FIXED_POINT = Step(
    "fixed point",
    r"\frac{\kappa-1}{\kappa+1}R^2+r^2+\frac{\sigma^2}{L^2}",
    "=",
    "R^2",
    "identity",
    "kappa = 1 + z, s2 = sigma^2/L^2",
    identity=("z/(2+z)*((2+z)/2*(r**2+s2)) + r**2 + s2", "(2+z)/2*(r**2+s2)"),
    uses=("affine bound",),
)
SHORTER_STEPS = Step(
    "shorter steps",
    r"\mathbb{E}\Vert x-\eta g\Vert^2",
    "<=",
    r"(1-\eta L)\Vert x\Vert^2+\eta L\,\mathbb{E}\Vert x-\frac{1}{L}g\Vert^2",
    "inequality",
    "Lemma 4: convexity of the squared norm",
    claim=identifier("lemma-4"),
    vectors=lines.LEMMA4,
)
AVERAGES = Step(
    "averages",
    AVERAGED_SQUARE.latex,
    "<=",
    "R^2",
    "inequality",
    "the weights are independent of the iterates; where nobody is selected the models stay",
    claim=identifier("proposition-1/second-moments"),
)


def for_all_time(label: str, *uses: str) -> Step:
    """The conclusion of a claim about every k, from lines about one step and one average."""
    return Step(
        "conclusion",
        r"\mathbb{E}\Vert x_i^k\Vert^2",
        "<=",
        "R^2",
        "summation",
        "by induction over the iterations: the affine bound holds in expectation, as it is linear in ||x||^2",
        claim=identifier(label),
        uses=uses,
    )


PROOF_OF_CORRECTED = (
    AFFINE_BOUND,
    FULL_STEP_FIXED_POINT,
    SHORTER_STEPS,
    Step(
        "conclusion",
        NEXT,
        "<=",
        "R^2",
        "substitution",
        "the noise adds at most eta^2 sigma^2",
        vectors=lines.CORRECTED,
        uses=("affine bound", "fixed point", "shorter steps"),
    ),
)

PROOF_FOR_ALL_TIME = (
    AFFINE_BOUND,
    FULL_STEP_FIXED_POINT,
    SHORTER_STEPS,
    AVERAGES,
    for_all_time("theorem-2/corrected-2", "affine bound", "fixed point", "shorter steps", "averages"),
)

PROOF_AT_ETA = (
    AFFINE_BOUND,
    Step(
        "contraction",
        r"1-c(1+q)",
        "=",
        r"\frac{2\eta\mu L}{L+\mu}",
        "identity",
        "b = eta",
        identity=(
            "1 - (1-b*(L+mu)/2) - (b*(L-mu)/2)**2/(b*(L+mu)/2)",
            "2*b*mu*L/(L+mu)",
        ),
        uses=("affine bound",),
    ),
    Step(
        "fixed point",
        r"(1-c)(1+q)/(1-c(1+q))",
        "=",
        r"\frac{A(A-\eta\mu L)}{(1-\eta A)\mu L}",
        "identity",
        "b = eta",
        identity=(
            "(b*(L+mu)/2 + (b*(L-mu)/2)**2/(1-b*(L+mu)/2))*(L+mu)/(2*b*mu*L)",
            "(L+mu)/2*((L+mu)/2 - b*mu*L)/((1-b*(L+mu)/2)*mu*L)",
        ),
        uses=("affine bound", "contraction"),
    ),
    AVERAGES,
    for_all_time("theorem-2/corrected-3", "affine bound", "contraction", "fixed point", "averages"),
)
