"""A client's gradients and its drift within a round (Lemmas 7 and 8)."""

from __future__ import annotations

from theory.claim import Claim, Hypothesis, Step
from theory.papers.fedmim.lines import ONE_OF_FIVE, gradients, split
from theory.papers.fedmim.words import (
    A1,
    A4,
    CLIENT_DRIFT,
    CLIENT_GRADIENT,
    DELTA,
    DRIFT_LAGS,
    DRIFT_STEP,
    GRADIENT_U,
    LAGS,
    MEAN_CLIENT_GRADIENT,
    MEAN_DRIFT,
    NOISE,
    ONE_CLIENT_DRIFT,
    WEIGHTS,
    B,
    G,
    K,
    L,
    alpha,
    beta,
    delta_sq,
    drift,
    eta_l,
    grad_u2,
    identifier,
    k,
    result,
    sigma2,
    x_sq,
)

_Q = "4*rho*L**2*beta + 4*L**2*K**2*J*(1-A)**2/A**2"
_LEMMA_7 = "4*L**2*{distance} + sum(Q*delta_sq) + 4*G**2 + 4*B**2*grad_u2"
_LEMMA_7_TAIL = r"+\sum_jQ_j" + DELTA + r"+4G^2+4B^2" + GRADIENT_U
_BACK = r"4L^2\mathbb{E}\Vert x_{i,k-1}^t-x_t\Vert^2"
_SPLIT = (
    r"4\mathbb{E}\Vert\nabla f_i(y_{i,k-1,2}^t)-\nabla f_i(x_{i,k-1}^t)\Vert^2"
    r"+4\mathbb{E}\Vert\nabla f_i(x_{i,k-1}^t)-\nabla f_i(x_t)\Vert^2"
    r"+4\mathbb{E}\Vert\nabla f_i(x_t)-\nabla f_i(u_t)\Vert^2+4\mathbb{E}\Vert\nabla f_i(u_t)\Vert^2"
)

LEMMA_7 = result(
    "lemma-7",
    "lemma",
    "a client's gradient",
    "Lemma 7",
    "E||grad f_i(y_{i,k,2})||^2 <= 4L^2 E||x_{i,k-1}-x_t||^2 + sum_j Q_j E||delta_{t-j}||^2 + 4G^2 + 4B^2 "
    "E||grad f(u_t)||^2, Q_j = 4 rho L^2 beta_j + 4L^2K^2J(1-A)^2/A^2, for every client i.",
    CLIENT_GRADIENT.latex + r"\leq " + _BACK + _LEMMA_7_TAIL,
    CLIENT_GRADIENT,
    "Lemma 7, (22), appendix B",
    parameters=(alpha, beta, K, L, G, B, delta_sq, grad_u2, x_sq),
    hypotheses=(A1, A4, WEIGHTS),
    definitions={**LAGS, "Q": _Q},
    relation="<=",
    right=_LEMMA_7.format(distance="x_sq"),
    steps=(
        Step(
            "(23)(a)",
            CLIENT_GRADIENT.latex,
            "<=",
            _SPLIT,
            "inequality",
            "Lemma 1 with four terms; the left side is at k and the right side at k-1",
        ),
        Step(
            "the gradient at u_t",
            r"\mathbb{E}\Vert\nabla f_i(u_t)\Vert^2",
            "<=",
            r"G^2+B^2" + GRADIENT_U,
            "inequality",
            "false: Assumption 4 bounds the mean over the clients, a single client up to N times as much",
            vectors=ONE_OF_FIVE,
            uses=("(23)(a)",),
        ),
        Step(
            "Lemma 7",
            CLIENT_GRADIENT.latex,
            "<=",
            _BACK + _LEMMA_7_TAIL,
            "substitution",
            "sum_{s>=j} alpha_s <= 1-A",
            claim=identifier("lemma-7"),
            uses=("(23)(a)", "the gradient at u_t"),
        ),
    ),
    remarks=(
        "False for a single client: with f_1 = N F and all others 0, ||grad f_1||^2 is N^2 ||grad F||^2 and the right "
        "side 4N ||grad F||^2. Lemmas 8 and 9 use the mean over clients only.",
        "The index k-1 on the right is a slip: y_{i,k,2} stands at x_{i,k}. As no step size is given, x_{i,1} may be "
        "far from x_{i,0} = x_t: one client, f = x^2/2, eta_l = 4 already breaks it.",
        "x_sq is read as the printed E||x_{i,k-1} - x_t||^2.",
    ),
)
LEMMA_7_CORRECTED = result(
    "lemma-7/corrected",
    "lemma",
    "the clients' gradients, on average",
    "Lemma 7, corrected",
    "(1/N) sum_i E||grad f_i(y_{i,k,2})||^2 <= 4L^2 (1/N) sum_i E||x_{i,k}-x_t||^2 + sum_j Q_j E||delta_{t-j}||^2 + "
    "4G^2 + 4B^2 E||grad f(u_t)||^2.",
    MEAN_CLIENT_GRADIENT.latex + r"\leq\frac{4L^2}{N}\sum_i\mathbb{E}\Vert x_{i,k}^t-x_t\Vert^2" + _LEMMA_7_TAIL,
    MEAN_CLIENT_GRADIENT,
    "repair of Lemma 7",
    parameters=(alpha, beta, K, L, G, B, delta_sq, grad_u2, drift),
    hypotheses=(A1, A4, WEIGHTS),
    definitions={**LAGS, "Q": _Q},
    relation="<=",
    right=_LEMMA_7.format(distance="drift"),
    steps=(
        Step(
            "Lemma 7, corrected",
            MEAN_CLIENT_GRADIENT.latex,
            "<=",
            r"\frac{4L^2}{N}\sum_i\mathbb{E}\Vert x_{i,k}^t-x_t\Vert^2" + _LEMMA_7_TAIL,
            "inequality",
            "the printed proof at k, and Assumption 4 after averaging",
            vectors=gradients("clients", "Lemma 7"),
        ),
    ),
    vectors=gradients("clients", "Lemma 7"),
    amends="lemma-7",
    derivation=(
        "||grad f_i(y2)||^2 is at most 4 times the sum of ||grad f_i(y2) - grad f_i(x_k)||^2 <= L^2 rho sum_j beta_j "
        "||delta_{t-j}||^2 (Jensen), L^2 ||x_k - x_t||^2, L^2 ||x_t - u_t||^2 <= L^2 K^2 J (1-A)^2/A^2 sum_j "
        "||delta_{t-j}||^2 (Cauchy-Schwarz) and ||grad f_i(u_t)||^2, whose mean over i Assumption 4 bounds."
    ),
)

