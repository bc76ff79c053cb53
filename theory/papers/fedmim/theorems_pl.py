"""Theorem IV.2, in the body's and in the appendix's version, and its first repair."""

from __future__ import annotations

from typing import Any

from theory.claim import Claim, Hypothesis, Step
from theory.papers.fedmim.theorems import (
    COMMON,
    CORRECTED,
    DTILDE,
    GAPS,
    LAMBDA_CORRECTED,
    PARAMETERS,
    PRINTED,
    PSI_LATEX,
    STANDING,
    WITH_LAMBDA,
    Route,
    definitions,
    last_inference,
)
from theory.papers.fedmim.words import (
    A1,
    A2,
    DESCENT_STEP,
    DESCENT_STEP_OF_33,
    GRADIENT_U,
    LAMBDA,
    OUT_GRADIENT,
    SMOOTH_PL,
    identifier,
    mu,
    result,
)

_START_2 = r"4\mu(f_0-f_*)e^{-\mu\eta_l\lambda KT}"
LONG_RUN = Hypothesis("long run", "eta_l >= 1/(mu lambda K T)", relation="eta_l >= 1/(mu*lam*K*T)")
_PRINTED_2 = (A1, A2, *COMMON[1:], LONG_RUN)
_CORRECTED_2 = (A1, A2, SMOOTH_PL, *COMMON[1:], LONG_RUN, DESCENT_STEP, LAMBDA_CORRECTED, DTILDE)


def theorem_2(
    label: str,
    equation: str,
    source: str,
    *,
    square: bool,
    route: Route = PRINTED,
    title: str = "under the PL inequality",
    **rest: Any,
) -> Claim:
    """Theorem IV.2, `square` with the factor K^2 in the last term."""
    latex = _START_2 + "+" + PSI_LATEX.format("2", "8", "18", "144", "6", "K^2" if square else "")
    first = r"\sum_tw_t[\frac{2(f(u_t)-f_*)}{\eta\lambda}-\frac{2(f(u_{t+1})-f_*)}{\eta\lambda}]"
    kept = route.telescopes
    steps = (
        *route.lines,
        Step(
            "(37)",
            r"\mathbb{E}[f(u_{t+1})-f(u_t)]",
            "<=",
            r"-\frac{\eta\lambda}{2}" + GRADIENT_U + r"-\mu\eta\lambda\mathbb{E}[f(u_t)-f_*]+\dots",
            "hypothesis",
            "Assumption 2 for half of the first term",
            uses=("(33)(d)",),
        ),
        Step(
            "(38)",
            GRADIENT_U,
            "<=",
            r"(1-\mu\eta\lambda)\frac{2(f(u_t)-f_*)}{\eta\lambda}-\frac{2(f(u_{t+1})-f_*)}{\eta\lambda}+\dots",
            "substitution",
            "e = eta lambda, F the gap, R the other terms, g the left side; the next gap is F - e g/2 - mu e F + R",
            identity=("g", "(1-mu*e)*2*F/e - 2*(F - e*g/2 - mu*e*F + R)/e + 2*R/e"),
            uses=("(37)",),
        ),
        Step(
            "(39), first",
            r"\sum_tw_t" + GRADIENT_U,
            "<=",
            (r"\sum_tw_t[(1-\mu\eta\lambda)\frac{2(f(u_t)-f_*)}{\eta\lambda}-\frac{2(f(u_{t+1})-f_*)}{\eta\lambda}]")
            if kept
            else first,
            "summation",
            "" if kept else "the factor 1 - mu eta lambda of (38) is lost; true, but it no longer telescopes",
            uses=("(38)",),
        ),
        Step(
            "(39), telescoped",
            r"\sum_{t<2}p^{-t}(pF_t-F_{t+1})" if kept else r"\sum_{t<2}p^{-t}(F_t-F_{t+1})",
            "<=",
            r"pF_0" if kept else r"F_0",
            "summation",
            "two rounds, p = 1 - mu eta lambda = 1/(1+q)"
            if kept
            else "false without the factor (two rounds, p = 1/(1+q)); with it the sum is at most p F_0",
            identity=("F0/(1+q) - F1 + (1+q)*(F1/(1+q) - F2)", "F0/(1+q)")
            if kept
            else ("F0 - F1 + (1+q)*(F1 - F2)", "F0"),
            uses=("(39), first",),
        ),
        Step(
            "the geometric sum",
            r"\frac{2p(f_0-f_*)}{\eta\lambda\sum_{t<T}p^{-t}}",
            "=",
            r"\frac{2\mu p^T(f_0-f_*)}{1-p^T}",
            "identity",
            "two rounds, p = 1 - mu eta lambda = 1/(1+q), over mu (f_0-f_*); without the factor p the power is p^{T-1}",
            identity=("2/(1+q)/((1-1/(1+q))*(2+q))", "2/(1+q)**2/(1-1/(1+q)**2)"),
            uses=("(39), telescoped",),
        ),
        Step(
            "(39)(a)",
            r"\frac{2\mu p^T}{1-p^T}",
            "<=",
            r"4\mu p^T",
            "inequality",
            "p^T <= exp(-mu eta lambda T) <= 1/e <= 1/2: p^T = 1/(2+rest). So 4 mu is right with the factor p",
            identity=("2*mu/(2+rest)/(1-1/(2+rest))", "4*mu/(2+rest)"),
            uses=("the geometric sum",),
        ),
        Step(
            equation,
            OUT_GRADIENT.latex,
            "<=",
            latex,
            "substitution",
            "twice the terms of (33)(d) over eta lambda",
            claim=identifier(label),
            uses=("(39)(a)",),
            inference=last_inference("2*", square),
        ),
    )
    return result(
        label,
        "theorem",
        title,
        equation,
        "For eta_l >= 1/(mu lambda K T): E||grad f(u_out)||^2 <= 4 mu (f_0-f_*) exp(-mu eta_l lambda K T) + "
        "Psi_2, Psi_2 = (1/lambda)(2 eta_l L sigma_l^2/S + 8 eta_l KLG^2/S + 18 eta_l^2 KA^2L^2 sigma_l^2 + 144 "
        "eta_l^2 AK^2L^2G^2 + "
        "6 eta_l^2 L^2 " + ("K^2 " if square else "") + "VC).",
        OUT_GRADIENT.latex + r"\leq " + latex,
        OUT_GRADIENT,
        source,
        parameters=(*PARAMETERS, mu),
        definitions=definitions(square, route, "2*"),
        relation="<=",
        right="4*mu*f0_gap*exp(-mu*eta_l*lam*K*T) + Psi",
        steps=steps,
        **rest,
    )


