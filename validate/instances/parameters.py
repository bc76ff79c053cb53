"""Parameters of a claim that satisfy its relations on a problem: bounds are read off the relations and solved for.

A relation with one open name gives the value at which it turns (`eta <= 1/(2*L)`: 1/(2L), `alpha == ...`: that
alone); values are taken there, within, and far within. Names that the assumptions bind get the best constants of the
problem, or worse ones. What an algorithm does with a parameter (how often a loop turns, how many clients are chosen, a
chance, a matrix) says what it may be.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from typing import Any

from theory.claim import Claim
from validate.instances import along
from validate.instances.offered import Manner
from validate.instances.relations import has_length
from validate.instances.run_length import OpenLength
from validate.instances.setting import Setting, Values
from validate.instances.solving import TRIES, Search


def choose(
    claim: Claim,
    problem: Any,
    start: Any,
    rounds: int,
    rng: random.Random,
    large: bool = False,
    vectors: Mapping[str, Any] | None = None,
    counts: Mapping[str, Fraction] | None = None,
    everybody: bool = False,
    most_rounds: int | None = None,
    sharp: bool = False,
    patient: bool = False,
) -> tuple[Values, Setting] | None:
    """Values of all parameters of a claim on a problem, with all its relations satisfied; or None.

    A name for which an attempt had no value left comes first in every other attempt (but in sharp ones): which
    name waits for which hangs on how relations are written, and what they allow does not. Where there are none for this
    K, and relations have K, it is one of the unknowns (`run_length`).

    Args:
        claim: the claim.
        problem: in fractions; None for a claim without functions.
        start: x0, (d,).
        rounds: K.
        rng: decides.
        large: whether loops turn often.
        vectors: the free vectors.
        counts: N and d, of a claim about numbers alone.
        everybody: whether all clients take part, all coordinates are kept, and what may happen happens.
        most_rounds: the largest K that is solved for; None where it stays as it is.
        sharp: whether numbers are where the claim has the least room (`Search`).
        patient: whether numbers that leave no room for another are changed (`Search`).

    Returns:
        Values by name without index (lists for one a client, rows for a matrix), and the world in which all holds,
        with its K.
    """

    def attempt(number: int, of: Callable[..., Search]) -> Search:
        values: Values = dict(counts or {})
        world = Setting(problem, start, values, rounds, claim, vectors or {})
        first = tuple(stuck) if number % 2 and not sharp else ()
        return of(claim, world, values, Manner(number, large, everybody, sharp, patient, first), rng)

    stuck: dict[str, None] = {}
    for number in range(TRIES):
        search = attempt(number, Search)
        found = search.run()
        if found is not None:
            return found
        if search.stuck is not None:
            stuck[search.stuck] = stuck.pop(search.stuck, None)
        if problem is not None and along.too_large(search.world, claim):
            return None
    if most_rounds is None or not has_length(claim):
        return None
    for number in range(TRIES):
        found = attempt(number, partial(OpenLength, most_rounds)).run()
        if found is not None:
            return found
    return None
