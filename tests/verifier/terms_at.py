"""The value of a term of a derivation on an instance: what its atoms mean, said once more."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from validate.verifier.derivation_terms import Atom, Poly
from validate.verifier.spoken import World

At = Mapping[str, int]


def value_of(p: Poly, world: World, at: At) -> Any:
    """A polynomial on an instance: a number, or a vector as a tuple. Only terms without what is drawn."""
    total: Any = None
    for m, c in p.items():
        number, vector = c, None
        for a, e in m:
            value = atom_value(a, world, at)
            if isinstance(value, tuple):
                assert e == 1
                assert vector is None
                vector = value
            else:
                number *= value**e
        term: Any = number if vector is None else tuple(number * x for x in vector)
        if total is None:
            total = term
        else:
            total = total + term if vector is None else tuple(x + y for x, y in zip(total, term, strict=True))
    return Fraction(0) if total is None else total


def _vector(p: Poly, world: World, at: At) -> tuple[Fraction, ...]:
    found = value_of(p, world, at)
    assert world.problem is not None
    return found if isinstance(found, tuple) else (Fraction(0),) * world.problem.d


def atom_value(a: Atom, world: World, at: At) -> Any:
    """What an atom is."""
    problem = world.problem
    assert problem is not None
    if a.tag == "p":
        name = a.parts[0]
        given = {"N": Fraction(problem.N), "d": Fraction(problem.d)}.get(name, world.parameters.get(name))
        if isinstance(given, tuple):
            return given[at[a.parts[1].parts[0]]]
        return given
    if a.tag == "point":
        return {"x0": world.start, "xstar": world.xstar}[a.parts[0]]
    if a.tag in ("value", "grad"):
        level, point, *where = a.parts
        indices = [at[w.parts[0]] for w in where]
        v = _vector(dict(point.parts), world, at)
        f: Any = problem.mean
        if level != "f":
            f = problem.own[indices[0]] if level == "f_n" else problem.samples[indices[0]][indices[1]]
        return f.gradient(v) if a.tag == "grad" else f.value(v)
    if a.tag == "dot":
        one, two = (atom_value(x, world, at) for x in a.parts)
        return sum(x * y for x, y in zip(one, two, strict=True))
    if a.tag == "inv":
        return 1 / value_of(dict(a.parts[0].parts), world, at)
    if a.tag == "count":
        return Fraction(len(problem.samples[at[a.parts[0].parts[0]]]))
    if a.tag == "B":
        return _bound(a, world, at)
    raise AssertionError(f"{a.tag} is drawn, or not read here: {a}")


def _bound(a: Atom, world: World, at: At) -> Any:
    binders, body = a.parts
    problem = world.problem
    assert problem is not None
    total: Any = None

    def go(left: list[Any], place: At, weight: Fraction) -> None:
        nonlocal total
        if not left:
            term = value_of({body: weight}, world, place)
            if total is None:
                total = term
            else:
                total = tuple(map(sum, zip(total, term, strict=True))) if isinstance(term, tuple) else total + term
            return
        (kind, name, more), *rest = left
        size = problem.N if kind == "n" else len(problem.samples[place[more.parts[0]]])
        for value in range(size):
            go(rest, {**place, name: value}, weight / size)

    go(sorted(binders, key=lambda b: b[0] == "i"), at, Fraction(1))
    return total
