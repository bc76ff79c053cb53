"""Signs of rational functions on a region that domains and relations describe; exact, and silent where it cannot tell.

Every parameter is written in numbers that are not negative: its lower end plus a rest, ``b/(1+s)`` for ``a <= b``, and
so on. If numerator and denominator then have coefficients of one sign only, the function has a sign on the region. This
is sufficient, not necessary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from theory.domain import NONNEGATIVE, Domain

if TYPE_CHECKING:
    import sympy


@dataclass(frozen=True)
class Region:
    """Where parameters range: the union of some pieces.

    Attributes:
        pieces: for each, the parameters' symbols as functions of symbols that are not negative, and those of the latter
            that are positive.
    """

    pieces: tuple[tuple[Mapping[Any, Any], frozenset[Any]], ...]

    def nonnegative(self, expression: sympy.Expr) -> bool:
        """Whether it is shown to be >= 0 wherever it is defined."""
        return all(_sign(expression, piece, strict=False) for piece in self.pieces)

    def positive(self, expression: sympy.Expr) -> bool:
        """Whether it is shown to be > 0 wherever it is defined."""
        return all(_sign(expression, piece, strict=True) for piece in self.pieces)

    def each(self) -> Iterator[tuple[Region, Callable[[Any], Any]]]:
        """Every piece in its own symbols, none of which is negative, and what writes an expression in these."""
        import sympy

        for values, positive in self.pieces:

            def placed(expression: Any, values: Mapping[Any, Any] = values) -> Any:
                return sympy.cancel(sympy.together(sympy.sympify(expression).subs(values)))

            yield Region((({}, positive),)), placed

    def defined(self, expression: sympy.Expr) -> bool:
        """Whether its denominator is shown not to vanish."""
        import sympy

        _, below = sympy.fraction(sympy.together(expression))
        return self.positive(below) or self.positive(-below)


def region(
    domains: Mapping[str, Domain], relations: Iterable[tuple[sympy.Expr, str, sympy.Expr]], symbols: Iterable[Any]
) -> Region:
    """The region of parameters in their domains that satisfy relations; a superset where a relation is not understood.

    Args:
        domains: by name; a name without one is taken to be in [0, inf).
        relations: (left, one of ``< <= > >= ==``, right).
        symbols: those that occur.
    """
    import sympy

    own: dict[Any, Any] = {}
    positive: set[Any] = set()

    def fresh(strict: bool) -> Any:
        new = sympy.Dummy("s")
        if strict:
            positive.add(new)
        return new

    def assign(symbol: Any, value: Any) -> bool:
        value = value.subs(own)
        if symbol in own or symbol in value.free_symbols:
            return False
        for known in own:
            own[known] = own[known].subs(symbol, value)
        own[symbol] = value
        return True

    for left, operator, right in relations:
        if operator in (">", ">="):
            left, operator, right = right, operator.replace(">", "<"), left
        if operator == "==":
            if not (left.is_Symbol and assign(left, right)) and right.is_Symbol:
                assign(right, left)
            continue
        strict = operator == "<"
        if right.is_Symbol and assign(right, left + fresh(strict)):
            continue
        for symbol in sorted(left.free_symbols, key=str):
            domain = domains.get(str(symbol), NONNEGATIVE)
            rest = sympy.cancel(left / symbol)
            # b/(1+s) leaves 0 out
            if not _above_zero(domain) or symbol in rest.free_symbols:
                continue
            if not _from_domains(domains, rest.free_symbols).positive(rest):
                continue
            if assign(symbol, right / rest / (1 + fresh(strict))):
                break
    names = set(symbols).union(*(v.free_symbols for v in own.values())) - set(own)
    pieces = []
    for piece, more in _from_domains(domains, {n for n in names if not isinstance(n, sympy.Dummy)}).pieces:
        ranges = {symbol: value.subs(piece) for symbol, value in own.items()} | dict(piece)
        pieces.append((ranges, frozenset(positive) | more))
    return Region(tuple(pieces))


def _above_zero(domain: Domain) -> bool:
    return domain.lower is not None and (domain.lower > 0 or (domain.lower == 0 and domain.lower_open))


def _from_domains(domains: Mapping[str, Domain], symbols: Iterable[Any]) -> Region:
    import sympy

    pieces: list[tuple[dict[Any, Any], frozenset[Any]]] = [({}, frozenset())]
    for symbol in sorted(symbols, key=str):
        domain = domains.get(str(symbol), NONNEGATIVE)
        lower, upper = (None if end is None else sympy.Rational(str(end)) for end in (domain.lower, domain.upper))
        new = sympy.Dummy("r")
        choices: list[tuple[Any, bool]]  # the symbol, and whether the new one is positive
        if lower is not None and upper is not None:
            choices = [(lower + (upper - lower) / (1 + new), domain.upper_open)]
            choices += [] if domain.lower_open else [(lower, False)]
        elif lower is not None:
            choices = [(lower + new, domain.lower_open)]
        elif upper is not None:
            choices = [(upper - new, domain.upper_open)]
        else:
            choices = [(new, False), (-new, False)]
        pieces = [
            ({**piece, symbol: value}, more | ({new} if strict else set()))
            for piece, more in pieces
            for value, strict in choices
        ]
    return Region(tuple(pieces))


def _sign(expression: sympy.Expr, piece: tuple[Mapping[Any, Any], frozenset[Any]], strict: bool) -> bool:
    """Whether it is shown to be >= 0 (> 0) on one piece."""
    import sympy

    values, positive = piece
    placed = expression.subs(values)
    if not placed.is_rational_function(*placed.free_symbols):
        return False
    above, below = sympy.fraction(sympy.cancel(sympy.together(placed)))
    if above == 0:
        return not strict
    signs = [_coefficients(part) for part in (above, below)]
    if 0 in signs or signs[0] != signs[1]:
        return False
    return not strict or _vanishes_nowhere(above, positive)


def _coefficients(part: sympy.Expr) -> int:
    """The sign of all coefficients, 0 where they differ or are no rational numbers."""
    import sympy

    symbols = sorted(part.free_symbols, key=str)
    found = sympy.Poly(part, *symbols).coeffs() if symbols else [part]
    if not all(c.is_Rational for c in found):
        return 0
    return 1 if all(c >= 0 for c in found) else -1 if all(c <= 0 for c in found) else 0


def _vanishes_nowhere(part: sympy.Expr, positive: frozenset[Any]) -> bool:
    """Whether one of its terms, all of the same sign, has positive symbols only."""
    import sympy

    symbols = sorted(part.free_symbols, key=str)
    if not symbols:
        return bool(part != 0)
    return any(
        all(not power or symbol in positive for symbol, power in zip(symbols, powers, strict=True))
        for powers in sympy.Poly(part, *symbols).monoms()
    )


def semidefinite(matrix: list[list[Any]], where: Region) -> list[str] | None:
    """The pivots of a symmetric matrix that is positive semidefinite for all parameters; None where that is not shown.

    On each piece of the region, as a function of numbers that are not negative: a pivot is shown to be not negative,
    and either is 0 with its whole row, or vanishes on a set without interior only. The entries are continuous, as no
    denominator vanishes, so the matrix is semidefinite there too.
    """
    import sympy

    if not all(where.defined(sympy.sympify(c)) for row in matrix for c in row):
        return None
    found = [_pivots([[placed(entry) for entry in row] for row in matrix], here) for here, placed in where.each()]
    if any(pivots is None for pivots in found):
        return None
    plain = _pivots(matrix, where)  # in the claim's own parameters, for the reader
    return plain if plain is not None else [str(sympy.factor(p)) for pivots in found for p in pivots or ()]


def _pivots(matrix: list[list[Any]], where: Region) -> list[str] | None:
    import sympy

    left = list(range(len(matrix)))
    pivots: list[str] = []
    while left:
        at = next((i for i in left if matrix[i][i] != 0 and where.nonnegative(matrix[i][i])), None)
        if at is None:
            return pivots if all(matrix[i][j] == 0 for i in left for j in left) else None
        left.remove(at)
        pivot = matrix[at][at]
        pivots.append(str(sympy.factor(pivot)))
        for i in left:
            for j in left:
                matrix[i][j] = sympy.cancel(sympy.together(matrix[i][j] - matrix[i][at] * matrix[at][j] / pivot))
    return pivots
