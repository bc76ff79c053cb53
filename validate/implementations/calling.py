"""An implementation is called: what it is handed is what it asks for by name, and what it returns is read.

A function of one round has the program's state variables as arguments, or ``state``; one of a whole run has ``rounds``.
Beside these it may ask for ``problem``, ``parameters`` or any parameter, ``draws``, ``rng``, ``record``, ``k``, ``x0``.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from theory.program import Program
from theory.program import State as Variable
from validate.implementations.draws import Generator, Unlike
from validate.implementations.reference import State
from validate.implementations.trials import Trial

Array = NDArray[Any]
ALWAYS = ("state", "problem", "parameters", "draws", "rng", "record", "k", "x0", "rounds")


class Refused(ValueError):
    """An implementation that cannot be called, or that returns what is no state."""


@dataclass(frozen=True, eq=False)
class Recorded:
    """A value that an implementation has recorded.

    Attributes:
        name: as it calls it.
        client: n, or None.
        step: the turn of the loop, or None.
        value: the array.
    """

    name: str
    client: int | None
    step: int | None
    value: Array


@dataclass(frozen=True, eq=False)
class Returned:
    """What an implementation returned of a round.

    Attributes:
        state: by name; of a run those that it returned.
        single: whether any of it is in single precision; half precision is single here.
        changed: the arguments that were changed in place.
    """

    state: State
    single: bool
    changed: tuple[str, ...] = ()


class Strategy(Protocol):
    """What an adapter makes of a library's objects: a run, round by round."""

    def run(self, given: Mapping[str, Any], turn: Callable[[int], None]) -> Any:
        """The trajectory of the first state; `turn` is told each round before it begins."""


@dataclass(frozen=True, eq=False)
class Implementation:
    """What is held against a program.

    Attributes:
        called: its name, for messages.
        function: the function, or a `Strategy`.
        rename: names that its arguments and states have, to the program's.
    """

    called: str
    function: Any
    rename: Mapping[str, str]

    @cached_property
    def arguments(self) -> Mapping[str, inspect.Parameter]:
        """Of the function."""
        try:
            return inspect.signature(self.function).parameters
        except (TypeError, ValueError):
            raise Refused(f"{self.called} is no function whose arguments can be read") from None

    @property
    def of_run(self) -> bool:
        """Whether it makes a whole run."""
        return not callable(self.function) or "rounds" in self.arguments

    def check(self, program: Program, trial: Trial) -> None:
        """Refuse a function that asks for what there is not.

        Raises:
            Refused: naming the argument, and what there is.
        """
        if not callable(self.function):
            return
        states = [s.name for s in program.state]
        known = [*states, *trial.parameters, *ALWAYS, "N", "d"]
        several = any(argument.kind is argument.VAR_KEYWORD for argument in self.arguments.values())
        for name, theirs in self.rename.items():
            if theirs not in known:
                raise Refused(f"--rename {name}={theirs}: the program has no {theirs!r}; it has {', '.join(known)}")
            if name not in self.arguments and theirs not in states and not several:
                raise Refused(
                    f"--rename {name}={theirs}: {self.called} has no argument {name!r}; it has "
                    f"{', '.join(self.arguments)}"
                )
        for name, argument in self.arguments.items():
            if argument.kind is argument.VAR_POSITIONAL or argument.kind is argument.POSITIONAL_ONLY:
                raise Refused(f"{self.called} takes {argument}: its arguments are handed over by name")
            optional = argument.default is not argument.empty or argument.kind is argument.VAR_KEYWORD
            if not optional and self.rename.get(name, name) not in known:
                raise Refused(
                    f"{self.called} asks for {name!r}; there are the states {', '.join(states)}, the parameters "
                    f"{', '.join(trial.parameters) or 'none'}, and {', '.join(ALWAYS)}; --rename {name}=... says which"
                )
        asked = {self.rename.get(name, name) for name in self.arguments}
        if not self.of_run and not asked & {"state", *states}:
            raise Refused(
                f"{self.called} asks neither for a state ({', '.join(states)}, or state) nor for rounds: a function of "
                "one round takes the first, one of a run the second"
            )

    def given(self, there: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments that it asks for."""
        found: dict[str, Any] = {}
        for name, argument in self.arguments.items():
            meant = self.rename.get(name, name)
            if argument.kind is argument.VAR_KEYWORD:
                found |= {p: there[p] for p in parameters if p not in found}
            elif meant in there:
                found[name] = there[meant]
        return found

    def call(self, there: Mapping[str, Any], parameters: Mapping[str, Any], turn: Callable[[int], None]) -> Any:
        """What it returns.

        Raises:
            Unlike: where it draws what the program does not.
            Refused: where it raises an error, which is named with its line.
        """
        try:
            with redirect_stdout(sys.stderr):
                if callable(self.function):
                    return self.function(**self.given(there, parameters))
                return self.function.run({**there, **parameters}, turn)
        except (Unlike, Refused):
            raise
        except Exception as error:
            raise Refused(f"{self.called} raised {type(error).__name__}: {error}{_line(error)}") from error


def _line(error: BaseException) -> str:
    """The last line of the reader's own in a traceback."""
    here = str(Path(__file__).parent)
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(here)]
    own = [f for f in frames if "site-packages" not in f.filename and f.filename[:1] != "<"]
    return f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""


