"""Theorem 2: shuffling local SGD on estimated weights, all epochs and the gap at the best weights; s = eta N K."""

from __future__ import annotations

from theory.claim import Claim, Hypothesis, Parameter, Step
from theory.domain import POSITIVE
from theory.papers.perm.epochs import E_R
from theory.papers.perm.local_sgd import REMAINDER, SPREAD
from theory.papers.perm.one_epoch import CONDITIONS, EMPTY, EPOCHS, NEXT_MODEL, PROOF_STEP, S
from theory.papers.perm.words import (
    A1,
    A2_RUN,
    A3,
    A4,
    DISSIMILARITY,
    DISSIMILARITY_RUN,
    EPOCH_STEP,
    HALF_STEP,
    INTERIOR,
    MODEL_DISTANCE,
    PERSONAL_GAP,
    SHORT_EPOCH,
    UNBIASED,
    V0,
    D,
    G,
    K,
    L,
    N,
    R,
    T_a,
    delta2,
    dist0,
    eta,
    gamma,
    identifier,
    lam,
    mu,
    n,
    p,
    result,
    zbar,
    zeta,
)

theta_factor = Parameter("c_eta", POSITIVE, "the constant that Theta hides in the statement's step size")
STATED_STEP = Hypothesis(
    "step size of the statement",
    "eta = Theta(log(NKR^3)/(mu R)), printed in Theorem 2, with the hidden constant c_eta",
    relation="eta == c_eta*log(N*K*R**3)/(mu*R)",
)

_UNROLLED_LATEX = r"(1-\frac{1}{2}\mu s)^R\mathbb{E}\Vert v^0-v^*\Vert^2"
_FIXED_POINT = Step(
    "fixed point",
    r"(1-x)\frac{c}{x}+c",
    "=",
    r"\frac{c}{x}",
    "identity",
    "V' <= (1-x) V + c gives V_R <= (1-x)^R V_0 + c/x",
    identity=("(1-x)*c/x + c", "c/x"),
)
THEOREM_2_UNROLLED = result(
    "theorem-2-unrolled",
    "theorem",
    "all epochs",
    "proof of Theorem 2",
    "V_R <= (1 - mu s/2)^R V_0 + (2/mu) s e^4 delta^2 + (1/mu)(1/(2 mu s)+2)(488 e^6 eta^3 N^3 K^3 L^4 + 512 eta N^2 K "
    "e_R^2) G^2 N log(1/p).",
    MODEL_DISTANCE.latex
    + r"\leq"
    + _UNROLLED_LATEX
    + r"+\frac{2}{\mu}se^4\delta^2+\frac{1}{\mu}(\frac{1}{2\mu s}+2)"
    + r"(488e^6\eta^3N^3K^3L^4+512\eta N^2Ke_R^2)G^2N\log(1/p)",
    MODEL_DISTANCE,
    "proof of Theorem 2, appendix B.4",
    parameters=(mu, L, N, K, R, eta, G, p, delta2, V0),
    hypotheses=(*CONDITIONS, PROOF_STEP, EPOCH_STEP, *EPOCHS),
    definitions={
        "s": S,
        "e_R": E_R,
        "start_term": "(1-mu*s/2)**R*V0",
        "noise_term": "2/mu*s*exp(4)*delta2",
        "bias_term": "1/mu*(1/(2*mu*s)+2)*(488*exp(6)*eta**3*N**3*K**3*L**4 + 512*eta*N**2*K*e_R**2)*G**2*N*log(1/p)",
    },
    relation="<=",
    right="start_term + noise_term + bias_term",
    steps=(
        Step("one epoch", NEXT_MODEL.latex, "<=", r"\dots", "cited", "", claim=identifier("theorem-2-step")),
        _FIXED_POINT,
        Step(
            "noise",
            r"\frac{2}{\mu s}s^2e^4\delta^2",
            "=",
            r"\frac{2}{\mu}se^4\delta^2",
            "substitution",
            identity=("2/(mu*s)*s**2*d", "2/mu*s*d"),
            uses=("one epoch", "fixed point"),
        ),
        Step(
            "bias",
            r"\frac{2}{\mu s}(244e^6s^4L^4+256\eta^2N^3K^2e_R^2)",
            "=",
            r"\frac{1}{\mu}(488e^6\eta^3N^3K^3L^4+512\eta N^2Ke_R^2)",
            "substitution",
            identity=(
                "2/(mu*eta*N*K)*(244*c*(eta*N*K)**4 + 256*eta**2*N**3*K**2*q)",
                "1/mu*(488*c*eta**3*N**3*K**3 + 512*eta*N**2*K*q)",
            ),
            uses=("one epoch", "fixed point"),
        ),
    ),
    remarks=(EMPTY,),
)
V_TERMS = {
    "s": S,
    "start_term": "(1-mu*s)**R*V0",
    "noise_term": "2*s*delta2/(mu*K)",
    "bias_term": "(2/(mu*s)+2)*4*L**2*s**3*(G**2+delta2/K)/mu",
}
THEOREM_2_UNROLLED_CORRECTED = result(
    "theorem-2-unrolled/corrected",
    "theorem",
    "all epochs",
    "proof of Theorem 2, corrected",
    "s = eta N K <= 1/(4L): V_R <= (1 - mu s)^R V_0 + 2 s delta^2/(mu K) + (2/(mu s)+2) 4 L^2 s^3 (G^2 + "
    "delta^2/K)/mu.",
    MODEL_DISTANCE.latex
    + r"\leq(1-\mu s)^R\mathbb{E}\Vert v^0-v^*\Vert^2+\frac{2s\delta^2}{\mu K}"
    + r"+(\frac{2}{\mu s}+2)\frac{4L^2s^3}{\mu}(G^2+\frac{\delta^2}{K})",
    MODEL_DISTANCE,
    "repair of the recursion in the proof of Theorem 2, Phi = sum a_j f_j",
    parameters=(mu, L, N, K, R, eta, G, delta2, V0),
    hypotheses=(*A1, UNBIASED, A2_RUN, A3, A4, SHORT_EPOCH),
    definitions=V_TERMS,
    relation="<=",
    right="start_term + noise_term + bias_term",
    steps=(_FIXED_POINT,),
    amends="theorem-2-unrolled",
    derivation="theorem-2-step/corrected-2 over R epochs: V' <= (1-x) V + c gives V_R <= (1-x)^R V_0 + c/x, x = mu s.",
)

