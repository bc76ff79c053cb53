"""Where relations turn: a relation with one open name gives the value of it up to which it holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from theory.claim import Claim
from theory.formula import Apply, Name, UndefinedError
from theory.operations import to_fraction
from theory.sentence import Expression, Sentence, evaluate, index_of, parts
from validate.instances import along
from validate.instances.relations import Memos, holds_surely, occurrences, relation_satisfied, rounded, with_name
from validate.instances.setting import F, Setting, Values, number
from validate.instances.settled import compiled

APART = 2
"""Exponents of two that are tried for a value at which a relation turns are so far apart."""


class Solver:
    """Values of a claim's parameters so far, and what its relations say of one more.

    Args:
        claim: whose relations.
        world: a problem with the values.

    Attributes:
        values: so far.
        round: in which numbers of a round are meant.
        client: whose numbers are meant, of such as are one a client.
    """

    def __init__(self, claim: Claim, world: Setting, values: Values) -> None:
        self.claim, self.world, self.values = claim, world, values
        self.words = claim.vocabulary
        self.round = self.client = 0

    def satisfied(self, relation: Sentence) -> bool:
        """Whether a relation holds for the values so far."""
        return relation_satisfied(relation, self.world, self.claim, holds_surely)

    def _value(self, e: Expression, n: int | None = None) -> Any:
        at, code = {"n": self.client if n is None else n, "i": 0, "k": self.round}, compiled(e, self.words, once=False)
        try:
            return evaluate(e, self.world, at, self.words) if code is None else to_fraction(code(self.world, at, {}))
        except (ValueError, KeyError, IndexError, ZeroDivisionError):
            return None

    def _ends(self, name: str, relation: Sentence) -> Iterator[Any]:
        """Values of a name at which a relation turns, in fractions."""
        for side, other in ((relation.left, relation.right), (relation.right, relation.left)):
            if occurrences(side, name, self.words) != 1 or occurrences(other, name, self.words):
                continue
            target = self._target(relation, side, other)
            found = None if target is None else self._inverted(side, name, target)
            if found is None:
                continue
            yield from (found,) if isinstance(found, Fraction) else fractions_near(found)
            return
        yield from self._turning_point(name, relation)

    def _target(self, relation: Sentence, side: Expression, other: Expression) -> Any:
        """What a side is worth where a relation turns; of what speaks of the run, the worst of it."""
        if not along.speaks_of_run(relation, self.words):
            return self._value(other)
        above = (relation.relation in ("<=", "<")) == (side is relation.right)
        return along.worst(other, "largest" if above else "smallest", self.world, self.claim)

    def _inverted(self, e: Expression, name: str, target: Any) -> Any:
        """The value of a name that occurs once in a tree, for the tree to be worth `target`."""
        if isinstance(e, Name):
            if index_of(e.name)[0] == name:
                return target
            return self._inverted(self.words.definitions[e.name], name, target)
        if not isinstance(e, Apply):
            return None
        inner = parts(e)
        place = next((i for i, part in enumerate(inner) if occurrences(part, name, self.words)), None)
        if place is None:
            return None
        op, here = e.operation, inner[place]
        try:
            if op == "neg":
                return self._inverted(here, name, number("neg", (target,)))
            if op == "sqrt":
                return self._inverted(here, name, number("*", (target, target)))
            if op in ("log", "exp"):
                return self._inverted(here, name, number("exp" if op == "log" else "log", (target,)))
            if op not in ("+", "-", "*", "/", "**"):
                return None
            beside = self._value(inner[1 - place])
            if beside is None:
                return None
            if op == "**":
                if place == 1 or beside == 0:
                    return None
                power = number("/", (F(1), beside))
                return self._inverted(
                    here, name, number("sqrt", (target,)) if beside == 2 else number("**", (target, power))
                )
            undo = {
                ("+", 0): lambda: number("-", (target, beside)),
                ("+", 1): lambda: number("-", (target, beside)),
                ("-", 0): lambda: number("+", (target, beside)),
                ("-", 1): lambda: number("-", (beside, target)),
                ("*", 0): lambda: number("/", (target, beside)),
                ("*", 1): lambda: number("/", (target, beside)),
                ("/", 0): lambda: number("*", (target, beside)),
                ("/", 1): lambda: number("/", (beside, target)),
            }
            return self._inverted(here, name, undo[op, place]())
        except (UndefinedError, KeyError):
            return None

    def _turning_point(self, name: str, relation: Sentence) -> Iterator[Any]:
        """The largest power of two, refined, up to which an inequality holds; by bisection."""
        if relation.relation == "==" or along.speaks_of_run(relation, self.words):
            return

        changing: set[int] = set()
        for side in (relation.left, relation.right):
            with_name(side, name, self.words, changing)
        memos: Memos = {}
        rough = rounded(self.values)  # whoever takes the value looks again, in fractions
        world = replace(self.world, values=rough)

        def fits(value: Fraction) -> bool:
            rough[name] = float(value)
            for memo in memos.values():  # what does not have the name is worked out once
                for tree in changing:
                    memo.pop(tree, None)
            return relation_satisfied(relation, world, self.claim, holds_surely, memos)

        tried = range(-30, 21, APART)
        exponents = [k for k in tried if fits(F(2) ** k)]
        if exponents and len(exponents) < len(tried):
            low, high = F(2) ** exponents[-1], F(2) ** (exponents[-1] + APART)
            if exponents[-1] == tried[-1]:  # it holds from some value on
                high, low = F(2) ** exponents[0], F(2) ** (exponents[0] - APART)
                for _ in range(30):
                    middle = (low + high) / 2
                    low, high = (low, middle) if fits(middle) else (middle, high)
                yield high
            else:
                for _ in range(30):
                    middle = (low + high) / 2
                    low, high = (middle, high) if fits(middle) else (low, middle)
                yield low


def fractions_near(value: float) -> tuple[Fraction, ...]:
    """Fractions close to a float: the nearest short one, and one on either side of what it may stand for."""
    near = F(value).limit_denominator(10**9)
    away = abs(near) / 10**6
    return (near, *(F(near + side).limit_denominator(10**9) for side in (-away, away))) if near else (near,)
