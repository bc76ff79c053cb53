"""What quadratics satisfy: exactly for fractions, up to rounding in floats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from sim.problems import Quadratic
from sim.problems.linear_algebra import eigenvalues, minimise, root
from theory import predicates as p
from theory.for_every import ForEvery
from theory.psd import is_psd
from validate.satisfied import every
from validate.satisfied.on_ball import squares_at_most
from validate.satisfied.rules import ROUNDING, Numbers, Rules


def _functions(name: str, problem: Quadratic) -> Iterator[tuple[Any, Any]]:
    """Hessian and linear term of each function that a name stands for, without copies of others."""
    if name == "f":
        yield problem.mean_hessian, problem.mean_linear
    elif name == "f_n":
        for n in problem.different_clients[0]:
            yield problem.client_hessian[n], problem.client_linear[n]
    else:
        for n, i in problem.different_samples:
            yield problem.hessian[n, i], problem.linear[n, i]


def _psd(matrix: Any) -> bool:
    """Whether a symmetric matrix is positive semidefinite; exactly for fractions."""
    matrix = np.asarray(matrix)
    if matrix.dtype == object:
        if matrix.shape == (1, 1):
            return bool(matrix[0, 0] >= 0)
        return is_psd([[Fraction(x) for x in row] for row in matrix])
    size = float(np.max(np.abs(matrix), initial=0.0))
    return bool(np.linalg.eigvalsh(matrix)[0] >= -ROUNDING * max(size, 1e-300))


def _psd_with(value: Any, sign: int, matrix: Any) -> bool:
    """Whether value*I + sign*matrix is positive semidefinite."""
    if matrix.dtype == object and matrix.shape == (1, 1):
        return bool(Fraction(value) + sign * matrix[0, 0] >= 0)
    shifted = np.array(matrix if sign > 0 else -matrix)
    diagonal = np.arange(len(matrix))
    shifted[diagonal, diagonal] += Fraction(value) if matrix.dtype == object else float(value)
    return _psd(shifted)


def _scaled_identity(value: Any, matrix: Any) -> Any:
    d = matrix.shape[-1]
    if matrix.dtype != object:
        return float(value) * np.eye(d)
    zero = Fraction(0)
    return np.array([[Fraction(value) if i == j else zero for j in range(d)] for i in range(d)], dtype=object)


def _at_most(one: Any, two: Any, problem: Quadratic) -> bool:
    if problem.exact and not isinstance(one, float) and not isinstance(two, float):
        return bool(one <= two)
    return bool(float(one) <= float(two) * (1 + ROUNDING) + 1e-300)


def _is_smooth(predicate: p.Smooth, problem: Quadratic, constants: Numbers) -> bool:
    matrices = [h for h, _ in _functions(predicate.function, problem)]
    return all(_psd_with(constants[0], -s, h) for h in matrices for s in (1, -1))


def _best_smooth(predicate: p.Smooth, problem: Quadratic) -> Numbers | None:
    largest = max(np.max(np.abs(eigenvalues(h))) for h, _ in _functions(predicate.function, problem))
    return (largest,)


def _is_convex(predicate: p.Convex, problem: Quadratic, constants: Numbers) -> bool:
    return all(_psd(h) for h, _ in _functions(predicate.function, problem))


def _is_strongly_convex(predicate: p.StronglyConvex, problem: Quadratic, constants: Numbers) -> bool:
    mu = constants[0]
    return mu > 0 and all(_psd_with(-mu, 1, h) for h, _ in _functions(predicate.function, problem))


def _best_strongly_convex(predicate: p.StronglyConvex, problem: Quadratic) -> Numbers | None:
    least = min(np.min(eigenvalues(h)) for h, _ in _functions(predicate.function, problem))
    return (least,) if least > 0 else None


def _gradient_bound(predicate: p.Predicate, problem: Quadratic) -> Any:
    """The largest squared norm of a gradient; None where gradients are not bounded."""
    found: Any = Fraction(0)
    for h, b in _functions(predicate.function, problem):
        if np.any(h != 0):
            return None
        found = max(found, (b * b).sum())
    return found


def _bounded(predicate: p.Predicate, problem: Quadratic, constants: Numbers) -> bool:
    if len(constants) == 2:
        maps = [[(h, -b)] for h, b in _functions(predicate.function, problem)]
        return all(squares_at_most(_exactly(one), constants[0] ** 2, constants[1]) for one in maps)
    found = _gradient_bound(predicate, problem)
    return found is not None and _at_most(found, constants[0] ** 2, problem)


def _least_bound(predicate: p.Predicate, problem: Quadratic) -> Numbers | None:
    found = _gradient_bound(predicate, problem)
    return None if found is None else (root(found),)


def _exactly(maps: Iterable[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Matrices and vectors in fractions."""
    fractions = np.frompyfunc(Fraction, 1, 1)
    return [(fractions(matrix), fractions(vector)) for matrix, vector in maps]


