"""Remarks IV.1 to IV.3, the bounds term by term, and Theorem IV.1 without the constant C."""

from __future__ import annotations

from collections.abc import Mapping

from theory.claim import Claim, Hypothesis, OrderLine, Quantity, Step
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
    A,
    C,
    G,
    J,
    K,
    L,
    S,
    T,
    eta_l,
    f0_gap,
    identifier,
    lam,
    mu,
    result,
    rho,
    sigma2,
)

_RATE = Quantity("rate", "the order of the bound", r"\min_t\mathbb{E}\Vert\nabla f(u_t)\Vert^2")
_SCALARS = (A, rho, J, K, L, eta_l, S, G, sigma2, C, T, f0_gap, lam)


def _terms(factor: str, square: str) -> dict[str, str]:
    return {
        "noise_term": f"{factor}eta_l*L*sigma2/(lam*S)",
        "heterogeneity_term": f"{factor}4*eta_l*K*L*G**2/(lam*S)",
        "drift_noise_term": f"{factor}9*eta_l**2*A**2*K*L**2*sigma2/lam",
        "drift_heterogeneity_term": f"{factor}72*eta_l**2*A*K**2*L**2*G**2/lam",
        "inertia_term": f"{factor}3*eta_l**2*L**2*{square}({V_FORMULA})*C/lam",
    }


_SUM = " + ".join(("start_term", *_terms("", "")))


def _by_terms(label: str, of: str, start: str, factor: str, square: str, *, pl: bool = False) -> Claim:
    return result(
        label,
        "remark",
        f"the bound {of}, term by term",
        of,
        f"The bound {of} as a sum of named terms, with A, rho and J for the weights; it serves the orders.",
        r"\dots",
        MIN_GRADIENT,
        "reading of " + of,
        parameters=(*_SCALARS, *((mu,) if pl else ())),
        definitions={"start_term": start, **_terms(factor, square)},
        right=_SUM,
    )


IV1_TERMS = _by_terms("remark-iv1/terms", "(7)", "f0_gap/(eta_l*lam*K*T)", "", "K**2*")
IV1_TERMS_APPENDIX = _by_terms("remark-iv1/appendix-terms", "(35)", "f0_gap/(eta_l*lam*K*T)", "", "")
IV2_TERMS = _by_terms("remark-iv2/terms", "(9)", "4*mu*f0_gap*exp(-mu*eta_l*lam*K*T)", "2*", "K**2*", pl=True)


def _order(
    variable: str, bound: str, schedule: str, given: Mapping[str, str], rate: str, note: str, label: str = ""
) -> Step:
    return Step(
        label or f"orders in {variable}",
        r"\min_t\mathbb{E}\Vert\nabla f(u_t)\Vert^2",
        "=",
        rate,
        "order",
        note,
        order=OrderLine(identifier(bound), {"eta_l": schedule}, given, variable=variable),
    )


_FIRST = ("start_term", "noise_term", "heterogeneity_term")
_SECOND = ("drift_noise_term", "drift_heterogeneity_term", "inertia_term")
_ROOT = "sqrt(S/(K*T))"


def _of(names: tuple[str, ...], exponent: str) -> dict[str, str]:
    return dict.fromkeys(names, exponent)


