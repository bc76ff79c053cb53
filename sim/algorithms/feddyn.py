"""FedDyn: a dynamic regulariser on each client, which aligns the clients' stationary points with the server's."""

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
class FedDyn(AveragedAlgorithm):
    """Local steps w <- w - step (grad f_#(w) - g_n + weight (w - theta)), K of them in place of a local minimisation.

    A client that takes part then sets g_n <- g_n - weight (w_n - theta). With h <- h - weight (1/N) sum (w_n - theta)
    over those, the server's model is the average of w_n minus h/weight. All g_n and h are 0 at first.

    Source: Acar, Zhao, Matas Navarro, Mattina, Whatmough, Saligrama: "Federated Learning Based on Dynamic
    Regularization" (2021), Algorithm 1.

    Attributes:
        step, local_steps, batch, aggregation, empty: see `AveragedAlgorithm`.
        weight: of the regulariser (alpha in the paper), > 0.

    Raises:
        ValueError: at construction, when an attribute is outside its domain.
    """

    weight: Number = 0.1
    name: str = "feddyn"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "weight", checked_weight(self.weight, "weight", open_left=True))

    def plan(self, clients: Clients, w: Tensor, step: float) -> LocalSteps:
        """See `AveragedAlgorithm.plan`."""
        shrink = step * float(self.weight)
        pull = clients.buffer("pull")
        pull.copy_(w).mul_(shrink).add_(clients.memory("gradient"), alpha=step)
        return LocalSteps(self.local_steps, self.batch, step, decay=1 - shrink, shift=pull)

    def client_memory(self, clients: Clients, moves: Tensor, weight: Tensor, step: float) -> None:
        """g_n of those that take part, and h/weight. See `Algorithm.client_memory`."""
        own = clients.buffer("pull").copy_(moves).mul_((weight > 0).to(moves))
        clients.memory("gradient").sub_(own, alpha=float(self.weight))
        clients.shared("offset").sub_(own.sum(0).div_(clients.number))

    def server_update(self, clients: Clients, theta: Tensor, move: Tensor) -> None:
        """See `Algorithm.server_update`."""
        theta.add_(move).sub_(clients.shared("offset"))
