"""Theorems IV.1 and IV.2, in the body's and in the appendix's version, and their repairs."""

from __future__ import annotations

from typing import Any

from theory.claim import Claim, Hypothesis, Inference, Step
from theory.papers.fedmim.descent import proof
from theory.papers.fedmim.words import (
    A1,
    A2,
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
    OUT_GRADIENT,
    SILENT_DESCENT_STEP,
    SMOOTH_PL,
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
    mu,
    result,
    sigma2,
)

PARAMETERS = (alpha, beta, K, L, eta_l, S, G, B, sigma2, C, T, f0_gap, lam)
_PSI = (
    "(eta_l*L*sigma2/S + 4*eta_l*K*L*G**2/S + 9*eta_l**2*A**2*K*L**2*sigma2 + 72*eta_l**2*A*K**2*L**2*G**2"
    " + 3*eta_l**2*L**2*{square}V*C)/lam"
)
_LATEX = (
    r"\frac{{1}}{{\lambda}}({0}\frac{{\eta_lL\sigma_l^2}}{{S}}+{1}\frac{{\eta_lKLG^2}}{{S}}"
    r"+{2}\eta_l^2A^2KL^2\sigma_l^2+{3}\eta_l^2AK^2L^2G^2+{4}\eta_l^2L^2{5}VC)"
)
_START_1 = r"\frac{f_0-f_*}{\eta_l\lambda KT}"
_START_2 = r"4\mu(f_0-f_*)e^{-\mu\eta_l\lambda KT}"
LAMBDA_CORRECTED = Hypothesis(
    "lambda",
    "lambda < 1/2 - 4 eta L - 16 eta L B^2 - 36 eta_l^2 A K^2 B^2 L^2 (eq33/corrected)",
    relation="lam < lam_max",
)
DTILDE = Hypothesis("C", "E||dtilde_t||^2 <= eta_l^2 C in every round before T")
BOUNDED_BELOW = Hypothesis("f_*", "f is bounded below by f_*")
LONG_RUN = Hypothesis("long run", "eta_l >= 1/(mu lambda K T)", relation="eta_l >= 1/(mu*lam*K*T)")
_COMMON = (A1, *NOISE, A4, WEIGHTS, UNIFORM)
_PRINTED_1 = (*_COMMON, DRIFT_STEP, DESCENT_STEP)
_CORRECTED_1 = (*_COMMON, DESCENT_STEP, LAMBDA_CORRECTED, DTILDE, BOUNDED_BELOW)
_PRINTED_2 = (A1, A2, *_COMMON[1:], LONG_RUN)
_CORRECTED_2 = (A1, A2, SMOOTH_PL, *_COMMON[1:], LONG_RUN, DESCENT_STEP, LAMBDA_CORRECTED, DTILDE)


def _definitions(square: bool, corrected: bool, factor: str = "") -> dict[str, str]:
    return {
        **LAGS,
        "V": V_FORMULA,
        "lam_max": LAMBDA_LIMIT_CORRECTED if corrected else LAMBDA_LIMIT,
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


def _last(factor: str, square: bool) -> Inference:
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


def _theorem_1(label: str, equation: str, source: str, *, square: bool, corrected: bool = False, **rest: Any) -> Claim:
    """Theorem IV.1, `square` with the body's factor K^2 in the last term."""
    latex = _START_1 + "+" + _LATEX.format("", "4", "9", "72", "3", "K^2" if square else "")
    target = identifier(label)
    steps = (
        *proof(corrected),
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
            inference=_last("", square),
        ),
    )
    return result(
        label,
        "theorem",
        "smooth non-convex functions",
        equation,
        "For eta_l <= min(1/(4LK sqrt A), 3/(16KL)) and lambda in (0, 1/2): min_t E||grad f(u_t)||^2 <= "
        "(f_0-f_*)/(eta_l "
        "lambda K T) + Psi_1, Psi_1 = (1/lambda)(eta_l L sigma_l^2/S + 4 eta_l KLG^2/S + 9 eta_l^2 A^2KL^2 sigma_l^2 + "
        "72 eta_l^2 AK^2L^2G^2 + 3 eta_l^2 L^2 " + ("K^2 " if square else "") + "VC).",
        MIN_GRADIENT.latex + r"\leq " + latex,
        MIN_GRADIENT,
        source,
        parameters=PARAMETERS,
        definitions=_definitions(square, corrected),
        right="f0_gap/(eta_l*lam*K*T) + Psi",
        steps=steps,
        **rest,
    )


