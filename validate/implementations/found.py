"""What came of holding an implementation against a program, as data and in lines for people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from validate.implementations.causes import Cause


@dataclass(frozen=True)
class Slip:
    """An edit of the program with which the implementation agrees on every round.

    Attributes:
        line: of the pseudo-code, that which is done otherwise.
        reads: the lines that change, as (line, as it is, as it would be).
        others: how many other edits agree as well.
    """

    line: int
    reads: tuple[tuple[int, str, str], ...]
    others: int


@dataclass(frozen=True)
class Smallest:
    """The smallest setting at which the two still differ.

    Attributes:
        trial: in words.
        first: the first difference there.
        agrees: what makes them agree there.
    """

    trial: str
    first: Cause
    agrees: tuple[str, ...]


@dataclass(frozen=True)
class Diff:
    """An implementation, held against the program of a claim's algorithm.

    Attributes:
        id: of the claim.
        algorithm: its name.
        called: the implementation.
        agrees: whether no trial shows a difference.
        trials, rounds: how many were held together.
        tolerance: relative to the largest number of the states.
        worst: the largest difference, so relative, of what agrees.
        trial: where the first difference is, in words; empty where there is none.
        first: the first difference.
        slip: the edit of the program that the implementation is, where one is known.
        tried: how many edits were tried.
        smallest: the smallest setting at which they differ.
        code: the program's pseudo-code, by lines.
        notes: what else there is to know.
    """

    id: str
    algorithm: str
    called: str
    agrees: bool
    trials: int
    rounds: int
    tolerance: float
    worst: float
    trial: str
    first: Cause | None
    slip: Slip | None
    tried: int
    smallest: Smallest | None
    code: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def line(self) -> int | None:
        """The line of the pseudo-code that is done otherwise: the slip's, else that of the first difference."""
        return self.slip.line if self.slip is not None else None if self.first is None else self.first.line

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "line": self.line}

    def __str__(self) -> str:
        return "\n".join(told(self))


def told(found: Diff) -> Iterator[str]:
    """In lines, for people."""
    compared = f"{found.rounds} rounds of {found.trials} trials"
    if found.agrees:
        yield (
            f"your {found.called} agrees with the algorithm {found.algorithm} of {found.id} in {compared}: relative "
            f"differences of at most {found.worst:.1g}, {found.tolerance:g} being the tolerance"
        )
    else:
        assert found.first is not None
        yield f"your {found.called} is not the algorithm {found.algorithm} of {found.id}"
        yield f"first difference: {found.first.words}"
        if found.first.line is not None:
            yield f"  line {found.first.line}: {found.first.text}"
        yield f"  in {found.trial}"
        yield from _reason(found)
        if found.smallest is not None:
            yield f"smallest setting at which they differ: {found.smallest.trial}"
            yield f"  {found.smallest.first.words}"
            if found.smallest.agrees:
                yield f"  there they agree for {', or '.join(found.smallest.agrees)}"
        yield "the program:"
        yield from (f"  {number:>2} {line}" for number, line in enumerate(found.code))
    yield from (f"note: {note}" for note in found.notes)


def _reason(found: Diff) -> Iterator[str]:
    if found.slip is None:
        if found.tried:
            yield f"no single slip among the {found.tried} that were tried explains it"
        return
    more = f" (or otherwise; {found.slip.others + 1} readings agree)" if found.slip.others else ""
    yield f"your code is the program with line {found.slip.line} read otherwise{more}:"
    for number, old, new in found.slip.reads:
        yield f"  {number:>2} - {old}" if old else f"  {number:>2}"
        yield f"     + {new}"
