"""One round's descent, and what the proof asks of lambda ((33), (34), (37))."""

from __future__ import annotations

from theory.claim import Claim, Quantity, Step
from theory.papers.fedmim.lines import gradients
from theory.papers.fedmim.words import (
    A1,
    A2,
    A4,
    BOUNDED_DTILDE,
    DELTA,
    DESCENT,
    DESCENT_STEP,
    DESCENT_STEP_OF_33,
    DRIFT_LAGS,
    GRADIENT_U,
    LAMBDA_LIMIT,
    LAMBDA_LIMIT_CORRECTED,
    LAMBDA_OF_33,
    LAMBDA_VALUE,
    NOISE,
    UNIFORM,
    V_FORMULA,
    WEIGHTS,
    A,
    B,
    C,
    G,
    K,
    L,
    S,
    alpha,
    beta,
    eta_l,
    gap,
    grad_u2,
    identifier,
    lam,
    mu,
    result,
    sigma2,
)

_LOAD = Quantity(
    "step_load",
    "32 eta L B^2 + 36 eta_l^2 A K^2 B^2 L^2",
    r"32\eta LB^2+36\eta_l^2AK^2B^2L^2",
    formula="32*K*eta_l*L*B**2 + 36*eta_l**2*A*K**2*B**2*L**2",
)
_SUM = Quantity("lag_sum", "sum_j (6K^2 M_j + P_j)", r"\sum_j(6K^2M_j+P_j)")
_LIMIT = r"\frac{1}{2}-32\eta LB^2-36\eta_l^2AK^2B^2L^2"
_V = r"6(1-A)K^2+(\frac{27A}{32}+1)(\rho^2+\frac{K^2J^2(1-A)^2}{A^2})"
NOISE_TERMS = (
    r"\frac{\eta^2L\sigma_l^2}{KS}+\frac{4\eta^2LG^2}{S}+3\eta\eta_l^2L^2\sum_j(6K^2M_j+P_j)C"
    r"+9\eta\eta_l^2KA^2L^2\sigma_l^2+72\eta\eta_l^2AK^2L^2G^2"
)
# the right side of (33)(d) without its first term, over eta = K eta_l; `lags` is the sum over the lags
ROUND = (
    "eta_l*L*sigma2/S + 4*eta_l*K*L*G**2/S + 3*eta_l**2*L**2*lags*C + 9*eta_l**2*K*A**2*L**2*sigma2"
    " + 72*eta_l**2*A*K**2*L**2*G**2"
)

EQ33 = result(
    "eq33",
    "equation",
    "the lambda of the proof",
    "(33)(d)",
    "There is lambda with 1/2 - 32 eta L B^2 - 36 eta_l^2 A K^2 B^2 L^2 > lambda > 0, if 64 eta L B^2 + 72 "
    "eta_l^2 A K^2 B^2 L^2 < 1; the theorems ask for eta_l <= min(1/(4LK sqrt A), 3/(16KL)) and lambda in (0, 1/2).",
    _LIMIT + r">\lambda>0",
    LAMBDA_VALUE,
    "(33), appendix C",
    relation="<",
    steps=(
        Step(
            "the limit is positive",
            _LIMIT,
            "=",
            r"\frac{1}{2}(1-64\eta LB^2-72\eta_l^2AK^2B^2L^2)",
            "identity",
            "so that under the condition there is such a lambda",
            identity=("1/2 - 32*e*B**2 - 36*A*e**2*B**2", "1/2*(1 - 64*e*B**2 - 72*A*e**2*B**2)"),
        ),
    ),
    remarks=(
        "True as it stands, under its condition; but the theorem neither states the condition nor implies it by its "
        "step size: see eq33/from-step. At eta_l = 3/(16KL) it needs B^2 < 1/(12 + 81A/32), which is below 1/12; "
        "unbounded gradients have B >= 1, and then eta_l < 1/(64 K L B^2) is necessary.",
        "sqrt A <= 1 makes 1/(4LK sqrt A) larger than 3/(16KL): the first of the two step sizes never binds.",
        "32 eta L B^2 rests on Lemma 9's 64B^2; see eq33/corrected, and eq33/corrected-2 for a weaker condition.",
    ),
)
EQ33_FROM_STEP = result(
    "eq33/from-step",
    "equation",
    "the condition on lambda from the step size",
    "(33)(d) under the conditions of Theorem IV.1",
    "eta_l <= 3/(16KL) implies 32 eta L B^2 + 36 eta_l^2 A K^2 B^2 L^2 < 1/2.",
    _LOAD.latex + r"<\frac{1}{2}",
    _LOAD,
    "reading of (33) with Theorem IV.1",
    parameters=(A, K, L, eta_l, B),
    hypotheses=(DESCENT_STEP,),
    right="1/2",
    relation="<",
    steps=(
        Step(
            "by the step size of the theorem",
            "64\\eta LB^2+72\\eta_l^2AK^2B^2L^2",
            "<",
            "1",
            "inequality",
            "not implied: eta_l K L = 3/(16+rest), A = 1/(1+more); true at rest = 0 only for B^2 < 1/(12 + 81A/32)",
            identity=("64*(3/(16+rest))*B**2 + 72/(1+more)*(3/(16+rest))**2*B**2", "1"),
        ),
    ),
    remarks=("False; true for B^2 < 1/(12 + 81A/32).",),
)
EQ33_CORRECTED = result(
    "eq33/corrected",
    "equation",
    "the lambda of the proof",
    "(33)(d), corrected",
    "lambda < 1/2 - 4 eta L - 16 eta L B^2 - 36 eta_l^2 A K^2 B^2 L^2, a hypothesis of its own.",
    r"\lambda<\frac{1}{2}-4\eta L-16\eta LB^2-36\eta_l^2AK^2B^2L^2",
    LAMBDA_VALUE,
    "repair of (33)",
    parameters=(A, K, L, eta_l, B),
    right=LAMBDA_LIMIT_CORRECTED,
    relation="<",
    amends="eq33",
    derivation="(33)(b) with lemma-9/corrected: (eta^2 L/2)(32B^2+8) = eta (16 eta L B^2 + 4 eta L).",
)

