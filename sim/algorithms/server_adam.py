"""FedAdam: plain local steps, and Adam at the server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sim.algorithms.averaged import AveragedAlgorithm, checked_weight
from sim.algorithms.schedule import Number
from sim.kernels.local_steps import LocalSteps

if TYPE_CHECKING:
    from torch import Tensor

    from sim.kernels.clients import Clients


@dataclass(frozen=True)
class FedAdam(AveragedAlgorithm):
    """The average D of w_n - theta is Adam's pseudo-gradient, without a correction of the bias.

        m <- beta1 m + (1 - beta1) D,   v <- beta2 v + (1 - beta2) D^2,
        theta <- theta + server_step m / (sqrt(v) + tau),

    coordinate by coordinate, from m = 0 and v = tau^2.

    Source: Reddi, Charles, Zaheer, Garrett, Rush, Konecny, Kumar, McMahan: "Adaptive Federated Optimization" (2021),
    Algorithm 2.

    Attributes:
        step, local_steps, batch, aggregation, empty: see `AveragedAlgorithm`.
        server_step: > 0.
        beta1: in [0, 1).
        beta2: in [0, 1).
        tau: degree of adaptivity, > 0.

    Raises:
        ValueError: at construction, when an attribute is outside its domain.
    """

    server_step: Number = 0.1
    beta1: Number = 0.9
    beta2: Number = 0.99
    tau: Number = 1e-3
    name: str = "fedadam"

    def __post_init__(self) -> None:
        super().__post_init__()
        for key in ("server_step", "tau"):
            object.__setattr__(self, key, checked_weight(getattr(self, key), key, open_left=True))
        for key in ("beta1", "beta2"):
            object.__setattr__(self, key, checked_weight(getattr(self, key), key, below=1))

    def plan(self, clients: Clients, w: Tensor, step: float) -> LocalSteps:
        """See `AveragedAlgorithm.plan`."""
        return LocalSteps(self.local_steps, self.batch, step)

    def server_update(self, clients: Clients, theta: Tensor, move: Tensor) -> None:
        """See `Algorithm.server_update`."""
        beta1, beta2, tau = float(self.beta1), float(self.beta2), float(self.tau)
        mean, square = clients.shared("mean"), clients.shared("square", tau * tau)
        mean.mul_(beta1).add_(move, alpha=1 - beta1)
        square.mul_(beta2).addcmul_(move, move, value=1 - beta2)
        theta.addcdiv_(mean, square.sqrt().add_(tau), value=float(self.server_step))
