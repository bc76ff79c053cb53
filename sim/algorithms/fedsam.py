"""FedSAM: sharpness-aware local steps."""

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
class FedSAM(AveragedAlgorithm):
    """Local steps w <- w - step grad f_#(w + radius g/||g||), g = grad f_#(w) with the same minibatch.

    Where g = 0 the gradient is taken at w.

    Source: Qu, Li, Duan, Liu, Tang, Lu: "Generalized Federated Learning via Sharpness Aware Minimization" (2022),
    Algorithm 1 (FedSAM, without the momentum of MoFedSAM).

    Attributes:
        step, local_steps, batch, aggregation, empty: see `AveragedAlgorithm`.
        radius: >= 0; 0 is FedAvg.

    Raises:
        ValueError: at construction, when an attribute is outside its domain.
    """

    radius: Number = 0.05
    name: str = "fedsam"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "radius", checked_weight(self.radius, "radius"))

    def plan(self, clients: Clients, w: Tensor, step: float) -> LocalSteps:
        """See `AveragedAlgorithm.plan`."""
        return LocalSteps(self.local_steps, self.batch, step, radius=float(self.radius))
