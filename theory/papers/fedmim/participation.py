"""The average gradient of the selected clients (Lemma 9)."""

from __future__ import annotations

from typing import Any

from theory.claim import Claim, Hypothesis, Inference, Parameter, Step
from theory.domain import Domain
from theory.papers.fedmim.lines import gradients, sampling, split
from theory.papers.fedmim.words import (
    A1,
    A4,
    AVERAGE_GRADIENT,
    DELTA,
    DRIFT_LAGS,
    DRIFT_STEP,
    DRIFT_STEP_OF_8,
    GRADIENT_U,
    LAGS,
    NOISE,
    P_J,
    SELECTED_GRADIENT,
    UNIFORM,
    WEIGHTS,
    B,
    G,
    K,
    L,
    N,
    S,
    alpha,
    beta,
    delta_sq,
    drift,
    eta_l,
    grad_u2,
    gradients_sq,
    identifier,
    mean_sq,
    result,
    selected_sq,
    sigma2,
)

clients = Parameter("N", Domain(2, None, integer=True), N.meaning)
PARTIAL = Hypothesis("partial participation", "1 <= S < N", relation="S < N")
_SQUARES = r"\mathbb{E}\Vert\frac{1}{N}\sum_i\nabla f_i(y_{i,k,2}^t)\Vert^2"
_EACH = r"\frac{1}{SN}\sum_i\mathbb{E}\Vert\nabla f_i(y_{i,k,2}^t)\Vert^2"

EQ29 = result(
    "eq29",
    "equation",
    "noise and mean of the average gradient",
    "(29)",
    "E||(1/(SK)) sum g||^2 <= (2/K) sum_k E||(1/S) sum_{i in S_t} grad f_i(y2)||^2 + 2 sigma_l^2/(KS).",
    AVERAGE_GRADIENT.latex
    + r"\leq\frac{2}{K}\sum_k\mathbb{E}\Vert\frac{1}{S}\sum_{i\in S_t}\nabla f_i(y_{i,k,2}^t)\Vert^2"
    + r"+\frac{2\sigma_l^2}{KS}",
    AVERAGE_GRADIENT,
    "(29), appendix B",
    parameters=(K, S, sigma2, selected_sq),
    hypotheses=(*NOISE, UNIFORM),
    relation="<=",
    right="2*selected_sq + 2*sigma2/(K*S)",
    remarks=("Lemma 4, which it uses, is printed without the expectation on the right, where zeta_i may be random.",),
)
EQ30 = result(
    "eq30",
    "equation",
    "sampling without replacement",
    "(30)",
    "E||(1/S) sum_{i in S_t} grad f_i(y2)||^2 < E||(1/N) sum_i grad f_i(y2)||^2 + (1/(SN)) sum_i E||grad f_i(y2)||^2, "
    "1 <= S < N.",
    SELECTED_GRADIENT.latex + "<" + _SQUARES + "+" + _EACH,
    SELECTED_GRADIENT,
    "(30), appendix B",
    parameters=(S, clients, mean_sq, gradients_sq),
    hypotheses=(UNIFORM, PARTIAL),
    right="mean_sq + gradients_sq/S",
    relation="<",
    remarks=(
        "Strict as printed: for S = 1 and gradients of mean 0, or where all vanish, the two sides are equal. True with "
        "<=, S = N included: a line of Lemma 9's proof.",
    ),
)
EQ30_CORRECTED = result(
    "eq30/corrected",
    "equation",
    "sampling without replacement",
    "(30), corrected",
    "With equality: E||(1/S) sum_{i in S_t} a_i||^2 = (S-1)N/(S(N-1)) ||mean||^2 + (N-S)/(S(N-1)) (1/N) sum_i "
    "||a_i||^2, which is at most the printed right side.",
    SELECTED_GRADIENT.latex
    + r"=\frac{(S-1)N}{S(N-1)}"
    + _SQUARES
    + r"+\frac{N-S}{S(N-1)}\frac{1}{N}\sum_i\mathbb{E}\Vert\nabla f_i(y_{i,k,2}^t)\Vert^2",
    SELECTED_GRADIENT,
    "repair of (30)",
    parameters=(S, clients, mean_sq, gradients_sq),
    hypotheses=(UNIFORM, Hypothesis("participation", "S <= N", relation="S <= N")),
    right="(S-1)*N/(S*(N-1))*mean_sq + (N-S)/(S*(N-1))*gradients_sq",
    relation="=",
    amends="eq30",
    derivation="The indicators have the moments S/N and S(S-1)/(N(N-1)); N^2 ||mean||^2 = cross terms + squares.",
)
_SELECTED = r"8L^2\mathbb{E}\Vert x_{i,k}^t-x_t\Vert^2+8L^2\sum_jP_j" + DELTA + r"+\frac{4G^2}{S}+4(B^2+1)" + GRADIENT_U
EQ31 = result(
    "eq31",
    "equation",
    "the selected clients' gradients",
    "(31)",
    "E||(1/S) sum_{i in S_t} grad f_i(y2)||^2 <= 8L^2 E||x_{i,k}-x_t||^2 + 8L^2 sum_j P_j E||delta_{t-j}||^2 "
    "+ 4G^2/S + 4(B^2+1) E||grad f(u_t)||^2; the free index i read as the mean over clients.",
    SELECTED_GRADIENT.latex + r"\leq " + _SELECTED,
    SELECTED_GRADIENT,
    "(31), appendix B",
    parameters=(alpha, beta, K, L, S, G, B, delta_sq, grad_u2, drift),
    hypotheses=(A1, A4, WEIGHTS, UNIFORM),
    definitions={**LAGS, "P": P_J},
    relation="<=",
    right="8*L**2*drift + 8*L**2*sum(P*delta_sq) + 4*G**2/S + 4*(B**2+1)*grad_u2",
    vectors=gradients("selected", "(31)"),
    remarks=("True: 4G^2/S and 4B^2/S come from the second term of (30), 4 from the first.",),
)

