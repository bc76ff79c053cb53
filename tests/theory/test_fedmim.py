"""The claims of fedmim as encoded: contract, right sides, proof lines, conditions, and exact runs on quadratics."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.theory.fedmim_moments import Run, simulate
from theory.claim import Claim, Step
from theory.domain import Domain
from theory.evaluate import exact
from theory.expression import check, to_sympy
from theory.feasible import feasible, feasible_relations
from theory.formula import names_in, parse
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
    "eq33": {"by the step size of the theorem"},
    "eq33/from-step": {"by the step size of the theorem"},
    **{
        label: {"(39), telescoped"}
        for label in ("theorem-iv2-eq9", "theorem-iv2-eq9/any-step", "theorem-iv2-eq39", "eq40")
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
    [(f"{name}/corrected", name) for name in ("eq2", "lemma-7", "eq30", "lemma-9", "eq33", "theorem-iv1-eq7")]
    + [(f"{name}/corrected", name) for name in ("theorem-iv1-eq35", "theorem-iv2-eq9", "theorem-iv2-eq39")]
    + [("remark-iv1/corrected", "remark-iv1"), ("theorem-iv1-eq35/without-c", "theorem-iv1-eq35")],
)
def test_repairs_amend_what_they_repair(label: str, amended: str) -> None:
    repair = CLAIMS[label]
    assert repair.amends == f"fedmim/{amended}"
    assert repair.derivation
    assert all(h.printed for h in repair.hypotheses)


def test_what_the_theorems_use_silently_is_marked() -> None:
    silent = {h.name for h in CLAIMS["theorem-iv1-eq7"].hypotheses if not h.printed}
    assert silent == {"lambda exists", "C"}
    assert {h.name for h in CLAIMS["theorem-iv2-eq9"].hypotheses if not h.printed} == {*silent, "descent step"}
    assert {"Psi", "A", "rho", "V", "lam_max"} <= set(CLAIMS["theorem-iv1-eq7"].definitions)
    assert all(h.printed for h in CLAIMS["theorem-iv1-eq7/any-lambda"].hypotheses)


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
@settings(deadline=None, max_examples=60)
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


def _scalar_line_holds(step: Step, claim: Claim, seed: int) -> bool:
    """Whether a scalar line is true at 40 random rational points (powers and rational functions only)."""
    import sympy

    rng = random.Random(seed)
    domains = {p.name: p.domain for p in claim.parameters}
    assert step.identity is not None
    names = sorted(set().union(*(names_in(parse(text)) for text in step.identity)))
    for _ in range(40):
        at = {}
        for name in names:
            domain = domains.get(name, Domain(0, None))
            at[name] = sympy.Integer(rng.randint(1, 6)) if domain.integer else sympy.Rational(rng.randint(1, 30), 10)
            if domain.upper is not None:
                at[name] = sympy.Rational(rng.randint(1, 99), 100) * sympy.Rational(str(domain.upper))
        left, right = (to_sympy(parse(text), at) for text in step.identity)
        if step.relation == "=" and left != right:
            return False
        if step.relation in ("<=", "<") and not left <= right:
            return False
        if step.relation in (">=", ">") and not left >= right:
            return False
    return True


@pytest.mark.parametrize("claim", [c for c in PAPER if c.steps], ids=lambda c: c.label)
def test_scalar_lines_are_true_but_for_the_known_ones(claim: Claim) -> None:
    for step in claim.steps:
        if step.identity is not None:
            assert _scalar_line_holds(step, claim, 0) != (step.label in FALSE.get(claim.label, ())), step.label


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
    assert answer.feasible is False


def test_33_is_not_implied_and_for_which_b_it_is() -> None:
    # for some admissible step and B = 1/2 it fails
    witness = feasible_relations([_STEP, _NOT_33, "2*B <= 1"], _DOMAINS)
    assert witness.feasible is True
    # it is implied for B^2 <= 1/15, below the bound 1/(12 + 81A/32) for every A <= 1
    assert feasible_relations([_STEP, _NOT_33, "15*B**2 <= 1"], _DOMAINS).feasible is False
    # at the largest step the bound is exact
    for A in (F(1), F(1, 2)):
        edge = 1 / (12 + F(81, 32) * A)
        load = 64 * F(3, 16) + 72 * A * F(3, 16) ** 2
        assert load * edge == 1
    # for B >= 1, which unbounded gradients force, the step has to be below 1/(64 L K)
    assert feasible_relations(["64*a >= 1", "B >= 1", "64*a*B**2 + 72*A*a**2*B**2 < 1"], _DOMAINS).feasible is False


def test_the_hypotheses_of_the_repairs_can_hold() -> None:
    at = {"alpha": [0.25], "beta": [0], "K": 1, "L": 1, "B": 1, "S": 1, "eta_l": "1/1000", "lam": "1/10"}
    assert feasible(CLAIMS["theorem-iv1-eq35/corrected"], fixed=at).feasible is True
    assert feasible(CLAIMS["theorem-iv1-eq35/without-c"], fixed=at).feasible is True
    more = {"mu": "1/2", "T": 10**6}
    assert feasible(CLAIMS["theorem-iv2-eq39/corrected"], fixed={**at, **more}).feasible is True


# --- what is false, on exact instances -------------------------------------------------------------------------------


def test_theorem_iv1_without_33_is_false() -> None:
    """f_1 = x^2/2, f_2 = -(9/20) x^2, one of them a round, one step of 3/16: the second moment grows."""
    h, eta, lam = (F(1), F(-9, 10)), F(3, 16), F(49, 100)
    growth = sum((1 - eta * s) ** 2 for s in h) / 2
    assert growth > 1
    mean = sum(h) / 2
    assert sum(s**2 for s in h) / 2 == 362 * mean**2
    claim = CLAIMS["theorem-iv1-eq7/any-lambda"]
    at = {"alpha": [0], "beta": [0], "K": 1, "L": 1, "eta_l": eta, "S": 1, "G": 0, "sigma2": 0, "C": 1, "lam": lam}
    # B enters no term of the bound; 20 is above the root of 362
    bounds = [exact(claim, {**at, "B": 20, "T": T, "f0_gap": mean / 2}) for T in (108, 109)]
    left = min(mean**2 * growth**t for t in range(109))
    assert left == F(1, 400)
    assert bounds[1] < left < bounds[0]
    assert not claim.violated(**at, B=20, T=109, f0_gap=mean / 2)
    assert "lambda exists" in CLAIMS["theorem-iv1-eq7"].violated(**at, B=20, T=109, f0_gap=mean / 2)


def test_theorem_iv2_without_an_upper_step_is_false() -> None:
    at = {"alpha": [0], "beta": [0], "K": 1, "L": 1, "eta_l": 3, "S": 1, "G": 0, "B": 1, "sigma2": 0, "C": 9, "T": 2}
    at |= {"f0_gap": 0.5, "lam": 0.25, "mu": 1}
    claim = CLAIMS["theorem-iv2-eq9/any-step"]
    assert not claim.violated(**at)
    p = 1 - F(3, 4)
    assert (1 + 4 / p) / (1 + 1 / p) == F(17, 5)
    assert claim.bound(**at) == pytest.approx(2 * math.exp(-1.5))
    assert claim.bound(**at) < 3.4


def test_theorem_iv2_without_33_is_false() -> None:
    """The two clients of Theorem IV.1's counterexample: PL with mu = 1/20."""
    growth, mean, T = F(1621, 1600), F(1, 20), 220
    assert growth == sum((1 - F(3, 16) * s) ** 2 for s in (F(1), F(-9, 10))) / 2
    at = {"alpha": [0], "beta": [0], "K": 1, "L": 1, "eta_l": "3/16", "S": 1, "G": 0, "B": 20, "sigma2": 0, "C": 1}
    at |= {"T": T, "f0_gap": mean / 2, "lam": "49/100", "mu": mean}
    assert not CLAIMS["theorem-iv2-eq9/any-step"].violated(**at)
    assert "lambda exists" in CLAIMS["theorem-iv2-eq9"].violated(**at)
    # every squared gradient is at least the first
    assert CLAIMS["theorem-iv2-eq9/any-step"].bound(**at) < mean**2


