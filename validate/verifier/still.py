"""What sentences come to that speak of no round: parameters, points, functions, sums over clients and samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from .arguments import OutsideRun, whole
from .parameters import Given, Schedule
from .quadratics import Function, Problem
from .reading import FormatError, Uncheckable
from .scalars import OPERATIONS, Number, Vector, Work, divided, dot, norm2, root
from .sentences import ALL_CLIENTS, FUNCTIONS, INDICES, OVER, POINTS, Node, everything, index_of
from .simplex import simplex
from .vocabulary import Vocabulary

MOST_SUMMED = 10**6  # rounds that are gone through

Item = tuple[str, tuple[int, ...]]
"""A state or a tap at its indices, the round first."""
At = Mapping[str, int]
EACH_CLIENT, EACH_ROUND = "*n", "*k"
"""Indices of parameters that are one a client, or a round, where they are named without an index: for all of them."""
ALL_INDICES = (*INDICES, EACH_CLIENT, EACH_ROUND)
TURNS = ("h", "j")
"""Indices of turns, and of what is remembered where no tap has them."""


@dataclass
class Still:
    """An instance, as sentences see it that speak of no round.

    Attributes:
        words: what names mean.
        parameters: the algorithm's and the claim's constants, by name.
        problem: None where the claim has no functions; then `start` is empty.
        rounds: K.
        vectors: free vectors.
        xstar, xstar_n: the minimiser that is meant where there are more than one.
        work: what may still be computed.
        known: values that are the same in all outcomes; `there`, those in the `current` one.
    """

    words: Vocabulary
    parameters: Mapping[str, Given]
    problem: Problem | None
    start: Vector
    rounds: int
    vectors: Mapping[str, Any]
    work: Work
    xstar: Vector | None = None
    xstar_n: tuple[Vector, ...] | None = None
    known: dict[Any, Any] = field(default_factory=dict)
    current: Mapping[Item, Any] | None = None
    there: dict[Any, Any] = field(default_factory=dict)

    # trees

    def value(self, tree: Node, at: At, outcome: Mapping[Item, Any] | None) -> Any:
        """A number or a vector; `outcome` has the states and taps that are drawn.

        Raises:
            Uncheckable: where it is undefined, or outside of the run.
        """
        self.work.spend(2)
        op = tree.op
        if op == "number":
            return tree.value
        if op == "at":
            return self.state(tree, at, outcome)
        if op == "name" and tree.name not in self.words.definitions:
            return self.named(tree.name, at)
        known = self.known
        if self.words.read(tree).random:
            if self.current is not outcome:
                self.current, self.there = outcome, {}
            known = self.there
        key = (tree, tuple([at.get(i, -1) for i in ALL_INDICES]))
        if key not in known:
            found = self.operation(tree, at, outcome)
            if len(known) < 100_000:
                known[key] = found
            return found
        return known[key]

    def operation(self, tree: Node, at: At, outcome: Mapping[Item, Any] | None) -> Any:
        op = tree.op
        if op == "name":
            return self.value(self.words.definitions[tree.name], at, outcome)
        if op == "E":
            return self.expectation(tree.args[0], at)
        if op in OVER:
            return self.over(tree, at, lambda a: self.value(tree.args[0], a, outcome))
        if op == "quantile":
            return self.quantile(tree, at)
        if op in ALL_CLIENTS:
            clients = self.range_of("n", (tree,), at)
            numbers = [[self.value(a, {**at, "n": n}, outcome) for n in clients] for a in tree.args]
            self.work.spend(10 * len(clients) ** 2)
            if op == "argmin_n":
                return self.least(numbers[0], numbers[1][0] if len(numbers) > 1 else None)
            return simplex(*numbers)[at["n"]]
        parts = [self.value(a, at, outcome) for a in tree.args]
        if op == "grad":
            self.work.spend(len(parts[0]) ** 2)
            return self.functions(tree.name, at).gradient(parts[0])
        if op in FUNCTIONS:
            self.work.spend(len(parts[0]) ** 2)
            return self.functions(op, at).value(parts[0])
        if op in ("norm2", "norm", "dot"):
            self.work.spend(2 * len(parts[0]))
            if op == "dot":
                same_length(*parts)
                return self.short(dot(*parts))
            return self.short(norm2(parts[0]) if op == "norm2" else root(norm2(parts[0])))
        if any(isinstance(part, tuple) for part in parts):
            return self.vector(op, parts)
        return self.short(OPERATIONS[op](*parts))

    def short(self, value: Number) -> Number:
        return self.work.kept((value,))[0]

    def vector(self, op: str, parts: list[Any]) -> Vector:
        """``+ - neg`` of vectors, ``* /`` of a vector and a number."""
        if op in ("+", "-"):
            same_length(*parts)
            found = [a + b if op == "+" else a - b for a, b in zip(*parts, strict=True)]
        elif op == "neg":
            found = [-x for x in parts[0]]
        else:
            v, c = parts if isinstance(parts[0], tuple) else (parts[1], parts[0])
            found = [x * c if op == "*" else divided(x, c) for x in v]
        return self.work.kept(found)

    def over(self, tree: Node, at: At, term: Callable[[At], Any]) -> Any:
        how, index = OVER[tree.op]
        if how == "first":
            return term({**at, index: 0})
        values = [term({**at, index: i}) for i in self.range_of(index, (tree.args[0],), at)]
        if how in ("max", "min"):
            return values[0] if len(values) == 1 else OPERATIONS[how](*values)
        total = values[0]
        for value in values[1:]:
            total = self.vector("+", [total, value]) if isinstance(total, tuple) else total + value
        if how == "sum":
            return total
        size = Fraction(len(values))
        return self.vector("/", [total, size]) if isinstance(total, tuple) else divided(total, size)

    # names

    def functions(self, name: str, at: At) -> Function:
        return self.given_problem().named(name, at.get("n", 0), at.get("i", 0))

    def given_problem(self) -> Problem:
        """The problem.

        Raises:
            FormatError: where there is none.
        """
        if self.problem is None:
            raise FormatError("the claim speaks of functions, and there is no problem")
        return self.problem

    def named(self, name: str, at: At) -> Any:
        if name in self.vectors:
            return self.vectors[name][at["n"]] if name.endswith("_n") else self.vectors[name]
        if name in POINTS:
            return self.point(name, at)
        if name in at:
            return Fraction(at[name])
        if name == "fstar":
            problem = self.given_problem()
            return problem.infimum(problem.mean)
        if name == "K":
            return Fraction(self.rounds)
        if name in ("N", "d"):
            return Fraction(self.size(name))
        return self.parameter(name, at)

    def size(self, name: str) -> int:
        """N or d."""
        if self.problem is not None:
            return self.problem.N if name == "N" else self.problem.d
        for vector, value in self.vectors.items():
            if name == "d":
                return len(value[0] if vector.endswith("_n") else value)
            if vector.endswith("_n"):
                return len(value)
        given = self.parameters.get(name)
        if not isinstance(given, Fraction):
            raise Uncheckable(f"nothing says what {name} is")
        return whole(given, name, 1, 10**9)

    def parameter(self, name: str, at: At) -> Number:
        base, index = (name, "") if name in self.parameters and not index_of(name)[1] else index_of(name)
        value = self.parameters.get(name, self.parameters.get(base))
        if value is None:
            raise FormatError(f"{name} has no value")
        if isinstance(value, Schedule):
            k = at.get("k" if index == "k" else EACH_ROUND, 0 if len(set(value.values)) == 1 else -1)
            if not 0 <= k < self.rounds:
                raise OutsideRun(f"{name} has no value in round {k}")
            return value.values[k]
        if isinstance(value, tuple):
            if not value or isinstance(value[0], tuple):
                raise Uncheckable(f"{name} is a matrix where a number is needed")
            if index in TURNS:
                if not 0 <= at[index] < len(value):
                    raise OutsideRun(f"{name} has no entry {at[index]}")
                return value[at[index]]
            n = at.get("n" if index == "n" else EACH_CLIENT, 0 if len(set(value)) == 1 else -1)
            if not 0 <= n < len(value):
                raise Uncheckable(f"{name} is one number a client where one number is needed")
            return value[n]
        return value

    def point(self, name: str, at: At) -> Vector:
        problem = self.given_problem()
        if name == "x0":
            return self.start
        chosen = self.xstar if name == "xstar" else None if self.xstar_n is None else self.xstar_n[at["n"]]
        function = problem.mean if name == "xstar" else problem.own[at["n"]]
        found = problem.minimum(function)
        if found is None:
            raise Uncheckable(f"{name} does not exist: a function has no minimiser")
        if chosen is not None:
            if not problem.minimises(function, chosen):
                raise Uncheckable(f"the given {name} is no minimiser")
            return chosen
        if not found[1]:
            raise Uncheckable(f"{name} is not the only minimiser")
        return found[0]

    def range_of(self, index: str, trees: Iterable[Node], at: At) -> range:
        """The values of an index that is bound, or free."""
        if index == "n":
            return range(self.size("N"))
        if index == "i":
            return range(len(self.given_problem().samples[at["n"]]))
        if index == "k":
            if self.rounds > MOST_SUMMED:
                raise FormatError(f"there are more than {MOST_SUMMED} rounds to go through")
            return range(self.rounds)
        return range(self.remembered(index, trees))

    def remembered(self, index: str, trees: Iterable[Node]) -> int:
        """How many entries the lists have of which trees have the one at this index.

        Raises:
            Uncheckable: where there is none, or they have different lengths.
        """
        sizes = set()
        for node in self.with_definitions(trees):
            if node.op == "name" and node.name not in self.words.definitions and index_of(node.name)[1] == index:
                value = self.parameters.get(index_of(node.name)[0])
                if isinstance(value, tuple):
                    sizes.add(len(value))
        if len(sizes) != 1:
            raise Uncheckable(f"how many turns {index} has cannot be told")
        return sizes.pop()

    def with_definitions(self, trees: Iterable[Node]) -> Iterator[Node]:
        """All parts of trees, those of the definitions that they name too."""
        left, seen = list(trees), set[str]()
        while left:
            for node in everything(left.pop()):
                self.work.spend(1)
                yield node
                if node.op == "name" and node.name in self.words.definitions and node.name not in seen:
                    seen.add(node.name)
                    left.append(self.words.definitions[node.name])

    def least(self, weights: list[Any], radius: Number | None) -> Vector:
        """The minimiser of sum_n(q_n*f_n); with a radius that over the ball, where it is inside or there is one axis.

        Raises:
            Uncheckable: where there is none, or more than one; where a weight is irrational.
        """
        if not all(isinstance(q, Fraction) for q in weights):
            raise Uncheckable("argmin_n of weights that are not rational")
        problem = self.given_problem()
        found = problem.minimum(problem.weighted(tuple(weights)))
        if found is None or not found[1]:
            raise Uncheckable("sum_n(q_n*f_n) has no minimiser, or more than one")
        point = found[0]
        if radius is None:
            return point
        if not isinstance(radius, Fraction) or radius <= 0:
            raise Uncheckable("the radius of a ball is not rational and positive")
        if sum((x * x for x in point), Fraction(0)) <= radius**2:
            return point
        if len(point) > 1:
            raise Uncheckable("the minimiser over a ball that binds, in several dimensions")
        return (radius if point[0] > 0 else -radius,)

    # a run, of which there is none here

    def quantile(self, tree: Node, at: At) -> Any:
        """A quantile."""
        return self.value(tree.args[0], at, None)

    def state(self, tree: Node, at: At, outcome: Mapping[Item, Any] | None) -> Vector:
        """A state or a tap."""
        raise FormatError(f"{tree.name}[...] has no value where there is no run")

    def expectation(self, tree: Node, at: At) -> Any:
        """E of a tree."""
        return self.value(tree, at, None)


def same_length(u: Vector, v: Vector) -> None:
    """That two vectors may be added."""
    if len(u) != len(v):
        raise Uncheckable("vectors of different lengths meet")
