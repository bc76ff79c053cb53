"""The symbols of the normal form: what is free in them, what is random, and the text that tells them apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeAlias

from theory.derivation.quotients import ONE, Atom, Quotient, of_atom

_FRESH = count()


class Index(str):
    """The name of an index that is free, or bound, in a term."""

    __slots__ = ()


@dataclass(frozen=True)
class Binder:
    """``mean`` over clients (n) or samples (i), ``sum`` over coordinates (c), rounds (k) or turns (h, j).

    Attributes:
        kind: n, i, k, h or j.
        index: the name that it binds.
        owner: of samples, the index of their client.
        upper: of a sum, the number of its terms; its index begins at 0.
    """

    kind: str
    index: Index
    owner: Index | None = None
    upper: Quotient | None = None

    @property
    def size(self) -> Quotient:
        """What it makes of 1."""
        return ONE if self.upper is None else self.upper


FIRST = Index("first")
"""The first client: a constant, which nothing binds or renames, and which is free in nothing."""
Renaming: TypeAlias = "Mapping[str, Index] | Mapping[Index, Index]"


def fresh(kind: str) -> Index:
    """An index that occurs nowhere else."""
    return Index(f"{kind}!{next(_FRESH)}")


# --- atoms -----------------------------------------------------------------------------------------------------------

RANDOM = frozenset({"state", "noise", "sampled", "kept", "draw", "count", "share"})
FIXED = frozenset({"E", "E vec", "quantile"})
"""Whose value is not random, whatever stands inside."""


def atom(kind: str, *data: Any, random: bool | None = None, square: Quotient | None = None) -> Atom:
    """An atom. What is free in it, and random, is what is free and random in its data."""
    names: set[str] = set()
    bound: set[str] = set()
    moments: frozenset[Any] = frozenset()
    draws: frozenset[Any] = frozenset()
    chance = kind in RANDOM
    for x in _leaves(data):
        if isinstance(x, Atom | Quotient):
            names |= x.free
            chance = chance or x.random
            moments |= x.moments
            draws |= x.draws
        elif isinstance(x, Index):
            if x != FIRST:
                names.add(str(x))
        elif isinstance(x, Binder):
            bound.add(str(x.index))
    if random is not None:
        chance = random
    if kind == "state" and chance:
        moments |= {data}
    if kind in ("noise", "sampled", "kept", "draw", "count", "share"):
        draws |= {data[0]}
    if kind in FIXED:
        chance, moments, draws = False, frozenset(), frozenset()
    text = f"{kind}({','.join(map(_text, data))})"
    return Atom(kind, data, text, frozenset(names - bound), chance, moments, draws, square)


def _text(x: Any) -> str:
    if isinstance(x, Atom | Quotient):
        return x.text
    if isinstance(x, Binder):
        return f"{x.kind}:{x.index}:{x.owner or ''}:{x.upper.text if x.upper is not None else ''}"
    if isinstance(x, tuple):
        return f"[{','.join(map(_text, x))}]"
    return str(x)


def _leaves(x: Any) -> list[Any]:
    """The indices, binders, atoms and quotients at the top of nested data, with a binder's own indices."""
    found: list[Any] = []
    left = [x]
    while left:
        x = left.pop()
        if isinstance(x, tuple):
            left += reversed(x)
        else:
            found.append(x)
            if isinstance(x, Binder):
                found += [part for part in (x.index, x.owner, x.upper) if part is not None]
    return found


def _atoms(data: Any) -> Iterator[Atom]:
    for x in _leaves(data):
        if isinstance(x, Atom):
            yield x
        elif isinstance(x, Quotient):
            yield from x.atoms


def deep(q: Quotient) -> Iterator[Atom]:
    """All atoms of it, those inside of others too."""
    for a in _atoms((q,)):
        yield a
        for x in _atoms(a.data):
            yield from deep(of_atom(x))


def level(data: Any) -> int:
    """The greatest number of a bound index in it; new ones have greater numbers."""
    found = 0
    for x in _leaves(data):
        if isinstance(x, Index) and "#" in x:
            found = max(found, int(x.split("#")[1].split(".")[0]))
        elif isinstance(x, Atom):
            found = max(found, level(x.data))
        elif isinstance(x, Quotient):
            found = max([found, *(level(a.data) for a in x.atoms)])
    return found
