"""SCAFFOLD: local steps corrected by control variates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sim.algorithms.averaged import AveragedAlgorithm, checked_weight
from sim.algorithms.schedule import Number

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
        step, local_steps, aggregation, empty: see `AveragedAlgorithm`.
        server_step: > 0.

    Raises:
        ValueError: at construction, when an attribute is outside its domain.
    """

    server_step: Number = 1
    name: str = "scaffold"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "server_step", checked_weight(self.server_step, "server_step", open_left=True))

    def local_update(self, clients: Clients, w: Tensor, step: float) -> Tensor:
        """Local steps. Shapes: w (N, d, R). See `Algorithm.local_update`."""
        correction = clients.buffer("correction")
        correction.copy_(clients.buffer("control")).sub_(clients.shared("control")).mul_(step)
        following = clients.buffer("following")
        for m in range(self.local_steps):
            following.copy_(w).add_(correction)
            clients.add_sample_gradient(m, w, -step, out=following)
            w, following = following, w
        return w

    def client_memory(self, clients: Clients, moves: Tensor, weight: Tensor, step: float) -> None:
        """The controls of those that take part, and their mean change. See `Algorithm.client_memory`."""
        change, own, common = clients.buffer("correction"), clients.buffer("control"), clients.shared("control")
        change.copy_(moves).mul_(-1 / (self.local_steps * step)).sub_(common).mul_((weight > 0).to(moves))
        own.add_(change)
        common.add_(change.sum(0).div_(len(change)))

    def server_update(self, clients: Clients, theta: Tensor, move: Tensor) -> None:
        """See `Algorithm.server_update`."""
        theta.add_(move, alpha=float(self.server_step))
