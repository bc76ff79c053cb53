"""C++ generated from programs: `sim.simulate` runs it where there is a compiler; `why_not` says where it cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from sim.generated.functions import NativeFunctions, lacking, native_functions
from sim.generated.reading import NotGenerated
from sim.generated.rounds import METRICS, Source, source
from sim.simulate.parameters import Parameters
from theory.program import Program


def generated(
    program: Program, problem: Any, parameters: Parameters, metrics: Sequence[str] = (), present: bool = False
) -> tuple[Source, NativeFunctions] | str:
    """The C++ of a program on a problem, not yet compiled; or why there is none, as one clause.

    Args:
        program: what is to be run.
        problem: on what.
        parameters: its numbers.
        metrics: what is to be measured after each round.
        present: whether the clients are those of an open population.
    """
    functions = native_functions(problem, metrics, present)
    if isinstance(functions, str):
        return functions
    if why := lacking(program, functions, metrics, "C++"):
        return why
    found = _source(_Known(program, parameters, functions.pairs, present))
    if isinstance(found, str):
        return found
    # a compiler takes a third longer where the metrics are there
    return found, replace(functions, defines=(*functions.defines, f"MEASURED={int(bool(metrics))}"))


class _Known:
    """A program and the shapes of its parameters, on which alone its text depends."""

    def __init__(self, program: Program, parameters: Parameters, pairs: bool, present: bool) -> None:
        self.program, self.parameters, self.pairs, self.present = program, parameters, pairs, present
        lists = [(n, v.ndim) for group in (parameters.schedules, parameters.labels) for n, v in group.items()]
        self._shapes = (pairs, present, tuple(parameters.constants), tuple(parameters.each), tuple(lists))

    def __hash__(self) -> int:
        return hash((id(self.program), self._shapes))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Known) and self.program is other.program and self._shapes == other._shapes


@lru_cache(maxsize=256)
def _source(known: _Known) -> Source | str:
    try:
        return source(known.program, known.parameters, known.pairs, known.present)
    except NotGenerated as error:
        return f"{known.program.name} has {error}"


__all__ = ["METRICS", "NativeFunctions", "NotGenerated", "Source", "generated", "native_functions", "source"]