EQ34 = result(
    "eq34",
    "equation",
    "the sum over the lags",
    "(34)",
    "sum_j (6K^2 M_j + P_j) <= V = 6(1-A)K^2 + (27A/32 + 1)(rho^2 + K^2J^2(1-A)^2/A^2).",
    _SUM.latex + r"\leq " + _V,
    _SUM,
    "(34), appendix C",
    parameters=(alpha, beta, K, L, eta_l),
    hypotheses=(WEIGHTS, DESCENT_STEP),
    definitions={**DRIFT_LAGS, "lag_sum": "sum(6*K**2*M + P)"},
    relation="<=",
    right=V_FORMULA,
    steps=(
        Step(
            "the coefficient",
            r"24K^2AL^2\eta_l^2",
            "<=",
            r"\frac{27A}{32}",
            "inequality",
            "eta_l = 3/(16KL+rest)",
            identity=("24*K**2*A*L**2*(3/(16*K*L+rest))**2", "27/32*A"),
        ),
        Step(
            "the sum of P_j",
            r"\sum_jP_j",
            "=",
            r"\rho^2+\frac{K^2J^2(1-A)^2}{A^2}",
            "identity",
            "two lags",
            identity=("(b0+b1)*b0 + 2*K**2*r + (b0+b1)*b1 + 2*K**2*r", "(b0+b1)**2 + 4*K**2*r"),
        ),
        Step(
            "(34)",
            _SUM.latex,
            "<=",
            _V,
            "substitution",
            claim=identifier("eq34"),
            uses=("the coefficient", "the sum of P_j"),
        ),
    ),
    remarks=("V has K^2 in it already: the factor K^2 before VC in (8), (10) and (41) is one too many.",),
)

_STEP_D = "the coefficients, by eta = 3/(16L+rest)"


