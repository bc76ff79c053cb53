"""PERM's claims: which there are, their right sides written afresh, conditions that exclude each other, verdicts."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from theory.domain import COUNT, POSITIVE
from theory.feasible import Limits, feasible_relations
from theory.papers.perm import PAPER
from validate.contradiction import contradictions
from validate.examine import examine
from validate.proving import evidence

CLAIMS = {c.label: c for c in PAPER}
RECORDED = json.loads(Path(__file__).with_name("perm_bounds.json").read_text())
PRINTED = (
    *("gen", "eq1", "eq2", "eq2-heterogeneous", "lipschitz-observation", "theorem-1", "theorem-1-alpha-rate"),
    *("lemma-14-alpha-rate", "eq3", "lemma-1", "lemma-2", "lemma-3", "lemma-4", "lemma-5", "lemma-6"),
    *("proposition-1", "lemma-7", "lemma-8", "proposition-2", "lemma-9", "lemma-10", "proposition-3", "lemma-11a"),
    *("lemma-11b", "lemma-12", "lemma-13", "theorem-2-step", "theorem-2-unrolled", "theorem-2"),
    *("proposition-4-eq15", "proposition-4-eq16", "proposition-4-eq17", "lemma-14", "lemma-15"),
    *("theorem-3-explicit", "theorem-3"),
)
RIGHT_AS_PRINTED = {"lemma-8", "lemma-9", "proposition-3", "lemma-1", "lemma-2", "lipschitz-observation", "gen", "eq1",
                    "eq2", "eq2-heterogeneous", "eq3", "lemma-14-alpha-rate"}  # fmt: skip
"""Of which there is no repair; that of lemma-14-alpha-rate is theorem-1-alpha-rate/corrected."""
E = math.e


# --- which there are -------------------------------------------------------------------------------------------------


def test_the_numbered_results_are_there_and_what_is_wrong_has_a_repair() -> None:
    assert len(CLAIMS) == 72
    printed = [label for label, c in CLAIMS.items() if c.amended is None and not label.endswith("unnormalised")]
    assert set(printed) == set(PRINTED)
    amended = {c.amended for c in PAPER} - {None}
    assert {f"perm/{label}" for label in PRINTED} - amended == {f"perm/{label}" for label in RIGHT_AS_PRINTED}
    assert all(c.remarks for c in PAPER if c.amended)


def test_readings_are_claims_of_their_own_and_no_repairs() -> None:
    readings = [c for c in PAPER if c.label.endswith("unnormalised")]
    assert {c.label.split("/")[0] for c in readings} == {
        "lemma-2", "lemma-10", "lemma-11a", "lemma-11b", "lemma-12", "theorem-2-step",
    }  # fmt: skip
    assert all(c.amended is None for c in readings)


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


@pytest.mark.parametrize("label", RECORDED)
def test_a_bound_is_what_it_was(label: str) -> None:
    """At fixed numbers, under the paper's names, as when first evaluated."""
    row = RECORDED[label]
    values = {name: text.split(",") if "," in text else text for name, text in row["values"].items()}
    assert float(CLAIMS[label].bound(**values)) == pytest.approx(float(row["value"]), rel=1e-13)


# --- conditions that exclude each other ------------------------------------------------------------------------------


@pytest.mark.parametrize("label", ["theorem-2-step", "theorem-2-unrolled", "theorem-2", "theorem-3-explicit"])
def test_conditions_that_exclude_each_other(label: str) -> None:
    (found,) = contradictions(CLAIMS[label])
    assert found.outcome == "vacuous", found.detail


STATED = "eta == c_eta*log(N*H*R**3)/(mu*R)"
PROOF, LEMMA_11, *NUMBER_OF_EPOCHS = CLAIMS["theorem-2"].assuming[2:]
DOMAINS = {**dict.fromkeys(("mu", "L", "eta", "c_eta"), POSITIVE), **dict.fromkeys("NHR", COUNT)}


@pytest.mark.parametrize(
    ("relations", "outcome"),
    [
        ([PROOF, LEMMA_11], "empty"),
        ([STATED, "c_eta >= 1", LEMMA_11], "empty"),
        ([LEMMA_11, *NUMBER_OF_EPOCHS], "feasible"),
    ],
)
def test_which_conditions_of_theorem_2_exclude_each_other(relations: list[str], outcome: str) -> None:
    found = feasible_relations(["mu <= L", *relations], DOMAINS, limits=Limits(boxes=2000))
    assert found.outcome == outcome, found.detail


def test_the_two_steps_of_theorem_2_exclude_each_other_for_many_clients() -> None:
    """x = c N K, a = log(NK), b = log R: the steps are equal when x (a+3b) = 2a + 4b."""
    domains = {"x": POSITIVE, "a": POSITIVE, "b": POSITIVE}
    assert feasible_relations(["x > 2", "x*(a+3*b) == 2*a + 4*b"], domains).outcome == "empty"


@pytest.mark.parametrize("label", ["theorem-2/corrected", "theorem-2/corrected-2", "theorem-3-explicit/corrected"])
def test_the_repaired_theorems_can_hold(label: str) -> None:
    (found,) = contradictions(CLAIMS[label])
    assert found.outcome == "holds", found.detail


def test_t1_is_positive_at_the_printed_step_and_epochs() -> None:
    mu = L = 1.0
    N = K = 1
    R = 2000
    ell = math.log(R)
    given = {"mu": mu, "L": L, "N": N, "K": K, "R": R, "eta": 4 * ell / (mu * R), "G": 1, "p": 0.1, "delta2": 0, "V": 1}
    assert max((40 / mu + 1) * E, 16 * ell, 64 * ell) <= R
    assert CLAIMS["theorem-2-step"].terms(**given)["T1"] > 0.04


# --- verdicts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "verdict"),
    [
        ("gen", "undecided"),
        ("theorem-1", "refuted"),
        ("theorem-1-alpha-rate", "refuted"),
        ("lemma-14-alpha-rate", "refuted"),
        ("lemma-1", "proved"),
        ("lemma-3", "refuted"),
        ("lemma-4", "refuted"),
        ("proposition-1", "refuted"),
        ("lemma-7", "refuted"),
        ("proposition-2", "refuted"),
        ("lemma-10", "refuted"),
        ("lemma-10/unnormalised", "refuted"),
        ("theorem-2-step/unnormalised", "refuted"),
        ("proposition-4-eq15", "refuted"),
        ("lemma-14", "refuted"),
        ("lemma-15", "refuted"),
    ],
)
def test_verdicts_that_the_machine_finds_at_once(label: str, verdict: str, tmp_path: Path) -> None:
    result = examine(CLAIMS[label], quick=True, out=tmp_path)
    assert result.verdict == verdict
    if verdict == "refuted":
        assert next(e.origin for e in result.evidence if e.outcome == "refuted") in ("pool", "search")


@pytest.mark.parametrize("label", ["lemma-2", "lemma-2/unnormalised"])
def test_lemma_2_is_proved(label: str) -> None:
    assert [e.outcome for e in evidence(CLAIMS[label])] == ["proved"]
