"""Lines (15) to (26) of open-fl's proofs of Theorem 3 and Lemma 5, as claims of their own.

Numbers of a state (a Lyapunov value, an inner product) are parameters of these claims; their left sides are measured.
"""

from __future__ import annotations

from typing import Any

from theory.claim import Claim, FunctionAt, Hypothesis, Parameter, Quantity, Relation, VectorSentence
from theory.domain import NONNEGATIVE, POSITIVE, REAL, Domain
from theory.papers.open_fl import adam_words as words
from theory.papers.open_fl.adam_lines import DESCENT, FIRST_PART, SUFFICIENT
from theory.papers.open_fl.adam_proofs import FACTORS, FRESH, LOCAL_STEP, with_factors
from theory.papers.open_fl.adam_words import CONSTANTS, CONTRACTION, LEMMA_PARAMETERS, POSITIVE_C2
from theory.papers.open_fl.words import (
    A1_CONVEX,
    A1_SMOOTH,
    A2,
    A4,
    BELOW_ONE,
    NEXT_SQUARED_ITERATE_NORM,
    SMOOTH_OVER_CONVEX,
    UNBIASED,
    L,
    beta1,
    beta2,
    dimension,
    eps,
    eta,
    gradient_bound,
    identifier,
    mu,
    r,
)

_STEP = "eta**2*d/((1-beta2)*(1-beta1**2/beta2))"
_VALUES = (mu, eta, beta1, eps, gradient_bound, dimension)
_SIGNS = {"<=": r"\leq ", ">=": r"\geq ", "=": "="}
_PROOF_3, _PROOF_5 = "section VI-B, proof of Theorem 3", "section VI-C, proof of Lemma 5"

kappa = Parameter("kappa", Domain(1, None), "L/mu")
contraction = Parameter("C1", BELOW_ONE, "C1 of (12)")
offset = Parameter("offset", POSITIVE, "(2/mu)(C2 + C3 + C1 C4), which is positive where C1 >= 0")
radius = Parameter("R", NONNEGATIVE, "radius of the ball about 0")
b = Parameter("b", NONNEGATIVE, "factor of the sum of inverse roots in (13)")
c = Parameter("c", NONNEGATIVE, "factor of the inner product in (13)")
PARTS = tuple(Parameter(f"I{i}", REAL, f"I{i} of (21)") for i in (1, 2, 3))
CONSTANT_PARAMETERS = tuple(Parameter(f"C{i}", REAL, f"C{i} of (12)") for i in (2, 3, 4))


def _line(
    label: str, title: str, quantity: Quantity, right: str, statement: str, *, relation: Relation, **rest: Any
) -> Claim:
    """A numbered line of one of the two proofs."""
    latex = rest.pop("latex")
    number = label.split("/")[0].removeprefix("eq")
    return Claim(
        id=identifier(label),
        kind="equation",
        title=title,
        equation=f"({number})",
        statement=statement,
        latex=quantity.latex + _SIGNS[relation] + latex,
        quantity=quantity,
        source=_PROOF_3 if int(number) < 20 else _PROOF_5,
        relation=relation,
        right=right,
        **rest,
    )


