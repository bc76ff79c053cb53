"""Lines of a derivation as facts: found by name, with other indices, compared with what is to be shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from .derivation_atoms import frees_of
from .derivation_coordinates import COORDINATE, binder
from .derivation_defined import Defined
from .derivation_facts import TURNED, Fact, Used
from .derivation_normal import Normal
from .derivation_places import Env
from .derivation_ranges import meant
from .derivation_schemas import Schemas
from .derivation_terms import FIRST, Poly
from .reading import FormatError, Uncheckable, fields, list_of, shown, text_of
from .sentences import Node, Sentence, index_of, read_formula

MEANS = ("first_n", *(f"{how}_{index}" for how in ("mean", "sum") for index in "nikhj"))


@dataclass
class Goal:
    """The sentence that is to follow, and what its line says."""

    sentence: Sentence
    difference: Poly
    data: Mapping[str, Any]
    scope: Mapping[str, Fact]
    used: Used
    env: Env

    @property
    def relation(self) -> str:
        """<=, < or ==, as the difference is meant."""
        relation = self.sentence.relation
        return TURNED[relation] if relation[0] == ">" else relation


class Lines:
    """Facts, hypotheses, and what may be put for their indices."""

    def __init__(self, normal: Normal, signs: Defined, schemas: Schemas) -> None:
        self.normal, self.signs, self.schemas = normal, signs, schemas
        self.claimed, self.algebra, self.start = normal.claimed, normal.algebra, normal.start
        self.cited: list[str] = []
        self.assumed: set[str] = set()

    # what lines say

    def fact(self, name: str, sentence: Sentence, env: Env, used: Used | None = None) -> Fact:
        """A sentence in scope."""
        d = self.normal.difference(sentence.left, sentence.relation, sentence.right, env)
        relation = TURNED[sentence.relation] if sentence.relation[0] == ">" else sentence.relation
        used = used or Used()
        left, right = sentence.left, sentence.right
        if sentence.relation[0] == ">":
            left, right = right, left
        shape = self.algebra.primitive(d)
        return Fact(name, left, relation, right, env, d, shape, used.fixed, used.reach)

    def given(self, relation: Sentence) -> Fact:
        """A relation of the claim: one with a free index is known of the run only."""
        used = Used()
        used.reach = self.shifts(relation)
        for index in used.reach.keys() - {"k"}:  # of what alone it can go over: lines do not remember it
            self.normal.own_range(index, relation.left, relation.right)
        return self.fact(relation.text, relation, self.start, used)

    def follows(self, relation: str, p: Poly, wanted: str, q: Poly) -> bool:
        """Whether `0 relation p` gives `0 wanted q` by q being a positive multiple of p."""
        if (wanted == "==" and relation != "==") or (wanted == "<" and relation != "<"):
            return False
        if self.algebra.is_zero(q):
            return wanted != "<" or self.algebra.is_zero(p)
        signs = (1, -1) if relation == "==" else (1,)
        a, b = self.algebra.primitive(p), self.algebra.primitive(q)
        for sign in signs:
            if a == self.algebra.scale(b, sign):
                return True
            for m, c in b.items():
                if m in a and a[m] * c * sign > 0:
                    rest = self.algebra.sub(a, self.algebra.scale(b, Fraction(a[m]) / c))
                    if self.algebra.is_zero(rest):
                        return True
                    break
            if self.algebra.is_zero(self.algebra.sub(p, self.algebra.scale(q, sign))):
                return True
        return False

    def find(self, name: Any, scope: Mapping[str, Fact]) -> Fact:
        """An earlier line, or a hypothesis."""
        text = text_of(name, "the name of a line")
        found = scope.get(text, scope.get(text.strip()))
        if found is None:
            raise Uncheckable(f"there is no earlier line {shown(text)}")
        return found

    def named(self, goal: Goal) -> Fact:
        """The line that the rule is applied to, with other indices where it says so."""
        return self.put(self.find(goal.data["line"], goal.scope), goal.data.get("put", {}))

    def scalar(self, text: Any, what: str, vectors: bool = False) -> Node:
        """A formula of a line: a number, or where it is allowed a vector, and defined."""
        tree = read_formula(str(text) if isinstance(text, int) and not isinstance(text, bool) else text, what)
        if self.claimed.words.read(tree).vector and not vectors:
            raise FormatError(f"{what} is a vector: {shown(text)}")
        if reason := self.signs.undefined(tree, self.start):
            raise Uncheckable(f"in {what} {reason} is not certainly in its domain: {shown(text)}")
        return tree

    def put(self, fact: Fact, data: Any) -> Fact:
        """A line with other indices in the place of its free ones."""
        if not isinstance(data, dict) or not data.keys() <= {"k", "h", "j", "n", "i", "K"}:
            raise FormatError("put is not an object of the indices k, h, j, n, i, or K")
        new: dict[str, Poly] = {}
        reach = dict(fact.reach)
        for name, text in data.items():
            if name in ("n", "i"):
                if text != name:
                    raise Uncheckable(f"another index in the place of {name} is not read")
                continue
            tree = self.scalar(text, f"what is put for {name}")
            p = self.normal.value(tree, self.start)
            if p == self.start.nums[name]:
                continue
            if {a.parts[0] for m in p for a, _ in m if a.tag == "v"} - {name}:
                raise Uncheckable(f"{name} is not put to another index")
            if not (self.normal.integer_form(p) and self.signs.integer(tree, self.start)):
                raise Uncheckable(f"{shown(text)} is not certainly an integer")
            least = tree if name != "K" else Node("-", (tree, Node("number", value=Fraction(1))))
            if not self.signs.nonneg(least, self.start):
                raise Uncheckable(f"{shown(text)} is not certainly at least {'1' if name == 'K' else '0'}")
            if name == "K" and (reach or self.speaks_of_K()):
                raise Uncheckable("another K, where hypotheses hang on it")
            if name in fact.held:
                raise Uncheckable(f"the line {shown(fact.name)} is known at this {name} only")
            if name in reach:
                reach |= self.reached(reach.pop(name), name, p)
            new[name] = p
        if not new:
            return fact
        al = self.algebra
        if fact.remake is not None:
            old = fact.remake
            env = old(self.start.with_nums(**new))

            def again(other: Env) -> Env:
                return old(other.with_nums(**{name: self._moved(p, other.nums) for name, p in new.items()}))

            fact = replace(fact, remake=again)
        else:
            env = fact.env.with_nums(**{name: self._moved(old, new) for name, old in fact.env.nums.items()})
        d = self.normal.difference(fact.left, fact.relation, fact.right, env)
        shape = al.primitive(d)
        return Fact(fact.name, fact.left, fact.relation, fact.right, env, d, shape, fact.fixed, reach, fact.remake)

    def reached(self, reach: int, name: str, p: Poly) -> dict[str, int]:
        """How far a line reaches that hangs on a hypothesis with a free k (or h), with p in its place.

        Raises:
            Uncheckable: where that is not certainly in the run, which has a first round, and each round a first turn.
        """
        al = self.algebra
        end = self.start.nums["K"] if name == "k" else self.normal.own_range(name)
        for base, most in ((self.start.nums[name], None), (end, 0), (Poly(), 1)):
            shift = al.sub(p, base)
            c = shift.get((), Fraction(0))
            if set(shift) <= {()} and c.denominator == 1:
                if most is None:
                    return {name: reach + int(c)}
                if reach + c <= most:
                    return {}
        raise Uncheckable("that line hangs on a hypothesis that speaks of the run only")

    def shifts(self, s: Sentence) -> dict[str, int]:
        """Of a free k (h, j) the r with which the sentence speaks of k + r <= K: 1 where it has x[k+1], or a tap at k.

        That is read off the sentence as it is written: what cancels, or is another round's by another name, counts too.

        Raises:
            Uncheckable: where an index is no sum of one of these and a number.
        """
        al, words = self.algebra, self.claimed.words
        free = frozenset[str]().union(*(words.read(side).free for side in (s.left, s.right)))
        found = {index: 0 for index in "khj" if index in free}
        for index, side in ((index, side) for index in found for side in (s.left, s.right)):
            for node, again in meant(side, index, self.start, self.claimed):
                if again:
                    continue
                if node.op == "name" and index_of(node.name)[1] == index:
                    found[index] = max(found[index], 1)
                for place, part in enumerate(node.args if node.op == "at" else ()):
                    p = self.normal.value(part, self.start)
                    if not any(index in a.frees for m in p for a, _ in m):
                        continue
                    c = al.sub(p, self.start.nums[index])
                    if set(c) - {()}:
                        raise Uncheckable(f"how far {shown(s.text)} goes in a run cannot be told")
                    tap = place > 0 or node.name not in words.states
                    found[index] = max(found[index], int(c.get((), 0)) + tap)
        return found

    def _moved(self, p: Poly, new: Mapping[str, Poly]) -> Poly:
        al = self.algebra
        K = next(iter(self.start.nums["K"]))[0][0]
        total: Poly = {}
        for m, c in p.items():
            term: Poly = {(): c}
            for a, e in m:
                name = "K" if a is K else a.parts[0] if a.tag == "v" else ""
                value = new.get(name, al.of(a))
                term = al.mul(term, al.power(value, e))
            total = al.add(total, term)
        return total

    def speaks_of_K(self) -> bool:
        """Whether the claim's hypotheses hang on the length of the run."""
        sides = [side for r in self.claimed.relations for side in (r.left, r.right)]
        sides += [c for a in self.claimed.assumptions for c in a.constants]
        return "K" in self.claimed.domains or any(self.signs.of_run(side, self.start) for side in sides)

    def bound(self, p: Poly, over: Any, used: Used) -> Poly:
        """E, means and sums of a difference."""
        al = self.algebra
        for how in reversed(list_of(over, "over")):
            if how not in ("E", "coordinates") and how not in MEANS:
                raise Uncheckable(f"over={shown(how)} is none of E, {', '.join(MEANS)}")
            if used.open:
                raise Uncheckable("a mean of what is only known where a divisor is not 0")
            if how == "E":
                p = al.expect(p)
                continue
            index = COORDINATE if how == "coordinates" else how[-1]
            frees = frees_of(p)
            if index not in frees or (index == "n" and "i" in frees):
                raise Uncheckable(f"{how} of what does not hang on {index}, or hangs on i too")
            if any(held in (index, "n" if index == "i" else index) for held, _ in used.fixed):
                raise Uncheckable(f"{how} of what is known at this {index} only")
            if used.reach.get(index, 0) > 1:
                raise Uncheckable(f"{how} of what is known for fewer rounds, or turns")
            if index in used.reach and index != "k" and self.normal.range_in(index, p) != self.normal.own_range(index):
                raise Uncheckable(f"{how} of what is known of other {index}")
            p = self._summed(p, how, index)
        return p

    def _summed(self, p: Poly, how: str, index: str) -> Poly:
        """The mean or sum over a free index."""
        al, mark = self.algebra, self.algebra.count
        if index == COORDINATE:
            name = al.fresh(index)
            return al.done(al.bind(al.renamed(p, {index: name}), binder(al, name)), mark)
        if how == "first_n":
            return al.renamed(p, {"n": FIRST})
        if index in "ni":
            name = al.fresh(index)
            found = al.bind(al.renamed(p, {index: name}), (index, name, al.var("n") if index == "i" else ""))
            found = al.done(found, mark)
            count = al.of(al.atom("p", "N") if index == "n" else al.atom("count", al.var("n")))
            return found if how.startswith("mean") else al.mul(count, found)
        end = self.start.nums["K"] if index == "k" else self.normal.range_in(index, p)
        found = self.summed(p, index, end)
        return al.mul(found, al.inverse(end)) if how.startswith("mean") else found

    def summed(self, p: Poly, index: str, end: Poly) -> Poly:
        """The sum over a free k, h or j."""
        al, kind = self.algebra, self.normal.kind_of(index, end)
        mark, name = al.count, al.fresh(kind)
        return al.done(al.bind(al.renamed(p, {index: name}), (kind, name, al.frozen(end))), mark)

    def moved(self, name: str, data: Mapping[str, Any], scope: Mapping[str, Fact]) -> Fact:
        """A line at other indices, or E and means of it, without its sentence."""
        fields(data, "the line", "by line", "name put over")
        used = Used()
        outer, self.signs.used = self.signs.used, used
        try:
            fact = self.put(self.find(data["line"], scope), data.get("put", {}))
            used.add(fact)
            left, right = fact.left, fact.right
            over = list_of(data.get("over", []), "over")
            if "coordinates" in over:
                raise FormatError("a line over coordinates has a sentence")
            d = self.bound(fact.difference, over, used)
            for how in reversed(over):
                left, right = Node(how, (left,)), Node(how, (right,))
            shape = self.algebra.primitive(d)
            remake = None if over else fact.remake
            moved = replace(fact, name=name, left=left, right=right, difference=d, shape=shape, remake=remake)
            return replace(moved, fixed=used.fixed, reach=used.reach)
        finally:
            self.signs.used = outer
