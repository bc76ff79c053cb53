"""Which round, and which turn in it, a sentence is about: where what it speaks of is to be unfolded."""

from __future__ import annotations

from collections.abc import Sequence

from .derivation_depends import Path, beginnings
from .derivation_normal import Normal
from .derivation_terms import UNIT, Atom, Poly, all_atoms
from .reading import Uncheckable
from .steps import Loop

Mode = tuple[Poly, Path, bool]
Turn = tuple[tuple[Loop, ...], tuple[Poly, ...]]


def modes(normal: Normal, sides: Sequence[Poly]) -> list[Mode]:
    """Rounds and turns, the likeliest first; whether taps are unfolded where a sample of any turn comes in.

    Raises:
        Uncheckable: where there is none.
    """
    al, least = normal.algebra, normal.least
    every = [a for p in sides for a in all_atoms(p) if a.tag in ("x", "tap") and not a.parts[1].bound]
    states = [al.thawed(a.parts[1]) for a in every if a.tag == "x"]
    taps = [a for a in every if a.tag == "tap"]
    after = [p for p in states if p.get((), 0) >= 1 and (least(p) or 0) >= 1]
    after = after or [p for p in states if (least(p) or 0) >= 1]
    last = largest(normal, [((), (p,)) for p in after])
    found: list[Mode] = []
    for index in dict.fromkeys(a.parts[1] for a in taps):
        at = al.thawed(index)
        beyond = least(al.sub(at, last[1][0])) if last is not None else 0
        if beyond is None or beyond < 0:
            continue
        turn = largest(normal, [t for a in taps if a.parts[1] is index for t in turn_of(normal, a)])
        if turn is not None:
            found.append((at, tuple(zip(*turn, strict=True)), False))
    if last is not None:
        found.append((al.sub(last[1][0], UNIT), (), False))
    whole = largest(normal, [((), (al.thawed(a.parts[1]),)) for a in taps])
    if whole is not None and (whole[1][0], (), False) not in found:
        found.append((whole[1][0], (), False))
    if normal.claimed.program is not None and any(loops for _, loops in normal.claimed.program.taps.values()):
        found += [(at, (), True) for at, path, _ in found if not path]
    if not found:
        raise Uncheckable("no state after a round stands in it, or of none it is certain that it is the last")
    return found


def turn_of(normal: Normal, tap: Atom) -> list[Turn]:
    """The turn after which a tap shows what was made in it, or in which it shows what is made; nothing if none is."""
    program = normal.claimed.program
    assert program is not None
    loops = program.taps[tap.parts[0]][1]
    parts = tap.parts[2 : 2 + len(loops)]
    turns = tuple(map(normal.algebra.thawed, parts))
    if not loops or any(part.bound for part in parts) or not all(map(normal.certainly, turns)):
        return []
    begun = beginnings(program, tap.parts[0])
    for inside in range(begun):
        place = len(loops) - 1 - inside
        if turns[place].get((), 0) >= 1 and (normal.least(turns[place]) or 0) >= 1:
            return [(loops[: place + 1], (*turns[:place], normal.algebra.sub(turns[place], UNIT)))]
        if turns[place]:
            return []
    return [] if begun else [(loops, turns)]


def largest(normal: Normal, found: Sequence[Turn]) -> Turn | None:
    """The last of some turns, where one is certainly that."""
    for loops, turns in found:
        if all(not_before(normal, (loops, turns), other) for other in found):
            return loops, turns
    return None


def not_before(normal: Normal, one: Turn, other: Turn) -> bool:
    """Whether a turn is certainly another one, or in it, or after it."""
    if one[0][: len(other[0])] != other[0]:
        return False
    for a, b in zip(one[1], other[1], strict=False):
        low = normal.least(normal.algebra.sub(a, b))
        if low is None or low < 0:
            return False
        if low >= 1:
            return True
    return True
