"""Another claim with a derivation of its own, as a line: its sentence with other parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from .assumed import alike_sentences
from .derivation_blocks import Blocks, Failed
from .derivation_facts import TURNED
from .derivation_lines import Goal
from .derivation_places import Env
from .derivation_terms import Poly
from .reading import FormatError, Uncheckable, shown
from .sentences import ALL_CLIENTS, OVER, SIZES, Node, Sentence, everything, index_of, names_in
from .stated import Claimed

Check = Callable[[Any, int], Blocks]
"""Checks the derivation of another claim, at this depth of nesting; its lines."""
DEEPEST = 4


def other_claim(data: Mapping[str, Any], check: Check, depth: int) -> Callable[[Goal, Blocks], None]:
    """The rule `claim` in a derivation with these data."""

    def rule(goal: Goal, outer: Blocks) -> None:
        nested = goal.data["derivation"]
        if depth >= DEEPEST:
            raise FormatError("claims are nested too deeply")
        if not isinstance(nested, dict):
            raise FormatError("the derivation of another claim is not an object")
        if "id" in goal.data and goal.data["id"] != nested.get("claim"):
            raise Uncheckable("the derivation is that of another claim than it says")
        if nested.get("program") is not None and nested.get("program") != data.get("program"):
            raise Uncheckable("the other claim is about another algorithm")
        if nested.get("over"):
            raise Uncheckable("the other claim is made on a domain only, which is not read in derivations")
        put = goal.data.get("put", {})
        if not isinstance(put, dict):
            raise FormatError("put is not an object of formulas")
        try:
            inner = check(nested, depth + 1)
        except Failed as failed:
            raise Failed(f"{shown(nested.get('claim'))}: {failed.name}", failed.reason) from None
        if inner.within:
            raise Uncheckable("the other claim is of the rounds and turns of the run only, and lines are of all")
        Applied(goal, outer, inner, put).check()
        outer.cited += inner.cited

    return rule


class Applied:
    """A claim that is true, for other parameters and vectors."""

    def __init__(self, goal: Goal, outer: Blocks, inner: Blocks, put: Mapping[str, Any]) -> None:
        self.goal, self.outer, self.inner, self.claimed = goal, outer, inner, inner.claimed
        words = self.claimed.words
        self.trees: dict[str, Node] = {}
        names = {name for tree in _trees(self.claimed) for name in names_in(tree)}
        assumed = {name for tree in _assumed(self.claimed) for name in names_in(self._unfolded(tree))}
        everywhere = [node for tree in _trees(self.claimed) for node in everything(tree)]
        inside = self._indices()
        own = set() if self.claimed.program is None else set(self.claimed.program.parameters)
        for name in put:
            if name in own or name in words.states or name in words.taps or name not in names | words.vectors:
                raise Uncheckable(f"{shown(name)} is no parameter or vector of the other claim that may be another")
            if name in words.definitions or name in SIZES or (index_of(name)[1] and name not in words.vectors):
                raise Uncheckable(f"nothing may be put for {shown(name)}")
            self.trees[name] = outer.scalar(put[name], f"what is put for {name}", vectors=True)
            free = outer.claimed.words.read(self.trees[name])
            drawn = free.random and (name not in words.vectors or any(n.op in ("E", "quantile") for n in everywhere))
            if free.free and name in assumed:  # what is assumed of all clients would be known of each beside its own
                raise Uncheckable(f"what is put for {shown(name)} has indices, and something of it is assumed")
            caught = inside - ({"n"} if name in words.vectors and name.endswith("_n") else set())
            if free.free & caught:  # it would mean the index that the other claim has, or sums over
                raise Uncheckable(f"what is put for {shown(name)} has an index that is one of the other claim")
            if free.vector != (name in words.vectors) or drawn:
                raise Uncheckable(f"what is put for {shown(name)} is of another kind")
        given: dict[str, Poly] = {name: outer.normal.value(tree, outer.start) for name, tree in self.trees.items()}
        self.names = names
        self.env: Env = replace(
            outer.start, given=given, trees={name: (tree, outer.start) for name, tree in self.trees.items()}
        )

    def _indices(self) -> set[str]:
        """Those that the other claim has anywhere, free or taken over."""
        s, words, found = self.claimed.sentence, self.claimed.words, set[str]()
        for tree in (s.left, s.right, *_assumed(self.claimed)):
            for node in everything(self._unfolded(tree)):
                found |= words.read(node).free
                if node.op in OVER:
                    found.add(OVER[node.op][1])
                elif node.op in ALL_CLIENTS:
                    found.add("n")
        return found

    def check(self) -> None:
        """That hypotheses hold, all is defined, and the sentence is the line's."""
        outer, goal = self.outer, self.goal
        self.kinds()
        for hypothesis in self.claimed.relations:
            self.holds(hypothesis)
        for assumption in self.claimed.assumptions:
            here = next((other for other in outer.claimed.assumptions if self.same(assumption, other)), None)
            if here is None:
                raise Uncheckable(f"{shown(assumption.text)} of the other claim is not assumed here")
            outer.assumed.add(here.text)
        s = self.claimed.sentence
        d = outer.normal.difference(*self.unfolded(s), self.env)
        relation = TURNED[s.relation] if s.relation[0] == ">" else s.relation
        if not outer.follows(relation, d, goal.relation, goal.difference):
            raise Uncheckable("it is not what the other claim says")

    def unfolded(self, s: Sentence) -> tuple[Node, str, Node]:
        """A sentence of the other claim without its definitions, where everything is defined."""
        left, right = (self._unfolded(side) for side in (s.left, s.right))
        for side in (left, right):
            if self.outer.signs.undefined(side, self.env):
                raise Uncheckable("something that the other claim divides by, or takes the root of, may be 0 here")
        return left, s.relation, right

    def _unfolded(self, tree: Node) -> Node:
        definitions = self.claimed.words.definitions
        if tree.op == "name" and tree.name in definitions:
            return self._unfolded(definitions[tree.name])
        self.outer.algebra.spend(1)
        return Node(tree.op, tuple(map(self._unfolded, tree.args)), tree.name, tree.value, tree.depth)

    def kinds(self) -> None:
        """That names mean the same in both claims, and parameters are in their domains."""
        outer, words = self.outer, self.outer.claimed.words
        for name in sorted(self.claimed.words.vectors - self.trees.keys()):
            if name not in words.vectors:
                raise Uncheckable(f"nothing is put for the vector {shown(name)}")
        for name in sorted(self.names):
            own = self.claimed.words
            if name in (*own.vectors, *own.definitions, *SIZES, *"nikhj", "fstar", "x0", "xstar", "xstar_n"):
                continue
            base = index_of(name)[0]
            tree = self.trees.get(name, Node("name", name=name))
            if name not in self.trees and (name in words.vectors or name in words.states or name in words.taps):
                raise Uncheckable(f"{shown(name)} means another thing in the other claim")
            if base in self.inner.signs.odd:
                if name in self.trees or base not in outer.signs.odd:
                    raise Uncheckable(f"{shown(name)} is a matrix, or what belongs to one")
                continue
            low, low_open, high, high_open = self.inner.signs.ends(name)
            domain = self.claimed.domains.get(base)
            whole = (
                self.inner.signs.integer(Node("name", name=name), self.inner.start)
                if domain is None
                else (domain["integer"])
            )
            inside = not whole or outer.signs.integer(tree, outer.start)
            for end, is_open, side in ((low, low_open, 1), (high, high_open, -1)):
                if end is not None:
                    inside = inside and self._beyond(tree, end, is_open, side)
            if not inside:
                raise Uncheckable(f"{shown(name)} is not certainly in its domain in the other claim")

    def _beyond(self, tree: Node, end: Fraction, is_open: bool, side: int) -> bool:
        number = Node("number", value=end)
        away = Node("-", (tree, number) if side > 0 else (number, tree))
        signs, start = self.outer.signs, self.outer.start
        sign = signs.pos if is_open else signs.nonneg
        if sign(tree, start) and side > 0 and end == 0:
            return True
        if tree.op == "name" and tree.name not in self.outer.claimed.words.definitions:
            low, low_open, high, high_open = signs.ends(tree.name)
            known, known_open = (low, low_open) if side > 0 else (high, high_open)
            if known is not None and ((known - end) * side > 0 or (known == end and (known_open or not is_open))):
                return True
        return sign(away, start)

    def holds(self, relation: Sentence) -> None:
        """A relation of the other claim, which is to be a line or a hypothesis here."""
        outer = self.outer
        d = outer.normal.difference(*self.unfolded(relation), self.env)
        wanted = TURNED[relation.relation] if relation.relation[0] == ">" else relation.relation
        free = frozenset[str]().union(*(self.claimed.words.read(x).free for x in (relation.left, relation.right)))
        for fact in self.goal.scope.values():
            if outer.follows(fact.relation, fact.difference, wanted, d):
                if free & fact.held or (free and fact.reach):
                    continue
                self.goal.used.add(fact)
                return
        raise Uncheckable(f"the relation {shown(relation.text)} of the other claim is no line or hypothesis here")

    def same(self, one: Any, two: Any) -> bool:
        """Whether an assumption of the other claim is one of this."""
        if (one.name, one.function, one.matrix, len(one.constants)) != (
            two.name,
            two.function,
            two.matrix,
            len(two.constants),
        ):
            return False
        if one.sentence is not None and (one.points != two.points or not alike_sentences(one.sentence, two.sentence)):
            return False
        value, al = self.outer.normal.value, self.outer.algebra
        pairs = zip(one.constants, two.constants, strict=True)
        return all(al.is_zero(al.sub(value(self._unfolded(a), self.env), value(b, self.outer.start))) for a, b in pairs)


def _trees(claimed: Claimed) -> list[Node]:
    trees = [claimed.sentence.left, claimed.sentence.right, *claimed.words.definitions.values()]
    return trees + _assumed(claimed)


def _assumed(claimed: Claimed) -> list[Node]:
    trees = [side for r in claimed.relations for side in (r.left, r.right)]
    return trees + [c for a in claimed.assumptions for c in a.constants]
