"""FedAvg (local SGD): plain stochastic steps on each client that takes part."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

from sim.algorithms.base import Algorithm
from sim.algorithms.schedule import Step, checked_count, checked_rules, checked_step
from sim.kernels.local_steps import LocalSteps

if TYPE_CHECKING:
    from torch import Tensor

    from sim.kernels.clients import Clients


@dataclass(frozen=True)
class FedAvg(Algorithm):
    """Local SGD: w_{m+1} = w_m - step grad f_#(w_m), # a minibatch of the client's own samples, with replacement.

    Source: McMahan et al. (2017). With batches of one sample, Bernoulli participation and step 1/sqrt(K) it is the
    baseline [15] of Rostami and Kia; with `sim.participation.UniformChoice` in place of Bernoulli their baseline [4].

    Attributes:
        step: the step size > 0; a number, or a sequence of K numbers (one a round). Fractions stay exact.
        local_steps: steps that a client takes in a round, >= 1.
        aggregation: "unbiased" (c_n = 1_n/(N p_n)) or "normalised" (c_n = 1_n/|A|).
        empty: what a round does in which nobody takes part: "keep" the model, set it to "zero", or "condition" on
            somebody taking part.
        batch: samples of a minibatch, >= 1.

    Raises:
        ValueError: at construction, when an attribute is outside its domain.
    """

    step: Step
    local_steps: int
    aggregation: Literal["unbiased", "normalised"] = "unbiased"
    empty: Literal["keep", "zero", "condition"] = "keep"
    name: str = "local-sgd"
    batch: int = field(default=1, kw_only=True)
    selects: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "step", checked_step(self.step))
        object.__setattr__(self, "local_steps", checked_count(self.local_steps, "local_steps"))
        object.__setattr__(self, "batch", checked_count(self.batch, "batch"))
        checked_rules(self.aggregation, self.empty)

    @property
    def draws(self) -> int:
        """One minibatch a local step."""
        return self.local_steps * self.batch

    def local_update(self, clients: Clients, w: Tensor, step: float) -> Tensor:
        """Local steps. See `Algorithm.local_update`."""
        return clients.steps(LocalSteps(self.local_steps, self.batch, step), w)