def _is_stable(predicate: p.Stable, problem: Quadratic, constants: Numbers) -> bool:
    step, radius = constants
    one, of_samples = _scaled_identity(Fraction(1), problem.hessian), predicate.function == "f_ni"
    every = [list(_functions(predicate.function, problem))] if predicate.function == "f" else []
    for n in problem.different_clients[0] if predicate.function != "f" else ():
        own = problem.counts[n]
        samples = list(zip(problem.hessian[n, :own], problem.linear[n, :own], strict=True))
        every.append(samples if of_samples else [(problem.client_hessian[n], problem.client_linear[n])])
    for functions in every:
        maps = [(one - step * h, step * b) for h, b in functions]
        if not squares_at_most(_exactly(maps), Fraction(radius) ** 2, Fraction(radius)):
            return False
    return True


def _is_quadratic(predicate: p.Quadratic, problem: Quadratic, constants: Numbers) -> bool:
    return True


def _is_bounded_below(predicate: p.BoundedBelow, problem: Quadratic, constants: Numbers) -> bool:
    return all(minimise(h, b) is not None for h, b in _functions(predicate.function, problem))


def _is_polyak_lojasiewicz(predicate: p.PolyakLojasiewicz, problem: Quadratic, constants: Numbers) -> bool:
    # f bounded below and every eigenvalue 0 or at least mu: H (H - mu I) is positive semidefinite
    mu = constants[0]
    if mu <= 0:
        return False
    return all(
        minimise(h, b) is not None and _psd(h @ (h - _scaled_identity(mu, h)))
        for h, b in _functions(predicate.function, problem)
    )


def _best_polyak_lojasiewicz(predicate: p.PolyakLojasiewicz, problem: Quadratic) -> Numbers | None:
    least: Any = None
    for h, b in _functions(predicate.function, problem):
        if minimise(h, b) is None:
            return None
        values = eigenvalues(h)
        floor = 0 if h.dtype == object and values.dtype == object else 1e-12 * float(np.max(np.abs(values), initial=0))
        curved = [v for v in values if v > floor]
        least = min([*curved, *([] if least is None else [least])], default=None)
    return (Fraction(1),) if least is None else (least,)  # of a constant function, every mu is one


def _is_same_minimiser(predicate: p.SameMinimiser, problem: Quadratic, constants: Numbers) -> bool:
    found = minimise(problem.mean_hessian, problem.mean_linear)
    if found is None:
        return True
    point, rank = found
    for h, b in _functions(predicate.function, problem):
        rest = h @ point - b
        still = (
            not np.any(rest != 0) if problem.exact else bool(np.max(np.abs(rest)) <= ROUNDING * (1 + np.max(np.abs(b))))
        )
        if not still or not _psd(h):
            return False
        if rank < problem.dim and not _flat_there(h, problem):
            return False
    return True


def _flat_there(h: Any, problem: Quadratic) -> bool:
    """Whether a Hessian vanishes where that of f does: c*Hf - H is positive semidefinite for large c (H is)."""
    size = max(abs(x) for x in h.ravel())
    return bool(size == 0) or _psd(problem.mean_hessian * (size * 10**6) - h)


def _is_bounded_variance(predicate: p.BoundedVariance, problem: Quadratic, constants: Numbers) -> bool:
    found = _variance(problem)
    return found is not None and _at_most(found, constants[0], problem)


def _best_bounded_variance(predicate: p.BoundedVariance, problem: Quadratic) -> Numbers | None:
    found = _variance(problem)
    return None if found is None else (found,)


def _variance(problem: Quadratic) -> Any:
    """The largest variance of a client's sampled gradient; None where it is not bounded."""
    worst: Any = 0
    for n in problem.different_clients[0]:
        own = problem.counts[n]
        if np.any(problem.hessian[n, :own] != problem.hessian[n, 0]):
            return None
        away = problem.linear[n, :own] - problem.client_linear[n]
        worst = max(worst, (away * away).sum() / (int(own) if problem.exact else own))
    return worst


