"""An algorithm as one round, seen from a client: traced once into a straight-line program with loops.

`algorithm` decorates a function ``round(w, *state, *, parameters)``. Running it once with symbols for state and
parameters writes down what it does (`Program`); whoever reads a program (exact play, moments, simulation, worst cases, the
page) asks the function no more. The primitives are those of `Tracer`.

A value is a vector of the server, one of every client, or one of every sample of every client (`Kind`); arithmetic
is linear. Scalars are formulas (`theory.formula`) in parameters, the round ``k``, the turns ``h``, ``h2``, ... of the loops
around, and draws, which go by the names of the values that hold them.

This is the only module of `theory` that `sim` imports: it needs the standard library alone.
"""

from __future__ import annotations

import difflib
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import Any, Literal, NoReturn, Protocol, TypeAlias

from theory.formula import Apply, Formula, Name, Number, names_in, parse, text_of

Kind = Literal["server", "client", "table", "past", "client past", "number", "numbers", "sample"]
VECTORS: tuple[Kind, ...] = ("server", "client", "table")
STACKS: tuple[Kind, ...] = ("past", "client past")
RESERVED = frozenset({"k", "K", "E", "f", "f_n", "f_ni", "x0", "xstar", "xstar_n", "fstar", "h", "n", "i"})
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
VALUE = re.compile(r"_[0-9]+\Z")
TURNS = 4
"""How often the body of a loop is traced. What it carries from turn to turn is seen by comparing the turns: two tell a
variable from a constant, more tell what is remembered for two turns from what is a constant by chance."""
_OPERATORS = {"+", "-", "*", "/", "**", "neg"}


class ProgramError(ValueError):
    """An algorithm that cannot be traced, with its line and what to write instead."""


# --- programs as data ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Instruction:
    """``to = op(of; numbers)``.

    Attributes:
        op: one of `OPERATIONS`.
        to: name of the value (``_7``); empty for a tap.
        kind: of the value.
        of: names of the values that it reads, in order.
        numbers: its scalars, as formulas: the coefficients of ``linear`` (one for each of `of`), the m of ``keep``, ...
        label: a name that goes with it: a tap's, the matrix of ``mix``, the weights of ``combine``.
        flag: ``with replacement`` of a draw, or None where there is no such choice.
        hint: what the author called the value; only for people.
        line: of the author's file; only for people.
    """

    op: str
    to: str
    kind: Kind
    of: tuple[str, ...] = ()
    numbers: tuple[Formula, ...] = ()
    label: str = ""
    flag: bool | None = None
    hint: str = field(default="", compare=False)
    line: int = field(default=0, compare=False)

    @property
    def defines(self) -> tuple[str, ...]:
        """The names that are there after it."""
        return (self.to,) if self.to else ()


@dataclass(frozen=True)
class Carried:
    """A value that a loop hands on: `first` in its first turn, in every later turn what `following` was in the last.

    After the loop it is what it was in the last turn, as all values of the body are.
    """

    name: str
    kind: Kind
    first: str
    following: str
    hint: str = field(default="", compare=False)


@dataclass(frozen=True)
class Loop:
    """A loop: ``repeat`` so many turns, ``visit`` the clients in random order, ``pass`` over every client's samples.

    Attributes:
        op: which.
        index: the name of the turn's number (``repeat``), of the sample (``pass``), empty for ``visit``.
        count: the number of turns of ``repeat``, at least 1; else None.
        carried: what it hands on from turn to turn.
        body: its instructions. In a ``visit`` they are those of one client: a client's value is that client's.
    """

    op: Literal["repeat", "visit", "pass"]
    index: str
    count: Formula | None
    carried: tuple[Carried, ...]
    body: tuple[Step, ...]
    line: int = field(default=0, compare=False)

    @property
    def defines(self) -> tuple[str, ...]:
        """The names that are there after it: what it carries, then the values of its body in its last turn."""
        inside = tuple(name for step in self.body for name in step.defines)
        return (*(c.name for c in self.carried), *inside)


Step: TypeAlias = Instruction | Loop


@dataclass(frozen=True)
class State:
    """A state variable.

    Attributes:
        name: as claims write it.
        kind: server, client, table, past or client past.
        initial: a vector formula in x0 (``0``, ``x0``, ``grad(f_n, x0)``), without the word for its kind.
        length: of a past, the formula for the number of remembered vectors; else None.
    """

    name: str
    kind: Kind
    initial: str
    length: Formula | None = None

    @property
    def text(self) -> str:
        """As in the decorator."""
        word = {"server": "", "client": "each ", "table": "table ", "past": "", "client past": "each "}[self.kind]
        times = "" if self.length is None else f"{text_of(self.length)} times "
        return f"{word}{times}{self.initial}"


