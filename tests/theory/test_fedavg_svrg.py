"""The claims of fedavg-svrg as written: ids, parameters, and right sides worked out by hand."""

from fractions import Fraction

import pytest

from theory import claim, paper
from theory.sentence import parse_expression

PAPER = paper("fedavg-svrg")
NUMBERED = [
    *("theorem-v1-eq7", "theorem-v1-eq8", "remark-rate", "lemma-v1"),
    *(f"lemma-v1-eq{i}" for i in (9, 10, 12, 13, 14)),
    *("lemma-a1", "lemma-a2"),
    *(f"eq-a{i}" for i in range(19, 26)),
]
# The names that a right side is evaluated from, besides K, N and the algorithm's own.
DEFINED = {
    "theorem-v1-eq7": "f0_gap drift_sum weighted_sum",
    "theorem-v1-eq8": "f0_gap G2 mean_inv_p",
    "lemma-v1-eq14": "alpha f0_gap D sum_inv_p",
}


@pytest.mark.parametrize("label", NUMBERED)
def test_every_numbered_result_is_there_as_printed(label):
    assert claim(f"fedavg-svrg/{label}").amends is None


def test_there_are_33_claims_and_each_repair_amends_what_it_repairs():
    assert len(PAPER.claims) == 33
    repairs = [c for c in PAPER if "/corrected" in c.label]
    assert len(repairs) == 12
    assert all(c.amends == c.label.split("/")[0] for c in repairs)


@pytest.mark.parametrize(("label", "names"), list(DEFINED.items()))
def test_definitions_carry_the_names_of_the_contract(label, names):
    assert set(claim(f"fedavg-svrg/{label}").where) == set(names.split())


def at(formula, **values):
    """A formula in numbers alone, in fractions."""
    from theory.arithmetic import Reals

    return Reals(None).evaluate(parse_expression(formula), {k: Fraction(v) for k, v in values.items()})


def right(label, **values):
    one = claim(f"fedavg-svrg/{label}")
    given = {k: Fraction(v) for k, v in values.items()}
    from theory.arithmetic import Reals

    return Reals(None).evaluate(one.sentence.right, given)


def test_eq7_by_hand():
    weighted = sum(Fraction(1, 4) ** s for s in range(8))
    values = {"delta": "1/2", "L": 1, "K": 1, "S": 8, "M": 1, "N": 1, "f0_gap": "1/2"}
    assert right("theorem-v1-eq7", **values, drift_sum=0, weighted_sum=weighted) == Fraction(30037, 32768)


def test_eq8_by_hand():
    optimisation, drift = Fraction(2 * 7) / (Fraction(1, 100) * 100 * 10), Fraction(4 * 3, 10**4)
    by_hand = optimisation + drift + Fraction(2 * 10 * 3, 100) * Fraction(13, 3)
    values = {"L": 2, "delta": "1/100", "S": 5, "M": 2, "K": 100, "G2": 3, "f0_gap": 7, "mean_inv_p": "13/3"}
    assert right("theorem-v1-eq8", **values) == by_hand


def test_eq14_by_hand():
    mu, L, d, M, K, D, gap, inv, N = (Fraction(x) for x in ("1/2", 1, "1/8", 100, 3, 2, 5, 4, 2))
    alpha = 1 / (mu * d * (1 - 2 * L * d) * M) + 2 * L * d / (1 - 2 * L * d)
    assert at(claim("fedavg-svrg/lemma-v1-eq14").where["alpha"], mu=mu, L=L, delta=d, M=M) == alpha
    geometric = 1 + alpha + alpha**2
    by_hand = (
        2 * gap / (d * K * M)
        + 8 * D * d**2 * L**3 * (M - 1) ** 2 * geometric / K
        + 8 * D * d * L**2 * (M - 1) / (K * N) * geometric * inv
    )
    found = right("lemma-v1-eq14", L=L, delta=d, M=M, K=K, D=D, f0_gap=gap, sum_inv_p=inv, N=N, alpha=alpha)
    assert found == by_hand


def test_the_remark_at_its_own_exponent():
    # at K = 8 and eps = 1/3 the step is 1/2: the printed orders are 1/4, 1/4 and 1/16
    assert right("remark-rate", K=8, delta="1/2") == Fraction(1, 16)


@pytest.mark.parametrize("values", [(1, 1, 1), (3, 4, 7), (10, 5, 2)])
def test_the_corrected_eq8_is_the_corrected_eq7_with_the_bound_put_in(values):
    S, M, N = values
    T, G2 = S * M, Fraction(7, 3)
    common = {"delta": "1/9", "L": 2, "K": 4, "S": S, "M": M, "f0_gap": 5}
    sums = {
        "lexicographic_drift_sum": 4 * N * G2 * sum(t * t for t in range(T)),
        "weighted_sum": 4 * N * T * G2 * 3,
    }
    seven = right("theorem-v1-eq7/corrected", **common, N=N, **sums)
    assert seven == right("theorem-v1-eq8/corrected", **common, G2=G2, mean_inv_p=3)
