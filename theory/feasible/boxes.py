"""Branch and bound: a proof that a system has no solution, or a rational solution.

A box gives each variable an interval. Every operation is enclosed (`theory.feasible.intervals`), each relation cuts
off what cannot satisfy it, forwards and backwards through the formulas (the HC4 contractor; Benhamou et al., Revising
hull and box consistency, ICLP 1999), and what remains is split. A system is empty when no box remains. Unbounded
variables are split in the middle of t = x/(1+|x|), which brings the real line to (-1, 1). It reads log, exp, roots
and any powers; it cannot prove that a set is empty when its closure is not.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from theory.feasible.constraints import System
from theory.feasible.contractor import Box, Contractor
from theory.feasible.intervals import INF, Interval
from theory.feasible.points import middle

EAGER = 16  # boxes in each of which a solution is looked for; after them, in every eighth


@dataclass(frozen=True)
class Search:
    """What a branch and bound found.

    Attributes:
        outcome: ``"feasible"`` (with a witness), ``"empty"`` (proved), or ``"undecided"``.
        witness: a solution, checked by `System.holds`.
        boxes: how many boxes were looked at.
        depth: of splits, at most.
        stuck: boxes that are too small to be split and could not be ruled out; one of them is in `example`.
        example: such a box.
        limit: which limit ended the search, or nothing.
    """

    outcome: Literal["feasible", "empty", "undecided"]
    witness: dict[str, Fraction] | None
    boxes: int
    depth: int
    stuck: int = 0
    example: Mapping[str, Interval] | None = None
    limit: str = ""

    @property
    def detail(self) -> str:
        """The search in a line."""
        told = f"branch and bound: {self.boxes} boxes, {self.depth} splits deep"
        if self.limit:
            told += f", ended by the limit of {self.limit}"
        if self.stuck and self.example is not None:
            place = ", ".join(f"{name} near {middle(*i):.6g}" for name, i in self.example.items())
            told += f", {self.stuck} boxes too small to split ({place})"
        return told


def search(system: System, *, boxes: int = 20_000, seconds: float = 10.0, look: bool = True) -> Search:
    """Look for a solution, or prove that there is none.

    Args:
        system: the relations.
        boxes: the most boxes to look at, at least 1.
        seconds: the longest time, positive.
        look: whether a solution is looked for at all.

    Raises:
        ValueError: for limits that are not positive.
    """
    return BranchAndBound(system, look=look).search(boxes=boxes, seconds=seconds)


class BranchAndBound:
    """A search that goes on from where its last limit ended it.

    What it finds within a number of boxes does not depend on how often it was stopped before.
    """

    def __init__(self, system: System, *, look: bool = True) -> None:
        self._contractor = Contractor(system)
        self._look = look
        self._queue: list[tuple[int, int, Box]] | None = None  # depth, number and box; None before the first box
        self._seen = self._pushed = self._deepest = self._stuck = 0
        self._example: Box | None = None

    def search(self, *, boxes: int = 20_000, seconds: float = 10.0) -> Search:
        """Look on, at up to `boxes` boxes in all, those of earlier calls included; see `search`."""
        if boxes < 1:
            raise ValueError(f"boxes={boxes} is outside the integers in [1, inf)")
        if not 0 < seconds < INF:
            raise ValueError(f"seconds={seconds} is outside (0, inf)")
        contractor, look = self._contractor, self._look
        end = time.monotonic() + seconds
        if self._queue is None:
            start = contractor.contract(contractor.start())
            self._queue = [] if start is None or contractor.ruled_out(start) else [(0, 0, start)]
        queue, limit = self._queue, ""
        while queue:
            if self._seen >= boxes or time.monotonic() > end:
                limit = f"{boxes} boxes" if self._seen >= boxes else f"{seconds:g} seconds"
                break
            depth, _, box = heapq.heappop(queue)
            self._seen, self._deepest = self._seen + 1, max(self._deepest, depth)
            if look and (self._seen <= EAGER or self._seen % 8 == 0):
                witness = contractor.dive(box)
                if witness is not None:
                    return self._found("feasible", witness)
            halves = list(contractor.split(box))
            if not halves:
                self._stuck, self._example = self._stuck + 1, self._example or box
                witness = contractor.dive(box) if look else None
                if witness is not None:
                    return self._found("feasible", witness)
            for half in halves:
                rest = contractor.contract(half)
                if rest is not None and not contractor.ruled_out(rest):
                    self._pushed += 1
                    heapq.heappush(queue, (depth + 1, self._pushed, rest))
        return self._found("undecided" if queue or self._stuck else "empty", limit=limit)

    def _found(
        self,
        outcome: Literal["feasible", "empty", "undecided"],
        witness: dict[str, Fraction] | None = None,
        limit: str = "",
    ) -> Search:
        if witness is not None:
            return Search(outcome, witness, self._seen, self._deepest)
        return Search(outcome, None, max(self._seen, 1), self._deepest, self._stuck, self._example, limit)