@dataclass(frozen=True)
class Program:
    """One round of an algorithm.

    Attributes:
        name: of the algorithm.
        state: its variables, as they stand before the first round.
        parameters: names, in the author's order.
        body: what a round does. The state's values are there under the names `inputs`.
        result: the values that are the state after the round, one for each variable.
        source: where it is defined, for messages; not compared.
        about: the first line of its docstring; not compared.
    """

    name: str = field(compare=False)
    state: tuple[State, ...]
    parameters: tuple[str, ...]
    body: tuple[Step, ...]
    result: tuple[str, ...]
    source: str = field(default="", compare=False)
    about: str = field(default="", compare=False)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the values that the state has at the beginning of a round."""
        return tuple(f"_{i}" for i in range(len(self.state)))

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """All instructions and loops, those inside loops after their loop."""
        return tuple(_flat(self.body))

    @cached_property
    def kinds(self) -> Mapping[str, Kind]:
        """The kind of every value."""
        found: dict[str, Kind] = {name: s.kind for name, s in zip(self.inputs, self.state, strict=True)}
        for step in self.steps:
            if isinstance(step, Loop):
                found |= {c.name: c.kind for c in step.carried}
            elif step.to:
                found[step.to] = step.kind
        return found

    @cached_property
    def taps(self) -> Mapping[str, tuple[Kind, int]]:
        """Of each tap, the kind of its value and how many loops are around it."""
        return dict(_taps(self.body, 0))

    @cached_property
    def operations(self) -> frozenset[str]:
        """The operations that occur."""
        return frozenset(step.op for step in self.steps)

    @property
    def random(self) -> bool:
        """Whether a round draws anything."""
        return bool(self.operations & DRAWS)

    def to_json(self) -> dict[str, Any]:
        """As plain data; `from_json` reads it."""
        return {
            "name": self.name,
            "state": [{"name": s.name, "initial": s.text} for s in self.state],
            "parameters": list(self.parameters),
            "round": [_step_json(step) for step in self.body],
            "result": list(self.result),
        }

    def __str__(self) -> str:
        return pseudo_code(self)


def _flat(steps: Sequence[Step]) -> Iterator[Step]:
    for step in steps:
        yield step
        if isinstance(step, Loop):
            yield from _flat(step.body)


def _taps(steps: Sequence[Step], depth: int) -> Iterator[tuple[str, tuple[Kind, int]]]:
    for step in steps:
        if isinstance(step, Loop):
            yield from _taps(step.body, depth + 1)
        elif step.op == "tap":
            yield step.label, (step.kind, depth)


DRAWS = frozenset({"sample", "noise", "choose", "coins", "coin", "keep", "visit", "pass"})
"""The operations that draw."""
OPERATIONS = DRAWS | {
    "linear", "scalar", "gradient", "full gradient", "each", "mean", "sum", "before", "average", "where", "mix", "top", "prox",
    "project", "times", "over", "larger", "sqrt", "sign", "clip", "norm", "ones", "shift", "combine", "get", "put", "tap",
    "repeat",
}  # fmt: skip
LINEAR = frozenset({"linear", "scalar", "gradient", "full gradient", "each", "mean", "sum", "before", "average", "where", "mix"})
LINEAR_GIVEN_DRAWS = LINEAR | DRAWS | {"prox", "ones", "shift", "combine", "get", "put", "tap", "repeat"}
"""The operations that are affine in the state, on quadratics and given the draws."""


# --- algorithms ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Algorithm:
    """A round as its author wrote it; `program` is what it does.

    Attributes:
        name: of the function.
        function: ``round(w, *state, *, parameters)``.
        state: variables with their values before the first round.
        parameters: its keyword parameters.
        defaults: of those that have one.
    """

    name: str
    function: Callable[..., Any]
    state: tuple[State, ...]
    parameters: tuple[str, ...]
    defaults: Mapping[str, Fraction]

    @cached_property
    def program(self) -> Program:
        """The traced round.

        Raises:
            ProgramError: where the function does what a program cannot say.
        """
        return trace(self)

    def __hash__(self) -> int:
        return hash((self.name, self.state, self.parameters))


def algorithm(function: Callable[..., Any] | None = None, /, **initial: str) -> Any:
    """Make a function ``round(w, *state, *, parameters)`` an `Algorithm`.

    Bare, for one state variable of the server that begins at x0; else with what each variable is before the first round:
    ``x0``, ``0``, ``each x0``, ``each grad(f_n, x0)``, ``table grad(f_ni, x0)``, ``J times x0``.

    Raises:
        ProgramError: for a function whose arguments are not of this form.
    """
    if function is None:
        return lambda wrapped: _made(wrapped, initial)
    return _made(function, {})


_INITIAL = re.compile(r"(?P<word>(?:each|table)\s+)?(?:(?P<times>\S+)\s+times\s+)?(?P<formula>.+)\Z", re.DOTALL)


def state_of(name: str, text: str) -> State:
    """A state variable from what the decorator says of it.

    Raises:
        ProgramError: for text that says nothing.
    """
    match = _INITIAL.match(text.strip()) if isinstance(text, str) else None
    if match is None:
        raise ProgramError(f"{name}={text!r} does not say what the state is before the first round: x0, each x0, 0, ...")
    word, times = (match["word"] or "").strip(), match["times"]
    if times is not None and word == "table":
        raise ProgramError(f"{name}={text!r}: a table is not remembered; remember vectors of the server or the clients")
    kind: Kind = {"": "server", "each": "client", "table": "table"}[word]  # type: ignore[assignment]
    if times is not None:
        kind = "past" if kind == "server" else "client past"
    return State(name, kind, match["formula"].strip(), None if times is None else parse(times))


def _made(function: Callable[..., Any], initial: Mapping[str, str]) -> Algorithm:
    where = f"{_place(function)}: algorithm {getattr(function, '__name__', function)!r}"
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        raise ProgramError(f"{where} is no Python function") from None
    arguments = list(signature.parameters.values())
    free = [p for p in arguments if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    keys = [p for p in arguments if p.kind == p.KEYWORD_ONLY]
    if len(free) + len(keys) < len(arguments):
        raise ProgramError(f"{where} takes *args or **kwargs: name its state and, after a *, its parameters")
    if len(free) < 2:
        raise ProgramError(f"{where} needs w and at least one state variable: def {function.__name__}(w, x, *, eta)")
    names = [p.name for p in free[1:]]
    if not initial:
        if len(names) > 1:
            given = ", ".join(f'{name}="..."' for name in names)
            raise ProgramError(f"{where} has {len(names)} state variables: say what they are at first, @algorithm({given})")
        initial = {names[0]: "x0"}
    if set(initial) != set(names):
        raise ProgramError(f"{where} has the state {', '.join(names)}, and the decorator speaks of {', '.join(initial)}")
    for p in (*free[1:], *keys):  # N and d, asked for as parameters, are the problem's
        if p.name in RESERVED and not (p.name == "h" and p in free) or not NAME.match(p.name):
            raise ProgramError(f"{where}: the name {p.name!r} means something else in claims; take another one")
    defaults = {p.name: _rational(p.default, where) for p in keys if p.default is not p.empty}
    state = tuple(state_of(name, initial[name]) for name in names)
    return Algorithm(function.__name__, function, state, tuple(p.name for p in keys), defaults)


def _rational(value: object, where: str) -> Fraction:
    try:
        return Fraction(str(value)) if isinstance(value, int | float) and not isinstance(value, bool) else Fraction(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ProgramError(f"{where}: {value!r} is not a number") from None


def _place(function: Callable[..., Any]) -> str:
    code = getattr(function, "__code__", None)
    return "?" if code is None else f"{Path(code.co_filename).name}, line {code.co_firstlineno}"


# --- tracing ---------------------------------------------------------------------------------------------------------


@dataclass
class _Recorder:
    """Where a trace is written."""

    code: Any
    blocks: list[list[Step]]
    kinds: dict[str, Kind]
    hints: dict[str, str]
    aliases: dict[str, str]
    pending: dict[str, Callable[[], str]]
    depth: int = 0
    used: int = 0

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
        formulas = tuple(_renamed(f, self.resolve) for f in numbers)
        line = 0 if frame is None else frame.f_lineno
        self.blocks[-1].append(Instruction(op, name, kind, names, formulas, line=line, **more))
        if name:
            self.kinds[name] = kind
        return name


def _renamed(formula: Formula, new: Callable[[str], str]) -> Formula:
    if isinstance(formula, Name):
        return Name(new(formula.name)) if VALUE.match(formula.name) else formula
    if isinstance(formula, Apply):
        return Apply(formula.operation, tuple(_renamed(a, new) for a in formula.arguments))
    return formula


class _Symbol:
    """What values and scalars of a trace refuse."""

    __slots__ = ("_recorder",)
    __array_ufunc__ = None
    _recorder: _Recorder

    def _refuse(self, what: str) -> NoReturn:
        self._recorder.error(what)

    def __bool__(self) -> NoReturn:
        self._refuse("a branch on a value: a round does the same whatever its values are; choose with w.where(mask, a, b)")

    def _compare(self, other: object) -> NoReturn:
        self._refuse("a comparison of values: choose with w.where(mask, a, b), or coordinate by coordinate with w.larger")

    __lt__ = __le__ = __gt__ = __ge__ = _compare

    def __eq__(self, other: object) -> bool:
        return self is other or self._compare(other)

    def __hash__(self) -> int:
        return id(self)

    def __iter__(self) -> NoReturn:
        self._refuse("a loop over a value: loop with `for h in w.repeat(H)`, w.visit or w.pass_over")

    def __getitem__(self, key: object) -> NoReturn:
        self._refuse("an entry of a value: entries of a table are taken with w.get(table, i)")

    def __len__(self) -> NoReturn:
        self._refuse("the length of a value: write the name of the parameter instead")

    def _number(self) -> NoReturn:
        self._refuse("a value taken for a Python number: parameters and draws have no number while a round is traced")

    __index__ = __int__ = __float__ = _number

    def __matmul__(self, other: object) -> NoReturn:
        self._refuse("a product of two vectors: w.times(a, b) is coordinate by coordinate, w.mix(v, W) over the clients")

    __rmatmul__ = __matmul__


_SCALAR_HELP = "a number, a parameter, or a draw"


class Scalar(_Symbol):
    """A number, one for all or one a client, as a formula."""

    __slots__ = ("formula",)

    def __init__(self, recorder: _Recorder, formula: Formula) -> None:
        self._recorder = recorder
        self.formula = formula

    def __repr__(self) -> str:
        return f"Scalar({text_of(self.formula)})"

    def _with(self, other: object, operation: str, swapped: bool = False) -> Any:
        if isinstance(other, Value):
            return NotImplemented
        one, two = self.formula, _formula(self._recorder, other)
        return Scalar(self._recorder, _apply(operation, *((two, one) if swapped else (one, two))))

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
        return Scalar(self._recorder, _apply("neg", self.formula))

    def __pos__(self) -> Scalar:
        return self

    def __abs__(self) -> Scalar:
        return Scalar(self._recorder, Apply("abs", (self.formula,)))


def _formula(recorder: _Recorder, value: object) -> Formula:
    if isinstance(value, Scalar):
        return value.formula
    if isinstance(value, Value):
        if value.kind in ("number", "numbers"):
            return Name(value.name)
        recorder.error(f"a {value.kind}'s vector where a number is needed ({_SCALAR_HELP})")
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        recorder.error(f"{value!r} where a number is needed ({_SCALAR_HELP})")
    return _literal(Fraction(str(value)) if isinstance(value, float) else Fraction(value))


def _literal(value: Fraction) -> Formula:
    if value < 0:
        return Apply("neg", (_literal(-value),))
    if value.denominator == 1:
        return Number(value)
    return Apply("/", (Number(Fraction(value.numerator)), Number(Fraction(value.denominator))))


ONE, ZERO = Number(Fraction(1)), Number(Fraction(0))


def _apply(operation: str, *parts: Formula) -> Formula:
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
                return _apply("neg", b)
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

    def __init__(self, recorder: _Recorder, name: str, kind: Kind) -> None:
        self._recorder = recorder
        self.name = name
        self.kind = kind

    def __repr__(self) -> str:
        return f"Value({self.name}, {self.kind})"

    def _vector(self, what: str) -> None:
        if self.kind not in VECTORS:
            word = "a sample" if self.kind == "sample" else "remembered vectors"
            self._refuse(f"{what} of {word}: " + ("w.gradient(v, i) takes it" if self.kind == "sample" else "use w.combine"))

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
            self._refuse("a product of two vectors: w.times(a, b) is coordinate by coordinate; for its length w.norm(v)")
        return self._linear([(_formula(self._recorder, other), self)])

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Value:
        self._vector("a quotient")
        if isinstance(other, Value):
            self._refuse("a quotient of two vectors: w.over(a, b) divides coordinate by coordinate")
        return self._linear([(_apply("/", ONE, _formula(self._recorder, other)), self)])

    def __rtruediv__(self, other: object) -> NoReturn:
        self._refuse("a number divided by a vector: w.over(a, b) divides coordinate by coordinate")

    def __pow__(self, other: object) -> NoReturn:
        self._refuse("a power of a vector: w.times(v, v) squares it coordinate by coordinate")

    def __abs__(self) -> NoReturn:
        self._refuse("abs of a vector: w.norm(v) is its length, w.times(v, w.sign(v)) coordinate by coordinate")


class Tracer:
    """The primitives of a round; see each. In `visit`, the same for one client."""

    def __init__(self, recorder: _Recorder, one: bool = False) -> None:
        self._recorder = recorder
        self._one = one

    def __getattr__(self, name: str) -> Any:
        known = [n for n in dir(type(self)) if not n.startswith("_")]
        close = difflib.get_close_matches(name, known, 1)
        hint = f"; did you mean w.{close[0]}?" if close else f"; there are {', '.join(known)}"
        self._recorder.error(f"w.{name} is no primitive{hint}")

    # helpers

    def _emit(self, op: str, kind: Kind, of: Sequence[Any] = (), numbers: Sequence[Any] = (), **more: Any) -> Value:
        formulas = [_formula(self._recorder, number) for number in numbers]
        name = self._recorder.emit(op, kind, [v.name for v in of], formulas, **more)
        return Value(self._recorder, name, kind)

    def _scalar(self, op: str, kind: Kind, of: Sequence[Any] = (), numbers: Sequence[Any] = (), **more: Any) -> Scalar:
        return Scalar(self._recorder, Name(self._emit(op, kind, of, numbers, **more).name))

    def _check(self, what: str, value: object, *kinds: Kind) -> Value:
        if not isinstance(value, Value) or value.kind not in kinds:
            found = f"a {value.kind}'s value" if isinstance(value, Value) else f"{value!r}"
            if isinstance(value, Scalar):
                found = f"the number {text_of(value.formula)}"
            if isinstance(value, Value) and value.kind in STACKS:
                found = "remembered vectors (w.combine(alpha, past) makes one of them)"
            wanted = " or ".join({"server": "a server's", "client": "a client's", "table": "a table"}.get(k, k) for k in kinds)
            self._recorder.error(f"w.{what} takes {wanted} value, not {found}")
        return value

    def _of_clients(self) -> Kind:
        return "server" if self._one else "client"

    def _label(self, what: str, value: object) -> str:
        if isinstance(value, Scalar) and isinstance(value.formula, Name) and not VALUE.match(value.formula.name):
            return value.formula.name
        self._recorder.error(f"w.{what} takes the name of a parameter, not {value!r}")

    # problems

    def gradient(self, v: Value, i: Value | None = None) -> Value:
        """For every client, grad f_n at v (a server's or a client's), or that of its sample i, or its mean over a batch."""
        self._check("gradient", v, "server", "client")
        if i is not None:
            self._check("gradient", i, "sample")
        return self._emit("gradient", self._of_clients(), [v] if i is None else [v, i])

    def full_gradient(self, x: Value) -> Value:
        """grad f at a server's value, f the mean of the f_n."""
        return self._emit("full gradient", "server", [self._check("full_gradient", x, "server")])

    def prox(self, v: Value, t: object) -> Value:
        """argmin over u of f_n(u) + norm2(u - v)/(2t), for every client."""
        return self._emit("prox", self._of_clients(), [self._check("prox", v, "server", "client")], [t])

    # draws

    def sample(self, b: object = 1, replace: bool = True) -> Value:
        """Fresh samples of every client, uniform, b of them; used twice it is the same sample twice."""
        return self._emit("sample", "sample", [], [b], flag=bool(replace))

    def noise(self, sigma2: object) -> Value:
        """A fresh vector for every client, mean 0 and E norm2 = sigma2, independent of all else."""
        return self._emit("noise", self._of_clients(), [], [sigma2])

    def choose(self, S: object, replace: bool = False) -> Scalar:
        """S of the N clients, uniform: 0 or 1 a client; with replacement how often."""
        return self._scalar("choose", "numbers", [], [S], flag=bool(replace))

    def coins(self, p: object) -> Scalar:
        """An independent 0 or 1 a client, 1 with probability p."""
        return self._scalar("coins", "numbers", [], [p])

    def coin(self, p: object) -> Scalar:
        """One 0 or 1 for all, 1 with probability p."""
        return self._scalar("coin", "number", [], [p])

    # over the clients

    def each(self, x: Value) -> Value:
        """A copy of a server's value for every client."""
        return self._emit("each", "client", [self._check("each", x, "server", "client")])

    def mean(self, v: Value) -> Value:
        """The mean over the clients."""
        return self._emit("mean", "server", [self._check("mean", v, "client", "server")])

    def sum(self, v: Value) -> Value:
        """The sum over the clients."""
        return self._emit("sum", "server", [self._check("sum", v, "client", "server")])

    def average(self, v: Value, active: object) -> Value:
        """sum active_n v_n / sum active_n; 0 when there is none."""
        return self._emit("average", "server", [self._check("average", v, "client", "server")], [active])

    def mix(self, v: Value, W: object) -> Value:
        """v_n <- sum_m W[n,m] v_m."""
        return self._emit("mix", "client", [self._check("mix", v, "client")], label=self._label("mix", W))

    # choices

    def where(self, mask: object, a: Any, b: Any) -> Value:
        """a where the mask is not 0, b where it is 0."""
        one, two = self._check("where", a, *VECTORS), self._check("where", b, *VECTORS)
        formula = _formula(self._recorder, mask)
        kind: Kind = max(one.kind, two.kind, key=VECTORS.index)
        if kind == "server" and any(self._recorder.kinds.get(n) == "numbers" for n in names_in(formula)):
            kind = "client"
        return self._emit("where", kind, [one, two], [mask])

    def before(self, h: object, tau: object) -> Scalar:
        """1 for the clients with h < tau_n, else 0."""
        return self._scalar("before", "numbers", [], [h, tau])

    # loops

    def repeat(self, H: object) -> Iterator[Scalar]:
        """A loop of H turns; what it yields is the turn's number from 0."""
        return _repeat(self._recorder, _formula(self._recorder, H))

    def visit(self, x: Value, turn: Callable[[Value, Tracer], Value]) -> Value:
        """x <- turn(x, one) for the clients one after another, in uniformly random order."""
        if self._one:
            self._recorder.error("w.visit inside w.visit: one client visits nobody")
        return self._over("visit", self._check("visit", x, "server"), lambda v, _: turn(v, Tracer(self._recorder, True)))

    def pass_over(self, v: Value, turn: Callable[[Value, Value], Value]) -> Value:
        """v <- turn(v, i) for every client's own samples i, in uniformly random order."""
        return self._over("pass", self._check("pass_over", v, "server", "client"), turn)

    def _over(self, op: Literal["visit", "pass"], v: Value, turn: Callable[[Value, Any], Any]) -> Value:
        recorder = self._recorder
        kind: Kind = "server" if op == "visit" else self._of_clients()
        first = recorder.resolve(v.name)
        carried, index = Value(recorder, recorder.fresh(), kind), Value(recorder, recorder.fresh(), "sample")
        recorder.kinds[carried.name], recorder.kinds[index.name] = kind, "sample"
        line = recorder.frame()
        recorder.blocks.append([])
        recorder.depth += 1
        after = turn(carried, index)
        if not isinstance(after, Value) or after.kind not in VECTORS:
            recorder.error(f"the turn of w.{op} gives {after!r}; it is to give the vector after the turn")
        if after.kind != kind and not (kind == "client" and after.kind == "server"):
            recorder.error(f"the turn of w.{op} makes a {after.kind}'s value of a {kind}'s value")
        recorder.depth -= 1
        name = recorder.resolve(after.name)
        if name not in {n for step in recorder.blocks[-1] for n in step.defines}:
            recorder.emit("linear", kind, [name], [ONE])
            name = recorder.blocks[-1][-1].defines[0]
        body = tuple(recorder.blocks.pop())
        which = Carried(carried.name, kind, first, name)
        number = 0 if line is None else line.f_lineno
        recorder.blocks[-1].append(Loop(op, index.name if op == "pass" else "", None, (which,), body, number))
        return Value(recorder, name, kind)

    # coordinates

    def keep(self, v: Value, m: object) -> Value:
        """m of the coordinates at random, scaled by d/m (unbiased); of a server's value one draw."""
        return self._emit("keep", self._check("keep", v, "server", "client").kind, [v], [m])

    def top(self, v: Value, m: object) -> Value:
        """The m coordinates that are largest in absolute value, the first on ties."""
        return self._emit("top", self._check("top", v, "server", "client").kind, [v], [m])

    def project(self, v: Value, radius: object) -> Value:
        """Onto the ball of that radius around 0."""
        return self._emit("project", self._check("project", v, "server", "client").kind, [v], [radius])

    def clip(self, v: Value, radius: object) -> Value:
        """Scaled into the ball of that radius around 0."""
        return self._emit("clip", self._check("clip", v, "server", "client").kind, [v], [radius])

    def _two(self, op: str, a: Value, b: Value) -> Value:
        self._check(op, a, "server", "client")
        self._check(op, b, "server", "client")
        return self._emit(op, max(a.kind, b.kind, key=VECTORS.index), [a, b])

    def times(self, a: Value, b: Value) -> Value:
        """The products, coordinate by coordinate."""
        return self._two("times", a, b)

    def over(self, a: Value, b: Value) -> Value:
        """The quotients, coordinate by coordinate."""
        return self._two("over", a, b)

    def larger(self, a: Value, b: Value) -> Value:
        """The larger of the two, coordinate by coordinate."""
        return self._two("larger", a, b)

    def sqrt(self, v: Any) -> Any:
        """The roots, coordinate by coordinate; of a number, its root."""
        if not isinstance(v, Value):
            return Scalar(self._recorder, Apply("sqrt", (_formula(self._recorder, v),)))
        return self._emit("sqrt", self._check("sqrt", v, "server", "client").kind, [v])

    def sign(self, v: Value) -> Value:
        """-1, 0 or 1, coordinate by coordinate."""
        return self._emit("sign", self._check("sign", v, "server", "client").kind, [v])

    def norm(self, v: Value) -> Scalar:
        """The Euclidean norm, a number; of a client's value one a client."""
        self._check("norm", v, "server", "client")
        return self._scalar("norm", "number" if v.kind == "server" else "numbers", [v])

    def ones(self) -> Value:
        """The vector of ones."""
        return self._emit("ones", "server")

    # memory

    def shift(self, past: Value, v: Value) -> Value:
        """v in front of the remembered vectors, the oldest gone."""
        self._check("shift", past, *STACKS)
        self._check("shift", v, "server", "client")
        if past.kind == "past" and v.kind == "client":
            self._recorder.error("w.shift puts a client's value in front of the server's; its state is to begin with 'each J times'")
        return self._emit("shift", past.kind, [past, v])

    def combine(self, alpha: object, past: Value) -> Value:
        """sum_j alpha_j past_j."""
        self._check("combine", past, *STACKS)
        kind: Kind = "server" if past.kind == "past" else "client"
        return self._emit("combine", kind, [past], label=self._label("combine", alpha))

    def get(self, table: Value, i: Value | None = None) -> Value:
        """The entry of sample i (of a batch, the mean); without i the mean over each client's samples."""
        self._check("get", table, "table")
        if i is not None:
            self._check("get", i, "sample")
        return self._emit("get", self._of_clients(), [table] if i is None else [table, i])

    def put(self, table: Value, i: Value, v: Value) -> Value:
        """The table with the entry of sample i replaced."""
        self._check("put", table, "table")
        self._check("put", i, "sample")
        return self._emit("put", "table", [table, i, self._check("put", v, "server", "client")])

    # speech

    def tap(self, name: str, v: Value) -> None:
        """Makes v speakable in claims as ``name[k]``, inside a loop ``name[k, h]``."""
        recorder = self._recorder
        if not isinstance(name, str) or not NAME.match(name) or name in RESERVED:
            recorder.error(f"w.tap takes a name that means nothing else in claims, not {name!r}")
        self._check("tap", v, "server", "client")
        recorder.emit("tap", v.kind, [v.name], label=name)

    @property
    def k(self) -> Scalar:
        """The round, from 0."""
        return Scalar(self._recorder, Name("k"))


