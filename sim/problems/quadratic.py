"""Federated quadratics with finitely many samples a client, and their constants in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.arguments import array, rational, real
from sim.problems.linear_algebra import eigenvalues, minimise, root, spectral_norm

Array = NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Quadratic:
    """f_{n,i}(x) = x'Hx/2 - b'x + c, f_n = mean_i f_{n,i} over the client's own samples, f = mean_n f_n.

    Shapes: N clients, n samples (of the client that has most), d dimensions. Convexity is not required. All arrays
    are copied and made read-only. When `hessian` has dtype object the problem is exact: every entry becomes a
    `fractions.Fraction` and all that is rational stays so; otherwise everything is float64.

    Attributes:
        hessian: (N, n, d, d), symmetric.
        linear: (N, n, d).
        offset: (N, n).
        counts: (N,) int in 1..n, the samples of each client; rows from counts[n] on are zero padding.
        features: (N, n, d) q for least squares f_{n,i} = (q'x - y)^2, so H = 2qq', b = 2qy, c = y^2; or None.
        targets: (N, n) y; given exactly when `features` is.

    Raises:
        ValueError: wrong shape, asymmetry, NaN or inf, a count outside 1..n, padding that is not zero, or
            features and targets that do not give the Hessians, linear terms and offsets.
    """

    hessian: Array
    linear: Array
    offset: Array
    counts: Array
    features: Array | None = None
    targets: Array | None = None

    def __post_init__(self) -> None:
        exact = isinstance(self.hessian, np.ndarray) and self.hessian.dtype == object
        fields = {
            "hessian": array("hessian", self.hessian, exact),
            "linear": array("linear", self.linear, exact),
            "offset": array("offset", self.offset, exact),
            "counts": _counts(self.counts),
        }
        if (self.features is None) != (self.targets is None):
            raise ValueError("features and targets go together; one of them is None")
        if self.features is not None:
            fields["features"] = array("features", self.features, exact)
            fields["targets"] = array("targets", self.targets, exact)
        _check_shapes(fields)
        fields["hessian"] = _symmetric(fields["hessian"])
        _check_padding(fields)
        if "features" in fields:
            _check_features(fields)
        for name, values in fields.items():
            values.flags.writeable = False
            object.__setattr__(self, name, values)

    def __repr__(self) -> str:
        kind = "exact" if self.exact else "float64"
        return f"Quadratic(clients={self.clients}, samples={self.samples}, dim={self.dim}, {kind})"

    # sizes

    @property
    def clients(self) -> int:
        """N, the number of clients."""
        return int(self.hessian.shape[0])

    @property
    def samples(self) -> int:
        """n, the number of samples of the client that has most."""
        return int(self.hessian.shape[1])

    @property
    def dim(self) -> int:
        """d, the number of coordinates."""
        return int(self.hessian.shape[-1])

    @property
    def exact(self) -> bool:
        """Whether the entries are fractions."""
        return bool(self.hessian.dtype == object)

    # what is the same

    @cached_property
    def different_samples(self) -> Array:
        """(m, 2), client and sample of the first of each function f_{n,i}, copies of which are left out.

        Those are copies whose numbers are the same objects, or the same floats; few functions are not compared.
        """
        first = np.unique(self._kinds[self._own], return_index=True)[1]
        return np.argwhere(self._own)[np.sort(first)]

    @cached_property
    def different_clients(self) -> tuple[Array, Array]:
        """(m,), the first of each kind of clients, whose samples are copies; (m,), how many are of that kind."""
        _, first, counts = np.unique(self._client_kinds, return_index=True, return_counts=True)
        return first, counts

    @cached_property
    def _kinds(self) -> Array:
        """(N, n), a number of each sample, the same for copies; of padding anything."""
        shape = self.clients, self.samples
        size = self.clients * self.samples
        if size < MANY:
            return np.arange(size).reshape(shape)
        rows = [values.reshape(size, -1) for values in (self.hessian, self.linear, self.offset)]
        entries = np.hstack([np.frombuffer(row.tobytes(), dtype=np.int64).reshape(size, -1) for row in rows])
        return _classes(entries).reshape(shape)

    @cached_property
    def _client_kinds(self) -> Array:
        """(N,), a number of each client, the same for those whose samples are copies of each other's, in order."""
        if self.clients * self.samples < MANY:
            return np.arange(self.clients)
        return _classes(np.where(self._own, self._kinds, -1))

    # averages

    @cached_property
    def client_hessian(self) -> Array:
        """(N, d, d), Hessians of f_n."""
        return _frozen(self._sample_mean(self.hessian))

    @cached_property
    def client_linear(self) -> Array:
        """(N, d), linear terms b of f_n."""
        return _frozen(self._sample_mean(self.linear))

    @cached_property
    def client_offset(self) -> Array:
        """(N,), constants c of f_n."""
        return _frozen(self._sample_mean(self.offset))

    @cached_property
    def mean_hessian(self) -> Array:
        """(d, d), Hessian of f."""
        return _frozen(self.client_hessian.sum(axis=0) / self.clients)

    @cached_property
    def mean_linear(self) -> Array:
        """(d,), linear term b of f."""
        return _frozen(self.client_linear.sum(axis=0) / self.clients)

    @cached_property
    def mean_offset(self) -> Any:
        """Constant c of f."""
        return self.client_offset.sum() / self.clients

    @cached_property
    def rows(self) -> Array:
        """(N, n, W) float64, W even: of each sample its features, its target, and zeros.

        Raises:
            ValueError: when there are no features.
        """
        if self.features is None or self.targets is None:
            raise ValueError("rows are of features and targets, and this problem has none")
        found = np.zeros((self.clients, self.samples, (self.dim + 2) // 2 * 2))
        found[..., : self.dim], found[..., self.dim] = self.features, self.targets
        return _frozen(found)

    # minima

    @cached_property
    def minimiser(self) -> Array:
        """(d,), the minimiser x* of f.

        Raises:
            ValueError: when f has no unique minimiser: its Hessian is singular or has a negative eigenvalue.
        """
        found = self._minimum_point
        if found is None or found[1] < self.dim:
            least = float(eigenvalues(self.mean_hessian)[0])
            raise ValueError(
                f"f has no unique minimiser: the smallest eigenvalue of its Hessian (mean_hessian) is {least:.6g},"
                " outside (0, inf)"
            )
        return _frozen(found[0])

    @cached_property
    def optimal_value(self) -> Any:
        """f* = inf f; a singular Hessian is allowed as long as f is bounded below.

        Raises:
            ValueError: when f is unbounded below.
        """
        value = _minimum(self.mean_hessian, self.mean_linear, self.mean_offset)
        if value is None:
            raise ValueError(
                "f is unbounded below: mean_hessian has a negative eigenvalue, or mean_linear a part in its null space,"
                " so optimal_value does not exist"
            )
        return value

    @cached_property
    def client_minimisers(self) -> Array | None:
        """(N, d), the minimiser of each f_n; None unless every client has exactly one."""
        found = [minimise(h, b) for h, b in zip(self.client_hessian, self.client_linear, strict=True)]
        points = [f[0] for f in found if f is not None and f[1] == self.dim]
        return _frozen(np.stack(points)) if len(points) == self.clients else None

    @cached_property
    def client_minima(self) -> Array:
        """(N,), inf f_n; the float -inf where f_n is unbounded below (also in an exact problem)."""
        result = np.empty(self.clients, dtype=self.hessian.dtype)
        for n in range(self.clients):
            value = _minimum(self.client_hessian[n], self.client_linear[n], self.client_offset[n])
            result[n] = float("-inf") if value is None else value
        return _frozen(result)

    # constants

    @cached_property
    def smoothness(self) -> Any:
        """L: the largest |eigenvalue| of any client's Hessian; a fraction if these are diagonal and exact."""
        return spectral_norm(self.client_hessian)

    @cached_property
    def strong_convexity(self) -> Any:
        """mu: the smallest eigenvalue of any client's Hessian; negative when a client is not convex."""
        return np.min(eigenvalues(self.client_hessian))

    @cached_property
    def sample_smoothness(self) -> Any:
        """The largest |eigenvalue| of any sample's Hessian."""
        return spectral_norm(self.hessian)

    @cached_property
    def sample_strong_convexity(self) -> Any:
        """The smallest eigenvalue of any sample's Hessian."""
        return min(np.min(eigenvalues(self.hessian[n, : self.counts[n]])) for n in range(self.clients))

    @cached_property
    def heterogeneity(self) -> Any:
        """(1/N) sum_n ||grad f_n(x*)||^2.

        Raises:
            ValueError: when f has no unique minimiser.
        """
        return (self.client_gradient(self.minimiser) ** 2).sum() / self.clients

    def sampling_noise(self, x: Any) -> Array:
        """E_i ||grad f_{n,i}(x) - grad f_n(x)||^2 for i uniform over the client's samples.

        Args:
            x: (..., d).

        Returns:
            (..., N).
        """
        x = self._point(x)
        deviation = np.einsum("...e,nide->...nid", x, self._hessian_deviation) - self._linear_deviation
        return (deviation**2).sum(axis=-1).sum(axis=-1) / self._divisors

    @cached_property
    def hessian_variance(self) -> Array:
        """(N, d, d), E_i (H_i - Hbar)^2 over the client's samples, Hbar its mean Hessian."""
        return _frozen(self._sample_mean(self._hessian_deviation @ self._hessian_deviation))

    def gradient_bound(self, radius: Any, centre: Any = None) -> Any:
        """G2 with E||v||^2 <= G2 for the SVRG estimator, iterate and snapshot both in a ball.

        v = grad f_{n,i}(w) - grad f_{n,i}(w~) + grad f_n(w~) with i uniform. On a quadratic
        v = grad f_n(w) + (H_i - Hbar)(w - w~) and the second part has mean zero, so

            E||v||^2 = ||grad f_n(w)||^2 + (w - w~)' E(H_i - Hbar)^2 (w - w~)
                    <= (||Hbar|| r + ||grad f_n(centre)||)^2 + 4 r^2 ||E(H_i - Hbar)^2||,

        as ||w - centre|| <= r and ||w - w~|| <= 2r. G2 is the largest such value over the clients. For d = 1 it is
        attained (w at one end of the interval, w~ at the other), so G2 is the least constant; for d > 1 it is an upper
        bound that is attained when the directions happen to agree.

        Args:
            radius: r, in [0, inf).
            centre: (d,); the minimiser x* by default.

        Returns:
            A float; a Fraction when the problem is exact and d = 1 (or the norms are rational).

        Raises:
            ValueError: radius outside [0, inf), a centre of the wrong shape, or no centre and no unique minimiser.
        """
        r = rational("radius", radius, "[0, inf)") if self.exact else real("radius", radius, "[0, inf)")
        if r < 0:
            raise ValueError(f"radius={radius} is outside [0, inf)")
        centre = self.minimiser if centre is None else self._point(centre, "centre")
        if centre.shape != (self.dim,):
            raise ValueError(f"centre has shape {centre.shape}, not {(self.dim,)}")
        gradients = self.client_gradient(centre)
        bounds = []
        for n in range(self.clients):
            norm = root((gradients[n] ** 2).sum())
            reach = spectral_norm(self.client_hessian[n]) * r + norm
            bounds.append(reach**2 + 4 * r**2 * spectral_norm(self.hessian_variance[n]))
        return max(bounds)

    # values

    def cost(self, x: Any) -> Any:
        """f(x): (..., d) -> (...)."""
        x = self._point(x)
        return ((x @ self.mean_hessian) * x).sum(axis=-1) / 2 - x @ self.mean_linear + self.mean_offset

    def suboptimality(self, x: Any) -> Any:
        """f(x) - f* = (x - x*)' H (x - x*)/2, without cancellation: (..., d) -> (...).

        Raises:
            ValueError: when f is unbounded below.
        """
        found = self._minimum_point
        if found is None:
            return self.optimal_value  # raises, with the reason
        gap = self._point(x) - found[0]
        return ((gap @ self.mean_hessian) * gap).sum(axis=-1) / 2

    def client_cost(self, x: Any) -> Array:
        """f_n(x) for every client: (..., d) -> (..., N)."""
        x = self._point(x)
        curved = np.einsum("...d,nde->...ne", x, self.client_hessian)
        return (curved * x[..., None, :]).sum(axis=-1) / 2 - x @ self.client_linear.T + self.client_offset

    def gradient(self, x: Any) -> Array:
        """grad f(x): (..., d) -> (..., d)."""
        return self._point(x) @ self.mean_hessian - self.mean_linear

    def client_gradient(self, x: Any) -> Array:
        """grad f_n(x) for every client: (..., d) -> (..., N, d)."""
        return np.einsum("...d,nde->...ne", self._point(x), self.client_hessian) - self.client_linear

    # internal

    def _point(self, x: Any, name: str = "x") -> Array:
        points = array(name, x, self.exact)
        if points.ndim == 0 or points.shape[-1] != self.dim:
            raise ValueError(f"{name} has shape {points.shape}, not (..., {self.dim})")
        return points

    @cached_property
    def _minimum_point(self) -> tuple[Array, int] | None:
        return minimise(self.mean_hessian, self.mean_linear)

    def _sample_mean(self, values: Array) -> Array:
        # fractions take long to add; to look for copies among floats would take longer than to add them
        first, kinds = (self.different_clients[0], self._client_kinds) if self.exact else (slice(None), slice(None))
        # padding is zero, so the sum over all rows is the sum over the client's own
        total: Array = values[first].sum(axis=1)
        means: Array = total / self._divisors[first].reshape((-1,) + (1,) * (total.ndim - 1))
        return means[kinds]

    @cached_property
    def _divisors(self) -> Array:
        # Python integers divide fractions exactly, numpy's do not
        return self.counts.astype(object) if self.exact else self.counts

    @cached_property
    def _own(self) -> Array:
        return np.arange(self.samples)[None, :] < self.counts[:, None]

    @cached_property
    def _hessian_deviation(self) -> Array:
        deviation = self.hessian - self.client_hessian[:, None]
        deviation[~self._own] = 0 * deviation[0, 0, 0, 0]
        return deviation

    @cached_property
    def _linear_deviation(self) -> Array:
        deviation = self.linear - self.client_linear[:, None]
        deviation[~self._own] = 0 * deviation[0, 0, 0]
        return deviation


MANY = 64
"""Samples of all clients from which on copies are looked for."""


def _classes(rows: Array) -> Array:
    """(m,) int from 0 on, the same for equal rows of integers, (m, w), and for no others."""
    # modulo 2^64; rows that differ have the same key by chance only
    keys = rows @ np.random.default_rng(0).integers(-(2**62), 2**62, rows.shape[1])
    _, first, found = np.unique(keys, return_index=True, return_inverse=True)
    same = np.array_equal(rows, rows[first[found]])
    return found if same else np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)


def _frozen(values: Array) -> Array:
    values.flags.writeable = False
    return values


def _minimum(matrix: Array, vector: Array, offset: Any) -> Any:
    found = minimise(matrix, vector)
    return None if found is None else offset - vector @ found[0] / 2


def _counts(values: Any) -> Array:
    counts = np.asarray(values)
    if counts.dtype == object and all(isinstance(c, int) and not isinstance(c, bool) for c in counts.ravel()):
        counts = counts.astype(np.int64)
    if counts.dtype.kind not in "iu":
        raise ValueError(f"counts={values!r} is outside the integers in [1, n]")
    return counts.astype(np.int64)


def _check_shapes(fields: dict[str, Array]) -> None:
    shape = fields["hessian"].shape
    if len(shape) != 4 or shape[2] != shape[3] or 0 in shape:
        raise ValueError(f"hessian has shape {shape}, not (N, n, d, d) with N, n, d in [1, inf)")
    clients, samples, dim, _ = shape
    expected = {
        "linear": (clients, samples, dim),
        "offset": (clients, samples),
        "counts": (clients,),
        "features": (clients, samples, dim),
        "targets": (clients, samples),
    }
    for name, values in fields.items():
        if name != "hessian" and values.shape != expected[name]:
            raise ValueError(f"{name} has shape {values.shape}, not {expected[name]}")
    for n, count in enumerate(fields["counts"]):
        if not 1 <= count <= samples:
            raise ValueError(f"counts[{n}]={count} is outside the integers in [1, {samples}]")


def _symmetric(hessian: Array) -> Array:
    transposed = np.swapaxes(hessian, -1, -2)
    if hessian.dtype == object and (hessian.shape[-1] == 1 or not np.any(hessian != transposed)):  # as it is
        return hessian
    gap = np.max(np.abs(hessian - transposed))
    if gap > (0 if hessian.dtype == object else 1e-12 * np.max(np.abs(hessian))):
        raise ValueError(f"hessian is not symmetric: entries across the diagonal differ by {float(gap):.3g}")
    return hessian / 2 + transposed / 2  # the sum of two large entries may leave the range of float64


def _check_padding(fields: dict[str, Array]) -> None:
    samples = fields["hessian"].shape[1]
    beyond = np.arange(samples)[None, :] >= fields["counts"][:, None]
    for name, values in fields.items():
        if name != "counts" and np.any(values[beyond] != 0):
            raise ValueError(f"{name} is not zero in the padding, the rows from counts[n] on")


def _check_features(fields: dict[str, Array]) -> None:
    q, y = fields["features"], fields["targets"]
    derived = {
        "hessian": 2 * q[..., :, None] * q[..., None, :],
        "linear": 2 * q * y[..., None],
        "offset": y * y,
    }
    for name, values in derived.items():
        tolerance = 0 if values.dtype == object else 1e-12 * float(np.max(np.abs(values)))
        if np.max(np.abs(values - fields[name])) > tolerance:
            raise ValueError(f"{name} differs from what features and targets give for (q'x - y)^2")


def some_minimiser(problem: Quadratic) -> Any:
    """(d,), a minimiser of f, unique or not.

    Raises:
        ValueError: when f is unbounded below.
    """
    found = problem._minimum_point
    return problem.minimiser if found is None else found[0]  # the first raises, with the reason
