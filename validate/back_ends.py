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
        taken: "native" or "torch".
        why: why, as one clause.
    """

    problem: str
    taken: str
    why: str


def back_ends_of(algorithm: Algorithm) -> Iterator[BackEnd]:
    """The choice of `backend="auto"` for an algorithm, by problem; nothing is compiled or run."""
    from sim.native import build
    from sim.simulate.native import WORTH_COMPILING, why_not

    program = algorithm.program
    for words, made in _problems().items():
        problem = made()
        found = why_not(program, problem, _any_numbers(program, problem.dim))
        if isinstance(found, str):
            yield BackEnd(words, "torch", found)
        elif build.compiler() is None:
            yield BackEnd(words, "torch", "there is no C++ compiler; set CXX")
        else:
            yield BackEnd(words, "native", f"C++ is generated, from {WORTH_COMPILING:,} multiplications a run on")
    yield BackEnd("any other loss", "torch", "C++ is there for quadratics and ridge regressions alone")


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
