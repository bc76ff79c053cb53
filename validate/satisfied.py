"""What a problem satisfies: is an assumption true of it with these constants, and what are its best constants?

One registry by the type of the assumption and the type of the problem; no algorithm, paper or claim is asked for.
`true` decides exactly on exact problems (fractions); on float64 problems up to rounding.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from sim.problems import Quadratic
from sim.problems.linear_algebra import eigenvalues, minimise
from theory import predicates as p
from theory.inequality.psd import is_psd
from validate.instances.implied import best_implied, implied
from validate.instances.pieces import Pieces, Piecewise, largest_sum
from validate.instances.points import Points
from validate.instances.ridge_constants import best_of_ridges, true_of_ridges
from validate.instances.ridges import Ridges
from validate.on_ball import piecewise_at_most, squares_at_most

ROUNDING = 1e-9
"""Relative slack of comparisons on float64 problems."""

Numbers = tuple[Any, ...]
True_ = Callable[[Any, Any, Numbers], "bool | None"]
Best = Callable[[Any, Any], Numbers | None]
_TRUE: dict[tuple[type, type], True_] = {}
_BEST: dict[tuple[type, type], Best] = {}
P = TypeVar("P")


def true(predicate: p.Predicate, problem: Any, constants: Sequence[Any], network: Any = None) -> bool | None:
    """Whether an assumption is true of a problem with these constants.

    Args:
        predicate: the assumption.
        problem: such as `sim.problems.Quadratic`, `validate.instances.Pieces` or `Points`.
        constants: values of its constants, in its order: Fractions for an exact decision.
        network: the mixing matrix W, (N, N), for `connected`.

    Returns:
        None where nobody has told how to decide it for such a problem, or where the problem leaves it open.
    """
    if isinstance(predicate, p.Connected):
        return network is not None and _connected(network, constants[0] if constants else None)
    found = _lookup(_TRUE, predicate, problem)
    if found is None:
        return None
    decide = found
    key = ("true", predicate, *((type(c), c) for c in constants))  # a float is decided otherwise than a fraction
    return _once(key, problem, lambda: decide(predicate, problem, tuple(constants)))


def best(predicate: p.Predicate, problem: Any) -> Numbers | None:
    """The best constants of an assumption on a problem: the smallest L, the largest mu, ...

    Returns:
        One number for each of its constants (exact where the eigenvalues are, else float64; 0 where all positive
        numbers are constants); an empty tuple for an assumption without constants that is true; None where none are
        (or nobody has told how to find them).
    """
    found = _lookup(_BEST, predicate, problem)
    if found is not None:
        look = found
        return _once(("best", predicate), problem, lambda: look(predicate, problem))
    return () if not predicate.constants and true(predicate, problem, ()) else None


KEPT = 64
"""Problems of which it is remembered what is true of them: parameters are chosen for each several times."""
_known: OrderedDict[int, tuple[Any, dict[Any, Any]]] = OrderedDict()


def _once(key: Any, problem: Any, work_out: Callable[[], Any]) -> Any:
    """What is worked out for a problem, once."""
    entry = _known.get(id(problem))
    if entry is None:
        _known[id(problem)] = entry = (problem, {})  # the problem is kept, so that its id stays its own
        if len(_known) > KEPT:
            _known.popitem(last=False)
    kept = entry[1]
    try:
        hash(key)
    except TypeError:  # constants that are lists
        return work_out()
    if key not in kept:
        kept[key] = work_out()
    return kept[key]


def second_eigenvalue(network: Any) -> Any:
    """The largest absolute value of the eigenvalues of W but the one 1; exact for W = a I + b ones."""
    matrix = np.asarray(network, dtype=object)
    n = len(matrix)
    if n == 1:
        return Fraction(0)
    diagonal, beside = matrix[0][0], matrix[0][1]
    alike = all(matrix[i][j] == (diagonal if i == j else beside) for i in range(n) for j in range(n))
    if alike:
        return abs(diagonal - beside)
    values = np.sort(np.abs(np.linalg.eigvalsh(matrix.astype(float))))
    return float(values[-2])


def _connected(network: Any, rho: Any) -> bool:
    matrix = np.asarray(network, dtype=object)
    n = len(matrix)
    if matrix.shape != (n, n):
        return False
    exact = all(isinstance(x, Fraction | int) for x in matrix.ravel())
    close = (lambda a, b: a == b) if exact else (lambda a, b: abs(a - b) <= ROUNDING)
    if not all(close(matrix[i][j], matrix[j][i]) for i in range(n) for j in range(n)):
        return False
    if not all(close(sum(row), 1) for row in matrix) or any(x < 0 for x in matrix.ravel()):
        return False
    value = second_eigenvalue(matrix)
    if isinstance(value, float) and exact and value > 1 - 1e-6:
        return False
    return bool(value < 1 and (rho is None or abs(float(value) - float(rho)) <= ROUNDING))


def _lookup(table: Mapping[tuple[type, type], P], predicate: p.Predicate, problem: Any) -> P | None:
    for kind in type(problem).__mro__:
        if (type(predicate), kind) in table:
            return table[type(predicate), kind]
    return None


def tells(predicate: type[p.Predicate], problem: type) -> Callable[[True_], True_]:
    """Register how to decide an assumption on a type of problem: ``(predicate, problem, constants) -> bool``."""

    def register(function: True_) -> True_:
        _TRUE[predicate, problem] = function
        return function

    return register


def finds(predicate: type[p.Predicate], problem: type) -> Callable[[Best], Best]:
    """Register how to find the best constants on a type of problem: ``(predicate, problem) -> numbers or None``."""

    def register(function: Best) -> Best:
        _BEST[predicate, problem] = function
        return function

    return register


# --- quadratics ------------------------------------------------------------------------------------------------------


def _functions(name: str, problem: Quadratic) -> Iterator[tuple[Any, Any]]:
    """Hessian and linear term of each function that a name stands for."""
    if name == "f":
        yield problem.mean_hessian, problem.mean_linear
    elif name == "f_n":
        yield from zip(problem.client_hessian, problem.client_linear, strict=True)
    else:
        for n in range(problem.clients):
            for i in range(problem.counts[n]):
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
    return _psd(_scaled_identity(value, matrix) + sign * matrix)


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


@tells(p.Smooth, Quadratic)
def _(predicate: p.Smooth, problem: Quadratic, constants: Numbers) -> bool:
    matrices = [h for h, _ in _functions(predicate.function, problem)]
    return all(_psd_with(constants[0], -s, h) for h in matrices for s in (1, -1))


@finds(p.Smooth, Quadratic)
def _(predicate: p.Smooth, problem: Quadratic) -> Numbers | None:
    largest = max(np.max(np.abs(eigenvalues(h))) for h, _ in _functions(predicate.function, problem))
    return (largest,)


@tells(p.Convex, Quadratic)
def _(predicate: p.Convex, problem: Quadratic, constants: Numbers) -> bool:
    return all(_psd(h) for h, _ in _functions(predicate.function, problem))


@tells(p.StronglyConvex, Quadratic)
def _(predicate: p.StronglyConvex, problem: Quadratic, constants: Numbers) -> bool:
    mu = constants[0]
    return mu > 0 and all(_psd_with(-mu, 1, h) for h, _ in _functions(predicate.function, problem))


@finds(p.StronglyConvex, Quadratic)
def _(predicate: p.StronglyConvex, problem: Quadratic) -> Numbers | None:
    least = min(np.min(eigenvalues(h)) for h, _ in _functions(predicate.function, problem))
    return (least,) if least > 0 else None


def _gradient_bound(predicate: p.Predicate, problem: Quadratic) -> Any:
    """The largest squared norm of a gradient; None where gradients are not bounded."""
    found: Any = 0
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
    return None if found is None else (_root(found),)


for _kind in (p.Lipschitz, p.BoundedGradients):
    tells(_kind, Quadratic)(_bounded)
    finds(_kind, Quadratic)(_least_bound)


def _exactly(maps: Iterable[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Matrices and vectors in fractions."""
    fractions = np.frompyfunc(Fraction, 1, 1)
    return [(fractions(matrix), fractions(vector)) for matrix, vector in maps]