_GAPS = (
    "The proof needs (33), which does not follow from the step sizes and is not among the conditions: see "
    "theorem-iv1-eq7/any-lambda and eq33.",
    "C is introduced inside the proof of Lemma 6 as an assumption on the run, not defined.",
    "(33) rests on Lemma 9, which is false for B < 1/2.",
)
_SILENT = (LAMBDA, BOUNDED_DTILDE)
IV1_EQ7 = _theorem_1(
    "theorem-iv1-eq7",
    "(7)",
    "Theorem IV.1, (7) and (8)",
    square=True,
    hypotheses=(*_PRINTED_1, *_SILENT),
    remarks=("The appendix proves the last term without K^2: (36); as V contains K^2, (8) has K^4.", *_GAPS),
)
IV1_EQ7_ANY = _theorem_1(
    "theorem-iv1-eq7/any-lambda",
    "(7) for every lambda in (0, 1/2)",
    "Theorem IV.1 read literally",
    square=True,
    hypotheses=_PRINTED_1,
    remarks=(
        "False. Two clients with f_1 = x^2/2, f_2 = -(9/20) x^2, S = K = 1, no inertia, eta_l = 3/16: the iterates "
        "grow in mean square, E||grad f(x_t)||^2 >= x_0^2/400, and Psi_1 = 0 (G = sigma = V = 0), so that the right "
        "side tends to 0 with T; broken from T = 109 on with lambda = 49/100. B^2 = 362 there.",
    ),
)
IV1_EQ35 = _theorem_1(
    "theorem-iv1-eq35",
    "(35)",
    "Theorem IV.1, (35) and (36), appendix C",
    square=False,
    hypotheses=(*_PRINTED_1, *_SILENT),
    remarks=("The body prints another last term: (8).", *_GAPS),
)
_DERIVATION_1 = (
    "(33)(b) with lemma-8 and lemma-9/corrected: the factor of E||grad f(u_t)||^2 is -eta (1/2 - 4 eta L - "
    "16 eta L B^2 - "
    "36 eta_l^2 A K^2 B^2 L^2) < -eta lambda; eta <= 3/(16L) merges the other terms as printed, (34) bounds the sum "
    "over the lags, E||delta_t||^2 <= eta_l^2 C by Lemma 6, and the sum over t < T telescopes from u_0 = x_0."
)
IV1_EQ7_CORRECTED = _theorem_1(
    "theorem-iv1-eq7/corrected",
    "(7), corrected",
    "repair of Theorem IV.1",
    square=True,
    corrected=True,
    hypotheses=_CORRECTED_1,
    amends="theorem-iv1-eq7",
    derivation=_DERIVATION_1 + " The printed K^2 makes the last term larger than necessary.",
)
IV1_EQ35_CORRECTED = _theorem_1(
    "theorem-iv1-eq35/corrected",
    "(35), corrected",
    "repair of Theorem IV.1, appendix",
    square=False,
    corrected=True,
    hypotheses=_CORRECTED_1,
    amends="theorem-iv1-eq35",
    derivation=_DERIVATION_1,
)


def _theorem_2(label: str, equation: str, source: str, *, square: bool, corrected: bool = False, **rest: Any) -> Claim:
    """Theorem IV.2, `square` with the factor K^2 in the last term."""
    latex = _START_2 + "+" + _LATEX.format("2", "8", "18", "144", "6", "K^2" if square else "")
    first = r"\sum_tw_t[\frac{2(f(u_t)-f_*)}{\eta\lambda}-\frac{2(f(u_{t+1})-f_*)}{\eta\lambda}]"
    steps = (
        *proof(corrected),
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
            if corrected
            else first,
            "summation",
            "" if corrected else "the factor 1 - mu eta lambda of (38) is lost; true, but it no longer telescopes",
            uses=("(38)",),
        ),
        Step(
            "(39), telescoped",
            r"\sum_{t<2}p^{-t}(pF_t-F_{t+1})" if corrected else r"\sum_{t<2}p^{-t}(F_t-F_{t+1})",
            "<=",
            r"pF_0" if corrected else r"F_0",
            "summation",
            "two rounds, p = 1 - mu eta lambda = 1/(1+q)"
            if corrected
            else "false without the factor (two rounds, p = 1/(1+q)); with it the sum is at most p F_0",
            identity=("F0/(1+q) - F1 + (1+q)*(F1/(1+q) - F2)", "F0/(1+q)")
            if corrected
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
            inference=_last("2*", square),
        ),
    )
    return result(
        label,
        "theorem",
        "under the PL inequality",
        equation,
        "For eta_l >= 1/(mu lambda K T): E||grad f(u_out)||^2 <= 4 mu (f_0-f_*) exp(-mu eta_l lambda K T) + "
        "Psi_2, Psi_2 "
        "= (1/lambda)(2 eta_l L sigma_l^2/S + 8 eta_l KLG^2/S + 18 eta_l^2 KA^2L^2 sigma_l^2 + 144 eta_l^2 "
        "AK^2L^2G^2 + "
        "6 eta_l^2 L^2 " + ("K^2 " if square else "") + "VC).",
        OUT_GRADIENT.latex + r"\leq " + latex,
        OUT_GRADIENT,
        source,
        parameters=(*PARAMETERS, mu),
        definitions=_definitions(square, corrected, "2*"),
        right="4*mu*f0_gap*exp(-mu*eta_l*lam*K*T) + Psi",
        steps=steps,
        **rest,
    )


