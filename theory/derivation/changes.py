"""Other vectors for vectors, and other names for free indices that may become the same, everywhere in a normal form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from theory.derivation.atoms import Binder, Index, atom, closing, fresh
from theory.derivation.elementary import absolute, drawn, extremum, power, root
from theory.derivation.expectations import expectation
from theory.derivation.polynomials import Atom, Monomial
from theory.derivation.quotients import ONE, Quotient, mapped, of_atom
from theory.derivation.renaming import distinct, with_names
from theory.derivation.terms import (
    as_vector,
    bind,
    coordinate,
    dot,
    each,
    kept,
    least,
    linear,
    mixed,
    opened,
    over_all,
    weight,
)


@dataclass(frozen=True)
class Change:
    """What becomes of free indices, and of atoms of vectors; None where one stays.

    Attributes:
        indices: new names; two indices may get the same one.
        vector: what a vector's atom is replaced by.
        made: what atoms have become.
    """

    indices: Mapping[str, Index] = field(default_factory=dict)
    vector: Callable[[Atom], Quotient | None] | None = None
    made: dict[Atom, Quotient] = field(default_factory=dict)

    def touches(self, x: Atom | Quotient) -> bool:
        """Whether something in it may become something else."""
        return self.vector is not None or not x.free.isdisjoint(self.indices)

    def of(self, x: Any) -> Any:
        """Data of an atom."""
        if isinstance(x, tuple):
            return tuple(map(self.of, x))
        if isinstance(x, Index):
            return self.indices.get(x, x)
        return changed(x, self) if isinstance(x, Quotient) else x


def renamed(x: Quotient, new: Mapping[str, Index]) -> Quotient:
    """With free indices renamed; two of them may get the same name."""
    return with_names(x, new) if distinct(x.free, new) else changed(x, Change(new))


def changed(x: Quotient, change: Change) -> Quotient:
    """With free indices, and atoms of vectors, changed, everywhere in it."""
    return mapped(x, lambda a: _changed(a, change)) if change.touches(x) else x


def _changed(a: Atom, change: Change) -> Quotient:
    if not change.touches(a):
        return of_atom(a)
    found = change.made.get(a)
    if found is None:
        found = change.made[a] = _inside(a, change)
    return found


@closing
def _inside(a: Atom, change: Change) -> Quotient:
    match a.kind:
        case "vec":
            return _vector(a.data[0], change)
        case "entry":
            return coordinate(_vector(a.data[0], change), change.of(a.data[1]))
        case "dot":
            return dot(_vector(a.data[0], change), _vector(a.data[1], change))
        case "E":
            return expectation(_product(a.data[0], change))
        case "bind":
            binders, body = opened(a)  # whose indices are nobody else's
            inside = _product(body, change)
            for b in reversed(binders):
                upper = None if b.upper is None else changed(b.upper, change)
                inside = bind(Binder(b.kind, b.index, change.of(b.owner), upper), inside)
            return inside
        case "sqrt":
            return root(change.of(a.data[0]))
        case "abs":
            return absolute(change.of(a.data[0]))
        case "power":
            return power(*change.of(a.data))
        case "max" | "min":
            return extremum(a.kind, change.of(a.data[0]))
        case "over all":
            op, index, owner, upper, body = a.data
            here = fresh(op[-1])
            inside = changed(renamed(body, {index: here}), change)
            owner, upper = (change.of(x) if x != "" else None for x in (owner, upper))
            return over_all(op, here, owner, upper, inside)
        case "weight":
            index, *numbers, client = a.data
            here = fresh("n")
            costs, curvatures = (changed(renamed(q, {index: here}), change) for q in numbers)
            return weight(here, costs, curvatures, change.of(client))
        case "draw":
            return drawn(*change.of(a.data))
    return of_atom(atom(a.kind, *change.of(a.data)))


def _product(m: Monomial, change: Change) -> Quotient:
    found = ONE
    for a, e in m:
        found = found * _changed(a, change).power(e)
    return found


def _vector(a: Atom, change: Change) -> Quotient:
    if not change.touches(a):
        return as_vector(a)
    found = None if change.vector is None else change.vector(a)
    if found is not None:
        return found
    if a.kind == "E vec":
        return expectation(_product(a.data[0], change))
    if a.kind == "kept":  # of a vector that may not be one atom any more
        draw, client, m = change.of(a.data[:3])
        return kept(draw, client, m, _vector(a.data[3], change))
    if a.kind == "least":
        name, weights, radius = a.data
        here = fresh("n")
        return least(here, changed(renamed(weights, {name: here}), change), change.of(radius))
    if a.kind == "mixed":
        name, matrix, of, client = a.data
        here = fresh("n")
        return mixed(matrix, here, changed(renamed(of, {name: here}), change), change.of(client))
    if a.kind == "each":
        binder, q = a.data
        here = fresh("c")
        return each(here, changed(renamed(q, {binder.index: here}), change))
    if a.kind in ("grad", "sampled") and isinstance(a.data[-1], Atom):  # what a quadratic's gradient adds for it
        kind, client = a.kind, change.of(a.data[:-1])
        return linear(_vector(a.data[-1], change), lambda b: as_vector(atom(kind, *client, b)))
    return as_vector(atom(a.kind, *change.of(a.data)))
