"""Theorem IV.1 without the constant C, which bounds the run itself."""

from __future__ import annotations

from theory.claim import Claim, Hypothesis, Step
from theory.papers.fedmim.theorems import BOUNDED_BELOW, PARAMETERS
from theory.papers.fedmim.words import (
    A1,
    A4,
    DESCENT_STEP,
    LAGS,
    MIN_GRADIENT,
    NOISE,
    UNIFORM,
    V_FORMULA,
    WEIGHTS,
    identifier,
    result,
)

_SHORT_INERTIA = Hypothesis("short steps for the inertia", "32 L^2 eta_l^2 V <= 1", relation="32*L**2*eta_l**2*V <= 1")
_LAMBDA = Hypothesis(
    "lambda",
    "lambda < 1/2 - 36 eta_l^2 A K^2 B^2 L^2 - 8(4B^2+1)(eta L + 3 eta_l^2 L^2 V)",
    relation="lam < lam_max",
)
WITHOUT_C = result(
    "theorem-iv1-eq35/without-c",
    "theorem",
    "smooth non-convex functions, without a bound of dtilde",
    "(35) without C",
    "For eta_l <= 3/(16KL), 32 L^2 eta_l^2 V <= 1 and 0 < lambda < 1/2 - 36 eta_l^2 A K^2 B^2 L^2 - "
    "8(4B^2+1)(eta L + 3 eta_l^2 L^2 V): min_t E||grad f(u_t)||^2 <= (f_0-f_*)/(eta_l lambda K T) + (1/lambda)((eta L "
    "+ 3 eta_l^2 L^2 V) R + "
    "(9/2) eta_l^2 A^2KL^2 sigma_l^2 + 36 eta_l^2 AK^2L^2G^2), R = 8G^2/S + 2 sigma_l^2/(KS) + 48KL^2A^2 eta_l^2 "
    "sigma_l^2 + 384AL^2K^2 eta_l^2 G^2.",
    MIN_GRADIENT.latex
    + r"\leq\frac{f_0-f_*}{\eta_l\lambda KT}+\frac{1}{\lambda}((\eta L+3\eta_l^2L^2V)R"
    + r"+\frac{9}{2}\eta_l^2A^2KL^2\sigma_l^2+36\eta_l^2AK^2L^2G^2)",
    MIN_GRADIENT,
    "repair of Theorem IV.1, appendix",
    parameters=tuple(p for p in PARAMETERS if p.name != "C"),
    hypotheses=(A1, *NOISE, A4, WEIGHTS, UNIFORM, DESCENT_STEP, _SHORT_INERTIA, _LAMBDA, BOUNDED_BELOW),
    definitions={
        **LAGS,
        "V": V_FORMULA,
        "curved": "K*eta_l*L + 3*eta_l**2*L**2*V",
        "lam_max": "1/2 - 36*eta_l**2*A*K**2*B**2*L**2 - 8*(4*B**2+1)*curved",
        "R": "8*G**2/S + 2*sigma2/(K*S) + 48*K*L**2*A**2*eta_l**2*sigma2 + 384*A*L**2*K**2*eta_l**2*G**2",
        "Psi": "(curved*R + 9/2*eta_l**2*A**2*K*L**2*sigma2 + 36*eta_l**2*A*K**2*L**2*G**2)/lam",
    },
    relation="<=",
    right="f0_gap/(eta_l*lam*K*T) + Psi",
    steps=(
        Step(
            "(21), summed",
            r"\sum_{t<T}\mathbb{E}\Vert\delta_t\Vert^2",
            "<=",
            r"\eta_l^2\Gamma,\quad\Gamma=\sum_{t<T}\mathbb{E}\Vert\frac{1}{SK}\sum g\Vert^2",
            "summation",
            "D <= A eta_l^2 Gamma + (1-A) D, D the left side: no lag counts an increment twice",
            claim=identifier("eq21"),
        ),
        Step(
            "Lemma 9, summed",
            r"\Gamma",
            "<=",
            r"2TR+16(4B^2+1)\sum_{t<T}\mathbb{E}\Vert\nabla f(u_t)\Vert^2",
            "substitution",
            "16 L^2 eta_l^2 V = q/2 with q = 1/(1+rest), Gamma = (TR + 8(4B^2+1)n)/(1 - q/2)",
            identity=("(X + 8*(4*B**2+1)*n)/(1 - 1/(2*(1+rest)))", "2*X + 16*(4*B**2+1)*n"),
            uses=("(21), summed",),
        ),
        Step(
            "(33)(b), summed",
            r"\frac{\eta}{2}\sum_{t<T}\mathbb{E}\Vert\nabla f(u_t)\Vert^2",
            "<=",
            r"f_0-f_*+\frac{\eta^2L}{2}\Gamma+\frac{3\eta L^2}{2}\sum_{t<T}(\varepsilon_t"
            r"+\sum_jP_j\mathbb{E}\Vert\delta_{t-j}\Vert^2)",
            "summation",
            "u_0 = x_0",
        ),
        Step(
            "(35) without C",
            MIN_GRADIENT.latex,
            "<=",
            r"\dots",
            "substitution",
            "Lemma 8 and (34); what multiplies the mean of the squared gradients",
            identity=(
                "1/2 - 3*L**2/2*24*A*K**2*eta_l**2*B**2 - (K*eta_l*L/2 + 3*L**2/2*eta_l**2*V)*16*(4*B**2+1)",
                "1/2 - 36*eta_l**2*A*K**2*B**2*L**2 - 8*(4*B**2+1)*(K*eta_l*L + 3*eta_l**2*L**2*V)",
            ),
            uses=("Lemma 9, summed", "(33)(b), summed"),
        ),
    ),
    amends="theorem-iv1-eq35",
    derivation=(
        "Sum (21) over t: D = sum E||delta_t||^2 <= eta_l^2 Gamma, Gamma = sum E||(1/(SK)) sum g||^2. Sum "
        "lemma-9/corrected, with sum_j (6K^2M_j+P_j) <= V: Gamma <= 16L^2V eta_l^2 Gamma + TR + (32B^2+8) sum "
        "E||grad f(u_t)||^2, and 16L^2V eta_l^2 <= 1/2. Put Gamma and lemma-8 into the sum of (33)(b): the factor of "
        "sum E||grad f(u_t)||^2 over eta is at least lambda, the rest is T lambda Psi + (f_0-f_*)/eta."
    ),
)

CLAIMS: tuple[Claim, ...] = (WITHOUT_C,)
