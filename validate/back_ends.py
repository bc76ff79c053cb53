"""Which back end simulates an algorithm, on each type of problem, and why no other does: for `fedproof doctor`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sim.simulate.parameters import Parameters
from theory.program import Algorithm, Instruction, Program, names_in

_CLIENTS = 2


@dataclass(frozen=True)
class BackEnd:
    """What is taken where one says nothing.

    Attributes:
        problem: the type of problem, in words.
        taken: "native" or "torch", on the CPU.
        why: why, as one clause.
        on_gpu: "triton" or "torch", on a GPU.
        why_on_gpu: why that, as one clause.
    """

    problem: str
    taken: str
    why: str
    on_gpu: str
    why_on_gpu: str


def back_ends_of(algorithm: Algorithm) -> Iterator[BackEnd]:
    """The choice of `backend="auto"` for an algorithm, by problem; nothing is compiled or run."""
    from sim.native import build
    from sim.simulate.kernels import missing
    from sim.simulate.native import WORTH_COMPILING, why_not

    program, absent = algorithm.program, missing()
    for words, made in _problems().items():
        problem = made()
        given = program, problem, _any_numbers(program, problem.dim)
        found, gpu = why_not(*given), _on_gpu(*given, absent)
        if isinstance(found, str):
            yield BackEnd(words, "torch", found, *gpu)
        elif build.compiler() is None:
            yield BackEnd(words, "torch", "there is no C++ compiler; set CXX", *gpu)
        else:
            yield BackEnd(words, "native", f"C++ is generated, from {WORTH_COMPILING:,} multiplications a run on", *gpu)
    alone = "for quadratics and ridge regressions alone"
    yield BackEnd("any other loss", "torch", f"C++ is there {alone}", "torch", absent or f"kernels are there {alone}")


def _on_gpu(program: Program, problem: Any, parameters: Parameters, absent: str) -> tuple[str, str]:
    """The same on a GPU; `absent` says why Triton is not there."""
    from sim.simulate.kernels import why_no_kernel

    found = absent or why_no_kernel(program, problem, parameters)
    return ("torch", found) if isinstance(found, str) else ("triton", "a kernel is generated")


def _problems() -> Mapping[str, Callable[[], Any]]:
    """A small problem of each type."""
    from sim.problems import RidgeSoftmax, least_squares, ridge_logistic, scalar

    features = np.arange(1.0, 9.0).reshape(_CLIENTS, 2, 2)
    return {
        "least squares": lambda: least_squares(list(features), list(features[..., 0])),
        "quadratics": lambda: scalar([[1.0], [2.0]], [[0.0], [1.0]]),
        "ridge logistic regression": lambda: ridge_logistic(_CLIENTS, 2, 2, 0.5, 0.1, 0),
        "ridge softmax regression": lambda: RidgeSoftmax(features, np.zeros((_CLIENTS, 2), dtype=np.int64), 2, 0.1),
    }


def _any_numbers(program: Program, dim: int) -> Parameters:
    """Parameters that are all one number: on what they are the generated text does not depend."""
    weights = {"mix": np.ones((_CLIENTS, _CLIENTS)), "combine": np.ones(1)}
    labels = {s.label: weights[s.op] for s in program.steps if isinstance(s, Instruction) and s.op in weights}
    lengths = {name for s in program.state if s.length is not None for name in names_in(s.length)}
    numbers = dict.fromkeys({*program.parameters, *lengths} - {*labels, "N", "d"}, 1.0)
    return Parameters(program, {**numbers, **labels}, _CLIENTS, dim, 1)


__all__ = ["BackEnd", "back_ends_of"]
