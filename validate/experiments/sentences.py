"""What a paper says of its experiments, held against data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from validate.experiment import Table

BORNE_OUT, NOT_BORNE_OUT, OPEN = "borne out", "not borne out", "not settled"


class Held(NamedTuple):
    """What was measured, in words, and what it says of a sentence; both empty where it was not held against this."""

    measured: str = ""
    verdict: str = ""


@dataclass(frozen=True)
class Sentence:
    """One sentence of the paper.

    Attributes:
        words: what it says.
        held: against one measure, or several.
        where: the figure or the case it is said of.
    """

    words: str
    held: tuple[Held, ...]
    where: str = ""


def judged(yes: Any, no: Any) -> str:
    """By what an interval excludes: borne out, not borne out, or neither."""
    return BORNE_OUT if yes else NOT_BORNE_OUT if no else OPEN


def above(interval: Any, level: float = 0) -> str:
    """Whether a number is above a level, by its interval (value, lower, upper)."""
    return judged(interval.lower > level, interval.upper < level)


def sentence_table(
    title: str, sentences: Iterable[Sentence], note: str, *, where: str = "", measures: tuple[str, ...] = ("measured",)
) -> Table:
    """A row for each sentence.

    Args:
        title, note: of the table.
        sentences: each held against as many measures.
        where: heading of the column of `Sentence.where`; no such column when empty.
        measures: headings of what was measured.
    """
    rows = []
    for sentence in sentences:
        cells = [cell for held in sentence.held for cell in held]
        rows.append((*((sentence.where,) if where else ()), sentence.words, *cells))
    header = (*((where,) if where else ()), "the paper", *(c for name in measures for c in (name, "held against data")))
    return Table(title, header, tuple(rows), note)
