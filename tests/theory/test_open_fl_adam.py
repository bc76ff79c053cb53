"""Open-fl's claims about Adam: their names, their constants against a plain computation, their lines about vectors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from theory.papers.open_fl.adam_proofs import PROOF_OF_LEMMA_5, PROOF_OF_THEOREM_3

from theory.assumptions import BoundedStochasticGradient, StronglyConvex
from theory.catalog import claim
from theory.expression import check
from theory.feasible import function_conflicts
from theory.inequality.prover import Proof, Refutation, prove
from theory.inequality.vectors import exact
from theory.papers.open_fl import adam, adam_lines

PARAMETERS = ("mu", "L", "eta", "beta1", "beta2", "eps", "sigma", "d", "r")
LABELS = (
    "theorem-3",
    "theorem-3/with-moment-factors",
    "theorem-3/everywhere",
    "theorem-3/on-the-ball",
    "theorem-3/papers-settings",
    "theorem-3/corrected",
    "lemma-5",
    "lemma-5/with-moment-factors",
    "lemma-5/after-communication",
    "eq15",
    "eq16",
    "eq17",
    "eq17/with-moment-factors",
    "eq18",
    "eq19",
    "eq20",
    "eq21",
    "eq22",
    "eq22/after-communication",
    "eq23",
    "eq24",
    "eq25/step-length",
    "eq25",
    "eq25/with-moment-factors",
    "eq26",
    "eq26/with-moment-factors",
)
VALUES = st.fixed_dictionaries(
    {
        "mu": st.floats(0.1, 1),
        "L": st.floats(1, 1.3),
        "eta": st.floats(0.05, 0.7),
        "beta1": st.floats(0, 0.9),
        "beta2": st.floats(0.85, 0.999),
        "eps": st.floats(0.01, 1),
        "sigma": st.floats(0.05, 1),
        "d": st.integers(1, 10),
        "r": st.floats(0, 2),
    }
)


def constants(
    mu: float, L: float, eta: float, beta1: float, beta2: float, eps: float, sigma: float, d: int
) -> list[float]:
    """C1..C4, computed as (12) prints them."""
    power = (eps + sigma**2) ** -0.5
    C1 = 1 - 2 * mu * eta * power
    C2 = 2 * mu * eta**2 * power * sigma**2 * d * eps**-0.5 * ((1 + beta1) / (1 - beta1))
    C2 += (L / 2 + L * beta1 / (1 - beta1)) * (eta**2 * d) / ((1 - beta2) * (1 - beta1**2 / beta2))
    C3 = eta * beta1 / (1 - beta1) * sigma**2 * eps**-0.5 - eta * sigma**2 / (1 - beta1) * d * power
    C4 = eta * beta1 / (1 - beta1) * sigma**2 * eps**-0.5 + eta * sigma**2 / (1 - beta1) * d * eps**-0.5
    return [C1, C2, C3, C4]


def test_the_claims_are_there_in_order() -> None:
    assert tuple(c.label for c in adam.CLAIMS) == LABELS
    for one in adam.CLAIMS:
        check(one)
        assert claim(one.id) is one
    theorem = claim("open-fl/theorem-3")
    assert tuple(p.name for p in theorem.parameters) == PARAMETERS
    assert {"C1", "C2", "C3", "C4", "C5", "one_minus_kappa_C1", "kappa"} == set(theorem.definitions)
    assert claim("open-fl/theorem-3/corrected").amends == theorem.id


@given(VALUES)
@settings(max_examples=100)
def test_theorem_3_is_the_larger_root_of_18(values: dict[str, float]) -> None:
    values = dict(values)
    r = values.pop("r")
    C1, C2, C3, C4 = constants(**values)  # type: ignore[arg-type]
    mu, L = values["mu"], values["L"]
    assume(C1 >= 0)
    assume(1 - L / mu * C1 > 0.01)
    offset = 2 / mu * (C2 + C3 + C1 * C4)
    a = L / mu * C1
    roots = np.roots([1 - a, -2 * (1 + a) * r, -(a * r**2 + offset)])
    found = claim("open-fl/theorem-3").bound(**values, r=r)
    assert found == pytest.approx(max(roots.real), rel=1e-9, abs=1e-9)
    terms = claim("open-fl/theorem-3").terms(**values, r=r)
    for name, expected in zip(("C1", "C2", "C3", "C4"), (C1, C2, C3, C4), strict=True):
        assert terms[name] == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert terms["C5"] == pytest.approx((1 + a) / (1 - a))
    assert terms["one_minus_kappa_C1"] == pytest.approx(1 - a)
    printed = claim("open-fl/eq19").bound(mu=mu, L=L, C1=C1, C2=C2, C3=C3, C4=C4, r=r)
    assert printed == pytest.approx(float(found), rel=1e-12)


def test_a_negative_C1_may_leave_no_radius() -> None:
    """1 - kappa C1 > 0 holds, and (5) has no real value: 1 + 3 kappa C1 is negative, and r is large."""
    values = {"mu": 1, "L": 2, "eta": 0.5, "beta1": 0, "beta2": 0.5, "eps": 0.01, "sigma": 0.1, "d": 1, "r": 100}
    theorem = claim("open-fl/theorem-3")
    assert theorem.terms(**values)["one_minus_kappa_C1"] > 0
    assert theorem.violated(**values) == ("contraction factor",)
    with pytest.raises(ValueError, match="undefined"):
        theorem.bound(**values)


@pytest.mark.parametrize("name", ["DESCENT", "LOWER", "UPPER", "POLYAK", "FIRST_PART", "SUFFICIENT", "BOUNDED"])
def test_lines_about_vectors_are_proved(name: str) -> None:
    line = getattr(adam_lines, name)
    for setting in line.settings:
        space, statement, given_ = line.build({key: exact(value, key) for key, value in setting.items()})
        assert isinstance(prove(statement, given_, space), Proof)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("BOUNDED", {"mu": "1", "sigma": "1", "r": "1", "root": "1", "eta": "1"}),
        ("SUFFICIENT", {"kappa": "1", "C1": "1/4", "offset": "4", "R": "4", "r": "1"}),
    ],
)
def test_what_is_too_strong_is_refuted(name: str, change: dict[str, str]) -> None:
    """Without its hypothesis on the momentum, or with an offset against which (18) fails."""
    space, statement, given_ = getattr(adam_lines, name).build(
        {key: exact(value, key) for key, value in change.items()}
    )
    kept = [c for c in given_ if c.name != "bounded momentum"]
    assert isinstance(prove(statement, kept, space), Refutation)


def test_everywhere_contradicts_strong_convexity() -> None:
    everywhere = claim("open-fl/theorem-3/everywhere")
    (conflict,) = function_conflicts(everywhere)
    assert {conflict.first, conflict.second} == {"strongly convex clients", "bounded sampled gradient"}
    for label in ("theorem-3", "theorem-3/on-the-ball"):
        assert function_conflicts(claim(f"open-fl/{label}")) == ()


def test_the_readings_differ_in_assumption_4_alone() -> None:
    found = {}
    for label in ("theorem-3", "theorem-3/everywhere", "theorem-3/on-the-ball"):
        one = claim(f"open-fl/{label}")
        (bounded,) = [h.assumption for h in one.hypotheses if isinstance(h.assumption, BoundedStochasticGradient)]
        found[label] = bounded.at
        assert any(isinstance(h.assumption, StronglyConvex) for h in one.hypotheses)
        assert one.steps or label != "theorem-3"
    assert list(found.values()) == ["iterates", "everywhere", "ball"]


def test_the_corrected_radius_needs_no_more_than_it_says() -> None:
    corrected = claim("open-fl/theorem-3/corrected")
    assert corrected.bound(mu=0.5, eta=0.1, eps=0.04, sigma=2, r=1) == pytest.approx(1 + 4 + 0.1 * 2 / 0.2)
    assert [h for h in corrected.hypotheses if h.relation is not None] == []


def test_proofs_name_what_they_use_unsaid() -> None:
    """Every line that uses a local step in a row, a fresh optimiser or beta1^2 < beta2 says so."""
    needs = {s.label: {h.name for h in s.needs} for s in (*PROOF_OF_LEMMA_5, *PROOF_OF_THEOREM_3)}
    assert needs["(22)"] == {"no communication in between"}
    assert needs["(24)"] == {"fresh optimiser"}
    assert needs["Lemma 8 of [21]"] == {"no communication in between", "fresh optimiser", "factors of the moments"}
    assert needs["(20)"] == needs["(21)"] == needs["(23)"] == set()
    cited = [s.label for s in PROOF_OF_LEMMA_5 if s.rule == "cited"]
    assert cited == ["Lemma 8 of [21]"]


def test_the_bound_exceeds_the_minimisers_ball() -> None:
    """R >= 2r wherever (5) exists with C1 >= 0, which (18)'s proof uses."""
    rng = np.random.default_rng(0)
    a, r, offset = rng.uniform(0, 0.99, 500), rng.uniform(0, 3, 500), rng.uniform(0, 3, 500)
    radius = (1 + a) / (1 - a) * r + np.sqrt((1 + 3 * a) / (1 - a) ** 2 * r**2 + offset / (1 - a))
    assert (radius >= 2 * r - 1e-12).all()
