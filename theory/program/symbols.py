"""What a traced round computes with: values and scalars that write down what is done to them."""

from __future__ import annotations

import difflib
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from theory.formula import Apply, Formula, Name, Number, names_in, text_of
from theory.program.data import VALUE, VECTORS, Instruction, Kind, ProgramError, Step, renamed

TURNS = 4
"""How often the body of ``w.repeat`` is traced. What it carries from turn to turn is seen by comparing the turns: two
tell a variable from a constant, more tell what is remembered for two turns from what is a constant by chance."""
DIGITS = 15
"""Of a float that was written as it is; one with more is the result of a computation that was rounded."""


@dataclass
class Recorder:
    """Where a trace is written.

    A round is traced twice, with another number of turns of its loops: what hangs on that number is no round of the
    language (a Python variable that counts the turns, or gathers what they make).

    Attributes:
        turns: how often the body of ``w.repeat`` is run.
        visits: how often the turn of ``w.visit`` or ``w.pass_over`` is, of which the last is written down.
        looped: whether there was a loop.
        primitives: what w has, for messages.
        made: what made each value, for messages.
    """

    code: Any
    blocks: list[list[Step]]
    kinds: dict[str, Kind]
    hints: dict[str, str]
    aliases: dict[str, str]
    pending: dict[str, Callable[[], str]]
    depth: int = 0
    used: int = 0
    turns: int = TURNS
    visits: int = 1
    looped: bool = False
    primitives: tuple[str, ...] = ()
    made: dict[str, Instruction] = field(default_factory=dict)

    def fresh(self) -> str:
        name = f"_{self.used}"
        self.used += 1
        return name

    def frame(self) -> FrameType | None:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code is not self.code:
            frame = frame.f_back
        return frame

    def error(self, what: str) -> NoReturn:
        """Raise, naming the author's line."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != self.code.co_filename:
            frame = frame.f_back
        line = self.code.co_firstlineno if frame is None else frame.f_lineno
        raise ProgramError(f"{Path(self.code.co_filename).name}, line {line}: {what}") from None

    def name_values(self) -> None:
        """Remember what the author calls the values."""
        frame = self.frame()
        if frame is None:
            return
        for name, value in frame.f_locals.items():
            if isinstance(value, Value) and value.name not in self.hints:
                self.hints[value.name] = name
            elif isinstance(value, Scalar) and isinstance(value.formula, Name):
                self.hints.setdefault(value.formula.name, name)

    def called(self, name: str) -> str:
        """What the author calls a value, or a parameter."""
        self.name_values()
        return self.hints.get(name, name if not VALUE.match(name) else "(...)")

    def noise_in(self, name: str) -> str:
        """That noise is a vector a client, whose mean has another variance: of a value that is a sum with some."""
        left, seen = [name], set[str]()
        while left:
            step = self.made.get(left.pop())
            if step is None or step.to in seen:
                continue
            seen.add(step.to)
            if step.op == "noise":
                variance = text_of(renamed(step.numbers[0], self.called))
                return (
                    f"; w.noise({variance}) is a vector for each client, and the mean of these has the variance "
                    f"{variance}/N: one vector of the server with the variance {variance} is "
                    f"w.mean(w.noise(N*{variance})), where N is a parameter of the algorithm"
                )
            left += step.of if step.op == "linear" else ()
        return ""

    def resolve(self, name: str) -> str:
        """The name under which a value of a finished loop is there after it."""
        while name in self.aliases or name in self.pending:
            if name in self.pending:
                self.aliases[name] = self.pending.pop(name)()
            name = self.aliases[name]
        return name

    def emit(self, op: str, kind: Kind, of: Sequence[str] = (), numbers: Sequence[Formula] = (), **more: Any) -> str:
        self.name_values()
        frame = self.frame()
        name = "" if op == "tap" else self.fresh()
        names = tuple(map(self.resolve, of))
        formulas = tuple(renamed(f, self.resolve) for f in numbers)
        line = 0 if frame is None else frame.f_lineno
        step = Instruction(op, name, kind, names, formulas, line=line, **more)
        self.blocks[-1].append(step)
        if name:
            self.kinds[name], self.made[name] = kind, step
        return name


class _Symbol:
    """What values and scalars of a trace refuse."""

    __slots__ = ("_recorder",)
    __array_ufunc__ = None
    _recorder: Recorder

    def _refuse(self, what: str) -> NoReturn:
        self._recorder.error(what)

    def _called(self) -> str:
        """What the author calls it, for messages."""
        raise NotImplementedError

    def _argument(self) -> str:
        """The same in the place of an argument."""
        called = self._called()
        return called[1:-1] if called[0] == "(" else called

    if not TYPE_CHECKING:  # a type checker knows what there is

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith("__"):  # whether there is one is asked by Python itself, and by NumPy
                raise AttributeError(name)
            called, known = self._called(), self._recorder.primitives
            if name in known:
                self._refuse(f"{called}.{name}: a value has no methods; write w.{name}({self._argument()})")
            close = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean w.{close[0]}?" if close else f"w has {', '.join(known)}"
            self._refuse(f"{called}.{name}: a value has nothing of this name; {hint}")

    def __bool__(self) -> NoReturn:
        self._refuse(
            "a branch on a value: a round does the same whatever its values are; choose with w.where(mask, a, b)"
        )

    def _compare(self, other: object) -> NoReturn:
        self._refuse(
            "a comparison of values: choose with w.where(mask, a, b), or coordinate by coordinate with w.larger"
        )

    __lt__ = __le__ = __gt__ = __ge__ = _compare

    def __eq__(self, other: object) -> bool:
        return self is other or self._compare(other)

    def __hash__(self) -> int:
        return id(self)

    def __iter__(self) -> NoReturn:
        self._refuse("a loop over a value: loop with `for h in w.repeat(H)`, w.visit or w.pass_over")

    def __setitem__(self, key: object, value: object) -> NoReturn:
        self._refuse("an entry of a value is put: w.put(table, i, v) is the table with another entry")

    def __len__(self) -> NoReturn:
        self._refuse("the length of a value: write the name of the parameter instead")

    def _number(self, instead: str = "") -> NoReturn:
        self._refuse(
            f"{self._called()} is a value taken for a Python number: parameters and draws have no number while a "
            f"round is traced{instead}"
        )

    def __index__(self) -> NoReturn:
        self._number(f"; a loop of so many turns is `for h in w.repeat({self._argument()})`, without range")

    def __float__(self) -> NoReturn:
        self._number("; w.sqrt is a root, and + - * / ** do without a number")

    __int__ = _number

    def __matmul__(self, other: object) -> NoReturn:
        self._refuse(
            "a product of two vectors: w.times(a, b) is coordinate by coordinate, w.mix(v, W) over the clients"
        )

    __rmatmul__ = __matmul__


_SCALAR_HELP = "a number, a parameter, or a draw"


class Scalar(_Symbol):
    """A number, one for all or one a client, as a formula."""

    __slots__ = ("formula",)

    def __init__(self, recorder: Recorder, formula: Formula) -> None:
        self._recorder = recorder
        self.formula = formula

    def __repr__(self) -> str:
        return f"Scalar({text_of(self.formula)})"

    def _called(self) -> str:
        return text_of(renamed(self.formula, self._recorder.called))

    def __getitem__(self, key: object) -> NoReturn:
        self._schedule("[...]")

    def __call__(self, *of: object) -> NoReturn:
        self._schedule("(...)")

    def _schedule(self, written: str) -> NoReturn:
        """Refuse a number that is taken at a round, or a client."""
        name = self._called()
        if not isinstance(self.formula, Name) or VALUE.match(self.formula.name):
            self._refuse(f"{name}{written}: a number, or one of every client, is taken as it is")
        self._refuse(
            f"{name}{written}: write {name} alone, also where it is another number in each round, or of each client: "
            f"in claims {name}_k is that of round k, {name}_n that of client n"
        )

    def _with(self, other: object, operation: str, swapped: bool = False) -> Any:
        if isinstance(other, Value):
            return NotImplemented
        one, two = self.formula, formula_of(self._recorder, other)
        return Scalar(self._recorder, apply(operation, *((two, one) if swapped else (one, two))))

    def __add__(self, other: object) -> Any:
        return self._with(other, "+")

    def __radd__(self, other: object) -> Any:
        return self._with(other, "+", True)

    def __sub__(self, other: object) -> Any:
        return self._with(other, "-")

    def __rsub__(self, other: object) -> Any:
        return self._with(other, "-", True)

    def __mul__(self, other: object) -> Any:
        return self._with(other, "*")

    def __rmul__(self, other: object) -> Any:
        return self._with(other, "*", True)

    def __truediv__(self, other: object) -> Any:
        if isinstance(other, Value):
            self._refuse("a number divided by a vector: w.over(a, b) divides coordinate by coordinate")
        return self._with(other, "/")

    def __rtruediv__(self, other: object) -> Any:
        return self._with(other, "/", True)

    def __pow__(self, other: object) -> Any:
        if isinstance(other, Value):
            self._refuse("a number to the power of a vector")
        return self._with(other, "**")

    def __rpow__(self, other: object) -> Any:
        return self._with(other, "**", True)

    def __neg__(self) -> Scalar:
        return Scalar(self._recorder, apply("neg", self.formula))

    def __pos__(self) -> Scalar:
        return self

    def __abs__(self) -> Scalar:
        return Scalar(self._recorder, Apply("abs", (self.formula,)))


def formula_of(recorder: Recorder, value: object) -> Formula:
    if isinstance(value, Scalar):
        return value.formula
    if isinstance(value, Value):
        if value.kind in ("number", "numbers"):
            return Name(value.name)
        recorder.error(f"a {value.kind}'s vector where a number is needed ({_SCALAR_HELP})")
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        recorder.error(f"{value!r} where a number is needed ({_SCALAR_HELP})")
    if isinstance(value, float):
        exact = Fraction(str(value)) if math.isfinite(value) else recorder.error(f"{value} where a number is needed")
        if len(repr(value).partition("e")[0].replace(".", "").strip("-0")) > DIGITS:
            near = Fraction(value).limit_denominator(1000)
            meant = f"Fraction({near.numerator}, {near.denominator})" if float(near) == value else "w.sqrt(...)"
            recorder.error(f"{value!r} is rounded: write {meant}, or a quotient of parameters and vectors such as x/3")
        return _literal(exact)
    return _literal(Fraction(value))


def _literal(value: Fraction) -> Formula:
    if value < 0:
        return Apply("neg", (_literal(-value),))
    if value.denominator == 1:
        return Number(value)
    return Apply("/", (Number(Fraction(value.numerator)), Number(Fraction(value.denominator))))


ONE, ZERO = Number(Fraction(1)), Number(Fraction(0))


def apply(operation: str, *parts: Formula) -> Formula:
    """The operation, without what is plainly superfluous."""
    if operation == "neg":
        (one,) = parts
        return one.arguments[0] if isinstance(one, Apply) and one.operation == "neg" else Apply("neg", parts)
    one, two = parts
    if operation == "*":
        if one == ONE or two == ONE:
            return two if one == ONE else one
        for a, b in ((one, two), (two, one)):
            if a == Apply("neg", (ONE,)):
                return apply("neg", b)
    if operation == "/" and two == ONE:
        return one
    if operation == "+" and ZERO in parts:
        return two if one == ZERO else one
    if operation == "-" and two == ZERO:
        return one
    return Apply(operation, parts)


class Value(_Symbol):
    """A vector of the server, of every client, or of every sample; a stack of remembered ones; or a sample."""

    __slots__ = ("kind", "name")

    def __init__(self, recorder: Recorder, name: str, kind: Kind) -> None:
        self._recorder = recorder
        self.name = name
        self.kind = kind

    def __repr__(self) -> str:
        return f"Value({self.name}, {self.kind})"

    def _called(self) -> str:
        return self._recorder.called(self.name)

    def __getitem__(self, key: object) -> NoReturn:
        entries = {
            "table": "entries of a table are taken with w.get(table, i)",
            "sample": "it is a sample, which w.gradient(v, i) takes",
            "past": "w.combine(alpha, past) makes one vector of those that are remembered",
        }
        other = "what is done to coordinates is done to all: w.times, w.over, w.sign, w.top, w.keep; a client's value "
        other += "has no number of the client"
        self._refuse(f"an entry of a value, {self._called()}: {entries.get(self.kind.split()[-1], other)}")

    def _vector(self, what: str) -> None:
        if self.kind not in VECTORS:
            word = "a sample" if self.kind == "sample" else "remembered vectors"
            self._refuse(
                f"{what} of {word}: " + ("w.gradient(v, i) takes it" if self.kind == "sample" else "use w.combine")
            )

    def _linear(self, terms: Sequence[tuple[Formula, Value]]) -> Value:
        kinds = [v.kind for _, v in terms]
        numbers = [c for c, _ in terms]
        kind: Kind = max(kinds, key=VECTORS.index)
        if kind == "server" and any(
            self._recorder.kinds.get(self._recorder.resolve(n)) == "numbers" for c in numbers for n in names_in(c)
        ):
            kind = "client"
        name = self._recorder.emit("linear", kind, [v.name for _, v in terms], numbers)
        return Value(self._recorder, name, kind)

    def _sum(self, other: object, mine: int, theirs: int) -> Any:
        self._vector("a sum")
        if not isinstance(other, Value):
            if isinstance(other, int | float | Fraction) and not isinstance(other, bool) and other == 0:
                return self if mine == 1 else -self
            self._refuse("a vector plus a number: multiply w.ones() by it")
        other._vector("a sum")
        sign: dict[int, Formula] = {1: ONE, -1: Apply("neg", (ONE,))}
        return self._linear([(sign[mine], self), (sign[theirs], other)])

    def __add__(self, other: object) -> Any:
        return self._sum(other, 1, 1)

    def __radd__(self, other: object) -> Any:
        return self._sum(other, 1, 1)

    def __sub__(self, other: object) -> Any:
        return self._sum(other, 1, -1)

    def __rsub__(self, other: object) -> Any:
        return self._sum(other, -1, 1)

    def __neg__(self) -> Value:
        self._vector("the negative")
        return self._linear([(Apply("neg", (ONE,)), self)])

    def __pos__(self) -> Value:
        return self

    def __mul__(self, other: object) -> Value:
        self._vector("a product")
        if isinstance(other, Value):
            self._refuse(
                "a product of two vectors: w.times(a, b) is coordinate by coordinate; for its length w.norm(v)"
            )
        return self._linear([(formula_of(self._recorder, other), self)])

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Value:
        self._vector("a quotient")
        if isinstance(other, Value):
            self._refuse("a quotient of two vectors: w.over(a, b) divides coordinate by coordinate")
        return self._linear([(apply("/", ONE, formula_of(self._recorder, other)), self)])

    def __rtruediv__(self, other: object) -> NoReturn:
        self._refuse("a number divided by a vector: w.over(a, b) divides coordinate by coordinate")

    def __pow__(self, other: object) -> NoReturn:
        self._refuse("a power of a vector: w.times(v, v) squares it coordinate by coordinate")

    def __abs__(self) -> NoReturn:
        self._refuse("abs of a vector: w.norm(v) is its length, w.times(v, w.sign(v)) coordinate by coordinate")
