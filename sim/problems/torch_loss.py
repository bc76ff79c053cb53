"""Any loss that torch can differentiate, of a point and one sample's data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sim.arguments import integer

if TYPE_CHECKING:
    import torch

    from sim.simulate.functions import Functions


@dataclass(frozen=True, eq=False, repr=False)
class TorchLoss:
    """f_ni(x) = loss(x, data of sample i of client n), f_n = mean_i f_ni, f = mean_n f_n.

    The gradients are torch's own, of all runs at once by ``torch.func.vmap``: the loss may not branch on values, nor
    change its arguments. A run's numbers may depend on the runs beside it in their last bits.

    Attributes:
        loss: of x (d,) and one sample's data; gives a tensor without dimensions, float64.
        data: of each client, a tensor or array whose first axis are its samples; or a tuple of such, and then the loss
            takes a tuple.
        dim: d.

    Raises:
        ValueError: without clients or samples, or where shapes of samples differ between clients.
    """

    loss: Callable[..., Any]
    data: Sequence[Any]
    dim: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "dim", integer("dim", self.dim, 1))
        rows = [one if isinstance(one, tuple) else (one,) for one in self.data]
        if not rows or not all(len(part) for one in rows for part in one):
            raise ValueError("data is empty, or a client has no samples")
        for n, one in enumerate(rows):
            if len({len(part) for part in one}) > 1:
                raise ValueError(f"data[{n}] has parts of {[len(part) for part in one]} samples")
            if [tuple(part.shape[1:]) for part in one] != [tuple(part.shape[1:]) for part in rows[0]]:
                raise ValueError(f"the samples of data[{n}] have other shapes than those of data[0]")
        object.__setattr__(self, "data", tuple(self.data))

    def __repr__(self) -> str:
        return f"TorchLoss(clients={self.clients}, samples={int(self.counts.max())}, dim={self.dim})"

    @property
    def clients(self) -> int:
        """N."""
        return len(self.data)

    @property
    def counts(self) -> Any:
        """(N,) int64, the clients' samples."""
        return np.array([len(one[0]) if isinstance(one, tuple) else len(one) for one in self.data])

    def functions(self, device: torch.device) -> Functions:
        """For `sim.simulate`."""
        from sim.simulate.losses import LossFunctions

        return LossFunctions(self, device)
