"""A claim's formulas, parsed once and written out as straight-line programs.

The program of some formulas is a list of operations on numbered values, in the order in which the formulas say; what
occurs twice is computed once. `Formulas` is what a claim keeps of its formulas between evaluations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from theory.arithmetic import elementwise, rational, to_element
from theory.formula import (
    REDUCTIONS,
    Comparison,
    Formula,
    Name,
    Number,
    UndefinedError,
    length,
    names_in,
    parse,
    parse_relation,
)
from theory.operations import (
    LARGEST_EXACT,
    LARGEST_RATIONAL,
    NotRationalError,
    Operation,
    integer_power,
    operations,
)

if TYPE_CHECKING:
    from theory.bound import Bound

# where the result goes, the operation, two places, and all places where these are not two
Step: TypeAlias = "tuple[int, Operation, int, int, tuple[int, ...] | None]"


@dataclass(frozen=True)
class Arithmetic:
    """What the operations of a formula mean.

    Attributes:
        name: its name.
        operations: by name, on numbers; the reductions, on vectors.
        number: a written number.
        integer_power: ``**`` with that exponent.
        over_entries: an operation, made one that goes over the entries of those arguments that are vectors.
    """

    name: str
    operations: Mapping[str, Operation]
    number: Callable[[Fraction], Any]
    integer_power: Callable[[int], Operation]
    over_entries: Callable[[Operation, tuple[bool, ...]], Operation]


@cache
def exact_arithmetic(balls: bool) -> Arithmetic:
    """FLINT's rationals, vectors as tuples; with balls where a value is irrational or long, or without."""
    limit = LARGEST_RATIONAL if balls else LARGEST_EXACT
    known = operations(limit, exact=not balls)
    return Arithmetic(
        name="balls" if balls else "rationals",
        operations=known,
        number=to_element,
        integer_power=lambda exponent: integer_power(exponent, limit, known["**"]),
        over_entries=lambda operation, _: lambda *arguments: elementwise(operation, arguments),
    )


@dataclass(frozen=True, slots=True)
class Program:
    """Formulas as operations on numbered values.

    Attributes:
        inputs: names of the values that are given, in the order of their places (from 0).
        constants: what stands after the inputs before the program runs; None where results go.
        parts: for each formula, what it is in messages, its steps, and the place of its value.
    """

    inputs: tuple[str, ...]
    constants: tuple[Any, ...]
    parts: tuple[tuple[str, tuple[Step, ...], int], ...]

    def run(self, environment: Mapping[str, Any]) -> list[Any]:
        """The values of the formulas; balls have the precision of `flint.ctx`.

        Raises:
            UndefinedError: a formula has no real value.
            UndecidedError: it may have none at this precision.
            NotRationalError: in exact arithmetic, when it is not rational.
        """
        values: list[Any] = [environment[name] for name in self.inputs]
        values += self.constants
        for what, steps, _ in self.parts:
            try:
                for place, operation, first, second, every in steps:
                    if every is None:
                        values[place] = operation(values[first], values[second])
                    else:
                        values[place] = operation(*[values[i] for i in every])
            except UndefinedError as error:
                raise UndefinedError(f"{what} has no value here: {error}") from None
            except NotRationalError as error:
                raise NotRationalError(f"{what} is not rational here: {error}") from None
        return [values[place] for _, _, place in self.parts]


class _Writer:
    """Writes a program; equal operations on equal places share a place."""

    def __init__(self, inputs: Sequence[str], vectors: set[str], arithmetic: Arithmetic) -> None:
        self.arithmetic = arithmetic
        self.inputs = tuple(inputs)
        self.names = {name: i for i, name in enumerate(inputs)}
        self.vectors = {self.names[name] for name in vectors}  # places of vectors
        self.numbers: dict[int, Fraction] = {}  # by place, what is known before the program runs
        self.constants: list[Any] = []
        self.places: dict[Any, int] = {}
        self.parts: list[tuple[str, tuple[Step, ...], int]] = []
        self.steps: list[Step] = []

    def add(self, what: str, formula: Formula, name: str | None = None) -> None:
        """Write a formula, which later ones may use by its name."""
        self.steps = []
        place = self._place(formula)
        self.parts.append((what, tuple(self.steps), place))
        if name is not None:
            self.names[name] = place

    def program(self) -> Program:
        return Program(self.inputs, tuple(self.constants), tuple(self.parts))

    def _place(self, formula: Formula) -> int:
        if isinstance(formula, Name):
            return self.names[formula.name]
        if isinstance(formula, Number):
            return self._number(formula.value)
        places = tuple([self._place(a) for a in formula.arguments])
        key = (formula.operation, places)
        if key in self.places:
            return self.places[key]
        value = self._known(formula.operation, places)
        if value is not None:
            return self._number(value)
        place = self.places[key] = self._next(None)
        self._write(place, formula.operation, places)
        return place

    def _write(self, place: int, name: str, places: tuple[int, ...]) -> None:
        operation = self.arithmetic.operations[name]
        exponent = self.numbers.get(places[-1])
        if name == "**" and exponent is not None and exponent.denominator == 1:
            operation, places = self.arithmetic.integer_power(exponent.numerator), places[:1]
        are_vectors = tuple([i in self.vectors for i in places])
        if name not in REDUCTIONS and any(are_vectors):
            operation = self.arithmetic.over_entries(operation, are_vectors)
            self.vectors.add(place)
        self.steps.append((place, operation, places[0], places[-1], None if len(places) == 2 else places))

    def _known(self, name: str, places: tuple[int, ...]) -> Fraction | None:
        """The value where all arguments are written numbers and it is rational."""
        arguments = [self.numbers[i] for i in places if i in self.numbers]
        if len(arguments) < len(places):
            return None
        try:
            return rational(name, arguments, LARGEST_RATIONAL)
        except UndefinedError:
            return None  # whoever runs the program finds out

    def _number(self, value: Fraction) -> int:
        if value not in self.places:
            self.places[value] = self._next(self.arithmetic.number(value))
            self.numbers[self.places[value]] = value
        return self.places[value]

    def _next(self, constant: Any) -> int:
        self.constants.append(constant)
        return len(self.inputs) + len(self.constants) - 1


