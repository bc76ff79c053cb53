"""On which draws of a round the states and taps hang that stand beside these draws in a product."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .derivation_making import VECTORS, Made
from .derivation_normal import Normal
from .derivation_terms import UNIT, Atom, Poly
from .reading import Uncheckable
from .steps import Loop, Program, Step

Path = tuple[tuple[Loop, Poly], ...]
"""A turn of a loop, after one of the loop around it."""


class Depends(Made):
    """What hangs on what.

    Attributes:
        path: the turn of the round that is unfolded, if one is.
        direct: of each tap, the draws in it, and the taps in it. depth: of each draw, how far along the path it is
            made; -1 if in a turn that stands for any. turns_of: of such a draw its loop, and these turns.
    """

    def __init__(self, normal: Normal, at: Poly, path: Path) -> None:
        super().__init__(normal, at)
        self.path = path
        self.direct: dict[str, tuple[frozenset[int], frozenset[str]]] = {}
        self.depth: dict[int, int] = {}
        self.turns_of: dict[int, tuple[Loop, tuple[Poly, ...]]] = {}

    def hangs(self, leaf: Atom) -> frozenset[int]:
        """The draws on which a state or tap may hang.

        Raises:
            Uncheckable: where it is one of a later round, or that cannot be told.
        """
        al = self.algebra
        index = al.thawed(leaf.parts[1])
        before = self.normal.least(al.sub(self.at, index))
        if before is not None and before >= (0 if leaf.tag == "x" else 1):
            return frozenset()
        if leaf.tag == "x" and al.sub(index, self.at) == UNIT and not self.path:
            return frozenset(self.kinds)
        if leaf.tag == "x" or al.sub(index, self.at):
            raise Uncheckable(f"a product of a draw and of {leaf.parts[0]} in another round")
        found = self.made_of(leaf.parts[0])
        for depth in range(1, len(self.path) + 1):
            if not self._before(leaf, depth):
                found |= {draw for draw, own in self.depth.items() if own == depth}
        return frozenset(found)

    def made_of(self, label: str) -> set[int]:
        """The draws of the round that flow into a tap, those of the turn of the path apart."""
        found: set[int] = set()
        left, seen = [label], set[str]()
        while left:
            label = left.pop()
            if label not in seen:
                seen.add(label)
                draws, taps = self.direct.get(label, (frozenset(self.kinds), frozenset[str]()))
                found |= draws
                left += taps
        for pair in (self.shares or {}).items():  # clients, and their weights
            found |= set(pair) if not found.isdisjoint(pair) else set()
        return found

    def drawn_at(self, draw: int) -> tuple[Atom, ...]:
        return tuple(map(self.algebra.frozen, self.turns_of[draw][1])) if draw in self.turns_of else ()

    def before_turn(self, leaf: Atom, draw: int, turn: Poly) -> bool:
        """Whether a state or tap certainly does not hang on a draw that is one for each turn of a loop, at a turn."""
        if draw not in self.hangs(leaf):
            return True
        loops, turns, (loop, own) = self.program.taps[leaf.parts[0]][1], self.turns_at(leaf), self.turns_of[draw]
        if len(own) != 1 or len(loops) != 1 or loops[0] is not loop:
            return False
        earlier = self.normal.least(self.algebra.sub(turn, self.algebra.thawed(turns[0])))
        begun = beginnings(self.program, leaf.parts[0]) == 1
        return earlier is not None and earlier >= (0 if begun else 1)

    def _before(self, leaf: Atom, depth: int) -> bool:
        """Whether a tap is certainly made before the draws of the turn at the end of the path, or of one around it."""
        loops, turns = self.program.taps[leaf.parts[0]][1], self.turns_at(leaf)
        for place, (loop, turn) in enumerate(self.path[:depth]):
            if place >= len(loops):
                break
            if loops[place] is not loop:
                return False
            earlier = self.normal.least(self.algebra.sub(turn, self.algebra.thawed(turns[place])))
            if earlier is None or earlier < 0:
                return False
            if earlier >= 1:
                return True
        begun = len(loops) - beginnings(self.program, leaf.parts[0]) < min(depth, len(loops))
        return begun and all(not self.algebra.thawed(turn) for turn in turns[depth:])

    def turns_at(self, tap: Atom) -> tuple[Atom, ...]:
        """The turns of a tap."""
        return tuple(tap.parts[2 : 2 + len(self.program.taps[tap.parts[0]][1])])

    def draws_in(self, values: Sequence[tuple[str, Any]]) -> tuple[frozenset[int], frozenset[str]]:
        """The draws, and the taps of this round, in values."""
        if any(kind not in VECTORS for kind, _ in values):
            return frozenset(self.kinds), frozenset()
        atoms = [a for _, value in values for m in value for a, _ in m]
        now = self.algebra.frozen(self.at)
        leaves = {leaf for a in atoms for leaf in a.leaves if leaf.tag == "tap" and leaf.parts[1] is now}
        return frozenset(draw for a in atoms for draw, _ in a.dr), frozenset(leaf.parts[0] for leaf in leaves)


def beginnings(program: Program, label: str) -> int:
    """Of how many loops around a tap it shows what they hand on, at turns 0 of those inside."""
    loops, found = program.taps[label][1], 0
    name = next((s.of[0] for loop in loops[-1:] for s in taps_of(loop) if s.label == label), "")
    for loop in reversed(loops):
        carried = [c for c in loop.carried if c.name == name]
        if not carried:
            break
        found, name = found + 1, carried[0].first
    return found


def taps_of(loop: Loop) -> list[Step]:
    """The taps in the body of a loop itself."""
    return [s for s in loop.body if isinstance(s, Step) and s.op == "tap"]
