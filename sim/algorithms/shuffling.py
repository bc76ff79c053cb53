"""Shuffling local SGD, and the two ways in which PERM makes personalised models with it.

Source: Deng, Kamani, Mahdavinia, Mahdavi: "Distributed Personalized Empirical Risk Minimization", Algorithms 1 to 4.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sim.algorithms.schedule import Number, Step, checked_count, checked_step

Mixing = Callable[[Any, Any], Any]
"""(z, alpha) -> alpha, arrays (R, N, N): row i of z is ||grad f_i - grad f_j||^2, of alpha the weights of model i."""

Row = tuple[Number, ...]


@dataclass(frozen=True)
class ShufflingSGD:
    """An epoch visits all clients in a uniformly random order s: at c = s(j), K times v <- v - step alpha_c N g_c(v).

    The order is drawn afresh every epoch; g_c is the gradient of a sample of client c, drawn uniformly with
    replacement. Algorithm 4 of the paper, or, for several models at once, Algorithm 1: model i visits s((i+j) mod N) at
    communication round j, so that no two models are at one client.

    Attributes:
        step: eta > 0; a number, or a sequence of R numbers (one an epoch). Fractions stay exact.
        local_steps: K >= 1.
        weights: alpha, N numbers >= 0 for one model, or a row of N for each of M <= N models. That they sum to 1 is not
            asked for: the algorithm descends sum_c alpha_c f_c.

    Raises:
        ValueError: at construction, when an attribute is outside its domain.
    """

    step: Step
    local_steps: int
    weights: Row | tuple[Row, ...]
    name: str = "shuffling-local-sgd"

    def __post_init__(self) -> None:
        object.__setattr__(self, "step", checked_step(self.step))
        object.__setattr__(self, "local_steps", checked_count(self.local_steps, "local_steps"))
        object.__setattr__(self, "weights", _checked_weights(self.weights))

    @property
    def clients(self) -> int:
        """N."""
        return len(self.weights[0] if isinstance(self.weights[0], tuple) else self.weights)


@dataclass(frozen=True)
class TwoStagePERM:
    """Algorithm 3, local SGD on F = (1/N) sum_j f_j and mixing weights from its model, and then Algorithm 1.

    Attributes:
        global_step: gamma > 0, of Algorithm 3; a number, or one a round.
        rounds: R >= 1 of Algorithm 3.
        step: eta > 0, of Algorithm 1; a number, or one an epoch.
        local_steps: K >= 1, of both.
        mixing: makes the weights, from those of equal shares.
        smoothness: L; then the final models are P_W(v_i - (1/L) sum_j alpha_i(j) grad f_j(v_i)). With the paper's (3),
            which divides Phi by N, this step is that of smoothness N L. None: the final models are v_i.

    Raises:
        ValueError: at construction, when an attribute is outside its domain.
    """

    global_step: Step
    rounds: int
    step: Step
    local_steps: int
    mixing: Mixing
    smoothness: float | None = None
    name: str = "perm-two-stage"

    def __post_init__(self) -> None:
        _check_steps(self)
        object.__setattr__(self, "rounds", checked_count(self.rounds, "rounds"))
        if self.smoothness is not None and not 0 < self.smoothness < math.inf:
            raise ValueError(f"smoothness={self.smoothness!r} is outside (0, inf)")


@dataclass(frozen=True)
class SingleLoopPERM:
    """Algorithm 2: an epoch of Algorithm 1, a minibatch step of the global model, and new mixing weights, in turn.

    Attributes:
        global_step: gamma > 0, of the global model; a number, or one an epoch.
        batch: M >= 1, samples of each client for the step of the global model, drawn with replacement.
        step: eta > 0, of the personalised models; a number, or one an epoch.
        local_steps: K >= 1.
        mixing: makes the weights, from those of the epoch before (at first: equal shares).

    Raises:
        ValueError: at construction, when an attribute is outside its domain.
    """

    global_step: Step
    batch: int
    step: Step
    local_steps: int
    mixing: Mixing
    name: str = "perm-single-loop"

    def __post_init__(self) -> None:
        _check_steps(self)
        object.__setattr__(self, "batch", checked_count(self.batch, "batch"))


def _check_steps(algorithm: Any) -> None:
    object.__setattr__(algorithm, "global_step", checked_step(algorithm.global_step))
    object.__setattr__(algorithm, "step", checked_step(algorithm.step))
    object.__setattr__(algorithm, "local_steps", checked_count(algorithm.local_steps, "local_steps"))
    if not callable(algorithm.mixing):
        raise ValueError(f"mixing={algorithm.mixing!r} is not a function of (z, alpha)")


def _checked_weights(weights: Any) -> Any:
    """A tuple of numbers, or of tuples of numbers."""
    if hasattr(weights, "tolist"):
        weights = weights.tolist()
    if not isinstance(weights, list | tuple) or not weights:
        raise ValueError(f"weights={weights!r} is not a sequence of at least one number, or of rows")
    nested = [isinstance(row, list | tuple | np.ndarray) for row in weights]
    if not any(nested):
        return tuple(_nonnegative(value, f"weights[{c}]") for c, value in enumerate(weights))
    rows = [list(row) for row in weights] if all(nested) else []
    if not rows or not rows[0] or {len(row) for row in rows} != {len(rows[0])} or len(rows) > len(rows[0]):
        raise ValueError(f"weights={weights!r} is not M <= N rows of N numbers each")
    return tuple(tuple(_nonnegative(v, f"weights[{i}][{c}]") for c, v in enumerate(row)) for i, row in enumerate(rows))


def _nonnegative(value: Any, name: str) -> Number:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        raise ValueError(f"{name}={value!r} is not a number in [0, inf)")
    if not 0 <= value < math.inf:
        raise ValueError(f"{name}={value} is outside [0, inf)")
    return value