def test_lemma_7_is_false_of_one_client_and_by_its_index() -> None:
    at = {"alpha": [0], "beta": [0], "K": 1, "G": 0, "delta_sq": [0], "x_sq": 0}
    # f_1 = 5 x^2/2, four clients 0, x = 1: B^2 = 5
    assert CLAIMS["lemma-7"].bound(**at, L=5, B=math.sqrt(5), grad_u2=1) < 25
    # f = x^2/2, eta_l = 4, from 1: the gradient at x_{i,1} = -3 against x_{i,0} = x_t
    assert CLAIMS["lemma-7"].bound(**at, L=1, B=1, grad_u2=1) < 9


def test_lemma_9_is_false_for_small_b() -> None:
    """Ten clients with the same linear function of slope 1, nine selected: G = 1, B = 0."""
    at = {"alpha": [0], "beta": [0], "K": 1, "L": 1, "S": 9, "G": 1, "B": 0, "sigma2": 0, "delta_sq": [0], "grad_u2": 1}
    assert exact(CLAIMS["lemma-9"], {**at, "eta_l": "1/100"}) < 1
    assert exact(CLAIMS["lemma-9/corrected"], {**at, "eta_l": "1/100"}) >= 8
    assert not CLAIMS["lemma-9"].violated(**at, eta_l=0.01)


