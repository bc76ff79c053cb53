"""The lines of perm's proofs: which are true, and which are not."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from theory.arithmetic import Reals
from theory.claim import Claim, Step, VectorLine
from theory.formula import names_in, parse
from theory.inequality.prover import Proof, Refutation, prove
from theory.papers.perm import PAPER

CLAIMS = {c.label: c for c in PAPER}
F = Fraction

FALSE_ALGEBRA = {
    ("theorem-1", "first line"),
    ("theorem-1", "second line"),
    ("lemma-3", "Lemma 3"),
    ("lemma-6", "dropped sum"),
    ("proposition-1", "two steps"),
    ("lemma-7", "two clients"),
    ("proposition-2", "one factor"),
    ("lemma-10", "number of terms"),
    ("lemma-11a", "constant of the gradient"),
    ("lemma-12", "powers of L"),
    ("lemma-12/unnormalised", "powers of L"),
    ("theorem-2-step", "constant of the deviation"),
    ("theorem-2-step", "power of N"),
    ("theorem-2-step", "smoothness"),
    ("proposition-4-eq15", "noise"),
    ("proposition-4-eq16", "noise"),
    ("proposition-4-eq17", "noise"),
    ("lemma-14", "sum over the clients"),
    ("theorem-3-explicit", "noise"),
}
FALSE_VECTORS = {
    ("lemma-2", "triangle"),
    ("lemma-2/unnormalised", "triangle"),
    ("lemma-3", "sum of the gradients"),
    ("lemma-4", "T2"),
    ("lemma-4", "T2, smooth"),
    ("lemma-4", "Lemma 4"),
    ("theorem-2-step", "cross terms"),
    ("theorem-2-step", "Young"),
}
SCALAR = [(c, s) for c in PAPER for s in c.steps if s.identity is not None]
LINES = [(c, s) for c in PAPER for s in c.steps if s.vectors is not None]


def named(pair: tuple[Claim, Step]) -> str:
    return f"{pair[0].label}: {pair[1].label}"


@pytest.mark.parametrize("pair", SCALAR, ids=named)
def test_scalar_lines_hold_or_fail_as_expected(pair: tuple[Claim, Step]) -> None:
    """At random rationals, counts included; a line that holds does so at all of them."""
    claim, step = pair
    assert step.identity is not None
    left, right = (parse(text) for text in step.identity)
    names = sorted(names_in(left) | names_in(right))
    whole = {p.name for p in claim.parameters if p.domain.integer} | {"K"}
    rng = random.Random(1)
    outcomes = []
    for _ in range(60):
        at = {
            name: F(rng.randint(1, 6)) if name in whole else F(rng.randint(1, 40), rng.choice((1, 3, 8)))
            for name in names
        }
        if "a" in at and claim.label.startswith("theorem-3"):
            at["a"] += 1  # a = 1/(mu s) > 1/2
        if claim.label == "theorem-3-explicit/corrected" and step.label == "(18)":
            at["x"] = at["x"] / 41  # x = mu s < 1
        one, other = (Reals(None).evaluate(side, at) for side in (left, right))
        outcomes.append({"=": one == other, "<=": one <= other, ">=": one >= other}[step.relation])
    assert all(outcomes) == ((claim.label, step.label) not in FALSE_ALGEBRA)


def answer(line: VectorLine, setting: int) -> object:
    space, statement, hypotheses = line.build({name: F(text) for name, text in line.settings[setting].items()})
    nothing = [[F(0)] * space.dimension] * space.dimension, [F(0)] * len(space.values)
    assert all(c.holds(*nothing) for c in hypotheses)  # nothing is proved from a contradiction
    return prove(statement, hypotheses, space)


def vector_check(pair: tuple[Claim, Step]) -> None:
    claim, step = pair
    assert step.vectors is not None
    found = [answer(step.vectors, i) for i in range(len(step.vectors.settings))]
    if (claim.label, step.label) in FALSE_VECTORS:
        assert any(isinstance(f, Refutation) and f.check() for f in found)
    else:
        assert all(isinstance(f, Proof) and f.check() for f in found)


QUICK = ("lemma-3/corrected", "lemma-4/corrected", "lemma-5/corrected", "theorem-2-step", "theorem-2-step/corrected-2")


@pytest.mark.parametrize("pair", [x for x in LINES if x[0].label in QUICK], ids=named)
def test_vector_lines_are_proved_or_refuted_as_expected(pair: tuple[Claim, Step]) -> None:
    vector_check(pair)


@pytest.mark.slow
@pytest.mark.parametrize("pair", [x for x in LINES if x[0].label not in QUICK], ids=named)
def test_the_other_vector_lines_are_proved_or_refuted_as_expected(pair: tuple[Claim, Step]) -> None:
    vector_check(pair)


@pytest.mark.parametrize("label", ["lemma-1", "lemma-2", "lemma-2/unnormalised"])
def test_claims_about_vectors_are_proved(label: str) -> None:
    line = CLAIMS[label].vectors
    assert line is not None
    assert isinstance(answer(line, 0), Proof)


def test_the_chain_of_lemma_4_reaches_its_end() -> None:
    for step in CLAIMS["lemma-4"].steps:
        if step.chain is not None:
            assert isinstance(answer(step.chain, 1), Proof)
