"""The claims of fedmim as encoded: contract, right sides, proof lines, conditions."""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory.claim import Claim, Step
from theory.domain import Domain
from theory.expression import check
from theory.feasible import Limits, feasible, feasible_relations
from theory.formula import fold, names_in, parse
from theory.inequality.prover import Proof, Refutation, prove
from theory.order import exponents
from theory.papers.fedmim import PAPER

CLAIMS = {c.label: c for c in PAPER}
F = Fraction
THEOREM = "alpha beta K L eta_l S G B sigma2 C T f0_gap lam"
DRIFT = "alpha beta K L eta_l G B sigma2 delta_sq grad_u2"
CONTRACT = {
    "eq2": "",
    "lemma-5": "",
    "lemma-6": "",
    "lemma-7": "alpha beta K L G B delta_sq grad_u2 x_sq",
    "lemma-8": DRIFT,
    "lemma-9": "alpha beta K L eta_l S G B sigma2 delta_sq grad_u2",
    "theorem-iv1-eq7": THEOREM,
    "theorem-iv1-eq35": THEOREM,
    "eq33": "",
    "theorem-iv2-eq9": THEOREM + " mu",
    "theorem-iv2-eq39": THEOREM + " mu",
    "remark-iv1": "",
    "remark-iv2": "",
    "remark-iv3": "",
}
EQUATIONS = ("eq21", "eq25", "eq26", "eq29", "eq30", "eq31", "eq34", "eq37", "eq40")
STEPS = {"lemma-6": "(20)", "lemma-7": "(23)(a)", "lemma-8": "(27)", "lemma-9": "(32)", "theorem-iv2-eq9": "(38)"}
VECTORS = {"alpha", "beta", "delta_sq"}
# the lines that are false as printed, by claim
FALSE = {
    "eq2": {"Algorithm 1", "the correction"},
    "lemma-7": {"the gradient at u_t"},
    "lemma-9": {"the factor of the gradient"},
    "eq33/from-step": {"by the step size of the theorem"},
    **{
        label: {"(39), telescoped"}
        for label in (
            *("theorem-iv2-eq9", "theorem-iv2-eq9/with-lambda"),
            *("theorem-iv2-eq39", "theorem-iv2-eq39/with-lambda", "eq40"),
        )
    },
    "remark-iv1": {"orders in S, other terms", "orders in K"},
    "remark-iv2": {"orders in S, other terms", "orders in K"},
}


# --- contract --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("label", CONTRACT)
def test_ids_and_parameters_are_those_of_the_contract(label: str) -> None:
    claim = CLAIMS[label]
    assert claim.amends is None
    assert " ".join(p.name for p in claim.parameters) == CONTRACT[label]
    for p in claim.parameters:
        assert (p.shape == "vector") == (p.name in VECTORS), p.name


def test_the_displayed_steps_are_claims_or_lines() -> None:
    assert set(EQUATIONS) <= set(CLAIMS)
    for label, line in STEPS.items():
        assert line in [s.label for s in CLAIMS[label].steps]


@pytest.mark.parametrize("claim", list(PAPER), ids=lambda c: c.label)
def test_formulas_parse_and_encoded_lines_exist(claim: Claim) -> None:
    check(claim)
    assert claim.statement
    assert claim.latex
    assert claim.source
    for step in claim.steps:
        assert step.claim is None or step.claim.removeprefix("fedmim/") in CLAIMS, step.label
        assert step.order is None or step.order.bound.removeprefix("fedmim/") in CLAIMS, step.label


@pytest.mark.parametrize(
    ("label", "amended"),
    [
        (f"{name}/corrected", name)
        for name in ("eq2", "lemma-7", "eq25", "eq26", "eq30", "lemma-9", "eq33", "theorem-iv1-eq7")
    ]
    + [(f"{name}/corrected", name) for name in ("theorem-iv1-eq35", "theorem-iv2-eq9", "theorem-iv2-eq39")]
    + [("remark-iv1/corrected", "remark-iv1"), ("theorem-iv1-eq35/without-c", "theorem-iv1-eq35")],
)
def test_repairs_amend_what_they_repair(label: str, amended: str) -> None:
    repair = CLAIMS[label]
    assert repair.amends == f"fedmim/{amended}"
    assert repair.derivation
    assert all(h.printed for h in repair.hypotheses)


def test_what_the_theorems_need_and_do_not_state_is_in_claims_of_their_own() -> None:
    for label in ("theorem-iv1-eq7", "theorem-iv1-eq35", "theorem-iv2-eq9", "theorem-iv2-eq39"):
        printed, more = CLAIMS[label], CLAIMS[f"{label}/with-lambda"]
        assert [h.name for h in more.hypotheses if h not in printed.hypotheses] == ["lambda exists"]
        assert more.standing == printed.standing
        assert (more.right, more.definitions, more.quantity) == (printed.right, printed.definitions, printed.quantity)
        assert {h.name for h in printed.standing} == {"C", *["descent step"] * ("iv2" in label)}
    assert {h.name for h in CLAIMS["eq37"].standing} == {"descent step", "lambda exists", "C"}
    assert {"Psi", "A", "rho", "V", "lam_max"} <= set(CLAIMS["theorem-iv1-eq7"].definitions)