@tells(p.Stable, Quadratic)
def _(predicate: p.Stable, problem: Quadratic, constants: Numbers) -> bool:
    step, radius = constants
    functions = list(_functions(predicate.function, problem))
    counts = problem.counts if predicate.function == "f_ni" else [1] * len(functions)
    one, at = _scaled_identity(Fraction(1), problem.hessian), 0
    for count in counts:
        maps = [(one - step * h, step * b) for h, b in functions[at : at + int(count)]]
        at += int(count)
        if not squares_at_most(_exactly(maps), Fraction(radius) ** 2, Fraction(radius)):
            return False
    return True


def _root(value: Any) -> Any:
    """The root, exact where it is rational."""
    if isinstance(value, Fraction | int):
        value = Fraction(value)
        top, bottom = np.sqrt(float(value.numerator)), np.sqrt(float(value.denominator))
        if top < 1e15 and bottom < 1e15 and Fraction(round(top), max(1, round(bottom))) ** 2 == value:
            return Fraction(round(top), round(bottom))
    return float(value) ** 0.5


@tells(p.Quadratic, Quadratic)
def _(predicate: p.Quadratic, problem: Quadratic, constants: Numbers) -> bool:
    return True


@tells(p.BoundedBelow, Quadratic)
def _(predicate: p.BoundedBelow, problem: Quadratic, constants: Numbers) -> bool:
    return all(minimise(h, b) is not None for h, b in _functions(predicate.function, problem))


