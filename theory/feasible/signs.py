"""Signs of denominators and arguments of roots and logarithms that follow from the relations by multiplying out.

``delta < 1/(2*L)`` with L > 0 says that ``1 - 2*L*delta`` is positive. Intervals cannot see it at the common zero,
where both sides round; branch and bound would stay there for ever. So every relation is multiplied out, and where the
polynomial is a multiple of a denominator, its sign is added as a relation of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TypeAlias

from theory.feasible.constraints import Constraint, Graph, System
from theory.formula import Apply, Formula, Name, Number

Monomial: TypeAlias = tuple[tuple[str, int], ...]  # names in order, with exponents
Polynomial: TypeAlias = Mapping[Monomial, Fraction]

MOST_TERMS = 100
LARGEST_POWER = 8
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
GUARDED = frozenset({"/", "sqrt", "log", "**"})
ONE: Polynomial = {(): Fraction(1)}


def with_signs(system: System) -> System:
    """The system with the signs added; it has the same solutions."""
    known = _signs(system)
    added = []
    for formula, polynomial in _denominators(system):
        direction = _direction(polynomial)
        if direction is None:
            continue
        key, positive = direction
        for operator in known.get(key, ()):
            sign = operator if positive else FLIPPED[operator]
            added.append(Constraint("sign", (formula, Number(Fraction(0))), (sign,), silent=True))
    return system.only([*system.constraints, *added])


def _signs(system: System) -> dict[frozenset[tuple[Monomial, Fraction]], list[str]]:
    """Polynomials, scaled to leading coefficient 1, that the relations give a sign: ``>``, ``>=``, ``<`` or ``<=``."""
    graph = system.graph
    fractions = _fractions(graph)
    found: dict[frozenset[tuple[Monomial, Fraction]], list[str]] = {}
    for constraint, sides in zip(system.constraints, graph.sides, strict=True):
        for operator, left, right in zip(constraint.operators, sides, sides[1:], strict=False):
            first, second = fractions[left], fractions[right]
            if operator == "==" or first is None or second is None:
                continue
            if not (_is_positive(first[1], system) and _is_positive(second[1], system)):
                continue
            # left op right  <=>  n1 d2 - n2 d1  op  0
            difference = _add(_multiply(first[0], second[1]), _multiply(second[0], first[1]), Fraction(-1))
            direction = _direction(difference)
            if direction is not None:
                key, positive = direction
                found.setdefault(key, []).append(operator if positive else FLIPPED[operator])
    return found


def _direction(polynomial: Polynomial | None) -> tuple[frozenset[tuple[Monomial, Fraction]], bool] | None:
    """The polynomial divided by its leading coefficient, and whether that is positive; None for a constant."""
    if not polynomial or set(polynomial) == {()}:
        return None
    leading = polynomial[max(polynomial)]
    return frozenset((m, c / leading) for m, c in polynomial.items()), leading > 0


def _denominators(system: System) -> list[tuple[Formula, Polynomial | None]]:
    """What is divided by, or stands under a root, a logarithm or a power, and is a polynomial."""
    graph = system.graph
    fractions = _fractions(graph)
    found: list[tuple[Formula, Polynomial | None]] = []
    for i in sorted(
        {node.arguments[1 if node.operation == "/" else 0] for node in graph.nodes if node.operation in GUARDED}
    ):
        for factor in _factors(graph, i):
            value = fractions[factor]
            if value is not None and value[1] == ONE:
                found.append((_formula(graph, factor), value[0]))
    return found


def _factors(graph: Graph, index: int) -> list[int]:
    node = graph.nodes[index]
    if node.operation == "*":
        return [f for a in node.arguments for f in _factors(graph, a)]
    return [] if node.operation in ("number", "name") else [index]


def _formula(graph: Graph, index: int) -> Formula:
    node = graph.nodes[index]
    if node.operation == "number":
        return Number(node.value)
    if node.operation == "name":
        return Name(node.name)
    return Apply(node.operation, tuple(_formula(graph, a) for a in node.arguments))


def _fractions(graph: Graph) -> list[tuple[Polynomial, Polynomial] | None]:
    """Numerator and denominator of every node that is a rational function of few terms."""
    found: list[tuple[Polynomial, Polynomial] | None] = []
    for node in graph.nodes:
        if node.operation == "number":
            found.append(({(): node.value} if node.value else {}, ONE))
            continue
        if node.operation == "name":
            found.append(({((node.name, 1),): Fraction(1)}, ONE))
            continue
        arguments = [found[a] for a in node.arguments]
        known = [a for a in arguments if a is not None]
        value = None
        if len(known) == len(arguments):
            exponent = graph.nodes[node.arguments[1]] if node.operation == "**" else None
            power = exponent.value if exponent is not None and exponent.operation == "number" else None
            value = _apply(node.operation, known, power)
        if value is not None and max(len(value[0]), len(value[1])) > MOST_TERMS:
            value = None
        found.append(value)
    return found


def _apply(
    operation: str, arguments: list[tuple[Polynomial, Polynomial]], power: Fraction | None
) -> tuple[Polynomial, Polynomial] | None:
    if operation == "neg":
        return _add({}, arguments[0][0], Fraction(-1)), arguments[0][1]
    if operation == "**":
        if power is None or power.denominator != 1 or not 0 <= power <= LARGEST_POWER:
            return None
        result: tuple[Polynomial, Polynomial] = (ONE, ONE)
        for _ in range(int(power)):
            result = _multiply(result[0], arguments[0][0]), _multiply(result[1], arguments[0][1])
        return result
    if operation not in ("+", "-", "*", "/"):
        return None
    (n1, d1), (n2, d2) = arguments
    if operation == "*":
        return _multiply(n1, n2), _multiply(d1, d2)
    if operation == "/":
        return (_multiply(n1, d2), _multiply(d1, n2)) if n2 else None
    factor = Fraction(1 if operation == "+" else -1)
    if d1 == d2:
        return _add(n1, n2, factor), d1
    return _add(_multiply(n1, d2), _multiply(n2, d1), factor), _multiply(d1, d2)


def _is_positive(denominator: Polynomial, system: System) -> bool:
    """Whether a denominator is positive wherever it is not zero: positive coefficients, names of no negative value."""
    domains = system.domains
    return bool(denominator) and all(
        coefficient > 0
        and all(power % 2 == 0 or ((low := domains[name].lower) is not None and low >= 0) for name, power in monomial)
        for monomial, coefficient in denominator.items()
    )


def _add(first: Polynomial, second: Polynomial, factor: Fraction) -> Polynomial:
    """first + factor * second."""
    result = dict(first)
    for monomial, coefficient in second.items():
        result[monomial] = result.get(monomial, Fraction(0)) + factor * coefficient
    return {m: c for m, c in result.items() if c}


def _multiply(first: Polynomial, second: Polynomial) -> Polynomial:
    result: dict[Monomial, Fraction] = {}
    for m, c in first.items():
        for n, d in second.items():
            powers = dict(m)
            for name, power in n:
                powers[name] = powers.get(name, 0) + power
            monomial = tuple(sorted(powers.items()))
            result[monomial] = result.get(monomial, Fraction(0)) + c * d
    return {m: c for m, c in result.items() if c}