def _repeat(recorder: _Recorder, count: Formula) -> Iterator[Scalar]:
    """`Tracer.repeat`: its body is run `TURNS` times, and the turns are compared."""
    recorder.name_values()
    frame = recorder.frame()
    line = 0 if frame is None else frame.f_lineno
    recorder.depth += 1
    index = "h" if recorder.depth == 1 else f"h{recorder.depth}"
    turns: list[list[Step]] = []
    finished = False
    try:
        for _ in range(TURNS):
            recorder.blocks.append([])
            yield Scalar(recorder, Name(index))
            turns.append(recorder.blocks.pop())
        finished = True
    finally:
        recorder.depth -= 1
        if not finished:
            recorder.blocks.append([])  # whatever comes next fails in `trace`, which counts the blocks
    recorder.name_values()
    recorder.blocks[-1].append(_folded(recorder, turns, index, _renamed(count, recorder.resolve), line))


def _folded(recorder: _Recorder, turns: list[list[Step]], index: str, count: Formula, line: int) -> Loop:
    """The turns of a loop as one, with what is carried from turn to turn."""
    if len({_shape(turn) for turn in turns}) > 1:
        recorder.error("the turns of a loop do different things: what a turn does may not depend on Python variables")
    defined = [[name for step in turn for name in step.defines] for turn in turns]
    place = [{name: i for i, name in enumerate(names)} for names in defined]
    last = defined[-1]
    carried: dict[tuple[str, ...], Carried] = {}
    todo: list[tuple[str, ...]] = []

    def known(seen: tuple[str, ...]) -> str | None:
        """The name in the folded loop of a value that goes by these names in the turns, where nothing is carried."""
        at = {place[t].get(name) for t, name in enumerate(seen)}
        if len(at) == 1 and None not in at:
            return last[at.pop()]  # type: ignore[index]
        return seen[0] if len(set(seen)) == 1 and len(seen) > 1 else None

    def variable(seen: tuple[str, ...]) -> str:
        for other, one in carried.items():
            if other[: len(seen)] == seen:
                return one.name
        if len(seen) < 2:
            recorder.error("a loop remembers a value for more than two turns: hand it on in variables of its own")
        if any(seen[0] in names for names in defined):
            recorder.error("a loop uses a value before it is there")
        name = recorder.fresh()
        kind = recorder.kinds[seen[0]]
        if recorder.kinds[seen[-1]] != kind:
            if {kind, recorder.kinds[seen[-1]]} != {"server", "client"}:
                recorder.error(f"a loop makes a {recorder.kinds[seen[-1]]}'s value of a {kind}'s value")
            kind = "client"  # the first turn has a copy for every client
        recorder.kinds[name] = kind
        carried[seen] = Carried(name, kind, seen[0], "", recorder.hints.get(seen[-1], ""))
        todo.append(seen)
        return name

    def folded(seen: tuple[str, ...]) -> str:
        found = known(seen)
        return variable(seen) if found is None else found

    def finish() -> None:
        while todo:
            seen = todo.pop()
            carried[seen] = replace(carried[seen], following=_following(seen))

    def _following(seen: tuple[str, ...]) -> str:
        later = seen[1:]
        at = {place[t].get(name) for t, name in enumerate(later)}
        if len(at) == 1 and None not in at:
            return last[at.pop()]  # type: ignore[index]
        if len(later) > 1 and len(set(later)) == 1 and len(seen) == TURNS:
            return later[0]
        return variable(later)

    body = _merged(turns, folded)
    finish()
    loop = Loop("repeat", index, count, tuple(carried.values()), body, line)
    for i, name in enumerate(defined[-2]):  # after the loop: what the turn before the last one left
        seen = tuple(names[i] for names in defined[:-1])

        def before(seen: tuple[str, ...] = seen) -> str:
            for other, one in carried.items():
                if other[1:] == seen:
                    return one.name
            recorder.error("a value of the turn before the last one is used after the loop: hand it on in a variable")

        recorder.pending[name] = before
    for names in defined[:-2]:
        for name in names:
            recorder.pending[name] = _too_early(recorder)
    return loop