_LEMMA_9 = (
    "16*L**2*sum((6*K**2*M + P)*delta_sq) + 8*G**2/S + 2*sigma2/(K*S) + 48*K*L**2*A**2*eta_l**2*sigma2"
    " + 384*A*L**2*K**2*eta_l**2*G**2 + {factor}*grad_u2"
)
_HEAD = (
    AVERAGE_GRADIENT.latex
    + r"\leq 16L^2\sum_j(6K^2M_j+P_j)"
    + DELTA
    + r"+\frac{8G^2}{S}+\frac{2\sigma_l^2}{KS}+48KL^2A^2\eta_l^2\sigma_l^2+384AL^2K^2\eta_l^2G^2+"
)
_TEXT = (
    "E||(1/(SK)) sum g||^2 <= 16L^2 sum_j (6K^2 M_j + P_j) E||delta_{t-j}||^2 + 8G^2/S + 2 sigma_l^2/(KS) + "
    "48KL^2A^2 eta_l^2 sigma_l^2 + 384AL^2K^2 eta_l^2 G^2 + %s E||grad f(u_t)||^2."
)


def _steps(target: str, factor: str, latex: str, note: str) -> tuple[Step, ...]:
    return (
        Step(
            "Lemma 4",
            r"\Vert\sum_ix_i\Vert^2",
            "<=",
            r"2\Vert\sum_i\zeta_i\Vert^2+2\Vert\sum_i(x_i-\zeta_i)\Vert^2",
            "inequality",
            "the second sum has the variance n sigma^2, by orthogonality",
            vectors=split("sum", "twice"),
        ),
        Step("(29)", AVERAGE_GRADIENT.latex, "<=", r"\dots", "moment identity", "Lemma 4", claim=identifier("eq29")),
        Step(
            "(30), indicators",
            SELECTED_GRADIENT.latex,
            "=",
            r"\frac{1}{S^2}[\frac{S(S-1)}{N(N-1)}\sum_{i\neq j}\langle\cdot,\cdot\rangle"
            r"+\frac{S}{N}\sum_i\Vert\cdot\Vert^2]",
            "moment identity",
            "",
            vectors=sampling("=", "indicators"),
        ),
        Step(
            "(30)",
            SELECTED_GRADIENT.latex,
            "<=",
            _SQUARES + "+" + _EACH,
            "inequality",
            "printed with <; <= is true and enough",
            vectors=sampling("<=", "printed"),
            uses=("(30), indicators",),
        ),
        Step(
            "(31)",
            SELECTED_GRADIENT.latex,
            "<=",
            _SELECTED,
            "substitution",
            "Lemma 7 for the mean over clients, and the same four terms for the gradient of the mean",
            vectors=gradients("selected", "(31)"),
            claim=identifier("eq31"),
            uses=("(30)",),
        ),
        Step("Lemma 8", r"\varepsilon_t", "<=", r"\dots", "cited", "", claim=identifier("lemma-8")),
        Step(
            "the factor of the gradient",
            r"8(B^2+1)+384AL^2K^2\eta_l^2B^2",
            "<=",
            latex,
            "inequality",
            note,
            identity=("8*(B**2+1) + 24*B**2", factor),
            uses=("(29)", "(31)", "Lemma 8"),
        ),
        Step(
            "(32)",
            AVERAGE_GRADIENT.latex,
            "<=",
            r"\dots+" + latex + GRADIENT_U,
            "substitution",
            "(29), twice (31), 16 L^2 times Lemma 8",
            claim=identifier(target),
            uses=("the factor of the gradient",),
            inference=Inference(remains=("8*(B**2+1) + 24*B**2", factor)),
        ),
    )


