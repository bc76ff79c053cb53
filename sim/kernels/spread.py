"""How far the clients of a round are from the server's next model."""

from __future__ import annotations

import torch
from torch import Tensor


class Spread:
    """The mean squared distance of the clients' final models from the server's next one, round by round."""

    def __init__(self, like: Tensor, rounds: int) -> None:
        """Shapes: `like` (S, d, R), K = `rounds`."""
        self.values = torch.empty((rounds, like.shape[2])).to(like)
        self._gap = torch.empty_like(like)
        self._old = torch.empty_like(like[0])

    def before(self, theta: Tensor, moves: Tensor) -> None:
        """Remember theta (d, R) and w_n - theta (S, d, R)."""
        self._old.copy_(theta)
        self._gap.copy_(moves)

    def after(self, k: int, theta: Tensor, weight: Tensor) -> None:
        """Record round k, which led to theta (d, R), with weights (S, 1, R) or (S, 1, 1)."""
        present = (weight > 0).to(theta)
        squares = self._gap.sub_(theta - self._old).square_().sum(1, keepdim=True)
        self.values[k] = (squares * present).sum(0)[0] / present.sum(0)[0].clamp_(min=1)
