"""The local steps that the averaged algorithms have in common, as data, and their execution in torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from sim.kernels.clients import Clients


@dataclass(frozen=True)
class LocalSteps:
    """K local steps w <- w + shift - scale g, with g the mean gradient of a fresh minibatch at w - ahead.

    Shapes: S slots, d coordinates, R runs.

    Attributes:
        steps: K >= 1.
        batch: samples of a minibatch, >= 1; those of step m are the draws m batch, ..., m batch + batch - 1.
        scale: a number.
        shift: (d, R) or (S, d, R); None for 0.
        ahead: (d, R) or (S, d, R); None for 0.
    """

    steps: int
    batch: int
    scale: float
    shift: Tensor | None = None
    ahead: Tensor | None = None


def steps_in_torch(clients: Clients, plan: LocalSteps, w: Tensor) -> Tensor:
    """The models (S, d, R) after the plan's steps from w (S, d, R), in `w` or in a buffer."""
    following = clients.buffer("following")
    for m in range(plan.steps):
        draws = range(m * plan.batch, (m + 1) * plan.batch)
        point = w
        if plan.ahead is not None:
            point = clients.buffer("gradient point").copy_(w).sub_(plan.ahead)
        following.copy_(w)
        if plan.shift is not None:
            following.add_(plan.shift)
        clients.add_batch_gradient(draws, point, -plan.scale, out=following)
        w, following = following, w
    return w
