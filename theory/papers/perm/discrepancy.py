"""Algorithm 3, second part: gradient steps on the mixing weights, and Theorem 1."""

from __future__ import annotations

from theory.claim import Claim, Hypothesis, Quantity, Step
from theory.papers.perm.local_sgd import REMAINDER, SPREAD
from theory.papers.perm.words import (
    A1,
    A2,
    A2_RUN,
    A3,
    DISSIMILARITY,
    DISSIMILARITY_RUN,
    HALF_STEP,
    INTERIOR,
    UNBIASED,
    WEIGHT_ERROR,
    D,
    K,
    L,
    N,
    R,
    T_a,
    delta2,
    dist0,
    gamma,
    identifier,
    lam,
    mu,
    n,
    result,
    start2,
    zbar,
    zeta,
)

DESCENT_ERROR = Quantity(
    "weight_descent_error",
    "||alphahat - a*(w^R)||^2 after T_a projected gradient steps on g_i(w^R, .) from the uniform weights",
    r"\Vert\hat\alpha-\alpha_g^*(w^R)\Vert^2",
)
# The three meanings that kappa_g has in the paper, and the condition number of g_i(w, .).
KAPPAS = {
    "kappa_modulus": "amax(n)/(2*lam)",
    "kappa_theorem_1": "1/(lam*amin(n))",
    "condition_number": "amax(n)/amin(n)",
}
_THREE = (
    "kappa_g is n_max/(2 lam), 'the condition number', in section 3.1, Lemma 3 and Theorems 2 and 3; 1/(lam n_min) in "
    "Theorem 1. The Hessian of g_i in alpha is 2 lam diag(1/n_j): its condition number is n_max/n_min, without lam."
)
_DESCENT_STEP = Hypothesis(
    "step size of the weights", "the step is 1/L_g = n_min/(2 lam), as the proof of Theorem 1 says"
)

ALPHA_RATE = result(
    "theorem-1-alpha-rate",
    "equation",
    "gradient steps on the weights, with Theorem 1's kappa_g",
    "proof of Theorem 1",
    "(1 - mu_g eta_a)^{T_a} with eta_a = 1/L_g is taken for exp(-T_a/kappa_g), kappa_g = 1/(lam n_min) (Theorem 1): "
    "||alphahat - a*(w^R)||^2 <= exp(-T_a lam n_min).",
    DESCENT_ERROR.latex + r"\leq\exp(-\frac{T_{\alpha}}{\kappa_g}),\;\kappa_g=\frac{1}{\lambda n_{\min}}",
    DESCENT_ERROR,
    "Theorem 1 and its proof, appendix B.2",
    parameters=(n, lam, T_a),
    hypotheses=(_DESCENT_STEP,),
    definitions=KAPPAS,
    relation="<=",
    right="exp(-T_a/kappa_theorem_1)",
    remarks=(_THREE, "The error after T_a steps does not depend on lam at fixed z/lam; the bound does."),
)
LEMMA_14_RATE = result(
    "lemma-14-alpha-rate",
    "equation",
    "gradient steps on the weights, with Lemma 14's kappa_g",
    "Lemmas 14 and 15",
    "||alpha^r - a*(w^r)||^2 <= (1 - 1/kappa_g)^{T_a}, kappa_g = n_max/(2 lam).",
    DESCENT_ERROR.latex + r"\leq(1-\frac{1}{\kappa_g})^{T_{\alpha}},\;\kappa_g=\frac{n_{\max}}{2\lambda}",
    DESCENT_ERROR,
    "Lemmas 14 and 15, appendix C.1",
    parameters=(n, lam, T_a),
    hypotheses=(_DESCENT_STEP,),
    definitions=KAPPAS,
    relation="<=",
    right="(1-1/kappa_modulus)**T_a",
    remarks=(_THREE, "Negative for odd T_a and 2 lam > n_max."),
)
ALPHA_RATE_CORRECTED = result(
    "theorem-1-alpha-rate/corrected",
    "equation",
    "gradient steps on the weights",
    "proof of Theorem 1, corrected",
    "With the step n_min/(2 lam): ||alpha^{T_a} - a*||^2 <= (1 - n_min/n_max)^{2 T_a} ||alpha^0 - a*||^2.",
    DESCENT_ERROR.latex + r"\leq(1-\frac{n_{\min}}{n_{\max}})^{2T_{\alpha}}\Vert\alpha^0-\alpha_g^*\Vert^2",
    DESCENT_ERROR,
    "repair of the rate in Theorem 1 and Lemmas 14 and 15",
    parameters=(n, lam, T_a, start2),
    hypotheses=(_DESCENT_STEP,),
    definitions=KAPPAS,
    relation="<=",
    right="(1-amin(n)/amax(n))**(2*T_a)*start2",
    steps=(
        Step(
            "one step, one weight",
            r"1-\frac{n_{\min}}{2\lambda}\frac{2\lambda}{n_j}",
            "=",
            r"1-\frac{n_{\min}}{n_j}",
            "identity",
            "between 0 and 1 - n_min/n_max; the projection does not expand",
            identity=("1-least/(2*lam)*2*lam/nj", "1-least/nj"),
        ),
    ),
    amends="theorem-1-alpha-rate",
    derivation=(
        "A gradient step multiplies weight j's distance from any other point by 1 - n_min/n_j, which lies in [0, 1 - "
        "n_min/n_max]; the projection onto the simplex does not expand, and a* is a fixed point. From any start the "
        "squared distance is at most 2, from uniform weights at most 1 - 1/N. For equal n_j one step is exact."
    ),
)

