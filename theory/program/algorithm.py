"""The decorator: a function as its author wrote it, with its state and parameters."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from theory.formula import parse
from theory.program.data import NAME, RESERVED, TAKEN, Kind, Program, ProgramError, State


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
        from theory.program.tracing import trace

        return trace(self)

    def __hash__(self) -> int:
        return hash((self.name, self.state, self.parameters))


def algorithm(function: Callable[..., Any] | None = None, /, **initial: str) -> Any:
    """Make a function ``round(w, *state, *, parameters)`` an `Algorithm`.

    Bare, for one state variable of the server that begins at x0; else with what each variable is before the first
    round: ``x0``, ``0``, ``each x0``, ``each grad(f_n, x0)``, ``table grad(f_ni, x0)``, ``J times x0``.

    Raises:
        ProgramError: for a function whose arguments are not of this form.
    """
    if function is None:
        return lambda wrapped: _made(wrapped, initial)
    return _made(function, {})


_INITIAL = re.compile(r"(?P<word>(?:each|table)\s+)?(?:(?P<times>\S+)\s+times\s+)?(?P<formula>.+)\Z", re.DOTALL)

_WORDS = re.compile(r"[A-Za-z_]\w*\b(?!\s*\()")
_BEGINNING = frozenset({"x0", "xstar", "xstar_n", "f", "f_n", "f_ni"})
"""Names of which the beginning of a state is made, beside parameters; whoever reads it knows the functions."""


def state_of(name: str, text: str) -> State:
    """A state variable from what the decorator says of it.

    Raises:
        ProgramError: for text that says nothing.
    """
    match = _INITIAL.match(text.strip()) if isinstance(text, str) else None
    if match is None:
        raise ProgramError(
            f"{name}={text!r} does not say what the state is before the first round: x0, each x0, 0, ..."
        )
    word, times = (match["word"] or "").strip(), match["times"]
    if times is not None and word == "table":
        raise ProgramError(f"{name}={text!r}: a table is not remembered; remember vectors of the server or the clients")
    kinds: dict[str, Kind] = {"": "server", "each": "client", "table": "table"}
    kind = kinds[word]
    if times is not None:
        kind = "past" if kind == "server" else "client past"
    return State(name, kind, match["formula"].strip(), None if times is None else parse(times))


def _made(function: Callable[..., Any], initial: Mapping[str, str]) -> Algorithm:
    where = f"{place(function)}: algorithm {getattr(function, '__name__', function)!r}"
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
            raise ProgramError(
                f"{where} has {len(names)} state variables: say what they are at first, @algorithm({given})"
            )
        initial = {names[0]: "x0"}
    if set(initial) != set(names):
        raise ProgramError(
            f"{where} has the state {', '.join(names)}, and the decorator speaks of {', '.join(initial)}"
        )
    for p in (*free[1:], *keys):  # N and d, asked for as parameters, are the problem's
        if (p.name in RESERVED and not (p.name == "h" and p in free)) or not NAME.match(p.name):
            why = "means something else in claims" if p.name in RESERVED else "is no name of a parameter"
            raise ProgramError(f"{where}: the name {p.name!r} {why}; take another one ({TAKEN})")
    defaults = {p.name: _rational(p.default, where) for p in keys if p.default is not p.empty}
    state = tuple(state_of(name, initial[name]) for name in names)
    for one in state:
        strange = sorted(set(_WORDS.findall(one.initial)) - _BEGINNING - {p.name for p in keys})
        if strange:
            raise ProgramError(
                f"{where}: {one.name}={initial[one.name]!r} speaks of {strange[0]}, which is neither x0 nor a parameter"
            )
    return Algorithm(function.__name__, function, state, tuple(p.name for p in keys), defaults)


def _rational(value: object, where: str) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction | str):
        raise ProgramError(f"{where}: the default {value!r} is not a number")
    try:
        return Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        raise ProgramError(f"{where}: the default {value!r} is not a number") from None


def place(function: Callable[..., Any]) -> str:
    code = getattr(function, "__code__", None)
    return "?" if code is None else f"{Path(code.co_filename).name}, line {code.co_firstlineno}"