REMARK_IV1 = result(
    "remark-iv1",
    "remark",
    "linear speed-up in S and K",
    "Remark IV.1",
    "For eta_l = O(sqrt(S/(KT))), N fixed and a proper K, the rate is at least O(1/sqrt(SKT)): a linear speed-up in S "
    "(and, by the abstract, for a proper K); the stochastic variance dominates the bound.",
    r"\eta_l=\sqrt{\frac{S}{KT}}\Rightarrow O(\frac{1}{\sqrt{SKT}})",
    _RATE,
    "Remark IV.1 and abstract",
    steps=(
        _order(
            "T",
            "remark-iv1/terms",
            _ROOT,
            {**_of(_FIRST, "-1/2"), **_of(_SECOND, "-1")},
            r"O(T^{-1/2})",
            "true: T^(-1/2) first, T^(-1) for what eta_l^2 multiplies",
        ),
        _order(
            "S",
            "remark-iv1/terms",
            _ROOT,
            _of(_FIRST, "-1/2"),
            r"O(S^{-1/2})",
            "true of the terms of first order in eta_l",
            "orders in S, first three terms",
        ),
        _order(
            "S",
            "remark-iv1/terms",
            _ROOT,
            _of(_SECOND, "-1/2"),
            r"O(S^{-1/2})",
            "false: eta_l^2 has the factor S and nothing divides it",
            "orders in S, other terms",
        ),
        _order(
            "K",
            "remark-iv1/terms",
            _ROOT,
            _of(_FIRST, "-1/2"),
            r"O(K^{-1/2})",
            "false: 4 eta_l K L G^2/S grows as K^(1/2), and it is of first order in eta_l",
        ),
    ),
    remarks=(
        "No speed-up in K: the term 4 eta_l K L G^2/S is 4LG^2 sqrt(K/(ST))/lambda, which dominates for every T. The "
        "rate is O(sqrt(K/(ST))) for G > 0; the variance does not dominate.",
        "The other terms grow with S and K: S/T, SK/T, and SK/T ((36)) or S K^3/T ((8)) with inertia. The speed-up "
        "in S needs T >= S^3 K^3 or more.",
        "The step size has to be below 3/(16KL), and below 1/(64KLB^2) for (33): T >= 4096 L^2 B^4 S K.",
    ),
)
REMARK_IV1_CORRECTED = result(
    "remark-iv1/corrected",
    "remark",
    "speed-up in S alone",
    "Remark IV.1, corrected",
    "For eta_l = sqrt(S/T)/K the bound of (35) is O(1/sqrt(ST) + S/T), with constants that do not grow with K.",
    r"\eta_l=\frac{1}{K}\sqrt{\frac{S}{T}}\Rightarrow O(\frac{1}{\sqrt{ST}}+\frac{S}{T})",
    _RATE,
    "repair of Remark IV.1",
    steps=(
        _order(
            "T",
            "remark-iv1/appendix-terms",
            "sqrt(S/T)/K",
            {**_of(_FIRST, "-1/2"), **_of(_SECOND, "-1")},
            r"O(T^{-1/2})",
            "",
        ),
        _order(
            "S",
            "remark-iv1/appendix-terms",
            "sqrt(S/T)/K",
            {**_of(_FIRST, "-1/2"), **_of(_SECOND, "1")},
            r"O(S^{-1/2}+S)",
            "",
        ),
        _order(
            "K",
            "remark-iv1/appendix-terms",
            "sqrt(S/T)/K",
            {
                "start_term": "0",
                "noise_term": "-1",
                "heterogeneity_term": "0",
                "drift_noise_term": "-1",
                "drift_heterogeneity_term": "0",
                "inertia_term": "0",
            },
            "O(1)",
            "V is of order K^2; C is taken not to grow with K",
        ),
    ),
    amends="remark-iv1",
    derivation=(
        "Put eta_l into (35): (f_0-f_*)/(lambda sqrt(ST)), L sigma_l^2/(lambda K sqrt(ST)), 4LG^2/(lambda "
        "sqrt(ST)), and "
        "S/(lambda T) times 9A^2L^2 sigma_l^2/K, 72AL^2G^2 and 3L^2VC/K^2."
    ),
)

