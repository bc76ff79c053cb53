"""Ridge logistic regression: constants, minimisers, and the synthetic data of the open-population experiments."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.arguments import float_array, integer, real
from sim.problems.regression import (
    RidgeRegression,
    checked_batch,
    checked_features,
    checked_ridge,
    largest_second_moment,
)

Array = NDArray[Any]

# Entries of the Hessians that are made at once.
_HESSIANS = 1 << 22


@dataclass(frozen=True, eq=False, repr=False)
class RidgeLogistic(RidgeRegression):
    """f_n(w) = (ridge/2) ||w||^2 + (1/n) sum_j log(1 + exp(-y_j w.x_j)), over the client's own n samples.

    Shapes: N clients, n samples each, d dimensions. Arrays are copied, C-contiguous and read-only. Where a method
    takes `theta`, it is (d,), one point for all clients, or (N, d), one each.

    Source: Sun, Fernando, Chen, Shahrampour, "On the Stability Analysis of Open Federated Learning Systems",
    section IV-A.

    Attributes:
        features: (N, n, d) float64, x.
        labels: (N, n) float64, y, each -1 or 1.
        ridge: lambda in (0, inf).

    Raises:
        ValueError: wrong shapes, entries that are not finite, labels other than -1 and 1, a ridge outside its domain.
    """

    features: Array
    labels: Array
    ridge: float

    def __post_init__(self) -> None:
        features, ridge = checked_features(self.features), checked_ridge(self.ridge)
        labels = float_array("labels", self.labels)
        if labels.shape != features.shape[:2]:
            raise ValueError(f"labels has shape {labels.shape}, not {features.shape[:2]}")
        if not np.all(np.abs(labels) == 1):
            raise ValueError("labels has entries outside {-1, 1}")
        labels.flags.writeable = False
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "ridge", ridge)

    def __repr__(self) -> str:
        return f"RidgeLogistic(clients={self.clients}, samples={self.samples}, dim={self.dim}, ridge={self.ridge})"

    @property
    def dim(self) -> int:
        return int(self.features.shape[2])

    def loss(self, theta: Any) -> Array:
        w = self._points(theta)
        return self.ridge / 2 * np.sum(w * w, axis=-1) + np.mean(np.logaddexp(0.0, -self._margins(w)), axis=1)

    def gradient(self, theta: Any) -> Array:
        w = self._points(theta)
        slopes = self.labels * _sigmoid(-self._margins(w))
        return self.ridge * w - (slopes[:, None, :] @ self.features)[:, 0] / self.samples

    def hessian(self, theta: Any, clients: Any = None) -> Array:
        """(M, d, d), the Hessians at theta of the f_n of these clients (numbers, (M,)); of all by default."""
        chosen = np.arange(self.clients) if clients is None else np.asarray(clients)
        w = np.broadcast_to(self._points(theta), (self.clients, self.dim))[chosen]
        x = self.features[chosen]
        margins = (x @ w[:, :, None])[:, :, 0]  # the labels' signs drop out
        curvature = _sigmoid(margins) * _sigmoid(-margins) / self.samples
        return np.swapaxes(x, 1, 2) @ (curvature[:, :, None] * x) + self.ridge * np.eye(self.dim)

    @property
    def strong_convexity(self) -> float:
        """mu = ridge: every f_n is mu-strongly convex on all of R^d."""
        return self.ridge

    def strong_convexity_on(self, radius: Any) -> float:
        """A modulus of strong convexity of every f_n on the ball of this radius about 0, at least `ridge`.

        Where ||w|| <= R the curvature s(t) s(-t) of sample j, t = y_j w.x_j, is at least that at t = R ||x_j||: it is
        even and falls with |t|. So the modulus is the ridge plus the smallest eigenvalue of the samples' mean of that
        times x x'.

        Args:
            radius: R in [0, inf).
        """
        ball = real("radius", radius, "[0, inf)")
        if ball < 0:
            raise ValueError(f"radius={ball} is outside [0, inf)")
        if self.samples < self.dim:
            return self.ridge
        margins = ball * np.linalg.norm(self.features, axis=2)
        weights = _sigmoid(margins) * _sigmoid(-margins) / self.samples
        hessians = (x.T @ (c[:, None] * x) for c, x in zip(weights, self.features, strict=True))
        return self.ridge + max(0.0, min(float(np.linalg.eigvalsh(h)[0]) for h in hessians))

    @cached_property
    def smoothness(self) -> float:
        """L = ridge + max_n lambda_max(X_n'X_n)/(4n): every f_n is L-smooth, as the logistic curvature is <= 1/4."""
        return self.ridge + largest_second_moment(self.features) / 4

    @cached_property
    def sample_smoothness(self) -> float:
        """ridge + max ||x_j||^2/4: every sample's function is smooth with it."""
        return self.ridge + float(np.max(np.sum(self.features**2, axis=2))) / 4

    def _direction(self, points: Array, slopes: Array, clients: Array) -> Array:
        size = max(1, _HESSIANS // self.dim**2)
        parts = [clients[i : i + size] for i in range(0, len(clients), size)]
        solved = [np.linalg.solve(self.hessian(points, part), slopes[part, :, None])[:, :, 0] for part in parts]
        return np.concatenate(solved)

    @cached_property
    def _pooled(self) -> RidgeLogistic:
        return RidgeLogistic(self.features.reshape(1, -1, self.dim), self.labels.reshape(1, -1), self.ridge)

    def variance_at(self, theta: Any, batch: int | None) -> Array:
        """(N,), E||g - grad f_n(theta)||^2 for g the gradient of a minibatch drawn with replacement.

        Args:
            theta: (d,) or (N, d).
            batch: samples a gradient; None for the full batch, which has no variance.
        """
        size = checked_batch(batch)
        if size is None:
            return np.zeros(self.clients)
        slopes = self.labels * _sigmoid(-self._margins(self._points(theta)))
        mean = (slopes[:, None, :] @ self.features)[:, 0] / self.samples
        spread = slopes[:, :, None] * self.features - mean[:, None, :]
        return np.mean(np.sum(spread**2, axis=2), axis=1) / size

    def variance_bound(self, batch: int | None) -> float:
        """sigma^2 with E||g - grad f_n(w)||^2 <= sigma^2 for every w and n.

        Proof: a sample's gradient is ridge w - s_j a_j with a_j = y_j x_j and 0 < s_j < 1. The variance of one sample
        is (1/2n^2) sum_{j,l} ||s_j a_j - s_l a_l||^2. Each term is convex in (s_j, s_l), hence on [0, 1]^2 at most its
        maximum over the corners, max(||a_j||^2, ||a_l||^2, ||a_j - a_l||^2). The variance is also at most the second
        moment, the mean of ||a_j||^2. sigma^2 is the smaller of the two, the largest over n, divided by the batch.

        Args:
            batch: samples a gradient; None for the full batch, which has no variance.
        """
        size = checked_batch(batch)
        return 0.0 if size is None else self._sample_variance_bound / size

    @cached_property
    def _sample_variance_bound(self) -> float:
        return max(map(_variance_bound, self.labels[:, :, None] * self.features))

    def _margins(self, w: Array) -> Array:
        """(N, n), y w.x."""
        return self.labels * (self.features @ w[..., None])[..., 0]


def ridge_logistic(clients: int, samples: int, dim: int, spread: float, ridge: float, seed: int) -> RidgeLogistic:
    """Synthetic data of two classes: x = m_y + spread z with z standard normal.

    The entries of the two class means m_+ and m_- are independently -1 or 1 with probability 1/2; all clients have the
    same means. Every client has exactly half of its samples in each class.

    Source: Sun, Fernando, Chen, Shahrampour, section IV-A (N = 1000, n = d = 100).

    Args:
        clients: N >= 1.
        samples: n, even, >= 2.
        dim: d >= 1.
        spread: the standard deviation of each coordinate within a class, in [0, inf).
        ridge: lambda in (0, inf).
        seed: non-negative integer; the data are a function of the arguments (PCG64).

    Raises:
        ValueError: an argument outside its domain.
    """
    clients, samples, dim = integer("clients", clients, 1), integer("samples", samples, 2), integer("dim", dim, 1)
    if samples % 2:
        raise ValueError(f"samples={samples} is outside the even integers in [2, inf)")
    width = real("spread", spread, "[0, inf)")
    if width < 0:
        raise ValueError(f"spread={width} is outside [0, inf)")
    random = np.random.Generator(np.random.PCG64(integer("seed", seed, 0)))
    means = 2.0 * random.integers(0, 2, (2, dim)) - 1
    labels = np.tile(np.repeat([1.0, -1.0], samples // 2), (clients, 1))
    features = width * random.standard_normal((clients, samples, dim))
    features += means[(labels < 0).astype(int)]
    return RidgeLogistic(features, labels, ridge)


def _variance_bound(vectors: Array) -> float:
    """The bound of `RidgeLogistic.variance_bound` for one client's a_j (n, d) and batches of one."""
    gram = vectors @ vectors.T
    size = np.diag(gram)
    larger = np.maximum(size[:, None], size[None, :])
    corners = np.maximum(larger, size[:, None] + size[None, :] - 2 * gram)
    np.fill_diagonal(corners, 0.0)
    return min(float(np.sum(corners)) / (2 * len(vectors) ** 2), float(np.mean(size)))


def _sigmoid(t: Array) -> Array:
    """1/(1 + exp(-t)), accurate in both tails."""
    return np.exp(-np.logaddexp(0.0, -t))
