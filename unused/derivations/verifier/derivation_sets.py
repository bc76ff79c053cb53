"""Axioms about balls around 0: what is projected onto one, and where over one a weighed sum of functions is least."""

from __future__ import annotations

from collections.abc import Callable

from .derivation_facts import furthest
from .derivation_lines import Goal
from .derivation_rounds import Round
from .derivation_sums import Sums
from .derivation_terms import Poly
from .derivation_turns import modes
from .reading import Uncheckable, list_of
from .sentences import Node, read_formula


class Sets(Sums):
    """What is so of points of balls, which are closed and convex."""

    def of_sums(self) -> dict[str, Callable[[Goal], None]]:
        """The axioms that compare with the sentence themselves."""
        return {**super().of_sums(), "projection": self.projection, "argmin": self.argmin}

    def vectors(self, goal: Goal, *counts: int) -> list[Node]:
        """The vectors of an axiom, without samples."""
        of = [
            self.scalar(text, "a vector of the axiom", vectors=True) for text in list_of(goal.data.get("of", []), "of")
        ]
        words = [self.claimed.words.read(tree) for tree in of]
        if len(of) not in counts or any(not word.vector or "i" in word.free for word in words):
            raise Uncheckable("the axiom is of another number of vectors, or of numbers, or of a sample's vector")
        return of

    def not_negative(self, p: Poly, what: str) -> None:
        """That a number is certainly at least 0.

        Raises:
            Uncheckable: where nothing says so.
        """
        if p and not self.signs.of_terms(p, False) and not self.signs.of_lines(p, False):
            raise Uncheckable(f"nothing says that {what}")

    # projections

    def projection(self, goal: Goal) -> None:
        """With p the point of the ball next to v: p is in the ball, and <v - p, u - p> <= 0 for all u of the ball.

        Whatever was drawn: it is so in every outcome, for every client, and of a ball that is but one point.
        """
        p, *others = self.vectors(goal, 1, 3)
        al, value = self.algebra, self.normal.value
        v, u = others or (p, p)
        for at, path, turning in modes(self.normal, [value(p, self.start)]):
            made = Round(self.normal, at, path, turning=turning)
            radius = self.projected(made, p, v if others else None)
            if radius is None:
                continue
            self.not_negative(radius, "the radius is not negative")
            point, whole = value(p, self.start), al.mul(radius, radius)
            d = al.sub(whole, al.dot(point, point))
            if others:
                inside, before = (value(tree, self.start) for tree in (u, v))
                self.not_negative(al.sub(whole, al.dot(inside, inside)), "the third vector is in the ball")
                d = al.scale(al.dot(al.sub(before, point), al.sub(inside, point)), -1)
            if not self.follows("<=", d, goal.relation, goal.difference):
                raise Uncheckable("it is not what is so of a projection")
            goal.used.reach = furthest(goal.used.reach, made.carries())
            return
        raise Uncheckable("the first vector is no projection, or of something else than the second")

    def projected(self, made: Round, p: Node, v: Node | None) -> Poly | None:
        """The radius, where a vector is the projection of another; else None."""
        self.normal.round = made
        try:
            found = self.normal.value(p, self.start)
            before = None if v is None else self.normal.value(v, self.start)
        finally:
            self.normal.round = None
        ((m, c),) = found.items() if len(found) == 1 else (((), 0),)
        if c != 1 or len(m) != 1 or m[0][0].tag != "projected":
            return None
        radius, of = map(self.algebra.thawed, m[0][0].parts)
        return radius if before is None or not self.algebra.sub(before, of) else None

    # minimisers

    def argmin(self, goal: Goal) -> None:
        """With V where sum_n(q*f_n) is least over the ball: V is in it, and it does not fall from V to any u of it.

        A continuous function has such a point, and necessary for it is 0 <= sum_n(q*<grad f_n(V), u - V>), for q of
        any sign, whichever point V is where there are several.
        """
        of = [self.defined(read_formula(text, "of")) for text in list_of(goal.data.get("of", []), "of")]
        words = [self.claimed.words.read(tree) for tree in of]
        if len(of) not in (2, 3) or [word.vector for word in words] != [False, False, True][: len(of)]:
            raise Uncheckable("argmin is of weights and a radius, and of a vector")
        weights, radius, *others = of
        least, al, value = Node("argmin_n", (weights, radius)), self.algebra, self.normal.value
        point, r = value(least, self.start), value(radius, self.start)
        self.not_negative(r, "the radius is not negative")
        d = al.sub(al.mul(r, r), al.dot(point, point))
        if others:
            (u,) = others
            if words[2].free & {"n", "i"} or not self.normal.level:
                raise Uncheckable("the vector of the ball is one for each client, or only f is spoken of")
            inside = value(u, self.start)
            self.not_negative(al.sub(al.mul(r, r), al.dot(inside, inside)), "the vector is in the ball")
            slope = Node("dot", (Node("grad", (least,), "f_n"), Node("-", (u, least))))
            d = value(Node("sum_n", (Node("*", (weights, slope)),)), self.start)
        if not self.follows("<=", d, goal.relation, goal.difference):
            raise Uncheckable("it is not what is so of a minimiser over a ball")

    def defined(self, tree: Node) -> Node:
        """An expression, of which an axiom holds where it has a value."""
        self.claimed.words.read(tree)
        if reason := self.signs.undefined(tree, self.start):
            raise Uncheckable(f"in an expression of the axiom {reason} is not certainly in its domain")
        return tree
