"""Proofs and refutations by the prover of vector inequalities, looked at a second time."""

from __future__ import annotations

from fractions import Fraction

from theory.inequality.prover import Proof, Refutation, prove
from theory.inequality.vectors import square

F = Fraction


def proved(claim, hypotheses, space, functions=()):
    """The proof, after a second look at it as an identity between forms."""
    outcome = prove(claim, hypotheses, space, functions=functions)
    assert isinstance(outcome, Proof), outcome
    assert outcome.check()
    for side, certificate in enumerate(outcome.certificates):
        total = space.constant(certificate.bound)
        for y, c in zip(certificate.multipliers, outcome.given, strict=True):
            assert y >= 0 or c.relation == "=="
            total = total + y * c.form
        for weight, vector in outcome.squares(side):
            assert weight > 0
            total = total - weight * square(vector)
        assert total == certificate.objective
        assert certificate.bound <= 0
    return outcome


def refuted(claim, hypotheses, space, functions=()):
    """The refutation, after a second look at it: the inner products of its coordinates, taken here."""
    outcome = prove(claim, hypotheses, space, functions=functions)
    assert isinstance(outcome, Refutation), outcome
    assert outcome.check()
    point = outcome.configuration
    assert min(point.weights, default=1) > 0
    names = space.vectors
    gram = [
        [
            sum(
                (w * a * b for w, a, b in zip(point.weights, outcome.vectors[u], outcome.vectors[v], strict=True)), F(0)
            )
            for v in names
        ]
        for u in names
    ]
    values = [outcome.values[name] for name in space.values]
    for c in outcome.given:
        left = c.form.at(gram, values)
        assert left <= 0 if c.relation == "<=" else left == 0
    left = outcome.claim.form.at(gram, values)
    assert (left > 0) if outcome.claim.relation == "<=" else (left != 0)
    assert outcome.excess == abs(left)
    return outcome
