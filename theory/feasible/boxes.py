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
from theory.feasible.contractor import Box, Contractor, middle
from theory.feasible.intervals import INF, Interval

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
    if boxes < 1:
        raise ValueError(f"boxes={boxes} is outside the integers in [1, inf)")
    if not 0 < seconds < INF:
        raise ValueError(f"seconds={seconds} is outside (0, inf)")
    contractor = Contractor(system)
    end = time.monotonic() + seconds
    start = contractor.contract(contractor.start())
    queue: list[tuple[int, int, Box]] = [] if start is None or contractor.ruled_out(start) else [(0, 0, start)]
    seen = pushed = deepest = stuck = 0
    example: Box | None = None
    limit = ""
    while queue:
        if seen >= boxes or time.monotonic() > end:
            limit = f"{boxes} boxes" if seen >= boxes else f"{seconds:g} seconds"
            break
        depth, _, box = heapq.heappop(queue)
        seen, deepest = seen + 1, max(deepest, depth)
        if look and (seen <= EAGER or seen % 8 == 0):
            witness = contractor.dive(box)
            if witness is not None:
                return Search("feasible", witness, seen, deepest)
        halves = list(contractor.split(box))
        if not halves:
            stuck, example = stuck + 1, example or box
            witness = contractor.dive(box) if look else None
            if witness is not None:
                return Search("feasible", witness, seen, deepest)
        for half in halves:
            rest = contractor.contract(half)
            if rest is not None and not contractor.ruled_out(rest):
                pushed += 1
                heapq.heappush(queue, (depth + 1, pushed, rest))
    outcome: Literal["empty", "undecided"] = "undecided" if queue or stuck else "empty"
    return Search(outcome, None, max(seen, 1), deepest, stuck, example, limit)
