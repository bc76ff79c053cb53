"""How the mixing weights of Algorithm 2 move and converge: Lemmas 14 and 15."""

from __future__ import annotations

from theory.claim import Claim, Hypothesis, Quantity, Step
from theory.papers.perm.minibatch import DISTANCE, MOVE
from theory.papers.perm.one_epoch import CONDITIONS
from theory.papers.perm.words import (
    A1,
    A2,
    A3,
    INTERIOR,
    UNBIASED,
    D,
    L,
    M,
    N,
    T,
    T_a,
    delta2,
    gamma,
    identifier,
    lam,
    mu,
    n,
    result,
    zbar,
)

WEIGHT_STEP = Quantity("weight_step", "||a_i^r - a_i^{r-1}||^2", r"\Vert\alpha_i^r-\alpha_i^{r-1}\Vert^2")
WEIGHT_END = Quantity("weight_end", "||ahat_i - a_i*||^2", r"\Vert\hat\alpha_i-\alpha_i^*\Vert^2")
_ZERO = (
    "False whatever constants O(.) hides: with f_j = h_j/2 w^2, different h_j and exact gradients every gradient at "
    "w* = 0 is 0, so zbar_i(w*) = 0 and the right side tends to 0 with T_a, while the weights move with w^r."
)
_RATE = "(1 - 1/kappa_g) with kappa_g = n_max/(2 lam) is no contraction factor, and negative for 2 lam > n_max."
LEMMA_14 = result(
    "lemma-14",
    "lemma",
    "the weights move little from epoch to epoch",
    "Lemma 14",
    "||a^r - a^{r-1}||^2 <= 6 (1-1/kappa_g)^{T_a} + O(kappa_g^2 L^2 zbar_i(w*)) (gamma^2 L (1-mu gamma)^r "
    "(F(w^0)-F(w*)) + gamma^3 kappa delta^2/M + gamma^2 delta^2/M).",
    WEIGHT_STEP.latex
    + r"\leq 6(1-\frac{1}{\kappa_g})^{T_{\alpha}}+O(\kappa_g^2L^2\bar\zeta_i(w^*))"
    + r"(\gamma^2L(1-\mu\gamma)^r(F(w^0)-F(w^*))"
    + r"+\frac{\gamma^3\kappa\delta^2}{M}+\frac{\gamma^2\delta^2}{M})",
    WEIGHT_STEP,
    "Lemma 14, appendix C.1",
    relation="<=",
    hypotheses=CONDITIONS,
    steps=(
        Step(
            "gradient steps",
            r"\Vert\alpha^r-\alpha_g^*(w^r)\Vert^2",
            "<=",
            r"(1-\frac{1}{\kappa_g})^{T_{\alpha}}",
            "cited",
            _RATE,
            claim=identifier("lemma-14-alpha-rate"),
        ),
        Step(
            "sum over the clients",
            r"\sum_j(8\zeta_{ij}(w^*)+\dots)",
            "=",
            r"8\bar\zeta_i(w^*)+\dots",
            "summation",
            "sum_j zeta_ij is N zbar_i",
            identity=("8*N*zbar", "8*zbar"),
        ),
        Step("(16)", MOVE.latex, "<=", r"\dots", "cited", "", claim=identifier("proposition-4-eq16")),
    ),
    remarks=(
        _ZERO,
        _RATE,
        "A factor N is lost; the terms 8 L^2 ||w^r-w*||^2 are dropped; no expectation on the left; (16) lacks a "
        "factor L.",
        "Proposition 4 has no projection; Algorithm 2 projects w.",
        "At r = 1 the weights a^0 = 1/N have taken no gradient step, so their error does not contract.",
    ),
)
LEMMA_15 = result(
    "lemma-15",
    "lemma",
    "the weights converge",
    "Lemma 15",
    "||ahat - a*||^2 <= 2 (1-1/kappa_g)^{T_a} + O(kappa_g^2 zbar_i(w*) L^2 (2/mu) (1-mu gamma)^T + 2 gamma "
    "delta^2/(mu^2 M)).",
    WEIGHT_END.latex
    + r"\leq 2(1-\frac{1}{\kappa_g})^{T_{\alpha}}+O(\kappa_g^2\bar\zeta_i(w^*)L^2\frac{2}{\mu}(1-\mu\gamma)^T"
    + r"+2\gamma\frac{\delta^2}{\mu^2M})",
    WEIGHT_END,
    "Lemma 15, appendix C.1",
    relation="<=",
    hypotheses=CONDITIONS,
    steps=(
        Step(
            "gradient steps",
            r"\Vert\alpha^R-\alpha_g^*(w^R)\Vert^2",
            "<=",
            r"(1-\frac{1}{\kappa_g})^{T_{\alpha}}",
            "cited",
            _RATE,
            claim=identifier("lemma-14-alpha-rate"),
        ),
        Step(
            "Lemma 3",
            r"\Vert\alpha_g^*(w^R)-\alpha_g^*(w^*)\Vert",
            "<=",
            r"\dots",
            "cited",
            "",
            claim=identifier("lemma-3"),
        ),
        Step("(17)", DISTANCE.latex, "<=", r"\dots", "cited", "", claim=identifier("proposition-4-eq17")),
    ),
    remarks=(
        _ZERO,
        "F(w^0)-F(w*) and, in the second term, kappa_g^2 zbar L^2 are lost; so are N and the term N L^2 ||w^R-w*||^4.",
        "T is R here.",
    ),
)

