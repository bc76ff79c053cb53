"""Rules that compare squares and powers, put a vector for an equal one, and read what one client or a zero gives."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from .derivation_binders import Swap, holding
from .derivation_facts import Fact, Used
from .derivation_lines import Goal, Lines
from .derivation_normal import Normal
from .derivation_places import Env
from .derivation_terms import FIRST, UNIT, Atom, Poly, atoms_of
from .reading import FormatError, Uncheckable, fields, shown, text_of
from .sentences import Node, index_of, read_formula
from .stated import steps_of
from .steps import Step


class Compared(Lines):
    """Rules about one other line, or one client."""

    def _compared(self, goal: Goal) -> tuple[Fact, tuple[Node, Node]]:
        """The line that is named, and the sides, the smaller one first."""
        fact = self.named(goal)
        goal.used.add(fact)
        left, right = goal.sentence.left, goal.sentence.right
        return fact, (right, left) if goal.sentence.relation[0] == ">" else (left, right)

    def root(self, goal: Goal) -> None:
        """a <= b from a**2 <= b**2 and b >= 0; a == b from a**2 == b**2 where both are."""
        fields(goal.data, "the line", "by line", "name sentence put")
        fact, (left, right) = self._compared(goal)
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
        fields(goal.data, "the line", "by line exponent", "name sentence")
        fact, (left, right) = self._compared(goal)
        if goal.relation != "<=" or not self.signs.nonneg(fact.left, fact.env):
            raise Uncheckable("the smaller side is not certainly at least 0")
        if self.signs.undefined(fact.left, fact.env) or self.signs.undefined(fact.right, fact.env):
            raise Uncheckable("a side of that line may be undefined")
        al, value = self.algebra, self.normal.value
        e = self.scalar(goal.data["exponent"], "the exponent")
        if not (self.signs.integer(e, self.start) and self.signs.nonneg(e, self.start)):
            raise Uncheckable("the exponent is not certainly an integer that is at least 0")
        ends = [self._raised(base, fact.env, e) for base in (fact.left, fact.right)]
        sides = zip((left, right), ends, strict=True)
        if all(al.is_zero(al.sub(value(side, goal.env), end)) for side, end in sides):
            return
        raise Uncheckable("the sides are not the same powers of the sides of that line")

    def _raised(self, base: Node, inner: Env, e: Node) -> Poly:
        """A side of a line to a power."""
        p = self.normal.value(base, inner)
        given = replace(self.start, given={"b_": p}, trees={"b_": (base, inner)})
        return self.normal.value(Node("**", (Node("name", name="b_"), e)), given)

    def replace(self, goal: Goal) -> None:
        """The sides are the same when a vector is replaced by one that a line says is equal to it."""
        fields(goal.data, "the line", "by line", "name sentence")
        fact = self.named(goal)
        goal.used.add(fact)
        if goal.relation == "<":
            raise Uncheckable("a strict inequality of what is the same")
        if not self.same_when(goal.difference, [fact]):
            raise Uncheckable("the sides are not the same when the vector is replaced")

    def same_when(self, p: Poly, facts: list[Fact]) -> bool:
        """Whether it is 0 when vectors are replaced by those that lines say are equal to them."""
        if not facts:
            return self.algebra.is_zero(self.chosen(p))
        return any(self.same_when(self.algebra.swapped(p, swap), facts[1:]) for swap in self.equalities(facts[0]))

    def chosen(self, p: Poly) -> Poly:
        """Where S clients are chosen, the mean of how often is S/N, for every outcome."""
        al, unfolding = self.algebra, self.normal.round

        def at(a: Atom) -> Poly | None:
            if a.tag != "B" or len(a.parts[0]) != 1 or len(a.parts[1]) != 1 or unfolding is None:
                return None
            ((draw, e),) = a.parts[1]
            if e != 1 or draw.tag != "draw" or draw.parts[0] not in ("choose", "counts") or a.parts[0][0][0] != "n":
                return None
            number: Poly = unfolding.kinds[draw.parts[1]][1]
            if any(x.frees for m in number for x, _ in m):  # one for each client
                return None
            return al.mul(number, al.inverse(al.of(al.atom("p", "N"))))

        return al.swapped(p, Swap(lambda a: bool(a.dr), at))

    def equalities(self, fact: Fact) -> list[Swap]:
        """Of a line norm2(u - v) <= 0 the ways to replace one vector; for every index of which it says it.

        Where states after a round are unfolded, the line is meant as it is, and unfolded.
        """
        left, program = fact.left, self.claimed.program
        steps = () if program is None else steps_of(program.body)
        if left.op == "E" and not any(isinstance(s, Step) and s.op == "noise" for s in steps):
            left = left.args[0]  # of finitely many outcomes each
        if fact.strict or left.op != "norm2" or not self.algebra.is_zero(self.normal.value(fact.right, fact.env)):
            raise Uncheckable("that line does not say that two vectors are equal")
        unfolding, self.normal.round = self.normal.round, None
        try:
            both = [self.normal.value(left.args[0], fact.env)]
        finally:
            self.normal.round = unfolding
        if unfolding is not None:
            both.append(self.normal.value(left.args[0], fact.env))
        return [swap for w in both for swap in self._ways(w, fact)]

    def _ways(self, w: Poly, fact: Fact) -> list[Swap]:
        """The ways to replace one vector, where a combination of vectors is 0."""
        al, found = self.algebra, []
        free = frozenset("nkhj") - fact.held - fact.reach.keys()
        for m, c in w.items():
            if len(m) == 1 and m[0][1] == 1 and abs(c) == 1 and m[0][0].tag not in ("B", "E"):
                rest = al.scale({x: y for x, y in w.items() if x != m}, -c)
                if not any(inside(m[0][0], a) for x in rest for a, _ in x):
                    found.append(Replaced(self.normal, m[0][0], rest, free & m[0][0].frees).swap())
        return found

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
        fields(goal.data, "the line", "by", "name sentence of")
        of = text_of(goal.data.get("of", "N"), "of")
        self.only_one(of)
        found = self.of_one(goal.difference) if of == "N" else self.where_one(goal.difference, of)
        if goal.relation == "<" or not self.algebra.is_zero(found):
            raise Uncheckable(f"the sides are not the same where {shown(of)} is 1")

    def only_one(self, name: str) -> None:
        """That a number is certainly 1.

        Raises:
            Uncheckable: where nothing says so.
        """
        tree = read_formula(name, "of")
        if tree.op != "name" or (name != "N" and not (self.single_name(tree) and index_of(name)[1] == "")):
            raise Uncheckable(f"of={shown(name)} is no parameter that is an integer, and at least 1")
        if not self.signs.nonneg(Node("-", (Node("number", value=Fraction(1)), tree)), self.start):
            raise Uncheckable(f"nothing says that {shown(name)} <= 1")

    def single_name(self, tree: Node) -> bool:
        """Whether a name is a parameter that is an integer, and at least 1."""
        known = tree.name in self.claimed.words.definitions or tree.name in ("K", "d", "k", "h", "j", "n", "i")
        less = Node("-", (tree, Node("number", value=Fraction(1))))
        return not known and self.signs.integer(tree, self.start) and self.signs.nonneg(less, self.start)

    def where_one(self, p: Poly, name: str) -> Poly:
        """A polynomial where an integer is 1: sums of so many terms are their first."""
        al = self.algebra
        (((number, _),),) = self.normal.value(Node("name", name=name), self.start)

        def at(a: Atom) -> Poly | None:
            if a is number:
                return UNIT
            if a.tag == "pow" and a.parts[1] is number:
                return al.swapped(al.thawed(a.parts[0]), swap)
            if a.tag != "B" or not any(b[0] in "khj" and al.thawed(b[2]) == al.of(number) for b in a.parts[0]):
                return None
            binders, pairs = al.opened(a)
            first = {b[1]: Poly() for b in binders if b[0] in "khj" and al.thawed(b[2]) == al.of(number)}
            begun = Swap(
                lambda x: not x.frees.isdisjoint(first), lambda x: first.get(x.parts[0]) if x.tag == "v" else None
            )
            left = [(b[0], b[1], al.one(b[2], swap) if b[2] else "") for b in binders if b[1] not in first]
            term = UNIT
            for x, e in pairs:
                term = al.mul(term, al.power(al.swapped(al.swapped(al.of(x), begun), swap), e))
            return al.under(left, term)

        swap = Swap(holding(lambda a: a is number), at)
        return al.swapped(p, swap)

    def of_one(self, p: Poly) -> Poly:
        """A polynomial where there is one client: means over clients are what is of that one."""
        al = self.algebra
        N, first = al.atom("p", "N"), al.var(FIRST)

        def clients(a: Atom) -> bool:
            return a in (N, first) or (a.tag == "B" and any(b[0] == "n" for b in a.parts[0]))

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
            return al.under(left, term)

        swap = Swap(holding(clients), at)
        return al.swapped(p, swap)


class Replaced:
    """An atom in whose place another vector is put, at all its indices of which that is known."""

    def __init__(self, normal: Normal, pattern: Atom, by: Poly, free: frozenset[str]) -> None:
        self.normal, self.algebra, self.pattern, self.by, self.free = normal, normal.algebra, pattern, by, free

    def swap(self) -> Swap:
        """What is to be replaced, by what."""
        alike = holding(lambda a: a.tag == self.pattern.tag and a.parts[0] == self.pattern.parts[0])
        return Swap(alike, self.at)

    def at(self, a: Atom) -> Poly | None:
        """What an atom becomes: the other vector, with the indices at which the atom is the pattern."""
        if a is self.pattern:
            return self.by
        if not self.free or a.tag != self.pattern.tag or len(a.parts) != len(self.pattern.parts):
            return None
        found: dict[str, Poly] = {}
        for own, other in zip(self.pattern.parts, a.parts, strict=True):
            if isinstance(own, Atom) and isinstance(other, Atom) and own is not other:
                index, value = self.meant(own, other)
                if not index or found.setdefault(index, value) != value:
                    return None
        put = self.algebra.putting(found)
        if self.algebra.swapped(self.algebra.of(self.pattern), put) != self.algebra.of(a):
            return None
        return self.algebra.swapped(self.by, put)

    def meant(self, own: Atom, other: Atom) -> tuple[str, Poly]:
        """The index for which something is put, so that a part of the pattern becomes another; nothing if none is."""
        al = self.algebra
        if own.tag == "v" and own.parts[0] in self.free and other.tag == "v":
            kind = "n" if other.parts[0] == FIRST else other.parts[0][0]
            return (own.parts[0], al.of(other)) if kind == own.parts[0] else ("", {})
        if own.tag != "P" or other.tag != "P":
            return "", {}
        p = al.thawed(own)
        for index in self.free - {"n"}:
            rest = al.sub(p, al.of(al.var(index)))
            if set(rest) <= {()}:
                value = al.sub(al.thawed(other), rest)
                return (index, value) if self.normal.certainly(value) else ("", {})
        return "", {}


def inside(atom: Atom, other: Atom) -> bool:
    """Whether an atom stands in another."""
    return atom is other or any(inside(atom, a) for a in atoms_of(other.parts))
