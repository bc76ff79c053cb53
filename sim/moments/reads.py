"""Who still reads what: draws are summed out, and values forgotten, as soon as nobody reads them."""

from __future__ import annotations

from collections.abc import Sequence

from sim.moments.law import AliveError, Law, Own
from sim.moments.unrolled import Operation
from theory.program import Instruction

DRAWN = ("sample", "choose", "coins", "coin")


class Reads:
    """How often each value of a round is still read.

    Args:
        operations: of the round, or of a turn.
        wanted: the values that are needed afterwards.

    Attributes:
        drawn: the operations that draw, by their values.
    """

    def __init__(self, operations: Sequence[Operation], wanted: Sequence[int]) -> None:
        self.drawn: dict[int, Operation] = {}
        self._readers: dict[int, int] = {}
        for op in operations:
            if isinstance(op.step, Instruction) and op.step.op in DRAWN:
                self.drawn[op.to] = op
            for name in op.reads:
                self._readers[name] = self._readers.get(name, 0) + 1
        for name in wanted:
            self._readers[name] = self._readers.get(name, 0) + 1

    def open(self, name: int) -> bool:
        """Whether somebody still reads it."""
        return self._readers.get(name, 0) > 0

    def done(self, op: Operation) -> list[int]:
        """One reader less of what it read; what nobody reads any more."""
        for name in op.reads:
            self._readers[name] -= 1
        return [name for name in op.reads if self._readers[name] == 0]

    def settle(self, law: Law, value: Own | None = None, tidy: bool = True) -> None:
        """Settle all pending parts, or those of one value; their draws must be read no more."""
        values = [v for v in law.values.values() if isinstance(v, Own)] if value is None else [value]
        names = {draw for v in values for draw in v.pending}
        if not names:
            return
        for draw in sorted(names):
            if self.open(draw) or draw not in self.drawn:
                raise AliveError(draw)
        law.settle(sorted(names), tidy)