EQ15 = _line(
    "eq15",
    "the distance from above by the Lyapunov function",
    words.SQUARED_DISTANCE,
    "2/mu*(lyapunov + C3)",
    "||x^k - x*||^2 <= (2/mu)(f(x^k) - f*) <= (2/mu)(Lyap^k + C3).",
    latex=r"\frac{2}{\mu}(\mathcal{L}^{(k)}+C_3)",
    relation="<=",
    parameters=(*_VALUES, words.lyapunov),
    hypotheses=(A1_CONVEX, A4),
    standing=(FRESH,),
    definitions={"C3": CONSTANTS["C3"]},
)
EQ16 = _line(
    "eq16",
    "the distance from below by the Lyapunov function",
    words.SQUARED_DISTANCE,
    "2/L*(lyapunov - C4)",
    "||x^k - x*||^2 >= (2/L)(f(x^k) - f*) >= (2/L)(Lyap^k - C4).",
    latex=r"\frac{2}{L}(\mathcal{L}^{(k)}-C_4)",
    relation=">=",
    parameters=(L, eta, beta1, eps, gradient_bound, dimension, words.lyapunov),
    hypotheses=(A1_SMOOTH, A4),
    standing=(FRESH,),
    definitions={"C4": CONSTANTS["C4"]},
)
EQ17 = _line(
    "eq17",
    "one step of the distance",
    words.NEXT_SQUARED_DISTANCE,
    "L/mu*C1*squared_distance + 2/mu*(C2 + C3 + C1*C4)",
    "E[||x^{k+1} - x*||^2 | x^k] <= (L/mu) C1 ||x^k - x*||^2 + (2/mu)(C2 + C3 + C1 C4).",
    latex=r"\frac{L}{\mu}C_1\Vert x^{(k)}-x^*\Vert^2+\frac{2}{\mu}(C_2+C_3+C_1C_4)",
    relation="<=",
    parameters=(*LEMMA_PARAMETERS, words.squared_distance),
    hypotheses=(A1_CONVEX, A1_SMOOTH, SMOOTH_OVER_CONVEX, UNBIASED, A4),
    standing=(CONTRACTION, POSITIVE_C2, FRESH, LOCAL_STEP),
    definitions={name: CONSTANTS[name] for name in ("C1", "C2", "C3", "C4")},
)
EQ18 = _line(
    "eq18",
    "a sufficient condition on the radius",
    NEXT_SQUARED_ITERATE_NORM,
    "R**2",
    "If kappa C1 (R+r)^2 + (2/mu)(C2 + C3 + C1 C4) <= R^2 - 2rR, R is a radius of stability, by (17).",
    latex=r"R^2",
    relation="<=",
    parameters=(kappa, contraction, offset, r, radius),
    hypotheses=(
        A2,
        Hypothesis(
            "(17)",
            "E[||x^{k+1}-x*||^2 | x^k] <= kappa C1 ||x^k-x*||^2 + offset",
        ),
        Hypothesis("in the ball", "||x^k|| <= R"),
        Hypothesis("(18)", "the condition on R", relation="kappa*C1*(R+r)**2 + offset <= R**2 - 2*r*R"),
    ),
    vectors=SUFFICIENT,
)
EQ19 = _line(
    "eq19",
    "the radius of Theorem 3",
    words.STABILITY_RADIUS,
    "(1 + L/mu*C1)/(1 - L/mu*C1)*r + sqrt((1 + 3*L/mu*C1)/(1 - L/mu*C1)**2*r**2 + 2*(C2 + C3 + C1*C4)/(mu - L*C1))",
    "The radius of stability that (18) gives: its larger root in R, which is (5).",
    latex=r"C_5r+\sqrt{\frac{1+3\kappa C_1}{(1-\kappa C_1)^2}r^2+\frac{2(C_2+C_3+C_1C_4)}{\mu-LC_1}}",
    relation="=",
    parameters=(mu, L, contraction, *CONSTANT_PARAMETERS, r),
    hypotheses=(
        SMOOTH_OVER_CONVEX,
        Hypothesis("a radius exists", "1 - kappa C1 > 0, as noted after (12)", relation="L*C1 < mu"),
    ),
    standing=(
        Hypothesis(
            "sign of the offset",
            "C2 + C3 + C1 C4 >= 0, which holds for the constants of (12) when C1 >= 0 and beta1^2 < beta2",
            relation="C2 + C3 + C1*C4 >= 0",
            where="(12), whose constants these are",
        ),
    ),
)
EQ20 = _line(
    "eq20",
    "one step of the cost",
    words.COST_INCREASE,
    "L/2*next_squared_step + eta*expected_descent",
    "f(x^{k+1}) - f(x^k) <= (L/2)||x^{k+1} - x^k||^2 + eta A^k, in expectation given x^k.",
    latex=r"\frac{L}{2}\Vert x^{(k+1)}-x^{(k)}\Vert^2+\eta A^{(k)}",
    relation="<=",
    parameters=(L, eta, words.next_squared_step, words.descent),
    hypotheses=(A1_SMOOTH,),
    vectors=DESCENT,
    sentence=VectorSentence(
        ("x", "y", "gx", "gy"),
        {
            words.COST_INCREASE.name: "fy - fx",
            words.next_squared_step.name: "norm2(y - x)",
            words.descent.name: "dot(gx, y - x)/eta",
        },
        ("fx", "fy"),
        (FunctionAt("f", {"x": ("x", "gx", "fx"), "y": ("y", "gy", "fy")}),),
        multipliers={"f smooth(x,y)": "1"},
    ),
)
EQ21 = _line(
    "eq21",
    "A^k in three parts",
    words.EXPECTED_DESCENT,
    "I1 + I2 + I3",
    "E[A^k | x^k] = I1 + I2 + I3.",
    latex=r"I_1+I_2+I_3",
    relation="=",
    parameters=PARTS,
    hypotheses=(UNBIASED,),
)
EQ22 = _line(
    "eq22",
    "the first part: momentum",
    words.FIRST_PART,
    "beta1*A_previous + beta1*L/eta*squared_step",
    "I1 <= beta1 A^{k-1} + (beta1 L/eta)||x^k - x^{k-1}||^2.",
    latex=r"\beta_1A^{(k-1)}+\frac{\beta_1L}{\eta}\Vert x^{(k)}-x^{(k-1)}\Vert^2",
    relation="<=",
    parameters=(L, eta, beta1, words.A_previous, words.squared_step),
    hypotheses=(A1_SMOOTH,),
    standing=(LOCAL_STEP,),
    vectors=FIRST_PART,
)
EQ23 = _line(
    "eq23",
    "the second part: the gradient",
    words.SECOND_PART,
    "-(1-beta1)*weighted_gradient",
    "I2 = -(1-beta1)||grad f(x^k)||^2 in the norm of (eps I + Vhat^k)^(-1/2).",
    latex=r"-(1-\beta_1)\Vert\nabla f(x^{(k)})\Vert^2_{(\epsilon I+\hat{V}^{(k)})^{-1/2}}",
    relation="=",
    parameters=(beta1, words.weighted_gradient),
    hypotheses=(UNBIASED,),
)
EQ24 = _line(
    "eq24",
    "the third part: the scaling",
    words.THIRD_PART,
    "sigma**2*inverse_root_drop",
    "I3 <= sigma^2 E[sum_i (eps + vhat_i^k)^(-1/2) - (eps + vhat_i^{k+1})^(-1/2) | x^k].",
    latex=r"\sigma^2\mathbb{E}[\sum_i(\epsilon+\hat{v}_i^{(k)})^{-1/2}-(\epsilon+\hat{v}_i^{(k+1)})^{-1/2}|x^{(k)}]",
    relation="<=",
    parameters=(gradient_bound, words.inverse_root_drop),
    hypotheses=(A4,),
    standing=(FRESH,),
)
STEP_LENGTH = _line(
    "eq25/step-length",
    "the step length that (25) cites",
    words.SQUARED_STEP,
    _STEP,
    "||x^{k+1} - x^k||^2 <= eta^2 d/((1-beta2)(1-beta1^2/beta2)) for every sample: Lemma 8 of [21], as (25) uses it.",
    latex=r"\frac{\eta^2d}{(1-\beta_2)(1-\beta_1^2/\beta_2)}",
    relation="<=",
    parameters=(eta, beta1, beta2, dimension),
    hypotheses=(FACTORS,),
    standing=(FRESH, LOCAL_STEP),
    remarks=(
        "By Cauchy-Schwarz: h^{k+1} = (1-beta1) sum_j beta1^{k-j} g_j, vhat^{k+1} >= (1-beta2) sum_j beta2^{k-j} "
        "g_j^2, so h^2/(eps+vhat) <= (1-beta1)^2/((1-beta2)(1-beta1^2/beta2)) in each coordinate; (1-beta1)^2 is left "
        "out.",
    ),
)
EQ25 = _line(
    "eq25",
    "one step of the Lyapunov function, for any b and c",
    words.LYAPUNOV_INCREASE,
    f"L/2*{_STEP} - c*A_previous - b*inverse_root_drop + (eta+c)*(beta1*A_previous + beta1*L/eta*{_STEP}"
    " - (1-beta1)*weighted_gradient + sigma**2*inverse_root_drop)",
    "E[Lyap^{k+1} | x^k] - Lyap^k <= (L/2) S - c A^{k-1} - b Drop + (eta+c)(beta1 A^{k-1} + (beta1 L/eta) S - "
    "(1-beta1) W + sigma^2 Drop), S the bound on the squared step, W the weighted squared gradient, Drop that of the "
    "inverse roots.",
    latex=r"\frac{L}{2}S-cA^{(k-1)}-b\Delta+(\eta+c)(\beta_1A^{(k-1)}+\frac{\beta_1L}{\eta}S-(1-\beta_1)W"
    r"+\sigma^2\Delta)",
    relation="<=",
    parameters=(
        L,
        eta,
        beta1,
        beta2,
        gradient_bound,
        dimension,
        b,
        c,
        words.A_previous,
        words.weighted_gradient,
        words.inverse_root_drop,
    ),
    hypotheses=(A1_SMOOTH, UNBIASED, A4),
    standing=(FRESH, LOCAL_STEP),
    remarks=("False for beta1^2 > beta2, where the bound on the squared step is negative; the paper does not say so.",),
)
EQ26 = _line(
    "eq26",
    "one step of the Lyapunov function, with the paper's b and c",
    words.EXPECTED_LYAPUNOV,
    f"lyapunov + (L/2 + (eta+c)*beta1*L/eta)*{_STEP} - (eta+c)*(1-beta1)*weighted_gradient",
    "E[Lyap^{k+1} | x^k] <= Lyap^k + (L/2 + (eta+c) beta1 L/eta) S - (eta+c)(1-beta1) W: the first line of the chain "
    "(26), whose last is (14), lemma-5.",
    latex=r"\mathcal{L}^{(k)}+(\frac{L}{2}+(\eta+c)\frac{\beta_1L}{\eta})S-(\eta+c)(1-\beta_1)W",
    relation="<=",
    parameters=(L, eta, beta1, beta2, gradient_bound, dimension, words.lyapunov, words.weighted_gradient),
    hypotheses=(A1_SMOOTH, UNBIASED, A4),
    standing=(FRESH, LOCAL_STEP),
    definitions={"c": "eta*beta1/(1-beta1)"},
)

CLAIMS: tuple[Claim, ...] = (
    EQ15,
    EQ16,
    EQ17,
    with_factors(EQ17),
    EQ18,
    EQ19,
    EQ20,
    EQ21,
    EQ22,
    EQ23,
    EQ24,
    STEP_LENGTH,
    EQ25,
    with_factors(EQ25),
    EQ26,
    with_factors(EQ26),
)