_ALPHA_SPLIT = Step(
    "split",
    r"\Vert\hat\alpha-\alpha^*\Vert^2",
    "<=",
    r"2\Vert\hat\alpha-\alpha_g^*(w^R)\Vert^2+2\Vert\alpha_g^*(w^R)-\alpha_g^*(w^*)\Vert^2",
    "inequality",
    "||x+y||^2 <= 2||x||^2 + 2||y||^2",
)
THEOREM_1 = result(
    "theorem-1",
    "theorem",
    "the estimated weights converge",
    "Theorem 1",
    "Algorithm 3 with gamma = Theta(log(RK)/(mu RK)), kappa_g = 1/(lam n_min): E||alpha_i^R - alpha_i*||^2 <= "
    "Otilde(exp(-T_a/kappa_g) + kappa_g^2 zbar_i(w*) L^2 (D^2/(RK) + kappa zeta^2/(mu^2 R^2) + delta^2/(mu^2 N R K))).",
    WEIGHT_ERROR.latex
    + r"\leq\tilde O(\exp(-\frac{T_{\alpha}}{\kappa_g})+\kappa_g^2\bar\zeta_i(w^*)L^2(\frac{D^2}{RK}"
    + r"+\frac{\kappa\zeta^2}{\mu^2R^2}+\frac{\delta^2}{\mu^2NRK}))",
    WEIGHT_ERROR,
    "Theorem 1, section 3.1",
    relation="<=",
    hypotheses=(
        *A1[:2],
        UNBIASED,
        A2,
        A3,
        DISSIMILARITY,
        Hypothesis("step size", "gamma = Theta(log(RK)/(mu R K))"),
    ),
    steps=(
        _ALPHA_SPLIT,
        Step(
            "first line",
            r"\Vert\hat\alpha-\alpha^*\Vert^2",
            "<=",
            r"2(1-\mu\eta_{\alpha})^{T_{\alpha}}+8L\kappa_g^2\sum_j(2\zeta_{ij}(w^*)+4L^2d^2)d^2",
            "substitution",
            "d = ||w^R-w*||; Lemma 3 with 4L where 4L^2 is shown, and mu for mu_g",
            identity=("2*4*L**2", "8*L"),
            uses=("split",),
        ),
        Step(
            "second line",
            r"8L\kappa_g^2\sum_j(2\zeta_{ij}(w^*)+4L^2d^2)d^2",
            "<=",
            r"8L\kappa_g^2(2\bar\zeta_i(w^*)+4NL^2d^2)d^2",
            "inequality",
            "sum_j zeta_ij is N zbar_i: a factor N is lost",
            identity=("2*N*zbar + 4*N*L**2*d2", "2*zbar + 4*N*L**2*d2"),
            uses=("first line",),
        ),
        Step(
            "Theorem 1",
            WEIGHT_ERROR.latex,
            "<=",
            r"\tilde O(\exp(-\frac{T_{\alpha}}{\kappa_g})+\kappa_g^2\bar\zeta_i(w^*)L^2(\dots))",
            "order",
            "the term 4 N L^2 d^4 is dropped: it remains when zbar_i(w*) = 0",
            claim=identifier("theorem-1"),
            uses=("second line",),
        ),
    ),
    remarks=(
        _THREE,
        "False whatever constants O~ hides: with f_j = h_j/2 w^2, different h_j, every gradient at w* = 0 is 0, so "
        "zbar_i(w*) = 0 and the right side tends to 0 with T_a; the weights at w^R differ from those at w*.",
        "A factor N is lost; zeta^2 has the wrong dimension; kappa delta^2/(mu^2 R^2 K), which the proof's last "
        "display has, is missing here.",
    ),
)
THEOREM_1_CORRECTED = result(
    "theorem-1/corrected",
    "theorem",
    "the estimated weights converge, with constants",
    "Theorem 1, corrected",
    "For gamma <= 1/(2L), grad F(w*) = 0, zeta along the run, kappa_g = n_max/(2 lam), w_error the bound of "
    "lemma-6/corrected: E||alpha_i^R - alpha_i*||^2 <= 4 (1 - n_min/n_max)^{2 T_a} + 16 L^2 kappa_g^2 N (zbar_i(w*) + "
    "2 L^2 D^2) w_error.",
    WEIGHT_ERROR.latex
    + r"\leq 4(1-\frac{n_{\min}}{n_{\max}})^{2T_{\alpha}}+16L^2\kappa_g^2N(\bar\zeta_i(w^*)+2L^2D^2)\,"
    + r"\mathbb{E}\Vert w^R-w^*\Vert^2",
    WEIGHT_ERROR,
    "repair of Theorem 1",
    parameters=(mu, L, N, K, R, gamma, delta2, zeta, dist0, D, lam, n, T_a, zbar),
    hypotheses=(*A1, UNBIASED, A2_RUN, A3, DISSIMILARITY_RUN, INTERIOR, HALF_STEP, _DESCENT_STEP),
    definitions={
        "kappa_g": "amax(n)/(2*lam)",
        "condition_number": "amax(n)/amin(n)",
        "spread": SPREAD.format(zeta="zeta"),
        "w_error": f"(1-mu*gamma)**(R*K)*dist0 + {REMAINDER} + gamma*delta2/(mu*N)",
        "descent_term": "4*(1-1/condition_number)**(2*T_a)",
        "model_term": "16*L**2*kappa_g**2*N*(zbar + 2*L**2*D**2)*w_error",
    },
    relation="<=",
    right="descent_term + model_term",
    steps=(
        _ALPHA_SPLIT,
        Step(
            "gradient steps",
            DESCENT_ERROR.latex,
            "<=",
            r"2(1-\frac{n_{\min}}{n_{\max}})^{2T_{\alpha}}",
            "substitution",
            "two points of the simplex are at most sqrt(2) apart",
            claim=identifier("theorem-1-alpha-rate/corrected"),
        ),
        Step(
            "Lemma 3",
            r"2\Vert\alpha_g^*(w^R)-\alpha_g^*(w^*)\Vert^2",
            "<=",
            r"8L^2\kappa_g^2(2N\bar\zeta_i(w^*)+4NL^2D^2)d^2",
            "substitution",
            "d <= D, as w^R and w* lie in W",
            claim=identifier("lemma-3/corrected"),
            identity=("8*L**2*k2*(2*N*zbar + 4*N*L**2*D**2)", "16*L**2*k2*N*(zbar + 2*L**2*D**2)"),
        ),
        Step(
            "Lemma 6",
            r"\mathbb{E}\Vert w^R-w^*\Vert^2",
            "<=",
            r"\mathrm{right\;side}",
            "cited",
            "",
            claim=identifier("lemma-6/corrected"),
        ),
    ),
    amends="theorem-1",
    derivation=(
        "||alphahat - alpha*||^2 <= 2 ||alphahat - a*(w^R)||^2 + 2 ||a*(w^R) - a*(w*)||^2; the first by "
        "theorem-1-alpha-rate/corrected with ||alpha^0 - a*||^2 <= 2, the second by lemma-3/corrected with sum_j "
        "zeta_ij = N zbar_i and ||w^R-w*||^4 <= D^2 ||w^R-w*||^2, then expectations and lemma-6/corrected."
    ),
    remarks=(
        "With gamma = log(RK)/(mu RK), which needs R K >= 2 kappa log(RK), the first term of w_error is dist0/(RK).",
    ),
)
CLAIMS: tuple[Claim, ...] = (
    THEOREM_1,
    THEOREM_1_CORRECTED,
    ALPHA_RATE,
    ALPHA_RATE_CORRECTED,
    LEMMA_14_RATE,
)
