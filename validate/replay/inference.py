"""Does a line of a proof follow from the lines before it? Decided by algebra, with the earlier lines put in.

A line ``left <= right`` has the slack right - left. Earlier lines, multiplied by factors that are not negative, give a
combination of their slacks; if the line's own slack is that combination plus something that is never negative, it
follows. If that something is negative somewhere, the line does not follow by this combination, which is shown by
values.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from theory.claim import Claim, Step
from theory.domain import NONNEGATIVE, Domain
from theory.expression import Comparison, Formula, names_in, parse, parse_relation, to_sympy
from validate.algebra import holds

if TYPE_CHECKING:
    import sympy

Answer = Literal["follows", "does not follow", "not shown"]

_TRIED = ("1", "2", "1/2", "3", "1/4", "10", "0", "1/100", "100", "-1")
_TRIES = 300


@dataclass(frozen=True)
class Inference:
    """Whether a line follows from the lines that it uses.

    Attributes:
        answer: ``"follows"`` (for all parameters), ``"does not follow"`` (by the combination that the paper names;
            `values` shows it), ``"not shown"``.
        detail: one sentence.
        values: parameters at which what would have to be non-negative is negative, as text; empty otherwise.
    """

    answer: Answer
    detail: str
    values: Mapping[str, str]

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"answer": self.answer, "detail": self.detail, "values": dict(self.values)}


def infer(
    step: Step, of_line: Mapping[str, Claim], domains: Mapping[str, Domain], facts: Facts | None = None
) -> Inference | None:
    """Whether a line follows from those that it uses; None when it does not say how.

    Args:
        step: the line.
        of_line: the claim that encodes each line, by label (this line's own too); for a line whose printed form is
            repaired, the repair may stand here instead.
        domains: of the parameters, by name.
        facts: what the claim assumes of them besides.

    Raises:
        ValueError: when a line of the inference has no claim with a right side.
    """
    inference = step.inference
    if inference is None:
        return None
    relations = () if facts is None else facts.relations
    if inference.remains is not None:
        remains = replace(step, identity=inference.remains)
    else:
        import sympy

        rest = _slack(step.label, of_line, inference.at)
        for part in inference.parts:
            factor = _expression(part.factor)
            free = of_line.get(part.label)
            signed = free is None or free.relation != "="
            if signed and holds(_not_negative(step, factor), domains, relations) is not True:
                return Inference("not shown", f"the factor {part.factor} of {part.label} may be negative", {})
            rest -= factor * _slack(part.label, of_line, part.at)
        remains = _not_negative(step, sympy.factor(sympy.together(rest)))
    names = ", ".join(part.label for part in inference.parts) or ", ".join(step.uses)
    if holds(remains, domains, relations) is True:
        return Inference("follows", f"follows from {names}, by algebra", {})
    found = counterexample(remains, domains, facts)
    if found is None:
        return Inference("not shown", f"whether it follows from {names} was not decided", {})
    values, left, right = found
    where = ", ".join(f"{name}={value}" for name, value in values.items())
    gap = f"{left} against {right}" if inference.remains is not None else f"it is {right}"
    detail = f"does not follow from {names}: what is left to be shown fails at {where} ({gap})"
    return Inference("does not follow", detail, values)


@dataclass(frozen=True)
class Facts:
    """What a claim assumes of its parameters besides their domains.

    Attributes:
        relations: ASCII relations.
        definitions: named terms that these may use, in order.
    """

    relations: tuple[str, ...] = ()
    definitions: Mapping[str, str] = field(default_factory=dict)

    def about(self, names: frozenset[str]) -> tuple[list[Comparison], frozenset[str]]:
        """The relations that speak of the names, or of what these are tied to, and all names of these relations."""
        used = {name: self._resolved(parse(text)) for name, text in self.definitions.items()}
        left = [parse_relation(text) for text in self.relations]
        chosen: list[Comparison] = []
        known = set(names)
        while True:
            more = [r for r in left if known & frozenset[str]().union(*(used.get(n, {n}) for n in names_in(r)))]
            if not more:
                return chosen, frozenset(known)
            chosen += more
            left = [r for r in left if r not in more]
            known |= frozenset[str]().union(*(used.get(n, frozenset((n,))) for r in more for n in names_in(r)))

    def _resolved(self, formula: Formula) -> frozenset[str]:
        found: set[str] = set()
        for name in names_in(formula):
            text = self.definitions.get(name)
            found |= {name} if text is None else self._resolved(parse(text))
        return frozenset(found)


def counterexample(
    step: Step, domains: Mapping[str, Domain], facts: Facts | None = None
) -> tuple[dict[str, str], str, str] | None:
    """Values in their domains at which a scalar line is false, with both sides there; None if none was found.

    Args:
        step: a step with `identity`.
        domains: by name; a name without one is taken to be in [0, inf).
        facts: relations that the values are to satisfy.
    """
    assert step.identity is not None
    sides = [parse(text) for text in step.identity]
    own = names_in(sides[0]) | names_in(sides[1])
    facts = facts or Facts()
    relations, names = facts.about(own)
    symbols = sorted(names)
    choices = [
        [text for text in _TRIED if domains.get(symbol, NONNEGATIVE).contains(_exact(text))] for symbol in symbols
    ]
    if any(not allowed for allowed in choices):
        return None
    rng = random.Random(0)
    for i in range(_TRIES if not relations else 10 * _TRIES):
        # the first tries are small numbers only
        size = 2 + i * _TRIES // (_TRIES if not relations else 10 * _TRIES) // 20
        chosen = dict(zip(symbols, [rng.choice(allowed[:size]) for allowed in choices], strict=True))
        try:
            at = {name: _number(text) for name, text in chosen.items()}
            for name, text in facts.definitions.items() if relations else ():
                if names_in(parse(text)) <= set(at):
                    at[name] = to_sympy(parse(text), at)
            if not all(_satisfied(relation, at) for relation in relations):
                continue
            one, other = (to_sympy(side, at) for side in sides)
            wrong = _true(one, step.relation, other) is False
        except ValueError:  # undefined there, or too large to be written out
            continue
        if wrong:
            return {name: chosen[name] for name in symbols if name in own or relations}, str(one), str(other)
    return None


def _number(text: str) -> sympy.Expr:
    import sympy

    return sympy.Rational(text)


def _satisfied(relation: Comparison, at: Mapping[str, sympy.Expr]) -> bool:
    """Whether a relation is shown to hold at numbers.

    Raises:
        ValueError: when it has no value there.
    """
    sides = [to_sympy(side, at) for side in relation.sides]
    pairs = zip(sides, relation.operators, sides[1:], strict=False)
    return all(_true(a, "=" if operator == "==" else operator, b) is True for a, operator, b in pairs)


def _exact(text: str) -> float | int:
    value = Fraction(text)
    return value.numerator if value.denominator == 1 else float(value)


def _true(left: sympy.Expr, relation: str, right: sympy.Expr) -> bool | None:
    """Whether a relation between real numbers holds; None where that is not certain."""
    gap = right - left
    if not gap.is_rational:
        if not gap.is_real:
            return None
        sign = 0 if gap.is_zero else 1 if gap.is_positive else -1 if gap.is_negative else None
    else:
        sign = int(bool(gap > 0)) - int(bool(gap < 0))
    if sign is None:
        return None
    return {"<=": sign >= 0, "<": sign > 0, "=": sign == 0, ">=": sign <= 0, ">": sign < 0}[relation]


def _not_negative(step: Step, expression: sympy.Expr) -> Step:
    """The line ``0 <= expression`` (or ``0 = expression`` where the step is an identity)."""
    relation: Literal["=", "<="] = "=" if step.relation == "=" else "<="
    text = str(expression).replace("Max(", "max(").replace("Min(", "min(").replace("Abs(", "abs(")
    return replace(step, identity=("0", text), relation=relation)


def _slack(label: str, of_line: Mapping[str, Claim], at: Mapping[str, str]) -> sympy.Expr:
    """What the claim of a line says is not negative, with the left side under the quantity's name."""
    import sympy

    claim = of_line.get(label)
    if claim is None or claim.right is None:
        raise ValueError(f"line {label!r} has no claim with a right side, which its inference needs")
    known: dict[str, sympy.Expr] = {}
    for name, text in claim.definitions.items():
        known[name] = _expression(text, known)
    slack = _expression(claim.right, known) - sympy.Symbol(claim.quantity.name)
    if claim.relation in (">=", ">"):
        slack = -slack
    return slack.subs({sympy.Symbol(name): _expression(text) for name, text in at.items()}, simultaneous=True)


def _expression(text: str, known: Mapping[str, sympy.Expr] | None = None) -> sympy.Expr:
    import sympy

    formula = parse(text)
    return to_sympy(formula, {name: (known or {}).get(name, sympy.Symbol(name)) for name in names_in(formula)})
