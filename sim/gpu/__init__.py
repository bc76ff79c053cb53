"""Kernels in Triton generated from programs: `sim.simulate` runs them on a GPU; `kernel` says where it cannot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sim.generated import NotGenerated
from sim.generated.functions import NativeFunctions, lacking, native_functions
from sim.gpu.rounds import INTEGERS, KernelText, kernel_text
from sim.simulate.parameters import Parameters
from theory.program import Program

FUNCTIONS = {"quadratic_functions.h": "quadratics", "regression_functions.h": "regressions"}
"""By the header in C++ the file of this folder with the same functions."""
MOST_COORDINATES = 16
"""Coordinates are unrolled, d x d of them in a matrix: with 16 a compiler takes 20 s, with 32 minutes."""


def kernel(
    program: Program, problem: Any, parameters: Parameters, metrics: Sequence[str] = ()
) -> tuple[KernelText, NativeFunctions] | str:
    """The kernel of a program on a problem, not yet compiled; or why there is none, as one clause.

    Args:
        program: what is to be run.
        problem: on what.
        parameters: its numbers.
        metrics: what is to be measured after each round.
    """
    functions = native_functions(problem, metrics)
    if isinstance(functions, str) or functions.header not in FUNCTIONS:
        return f"there is no kernel for a problem of type {type(problem).__name__}"
    if functions.dim > MOST_COORDINATES:
        return f"d={functions.dim} is more than the {MOST_COORDINATES} coordinates that are unrolled"
    if why := lacking(program, functions, metrics, "Triton"):
        return why
    try:
        found = kernel_text(program, parameters, len(functions.arrays), len(functions.sizes), metrics)
    except NotGenerated as error:
        return f"{program.name} has {error}"
    return found, functions


__all__ = ["FUNCTIONS", "INTEGERS", "KernelText", "kernel"]
