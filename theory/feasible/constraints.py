"""Systems of relations between numbers: read from text, compiled to a graph, checked exactly at a point.

A point satisfies a system when every variable lies in its domain, every definition has a real value, and every relation
is defined and holds. `theory.feasible.boxes` and `theory.feasible.smt` look for such points, or prove that there is
none; a point that they find counts only if `System.holds` says so, in exact or ball arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from theory.arithmetic import PRECISIONS, UndecidedError, balls, rational
from theory.comparison import chain_holds, is_zero
from theory.domain import Domain
from theory.expression import to_sympy
from theory.formula import (
    REDUCTIONS,
    Apply,
    Comparison,
    Formula,
    Name,
    Number,
    UndefinedError,
    fold,
    text_of,
)

if TYPE_CHECKING:
    from theory.arithmetic import Reals, Value

Point: TypeAlias = "Mapping[str, Fraction | Formula]"
Shaped: TypeAlias = "Formula | tuple[Formula, ...]"

LARGEST_FOLDED = 4096  # bits of a constant that is computed in advance
CHECKED_PRECISIONS = PRECISIONS[:5]  # up to 2048 bits


@dataclass(frozen=True)
class Constraint:
    """A named relation, ``sides[i] operators[i] sides[i+1]``; without operators, the sides only have to be defined.

    Attributes:
        name: of the hypothesis, or of the silent condition.
        sides: formulas over numbers.
        operators: of ``< <= > >= ==``, one fewer than sides, or none.
        silent: whether nobody stated it (a definition needs a value).
    """

    name: str
    sides: tuple[Formula, ...]
    operators: tuple[str, ...] = ()
    silent: bool = False

    def __str__(self) -> str:
        if not self.operators:
            return f"{', '.join(map(text_of, self.sides))} is defined"
        pieces = [text_of(self.sides[0])]
        for operator, side in zip(self.operators, self.sides[1:], strict=True):
            pieces += [operator, text_of(side)]
        return " ".join(pieces)


@dataclass(frozen=True)
class Node:
    """One operation of a graph: ``"number"`` with a value, ``"name"`` with a name, or an operation on earlier nodes."""

    operation: str
    arguments: tuple[int, ...] = ()
    value: Fraction = Fraction(0)
    name: str = ""


@dataclass(frozen=True)
class Graph:
    """All formulas of a system, equal pieces shared, every node after those that it uses.

    Attributes:
        nodes: the operations.
        variables: the node of each variable.
        sides: of each constraint, the nodes of its sides.
    """

    nodes: tuple[Node, ...]
    variables: Mapping[str, int]
    sides: tuple[tuple[int, ...], ...]

    def below(self, roots: Sequence[int]) -> list[int]:
        """The nodes that `roots` need, themselves included, in order."""
        found = set(roots)
        for i in range(max(roots, default=-1), -1, -1):
            if i in found:
                found.update(self.nodes[i].arguments)
        return sorted(found)


@dataclass(frozen=True)
class System:
    """Variables with domains, definitions in order (each may use the earlier ones), and constraints.

    Every definition has to be defined: make it so by a constraint without operators (`read_system` does).
    """

    domains: Mapping[str, Domain]
    definitions: Mapping[str, Formula]
    constraints: tuple[Constraint, ...]

    @cached_property
    def graph(self) -> Graph:
        """The system's formulas as a graph, constants computed."""
        return _compile(self)

    def only(self, constraints: Sequence[Constraint]) -> System:
        """The same variables under fewer constraints."""
        return replace(self, constraints=tuple(constraints))

    def fixed(self, values: Mapping[str, Fraction]) -> System:
        """The system with variables replaced by numbers (which are not held against their domains)."""
        rest = {name: domain for name, domain in self.domains.items() if name not in values}
        numbers = {name: Number(value) for name, value in values.items()}
        return replace(self, domains=rest, definitions={**numbers, **self.definitions})

    def holds(self, point: Point) -> bool | None:
        """Whether a point satisfies the system; None where equality of irrational numbers is not decided.

        Args:
            point: a Fraction, or a formula without names for an irrational number, for each variable.

        Raises:
            ValueError: when a variable has no value.
        """
        missing = sorted(set(self.domains) - set(point))
        if missing:
            raise ValueError(f"point={dict(point)} has no value for {missing[0]}; it needs {', '.join(self.domains)}")
        for name, domain in self.domains.items():
            value = point[name]
            if isinstance(value, Fraction) and not domain.contains(value):
                return False
        every = [*self._domains_of(point), *self.constraints]
        for precision in CHECKED_PRECISIONS:
            answer = self._try(point, every, precision)
            if answer is not None:
                return answer
        return None

    def _try(self, point: Point, constraints: Sequence[Constraint], precision: int) -> bool | None:
        last = precision == CHECKED_PRECISIONS[-1]
        answers: list[bool | None] = []
        with balls(precision) as reals:
            values: dict[str, Value] = {}
            try:
                for name, value in point.items():
                    values[name] = value if isinstance(value, Fraction) else reals.evaluate(value, {})
                for name, definition in self.definitions.items():
                    if name not in values:
                        values[name] = reals.evaluate(definition, values)
            except UndefinedError:
                return False
            except UndecidedError:
                return None
            for constraint in constraints:
                answer = self._constraint(point, constraint, values, reals, last)
                if answer is False:
                    return False
                answers.append(answer)
        return None if None in answers else True

    def _constraint(
        self, point: Point, constraint: Constraint, values: Mapping[str, Value], reals: Reals, last: bool
    ) -> bool | None:
        def equal(index: int) -> bool:
            try:
                symbols = {name: to_sympy(Number(v) if isinstance(v, Fraction) else v, {}) for name, v in point.items()}
                for name, definition in self.definitions.items():
                    if name not in symbols:
                        symbols[name] = to_sympy(definition, symbols)
                left, right = (to_sympy(side, symbols) for side in constraint.sides[index : index + 2])
                return is_zero(left - right)
            except ValueError:
                return False

        try:
            sides = [reals.evaluate(side, values) for side in constraint.sides]
        except UndefinedError:
            return False
        except UndecidedError:
            return None
        # algebra is slow, so it comes last
        return chain_holds(sides, constraint.operators, equal) if last else chain_holds(sides, constraint.operators)

    def _domains_of(self, point: Point) -> Iterator[Constraint]:
        """The domains of variables with irrational values, as constraints; an integer is a Fraction anyway."""
        for name, domain in self.domains.items():
            if isinstance(point[name], Fraction):
                continue
            yield from domain_constraints(name, domain)
            if domain.integer:
                yield Constraint(f"domain of {name}", (Number(Fraction(0)), Number(Fraction(1))), ("==",))


