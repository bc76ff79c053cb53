"""Federated methods that end with a model for every client, with which others of that kind are compared.

All of them let every client take part in every round. A stochastic gradient is the mean over `batch` samples of the
client, drawn uniformly with replacement; `batch` None takes all of them, and draws nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sim.algorithms.schedule import Number, Step, checked_count, checked_step


@dataclass(frozen=True)
class LocalTraining:
    """No communication: every client goes on from its own model, K steps v <- v - step g(v) a round.

    Attributes:
        step: eta > 0; a number, or one a round.
        local_steps: K >= 1.
        batch: samples a gradient.

    Raises:
        ValueError: at construction, when an attribute is outside its domain.
    """

    step: Step
    local_steps: int
    batch: int | None = 1
    name: str = "local-training"

    def __post_init__(self) -> None:
        _check(self)


@dataclass(frozen=True)
class LocalisedFedAvg:
    """FedAvg, w <- the mean of the clients' models after K local steps from w; each client then tunes w for itself.

    Source: McMahan et al., "Communication-efficient learning of deep networks from decentralized data" (2017); tuned as
    in Yu, Bagdasaryan, Shmatikov, "Salvaging federated learning by local adaptation" (2020).

    Attributes:
        step: eta > 0; a number, or one a round.
        local_steps: K >= 1.
        tuning_step: > 0, of the local tuning.
        tuning_steps: >= 0; with 0 every client has FedAvg's model.
        batch: samples a gradient.

    Raises:
        ValueError: at construction, when an attribute is outside its domain.
    """

    step: Step
    local_steps: int
    tuning_step: Number
    tuning_steps: int
    batch: int | None = 1
    name: str = "localised-fedavg"

    def __post_init__(self) -> None:
        _check(self)
        object.__setattr__(self, "tuning_step", _number(self.tuning_step, "tuning_step", positive=True))
        object.__setattr__(self, "tuning_steps", _count_or_zero(self.tuning_steps, "tuning_steps"))


@dataclass(frozen=True)
class PerFedAvg:
    """Local SGD on (1/N) sum_i f_i(w - a grad f_i(w)), a = inner_step; a client's model is w after steps of size a.

    A local step is w <- w - step (I - a H(w)) g(w - a g(w)), the two gradients g and the Hessian H of three independent
    minibatches. Order 1 leaves the Hessian out.

    Source: Fallah, Mokhtari, Ozdaglar, "Personalized federated learning: a meta-learning approach" (2020), Algorithm 1
    and, for order 1, section 3.

    Attributes:
        step: beta > 0; a number, or one a round.
        local_steps: tau >= 1.
        inner_step: a >= 0; with 0 this is FedAvg.
        order: 1 or 2.
        tuning_steps: >= 0, steps of size a that make the client's model; one in the source.
        batch: samples of each of the minibatches.

    Raises:
        ValueError: at construction, when an attribute is outside its domain.
    """

    step: Step
    local_steps: int
    inner_step: Number
    order: int = 1
    tuning_steps: int = 1
    batch: int | None = 1
    name: str = "per-fedavg"

    def __post_init__(self) -> None:
        _check(self)
        object.__setattr__(self, "inner_step", _number(self.inner_step, "inner_step", positive=False))
        if isinstance(self.order, bool) or self.order not in (1, 2):
            raise ValueError(f"order={self.order!r} is not 1 or 2")
        object.__setattr__(self, "tuning_steps", _count_or_zero(self.tuning_steps, "tuning_steps"))


@dataclass(frozen=True)
class PFedMe:
    """Local SGD on the Moreau envelopes min_t f_i(t) + (penalty/2)||t - w||^2; a client's model is the minimising t.

    A local step at u draws a minibatch, makes t by `inner_steps` gradient steps of size `inner_step` on its
    f~(t) + (penalty/2)||t - u||^2 from t = u, and sets u <- u - step penalty (u - t). The server moves from w to
    (1 - server_step) w + server_step (the mean of the u). A client's model is made from w by `tuning_steps` such
    steps, each with a minibatch of its own.

    Source: Dinh, Tran, Nguyen, "Personalized federated learning with Moreau envelopes" (2020), Algorithm 1 (there: eta,
    R, lambda and beta); the source leaves the solver of the inner problem open.

    Attributes:
        step: eta > 0; a number, or one a round.
        local_steps: R >= 1.
        penalty: lambda > 0.
        inner_step: > 0.
        inner_steps: >= 1.
        tuning_steps: >= 0.
        server_step: beta > 0.
        batch: samples a gradient.

    Raises:
        ValueError: at construction, when an attribute is outside its domain.
    """

    step: Step
    local_steps: int
    penalty: Number
    inner_step: Number
    inner_steps: int
    tuning_steps: int
    server_step: Number = 1
    batch: int | None = 1
    name: str = "pfedme"

    def __post_init__(self) -> None:
        _check(self)
        for attribute in ("penalty", "inner_step", "server_step"):
            object.__setattr__(self, attribute, _number(getattr(self, attribute), attribute, positive=True))
        object.__setattr__(self, "inner_steps", checked_count(self.inner_steps, "inner_steps"))
        object.__setattr__(self, "tuning_steps", _count_or_zero(self.tuning_steps, "tuning_steps"))


Personalised = LocalTraining | LocalisedFedAvg | PerFedAvg | PFedMe


def _check(algorithm: Any) -> None:
    object.__setattr__(algorithm, "step", checked_step(algorithm.step))
    object.__setattr__(algorithm, "local_steps", checked_count(algorithm.local_steps, "local_steps"))
    if algorithm.batch is not None:
        object.__setattr__(algorithm, "batch", checked_count(algorithm.batch, "batch"))


def _count_or_zero(value: Any, name: str) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < 0:
        raise ValueError(f"{name}={value!r} is not an integer in [0, inf)")
    return int(value.__index__())


def _number(value: Any, name: str, *, positive: bool) -> Number:
    domain = "(0, inf)" if positive else "[0, inf)"
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        raise ValueError(f"{name}={value!r} is not a number in {domain}")
    if not math.isfinite(value) or value < 0 or (positive and value == 0):
        raise ValueError(f"{name}={value} is outside {domain}")
    return value