@tells(p.PolyakLojasiewicz, Quadratic)
def _(predicate: p.PolyakLojasiewicz, problem: Quadratic, constants: Numbers) -> bool:
    # f bounded below and every eigenvalue 0 or at least mu: H (H - mu I) is positive semidefinite
    mu = constants[0]
    if mu <= 0:
        return False
    return all(
        minimise(h, b) is not None and _psd(h @ (h - _scaled_identity(mu, h)))
        for h, b in _functions(predicate.function, problem)
    )


@finds(p.PolyakLojasiewicz, Quadratic)
def _(predicate: p.PolyakLojasiewicz, problem: Quadratic) -> Numbers | None:
    least: Any = None
    for h, b in _functions(predicate.function, problem):
        if minimise(h, b) is None:
            return None
        values = eigenvalues(h)
        floor = 0 if h.dtype == object and values.dtype == object else 1e-12 * float(np.max(np.abs(values), initial=0))
        curved = [v for v in values if v > floor]
        least = min([*curved, *([] if least is None else [least])], default=None)
    return (Fraction(1),) if least is None else (least,)  # of a constant function, every mu is one


@tells(p.SameMinimiser, Quadratic)
def _(predicate: p.SameMinimiser, problem: Quadratic, constants: Numbers) -> bool:
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


@tells(p.BoundedVariance, Quadratic)
def _(predicate: p.BoundedVariance, problem: Quadratic, constants: Numbers) -> bool:
    found = _variance(problem)
    return found is not None and _at_most(found, constants[0], problem)


@finds(p.BoundedVariance, Quadratic)
def _(predicate: p.BoundedVariance, problem: Quadratic) -> Numbers | None:
    found = _variance(problem)
    return None if found is None else (found,)


def _variance(problem: Quadratic) -> Any:
    """The largest variance of a client's sampled gradient; None where it is not bounded."""
    worst: Any = 0
    for n in range(problem.clients):
        own = problem.counts[n]
        if np.any(problem.hessian[n, :own] != problem.hessian[n, 0]):
            return None
        away = problem.linear[n, :own] - problem.client_linear[n]
        worst = max(worst, (away * away).sum() / (int(own) if problem.exact else own))
    return worst


@tells(p.Dissimilar, Quadratic)
def _(predicate: p.Dissimilar, problem: Quadratic, constants: Numbers) -> bool:
    if predicate.spread:
        found = _spread(problem)
        return found is not None and _at_most(found, constants[0] ** 2, problem)
    return _psd(_dissimilarity(problem, *constants))


