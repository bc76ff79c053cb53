"""A derivation of one claim, carried over to another that says a little more: its last lines are combined anew.

All lines before the last say what they said. The last one is a combination of what it was made of, of what that was
made of in turn, and so on, with multipliers of their own; cases and inductions are carried over into their lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from theory.claim import Claim
from theory.derivation.kernel import NotProvedError, accepted, refusal
from theory.derivation.named import numbered
from theory.derivation.search.combining import combine
from theory.derivation.search.context import Context, Known, Line
from theory.derivation.search.facts import facts
from theory.derivation.search.forms import Forms
from theory.derivation.search.induction import at
from theory.derivation.search.problem import Limit, Work
from theory.derivation.search.settings import Settings
from theory.formula import Number
from theory.sentence import OVER, applied, parse_expression, parse_sentence, read

DEEPEST = 4
"""How often what a line was made of is taken for the line."""
MOST = 60
"""Parts of which a line is combined anew."""
ONE = Number(Fraction(1))


@dataclass(frozen=True)
class _Part:
    """A part of a combination, or a square: what it is taken over, and the factor that it has inside of that."""

    name: str
    over: tuple[str, ...]
    factor: str
    put: tuple[tuple[str, str], ...]
    square: bool = False


def carried(claim: Claim, of: Claim, units: int) -> tuple[Mapping[str, Any], ...] | None:
    """Lines that the kernel accepts as a derivation of a claim, made of another claim's; None where none are found.

    Args:
        claim: to be shown.
        of: with a derivation; of the same algorithm and functions.
        units: of work (`theory.derivation.search.searching`).
    """
    if not of.proof:
        return None
    as_it_is = [*of.proof[:-1], {key: value for key, value in of.proof[-1].items() if key != "sentence"}]
    if refusal(claim, as_it_is) is None:
        return tuple(as_it_is)
    try:
        carrier = _Carrier(claim, of, units)
        lines = carrier.block(carrier.written, claim.statement, claim.label, [], {})
    except (NotProvedError, ValueError, ArithmeticError, RecursionError, Limit):
        return None
    if lines is None:
        return None
    last = {key: value for key, value in lines[-1].items() if key != "sentence"}
    lines = [*lines[:-1], last]
    return tuple(lines) if refusal(claim, lines) is None else None


class _Carrier:
    def __init__(self, claim: Claim, of: Claim, units: int) -> None:
        self.claim = claim
        self.written, _ = numbered(of, of.proof)
        kernel, _ = accepted(of, self.written)
        self.there: dict[str, Line] = {}  # lines before the one that is combined anew, those around its list too
        self.says = {line.name: str(line.sentence) for line in kernel.accepted}
        self.context = Context(
            claim, Forms(claim), Work(units), Settings(claim), list(facts(claim)), stage=0, plain=True, lean=True,
            only=True,
        )  # fmt: skip

    def block(
        self, lines: Sequence[Line], goal: str, name: str, given: Sequence[Known], put: Mapping[str, str]
    ) -> list[Line] | None:
        """A list of lines that ends at a goal, made of one that ended at another.

        Args:
            lines: that list.
            goal: a sentence.
            name: of the last line.
            given: what the lines around say.
            put: what K stands for in the goal.
        """
        known = [*given, *(Known(one["name"], self.says[one["name"]]) for one in lines[:-1])]
        for end in range(len(lines) - 1, -1, -1):
            self.there |= {one["name"]: one for one in lines[:end]}
            found = self._ended(lines[end], goal, name, known[: len(given) + end], put)
            if found is not None:
                return [*lines[:end], *found]
            if lines[end]["by"] not in ("combination", "cases") or end < len(lines) - 3:
                return None  # farther back nothing speaks of what the end says
        return None

    def _ended(
        self, last: Line, goal: str, name: str, known: Sequence[Known], put: Mapping[str, str]
    ) -> list[Line] | None:
        if last["by"] == "cases":
            return self._cases(last, goal, name, known, put)
        if last["by"] == "induction" and not put:
            return self._induction(last, goal, name, known)
        if last["by"] != "combination":
            return None
        return self._combined(last, goal, name, known, put)

    def _cases(
        self, last: Line, goal: str, name: str, known: Sequence[Known], put: Mapping[str, str]
    ) -> list[Line] | None:
        if put:
            return None
        tree = parse_sentence(last["on"])
        other = str(replace(tree, left=tree.right, right=tree.left))
        made = {}
        for key, text in (("first", str(tree)), ("second", other)):
            self.context.supposed.append(text)
            lines = self.block(last[key], goal, f"{name} {key}", [*known, Known(text, text, cost=0.2)], put)
            self.context.supposed.pop()
            if lines is None:
                return None
            made[key] = lines
        return [{"name": name, "sentence": goal, "by": "cases", "on": last["on"], **made}]

    def _induction(self, last: Line, goal: str, name: str, known: Sequence[Known]) -> list[Line] | None:
        on, start = last["on"], int(last["on"] == "K")
        if last.get("sentences"):
            return None
        given = [*known, Known("IH", goal, cost=0.3)]
        if on == "K":
            ends = [(goal, {"K": "1"}), (goal, {"K": "K + 1"})]
        else:
            following = applied("+", (parse_expression(on), ONE))
            ends = [(at(goal, on, Number(Fraction(start))), {}), (at(goal, on, following), {})]
        base = self.block(last["base"], ends[0][0], f"{name} at first", known, ends[0][1])
        step = None if base is None else self.block(last["step"], ends[1][0], f"{name} after it", given, ends[1][1])
        if base is None or step is None:
            return None
        return [
            {"name": name, "sentence": goal, "by": "induction", "on": on, "from": start, "base": base, "step": step}
        ]

    # --- combinations ---

    def _combined(
        self, last: Line, goal: str, name: str, known: Sequence[Known], put: Mapping[str, str]
    ) -> list[Line] | None:
        at_hand = {one.name: one for one in known}
        parts = list(self._parts(last))
        for _ in range(DEEPEST):
            given = [*self._as_known(parts, at_hand), *(one for one in known if self._of_numbers(one, goal))]
            lines = combine(self.context, goal, name, given, put, stages=(0,))
            if lines is not None:
                return lines
            more = [
                p for one in parts if (line := self.there.get(one.name)) is not None for p in self._inside(one, line)
            ]
            wider = list(dict.fromkeys([*parts, *more]))
            if len(wider) == len(parts) or len(wider) > MOST:
                return None
            parts = wider
        return None

    def _parts(self, line: Line) -> Iterator[_Part]:
        for key, of in (("parts", "line"), ("squares", "of")):
            for one in line.get(key, ()):
                over = tuple(one.get("over", ()))
                factor = self._factor(str(one.get("times", "1")), over)
                yield _Part(str(one[of]), over, factor, tuple(sorted(one.get("put", {}).items())), key == "squares")

    def _inside(self, part: _Part, line: Line) -> Iterator[_Part]:
        """What a part was made of, taken over the same."""
        if part.square or part.put or line["by"] not in ("combination", "mean"):
            return
        for one in self._parts(line if line["by"] == "combination" else {"parts": [{**line, "times": "1"}]}):
            over = (*part.over, *one.over)
            factor = "*".join(f for f in (part.factor, one.factor) if f)
            if len(set(over)) == len(over):
                yield replace(one, over=over, factor=factor)

    def _factor(self, times: str, over: Sequence[str]) -> str:
        """The multiplier of a part where it is kept: it hangs on what the part is taken over, or is no number."""
        bound = {OVER[b][1] for b in over if b in OVER}
        free = read(parse_expression(times), self.claim.vocabulary).free
        return f"({times})" if free & bound or not set(self.context.forms.expanded(times)) <= {()} else ""

    def _as_known(self, parts: Sequence[_Part], at_hand: Mapping[str, Known]) -> Iterator[Known]:
        for one in parts:
            if one.square:
                text = f"norm2({one.name})" if self._is_vector(one.name) else f"({one.name})**2"
                line = {"by": "combination", "squares": [{"of": one.name}]}
                yield Known(f"{text} >= 0".replace(":", " "), f"0 <= {text}", line, 0.5, None, one.over, one.factor)
                continue
            found = at_hand.get(one.name) or Known(one.name, one.name)  # a hypothesis
            if not (one.put and one.factor):
                yield replace(found, put=dict(one.put) or None, over=one.over, factor=one.factor)

    def _is_vector(self, text: str) -> bool:
        return read(parse_expression(text), self.claim.vocabulary).shape != "scalar"

    def _of_numbers(self, one: Known, goal: str) -> bool:
        """Whether a line is about numbers, at the indices of the goal."""
        try:
            return self._free(one.sentence) <= self._free(goal) and set(self.context.forms.gap(one.sentence)) <= {()}
        except ValueError:
            return False

    def _free(self, sentence: str) -> frozenset[str]:
        tree = parse_sentence(sentence)
        return frozenset().union(*(read(side, self.claim.vocabulary).free for side in (tree.left, tree.right)))