def _too_early(recorder: _Recorder) -> Callable[[], str]:
    def fail() -> str:
        recorder.error("a value of an early turn of a loop is used after the loop: hand it on in a variable")

    return fail


def _shape(steps: Sequence[Step]) -> Any:
    """What has to be alike in all turns: everything but the names of values."""
    blank = lambda _: "_"  # noqa: E731

    def of(step: Step) -> Any:
        if isinstance(step, Loop):
            return step.op, step.index, step.count and _renamed(step.count, blank), len(step.carried), _shape(step.body)
        formulas = tuple(_renamed(f, blank) for f in step.numbers)
        return step.op, len(step.of), formulas, step.label, step.flag

    return tuple(map(of, steps))


def _merged(turns: Sequence[Sequence[Step]], folded: Callable[[tuple[str, ...]], str]) -> tuple[Step, ...]:
    """Steps of one turn out of those of all, with each value under its name in the folded loop."""

    def formula(parts: tuple[Formula, ...]) -> Formula:
        one = parts[0]
        if isinstance(one, Name):
            names = tuple(p.name for p in parts)  # type: ignore[union-attr]
            return Name(folded(names)) if VALUE.match(one.name) else one
        if isinstance(one, Apply):
            columns = zip(*(p.arguments for p in parts), strict=True)  # type: ignore[union-attr]
            return Apply(one.operation, tuple(map(formula, columns)))
        return one

    merged: list[Step] = []
    for steps in zip(*turns, strict=True):
        final = steps[-1]
        if isinstance(final, Loop):
            firsts = [folded(names) for names in zip(*([c.first for c in s.carried] for s in steps), strict=True)]  # type: ignore[union-attr]
            following = [folded(n) for n in zip(*([c.following for c in s.carried] for s in steps), strict=True)]  # type: ignore[union-attr]
            carried = tuple(
                replace(c, first=a, following=b) for c, a, b in zip(final.carried, firsts, following, strict=True)
            )
            count = None if final.count is None else formula(tuple(s.count for s in steps))  # type: ignore[union-attr, misc]
            merged.append(replace(final, carried=carried, count=count, body=_merged([s.body for s in steps], folded)))  # type: ignore[union-attr]
        else:
            of = tuple(folded(names) for names in zip(*(s.of for s in steps), strict=True))  # type: ignore[union-attr]
            numbers = tuple(map(formula, zip(*(s.numbers for s in steps), strict=True)))  # type: ignore[union-attr]
            merged.append(replace(final, of=of, numbers=numbers))
    return tuple(merged)


