"""Numbers that record what is done with them: one exact play becomes a straight-line program over what is free.

A `Recorded` number goes through the player and the sentences in the place of a rational (`theory.operations.Operand`).
What is known stays rational, so that a 0 or a 1 that the program's structure has costs nothing. A comparison is decided
as on the instance that is played, and recorded as a condition: the tape speaks of those instances on which it comes
out the same.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, TypeAlias

import numpy as np

from theory.formula import UndefinedError
from theory.operations import Operand, rational_type
from theory.program import work

Array: TypeAlias = "np.ndarray[Any, Any]"
FUNCTIONS: dict[str, Any] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "**": np.power, "min": np.minimum,
    "max": np.maximum, "neg": np.negative, "abs": np.absolute, "sqrt": np.sqrt, "exp": np.exp, "log": np.log,
}  # fmt: skip
ARITHMETIC: dict[str, Any] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
}  # fmt: skip
COMMUTE = frozenset({"+", "*", "min", "max"})
MOST = 60_000
"""Operations of a tape; a longer play is not recorded."""
OVERHEAD, CALLS = 50, 8
"""What a block of instances takes beside its operations; so many of these are one of `theory.program.work`."""
LAST_DIGITS = 4
"""Units of the last digit by which a result is rounded at random."""
FACTORS = 64
"""So many roundings of a block are drawn."""
ALMOST = 1e-9
"""A number that is as little below 0 is taken for a 0 that was rounded, where a root is taken of it."""


class TooLongError(ValueError):
    """The play takes more operations than a tape may have."""


class UntracedError(ValueError):
    """The instance is none that can be recorded."""


@dataclass
class Tape:
    """Operations in their order.

    Attributes:
        steps: by place, an operation and its arguments: places, or floats; of a free number its own place and no more.
        free: places of the free numbers.
        conditions: places of numbers that have to be positive, or, where the flag is off, not negative.
    """

    steps: list[tuple[str, Any, Any]] = field(default_factory=list)
    free: list[int] = field(default_factory=list)
    conditions: dict[tuple[int, bool], None] = field(default_factory=dict)
    _known: dict[Any, Recorded] = field(default_factory=dict)

    def number(self, value: float) -> Recorded:
        """A free number, with its value on the instance that is played."""
        self.free.append(len(self.steps))
        self.steps.append(("", None, None))
        return Recorded(self, self.free[-1], value)

    def recorded(self, name: str, one: Any, two: Any = None) -> Any:
        """The result of an operation on numbers, at least one of them recorded."""
        a, b = _place(one), _place(two)
        if name in COMMUTE and (type(a) is float, a) > (type(b) is float, b):
            a, b = b, a
        key = (name, a, b, type(a), type(b))  # a place is not the number that it equals
        found = self._known.get(key)
        if found is None:
            if len(self.steps) >= MOST:
                raise TooLongError(f"the play takes more than {MOST} operations")
            value = _worth(name, _value(one), None if two is None else _value(two))
            self._known[key] = found = Recorded(self, len(self.steps), value)
            self.steps.append((name, a, b))
        return found

    def require(self, number: Any, strictly: bool) -> None:
        """A condition, which holds on the instance that is played."""
        if isinstance(number, Recorded):
            self.conditions.setdefault((number.place, strictly))


def _place(number: Any) -> Any:
    """Where a number stands; of one that is known its value, and None where there is none."""
    return number.place if type(number) is Recorded else None if number is None else float(number)


def _value(number: Any) -> float:
    return number.value if type(number) is Recorded else float(number)


def _worth(name: str, a: float, b: float | None) -> float:
    """An operation on the instance that is played."""
    if name == "/" and b == 0:
        raise UndefinedError("division by zero")
    if name == "sqrt" and a < 0:
        if a < -ALMOST:
            raise UndefinedError("sqrt of a negative number")
        return 0.0
    if name == "log" and a <= 0:
        raise UndefinedError("log of a number that is not positive")
    if name in ARITHMETIC:  # the same numbers at a tenth of the time
        return ARITHMETIC[name](a, b)
    with np.errstate(all="ignore"):
        return float(FUNCTIONS[name](a) if b is None else FUNCTIONS[name](a, b))


class Recorded(Operand):
    """A number of a tape.

    Attributes:
        tape: which.
        place: on it.
        value: on the instance that is played, up to rounding.
    """

    __slots__ = ("place", "tape", "value")

    def __init__(self, tape: Tape, place: int, value: float) -> None:
        self.tape, self.place, self.value = tape, place, value

    def operate(self, name: str, arguments: tuple[Any, ...]) -> Any:
        """Record an operation of formulas."""
        if name == "**":
            return self._power(*arguments)
        if name in ("min", "max"):
            return reduce(lambda a, b: a if a is b else self.tape.recorded(name, a, b), arguments)
        if len(arguments) == 1:
            return self.tape.recorded(name, arguments[0])
        one, two = arguments
        return {"+": _plus, "-": _minus, "*": _times, "/": _over}[name](self.tape, one, two)

    def _power(self, base: Any, exponent: Any) -> Any:
        if type(exponent) is rational_type():
            if exponent.denominator == 1 and 0 < abs(exponent.numerator) <= 16:
                product = reduce(lambda a, b: _times(self.tape, a, b), [base] * abs(int(exponent.numerator)))
                return product if exponent > 0 else _over(self.tape, rational_type()(1), product)
            if exponent == rational_type()(1, 2):
                return self.tape.recorded("sqrt", base)
            if exponent == 0:
                return rational_type()(1)
        return self.tape.recorded("**", base, exponent)

    def __add__(self, other: Any) -> Any:
        return NotImplemented if type(other) is np.ndarray else _plus(self.tape, self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return NotImplemented if type(other) is np.ndarray else _minus(self.tape, self, other)

    def __rsub__(self, other: Any) -> Any:
        return _minus(self.tape, other, self)

    def __mul__(self, other: Any) -> Any:
        return NotImplemented if type(other) is np.ndarray else _times(self.tape, self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return NotImplemented if type(other) is np.ndarray else _over(self.tape, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _over(self.tape, other, self)

    def __pow__(self, exponent: int) -> Any:
        return self._power(self, rational_type()(exponent))

    def __neg__(self) -> Any:
        return self.tape.recorded("neg", self)

    def __abs__(self) -> Any:
        return self.tape.recorded("abs", self)

    def __float__(self) -> float:
        return self.value

    def __lt__(self, other: Any) -> bool:
        return _less(self.tape, self, other)

    def __gt__(self, other: Any) -> bool:
        return _less(self.tape, other, self)

    def __le__(self, other: Any) -> bool:
        return not _less(self.tape, other, self)

    def __ge__(self, other: Any) -> bool:
        return not _less(self.tape, self, other)


def _is(number: Any, value: int) -> bool:
    return type(number) is not Recorded and bool(number == value)


def _plus(tape: Tape, a: Any, b: Any) -> Any:
    if type(a) is type(b) is Recorded:  # most are
        return tape.recorded("+", a, b)
    return a if _is(b, 0) else b if _is(a, 0) else tape.recorded("+", a, b)


def _minus(tape: Tape, a: Any, b: Any) -> Any:
    if _is(b, 0):
        return a
    if a is b:
        return rational_type()(0)
    return -b if _is(a, 0) else tape.recorded("-", a, b)


def _times(tape: Tape, a: Any, b: Any) -> Any:
    if type(a) is type(b) is Recorded:
        return tape.recorded("*", a, b)
    if _is(a, 0) or _is(b, 0):
        return rational_type()(0)
    return a if _is(b, 1) else b if _is(a, 1) else tape.recorded("*", a, b)


def _over(tape: Tape, a: Any, b: Any) -> Any:
    if _is(b, 1) or _is(a, 0):
        return a
    if _is(b, 0):
        raise UndefinedError("division by zero")
    return rational_type()(1) if a is b else tape.recorded("/", a, b)


def _less(tape: Tape, a: Any, b: Any) -> bool:
    less = _value(a) < _value(b)
    tape.require(_minus(tape, b, a) if less else _minus(tape, a, b), less)
    return less


# --- programs ---------------------------------------------------------------------------------------------------------


class Straight:
    """What is wanted of a tape, as a program on arrays: each operation is one call on the instances of a block.

    Args:
        tape: which.
        wanted: numbers of it, or known ones.
    """

    BLOCK = 1024
    """Instances that are computed at a time, so that what is at hand fits into the processor's cache."""

    def __init__(self, tape: Tape, wanted: Sequence[Any]) -> None:
        places = [number.place if isinstance(number, Recorded) else None for number in wanted]
        self.known = [math.nan if isinstance(number, Recorded) else float(number) for number in wanted]
        needed = _needed(tape, [place for place in places if place is not None])
        last: dict[int, int] = {}
        for place in needed:
            last.update((a, place) for a in tape.steps[place][1:] if type(a) is int)
        last.update((place, len(tape.steps)) for place in places if place is not None)
        self.inputs = [i for i, place in enumerate(tape.free) if place in last]
        slots: dict[int, int] = {}
        unused: list[int] = []
        size = 0
        self.steps: list[tuple[Any, Any, Any, int]] = []
        for place in [tape.free[i] for i in self.inputs] + needed:
            name, *arguments = tape.steps[place]
            of = [slots[a] if type(a) is int else a for a in arguments]
            unused += [slots.pop(a) for a in {a for a in arguments if type(a) is int and last[a] == place}]
            if not unused:
                unused.append(size)
                size += 1
            slots[place] = unused.pop()
            if name:
                self.steps.append((FUNCTIONS[name], of[0], of[1], slots[place]))
        self.size = size
        self.places = [None if place is None else slots[place] for place in places]

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def key(self) -> Any:
        """The same for programs that are the same."""
        return tuple(self.steps), tuple(self.places), repr(self.known)

    def run(self, free: Array, rounded: np.random.Generator | None = None) -> Array:
        """The wanted numbers, (wanted, B), for free ones (free, B); NaN or infinite where there are none.

        Every result is `rounded` at random in its last digits, where that is asked for.
        """
        found = np.empty((len(self.places), free.shape[1]), free.dtype)
        self.count(free.shape[1])
        with np.errstate(all="ignore"):
            for start in range(0, free.shape[1], self.BLOCK):
                part = free[:, start : start + self.BLOCK]
                factors = None if rounded is None else self._factors(part, rounded)
                self._block(part, found[:, start : start + self.BLOCK], factors)
        return found

    def _factors(self, free: Array, rng: np.random.Generator) -> Iterator[Array]:
        """Of each operation's result, one of a few that are drawn: to draw them all would take most of the time."""
        digit = LAST_DIGITS * np.finfo(free.dtype).eps
        some = 1 + digit * rng.uniform(-1, 1, (FACTORS, free.shape[1]))
        return map(some.__getitem__, rng.integers(FACTORS, size=len(self.steps)))

    def count(self, instances: int, computed: int = 0) -> None:
        """Count the work of so many (`theory.program.work`), but for those that are counted when they are computed.

        What is known without computing it is counted all the same: a budget is as many generations of a population.
        """
        blocks = [-(-many // self.BLOCK) for many in (instances, computed)]
        work.count(
            (len(self.steps) + OVERHEAD) * blocks[0] // CALLS - (len(self.steps) + OVERHEAD) * blocks[1] // CALLS
        )

    def _block(self, free: Array, found: Array, factors: Iterator[Array] | None) -> None:
        values = list(np.empty((self.size, free.shape[1]), free.dtype))
        for slot, i in enumerate(self.inputs):  # the first slots are theirs
            values[slot][:] = free[i]
        for function, a, b, to in self.steps:
            one = values[a] if type(a) is int else a
            if b is None:
                function(one, out=values[to])
            else:
                function(one, values[b] if type(b) is int else b, out=values[to])
            if factors is not None:
                values[to] *= next(factors)
        for i, place in enumerate(self.places):
            found[i] = self.known[i] if place is None else values[place]


def _needed(tape: Tape, places: Iterable[int]) -> list[int]:
    """The operations on which these hang, in order."""
    found: set[int] = set()
    left = list(places)
    while left:
        place = left.pop()
        if place not in found:
            found.add(place)
            left += [a for a in tape.steps[place][1:] if type(a) is int]
    return sorted(place for place in found if tape.steps[place][0])
