"""Normal forms by numbers: an evaluator of its own, on quadratics in Fractions and the exact law of a run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

from theory.derivation.atoms import CERTAIN
from theory.derivation.polynomials import Atom, Monomial
from theory.derivation.quotients import Quotient
from theory.operations import to_fraction
from validate.instances import Instance
from validate.play import Play

Vector = tuple[Fraction, ...]


def plus(u: Vector, v: Vector) -> Vector:
    return tuple(a + b for a, b in zip(u, v, strict=True))


def scaled(c: Fraction, v: Vector) -> Vector:
    return tuple(c * a for a in v)


def dot(u: Vector, v: Vector) -> Fraction:
    return sum((a * b for a, b in zip(u, v, strict=True)), Fraction(0))


@dataclass
class Numbers:
    """What atoms are worth.

    Attributes:
        parameters: numbers, or one a client as a tuple.
        samples: of each client (H, b, c).
        points: x0, xstar, and free vectors, those of clients as tuples of vectors.
        law: outcomes, each with its probability and the states and taps by name and indices.
        K: the number of rounds.
    """

    parameters: Mapping[str, Any]
    samples: list[list[tuple[Any, Vector, Fraction]]]
    points: Mapping[str, Any]
    law: list[tuple[Fraction, Mapping[Any, Any]]] = field(default_factory=lambda: [(Fraction(1), {})])
    K: int = 1
    known: dict[Any, tuple[Fraction, Vector]] = field(default_factory=dict)
    """Values and gradients of functions at points, as they are found."""

    @property
    def N(self) -> int:
        return len(self.samples)

    @property
    def d(self) -> int:
        return len(self.samples[0][0][1])

    def value(self, q: Quotient, at: Mapping[str, int], outcome: Any = None) -> Any:
        """A number; a vector, where it is the normal form of one."""
        under = Fraction(1)
        for p, power in q.under.items():
            under *= self.value(Quotient(dict(p), {}), at, outcome) ** power
        total: Any = None
        for m, c in q:
            term = self.product(m, at, outcome)
            scale = c / under
            term = scaled(scale, term) if isinstance(term, tuple) else scale * term
            total = term if total is None else plus(total, term) if isinstance(term, tuple) else total + term
        return Fraction(0) if total is None else total

    def vector(self, q: Quotient, at: Mapping[str, int], outcome: Any = None) -> Vector:
        found = self.value(q, at, outcome)
        return found if isinstance(found, tuple) else (Fraction(0),) * self.d

    def product(self, m: Monomial, at: Mapping[str, int], outcome: Any) -> Any:
        number, vector = Fraction(1), None
        for a, e in m:
            found = self.atom(a, at, outcome)
            if isinstance(found, tuple):
                assert vector is None
                assert e == 1
                vector = found
            else:
                number *= found**e
        return number if vector is None else scaled(number, vector)

    def atom(self, a: Atom, at: Mapping[str, int], outcome: Any) -> Any:
        data = a.data
        match a.kind:
            case "parameter":
                name = data[0]
                if name in ("N", "d", "K"):
                    return Fraction({"N": self.N, "d": self.d, "K": self.K}[name])
                found = self.parameters[name]
                if len(data) > 1 and isinstance(data[1], Quotient):  # of a remembered vector
                    return found[int(self.value(data[1], at))]
                return found[at[data[1]]] if len(data) > 1 else found
            case "number":
                return Fraction(at[data[0]])
            case "samples":
                return Fraction(len(self.samples[at[data[0]]]))
            case "power":
                return self.value(data[0], at, outcome) ** int(self.value(data[1], at, outcome))
            case "inverse":
                return 1 / self.value(data[0], at, outcome)
            case "abs":
                return abs(self.value(data[0], at, outcome))
            case "max" | "min":
                return {"max": max, "min": min}[a.kind](self.value(q, at, outcome) for q in data[0])
            case "dot":
                return dot(self.atom_vector(data[0], at, outcome), self.atom_vector(data[1], at, outcome))
            case "vec":
                return self.atom_vector(data[0], at, outcome)
            case "value":
                return self.function(data[0], data[1], at, outcome)[0]
            case "bind":
                return self.bound(data[0], data[1], at, outcome)
            case "over all":
                op, index, owner, upper, body = data
                some = self.range(op[-1], owner, None if upper == "" else upper, at)
                return {"max": max, "min": min}[op[:3]](self.value(body, {**at, index: j}, outcome) for j in some)
            case "E":
                return sum((p * self.product(data[0], at, o) for p, o in self.law), Fraction(0))
        raise AssertionError(a.text)

    def atom_vector(self, a: Atom, at: Mapping[str, int], outcome: Any) -> Vector:
        data = a.data
        match a.kind:
            case "free" | "point":
                found = self.points[data[0]]
                return found[at[data[1]]] if len(data) > 1 else found
            case "grad":
                return self.function(data[0], data[1], at, outcome)[1]
            case "state":
                indices = tuple(int(self.value(q, at)) for q in data[1])
                if data[0] == "past":
                    return outcome["past", indices[:1]][indices[1]]
                found = outcome[data[0], indices]
                return found[at[data[2]]] if data[2:] and data[2] != CERTAIN else found
            case "sampled":  # the algorithm shows it
                turn = tuple(int(self.value(q, at)) for q in data[0][1:])
                return outcome["g", turn][at[data[1]]]
            case "E vec":
                total = (Fraction(0),) * self.d
                for p, o in self.law:
                    total = plus(total, scaled(p, self.product(data[0], at, o)))
                return total
        raise AssertionError(a.text)

    def function(self, which: Any, point: Quotient, at: Mapping[str, int], outcome: Any) -> tuple[Fraction, Vector]:
        v = self.vector(point, at, outcome)
        clients = range(self.N) if not which else [at[which[0]]]
        key = (tuple(at[index] for index in which), v)
        if key in self.known:
            return self.known[key]
        value, gradient = Fraction(0), (Fraction(0),) * self.d
        for n in clients:
            own = self.samples[n] if len(which) < 2 else [self.samples[n][at[which[1]]]]
            for H, b, c in own:
                share = Fraction(1, len(own) * len(clients))
                Hv = tuple(dot(row, v) for row in H)
                value += share * (dot(v, Hv) / 2 - dot(b, v) + c)
                gradient = plus(gradient, scaled(share, plus(Hv, scaled(Fraction(-1), b))))
        self.known[key] = value, gradient
        return value, gradient

    def range(self, kind: str, owner: Any, upper: Any, at: Mapping[str, int]) -> range:
        if kind == "n":
            return range(self.N)
        return range(len(self.samples[at[owner]])) if kind == "i" else range(int(self.value(upper, at)))

    def bound(self, binders: Any, m: Monomial, at: Mapping[str, int], outcome: Any) -> Any:
        if not binders:
            return self.product(m, at, outcome)
        first, *rest = binders
        some = self.range(first.kind, first.owner, first.upper, at)
        total: Any = None
        for j in some:
            term = self.bound(rest, m, {**at, first.index: j}, outcome)
            total = term if total is None else plus(total, term) if isinstance(term, tuple) else total + term
        share = Fraction(1, len(some)) if first.kind in "ni" else Fraction(1)
        return scaled(share, total) if isinstance(total, tuple) else share * total


def fractions(value: Any) -> Any:
    return tuple(map(fractions, value)) if isinstance(value, tuple | list) else to_fraction(value)


def law_of(instance: Instance, taps: Mapping[str, int]) -> list[tuple[Fraction, dict[Any, Any]]]:
    """All states and taps of a run with their joint probabilities; `taps` has 0, or the number of turns."""
    assert instance.program is not None
    items = {(s.name, (k,)) for s in instance.program.state for k in range(instance.rounds + 1)}
    for tap, turns in taps.items():
        for k in range(instance.rounds):
            items |= {(tap, (k, h)) for h in range(turns)} if turns else {(tap, (k,))}
    return [
        (to_fraction(p), {key: fractions(v) for key, v in found.items()})
        for p, found in Play(instance).joint(frozenset(items))
    ]


def every(*ranges: range) -> list[tuple[int, ...]]:
    return list(product(*ranges))
