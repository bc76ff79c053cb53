"""The Adam side of the open-fl paper: Theorem 3 with its three readings, Lemma 5 and the lines of their proofs.

(12) are the definitions C1..C5 of these claims; (13) is the quantity `lyapunov`; (5) and (19) are Theorem 3's bound.

Assumption 4 is printed for the iterates, ||grad f_i(x_i^k, xi)|| <= sigma. Against strong convexity it has three
readings: everywhere (impossible), on the ball of Definition 1 (possible for small beta1 and condition numbers only),
along the run (possible, and then a smaller radius holds without (5) and its conditions).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from theory.assumptions import BoundedStochasticGradient
from theory.claim import Claim, Hypothesis
from theory.papers.open_fl import adam_equations
from theory.papers.open_fl.adam_lines import BOUNDED
from theory.papers.open_fl.adam_proofs import (
    FACTORS,
    FRESH,
    LOCAL_STEP,
    PROOF_OF_LEMMA_5,
    PROOF_OF_THEOREM_3,
    with_factors,
)
from theory.papers.open_fl.adam_words import (
    CONSTANTS,
    CONTRACTION,
    EXPECTED_LYAPUNOV,
    LEMMA_PARAMETERS,
    POSITIVE_C2,
    SHORT_STEP,
    THEOREM_PARAMETERS,
    lyapunov,
)
from theory.papers.open_fl.words import (
    A1_CONVEX,
    A1_SMOOTH,
    A2,
    A4,
    ROOT_MEAN_SQUARE_ITERATE,
    SMOOTH_OVER_CONVEX,
    UNBIASED,
    eps,
    eta,
    gradient_bound,
    identifier,
    mu,
    r,
)

RADIUS = "C5*r + sqrt((1+3*kappa*C1)/one_minus_kappa_C1**2*r**2 + 2*(C2+C3+C1*C4)/(mu-L*C1))"
LATEX = r"R=C_5r+\sqrt{\frac{1+3\kappa C_1}{(1-\kappa C_1)^2}r^2+\frac{2(C_2+C_3+C_1C_4)}{\mu-LC_1}}"
RADIUS_EXISTS = Hypothesis(
    "a radius exists",
    "eps and sigma are such that 1 - kappa C1 > 0, as noted after (12)",
    relation="one_minus_kappa_C1 > 0",
)
EVERYWHERE = Hypothesis(
    "bounded sampled gradient",
    "Assumption 4 for all x in R^d",
    assumption=BoundedStochasticGradient("sigma", at="everywhere"),
)
ON_THE_BALL = Hypothesis(
    "bounded sampled gradient",
    "Assumption 4 for all x in the ball of radius R about 0, of which Definition 1 speaks",
    assumption=BoundedStochasticGradient("sigma", at="ball"),
)
EDGE = Hypothesis(
    "the bound holds at the edge of the ball",
    "mu R <= sigma: the ball has a point at a distance of at least R from x*, where ||grad f|| >= mu R",
    relation="mu*R <= sigma",
    printed=False,
)
BELOW_THIRD = Hypothesis(
    "beta1 below a third",
    "beta1 < 1/3, which the bound at the edge of the ball implies: theory.stability.adam_necessary has the proof",
    relation="beta1 < 1/3",
    printed=False,
)
PAPERS_BETA1 = Hypothesis("the paper's beta1", "section IV-A: beta1 = 0.9", relation="beta1 == 9/10")
PAPERS_BETA2 = Hypothesis("the paper's beta2", "section IV-A: beta2 = 0.999", relation="beta2 == 999/1000")

_COMMON = (A1_CONVEX, A1_SMOOTH, SMOOTH_OVER_CONVEX, A2, SHORT_STEP, UNBIASED)
_STANDING = (CONTRACTION, POSITIVE_C2, FRESH, LOCAL_STEP)
_STATEMENT = (
    "For every f that is mu-strongly convex and L-smooth with x* in B(0,r), Adam with a step eta in (0, 1/L] has the "
    "stability of Definition 1 with the radius R of (5): if ||x^k|| <= R then E[||x^{k+1}||^2 | x^k] <= R^2"
)

THEOREM_3 = Claim(
    id=identifier("theorem-3"),
    kind="theorem",
    title="radius of stability of local Adam",
    equation="(5)",
    statement=f"{_STATEMENT}; the sampled gradients are bounded by sigma at the iterates, as Assumption 4 is printed.",
    latex=LATEX,
    quantity=ROOT_MEAN_SQUARE_ITERATE,
    source="section III-C, Theorem 3; proof in section VI-B; constants in (12)",
    parameters=THEOREM_PARAMETERS,
    hypotheses=(*_COMMON, A4, RADIUS_EXISTS),
    standing=_STANDING,
    definitions=CONSTANTS,
    relation="<=",
    right=RADIUS,
    steps=PROOF_OF_THEOREM_3,
    remarks=(
        "Read at the iterates, Assumption 4 alone gives ||x^k - x*|| <= sigma/mu: theorem-3/corrected has a radius "
        "that needs neither (5) nor its conditions. Read everywhere it contradicts Assumption 1 "
        "(theorem-3/everywhere). Read "
        "on the ball it leaves a small region of the parameters (theorem-3/on-the-ball), in which beta1 < 1/3.",
        "With C1 < 0 the square root in (5) may have no real value; the proof multiplies (16) by C1, so it needs C1 "
        ">= 0, which Lemma 5 says.",
        "(25) needs beta1^2 < beta2, which is stated nowhere: theorem-3/with-moment-factors.",
        "The proof is about two local steps in a row. Lemma 5 is false at the first local step after a communication "
        "(lemma-5/after-communication).",
    ),
)

THEOREM_3_FACTORS = with_factors(
    THEOREM_3,
    remarks=("The theorem with what (25) needs of the factors of the moments; the printed constants hide it in C2.",),
)

THEOREM_3_EVERYWHERE = replace(
    THEOREM_3,
    id=identifier("theorem-3/everywhere"),
    title="the same, gradients bounded everywhere",
    statement=f"{_STATEMENT}; the sampled gradients are bounded by sigma for all x in R^d.",
    hypotheses=(*_COMMON, EVERYWHERE, RADIUS_EXISTS, FACTORS),
    steps=(),
    remarks=(
        "A reading of Assumption 4, which does not say what 'bounded' ranges over; it is the usual meaning in the "
        "works that it refers to. A strongly convex function has unbounded gradients, so nothing satisfies it.",
    ),
)

THEOREM_3_ON_THE_BALL = replace(
    THEOREM_3,
    id=identifier("theorem-3/on-the-ball"),
    title="the same, gradients bounded on the ball of radius R",
    statement=f"{_STATEMENT}; the sampled gradients are bounded by sigma for all x in B(0,R).",
    hypotheses=(*_COMMON, ON_THE_BALL, EDGE, BELOW_THIRD, RADIUS_EXISTS, FACTORS),
    definitions={**CONSTANTS, "R": RADIUS},
    right="R",
    steps=(),
    remarks=(
        "A reading of Assumption 4: Definition 1 speaks of every x^k in B(0,R), so the bound is needed on that ball.",
        "It implies sigma >= mu R, and with (5) beta1 < 1/3 and kappa < d G/(d G - 1), G = "
        "(1+beta1)/((1-beta1)(1-beta2)"
        "(1-beta1^2/beta2)): see theory.stability.adam_region. For beta1 < 1/3 the region is not empty.",
    ),
)

THEOREM_3_PAPERS_SETTINGS = replace(
    THEOREM_3_ON_THE_BALL,
    id=identifier("theorem-3/papers-settings"),
    title="the same, at the factors of the paper's experiments",
    statement=f"{_STATEMENT}; the sampled gradients are bounded by sigma for all x in B(0,R); beta1 = 0.9, beta2 = "
    f"0.999.",
    hypotheses=(*THEOREM_3_ON_THE_BALL.hypotheses, PAPERS_BETA1, PAPERS_BETA2),
    remarks=(
        "theorem-3/on-the-ball at beta1 = 0.9 and beta2 = 0.999 of section IV-A, for any mu, L, eta, eps, sigma, d "
        "and r.",
    ),
)

THEOREM_3_CORRECTED = Claim(
    id=identifier("theorem-3/corrected"),
    kind="theorem",
    title="radius of stability of local Adam, from bounded gradients",
    equation="Theorem 3",
    statement="If f is mu-strongly convex with x* in B(0,r) and every sampled gradient that Adam has used, and those "
    "at "
    "x^k, are at most sigma, then ||x^{k+1}|| <= r + sigma/mu + eta sigma/sqrt(eps): surely, for every beta1 and "
    "beta2, also when x^k comes from a communication.",
    latex=r"R=r+\frac{\sigma}{\mu}+\frac{\eta\sigma}{\sqrt{\epsilon}}",
    quantity=ROOT_MEAN_SQUARE_ITERATE,
    source="repair of Theorem 3",
    parameters=(mu, eta, eps, gradient_bound, r),
    hypotheses=(
        A1_CONVEX,
        A2,
        UNBIASED,
        A4,
        Hypothesis("fresh optimiser", "||h^0|| <= sigma and vhat^0 >= 0"),
    ),
    relation="<=",
    right="r + sigma/mu + eta*sigma/sqrt(eps)",
    vectors=BOUNDED,
    amends=identifier("theorem-3"),
    derivation="mu ||x^k - x*|| <= ||grad f(x^k)|| <= sigma; h^{k+1} is a convex combination of h^0 and sampled "
    "gradients, so ||h^{k+1}|| <= sigma, and the step is at most eta ||h^{k+1}||/sqrt(eps). Nothing relates x^k to "
    "x^{k-1}, so a communication does no harm, and averages keep the bound.",
    remarks=("It holds for every iterate, not only from the ball to the ball; no C1, no condition on kappa or eta.",),
)

LEMMA_5 = Claim(
    id=identifier("lemma-5"),
    kind="lemma",
    title="contraction of the Lyapunov function of Adam",
    equation="(14)",
    statement="E[Lyap^{k+1} | x^k] <= C1 Lyap^k + C2 for the Lyapunov function (13) with b = eta sigma^2/(1-beta1) and "
    "c = eta beta1/(1-beta1), and C1 in (0,1), C2 >= 0 of (12).",
    latex=r"\mathbb{E}[\mathcal{L}^{(k+1)}|x^{(k)}]\leq C_1\mathcal{L}^{(k)}+C_2",
    quantity=EXPECTED_LYAPUNOV,
    source="section VI-B, Lemma 5; proof in section VI-C",
    parameters=(*LEMMA_PARAMETERS, lyapunov),
    hypotheses=(
        A1_CONVEX,
        A1_SMOOTH,
        SMOOTH_OVER_CONVEX,
        SHORT_STEP,
        UNBIASED,
        A4,
        Hypothesis("contraction factor", "C1 in (0, 1)", relation="C1 > 0"),
        Hypothesis("second constant", "C2 in R+", relation="C2 > 0"),
    ),
    standing=(FRESH, LOCAL_STEP),
    definitions={name: CONSTANTS[name] for name in ("C1", "C2")},
    relation="<=",
    right="C1*lyapunov + C2",
    steps=PROOF_OF_LEMMA_5,
    remarks=(
        "The proof does not use the step size, nor C1 > 0.",
        "(25) needs beta1^2 < beta2, which C2 > 0 does not imply: lemma-5/with-moment-factors.",
    ),
)
LEMMA_5_FACTORS = with_factors(LEMMA_5, remarks=LEMMA_5.remarks[:1])


def _after_communication(claim: Claim, **changes: Any) -> Claim:
    """The claim without the condition that iteration k is a local one."""
    label = claim.label.split("/")[0]
    return replace(
        claim,
        id=identifier(f"{label}/after-communication"),
        title=f"{claim.title}, at the local step after a communication",
        hypotheses=(*claim.hypotheses, AFTER_COMMUNICATION),
        standing=tuple(h for h in claim.standing if h is not LOCAL_STEP),
        steps=(),
        vectors=None,
        **changes,
    )


AFTER_COMMUNICATION = Hypothesis(
    "iteration k is a communication",
    "x^k is the average of the models of selected clients; h^k = h^{k-1}, vhat^k = vhat^{k-1}; iteration k+1 is local",
    printed=False,
)

LEMMA_5_AFTER_COMMUNICATION = _after_communication(
    LEMMA_5_FACTORS,
    statement="E[Lyap^{k+1} | x^k] <= C1 Lyap^k + C2 at the local step k to k+1 of Algorithm 1 whose x^k is the "
    "average "
    "that the server has sent, x^{k-1} the client's own iterate before it.",
    remarks=(
        "A reading of Lemma 5: it is stated for every k, and Algorithm 1 mixes local iterations and communications. h "
        "remembers gradients at points that the client has left, so c A^{k-1}, of order eta, vanishes without a trade.",
    ),
)
EQ22_AFTER_COMMUNICATION = _after_communication(
    adam_equations.EQ22,
    remarks=("(22) at a communication: x^k - x^{k-1} is then not the step of Adam that h^k belongs to.",),
)

_EQUATIONS: Mapping[str, Claim] = {claim.label: claim for claim in adam_equations.CLAIMS}
CLAIMS: tuple[Claim, ...] = (
    THEOREM_3,
    THEOREM_3_FACTORS,
    THEOREM_3_EVERYWHERE,
    THEOREM_3_ON_THE_BALL,
    THEOREM_3_PAPERS_SETTINGS,
    THEOREM_3_CORRECTED,
    LEMMA_5,
    LEMMA_5_FACTORS,
    LEMMA_5_AFTER_COMMUNICATION,
    *(
        _EQUATIONS[label]
        for label in ("eq15", "eq16", "eq17", "eq17/with-moment-factors", "eq18", "eq19", "eq20", "eq21", "eq22")
    ),
    EQ22_AFTER_COMMUNICATION,
    *(_EQUATIONS[label] for label in ("eq23", "eq24", "eq25/step-length")),
    *(_EQUATIONS[f"{label}{end}"] for label in ("eq25", "eq26") for end in ("", "/with-moment-factors")),
)

__all__ = ["CLAIMS"]
