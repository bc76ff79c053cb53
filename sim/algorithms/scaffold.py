"""SCAFFOLD: local steps corrected by control variates."""

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
class Scaffold(AveragedAlgorithm):
    """Local steps w <- w - step (grad f_#(w) - c_n + c); controls c_n of the clients and c of the server, 0 at first.

    A client that takes part then sets c_n <- c_n - c + (theta - w_n)/(K step) (option II), the server adds 1/N of all
    changes to c, and moves by `server_step` times the average of w_n - theta.

    Source: Karimireddy, Kale, Mohri, Reddi, Stich, Suresh: "SCAFFOLD: Stochastic Controlled Averaging for Federated
    Learning" (2020), Algorithm 1.

    Attributes:
        step, local_steps, batch, aggregation, empty: see `AveragedAlgorithm`.
        server_step: > 0.

    Raises:
        ValueError: at construction, when an attribute is outside its domain.
    """

    server_step: Number = 1
    name: str = "scaffold"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "server_step", checked_weight(self.server_step, "server_step", open_left=True))

    def plan(self, clients: Clients, w: Tensor, step: float) -> LocalSteps:
        """See `AveragedAlgorithm.plan`."""
        correction = clients.buffer("correction")
        correction.copy_(clients.memory("control")).sub_(clients.shared("control")).mul_(step)
        return LocalSteps(self.local_steps, self.batch, step, shift=correction)

    def client_memory(self, clients: Clients, moves: Tensor, weight: Tensor, step: float) -> None:
        """The controls of those that take part, and their mean change. See `Algorithm.client_memory`."""
        change, own, common = clients.buffer("correction"), clients.memory("control"), clients.shared("control")
        change.copy_(moves).mul_(-1 / (self.local_steps * step)).sub_(common).mul_((weight > 0).to(moves))
        own.add_(change)
        common.add_(change.sum(0).div_(clients.number))

    def server_update(self, clients: Clients, theta: Tensor, move: Tensor) -> None:
        """See `Algorithm.server_update`."""
        theta.add_(move, alpha=float(self.server_step))
