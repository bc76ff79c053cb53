"""What the atoms of the kernel's normal form are: numbers, vectors, and what is inside of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from theory.derivation import spoken
from theory.derivation.polynomials import Atom, Monomial, remembered
from theory.derivation.quotients import Quotient

NUMBERS = frozenset(
    {"number", "parameter", "power", "real power", "sqrt", "abs", "exp", "log", "max", "min", "samples"}
)


@remembered
def is_number(a: Atom) -> bool:
    """Whether an atom is a number: neither random nor made of vectors, and not of one client or round."""
    if a.kind == "parameter" and (a.data[0] == "fstar" or _of_another_round(a)):
        return False
    return (
        a.kind in NUMBERS and not any("#" in x or "!" in x for x in a.free) and not a.random and not _made_of_vectors(a)
    )


def _of_another_round(a: Atom) -> bool:
    """Whether it is a number of a round that no formula of the language says, as that of round K."""
    try:
        spoken.atom(a)
    except spoken.UnspeakableError:
        return True
    return False


def _made_of_vectors(a: Atom) -> bool:
    return any(x.kind not in NUMBERS or (x.kind == "parameter" and x.data[0] == "fstar") for x in deep(a))


def deep(x: Any) -> Iterable[Atom]:
    """All atoms in it, those inside of others too, each once, and each before what is inside of it."""
    if isinstance(x, Atom):
        return _with_inner(x)
    some = sorted(x.atoms) if isinstance(x, Quotient) else x if isinstance(x, tuple) else ()
    return dict.fromkeys(a for y in some for a in deep(y))


@remembered
def _with_inner(a: Atom) -> tuple[Atom, ...]:
    return (a, *deep(a.data))


@remembered
def vectors_in(key: Monomial) -> tuple[Atom, ...]:
    """The vectors in inner products, and those by themselves, but expectations."""
    pairs = [a for a in deep(key) if a.kind in ("dot", "vec")]
    return tuple(dict.fromkeys(x for a in pairs for x in a.data if isinstance(x, Atom) and x.kind != "E vec"))


def plain(q: Quotient) -> bool:
    return not q.under and all(c > 0 for c in q.over.values())
