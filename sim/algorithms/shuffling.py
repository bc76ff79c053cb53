"""Shuffling local SGD.

Source: Deng, Kamani, Mahdavinia, Mahdavi: "Distributed Personalized Empirical Risk Minimization", Algorithms 1 and 4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sim.algorithms.schedule import Number, Step, checked_count, checked_step

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
