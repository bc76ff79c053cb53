"""The value of a term of a derivation on an instance: what its atoms mean, said once more."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from validate.verifier.derivation_terms import Atom, Poly, atoms_of
from validate.verifier.spoken import World

At = Mapping[str, int]
Outcome = Mapping[Any, Any]
REMEMBERED = Fraction(2)
"""How many vectors are remembered, where they are."""


def value_of(p: Poly, world: World, at: At, outcome: Outcome | None = None) -> Any:
    """A polynomial on an instance: a number, or a vector as a tuple. What is drawn has the values of an outcome."""
    total: Any = None
    for m, c in p.items():
        number, vector = Fraction(c), None
        for a, e in m:
            value = atom_value(a, world, at, outcome)
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


def _vector(p: Poly, world: World, at: At, outcome: Outcome | None) -> tuple[Fraction, ...]:
    found = value_of(p, world, at, outcome)
    assert world.problem is not None
    return found if isinstance(found, tuple) else (Fraction(0),) * world.problem.d


def atom_value(a: Atom, world: World, at: At, outcome: Outcome | None = None) -> Any:
    """What an atom is."""
    problem = world.problem
    assert problem is not None
    if a.tag == "p":
        name = a.parts[0]
        sizes = {"N": Fraction(problem.N), "d": Fraction(problem.d), "J": REMEMBERED}
        given = world.parameters.get(name, sizes.get(name))
        if isinstance(given, tuple):
            index = a.parts[1]
            return given[at[index.parts[0]] if index.tag == "v" else _index(index, world, at)]
        return given
    if a.tag == "v":
        return Fraction(at[a.parts[0]])
    if a.tag == "point":
        return {"x0": world.start, "xstar": world.xstar}[a.parts[0]]
    if a.tag in ("value", "grad"):
        level, point, *where = a.parts
        indices = [at[w.parts[0]] for w in where]
        v = _vector(dict(point.parts), world, at, outcome)
        f: Any = problem.mean
        if level != "f":
            f = problem.own[indices[0]] if level == "f_n" else problem.samples[indices[0]][indices[1]]
        return f.gradient(v) if a.tag == "grad" else f.value(v)
    if a.tag == "dot":
        one, two = (atom_value(x, world, at, outcome) for x in a.parts)
        return sum(x * y for x, y in zip(one, two, strict=True))
    if a.tag == "inv":
        return Fraction(1) / value_of(dict(a.parts[0].parts), world, at, outcome)
    if a.tag == "count":
        return Fraction(len(problem.samples[at[a.parts[0].parts[0]]]))
    if a.tag == "B":
        return _bound(a, world, at, outcome)
    if a.tag == "E":
        law = world.law(items(a, world, at))
        return sum(p * value_of({a.parts[0]: Fraction(1)}, world, at, one) for p, one in law)
    if a.tag in ("x", "tap"):
        assert outcome is not None
        found = outcome[item(a, world, at)]
        if a.tag == "x" and len(a.parts) > 2 and a.parts[2].tag == "P":
            found = found[_index(a.parts[2], world, at)]
        return found[at[a.parts[-1].parts[0]]] if a.parts[-1].tag == "v" else found
    raise AssertionError(f"{a.tag} is drawn, or not read here: {a}")


def _index(part: Atom, world: World, at: At) -> int:
    value = value_of(dict(part.parts), world, at)
    assert value.denominator == 1
    return int(value)


def item(a: Atom, world: World, at: At) -> Any:
    """The state or tap of a run that an atom is; after a loop's last turn, what the next turn around begins with."""
    assert world.game is not None
    name, indices = a.parts[0], [_index(part, world, at) for part in a.parts[1:] if part.tag == "P"]
    if a.tag == "x":
        return name, (indices[0],)
    for place in range(len(indices) - 1, 0, -1):
        if indices[place] == world.game.turns(name, indices[0], indices[1:place]):
            indices = [*indices[: place - 1], indices[place - 1] + 1, *[0] * (len(indices) - place)]
            if place == 1:
                return "end", (indices[0] - 1,)
    return name, tuple(indices)


def items(a: Atom, world: World, at: At) -> set[Any]:
    """All of these in an atom."""
    if a.tag in ("x", "tap"):
        return {item(a, world, at)}
    if a.tag != "B":
        return set[Any]().union(*(items(x, world, at) for x in atoms_of(a.parts)))
    found: set[Any] = set()
    for place, _ in places(a.parts[0], world, at):
        found |= set[Any]().union(*(items(x, world, place) for x, _ in a.parts[1]))
    return found


def places(binders: Any, world: World, at: At) -> list[tuple[dict[str, int], Fraction]]:
    """What the indices of binders are, and with which weight."""
    assert world.problem is not None
    found: list[tuple[dict[str, int], Fraction]] = [(dict(at), Fraction(1))]
    for kind, name, more in sorted(binders, key=lambda b: b[0] == "i"):
        new = []
        for place, weight in found:
            if kind in "khj":
                size, share = _index(more, world, place), Fraction(1)
            else:
                size = world.problem.N if kind == "n" else len(world.problem.samples[place[more.parts[0]]])
                share = Fraction(1, size)
            new += [({**place, name: value}, weight * share) for value in range(size)]
        found = new
    return found


def _bound(a: Atom, world: World, at: At, outcome: Outcome | None) -> Any:
    total: Any = None
    for place, weight in places(a.parts[0], world, at):
        term = value_of({a.parts[1]: weight}, world, place, outcome)
        if total is None:
            total = term
        else:
            total = tuple(map(sum, zip(total, term, strict=True))) if isinstance(term, tuple) else total + term
    return total