_SILENT_2 = (SILENT_DESCENT_STEP, *_SILENT)
_GAPS_2 = (
    "No upper limit of the step size is stated: see theorem-iv2-eq9/any-step. With eta_l <= 3/(16KL) it needs T >= "
    "16L/(3 mu lambda).",
    "The displays of (39) lose the factor 1 - mu eta lambda, without which the sum does not telescope; with it 4 mu is "
    "right.",
    *_GAPS,
)
IV2_EQ9 = _theorem_2(
    "theorem-iv2-eq9",
    "(9)",
    "Theorem IV.2, (9) and (10)",
    square=True,
    hypotheses=(*_PRINTED_2, *_SILENT_2),
    remarks=_GAPS_2,
)
IV2_EQ9_ANY = _theorem_2(
    "theorem-iv2-eq9/any-step",
    "(9) for every step and lambda",
    "Theorem IV.2 read literally",
    square=True,
    hypotheses=_PRINTED_2,
    remarks=(
        "False. One client, f = x^2/2, K = 1, eta_l = 3, lambda = 1/4, T = 2: x_1 = -2 x_0, the left side is 17/5 "
        "x_0^2, the right side 2 exp(-3/2) x_0^2 < x_0^2/2.",
        "False for short steps as well: the clients of theorem-iv1-eq7/any-lambda with T = 220.",
    ),
)
IV2_EQ39 = _theorem_2(
    "theorem-iv2-eq39",
    "(39)",
    "Theorem IV.2, (39), appendix D",
    square=False,
    hypotheses=(*_PRINTED_2, *_SILENT_2),
    remarks=("(41), which sums it up, prints K^2 again.", *_GAPS_2),
)
EQ40 = _theorem_2(
    "eq40",
    "(40)",
    "(40) and (41), appendix D",
    square=True,
    hypotheses=(*_PRINTED_2, *_SILENT_2),
    remarks=("As (9) and (10); (39), from which it is drawn, has no K^2 in the last term.",),
)
_DERIVATION_2 = (
    "As for Theorem IV.1 up to (33)(d); (37) and (38) as printed. With p = 1 - mu eta lambda in (0, 1), as "
    "eta lambda < "
    "3/(32L) and mu <= L, the weighted sum over t < T is at most 2p (f_0-f_*)/(eta lambda), and p/sum_{t<T} p^{-t} = "
    "mu eta lambda p^T/(1-p^T) <= 2 mu eta lambda exp(-mu eta lambda T)."
)
IV2_EQ9_CORRECTED = _theorem_2(
    "theorem-iv2-eq9/corrected",
    "(9), corrected",
    "repair of Theorem IV.2",
    square=True,
    corrected=True,
    hypotheses=_CORRECTED_2,
    amends="theorem-iv2-eq9",
    derivation=_DERIVATION_2 + " The printed K^2 makes the last term larger than necessary.",
)
IV2_EQ39_CORRECTED = _theorem_2(
    "theorem-iv2-eq39/corrected",
    "(39), corrected",
    "repair of Theorem IV.2, appendix",
    square=False,
    corrected=True,
    hypotheses=_CORRECTED_2,
    amends="theorem-iv2-eq39",
    derivation=_DERIVATION_2,
)

CLAIMS: tuple[Claim, ...] = (
    IV1_EQ7,
    IV1_EQ7_ANY,
    IV1_EQ7_CORRECTED,
    IV1_EQ35,
    IV1_EQ35_CORRECTED,
    IV2_EQ9,
    IV2_EQ9_ANY,
    IV2_EQ9_CORRECTED,
    IV2_EQ39,
    IV2_EQ39_CORRECTED,
    EQ40,
)