_STANDING_2 = (DESCENT_STEP_OF_33, *STANDING)


def _gaps(label: str) -> tuple[str, ...]:
    return (
        "No upper limit of the step size is stated, and without one it is false: one client, f = x^2/2, K = 1, eta_l = "
        "3, lambda = 1/4, T = 2: x_1 = -2 x_0, the left side is 17/5 x_0^2, the right side 2 exp(-3/2) x_0^2 < "
        "x_0^2/2. With eta_l <= 3/(16KL), which Theorem IV.1 fixes, it needs T >= 16L/(3 mu lambda).",
        "The displays of (39) lose the factor 1 - mu eta lambda, without which the sum does not telescope; with it 4 "
        "mu is right.",
        *(gap.format(label) for gap in GAPS),
    )


IV2_EQ9 = theorem_2(
    "theorem-iv2-eq9",
    "(9)",
    "Theorem IV.2, (9) and (10)",
    square=True,
    hypotheses=_PRINTED_2,
    standing=_STANDING_2,
    remarks=(
        *_gaps("theorem-iv2-eq9"),
        "False for every lambda in (0, 1/2): the clients x^2/2 and -(9/20) x^2 of theorem-iv1-eq7 with T = 220.",
    ),
)
IV2_EQ9_LAMBDA = theorem_2(
    "theorem-iv2-eq9/with-lambda",
    "(9) with (33)",
    "Theorem IV.2 with what (33)(d) asks of lambda",
    square=True,
    hypotheses=(*_PRINTED_2, LAMBDA),
    standing=_STANDING_2,
    title="under the PL inequality, with (33)",
    remarks=WITH_LAMBDA,
)
IV2_EQ39 = theorem_2(
    "theorem-iv2-eq39",
    "(39)",
    "Theorem IV.2, (39), appendix D",
    square=False,
    hypotheses=_PRINTED_2,
    standing=_STANDING_2,
    remarks=("(41), which sums it up, prints K^2 again.", *_gaps("theorem-iv2-eq39")),
)
IV2_EQ39_LAMBDA = theorem_2(
    "theorem-iv2-eq39/with-lambda",
    "(39) with (33)",
    "Theorem IV.2, (39), with what (33)(d) asks of lambda",
    square=False,
    hypotheses=(*_PRINTED_2, LAMBDA),
    standing=_STANDING_2,
    title="under the PL inequality, with (33)",
    remarks=WITH_LAMBDA,
)
EQ40 = theorem_2(
    "eq40",
    "(40)",
    "(40) and (41), appendix D",
    square=True,
    hypotheses=_PRINTED_2,
    standing=_STANDING_2,
    remarks=(
        "As (9) and (10); (39), from which it is drawn, has no K^2 in the last term.",
        *_gaps("theorem-iv2-eq9"),
    ),
)
_DERIVATION_2 = (
    "As for Theorem IV.1 up to (33)(d); (37) and (38) as printed. With p = 1 - mu eta lambda in (0, 1), as "
    "eta lambda < 3/(32L) and mu <= L, the weighted sum over t < T is at most 2p (f_0-f_*)/(eta lambda), and "
    "p/sum_{t<T} p^{-t} = "
    "mu eta lambda p^T/(1-p^T) <= 2 mu eta lambda exp(-mu eta lambda T)."
)
IV2_EQ9_CORRECTED = theorem_2(
    "theorem-iv2-eq9/corrected",
    "(9), corrected",
    "repair of Theorem IV.2",
    square=True,
    route=CORRECTED,
    hypotheses=_CORRECTED_2,
    amends="theorem-iv2-eq9",
    derivation=_DERIVATION_2 + " The printed K^2 makes the last term larger than necessary.",
)
IV2_EQ39_CORRECTED = theorem_2(
    "theorem-iv2-eq39/corrected",
    "(39), corrected",
    "repair of Theorem IV.2, appendix",
    square=False,
    route=CORRECTED,
    hypotheses=_CORRECTED_2,
    amends="theorem-iv2-eq39",
    derivation=_DERIVATION_2,
)

CLAIMS: tuple[Claim, ...] = (
    IV2_EQ9,
    IV2_EQ9_LAMBDA,
    IV2_EQ9_CORRECTED,
    IV2_EQ39,
    IV2_EQ39_LAMBDA,
    IV2_EQ39_CORRECTED,
    EQ40,
)