def implementation(function: Any, rename: Mapping[str, str] | None = None) -> Implementation:
    """An implementation from a function, a strategy, or ``module:function``.

    Raises:
        ValueError: where the module or the function is not there, or is neither.
        OSError: for a file that cannot be read.
    """
    called, found = (function, _loaded(function)) if isinstance(function, str) else (None, function)
    if not callable(found) and not hasattr(found, "run"):
        raise ValueError(f"implementation={called or found!r} is neither a function nor a strategy")
    if called is None:
        called = getattr(found, "__name__", type(found).__name__)
    return Implementation(called.rpartition(":")[2], found, dict(rename or {}))


def _loaded(text: str) -> Any:
    where, colon, name = text.rpartition(":")
    if not colon or not name or not where:
        raise ValueError(f"implementation={text!r} is not module:function, nor file.py:function")
    if where.endswith(".py"):
        from validate.files import run

        if not Path(where).exists():
            raise ValueError(f"implementation={text!r}: there is no file {where}")
        module = run(where, Path(where).read_bytes())
    else:
        added = os.getcwd()
        sys.path.insert(0, added)
        try:
            module = importlib.import_module(where)
        except ModuleNotFoundError as error:
            if error.name is not None and (where == error.name or where.startswith(f"{error.name}.")):
                raise ValueError(f"implementation={text!r}: there is no module {where!r} here") from None
            raise ValueError(f"implementation={text!r}: {where} needs {error.name}, which is not installed") from None
        except Exception as error:
            raise ValueError(f"implementation={text!r}: {where} raised {type(error).__name__}: {error}") from error
        finally:
            sys.path.remove(added)
    try:
        return getattr(module, name)
    except AttributeError:
        there = [n for n, v in vars(module).items() if getattr(v, "__module__", "") == module.__name__]
        raise ValueError(
            f"implementation={text!r}: {where} has no {name!r}; it has {', '.join(there) or 'no functions'}"
        ) from None


# --- what comes back -------------------------------------------------------------------------------------------------


def state_from(what: Implementation, value: Any, program: Program, shapes: Mapping[str, tuple[int, ...]]) -> Returned:
    """The state that a function of one round returned.

    Args:
        what: the implementation.
        value: a mapping by name; a sequence, one a state variable in the program's order; or the only state.
        program: whose states they are.
        shapes: of each.

    Raises:
        Refused: for a state that is missing, unknown, or of another shape.
    """
    names = [s.name for s in program.state]
    if value is None:
        raise Refused(f"{what.called} returned None; a round returns its new state, {', '.join(names)}")
    if isinstance(value, Mapping):
        named = {what.rename.get(str(n), str(n)): v for n, v in value.items()}
    elif len(names) == 1:
        named = {names[0]: value[0] if isinstance(value, tuple) and len(value) == 1 else value}
    elif isinstance(value, tuple | list) and len(value) == len(names):
        named = dict(zip(names, value, strict=True))
    else:
        shown = f"{len(value)} values" if isinstance(value, tuple | list) else type(value).__name__
        raise Refused(f"{what.called} returned {shown}; the program's state is {', '.join(names)}")
    for missing in [n for n in names if n not in named]:
        raise Refused(f"{what.called} returned {', '.join(named)}, and not {missing}; the state is {', '.join(names)}")
    for unknown in [n for n in named if n not in names]:
        raise Refused(f"{what.called} returned {unknown!r}, which is no state; the state is {', '.join(names)}")
    found, single = {}, False
    for s in program.state:
        array, low = array_of(what, s.name, named[s.name])
        if array.shape != shapes[s.name]:
            raise Refused(
                f"{what.called} returned {s.name} of shape {array.shape}, not {shapes[s.name]} {shape_in_words(s)}"
            )
        found[s.name], single = array, single or low
    return Returned(found, single)


