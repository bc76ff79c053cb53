"""What the engine asks of an algorithm."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from torch import Tensor

    from sim.algorithms.schedule import Step
    from sim.kernels.clients import Clients


class Algorithm(ABC):
    """An algorithm of rounds: clients work locally, the server adds the weighted sum of their moves.

    A subclass is a frozen dataclass with `step`, `aggregation` and `empty`, in a file of its own; the engine knows
    nothing else of it. What an algorithm remembers from round to round is kept, for each chunk of runs afresh, by
    `Clients`: in a memory (one vector a client), or in a shared tensor (one vector, of the server).

    The clients stand in S slots (see `Clients`). Those are all N clients, except where an algorithm `selects` and a
    fixed number S of clients takes part: then only these are computed.
    """

    step: Step
    aggregation: str
    empty: str
    selects: ClassVar[bool] = False
    """Whether it is enough to compute the clients that take part."""

    @property
    @abstractmethod
    def draws(self) -> int:
        """J, the samples that a client picks in a round."""

    @abstractmethod
    def local_update(self, clients: Clients, w: Tensor, step: float) -> Tensor:
        """One round of the clients in the slots.

        Args:
            clients: their gradients, the samples that they picked, and buffers.
            w: (S, d, R), the server's model, one copy a client; may be overwritten.
            step: the step size of this round.

        Returns:
            (S, d, R), the clients' final models, in `w` or in a buffer.
        """

    def client_memory(self, clients: Clients, moves: Tensor, weight: Tensor, step: float) -> None:
        """Change what clients and server remember, before the server changes theta; by default there is nothing.

        Args:
            clients: see `local_update`.
            moves: (S, d, R), w_n - theta; not to be changed.
            weight: (S, 1, R) or (S, 1, 1), c_n; 0 for those that do not take part.
            step: the step size of this round.
        """
        return

    def server_update(self, clients: Clients, theta: Tensor, move: Tensor) -> None:
        """Change `theta` (d, R) in place, given `move` = sum_n c_n (w_n - theta) (d, R)."""
        theta.add_(move)
