"""Quadratic clients in torch: layout (client, coordinate, run), runs fastest, no allocation inside a round.

Up to `UNROLLED` coordinates a matrix times a vector is one multiply-add a column. Such elementwise operations, and sums
over an outer axis, round alike wherever a run stands in its chunk (the engine keeps the width a multiple of the
processor's vectors), so a run's results do not depend on the batch that it is in. Matrix products (larger d) are much
faster there, but the library may round the last columns differently: then results agree to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

if TYPE_CHECKING:
    from sim.problems import Quadratic

UNROLLED = 16


class QuadraticKernel:
    """A quadratic problem's numbers on a device: N clients, n samples, d coordinates."""

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

    def clients(self, width: int) -> QuadraticClients:
        """Buffers for a chunk of `width` runs."""
        return QuadraticClients(self, width)

    def measures(self) -> Mapping[str, Callable[[Tensor], Tensor]]:
        """Metrics of server models (B, d, R) -> (B, R); those that need a minimiser refuse when there is none.

        f(x) - f* is (x - x*)'H(x - x*)/2, which keeps its digits near x*.
        """
        hessian = self._tensor(self.problem.mean_hessian)[None]

        def suboptimality(theta: Tensor) -> Tensor:
            gap = theta - centre()
            return (times(hessian, gap) * gap).sum(1) / 2

        def cost(theta: Tensor) -> Tensor:
            return suboptimality(theta) + float(self.problem.optimal_value)

        def squared_gradient_norm(theta: Tensor) -> Tensor:
            gradient = times(hessian, theta) - self._tensor(self.problem.mean_linear)[None, :, None]
            return gradient.square_().sum(1)

        def squared_distance(theta: Tensor) -> Tensor:
            return (theta - self._tensor(self.problem.minimiser)[None, :, None]).square_().sum(1)

        def centre() -> Tensor:
            return self._tensor(_some_minimiser(self.problem))[None, :, None]

        return {
            "suboptimality": suboptimality,
            "cost": cost,
            "squared_gradient_norm": squared_gradient_norm,
            "squared_distance": squared_distance,
        }


def _some_minimiser(problem: Quadratic) -> Any:
    """(d,), a minimiser of f, unique or not.

    Raises:
        ValueError: when f is unbounded below.
    """
    from sim.problems.linear_algebra import minimise

    found = minimise(problem.mean_hessian, problem.mean_linear)
    return problem.minimiser if found is None else found[0]  # the first raises, with the reason


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


class QuadraticClients:
    """`sim.kernels.clients.Clients` for quadratics, for one chunk and one thread."""

    def __init__(self, kernel: QuadraticKernel, width: int) -> None:
        self.kernel = kernel
        self.shape = (kernel.number, kernel.dim, width)
        self._buffers: dict[str, Tensor] = {}
        self._shared: dict[str, Tensor] = {}
        self._split: dict[int, tuple[Tensor, ...]] = {}
        self._scaled: tuple[float, Tensor, Tensor, tuple[Tensor, ...]] | None = None
        self._indices: tuple[Tensor, ...] = ()
        self._gathered = self._empty(kernel.dim)
        self._product = self._empty(kernel.dim)
        self._dot = self._empty(1)
        self._target = self._empty(1)

    def _empty(self, dim: int) -> Tensor:
        clients, _, width = self.shape
        return torch.empty((clients, dim, width), dtype=torch.float64, device=self.kernel.device)

    def buffer(self, name: str) -> Tensor:
        """An (N, d, R) tensor of the caller's own: zero at first, kept from round to round."""
        if name not in self._buffers:
            made = self._buffers[name] = self._empty(self.kernel.dim).zero_()
            self._split[id(made)] = made.split(1, dim=1)
        return self._buffers[name]

    def shared(self, name: str, value: float = 0.0) -> Tensor:
        """A (d, R) tensor that server and clients know: `value` at first, kept from round to round."""
        if name not in self._shared:
            self._shared[name] = torch.full(self.shape[1:], value, dtype=torch.float64, device=self.kernel.device)
        return self._shared[name]

    def pick(self, indices: Tensor) -> None:
        """Take the samples of the round: (J, N, R) indices."""
        self._indices = indices.unbind(0)

    def gradient(self, w: Tensor, scale: float, out: Tensor) -> Tensor:
        """out = scale (H_n w - b_n)."""
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
        features = self.kernel.features
        assert features is not None
        torch.gather(features, 2, self._index(draw, self.kernel.dim), out=self._gathered)
        torch.mul(self._gathered, w, out=self._product)
        torch.sum(self._product, 1, keepdim=True, out=self._dot)
        return self._gathered, self._dot

    def add_sample_gradient(self, draw: int, w: Tensor, scale: float, out: Tensor) -> Tensor:
        """out += scale (H_# w - b_#), for least squares 2 scale (q'w - y) q."""
        if self.kernel.targets is not None:
            q, dot = self._feature_dot(draw, w)
            torch.gather(self.kernel.targets, 2, self._index(draw, 1), out=self._target)
            return out.addcmul_(q, dot.sub_(self._target), value=2 * scale)
        assert self.kernel.sample_linear is not None
        self.add_sample_change(draw, w, w, scale, out)
        torch.gather(self.kernel.sample_linear, 2, self._index(draw, self.kernel.dim), out=self._gathered)
        return out.add_(self._gathered, alpha=-scale)

    def add_sample_change(self, draw: int, w: Tensor, move: Tensor, scale: float, out: Tensor) -> Tensor:
        """out += scale H_# move, the same at every w."""
        if self.kernel.features is not None:
            q, dot = self._feature_dot(draw, move)
            return out.addcmul_(q, dot, value=2 * scale)
        assert self.kernel.sample_hessian is not None
        index = self._index(draw, self.kernel.dim)
        for j, row in enumerate(self._coordinates(move)):
            torch.gather(self.kernel.sample_hessian[j], 2, index, out=self._gathered)
            out.addcmul_(self._gathered, row, value=scale)
        return out
