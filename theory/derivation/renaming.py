"""Other names for free indices, and the names of bound ones.

Bound indices have the names that make the text least, so that equal texts mean equal values whatever the author called
them. Their number is greater than that of all indices bound inside of what they bind, so that a name that is put for a
free index is never captured, and renaming need not open what binds others.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations, product
from typing import Any, TypeAlias

from theory.derivation.atoms import FIRST, Binder, Index, atom
from theory.derivation.polynomials import Atom, Monomial, RejectedError, primitive, remembered
from theory.derivation.quotients import Quotient

MOST_BINDERS = 5
"""Of one kind, in one product."""
Names: TypeAlias = tuple[tuple[str, Index], ...]
"""New names of free indices, sorted."""


def distinct(free: frozenset[str], new: Mapping[str, Index]) -> bool:
    """Whether different indices that are free stay different, and from the first client."""
    return FIRST not in new.values() and len({new.get(name, name) for name in free}) == len(free)


def with_names(q: Quotient, new: Mapping[str, Index]) -> Quotient:
    """With free indices renamed, different ones differently: then it has as many terms, of as many factors."""
    names = _of_these(new, q.free)
    return _quotient(q, names) if names else q


def monomial_with_names(m: Monomial, new: Mapping[str, Index]) -> Monomial:
    """The same of a product."""
    return _monomial(m, tuple(sorted(new.items())))


def _of_these(new: Mapping[str, Index], free: frozenset[str]) -> Names:
    return tuple(sorted((old, name) for old, name in new.items() if old in free and old != name))


def _quotient(q: Quotient, names: Names) -> Quotient:
    over = {_monomial(m, names): c for m, c in q.over.items()}
    assert len(over) == len(q.over)
    if not q.under:
        return Quotient(over, {})
    under, sign = {}, 1
    for p, power in q.under.items():
        content, other = primitive(tuple((_monomial(m, names), c) for m, c in p))
        sign *= 1 if content > 0 or power % 2 == 0 else -1
        under[other] = power
    return Quotient(over if sign > 0 else {m: -c for m, c in over.items()}, under)


def _monomial(m: Monomial, names: Names) -> Monomial:
    return tuple(sorted([(_atom(a, names), e) for a, e in m]))


def _atom(a: Atom, names: Names) -> Atom:
    free = a.free
    if not free:
        return a
    own = tuple([new for new in names if new[0] in free])
    return _renamed(a, own) if own else a


@remembered
def _renamed(a: Atom, names: Names) -> Atom:
    def of(x: Any) -> Any:
        if isinstance(x, Atom):
            return _atom(x, names)
        if isinstance(x, Index):
            return new.get(x, x)
        if isinstance(x, Quotient):
            return _quotient(x, names) if x.free & new.keys() else x
        if isinstance(x, Binder):
            return Binder(x.kind, x.index, of(x.owner), of(x.upper))
        return tuple(map(of, x)) if isinstance(x, tuple) else x

    new = dict(names)
    match a.kind:
        case "abs":
            inside = of(a.data[0])
            return atom("abs", inside if inside.direction[0] > 0 else -inside)
        case "max" | "min":
            return atom(a.kind, tuple(sorted(map(of, a.data[0]), key=lambda q: q.text)))
        case "dot":
            return atom("dot", *sorted(map(of, a.data)))
        case "E" | "E vec":
            return atom(a.kind, _monomial(a.data[0], names))
        case "bind":
            return canonical(of(a.data[0]), _monomial(a.data[1], names))
        case "over all":
            op, own, *rest = a.data
            return atom(a.kind, op, own, *map(of, rest), own=own)
        case "weight" | "least" | "mixed":
            own, *rest = a.data
            return atom(a.kind, own, *map(of, rest), own=own)
    return atom(a.kind, *map(of, a.data))


@remembered
def canonical(prefix: tuple[Binder, ...], body: Monomial) -> Atom:
    """The bound term, its indices named so that its text is least."""
    uppers = [b.upper.height for b in prefix if b.upper is not None]
    deepest = 1 + max([*(a.height for a, _ in body), *uppers])
    kinds = {kind: [b for b in prefix if b.kind == kind] for kind in "khjcni"}
    if any(len(some) > MOST_BINDERS for some in kinds.values()):
        raise RejectedError("too many sums in one product")
    found = []
    for orders in product(*(permutations(some) for some in kinds.values())):
        order = [b for some in orders for b in some]
        new = {
            str(b.index): Index(f"{kind}#{deepest}.{j}")
            for kind, some in zip(kinds, orders, strict=True)
            for j, b in enumerate(some)
        }
        names = tuple(
            Binder(b.kind, new[b.index], b.owner and new.get(b.owner, b.owner), b.upper and with_names(b.upper, new))
            for b in order
        )
        found.append(atom("bind", names, monomial_with_names(body, new)))
    return min(found)