def domain_constraints(name: str, domain: Domain) -> Iterator[Constraint]:
    """The ends of a domain as constraints; integrality is not one."""
    for end, strict, operator in ((domain.lower, domain.lower_open, ">"), (domain.upper, domain.upper_open, "<")):
        if end is not None:
            yield Constraint(
                f"domain of {name}", (Name(name), Number(Fraction(end))), (operator + "=" * (not strict),), True
            )


def read_system(
    relations: Sequence[tuple[str, Comparison]],
    domains: Mapping[str, Domain],
    definitions: Mapping[str, Formula],
    lengths: Mapping[str, int] | None = None,
) -> System:
    """A system over numbers, vectors taken apart into their entries.

    Args:
        relations: name and relation.
        domains: of every name that is neither defined nor unknown; a vector's domain is that of its entries.
        definitions: in order; each may use the earlier ones.
        lengths: of the vectors among the names of `domains`; their entries become variables ``name[0]``, ...

    Raises:
        ValueError: for an unknown name, a name that is used twice, or vectors of different lengths used together.
    """
    lengths = lengths or {}
    shapes: dict[str, Shaped] = {}
    variables: dict[str, Domain] = {}
    for name, domain in domains.items():
        if name in lengths:
            entries = [f"{name}[{i}]" for i in range(lengths[name])]
            shapes[name] = tuple(Name(entry) for entry in entries)
            variables |= dict.fromkeys(entries, domain)
        else:
            shapes[name] = Name(name)
            variables[name] = domain
    defined: dict[str, Formula] = {}
    constraints: list[Constraint] = []
    for name, formula in definitions.items():
        if name in shapes:
            raise ValueError(f"the name {name!r} is both a variable and a definition, or is defined twice")
        value = flatten(formula, shapes, f"definition of {name}")
        entries = [f"{name}[{i}]" for i in range(len(value))] if isinstance(value, tuple) else [name]
        defined |= dict(zip(entries, value if isinstance(value, tuple) else (value,), strict=True))
        names = tuple(Name(entry) for entry in entries)
        shapes[name] = names if isinstance(value, tuple) else names[0]
        constraints.append(Constraint(f"{name} is defined", names, silent=True))
    for name, relation in relations:
        sides = [flatten(side, shapes, name) for side in relation.sides]
        sizes = {len(side) for side in sides if isinstance(side, tuple)}
        if len(sizes) > 1:
            raise ValueError(f"relation {name!r} compares vectors of the lengths {sorted(sizes)}")
        for i in range(next(iter(sizes), 1)):
            row = tuple(side[i] if isinstance(side, tuple) else side for side in sides)
            constraints.append(Constraint(name, row, relation.operators))
    return System(variables, defined, tuple(constraints))


