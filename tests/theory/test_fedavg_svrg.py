"""The claims of fedavg-svrg as encoded: ids, parameters and values worked out by hand."""

from fractions import Fraction

import pytest

from theory import claim, paper
from theory.evaluate import exact
from theory.expression import check

PAPER = paper("fedavg-svrg")

PARAMETERS = {
    "theorem-v1-eq7": "delta L K S M N f0_gap drift_sum weighted_sum",
    "theorem-v1-eq8": "delta L K S M G2 f0_gap mean_inv_p",
    "remark-rate": "K eps",
    "lemma-v1": "",
    "lemma-v1-eq14": "mu L delta M K D f0_gap sum_inv_p N",
}
LABELS = [
    "theorem-v1-eq7",
    "theorem-v1-eq8",
    "remark-rate",
    "lemma-v1",
    "lemma-v1-eq9",
    "lemma-v1-eq10",
    "lemma-v1-eq12",
    "lemma-v1-eq14",
    "lemma-a1",
    "lemma-a2",
    *(f"eq-a{i}" for i in range(19, 26)),
]


@pytest.mark.parametrize("label", LABELS)
def test_every_claim_of_the_list_is_there(label):
    assert claim(f"fedavg-svrg/{label}").amends is None


@pytest.mark.parametrize(("label", "names"), list(PARAMETERS.items()))
def test_parameter_names_are_those_of_the_contract(label, names):
    assert " ".join(p.name for p in claim(f"fedavg-svrg/{label}").parameters) == names


@pytest.mark.parametrize("c", list(PAPER), ids=lambda c: c.label)
def test_formulas_parse_and_use_only_known_names(c):
    check(c)


@pytest.mark.parametrize("c", [c for c in PAPER if c.amends], ids=lambda c: c.label)
def test_a_repair_bounds_the_same_quantity(c):
    printed = claim(c.amends)
    assert c.id.startswith(f"{printed.id}/corrected")
    assert c.quantity == printed.quantity or c.label == "lemma-v1-eq10/corrected"


def test_eq7_by_hand():
    values = {"delta": Fraction(1, 2), "L": 1, "K": 1, "S": 8, "M": 1, "N": 1, "f0_gap": Fraction(1, 2)}
    weighted = sum(Fraction(1, 4) ** s for s in range(8))
    right = exact(claim("fedavg-svrg/theorem-v1-eq7"), {**values, "drift_sum": 0, "weighted_sum": weighted})
    assert right == Fraction(30037, 32768)


def test_eq8_by_hand():
    eq8 = claim("fedavg-svrg/theorem-v1-eq8")
    values = {"L": 2, "delta": "1/100", "S": 5, "M": 2, "K": 100, "G2": 3, "f0_gap": 7, "mean_inv_p": "13/3"}
    optimisation, drift = Fraction(2 * 7) / (Fraction(1, 100) * 100 * 10), Fraction(4 * 3, 10**4)
    by_hand = optimisation + drift + Fraction(2 * 10 * 3, 100) * Fraction(13, 3)
    assert exact(eq8, {k: Fraction(v) for k, v in values.items()}) == by_hand
    enclosure = eq8.enclose(**values)
    assert Fraction(enclosure.lower) <= by_hand <= Fraction(enclosure.upper)


def test_eq14_by_hand():
    eq14 = claim("fedavg-svrg/lemma-v1-eq14")
    mu, L, d, M, K, D, gap, inv, N = (Fraction(x) for x in ("1/2", 1, "1/8", 100, 3, 2, 5, 4, 2))
    alpha = 1 / (mu * d * (1 - 2 * L * d) * M) + 2 * L * d / (1 - 2 * L * d)
    geometric = (1 - alpha**3) / (1 - alpha)
    right = (
        2 * gap / (d * K * M)
        + 8 * D * d**2 * L**3 * (M - 1) ** 2 * geometric / K
        + 8 * D * d * L**2 * (M - 1) / (K * N) * geometric * inv
    )
    values = {"mu": mu, "L": L, "delta": d, "M": M, "K": K, "D": D, "f0_gap": gap, "sum_inv_p": inv, "N": N}
    assert exact(eq14, values) == right
    assert eq14.violated(**values) == ()
    assert set(eq14.violated(**{**values, "delta": Fraction(1, 100)})) == {"contraction"}
    assert "smoothness over strong convexity" in eq14.violated(**{**values, "mu": 2})


@pytest.mark.parametrize("values", [(1, 1, 1), (3, 4, 7), (10, 5, 2)])
def test_the_corrected_eq8_is_the_corrected_eq7_with_the_bound_put_in(values):
    S, M, N = values
    T, G2 = S * M, Fraction(7, 3)
    common = {"delta": Fraction(1, 9), "L": Fraction(2), "K": Fraction(4), "S": S, "M": M, "f0_gap": Fraction(5)}
    sums = {
        "lexicographic_drift_sum": 4 * N * G2 * sum(t * t for t in range(T)),
        "weighted_sum": 4 * N * T * G2 * 3,
    }
    seven = exact(claim("fedavg-svrg/theorem-v1-eq7/corrected"), {**common, "N": N, **sums})
    eight = exact(claim("fedavg-svrg/theorem-v1-eq8/corrected"), {**common, "G2": G2, "mean_inv_p": 3})
    assert seven == eight
