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
from theory.feasible.intervals import Interval
from theory.feasible.limits import ANY, Limits
from theory.feasible.points import middle

WORK = 1_000_000  # operations on intervals for an effort of 1
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
        boxes, splits = "es" * (self.boxes != 1), "s" * (self.depth != 1)
        told = f"branch and bound: {self.boxes} box{boxes}, {self.depth} split{splits} deep"
        if self.limit:
            told += f", ended by the limit of {self.limit}"
        if self.stuck and self.example is not None:
            place = ", ".join(f"{name} near {middle(*i):.6g}" for name, i in self.example.items())
            told += f", {self.stuck} boxes too small to split ({place})"
        return told


def search(system: System, limits: Limits = ANY, *, look: bool = True) -> Search:
    """Look for a solution, or prove that there is none.

    Args:
        system: the relations.
        limits: when to give up.
        look: whether a solution is looked for at all.
    """
    return BranchAndBound(system, look=look).search(limits)


class BranchAndBound:
    """A search that goes on from where its last limit ended it.

    What it finds within a number of boxes or operations does not depend on how often it was stopped before.
    """

    def __init__(self, system: System, *, look: bool = True) -> None:
        self._contractor = Contractor(system)
        self._look = look
        self._queue: list[tuple[int, int, Box]] | None = None  # depth, number and box; None before the first box
        self._seen = self._pushed = self._deepest = self._stuck = 0
        self._example: Box | None = None

    def search(self, limits: Limits = ANY) -> Search:
        """Look on, within limits that count the boxes and operations of earlier calls too; see `search`."""
        contractor, look = self._contractor, self._look
        work, end = limits.effort * WORK, limits.end()
        if self._queue is None:
            start = contractor.contract(contractor.start())
            self._queue = [] if start is None or contractor.ruled_out(start) else [(0, 0, start)]
        queue, limit = self._queue, ""
        while queue:
            if self._seen >= limits.boxes:
                limit = f"{limits.boxes} boxes"
            elif contractor.work >= work:
                limit = f"{work:g} operations"
            elif time.monotonic() > end:
                limit = f"{limits.seconds:g} seconds"
            if limit:
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