def trace(one: Algorithm) -> Program:
    """Run a round once with symbols, and write down what it does.

    Raises:
        ProgramError: naming the line, and what to write instead.
    """
    recorder = _Recorder(one.function.__code__, [[]], {}, {}, {}, {})
    state = [Value(recorder, recorder.fresh(), s.kind) for s in one.state]
    recorder.kinds |= {v.name: v.kind for v in state}
    recorder.hints |= {v.name: s.name for v, s in zip(state, one.state, strict=True)}
    parameters = {name: Scalar(recorder, Name(name)) for name in one.parameters}
    where = f"{_place(one.function)}: algorithm {one.name!r}"
    result = one.function(Tracer(recorder), *state, **parameters)
    values = result if isinstance(result, tuple) else (result,)
    if len(recorder.blocks) != 1:
        raise ProgramError(f"{where} leaves a loop of w.repeat before its end: a round does the same in every turn")
    if len(values) != len(state):
        raise ProgramError(f"{where} gives {len(values)} values and has {len(state)} state variables")
    for value, s in zip(values, one.state, strict=True):
        if not isinstance(value, Value):
            raise ProgramError(f"{where} gives {value!r} for its state {s.name}; it is to give the vector after the round")
        if value.kind != s.kind and not (s.kind == "client" and value.kind == "server"):
            remedy = "average it with w.mean, or begin with 'each'" if s.kind == "server" else "see what the decorator says"
            raise ProgramError(f"{where}: the state {s.name} is a {s.kind}'s and becomes a {value.kind}'s value; {remedy}")
    names = tuple(recorder.resolve(value.name) for value in values)
    twice = [label for label, n in _counted(recorder.blocks[0]).items() if n > 1]
    clash = [label for label in _counted(recorder.blocks[0]) if label in {s.name for s in one.state} | set(one.parameters)]
    if twice or clash:
        raise ProgramError(f"{where}: the tap {(twice or clash)[0]!r} has a name that is taken")
    body, names = _tidied(_hinted(recorder.blocks[0], recorder.hints), names, len(state))
    source = f"{Path(one.function.__code__.co_filename).name}:{one.name}"
    about = (inspect.getdoc(one.function) or "").split("\n")[0]
    return Program(one.name, one.state, one.parameters, body, names, source, about)