# --- right sides, against formulas written down again ----------------------------------------------------------------


def _lags(alpha: np.ndarray, beta: np.ndarray, K: int, L: float, eta: float) -> tuple[float, np.ndarray, np.ndarray]:
    A = 1 - alpha.sum()
    P = np.array([beta.sum() * b + K * K * len(alpha) * (1 - A) ** 2 / A**2 for b in beta])
    return A, P, alpha + 4 * A * L * L * eta * eta * P


def _psi(A: float, V: float, K: int, L: float, eta: float, S: int, G: float, s2: float, C: float, square: int) -> float:
    inside = eta * L * s2 / S + 4 * eta * K * L * G**2 / S + 9 * eta**2 * A**2 * K * L**2 * s2
    return inside + 72 * eta**2 * A * K**2 * L**2 * G**2 + 3 * eta**2 * L**2 * K**square * V * C


number = st.floats(0.05, 3)


@given(
    weights=st.lists(st.tuples(st.floats(0, 0.3), st.floats(0, 2), st.floats(0, 2)), min_size=1, max_size=3),
    K=st.integers(1, 9),
    S=st.integers(1, 20),
    T=st.integers(1, 500),
    L=number,
    G=number,
    B=number,
    s2=number,
    C=number,
    gap=number,
    share=st.floats(0.01, 1),
    lam=st.floats(0.01, 0.49),
    mu=st.floats(0.01, 0.05),
)
@settings(deadline=None, max_examples=25)
def test_right_sides(
    weights: list[tuple[float, float, float]],
    K: int,
    S: int,
    T: int,
    L: float,
    G: float,
    B: float,
    s2: float,
    C: float,
    gap: float,
    share: float,
    lam: float,
    mu: float,
) -> None:
    alpha, beta, delta = (np.array(column) for column in zip(*weights, strict=True))
    eta = share * 3 / (16 * K * L)
    A, P, M = _lags(alpha, beta, K, L, eta)
    rho, J = beta.sum(), len(alpha)
    V = 6 * (1 - A) * K**2 + (27 * A / 32 + 1) * (rho**2 + (K * J * (1 - A) / A) ** 2)
    common = {"alpha": alpha, "beta": beta, "K": K, "L": L, "G": G, "B": B}
    lemma = {**common, "delta_sq": delta, "grad_u2": gap}
    near = pytest.approx
    lags = sum(
        (4 * rho * L**2 * b + 4 * L**2 * K**2 * J * (1 - A) ** 2 / A**2) * d for b, d in zip(beta, delta, strict=True)
    )
    assert CLAIMS["lemma-7"].bound(**lemma, x_sq=s2) == near(4 * L**2 * s2 + lags + 4 * G**2 + 4 * B**2 * gap)
    drift = 3 * K * A**2 * eta**2 * s2 + 6 * K**2 * (M @ delta) + 24 * A * K**2 * eta**2 * (G**2 + B**2 * gap)
    assert CLAIMS["lemma-8"].bound(**lemma, eta_l=eta, sigma2=s2) == near(drift)
    nine = 16 * L**2 * ((6 * K**2 * M + P) @ delta) + 8 * G**2 / S + 2 * s2 / (K * S) + 64 * B**2 * gap
    nine += 48 * K * L**2 * A**2 * eta**2 * s2 + 384 * A * L**2 * K**2 * eta**2 * G**2
    assert CLAIMS["lemma-9"].bound(**lemma, eta_l=eta, sigma2=s2, S=S) == near(nine)
    corrected = CLAIMS["lemma-9/corrected"].bound(**lemma, eta_l=eta, sigma2=s2, S=S)
    assert corrected == near(nine + (8 - 32 * B**2) * gap)
    theorem = {**common, "eta_l": eta, "S": S, "sigma2": s2, "C": C, "T": T, "f0_gap": gap, "lam": lam}
    body, appendix = (_psi(A, V, K, L, eta, S, G, s2, C, square) / lam for square in (2, 0))
    assert CLAIMS["theorem-iv1-eq7"].bound(**theorem) == near(gap / (eta * lam * K * T) + body)
    assert CLAIMS["theorem-iv1-eq35"].bound(**theorem) == near(gap / (eta * lam * K * T) + appendix)
    start = 4 * mu * gap * math.exp(-mu * eta * lam * K * T)
    assert CLAIMS["theorem-iv2-eq9"].bound(**theorem, mu=mu) == near(start + 2 * body)
    assert CLAIMS["theorem-iv2-eq39"].bound(**theorem, mu=mu) == near(start + 2 * appendix)
    assert CLAIMS["eq40"].bound(**theorem, mu=mu) == near(start + 2 * body)
    terms = CLAIMS["theorem-iv1-eq7"].terms(**theorem)
    limit = 0.5 - 32 * K * eta * L * B**2 - 36 * eta**2 * A * K**2 * B**2 * L**2
    assert [terms[n] for n in ("A", "rho", "V", "lam_max")] == near([A, rho, V, limit])
    scalars = {k: v for k, v in theorem.items() if k not in ("alpha", "beta", "B")}
    by_terms = CLAIMS["remark-iv1/terms"].bound(**scalars, A=A, rho=rho, J=J)
    assert by_terms == near(gap / (eta * lam * K * T) + body)
    # (34), on the way
    at = {"alpha": alpha, "beta": beta, "K": K, "L": L, "eta_l": eta}
    assert CLAIMS["eq34"].terms(**at)["lag_sum"] == near(np.sum(6 * K**2 * M + P))
    assert np.sum(6 * K**2 * M + P) <= V * (1 + 1e-12)


