"""Over what the indices h and j go in derivations: the turns of a loop, or the vectors that a state remembers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator

from .assumed import alike
from .derivation_places import Env
from .derivation_replacing import Algebra
from .derivation_terms import Atom, Poly, all_atoms
from .reading import Uncheckable
from .sentences import OVER, Node, index_of, names_in
from .stated import Claimed
from .steps import Loop, Program, Step
from .vocabulary import PASTS

LAGS = "lags"
"""What is remembered, as a range."""
DEPTHS = {"h": 0, "j": 1}
Range = Loop | str


def ranges_in(tree: Node, index: str, env: Env, claimed: Claimed, weights: set[str]) -> set[Range]:
    """The loops around the taps that have an index, and whether remembered vectors, or their weights, have it.

    Raises:
        Uncheckable: where it stands for a round.
    """
    found: set[Range] = set()
    program, words = claimed.program, claimed.words
    for node, again in meant(tree, index, env, claimed):
        if node.op == "name" and index_of(node.name) in {(base, index) for base in weights} and not again:
            found.add(LAGS)
        if node.op != "at":
            continue
        places = [place for place, part in enumerate(node.args) if index in names_in(part)]
        if 0 in places:
            raise Uncheckable(f"the index {index} stands for a round of {node.name}")
        for place in places:
            if node.name in words.states:
                found |= set() if again else {LAGS}
            elif place != 1 + DEPTHS[index]:
                raise Uncheckable(f"the index {index} of {node.name} is that of another loop")
            else:
                assert program is not None
                found.add(program.taps[node.name][1][place - 1])
    return found


def meant(tree: Node, index: str, env: Env, claimed: Claimed) -> Iterator[tuple[Node, bool]]:
    """All parts of a tree, and of what names in it stand for; whether they stand in what is taken over the index."""
    left, seen = [(tree, False)], set[tuple[str, bool]]()
    while left:
        node, again = left.pop()
        yield node, again
        if node.op == "name" and (node.name, again) not in seen:
            seen.add((node.name, again))
            inner = env.trees[node.name][0] if node.name in env.trees else None
            inner = inner or claimed.words.definitions.get(node.name)
            left += [] if inner is None else [(inner, again)]
        inside = again or (node.op in OVER and OVER[node.op][1] == index)
        left += [(part, inside) for part in node.args]


def ranges_of(p: Poly, index: str, program: Program | None, weights: set[str]) -> set[Range]:
    """The same of a polynomial in which the index is free."""
    found: set[Range] = set()

    def has(part: object) -> bool:
        return isinstance(part, Atom) and index in part.frees

    for a in all_atoms(p):
        if a.tag == "p" and a.parts[0] in weights and any(map(has, a.parts[1:])):
            found.add(LAGS)
        if a.tag not in ("x", "tap") or index not in a.frees:
            continue
        assert program is not None
        if has(a.parts[1]):
            raise Uncheckable(f"the index {index} stands for a round of {a.parts[0]}")
        if a.tag == "x":
            found.add(LAGS)
        else:
            loops = program.taps[a.parts[0]][1]
            found |= {loop for loop, part in zip(loops, a.parts[2:], strict=False) if has(part)}
    return found


def possible(program: Program | None, index: str) -> set[Range]:
    """All that an index may go over in an algorithm."""
    if program is None:
        return set()
    depth = DEPTHS[index]
    found: set[Range] = {loops[depth] for _, loops in program.taps.values() if len(loops) > depth}
    return found | ({LAGS} if any(s.kind in PASTS for s in program.state) else set())


def length(program: Program | None) -> Node:
    """The formula of how many vectors are remembered.

    Raises:
        Uncheckable: where there is none, or states remember differently many.
    """
    trees = [s.length.tree for s in (() if program is None else program.state) if s.length is not None]
    if not trees or not all(alike(tree, trees[0]) for tree in trees) or trees[0].op not in ("name", "number"):
        raise Uncheckable("how many vectors are remembered is not one formula")
    return trees[0]


def one_range(found: Iterable[Range], index: str) -> Range:
    """The only one.

    Raises:
        Uncheckable: where there are none, or several.
    """
    every = list(found)
    if len(every) != 1:
        raise Uncheckable(f"over how many {index} is summed cannot be told")
    return every[0]


def shifted(program: Program | None) -> set[str]:
    """The states that remember vectors, and nothing else is done to them in a round than that one is put in front."""
    found: set[str] = set()
    if program is not None:
        for place, (s, result) in enumerate(zip(program.state, program.result, strict=True)):
            made = [x for x in program.body if isinstance(x, Step) and x.to == result and x.op == "shift"]
            if s.kind in PASTS and made and made[0].of[0] == f"_{place}":
                found.add(s.name)
    return found


class Ranges(ABC):
    """How many there are, as numbers."""

    claimed: Claimed
    algebra: Algebra
    start: Env
    weights: set[str]
    indexed: dict[str, str]

    @abstractmethod
    def value(self, tree: Node, env: Env) -> Poly:
        """A tree as a polynomial."""

    def range_of(self, index: str, body: Node, env: Env) -> Poly:
        """How many h, or j, are taken in a mean, sum, max or min of a tree."""
        return self.end(ranges_in(body, index, env, self.claimed, self.weights), index)

    def range_in(self, index: str, p: Poly) -> Poly:
        """The same of a polynomial in which the index is free."""
        return self.end(ranges_of(p, index, self.claimed.program, self.weights), index)

    def end(self, found: set[Range], index: str) -> Poly:
        """The number of turns, or of remembered vectors."""
        one = one_range(found or possible(self.claimed.program, index), index)
        if isinstance(one, str):
            return self.lags()
        if one.count is None or not one.count.fixed:
            raise Uncheckable("a sum over turns of a loop whose length is drawn")
        return self.formula(one.count.tree)

    def own_range(self, index: str, *trees: Node) -> Poly:
        """The number of turns h, or of turns or remembered vectors j, where there is only one such range.

        Raises:
            Uncheckable: where there are others, or trees go over others.
        """
        found = possible(self.claimed.program, index) - ({LAGS} if index == "h" else set())
        spoken = {r for tree in trees for r in ranges_in(tree, index, self.start, self.claimed, self.weights)}
        if spoken - found:
            raise Uncheckable(f"the index {index} of what is remembered, where it is known of the turns of a loop")
        return self.end({one_range(found, index)}, index)

    def of_one_range(self, index: str, *trees: Node) -> bool:
        """Whether a free h, or j, is below one number, whether it is a turn of trees or of what lines are about."""
        spoken = {r for tree in trees for r in ranges_in(tree, index, self.start, self.claimed, self.weights)}
        found = spoken | (possible(self.claimed.program, index) - ({LAGS} if index == "h" else set()))
        first, *others = [self.end({r}, index) for r in found] or [Poly()]
        return all(other == first for other in others)

    def lags(self) -> Poly:
        """How many vectors are remembered: a name means that number, whatever the claim defines it to be."""
        tree = length(self.claimed.program)
        return {(): tree.value} if tree.op == "number" else self.algebra.of(self.algebra.atom("p", tree.name))

    def kind_of(self, index: str, end: Poly) -> str:
        """The kind of a binder: what is remembered has the index j, whichever it is written with."""
        if index == "h" and self.weights and end == self.lags():
            return "j"
        return index

    def formula(self, tree: Node) -> Poly:
        """A formula of the program in parameters that are one number for all clients and rounds."""
        if names_in(tree) & self.indexed.keys() or "k" in names_in(tree):
            raise Uncheckable("a number of the program is not one for all clients and rounds")
        return self.value(tree, self.start)
