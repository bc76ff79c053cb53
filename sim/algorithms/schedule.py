"""A step size, fixed or one a round, and counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

Number = float | int | Fraction
Step = Number | tuple[Number, ...]


def checked_step(step: Any) -> Step:
    """The step size as a number, or as a tuple of one number a round.

    Args:
        step: a number (float, int or Fraction), or a sequence of K of them.

    Raises:
        ValueError: unless every number is finite and positive, and there is at least one.
    """
    if hasattr(step, "tolist"):  # arrays and tensors: plain numbers compare, hash and stay exact where they are
        step = step.tolist()
    if isinstance(step, Sequence) and not isinstance(step, str):
        if not step:
            raise ValueError("step=() has no entry: give one number, or one a round")
        return tuple(_positive(value, f"step[{k}]") for k, value in enumerate(step))
    return _positive(step, "step")


def _positive(value: Any, name: str) -> Number:
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        raise ValueError(f"{name}={value!r} is not a number in (0, inf)")
    if not math.isfinite(value) or not value > 0:
        raise ValueError(f"{name}={value} is outside (0, inf)")
    return value


def checked_count(value: Any, name: str) -> int:
    """An integer of at least 1.

    Raises:
        ValueError: for anything else.
    """
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ValueError(f"{name}={value!r} is not an integer in [1, inf)")
    count = value.__index__()
    if count < 1:
        raise ValueError(f"{name}={count} is outside [1, inf)")
    return int(count)


def step_at(step: Step, round: int) -> Number:
    """The step size of a round.

    Args:
        step: as `checked_step` returns it.
        round: the round, from 0.

    Raises:
        ValueError: when the schedule is too short.
    """
    if not isinstance(step, tuple):
        return step
    if not 0 <= round < len(step):
        raise ValueError(f"round={round} is outside [0, {len(step) - 1}], the rounds that the step schedule covers")
    return step[round]
