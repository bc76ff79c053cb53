"""The symbols of the normal form: what is free in them, what is random, and the text that tells them apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec

from theory.derivation.polynomials import Atom, RejectedError, remembered
from theory.derivation.quotients import ONE, Quotient, of_atom

P = ParamSpec("P")


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
TAKEN = Index("taken")
"""The sample that a draw takes, in an entry of a table: like `FIRST`."""


_made_up = 0
"""How many names that are made up are in use."""


def fresh(kind: str) -> Index:
    """An index that is free nowhere else."""
    global _made_up
    _made_up += 1
    return Index(f"{kind}!{_made_up}")


def closing(function: Callable[P, Quotient]) -> Callable[P, Quotient]:
    """A function that binds every index that it makes up: the names are given again, so that what is remembered of them
    is met again.

    Raises:
        RejectedError: where one of them is free in what it returns.
    """

    @wraps(function)
    def made(*args: P.args, **more: P.kwargs) -> Quotient:
        global _made_up
        before = _made_up
        q = function(*args, **more)
        if _made_up > before:
            if any("!" in name and int(name.partition("!")[2]) > before for name in q.free):
                raise RejectedError("an index that nothing binds")
            _made_up = before
        return q

    return made


# --- atoms -----------------------------------------------------------------------------------------------------------

RANDOM = frozenset({"state", "noise", "sampled", "kept", "sample", "draw", "count", "share", "taken", "hit"})
CERTAIN = "certain"
"""The last of a state's data where the algorithm draws nothing."""
REDUCIBLE = frozenset({"sqrt", "abs", "draw"})
"""Whose squares are something else."""
FIXED = frozenset({"E", "E vec", "quantile"})
"""Whose value is not random, whatever stands inside."""


@remembered
def _one(s: frozenset[Any]) -> frozenset[Any]:
    """One of all that are equal."""
    return s


@remembered
def _made(kind: str, data: tuple[Any, ...], own: Index | None) -> Atom:
    names: set[str] = set()
    bound: set[str] = set() if own is None else {own}
    moments: frozenset[Any] = frozenset()
    draws: frozenset[Any] = frozenset()
    chance, height = kind in RANDOM and data[-1] != CERTAIN, 0
    for x in _leaves(data):
        if isinstance(x, Atom | Quotient):
            names |= x.free
            chance = chance or x.random
            moments |= x.moments
            draws |= x.draws
            height = max(height, x.height)
        elif isinstance(x, Index):
            if x not in (FIRST, TAKEN):
                names.add(str(x))
        elif isinstance(x, Binder):
            bound.add(str(x.index))
    if kind == "state" and chance:
        moments |= {data}
    elif kind in RANDOM - {"state"}:
        draws |= {data[0]}
    if kind == "taken":  # an entry of a table that was there before
        moments |= {data[2]}
    if kind in FIXED:
        chance, moments, draws = False, frozenset(), frozenset()
    made = Atom(f"{kind}({','.join(map(_text, data))})")
    made.kind, made.data, made.reducible = kind, data, kind in REDUCIBLE
    made.random = chance
    made.free, made.moments, made.draws = map(_one, (frozenset(names - bound), moments, draws))
    made.height = max([height, *(int(x.split("#")[1].split(".")[0]) for x in bound if "#" in x)])
    return made


def atom(kind: str, *data: Any, own: Index | None = None) -> Atom:
    """An atom. What is free in it, and random, is what is free and random in its data, but for an index of its own."""
    return _made(kind, data, own)


def _text(x: Any) -> str:
    if isinstance(x, Atom):
        return x
    if isinstance(x, Quotient):
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