def proof(corrected: bool) -> tuple[Step, ...]:
    """The lines of (33), with Lemma 9 and lambda as printed or corrected."""
    factor = "32*B**2 + 8" if corrected else "64*B**2"
    limit = LAMBDA_LIMIT_CORRECTED if corrected else LAMBDA_LIMIT
    suffix = "/corrected" if corrected else ""
    return (
        Step("Lemma 5", "u_{t+1}", "=", r"u_t-\eta\frac{1}{SK}\sum g", "cited", "", claim=identifier("lemma-5")),
        Step("Lemma 8", r"\varepsilon_t", "<=", r"\dots", "cited", "", claim=identifier("lemma-8")),
        Step(
            "Lemma 9", r"\mathbb{E}\Vert\dots\Vert^2", "<=", r"\dots", "cited", "", claim=identifier("lemma-9" + suffix)
        ),
        Step(
            "(33)(a)",
            DESCENT.latex,
            "<=",
            r"\mathbb{E}\langle\nabla f(u_t),u_{t+1}-u_t\rangle+\frac{L}{2}\mathbb{E}\Vert u_{t+1}-u_t\Vert^2",
            "inequality",
            "f is L-smooth; the selected clients' mean is unbiased",
            uses=("Lemma 5",),
        ),
        Step(
            "the product",
            r"-\langle\nabla f(u_t),\frac{1}{KN}\sum\nabla f_i(y_{i,k,2}^t)\rangle",
            "<=",
            r"-\frac{1}{2}\Vert\nabla f(u_t)\Vert^2+\frac{3L^2}{2}(\varepsilon_t+\sum_jP_j\Vert\delta_{t-j}\Vert^2)",
            "inequality",
            "Cauchy-Schwarz, and y2 - u_t in three terms",
            vectors=gradients("product", "product bound"),
        ),
        Step(
            "(33)(b)",
            DESCENT.latex,
            "<=",
            r"-\frac{\eta}{2}"
            + GRADIENT_U
            + r"+\frac{\eta^2L}{2}\mathbb{E}\Vert\frac{1}{SK}\sum g\Vert^2+\frac{3\eta L^2}{2}(\varepsilon_t+\sum_jP_j"
            + DELTA
            + ")",
            "substitution",
            "",
            uses=("(33)(a)", "the product"),
        ),
        Step(
            "the factor of the gradient",
            r"\frac{1}{2}-\frac{\eta L}{2}c-\frac{3L^2}{2}24AK^2\eta_l^2B^2",
            "=",
            "1/2-\\dots",
            "identity",
            f"c = {factor.replace('**', '^').replace('*', ' ')} by Lemma 9",
            identity=(f"1/2 - K*eta_l*L/2*({factor}) - 3*L**2/2*24*A*K**2*eta_l**2*B**2", limit),
            uses=("(33)(b)", "Lemma 8", "Lemma 9"),
        ),
        Step(
            _STEP_D,
            r"8\eta^2L^3",
            "<=",
            r"\frac{3\eta L^2}{2}",
            "inequality",
            "as 24 eta^2 L <= 9 eta/2 and 192 eta^2 L <= 36 eta, all of them 16 eta L <= 3",
            identity=("8*(3/(16*L+rest))**2*L**3", "3/2*(3/(16*L+rest))*L**2"),
        ),
        Step(
            "(33)(d)",
            DESCENT.latex,
            "<=",
            r"-\eta\lambda" + GRADIENT_U + "+" + NOISE_TERMS,
            "inequality",
            "needs a lambda below the factor of the gradient",
            uses=("the factor of the gradient", _STEP_D),
        ),
    )


EQ37 = result(
    "eq37",
    "equation",
    "one round's descent under PL",
    "(37)",
    "E[f(u_{t+1}) - f(u_t)] <= -(eta lambda/2) E||grad f(u_t)||^2 - mu eta lambda E[f(u_t) - f_*] + eta^2 L "
    "sigma_l^2/(KS) + 4 eta^2 L G^2/S + 3 eta eta_l^2 L^2 sum_j (6K^2M_j+P_j) C + 9 eta eta_l^2 KA^2L^2 sigma_l^2 + 72 "
    "eta eta_l^2 AK^2L^2G^2.",
    DESCENT.latex
    + r"\leq-\frac{\eta\lambda}{2}"
    + GRADIENT_U
    + r"-\mu\eta\lambda\mathbb{E}[f(u_t)-f_*]+"
    + NOISE_TERMS,
    DESCENT,
    "(37), appendix D",
    parameters=(alpha, beta, K, L, eta_l, S, G, B, sigma2, C, lam, mu, grad_u2, gap),
    hypotheses=(A1, A2, *NOISE, A4, WEIGHTS, UNIFORM),
    standing=(DESCENT_STEP_OF_33, LAMBDA_OF_33, BOUNDED_DTILDE),
    definitions={**DRIFT_LAGS, "lags": "sum(6*K**2*M + P)", "lam_max": LAMBDA_LIMIT, "round": ROUND},
    relation="<=",
    right="K*eta_l*(-lam/2*grad_u2 - mu*lam*gap + round)",
    steps=(
        *proof(corrected=False),
        Step(
            "PL",
            r"-\eta\lambda\Vert\nabla f(u_t)\Vert^2",
            "<=",
            r"-\frac{\eta\lambda}{2}\Vert\nabla f(u_t)\Vert^2-\mu\eta\lambda(f(u_t)-f_*)",
            "hypothesis",
            "g = 2 mu gap + rest",
            identity=("-e*(2*mu*gap+rest)", "-e/2*(2*mu*gap+rest) - mu*e*gap"),
            uses=("(33)(d)",),
        ),
        Step("(37)", DESCENT.latex, "<=", r"\dots", "substitution", claim=identifier("eq37"), uses=("PL",)),
    ),
    remarks=("True with (33) for every B, by eq33/corrected-2, although Lemma 9 is false for B < 1/2.",),
)

CLAIMS: tuple[Claim, ...] = (EQ33, EQ33_FROM_STEP, EQ33_CORRECTED, EQ34, EQ37)
