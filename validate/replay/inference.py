"""Does a line of a proof follow from the lines before it? Decided by algebra, with the earlier lines put in.

A line ``left <= right`` has the slack right - left. Earlier lines, multiplied by factors that are not negative, give a
combination of their slacks; if the line's own slack is that combination plus something that is never negative, it
follows. If that something is negative somewhere, the line does not follow by this combination, which is shown by
values.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from theory.claim import Claim, Step
from theory.domain import NONNEGATIVE, Domain
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


def infer(step: Step, of_line: Mapping[str, Claim], domains: Mapping[str, Domain]) -> Inference | None:
    """Whether a line follows from those that it uses; None when it does not say how.

    Args:
        step: the line.
        of_line: the claim that encodes each line, by label (this line's own too); for a line whose printed form is
            repaired, the repair may stand here instead.
        domains: of the parameters, by name.

    Raises:
        ValueError: when a line of the inference has no claim with a right side.
    """
    inference = step.inference
    if inference is None:
        return None
    if inference.remains is not None:
        remains = replace(step, identity=inference.remains)
    else:
        import sympy

        rest = _slack(step.label, of_line, inference.at)
        for part in inference.parts:
            factor = _expression(part.factor)
            free = of_line.get(part.label)
            if (free is None or free.relation != "=") and holds(_not_negative(step, factor), domains) is not True:
                return Inference("not shown", f"the factor {part.factor} of {part.label} may be negative", {})
            rest -= factor * _slack(part.label, of_line, part.at)
        remains = _not_negative(step, sympy.factor(sympy.together(rest)))
    names = ", ".join(part.label for part in inference.parts) or ", ".join(step.uses)
    if holds(remains, domains) is True:
        return Inference("follows", f"follows from {names}, by algebra", {})
    found = counterexample(remains, domains)
    if found is None:
        return Inference("not shown", f"whether it follows from {names} was not decided", {})
    values, left, right = found
    where = ", ".join(f"{name}={value}" for name, value in values.items())
    gap = f"{left} against {right}" if inference.remains is not None else f"it is {right}"
    detail = f"does not follow from {names}: what is left to be shown fails at {where} ({gap})"
    return Inference("does not follow", detail, values)


def counterexample(step: Step, domains: Mapping[str, Domain]) -> tuple[dict[str, str], str, str] | None:
    """Values in their domains at which a scalar line is false, with both sides there, exactly; None if none was found.

    Args:
        step: a step with `identity`.
        domains: by name; a name without one is taken to be in [0, inf).
    """
    assert step.identity is not None
    left, right = (_expression(text) for text in step.identity)
    symbols = sorted(left.free_symbols | right.free_symbols, key=str)
    choices = [
        [text for text in _TRIED if domains.get(str(symbol), NONNEGATIVE).contains(_exact(text))] for symbol in symbols
    ]
    if any(not allowed for allowed in choices):
        return None
    rng = random.Random(0)
    for i in range(_TRIES):
        # the first tries are small numbers only
        size = 2 + i // 20
        chosen = [rng.choice(allowed[:size]) for allowed in choices]
        at = {s: _expression(text) for s, text in zip(symbols, chosen, strict=True)}
        one, other = left.subs(at), right.subs(at)
        if not (one.is_rational and other.is_rational) or _true(one, step.relation, other):
            continue
        return {str(s): text for s, text in zip(symbols, chosen, strict=True)}, str(one), str(other)
    return None


def _exact(text: str) -> float | int:
    value = Fraction(text)
    return value.numerator if value.denominator == 1 else float(value)


def _true(left: sympy.Expr, relation: str, right: sympy.Expr) -> bool:
    compare: dict[str, Callable[[Any, Any], Any]] = {
        "<=": lambda a, b: a <= b,
        "<": lambda a, b: a < b,
        "=": lambda a, b: a == b,
        ">=": lambda a, b: a >= b,
        ">": lambda a, b: a > b,
    }
    return bool(compare[relation](left, right))


def _not_negative(step: Step, expression: sympy.Expr) -> Step:
    """The line ``0 <= expression`` (or ``0 = expression`` where the step is an identity)."""
    relation: Literal["=", "<="] = "=" if step.relation == "=" else "<="
    return replace(step, identity=("0", str(expression)), relation=relation)


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

    from theory.expression import names_in, parse, to_sympy

    formula = parse(text)
    return to_sympy(formula, {name: (known or {}).get(name, sympy.Symbol(name)) for name in names_in(formula)})
