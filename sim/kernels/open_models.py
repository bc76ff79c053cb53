"""Logistic and softmax regression on tensors: the gradients of gathered samples and the losses of whole clients.

Sums are matrix products of many equal shapes at once (`torch.bmm`), whose result for one entry does not depend on the
other entries as long as there are at least two; callers see to that.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from sim.problems.logistic import RidgeLogistic
from sim.problems.softmax import RidgeSoftmax


class LogisticModel:
    """`RidgeLogistic` on a device. Shapes: N clients, n samples, d coordinates, P pairs of a run and a client."""

    def __init__(self, problem: RidgeLogistic, device: torch.device) -> None:
        """Copy the problem's data to the device."""
        self.features = torch.tensor(problem.features, device=device)
        self.labels = torch.tensor(problem.labels, device=device)
        self.ridge = problem.ridge
        self.dim = problem.dim

    def gradient(self, x: Tensor, y: Tensor, w: Tensor) -> Tensor:
        """(P, d), mean gradients at w (P, d) of b samples x (P, b, d) with labels y (P, b)."""
        margins = y * torch.bmm(x, w[:, :, None])[:, :, 0]
        slopes = y * torch.sigmoid(-margins) / -x.shape[1]
        return torch.bmm(slopes[:, None, :], x)[:, 0].add_(w, alpha=self.ridge)

    def losses(self, clients: Tensor, theta: Tensor) -> Tensor:
        """(Q, T), f_n at the T points theta (Q, T, d) of each of the clients (Q,)."""
        margins = torch.bmm(self.features[clients], theta.transpose(1, 2))
        margins.mul_(self.labels[clients][:, :, None])
        # log(1 + exp(-t)) without overflow
        entropy = torch.exp(-margins.abs()).log1p_().add_((-margins).clamp_(min=0))
        return entropy.mean(1) + self.ridge / 2 * theta.square().sum(2)


class SoftmaxModel:
    """`RidgeSoftmax` on a device, as `LogisticModel`; points are (C*d,), row by row."""

    def __init__(self, problem: RidgeSoftmax, device: torch.device) -> None:
        """Copy the problem's data to the device."""
        self.features = torch.tensor(problem.features, device=device)
        self.labels = torch.tensor(problem.labels, device=device)
        self.ridge = problem.ridge
        self.classes, self.inputs, self.dim = problem.classes, problem.inputs, problem.dim

    def gradient(self, x: Tensor, y: Tensor, w: Tensor) -> Tensor:
        """(P, C*d), mean gradients at w (P, C*d) of b samples x (P, b, d) with labels y (P, b)."""
        logits = torch.bmm(x, w.view(-1, self.classes, self.inputs).transpose(1, 2))
        errors = torch.softmax(logits, 2)
        at = y[:, :, None]
        errors.scatter_(2, at, errors.gather(2, at) - 1).div_(x.shape[1])
        return torch.bmm(errors.transpose(1, 2), x).view(-1, self.dim).add_(w, alpha=self.ridge)

    def losses(self, clients: Tensor, theta: Tensor) -> Tensor:
        """(Q, T), f_n at the T points theta (Q, T, C*d) of each of the clients (Q,)."""
        count, points = theta.shape[:2]
        x, y = self.features[clients], self.labels[clients]
        rows = theta.view(count, points * self.classes, self.inputs)
        logits = torch.bmm(x, rows.transpose(1, 2)).view(count, -1, points, self.classes)
        at = y[:, :, None, None].expand(-1, -1, points, 1)
        entropy = torch.logsumexp(logits, 3) - logits.gather(3, at)[..., 0]
        return entropy.mean(1) + self.ridge / 2 * theta.square().sum(2)


OpenModel = LogisticModel | SoftmaxModel


def open_model(problem: Any, device: torch.device) -> OpenModel:
    """The problem on a device.

    Raises:
        ValueError: for a problem of another kind.
    """
    if isinstance(problem, RidgeLogistic):
        return LogisticModel(problem, device)
    if isinstance(problem, RidgeSoftmax):
        return SoftmaxModel(problem, device)
    raise ValueError(f"problem={problem!r} is not one of ('RidgeLogistic', 'RidgeSoftmax')")
