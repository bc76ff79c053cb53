"""Rules that compare squares and powers, put a vector for an equal one, and read what one client or a zero gives."""

from __future__ import annotations

from dataclasses import replace

from .derivation_binders import Swap
from .derivation_facts import Fact, Used
from .derivation_lines import Goal, Lines
from .derivation_places import Env
from .derivation_terms import FIRST, UNIT, Atom, Poly, atoms_of
from .reading import FormatError, Uncheckable, fields
from .sentences import Node, read_formula
from .stated import steps_of
from .steps import Step


class Compared(Lines):
    """Rules about one other line, or one client."""

    def root(self, goal: Goal) -> None:
        """a <= b from a**2 <= b**2 and b >= 0; a == b from a**2 == b**2 where both are."""
        fields(goal.data, "the line", "by line", "name sentence put")
        fact = self.named(goal)
        goal.used.add(fact)
        left, right = goal.sentence.left, goal.sentence.right
        if goal.sentence.relation[0] == ">":
            left, right = right, left
        if not self.signs.nonneg(right, goal.env):
            raise Uncheckable("the larger side is not certainly at least 0")
        if goal.relation == "==" and not self.signs.nonneg(left, goal.env):
            raise Uncheckable("a side of the equation is not certainly at least 0")
        a, b = (self.normal.value(side, goal.env) for side in (left, right))
        squares = self.algebra.sub(self.algebra.mul(b, b), self.algebra.mul(a, a))
        if not self.follows(fact.relation, fact.difference, goal.relation, squares):
            raise Uncheckable("that line does not compare the squares of the sides")

    def power(self, goal: Goal) -> None:
        """a**e <= b**e from 0 <= a <= b."""
        fields(goal.data, "the line", "by line", "name sentence put exponent")
        fact = self.named(goal)
        goal.used.add(fact)
        left, right = goal.sentence.left, goal.sentence.right
        if goal.sentence.relation[0] == ">":
            left, right = right, left
        if goal.relation != "<=" or not self.signs.nonneg(fact.left, fact.env):
            raise Uncheckable("the smaller side is not certainly at least 0")
        if self.signs.undefined(fact.left, fact.env) or self.signs.undefined(fact.right, fact.env):
            raise Uncheckable("a side of that line may be undefined")
        al, value = self.algebra, self.normal.value
        exponents = [side.args[1] for side in (left, right) if side.op == "**"]
        if "exponent" in goal.data and goal.env is self.start:
            exponents.append(self.scalar(goal.data["exponent"], "the exponent"))
        for e in exponents:
            number = e.op == "number" and e.value > 0
            if not number and not (self.signs.integer(e, goal.env) and self.signs.nonneg(e, goal.env)):
                continue
            ends = [self._raised(base, fact.env, e, goal.env) for base in (fact.left, fact.right)]
            sides = zip((left, right), ends, strict=True)
            if all(al.is_zero(al.sub(value(side, goal.env), end)) for side, end in sides):
                return
        raise Uncheckable("the sides are not the same powers of the sides of that line")

    def _raised(self, base: Node, inner: Env, e: Node, env: Env) -> Poly:
        """A side of a line to a power that stands where the goal does."""
        p = self.normal.value(base, inner)
        given = replace(env, given={**env.given, "b_": p}, trees={**env.trees, "b_": (base, inner)})
        return self.normal.value(Node("**", (Node("name", name="b_"), e)), given)

    def replace(self, goal: Goal) -> None:
        """The sides are the same when a vector is replaced by one that a line says is equal to it."""
        fields(goal.data, "the line", "by line", "name sentence put in")
        fact = self.named(goal)
        goal.used.add(fact)
        if goal.relation == "<":
            raise Uncheckable("a strict inequality of what is the same")
        if not self.same_when(goal.difference, [fact]):
            raise Uncheckable("the sides are not the same when the vector is replaced")

    def same_when(self, p: Poly, facts: list[Fact]) -> bool:
        """Whether it is 0 when vectors are replaced by those that lines say are equal to them."""
        if not facts:
            return self.algebra.is_zero(p)
        return any(self.same_when(self.algebra.swapped(p, swap), facts[1:]) for swap in self.equalities(facts[0]))

    def equalities(self, fact: Fact) -> list[Swap]:
        """Of a line norm2(u - v) <= 0 the ways to replace one vector; for every client, if it says it of all."""
        al = self.algebra
        left, program = fact.left, self.claimed.program
        steps = () if program is None else steps_of(program.body)
        if left.op == "E" and not any(isinstance(s, Step) and s.op == "noise" for s in steps):
            left = left.args[0]  # of finitely many outcomes each
        if fact.strict or left.op != "norm2" or not al.is_zero(self.normal.value(fact.right, fact.env)):
            raise Uncheckable("that line does not say that two vectors are equal")
        w = self.normal.value(left.args[0], fact.env)
        found = []
        for m, c in w.items():
            if len(m) == 1 and m[0][1] == 1 and abs(c) == 1 and m[0][0].tag not in ("B", "E"):
                rest = al.scale({x: y for x, y in w.items() if x != m}, -c)
                if not any(inside(m[0][0], a) for x in rest for a, _ in x):
                    found.append(self.swap(m[0][0], rest, self._of_all(m[0][0], fact)))
        return found

    def _of_all(self, pattern: Atom, fact: Fact) -> bool:
        """Whether a line says it of every client, and not only where what it divides by is not 0."""
        return "n" in pattern.frees and "n" not in fact.held and not fact.open

    def swap(self, pattern: Atom, by: Poly, of_all: bool) -> Swap:
        """Replaces an atom, and, where it is meant of all clients, its likes with another client's index."""
        al = self.algebra
        like: dict[Atom, bool] = {}

        def touches(a: Atom) -> bool:
            if a not in like:
                own = a.tag == pattern.tag and a.parts[0] == pattern.parts[0]
                like[a] = own or any(touches(x) for x in atoms_of(a.parts))
            return like[a]

        def at(a: Atom) -> Poly | None:
            if a is pattern:
                return by
            if of_all and a.tag == pattern.tag:
                for name in (*sorted(a.frees), FIRST):
                    if name[0] in ("n", FIRST[0]) and al.rename(pattern, {"n": name}) is a:
                        return al.renamed(by, {"n": name})
            return None

        return Swap(touches, at)

    def zero(self, goal: Goal) -> None:
        """Where the squared norm of a vector is 0 on average, so is its inner product with any other."""
        fields(goal.data, "the line", "by line of with", "name sentence put over")
        fact, al = self.named(goal), self.algebra
        goal.used.add(fact)
        vectors = []
        for key in ("of", "with"):
            tree = self.scalar(goal.data[key], key, vectors=True)
            if not self.claimed.words.read(tree).vector:
                raise FormatError(f"{key} is no vector")
            vectors.append(self.normal.value(tree, self.start))
        over, used = goal.data.get("over", []), Used()
        used.add(fact)
        square = self.bound(al.dot(vectors[0], vectors[0]), over, used)
        if not self.follows(fact.relation, fact.difference, "<=", al.scale(square, -1)):
            raise Uncheckable("that line does not say that the vector is 0")
        product = al.primitive(self.bound(al.dot(*vectors), over, used))
        found = al.primitive(goal.difference)
        if goal.relation == "<" or found not in ({}, product, al.scale(product, -1)):
            raise Uncheckable("it is not that the inner product is 0")

    def single(self, goal: Goal) -> None:
        """The sides are the same because there is one client."""
        fields(goal.data, "the line", "by", "name sentence")
        less = read_formula("1 - N", "a formula")
        if not self.signs.nonneg(less, self.start):
            raise Uncheckable("nothing says that N <= 1")
        if goal.relation == "<" or not self.algebra.is_zero(self.of_one(goal.difference)):
            raise Uncheckable("the sides are not the same for one client")

    def of_one(self, p: Poly) -> Poly:
        """A polynomial where there is one client: means over clients are what is of that one."""
        al = self.algebra
        N, first = al.atom("p", "N"), al.var(FIRST)
        like: dict[Atom, bool] = {}

        def clients(a: Atom) -> bool:
            return a in (N, first) or (a.tag == "B" and any(b[0] == "n" for b in a.parts[0]))

        def touches(a: Atom) -> bool:
            if a not in like:
                like[a] = clients(a) or any(touches(x) for x in atoms_of(a.parts))
            return like[a]

        def at(a: Atom) -> Poly | None:
            if not clients(a):
                return None
            if a in (N, first):
                return UNIT if a is N else al.of(al.var("n"))
            binders, pairs = al.opened(a)
            names = {b[1]: "n" for b in binders if b[0] == "n"}
            left = [(b[0], b[1], al.rename(b[2], names) if b[2] else "") for b in binders if b[0] != "n"]
            term = UNIT
            for x, e in pairs:
                term = al.mul(term, al.power(al.swapped(al.of(al.rename(x, names)), swap), e))
            total: Poly = {}
            for m, c in term.items():
                opened, found = al.spread(m, lambda x: any(b[1] in x.frees for b in left))
                total = al.add(total, al.scale(al.close([*left, *opened], found), c))
            return total

        swap = Swap(touches, at)
        return al.swapped(p, swap)


def inside(atom: Atom, other: Atom) -> bool:
    """Whether an atom stands in another."""
    return atom is other or any(inside(atom, a) for a in atoms_of(other.parts))
