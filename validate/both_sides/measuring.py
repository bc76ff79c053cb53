"""Both sides of a sentence on an instance, for every value of its free indices, in the worst outcome."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from theory.arithmetic import PRECISIONS, balls, to_element
from theory.formula import Name, UndefinedError
from theory.operations import Element, UndecidedError, to_ball, to_fraction
from theory.sentence import Relation, Sentence, SentenceError, Vocabulary, everything_meant, read, text_of
from validate.both_sides.indices import indices_of
from validate.both_sides.outcomes import Outcome
from validate.both_sides.rows import AGREED, Measured, Row, Status
from validate.both_sides.world import World
from validate.instances.instance import Instance
from validate.instances.scalars import Given
from validate.play import LIMIT, Play
from validate.primitives import LONGEST

MOST_PRECISE = PRECISIONS[3]
"""Bits of the balls after which a comparison is left undecided."""

MOST_KEPT = 2**28
"""Bits of all fractions that a measurement keeps. What comes after them is kept as balls once it was compared: a run of
100,000 rounds may have a fraction of as many digits in each, and FLINT ends the process where memory is short."""

_COMPARED: Mapping[Relation, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "<=": (operator.le, operator.gt),
    "<": (operator.lt, operator.ge),
    ">=": (operator.ge, operator.lt),
    ">": (operator.gt, operator.le),
    "==": (operator.eq, operator.ne),
}
"""Each relation with its opposite; balls may deny both."""


def relation_holds(left: Element, relation: Relation, right: Element) -> bool:
    """Whether a relation holds between two numbers.

    Raises:
        UndecidedError: where they are balls that do not tell.
    """
    yes, no = _COMPARED[relation]
    if yes(left, right):
        return True
    if not no(left, right):
        raise UndecidedError(f"whether {left} {relation} {right}")
    return False


def _excess(left: Element, relation: Relation, right: Element) -> Element:
    """By how much a relation is missed, for choosing among outcomes."""
    gap = left - right if relation in ("<=", "<") else right - left
    return abs(gap) if relation == "==" else gap


def sides(
    sentence: Sentence,
    words: Vocabulary,
    instance: Instance,
    constants: Mapping[str, Given] | None = None,
    limit: int = LIMIT,
    longest: int = LONGEST,
    played: Play | None = None,
    enclosed: bool = False,
) -> Measured:
    """Both sides of a sentence for every value of its free indices.

    Args:
        sentence: what is to be measured.
        words: the names that it may use (`words_of` the instance).
        instance: on what; without a program for sentences about functions, vectors and numbers alone.
        constants: values of the names that are neither the algorithm's parameters nor the instance's: Fractions, tuples
            for one a client (``p_n`` under ``p`` or under ``p_n``), a `Schedule` for one a round.
        limit: on the outcomes of one round.
        longest: bits that a number of a state may have.
        played: of this instance with the first precision, for another sentence; what it has played is not again.
        enclosed: whether numbers of a run that grow long go on as balls around them.

    Raises:
        TooManyOutcomesError: where there are more.
        SentenceError: where a name has no value, or an index is no integer.
    """
    measured = Measured(())
    for precision in PRECISIONS:
        if precision > MOST_PRECISE:
            break
        play = played if precision == PRECISIONS[0] else None
        if play is None and instance.program is not None:
            play = Play(instance, limit, precision, longest, enclosed)
        with balls(precision):
            measured = _measured(sentence, World(instance, constants, words, play))
        if all(row.agrees for row in measured.undecided):
            break
    return measured


def meant(sentence: Sentence, world: World) -> Iterator[dict[str, int]]:
    """The values of its free indices of which a sentence speaks, those that it leaves out among them."""
    free = read(sentence.left, world.words).free | read(sentence.right, world.words).free
    hidden = {world.many(name) for name in _named(sentence, world)} - {""}
    return indices_of(sentence, world, free | hidden)


def _named(sentence: Sentence, world: World) -> set[str]:
    return {e.name for side in sentence.sides for e in everything_meant(side, world.words) if isinstance(e, Name)}


def _measured(sentence: Sentence, world: World) -> Measured:
    for side in sentence.sides:
        if read(side, world.words).shape != "scalar":
            raise SentenceError(
                f"{text_of(side)} is a vector: both sides are numbers; vectors are equal when norm2(u - v) <= 0"
            )
    named = _named(sentence, world)
    try:
        if "fstar" in named:
            world.parameter("fstar", {})
        choices, unique = _minimisers(world, named)
    except UndefinedError as error:  # no minimiser, unbounded below, or an infimum that is not known
        return Measured((), str(error))
    found: list[Row] = []
    bits = 0
    for choice in range(choices):
        world.choice = choice
        for at in meant(sentence, world):
            row = _row(sentence, world, at, choice, to_fraction if bits <= MOST_KEPT else to_ball)
            bits += _length(row.left) + _length(row.right)
            found.append(row)
    if not found:
        return Measured((), "no round and no turn of this run is one of which the sentence speaks")
    return Measured(tuple(found), "", unique)


def _length(value: Any) -> int:
    """Bits of a fraction; 0 for what is none."""
    return value.numerator.bit_length() + value.denominator.bit_length() if isinstance(value, Fraction) else 0


def _minimisers(world: World, named: set[str]) -> tuple[int, bool]:
    """How many choices of minimisers there are to look at, and whether these are all."""
    sets = []
    if "xstar" in named:
        sets.append(world.minimisers())
    if "xstar_n" in named:
        sets += [world.minimisers(n) for n in range(world.problem.clients)]
    return max((len(s.points) for s in sets), default=1), all(s.unique for s in sets)


def _alike(left: Element, right: Element) -> bool:
    """Whether two sides of an equation with roots agree to so many bits; that they are equal balls never tell."""
    size = max(abs(float(left)), abs(float(right)))
    return size > 0 and bool(abs(left - right) <= to_element(Fraction(size) / 2**AGREED))


def _row(sentence: Sentence, world: World, at: Mapping[str, int], choice: int, kept: Callable[[Element], Any]) -> Row:
    try:
        return _sides(sentence, world, at, choice, kept)
    except UndefinedError as error:
        return Row(at, None, None, "undefined", minimiser=choice, why=str(error))
    except UndecidedError as error:
        return Row(at, None, None, "undecided", minimiser=choice, why=str(error))


def in_outcomes(sentence: Sentence, world: World, at: Mapping[str, int]) -> Iterator[tuple[Any, Any, Any]]:
    """Both sides in every outcome, each with its probability; None where nothing outside of E is random."""
    left, right = world.side(sentence.left, at), world.side(sentence.right, at)
    items = left.items | right.items
    outcomes: list[tuple[Any, Outcome]] = list(world.play.joint(items)) if items else [(None, {})]
    for p, outcome in outcomes:
        yield p, left.at(outcome), right.at(outcome)


def _sides(sentence: Sentence, world: World, at: Mapping[str, int], choice: int, kept: Callable[[Element], Any]) -> Row:
    relation = sentence.relation
    worst: Row | None = None
    most, excess = -1, None
    for p, a, b in in_outcomes(sentence, world, at):
        why = ""
        try:
            status: Status = "holds" if relation_holds(a, relation, b) else "broken"
        except UndecidedError as error:
            status, why = "undecided", str(error)
        bad, gap = ("holds", "undecided", "broken").index(status), _excess(a, relation, b)
        if bad > most or (bad == most and gap > excess):
            shown = None if p is None else to_fraction(p)
            alike = status == "undecided" and relation == "==" and _alike(a, b)
            worst, most, excess = Row(at, kept(a), kept(b), status, shown, choice, why, alike), bad, gap
    assert worst is not None
    return worst
