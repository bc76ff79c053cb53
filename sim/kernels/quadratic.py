"""Quadratic clients in torch: layout (client, coordinate, run), runs fastest, no allocation inside a round.

Up to `UNROLLED` coordinates a matrix times a vector is one multiply-add a column. Such elementwise operations, and sums
over an outer axis, round alike wherever a run stands in its chunk (the engine keeps the width a multiple of the
processor's vectors), so a run's results do not depend on the batch that it is in. Matrix products (larger d) are much
faster there, but the library may round the last columns differently: then results agree to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from sim.kernels.clients import Memories
from sim.kernels.local_steps import LocalSteps, steps_in_torch
from sim.problems.quadratic import some_minimiser

if TYPE_CHECKING:
    from sim.problems import Quadratic

UNROLLED = 16


class QuadraticKernel:
    """A quadratic problem's numbers on a device: N clients, n samples, d coordinates."""

    metrics: Sequence[str] = ("suboptimality", "cost", "squared_gradient_norm", "squared_distance")

    def __init__(self, problem: Quadratic, device: torch.device) -> None:
        self.problem = problem
        self.device = device
        self.dim = problem.dim
        self.number = problem.clients
        self.counts = problem.counts
        self.hessian = self._tensor(problem.client_hessian)
        self.linear = self._tensor(problem.client_linear)[:, :, None]
        self.features = self.targets = self.sample_hessian = self.sample_linear = None
        if problem.features is not None:
            # H = 2qq': d numbers a sample instead of d^2; samples last, so that a gather writes runs contiguously
            self.features = self._tensor(problem.features).transpose(1, 2).contiguous()
            self.targets = self._tensor(problem.targets)[:, None, :].contiguous()
        else:
            self.sample_hessian = self._tensor(problem.hessian).permute(3, 0, 2, 1).contiguous()
            self.sample_linear = self._tensor(problem.linear).transpose(1, 2).contiguous()

    def _tensor(self, values: Any) -> Tensor:
        return torch.from_numpy(np.array(values, dtype=np.float64)).to(self.device)

    def clients(self, width: int, slots: int | None = None, live: int | None = None) -> QuadraticClients:
        """Buffers for a chunk of `width` runs. See `sim.kernels.clients.Kernel`."""
        return QuadraticClients(self, width, slots)

    def measure(self, names: Sequence[str], theta: Tensor, live: int) -> Mapping[str, Tensor]:
        """Metrics of server models (B, d, R) -> (B, R); those that need a minimiser refuse when there is none."""
        known: dict[str, Callable[[Tensor], Tensor]] = {
            "suboptimality": self._suboptimality,
            "cost": self._cost,
            "squared_gradient_norm": self._squared_gradient_norm,
            "squared_distance": self._squared_distance,
        }
        return {name: known[name](theta) for name in names}

    @cached_property
    def _mean_hessian(self) -> Tensor:
        return self._tensor(self.problem.mean_hessian)[None]

    @cached_property
    def _mean_linear(self) -> Tensor:
        return self._tensor(self.problem.mean_linear)[None, :, None]

    @cached_property
    def _some_minimiser(self) -> Tensor:
        return self._tensor(some_minimiser(self.problem))[None, :, None]

    def _suboptimality(self, theta: Tensor) -> Tensor:
        """f(x) - f* is (x - x*)'H(x - x*)/2, which keeps its digits near x*."""
        gap = theta - self._some_minimiser
        return (times(self._mean_hessian, gap) * gap).sum(1) / 2

    def _cost(self, theta: Tensor) -> Tensor:
        return self._suboptimality(theta) + float(self.problem.optimal_value)

    def _squared_gradient_norm(self, theta: Tensor) -> Tensor:
        return times(self._mean_hessian, theta).sub_(self._mean_linear).square_().sum(1)

    def _squared_distance(self, theta: Tensor) -> Tensor:
        return (theta - self._tensor(self.problem.minimiser)[None, :, None]).square_().sum(1)


def times(matrix: Tensor, vectors: Tensor, out: Tensor | None = None) -> Tensor:
    """Matrices (B or 1, d, d) times vectors (B, d, R), to (B, d, R); see the module about rounding."""
    d = vectors.shape[1]
    if d > UNROLLED:
        return torch.matmul(matrix, vectors) if out is None else torch.matmul(matrix, vectors, out=out)
    columns, rows = matrix.split(1, dim=2), vectors.split(1, dim=1)
    result = torch.mul(columns[0], rows[0]) if out is None else torch.mul(columns[0], rows[0], out=out)
    for j in range(1, d):
        result.addcmul_(columns[j], rows[j])
    return result


