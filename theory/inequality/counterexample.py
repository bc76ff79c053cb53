"""From the floats of a semidefinite program to explicit vectors that break an inequality.

The solver's violating Gram matrix is moved to the interior of the set of violations (a second solve, which maximises
the distance t to every condition and the least eigenvalue), factorised, and rounded: the vectors get rational
coordinates, and everything is checked on them exactly. Where conditions are equations, the rounded Gram matrix is
mended first, and the coordinates are rational multiples of square roots, kept as weights of the inner product.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from theory.inequality.configuration import Configuration, Substitution, null_space
from theory.inequality.exact_dual import rational_basis
from theory.inequality.gram import Solution, solve, solved_exactly
from theory.inequality.homogeneous import Homogeneous, homogeneous
from theory.inequality.psd import ldl
from theory.inequality.vectors import Condition, Form, Space, Vector, square

logger = logging.getLogger(__name__)

DENOMINATORS = (1, 2, 4, 10, 20, 100, 1000, 10**4, 2**20, 2**32, 2**48)
ROOM = 1e-9  # the least t that counts as an interior
CAP = Fraction(1, 1000)  # the most that a slack counts for, so that none is bought at another's expense


def normalised(problem: Homogeneous) -> list[Condition]:
    """The hypotheses, with G, z and the values bounded: trace G + z <= 1 and every |F_j| <= 1."""
    space = problem.space
    one = space.value(space.values[-1])
    extra = [Condition("trace", sum((square(v) for v in space.vectors_of()), one) - 1, "<=")]
    for name in space.values[:-1]:
        extra += [Condition(name, sign * space.value(name) - 1, "<=") for sign in (1, -1)]
    return [*problem.conditions, *extra]


def worst(claim: Form, given: Sequence[Condition]) -> Solution:
    """The largest violation of ``claim <= 0`` on the normalised cone: 0 (up to the solver) where it is true.

    The first p + 1 multipliers are those of the hypotheses and of ``z >= 0``.
    """
    problem = homogeneous(claim, given)
    return solve(problem.space, problem.claim, normalised(problem), tolerance=1e-10)


def exact_counterexample(claim: Form, given: Sequence[Condition], violation: float) -> Configuration | None:
    """Rational vectors that satisfy the hypotheses and violate ``claim <= 0``, checked; or None.

    Args:
        claim: the form.
        given: the hypotheses.
        violation: the value of `worst`, > 0.
    """
    for gram, values, equations in interior_points(claim, given, violation):
        found = rounded(claim, given, equations, gram, values)
        if found is not None:
            return found
    for substitution in dependences(claim, given, violation):
        small, hypotheses = substitution.form(claim), substitution.conditions(given)
        solution = worst(small, hypotheses)
        if not (solution.status.startswith("optimal") and solution.value > ROOM):
            continue
        for gram, values, equations in interior_points(small, hypotheses, solution.value):
            found = rounded(small, hypotheses, equations, gram, values)
            if found is not None and (old := substitution.back(found)).breaks(claim, given):
                return old
    return None


def dependences(claim: Form, given: Sequence[Condition], violation: float) -> Iterator[Substitution]:
    """Linear relations between the vectors that every violation seems to satisfy, as substitutions."""
    problem = homogeneous(claim, given)
    _, solution = deepest(
        problem, normalised(problem), violation, set(range(len(given) + 1)) - strict(given), full_rank=False
    )
    if not np.all(np.isfinite(solution.gram)) or not solution.gram.size:
        return
    eigenvalues, eigenvectors = np.linalg.eigh(solution.gram)
    seen = set()
    for small in (1e-6, 1e-4, 1e-8):
        kernel = eigenvectors[:, eigenvalues < small]
        relations = rational_basis(kernel, 420) if 0 < kernel.shape[1] < len(eigenvalues) else None
        if relations is None or (key := tuple(map(tuple, relations))) in seen:
            continue
        seen.add(key)
        units = problem.vector_units
        basis = null_space([{i: c / units[i] for i, c in enumerate(row) if c} for row in relations], len(eigenvalues))
        new = Space(tuple([f"u{i}" for i in range(len(basis))]), claim.space.values)
        images = [Vector(new, {k: v[i] for k, v in enumerate(basis) if v[i]}) for i in range(len(eigenvalues))]
        yield Substitution(new, tuple(images), tuple([new.value(name) for name in new.values]))


def strict(given: Sequence[Condition]) -> set[int]:
    """The places of the inequalities among the hypotheses, and of the one that follows them (z >= 0)."""
    return {i for i, c in enumerate(given) if c.relation == "<="} | {len(given)}


def interior_points(
    claim: Form, given: Sequence[Condition], violation: float
) -> Iterator[tuple[np.ndarray, np.ndarray, list[Form]]]:
    """Points well inside the set of violations, in floats, and the forms that vanish at every violation.

    Yields:
        Gram matrix (n, n), values (m,), forms: those of the equations, and of inequalities that turn out to be tight.
    """
    problem = homogeneous(claim, given)
    conditions = normalised(problem)
    tight: set[int] = {i for i, c in enumerate(conditions) if c.relation == "=="}
    for full_rank in (False, True):
        room, solution = deepest(problem, conditions, violation, tight, full_rank=full_rank)
        if room > ROOM:
            yield from ((*point, [given[i].form for i in sorted(tight)]) for point in dehomogenised(problem, solution))
    slacks = spread(problem, conditions, violation)
    if slacks is not None:
        tight |= {i for i, s in enumerate(slacks) if s < 1e-6}
        forms = [given[i].form for i in sorted(tight) if i < len(given)]
        for full_rank in (True, False):
            room, solution = deepest(problem, conditions, violation, tight, full_rank=full_rank)
            if room > ROOM:
                yield from ((*point, forms) for point in dehomogenised(problem, solution))


def deepest(
    problem: Homogeneous, conditions: Sequence[Condition], violation: float, tight: set[int], *, full_rank: bool
) -> tuple[float, Solution]:
    """The point of largest t with every inequality outside `tight` at most -t, and G >= t I if `full_rank`."""
    space = problem.space
    name = "t"
    while name in space.values:
        name += "'"
    larger = Space(space.vectors, (*space.values, name))
    room = larger.value(name)

    def moved(form: Form) -> Form:
        """A form over the larger space, in which G stands for G + t I if `full_rank`."""
        lifted = Form(larger, form.gram, form.values, form.constant)
        trace = sum((c for (i, j), c in form.gram.items() if i == j), Fraction(0)) if full_rank else Fraction(0)
        return lifted + room * trace

    made = [
        Condition(
            c.name, moved(c.form) + (room if i not in tight and size(c.form) else 0), "==" if i in tight else "<="
        )
        for i, c in enumerate(conditions)
    ]
    made.append(Condition("violation", room * 0 + Fraction(violation) / 2 - moved(problem.claim), "<="))
    made.append(Condition("bounded", room - 1, "<="))
    solution = solve(larger, room, made, tolerance=1e-10)
    depth = float(solution.values[-1]) if np.all(np.isfinite(solution.values)) else -1.0
    if not solution.status.startswith("optimal"):
        depth = -1.0
    gram = solution.gram + depth * np.eye(len(space.vectors)) if full_rank else solution.gram
    return depth, Solution(
        solution.status, depth, solution.multipliers, solution.residual, gram, solution.values[:-1], solution.iterations
    )


def size(form: Form) -> bool:
    """Whether a form depends on anything."""
    return bool(form.gram or form.values)


def spread(problem: Homogeneous, conditions: Sequence[Condition], violation: float) -> np.ndarray | None:
    """The slack of every condition at a violation where as many as possible have one, (p,); None without a solution."""
    space = problem.space
    names = [f"slack {i}" for i in range(len(conditions))]
    larger = Space(space.vectors, (*space.values, *names))
    made, total = [], larger.constant(0)
    for i, c in enumerate(conditions):
        slack = larger.value(names[i])
        made += [Condition("", slack - CAP, "<="), Condition("", -slack, "<=")]
        lifted = Form(larger, c.form.gram, c.form.values, c.form.constant)
        if c.relation == "==":
            made.append(Condition(c.name, lifted, "=="))
        else:
            made.append(Condition(c.name, lifted + slack, "<="))
            total = total + slack
    lifted = Form(larger, problem.claim.gram, problem.claim.values)
    made.append(Condition("violation", Fraction(violation) / 2 - lifted, "<="))
    solution = solve(larger, total, made, tolerance=1e-10)
    return solution.values[len(space.values) :] if solution.status.startswith("optimal") else None


def dehomogenised(problem: Homogeneous, solution: Solution) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The point with z = 1, or of a comfortable size where no constant occurs."""
    gram, numbers = problem.old_point(solution.gram, solution.values)
    values, z = numbers[:-1], float(numbers[-1])
    if problem.inhomogeneous:
        if z > 1e-9 * float(problem.value_units[-1]):
            yield gram / z, values / z
        return
    scale = max(float(np.max(np.diag(gram), initial=0)), float(np.max(np.abs(values), initial=0)), 1e-12)
    for factor in (1, 4, 100):
        yield gram * factor / scale, values * factor / scale


