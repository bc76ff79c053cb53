"""The rules by which one line of a derivation follows from others: each decided exactly."""

from __future__ import annotations

from fractions import Fraction

from .assumed import alike
from .derivation_atoms import frees_of
from .derivation_facts import TURNED, Used, furthest
from .derivation_lines import Goal
from .derivation_operations import Operations
from .derivation_terms import Poly
from .reading import FormatError, Uncheckable, fields, list_of, shown, text_of
from .sentences import Node

MOST_PARTS = 300


class Rules(Operations):
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
        if self.in_run(goal):
            return
        atoms = {m: c for m, c in d.items() if m}
        if len(atoms) == 1:
            ((mono, c),) = atoms.items()
            a = mono[0][0]
            counted = a.tag == "v" and a.parts[0] in ("k", "h", "j")
            if len(mono) == 1 and mono[0][1] == 1 and (a.tag == "p" or counted):
                low, low_open, high, high_open = self.signs.ends(a.parts[0])
                end, is_open = (low, low_open) if c > 0 else (high, high_open)
                if end is not None:
                    value = c * end + d.get((), 0)
                    if value > 0 or (value == 0 and (is_open or goal.relation == "<=")):
                        return
        elif not atoms and (d.get((), 0) > 0 or (not d and goal.relation == "<=")):
            return
        raise Uncheckable("no domain of a parameter says this")

    def in_run(self, goal: Goal) -> bool:
        """Whether it is that an index is at most the number of rounds (turns), or less: of those of the run only."""
        al, now = self.algebra, self.start.nums
        for index in {"k", "h", "j"} & frees_of(goal.difference):
            try:
                end = now["K"] if index == "k" else self.normal.own_range(index)
            except Uncheckable:
                continue
            for reach in (0, 1):
                room = al.sub(al.sub(end, now[index]), {(): Fraction(reach)} if reach else {})
                if self.follows("<=", room, goal.relation, goal.difference):
                    goal.used.reach = furthest(goal.used.reach, {index: reach})
                    return True
        return False

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

    def citation(self, goal: Goal) -> None:
        """Taken from elsewhere: the verdict names it."""
        fields(goal.data, "the line", "by source", "name sentence")
        source = text_of(goal.data["source"], "a source").strip()
        if not source:
            raise FormatError("a citation without a source")
        self.cited.append(source)
