"""What is said of a cell: outcomes, results as text, how a result was come by, and counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from validate.sweep.cell import canonical

# What became of a cell whose result is not known; computed again when that is asked for.
FAILURES = ("error", "timeout", "crashed")
OUTCOMES = ("holds", "unbroken", "fails", "undecided", "inapplicable", "violated", "diverged", *FAILURES)


@dataclass(frozen=True)
class Work:
    """How a result was come by; nothing here is part of the result.

    Attributes:
        seconds: the worker's time, by its monotonic clock.
        attempts: how often the cell was begun, >= 1.
        worker: host and process.
        versions: of fedproof, Python and numpy there.
        finished: the wall clock when the result was kept, ISO 8601 in UTC.
    """

    seconds: float | None
    attempts: int
    worker: str
    versions: str
    finished: str


@dataclass(frozen=True)
class Row:
    """A cell; without a result while it is not finished."""

    key: str
    position: int
    document: dict[str, Any]
    result: dict[str, Any] | None
    work: Work | None


@dataclass(frozen=True)
class Counts:
    """How far a sweep is.

    Attributes:
        cells: how many there are.
        outcomes: how many finished cells have each outcome.
    """

    cells: int
    outcomes: Mapping[str, int]

    @property
    def finished(self) -> int:
        """Cells with a result, failures included."""
        return sum(self.outcomes.values())

    @property
    def failures(self) -> int:
        """Cells that ended without an answer."""
        return sum(self.outcomes.get(outcome, 0) for outcome in FAILURES)


def checked(result: object) -> str:
    """A result as canonical JSON.

    Raises:
        ValueError: when it is not an object of JSON with a known outcome, or not of a sensible size.
    """
    if not isinstance(result, dict):
        raise ValueError(f"the result is of type {type(result).__name__}; an object is needed")
    if result.get("outcome") not in OUTCOMES:
        raise ValueError(f"outcome={str(result.get('outcome'))[:60]!r} is not one of {', '.join(OUTCOMES)}")
    try:
        text = canonical(result)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"the result is not JSON: {error}") from error
    if len(text) > 1_000_000:
        raise ValueError(f"the result has {len(text)} characters; at most 1,000,000 are kept")
    return text


def outcome_order(outcome: str) -> tuple[int, str]:
    """The usual order of the outcomes; what is unknown comes last."""
    return (OUTCOMES.index(outcome) if outcome in OUTCOMES else len(OUTCOMES), outcome)