def rounded(
    claim: Form, given: Sequence[Condition], equations: Sequence[Form], gram: np.ndarray, values: np.ndarray
) -> Configuration | None:
    """Rational vectors near a Gram matrix that break the claim exactly, of few dimensions and small denominators."""
    n = len(claim.space.vectors)
    eigenvalues, eigenvectors = np.linalg.eigh(gram) if n else (np.zeros(0), np.zeros((0, 0)))
    order = np.argsort(-eigenvalues)
    factor = eigenvectors[:, order] * np.sqrt(np.maximum(eigenvalues[order], 0))
    significant = int(np.sum(eigenvalues > 1e-12 * max(1.0, float(eigenvalues.max(initial=0)))))
    for rank in range(min(1, n), significant + 1):
        truncated = triangular(factor[:, :rank])
        for denominator in DENOMINATORS:
            rows = tuple([nearest(row, denominator) for row in truncated.tolist()])
            point = Configuration(rows, (Fraction(1),) * rank, nearest(values.tolist(), denominator))
            mended = values_mended(equations, point)
            if mended is not None and mended.breaks(claim, given):
                return mended
    return gram_mended(claim, given, equations, gram, values)


def nearest(numbers: Sequence[float], denominator: int) -> tuple[Fraction, ...]:
    """Each number as the nearest fraction of that denominator."""
    return tuple([Fraction(round(x * denominator), denominator) for x in numbers])


