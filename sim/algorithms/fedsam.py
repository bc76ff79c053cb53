"""FedSAM: sharpness-aware local steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sim.algorithms.averaged import AveragedAlgorithm, checked_weight
from sim.algorithms.schedule import Number

if TYPE_CHECKING:
    from torch import Tensor

    from sim.kernels.clients import Clients


@dataclass(frozen=True)
class FedSAM(AveragedAlgorithm):
    """Local steps w <- w - step grad f_#(w + radius g/||g||), g = grad f_#(w) with the same sample.

    Where g = 0 the gradient is taken at w.

    Source: Qu, Li, Duan, Liu, Tang, Lu: "Generalized Federated Learning via Sharpness Aware Minimization" (2022),
    Algorithm 1 (FedSAM, without the momentum of MoFedSAM).

    Attributes:
        step, local_steps, aggregation, empty: see `AveragedAlgorithm`.
        radius: >= 0; 0 is FedAvg.

    Raises:
        ValueError: at construction, when an attribute is outside its domain.
    """

    radius: Number = 0.05
    name: str = "fedsam"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "radius", checked_weight(self.radius, "radius"))

    def local_update(self, clients: Clients, w: Tensor, step: float) -> Tensor:
        """Local steps. Shapes: w (N, d, R). See `Algorithm.local_update`."""
        following, point = clients.buffer("following"), clients.buffer("gradient point")
        for m in range(self.local_steps):
            clients.add_sample_gradient(m, w, 1.0, out=point.zero_())
            # where all of g is 0, g over the smallest normal number is 0 too
            length = point.square().sum(1, keepdim=True).sqrt_().clamp_(min=2.0**-1022)
            point.div_(length).mul_(float(self.radius)).add_(w)
            clients.add_sample_gradient(m, point, -step, out=following.copy_(w))
            w, following = following, w
        return w
