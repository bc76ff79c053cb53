"""The kernel: whether a derivation ends at its claim, each line by a rule from hypotheses and earlier lines.

A line is true for every instance that satisfies the claim's hypotheses, for every outcome where random values stand
outside of E, and for all its free indices; only where what it divides by may be 0, and the claim itself divides by
that, does it say nothing. States and taps go on for ever: K is a number, which ends sums over k and what the hypotheses
say of rounds, and `Line.reach` keeps how far the latter carry.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from theory.claim import Claim
from theory.derivation.named import numbered
from theory.derivation.polynomials import RejectedError, forget
from theory.derivation.reading import PLAIN, Place, Reader, checked, finest
from theory.derivation.rounds import Rounds
from theory.derivation.schemas import leaned_on, named_points
from theory.derivation.signs import Signs
from theory.derivation.statements import Found, Goal, Line, NotProvedError, furthest, same, shifts
from theory.derivation.telling import near
from theory.sentence import (
    OVER,
    RELATIONS,
    TURNS,
    Expression,
    Sentence,
    parse_call,
    parse_expression,
    parse_sentence,
    read,
    text_of,
)

MOST_LINES = 500


@dataclass(frozen=True)
class Checked:
    """A derivation that is accepted.

    Attributes:
        claim: its id.
        hypotheses: the claim's, as text, that were used.
        unused: those that were not.
        lines: name, sentence, rule, and what the rule was applied to, of each line.
        citations: what it takes from elsewhere; empty for a proof in full.
    """

    claim: str
    hypotheses: tuple[str, ...]
    unused: tuple[str, ...]
    lines: tuple[tuple[str, str, str, tuple[str, ...]], ...]
    citations: tuple[str, ...]


def check(claim: Claim, lines: Sequence[Mapping[str, Any]] | None = None) -> Checked:
    """Accept a claim's derivation.

    Args:
        claim: whose sentence is to be proved.
        lines: the derivation, as it was written (`lines` writes out the instances that it names); that of the claim
            where none is given.

    Raises:
        NotProvedError: where it is not accepted, naming the line and why.
    """
    forget()
    kernel, last = accepted(claim, *numbered(claim, claim.proof if lines is None else lines))
    texts = tuple(dict.fromkeys((*claim.assuming, *claim.standing)))
    used = tuple(text for text in texts if text in last.hypotheses)
    return Checked(
        claim.id,
        used,
        tuple(text for text in texts if text not in used),
        tuple((one.name, str(one.sentence), one.rule, one.parts) for one in kernel.accepted),
        tuple(sorted(last.citations)),
    )


def refusal(claim: Claim, lines: Sequence[Mapping[str, Any]]) -> str | None:
    """Why lines are not accepted as a derivation of a claim; None where they are."""
    try:
        check(claim, lines)
    except NotProvedError as error:
        return str(error)
    return None


def accepted(
    claim: Claim, written: Sequence[Mapping[str, Any]], where: Mapping[int, str] | None = None, depth: int = 0
) -> tuple[Kernel, Line]:
    """The kernel of a derivation that is accepted, and its last line.

    Args:
        claim: whose sentence is to be proved.
        written: the derivation, every line written out.
        where: by the id of a line's data, which of the author's lines it is; for messages alone.
        depth: in how many other derivations it stands.

    Raises:
        NotProvedError: where it is not accepted, naming the line and why.
    """
    kernel = Kernel(claim, written, True, depth, where)
    if kernel.reader.affine:
        try:
            return _followed(Kernel(claim, written, False, depth, where), written)
        except NotProvedError:  # it needs that a function is quadratic
            pass
    return _followed(kernel, written)


def _followed(kernel: Kernel, written: Sequence[Mapping[str, Any]]) -> tuple[Kernel, Line]:
    claim = kernel.claim
    last = kernel.block(written, Goal(claim.sentence, PLAIN, exact=True))[-1]
    where = kernel.where.get(id(written[-1]), "")
    if last.fixed:
        raise NotProvedError(last.name, f"it holds for some {', '.join(sorted(last.fixed))} only", where)
    own = shifts(claim.sentence, kernel.reader)
    for index, reach in last.reach.items():
        if reach > own.get(index, 1):  # there is a first round, and a first turn
            why = f"its hypotheses say too little of the last {index} that the claim has"
            raise NotProvedError(last.name, why, where)
    sides = (claim.sentence.left, claim.sentence.right)
    if "h" in last.reach and any(kernel.reader.lagging(side, "h") for side in sides):
        raise NotProvedError(last.name, "it is of turns h, and the claim of what is remembered", where)
    return kernel, last


class Kernel:
    """The lines that are known, and the rules by which others follow.

    Args:
        claim: whose hypotheses are meant.
        lines: the whole derivation, which is only looked through for the functions of which it speaks.
        affine: whether gradients of quadratics are taken apart, which uses the hypothesis that they are.
        depth: in how many other derivations it stands.
        where: by the id of a line's data, which of the author's lines it is.

    Raises:
        NotProvedError: for a claim of which nothing is proved here.
    """

    def __init__(
        self, claim: Claim, lines: Any, affine: bool = True, depth: int = 0, where: Mapping[int, str] | None = None
    ) -> None:
        if claim.over or claim.in_words or not claim.has_sentence:
            raise NotProvedError(claim.id, "a claim in words, or about a part of the space, is not proved here")
        self.claim, self.depth, self.where = claim, depth, where or {}
        trees = [claim.sentence.left, claim.sentence.right, *claim.definitions.values()]
        trees += [side for r in claim.relations for side in (r.left, r.right)]
        trees += _trees(lines)
        self.reader = Reader(claim, finest(claim, trees), lambda e, place: self.signs.nonzero(e, place))
        self.reader.affine = self.reader.affine if affine else ""
        self.signs = Signs(self.reader)
        self.reader.rounds = self.rounds = Rounds(self.reader)
        self.reader.by_lines = self.signs.surely_nonnegative
        self.there = named_points(claim)
        self.known: dict[str, Line] = {}
        self.accepted: list[Line] = []
        self.touched: list[Line] = []
        self.hypotheses: list[Line] = []
        self.signs.allow((claim.sentence.left, claim.sentence.right), "")
        for text in (*claim.assuming, *claim.standing):
            self._assume(text)

    def _assume(self, text: str) -> None:
        relation = next((r for r in self.claim.relations if _says(text, r)), None)
        if relation is None:
            return
        self.signs.allow((relation.left, relation.right), text)
        self.reader.leaned = {text}
        try:
            gap = self.reader.difference(relation)
        except ValueError:  # what is not read says nothing here
            return
        reach = shifts(relation, self.reader)
        if any(index in reach and not self.reader.one_range(index) for index in TURNS):
            return  # of which loop it speaks, lines would not remember
        if any(self.reader.lagging(side, "h") for side in (relation.left, relation.right)):
            return  # nor that h is no turn
        line = Line(text, relation, PLAIN, gap, hypotheses=frozenset(self.reader.leaned), reach=reach)
        self.hypotheses.append(line)
        self.signs.know(line, gap, relation.relation)

    # --- what rules use ---

    def line(self, name: object) -> Line:
        """A line, or a hypothesis, by its name; it counts as used.

        Raises:
            RejectedError: where there is none.
        """
        if not isinstance(name, str):
            raise RejectedError(f"{name!r} is no name of a line")
        found = self.known.get(name)
        if found is None:
            found = next((one for one in self.hypotheses if _says(name, one.sentence)), None)
        if found is None:
            meant = near(name, [*self.known, *(one.name for one in self.hypotheses)])
            raise RejectedError(f"there is no line {name!r} before it, nor such a hypothesis{meant}")
        self.touched.append(found)
        return found

    def expression(self, text: object) -> Expression:
        """The tree of an expression that the claim can say, and that has a value.

        Raises:
            RejectedError: where it is none.
        """
        if isinstance(text, int) and not isinstance(text, bool):
            text = str(text)
        if not isinstance(text, str):
            raise RejectedError(f"{text!r} is no expression")
        tree = parse_expression(text)
        read(tree, self.claim.vocabulary)
        self.has_value(tree)
        return tree

    def sentence(self, text: str) -> Sentence:
        """The same of a sentence."""
        said = checked(parse_sentence(text), self.claim)
        for side in (said.left, said.right):
            self.has_value(side)
        return said

    def has_value(self, e: Expression, place: Place = PLAIN) -> None:
        """Nothing where an expression has a value for every instance of the claim.

        Raises:
            RejectedError: where it need not.
        """
        self.signs.leaned |= leaned_on(e, self.claim, self.there)
        self.signs.check_defined(e, place)

    # --- lists of lines ---

    def block(self, lines: Sequence[Mapping[str, Any]], goal: Goal, given: Sequence[Line] = ()) -> list[Line]:
        """The lines of a list that ends at a goal; what it holds is forgotten after it.

        Raises:
            NotProvedError: where a line is not accepted.
        """
        from theory.derivation.rules import RULES

        if not isinstance(lines, Sequence) or isinstance(lines, str) or not lines:
            raise NotProvedError(str(goal.sentence), "there are no lines that end there")
        if len(self.accepted) + len(lines) > MOST_LINES:
            raise NotProvedError(str(goal.sentence), f"more than {MOST_LINES} lines")
        outer = dict(self.known)
        made: list[Line] = []
        for one in given:
            self.known[one.name] = one
            self.signs.know(one, one.gap, one.relation)
        try:
            for number, data in enumerate(lines):
                last = number == len(lines) - 1
                name = str(data.get("name", "")) if isinstance(data, Mapping) else ""
                try:
                    line = self._accept(name, data, goal if last else None, RULES)
                except NotProvedError:
                    raise
                except (ValueError, RecursionError, OverflowError) as error:
                    raise self._refused(name or f"line {number + 1}", data, str(error) or repr(error)) from None
                made.append(line)
                self.accepted.append(line)
                self.known[name] = line
                self.signs.know(line, line.gap, line.relation)
        finally:
            for one in (*given, *made):
                self.signs.forget(one)
            self.known = outer
        return made

    def _refused(self, name: str, data: Any, why: str) -> NotProvedError:
        said = data.get("sentence") if isinstance(data, Mapping) else None
        return NotProvedError(name, why, self.where.get(id(data), ""), said if isinstance(said, str) else "")

    def _accept(self, name: str, data: Any, goal: Goal | None, rules: Mapping[str, Any]) -> Line:
        if not isinstance(data, Mapping):
            raise RejectedError(f"{data!r} is no line")
        if not name or ":" in name or name in self.known:
            raise RejectedError("a line has a name that no other has, without a colon")
        by = data.get("by")
        if not isinstance(by, str) or by not in rules:
            raise RejectedError(f"by {by!r}: the rules are {', '.join(rules)}")
        rule, keys = rules[by]
        unknown = sorted(set(data) - {"name", "sentence", "by", *keys})
        if unknown:
            raise RejectedError(f"{unknown[0]!r} is nothing that a line by {by} has")
        before = self.touched, self.signs.used, self.signs.leaned, self.rounds.undefined
        self.touched, self.signs.used, self.signs.leaned, self.rounds.undefined = [], [], set(), []
        self.reader.leaned = self.signs.leaned
        if goal is not None and goal.exact and by == "combination":
            self.signs.own = self.signs.divisors_of((goal.sentence.left, goal.sentence.right), _bound_in(data))
        try:
            said, place = self._said(data, goal, by)
            gap = self.reader.difference(said, place)
            line = Line(name, said, place, gap, by)
            found = rule(self, data, line)
            if goal is not None:
                self._reaches(line, goal)
            used, leaned = [*self.touched, *self.signs.used], frozenset(self.signs.leaned)
            carries = self.rounds.carries(self.rounds.undefined)
        finally:
            self.touched, self.signs.used, self.signs.leaned, self.rounds.undefined = before
            self.signs.own = frozenset()
            self.reader.leaned = self.signs.leaned
        return replace(
            line,
            parts=tuple(dict.fromkeys(one.name for one in used)),
            hypotheses=found.hypotheses.union(leaned, *(one.hypotheses for one in [*used, *found.lines])),
            fixed=(frozenset().union(*(one.fixed for one in found.lines)) - found.freed).union(
                *(one.fixed for one in used)
            ),
            reach=furthest([found.reach, carries, *(one.reach for one in used)]),
            citations=found.citations.union(*(one.citations for one in [*used, *found.lines])),
        )

    def _said(self, data: Mapping[str, Any], goal: Goal | None, by: str) -> tuple[Sentence, Place]:
        text = data.get("sentence")
        if text is not None:
            if not isinstance(text, str):
                raise RejectedError(f"{text!r} is no sentence")
            return self.sentence(text), PLAIN
        if goal is not None:
            for side in (goal.sentence.left, goal.sentence.right):
                self.has_value(side, goal.place)
            return goal.sentence, goal.place
        if by == "assumption":
            from theory.derivation.rules import assumption_text

            return self.sentence(assumption_text(self, data)), PLAIN
        if by == "at":
            from theory.derivation.combinations import at_other_indices

            used, place = at_other_indices(self, data)
            return used.sentence, place
        raise RejectedError("it has no sentence")

    def _reaches(self, line: Line, goal: Goal) -> None:
        if goal.exact:
            if line.sentence != goal.sentence or line.place != goal.place:
                raise RejectedError(f"it is the last line, and is to say {goal.sentence}")
        elif not same(self.reader.difference(goal.sentence, goal.place), goal.sentence.relation, line):
            raise RejectedError(f"it is the last line, and is to say {goal.sentence} there")


def _bound_in(data: Mapping[str, Any]) -> frozenset[str]:
    """The indices over which a combination takes something."""
    entries = [one for key in ("parts", "squares") for one in _some(data.get(key)) if isinstance(one, Mapping)]
    names = [name for one in entries for name in _some(one.get("over")) if isinstance(name, str)]
    return frozenset(OVER[name][1] for name in names if name in OVER)


def _some(data: Any) -> Sequence[Any]:
    return data if isinstance(data, list | tuple) else ()


def _says(text: str, sentence: Sentence) -> bool:
    try:
        return parse_sentence(text) == sentence
    except ValueError:
        return False


def _trees(data: Any) -> Iterator[Expression]:
    """Everything in a derivation that can be read."""
    if isinstance(data, Mapping):
        for value in data.values():
            yield from _trees(value)
    elif isinstance(data, str):
        yield from _readable(data)
    elif isinstance(data, Sequence):
        for value in data:
            yield from _trees(value)


@lru_cache(4096)
def _readable(text: str) -> tuple[Expression, ...]:
    """A text's trees: those of a sentence, an expression, or what an assumption is given; none of another text."""
    try:
        if any(relation in text for relation in RELATIONS):
            said = parse_sentence(text)
            return said.left, said.right
        return (parse_expression(text),)
    except ValueError:
        try:
            call = parse_call(text) if "(" in text else None
        except ValueError:
            return ()
        return () if call is None else call[1]


__all__ = [
    "Checked",
    "Found",
    "Goal",
    "Kernel",
    "Line",
    "NotProvedError",
    "accepted",
    "check",
    "furthest",
    "same",
    "text_of",
]