def triangular(factor: np.ndarray) -> np.ndarray:
    """The same Gram matrix from rows in echelon form, which are easier to read."""
    if not factor.size:
        return factor
    _, triangle = np.linalg.qr(factor.T)
    signs = np.where(np.sign(np.diag(triangle)) < 0, -1.0, 1.0)
    return np.asarray((triangle.T * signs[None, :]) if triangle.shape[0] == signs.size else triangle.T)


def values_mended(equations: Sequence[Form], point: Configuration) -> Configuration | None:
    """The point with its values moved so that the forms vanish; None if they cannot."""
    if not equations:
        return point
    gram = point.gram()
    zero = [Fraction(0)] * len(point.values)
    rows = [list(f.values.items()) for f in equations]
    values = solved_exactly(rows, [-f.at(gram, zero) for f in equations], point.values, np.ones(len(zero)))
    return None if values is None else Configuration(point.coordinates, point.weights, tuple(values))


def gram_mended(
    claim: Form, given: Sequence[Condition], equations: Sequence[Form], gram: np.ndarray, values: np.ndarray
) -> Configuration | None:
    """As `rounded`, with the equations solved on the entries of G and the values, and square roots where needed."""
    n = len(gram)
    places = {(i, j): k for k, (i, j) in enumerate((i, j) for j in range(n) for i in range(j + 1))}
    rows = [
        [*[(places[ij], c) for ij, c in f.gram.items()], *[(len(places) + j, c) for j, c in f.values.items()]]
        for f in equations
    ]
    floats = [*[float(gram[i, j]) for i, j in places], *values.tolist()]
    weights = np.where(np.arange(len(floats)) < len(places), 1.0, 1e3)  # the values are moved first
    for denominator in DENOMINATORS:
        start = [Fraction(round(x * denominator), denominator) for x in floats]
        entries = solved_exactly(rows, [-f.constant for f in equations], start, weights)
        if entries is None:
            return None
        matrix = [[entries[places[min(i, j), max(i, j)]] for j in range(n)] for i in range(n)]
        factors = ldl(matrix)
        if factors is None:
            continue
        used = [k for k, d in enumerate(factors.diagonal) if d > 0]
        point = Configuration(
            tuple([tuple([row[k] for k in used]) for row in factors.lower]),
            tuple([factors.diagonal[k] for k in used]),
            tuple(entries[len(places) :]),
        )
        if point.breaks(claim, given):
            return unweighted(point)
    return None


def unweighted(point: Configuration) -> Configuration:
    """The same point with each weight that is a square put into the coordinates."""
    rows = [list(row) for row in point.coordinates]
    weights = list(point.weights)
    for k, w in enumerate(weights):
        root = rational_root(w)
        if root is not None:
            weights[k] = Fraction(1)
            for row in rows:
                row[k] *= root
    return Configuration(tuple(map(tuple, rows)), tuple(weights), point.values)


def rational_root(number: Fraction) -> Fraction | None:
    """The square root of a rational >= 0, if it is rational."""
    from math import isqrt

    top, bottom = isqrt(number.numerator), isqrt(number.denominator)
    return Fraction(top, bottom) if Fraction(top * top, bottom * bottom) == number else None
