"""Ridge logistic and softmax regression for the simulator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sim.problems.logistic import RidgeLogistic
from sim.problems.softmax import RidgeSoftmax
from sim.simulate.functions import (
    Functions,
    Sample,
    batch_mean,
    of_each_run,
    of_samples,
    product,
    product_of_each,
    tensor_of,
)

if TYPE_CHECKING:
    import torch

    Tensor = torch.Tensor


class LogisticFunctions(Functions):
    """f_n(w) = ridge/2 norm2(w) + mean_j log(1 + exp(-a_j.w)), a_j = y_j x_j.

    Args:
        problem: whose functions they are.
        device: where they live.
    """

    def __init__(self, problem: RidgeLogistic, device: torch.device) -> None:
        self.clients, self.dim, self.ridge = problem.clients, problem.dim, problem.ridge
        self.counts = np.full(problem.clients, problem.samples)
        self._rows = tensor_of(problem.labels[..., None] * problem.features, device)  # (N, n, d)
        self._columns = self._rows.transpose(1, 2).contiguous()  # (N, d, n)

    @property
    def work(self) -> int:
        return self.clients * (2 * self.dim + 3 * int(self.counts[0]))

    def _margins(self, v: Tensor, who: Tensor | None) -> Tensor:
        """(N or 1, n, R)."""
        if who is None:
            return product(self._rows, v.expand(self.clients, -1, -1))
        return product_of_each(of_each_run(self._rows, who), v)

    def _pulled(self, slopes: Tensor, who: Tensor | None) -> Tensor:
        """(N or 1, d, R), the mean of slopes (N or 1, n, R) times a_j."""
        if who is None:
            return product(self._columns, slopes).div_(slopes.shape[1])
        return product_of_each(of_each_run(self._columns, who), slopes).div_(slopes.shape[1])

    def gradient(self, v: Tensor, who: Tensor | None = None) -> Tensor:
        slopes = self._margins(v, who).neg_().sigmoid_()
        return v * self.ridge - self._pulled(slopes, who)

    def sample_gradient(self, v: Tensor, sample: Sample, who: Tensor | None = None) -> Tensor:
        return batch_mean([self._one(v, sample, b, who) for b in range(len(sample.index))])

    def _one(self, v: Tensor, sample: Sample, b: int, who: Tensor | None) -> Tensor:
        a = sample.keep(b, lambda: picked(self._rows, self._columns, sample.index[b], who))
        slope = self.dot(a, v).neg_().sigmoid_()
        return v * self.ridge - a * slope

    def value(self, v: Tensor, who: Tensor | None = None) -> Tensor:
        import torch

        losses = torch.nn.functional.softplus(-self._margins(v, who), threshold=40.0)
        return losses.mean(1) + self.ridge / 2 * v.square().sum(1)

    def hessian(self, v: Tensor, who: Tensor | None = None) -> Tensor:
        import torch

        margins = self._margins(v, who)
        weights = margins.sigmoid() * (-margins).sigmoid() / margins.shape[1]
        if who is None:
            found = torch.einsum("njr,njd,nje->nder", weights, self._rows, self._rows)
        else:
            rows = of_each_run(self._rows, who)
            found = torch.einsum("njr,njdr,njer->nder", weights, rows, rows)
        return found + self.ridge * torch.eye(self.dim, dtype=v.dtype, device=v.device)[..., None]


class SoftmaxFunctions(Functions):
    """f_n(W) = ridge/2 norm2(W) + mean_j (log sum_c exp(w_c.x_j) - w_{y_j}.x_j); W row by row.

    Args:
        problem: whose functions they are.
        device: where they live.
    """

    def __init__(self, problem: RidgeSoftmax, device: torch.device) -> None:
        self.clients, self.dim, self.ridge = problem.clients, problem.dim, problem.ridge
        self.classes, self.inputs = problem.classes, problem.inputs
        self.counts = np.full(problem.clients, problem.samples)
        self._rows = tensor_of(problem.features, device)  # (N, n, p)
        self._columns = self._rows.transpose(1, 2).contiguous()  # (N, p, n)
        one_hot = np.eye(problem.classes)[problem.labels]  # (N, n, C)
        self._labels = tensor_of(one_hot, device)
        self._sample_labels = tensor_of(np.moveaxis(one_hot, 1, -1), device)  # (N, C, n)

    @property
    def work(self) -> int:
        return self.clients * (4 * self.dim + 4 * int(self.counts[0]) * self.classes)

    def _matrix(self, v: Tensor) -> Tensor:
        """(N or 1, C, p, R)."""
        return v.reshape(v.shape[0], self.classes, self.inputs, v.shape[2])

    def _logits(self, v: Tensor, who: Tensor | None) -> Tensor:
        """(N or 1, n, C, R)."""
        matrix = self._matrix(v)
        if who is not None:
            rows = of_each_run(self._rows, who)  # (1, n, p, R)
            return (rows[:, :, None] * matrix[:, None]).sum(3)
        swapped = matrix.transpose(1, 2).flatten(2).expand(self.clients, -1, -1)  # (N, p, C R)
        return product(self._rows, swapped).unflatten(2, (self.classes, -1))

    def _labels_of(self, who: Tensor | None) -> Tensor:
        """(N or 1, n, C, R or 1)."""
        return self._labels[..., None] if who is None else of_each_run(self._labels, who)

    def gradient(self, v: Tensor, who: Tensor | None = None) -> Tensor:
        errors = self._logits(v, who).softmax(2).sub_(self._labels_of(who))  # (N or 1, n, C, R)
        if who is None:
            pulled = product(self._columns, errors.flatten(2)).unflatten(2, (self.classes, -1)).transpose(1, 2)
        else:
            pulled = (of_each_run(self._rows, who)[:, :, None] * errors[:, :, :, None]).sum(1)
        return v * self.ridge + pulled.reshape(-1, self.dim, v.shape[2]) / errors.shape[1]

    def sample_gradient(self, v: Tensor, sample: Sample, who: Tensor | None = None) -> Tensor:
        return batch_mean([self._one(v, sample, b, who) for b in range(len(sample.index))])

    def _one(self, v: Tensor, sample: Sample, b: int, who: Tensor | None) -> Tensor:
        x = sample.keep(("x", b), lambda: picked(self._rows, self._columns, sample.index[b], who))  # (N or 1, p, R)
        y = sample.keep(("y", b), lambda: picked(self._labels, self._sample_labels, sample.index[b], who))
        errors = (self._matrix(v) * x[:, None]).sum(2).softmax(1) - y  # (N or 1, C, R)
        return v * self.ridge + (errors[:, :, None] * x[:, None]).flatten(1, 2)

    def value(self, v: Tensor, who: Tensor | None = None) -> Tensor:
        logits = self._logits(v, who)
        losses = logits.logsumexp(2) - (logits * self._labels_of(who)).sum(2)
        return losses.mean(1) + self.ridge / 2 * v.square().sum(1)

    def hessian(self, v: Tensor, who: Tensor | None = None) -> Tensor:
        import torch

        chances = self._logits(v, who).softmax(2)
        rows = self._rows[..., None].expand(*self._rows.shape, v.shape[2])
        if who is not None:
            rows = of_each_run(self._rows, who)
        eye = torch.eye(self.classes, dtype=v.dtype, device=v.device)[..., None]
        spread = chances[:, :, :, None] * eye - chances[:, :, :, None] * chances[:, :, None]  # (., n, C, C, R)
        found = torch.einsum("njcer,njpr,njqr->ncpeqr", spread, rows, rows) / chances.shape[1]
        square = found.reshape(found.shape[0], self.dim, self.dim, -1)
        return square + self.ridge * torch.eye(self.dim, dtype=v.dtype, device=v.device)[..., None]


def picked(rows: Tensor, columns: Tensor, index: Tensor, who: Tensor | None) -> Tensor:
    """(N or 1, p, R), of rows (N, n, p), which are columns (N, p, n) too, those of a sample of each client, or of who.

    One client in each run: a few rows are taken from where they are, and the others are not read.
    """
    if who is None:
        return of_samples(columns, index, None)
    return rows.flatten(0, 1).index_select(0, who * rows.shape[1] + index[0]).T[None].contiguous()
