"""Lists of lines, and the rules that have such lists: induction, cases, the algorithm's step, another claim."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from .derivation_drawn import Drawn
from .derivation_facts import Fact, Used
from .derivation_lines import Goal
from .derivation_terms import UNIT
from .reading import FormatError, Uncheckable, fields, list_of, shown, text_of
from .sentences import Node, Sentence, read_sentence

MOST_LINES = 2_000
DEEPEST = 8


class Failed(Exception):
    """A line does not follow: its name, with those of the lists around it, and why."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name, reason)
        self.name, self.reason = name, reason


class Blocks(Drawn):
    """All rules."""

    lines = 0
    depth = 0
    cases_open = 0
    other: Callable[[Goal, Blocks], None] | None = None
    within = False
    """Whether the claim was shown of the rounds and turns of the run only."""

    # lists of lines

    def block(
        self, data: Any, scope: dict[str, Fact], wanted: list[Fact], tell: Callable[[str], None] | None = None
    ) -> list[Fact]:
        """Checks lines in order; the last of them are to be the wanted ones, and may leave their sentences out."""
        items = list_of(data, "lines")
        if self.depth > DEEPEST:
            raise FormatError("lists of lines are nested too deeply")
        self.depth += 1
        before, scope = len(self.signs.facts), dict(scope)
        local: set[str] = set()
        facts: list[Fact] = []
        try:
            for place, item in enumerate(items):
                self.lines += 1
                if self.lines > MOST_LINES:
                    raise FormatError(f"the derivation has more than {MOST_LINES} lines")
                if not isinstance(item, dict):
                    raise FormatError(f"a line is not an object: {shown(item)}")
                name = text_of(item.get("name"), "the name of a line")
                if ":" in name or not name or len(name) > 200:
                    raise FormatError(f"the name of a line is empty, too long, or has a colon: {shown(name)}")
                if name in local or name in scope:
                    raise FormatError(f"the name {shown(name)} is that of two lines, or of a hypothesis")
                local.add(name)
                behind = len(wanted) - (len(items) - place)
                expected = wanted[behind] if 0 <= behind < len(wanted) else None
                last = self.depth == 1 and place == len(items) - 1
                self.signs.ending = last and item.get("by") == "combination"
                try:
                    fact = self.line(name, item, scope, expected)
                except Failed as inner:
                    raise Failed(f"{name}: {inner.name}", inner.reason) from None
                except Uncheckable as reason:
                    raise Failed(name, str(reason)) from None
                if tell is not None:
                    tell(f"{shown(name)} [{shown(item['by'])}]")
                scope[name] = fact
                facts.append(fact)
                self.signs.facts.append(fact)
        finally:
            self.signs.ending = False
            del self.signs.facts[before:]
            self.depth -= 1
        return facts

    def line(self, name: str, data: Mapping[str, Any], scope: Mapping[str, Fact], expected: Fact | None) -> Fact:
        """One line.

        Raises:
            Uncheckable: when it does not follow.
        """
        rule = text_of(data.get("by"), "by")
        known = {
            "hypothesis": self.hypothesis, "domain": self.domain, "assumption": self.assumption, "axiom": self.axiom,
            "combination": self.combination, "step": self.step, "at": self.at, "mean": self.mean,
            "induction": self.induction, "replace": self.replace, "root": self.root, "power": self.power,
            "cases": self.cases, "claim": self.claim, "citation": self.citation, "operation": self.operation,
            "zero": self.zero, "single": self.single, "drawn": self.drawn, "average": self.average,
        }  # fmt: skip
        if rule not in known:
            raise FormatError(f"by={shown(rule)} is none of {', '.join(known)}")
        env = self.start
        if "sentence" in data:
            sentence = read_sentence(data["sentence"], "a line's sentence")
            for side in (sentence.left, sentence.right):
                if self.claimed.words.read(side).vector:
                    raise FormatError(f"a side of {shown(sentence.text)} is a vector")
        elif rule == "assumption" and expected is None:
            return self.schema(name, data, scope)
        elif rule in ("at", "mean") and expected is None:
            return self.moved(name, data, scope)
        elif expected is not None:
            sentence = Sentence(expected.left, expected.relation, expected.right, "")
            env = expected.env
        else:
            raise FormatError(f"the line {shown(name)} has no sentence")
        used = Used()
        outer, self.signs.used = self.signs.used, used
        try:
            if self.signs.ending:  # once more, with what is known now of the bases of powers
                for side in (self.claimed.sentence.left, self.claimed.sentence.right):
                    self.signs.grant(side, self.start)
            for side in (sentence.left, sentence.right):
                if reason := self.signs.undefined(side, env):
                    raise Uncheckable(f"in its sentence {reason} is not certainly in its domain")
            d = self.normal.difference(sentence.left, sentence.relation, sentence.right, env)
            goal = Goal(sentence, d, data, scope, used, env)
            known[rule](goal)
            return self.fact(name, sentence, env, used)
        finally:
            self.signs.used = outer

    def schema(self, name: str, data: Mapping[str, Any], scope: Mapping[str, Fact]) -> Fact:
        """A line that says what the assumptions say at its points, without its sentence."""
        used = Used()
        outer, self.signs.used = self.signs.used, used
        try:
            found = self.schemas.assumption(data, self.start)
            s = found.sentence
            for side in (s.left, s.right):
                if reason := self.signs.undefined(side, found.env):
                    raise Uncheckable(f"in what the schema says {reason} is not certainly in its domain")
            d = self.normal.difference(s.left, s.relation, s.right, found.env)
            self.assumption(Goal(s, d, data, scope, used, found.env))
            fact = self.fact(name, s, found.env, used)
            return replace(fact, remake=lambda env: self.schemas.assumption(data, env, True).env)
        finally:
            self.signs.used = outer

    def single(self, goal: Goal) -> None:
        """The sides are the same where a number is 1; with one client also after a step."""
        if not goal.data.get("unfold"):
            super().single(goal)
            return
        fields(goal.data, "the line", "by unfold", "name sentence")
        if goal.data["unfold"] is not True:
            raise FormatError("unfold is true, or is left out")
        self.only_one("N")
        self.normal.one_client = self.of_one
        try:
            self.unfolded(goal, lambda _, d: self.same_when(self.of_one(d), []))
        finally:
            self.normal.one_client = None

    # induction and cases

    def sentence(self, text: Any) -> Sentence:
        """A sentence that is not a line's own."""
        found = read_sentence(text, "a sentence")
        for side in (found.left, found.right):
            if self.claimed.words.read(side).vector:
                raise FormatError(f"a side of {shown(found.text)} is a vector")
            if reason := self.signs.undefined(side, self.start):
                raise Uncheckable(f"in {shown(found.text)} {reason} is not certainly in its domain")
        return found

    def induction(self, goal: Goal) -> None:
        """For all k (turns h and j, lengths K): at the first, and at k + 1 if at k."""
        data, al = goal.data, self.algebra
        fields(data, "the line", "by on base step", "name sentence sentences from")
        on, first = data["on"], data.get("from", 1 if data["on"] == "K" else 0)
        if on not in ("k", "h", "j", "K"):
            raise Uncheckable(f"induction is on k, h, j or K, not {shown(on)}")
        if isinstance(first, bool) or first != int(on == "K"):
            raise Uncheckable(f"induction on {on} begins elsewhere than what it says of all begins")
        if on == "K" and self.speaks_of_K():
            raise Uncheckable("induction on K, and a hypothesis, a definition or a domain speaks of K")
        given = data.get("sentences")
        sentences = [goal.sentence] if given is None else [self.sentence(t) for t in list_of(given, "sentences")]
        if not sentences or len(sentences) > 20 or (goal.env is not self.start):
            raise Uncheckable("an induction needs its sentences")
        scope = {
            name: fact for name, fact in goal.scope.items() if on not in fact.held and not (on == "K" and fact.reach)
        }
        outer, self.signs.facts = self.signs.facts, [f for f in self.signs.facts if any(f is g for g in scope.values())]
        try:
            symbol = self.start.nums[on]
            start = self.start.with_nums(**{on: UNIT if first else {}})
            following = self.start.with_nums(**{on: al.add(symbol, UNIT)})
            base = self._ends(data["base"], scope, [self.fact("", s, start) for s in sentences], "base")
            self.cases_open += 1
            mark = frozenset({(on, self.cases_open)})
            here = Used()
            here.fixed = mark
            names = ["IH"] if len(sentences) == 1 else [f"IH {j + 1}" for j in range(len(sentences))]
            assumed = [self.fact(name, s, self.start, here) for name, s in zip(names, sentences, strict=True)]
            within = {**scope, **{fact.name: fact for fact in assumed}}
            self.signs.facts += assumed
            step = self._ends(data["step"], within, [self.fact("", s, following) for s in sentences], "step")
        finally:
            self.signs.facts = outer
        for fact in (*base, *step):
            goal.used.add(fact)
        goal.used.fixed -= mark
        if on in goal.used.reach:
            if goal.used.reach[on] > 1:
                raise Uncheckable("the step hangs on hypotheses beyond the run")
            goal.used.reach = {**goal.used.reach, on: 0}
        if not any(self._same(fact, goal) for fact in assumed):
            raise Uncheckable("it is none of the sentences of the induction")

    def _same(self, fact: Fact, goal: Goal) -> bool:
        return self.follows(fact.relation, fact.difference, goal.relation, goal.difference)

    def _ends(self, data: Any, scope: dict[str, Fact], wanted: list[Fact], what: str) -> list[Fact]:
        """Lines that end with the wanted sentences; the lines that are these."""
        try:
            facts = self.block(data, scope, wanted)
        except Failed as inner:
            raise Failed(f"{what}: {inner.name}", inner.reason) from None
        found = []
        for one in wanted:
            match = [f for f in facts if self.follows(f.relation, f.difference, one.relation, one.difference)]
            if not match:
                raise Uncheckable(f"the {what} does not end with what is to be shown there")
            found.append(match[-1])
        return found

    def cases(self, goal: Goal) -> None:
        """A number is at most another, or more than it."""
        data = goal.data
        fields(data, "the line", "by on first second", "name sentence")
        text = text_of(data["on"], "on").strip()
        on = self.sentence(text)
        if on.relation != "<=" or any(self.claimed.words.read(side).random for side in (on.left, on.right)):
            raise Uncheckable("cases are of a <= b, of numbers that are not drawn")
        one, two = text.split("<=")
        free = frozenset[str]().union(*(self.claimed.words.read(side).free for side in (on.left, on.right)))
        outer = frozenset[str]()
        for side in (goal.sentence.left, goal.sentence.right):
            outer |= self.claimed.words.read(side).free
        if free - outer:
            raise Uncheckable("the cases speak of an index that the line does not have")
        self.cases_open += 1
        mark = frozenset((index, self.cases_open) for index in free | {"K"})
        wanted = self.fact("", goal.sentence, goal.env)
        first, second = one.strip(), two.strip()
        others = {f"{second} {sign} {first}": Sentence(on.right, sign, on.left, "") for sign in ("<=", "<")}
        if all(self.signs.integer(side, self.start) for side in (on.left, on.right)):
            more = Node("+", (on.right, Node("number", value=Fraction(1))))
            others[f"{second} + 1 <= {first}"] = Sentence(more, "<=", on.left, "")
        for key, known in (
            ("first", {text: on}),
            ("second", others),
        ):
            here = Used()
            here.fixed = mark
            assumed = {name: self.fact(name, sentence, self.start, here) for name, sentence in known.items()}
            self.signs.facts.extend(assumed.values())
            try:
                (last,) = self._ends(data[key], {**goal.scope, **assumed}, [wanted], key)
            finally:
                for fact in assumed.values():
                    self.signs.facts.remove(fact)
            goal.used.add(last)
        goal.used.fixed -= mark

    # another claim

    def claim(self, goal: Goal) -> None:
        """What another derivation shows, of other parameters."""
        fields(goal.data, "the line", "by derivation", "name sentence id put")
        if self.other is None:
            raise Uncheckable("another claim is not read here")
        self.other(goal, self)
