"""Formulas in float64, vectorised over arrays of parameters, by NumPy."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache, reduce
from typing import TYPE_CHECKING, Any, TypeAlias

from theory.arithmetic import PRECISIONS, Elements, UndecidedError, balls, to_float
from theory.bound import Bound
from theory.formula import REDUCTIONS, Formula, UndefinedError, fold, length, names_in
from theory.operations import Operation
from theory.programs import Arithmetic, Program
from theory.values import Entry, formulas_in, lengths_of, outside, read, resolve, shown

if TYPE_CHECKING:
    import numpy as np

    Array: TypeAlias = np.ndarray[Any, Any]


BLOCK = 8192  # entries of an array that are computed at a time
MOST_FACTORS = 16  # the largest exponent for which a power is computed by products


class Floats:
    """The float64 values of a claim's parameters, and of its formulas.

    Attributes:
        shape: that of the parameters, broadcast; () if none is an array.
        environment: by name; a scalar has a shape that broadcasts to `shape`, a vector has one axis more.
        lengths: of the vectors, definitions included; None for numbers.
    """

    def __init__(self, claim: Bound, parameters: Mapping[str, Any]) -> None:
        """Read the parameters.

        Raises:
            ValueError: for a bad parameter, or arrays that do not broadcast.
        """
        import numpy as np

        self.claim = claim
        self.parameters = parameters
        entries = read(claim, parameters, arrays=True)
        self.lengths: dict[str, int | None] = lengths_of(entries, claim)
        self.environment: dict[str, Array] = {}
        self._read(entries)
        shapes = {
            name: value.shape if self.lengths[name] is None else value.shape[:-1]
            for name, value in self.environment.items()
        }
        try:
            self.shape: tuple[int, ...] = np.broadcast_shapes(*shapes.values())
        except ValueError:
            shown = ", ".join(f"{name} {shape}" for name, shape in shapes.items() if shape)
            raise ValueError(f"the arrays have shapes that do not broadcast: {shown}") from None
        for name, formula in claim.formulas.definitions.items():
            self.lengths[name] = self.length(formula)

    def length(self, formula: Formula) -> int | None:
        """How many entries a formula's value has, None for a number."""
        return length(formula, self.lengths)

    def definitions(self) -> list[Array]:
        """The definitions' values; NaN or infinite where they have none.

        Raises:
            ValueError: when a number in a formula does not fit float64.
        """
        import numpy as np

        with np.errstate(all="ignore"):
            return [np.asarray(value) for value in self._program("definitions").run(self.environment)]

    def right(self) -> Array:
        """The right side, which is to be a number. See `definitions`."""
        import numpy as np

        program = self._program("right")
        with np.errstate(all="ignore"):
            if math.prod(self.shape) <= BLOCK:
                return np.asarray(program.run(self.environment)[-1])
            pieces = [np.broadcast_to(program.run(block)[-1], size) for size, block in self._blocks()]
        return np.concatenate(pieces).reshape(self.shape)

    def sides(self, hypothesis: int) -> list[Array]:
        """The sides of a hypothesis' relation, which are to be numbers; the hypotheses count from 0.

        Raises:
            ValueError: when it has no such relation, or a number in a formula does not fit float64.
        """
        import numpy as np

        relation = self.claim.formulas.relations[hypothesis]
        if relation is None:
            raise ValueError(f"hypothesis={hypothesis} of {self.claim.id} has no relation between its parameters")
        with np.errstate(all="ignore"):
            values = self._program(f"hypothesis {hypothesis}").run(self.environment)
        return [np.asarray(value) for value in values[-len(relation.sides) :]]

    def _program(self, part: str) -> Program:
        try:
            return self.claim.formulas.program(part, float_arithmetic())
        except OverflowError:
            raise ValueError(f"{self.claim.id}: a number in its formulas does not fit float64") from None

    def _blocks(self) -> Iterator[tuple[int, dict[str, Array]]]:
        """The environment in pieces, with their sizes, that are small enough for the processor's cache."""
        import numpy as np

        size, flat = math.prod(self.shape), {}
        for name, value in self.environment.items():
            own = value.shape if self.lengths[name] is None else value.shape[:-1]
            if own:
                rest = value.shape[len(own) :]
                flat[name] = np.broadcast_to(value, self.shape + rest).reshape(size, *rest)
        for start in range(0, size, BLOCK):
            stop = min(start + BLOCK, size)
            yield stop - start, {**self.environment, **{name: value[start:stop] for name, value in flat.items()}}

    def result(self, value: Array, what: str, size: int | None = None) -> float | Array:
        """What a user gets: a float, or an array of the full shape (and an axis of `size` entries for a vector).

        Raises:
            ValueError: for a number that is undefined or does not fit float64. Arrays keep NaN and infinities.
        """
        import numpy as np

        if not self.shape:
            if np.isnan(value).any():
                raise UndefinedError(f"{what} of {self.claim.id} is undefined at these values")
            if np.isinf(value).any():
                raise UndefinedError(
                    f"{what} of {self.claim.id} is undefined at these values (a division by zero), or does not fit "
                    "float64; enclose tells which"
                )
            if size is None:
                return float(value)
        return np.array(np.broadcast_to(value, self.shape if size is None else (*self.shape, size)))

    def _read(self, entries: Mapping[str, Entry]) -> None:
        import numpy as np

        constant = {name: entry for name, entry in entries.items() if not isinstance(entry, np.ndarray)}
        arrays = set(entries) - set(constant)
        for name, entry in entries.items():  # each comes after those that it uses
            if name in constant and any(names_in(part) & arrays for part in formulas_in(entry)):
                arrays.add(name)
                del constant[name]
        for name, value in self._resolved(constant).items():
            row = value if isinstance(value, tuple) else (value,)
            floats = np.array([to_float(v) for v in row])
            if np.isinf(floats).any() or any(f == 0 and v != 0 for f, v in zip(floats, row, strict=True)):
                raise ValueError(f"{name}={shown(self.parameters[name])} does not fit float64; enclose takes it")
            self.environment[name] = floats if isinstance(value, tuple) else floats[0]
        for name in (name for name in entries if name in arrays):
            entry = entries[name]
            if isinstance(entry, np.ndarray):
                self.environment[name] = entry
                continue
            parts = entry if isinstance(entry, tuple) else (entry,)
            rows = [np.asarray(float(p)) if isinstance(p, Fraction) else self._numpy(p) for p in parts]
            parameter = self.claim.parameter(name)
            if not all(parameter.domain.contains(row) for row in rows):
                raise outside(parameter, self.parameters[name])
            self.environment[name] = (
                np.stack(np.broadcast_arrays(*rows), axis=-1) if isinstance(entry, tuple) else rows[0]
            )

    def _resolved(self, entries: Mapping[str, Entry]) -> dict[str, Elements]:
        for precision in PRECISIONS[1:]:
            with balls(precision) as reals:
                try:
                    return resolve(self.claim, entries, self.parameters, reals)
                except UndecidedError:
                    continue
        raise UndefinedError(f"a value given to {self.claim.id} is undefined, or {PRECISIONS[-1]} bits cannot tell")

    def _numpy(self, formula: Formula) -> Array:
        """The value of a formula that stands for a parameter."""
        import numpy as np

        arithmetic = float_arithmetic()

        def apply(operation: str, parts: tuple[tuple[Any, bool], ...]) -> tuple[Any, bool]:
            values, are_vectors = (tuple(column) for column in zip(*parts, strict=True))
            function = arithmetic.operations[operation]
            if operation in REDUCTIONS or not any(are_vectors):
                return function(*values), False
            return arithmetic.over_entries(function, are_vectors)(*values), True

        def name(key: str) -> tuple[Any, bool]:
            return self.environment[key], self.lengths[key] is not None

        try:
            with np.errstate(all="ignore"):
                value: Array = np.asarray(fold(formula, lambda v: (arithmetic.number(v), False), name, apply)[0])
        except OverflowError:
            raise ValueError(f"{self.claim.id}: a number does not fit float64") from None
        return value


