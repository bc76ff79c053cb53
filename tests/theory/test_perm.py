"""The claims of perm: their ids and formulas, right sides written afresh, conditions that exclude each other."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from theory.claim import Claim
from theory.expression import check
from theory.feasible import Limits, feasible, feasible_relations
from theory.papers.perm import PAPER

CLAIMS = {c.label: c for c in PAPER}
PRINTED = {
    "gen": "alpha rad disc n C risk_star",
    "eq1": "",
    "eq2": "z n lam",
    "eq2-heterogeneous": "z n lam vc",
    "lipschitz-observation": "L lam n zeta dist2",
    "theorem-1": None,
    "eq3": "",
    "lemma-1": "",
    "lemma-2": "L mu N G dv2 da2",
    "lemma-3": "L lam n zeta dist2",
    "lemma-4": None,
    "lemma-5": "K gamma delta2 zeta",
    "lemma-6": "mu L N K R gamma delta2 zeta dist0",
    "proposition-1": "",
    "lemma-7": "",
    "lemma-8": "",
    "proposition-2": "a b L l h",
    "lemma-9": "G i n p",
    "lemma-10": "G n N p grad_phi",
    "proposition-3": "eta alpha N K L",
    "lemma-11a": "eta N K R G p grad_phi",
    "lemma-11b": "eta N K G p grad_phi",
    "lemma-12": "eta N K L G p grad_phi",
    "lemma-13": "eta N K delta",
    "theorem-2-step": "mu L N K R eta G p delta2 V",
    "theorem-2-unrolled": "mu L N K R eta G p delta2 V0",
    "theorem-2": None,
    "proposition-4-eq15": "mu L gamma delta2 M T F_gap",
    "proposition-4-eq16": "mu L gamma delta2 M T F_gap",
    "proposition-4-eq17": "mu L gamma delta2 M T F_gap",
    "lemma-14": None,
    "lemma-15": None,
    "theorem-3-explicit": "mu L N K R eta G p delta2 V0",
    "theorem-3": None,
}
VECTORS = {"alpha", "rad", "disc", "n", "z", "vc", "zeta"}
REPAIRED = (
    *("theorem-1", "lemma-3", "lemma-4", "lemma-5", "lemma-6", "proposition-1", "lemma-7", "proposition-2", "lemma-10"),
    *("lemma-11a", "lemma-11b", "lemma-12", "lemma-13", "theorem-2-step", "theorem-2-unrolled", "theorem-2"),
    *("proposition-4-eq15", "proposition-4-eq16", "proposition-4-eq17", "theorem-3-explicit", "theorem-1-alpha-rate"),
    *("lemma-14", "lemma-15", "theorem-3"),
)
F = Fraction
E = math.e


# --- contract --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("label", PRINTED)
def test_ids_and_parameters_are_those_of_the_contract(label: str) -> None:
    claim = CLAIMS[label]
    assert claim.amends is None
    if PRINTED[label] is not None:
        assert " ".join(p.name for p in claim.parameters) == PRINTED[label]


def test_vectors_are_where_the_contract_has_them() -> None:
    for label in ("gen", "eq2", "eq2-heterogeneous", "lipschitz-observation", "lemma-3"):
        for p in CLAIMS[label].parameters:
            assert (p.shape == "vector") == (p.name in VECTORS), (label, p.name)


@pytest.mark.parametrize("claim", list(PAPER), ids=lambda c: c.label)
def test_formulas_parse_and_use_only_known_names(claim: Claim) -> None:
    check(claim)
    assert claim.statement
    assert claim.latex
    assert claim.source


@pytest.mark.parametrize("label", REPAIRED)
def test_repairs_amend_what_they_repair(label: str) -> None:
    repair = CLAIMS[f"{label}/corrected"]
    assert repair.amends == f"perm/{label}"
    assert repair.derivation
    assert all(h.printed for h in repair.hypotheses)


def test_readings_are_claims_of_their_own_and_no_repairs() -> None:
    readings = [c for c in PAPER if c.label.endswith("unnormalised")]
    assert {c.label.split("/")[0] for c in readings} >= {"lemma-2", "lemma-10", "lemma-11a", "lemma-11b", "lemma-12"}
    assert all(c.amends is None for c in readings)


def test_lines_name_claims_that_exist() -> None:
    for c in PAPER:
        for step in c.steps:
            assert step.claim is None or step.claim.removeprefix("perm/") in CLAIMS, (c.id, step.label)


def typeset(formulas: dict[str, str]) -> None:
    from validate.report.formula import Typesetter

    setter = Typesetter()
    for latex, where in formulas.items():
        assert "ascii" not in setter.display(latex, "x"), (where, latex)


def test_every_claim_is_typeset() -> None:
    typeset({c.latex: c.id for c in PAPER})


@pytest.mark.slow
def test_every_line_is_typeset() -> None:
    typeset({side: f"{c.id}: {s.label}" for c in PAPER for s in c.steps for side in (s.left, s.right)})


# --- right sides against formulas written afresh ---------------------------------------------------------------------


def test_right_sides_of_weights() -> None:
    n, zeta, lam, L, d = np.array([2.0, 5.0, 3.0]), np.array([0.0, 0.3, 1.1]), 0.7, 3.0, 0.04
    kg = 5 / (2 * lam)
    total = float((2 * zeta + 4 * L * L * d).sum())
    given = {"n": n, "zeta": zeta, "lam": lam, "L": L, "dist2": d}
    assert CLAIMS["lipschitz-observation"].bound(**given) == pytest.approx(4 * L**2 * kg**2 * total * d)
    assert CLAIMS["lemma-3"].bound(**given) == pytest.approx(kg**2 * total * 4 * L * d)
    assert CLAIMS["lemma-3/corrected"].bound(**given) == pytest.approx(math.sqrt(4 * L**2 * kg**2 * total * d))
    terms = CLAIMS["lipschitz-observation"].terms(**given)
    assert (terms["kappa_g"], terms["condition_number"]) == (pytest.approx(kg), pytest.approx(2.5))
    assert terms["kappa_of_theorem_1"] == pytest.approx(1 / (lam * 2))
    gen = CLAIMS["gen"].bound(
        alpha=[0.5, 0.25, 0.25], rad=[1.0, 2.0, 4.0], disc=[0.0, 1.0, 3.0], n=n, C=2.0, risk_star=0.1
    )
    assert gen == pytest.approx(0.1 + 2.0 + 2 * 1.0 + 2 * math.sqrt(0.25 / 2 + 0.0625 / 5 + 0.0625 / 3))


def test_right_side_of_lemma_6_and_theorem_1() -> None:
    mu, L, N, K, R, g, d2, z, d0 = 0.5, 2.0, 3, 4, 6, 0.1, 0.7, 0.3, 1.5
    given = {"mu": mu, "L": L, "N": N, "K": K, "R": R, "gamma": g, "delta2": d2, "dist0": d0}
    for label, power in (("lemma-6", 2), ("lemma-6/corrected", 1)):
        spread = 3 * K * g * g * d2 + 6 * K * K * g * g * z**power
        right = (1 - mu * g) ** (R * K) * d0 + (g * L + 2 * (g * L) ** 2) / (mu * g) * spread + g * d2 / (mu * N)
        assert CLAIMS[label].bound(**given, zeta=z) == pytest.approx(right)
    n, lam = [2, 10], 0.5
    weights = 4 * (1 - 0.2) ** 6 + 16 * L**2 * (10 / (2 * lam)) ** 2 * N * (0.2 + 2 * L**2 * 9) * right
    theorem = CLAIMS["theorem-1/corrected"].bound(**given, zeta=z, D=3, lam=lam, n=n, T_a=3, zbar=0.2)
    assert theorem == pytest.approx(weights)


def test_right_sides_of_an_epoch() -> None:
    eta, N, K, R, L, G, p, g = 0.01, 3, 2, 5, 1.5, 2.0, 0.05, 0.6
    s, e_r, log = eta * N * K, E / (4 * R - E), math.log(1 / p)
    base = {"eta": eta, "N": N, "K": K, "G": G, "p": p, "grad_phi": g}
    right = 10 * s**2 * e_r**2 * g**2 + 128 * s**2 * N * e_r**2 * G**2 * log
    assert CLAIMS["lemma-11a"].bound(**base, R=R) == pytest.approx(right)
    assert CLAIMS["lemma-11b"].bound(**base) == pytest.approx(3 * E * s * (g + G * math.sqrt(8 * N * log)))
    assert CLAIMS["lemma-12"].bound(**base, L=L) == pytest.approx(18 * E**6 * s**4 * L**4 * (g**2 + 8 * G**2 * N * log))
    assert CLAIMS["lemma-13"].bound(eta=eta, N=N, K=K, delta=0.3) == pytest.approx(s * E**2 * 0.3)
    assert CLAIMS["proposition-3"].bound(eta=eta, alpha=0.25, N=N, K=K, L=L) == pytest.approx(
        eta * 0.25 * N * K * (1 + eta * N * L) ** K
    )
    assert CLAIMS["lemma-9"].bound(G=G, i=3, n=7, p=p) == pytest.approx(
        G * math.sqrt(8 * (1 - 2 / 7) * math.log(2 / p) / 3)
    )
    assert CLAIMS["lemma-10"].bound(G=G, n=2, N=N, p=p, grad_phi=g) == pytest.approx(
        G * math.sqrt(16 * log) + 2 / 3 * g
    )


@pytest.mark.parametrize(("h", "low"), [(5, 2), (9, 0), (13, 1), (3, 3)])
def test_right_side_of_proposition_2(h: int, low: int) -> None:
    d = h - low
    sums = [sum((E * d / m) ** m * (c * 1.2) ** m for m in range(1, d + 1)) for c in (0.3, 0.05)]
    given = {"a": 0.3, "b": 0.05, "L": 1.2, "l": low, "h": h}
    assert CLAIMS["proposition-2"].bound(**given) == pytest.approx(sum(sums))
    assert CLAIMS["proposition-2/corrected"].bound(**given) == pytest.approx(1.36 ** (d + 1) + 1.06 ** (d + 1) - 2)
    with pytest.raises(ValueError, match="undefined"):  # the sum is written out for h - l <= 12
        CLAIMS["proposition-2"].bound(**{**given, "h": low + 13})


def test_right_sides_of_theorems_2_and_3() -> None:
    mu, L, N, K, R, eta, G, p, d2, v = 0.5, 2.0, 3, 2, 40, 0.001, 1.5, 0.1, 0.4, 0.8
    s, e_r, log = eta * N * K, E / (4 * R - E), math.log(1 / p)
    given = {"mu": mu, "L": L, "N": N, "K": K, "R": R, "eta": eta, "G": G, "p": p, "delta2": d2}
    young, noise = 1 / (2 * mu * s) + 2, s * s * E**4 * d2
    inner = (244 * E**6 * s**4 * L**4 + 256 * eta**2 * N**3 * K**2 * e_r**2) * G**2 * N * log
    step = CLAIMS["theorem-2-step"]
    assert step.bound(**given, V=v) == pytest.approx((1 - mu * s / 2) * v + noise + young * inner)
    t1 = s - 4 * s * s * L - young * (20 * s * s * e_r**2 - 36 * E**6 * s**4 * L**4)
    assert step.terms(**given, V=v)["T1"] == pytest.approx(t1)
    unrolled = (1 - mu * s / 2) ** R * v + 2 / (mu * s) * (noise + young * inner)
    assert CLAIMS["theorem-2-unrolled"].bound(**given, V0=v) == pytest.approx(unrolled)
    third = (1 - mu * s / 4) ** R * v + noise / (mu * s) + 8 / (mu * s) * young * inner
    assert CLAIMS["theorem-3-explicit"].bound(**given, V0=v) == pytest.approx(third)
    exact_noise = {name: value for name, value in given.items() if name not in ("p", "R")}
    c = 2 * s * s * d2 / K + (2 / (mu * s) + 2) * 4 * L**2 * s**4 * (G**2 + d2 / K)
    repaired = CLAIMS["theorem-2-step/corrected-2"].bound(**exact_noise, V=v)
    assert repaired == pytest.approx((1 - mu * s) * v + c)
    all_epochs = CLAIMS["theorem-2-unrolled/corrected"].bound(**exact_noise, R=R, V0=v)
    assert all_epochs == pytest.approx((1 - mu * s) ** R * v + c / (mu * s))
    moving = CLAIMS["theorem-3-explicit/corrected"].bound(**exact_noise, R=R, V0=v, weight_drift2=0.01)
    x = mu * s
    assert moving == pytest.approx((1 - x / 2) ** R * v + 2 / x * (2 * c + 2 / x * N * G**2 / mu**2 * 0.01))


def test_the_logarithmic_step_of_the_repaired_theorem_2_is_a_case_of_the_general_one() -> None:
    mu, L, N, K, R = 1.0, 2.0, 3, 4, 400
    ell = math.log(math.sqrt(N * K) * R)
    common = {"mu": mu, "L": L, "N": N, "K": K, "R": R, "gamma": 0.1, "G": 2.0, "D": 3.0, "delta2": 0.5}
    common |= {"zeta": 0.2, "dist0": 1.0, "lam": 1.0, "n": [3, 4, 5], "T_a": 10, "zbar": 0.3}
    named, general = CLAIMS["theorem-2/corrected-2"], CLAIMS["theorem-2/corrected"]
    eta = 2 * ell / (mu * N * K * R)
    assert named.violated(**common) == ()
    assert general.violated(**common, eta=eta) == ()
    one, other = named.terms(**common), general.terms(**common, eta=eta)
    assert one["weights_term"] == pytest.approx(other["weights_term"])
    for term in ("start_term", "noise_term", "bias_term"):
        assert other[term] <= one[term] * (1 + 1e-12)
    assert other["noise_term"] == pytest.approx(one["noise_term"])


def test_the_three_condition_numbers_disagree() -> None:
    terms = CLAIMS["theorem-1-alpha-rate"].terms(n=[2, 10], lam=3, T_a=1)
    assert terms["kappa_modulus"] == pytest.approx(10 / 6)
    assert terms["kappa_theorem_1"] == pytest.approx(1 / 6)
    assert terms["condition_number"] == pytest.approx(5)


# --- conditions that exclude each other ------------------------------------------------------------------------------


def test_theorem_2_is_vacuous() -> None:
    found = feasible(CLAIMS["theorem-2"], limits=Limits(boxes=64))
    assert found.outcome == "empty", found.detail
    assert found.proof is not None
    assert {"step size of the proof", "step size of the epochs"} <= set(found.proof.core)


@pytest.mark.slow
@pytest.mark.parametrize("label", ["theorem-2-step", "theorem-2-unrolled", "theorem-3-explicit"])
def test_the_recursions_are_vacuous(label: str) -> None:
    assert feasible(CLAIMS[label], limits=Limits(boxes=64)).outcome == "empty"


def relation(label: str, name: str) -> str:
    return next(h.relation for h in CLAIMS[label].hypotheses if h.name == name and h.relation)


DOMAINS = {p.name: p.domain for p in CLAIMS["theorem-2"].parameters}
PROOF = relation("theorem-2", "step size of the proof")
STATED = relation("theorem-2", "step size of the statement")
LEMMA_11 = relation("theorem-2", "step size of the epochs")


@pytest.mark.parametrize(
    ("relations", "outcome"),
    [
        ([PROOF, LEMMA_11], "empty"),
        ([STATED, "c_eta >= 1", LEMMA_11], "empty"),
        ([LEMMA_11, *(h.relation for h in CLAIMS["theorem-2"].hypotheses if h.name.startswith("number"))], "feasible"),
    ],
)
def test_which_conditions_of_theorem_2_exclude_each_other(relations: list[str], outcome: str) -> None:
    found = feasible_relations(["mu <= L", *relations], DOMAINS, limits=Limits(boxes=2000))
    assert found.outcome == outcome, found.detail


def test_the_two_steps_of_theorem_2_exclude_each_other_for_many_clients() -> None:
    """x = c N K, a = log(NK), b = log R: the steps are equal when x (a+3b) = 2a + 4b."""
    domains = {"x": DOMAINS["mu"], "a": DOMAINS["mu"], "b": DOMAINS["mu"]}
    assert feasible_relations(["x > 2", "x*(a+3*b) == 2*a + 4*b"], domains).outcome == "empty"


@pytest.mark.parametrize("label", ["theorem-2/corrected", "theorem-2/corrected-2", "theorem-3-explicit/corrected"])
def test_the_repaired_theorems_can_hold(label: str) -> None:
    assert feasible(CLAIMS[label]).outcome == "feasible"


def test_t1_is_positive_at_the_printed_step_and_epochs() -> None:
    mu = L = 1.0
    N = K = 1
    R = 2000
    ell = math.log(R)
    given = {"mu": mu, "L": L, "N": N, "K": K, "R": R, "eta": 4 * ell / (mu * R), "G": 1, "p": 0.1, "delta2": 0, "V": 1}
    assert max((40 / mu + 1) * E, 16 * ell, 64 * ell) <= R
    assert CLAIMS["theorem-2-step"].terms(**given)["T1"] > 0.04