_KAPPA_TERM = (
    r"+\kappa_{\Phi}^2L\tilde O(\exp(-\frac{T_{\alpha}}{\kappa_g})+\kappa_g^2\bar\zeta_i(w^*)L^2"
    r"(\frac{\kappa\zeta^2}{\mu^2R^2}+\frac{\delta^2}{\mu^2NRK}))"
)
THEOREM_2 = result(
    "theorem-2",
    "theorem",
    "personalised models by shuffling",
    "Theorem 2",
    "Algorithm 1 on Algorithm 3's weights, eta = Theta(log(NKR^3)/(mu R)): with probability at least 1-p, E[Phi(a*, "
    "vhat) - Phi(a*, v*)] <= Otilde(D^2 L/(NKR^2)) + L delta^2/(mu^2 R) + ((L^4+N)/(mu^4 R^2)) L G^2 N log(1/p) + "
    "kPhi^2 L Otilde(exp(-T_a/kappa_g) + kappa_g^2 zbar L^2 (kappa zeta^2/(mu^2 R^2) + delta^2/(mu^2 N R K))), "
    "kappa_g = n_max/(2 lam).",
    PERSONAL_GAP.latex
    + r"\leq\tilde O(\frac{D^2L}{NKR^2})+\frac{L\delta^2}{\mu^2R}+(\frac{L^4+N}{\mu^4R^2})LG^2N\log(1/p)"
    + _KAPPA_TERM,
    PERSONAL_GAP,
    "Theorem 2, section 3.1; proof in appendix B.4",
    relation="<=",
    parameters=(mu, L, N, K, R, eta, theta_factor),
    hypotheses=(*CONDITIONS, DISSIMILARITY, STATED_STEP, PROOF_STEP, EPOCH_STEP, *EPOCHS),
    definitions={"kappa": "L/mu", "log_of_statement": "log(N*K*R**3)", "log_of_proof": "log(sqrt(N*K)*R)"},
    steps=(
        Step("one epoch", NEXT_MODEL.latex, "<=", r"\dots", "cited", "", claim=identifier("theorem-2-step")),
        Step(
            "all epochs",
            MODEL_DISTANCE.latex,
            "<=",
            r"\dots",
            "summation",
            "",
            claim=identifier("theorem-2-unrolled"),
            uses=("one epoch",),
        ),
        Step(
            "step sizes",
            r"2\log(\sqrt{NK}R)",
            "<=",
            r"\log(NKR^3)",
            "inequality",
            "a = log(NK), b = log R: the statement's step is at least c NK/2 times the proof's, so they differ when "
            "NK > 2/c",
            identity=("2*(a/2+b)", "a+3*b"),
        ),
        Step(
            "Lemma 2",
            PERSONAL_GAP.latex,
            "<=",
            r"2L\Vert v^R-v^*(\hat\alpha)\Vert^2+(2\kappa_{\Phi}^2L+\frac{4NG^2}{L})\Vert\hat\alpha-\alpha^*\Vert^2",
            "cited",
            "",
            claim=identifier("lemma-2/unnormalised"),
            uses=("all epochs",),
        ),
        Step(
            "Theorem 1",
            r"\mathbb{E}\Vert\hat\alpha-\alpha^*\Vert^2",
            "<=",
            r"\dots",
            "cited",
            "",
            claim=identifier("theorem-1"),
        ),
    ),
    remarks=(
        "Vacuous: the step of the proof and Lemma 11's condition exclude each other for all N, K, R. So do the step "
        "of the statement with c_eta >= 1 and Lemma 11's condition; the two steps exclude each other when N K > "
        "2/c_eta. R's condition goes with each of them.",
        "The step of the statement lacks the factor 1/(NK) of the proof's, and log(NKR^3) stands for 4 log(sqrt(NK) "
        "R).",
        "The term D^2/(RK) of the proof's last line is missing; L delta^2/(mu^2 R) has lost its logarithm; with L^2 "
        "for L^4 in Lemma 12 the deviation is of order kappa^2 G^2/(mu^2 R^2), whose units agree.",
        "The last sentence's R = O(L delta^2/(mu eps)) has mu for mu^2.",
        "The gap is of (3)'s Phi in the statement and of sum a_j f_j in the proof; zeta^2, kappa_g and zbar are as in "
        "Theorem 1.",
    ),
)
_ALPHA_PART = {
    "kappa_g": "amax(n)/(2*lam)",
    "condition_number": "amax(n)/amin(n)",
    "spread": SPREAD.format(zeta="zeta"),
    "w_error": f"(1-mu*gamma)**(R*K)*dist0 + {REMAINDER} + gamma*delta2/(mu*N)",
    "weight_error": "4*(1-1/condition_number)**(2*T_a) + 16*L**2*kappa_g**2*N*(zbar + 2*L**2*D**2)*w_error",
    "weights_term": "(2*N*G**2/mu**2*L + 4*N*G**2/L)*weight_error",
}
_WHOLE = (*A1, UNBIASED, A2_RUN, A3, A4, DISSIMILARITY_RUN, INTERIOR, HALF_STEP)
_COMBINED = (
    Step(
        "Lemma 2",
        PERSONAL_GAP.latex,
        "<=",
        r"2L\Vert v^R-v^*(\hat\alpha)\Vert^2+(2\kappa_{\Phi}^2L+\frac{4NG^2}{L})\Vert\hat\alpha-\alpha^*\Vert^2",
        "cited",
        "",
        claim=identifier("lemma-2/unnormalised"),
    ),
    Step(
        "all epochs",
        MODEL_DISTANCE.latex,
        "<=",
        r"\dots",
        "cited",
        "",
        claim=identifier("theorem-2-unrolled/corrected"),
    ),
    Step(
        "Theorem 1",
        r"\mathbb{E}\Vert\hat\alpha-\alpha^*\Vert^2",
        "<=",
        r"\dots",
        "cited",
        "",
        claim=identifier("theorem-1/corrected"),
    ),
)
THEOREM_2_CORRECTED = result(
    "theorem-2/corrected",
    "theorem",
    "personalised models by shuffling, with constants",
    "Theorem 2, corrected",
    "eta <= 1/(4NKL), gamma <= 1/(2L), grad F(w*) = 0, Phi = sum a_j f_j: E[Phi(a*, vhat) - Phi(a*, v*)] <= 2L V_R + "
    "(2 kPhi^2 L + 4 N G^2/L) A, V_R of theorem-2-unrolled/corrected from a distance D, A of theorem-1/corrected.",
    PERSONAL_GAP.latex + r"\leq 2LV_R+(2\kappa_{\Phi}^2L+\frac{4NG^2}{L})A",
    PERSONAL_GAP,
    "repair of Theorem 2, Phi = sum a_j f_j",
    parameters=(mu, L, N, K, R, eta, gamma, G, D, delta2, zeta, dist0, lam, n, T_a, zbar),
    hypotheses=(*_WHOLE, SHORT_EPOCH),
    definitions={
        **{name: text.replace("V0", "D**2") for name, text in V_TERMS.items()},
        "model_term": "2*L*(start_term + noise_term + bias_term)",
        **_ALPHA_PART,
    },
    relation="<=",
    right="model_term + weights_term",
    steps=_COMBINED,
    amends="theorem-2",
    derivation="lemma-2/unnormalised with theorem-2-unrolled/corrected (V_0 <= D^2) and theorem-1/corrected.",
)
THEOREM_2_CORRECTED_2 = result(
    "theorem-2/corrected-2",
    "theorem",
    "personalised models by shuffling, with a step that exists",
    "Theorem 2, corrected",
    "eta = 2 l/(mu N K R), l = log(sqrt(NK) R), R >= 8 kappa l: E[Phi(a*, vhat) - Phi(a*, v*)] <= 2L (D^2/(NKR^2) + "
    "4 l delta^2/(mu^2 K R) + 40 kappa^2 l^2 (G^2 + delta^2/K)/(mu^2 R^2)) + (2 kPhi^2 L + 4 N G^2/L) A.",
    PERSONAL_GAP.latex
    + r"\leq 2L(\frac{D^2}{NKR^2}+\frac{4\ell\delta^2}{\mu^2KR}"
    + r"+\frac{40\kappa^2\ell^2}{\mu^2R^2}(G^2+\frac{\delta^2}{K}))"
    + r"+(2\kappa_{\Phi}^2L+\frac{4NG^2}{L})A,\;\ell=\log(\sqrt{NK}R)",
    PERSONAL_GAP,
    "repair of Theorem 2's step size, Phi = sum a_j f_j",
    parameters=(mu, L, N, K, R, gamma, G, D, delta2, zeta, dist0, lam, n, T_a, zbar),
    hypotheses=(
        *_WHOLE,
        Hypothesis("step size of the epochs", "eta = 2 log(sqrt(NK) R)/(mu N K R), N K R > 1"),
        Hypothesis(
            "number of epochs",
            "R >= 8 kappa log(sqrt(NK) R), which is eta N K L <= 1/4",
            relation="R >= 8*L/mu*log(sqrt(N*K)*R)",
        ),
    ),
    definitions={
        "ell": "log(sqrt(N*K)*R)",
        "kappa": "L/mu",
        "start_term": "D**2/(N*K*R**2)",
        "noise_term": "4*ell*delta2/(mu**2*K*R)",
        "bias_term": "40*kappa**2*ell**2*(G**2+delta2/K)/(mu**2*R**2)",
        "model_term": "2*L*(start_term + noise_term + bias_term)",
        **_ALPHA_PART,
    },
    relation="<=",
    right="model_term + weights_term",
    steps=(
        Step(
            "noise",
            r"\frac{2s\delta^2}{\mu K},\;s=\frac{2\ell}{\mu R}",
            "=",
            r"\frac{4\ell\delta^2}{\mu^2KR}",
            "substitution",
            identity=("2*(2*ell/(mu*R))*d/(mu*K)", "4*ell*d/(mu**2*K*R)"),
        ),
        Step(
            "bias",
            r"(\frac{2}{\mu s}+2)\frac{4L^2s^3}{\mu}",
            "<=",
            r"\frac{10L^2s^2}{\mu^2}",
            "inequality",
            "mu s <= 1/4, written 1/(4+r); then 10 L^2 s^2/mu^2 = 40 kappa^2 l^2/(mu^2 R^2)",
            identity=("(2*(4+r)+2)*4/(4+r)**3", "10/(4+r)**2"),
        ),
        *_COMBINED,
    ),
    amends="theorem-2",
    derivation=(
        "theorem-2/corrected with s = eta N K = 2 l/(mu R): sL <= 1/4 is R >= 8 kappa l; (1-mu s)^R <= exp(-2 l) = "
        "1/(N K R^2); 2 s delta^2/(mu K) = 4 l delta^2/(mu^2 K R); (2/(mu s)+2) 4 L^2 s^3/mu = 8 L^2 s^2 (1+mu "
        "s)/mu^2 <= 10 L^2 s^2/mu^2 = 40 kappa^2 l^2/(mu^2 R^2)."
    ),
    remarks=("R >= 8 kappa log(sqrt(NK) R) holds for R >= 16 kappa log(16 kappa sqrt(NK)).",),
)
CLAIMS: tuple[Claim, ...] = (
    THEOREM_2_UNROLLED,
    THEOREM_2_UNROLLED_CORRECTED,
    THEOREM_2,
    THEOREM_2_CORRECTED,
    THEOREM_2_CORRECTED_2,
)
