"""Ridge softmax (multinomial logistic) regression, and its constants."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.arguments import integer
from sim.problems.newton import conjugate_gradients
from sim.problems.regression import (
    RidgeRegression,
    checked_batch,
    checked_features,
    checked_ridge,
    largest_second_moment,
)

Array = NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class RidgeSoftmax(RidgeRegression):
    """f_n(W) = (ridge/2) ||W||^2 + (1/n) sum_j (log sum_c exp(w_c.x_j) - w_{y_j}.x_j), over the client's own samples.

    Shapes: N clients, n samples each, C classes, d features. The model theta is W (C, d), row by row: theta[c*d + i] is
    W[c, i]. Where a method takes `theta`, it is (C*d,), or (N, C*d), one each. With C = 2 and w = w_1 - w_0 the loss is
    the logistic one, and at the best W for given w the ridge is half the logistic one's.

    Source: Sun, Fernando, Chen, Shahrampour, "On the Stability Analysis of Open Federated Learning Systems", the
    regularised cross-entropy of the experiments in the supplement.

    Attributes:
        features: (N, n, d) float64, copied, C-contiguous and read-only.
        labels: (N, n) int64 in 0..C-1, copied and read-only.
        classes: C >= 2.
        ridge: lambda in (0, inf).

    Raises:
        ValueError: wrong shapes, entries that are not finite, labels or a ridge outside their domain.
    """

    features: Array
    labels: Array
    classes: int
    ridge: float

    def __post_init__(self) -> None:
        features = checked_features(self.features)
        classes = integer("classes", self.classes, 2)
        labels = np.asarray(self.labels)
        if labels.shape != features.shape[:2]:
            raise ValueError(f"labels has shape {labels.shape}, not {features.shape[:2]}")
        if labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() >= classes:
            raise ValueError(f"labels has entries outside the integers in [0, {classes - 1}]")
        labels = labels.astype(np.int64)
        labels.flags.writeable = False
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "classes", classes)
        object.__setattr__(self, "ridge", checked_ridge(self.ridge))

    def __repr__(self) -> str:
        return (
            f"RidgeSoftmax(clients={self.clients}, samples={self.samples}, classes={self.classes}, "
            f"inputs={self.inputs}, ridge={self.ridge})"
        )

    @property
    def inputs(self) -> int:
        """d, the number of features."""
        return int(self.features.shape[2])

    @property
    def dim(self) -> int:
        """C d, the number of coordinates of theta."""
        return self.classes * self.inputs

    def loss(self, theta: Any) -> Array:
        points = self._points(theta)
        logits = self._logits(self.features, points)
        true = np.take_along_axis(logits, self.labels[:, :, None], axis=2)[:, :, 0]
        entropy = np.mean(_log_sum_exp(logits) - true, axis=1)
        return self.ridge / 2 * np.sum(points * points, axis=-1) + entropy

    def gradient(self, theta: Any) -> Array:
        """(N, C*d), the gradients of f_n at theta."""
        points = self._points(theta)
        errors = self._errors(points)
        return self.ridge * points + self._pulled(self.features, errors) / self.samples

    @property
    def strong_convexity(self) -> float:
        """mu = ridge. It cannot be more: the cross-entropy does not change when one vector is added to all w_c."""
        return self.ridge

    @cached_property
    def smoothness(self) -> float:
        """L = ridge + max_n lambda_max(X_n'X_n)/(2n): the Hessian in the logits, diag(p) - pp', is <= I/2.

        (Its largest eigenvalue is at most the largest sum of absolute values of a row, 2 p_c (1 - p_c) <= 1/2.)
        """
        return self.ridge + largest_second_moment(self.features) / 2

    @cached_property
    def sample_smoothness(self) -> float:
        """ridge + max ||x_j||^2/2: every sample's function is smooth with it."""
        return self.ridge + float(np.max(np.sum(self.features**2, axis=2))) / 2

    def _direction(self, points: Array, slopes: Array, clients: Array) -> Array:
        x = self.features[clients]
        p = _softmax(self._logits(x, points[clients]))

        def product(v: Array) -> Array:
            u = self._logits(x, v)
            image = p * (u - np.sum(p * u, axis=2, keepdims=True))
            return self.ridge * v + self._pulled(x, image) / self.samples

        # solved ever better as the gradient falls: Newton's quadratic convergence is kept
        norm = float(np.max(np.linalg.norm(slopes[clients], axis=1)))
        return conjugate_gradients(product, slopes[clients], max(1e-6, min(0.1, norm)), 10 * self.dim)

    @cached_property
    def _pooled(self) -> RidgeSoftmax:
        labels = self.labels.reshape(1, -1)
        return RidgeSoftmax(self.features.reshape(1, -1, self.inputs), labels, self.classes, self.ridge)

    def variance_at(self, theta: Any, batch: int | None) -> Array:
        """(N,), E||g - grad f_n(theta)||^2 for g the gradient of a minibatch drawn with replacement; 0 for None."""
        size = checked_batch(batch)
        if size is None:
            return np.zeros(self.clients)
        errors = self._errors(self._points(theta))
        mean = self._pulled(self.features, errors) / self.samples
        # ||e (x) x||^2 = ||e||^2 ||x||^2
        second = np.mean(np.sum(errors**2, axis=2) * np.sum(self.features**2, axis=2), axis=1)
        return np.maximum(0.0, second - np.sum(mean**2, axis=1)) / size

    def variance_bound(self, batch: int | None) -> float:
        """sigma^2 with E||g - grad f_n(W)||^2 <= sigma^2 for every W and n: max_n (2/n) sum_j ||x_j||^2 / batch.

        Proof: the gradient of a sample's cross-entropy is (p - e_y) x', with ||p - e_y||^2 = (1 - p_y)^2 +
        sum_{c != y} p_c^2 <= 2 (1 - p_y)^2 <= 2; a variance is at most the second moment. 0 for the full batch (None).
        """
        size = checked_batch(batch)
        if size is None:
            return 0.0
        return 2 * float(np.max(np.mean(np.sum(self.features**2, axis=2), axis=1))) / size

    def _logits(self, x: Array, points: Array) -> Array:
        """(M, n, C) for features (M, n, d) and points (C*d,) or (M, C*d)."""
        return x @ np.swapaxes(points.reshape(*points.shape[:-1], self.classes, self.inputs), -1, -2)

    def _pulled(self, x: Array, errors: Array) -> Array:
        """(M, C*d), sum_j e_j x_j' for errors (M, n, C)."""
        return (np.swapaxes(errors, 1, 2) @ x).reshape(len(x), self.dim)

    def _errors(self, points: Array) -> Array:
        """(N, n, C), p - e_y."""
        errors = _softmax(self._logits(self.features, points))
        at = self.labels[:, :, None]
        np.put_along_axis(errors, at, np.take_along_axis(errors, at, axis=2) - 1, axis=2)
        return errors


def _log_sum_exp(logits: Array) -> Array:
    top = np.max(logits, axis=-1)
    return top + np.log(np.sum(np.exp(logits - top[..., None]), axis=-1))


def _softmax(logits: Array) -> Array:
    powers = np.exp(logits - np.max(logits, axis=-1, keepdims=True))
    return powers / np.sum(powers, axis=-1, keepdims=True)