def _power(base: Any, exponent: int) -> Any:
    """``base**exponent``; by products where these are few, which is several times as fast on arrays."""
    if exponent == 1:
        return base
    if not 2 < exponent <= MOST_FACTORS:
        return base**exponent
    half = _power(base, exponent // 2)
    return half * half * base if exponent % 2 else half * half


@cache
def float_arithmetic() -> Arithmetic:
    """NumPy's float64; the entries of vectors lie along the last axis."""
    import numpy as np

    def over_entries(operation: Operation, are_vectors: tuple[bool, ...]) -> Operation:
        def apply(*arguments: Any) -> Any:
            rows = zip(arguments, are_vectors, strict=True)
            return operation(*[value if is_vector else np.asarray(value)[..., None] for value, is_vector in rows])

        return apply

    return Arithmetic(
        name="floats",
        operations={
            "+": operator.add,
            "-": operator.sub,
            "*": operator.mul,
            "/": operator.truediv,
            "**": np.power,
            "neg": operator.neg,
            "sqrt": np.sqrt,
            "log": np.log,
            "exp": np.exp,
            "abs": np.abs,
            "min": lambda *a: reduce(np.minimum, a),
            "max": lambda *a: reduce(np.maximum, a),
            "sum": lambda a: a.sum(axis=-1),
            "mean": lambda a: a.mean(axis=-1),
            "amax": lambda a: a.max(axis=-1),
            "amin": lambda a: a.min(axis=-1),
        },
        number=lambda value: np.float64(float(value)),
        integer_power=lambda exponent: lambda base: _power(base, exponent),
        over_entries=over_entries,
    )
