"""Algorithm 2, the single loop: Theorem 3."""

from __future__ import annotations

from theory.claim import Claim, Hypothesis, Step
from theory.papers.perm.epochs import E_R
from theory.papers.perm.moving_weights import MOVE_TERMS, WEIGHT_END, WEIGHT_STEP
from theory.papers.perm.one_epoch import DRIFT
from theory.papers.perm.words import (
    A1,
    A2,
    A2_RUN,
    A3,
    A4,
    EPOCH_STEP,
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
    M,
    N,
    R,
    T_a,
    delta2,
    eta,
    gamma,
    identifier,
    lam,
    mu,
    n,
    p,
    result,
    weight_drift2,
    zbar,
)

_CONDITIONS = (*A1, UNBIASED, A2, A3, A4)

S = "eta*N*K"
_LOG_STEP = Hypothesis(
    "step size of the proof",
    "eta = 4 log(NKR^3)/(mu N K R), put in after the recursion (before it eta = 4 log(sqrt(NK) R)/(mu N K R) is named)",
    relation="eta == 4*log(N*K*R**3)/(mu*N*K*R)",
)
_EPOCHS = (
    Hypothesis("number of epochs", "R >= 3e/8", relation="R >= 3*exp(1)/8"),
    Hypothesis(
        "number of epochs, second",
        "R >= (64 kappa^2 log(sqrt(NK) R) e^6/(9 mu))^{1/3}",
        relation="9*mu**3*R**3 >= 64*L**2*log(sqrt(N*K)*R)*exp(6)",
    ),
)
_EMPTY = (
    "Vacuous: the step and Lemma 11's eta <= 1/(4NKRL) give 16 kappa log(NKR^3) <= 1, so N = K = R = 1, where eta "
    "would be 0."
)
_YOUNG = (
    Step(
        "(18)",
        r"(1+\frac{1}{4a-2})(1-\frac{1}{2a})",
        "=",
        r"1-\frac{1}{4a}",
        "identity",
        "a = 1/(mu s)",
        identity=("(1+1/(4*a-2))*(1-1/(2*a))", "1-1/(4*a)"),
    ),
)
THEOREM_3_EXPLICIT = result(
    "theorem-3-explicit",
    "theorem",
    "the single loop, the part without the weights",
    "proof of Theorem 3",
    "s = eta N K: (1 - mu s/4)^R V_0 + s e^4 delta^2/mu + (8/mu)(1/(2 mu s)+2)(244 e^6 eta^3 N^3 K^3 L^4 + 256 eta "
    "N^2 K e_R^2) G^2 N log(1/p), to which the motion of the weights adds an O(.).",
    MODEL_DISTANCE.latex
    + r"\leq(1-\frac{1}{4}\mu s)^R\Vert v^0-v^*(\alpha^0)\Vert^2+\frac{1}{\mu}se^4\delta^2"
    + r"+\frac{8}{\mu}(\frac{1}{2\mu s}+2)(244e^6\eta^3N^3K^3L^4+256\eta N^2Ke_R^2)G^2N\log(1/p)",
    MODEL_DISTANCE,
    "proof of Theorem 3, appendix C.2",
    parameters=(mu, L, N, K, R, eta, G, p, delta2, V0),
    hypotheses=(*_CONDITIONS, _LOG_STEP, EPOCH_STEP, *_EPOCHS),
    definitions={
        "s": S,
        "e_R": E_R,
        "start_term": "(1-mu*s/4)**R*V0",
        "noise_term": "s*exp(4)*delta2/mu",
        "bias_term": "8/mu*(1/(2*mu*s)+2)*(244*exp(6)*eta**3*N**3*K**3*L**4 + 256*eta*N**2*K*e_R**2)*G**2*N*log(1/p)",
    },
    relation="<=",
    right="start_term + noise_term + bias_term",
    steps=(
        *_YOUNG,
        Step(
            "noise",
            r"\frac{4}{\mu s}2s^2e^4\delta^2",
            "=",
            r"\frac{1}{\mu}se^4\delta^2",
            "summation",
            "8 s e^4 delta^2/mu, not s e^4 delta^2/mu",
            identity=("4/(mu*s)*2*s**2*d", "s*d/mu"),
            uses=("(18)",),
        ),
        Step(
            "bias",
            r"\frac{4}{\mu s}2(244e^6s^4L^4+256\eta^2N^3K^2e_R^2)",
            "=",
            r"\frac{8}{\mu}(244e^6\eta^3N^3K^3L^4+256\eta N^2Ke_R^2)",
            "summation",
            identity=(
                "4/(mu*eta*N*K)*2*(244*c*(eta*N*K)**4 + 256*eta**2*N**3*K**2*q)",
                "8/mu*(244*c*eta**3*N**3*K**3 + 256*eta*N**2*K*q)",
            ),
            uses=("(18)",),
        ),
    ),
    remarks=(
        _EMPTY,
        "Everything that is wrong with theorem-2-step is inherited: Young's constant, 244, L^4, the sign and 2L in "
        "T1, the noise's cross terms, N^3.",
        "R's condition is another one than Theorem 2's for the same recursion.",
    ),
)
THEOREM_3_EXPLICIT_CORRECTED = result(
    "theorem-3-explicit/corrected",
    "theorem",
    "the single loop, with the motion of the weights",
    "proof of Theorem 3, corrected",
    "s = eta N K <= 1/(4L), Phi = sum a_j f_j, A = max_r E||a^{r+1}-a^r||^2: E||v^R - v*(a^R)||^2 <= (1 - mu s/2)^R "
    "V_0 + (4/(mu s)) (2 s^2 delta^2/K + (2/(mu s)+2) 4 L^2 s^4 (G^2 + delta^2/K)) + 4 N G^2 A/(mu^4 s^2).",
    MODEL_DISTANCE.latex
    + r"\leq(1-\frac{1}{2}\mu s)^RV_0+\frac{4}{\mu s}(\frac{2s^2\delta^2}{K}+(\frac{2}{\mu s}+2)4L^2s^4"
    + r"(G^2+\frac{\delta^2}{K}))+\frac{4NG^2}{\mu^4s^2}A",
    MODEL_DISTANCE,
    "repair of the recursion in the proof of Theorem 3, Phi = sum a_j f_j",
    parameters=(mu, L, N, K, R, eta, G, delta2, V0, weight_drift2),
    hypotheses=(*A1, UNBIASED, A2_RUN, A3, A4, SHORT_EPOCH),
    definitions={
        "s": S,
        "start_term": "(1-mu*s/2)**R*V0",
        "noise_term": "8*s*delta2/(mu*K)",
        "bias_term": f"4/(mu*s)*(2/(mu*s)+2)*{DRIFT}",
        "weights_term": "4*N*G**2/(mu**4*s**2)*weight_drift2",
    },
    relation="<=",
    right="start_term + noise_term + bias_term + weights_term",
    steps=(
        Step(
            "one epoch",
            r"\mathbb{E}\Vert v^{r+1}-v^*(\alpha^r)\Vert^2",
            "<=",
            r"\dots",
            "cited",
            "",
            claim=identifier("theorem-2-step/corrected-2"),
        ),
        Step(
            "(18)",
            r"(1+\frac{x}{2(1-x)})(1-x)",
            "=",
            r"1-\frac{x}{2}",
            "identity",
            "x = mu s; the other factor of Young's inequality is 1 + 2(1-x)/x = 2/x - 1",
            identity=("(1+x/(2*(1-x)))*(1-x)", "1-x/2"),
            uses=("one epoch",),
        ),
        Step(
            "factor of the epoch",
            r"1+\frac{x}{2(1-x)}",
            "<=",
            "2",
            "inequality",
            "x <= 1/4, written 1/(4+r)",
            identity=("1+1/(2*(3+r))", "2"),
        ),
        Step(
            "all epochs",
            r"\frac{2}{x}(2c+\frac{2}{x}\kappa_{\Phi}^2A)",
            "=",
            r"\frac{4c}{\mu s}+\frac{4NG^2}{\mu^4s^2}A",
            "summation",
            "2/x - 1 <= 2/x; kPhi^2 = N G^2/mu^2",
            identity=("2/(mu*s)*(2*c + 2/(mu*s)*N*G**2/mu**2*A)", "4*c/(mu*s) + 4*N*G**2/(mu**4*s**2)*A"),
            uses=("(18)", "factor of the epoch"),
        ),
    ),
    amends="theorem-3-explicit",
    derivation=(
        "theorem-2-step/corrected-2 holds for the weights a^r, which do not depend on the epoch's noise: U = "
        "E||v^{r+1} - v*(a^r)||^2 <= (1-x) V_r + c, x = mu s. Young with t = x/(2(1-x)) and Lemma 1 (v* is "
        "kPhi-Lipschitz): V_{r+1} <= (1+t) U + (1+1/t) kPhi^2 A <= (1-x/2) V_r + 2c + (2/x) kPhi^2 A. Over R epochs: "
        "V_R <= (1-x/2)^R V_0 + (2/x)(2c + (2/x) kPhi^2 A)."
    ),
    remarks=(
        "A feasible step: eta = 2 log(NKR^3)/(mu N K R) for R >= 8 kappa log(NKR^3), which makes the first term at "
        "most V_0/(NKR^3).",
    ),
)
THEOREM_3 = result(
    "theorem-3",
    "theorem",
    "the single loop",
    "Theorem 3",
    "Algorithm 2, eta = gamma = Theta(log(NKR^3)/(mu R)): with probability at least 1-p, E[Phi(a*, vhat) - Phi(a*, "
    "v*)] <= O(L D^2/(NKR^3)) + Otilde((kappa^4 L/R^2 + N L/(mu^2 R^2)) G^2 N log(1/p) + L delta^2/(mu R)) + kPhi^2 L "
    "Otilde(kappa^2 kappa_g^2 L^2 zbar D G/R + R^2 exp(-T_a/kappa_g) + L kappa^2 kappa_g^2 zbar delta^2/(mu^2 M)).",
    PERSONAL_GAP.latex
    + r"\leq O(\frac{LD^2}{NKR^3})"
    + r"+\tilde O((\frac{\kappa^4L}{R^2}+\frac{NL}{\mu^2R^2})G^2N\log(1/p)+\frac{L\delta^2}{\mu R})"
    + r"+\kappa_{\Phi}^2L\tilde O(\frac{\kappa^2\kappa_g^2L^2\bar\zeta_i(w^*)DG}{R}"
    + r"+R^2\exp(-\frac{T_{\alpha}}{\kappa_g})"
    + r"+\frac{L\kappa^2\kappa_g^2\bar\zeta_i(w^*)\delta^2}{\mu^2M})",
    PERSONAL_GAP,
    "Theorem 3, section 3.2; proof in appendix C.2",
    relation="<=",
    hypotheses=(
        *_CONDITIONS[:2],
        *_CONDITIONS[3:],
        Hypothesis("step sizes", "eta = gamma = Theta(log(NKR^3)/(mu R))"),
    ),
    steps=(
        Step(
            "explicit part", MODEL_DISTANCE.latex, "<=", r"\dots", "cited", "", claim=identifier("theorem-3-explicit")
        ),
        Step("Lemma 14", WEIGHT_STEP.latex, "<=", r"\dots", "cited", "", claim=identifier("lemma-14")),
        Step("Lemma 15", WEIGHT_END.latex, "<=", r"\dots", "cited", "", claim=identifier("lemma-15")),
        Step("Lemma 2", PERSONAL_GAP.latex, "<=", r"\dots", "cited", "", claim=identifier("lemma-2/unnormalised")),
    ),
    remarks=(
        "The proof's step is log(NKR^3)/(mu N K R), the statement's lacks 1/(NK); with Lemma 11's condition both "
        "exclude each other (theorem-3-explicit).",
        "delta^2/(mu R) is delta^2/(mu^2 R) by the proof's own terms, and kappa^4, from L^4/mu^4, has the wrong "
        "dimension.",
        "(1 - log/R)^{R-r} (1 - mu gamma)^r is replaced by (1 - log/R)^R; what Lemmas 14 and 15 drop is dropped here.",
        "Algorithm 2's last step vhat = P_W(v^R - (1/L) grad Phi) is forgotten where the proof sets vhat = v^R.",
    ),
)
_KPHI = r"\kappa_{\Phi}^2"
THEOREM_3_CORRECTED = result(
    "theorem-3/corrected",
    "theorem",
    "the single loop, with constants",
    "Theorem 3, corrected",
    "s = eta N K <= 1/(4L), gamma <= 1/L, grad F(w*) = 0, Phi = sum a_j f_j, x = mu s, q = max(1-x/2, 1-mu gamma): "
    "E[Phi(a*, vhat) - Phi(a*, v*)] <= 2L V_R + (2 kPhi^2 L + 4 N G^2/L) A_R, V_R = (1-x/2)^R D^2 + (4/x) c + (2/x) "
    "kPhi^2 (2 (1-x/2)^{R-1} + 2 a_0/x + a_1 R q^{R-1}), c the constant of theorem-2-step/corrected-2, a_0 + a_1 "
    "(1-mu gamma)^r the bound of lemma-14/corrected on E||a^{r+1}-a^r||^2, A_R that of lemma-15/corrected.",
    PERSONAL_GAP.latex + r"\leq 2LV_R+(2" + _KPHI + r"L+\frac{4NG^2}{L})A_R",
    PERSONAL_GAP,
    "repair of Theorem 3, Phi = sum a_j f_j",
    parameters=(mu, L, N, K, R, eta, gamma, G, D, delta2, M, lam, n, T_a, zbar),
    hypotheses=(
        *A1,
        UNBIASED,
        A2_RUN,
        A3,
        A4,
        INTERIOR,
        SHORT_EPOCH,
        Hypothesis("step size of the global model", "gamma <= 1/L", relation="gamma <= 1/L"),
        Hypothesis("step size of the weights", "the step on the weights is n_min/(2 lam)"),
    ),
    definitions={
        "s": S,
        "x": "mu*s",
        "kappa_g": "amax(n)/(2*lam)",
        "kappa_phi2": "N*G**2/mu**2",
        **MOVE_TERMS,
        "steady_motion": "descent_term + motion_factor*(L**2*gamma*delta2/(mu*M) + delta2/M)",
        "first_motion": "motion_factor*L**2*D**2",
        "epoch_term": f"4/x*(2*s**2*delta2/K + (2/x+2)*{DRIFT})",
        "motion_term": "2/x*kappa_phi2*(2*(1-x/2)**(R-1) + 2*steady_motion/x "
        "+ first_motion*R*max(1-x/2, 1-mu*gamma)**(R-1))",
        "model_term": "2*L*((1-x/2)**R*D**2 + epoch_term + motion_term)",
        "w_error": "(1-mu*gamma)**R*D**2 + gamma*delta2/(mu*M)",
        "weight_error": "4*(1-amin(n)/amax(n))**(2*T_a) + 16*L**2*kappa_g**2*N*(zbar + 2*L**2*D**2)*w_error",
        "weights_term": "(2*kappa_phi2*L + 4*N*G**2/L)*weight_error",
    },
    relation="<=",
    right="model_term + weights_term",
    steps=(
        Step(
            "all epochs",
            MODEL_DISTANCE.latex,
            "<=",
            r"\dots",
            "cited",
            "",
            claim=identifier("theorem-3-explicit/corrected"),
        ),
        Step("Lemma 14", WEIGHT_STEP.latex, "<=", r"\dots", "cited", "", claim=identifier("lemma-14/corrected")),
        Step("Lemma 15", WEIGHT_END.latex, "<=", r"\dots", "cited", "", claim=identifier("lemma-15/corrected")),
        Step("Lemma 2", PERSONAL_GAP.latex, "<=", r"\dots", "cited", "", claim=identifier("lemma-2/unnormalised")),
    ),
    amends="theorem-3",
    derivation=(
        "V_{r+1} <= (1-x/2) V_r + 2c + (2/x) kPhi^2 A_r as for theorem-3-explicit/corrected. A_0 <= 2 (the first "
        "weights are uniform), A_r <= a_0 + a_1 (1-mu gamma)^r for r >= 1 (lemma-14/corrected at r+1), so sum_r "
        "(1-x/2)^{R-1-r} A_r <= 2 (1-x/2)^{R-1} + 2 a_0/x + a_1 R q^{R-1}. Then lemma-2/unnormalised with "
        "lemma-15/corrected at T = R."
    ),
)
CLAIMS: tuple[Claim, ...] = (
    THEOREM_3_EXPLICIT,
    THEOREM_3_EXPLICIT_CORRECTED,
    THEOREM_3,
    THEOREM_3_CORRECTED,
)
