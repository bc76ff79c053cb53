"""The local steps that the averaged algorithms have in common, as data, and their execution in torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from sim.kernels.clients import Clients


@dataclass(frozen=True)
class LocalSteps:
    """K local steps w <- decay w + shift - scale g, with g the mean gradient of a fresh minibatch, taken at

        w - ahead                          without a radius,
        w - ahead + radius h/||h||         with one, h the mean gradient of the same minibatch at w - ahead.

    Where h = 0 the second is the first. Shapes: S slots, d coordinates, R runs.

    Attributes:
        steps: K >= 1.
        batch: samples of a minibatch, >= 1; those of step m are the draws m batch, ..., m batch + batch - 1.
        scale: a number.
        decay: a number.
        shift: (d, R) or (S, d, R); None for 0.
        ahead: (d, R) or (S, d, R); None for 0.
        radius: >= 0.
    """

    steps: int
    batch: int
    scale: float
    decay: float = 1.0
    shift: Tensor | None = None
    ahead: Tensor | None = None
    radius: float = 0.0


def steps_in_torch(clients: Clients, plan: LocalSteps, w: Tensor) -> Tensor:
    """The models (S, d, R) after the plan's steps from w (S, d, R), in `w` or in a buffer."""
    following = clients.buffer("following")
    moved = plan.ahead is not None or plan.radius > 0
    for m in range(plan.steps):
        draws = range(m * plan.batch, (m + 1) * plan.batch)
        point = clients.buffer("gradient point").copy_(w) if moved else w
        if plan.ahead is not None:
            point.sub_(plan.ahead)
        if plan.radius > 0:
            slope = clients.add_batch_gradient(draws, point, 1.0, out=clients.buffer("slope").zero_())
            # where all of h is 0, h over the smallest normal number is 0 too
            length = slope.square().sum(1, keepdim=True).sqrt_().clamp_(min=2.0**-1022)
            point.add_(slope.div_(length), alpha=plan.radius)
        following.copy_(w)
        if plan.decay != 1:
            following.mul_(plan.decay)
        if plan.shift is not None:
            following.add_(plan.shift)
        clients.add_batch_gradient(draws, point, -plan.scale, out=following)
        w, following = following, w
    return w