class Formulas:
    """The formulas of a claim, parsed when they are first used.

    Attributes:
        claim: the claim.
        names: of its parameters and definitions.
        parameters: by name.
    """

    def __init__(self, claim: Bound) -> None:
        self.claim = claim
        self.names = [p.name for p in claim.parameters] + list(claim.definitions)
        self.parameters = {p.name: p for p in claim.parameters}
        self.vectors = {p.name for p in claim.parameters if p.shape == "vector"}
        self._programs: dict[tuple[str, str], Program] = {}
        self._lengths: dict[str, int | None] | None = None  # those that were last found to fit

    @cached_property
    def right(self) -> Formula:
        """The right side.

        Raises:
            ValueError: the claim has none.
        """
        if self.claim.right is None:
            raise ValueError(f"{self.claim.id} has no right side to evaluate; read its statement")
        return parse(self.claim.right, self.names)

    @cached_property
    def definitions(self) -> dict[str, Formula]:
        """The definitions, by name."""
        return {name: parse(text, self.names) for name, text in self.claim.definitions.items()}

    @cached_property
    def relations(self) -> tuple[Comparison | None, ...]:
        """Those of the hypotheses; None for a hypothesis without, or one that uses other names than the claim's."""
        found = [None if h.relation is None else parse_relation(h.relation) for h in self.claim.conditions]
        return tuple([r if r is not None and names_in(r) <= set(self.names) else None for r in found])

    @cached_property
    def tied(self) -> dict[str, tuple[int, Formula]]:
        """Scalar parameters that a hypothesis (its index) sets equal to a formula of others, not tied themselves."""
        scalars = {p.name for p in self.parameters.values() if p.shape == "scalar" and not p.domain.integer}
        found: dict[str, tuple[int, Formula]] = {}
        for i, relation in enumerate(self.relations):
            if relation is None or relation.operators != ("==",):
                continue
            for side, other in (relation.sides, relation.sides[::-1]):
                used = names_in(other)
                free = isinstance(side, Name) and side.name in scalars - used - set(found)
                if free and used and used <= set(self.parameters) - set(found):
                    found[side.name] = i, other  # type: ignore[union-attr]  # it is a Name
                    break
        return found

    def names_used(self, formulas: Iterable[Formula | Comparison]) -> set[str]:
        """The names in some formulas, through definitions as well."""
        found: set[str] = set().union(*map(names_in, formulas))
        for name in reversed(self.definitions):
            if name in found:
                found |= names_in(self.definitions[name])
        return found

    def program(self, part: str, arithmetic: Arithmetic) -> Program:
        """The program of a part of the claim.

        Args:
            part: ``"all"`` (the definitions, then the right side), ``"right"`` (the definitions that it needs, and the
                right side), ``"definitions"``, ``"hypothesis 0"``, ... (the definitions that it needs, and the sides
                of its relation), or ``"everything"`` (all, then the sides of every hypothesis that has a relation).
            arithmetic: what its operations mean.
        """
        key = part, arithmetic.name
        if key not in self._programs:
            self._programs[key] = self._written(part, arithmetic)
        return self._programs[key]

    def _written(self, part: str, arithmetic: Arithmetic) -> Program:
        writer = _Writer(list(self.parameters), self.vectors, arithmetic)
        wanted = set(self.definitions)
        last: list[tuple[str, Formula]] = []
        if part in ("all", "right", "everything"):
            last = [(f"the right side of {self.claim.id}", self.right)]
            if part == "everything":
                last += [("a side", side) for relation in self.relations if relation for side in relation.sides]
        elif part != "definitions":
            relation = self.relations[int(part.removeprefix("hypothesis "))]
            assert relation is not None
            last = [("a side", side) for side in relation.sides]
        if part not in ("all", "definitions", "everything"):
            wanted = self.names_used(formula for _, formula in last)
        for name, formula in self.definitions.items():
            if name in wanted:
                writer.add(f"the term {name} of {self.claim.id}", formula, name)
        for what, formula in last:
            writer.add(what, formula)
        return writer.program()

    def check_lengths(self, lengths: Mapping[str, int | None]) -> None:
        """Check that vectors that meet in a formula have the same length.

        Args:
            lengths: of the parameters that have a value; None for numbers.

        Raises:
            ValueError: naming the claim and the two.
        """
        if lengths == self._lengths:
            return
        found = dict(lengths)
        try:
            for name, definition in self.definitions.items():
                if names_in(definition) <= set(found):
                    found[name] = length(definition, found)
            relations = [parse_relation(h.relation) for h in self.claim.conditions if h.relation is not None]
            rest = [self.right] if self.claim.right is not None else []
            for formula in (*rest, *(side for relation in relations for side in relation.sides)):
                if names_in(formula) <= set(found):
                    length(formula, found)
        except ValueError as error:
            raise ValueError(f"{self.claim.id}: {error}") from None
        self._lengths = dict(lengths)