class QuadraticClients(Memories):
    """`sim.kernels.clients.Clients` for quadratics, for one chunk and one thread."""

    def __init__(self, kernel: QuadraticKernel, width: int, slots: int | None) -> None:
        super().__init__(kernel.number, slots, kernel.dim, width, kernel.device)
        self.kernel, self.selects = kernel, slots is not None
        self._split: dict[int, tuple[Tensor, ...]] = {}
        self._scaled: tuple[float, Tensor, Tensor, tuple[Tensor, ...]] | None = None
        self._indices: tuple[Tensor, ...] = ()
        self._first: Tensor | None = None
        self._gathered = self.empty(kernel.dim)
        self._product = self.empty(kernel.dim)
        self._dot = self.empty(1)
        self._target = self.empty(1)
        self._features, self._targets = self._samples(kernel.features), self._samples(kernel.targets)
        self._linear = self._samples(kernel.sample_linear)
        rows = () if kernel.sample_hessian is None else kernel.sample_hessian
        self._rows = [row for row in map(self._samples, rows) if row is not None]

    def _samples(self, values: Tensor | None) -> Tensor | None:
        """(N, d, n) as it is; where clients are chosen (S, d, N n), the samples of all clients for each slot."""
        if values is None or not self.selects:
            return values
        return values.transpose(0, 1).flatten(1)[None].expand(self.shape[0], -1, -1)

    def buffer(self, name: str) -> Tensor:
        """See `Memories`."""
        made = super().buffer(name)
        if id(made) not in self._split:
            self._split[id(made)] = made.split(1, dim=1)
        return made

    def begin(self, chosen: Tensor | None) -> None:
        """See `Memories`."""
        super().begin(chosen)
        self._first = None if chosen is None else chosen * self.kernel.problem.samples

    def pick(self, indices: Tensor) -> None:
        """Take the samples of the round: (J, S, R) indices."""
        self._indices = (indices if self._first is None else indices + self._first).unbind(0)

    def steps(self, plan: LocalSteps, w: Tensor) -> Tensor:
        """See `Clients`."""
        return steps_in_torch(self, plan, w)

    def gradient(self, w: Tensor, scale: float, out: Tensor) -> Tensor:
        """out = scale (H_n w - b_n), where all clients are computed."""
        assert not self.selects
        if self._scaled is None or self._scaled[0] != scale:
            hessian = self.kernel.hessian * scale
            self._scaled = (scale, hessian, self.kernel.linear * scale, hessian.split(1, dim=2))
        _, hessian, linear, columns = self._scaled
        if self.kernel.dim > UNROLLED:
            torch.bmm(hessian, w, out=out)
        else:
            rows = self._coordinates(w)
            torch.mul(columns[0], rows[0], out=out)
            for j in range(1, self.kernel.dim):
                out.addcmul_(columns[j], rows[j])
        return out.sub_(linear)

    def _coordinates(self, w: Tensor) -> tuple[Tensor, ...]:
        """(N, 1, R) views of each coordinate; those of buffers, which live as long as this object, are at hand."""
        return self._split.get(id(w)) or w.split(1, dim=1)

    def _index(self, draw: int, dim: int) -> Tensor:
        clients, _, width = self.shape
        return self._indices[draw][:, None, :].expand(clients, dim, width)

    def _feature_dot(self, draw: int, w: Tensor) -> tuple[Tensor, Tensor]:
        """The features q of the samples picked, (N, d, R), and q'w, (N, 1, R)."""
        assert self._features is not None
        torch.gather(self._features, 2, self._index(draw, self.kernel.dim), out=self._gathered)
        torch.mul(self._gathered, w, out=self._product)
        torch.sum(self._product, 1, keepdim=True, out=self._dot)
        return self._gathered, self._dot

    def add_batch_gradient(self, draws: range, w: Tensor, scale: float, out: Tensor) -> Tensor:
        """out += scale mean (H_# w - b_#), for least squares the mean of 2 (q'w - y) q."""
        for draw in draws:
            self._add_sample_gradient(draw, w, scale / len(draws), out)
        return out

    def _add_sample_gradient(self, draw: int, w: Tensor, scale: float, out: Tensor) -> Tensor:
        if self._targets is not None:
            q, dot = self._feature_dot(draw, w)
            torch.gather(self._targets, 2, self._index(draw, 1), out=self._target)
            return out.addcmul_(q, dot.sub_(self._target), value=2 * scale)
        assert self._linear is not None
        self.add_sample_change(draw, w, w, scale, out)
        torch.gather(self._linear, 2, self._index(draw, self.kernel.dim), out=self._gathered)
        return out.add_(self._gathered, alpha=-scale)

    def add_sample_change(self, draw: int, w: Tensor, move: Tensor, scale: float, out: Tensor) -> Tensor:
        """out += scale H_# move, the same at every w."""
        if self._features is not None:
            q, dot = self._feature_dot(draw, move)
            return out.addcmul_(q, dot, value=2 * scale)
        index = self._index(draw, self.kernel.dim)
        for j, row in enumerate(self._coordinates(move)):
            torch.gather(self._rows[j], 2, index, out=self._gathered)
            out.addcmul_(self._gathered, row, value=scale)
        return out