def shape_in_words(s: Variable) -> str:
    """What the axes of a state are."""
    words = {"server": "(d,)", "client": "(N, d)", "table": "(N, n, d)", "past": "(J, d)", "client past": "(J, N, d)"}
    return f"= {words[s.kind]}"


def array_of(what: Implementation, name: str, value: Any) -> tuple[Array, bool]:
    """An array in float64, and whether it came in less than that."""
    if isinstance(value, list | tuple) and value and hasattr(value[0], "detach"):
        parts = [array_of(what, name, v) for v in value]
        return np.stack([a for a, _ in parts]), any(low for _, low in parts)
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        low = value.is_floating_point() and value.element_size() < 8
        return np.array(value.double().numpy()), low
    try:
        array = np.asarray(value)
        if array.dtype == object:
            array = np.asarray([np.asarray(v, dtype=float) for v in value])
        return np.array(array, dtype=float), array.dtype.kind == "f" and array.dtype.itemsize < 8
    except (TypeError, ValueError):
        raise Refused(
            f"{what.called} returned {name} as {type(value).__name__}, which is no array of numbers"
        ) from None


def trajectory_from(
    what: Implementation, value: Any, program: Program, shapes: Mapping[str, tuple[int, ...]], rounds: int
) -> tuple[list[State], bool]:
    """The states that a function of a run returned, the start first; it may leave out some, but not all.

    Args:
        what: the implementation.
        value: a mapping by name of arrays (rounds + 1, ...); a sequence of rounds + 1 states; or such an array of the
            first state.
        program: whose states they are.
        shapes: of each.
        rounds: K.

    Raises:
        Refused: as `state_from`, and for another number of rounds.
    """
    names = [s.name for s in program.state]
    if value is None:
        raise Refused(f"{what.called} returned None; a run returns its states, the start first")
    if isinstance(value, list | tuple) and value and isinstance(value[0], Mapping):
        value = {n: [state[n] for state in value] for n in value[0]}
    named = (
        {what.rename.get(str(n), str(n)): v for n, v in value.items()}
        if isinstance(value, Mapping)
        else {names[0]: value}
    )
    for unknown in [n for n in named if n not in names]:
        raise Refused(f"{what.called} returned {unknown!r}, which is no state; the state is {', '.join(names)}")
    if not named:
        raise Refused(f"{what.called} returned no state; the state is {', '.join(names)}")
    single, columns = False, {}
    for name, values in named.items():
        array, low = array_of(what, name, values)
        if array.shape != (rounds + 1, *shapes[name]):
            raise Refused(
                f"{what.called} returned {name} of shape {array.shape}, not {(rounds + 1, *shapes[name])}: the start, "
                "and the state after each round"
            )
        columns[name], single = array, single or low
    return [{n: column[k] for n, column in columns.items()} for k in range(rounds + 1)], single


def copied(state: State) -> dict[str, Array]:
    """Arrays of their own."""
    return {name: np.array(value) for name, value in state.items()}


def changed_in(before: State, after: State) -> tuple[str, ...]:
    """The states that are no longer what they were."""
    return tuple(name for name, value in before.items() if not np.array_equal(value, after[name], equal_nan=True))


__all__ = ["ALWAYS", "Generator", "Implementation", "Recorded", "Refused", "Returned", "Strategy", "implementation"]