@finds(p.Dissimilar, Quadratic)
def _(predicate: p.Dissimilar, problem: Quadratic) -> Numbers | None:
    if predicate.spread:
        found = _spread(problem)
        return None if found is None else (_root(found),)
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
    matrix[:d, :d] = B * B * (H @ H) - sum(h @ h for h in Hn) / N
    matrix[:d, d] = matrix[d, :d] = -(B * B * (H @ b) - sum(h @ v for h, v in zip(Hn, bn, strict=True)) / N)
    matrix[d, d] = G * G + B * B * (b @ b) - sum(v @ v for v in bn) / N
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
    matrix = _dissimilarity(problem, 0.0, B).astype(float)
    block, edge, corner = matrix[:-1, :-1], matrix[:-1, -1], float(matrix[-1, -1])
    needed = edge @ np.linalg.lstsq(block, edge, rcond=1e-12)[0] - corner
    return (max(needed, 0.0) ** 0.5 * (1 + 1e-6) + 1e-9, B)


# --- piecewise quadratics --------------------------------------------------------------------------------------------


def _steepest(f: Piecewise) -> Fraction:
    return max(map(abs, f.slopes))


@tells(p.Smooth, Pieces)
def _(predicate: p.Smooth, problem: Pieces, constants: Numbers) -> bool:
    return all(_steepest(f) <= constants[0] for f in problem.named(predicate.function))


@finds(p.Smooth, Pieces)
def _(predicate: p.Smooth, problem: Pieces) -> Numbers | None:
    return (max(map(_steepest, problem.named(predicate.function))),)


@tells(p.Convex, Pieces)
def _(predicate: p.Convex, problem: Pieces, constants: Numbers) -> bool:
    return all(min(f.slopes) >= 0 for f in problem.named(predicate.function))


@tells(p.StronglyConvex, Pieces)
def _(predicate: p.StronglyConvex, problem: Pieces, constants: Numbers) -> bool:
    mu = constants[0]
    return bool(mu > 0) and all(min(f.slopes) >= mu for f in problem.named(predicate.function))


@finds(p.StronglyConvex, Pieces)
def _(predicate: p.StronglyConvex, problem: Pieces) -> Numbers | None:
    least = min(min(f.slopes) for f in problem.named(predicate.function))
    return (least,) if least > 0 else None


def _steepness(predicate: p.Predicate, problem: Pieces) -> Fraction | None:
    """The largest absolute value of a derivative; None where it is unbounded."""
    bounds = [f.gradient_bound for f in problem.named(predicate.function)]
    found = [bound for bound in bounds if bound is not None]
    return max(found) if len(found) == len(bounds) else None


def _bounded_steepness(predicate: p.Predicate, problem: Pieces, constants: Numbers) -> bool:
    if len(constants) == 2:
        functions = problem.named(predicate.function)
        return all(piecewise_at_most([f], 0, 1, constants[0] ** 2, constants[1]) for f in functions)
    found = _steepness(predicate, problem)
    return found is not None and bool(found <= constants[0])


def _least_steepness(predicate: p.Predicate, problem: Pieces) -> Numbers | None:
    found = _steepness(predicate, problem)
    return None if found is None else (found,)


for _kind in (p.Lipschitz, p.BoundedGradients):
    tells(_kind, Pieces)(_bounded_steepness)
    finds(_kind, Pieces)(_least_steepness)


@tells(p.Stable, Pieces)
def _(predicate: p.Stable, problem: Pieces, constants: Numbers) -> bool:
    step, radius = constants
    if predicate.function == "f_ni":
        groups = [list(own) for own in problem.functions]
    else:
        groups = [[f] for f in problem.named(predicate.function)]
    return all(piecewise_at_most(group, 1, step, radius**2, radius) for group in groups)


@tells(p.Quadratic, Pieces)
def _(predicate: p.Quadratic, problem: Pieces, constants: Numbers) -> bool:
    return not any(f.knots for f in problem.named(predicate.function))


@tells(p.BoundedBelow, Pieces)
def _(predicate: p.BoundedBelow, problem: Pieces, constants: Numbers) -> bool:
    return all(f.least is not None for f in problem.named(predicate.function))


