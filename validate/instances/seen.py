"""Instances that were measured, and what came of a hunt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal

from theory.arithmetic import PRECISIONS
from theory.claim import Claim
from theory.formula import UndefinedError
from theory.operations import UndecidedError
from theory.sentence import Sentence, SentenceError
from validate.both_sides import Measured, Row, sides
from validate.expected import tapped, taps_of
from validate.instances import tried
from validate.instances.by_moments import by_moments
from validate.instances.pool import Drawn
from validate.instances.reached import Reached
from validate.instances.roles import turns_of
from validate.on_instance import setting_of
from validate.play import Play
from validate.primitives import LONG
from validate.rounds import TooManyOutcomesError

Where = Literal["pool", "search"]
OUTCOMES = 500
"""Outcomes of one round that are played: an instance with more says nothing here."""

MOST_STEPS, MOST_SETS = 1500, 4096
"""Steps of a run whose moments are looked at in fractions, and sets of clients of all its rounds, times these, where
clients come in random order: digits grow with each."""


@dataclass(frozen=True)
class Seen:
    """An instance that was measured.

    Attributes:
        drawn: the instance.
        measured: both sides.
        judged: what the verifier said of it as a break, which is asked several times and takes long
            (`validate.breaks.valid_certificate`).
    """

    drawn: Drawn
    measured: Measured
    judged: list[tuple[Any, Any]] = field(default_factory=list, repr=False, compare=False)

    @property
    def score(self) -> float:
        """How close it comes to breaking the claim: (left - right)/(abs(left) + abs(right)) at its worst row.

        The start says nothing where later rounds are measured too: often its sides are one number times the other.
        """
        rows = [row for row in self.measured.rows if row.left is not None]
        later = [row for row in rows if row.at.get("k") != 0 or row.status == "broken"]
        return max(map(_gap, later or rows), default=-2.0)


def is_telling(seen: Seen) -> bool:
    """Whether a side is not 0 in some row."""
    return any(row.left is not None and not (row.left == 0 and row.right == 0) for row in seen.measured.rows)


def _gap(row: Row) -> float:
    if row.status == "broken":
        return 2.0
    left, right = numbers_of(row)
    total = abs(left) + abs(right)
    return -1.0 if total == 0 else float(-abs(left - right) / total)  # of fractions before they are rounded


def numbers_of(row: Row) -> tuple[Any, Any]:
    """Both sides: fractions where both are, as floats have not all of these; else floats."""
    exact = isinstance(row.left, Fraction) and isinstance(row.right, Fraction)
    return (row.left, row.right) if exact else (_number(row.left), _number(row.right))


def _number(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return 1e300 if value > 0 else -1e300


@dataclass
class Hunt:
    """What was tried, and what came of it.

    Attributes:
        drawn: seeds of the pool that were tried.
        seen: the instances on which the claim says something.
        none: seeds that led to no instance.
        silent: instances of which the claim does not speak, or where a side is undefined in every row.
        undefined: rows in which a side is undefined.
        undecided: instances of which balls do not tell.
        close: those of them where both sides have values, which balls do not tell apart.
        too_many: instances with too many outcomes.
        failed: other reasons for which an instance could not be measured, with their numbers.
        broken: the first instance that breaks the claim, made smaller; None where none did.
        origin: where that came from.
        evaluations: instances measured by the search, after the pool.
        far: instances with many clients, many turns or long runs, in floats.
        reached: how far the tightest instances were made longer.
        suspect: one of these that seems to break the claim, which fractions neither confirm nor clear.
        near: one that breaks it by far, and satisfies an equation of the claim up to rounding: none was met that does
            exactly.
        first: the same instance as it was found.
        few: whether instances with few numbers were tried.
        taken: of the budget, up to them.
        stage: of the hunt, in which that was.
        tried: how many instances had been tried by then.
    """

    drawn: int = 0
    seen: list[Seen] = field(default_factory=list)
    none: int = 0
    silent: int = 0
    undefined: int = 0
    undecided: int = 0
    close: int = 0
    too_many: int = 0
    failed: dict[str, int] = field(default_factory=dict)
    broken: Seen | None = None
    first: Seen | None = None
    origin: Where = "pool"
    few: bool = False
    taken: int = 0
    stage: str = ""
    tried: int = 0
    evaluations: int = 0
    far: list[Drawn] = field(default_factory=list)
    reached: Reached = field(default_factory=Reached)
    suspect: Drawn | None = None
    near: Seen | None = None


BY_FAR = 1e-6
"""Of both sides together, so much more than what rounding a number of the instance may change."""


def breaks_by_far(seen: Seen) -> bool:
    """Whether an instance breaks the claim by so much that a slightly other number would not change it."""
    for row in seen.measured.rows:
        if row.status == "broken":
            left, right = _number(row.left), _number(row.right)
            if abs(left - right) > BY_FAR * (abs(left) + abs(right)):
                return True
    return False


def relations_missed(claim: Claim, one: Drawn) -> Iterator[Sentence]:
    """The relations of a claim that are not true on an instance, exactly or by enclosures."""
    for relation in claim.relations:
        try:
            both = sides(relation, claim.vocabulary, one.instance, one.constants, limit=OUTCOMES)
        except (TooManyOutcomesError, UndecidedError, UndefinedError, SentenceError, ValueError, ZeroDivisionError):
            yield relation
            continue
        if not both.rows or any(row.status != "holds" for row in both.rows):
            yield relation


def measured(
    claim: Claim, one: Drawn, found: Hunt | None = None, outcomes: int = OUTCOMES, played: Play | None = None
) -> Seen | None:
    """Both sides on an instance; None where the claim says nothing there, or it cannot be told (counted in `found`).

    With what was played there for another claim (`player`), that is not played again.
    """
    count = Hunt() if found is None else found
    tried.count()
    limit = _outcomes(claim, one, outcomes)
    try:
        if played is not None:
            played.limit = limit
        both = sides(claim.sentence, claim.vocabulary, one.instance, one.constants, limit, LONG, played)
    except TooManyOutcomesError:
        told = by_moments(claim, one) if _takes_few_steps(one) else None
        if told is None:
            count.too_many += 1
        return None if told is None else Seen(one, told)
    except (UndecidedError, UndefinedError):
        count.undecided += 1
        return None
    except (SentenceError, ValueError, ZeroDivisionError, OverflowError) as error:
        reason = str(error)[:120]
        count.failed[reason] = count.failed.get(reason, 0) + 1
        return None
    count.undefined += len(both.undefined)
    if both.silent or not any(row.status in ("holds", "broken") or row.agrees for row in both.rows):
        if both.undecided:
            count.undecided += 1
            count.close += 1
        else:
            count.silent += 1
        return None
    if both.doubtful and not both.broken:
        count.undecided += 1
        count.close += 1
        return None
    return Seen(one, both)


def enclosed(claim: Claim, one: Drawn) -> Seen | None:
    """As `measured`, of a run without draws whose numbers grow too long, as balls around them; None where balls do not
    tell that the claim is broken."""
    if one.instance.program is None or one.instance.program.random:
        return None
    tried.count()
    try:
        found = sides(claim.sentence, claim.vocabulary, one.instance, one.constants, enclosed=True)
    except (UndecidedError, UndefinedError, SentenceError, ValueError, ZeroDivisionError, OverflowError):
        return None
    return Seen(one, replace(found, by="intervals")) if found.broken else None


def player(one: Drawn) -> Play | None:
    """For `measured`, of several claims on one instance."""
    plays = one.instance.program is not None and one.instance.problem is not None
    return Play(one.instance, OUTCOMES, PRECISIONS[0], LONG) if plays else None


def _takes_few_steps(one: Drawn) -> bool:
    """Whether all samples of all clients may take few steps in a run, and few sets of clients can have been visited."""
    instance, problem = one.instance, one.instance.problem
    samples = 1 if problem is None else sum(map(problem.samples, range(problem.clients)))
    if instance.rounds * samples * turns_of(instance.program, one.values) > MOST_STEPS:
        return False
    in_order = instance.program is not None and "visit" in instance.program.operations
    return not in_order or problem is None or instance.rounds**2 << problem.clients <= MOST_SETS


def _outcomes(claim: Claim, one: Drawn, most: int) -> int:
    """Outcomes of one round that are played: fewer where a claim looks at many taps of each."""
    if one.instance.program is None or not taps_of(claim):
        return most
    try:
        return min(most, max(most // 20, 2 * most // tapped(claim, setting_of(claim, one))))
    except ValueError:
        return most
