"""Theorem IV.1, in the body's and in the appendix's version, and its first repair; what Theorem IV.2 shares with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from theory.assumptions import BoundedAverageStep, BoundedBelow
from theory.claim import Claim, Hypothesis, Inference, Step
from theory.papers.fedmim.descent import proof
from theory.papers.fedmim.words import (
    A1,
    A4,
    BOUNDED_DTILDE,
    DESCENT_STEP,
    DRIFT_STEP,
    GRADIENT_U,
    LAGS,
    LAMBDA,
    LAMBDA_LIMIT,
    LAMBDA_LIMIT_CORRECTED,
    MIN_GRADIENT,
    NOISE,
    UNIFORM,
    V_FORMULA,
    WEIGHTS,
    B,
    C,
    G,
    K,
    L,
    S,
    T,
    alpha,
    beta,
    eta_l,
    f0_gap,
    identifier,
    lam,
    result,
    sigma2,
)

PARAMETERS = (alpha, beta, K, L, eta_l, S, G, B, sigma2, C, T, f0_gap, lam)
_PSI = (
    "(eta_l*L*sigma2/S + 4*eta_l*K*L*G**2/S + 9*eta_l**2*A**2*K*L**2*sigma2 + 72*eta_l**2*A*K**2*L**2*G**2"
    " + 3*eta_l**2*L**2*{square}V*C)/lam"
)
PSI_LATEX = (
    r"\frac{{1}}{{\lambda}}({0}\frac{{\eta_lL\sigma_l^2}}{{S}}+{1}\frac{{\eta_lKLG^2}}{{S}}"
    r"+{2}\eta_l^2A^2KL^2\sigma_l^2+{3}\eta_l^2AK^2L^2G^2+{4}\eta_l^2L^2{5}VC)"
)
_START_1 = r"\frac{f_0-f_*}{\eta_l\lambda KT}"
LAMBDA_CORRECTED = Hypothesis(
    "lambda",
    "lambda < 1/2 - 4 eta L - 16 eta L B^2 - 36 eta_l^2 A K^2 B^2 L^2 (eq33/corrected)",
    relation="lam < lam_max",
)
DTILDE = Hypothesis(
    "C", "E||dtilde_t||^2 <= eta_l^2 C in every round before T", assumption=BoundedAverageStep("C", "eta_l")
)
BOUNDED_BELOW = Hypothesis("f_*", "f is bounded below by f_*", assumption=BoundedBelow())
COMMON = (A1, *NOISE, A4, WEIGHTS, UNIFORM)
_PRINTED_1 = (*COMMON, DRIFT_STEP, DESCENT_STEP)
_CORRECTED_1 = (*COMMON, DESCENT_STEP, LAMBDA_CORRECTED, DTILDE, BOUNDED_BELOW)


@dataclass(frozen=True)
class Route:
    """How a round's descent (33)(d) is reached.

    Attributes:
        lines: the lines of the proof up to (33)(d).
        limit: what lambda has to stay below, as a formula.
        telescopes: whether (39) keeps the factor 1 - mu eta lambda of (38).
    """

    lines: tuple[Step, ...]
    limit: str
    telescopes: bool = True


PRINTED = Route(proof(corrected=False), LAMBDA_LIMIT, telescopes=False)
CORRECTED = Route(proof(corrected=True), LAMBDA_LIMIT_CORRECTED)


def definitions(square: bool, route: Route, factor: str = "") -> dict[str, str]:
    """The named terms of a theorem, `square` with the factor K^2 in the last one."""
    return {
        **LAGS,
        "V": V_FORMULA,
        "lam_max": route.limit,
        "Psi": factor + _PSI.format(square="K**2*" if square else ""),
    }


def _average(uses: str) -> Step:
    return Step(
        "the mean over the rounds",
        MIN_GRADIENT.latex,
        "<=",
        r"\frac{1}{T}\sum_{t<T}" + GRADIENT_U,
        "summation",
        "t = 0, ..., T-1, although [T] is defined as {1, ..., T}; u_0 = x_0, f(u_T) >= f_*",
        uses=(uses,),
    )


# the right side of (33)(d) without its first term, over eta lambda, with V for the sum over the lags
_OVER = (
    "((K*eta_l)**2*L*sigma2/(K*S) + 4*(K*eta_l)**2*L*G**2/S + 3*K*eta_l*eta_l**2*L**2*V*C"
    " + 9*K*eta_l*eta_l**2*K*A**2*L**2*sigma2 + 72*K*eta_l*eta_l**2*A*K**2*L**2*G**2)/(K*eta_l*lam)"
)


def last_inference(factor: str, square: bool) -> Inference:
    """What is left of the bound when (33)(d) has been divided by eta lambda."""
    return Inference(remains=(factor + _OVER, factor + _PSI.format(square="K**2*" if square else "")))


_LARGER = Step(
    "the last term",
    r"3\eta_l^2L^2VC",
    "<=",
    r"3\eta_l^2L^2K^2VC",
    "inequality",
    "printed with K^2 in the body, without in the appendix; K = 1+rest",
    identity=("3*eta_l**2*L**2*V*C", "3*eta_l**2*L**2*(1+rest)**2*V*C"),
    uses=("(34)",),
)


def theorem_1(
    label: str,
    equation: str,
    source: str,
    *,
    square: bool,
    route: Route = PRINTED,
    title: str = "smooth non-convex functions",
    **rest: Any,
) -> Claim:
    """Theorem IV.1, `square` with the body's factor K^2 in the last term."""
    latex = _START_1 + "+" + PSI_LATEX.format("", "4", "9", "72", "3", "K^2" if square else "")
    target = identifier(label)
    steps = (
        *route.lines,
        Step("(34)", r"\sum_j(6K^2M_j+P_j)", "<=", "V", "cited", "", claim=identifier("eq34")),
        _average("(33)(d)"),
        *([_LARGER] if square else []),
        Step(
            equation,
            MIN_GRADIENT.latex,
            "<=",
            latex,
            "substitution",
            "(33)(d) over eta lambda = K eta_l lambda",
            claim=target,
            uses=("the mean over the rounds", "the last term" if square else "(34)"),
            inference=last_inference("", square),
        ),
    )
    return result(
        label,
        "theorem",
        title,
        equation,
        "For eta_l <= min(1/(4LK sqrt A), 3/(16KL)) and lambda in (0, 1/2): min_t E||grad f(u_t)||^2 <= "
        "(f_0-f_*)/(eta_l lambda K T) + Psi_1, Psi_1 = (1/lambda)(eta_l L sigma_l^2/S + 4 eta_l KLG^2/S + 9 eta_l^2 "
        "A^2KL^2 sigma_l^2 + 72 eta_l^2 AK^2L^2G^2 + 3 eta_l^2 L^2 " + ("K^2 " if square else "") + "VC).",
        MIN_GRADIENT.latex + r"\leq " + latex,
        MIN_GRADIENT,
        source,
        parameters=PARAMETERS,
        definitions=definitions(square, route),
        relation="<=",
        right="f0_gap/(eta_l*lam*K*T) + Psi",
        steps=steps,
        **rest,
    )