def _hinted(steps: Sequence[Step], hints: Mapping[str, str]) -> tuple[Step, ...]:
    """The steps with the author's names for their values."""
    return tuple(
        replace(step, body=_hinted(step.body, hints)) if isinstance(step, Loop) else replace(step, hint=hints.get(step.to, ""))
        for step in steps
    )


def _counted(steps: Sequence[Step]) -> dict[str, int]:
    found: dict[str, int] = {}
    for step in _flat(steps):
        if isinstance(step, Instruction) and step.op == "tap":
            found[step.label] = found.get(step.label, 0) + 1
    return found


# --- the normal form -------------------------------------------------------------------------------------------------


def _tidied(body: tuple[Step, ...], result: tuple[str, ...], inputs: int) -> tuple[tuple[Step, ...], tuple[str, ...]]:
    """Sums put into the sums that they are part of, what nobody uses left out, and values numbered in their order."""
    body = _fused(body, _uses(body, result))
    while True:
        used = _uses(body, result)
        shorter = _without(body, used)
        if shorter == body:
            break
        body = shorter
    names = {f"_{i}": f"_{i}" for i in range(inputs)}
    for name in (name for step in body for name in _defined_in_order(step)):
        names.setdefault(name, f"_{len(names)}")
    return tuple(_with_names(step, names) for step in body), tuple(names[n] for n in result)


def _defined_in_order(step: Step) -> Iterator[str]:
    if isinstance(step, Instruction):
        yield from step.defines
        return
    yield from (c.name for c in step.carried)
    if step.op == "pass":
        yield step.index
    for inner in step.body:
        yield from _defined_in_order(inner)


def _with_names(step: Step, names: Mapping[str, str]) -> Step:
    new = lambda name: names[name]  # noqa: E731
    if isinstance(step, Instruction):
        numbers = tuple(_renamed(f, new) for f in step.numbers)
        return replace(step, to=names[step.to] if step.to else "", of=tuple(map(new, step.of)), numbers=numbers)
    carried = tuple(replace(c, name=names[c.name], first=names[c.first], following=names[c.following]) for c in step.carried)
    index = names[step.index] if step.op == "pass" else step.index
    count = None if step.count is None else _renamed(step.count, new)
    return replace(step, index=index, count=count, carried=carried, body=tuple(_with_names(s, names) for s in step.body))


def _uses(body: Sequence[Step], result: Sequence[str]) -> dict[str, int]:
    """How often each value is read."""
    found: dict[str, int] = {}

    def count(name: str) -> None:
        if VALUE.match(name):
            found[name] = found.get(name, 0) + 1

    for name in result:
        count(name)
    for step in _flat(body):
        if isinstance(step, Loop):
            for c in step.carried:
                count(c.first)
                count(c.following)
            for name in names_in(step.count) if step.count is not None else ():
                count(name)
            continue
        for name in step.of:
            count(name)
        for formula in step.numbers:
            for name in names_in(formula):
                count(name)
    return found


def _without(steps: Sequence[Step], used: Mapping[str, int]) -> tuple[Step, ...]:
    kept: list[Step] = []
    for step in steps:
        if isinstance(step, Instruction):
            if step.op == "tap" or used.get(step.to):
                kept.append(step)
            continue
        inside = _uses(step.body, ())
        carried = tuple(c for c in step.carried if inside.get(c.name) or used.get(c.name, 0) > _own(step, c.name))
        body = _without(step.body, used)
        if body:
            kept.append(replace(step, carried=carried, body=body))
    return tuple(kept)


def _own(loop: Loop, name: str) -> int:
    """How often a carried value is read by what is carried in the same loop only to itself."""
    return sum(c.name == name and c.following == name for c in loop.carried)