# --- lines -----------------------------------------------------------------------------------------------------------


_OPERATIONS: Mapping[str, Callable[..., Fraction]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": lambda base, power: base ** int(power),
    "neg": operator.neg,
}


def _value(text: str, at: Mapping[str, Fraction]) -> Fraction:
    return fold(parse(text), Fraction, at.__getitem__, lambda operation, parts: _OPERATIONS[operation](*parts))


def _scalar_line_holds(step: Step, claim: Claim, seed: int) -> bool:
    """Whether a scalar line is true at 40 random rational points of the parameters' domains."""
    rng = random.Random(seed)
    domains = {p.name: p.domain for p in claim.parameters}
    compare = {"=": operator.eq, "<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt}
    assert step.identity is not None
    names = sorted(set().union(*(names_in(parse(text)) for text in step.identity)))
    for _ in range(40):
        at = {}
        for name in names:
            domain = domains.get(name, Domain(0, None))
            at[name] = F(rng.randint(1, 6)) if domain.integer else F(rng.randint(1, 30), 10)
            if domain.upper is not None:
                at[name] = F(rng.randint(1, 99), 100) * F(domain.upper)
        if not compare[step.relation](*(_value(text, at) for text in step.identity)):
            return False
    return True


@pytest.mark.parametrize("claim", [c for c in PAPER if c.steps], ids=lambda c: c.label)
def test_scalar_lines_are_true_but_for_the_known_ones(claim: Claim) -> None:
    for step in claim.steps:
        if step.identity is not None:
            assert _scalar_line_holds(step, claim, 0) != (step.label in FALSE.get(claim.label, ())), step.label
        if step.inference is not None:
            left_over = replace(step, identity=step.inference.remains)
            # Lemma 9 does not follow for B < 1/2, everything else does
            assert _scalar_line_holds(left_over, claim, 1) != (claim.label == "lemma-9"), step.label


@pytest.mark.parametrize("claim", list(PAPER), ids=lambda c: c.label)
def test_vector_lines_are_proved_but_for_the_known_ones(claim: Claim) -> None:
    lines = [(s.label, s.vectors) for s in claim.steps]
    false = set(FALSE.get(claim.label, ()))
    if claim.label == "lemma-5/lags-from-one":
        false.add("claim")
    for label, line in [*lines, ("claim", claim.vectors)]:
        if line is None:
            continue
        for setting in line.settings[:2]:
            space, stated, hypotheses = line.build({k: F(v) for k, v in setting.items()})
            answer = prove(stated, hypotheses, space)
            assert isinstance(answer, Refutation if label in false else Proof), (label, setting)


@pytest.mark.parametrize("label", ["remark-iv1", "remark-iv1/corrected", "remark-iv2"])
def test_orders_in_every_variable(label: str) -> None:
    import sympy

    for step in CLAIMS[label].steps:
        if (line := step.order) is None:
            continue
        found = exponents(CLAIMS[line.bound.removeprefix("fedmim/")], line.schedule, line.variable)
        wrong = {name for name, e in line.exponents.items() if sympy.simplify(found[name] - sympy.Rational(e)) != 0}
        assert bool(wrong) == (step.label in FALSE.get(label, ())), (step.label, wrong)


def test_the_order_of_the_inertia_term_in_k() -> None:
    schedule = {"eta_l": "sqrt(S/(K*T))"}
    assert exponents(CLAIMS["remark-iv1/terms"], schedule)["inertia_term"] == 3
    assert exponents(CLAIMS["remark-iv1/appendix-terms"], schedule)["inertia_term"] == 1


def test_the_order_in_k_by_numbers() -> None:
    """With eta_l = sqrt(S/(KT)) the bound (35) grows with K; with sqrt(S/T)/K it does not."""
    at = {"L": 1, "S": 2, "G": 1, "B": 1, "sigma2": 1, "C": 1, "T": 10**12, "f0_gap": 1, "lam": 0.1}
    at |= {"alpha": [0.5], "beta": [0.0]}
    claim = CLAIMS["theorem-iv1-eq35"]
    printed = [claim.bound(**at, K=K, eta_l=math.sqrt(2 / (K * 10**12))) for K in (1, 100)]
    assert printed[1] > 5 * printed[0]
    repaired = [claim.bound(**at, K=K, eta_l=math.sqrt(2 / 10**12) / K) for K in (1, 100)]
    assert repaired[1] < repaired[0]


def test_the_logarithm_of_remark_iv2() -> None:
    at = {"A": 1, "rho": 0, "J": 1, "K": 3, "L": 1, "S": 2, "G": 1, "sigma2": 1, "C": 1, "f0_gap": 1, "lam": 0.1}
    quotients = []
    for T in (10**6, 10**9, 10**12):
        eta = math.log(2 * T) / (0.1 * 3 * T)
        quotients.append(CLAIMS["remark-iv2/terms"].terms(**at, mu=1, T=T, eta_l=eta)["heterogeneity_term"] * 2 * T)
        assert quotients[-1] == pytest.approx(8 * math.log(2 * T) / 0.1**2)
    assert quotients == sorted(quotients)


def test_the_unrolled_recursion_needs_one_factor_for_all_steps() -> None:
    """(25) with its own factors m/(m-1) gives k H_k, more than the printed 3k from k = 11 on; one factor gives 3k."""
    for k in range(2, 40):
        value = F(0)
        for m in range(1, k + 1):
            value = (F(m, m - 1) if m > 1 else 0) * value + 1
        assert (value <= 3 * k) == (k < 11)
        assert (k - 1) * ((1 + F(1, k - 1)) ** k - 1) <= 3 * k


# --- conditions ------------------------------------------------------------------------------------------------------

_DOMAINS = {"a": Domain(0, None, lower_open=True), "A": Domain(0, 1, lower_open=True), "B": Domain(0, None)}
_STEP = "16*a <= 3"  # a = eta_l K L
_NOT_33 = "64*a*B**2 + 72*A*a**2*B**2 >= 1"


def test_the_first_step_size_never_binds() -> None:
    answer = feasible_relations([_STEP, "16*A*a**2 > 1"], {k: _DOMAINS[k] for k in ("a", "A")})
    assert answer.outcome == "empty"


def test_33_is_not_implied_and_for_which_b_it_is() -> None:
    # for some admissible step and some B <= 1/2 it fails
    witness = feasible_relations([_STEP, _NOT_33, "2*B <= 1"], _DOMAINS)
    assert witness.outcome == "feasible"
    # it is implied for B^2 <= 1/15, below the bound 1/(12 + 81A/32) for every A <= 1
    assert feasible_relations([_STEP, _NOT_33, "15*B**2 <= 1"], _DOMAINS).outcome == "empty"
    # at the largest step the bound is exact
    for A in (F(1), F(1, 2)):
        edge = 1 / (12 + F(81, 32) * A)
        load = 64 * F(3, 16) + 72 * A * F(3, 16) ** 2
        assert load * edge == 1


def test_33_is_implied_exactly_below_the_edge() -> None:
    pytest.importorskip("z3")
    assert (
        feasible_relations([_STEP, _NOT_33, "(12 + 81/32*A)*B**2 < 1"], _DOMAINS, limits=Limits(boxes=200)).outcome
        == "empty"
    )


def test_33_with_unbounded_gradients() -> None:
    # for B >= 1, which unbounded gradients force, the step has to be below 1/(64 L K)
    assert feasible_relations(["64*a >= 1", "B >= 1", "64*a*B**2 + 72*A*a**2*B**2 < 1"], _DOMAINS).outcome == "empty"


def test_the_hypotheses_of_the_repairs_can_hold() -> None:
    at = {"alpha": [0.25], "beta": [0], "K": 1, "L": 1, "B": 1, "S": 1, "eta_l": "1/1000", "lam": "1/10"}
    assert feasible(CLAIMS["theorem-iv1-eq35/corrected"], fixed=at).outcome == "feasible"
    assert feasible(CLAIMS["theorem-iv1-eq35/without-c"], fixed=at).outcome == "feasible"
    more = {"mu": "1/2", "T": 10**6}
    assert feasible(CLAIMS["theorem-iv2-eq39/corrected"], fixed={**at, **more}).outcome == "feasible"