def test_30_is_an_equality_with_other_factors() -> None:
    rng = random.Random(1)
    for N in (2, 3, 5):
        a = [F(rng.randint(-9, 9)) for _ in range(N)]
        mean, every = (sum(a) / N) ** 2, sum(v * v for v in a) / N
        for S in range(1, N + 1):
            subsets = [(sum(c) / S) ** 2 for c in combinations(a, S)]
            left = sum(subsets) / len(subsets)
            at = {"S": S, "N": N, "mean_sq": mean, "gradients_sq": every}
            assert exact(CLAIMS["eq30/corrected"], at) == left <= exact(CLAIMS["eq30"], at)
    # strict as printed: one of two clients with gradients 1 and -1
    assert exact(CLAIMS["eq30"], {"S": 1, "N": 2, "mean_sq": 0, "gradients_sq": 1}) == 1


# --- what is true, on exact runs -------------------------------------------------------------------------------------

_PROBLEMS = [
    ((1.0, 0.5, 0.2), (0.3, -0.1, -0.2)),
    ((1.0, -0.2, 0.4, 0.3), (0.0, 0.0, 0.0, 0.0)),
    ((1.0, 0.9), (1.0, -1.0)),
]
_INERTIA = [((0.0,), (0.0,)), ((0.9,), (0.0,)), ((0.3, 0.2), (0.5, 0.5)), ((0.6, 0.3), (0.1, 0.9))]


