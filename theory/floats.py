"""Formulas in float64, vectorised over arrays of parameters: sympy's `lambdify`, and NumPy itself for vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, Any, TypeAlias

from theory.arithmetic import PRECISIONS, UndecidedError, Value, balls, to_float
from theory.claim import Claim, Parameter
from theory.domain import Domain
from theory.expression import symbol, to_sympy
from theory.formula import REDUCTIONS, Formula, UndefinedError, fold, length, names_in, parse
from theory.values import Entry, known_names, lengths_of, outside, read, resolve, shown

if TYPE_CHECKING:
    import numpy as np

    Array: TypeAlias = np.ndarray[Any, Any]


class Floats:
    """The float64 values of a claim's parameters and definitions, and of formulas in these.

    Attributes:
        shape: that of the parameters, broadcast; () if none is an array.
        environment: by name; a scalar has a shape that broadcasts to `shape`, a vector has one axis more.
        lengths: of the vectors; None for numbers.
    """

    def __init__(self, claim: Claim, parameters: Mapping[str, Any]) -> None:
        """Read the parameters and evaluate the definitions.

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
        for name, text in claim.definitions.items():
            self.environment[name] = self.evaluate(text)
            self.lengths[name] = length(parse(text), self.lengths)

    def evaluate(self, text: str) -> Array:
        """A formula in the names of the claim; NaN or infinite where it is undefined or too large.

        Raises:
            ValueError: when it is no such formula, or is undefined whatever the parameters are.
        """
        import numpy as np

        formula = parse(text, known_names(self.claim))
        names = tuple(sorted(names_in(formula)))
        if any(self.lengths[name] is not None for name in names):
            return self._numpy(formula)
        domains = {p.name: p.domain for p in self.claim.parameters}
        try:
            function = _compiled(text, tuple((name, domains.get(name)) for name in names))
            with np.errstate(all="ignore"):
                value = np.asarray(function(*(self.environment[name] for name in names)))
        except UndefinedError as error:
            raise UndefinedError(f"{self.claim.id}: {text} has no real value: {error}") from None
        except OverflowError:
            raise ValueError(f"{self.claim.id}: a number in {text} does not fit float64") from None
        if np.iscomplexobj(value):
            raise UndefinedError(f"{self.claim.id}: {text} has no real value")
        return value.astype(np.float64)

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
            if name in constant and any(names_in(part) & arrays for part in _formulas(entry)):
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

    def _resolved(self, entries: Mapping[str, Entry]) -> dict[str, Value]:
        for precision in PRECISIONS[1:]:
            with balls(precision) as reals:
                try:
                    return resolve(self.claim, entries, self.parameters, reals)
                except UndecidedError:
                    continue
        raise UndefinedError(f"a value given to {self.claim.id} is undefined, or {PRECISIONS[-1]} bits cannot tell")

    def _numpy(self, formula: Formula) -> Array:
        """The value by NumPy alone; the entries of vectors lie along the last axis."""
        import numpy as np

        def number(value: Fraction) -> tuple[Any, bool]:
            return np.float64(float(value)), False

        def name(key: str) -> tuple[Any, bool]:
            return self.environment[key], self.lengths[key] is not None

        def apply(operation: str, parts: tuple[tuple[Any, bool], ...]) -> tuple[Any, bool]:
            is_vector = any(vector for _, vector in parts)
            if operation in REDUCTIONS:
                return _REDUCE[operation](parts[0][0]), False
            values = [np.asarray(value)[..., None] if is_vector and not vector else value for value, vector in parts]
            return _numpy_operation(operation, values), is_vector

        try:
            with np.errstate(all="ignore"):
                value: Array = np.asarray(fold(formula, number, name, apply)[0])
        except OverflowError:
            raise ValueError(f"{self.claim.id}: a number does not fit float64") from None
        return value


def _formulas(entry: Entry) -> list[Formula]:
    parts = entry if isinstance(entry, tuple) else (entry,)
    return [part for part in parts if not isinstance(part, Fraction) and not hasattr(part, "dtype")]


@lru_cache(maxsize=1024)
def _compiled(text: str, names: tuple[tuple[str, Domain | None], ...]) -> Callable[..., Any]:
    """The formula as a NumPy function of the names in the given order (domain None: a definition)."""
    import numpy as np
    import sympy

    symbols = {
        name: sympy.Symbol(name, real=True) if domain is None else symbol(Parameter(name, domain, ""))
        for name, domain in names
    }
    # NumPy's own amax((a, b)) refuses arrays of different shapes
    extremes = {"Max": lambda *a: reduce(np.maximum, a), "Min": lambda *a: reduce(np.minimum, a)}
    function: Callable[..., Any] = sympy.lambdify(
        [symbols[name] for name, _ in names], to_sympy(parse(text), symbols), modules=[extremes, "numpy"]
    )
    return function


_REDUCE: Mapping[str, Callable[[Any], Any]] = {
    "sum": lambda a: a.sum(axis=-1),
    "mean": lambda a: a.mean(axis=-1),
    "amax": lambda a: a.max(axis=-1),
    "amin": lambda a: a.min(axis=-1),
}


def _numpy_operation(operation: str, values: list[Any]) -> Any:
    import numpy as np

    if operation in ("min", "max"):
        return reduce(np.minimum if operation == "min" else np.maximum, values)
    functions: Mapping[str, Callable[..., Any]] = {
        "+": np.add,
        "-": np.subtract,
        "*": np.multiply,
        "/": np.divide,
        "**": np.power,
        "neg": np.negative,
        "sqrt": np.sqrt,
        "log": np.log,
        "exp": np.exp,
        "abs": np.abs,
    }
    return functions[operation](*values)
