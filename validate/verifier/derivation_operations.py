"""The rule `operation`: proximal points, the largest coordinates of a vector, and its signs, as a round makes them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from .derivation_axioms import Axioms, put
from .derivation_facts import furthest
from .derivation_lines import Goal
from .derivation_normal import LEVELS
from .derivation_rounds import Round
from .derivation_terms import Atom, Poly
from .derivation_turns import modes
from .reading import FormatError, Uncheckable, fields, shown, text_of
from .sentences import Node, read_formula

Saying = list[tuple[str, Poly]]
"""Relations of 0 to polynomials."""
KINDS = {
    "proximal": ("proximal", 3),
    "proximal convex": ("proximal", 3),
    "proximal smooth": ("proximal", 3),
    "mixed": ("mixed", 2),
    "mixed mean": ("mixed", 3),
    "largest": ("largest", 2),
    "signs": ("signs", 2),
}
"""The operation, and how many vectors it is said of."""
MEAN = "dot(mean_n(p_) - mean_n(v_), z_)"
AWAY = ("mean_n(norm2(p_ - mean_n(v_)))", "mean_n(norm2(v_ - mean_n(v_)))")


class Operations(Axioms):
    """What is so of vectors that a round makes by operations that stay as they are."""

    def operation(self, goal: Goal) -> None:
        """It is so of the first vector, which the operation makes of the second; whatever the third one is."""
        fields(goal.data, "the line", "by schema of", "name sentence using")
        schema = text_of(goal.data["schema"], "schema")
        if schema not in KINDS:
            raise FormatError(f"{shown(schema)} is nothing that is said of an operation")
        tag, count = KINDS[schema]
        trees = self.vectors(goal, count)
        for tree in trees:
            self.defined(tree)
        alone = tag == "proximal" and "n" not in self.claimed.words.read(trees[0]).free
        if alone:
            self.only_one("N")
        value = self.normal.value
        for at, path, turning in modes(self.normal, [value(trees[0], self.start)]):
            made = Round(self.normal, at, path, turning=turning)
            atom = self.made_by(made, tag, trees, alone)
            if atom is None:
                continue
            said = self.said(schema, atom, trees, alone, goal)
            if not any(self.follows(relation, p, goal.relation, goal.difference) for relation, p in said):
                raise Uncheckable(f"it is not what is so of it ({schema})")
            goal.used.reach = furthest(goal.used.reach, made.carries())
            return
        raise Uncheckable(f"the first vector is not {tag}, or of something else than the second")

    def made_by(self, made: Round, tag: str, trees: list[Node], alone: bool) -> Atom | None:
        """The symbol of a vector that the operation makes of another one; None where it is none."""
        al, one = self.algebra, self.of_one if alone else lambda p: p
        self.normal.round = made
        try:
            found, before = (one(self.normal.value(tree, self.start)) for tree in trees[:2])
        finally:
            self.normal.round = None
        ((mono, c),) = found.items() if len(found) == 1 else (((), Fraction(0)),)
        if c != 1 or len(mono) != 1 or mono[0][1] != 1 or mono[0][0].tag != tag:
            return None
        of = mono[0][0].parts[{"proximal": 1, "largest": 1, "signs": 0, "mixed": 1}[tag]]
        if tag == "mixed":
            frozen = al.frozen(before)
            same = al.rename(frozen, {"n": f"n@{1 + frozen.level}.0"}) is of and mono[0][0].parts[2] is al.var("n")
            return mono[0][0] if same else None
        return mono[0][0] if not al.sub(before, al.thawed(of)) else None

    def said(self, schema: str, atom: Atom, trees: list[Node], alone: bool, goal: Goal) -> Saying:
        """What is so."""
        al, dot, tag = self.algebra, self.algebra.dot, KINDS[schema][0]
        u, v, *others = (self.normal.value(tree, self.start) for tree in trees)
        d = al.of(al.atom("p", "d"))
        if tag == "mixed":
            return [self.mixed(str(atom.parts[0]), trees, goal)]
        if schema == "largest":
            m = al.thawed(atom.parts[0])
            equal = al.sub(dot(u, v), dot(u, u))
            return [("==", equal), ("<=", al.sub(al.mul(d, dot(u, u)), al.mul(m, dot(v, v))))]
        if schema == "signs":
            length = self.normal.value(Node("norm", (trees[1],)), self.start)
            return [("<=", al.sub(dot(u, v), length)), ("<=", al.sub(d, dot(u, u)))]
        t, (y,) = al.thawed(atom.parts[0]), others
        self.not_negative(t, "the step of a proximal point is positive")  # of 0 there is none
        function = "f" if alone else "f_n"
        by_schema: dict[str, Callable[[], Saying]] = {
            "proximal": lambda: self.least(t, u, v, y, self.falls(function, trees, t)),
            "proximal convex": lambda: self.subgradient(t, u, v, y, self.falls(function, trees, t), alone, goal),
            "proximal smooth": lambda: self.gradient(t, u, v, y, Node("grad", (trees[0],), function), alone, goal),
        }
        return by_schema[schema]()

    def mixed(self, matrix: str, trees: list[Node], goal: Goal) -> tuple[str, Poly]:
        """W is symmetric, its rows sum to 1, and on what sums to 0 it shrinks lengths by rho.

        So mean_n(W v) = mean_n(v), and |W v - 1 mean(v)| = |W (v - 1 mean(v))| <= rho*|v - 1 mean(v)|.
        """
        text = text_of(goal.data.get("using"), "using").strip()
        one = self.schemas.assumptions.get(text)
        if one is None or one.name != "connected" or one.matrix != matrix:
            raise Uncheckable(f"{shown(text)} does not say it of the matrix")
        self.assumed |= {text}
        new = dict(zip(("p_", "v_", "z_"), trees, strict=False))
        if len(trees) == 3:
            if "n" in self.claimed.words.read(trees[2]).free:
                raise Uncheckable("the third vector is not one of all clients")
            return "==", self.normal.value(put(read_formula(MEAN, "an axiom"), new), self.start)
        away, before = (put(read_formula(text, "an axiom"), new) for text in AWAY)
        al, rho = self.algebra, self.normal.value(Node("name", name="rho"), self.start)
        shrunk = al.mul(al.mul(rho, rho), self.normal.value(before, self.start))
        return "<=", al.sub(shrunk, self.normal.value(away, self.start))

    def falls(self, function: str, trees: list[Node], t: Poly) -> Poly:
        """t times what the function is at the third vector, less what it is at the first."""
        al = self.algebra
        there, here = (self.normal.value(Node(function, (trees[j],)), self.start) for j in (2, 0))
        return al.mul(t, al.sub(there, here))

    def least(self, t: Poly, u: Poly, v: Poly, y: Poly, falls: Poly) -> Saying:
        """F(u) + |u - v|^2/2t <= F(y) + |y - v|^2/2t, times 2t."""
        al = self.algebra
        to_y, to_u = al.sub(y, v), al.sub(u, v)
        return [("<=", al.add(al.scale(falls, 2), al.sub(al.dot(to_y, to_y), al.dot(to_u, to_u))))]

    def subgradient(self, t: Poly, u: Poly, v: Poly, y: Poly, falls: Poly, alone: bool, goal: Goal) -> Saying:
        """F(y) >= F(u) + <(v - u)/t, y - u> + mu/2*|y - u|^2, times t."""
        al, on = self.algebra, self.algebra.sub(y, u)
        constants = self.using(goal, ("convex", "strongly_convex"), alone)
        gap = al.sub(falls, al.dot(al.sub(v, u), on))
        found: Saying = [("<=", gap)]
        if constants:
            mu = self.normal.value(constants[0], self.start)
            found.append(("<=", al.sub(gap, al.scale(al.mul(al.mul(t, mu), al.dot(on, on)), Fraction(1, 2)))))
        return found

    def gradient(self, t: Poly, u: Poly, v: Poly, z: Poly, grad: Node, alone: bool, goal: Goal) -> Saying:
        """t*grad F(u) = v - u, where F is differentiable."""
        al = self.algebra
        self.using(goal, ("smooth",), alone)
        slope = al.mul(t, al.dot(self.normal.value(grad, self.start), z))
        return [("==", al.sub(slope, al.dot(al.sub(v, u), z)))]

    def using(self, goal: Goal, names: tuple[str, ...], alone: bool) -> tuple[Node, ...]:
        """The constants of the assumption that the line names.

        Raises:
            Uncheckable: where it is not one of these on the function of a client.
        """
        text = text_of(goal.data.get("using"), "using").strip()
        one = self.schemas.assumptions.get(text)
        if one is None or one.name not in names or self.schemas.over:
            raise Uncheckable(f"{shown(text)} is none of the claim's assumptions of this kind")
        free = frozenset[str]().union(*(self.claimed.words.read(c).free for c in one.constants))
        if (LEVELS.index(one.function) < 1 and not alone) or free - (frozenset() if alone else {"n"}):
            raise Uncheckable(f"{shown(text)} does not say it of the function of one client")
        self.assumed |= {text}
        return one.constants
