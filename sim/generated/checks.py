"""Whether the numbers of a program have an instance, as torch finds out while it runs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from sim.generated.functions import NativeFunctions
from sim.generated.reading import values_in
from sim.simulate.parameters import Parameters, evaluate
from theory.program import Formula, Instruction, Loop, Name, Program, names_in, text_of


def changes(parameters: Parameters, formula: Formula) -> bool:
    """Whether a number may have another value in another round."""
    return "k" in names_in(formula) or bool(names_in(formula) & set(parameters.schedules))


def values_of(parameters: Parameters, formula: Formula, k: int) -> Any:
    """A number of round k: a float, or (N,), one a client.

    Raises:
        ValueError: where floats have none.
    """

    def look(name: str) -> Any:
        if name == "k":
            return float(k)
        if name in parameters.constants:
            return parameters.constants[name]
        if name in parameters.each:
            return parameters.each[name]
        values = parameters.schedules[name]
        row = values[min(k, len(values) - 1)]
        return float(row) if values.ndim == 1 else row

    def of_client(n: int, name: str) -> float:
        value = look(name)
        return float(value[n]) if isinstance(value, np.ndarray) else value

    if isinstance(formula, Name):
        return look(formula.name)
    each = names_in(formula) & {*parameters.each, *(n for n, v in parameters.schedules.items() if v.ndim == 2)}
    if not each:
        return evaluate(formula, look)
    return np.array([evaluate(formula, partial(of_client, n)) for n in range(parameters.clients)])


def checked(program: Program, parameters: Parameters, functions: NativeFunctions, span: range) -> None:
    """Raise what a run in torch would raise.

    Raises:
        ValueError: for a number outside its domain.
    """
    for step in program.steps:
        if isinstance(step, Loop):
            if step.count is not None:
                for _, value in _values(parameters, step.count, span):
                    _integer(value, step.count)
            continue
        domain = _DOMAINS.get(step.op)
        if domain is not None:
            for _, value in _values(parameters, step.numbers[0], span):
                domain(step, value, parameters, functions)
        for label in ("mix", "combine"):
            if step.op == label == "mix":
                parameters.weights(step.label, (parameters.clients, parameters.clients))
        if step.op == "combine":
            _weights(program, step, parameters)


def _weights(program: Program, step: Instruction, parameters: Parameters) -> None:
    for name, state in zip(program.inputs, program.state, strict=True):
        if name == step.of[0] and state.length is not None:
            parameters.weights(step.label, (int(values_of(parameters, state.length, 0)),))


def _values(parameters: Parameters, formula: Formula, span: range) -> Iterator[tuple[int, Any]]:
    """Its values in all rounds; nothing where it depends on draws or turns."""
    known = {*parameters.constants, *parameters.each, *parameters.schedules, "k"}
    if values_in(formula) or not names_in(formula) <= known:
        return
    for k in span if changes(parameters, formula) else span[:1]:
        yield k, values_of(parameters, formula, k)


def _integer(value: Any, formula: Formula) -> int:
    if isinstance(value, np.ndarray) or value != int(value) or value < 1:
        shown = "a draw, or one number a client" if isinstance(value, np.ndarray) else value
        raise ValueError(f"{text_of(formula)}={shown} is outside the integers from 1 on")
    return int(value)


def _sample(step: Instruction, value: Any, parameters: Parameters, functions: NativeFunctions) -> None:
    b, least = _integer(value, step.numbers[0]), int(functions.counts.min())
    if not step.flag and b > least:
        raise ValueError(f"{text_of(step.numbers[0])}={b} samples without replacement: a client has {least}")


def _choose(step: Instruction, value: Any, parameters: Parameters, functions: NativeFunctions) -> None:
    S, N = _integer(value, step.numbers[0]), parameters.clients
    if N < S and not step.flag:
        raise ValueError(f"{text_of(step.numbers[0])}={S} is outside [1, N={N}] without replacement")


def _chance(step: Instruction, value: Any, parameters: Parameters, functions: NativeFunctions) -> None:
    p = np.asarray(value)
    if not np.all((p > 0) & (p <= 1)):
        raise ValueError(f"{text_of(step.numbers[0])}={float(p.min()):g} is outside (0, 1]: it is a chance")


def _variance(step: Instruction, value: Any, parameters: Parameters, functions: NativeFunctions) -> None:
    if not np.ndim(value) and not value >= 0:
        raise ValueError(f"{text_of(step.numbers[0])}={value} is outside [0, inf): it is a variance")


def _kept(step: Instruction, value: Any, parameters: Parameters, functions: NativeFunctions) -> None:
    m = _integer(value, step.numbers[0])
    if m > functions.dim:
        raise ValueError(f"{text_of(step.numbers[0])}={m} is outside [1, d={functions.dim}]")


def _positive(step: Instruction, value: Any, parameters: Parameters, functions: NativeFunctions) -> None:
    t = np.asarray(value)
    if not np.all((t > 0) & np.isfinite(t)):
        raise ValueError(f"prox: t={float(t.min()):g} is outside (0, inf)")


_DOMAINS = {
    "sample": _sample,
    "choose": _choose,
    "coins": _chance,
    "coin": _chance,
    "noise": _variance,
    "keep": _kept,
    "top": _kept,
    "prox": _positive,
}
