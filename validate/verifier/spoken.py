"""What sentences come to that speak of a run: states, taps, expectations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

from .arguments import MOST_TURNS, OutsideRun, whole
from .intervals import Interval
from .parameters import Schedule
from .playing import Game
from .reading import FormatError, Uncheckable
from .scalars import OPERATIONS, ZERO, Number, Vector, below
from .sentences import OVER, Node, Sentence, index_of
from .still import ALL_INDICES, EACH_CLIENT, EACH_ROUND, At, Item, Still
from .vocabulary import PASTS


@dataclass
class World(Still):
    """An instance, as sentences see it.

    Attributes:
        game: None where the claim has no algorithm.
        spoken, expected, laws: items, expectations and laws that were found.
    """

    game: Game | None = None
    spoken: dict[Any, set[Item]] = field(default_factory=dict)
    expected: dict[Any, Any] = field(default_factory=dict)
    of_one_round: dict[Node, bool] = field(default_factory=dict)
    laws: dict[frozenset[Item], list[tuple[Number, dict[Item, Any]]]] = field(default_factory=dict)

    # the run

    def item(self, tree: Node, at: At) -> Item:
        """A state or a tap at its indices; of a state that remembers vectors, the round alone."""
        indices = []
        for part in tree.args[:1] if tree.name in self.words.states else tree.args:
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
        return self.one_of(found, tree, at)

    def one_of(self, found: Any, tree: Node, at: At) -> Any:
        """The vector that a sentence means, of all that a state or a tap holds."""
        kind = self.words.states[tree.name] if tree.name in self.words.states else self.words.taps[tree.name][0]
        if kind in PASTS:
            ago = whole(self.value(tree.args[1], at, None), f"an index of {tree.name}", 0, 10**6)
            stack = found[at["n"]] if kind == "client past" else found
            if ago >= len(stack):
                raise OutsideRun(f"{tree.name} does not remember so many vectors")
            return stack[ago]
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
        """The values of an index that is bound, or free; of a turn from the loop around the taps that have it.

        Where no tap has it, it is one of what states remember, or of the weights of that.
        """
        if index in ("n", "i", "k"):
            return super().range_of(index, trees, at)
        counts, stacks = set[int](), set[int]()
        for node in self.with_definitions(trees):
            if node.op == "at" and node.name in self.words.taps and self.game is not None:
                for place, part in enumerate(node.args):
                    if place and part.op == "name" and part.name == index:
                        outer = [whole(self.value(a, at, None), "an index", 0, 10**6) for a in node.args[:place]]
                        counts.add(self.game.turns(node.name, outer[0], outer[1:]))
            elif node.op == "at" and self._remembers(node, index):
                stack = self.begin((node.name, (0,)))
                own = stack[0] if self.words.states[node.name] == "client past" else stack
                stacks.add(len(own))
        if not counts:
            return range(stacks.pop() if len(stacks) == 1 else self.remembered(index, trees))
        if len(counts) != 1:
            raise Uncheckable(f"how many turns {index} has cannot be told")
        return range(min(counts.pop(), MOST_TURNS))

    def _remembers(self, node: Node, index: str) -> bool:
        """Whether a state is meant that remembers vectors, and the one at this index of it."""
        second = node.args[1] if node.name in self.words.states and len(node.args) > 1 else None
        return self.game is not None and second is not None and second.op == "name" and second.name == index

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
        return self.averaged(tree, at)

    def averaged(self, tree: Node, at: At) -> Any:
        """E of a tree, over all outcomes of what it speaks of; the same wherever its states have the same law."""
        if self.game is None or not 0 <= at.get("k", -1) <= self.rounds or not self._of_one_round(tree):
            return self._averaged(tree, at)
        law = self.game.law(at["k"])  # from some round on often the same
        key = (tree, tuple([at.get(i, -1) for i in ALL_INDICES if i != "k"]), id(law))
        if key not in self.expected:
            self.expected[key] = self._averaged(tree, at)
        return self.expected[key]

    def _of_one_round(self, tree: Node) -> bool:
        """Whether all states in it are those of round k, no tap is, and k stands nowhere else."""
        if tree not in self.of_one_round:
            nodes = list(self.with_definitions((tree,)))
            spoken = [node for node in nodes if node.op == "at"]
            states = [a for a in spoken if a.name in self.words.states and a.args[0].name == "k"]
            indexed = any(index_of(node.name)[1] == "k" for node in nodes if node.op == "name")
            over = any(node.op in OVER and OVER[node.op][1] == "k" for node in nodes)
            times = sum(node.op == "name" and node.name == "k" for node in nodes)
            self.of_one_round[tree] = len(spoken) == len(states) == times and not indexed and not over
        return self.of_one_round[tree]

    def _averaged(self, tree: Node, at: At) -> Any:
        total: Any = None
        for p, outcome in self.law(self.items(tree, at)):
            value = self.value(tree, at, outcome)
            part = self.vector("*", [value, p]) if isinstance(value, tuple) else value * p
            if total is None:
                total = part
            else:
                total = self.vector("+", [total, part]) if isinstance(total, tuple) else total + part
        return total

    def quantile(self, tree: Node, at: At) -> Any:
        """The least number that a tree exceeds with probability at most 1 - q: lower and upper ends by themselves."""
        inner, q = tree.args[0], self.value(tree.args[1], at, None)
        if q <= 0 or q > 1:
            raise Uncheckable("a quantile whose level is not in (0, 1]")
        items = self.items(inner, at)
        law = [(self.value(inner, at, outcome), p) for p, outcome in self.law(items)] if items else []
        if not items:
            return self.value(inner, at, None)
        self.work.spend(20 * len(law))
        if all(isinstance(value, Fraction) for value, _ in law):
            return reached(law, q)
        intervals = [(Interval.of(value), p) for value, p in law]
        lower = reached([(Fraction(value.low), p) for value, p in intervals], q)
        upper = reached([(Fraction(value.high), p) for value, p in intervals], q)
        return Interval(int(lower), int(upper))

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
        found: list[dict[str, int]] = [{}]
        weights = self.game.weights if self.game is not None else frozenset()
        given = [self.parameters[name] for name in names if name in self.parameters and name not in weights]
        if any(isinstance(v, tuple) and v and not isinstance(v[0], tuple) for v in given):
            found = [{EACH_CLIENT: n} for n in range(self.size("N"))]
        if any(isinstance(v, Schedule) for v in given):
            found = [{**at, EACH_ROUND: k} for at in found for k in range(self.rounds)]
        return found


def reached(law: list[tuple[Fraction, Number]], q: Number) -> Fraction:
    """The first of the values, from below, up to which the probability is at least q.

    Raises:
        Uncheckable: where intervals do not tell.
    """
    total: Number = ZERO
    ordered = sorted(law, key=lambda pair: pair[0])
    for value, p in ordered:
        total = total + p
        if not below(total, q):
            return value
    return ordered[-1][0]
