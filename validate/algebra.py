"""Scalar lines of a proof, compared by algebra: identities, and inequalities between rational functions.

An inequality ``left <= right`` of rational functions of parameters with lower ends is proved when, after each
parameter is written as its lower end plus a non-negative rest, the numerator and the denominator of right - left have
non-negative coefficients only. This is sufficient, not necessary: otherwise the answer is None, not False.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from theory.claim import Claim, Step
from theory.domain import NONNEGATIVE, Domain
from validate.verdict import Evidence

if TYPE_CHECKING:
    import sympy


def holds(step: Step, domains: Mapping[str, Domain]) -> bool | None:
    """Whether a step's scalar identity or inequality holds for all values of its parameters.

    Args:
        step: a step with `identity`.
        domains: the parameters' domains by name; a name without a domain is taken to be in [0, inf).

    Returns:
        True when proved, False when an identity is false, None when this method cannot tell.

    Raises:
        ValueError: when the step has no scalar formula.
    """
    if step.identity is None:
        raise ValueError(f"step {step.label!r} has no scalar formula to compare")
    return _holds(step.identity, step.relation, tuple((name, domain.lower) for name, domain in domains.items()))


@lru_cache(1024)  # a claim, its repairs and the replay of its proof ask for the same lines
def _holds(identity: tuple[str, str], relation: str, ends: tuple[tuple[str, object], ...]) -> bool | None:
    """`holds`, given the lower ends of the domains by name."""
    import sympy

    lower = dict(ends)
    left, right = (_sympy(text) for text in identity)
    gap = sympy.together(right - left)
    if relation == "=":
        return bool(sympy.simplify(gap) == 0)
    if relation in (">=", ">"):
        gap = -gap
    shifted = gap
    for symbol in sorted(gap.free_symbols, key=str):
        end = lower.get(str(symbol), NONNEGATIVE.lower)
        if end is None:
            return None
        shifted = shifted.subs(symbol, symbol + sympy.Rational(str(end)))
    return _nonnegative(sympy.cancel(sympy.together(shifted)))


@lru_cache(1024)
def same(left: str, right: str) -> bool:
    """Whether two ASCII formulas are the same function of their names, wherever both are defined."""
    import sympy

    return bool(sympy.simplify(_sympy(left) - _sympy(right)) == 0)


def at_most(left: str, right: str) -> bool:
    """Whether left <= right for all non-negative values of the names in them, by the signs of the coefficients."""
    return holds(Step("line", "", "<=", "", "inequality", identity=(left, right)), {}) is True


def _sympy(text: str) -> sympy.Expr:
    import sympy

    from theory.expression import names_in, parse, to_sympy

    formula = parse(text)
    return to_sympy(formula, {name: sympy.Symbol(name) for name in names_in(formula)})


def _nonnegative(ratio: sympy.Expr) -> bool | None:
    import sympy

    numerator, denominator = sympy.fraction(ratio)
    signs = []
    for part in (numerator, denominator):
        symbols = sorted(part.free_symbols, key=str)
        coefficients = sympy.Poly(part, *symbols).coeffs() if symbols else [part]
        if all(c >= 0 for c in coefficients):
            signs.append(1)
        elif all(c <= 0 for c in coefficients):
            signs.append(-1)
        else:
            return None
    return True if signs[0] * signs[1] > 0 or numerator == 0 else None


def vector_evidence(claim: Claim) -> list[Evidence]:
    """The claim as a statement about vectors, at each of its settings."""
    line = claim.vectors
    if line is None:
        return []
    from theory.inequality.prover import Proof, Refutation, prove

    used: dict[str, dict[str, str]] = {}
    for setting in line.settings:
        space, statement, given = line.build({name: Fraction(text) for name, text in setting.items()})
        answer = prove(statement, given, space)
        at = _shown(setting)
        if isinstance(answer, Refutation):
            text = f"{at}: vectors satisfy the hypotheses and exceed the claim by {float(answer.excess):.4g}"
            return [Evidence("algebra", "fails", text, data={"refutation": answer.to_json(), "setting": dict(setting)})]
        if not isinstance(answer, Proof):
            return [Evidence("algebra", "undecided", f"{at}: neither proved nor refuted ({answer.reason})")]
        used[at] = {name: str(y) for name, y in answer.used.items()}
    text = (
        f"proved {' and '.join(used)}: multipliers of its hypotheses and a sum of squares, re-checked in exact "
        f"rationals; scope: {line.scope}"
    )
    return [Evidence("algebra", "proved", text, data={"multipliers": used})]


def _shown(setting: Mapping[str, str]) -> str:
    return f"at {', '.join(f'{name}={text}' for name, text in setting.items())}" if setting else "for all vectors"