def _fused(steps: Sequence[Step], used: Mapping[str, int]) -> tuple[Step, ...]:
    found: list[Step] = []
    sums: dict[str, Instruction] = {}
    for step in steps:
        if isinstance(step, Loop):
            found.append(replace(step, body=_fused(step.body, used)))
            continue
        if step.op == "linear":
            terms: dict[str, Formula] = {}
            for name, factor in zip(step.of, step.numbers, strict=True):
                inner = sums.get(name) if used.get(name) == 1 else None
                parts = [(name, ONE)] if inner is None else zip(inner.of, inner.numbers, strict=True)
                if inner is not None:
                    found.remove(inner)
                for part, weight in parts:
                    product = _apply("*", factor, weight)
                    terms[part] = _plus(terms[part], product) if part in terms else product
            step = replace(step, of=tuple(terms), numbers=tuple(terms.values()))
            sums[step.to] = step
        found.append(step)
    return tuple(found)


def _plus(one: Formula, two: Formula) -> Formula:
    if isinstance(two, Apply) and two.operation == "neg":
        return Apply("-", (one, two.arguments[0]))
    return Apply("+", (one, two))


# --- walking through a program ---------------------------------------------------------------------------------------


class Machine(Protocol):
    """What an interpreter that runs a program step by step has to know; `walk` knows the loops."""

    def number(self, formula: Formula, env: Mapping[str, Any]) -> Any:
        """The value of a scalar; `env` has the values of the names of draws and of turns."""

    def count(self, formula: Formula, env: Mapping[str, Any]) -> int:
        """The number of turns of a loop.

        Raises:
            ValueError: where it is no integer, or below 1.
        """

    def apply(self, step: Instruction, of: Sequence[Any], numbers: Sequence[Any]) -> Any:
        """The value of an instruction; of a tap, nothing."""

    def visits(self) -> Iterator[None]:
        """Become one client after another, in random order; in between, instructions are those of that client."""

    def passes(self) -> Iterator[Any]:
        """The samples of each turn in which every client goes once through its own."""

    def kept(self, samples: Any, before: Any, after: Any) -> Any:
        """`after`, but `before` for the clients that `passes` gave no sample in this turn."""


def walk(steps: Sequence[Step], env: dict[str, Any], machine: Machine) -> None:
    """Run steps: afterwards `env` has the values that they define. It begins with the inputs and with ``k``."""
    for step in steps:
        if isinstance(step, Instruction):
            numbers = [machine.number(f, env) for f in step.numbers]
            value = machine.apply(step, [env[name] for name in step.of], numbers)
            if step.to:
                env[step.to] = value
            continue
        if step.op == "repeat":
            assert step.count is not None
            for turn in range(machine.count(step.count, env)):
                env[step.index] = turn
                _hand_on(step, env, turn == 0)
                walk(step.body, env, machine)
            continue
        first = True
        for samples in machine.visits() if step.op == "visit" else machine.passes():
            _hand_on(step, env, first)
            first = False
            if step.op == "pass":
                env[step.index] = samples
            walk(step.body, env, machine)
            if step.op == "pass":
                for c in step.carried:
                    env[c.following] = machine.kept(samples, env[c.name], env[c.following])


def _hand_on(loop: Loop, env: dict[str, Any], first: bool) -> None:
    env.update({c.name: env[c.first if first else c.following] for c in loop.carried})


# --- as data ---------------------------------------------------------------------------------------------------------


def _step_json(step: Step) -> dict[str, Any]:
    if isinstance(step, Loop):
        found: dict[str, Any] = {"do": step.op}
        if step.index:
            found["index"] = step.index
        if step.count is not None:
            found["count"] = text_of(step.count)
        found["carry"] = [{"name": c.name, "kind": c.kind, "first": c.first, "next": c.following} for c in step.carried]
        return {**found, "body": [_step_json(inner) for inner in step.body]}
    found = {"do": step.op, "to": step.to, "kind": step.kind, "of": list(step.of)}
    found["numbers"] = [text_of(f) for f in step.numbers]
    if step.label:
        found["label"] = step.label
    if step.flag is not None:
        found["replace"] = step.flag
    return found


def from_json(data: Mapping[str, Any]) -> Program:
    """A program from `Program.to_json`.

    Raises:
        ProgramError: for data that are no program; nothing is executed.
    """
    try:
        state = tuple(state_of(str(s["name"]), str(s["initial"])) for s in data["state"])
        parameters = tuple(map(str, data["parameters"]))
        body = tuple(_step_from(step, 0) for step in data["round"])
        program = Program(str(data.get("name", "")), state, parameters, body, tuple(map(str, data["result"])))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ProgramError(f"the data are no program: {error}") from None
    known = _check_names(body, set(program.inputs), set(parameters) | {"k", "N", "d"})
    missing = [name for name in program.result if name not in known]
    if missing or len(program.result) != len(state):
        raise ProgramError(f"the data are no program: its result {list(program.result)} is not its state")
    return program


def _step_from(data: Mapping[str, Any], depth: int) -> Step:
    op = str(data["do"])
    if op not in OPERATIONS:
        raise ProgramError(f"the operation {op!r} is none of {', '.join(sorted(OPERATIONS))}")
    if depth > 20:
        raise ProgramError("the loops are nested too deeply")
    if "body" in data:
        if op not in ("repeat", "visit", "pass"):
            raise ProgramError(f"the operation {op!r} has no body")
        carried = tuple(Carried(str(c["name"]), _kind(c["kind"]), str(c["first"]), str(c["next"])) for c in data["carry"])
        body = tuple(_step_from(inner, depth + 1) for inner in data["body"])
        count = parse(data["count"]) if op == "repeat" else None
        return Loop(op, str(data.get("index", "")), count, carried, body)  # type: ignore[arg-type]
    of, numbers = tuple(map(str, data["of"])), tuple(parse(text) for text in data["numbers"])
    if op == "linear" and len(of) != len(numbers):
        raise ProgramError(f"a sum of {len(of)} vectors has {len(numbers)} factors")
    flag = data.get("replace")
    label = str(data.get("label", ""))
    return Instruction(op, str(data["to"]), _kind(data["kind"]), of, numbers, label, None if flag is None else bool(flag))


def _kind(text: object) -> Kind:
    kinds = (*VECTORS, *STACKS, "number", "numbers", "sample")
    if text not in kinds:
        raise ProgramError(f"the kind {text!r} is none of {', '.join(kinds)}")
    return text  # type: ignore[return-value]


def _check_names(steps: Sequence[Step], known: set[str], numbers: set[str]) -> set[str]:
    """The names that are there after the steps."""

    def need(names: Sequence[str], there: set[str]) -> None:
        for name in names:
            if name not in there:
                raise ProgramError(f"the data are no program: {name!r} is used before it is there")

    for step in steps:
        new = [name for name in step.defines]
        if len(set(new)) < len(new) or any(not VALUE.match(name) or name in known for name in new):
            raise ProgramError(f"the data are no program: the values {', '.join(new)} are there already, or no values")
        if isinstance(step, Instruction):
            need(step.of, known)
            for formula in step.numbers:
                need(sorted(names_in(formula)), known | numbers)
            known = known | set(new)
            continue
        need([c.first for c in step.carried], known)
        if step.count is not None:
            need(sorted(names_in(step.count)), known | numbers)
        inside = known | {c.name for c in step.carried} | ({step.index} if step.op == "pass" else set())
        turn = {step.index} if step.op == "repeat" else set()
        known = _check_names(step.body, inside, numbers | turn)
        need([c.following for c in step.carried], known)
    return known