GAPS = (
    "The proof needs (33), which does not follow from the step sizes and is not among the theorem's conditions, any "
    "lambda in (0, 1/2): see {0}/with-lambda and eq33.",
    "C is introduced inside the proof of Lemma 6 as an assumption on the run, not defined.",
)
WITH_LAMBDA = (
    "The theorem with (33), which its proof needs at (33)(d) and the theorem does not state.",
    "(33) rests on Lemma 9, which is false for B < 1/2. With (33) the theorem is true for every B all the same: "
    "eq33/corrected-2 needs less of lambda.",
)
STANDING = (BOUNDED_DTILDE,)
IV1_EQ7 = theorem_1(
    "theorem-iv1-eq7",
    "(7)",
    "Theorem IV.1, (7) and (8)",
    square=True,
    hypotheses=_PRINTED_1,
    standing=STANDING,
    remarks=(
        "The appendix proves the last term without K^2: (36); as V contains K^2, (8) has K^4.",
        *(gap.format("theorem-iv1-eq7") for gap in GAPS),
        "False. Two clients with f_1 = x^2/2, f_2 = -(9/20) x^2, S = K = 1, no inertia, eta_l = 3/16: the iterates "
        "grow in mean square, E||grad f(x_t)||^2 >= x_0^2/400, and Psi_1 = 0 (G = sigma = V = 0), so that the right "
        "side tends to 0 with T; broken from T = 109 on with lambda = 49/100. B^2 = 362 there.",
        "False of convex clients too, with a common minimiser: f_1, f_2 = (v . x)^2/2 with v = (sqrt(99), 1)/10 and "
        "(sqrt(99), -1)/10 in the plane, S = K = 1, eta_l = 3/16, from (0, 1): B^2 = 100, and a step from the flat "
        "direction of f goes across it, so that E||grad f(x_t)||^2 >= 1/10000 for all t < 545; the right side is less "
        "at T = 545 with lambda = 49/100.",
        "True of convex clients h_i x^2/2 on a line with S = K = 1 and no inertia: E f(x_{t+1}) <= (1 - eta_l h "
        "(2 - eta_l L)) f(x_t), h the mean of h_i, as the mean of h_i^2 is at most L h; and f'^2 = 2 h f.",
    ),
)
IV1_EQ7_LAMBDA = theorem_1(
    "theorem-iv1-eq7/with-lambda",
    "(7) with (33)",
    "Theorem IV.1 with what (33)(d) asks of lambda",
    square=True,
    hypotheses=(*_PRINTED_1, LAMBDA),
    standing=STANDING,
    title="smooth non-convex functions, with (33)",
    remarks=WITH_LAMBDA,
)
IV1_EQ35 = theorem_1(
    "theorem-iv1-eq35",
    "(35)",
    "Theorem IV.1, (35) and (36), appendix C",
    square=False,
    hypotheses=_PRINTED_1,
    standing=STANDING,
    remarks=(
        "The body prints another last term: (8).",
        "The theorem once more, as the proof ends with it: under the theorem's conditions.",
        *(gap.format("theorem-iv1-eq35") for gap in GAPS),
    ),
)
IV1_EQ35_LAMBDA = theorem_1(
    "theorem-iv1-eq35/with-lambda",
    "(35) with (33)",
    "Theorem IV.1, (35), with what (33)(d) asks of lambda",
    square=False,
    hypotheses=(*_PRINTED_1, LAMBDA),
    standing=STANDING,
    title="smooth non-convex functions, with (33)",
    remarks=WITH_LAMBDA,
)
_DERIVATION_1 = (
    "(33)(b) with lemma-8 and lemma-9/corrected: the factor of E||grad f(u_t)||^2 is -eta (1/2 - 4 eta L - "
    "16 eta L B^2 - 36 eta_l^2 A K^2 B^2 L^2) < -eta lambda; eta <= 3/(16L) merges the other terms as printed, (34) "
    "bounds the sum over the lags, E||delta_t||^2 <= eta_l^2 C by Lemma 6, and the sum over t < T telescopes from u_0 "
    "= x_0."
)
IV1_EQ7_CORRECTED = theorem_1(
    "theorem-iv1-eq7/corrected",
    "(7), corrected",
    "repair of Theorem IV.1",
    square=True,
    route=CORRECTED,
    hypotheses=_CORRECTED_1,
    amends="theorem-iv1-eq7",
    derivation=_DERIVATION_1 + " The printed K^2 makes the last term larger than necessary.",
)
IV1_EQ35_CORRECTED = theorem_1(
    "theorem-iv1-eq35/corrected",
    "(35), corrected",
    "repair of Theorem IV.1, appendix",
    square=False,
    route=CORRECTED,
    hypotheses=_CORRECTED_1,
    amends="theorem-iv1-eq35",
    derivation=_DERIVATION_1,
)

CLAIMS: tuple[Claim, ...] = (
    IV1_EQ7,
    IV1_EQ7_LAMBDA,
    IV1_EQ7_CORRECTED,
    IV1_EQ35,
    IV1_EQ35_LAMBDA,
    IV1_EQ35_CORRECTED,
)
