"""What the algorithms have in common in which S clients take K local steps and the server averages their models."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from sim.algorithms.base import Algorithm
from sim.algorithms.schedule import Number, Step, checked_count, checked_step


@dataclass(frozen=True)
class AveragedAlgorithm(Algorithm):
    """K local steps of those that take part, then the plain mean of their models.

    Attributes:
        step: eta_l > 0; a number, or a sequence of T numbers (one a round). Fractions stay exact.
        local_steps: K >= 1.
        aggregation: "normalised" (c_n = 1_n/S), always.
        empty: "condition" on somebody taking part, always; under `sim.participation.UniformChoice` there is no
            empty round.

    Raises:
        ValueError: at construction, when an attribute is outside its domain.
    """

    step: Step
    local_steps: int
    aggregation: str = field(default="normalised", init=False)
    empty: str = field(default="condition", init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "step", checked_step(self.step))
        object.__setattr__(self, "local_steps", checked_count(self.local_steps, "local_steps"))

    @property
    def draws(self) -> int:
        """One sample a local step."""
        return self.local_steps


def checked_weight(
    value: Any, name: str, least: float = 0, below: float = math.inf, *, open_left: bool = False
) -> Number:
    """A finite number in [least, below), or in (least, below).

    Raises:
        ValueError: for anything else.
    """
    domain = f"{'(' if open_left else '['}{least:g}, {below:g})"
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        raise ValueError(f"{name}={value!r} is not a number in {domain}")
    if not least <= value < below or (open_left and value == least):
        raise ValueError(f"{name}={value} is outside {domain}")
    return value
