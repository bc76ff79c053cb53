"""The order of a bound in K, or in any parameter, along a schedule such as delta = K^-eps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from theory.bound import Bound
from theory.claim import Claim

if TYPE_CHECKING:
    import sympy


def exponents(claim: Claim, schedule: Mapping[str, str], variable: str = "K") -> dict[str, sympy.Expr]:
    """The exponent of `variable` in each term of a bound.

    Args:
        claim: its terms are what its right side adds up (`theory.calculator.added`), by their text.
        schedule: parameters as ASCII formulas in `variable` and in new names, such as ``{"delta": "K**(-eps)"}``.
        variable: the parameter that grows.

    Returns:
        By name or text of the term, r(eps) with term ~ variable^r as variable grows; a term that is 0 is left out.

    Raises:
        ValueError: when a term is not of the order of a power, or a name is not a parameter of the claim.
    """
    from theory.calculator import added, calculator

    bound = calculator(claim).bound
    return dict(_exponents(_Asked(bound, added(bound), tuple(schedule.items()), variable)))


@dataclass(frozen=True, eq=False)
class _Asked:
    """The arguments of `exponents`, equal where its results are: sympy takes a second for some, which several ask."""

    bound: Bound
    terms: tuple[str, ...]
    schedule: tuple[tuple[str, str], ...]
    variable: str

    def _key(self) -> tuple[object, ...]:
        c = self.bound
        return c.id, c.parameters, tuple(c.definitions.items()), self.terms, self.schedule, self.variable

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Asked) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


@lru_cache(256)
def _exponents(asked: _Asked) -> Mapping[str, sympy.Expr]:
    import sympy

    from theory.expression import expression, to_sympy
    from theory.formula import names_in, parse

    claim, schedule, variable = asked.bound, dict(asked.schedule), asked.variable
    grows = claim.parameter(variable).symbol
    replace = {}
    for name, text in schedule.items():
        formula = parse(text)
        symbols = {key: grows if key == variable else sympy.Symbol(key, positive=True) for key in names_in(formula)}
        replace[claim.parameter(name).symbol] = to_sympy(formula, symbols)
    real = sympy.Symbol(variable, positive=True)  # an integer symbol cannot be differentiated in a limit
    found = {}
    for name in asked.terms:
        term = expression(name, claim).subs(replace).subs(grows, real)
        if term == 0:
            continue
        exponent = sympy.simplify(real * sympy.diff(sympy.log(term), real))
        if exponent.has(real):
            exponent = sympy.limit(exponent, real, sympy.oo)
        if exponent.has(real) or exponent.is_infinite:
            raise ValueError(f"{claim.id}: the term {name!r} is not of the order of a power of {variable}")
        found[name] = sympy.simplify(exponent)
    return found


def best_exponent(found: Mapping[str, sympy.Expr], name: str = "eps") -> tuple[sympy.Rational, sympy.Rational]:
    """The value of `name` in (0, 1] at which the largest exponent is smallest, and that exponent.

    Args:
        found: exponents that are affine in `name`, as from `exponents`.
        name: the schedule's free exponent.

    Raises:
        ValueError: when an exponent is not affine in `name`, or depends on something else.
    """
    import sympy

    symbol = sympy.Symbol(name, positive=True)
    lines = list(found.values())
    for line in lines:
        if line.free_symbols - {symbol} or sympy.Poly(line, symbol).degree() > 1:
            raise ValueError(f"the exponent {line} is not affine in {name} alone")
    # The maximum of affine functions is convex: its minimum is at an end or where two of them meet.
    candidates = {sympy.Integer(1)}
    for i, first in enumerate(lines):
        for second in lines[i + 1 :]:
            candidates |= {x for x in sympy.solve(first - second, symbol) if 0 < x <= 1}
    best = min(candidates, key=lambda x: (max(line.subs(symbol, x) for line in lines), x))
    return best, max(line.subs(symbol, best) for line in lines)
