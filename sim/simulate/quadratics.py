"""Quadratics for the simulator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sim.arguments import to_float
from sim.problems.quadratic import Quadratic
from sim.simulate.functions import (
    Functions,
    Sample,
    batch_mean,
    of_each_run,
    of_samples,
    positive,
    product,
    product_of_each,
    tensor_of,
)

if TYPE_CHECKING:
    import torch

    Tensor = torch.Tensor


class QuadraticFunctions(Functions):
    """f_ni(x) = x'Hx/2 - b'x + c; least squares by their features.

    Args:
        problem: whose functions they are; an exact one is rounded to float64.
        device: where they live.
    """

    pad = 48
    """Whole vectors of any processor (16 doubles) and whole tiles of matrix products (24 columns), so that no run is
    computed by the code for left-over columns, which may round differently."""

    def __init__(self, problem: Quadratic, device: torch.device) -> None:
        def tensor(values: Any) -> Tensor:
            return tensor_of(to_float(values), device)

        self.clients, self.dim, self.counts = problem.clients, problem.dim, problem.counts
        self._hessian, self._linear = tensor(problem.client_hessian), tensor(problem.client_linear)[..., None]
        self._offset = tensor(problem.client_offset)[:, None]
        self._mean_hessian = tensor(problem.mean_hessian)[None]
        self._mean_linear = tensor(problem.mean_linear)[None, :, None]
        self._features = self._targets = None
        if problem.features is not None:  # (N, d, n) and (N, 1, n), the samples last
            self._features = tensor(np.moveaxis(problem.features, 1, -1))
            self._targets = tensor(problem.targets)[:, None]
        else:
            self._sample_hessian = tensor(np.moveaxis(problem.hessian, 1, -1))  # (N, d, d, n)
            self._sample_linear = tensor(np.moveaxis(problem.linear, 1, -1))  # (N, d, n)
        self._inverses: dict[Any, Tensor] = {}

    def gradient(self, v: Tensor, who: Tensor | None = None) -> Tensor:
        if who is None:
            return product(self._hessian, v).sub_(self._linear)
        linear = of_each_run(self._linear[..., 0], who)
        return product_of_each(of_each_run(self._hessian, who), v).sub_(linear)

    def full_gradient(self, v: Tensor) -> Tensor:
        return product(self._mean_hessian, v).sub_(self._mean_linear)

    def sample_gradient(self, v: Tensor, sample: Sample, who: Tensor | None = None) -> Tensor:
        return batch_mean([self._one(v, sample, b, who) for b in range(len(sample.index))])

    def _one(self, v: Tensor, sample: Sample, b: int, who: Tensor | None) -> Tensor:
        index = sample.index[b]
        if self._features is None:
            hessian = sample.keep(("hessian", b), lambda: of_samples(self._sample_hessian, index, who))
            linear = sample.keep(("linear", b), lambda: of_samples(self._sample_linear, index, who))
            return product_of_each(hessian, v).sub_(linear)
        features, targets = self._features, self._targets
        assert targets is not None
        q = sample.keep(("features", b), lambda: of_samples(features, index, who))
        y = sample.keep(("targets", b), lambda: of_samples(targets, index, who))
        residual = self.dot(q, v).sub_(y).mul_(2)
        return q * residual

    def value(self, v: Tensor, who: Tensor | None = None) -> Tensor:
        linear = self._linear if who is None else of_each_run(self._linear[..., 0], who)
        offset = self._offset if who is None else of_each_run(self._offset[:, 0], who)
        slope = self.gradient(v, who)
        return ((slope - linear) * v).sum(1) / 2 + offset  # x'(Hx - b - b)/2

    def hessian(self, v: Tensor, who: Tensor | None = None) -> Tensor:
        """As `Functions`; the same everywhere."""
        if who is not None:
            return of_each_run(self._hessian, who)
        return self._hessian[..., None].expand(*self._hessian.shape, v.shape[2])

    def prox(self, v: Tensor, t: Any, who: Tensor | None = None) -> Tensor:
        """As `Functions`, in closed form: (H_n + I/t) u = b_n + v/t."""
        import torch

        weight = 1 / positive("prox", t, v)
        if who is None and weight.shape[2] == 1:
            inverse = self._inverse(weight[:, 0, 0])
            return product(inverse, self._linear + v * weight)
        linear = self._linear if who is None else of_each_run(self._linear[..., 0], who)
        right = (linear + v * weight).transpose(1, 2)[..., None]
        eye = torch.eye(self.dim, dtype=v.dtype, device=v.device)
        hessian = self.hessian(v, who).permute(0, 3, 1, 2)
        factor, bad = torch.linalg.cholesky_ex(hessian + weight.expand(-1, 1, v.shape[2])[:, 0, :, None, None] * eye)
        self._check(bad)
        return torch.cholesky_solve(right, factor)[..., 0].transpose(1, 2).contiguous()

    def _inverse(self, weight: Tensor) -> Tensor:
        """(N, d, d), of H_n + weight I."""
        import torch

        key = tuple(weight.tolist())
        if key not in self._inverses:
            eye = torch.eye(self.dim, dtype=weight.dtype, device=weight.device)
            factor, bad = torch.linalg.cholesky_ex(self._hessian + weight[:, None, None] * eye)
            self._check(bad)
            if len(self._inverses) > 64:  # a schedule has another one in each round
                self._inverses.clear()
            self._inverses[key] = torch.cholesky_inverse(factor)
        return self._inverses[key]

    @staticmethod
    def _check(bad: Tensor) -> None:
        if bool((bad != 0).any()):
            raise ValueError("prox: f_n(u) + norm2(u - v)/(2t) has no unique minimiser; t is too large")
