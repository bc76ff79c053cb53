"""FedMIM: multi-step inertial momentum in the local steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sim.algorithms.averaged import AveragedAlgorithm, checked_weight
from sim.algorithms.schedule import Number
from sim.kernels.local_steps import LocalSteps

if TYPE_CHECKING:
    from torch import Tensor

    from sim.kernels.clients import Clients

Weights = tuple[Number, ...]


@dataclass(frozen=True)
class FedMIM(AveragedAlgorithm):
    """Local steps that are pulled along the J last increments of the server's model.

    With delta_t = -(x_t - x_{t-1})/K, which is 0 for t <= 0, and A = 1 - sum_j alpha_j, a client of round t starts from
    x_t and takes K steps

        x <- x - sum_j alpha_j delta_{t-j} - A step grad f_#(x - sum_j beta_j delta_{t-j}),

    # a minibatch of its own samples, with replacement. The server averages the models of those that take part.

    Source: Liu, Sun, Ding, Shen, Liu, Tao: "Enhance Local Consistency in Federated Learning: A Multi-Step Inertial
    Momentum Approach", Algorithm 1.

    Attributes:
        step, local_steps, batch, aggregation, empty: see `AveragedAlgorithm`.
        alpha: weights >= 0 of the lags j = 0..J-1 in the iterate, sum < 1; a lag that is not in the set I has 0.
        beta: weights >= 0 of the lags in the point where the gradient is taken. The shorter of the two is filled up
            with zeros; without any lag this is FedAvg.

    Raises:
        ValueError: at construction, when an attribute is outside its domain.
    """

    alpha: Weights = ()
    beta: Weights = ()
    name: str = "fedmim"

    def __post_init__(self) -> None:
        super().__post_init__()
        alpha, beta = _weights(self.alpha, "alpha"), _weights(self.beta, "beta")
        lags = max(len(alpha), len(beta))
        if not sum(alpha) < 1:
            raise ValueError(f"alpha={self.alpha!r} has the sum {sum(alpha)}, outside [0, 1)")
        object.__setattr__(self, "alpha", alpha + (0,) * (lags - len(alpha)))
        object.__setattr__(self, "beta", beta + (0,) * (lags - len(beta)))

    @property
    def lags(self) -> int:
        """J."""
        return len(self.alpha)

    @property
    def gradient_weight(self) -> Number:
        """A = 1 - sum_j alpha_j."""
        return 1 - sum(self.alpha)

    def plan(self, clients: Clients, w: Tensor, step: float) -> LocalSteps:
        """See `AveragedAlgorithm.plan`."""
        shift, ahead = self._pull(clients, self.alpha), self._pull(clients, self.beta)
        scale = float(self.gradient_weight) * step
        if shift is not None:
            shift.neg_()
        return LocalSteps(self.local_steps, self.batch, scale, shift=shift, ahead=ahead)

    def server_update(self, clients: Clients, theta: Tensor, move: Tensor) -> None:
        """The average, and one increment more."""
        theta.add_(move)
        for j in range(self.lags - 1, 0, -1):
            clients.shared(f"increment {j}").copy_(clients.shared(f"increment {j - 1}"))
        if self.lags:
            clients.shared("increment 0").copy_(move).div_(-self.local_steps)

    def _pull(self, clients: Clients, weights: Weights) -> Tensor | None:
        """sum_j weight_j delta_{t-j}, (d, R); None when all weights are 0."""
        total = None
        for j, weight in enumerate(weights):
            if weight:
                part = clients.shared(f"increment {j}") * float(weight)
                total = part if total is None else total.add_(part)
        return total


def _weights(values: Any, name: str) -> Weights:
    """A tuple of numbers >= 0."""
    if hasattr(values, "tolist"):
        values = values.tolist()
    if not isinstance(values, list | tuple):
        raise ValueError(f"{name}={values!r} is not a sequence of numbers in [0, inf), one a lag")
    return tuple(checked_weight(value, f"{name}[{j}]") for j, value in enumerate(values))