def _is_dissimilar(predicate: p.Dissimilar, problem: Quadratic, constants: Numbers) -> bool:
    if predicate.spread:
        found = _spread(problem)
        return found is not None and _at_most(found, constants[0] ** 2, problem)
    return _psd(_dissimilarity(problem, *constants))


def _best_dissimilar(predicate: p.Dissimilar, problem: Quadratic) -> Numbers | None:
    if predicate.spread:
        found = _spread(problem)
        return None if found is None else (root(found),)
    return _best_dissimilarity(problem)


def _spread(problem: Quadratic) -> Any:
    """mean_n norm2(grad f_n - grad f), where it is the same everywhere; else None."""
    if np.any(problem.client_hessian != problem.client_hessian[0]):
        return None
    away = problem.client_linear - problem.mean_linear
    return (away * away).sum() / problem.clients


def _dissimilarity(problem: Quadratic, G: Any, B: Any) -> Any:
    """The (d+1) x (d+1) matrix of G^2 + B^2 norm2(grad f(x)) - mean_n norm2(grad f_n(x)) in (x, 1)."""
    exact = problem.exact and not isinstance(G, float) and not isinstance(B, float)
    H, b = problem.mean_hessian, problem.mean_linear
    Hn, bn = problem.client_hessian, problem.client_linear
    if problem.exact and not exact:
        H, b, Hn, bn = (x.astype(float) for x in (H, b, Hn, bn))
    N, d = problem.clients, problem.dim
    matrix = np.empty((d + 1, d + 1), dtype=H.dtype)
    each = [(int(count), Hn[n], bn[n]) for n, count in zip(*problem.different_clients, strict=True)]
    matrix[:d, :d] = B * B * (H @ H) - sum(count * (h @ h) for count, h, _ in each) / N
    matrix[:d, d] = matrix[d, :d] = -(B * B * (H @ b) - sum(count * (h @ v) for count, h, v in each) / N)
    matrix[d, d] = G * G + B * B * (b @ b) - sum(count * (v @ v) for count, _, v in each) / N
    return matrix


def _best_dissimilarity(problem: Quadratic) -> Numbers | None:
    """A pair (G, B): the least B, and then the least G that is true with a B a little larger; floats."""
    H, Hn = problem.mean_hessian.astype(float), problem.client_hessian.astype(float)
    values, vectors = np.linalg.eigh(H @ H)
    kept = values > 1e-12 * max(1.0, float(values[-1]))
    second = np.mean([h @ h for h in Hn], axis=0)
    if not np.allclose(vectors[:, ~kept].T @ second @ vectors[:, ~kept], 0, atol=1e-12):
        return None
    scale = vectors[:, kept] / np.sqrt(values[kept])
    least = float(np.linalg.eigvalsh(scale.T @ second @ scale)[-1]) if np.any(kept) else 0.0
    B = max(least, 0.0) ** 0.5 * (1 + 1e-6) + (1e-6 if not np.any(kept) else 0.0)
    return least_beside(problem, B), B


def least_beside(problem: Quadratic, B: float) -> float:
    """The least G that is true with a B, where one is: a float a little above it."""
    matrix = _dissimilarity(problem, 0.0, B).astype(float)
    block, edge, corner = matrix[:-1, :-1], matrix[:-1, -1], float(matrix[-1, -1])
    needed = edge @ np.linalg.lstsq(block, edge, rcond=1e-12)[0] - corner
    return float(max(needed, 0.0) ** 0.5 * (1 + 1e-6) + 1e-9)


RULES = Rules(
    true={
        p.Smooth: _is_smooth,
        p.Convex: _is_convex,
        p.StronglyConvex: _is_strongly_convex,
        p.Stable: _is_stable,
        p.Quadratic: _is_quadratic,
        p.BoundedBelow: _is_bounded_below,
        p.PolyakLojasiewicz: _is_polyak_lojasiewicz,
        p.SameMinimiser: _is_same_minimiser,
        p.BoundedVariance: _is_bounded_variance,
        p.Dissimilar: _is_dissimilar,
        ForEvery: every.is_true,
        p.Lipschitz: _bounded,
        p.BoundedGradients: _bounded,
    },
    best={
        p.Smooth: _best_smooth,
        p.StronglyConvex: _best_strongly_convex,
        p.PolyakLojasiewicz: _best_polyak_lojasiewicz,
        p.BoundedVariance: _best_bounded_variance,
        p.Dissimilar: _best_dissimilar,
        p.Lipschitz: _least_bound,
        p.BoundedGradients: _least_bound,
    },
)