def _cases(share: float) -> list[Run]:
    """Runs with eta_l a share of 3/(16KL) (L = 1 in all problems); noise with two lags only."""
    cases = []
    for (h, b), (alpha, beta), K, S in (
        (_PROBLEMS[n % 3], _INERTIA[n % 4], (1, 2, 5)[n % 3 - n // 6], 1 + n % 2) for n in range(12)
    ):
        cases.append(Run(h, b, alpha, beta, K, S, share * 3 / (16 * K), (0.0, 0.5)[len(alpha) - 1]))
    return cases


@pytest.mark.parametrize("share", [1.0, 0.3])
def test_the_lemmas_hold_on_exact_runs(share: float) -> None:
    slack = 1 + 1e-9
    for run in _cases(share):
        c = run.constants
        base = {"alpha": run.alpha, "beta": run.beta, "K": run.K, "L": c["L"], "G": c["G"], "B": c["B"]}
        for now in simulate(run, 12):
            at = {**base, "delta_sq": now.delta_sq, "grad_u2": now.grad_u2}
            stepped = {**at, "eta_l": run.eta_l, "sigma2": run.sigma2}
            assert now.u_error <= 1e-18 * (1 + now.grad_u2)
            dtilde = run.eta_l**2 * now.average_sq
            jensen = CLAIMS["eq21"].bound(alpha=run.alpha, dtilde_sq=dtilde, delta_sq=now.delta_sq)
            assert now.next_delta_sq <= jensen * slack
            for k in range(run.K):
                assert now.gradients_sq[k] <= CLAIMS["lemma-7/corrected"].bound(**at, drift=now.drift[k]) * slack
                assert now.selected_sq[k] <= CLAIMS["eq31"].bound(**at, S=run.S, drift=now.drift[k]) * slack
                counts = {"S": run.S, "N": len(run.h), "mean_sq": now.mean_sq[k], "gradients_sq": now.gradients_sq[k]}
                assert now.selected_sq[k] == pytest.approx(CLAIMS["eq30/corrected"].bound(**counts))
                assert now.drift[k + 1] <= CLAIMS["eq26"].bound(**stepped, k=k + 1) * slack
                if k:
                    assert now.drift[k + 1] <= CLAIMS["eq25"].bound(**stepped, k=k + 1, x_sq=now.drift[k]) * slack
            assert np.mean(now.drift[1:]) <= CLAIMS["lemma-8"].bound(**stepped) * slack
            assert now.average_sq <= CLAIMS["lemma-9"].bound(**stepped, S=run.S) * slack
            assert now.average_sq <= CLAIMS["lemma-9/corrected"].bound(**stepped, S=run.S) * slack
            split = {"K": run.K, "S": run.S, "sigma2": run.sigma2, "selected_sq": np.mean(now.selected_sq)}
            assert now.average_sq <= CLAIMS["eq29"].bound(**split) * slack


@pytest.mark.parametrize(
    "name", ["theorem-iv1-eq35/corrected", "theorem-iv1-eq7/corrected", "theorem-iv1-eq35/without-c"]
)
def test_the_repairs_of_theorem_iv1_hold_on_exact_runs(name: str) -> None:
    claim = CLAIMS[name]
    met = 0
    for share in (0.1, 0.02, 0.004):
        for run in _cases(share):
            rounds = simulate(run, 40)
            c = run.constants
            at = {"alpha": run.alpha, "beta": run.beta, "K": run.K, "L": c["L"], "eta_l": run.eta_l, "S": run.S}
            at |= {"G": c["G"], "B": c["B"], "sigma2": run.sigma2, "f0_gap": rounds[0].gap, "T": 1, "lam": 0.1}
            if "C" in [p.name for p in claim.parameters]:
                at["C"] = max(r.average_sq for r in rounds)
            limit = float(claim.terms(**at)["lam_max"])
            for lam in (0.99 * limit, 0.1 * limit):
                if lam <= 0 or claim.violated(**{**at, "lam": lam}):
                    continue
                met += 1
                for T in (1, 7, 40):
                    left = min(r.grad_u2 for r in rounds[:T])
                    assert left <= claim.bound(**{**at, "lam": lam, "T": T})
    assert met >= 10


@pytest.mark.parametrize("name", ["theorem-iv2-eq39/corrected", "theorem-iv2-eq9/corrected"])
def test_the_repairs_of_theorem_iv2_hold_on_exact_runs(name: str) -> None:
    claim = CLAIMS[name]
    for alpha, beta in (((0.0,), (0.0,)), ((0.5,), (0.2,))):
        run = Run((1.0, 0.8), (0.1, -0.1), alpha, beta, 2, 1, 0.003, 0.01, x0=10.0)
        rounds = simulate(run, 2000)
        c = run.constants
        at = {"alpha": alpha, "beta": beta, "K": 2, "eta_l": run.eta_l, "S": 1, "sigma2": run.sigma2, "T": 2000, **c}
        at |= {"f0_gap": rounds[0].gap, "lam": 0.2, "C": max(r.average_sq for r in rounds)}
        assert not claim.violated(**at)
        p = 1 - c["mu"] * 2 * run.eta_l * 0.2
        weights = p ** -np.arange(2000.0)
        left = float(weights @ [r.grad_u2 for r in rounds] / weights.sum())
        assert left <= claim.bound(**at)
