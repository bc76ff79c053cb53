"""Scalars of a program: parameters as they are given, and formulas as numbers or tensors.

A scalar is a float, or a tensor whose shape broadcasts against (clients, coordinates, runs): (N, 1, 1) for a parameter
with one number a client, (1 or N, 1, R) for what was drawn or computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sim.arguments import float_array
from theory.program import Apply, Formula, Instruction, Name, Number, Program, names_in, text_of

if TYPE_CHECKING:
    import torch

Scalar = Any
"""A float or a tensor."""
Look = Callable[[str], Scalar]


class Parameters:
    """The parameters of a program, checked.

    Args:
        program: whose names they are.
        given: by name a number; N numbers, one a client, also under ``p_n``; a schedule, under ``eta_k`` or as
            ``{"k": [...]}``, of at least `rounds` numbers, or (rounds or more, N), one a round and client; what `mix`
            takes, (N, N), and what `combine` takes, one weight a remembered vector. A list that does not say what it is
            is one number a client where it has N of them, else a schedule.
        clients, dim: N and d, which a program may ask for by these names.
        rounds: the number of the last round plus one.

    Raises:
        ValueError: for a missing or unknown name, a number that is not finite, or a length that fits nothing.
    """

    def __init__(self, program: Program, given: Mapping[str, Any], clients: int, dim: int, rounds: int) -> None:
        self.clients, self.rounds = clients, rounds
        labels = {s.label for s in program.steps if isinstance(s, Instruction) and s.op in ("mix", "combine")}
        lengths = {name for s in program.state if s.length is not None for name in names_in(s.length)}
        known = {*program.parameters, *lengths, *labels, "N", "d"}
        self.constants: dict[str, float] = {"N": float(clients), "d": float(dim)}
        self.each: dict[str, np.ndarray[Any, Any]] = {}
        self.schedules: dict[str, np.ndarray[Any, Any]] = {}
        self.labels: dict[str, np.ndarray[Any, Any]] = {}
        for written, value in given.items():
            name, index = _base(written, known)
            if isinstance(value, Mapping):
                if set(value) != {"k"}:
                    raise ValueError(
                        f"{written}={value!r} is neither a number, nor a list, nor a schedule {{'k': [...]}}"
                    )
                value, index = value["k"], "k"
            if name in (*self.each, *self.schedules, *self.labels, *set(self.constants) - {"N", "d"}):
                raise ValueError(f"{name} is given twice, also as {written}")
            if name in ("N", "d"):
                if float(value) != self.constants[name]:
                    raise ValueError(f"{name}={value!r} is not that of the problem, {self.constants[name]:g}")
                continue
            values = float_array(written, value)
            if name in labels:
                self.labels[name] = values
            elif values.ndim == 0:
                self.constants[name] = float(values)
            else:
                self._list(name, written, values, index)
        for s in program.state:  # J is known from the weights of what is remembered
            for name in names_in(s.length) - set(self.constants) if s.length is not None else ():
                lags = {len(v) for v in self.labels.values() if v.ndim == 1}
                if len(lags) == 1:
                    self.constants[name] = float(lags.pop())
        found = {*self.constants, *self.each, *self.schedules, *self.labels}
        missing = sorted(({*program.parameters} | lengths | labels) - found)
        if missing:
            raise ValueError(f"parameters has no {missing[0]!r}; {program.name} takes {', '.join(program.parameters)}")

    def _list(self, name: str, written: str, values: np.ndarray[Any, Any], index: str) -> None:
        by_client = values.shape == (self.clients,) and index in ("", "n")
        by_round = values.shape in ((len(values),), (len(values), self.clients)) and len(values) >= self.rounds
        if by_client:
            self.each[name] = values
        elif by_round and index in ("", "k"):
            self.schedules[name] = values
        else:
            raise ValueError(
                f"{written} has shape {values.shape}: it is a number, {self.clients} numbers (one a client) or a "
                f"schedule of at least {self.rounds} (one a round)"
            )

    def weights(self, label: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        """What `mix` or `combine` takes.

        Raises:
            ValueError: when it has another shape.
        """
        found = self.labels[label]
        if found.shape != shape:
            raise ValueError(f"{label} has shape {found.shape}, not {shape}")
        return found


def _base(written: str, known: set[str]) -> tuple[str, str]:
    """The parameter that is meant by ``p``, ``p_n`` or ``eta_k``, and the index."""
    if written in known:
        return written, ""
    stem, _, index = written.rpartition("_")
    if index in ("n", "k") and stem in known:
        return stem, index
    raise ValueError(f"parameters has {written!r}, which the program does not use; it has {', '.join(sorted(known))}")


class Scalars:
    """Formulas of one program, each compiled when it is first met; for one device.

    Args:
        parameters: the numbers.
        device: where numbers a client live.
    """

    def __init__(self, parameters: Parameters, device: torch.device) -> None:
        import torch

        def tensor(values: np.ndarray[Any, Any]) -> Any:
            return torch.from_numpy(values.reshape(-1, 1, 1).copy()).to(device)

        self.parameters = parameters
        self._each = {name: tensor(values) for name, values in parameters.each.items()}
        self._tensor = tensor
        self._now: dict[str, Scalar] = {}
        self._known: dict[int, tuple[Formula, Callable[[Look], Scalar]]] = {}
        self.begin(0)

    def begin(self, k: int) -> None:
        """The round whose number in schedules is k."""
        self._k = k
        for name, values in self.parameters.schedules.items():
            row = values[min(k, len(values) - 1)]
            self._now[name] = float(row) if values.ndim == 1 else self._tensor(row)

    def changes(self, formula: Formula) -> bool:
        """Whether it may have another value in another round."""
        names = names_in(formula)
        return "k" in names or bool(names & set(self.parameters.schedules))

    def value(self, formula: Formula, env: Mapping[str, Any], local: Callable[[Scalar], Scalar]) -> Scalar:
        """Of a formula.

        Args:
            formula: of the program, whose object lives as long as this one does.
            env: values of draws and turns, by name, and of ``k``.
            local: applied to the value of every name: makes numbers of all clients those of one.
        """
        found = self._known.get(id(formula))
        if found is None:
            found = self._known[id(formula)] = (formula, self._compiled(formula))

        def look(name: str) -> Scalar:
            if name in env:
                return local(env[name])
            if name in self._each:
                return local(self._each[name])
            return local(self._now[name])

        return found[1](look)

    def _compiled(self, formula: Formula) -> Callable[[Look], Scalar]:
        if names_in(formula) <= set(self.parameters.constants):
            constants = self.parameters.constants
            value = evaluate(formula, lambda name: constants[name])
            if not math.isfinite(value):
                raise ValueError(f"{text_of(formula)} = {value} is outside the finite numbers")
            return lambda look: value
        if isinstance(formula, Name):
            name = formula.name
            return lambda look: look(name)
        constants = self.parameters.constants
        return lambda look: evaluate(formula, lambda name: constants[name] if name in constants else look(name))


def evaluate(formula: Formula, look: Look) -> Scalar:
    """A formula's value.

    Raises:
        ValueError: where floats have none: a division by 0, the root of a negative number.
    """
    if isinstance(formula, Number):
        return float(formula.value)
    if isinstance(formula, Name):
        return look(formula.name)
    assert isinstance(formula, Apply)
    parts = [evaluate(part, look) for part in formula.arguments]
    try:
        return _applied(formula.operation, parts)
    except (ZeroDivisionError, OverflowError, ValueError) as error:
        raise ValueError(f"{text_of(formula)} has no value: {error}") from None


def _applied(operation: str, parts: Sequence[Scalar]) -> Scalar:
    if operation in _ARITHMETIC:
        return _ARITHMETIC[operation](*parts)
    floats = all(isinstance(part, float | int) for part in parts)
    if floats and operation in _FLOATS:
        return float(_FLOATS[operation](*parts))
    import torch

    if operation == "**":
        return torch.pow(parts[0], parts[1])
    if operation in ("min", "max"):
        tensor = next(part for part in parts if isinstance(part, torch.Tensor))
        combine = torch.minimum if operation == "min" else torch.maximum
        total = torch.as_tensor(parts[0]).to(tensor)
        for part in parts[1:]:
            total = combine(total, torch.as_tensor(part).to(tensor))
        return total
    if operation in ("sqrt", "log", "exp", "abs"):
        return getattr(torch, operation)(parts[0])
    raise ValueError(f"{operation} is of vectors, and these are numbers")


_ARITHMETIC: Mapping[str, Callable[..., Scalar]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "neg": lambda a: -a,
}
_FLOATS: Mapping[str, Callable[..., float]] = {
    "**": math.pow,
    "sqrt": math.sqrt,
    "log": math.log,
    "exp": math.exp,
    "abs": abs,
    "min": min,
    "max": max,
}