def flatten(formula: Formula, shapes: Mapping[str, Shaped], what: str) -> Shaped:
    """A formula over vectors as a formula over their entries, or as one for each entry.

    Args:
        formula: the tree.
        shapes: what stands for each name; a tuple for a vector.
        what: what the formula is, for messages.

    Raises:
        ValueError: for an unknown name, vectors of different lengths used together, or `sum` of a number.
    """

    def name(key: str) -> Shaped:
        if key not in shapes:
            raise ValueError(f"{what}: unknown name {key!r}; known are {', '.join(shapes) or 'none'}")
        return shapes[key]

    def apply(operation: str, parts: tuple[Shaped, ...]) -> Shaped:
        sizes = {len(part) for part in parts if isinstance(part, tuple)}
        if operation in REDUCTIONS:
            if not isinstance(parts[0], tuple):
                raise ValueError(f"{what}: {operation} takes a vector, and {text_of(parts[0])} is a number")
            return _reduced(operation, parts[0])
        if not sizes:
            return Apply(operation, parts)  # type: ignore[arg-type]  # none is a tuple
        if len(sizes) > 1:
            raise ValueError(f"{what}: vectors of the lengths {sorted(sizes)} are used together")
        rows = [tuple(part[i] if isinstance(part, tuple) else part for part in parts) for i in range(sizes.pop())]
        return tuple(Apply(operation, row) for row in rows)

    return fold(formula, lambda v: Number(v), name, apply)


def _reduced(operation: str, vector: tuple[Formula, ...]) -> Formula:
    result = vector[0]
    for entry in vector[1:]:
        result = Apply({"amax": "max", "amin": "min"}.get(operation, "+"), (result, entry))
    return Apply("/", (result, Number(Fraction(len(vector))))) if operation == "mean" else result


def _compile(system: System) -> Graph:
    nodes: list[Node] = []
    place: dict[Node, int] = {}
    names: dict[str, int] = {}

    def put(node: Node) -> int:
        if node not in place:
            place[node] = len(nodes)
            nodes.append(node)
        return place[node]

    def apply(operation: str, arguments: tuple[int, ...]) -> int:
        constants = [nodes[a].value for a in arguments if nodes[a].operation == "number"]
        if len(constants) == len(arguments):
            try:
                value = rational(operation, constants, LARGEST_FOLDED)
            except UndefinedError:
                value = None  # whoever needs it finds out
            if value is not None:
                return put(Node("number", value=value))
        return put(Node(operation, arguments))

    def add(formula: Formula) -> int:
        return fold(formula, lambda v: put(Node("number", value=v)), names.__getitem__, apply)

    for name in system.domains:
        names[name] = put(Node("name", name=name))
    variables = dict(names)
    for name, definition in system.definitions.items():
        names[name] = add(definition)
    sides = tuple(tuple(add(side) for side in constraint.sides) for constraint in system.constraints)
    return Graph(tuple(nodes), variables, sides)
