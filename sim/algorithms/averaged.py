"""What the algorithms have in common in which S clients take K local steps and the server averages their models."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sim.algorithms.base import Algorithm
from sim.algorithms.schedule import Number, Step, checked_count, checked_step

if TYPE_CHECKING:
    from torch import Tensor

    from sim.kernels.clients import Clients
    from sim.kernels.local_steps import LocalSteps


@dataclass(frozen=True)
class AveragedAlgorithm(Algorithm):
    """K local steps of those that take part, then the plain mean of their models.

    A subclass says what a local step is in `plan`; grad f_# is the mean gradient of a fresh minibatch of the client's
    own samples, each drawn uniformly with replacement.

    Attributes:
        step: eta_l > 0; a number, or a sequence of T numbers (one a round). Fractions stay exact.
        local_steps: K >= 1.
        batch: samples of a minibatch, >= 1.
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
    batch: int = field(default=1, kw_only=True)
    selects: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "step", checked_step(self.step))
        object.__setattr__(self, "local_steps", checked_count(self.local_steps, "local_steps"))
        object.__setattr__(self, "batch", checked_count(self.batch, "batch"))

    @property
    def draws(self) -> int:
        """One minibatch a local step."""
        return self.local_steps * self.batch

    def local_update(self, clients: Clients, w: Tensor, step: float) -> Tensor:
        """The local steps of `plan`. See `Algorithm.local_update`."""
        return clients.steps(self.plan(clients, w, step), w)

    @abstractmethod
    def plan(self, clients: Clients, w: Tensor, step: float) -> LocalSteps:
        """The local steps of a round; the arguments are those of `local_update`, and w is theta for every client."""


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