def _growth(predicate: p.Predicate, problem: Pieces) -> Fraction | None:
    """The largest mu of pl: 0 where no positive number is one, None where all are."""
    functions = problem.named(predicate.function)
    if any(f.least is None for f in functions):
        return Fraction(0)
    return min((mu for f in functions if (mu := f.growth) is not None), default=None)


@tells(p.PolyakLojasiewicz, Pieces)
def _(predicate: p.PolyakLojasiewicz, problem: Pieces, constants: Numbers) -> bool:
    found = _growth(predicate, problem)
    return bool(constants[0] > 0) and (found is None or bool(constants[0] <= found))


@finds(p.PolyakLojasiewicz, Pieces)
def _(predicate: p.PolyakLojasiewicz, problem: Pieces) -> Numbers | None:
    found = _growth(predicate, problem)
    if found == 0:
        return None
    return (Fraction(1),) if found is None else (found,)  # of a constant function, every mu is one


@tells(p.SameMinimiser, Pieces)
def _(predicate: p.SameMinimiser, problem: Pieces, constants: Numbers) -> bool:
    least = problem.mean.least
    if least is None:
        return True
    return all(f.minimised_in(interval) for f in problem.named(predicate.function) for interval in least[1])


def _largest_distance(functions: Sequence[Piecewise], mean: Piecewise) -> Fraction | None:
    """sup over x of the mean of (f'(x) - mean'(x))^2; None where it is infinite."""
    share = Fraction(1, len(functions))
    return largest_sum([(share, f.plus(mean, Fraction(-1))) for f in functions])


def _worst_variance(problem: Pieces) -> Fraction | None:
    found = [_largest_distance(own, mean) for own, mean in zip(problem.functions, problem.own, strict=True)]
    bounds = [bound for bound in found if bound is not None]
    return max(bounds) if len(bounds) == len(found) else None


@tells(p.BoundedVariance, Pieces)
def _(predicate: p.BoundedVariance, problem: Pieces, constants: Numbers) -> bool:
    found = _worst_variance(problem)
    return found is not None and bool(found <= constants[0])


@finds(p.BoundedVariance, Pieces)
def _(predicate: p.BoundedVariance, problem: Pieces) -> Numbers | None:
    found = _worst_variance(problem)
    return None if found is None else (found,)


def _missing(problem: Pieces, B: Fraction) -> Fraction | None:
    """sup over x of mean_n f_n'(x)^2 - B^2 f'(x)^2: what G^2 has to be; None where it is infinite."""
    share = Fraction(1, problem.clients)
    return largest_sum([*((share, f) for f in problem.own), (-(B**2), problem.mean)])


@tells(p.Dissimilar, Pieces)
def _(predicate: p.Dissimilar, problem: Pieces, constants: Numbers) -> bool:
    if predicate.spread:
        found = _largest_distance(problem.own, problem.mean)
    else:
        found = _missing(problem, Fraction(constants[1]))
    return found is not None and bool(found <= Fraction(constants[0]) ** 2)


@finds(p.Dissimilar, Pieces)
def _(predicate: p.Dissimilar, problem: Pieces) -> Numbers | None:
    if predicate.spread:
        found = _largest_distance(problem.own, problem.mean)
        return None if found is None else (_root(found),)
    # B is ruled by what is far away, on either side; the least may need an infinite G
    B: Any = Fraction(1)
    for side in (0, -1):
        slope = problem.mean.slopes[side]
        if slope != 0:
            B = max(B, _root(sum(f.slopes[side] ** 2 for f in problem.own) / problem.clients / slope**2))
    for slack in (1, 1 + 1e-6, 2):
        larger = Fraction(B) if slack == 1 else Fraction(float(B) * slack).limit_denominator(10**9)
        found = _missing(problem, larger)
        if found is not None:
            return (_root(max(found, Fraction(0))), larger)
    return None


# --- points, and ridges ----------------------------------------------------------------------------------------------

for _assumption in p.PREDICATES.values():
    tells(_assumption, Points)(implied)
    finds(_assumption, Points)(best_implied)
    tells(_assumption, Ridges)(true_of_ridges)
    finds(_assumption, Ridges)(best_of_ridges)
