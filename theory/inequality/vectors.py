"""Vectors of a Hilbert space that are known only through their inner products.

A statement that is linear in inner products and function values is a linear form in a Gram matrix G (positive
semidefinite, of the basis vectors) and in a list F of numbers. Everything here is exact: coefficients are Fractions.

    space = Space(("a", "b"))
    a, b = space.vectors_of()
    square(a - b) - 2 * square(a) - 2 * square(b)        # a Form, never positive
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, TypeAlias

Exact: TypeAlias = "int | Fraction | str | Decimal"
Relation: TypeAlias = Literal["<=", "=="]


def exact(number: Exact, name: str = "number") -> Fraction:
    """A number as a Fraction; a float is refused, because 0.1 is not one tenth.

    Raises:
        ValueError: it is no finite rational number.
    """
    if isinstance(number, Fraction):
        return number
    if not isinstance(number, bool) and isinstance(number, int | str | Decimal):
        try:
            return Fraction(number)
        except (ValueError, ZeroDivisionError, OverflowError):
            pass
    raise ValueError(f"{name}={number!r} is outside the exact rationals (int, Fraction, '1/10', '0.1' or Decimal)")


@dataclass(frozen=True)
class Space:
    """A Hilbert space spanned by named vectors, together with named numbers (function values).

    Attributes:
        vectors: names of the n basis vectors.
        values: names of the m numbers, which no hypothesis bounds unless it is stated.
    """

    vectors: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    _places: Mapping[str, int] = field(init=False, repr=False, compare=False, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "vectors", tuple(self.vectors))
        object.__setattr__(self, "values", tuple(self.values))
        for kind, names in (("vectors", self.vectors), ("values", self.values)):
            if len(set(names)) < len(names):
                raise ValueError(f"{kind}={names!r} is outside the tuples of distinct names")
        places = {f"vector {name}": i for i, name in enumerate(self.vectors)}
        places |= {f"value {name}": i for i, name in enumerate(self.values)}
        object.__setattr__(self, "_places", places)

    @property
    def dimension(self) -> int:
        """n, the number of basis vectors."""
        return len(self.vectors)

    def vector(self, name: str) -> Vector:
        """A basis vector.

        Raises:
            ValueError: there is none of that name.
        """
        return Vector(self, {self._place("vector", name, self.vectors): Fraction(1)})

    def value(self, name: str) -> Form:
        """One of the numbers, as a form.

        Raises:
            ValueError: there is none of that name.
        """
        return Form(self, values={self._place("value", name, self.values): Fraction(1)})

    def vectors_of(self) -> tuple[Vector, ...]:
        """Every basis vector, in order."""
        return tuple([self.vector(name) for name in self.vectors])

    def zero(self) -> Vector:
        """The zero vector."""
        return Vector(self, {})

    def constant(self, number: Exact) -> Form:
        """A form that is a number."""
        return Form(self, constant=exact(number, "constant"))

    def _place(self, kind: str, name: str, names: tuple[str, ...]) -> int:
        place = self._places.get(f"{kind} {name}")
        if place is None:
            raise ValueError(f"{kind}={name!r} is outside {names!r}")
        return place


@dataclass(frozen=True, eq=True)
class Vector:
    """A linear combination of basis vectors.

    Attributes:
        space: where it lives.
        coefficients: basis index -> non-zero Fraction.
    """

    space: Space
    coefficients: Mapping[int, Fraction]

    def __add__(self, other: Vector) -> Vector:
        if not isinstance(other, Vector):
            return NotImplemented
        _same(self.space, other.space)
        return Vector(self.space, _sum(self.coefficients, other.coefficients, 1))

    def __sub__(self, other: Vector) -> Vector:
        if not isinstance(other, Vector):
            return NotImplemented
        _same(self.space, other.space)
        return Vector(self.space, _sum(self.coefficients, other.coefficients, -1))

    def __neg__(self) -> Vector:
        return Vector(self.space, {i: -c for i, c in self.coefficients.items()})

    def __mul__(self, factor: Exact) -> Vector:
        return Vector(self.space, _scaled(self.coefficients, exact(factor, "factor")))

    __rmul__ = __mul__

    def __truediv__(self, divisor: Exact) -> Vector:
        return self * (1 / exact(divisor, "divisor"))

    def __hash__(self) -> int:
        return hash((self.space, frozenset(self.coefficients.items())))

    def column(self) -> list[Fraction]:
        """The n coefficients."""
        return [self.coefficients.get(i, Fraction(0)) for i in range(self.space.dimension)]

    def __str__(self) -> str:
        return _shown((c, self.space.vectors[i]) for i, c in sorted(self.coefficients.items()))


@dataclass(frozen=True, eq=True)
class Form:
    """A linear form in the Gram matrix G and the values F, plus a number.

    Attributes:
        space: where it lives.
        gram: (i, j) with i <= j -> coefficient of G_ij (for i < j that is twice the entry of the symmetric matrix).
        values: j -> coefficient of F_j.
        constant: the number.
    """

    space: Space
    gram: Mapping[tuple[int, int], Fraction] = field(default_factory=dict)
    values: Mapping[int, Fraction] = field(default_factory=dict)
    constant: Fraction = Fraction(0)

    def __add__(self, other: Form | Exact) -> Form:
        return self._plus(other, 1)

    __radd__ = __add__

    def __sub__(self, other: Form | Exact) -> Form:
        return self._plus(other, -1)

    def __rsub__(self, other: Form | Exact) -> Form:
        return (-self)._plus(other, 1)

    def _plus(self, other: Form | Exact, sign: int) -> Form:
        if not isinstance(other, Form):
            return Form(self.space, self.gram, self.values, self.constant + sign * exact(other, "summand"))
        _same(self.space, other.space)
        return Form(
            self.space,
            _sum(self.gram, other.gram, sign),
            _sum(self.values, other.values, sign),
            self.constant + sign * other.constant,
        )

    def __neg__(self) -> Form:
        return self * -1

    def __mul__(self, factor: Exact) -> Form:
        c = exact(factor, "factor")
        return Form(self.space, _scaled(self.gram, c), _scaled(self.values, c), self.constant * c)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Exact) -> Form:
        return self * (1 / exact(divisor, "divisor"))

    def __hash__(self) -> int:
        return hash((self.space, frozenset(self.gram.items()), frozenset(self.values.items()), self.constant))

    def __le__(self, other: Form | Exact) -> Condition:
        return Condition("", self - other, "<=")

    def __ge__(self, other: Form | Exact) -> Condition:
        return Condition("", -(self - other), "<=")

    def equals(self, other: Form | Exact) -> Condition:
        """The condition that both are equal (``==`` compares the forms themselves)."""
        return Condition("", self - other, "==")

    def matrix(self) -> list[list[Fraction]]:
        """The symmetric n x n matrix A with <A, G> the part in G."""
        n = self.space.dimension
        rows = [[Fraction(0)] * n for _ in range(n)]
        for (i, j), c in self.gram.items():
            rows[i][j] = rows[j][i] = c if i == j else c / 2
        return rows

    def at(self, gram: Any, values: Sequence[Any]) -> Any:
        """The form at a Gram matrix (n x n, indexed [i][j]) and m values; exact where these are."""
        total: Any = self.constant
        for (i, j), c in self.gram.items():
            total = total + _times(c, gram[i][j])
        for j, c in self.values.items():
            total = total + _times(c, values[j])
        return total

    def is_zero(self) -> bool:
        """Whether it is the number 0 whatever G and F are."""
        return not self.gram and not self.values and not self.constant

    def __str__(self) -> str:
        names = self.space.vectors
        terms = [
            (c, f"|{names[i]}|^2" if i == j else f"<{names[i]},{names[j]}>") for (i, j), c in sorted(self.gram.items())
        ]
        terms += [(c, self.space.values[j]) for j, c in sorted(self.values.items())]
        if self.constant or not terms:
            terms.append((self.constant, ""))
        return _shown(terms)


@dataclass(frozen=True)
class Condition:
    """``form <= 0`` or ``form == 0``.

    Raises:
        ValueError: another relation.
    """

    name: str
    form: Form
    relation: Relation = "<="

    def __post_init__(self) -> None:
        if self.relation not in ("<=", "=="):
            raise ValueError(f"relation={self.relation!r} is outside ('<=', '==')")

    def named(self, name: str) -> Condition:
        """The same condition under another name."""
        return Condition(name, self.form, self.relation)

    def holds(self, gram: Any, values: Sequence[Any]) -> bool:
        """Whether exact G and F satisfy it."""
        left = self.form.at(gram, values)
        return bool(left <= 0 if self.relation == "<=" else left == 0)

    def __str__(self) -> str:
        return f"{self.form} {self.relation} 0"


def inner(u: Vector, v: Vector) -> Form:
    """<u, v>."""
    _same(u.space, v.space)
    products: dict[tuple[int, int], Fraction] = {}
    for i, a in u.coefficients.items():
        for j, b in v.coefficients.items():
            place = (i, j) if i <= j else (j, i)
            products[place] = products[place] + a * b if place in products else a * b
    return Form(u.space, {place: c for place, c in products.items() if c})


def square(u: Vector) -> Form:
    """||u||^2."""
    return inner(u, u)


def vanishes(u: Vector, name: str = "") -> list[Condition]:
    """u = 0, as n equations <u, e_i> = 0 over the basis.

    ``square(u)`` equal to 0 says the same, but proofs from it need multipliers without bound.
    """
    return [
        Condition(f"{name or u} . {e}", inner(u, u.space.vector(e)), "==") for e in u.space.vectors if u.coefficients
    ]


def combination(weights: Sequence[Exact], terms: Sequence[Vector]) -> Vector:
    """sum of weights[i] * terms[i] (at least one)."""
    if len(weights) != len(terms) or not terms:
        raise ValueError(f"weights={list(weights)!r} is outside the lists of {len(terms)} >= 1 numbers")
    total = terms[0] * weights[0]
    for weight, term in zip(weights[1:], terms[1:], strict=True):
        total = total + term * weight
    return total


def expectation(probabilities: Sequence[Exact], outcomes: Sequence[Form]) -> Form:
    """E of a form over finitely many outcomes, each of which has vectors and values of its own.

    Raises:
        ValueError: the probabilities are negative, or do not sum to one, or are not one an outcome.
    """
    shares = distribution(probabilities, len(outcomes))
    total = outcomes[0] * shares[0]
    for share, outcome in zip(shares[1:], outcomes[1:], strict=True):
        total = total + outcome * share
    return total


def mean(probabilities: Sequence[Exact], outcomes: Sequence[Vector]) -> Vector:
    """E of a vector over finitely many outcomes.

    Raises:
        ValueError: as `expectation`.
    """
    return combination(distribution(probabilities, len(outcomes)), outcomes)


def distribution(probabilities: Sequence[Exact], size: int) -> list[Fraction]:
    """Probabilities as Fractions, checked."""
    shares = [exact(p, "probabilities") for p in probabilities]
    if len(shares) != size or not shares or min(shares) < 0 or sum(shares) != 1:
        shown = [str(p) for p in shares]
        raise ValueError(f"probabilities={shown!r} is outside the lists of {size} >= 1 numbers >= 0 with sum 1")
    return shares


def _times(c: Fraction, x: Any) -> Any:
    return c * x if isinstance(x, int | Fraction) else float(c) * x


def _same(one: Space, other: Space) -> None:
    if one is not other and one != other:
        raise ValueError(f"space={other!r} is outside the space of the other operand, {one!r}")


def _sum(one: Mapping[Any, Fraction], other: Mapping[Any, Fraction], sign: int) -> dict[Any, Fraction]:
    total = dict(one)
    for place, c in other.items():
        new = total.get(place, 0) + sign * c
        if new:
            total[place] = new
        else:
            total.pop(place, None)
    return total


def _scaled(terms: Mapping[Any, Fraction], factor: Fraction) -> dict[Any, Fraction]:
    return {place: c * factor for place, c in terms.items()} if factor else {}


def _shown(terms: Iterable[tuple[Fraction, str]]) -> str:
    text = ""
    for c, what in terms:
        size = abs(c)
        body = what if size == 1 and what else f"{size}*{what}" if what else str(size)
        sign = "-" if c < 0 else "+"
        text += (f" {sign} " if text else "-" * (c < 0)) + body
    return text or "0"
