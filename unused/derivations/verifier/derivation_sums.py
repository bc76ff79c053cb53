"""Axioms about sums: what telescopes, sums up to a turn, tails over what is remembered, and Jensen with weights."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from .derivation_atoms import frees_of
from .derivation_facts import furthest
from .derivation_lines import Goal
from .derivation_places import Env
from .derivation_ranges import LAGS, length, ranges_in
from .derivation_terms import Poly
from .derivation_vectors import Compared
from .reading import FormatError, Uncheckable, list_of, shown
from .sentences import Node

ZERO, ONE = (Node("number", value=Fraction(x)) for x in (0, 1))
JENSEN = (*(f"sum_{index}" for index in "njihk"), "mean_n", "mean_i")


def name(text: str) -> Node:
    """A name as a tree."""
    return Node("name", name=text)


def until(end: Node, at: Node) -> Node:
    """1 for integers less than the end, else 0."""
    return Node("max", (ZERO, Node("min", (ONE, Node("-", (end, at))))))


class Sums(Compared):
    """Sentences that are true of all sums of their kind."""

    def of_sums(self) -> dict[str, Callable[[Goal], None]]:
        """The axioms by name."""
        return {
            "telescope": self.telescope,
            "lexicographic": self.lexicographic,
            "tail": self.tail,
            "jensen": self.jensen,
        }

    def expressions(self, goal: Goal, *counts: int, vectors: bool = False) -> list[Node]:
        """What the axiom is of."""
        of = list_of(goal.data.get("of", []), "of")
        if len(of) not in counts or goal.env is not self.start:
            raise Uncheckable("the axiom takes another number of expressions, or is not said of the first round")
        return [self.scalar(text, "an expression of the axiom", vectors=vectors) for text in of]

    def at_index(self, tree: Node, **nums: Poly) -> Poly:
        """A tree with other rounds or turns, where it is defined."""
        env: Env = self.start.with_nums(**nums)
        if reason := self.signs.undefined(tree, env):
            raise Uncheckable(f"in what is summed {reason} is not certainly in its domain")
        return self.normal.value(tree, env)

    def end_of(self, index: str, tree: Node) -> Node:
        """The formula of how many k, h or j are taken in a sum of a tree."""
        if index == "k":
            return name("K")
        (one,) = ranges_in(tree, index, self.start, self.claimed, self.normal.weights) or [None]
        if one == LAGS:
            return length(self.claimed.program)
        if one is None or isinstance(one, str) or one.count is None or not one.count.fixed:
            raise Uncheckable(f"over how many {index} is summed cannot be told")
        return one.count.tree

    def turn(self, tree: Node, end: Node) -> Poly:
        """A number of turns, at most the end, that is no index of the sum and not drawn."""
        reading = self.claimed.words.read(tree)
        p = self.normal.value(tree, self.start)
        whole = self.normal.integer_form(p) and self.signs.integer(tree, self.start)
        if reading.vector or reading.random or reading.free & {"h", "j", "n", "i"} or not whole:
            raise Uncheckable("a sum up to what is not certainly one number of turns")
        for least in (tree, Node("-", (end, tree))):
            if not self.signs.nonneg(least, self.start):
                raise Uncheckable("a sum up to a turn that is not certainly among the turns")
        return p

    def equation(self, goal: Goal, p: Poly, vector: bool = False) -> None:
        """The sentence is that p is 0.

        Raises:
            Uncheckable: where it is another one.
        """
        if not vector:
            if goal.relation == "==" and self.follows("==", p, "==", goal.difference):
                return
        elif goal.relation != "<" and self.null(goal):
            w = self.normal.value(goal.sentence.left.args[0], self.start)
            if self.algebra.is_zero(self.algebra.sub(w, p)) or self.algebra.is_zero(self.algebra.add(w, p)):
                return
        raise Uncheckable("it is not what the axiom says")

    def null(self, goal: Goal) -> bool:
        """Whether the sentence is norm2(w) <= 0 or == 0."""
        s = goal.sentence
        return (
            s.left.op == "norm2"
            and s.relation in ("<=", "==")
            and self.algebra.is_zero(self.normal.value(s.right, self.start))
        )

    def telescope(self, goal: Goal) -> None:
        """The sum over all k, h or j (those less than m) of a(k + 1) - a(k) is a(K) - a(0) (a(m) - a(0))."""
        over = str(goal.data.get("over"))
        index = over[-1]
        if over not in ("sum_k", "sum_h", "sum_j"):
            raise Uncheckable("telescope takes a sum over k, h or j")
        tree, *more = self.expressions(goal, 1, 2, vectors=True)
        al, now = self.algebra, self.start.nums[index]
        grows = al.sub(self.at_index(tree, **{index: al.add(now, {(): Fraction(1)})}), self.at_index(tree))
        if more:
            last = self.turn(more[0], self.end_of(index, tree))
            if index in self.claimed.words.read(more[0]).free:
                raise Uncheckable("telescope up to what hangs on the index of the sum")
            grows = al.mul(self.normal.value(until(more[0], name(index)), self.start), grows)
        else:
            last = self.start.nums["K"] if index == "k" else self.normal.range_of(index, tree, self.start)
        total = self.total(grows, index, tree)
        whole = al.sub(al.sub(self.at_index(tree, **{index: last}), self.at_index(tree, **{index: {}})), total)
        self.equation(goal, whole, self.claimed.words.read(tree).vector)

    def total(self, p: Poly, index: str, tree: Node) -> Poly:
        """The sum over an index, as often as a tree says."""
        al = self.algebra
        end = self.start.nums["K"] if index == "k" else self.normal.range_of(index, tree, self.start)
        if index not in frees_of(p):
            return al.mul(end, p)
        return self.summed(p, index, end)

    def lexicographic(self, goal: Goal) -> None:
        """What is summed over the turns (h, j) before (s, m) is so over all j of the turns before s, and the j of s."""
        e, s, m = self.expressions(goal, 3)
        al = self.algebra
        S, M = (self.end_of(index, e) for index in "hj")
        self.turn(s, Node("-", (S, ONE)))
        self.turn(m, M)
        if {"h", "j"} & (self.claimed.words.read(s).free | self.claimed.words.read(m).free):
            raise Uncheckable("lexicographic up to what hangs on the indices of the sums")
        before = Node("+", (Node("*", (s, M)), m)), Node("+", (Node("*", (name("h"), M)), name("j")))
        now, value = self.at_index(e), self.normal.value
        at_s = self.at_index(e, h=value(s, self.start))
        left = self.total(self.total(al.mul(value(until(*before), self.start), now), "j", e), "h", e)
        earlier = self.total(al.mul(value(until(s, name("h")), self.start), self.total(now, "j", e)), "h", e)
        there = self.total(al.mul(value(until(m, name("j")), self.start), at_s), "j", e)
        self.equation(goal, al.sub(left, al.add(earlier, there)))

    def tail(self, goal: Goal) -> None:
        """c(j), the sum over the h from j on of what is remembered: c(j) - c(j + 1), c(0) and c(J)."""
        (e,) = self.expressions(goal, 1)
        al, j = self.algebra, self.start.nums["j"]
        over = ranges_in(e, "h", self.start, self.claimed, self.normal.weights)
        if "j" in self.claimed.words.read(e).free or over != {LAGS}:
            raise Uncheckable("tail is of numbers with the index h of what is remembered, and without j")
        tree = Node("sum_h", (Node("*", (until(Node("+", (name("h"), ONE)), name("j")), e)),))
        following = al.add(j, {(): Fraction(1)})
        one = al.sub(al.sub(self.at_index(tree), self.at_index(tree, j=following)), self.at_index(e, h=j))
        first = al.sub(self.at_index(tree, j={}), self.at_index(Node("sum_h", (e,))))
        for p in (first, self.at_index(tree, j=self.normal.lags())):
            if goal.relation == "==" and self.follows("==", p, "==", goal.difference):
                return
        self.normal.own_range("j", e)
        self.equation(goal, one)
        goal.used.reach = furthest(goal.used.reach, {"j": 1})

    def jensen(self, goal: Goal) -> None:
        """norm2(B(w*v)) <= B(w)*B(w*norm2(v)) for a sum or mean B and weights w >= 0."""
        how = goal.data.get("over")
        if how not in JENSEN:
            raise Uncheckable(f"over={shown(how)} is none of {', '.join(JENSEN)}")
        w, v = self.expressions(goal, 2, vectors=True)
        read = self.claimed.words.read
        if read(w).vector or not read(v).vector:
            raise FormatError("jensen takes a number and a vector")
        product = Node("*", (w, v))
        whole = Node("norm2", (Node(str(how), (product,)),))
        squares = Node(str(how), (Node("*", (w, Node("norm2", (v,)))),))
        right = Node("*", (Node(str(how), (w,)), squares))
        for tree in (whole, right):
            if reason := self.signs.undefined(tree, self.start):
                raise Uncheckable(f"{reason} is not certainly in its domain")
        before = self.signs.under
        self.signs.under = before | self.signs.around(str(how)[-1], product, self.start)
        try:
            if not self.signs.nonneg(w, self.start):
                raise Uncheckable("the weights are not certainly at least 0")
        finally:
            self.signs.under = before
        d = self.normal.difference(whole, "<=", right, self.start)
        if not self.follows("<=", d, goal.relation, goal.difference):
            raise Uncheckable("it is not what the axiom says of these expressions")