def _lemma_9(label: str, equation: str, factor: str, latex: str, source: str, note: str, **rest: Any) -> Claim:
    return result(
        label,
        "lemma",
        "the average gradient of a round",
        equation,
        _TEXT % factor.replace("**", "^").replace("*", " "),
        _HEAD + latex + GRADIENT_U,
        AVERAGE_GRADIENT,
        source,
        parameters=(alpha, beta, K, L, eta_l, S, G, B, sigma2, delta_sq, grad_u2),
        definitions=DRIFT_LAGS,
        relation="<=",
        right=_LEMMA_9.format(factor=factor),
        steps=_steps(label, factor, latex, note),
        **rest,
    )


_HYPOTHESES = (A1, *NOISE, A4, WEIGHTS, UNIFORM)
LEMMA_9 = _lemma_9(
    "lemma-9",
    "Lemma 9",
    "64*B**2",
    "64B^2",
    "Lemma 9, (28), appendix B",
    "false for B < 1/2: 8 is not at most 32 B^2",
    hypotheses=_HYPOTHESES,
    standing=(DRIFT_STEP_OF_8,),
    remarks=(
        "False for B < 1/2: 8(B^2+1) + 24B^2 is 32B^2 + 8, not at most 64B^2. With G = 1, B = 0 and ten clients with "
        "one linear function, S = 9, the left side is 1 and the right side 8/9 as eta_l tends to 0.",
        "B < 1 forces bounded gradients, ||grad f||^2 <= G^2/(1-B^2), as (6) has ||grad f||^2 on its left; with "
        "unbounded gradients B >= 1, and the lemma holds.",
        "The step size of Lemma 8 is used, and stated there only.",
    ),
)
LEMMA_9_CORRECTED = _lemma_9(
    "lemma-9/corrected",
    "Lemma 9, corrected",
    "(32*B**2 + 8)",
    "(32B^2+8)",
    "repair of Lemma 9",
    "384AL^2K^2 eta_l^2 <= 24",
    hypotheses=(*_HYPOTHESES, DRIFT_STEP),
    amends="lemma-9",
    derivation=(
        "(29), (31) for the mean over clients, and Lemma 8: the factor of E||grad f(u_t)||^2 is 8(B^2+1) + "
        "16L^2 24AK^2 eta_l^2 B^2 <= 8(B^2+1) + 24B^2 by eta_l <= 1/(4LK sqrt A). At most the printed one for B >= 1/2."
    ),
)

CLAIMS: tuple[Claim, ...] = (EQ29, EQ30, EQ30_CORRECTED, EQ31, LEMMA_9, LEMMA_9_CORRECTED)
