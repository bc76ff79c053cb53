"""Scalar lines of a proof, compared by algebra: identities, and inequalities between rational functions.

An inequality is shown by the signs of coefficients (`validate.signs`). This is sufficient, not necessary: otherwise the
answer is None, not False. A strict relation takes a difference that is shown to be positive.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from theory.claim import Step
from theory.domain import Domain
from validate.signs import region
from validate.verdict import Evidence

if TYPE_CHECKING:
    import sympy


def holds(step: Step, domains: Mapping[str, Domain], relations: Iterable[str] = ()) -> bool | None:
    """Whether a step's scalar identity or inequality holds for all values of its parameters.

    Args:
        step: a step with `identity`.
        domains: the parameters' domains by name; a name without a domain is taken to be in [0, inf).
        relations: ASCII relations that the parameters satisfy besides; those that are no use are left out.

    Returns:
        True when proved, False when an identity is false, None when this method cannot tell.

    Raises:
        ValueError: when the step has no scalar formula.
    """
    if step.identity is None:
        raise ValueError(f"step {step.label!r} has no scalar formula to compare")
    return _holds(step.identity, step.relation, tuple(domains.items()), tuple(relations))


@lru_cache(1024)  # a claim, its repairs and the replay of its proof ask for the same lines
def _holds(
    identity: tuple[str, str], relation: str, domains: tuple[tuple[str, Domain], ...], relations: tuple[str, ...]
) -> bool | None:
    import sympy

    left, right = (_sympy(text) for text in identity)
    if relation == "=":
        return bool(sympy.simplify(sympy.together(right - left)) == 0)
    return True if compared(left, relation, right, dict(domains), relations) else None


def compared(
    left: sympy.Expr, relation: str, right: sympy.Expr, domains: Mapping[str, Domain], relations: Iterable[str] = ()
) -> bool:
    """Whether ``left relation right`` is shown by the signs of coefficients, for `relation` one of ``< <= > >=``."""
    gap = right - left if relation in ("<", "<=") else left - right
    where = region(domains, sympy_relations(relations), gap.free_symbols)
    return where.positive(gap) if relation in ("<", ">") else where.nonnegative(gap)


def sympy_relations(relations: Iterable[str]) -> list[tuple[sympy.Expr, str, sympy.Expr]]:
    """The relations between scalars, two sides each; those that have no sympy form are left out."""
    import sympy

    from theory.expression import names_in, parse_relation, to_sympy

    found = []
    for text in relations:
        chain = parse_relation(text)
        try:
            sides = [to_sympy(side, {name: sympy.Symbol(name) for name in names_in(side)}) for side in chain.sides]
        except ValueError:
            continue
        found += list(zip(sides, chain.operators, sides[1:], strict=False))
    return found


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


def checked_lines(lines: Mapping[str, bool], how: str) -> Evidence:
    """Lines of a claim's proof that were written by hand for it: they may all be true and the claim another.

    Args:
        lines: by name, whether algebra shows it.
        how: how the author of the lines goes from them to the claim, in words.
    """
    wrong = [name for name, true in lines.items() if not true]
    data = {"lines": dict(lines)}
    if wrong or not lines:
        text = f"lines of its proof that algebra does not show: {', '.join(wrong) or 'there are none'}"
        return Evidence("algebra", "undecided", text, data=data)
    text = (
        f"lines of its proof by algebra: {len(lines)} hold; they do not reach the claim, which follows from them in "
        f"words only: {how}"
    )
    return Evidence("algebra", "holds", text, data=data)