_STEP_PARAMETERS = (alpha, beta, K, L, eta_l, G, B, sigma2, delta_sq, grad_u2)
_RECURSION_TAIL = r"+2k\sum_jM_j" + DELTA + r"+8Ak\eta_l^2G^2+8Ak\eta_l^2B^2" + GRADIENT_U + r"+A^2\eta_l^2\sigma_l^2"
_UNROLLED = (
    r"3A^2{k}\eta_l^2\sigma_l^2+\sum_j6{k}^2M_j{delta}+24A{k}^2\eta_l^2G^2+24A{k}^2\eta_l^2B^2{gradient}".replace(
        "{delta}", DELTA
    ).replace("{gradient}", GRADIENT_U)
)
_HYPOTHESES = (A1, *NOISE, A4, WEIGHTS, DRIFT_STEP)
LATER_STEP = Hypothesis("second step or later", "k >= 2: the printed factor divides by k-1", relation="k >= 2")
UP_TO_K = Hypothesis("local step", "k <= K", relation="k <= K")

_EQ25 = "(1 + 1/(k-1))*{before} + 2*k*sum(M*delta_sq) + 8*A*k*eta_l**2*(G**2 + B**2*grad_u2) + A**2*eta_l**2*sigma2"
_EQ26 = "3*A**2*k*eta_l**2*sigma2 + 6*k**2*sum(M*delta_sq) + 24*A*k**2*eta_l**2*(G**2 + B**2*grad_u2)"
EQ25 = result(
    "eq25",
    "equation",
    "one local step's drift",
    "(25)",
    "E||x_{i,k}-x_t||^2 <= (1 + 1/(k-1)) E||x_{i,k-1}-x_t||^2 + 2k sum_j M_j E||delta_{t-j}||^2 + 8Ak eta_l^2 (G^2 + "
    "B^2 E||grad f(u_t)||^2) + A^2 eta_l^2 sigma_l^2, P_j = rho beta_j + K^2J(1-A)^2/A^2, M_j = alpha_j + "
    "4AL^2 eta_l^2 P_j.",
    ONE_CLIENT_DRIFT.latex + r"\leq(1+\frac{1}{k-1})\mathbb{E}\Vert x_{i,k-1}^t-x_t\Vert^2" + _RECURSION_TAIL,
    ONE_CLIENT_DRIFT,
    "(25), appendix B",
    parameters=(*_STEP_PARAMETERS, k, x_sq),
    hypotheses=(*_HYPOTHESES, LATER_STEP, UP_TO_K),
    definitions=DRIFT_LAGS,
    relation="<=",
    right=_EQ25.format(before="x_sq"),
    remarks=(
        "Of every client as printed, like Lemma 7, and false for a single one (f_1 = 9 x^2/2 and 8 clients 0, k = 2); "
        "true of the mean over clients.",
    ),
)
EQ26 = result(
    "eq26",
    "equation",
    "the drift after k local steps",
    "(26)",
    "E||x_{i,k}-x_t||^2 <= 3A^2 k eta_l^2 sigma_l^2 + sum_j 6k^2 M_j E||delta_{t-j}||^2 + 24A k^2 eta_l^2 (G^2 + B^2 "
    "E||grad f(u_t)||^2).",
    ONE_CLIENT_DRIFT.latex + r"\leq " + _UNROLLED.replace("{k}", "k"),
    ONE_CLIENT_DRIFT,
    "(26), appendix B",
    parameters=(*_STEP_PARAMETERS, k),
    hypotheses=(*_HYPOTHESES, UP_TO_K),
    definitions=DRIFT_LAGS,
    relation="<=",
    right=_EQ26,
    remarks=(
        "Of every client as printed, and false for a single one (f_1 = 25 x^2/2 and 24 clients 0, k = 1); true of the "
        "mean over clients.",
        "The recursion (25), whose factor at step m is m/(m-1), gives k (1 + 1/2 + ... + 1/k) A^2 eta_l^2 sigma_l^2, "
        "which exceeds the printed 3k from k = 11 on. The proof is good with one factor 1 + 1/(k-1) for all steps.",
    ),
)
EQ25_CORRECTED = result(
    "eq25/corrected",
    "equation",
    "one local step's drift, on average",
    "(25), corrected",
    "(25) for the mean over the N clients of E||x_{i,k}-x_t||^2.",
    MEAN_DRIFT.latex
    + r"\leq(1+\frac{1}{k-1})\frac{1}{N}\sum_i\mathbb{E}\Vert x_{i,k-1}^t-x_t\Vert^2"
    + _RECURSION_TAIL,
    MEAN_DRIFT,
    "repair of (25)",
    parameters=(*_STEP_PARAMETERS, k, drift),
    hypotheses=(*_HYPOTHESES, LATER_STEP, UP_TO_K),
    definitions=DRIFT_LAGS,
    relation="<=",
    right=_EQ25.format(before="drift"),
    amends="eq25",
    derivation=(
        "Noise, Young and Jensen as printed, then lemma-7/corrected: the factor of the drift before is 1 + 1/(2k-1) + "
        "8kAL^2 eta_l^2 <= 1 + 1/(2k-1) + 1/(2k) <= 1 + 1/(k-1), as k <= K. `drift` is that after k-1 steps."
    ),
)
EQ26_CORRECTED = result(
    "eq26/corrected",
    "equation",
    "the drift after k local steps, on average",
    "(26), corrected",
    "(26) for the mean over the N clients of E||x_{i,k}-x_t||^2.",
    MEAN_DRIFT.latex + r"\leq " + _UNROLLED.replace("{k}", "k"),
    MEAN_DRIFT,
    "repair of (26)",
    parameters=(*_STEP_PARAMETERS, k),
    hypotheses=(*_HYPOTHESES, UP_TO_K),
    definitions=DRIFT_LAGS,
    relation="<=",
    right=_EQ26,
    amends="eq26",
    derivation=(
        "Young with 1/(2k-1) in every step m <= k: the factor is 1 + 1/(2k-1) + 8kAL^2 eta_l^2 <= 1 + 1/(k-1) and what "
        "is added the same each time, so that the sum is at most (k-1)((1+1/(k-1))^k - 1) <= 3k times it (k = 1: once)."
    ),
)
LEMMA_8 = result(
    "lemma-8",
    "lemma",
    "how far the clients drift within a round",
    "Lemma 8",
    "For eta_l <= 1/(4LK sqrt A): (1/(KN)) sum_{i,k} E||x_{i,k}-x_t||^2 <= 3KA^2 eta_l^2 sigma_l^2 + sum_j 6K^2 M_j "
    "E||delta_{t-j}||^2 + 24AK^2 eta_l^2 (G^2 + B^2 E||grad f(u_t)||^2).",
    CLIENT_DRIFT.latex + r"\leq " + _UNROLLED.replace("{k}", "K"),
    CLIENT_DRIFT,
    "Lemma 8, (24), appendix B",
    parameters=_STEP_PARAMETERS,
    hypotheses=_HYPOTHESES,
    definitions=DRIFT_LAGS,
    relation="<=",
    right="3*K*A**2*eta_l**2*sigma2 + 6*K**2*sum(M*delta_sq) + 24*A*K**2*eta_l**2*(G**2 + B**2*grad_u2)",
    steps=(
        Step(
            "noise",
            ONE_CLIENT_DRIFT.latex,
            "<=",
            r"\mathbb{E}\Vert x_{i,k-1}^t-\eta_lA\nabla f_i(y_{i,k-1,2}^t)-\sum_j\alpha_j\delta_{t-j}-x_t\Vert^2"
            r"+A^2\eta_l^2\sigma_l^2",
            "moment identity",
            "Assumption 3",
            vectors=split("noisy", "noise apart"),
        ),
        Step(
            "Young",
            r"\Vert x_{i,k-1}^t-\eta_lA\nabla f_i-\sum_j\alpha_j\delta_{t-j}-x_t\Vert^2",
            "<=",
            r"(1+\frac{1}{2k-1})\Vert x_{i,k-1}^t-x_t\Vert^2+2k\Vert\eta_lA\nabla f_i"
            r"+\sum_j\alpha_j\delta_{t-j}\Vert^2",
            "inequality",
            "Lemma 2 with a = 1/(2k-1)",
            vectors=split("step", "Young"),
            uses=("noise",),
        ),
        Step(
            "Jensen",
            r"\Vert\eta_lA\nabla f_i+\sum_j\alpha_j\delta_{t-j}\Vert^2",
            "<=",
            r"A\eta_l^2\Vert\nabla f_i\Vert^2+\sum_j\alpha_j\Vert\delta_{t-j}\Vert^2",
            "inequality",
            "Lemma 3",
            vectors=split("move", "convex"),
        ),
        Step(
            "the factor of (25)",
            r"\frac{1}{2k-1}+8kAL^2\eta_l^2",
            "<=",
            r"\frac{1}{k-1}",
            "inequality",
            "k = 2+m <= K = k+rest, eta_l at its limit 1/(4LK sqrt A); at k = 1 the drift before it is 0",
            identity=("1/(2*m+3) + (m+2)/(2*(m+2+rest)**2)", "1/(m+1)"),
        ),
        Step(
            "(25)",
            ONE_CLIENT_DRIFT.latex,
            "<=",
            r"(1+\frac{1}{k-1})\mathbb{E}\Vert x_{i,k-1}^t-x_t\Vert^2" + _RECURSION_TAIL,
            "substitution",
            "Lemma 7, at k-1; of the mean over clients",
            claim=identifier("eq25"),
            slip=identifier("eq25/corrected"),
            uses=("Young", "Jensen", "the factor of (25)"),
        ),
        Step(
            "(26)",
            ONE_CLIENT_DRIFT.latex,
            "<=",
            _UNROLLED.replace("{k}", "k"),
            "summation",
            "(k-1)((1 + 1/(k-1))^k - 1) <= 3k; the factor of the last step has to be used in all of them",
            claim=identifier("eq26"),
            slip=identifier("eq26/corrected"),
            uses=("(25)",),
        ),
        Step(
            "(27)",
            CLIENT_DRIFT.latex,
            "<=",
            _UNROLLED.replace("{k}", "K"),
            "summation",
            "k <= K",
            claim=identifier("lemma-8"),
            uses=("(26)",),
        ),
    ),
    remarks=(
        "True: it needs Lemma 7 for the mean over clients only, and (26) holds for that mean.",
        "(25) and (26) are false for a single client, and (26) does not follow from (25) as displayed: see eq26.",
    ),
)

CLAIMS: tuple[Claim, ...] = (
    LEMMA_7,
    LEMMA_7_CORRECTED,
    EQ25,
    EQ25_CORRECTED,
    EQ26,
    EQ26_CORRECTED,
    LEMMA_8,
)
