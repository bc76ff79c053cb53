"""Any differentiable loss for the simulator, by torch's automatic differentiation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from sim.problems.torch_loss import TorchLoss
from sim.simulate.functions import Functions, Sample

if TYPE_CHECKING:
    import torch

    Tensor = torch.Tensor


class LossFunctions(Functions):
    """f_n is the mean of a loss over the client's samples.

    Args:
        problem: the loss and its data.
        device: where the data live.
    """

    def __init__(self, problem: TorchLoss, device: torch.device) -> None:
        import torch

        self.clients, self.dim, self.counts = problem.clients, problem.dim, problem.counts
        self._pair = isinstance(problem.data[0], tuple)
        most = int(self.counts.max())
        parts = [one if isinstance(one, tuple) else (one,) for one in problem.data]

        def stacked(j: int) -> Tensor:
            rows = []
            for one in parts:
                part = one[j] if isinstance(one[j], torch.Tensor) else torch.from_numpy(np.array(one[j]))
                # the last sample again, where others have more: its weight is 0
                rows.append(torch.cat([part, part[-1:].expand(most - len(part), *part.shape[1:])]))
            return torch.stack(rows).to(device)

        self._data = tuple(stacked(j) for j in range(len(parts[0])))  # each (N, n, ...)
        own = np.arange(most)[None, :] < self.counts[:, None]
        self._weights = torch.from_numpy(own / self.counts[:, None]).to(device)
        self._loss = problem.loss

    @property
    def work(self) -> int:
        """As `Functions`: what differentiation keeps cannot be known; this is for a small network's worth."""
        entries = sum(int(np.prod(part.shape[2:])) for part in self._data)
        return self.clients * int(self.counts.max()) * (8 * self.dim + 4 * entries)

    def _one(self, x: Tensor, data: tuple[Tensor, ...]) -> Tensor:
        found: Tensor = self._loss(x, data if self._pair else data[0])
        return found

    def _mean(self, x: Tensor, data: tuple[Tensor, ...], weights: Tensor) -> Tensor:
        """Of one client: samples' data (n, ...), weights (n,)."""
        import torch

        losses = torch.func.vmap(self._one, in_dims=(None, 0))(x, data)
        return (losses * weights).sum()

    def _map(self, function: Callable[..., Any], v: Tensor, who: Tensor | None) -> Tensor:
        """A function of one client's x, data and weights, over clients and runs: (N or 1, R, ...)."""
        import torch

        points = v.transpose(1, 2)
        if who is not None:
            data = tuple(part[who][None] for part in self._data)
            inner = torch.func.vmap(function)
            return torch.func.vmap(inner)(points, data, self._weights[who][None])
        inner = torch.func.vmap(function, in_dims=(0, None, None))
        return torch.func.vmap(inner)(points.expand(self.clients, -1, -1), self._data, self._weights)

    def gradient(self, v: Tensor, who: Tensor | None = None) -> Tensor:
        import torch

        return self._map(torch.func.grad(self._mean), v, who).transpose(1, 2).contiguous()

    def sample_gradient(self, v: Tensor, sample: Sample, who: Tensor | None = None) -> Tensor:
        import torch

        index = sample.index  # (B, N or 1, R)
        owner = torch.arange(self.clients, device=v.device)[:, None] if who is None else who
        data = tuple(part[owner, index].movedim(0, 2) for part in self._data)  # (N or 1, R, B, ...)
        weights = torch.full((len(index),), 1 / len(index), dtype=v.dtype, device=v.device)
        inner = torch.func.vmap(torch.func.grad(self._mean), in_dims=(0, 0, None))
        points = v.expand(index.shape[1], -1, -1).transpose(1, 2)
        return torch.func.vmap(inner, in_dims=(0, 0, None))(points, data, weights).transpose(1, 2).contiguous()

    def value(self, v: Tensor, who: Tensor | None = None) -> Tensor:
        return self._map(self._mean, v, who)

    def hessian(self, v: Tensor, who: Tensor | None = None) -> Tensor:
        import torch

        return self._map(torch.func.jacrev(torch.func.jacrev(self._mean)), v, who).permute(0, 2, 3, 1).contiguous()
