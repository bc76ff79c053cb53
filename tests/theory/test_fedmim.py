"""The claims of fedmim as written: contract, right sides, orders, conditions."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory.calculator import calculator
from theory.domain import Domain
from theory.feasible import Limits, feasible, feasible_relations
from theory.order import exponents
from theory.papers.fedmim import PAPER

CLAIMS = {c.label: c for c in PAPER}
F = Fraction
THEOREM = "alpha beta K L eta_l S G B sigma2 C T f0_gap lam"
DRIFT = "alpha beta K L eta_l G B sigma2 delta_sq grad_u2"
CONTRACT = {
    "lemma-7": "alpha beta K L G B delta_sq grad_u2 x_sq",
    "lemma-8": DRIFT,
    "lemma-9": "alpha beta K L eta_l S G B sigma2 delta_sq grad_u2",
    "theorem-iv1-eq7": THEOREM,
    "theorem-iv1-eq35": THEOREM,
    "theorem-iv2-eq9": THEOREM + " mu",
    "theorem-iv2-eq39": THEOREM + " mu",
}
PRINTED = ("eq2", "lemma-5", "lemma-6", "eq33", "remark-iv1", "remark-iv2", "remark-iv3")
EQUATIONS = ("eq21", "eq25", "eq26", "eq29", "eq30", "eq31", "eq34", "eq37", "eq40")
VECTORS = {"alpha", "beta", "delta_sq"}
ORDER = [
    "eq2",
    "eq2/corrected",
    "lemma-5",
    "lemma-5/lags-from-one",
    "lemma-6",
    "eq21",
    "lemma-7",
    "lemma-7/corrected",
    "eq25",
    "eq25/corrected",
    "eq26",
    "eq26/corrected",
    "lemma-8",
    "eq29",
    "eq30",
    "eq30/corrected",
    "eq31",
    "lemma-9",
    "lemma-9/corrected",
    "eq33",
    "eq33/from-step",
    "eq33/corrected",
    "eq34",
    "eq37",
    "theorem-iv1-eq7",
    "theorem-iv1-eq7/with-lambda",
    "theorem-iv1-eq7/corrected",
    "theorem-iv1-eq35",
    "theorem-iv1-eq35/with-lambda",
    "theorem-iv1-eq35/corrected",
    "theorem-iv2-eq9",
    "theorem-iv2-eq9/with-lambda",
    "theorem-iv2-eq9/corrected",
    "theorem-iv2-eq39",
    "theorem-iv2-eq39/with-lambda",
    "theorem-iv2-eq39/corrected",
    "eq40",
    "eq33/kept-mean",
    "eq33/corrected-2",
    "theorem-iv1-eq7/corrected-2",
    "theorem-iv1-eq35/corrected-2",
    "theorem-iv2-eq9/corrected-2",
    "theorem-iv2-eq39/corrected-2",
    "theorem-iv1-eq35/without-c",
    "remark-iv1",
    "remark-iv1/terms",
    "remark-iv1/appendix-terms",
    "remark-iv1/corrected",
    "remark-iv2",
    "remark-iv2/terms",
    "remark-iv2/corrected",
    "remark-iv3",
]
RECORDED = json.loads((Path(__file__).parent / "fedmim_bounds.json").read_text(encoding="utf-8"))


# --- contract --------------------------------------------------------------------------------------------------------


def test_labels_and_their_order() -> None:
    assert [c.label for c in PAPER] == ORDER
    assert all(CLAIMS[label].amends is None for label in (*CONTRACT, *PRINTED, *EQUATIONS))


@pytest.mark.parametrize("label", CONTRACT)
def test_parameters_are_those_of_the_contract(label: str) -> None:
    found = calculator(CLAIMS[label]).bound.parameters
    if label == "lemma-7":  # the step is the algorithm's, and no number of the bound
        assert "eta_l" not in {p.name for p in found}
    assert {p.name for p in found} == set(CONTRACT[label].split())
    for p in found:
        assert (p.shape == "vector") == (p.name in VECTORS), p.name


@pytest.mark.parametrize("row", RECORDED, ids=lambda row: f"{row['label']}-{len(row['given'].get('alpha', []))}")
def test_bounds_at_fixed_numbers(row: dict) -> None:
    """Recorded from the claims as they were before they were written as sentences."""
    assert CLAIMS[row["label"]].bound(**row["given"]) == pytest.approx(row["value"], rel=1e-13)
    assert bool(CLAIMS[row["label"]].violated(**row["given"])) == row["violated"]


@pytest.mark.parametrize("label", [label for label in ORDER if "/corrected" in label or label.endswith("/without-c")])
def test_repairs_amend_what_they_repair(label: str) -> None:
    repair = CLAIMS[label]
    assert repair.amends == label.split("/")[0]
    assert repair.remarks
    assert not repair.standing


def test_what_the_theorems_need_and_do_not_state_is_in_claims_of_their_own() -> None:
    for label in ("theorem-iv1-eq7", "theorem-iv1-eq35", "theorem-iv2-eq9", "theorem-iv2-eq39"):
        printed, more = CLAIMS[label], CLAIMS[f"{label}/with-lambda"]
        assert set(more.assuming) - set(printed.assuming) == {"lam < lam_max"}
        assert (more.standing, more.statement, dict(more.where)) == (
            printed.standing,
            printed.statement,
            dict(printed.where),
        )
        assert ("eta_l <= 3/(16*H*L)" in printed.standing) == ("iv2" in label)
        assert "lam < lam_max" not in printed.standing
    assert CLAIMS["eq37"].standing == ("eta_l <= 3/(16*H*L)", "lam < lam_max")
    assert CLAIMS["lemma-9"].standing == ("eta_l <= 1/(4*L*H*sqrt(A))",)
    assert {"Psi", "rho", "V", "lam_max"} <= set(CLAIMS["theorem-iv1-eq7"].where)


def test_what_no_sentence_says_is_told_and_has_no_bound() -> None:
    claim = CLAIMS["remark-iv3"]
    assert not claim.has_sentence
    assert not claim.has_bound
    with pytest.raises(ValueError, match="no sentence says: B influences the bounds weakly"):
        _ = claim.sentence


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
    assert CLAIMS["eq34"].bound(**at) == near(V)
    assert np.sum(6 * K**2 * M + P) <= V * (1 + 1e-12)


# --- orders ----------------------------------------------------------------------------------------------------------


def orders(label: str, schedule: str, variable: str = "T") -> dict:
    """Exponents of the terms of a bound."""
    return exponents(CLAIMS[label], {"eta_l": schedule}, variable)


FIRST = ("start_term", "noise_term", "heterogeneity_term")
SECOND = ("drift_noise_term", "drift_heterogeneity_term", "inertia_term")
ROOT, ALONE, LOG = "sqrt(S/(K*T))", "sqrt(S/T)/K", "log(mu**2*S*T)/(mu*lam*K*T)"


@pytest.mark.parametrize(
    ("label", "schedule", "variable", "names", "power"),
    [
        ("remark-iv1/terms", ROOT, "T", FIRST, "-1/2"),
        ("remark-iv1/terms", ROOT, "T", SECOND, "-1"),
        ("remark-iv1/terms", ROOT, "S", FIRST, "-1/2"),
        ("remark-iv1/terms", ROOT, "S", SECOND, "1"),  # not -1/2
        ("remark-iv1/terms", ROOT, "K", ("heterogeneity_term",), "1/2"),  # not -1/2
        ("remark-iv1/appendix-terms", ALONE, "T", FIRST, "-1/2"),
        ("remark-iv1/appendix-terms", ALONE, "T", SECOND, "-1"),
        ("remark-iv1/appendix-terms", ALONE, "S", SECOND, "1"),
        ("remark-iv1/appendix-terms", ALONE, "K", ("start_term", "heterogeneity_term", "inertia_term"), "0"),
        ("remark-iv2/terms", LOG, "T", FIRST[1:], "-1"),
        ("remark-iv2/terms", LOG, "T", SECOND, "-2"),
        ("remark-iv2/terms", LOG, "S", FIRST[1:], "-1"),
        ("remark-iv2/terms", LOG, "S", SECOND, "0"),  # not -1
        ("remark-iv2/terms", LOG, "K", ("inertia_term",), "2"),
    ],
)
def test_orders_of_the_terms(label: str, schedule: str, variable: str, names: tuple[str, ...], power: str) -> None:
    found = orders(label, schedule, variable)
    assert {name: found[name] for name in names} == dict.fromkeys(names, F(power))


def test_the_order_of_the_inertia_term_in_k() -> None:
    assert orders("remark-iv1/terms", ROOT, "K")["inertia_term"] == 3
    assert orders("remark-iv1/appendix-terms", ROOT, "K")["inertia_term"] == 1


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
    assert feasible(calculator(CLAIMS["theorem-iv1-eq35/corrected"]).bound, fixed=at).outcome == "feasible"
    assert feasible(calculator(CLAIMS["theorem-iv1-eq35/without-c"]).bound, fixed=at).outcome == "feasible"
    more = {"mu": "1/2", "T": 10**6}
    assert feasible(calculator(CLAIMS["theorem-iv2-eq39/corrected"]).bound, fixed={**at, **more}).outcome == "feasible"
