"""Softmax and logistic regression in torch, with local steps that can be compiled; layout of `sim.kernels.quadratic`.

A model is a matrix W of C rows, one a class, and F features; logistic regression has the one row w. Local steps take
elementwise operations and sums over outer axes alone, so a run's models do not depend on the batch that it is in.
Metrics take matrix products, which may.

Shapes: N clients, n samples each, S slots, R runs, d = C F coordinates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from sim.kernels.clients import Memories
from sim.kernels.local_steps import LocalSteps, steps_in_torch

if TYPE_CHECKING:
    from sim.problems.regression import RidgeRegression

# Elements of a tensor of logits that are made at once when a whole data set is measured.
_LOGITS = 1 << 16


class RegressionKernel:
    """`sim.kernels.clients.Kernel` of `RidgeSoftmax` and `RidgeLogistic`."""

    metrics: Sequence[str] = ("suboptimality", "cost", "squared_gradient_norm", "squared_distance", "accuracy")
    compiles = True

    def __init__(self, problem: RidgeRegression, device: torch.device) -> None:
        """Copy the problem's data to the device. Labels are 0..C-1, or -1 and 1 when C = 1 (logistic regression)."""
        self.problem, self.device = problem, device
        self.dim, self.ridge = problem.dim, problem.ridge
        self.number, self.samples, self.inputs = problem.features.shape
        self.classes = problem.dim // self.inputs
        self.counts = np.full(self.number, self.samples)
        self.features = torch.tensor(problem.features, device=device).flatten(0, 1)  # (N n, F), and (N n,)
        self.labels = torch.tensor(problem.labels, device=device).flatten().long()

    def clients(
        self, width: int, slots: int | None = None, live: int | None = None, compiled: bool = False
    ) -> RegressionClients:
        """Buffers for a chunk of `width` runs. See `sim.kernels.clients.Kernel`."""
        return RegressionClients(self, width, slots, width if live is None else live, compiled)

    def measure(self, names: Sequence[str], theta: Tensor, live: int) -> Mapping[str, Tensor]:
        """Metrics (B, live) of server models (B, d, R): of f, the mean of all clients' functions.

        "accuracy" is that of the class with the largest logit, one of those at random where there are several.
        "suboptimality" is a difference of two costs: below about 1e-15 of them it is their rounding.
        """
        found, theta = {}, theta[..., :live]
        if "squared_distance" in names:
            best = torch.tensor(self.problem.minimiser, device=self.device)
            found["squared_distance"] = (theta - best[:, None]).square_().sum(1)
        if set(names) - {"squared_distance"}:
            each = [self._whole(point, "accuracy" in names, "squared_gradient_norm" in names) for point in theta]
            for i, name in enumerate(("cost", "accuracy", "squared_gradient_norm")):
                found[name] = torch.stack([values[i] for values in each])
            if "suboptimality" in names:
                found["suboptimality"] = found["cost"] - self.problem.optimal_value
        return {name: found[name] for name in names}

    def _whole(self, theta: Tensor, hits: bool, slopes: bool) -> tuple[Tensor, Tensor, Tensor]:
        """Cost, accuracy (if `hits`) and squared norm of the gradient (if `slopes`), each (R,), at theta (d, R)."""
        total, width = len(self.labels), theta.shape[1]
        matrix = theta.reshape(self.classes, self.inputs, width).transpose(0, 1).flatten(1)  # (F, C R)
        loss, right, gradient = theta.new_zeros(width), theta.new_zeros(width), torch.zeros_like(matrix)
        size = max(1, _LOGITS // matrix.shape[1])
        for x, y in zip(self.features.split(size), self.labels.split(size), strict=True):
            logits, labels = (x @ matrix).view(len(x), self.classes, width), y[:, None].expand(-1, width)
            if hits:
                right += self._hits(logits, labels).sum(0)
            losses, errors = self.losses(logits, labels)
            loss += losses.sum(0)
            if slopes:
                gradient.addmm_(x.T, errors.flatten(1))
        cost = loss / total + self.ridge / 2 * theta.square().sum(0)
        gradient = (gradient / total).view(self.inputs, self.classes, width).transpose(0, 1).reshape(theta.shape)
        return cost, right / total, gradient.add_(theta, alpha=self.ridge).square_().sum(0)

    def _hits(self, logits: Tensor, labels: Tensor) -> Tensor:
        """(M, R), the probabilities that the samples are classified right; logits (M, C, R), labels (M, R)."""
        if self.classes == 1:
            return (logits[:, 0] * labels).sign_().add_(1).div_(2)
        top = logits.amax(1)
        best = torch.eq(logits, top[:, None], out=torch.empty_like(logits)).sum(1)
        return (logits.gather(1, labels[:, None])[:, 0] == top) / best

    def losses(self, logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """The losses (..., R) without the ridge, and their derivatives (..., C, R) in the logits.

        Args:
            logits: (..., C, R); they become the derivatives.
            labels: (..., R).
        """
        if self.classes == 1:
            y = labels[..., None, :]
            negative = logits.mul_(y).neg_()
            # log(1 + exp(t)) without overflow
            losses = negative.abs().neg_().exp_().log1p_().add_(negative.clamp(min=0))
            return losses[..., 0, :], negative.sigmoid_().mul_(y).neg_()
        at = labels[..., None, :]
        logits.sub_(logits.amax(-2, keepdim=True))
        true = logits.gather(-2, at)
        sums = logits.exp_().sum(-2, keepdim=True)
        errors = logits.div_(sums).scatter_add_(-2, at, logits.new_full((1,), -1.0).expand(at.shape))
        return sums.log_().sub_(true)[..., 0, :], errors


class RegressionClients(Memories):
    """`sim.kernels.clients.Clients` for these regressions, for one chunk and one thread."""

    def __init__(self, kernel: RegressionKernel, width: int, slots: int | None, live: int, compiled: bool) -> None:
        super().__init__(kernel.number, slots, kernel.dim, width, kernel.device)
        self.kernel, self.live, self.selects = kernel, live, slots is not None
        self._first = kernel.samples * torch.arange(kernel.number, device=kernel.device)[:, None]
        self._picked = torch.empty((0, self.shape[0], width), dtype=torch.int64, device=kernel.device)
        self._columns = kernel.features.T.contiguous()[None].expand(self.shape[0], -1, -1)  # (S, F, N n)
        self._inputs = self.empty(kernel.inputs)
        self._products = torch.empty((self.shape[0], kernel.classes, kernel.inputs, width)).to(self._inputs)
        self._compiled = None
        if compiled:
            from sim.kernels.regression_numba import CompiledSteps

            self._compiled = CompiledSteps(kernel)

    def begin(self, chosen: Tensor | None) -> None:
        """See `Memories`."""
        super().begin(chosen)
        if chosen is not None:
            self._first = chosen * self.kernel.samples

    def pick(self, indices: Tensor) -> None:
        """Take the samples of the round: (J, S, R) indices; kept as numbers among the samples of all clients."""
        self._picked = indices + self._first

    def steps(self, plan: LocalSteps, w: Tensor) -> Tensor:
        """See `Clients`."""
        if self._compiled is None:
            return steps_in_torch(self, plan, w)
        self._compiled(plan, self._picked, w, self.live)
        return w

    def add_batch_gradient(self, draws: range, w: Tensor, scale: float, out: Tensor) -> Tensor:
        """See `Clients`. With e the errors in the logits W x, a sample's gradient is e x' + ridge W."""
        matrix, result = self._matrix(w), self._matrix(out)
        for draw in draws:
            rows = self._picked[draw]
            torch.gather(self._columns, 2, rows[:, None, :].expand(self._inputs.shape), out=self._inputs)
            x = self._inputs[:, None]
            logits = torch.mul(matrix, x, out=self._products).sum(2)
            _, errors = self.kernel.losses(logits, self.kernel.labels[rows])
            result.addcmul_(errors[:, :, None], x, value=scale / len(draws))
        return out.add_(w, alpha=scale * self.kernel.ridge)

    def add_sample_change(self, draw: int, w: Tensor, move: Tensor, scale: float, out: Tensor) -> Tensor:
        """See `Clients`."""
        self.add_batch_gradient(range(draw, draw + 1), w + move, scale, out)
        return self.add_batch_gradient(range(draw, draw + 1), w, -scale, out)

    def gradient(self, w: Tensor, scale: float, out: Tensor) -> Tensor:
        """See `Clients`; sample by sample."""
        assert not self.selects
        picked, samples = self._picked, self.kernel.samples
        own = torch.arange(samples, device=self.device)[:, None, None] + self._first
        self._picked = own.expand(samples, self.shape[0], self.shape[2])
        self.add_batch_gradient(range(samples), w, scale, out.zero_())
        self._picked = picked
        return out

    def _matrix(self, w: Tensor) -> Tensor:
        return w.view(self.shape[0], self.kernel.classes, self.kernel.inputs, self.shape[2])
