"""The rules by which one line of a derivation follows from others: each decided exactly."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .assumed import alike
from .derivation_binders import Swap
from .derivation_facts import TURNED, Fact, Used
from .derivation_lines import Goal, Lines
from .derivation_normal import Env
from .derivation_terms import Atom, Poly, atoms_of
from .reading import FormatError, Uncheckable, fields, list_of, shown, text_of
from .sentences import Node
from .stated import steps_of
from .steps import Step

MEANS = ("E", "mean_n", "mean_i")
MOST_PARTS = 300


class Rules(Lines):
    """The rules without lists of lines in them."""

    # rules

    def hypothesis(self, goal: Goal) -> None:
        """One of the claim's relations."""
        fields(goal.data, "the line", "by", "name sentence")
        if goal.env is not self.start:
            raise Uncheckable("a hypothesis is written out")
        for relation in self.claimed.relations:
            same = relation.relation == goal.sentence.relation
            if same and alike(relation.left, goal.sentence.left) and alike(relation.right, goal.sentence.right):
                goal.used.add(self.find(relation.text, goal.scope))
                return
        raise Uncheckable("it is none of the claim's relations")

    def domain(self, goal: Goal) -> None:
        """What the domain of one parameter says, or an operation of the program of two."""
        fields(goal.data, "the line", "by", "name sentence")
        al, d = self.algebra, goal.difference
        if goal.relation == "==":
            raise Uncheckable("a domain gives no equation")
        for who, relation, what in self.signs.known:
            if isinstance(what, str) and relation == "<=" and goal.relation == "<=":
                p = self.normal.value(Node("name", name=str(what)), self.start)
                q = self.normal.value(Node("name", name=who), self.start)
                if self.follows("<=", al.sub(p, q), "<=", d):
                    return
        atoms = {m: c for m, c in d.items() if m}
        if len(atoms) == 1:
            ((mono, c),) = atoms.items()
            a = mono[0][0]
            if len(mono) == 1 and mono[0][1] == 1 and (a.tag == "p" or (a.tag == "v" and a.parts[0] in ("k", "h"))):
                low, low_open, high, high_open = self.signs.ends(a.parts[0])
                end, is_open = (low, low_open) if c > 0 else (high, high_open)
                if end is not None:
                    value = c * end + d.get((), 0)
                    if value > 0 or (value == 0 and (is_open or goal.relation == "<=")):
                        return
        elif not atoms and (d.get((), 0) > 0 or (not d and goal.relation == "<=")):
            return
        raise Uncheckable("no domain of a parameter says this")

    def assumption(self, goal: Goal) -> None:
        """What assumptions on functions say at points."""
        fields(goal.data, "the line", "by schema", "name sentence of at on")
        schema = self.schemas.assumption(goal.data, self.start)
        self.assumed |= {text.strip() for text in goal.data.get("of", [])}
        s = schema.sentence
        d = self.normal.difference(s.left, s.relation, s.right, schema.env)
        relation = TURNED[s.relation] if s.relation[0] == ">" else s.relation
        if not self.follows(relation, d, goal.relation, goal.difference):
            raise Uncheckable("it is not what the schema says at these points")

    def axiom(self, goal: Goal) -> None:
        """A sentence that is true of all numbers and vectors."""
        fields(goal.data, "the line", "by schema", "name sentence of")
        for schema in self.schemas.axiom(goal.data, self.start):
            s = schema.sentence
            if any(reason for side in (s.left, s.right) if (reason := self.signs.undefined(side, schema.env))):
                continue
            d = self.normal.difference(s.left, s.relation, s.right, schema.env)
            relation = TURNED[s.relation] if s.relation[0] == ">" else s.relation
            if self.follows(relation, d, goal.relation, goal.difference):
                return
        raise Uncheckable("it is not what the axiom says of these expressions")

    def combination(self, goal: Goal) -> None:
        """Nonnegative multiples of lines, and squares."""
        fields(goal.data, "the line", "by", "name sentence parts squares")
        al, total, strict = self.algebra, Poly(), False
        parts = list_of(goal.data.get("parts", []), "parts")
        squares = list_of(goal.data.get("squares", []), "squares")
        if len(parts) + len(squares) > MOST_PARTS:
            raise FormatError("a combination of too many parts")
        for item in parts:
            if isinstance(item, str):
                item = {"line": item}
            fields(item, "a part", "line", "over times put")
            fact = self.put(self.find(item["line"], goal.scope), item.get("put", {}))
            if goal.relation == "==" and not fact.equal:
                raise Uncheckable(f"an equation does not follow from the inequality {shown(fact.name)}")
            used = self._begin(goal)
            self.signs.used.add(fact)
            tree = self.scalar(item.get("times", "1"), "a multiplier")
            if not fact.equal and not self.signs.nonneg(tree, self.start):
                raise Uncheckable(f"the multiplier {shown(item.get('times'))} is not certainly at least 0")
            before = self.signs.used
            self.signs.used = Used()
            if goal.relation == "<" and fact.strict and self.signs.pos(tree, self.start):
                strict = True
                before.merge(self.signs.used)
            self.signs.used = before
            term = al.mul(self.normal.value(tree, self.start), fact.difference)
            total = al.add(total, self.bound(term, item.get("over", []), self._end(goal, used)))
        for item in squares:
            fields(item, "a square", "of", "over times")
            if goal.relation == "==":
                raise Uncheckable("an equation does not follow with squares")
            used = self._begin(goal)
            tree = self.scalar(item.get("times", "1"), "a multiplier")
            if not self.signs.nonneg(tree, self.start):
                raise Uncheckable(f"the multiplier {shown(item.get('times'))} is not certainly at least 0")
            of = self.scalar(item["of"], "what is squared", vectors=True)
            v = self.normal.value(of, self.start)
            square = al.dot(v, v) if self.claimed.words.read(of).vector else al.mul(v, v)
            term = al.mul(self.normal.value(tree, self.start), square)
            total = al.add(total, self.bound(term, item.get("over", []), self._end(goal, used)))
        if goal.relation == "<" and not strict:
            raise Uncheckable("no strict part has a multiplier that is certainly positive")
        if not al.is_zero(al.sub(goal.difference, total)):
            raise Uncheckable("the difference of the sides is not the sum of the parts and squares")

    def _begin(self, goal: Goal) -> Used:
        """What one part hangs on is told by itself."""
        before = self.signs.used
        self.signs.used = Used()
        return before

    def _end(self, goal: Goal, before: Used) -> Used:
        own = self.signs.used
        before.merge(own)
        self.signs.used = before
        return own

    def bound(self, p: Poly, over: Any, used: Used) -> Poly:
        """E and means of a difference."""
        al = self.algebra
        for how in reversed(list_of(over, "over")):
            if how not in MEANS:
                raise Uncheckable(f"over={shown(how)} is none of {', '.join(MEANS)}")
            if used.open:
                raise Uncheckable("a mean of what is only known where a divisor is not 0")
            if how == "E":
                p = al.expect(p)
                continue
            index = how[-1]
            frees = frozenset[str]().union(*(a.frees for m in p for a, _ in m))
            if index not in frees or (index == "n" and "i" in frees):
                raise Uncheckable(f"{how} of what does not hang on {index}, or hangs on i too")
            if any(index == held or held == "n" for held, _ in used.fixed):
                raise Uncheckable(f"{how} of what is known at this {index} only")
            name = al.fresh(index)
            p = al.bind(al.renamed(p, {index: name}), (index, name, al.var("n") if index == "i" else ""))
        return p

    def mean(self, goal: Goal) -> None:
        """E or means of a line."""
        fields(goal.data, "the line", "by line over", "name sentence put")
        fact = self.named(goal)
        used = Used()
        used.add(fact)
        p = self.bound(fact.difference, goal.data["over"], used)
        goal.used.merge(used)
        if not self.follows(fact.relation, p, goal.relation, goal.difference):
            raise Uncheckable("it is not the mean of that line")

    def at(self, goal: Goal) -> None:
        """A line at other indices."""
        fields(goal.data, "the line", "by line", "name sentence put")
        fact = self.named(goal)
        goal.used.add(fact)
        if not self.follows(fact.relation, fact.difference, goal.relation, goal.difference):
            raise Uncheckable("it is not that line at these indices")

    def root(self, goal: Goal) -> None:
        """a <= b from a**2 <= b**2 and b >= 0."""
        fields(goal.data, "the line", "by line", "name sentence put")
        fact = self.named(goal)
        goal.used.add(fact)
        left, right = goal.sentence.left, goal.sentence.right
        if goal.sentence.relation[0] == ">":
            left, right = right, left
        if goal.relation == "==" or not self.signs.nonneg(right, goal.env):
            raise Uncheckable("the larger side is not certainly at least 0")
        a, b = (self.normal.value(side, goal.env) for side in (left, right))
        squares = self.algebra.sub(self.algebra.mul(b, b), self.algebra.mul(a, a))
        if not self.follows(fact.relation, fact.difference, goal.relation, squares):
            raise Uncheckable("that line does not compare the squares of the sides")

    def power(self, goal: Goal) -> None:
        """a**e <= b**e from 0 <= a <= b."""
        fields(goal.data, "the line", "by line", "name sentence put")
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
        for e in [side.args[1] for side in (left, right) if side.op == "**"]:
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
                    found.append(self.swap(m[0][0], rest, "n" in m[0][0].frees and "n" not in fact.held))
        return found

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
                for name in sorted(a.frees):
                    if name.startswith("n") and al.rename(pattern, {"n": name}) is a:
                        return al.renamed(by, {"n": name})
            return None

        return Swap(touches, at)

    def citation(self, goal: Goal) -> None:
        """Taken from elsewhere: the verdict names it."""
        fields(goal.data, "the line", "by source", "name sentence")
        source = text_of(goal.data["source"], "a source").strip()
        if not source:
            raise FormatError("a citation without a source")
        self.cited.append(source)


def inside(atom: Atom, other: Atom) -> bool:
    """Whether an atom stands in another."""
    return atom is other or any(inside(atom, a) for a in atoms_of(other.parts))