# --- for people ------------------------------------------------------------------------------------------------------

_WORDS: Mapping[str, str] = {
    "gradient": "grad f_n({0})",
    "full gradient": "grad f({0})",
    "each": "{0}",
    "mean": "mean_n({0})",
    "sum": "sum_n({0})",
    "noise": "noise of variance {a}",
    "choose": "{a} of the N clients, uniformly",
    "coins": "coins of chance {a}, one a client",
    "coin": "coin of chance {a}",
    "before": "[{a} < {b}]",
    "average": "average of {0} over {a}",
    "where": "{0} if {a} else {1}",
    "keep": "random {a} coordinates of {0}, times d/{a}",
    "top": "largest {a} coordinates of {0}",
    "prox": "prox of {a} f_n at {0}",
    "project": "{0} projected onto the ball of radius {a}",
    "clip": "{0} clipped to norm {a}",
    "times": "{0} o {1}",
    "over": "{0} / {1} by coordinates",
    "larger": "max({0}, {1}) by coordinates",
    "sqrt": "sqrt({0}) by coordinates",
    "sign": "sign({0})",
    "norm": "norm({0})",
    "ones": "(1, ..., 1)",
    "shift": "{1} in front of {0}",
    "mix": "sum_m {label}[n,m] {0}",
    "combine": "sum_j {label}_j {0}_j",
}


def pseudo_code(program: Program) -> str:
    """The program as text for people: one line a value that the author named or that is used more than once."""
    used = _uses(program.body, program.result)
    kinds = program.kinds
    texts: dict[str, str] = {}
    taken: set[str] = set()

    def called(name: str, hint: str) -> str:
        stem = hint or {"sample": "i", "number": "s", "numbers": "s"}.get(kinds.get(name, ""), "v")
        base = stem + ("_n" if kinds.get(name) in ("client", "numbers", "sample", "client past") else "")
        text, more = base, 2
        while text in taken:
            text, more = f"{base}{more}" if not base.endswith("_n") else f"{stem}{more}_n", more + 1
        taken.add(text)
        return text

    for name, s in zip(program.inputs, program.state, strict=True):
        texts[name] = called(name, s.name)

    def number(formula: Formula) -> str:
        return _plain(_renamed_freely(formula, texts))

    def expression(step: Instruction) -> str:
        if step.op == "linear":
            return _sum_text([(number(c), texts[v]) for c, v in zip(step.numbers, step.of, strict=True)])
        parts = [texts[v] for v in step.of]
        if step.op == "gradient" and len(parts) == 2:
            return f"grad f_{{n,{parts[1]}}}({parts[0]})"
        if step.op == "get":
            return f"{parts[0]}[{parts[1]}]" if len(parts) == 2 else f"mean_i({parts[0]}[i])"
        if step.op == "put":
            return f"{parts[0]} with [{parts[1]}] = {parts[2]}"
        if step.op == "sample":
            how = "" if step.flag else ", without replacement"
            size = number(step.numbers[0])
            return "a sample, uniformly" if size == "1" else f"{size} samples, uniformly{how}"
        letters = dict(zip("ab", map(number, step.numbers), strict=False))
        return _WORDS[step.op].format(*parts, **letters, label=step.label)

    lines: list[str] = []

    def write(steps: Sequence[Step], indent: str) -> None:
        for step in steps:
            if isinstance(step, Instruction):
                if step.op == "tap":
                    lines.append(f"{indent}# {step.label}[k] is {texts[step.of[0]]}")
                    continue
                text = expression(step)
                if used.get(step.to, 0) > 1 or step.op in DRAWS or step.hint:
                    texts[step.to] = called(step.to, step.hint)
                    lines.append(f"{indent}{texts[step.to]} {'~' if step.op in DRAWS else '='} {text}")
                else:
                    texts[step.to] = text if step.op not in ("linear", "where") else f"({text})"
                continue
            for c in step.carried:
                texts[c.name] = called(c.name, c.hint)
                lines.append(f"{indent}{texts[c.name]} = {texts[c.first]}")
            head = {
                "repeat": f"repeat {number(step.count) if step.count is not None else ''} times, {step.index} = 0, 1, ...:",
                "visit": "for every client, in random order:",
                "pass": "for every sample of the client, in random order:",
            }[step.op]
            if step.op == "pass":
                texts[step.index] = called(step.index, "i")
            lines.append(f"{indent}{head}")
            write(step.body, indent + "    ")
            changed = [(texts[c.name], texts[c.following]) for c in step.carried]
            if changed:
                left, right = (", ".join(part) for part in zip(*changed, strict=True))
                lines.append(f"{indent}    {left} = {right}")

    write(program.body, "    ")
    for s, name in zip(program.state, program.result, strict=True):
        mine = f"{s.name}{'_n' if s.kind == 'client' else ''}"
        lines.append(f"    next {mine} = {texts[name].removeprefix('(').removesuffix(')') if texts[name].startswith('(') and _wrapped(texts[name]) else texts[name]}")
    first = "; ".join(f"{s.name} = {s.text}" for s in program.state)
    return "\n".join([f"{program.name}({', '.join(program.parameters)}), from {first}; one round:", *lines])


def _wrapped(text: str) -> bool:
    """Whether the first parenthesis closes at the end."""
    depth = 0
    for i, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return i == len(text) - 1
    return False


def _renamed_freely(formula: Formula, texts: Mapping[str, str]) -> Formula:
    if isinstance(formula, Name):
        return Name(texts.get(formula.name, formula.name))
    if isinstance(formula, Apply):
        return Apply(formula.operation, tuple(_renamed_freely(a, texts) for a in formula.arguments))
    return formula


_STRENGTH = {"+": 1, "-": 1, "neg": 2, "*": 3, "/": 3, "**": 5}


def _plain(formula: Formula, outer: int = 0) -> str:
    """Text with the parentheses that it needs."""
    if isinstance(formula, Number):
        return str(formula.value)
    if isinstance(formula, Name):
        return formula.name
    op, parts = formula.operation, formula.arguments
    if op not in _OPERATORS:
        return f"{op}({', '.join(_plain(a) for a in parts)})"
    own = _STRENGTH[op]
    if op == "neg":
        text = f"-{_plain(parts[0], own)}"
    else:
        left = _plain(parts[0], own + (op == "**"))
        right = _plain(parts[1], own + (op in ("-", "/")))
        text = f"{left}{f' {op} ' if op in '+-' else op}{right}"
    return f"({text})" if own < outer else text


def _sum_text(terms: Sequence[tuple[str, str]]) -> str:
    text = ""
    for factor, vector in terms:
        negative = factor.startswith("-") and not any(s in factor for s in (" + ", " - "))
        size = factor[1:] if negative else factor
        if " + " in size or " - " in size:
            size = f"({size})"
        part = vector if size == "1" else f"{size}*{vector}"
        if not text:
            text = f"-{part}" if negative else part
        else:
            text += f" {'-' if negative else '+'} {part}"
    return text
