"""Which instances take little work: to play, by moments, or not at all."""

from __future__ import annotations

from collections.abc import Iterator

from theory.claim import Claim
from theory.formula import Name
from theory.sentence import At, Expression, Vocabulary, everything
from validate.instances.pool import Drawn
from validate.instances.roles import turns_of
from validate.instances.shapes import Size

LONG_RUN, MOST_STEPS = 30, 3000
"""Rounds that only relations between K and other numbers ask for; of so many, steps of all clients and coordinates."""


def takes_long(one: Drawn) -> bool:
    """Whether a run is so long that playing it in fractions takes more time than it is worth."""
    instance = one.instance
    assert instance.problem is not None
    turns = turns_of(instance.program, one.values)
    steps = instance.rounds * instance.problem.clients * instance.problem.dim * turns
    return instance.rounds > LONG_RUN and steps > MOST_STEPS


MOST_NUMBERS, MOST_TERMS, MOST_TERMS_OF_TAPS = 80, 8000, 1200
MOST_AVERAGED = 100
"""Clients of an average over those whose coins fell so: pairs of them are gone through for every possible number."""


def fits_moments(claim: Claim, one: Drawn, times: int = 1) -> bool:
    """Whether moments take little work: a matrix of all that clients remember, a term for each client and round.

    A sentence that speaks of the turns of a loop has a term for each of them, too.
    """
    instance = one.instance
    assert instance.program is not None
    assert instance.problem is not None
    N, d = instance.problem.clients, instance.problem.dim
    samples = max(instance.problem.samples(n) for n in range(N))
    if not fits(claim, Size(N, samples, d)):
        return False
    turns, most = 1, MOST_TERMS
    if any(isinstance(part, At) and part.name in claim.vocabulary.taps for part in everything_said(claim)):
        turns, most = turns_of(instance.program, one.values), MOST_TERMS_OF_TAPS
    return N * instance.rounds * (samples if instance.program.random else 1) * turns <= most * times


def fits(claim: Claim, size: Size) -> bool:
    """Whether moments of the claim's algorithm take little work on problems of a size, for a few rounds."""
    program, N = claim.program, size.clients
    if program is None or ({"average", "coins"} <= program.operations and N > MOST_AVERAGED):
        return False
    of_kind = {"client": N, "client past": 3 * N, "table": N * size.samples}
    remembered = sum(of_kind.get(state.kind, 1) * size.dim for state in program.state)
    return remembered <= MOST_NUMBERS and N * (size.samples if program.random else 1) <= MOST_TERMS


def meant(e: Expression, words: Vocabulary) -> Expression:
    """A tree, or what the definition stands for that it is."""
    while isinstance(e, Name) and e.name in words.definitions:
        e = words.definitions[e.name]
    return e


def everything_said(claim: Claim) -> Iterator[Expression]:
    for tree in (*claim.sentence.sides, *claim.definitions.values()):
        yield from everything(tree)


MANY = 16
"""Clients times samples, or turns, beyond which a round is looked at in floats first."""
