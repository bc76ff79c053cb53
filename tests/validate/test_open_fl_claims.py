"""Verdicts on open-fl's claims as sentences: what is proved, refuted by the pool, refuted by hand, and vacuous."""

from dataclasses import replace
from fractions import Fraction

import pytest

from theory.papers.open_fl import PAPER
from validate import proving, verifier
from validate.breaks import accepted, certificate_of_break
from validate.contradiction import contradictions
from validate.instances import read_instance
from validate.instances.hunt import hunt
from validate.instances.occasion import occasion
from validate.instances.pool import Drawn

CLAIMS = {c.label: c for c in PAPER.claims}


def is_proved(one):
    return any(item.outcome == "proved" for item in proving.evidence(one))


@pytest.mark.parametrize("label", ["lemma-4", "eq6", "eq8", "eq9", "eq20"])
def test_what_follows_from_the_text_is_proved(label):
    assert is_proved(CLAIMS[label])


@pytest.mark.parametrize(
    ("label", "old", "new"),
    [
        ("lemma-4", "<= R", "<= 9*R/10"),
        ("eq6", "gradient_norm**2/L/", "2*gradient_norm**2/L/"),
        ("eq8", "2/L*iterate_product", "iterate_product/L"),
        ("eq9", "sigma**2 +", "sigma**2/2 +"),
        ("eq20", "L/2*", "L/3*"),
    ],
)
def test_a_false_neighbour_is_not(label, old, new):
    one = CLAIMS[label]
    assert old in one.statement
    assert not is_proved(replace(one, statement=one.statement.replace(old, new)))


@pytest.mark.parametrize(
    ("label", "text"), [("lemma-4", "norm(x) <= R"), ("eq9", "bounded_variance(sigma**2)"), ("eq8", "eta == 1/L")]
)
def test_nor_is_a_claim_without_what_its_proof_uses(label, text):
    one = CLAIMS[label]
    assert not is_proved(replace(one, assuming=tuple(t for t in one.assuming if t != text)))


FOUND = (
    "definition-1/for-all-time",
    "proposition-1/dependent-weights",
    "lemma-5",
    "eq25",
    "eq26",
    "eq22/after-communication",
)


@pytest.mark.parametrize("label", FOUND)
def test_the_pool_finds_what_breaks(label):
    one = CLAIMS[label]
    assert not one.given
    found = hunt(one, pool=400, evaluations=0, accepted=lambda seen: accepted(one, seen, True), smallest=False)
    assert found.broken is not None
    assert accepted(one, found.broken, True)


GIVEN = ["theorem-3", "lemma-5/after-communication"]


def test_few_instances_are_given():
    assert [c.label for c in PAPER.claims if c.given] == GIVEN


@pytest.mark.parametrize("label", GIVEN)
def test_what_is_given_breaks_it_and_the_verifier_agrees(label):
    one = CLAIMS[label]
    (data,) = one.given
    constants = {name: Fraction(str(value)) for name, value in data["constants"].items()}
    instance = read_instance({k: v for k, v in data.items() if k != "constants"}, one.of)
    put = occasion(one, Drawn(instance, constants, {**instance.parameters, **constants}))
    assert put.unmet == ()
    assert verifier.verify(certificate_of_break(put)).valid


@pytest.mark.parametrize("label", ["theorem-3/everywhere", "theorem-3/papers-settings"])
def test_what_nothing_satisfies_is_vacuous(label):
    assert "vacuous" in [item.outcome for item in contradictions(CLAIMS[label], quick=True)]


@pytest.mark.parametrize("label", ["theorem-3", "theorem-3/on-the-ball", "theorem-3/corrected", "lemma-5"])
def test_and_the_others_are_not(label):
    assert "vacuous" not in [item.outcome for item in contradictions(CLAIMS[label], quick=True)]
