"""C++ generated from programs: `sim.simulate` runs it where there is a compiler; `why_not` says where it cannot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sim.generated.functions import NativeFunctions, native_functions
from sim.generated.reading import NotGenerated
from sim.generated.rounds import METRICS, Source, source
from sim.simulate.parameters import Parameters
from theory.program import Program


def generated(
    program: Program, problem: Any, parameters: Parameters, metrics: Sequence[str] = ()
) -> tuple[Source, NativeFunctions] | str:
    """The C++ of a program on a problem, not yet compiled; or why there is none, as one clause.

    Args:
        program: what is to be run.
        problem: on what.
        parameters: its numbers.
        metrics: what is to be measured after each round.
    """
    functions = native_functions(problem, metrics)
    if isinstance(functions, str):
        return functions
    unknown = sorted(set(metrics) - functions.metrics)
    if unknown:
        return f"the metric {unknown[0]} is not there in C++"
    if functions.inverses is None and "prox" in program.operations:
        return "prox is there for quadratics alone"
    try:
        return source(program, parameters, functions.pairs), functions
    except NotGenerated as error:
        return f"{program.name} has {error}"


__all__ = ["METRICS", "NativeFunctions", "NotGenerated", "Source", "generated", "native_functions", "source"]
