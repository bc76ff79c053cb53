"""Ways to make a `Quadratic`: from samples, in one dimension, by least squares, or with prescribed constants."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.arguments import array, integer, real
from sim.problems.quadratic import Quadratic

Array = NDArray[Any]


def from_samples(
    hessians: Sequence[Sequence[Any]],
    linears: Sequence[Sequence[Any]],
    offsets: Sequence[Sequence[Any]] | None = None,
    *,
    exact: bool = False,
) -> Quadratic:
    """The problem with f_{n,i}(x) = x'Hx/2 - b'x + c.

    Args:
        hessians: for each client a sequence of symmetric (d, d) matrices, one a sample; clients may differ in number.
        linears: for each client as many vectors (d,).
        offsets: for each client as many numbers; 0 by default.
        exact: keep the numbers as fractions (then also text such as ``"1/8"`` is read).

    Raises:
        ValueError: no client, a client without samples, lengths that differ, or what `Quadratic` refuses.
    """
    clients = _clients("hessians", hessians, 3, exact)
    vectors = _clients("linears", linears, 2, exact)
    _same_lengths("hessians", clients, "linears", vectors)
    constants = None
    if offsets is not None:
        constants = _clients("offsets", offsets, 1, exact)
        _same_lengths("hessians", clients, "offsets", constants)
    dim = clients[0].shape[-1]
    for n, (h, b) in enumerate(zip(clients, vectors, strict=True)):
        if h.shape[1:] != (dim, dim):
            raise ValueError(f"hessians[{n}] has shape {h.shape}, not (samples, {dim}, {dim})")
        if b.shape[1:] != (dim,):
            raise ValueError(f"linears[{n}] has shape {b.shape}, not (samples, {dim})")
    counts = _counts(clients)
    return Quadratic(
        hessian=_padded(clients, exact),
        linear=_padded(vectors, exact),
        offset=_padded(constants if constants is not None else [b[:, 0] * 0 for b in vectors], exact),
        counts=counts,
    )


def scalar(h: Sequence[Sequence[Any]], a: Sequence[Sequence[Any]], *, exact: bool = False) -> Quadratic:
    """The problem in one dimension with f_{n,i}(t) = h_i/2 (t - a_i)^2.

    Args:
        h: for each client the curvatures of its samples (any sign), or text such as ``"1/8"``.
        a: for each client as many points.
        exact: keep the numbers as fractions; floats are taken at their binary value.

    Raises:
        ValueError: no client, a client without samples, lengths that differ, or entries that are not finite numbers.
    """
    curvatures, points = _clients("h", h, 1, exact), _clients("a", a, 1, exact)
    _same_lengths("h", curvatures, "a", points)
    pairs = list(zip(curvatures, points, strict=True))
    return Quadratic(
        hessian=_padded([c[:, None, None] for c in curvatures], exact),
        linear=_padded([(c * x)[:, None] for c, x in pairs], exact),
        offset=_padded([c * x * x / 2 for c, x in pairs], exact),
        counts=_counts(curvatures),
    )


def least_squares(features: Sequence[Any], targets: Sequence[Any], *, exact: bool = False) -> Quadratic:
    """The problem with f_{n,i}(x) = (q'x - y)^2, so f_n is the client's mean squared error.

    Args:
        features: for each client its q, (samples, d); clients may differ in the number of samples.
        targets: for each client its y, (samples,).
        exact: keep the numbers as fractions; floats are taken at their binary value.

    Raises:
        ValueError: no client, a client without samples, shapes that do not fit, or entries that are not finite numbers.
    """
    q, y = _clients("features", features, 2, exact), _clients("targets", targets, 1, exact)
    _same_lengths("features", q, "targets", y)
    for n, rows in enumerate(q):
        if rows.shape[1] != q[0].shape[1]:
            raise ValueError(f"features[{n}] has shape {rows.shape}, not (samples, {q[0].shape[1]})")
    rows, values = _padded(q, exact), _padded(y, exact)
    return Quadratic(
        hessian=2 * rows[..., :, None] * rows[..., None, :],
        linear=2 * rows * values[..., None],
        offset=values * values,
        counts=_counts(q),
        features=rows,
        targets=values,
    )


def quadratic(
    clients: int,
    dim: int,
    mu: float,
    L: float,
    heterogeneity: float,
    seed: int,
    samples: int = 1,
    sample_spread: float = 0.0,
) -> Quadratic:
    """A random convex problem whose constants are prescribed; each of them holds up to rounding.

    - The smallest eigenvalue of all the clients' Hessians is `mu`, the largest is `L`, the others are uniform between,
      and the eigenvectors of each client are uniformly random.
    - (1/N) sum_n ||grad f_n(x*)||^2 = `heterogeneity`, with x* standard normal, and f_n(x*) = f* = 0.
    - f_{n,i} has the Hessian H_n^(1/2) (I + spread E_i) H_n^(1/2), where the random symmetric E_i have mean zero and
      the largest of their norms is 1: the samples' mean is H_n, and every sample is convex as long as spread <= 1
      (beyond 1 some need not be). Its gradient at x* is grad f_n(x*) + spread z_i, where the z_i have mean zero and
      mean square norm 1: the sampling noise of every client at x* is spread^2.

    Args:
        clients: N, at least 1; at least 2 for heterogeneity > 0.
        dim: d, at least 1; clients * dim at least 2 for mu < L.
        mu: in [0, L]. With mu = 0 and one client, f has no unique minimiser.
        L: in (0, inf).
        heterogeneity: in [0, inf).
        seed: non-negative integer; the problem is a function of the arguments (PCG64).
        samples: n of each client, at least 1; at least 2 for sample_spread > 0.
        sample_spread: spread, in [0, inf).

    Raises:
        ValueError: an argument outside its domain.
    """
    clients, dim, samples = integer("clients", clients, 1), integer("dim", dim, 1), integer("samples", samples, 1)
    seed = integer("seed", seed, 0)
    smooth = real("L", L, "(0, inf)")
    if smooth <= 0:
        raise ValueError(f"L={L} is outside (0, inf)")
    strong = real("mu", mu, f"[0, {L}], 0..L")
    if not 0 <= strong <= smooth:
        raise ValueError(f"mu={mu} is outside [0, {L}], 0..L")
    spread = _nonnegative("sample_spread", sample_spread)
    variety = _nonnegative("heterogeneity", heterogeneity)
    if variety > 0 and clients < 2:
        raise ValueError(f"clients={clients} is outside the integers in [2, inf), as heterogeneity={heterogeneity} > 0")
    if strong < smooth and clients * dim < 2:
        raise ValueError(f"clients*dim={clients * dim} is outside the integers in [2, inf), as mu={mu} < L={L}")
    if spread > 0 and samples < 2:
        raise ValueError(f"samples={samples} is outside the integers in [2, inf), as sample_spread={sample_spread} > 0")

    random = np.random.Generator(np.random.PCG64(seed))
    values = random.uniform(strong, smooth, (clients, dim))
    values[0, 0], values[-1, -1] = strong, smooth
    vectors = np.linalg.qr(random.standard_normal((clients, dim, dim)))[0]
    optimum = random.standard_normal(dim)
    gradients = _centred(random.standard_normal((clients, dim)), axis=0) if clients > 1 else np.zeros((1, dim))
    if clients > 1:
        gradients *= math.sqrt(variety / np.mean(np.sum(gradients**2, axis=1)))

    half = (vectors * np.sqrt(values)[:, None, :]) @ np.swapaxes(vectors, 1, 2)
    hessian = np.repeat(((vectors * values[:, None, :]) @ np.swapaxes(vectors, 1, 2))[:, None], samples, axis=1)
    slope = np.repeat(gradients[:, None], samples, axis=1)
    if spread > 0:
        hessian = hessian + spread * (half[:, None] @ _perturbations(random, clients, samples, dim) @ half[:, None])
        noise = _centred(random.standard_normal((clients, samples, dim)), axis=1)
        noise /= np.sqrt(np.mean(np.sum(noise**2, axis=2), axis=1))[:, None, None]
        slope = slope + spread * noise
    hessian = (hessian + np.swapaxes(hessian, -1, -2)) / 2
    linear = hessian @ optimum - slope
    offset = linear @ optimum - (hessian @ optimum) @ optimum / 2
    return Quadratic(hessian, linear, offset, np.full(clients, samples))


def _perturbations(random: np.random.Generator, clients: int, samples: int, dim: int) -> Array:
    """(N, n, d, d): symmetric, mean zero over n, largest spectral norm of each client 1."""
    draws = random.standard_normal((clients, samples, dim, dim))
    draws = _centred(draws + np.swapaxes(draws, -1, -2), axis=1)
    norms = np.max(np.abs(np.linalg.eigvalsh(draws)), axis=(1, 2))
    return draws / norms[:, None, None, None]


def _centred(values: Array, axis: int) -> Array:
    return values - values.mean(axis=axis, keepdims=True)


def _clients(name: str, values: Any, axes: int, exact: bool) -> list[Array]:
    """One array a client, each with `axes` axes, of which the first runs over its samples."""
    try:
        rows = list(values)
    except TypeError:
        raise ValueError(f"{name}={values!r} is not a sequence with one entry a client") from None
    if not rows:
        raise ValueError(f"{name} is empty; the number of clients is outside the integers in [1, inf)")
    arrays = [array(f"{name}[{n}]", row, exact) for n, row in enumerate(rows)]
    for n, entry in enumerate(arrays):
        if entry.ndim != axes or 0 in entry.shape:
            shape = f"(samples{', d' * (axes - 1)}{',' * (axes == 1)})"
            raise ValueError(f"{name}[{n}] has shape {entry.shape}, not {shape} with every size in [1, inf)")
    return arrays


def _same_lengths(name: str, these: list[Array], other: str, those: list[Array]) -> None:
    if len(these) != len(those):
        raise ValueError(f"{other} has {len(those)} clients, {name} has {len(these)}")
    for n, (x, y) in enumerate(zip(these, those, strict=True)):
        if len(x) != len(y):
            raise ValueError(f"{other}[{n}] has {len(y)} samples, {name}[{n}] has {len(x)}")


def _counts(clients: list[Array]) -> Array:
    return np.array([len(c) for c in clients], dtype=np.int64)


def _padded(clients: list[Array], exact: bool) -> Array:
    shape = (len(clients), max(len(c) for c in clients), *clients[0].shape[1:])
    result = np.full(shape, 0, dtype=object) if exact else np.zeros(shape)
    for n, rows in enumerate(clients):
        result[n, : len(rows)] = rows
    return result


def _nonnegative(name: str, value: Any) -> float:
    number = real(name, value, "[0, inf)")
    if number < 0:
        raise ValueError(f"{name}={value} is outside [0, inf)")
    return number