_GRADIENT_STEPS = "4*(1-amin(n)/amax(n))**(2*T_a)"
_GLOBAL_STEP = Hypothesis("step size of the global model", "gamma <= 1/L", relation="gamma <= 1/L")
_WEIGHT_STEPS = Hypothesis("step size of the weights", "the step on the weights is n_min/(2 lam)")
_PARAMETERS = (mu, L, N, gamma, delta2, M, T, D, lam, n, T_a, zbar)
_W_ERROR = r"(1-\mu\gamma)^{%s}D^2+\frac{\gamma\delta^2}{\mu M}"
_SGD_STEP = Step(
    "projected SGD",
    r"\mathbb{E}\Vert w^{t+1}-w^*\Vert^2",
    "<=",
    r"(1-\mu\gamma)\mathbb{E}\Vert w^t-w^*\Vert^2+\frac{\gamma^2\delta^2}{M}",
    "inequality",
    "w* = P_W(w* - gamma grad F(w*)), P_W does not expand, and a gradient step contracts by 1 - mu gamma",
)
LEMMA_15_CORRECTED = result(
    "lemma-15/corrected",
    "lemma",
    "the weights converge, with constants",
    "Lemma 15, corrected",
    "gamma <= 1/L: E||ahat - a*||^2 <= 4 (1-n_min/n_max)^{2 T_a} + 16 L^2 kappa_g^2 N (zbar_i(w*) + 2 L^2 D^2) "
    "((1-mu gamma)^T D^2 + gamma delta^2/(mu M)).",
    r"\mathbb{E}"
    + WEIGHT_END.latex
    + r"\leq 4(1-\frac{n_{\min}}{n_{\max}})^{2T_{\alpha}}+16L^2\kappa_g^2N(\bar\zeta_i(w^*)+2L^2D^2)("
    + _W_ERROR % "T"
    + ")",
    WEIGHT_END,
    "repair of Lemma 15",
    parameters=_PARAMETERS,
    hypotheses=(*A1, UNBIASED, A2, A3, _GLOBAL_STEP, _WEIGHT_STEPS),
    definitions={
        "kappa_g": "amax(n)/(2*lam)",
        "w_error": "(1-mu*gamma)**T*D**2 + gamma*delta2/(mu*M)",
        "descent_term": _GRADIENT_STEPS,
        "model_term": "16*L**2*kappa_g**2*N*(zbar + 2*L**2*D**2)*w_error",
    },
    relation="<=",
    right="descent_term + model_term",
    steps=(
        Step(
            "gradient steps",
            r"\Vert\alpha^R-\alpha_g^*(w^R)\Vert^2",
            "<=",
            r"2(1-\frac{n_{\min}}{n_{\max}})^{2T_{\alpha}}",
            "cited",
            "",
            claim=identifier("theorem-1-alpha-rate/corrected"),
        ),
        Step(
            "Lemma 3",
            r"\Vert\alpha_g^*(w^R)-\alpha_g^*(w^*)\Vert",
            "<=",
            r"\dots",
            "cited",
            "",
            claim=identifier("lemma-3/corrected"),
        ),
        _SGD_STEP,
    ),
    amends="lemma-15",
    derivation=(
        "As theorem-1/corrected, with projected mini-batch SGD in place of local SGD: E||w^{t+1}-w*||^2 <= (1-mu "
        "gamma) E||w^t-w*||^2 + gamma^2 delta^2/M, so E||w^T-w*||^2 <= (1-mu gamma)^T D^2 + gamma delta^2/(mu M)."
    ),
)
MOVE_TERMS = {
    "descent_term": "12*(1-amin(n)/amax(n))**(2*T_a)",
    "motion_factor": "24*L**2*kappa_g**2*N*(zbar + L**2*D**2)*gamma**2",
}
LEMMA_14_CORRECTED = result(
    "lemma-14/corrected",
    "lemma",
    "the weights move little from epoch to epoch, with constants",
    "Lemma 14, corrected",
    "T = r >= 2, gamma <= 1/L, grad F(w*) = 0: E||a^r - a^{r-1}||^2 <= 12 (1-n_min/n_max)^{2 T_a} + 24 L^2 kappa_g^2 N "
    "(zbar_i(w*) + L^2 D^2) gamma^2 (L^2 ((1-mu gamma)^{r-1} D^2 + gamma delta^2/(mu M)) + delta^2/M).",
    r"\mathbb{E}"
    + WEIGHT_STEP.latex
    + r"\leq 12(1-\frac{n_{\min}}{n_{\max}})^{2T_{\alpha}}+24L^2\kappa_g^2N(\bar\zeta_i(w^*)+L^2D^2)\gamma^2(L^2("
    + _W_ERROR % "r-1"
    + r")+\frac{\delta^2}{M})",
    WEIGHT_STEP,
    "repair of Lemma 14",
    parameters=_PARAMETERS,
    hypotheses=(
        *A1,
        UNBIASED,
        A2,
        A3,
        INTERIOR,
        _GLOBAL_STEP,
        _WEIGHT_STEPS,
        Hypothesis("epoch", "T = r >= 2: the weights of epoch 1 have taken T_a steps", relation="T >= 2"),
    ),
    definitions={
        "kappa_g": "amax(n)/(2*lam)",
        **MOVE_TERMS,
        "motion_term": "motion_factor*(L**2*((1-mu*gamma)**(T-1)*D**2 + gamma*delta2/(mu*M)) + delta2/M)",
    },
    relation="<=",
    right="descent_term + motion_term",
    steps=(
        Step(
            "sum of the gradients",
            r"(2\sqrt{\zeta_{ij}(w^*)}+2LD)^2",
            "<=",
            r"8\zeta_{ij}(w^*)+8L^2D^2",
            "inequality",
            "x = sqrt(zeta) + LD, sqrt(zeta) = LD + r or the other way round",
            identity=("(2*(d+r)+2*d)**2", "8*(d+r)**2+8*d**2"),
        ),
        _SGD_STEP,
    ),
    amends="lemma-14",
    derivation=(
        "||a^r - a^{r-1}||^2 <= 3 (error of a^r) + 3 (error of a^{r-1}) + 3 ||a*(w^r) - a*(w^{r-1})||^2, the errors "
        "at most 2 (1-n_min/n_max)^{2 T_a} each. With m = ||w^r-w^{r-1}||: z_j changes by at most L m (2 "
        "sqrt(zeta_ij(w*)) + 2 L D), whose square is at most L^2 m^2 (8 zeta_ij + 8 L^2 D^2); a*(z) is "
        "kappa_g-Lipschitz. E m^2 <= gamma^2 (E||grad F(w^{r-1})||^2 + delta^2/M), ||grad F(w)|| <= L ||w-w*||, and "
        "E||w^{r-1}-w*||^2 as in lemma-15/corrected."
    ),
)
CLAIMS: tuple[Claim, ...] = (LEMMA_14, LEMMA_14_CORRECTED, LEMMA_15, LEMMA_15_CORRECTED)
