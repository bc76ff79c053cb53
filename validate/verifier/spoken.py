"""What sentences come to on an instance: points, functions, states, expectations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

from .arguments import MOST_TURNS, OutsideRun, whole
from .formulas import Uncheckable
from .playing import Game, Given, Item, Schedule
from .quadratics import Problem
from .reading import FormatError
from .scalars import OPERATIONS, ZERO, Number, Vector, Work, divided, dot, norm2, root
from .sentences import FUNCTIONS, INDICES, OVER, POINTS, Node, Sentence, Vocabulary, everything, index_of

At = Mapping[str, int]
EACH_CLIENT, EACH_ROUND = "*n", "*k"
"""Indices of parameters that are one a client, or a round, where they are named without an index: for all of them."""
ALL_INDICES = (*INDICES, EACH_CLIENT, EACH_ROUND)


@dataclass
class World:
    """An instance, as sentences see it.

    Attributes:
        words: what names mean.
        parameters: the algorithm's and the claim's constants, by name.
        problem, start, game: None where the claim has no functions, or no algorithm.
        rounds: K.
        vectors: free vectors.
        xstar, xstar_n: the minimiser that is meant where there are more than one.
        work: what may still be computed.
        known: values that are the same in all outcomes; `there`, those in the `current` one.
        spoken, expected, laws: items, expectations and laws that were found.
    """

    words: Vocabulary
    parameters: Mapping[str, Given]
    problem: Problem | None
    start: Vector
    rounds: int
    vectors: Mapping[str, Any]
    work: Work
    game: Game | None = None
    xstar: Vector | None = None
    xstar_n: tuple[Vector, ...] | None = None
    known: dict[Any, Any] = field(default_factory=dict)
    current: Mapping[Item, Any] | None = None
    there: dict[Any, Any] = field(default_factory=dict)
    spoken: dict[Any, set[Item]] = field(default_factory=dict)
    expected: dict[Any, Any] = field(default_factory=dict)
    laws: dict[frozenset[Item], list[tuple[Number, dict[Item, Any]]]] = field(default_factory=dict)

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
        self.work.numbers((value,))
        return value

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
        self.work.numbers(found)
        return tuple(found)

    def over(self, tree: Node, at: At, term: Any) -> Any:
        how, index = OVER[tree.op]
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

    def functions(self, name: str, at: At) -> Any:
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
            found = problem.minimum(problem.mean)
            if found is None:
                raise Uncheckable("f is unbounded below, of which the claim does not speak")
            return problem.mean.value(found[0])
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
        raise Uncheckable(f"nothing says what {name} is")

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
            if any(x != 0 for x in function.gradient(chosen)):
                raise Uncheckable(f"the given {name} is no minimiser")
            return chosen
        if not found[1]:
            raise Uncheckable(f"{name} is not the only minimiser")
        return found[0]

    # the run

    def item(self, tree: Node, at: At) -> Item:
        """A state or a tap at its indices."""
        indices = []
        for part in tree.args:
            value = self.value(part, at, None)
            if not isinstance(value, Fraction) or value.denominator != 1 or not 0 <= value <= 10**6:
                raise OutsideRun(f"an index of {tree.name} is not in the run")
            indices.append(int(value))
        last = self.rounds if tree.name in self.words.states else self.rounds - 1
        if indices[0] > last:
            raise OutsideRun(f"{tree.name}[{indices[0]}] is not in a run of {self.rounds} rounds")
        if tree.name not in self.words.states and self.game is not None:
            for place in range(1, len(indices)):
                if indices[place] >= self.game.turns(tree.name, indices[0], indices[1:place]):
                    raise OutsideRun(f"{tree.name} has no such turn")
        return tree.name, tuple(indices)

    def state(self, tree: Node, at: At, outcome: Mapping[Item, Any] | None) -> Vector:
        item = self.item(tree, at)
        found = self.begin(item) if self.certain(item) else None
        if found is None:
            if outcome is None or item not in outcome:
                raise Uncheckable(f"{tree.name}[{item[1][0]}] is drawn, and no outcome is meant")
            found = outcome[item]
        kind = self.words.states[tree.name] if tree.name in self.words.states else self.words.taps[tree.name][0]
        if kind == "client":
            return found[at["n"]]
        if kind == "table":
            return found[at["n"]][at["i"]]
        return found

    def certain(self, item: Item) -> bool:
        return item[0] in self.words.states and item[1][0] == 0

    def begin(self, item: Item) -> Any:
        assert self.game is not None
        names = [s.name for s in self.game.program.state]
        return self.game.begin[names.index(item[0])]

    def range_of(self, index: str, trees: Iterable[Node], at: At) -> range:
        """The values of an index that is bound, or free."""
        if index == "n":
            return range(self.size("N"))
        if index == "i":
            return range(len(self.given_problem().samples[at["n"]]))
        if index == "k":
            return range(self.rounds)
        counts = set()
        for node in self.with_definitions(trees):
            if node.op == "at" and node.name in self.words.taps and self.game is not None:
                for place, part in enumerate(node.args):
                    if place and part.op == "name" and part.name == index:
                        outer = [whole(self.value(a, at, None), "an index", 0, 10**6) for a in node.args[:place]]
                        counts.add(self.game.turns(node.name, outer[0], outer[1:]))
        if len(counts) != 1:
            raise Uncheckable(f"how many turns {index} has cannot be told")
        return range(min(counts.pop(), MOST_TURNS))

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

    # expectations

    def items(self, tree: Node, at: At) -> set[Item]:
        """The states and taps that a tree speaks of outside of E, and that are drawn."""
        self.work.spend(3)
        if not self.words.read(tree).random:
            return set()
        key = (tree, tuple([at.get(i, -1) for i in ALL_INDICES]))
        if key not in self.spoken:
            self.spoken[key] = self._items(tree, at)
        return self.spoken[key]

    def _items(self, tree: Node, at: At) -> set[Item]:
        if tree.op == "at":
            item = self.item(tree, at)
            return set() if self.certain(item) else {item}
        if tree.op == "name":
            return self.items(self.words.definitions[tree.name], at)
        found: set[Item] = set()
        if tree.op in OVER:
            index = OVER[tree.op][1]
            for i in self.range_of(index, tree.args, at):
                found |= self.items(tree.args[0], {**at, index: i})
            return found
        for part in tree.args:
            found |= self.items(part, at)
        return found

    def law(self, items: set[Item]) -> list[tuple[Number, dict[Item, Any]]]:
        """The joint law of states and taps."""
        key = frozenset(items)
        if key not in self.laws:
            if self.game is None:
                raise FormatError("the claim speaks of states, and there is no algorithm")
            self.laws[key] = self.game.joint(key)
        return self.laws[key]

    def expectation(self, tree: Node, at: At) -> Any:
        """E of a tree: of sums, and of what has certain factors, term by term, so that few rounds are seen at once."""
        self.work.spend(3)
        reading = self.words.read(tree)
        if not reading.random:
            return self.value(tree, at, None)
        key = (tree, tuple([at.get(i, -1) for i in ALL_INDICES]))
        if key not in self.expected:
            self.expected[key] = self._expectation(tree, at)
        return self.expected[key]

    def _expectation(self, tree: Node, at: At) -> Any:
        op = tree.op
        if op == "name":
            return self.expectation(self.words.definitions[tree.name], at)
        random = [self.words.read(a).random for a in tree.args]
        if op in ("+", "-", "neg") or (op == "*" and not all(random)) or (op == "/" and not random[1]):
            parts = [self.expectation(a, at) for a in tree.args]
            return self.vector(op, parts) if any(isinstance(p, tuple) for p in parts) else OPERATIONS[op](*parts)
        if op in OVER and OVER[op][0] in ("mean", "sum"):
            return self.over(tree, at, lambda a: self.expectation(tree.args[0], a))
        total: Any = None
        for p, outcome in self.law(self.items(tree, at)):
            value = self.value(tree, at, outcome)
            part = self.vector("*", [value, p]) if isinstance(value, tuple) else value * p
            if total is None:
                total = part
            else:
                total = self.vector("+", [total, part]) if isinstance(total, tuple) else total + part
        return total

    # sentences

    def both(self, sentence: Sentence, at: At) -> Iterator[tuple[Any, Any]]:
        """Both sides, for every outcome of what is drawn outside of E."""
        items = self.items(sentence.left, at) | self.items(sentence.right, at)
        for _, outcome in self.law(items) if items else [(ZERO, {})]:
            left, right = self.value(sentence.left, at, outcome), self.value(sentence.right, at, outcome)
            yield left, right

    def everywhere(self, sentence: Sentence) -> Iterator[tuple[Any, Any]]:
        """Both sides for all free indices and outcomes for which they are in the run."""
        sides = (sentence.left, sentence.right)
        free = set[str]().union(*(self.words.read(side).free for side in sides))
        ats: list[dict[str, int]] = [{}]
        for index in ("n", "i", "k", "h", "j"):
            if index not in free:
                continue
            more = []
            for at in ats:
                last = self.rounds + 1 if index == "k" else None
                values = range(last) if last is not None else self.range_of(index, sides, at)
                more += [{**at, index: value} for value in values]
            ats = more
        ats = [{**at, **extra} for at, extra in product(ats, self.unnamed(sides))]
        inside = 0
        for at in ats:
            try:
                for pair in self.both(sentence, at):
                    inside += 1
                    yield pair
            except OutsideRun:
                continue
        if not inside:
            raise Uncheckable("no index of it is in the run")

    def unnamed(self, sides: Iterable[Node]) -> list[dict[str, int]]:
        """Values for the indices of parameters that are named without one."""
        names = {node.name for node in self.with_definitions(sides) if node.op == "name"}
        given = [self.parameters[name] for name in names if name in self.parameters]
        found: list[dict[str, int]] = [{}]
        if any(isinstance(v, tuple) and v and not isinstance(v[0], tuple) for v in given):
            found = [{EACH_CLIENT: n} for n in range(self.size("N"))]
        if any(isinstance(v, Schedule) for v in given):
            found = [{**at, EACH_ROUND: k} for at in found for k in range(self.rounds)]
        return found


def same_length(u: Vector, v: Vector) -> None:
    """That two vectors may be added."""
    if len(u) != len(v):
        raise Uncheckable("vectors of different lengths meet")
