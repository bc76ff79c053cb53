"""Remarks IV.1 to IV.3, and the bounds term by term."""

from __future__ import annotations

from collections.abc import Mapping

from theory.claim import Claim, OrderLine, Quantity, Step
from theory.papers.fedmim.theorems import IV1_EQ7, IV1_EQ35
from theory.papers.fedmim.theorems_pl import IV2_EQ9
from theory.papers.fedmim.words import (
    V_FORMULA,
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


def _by_terms(label: str, of: Claim, start: str, factor: str, square: str, *, pl: bool = False) -> Claim:
    """The right side of a theorem, with names for A, rho and J, as a sum of named terms."""
    number = of.equation
    psi = of.definitions["Psi"].replace("V", f"({V_FORMULA})")
    assert of.right is not None
    bound = Quantity("bound", f"the right side of {number}", r"\dots", formula=of.right.replace("Psi", f"({psi})"))
    return result(
        label,
        "remark",
        f"the bound {number}, term by term",
        number,
        f"The bound {number} as a sum of named terms, with A, rho and J for the weights; it serves the orders.",
        r"\dots",
        bound,
        "reading of " + number,
        parameters=(*_SCALARS, *((mu,) if pl else ())),
        definitions={"start_term": start, **_terms(factor, square)},
        right=_SUM,
        relation="=",
    )


IV1_TERMS = _by_terms("remark-iv1/terms", IV1_EQ7, "f0_gap/(eta_l*lam*K*T)", "", "K**2*")
IV1_TERMS_APPENDIX = _by_terms("remark-iv1/appendix-terms", IV1_EQ35, "f0_gap/(eta_l*lam*K*T)", "", "")
IV2_TERMS = _by_terms("remark-iv2/terms", IV2_EQ9, "4*mu*f0_gap*exp(-mu*eta_l*lam*K*T)", "2*", "K**2*", pl=True)


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
    relation="<=",
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
        "No analysis gives a speed-up in K at this step: with the clients x^2/2 + x and x^2/2 - x, S = 1, no noise and "
        "no inertia, E||grad f(x_t)||^2 >= eta_l K/4 = (1/4) sqrt(K/T) for every t if x_0^2 >= 1, which is K/4 times "
        "1/sqrt(SKT), for all K and T >= K.",
        "Nor does the bound: the term 4 eta_l K L G^2/S is 4LG^2 sqrt(K/(ST))/lambda, which dominates for every T. The "
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
    relation="<=",
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
        "sqrt(ST)), and S/(lambda T) times 9A^2L^2 sigma_l^2/K, 72AL^2G^2 and 3L^2VC/K^2."
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
    relation="<=",
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
        "The factor log(mu^2 ST) is missing, and not from the bound alone: with the clients x^2/2 + x and x^2/2 - x, "
        "S = mu = 1, E||grad f(x_t)||^2 >= eta_l K/4 = log(T)/(4 lambda T) for every t if x_0^2 >= 1.",
        "In the bound 8 eta_l KLG^2/(lambda S) is 8LG^2 log(mu^2 ST)/(mu lambda^2 ST), whose "
        "quotient by 1/(mu ST) has no bound.",
        "The terms with eta_l^2 are of order log(mu^2 ST)^2/(mu T)^2, with no 1/S: the rate in S needs T of order S.",
        "eta_l <= 3/(16KL) needs T >= (16L/(3 mu lambda)) log(mu^2 ST); the argument of the logarithm has a dimension.",
    ),
)
_ELL = "ell/(mu*lam*K*T)"  # ell is the logarithm
REMARK_IV2_CORRECTED = result(
    "remark-iv2/corrected",
    "remark",
    "rate log(mu^2 S T)/(mu S T) + (log(mu^2 S T)/(mu T))^2 under PL",
    "Remark IV.2, corrected",
    "For eta_l = ell/(mu lambda K T) with ell = log(mu^2 ST) >= 1 the bound of (39) is O((1+ell)/(mu ST) + ell^2/(mu "
    "T)^2), with constants that do not grow with K.",
    r"\eta_l=\frac{\ell}{\mu\lambda KT}\Rightarrow O(\frac{1+\ell}{\mu ST}+\frac{\ell^2}{\mu^2T^2}),"
    r"\quad\ell=\log(\mu^2ST)",
    _RATE,
    "repair of Remark IV.2",
    relation="<=",
    steps=(
        Step(
            "the start",
            r"4\mu(f_0-f_*)e^{-\ell}",
            "=",
            r"\frac{4(f_0-f_*)}{\mu ST}",
            "identity",
            identity=("4*mu*F*(1/(mu**2*S*T))", "4*F/(mu*S*T)"),
        ),
        Step(
            "noise and heterogeneity",
            r"\frac{2}{\lambda}(\frac{\eta_lL\sigma_l^2}{S}+\frac{4\eta_lKLG^2}{S})",
            "=",
            r"\frac{\ell}{\mu ST}\frac{2L}{\lambda^2}(\frac{\sigma_l^2}{K}+4G^2)",
            "identity",
            "",
            identity=(
                f"2/lam*({_ELL}*L*sigma2/S + 4*{_ELL}*K*L*G**2/S)",
                "ell/(mu*S*T)*2*L/lam**2*(sigma2/K + 4*G**2)",
            ),
        ),
        Step(
            "the second order",
            r"\frac{2}{\lambda}\eta_l^2(9A^2KL^2\sigma_l^2+72AK^2L^2G^2+3L^2VC)",
            "=",
            r"\frac{\ell^2}{\mu^2T^2}\frac{2L^2}{\lambda^3}(\frac{9A^2\sigma_l^2}{K}+72AG^2+\frac{3VC}{K^2})",
            "identity",
            "",
            identity=(
                f"2/lam*({_ELL})**2*(9*A**2*K*L**2*sigma2 + 72*A*K**2*L**2*G**2 + 3*L**2*V*C)",
                "ell**2/(mu**2*T**2)*2*L**2/lam**3*(9*A**2*sigma2/K + 72*A*G**2 + 3*V*C/K**2)",
            ),
        ),
        Step(
            "V over K^2",
            r"\frac{V}{K^2}",
            "<=",
            r"6(1-A)+(\frac{27A}{32}+1)(\rho^2+\frac{J^2(1-A)^2}{A^2})",
            "inequality",
            "K = 1+rest, A = 1/(1+m); C is taken not to grow with K",
            identity=tuple(
                text.replace("A", "(1/(1+m))").replace("K", "(1+rest)")
                for text in (f"({V_FORMULA})/K**2", "6*(1-A) + (27/32*A + 1)*(rho**2 + J**2*(1-A)**2/A**2)")
            ),  # type: ignore[arg-type]
        ),
    ),
    amends="remark-iv2",
    derivation=(
        "Put eta_l into (39): exp(-mu eta_l lambda K T) = 1/(mu^2 ST), the terms with eta_l have ell/(mu ST), those "
        "with eta_l^2 have ell^2/(mu T)^2, and V is of order K^2."
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
    relation="<=",
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
        "of (7) is at least 128 L B^2 (f_0-f_*)/T. Without (33) the theorems are false for large B: "
        "theorem-iv1-eq7.",
        "eq33/corrected-2 lowers this to 32 L B^2 (f_0-f_*)/(S T). That some such condition has to stand shows "
        "theorem-iv1-eq7, of convex clients as well.",
    ),
)

CLAIMS: tuple[Claim, ...] = (
    REMARK_IV1,
    IV1_TERMS,
    IV1_TERMS_APPENDIX,
    REMARK_IV1_CORRECTED,
    REMARK_IV2,
    IV2_TERMS,
    REMARK_IV2_CORRECTED,
    REMARK_IV3,
)
