"""Factors of parameters and numbers, and a term times one, written as an author would."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from theory.formula import Apply, Number
from theory.sentence import Expression, applied, parse_expression, parts
from validate.repairs.candidates import without_ones

SIMPLE = tuple(
    sorted({*(Fraction(n) for n in (1, 2, 3, 4, 6, 8, 12, 16)), Fraction(3, 2),
            *(Fraction(1, n) for n in (2, 3, 4, 6, 8, 12, 16)), Fraction(2, 3), Fraction(3, 4)})
)  # fmt: skip
"""Constants that an author writes."""


@dataclass(frozen=True)
class Monomial:
    """Parameters to powers.

    Attributes:
        powers: of names, or of formulas as text.
    """

    powers: tuple[tuple[str, Fraction], ...] = ()

    @property
    def tree(self) -> Expression:
        """As a formula."""
        over: Expression | None = None
        under: Expression | None = None
        for name, power in self.powers:
            one = _power(parse_expression(name), abs(power))
            if power > 0:
                over = one if over is None else applied("*", (over, one))
            else:
                under = one if under is None else applied("*", (under, one))
        first = over or Number(Fraction(1))
        return first if under is None else applied("/", (first, under))

    def values(self, columns: Mapping[str, Any]) -> Any:
        """On all rows; nan where a parameter has no value."""
        found: Any = 1.0
        for name, power in self.powers:
            found = found * columns[name] ** float(power)
        return found


OF_ROUNDS = ("1 + log(K)", "log(K)")
"""Factors that a sum over rounds leaves behind."""


def _power(tree: Expression, power: Fraction) -> Expression:
    if power == 1:
        return tree
    if power == Fraction(1, 2):
        return applied("sqrt", (tree,))
    return applied("**", (tree, Number(power)))


def scaled(term: Expression, m: Monomial, c: Fraction) -> Expression:
    """A term times a constant and parameters; what is divided by a factor that it has loses it."""
    for name, power in m.powers:
        for by in (-power, Fraction(1)):
            less = divided(term, parse_expression(name), by) if 0 < by <= -power else None
            if less is not None:
                left = ((name, power + by),) if power + by else ()
                return scaled(less, Monomial((*(pair for pair in m.powers if pair[0] != name), *left)), c)
    over = [(n, p) for n, p in m.powers if p > 0]
    under = [(n, -p) for n, p in m.powers if p < 0]
    found = without_ones(times(term, c))
    if over:
        found = applied("*", (found, Monomial(tuple(over)).tree))
    if under:
        found = applied("/", (found, Monomial(tuple(under)).tree))
    return found


def divided(tree: Expression, factor: Expression, power: Fraction) -> Expression | None:
    """A product without a factor to a power; None where it has not got it."""
    if tree == factor and power == 1:
        return Number(Fraction(1))
    if not isinstance(tree, Apply):
        return None
    first = parts(tree)[0]
    if tree.operation == "**" and first == factor and isinstance(parts(tree)[1], Number):
        left = parts(tree)[1].value - power  # type: ignore[union-attr]
        return None if left < 0 else without_ones(_power(first, left)) if left else Number(Fraction(1))
    for i in {"*": (0, 1), "/": (0,)}.get(tree.operation, ()):
        less = divided(parts(tree)[i], factor, power)
        if less is not None:
            inner = [*parts(tree)]
            inner[i] = less
            return without_ones(applied(tree.operation, tuple(inner)))
    return None


def times(tree: Expression, c: Fraction) -> Expression:
    """A tree times a number, which goes into the numbers that it has already."""
    if c == 1:
        return tree
    if isinstance(tree, Number):
        return Number(tree.value * c)
    if isinstance(tree, Apply) and tree.operation in ("*", "/"):
        first, second = parts(tree)
        if tree.operation == "/" and isinstance(first, Number) and isinstance(_leading(second), Number):
            whole = first.value * c / _leading(second).value  # type: ignore[union-attr]
            rest = times(second, whole.denominator / _leading(second).value)  # type: ignore[union-attr]
            return applied("/", (Number(Fraction(whole.numerator)), rest))
        if tree.operation == "/" and isinstance(second, Number):
            return times(first, c / second.value)
        if isinstance(_leading(first), Number):
            return applied(tree.operation, (times(first, c), second))
    if c.numerator == 1:
        return applied("/", (tree, Number(Fraction(c.denominator))))
    over = applied("*", (Number(Fraction(c.numerator)), tree))
    return over if c.denominator == 1 else applied("/", (over, Number(Fraction(c.denominator))))


def _leading(tree: Expression) -> Expression:
    while isinstance(tree, Apply) and tree.operation in ("*", "/"):
        tree = parts(tree)[0]
    return tree