_LOG = "log(mu**2*S*T)/(mu*lam*K*T)"
REMARK_IV2 = result(
    "remark-iv2",
    "remark",
    "rate 1/(mu S T) under PL",
    "Remark IV.2",
    "The initial term vanishes exponentially; for eta_l = O(log(mu^2 ST)/(mu lambda KT)) the rate is at least "
    "O(1/(mu ST)).",
    r"\eta_l=\frac{\log(\mu^2ST)}{\mu\lambda KT}\Rightarrow O(\frac{1}{\mu ST})",
    _RATE,
    "Remark IV.2",
    steps=(
        Step(
            "the start",
            r"4\mu(f_0-f_*)e^{-\mu\eta_l\lambda KT}",
            "=",
            r"\frac{4(f_0-f_*)}{\mu ST}",
            "identity",
            "true",
            identity=("4*mu*F*(1/(mu**2*S*T))", "4*F/(mu*S*T)"),
        ),
        _order(
            "T",
            "remark-iv2/terms",
            _LOG,
            {**_of(_FIRST[1:], "-1"), **_of(_SECOND, "-2")},
            r"O(T^{-1})",
            "powers only: the noise and heterogeneity terms have the factor log(mu^2 ST) besides",
        ),
        _order(
            "S",
            "remark-iv2/terms",
            _LOG,
            _of(_FIRST[1:], "-1"),
            r"O(S^{-1})",
            "powers only, as before",
            "orders in S, terms of first order",
        ),
        _order(
            "S",
            "remark-iv2/terms",
            _LOG,
            _of(_SECOND, "-1"),
            r"O(S^{-1})",
            "false: what eta_l^2 multiplies does not fall with S",
            "orders in S, other terms",
        ),
        _order(
            "K",
            "remark-iv2/terms",
            _LOG,
            _of(("noise_term", "drift_noise_term"), "-1") | {"heterogeneity_term": "0", "inertia_term": "0"},
            "O(1)",
            "false: the inertia term of (10) is of order K^2, as V is of order K^2 and K^2 stands before it",
        ),
    ),
    remarks=(
        "The factor log(mu^2 ST) is missing: 8 eta_l KLG^2/(lambda S) is 8LG^2 log(mu^2 ST)/(mu lambda^2 ST), whose "
        "quotient by 1/(mu ST) has no bound.",
        "The terms with eta_l^2 are of order log(mu^2 ST)^2/(mu T)^2, with no 1/S: the rate in S needs T of order S.",
        "eta_l <= 3/(16KL) needs T >= (16L/(3 mu lambda)) log(mu^2 ST); the argument of the logarithm has a dimension.",
    ),
)
REMARK_IV3 = result(
    "remark-iv3",
    "remark",
    "B influences the bounds weakly",
    "Remark IV.3",
    "B influences the bounds of Theorems IV.1 and IV.2 only weakly; the heterogeneity acts through G.",
    r"B",
    _RATE,
    "Remark IV.3",
    steps=(
        Step(
            "the start under (33)",
            r"\frac{f_0-f_*}{\eta_l\lambda KT}",
            ">=",
            r"\frac{128LB^2(f_0-f_*)}{T}",
            "inequality",
            "(33) gives 64 eta_l K L B^2 = 1/(1+rest), and lambda = 1/(2+more)",
            identity=("F/((1/(64*L*B**2*(1+rest)))*(1/(2+more))*T)", "128*L*B**2*F/T"),
        ),
    ),
    remarks=(
        "B is in no term of Psi, but in the condition (33): eta_l K L < 1/(64 B^2), so that the first term "
        "of (7) is at "
        "least 128 L B^2 (f_0-f_*)/T. Without (33) the theorems are false for large B: theorem-iv1-eq7/any-lambda.",
    ),
)

# --- Theorem IV.1 without C ------------------------------------------------------------------------------------------

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
    "8(4B^2+1)(eta L + 3 "
    "eta_l^2 L^2 V): min_t E||grad f(u_t)||^2 <= (f_0-f_*)/(eta_l lambda K T) + (1/lambda)((eta L + 3 "
    "eta_l^2 L^2 V) R + "
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

CLAIMS: tuple[Claim, ...] = (
    WITHOUT_C,
    REMARK_IV1,
    IV1_TERMS,
    IV1_TERMS_APPENDIX,
    REMARK_IV1_CORRECTED,
    REMARK_IV2,
    IV2_TERMS,
    REMARK_IV3,
)
