"""Problems of quadratic functions, in fractions: gradients, minima, proximal points, definite matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

from .reading import FormatError, Uncheckable, bits, fields, list_of, number
from .scalars import ONE, ZERO, Number, Vector, Work, below, divided, is_zero

MOST_CLIENTS = 1024
MOST_COORDINATES = 128
MOST_NUMBERS = 100_000
MOST_DATA_BITS = 2_000_000

Matrix = tuple[tuple[Fraction, ...], ...]
Row = tuple[tuple[int, Fraction], ...]


class Function:
    """x'Hx/2 - b'x + c."""

    def __init__(self, H: Matrix, b: tuple[Fraction, ...], c: Fraction) -> None:
        self.H, self.b, self.c = H, b, c
        self.rows: tuple[Row, ...] = tuple(tuple((j, h) for j, h in enumerate(row) if h) for row in H)
        self.d = len(b)

    def numbers(self) -> list[Fraction]:
        """All that it is given by."""
        return [*(h for row in self.H for h in row), *self.b, self.c]

    def what(self) -> Any:
        """What it is: functions of which it is equal are the same."""
        return self.H, self.b, self.c

    def gradient(self, v: Vector) -> Vector:
        """H v - b."""
        found: list[Number] = []
        for row, y in zip(self.rows, self.b, strict=True):
            total: Number = -y
            for j, h in row:
                total = total + h * v[j]
            found.append(total)
        return tuple(found)

    def value(self, v: Vector) -> Number:
        """The value at v."""
        total: Number = self.c
        for row, y, x in zip(self.rows, self.b, v, strict=True):
            for j, h in row:
                total = total + x * h * v[j] / 2
            total = total - y * x
        return total


def scaled(f: Function, q: Fraction) -> Function:
    """q times a function."""
    return Function(tuple(tuple(q * h for h in row) for row in f.H), tuple(q * y for y in f.b), q * f.c)


def mean_of(functions: Sequence[Function]) -> Function:
    """The mean of functions."""
    if len(functions) == 1:
        return functions[0]
    count, d = len(functions), len(functions[0].b)
    H = tuple(tuple(sum((f.H[i][j] for f in functions), ZERO) / count for j in range(d)) for i in range(d))
    b = tuple(sum((f.b[i] for f in functions), ZERO) / count for i in range(d))
    return Function(H, b, sum((f.c for f in functions), ZERO) / count)


class Problem:
    """N clients with functions f_n = mean_i f_ni; f is their mean.

    Attributes:
        samples: f_ni.
        own: f_n.
        mean: f.
        N, d: clients and coordinates.
    """

    samples: list[list[Any]]
    own: list[Any]
    mean: Any
    N: int
    d: int

    def __init__(self, samples: list[list[Function]], work: Work) -> None:
        self.samples = samples
        self.N, self.d = len(samples), len(samples[0][0].b)
        work.spend(sum(map(len, samples)) * (self.d**2 + 5))
        self.own = [mean_of(functions) for functions in samples]
        self.mean = mean_of(self.own)
        self._weighted: dict[tuple[Fraction, ...], Any] = {}
        self._minimum: dict[int, tuple[tuple[Fraction, ...], bool] | None] = {}
        self._inverse: dict[Any, list[list[Number]]] = {}
        self.work = work

    def kinds(self, n: int) -> tuple[int, ...]:
        """For each sample of client n the first that is the same function."""
        return self._alike[n]

    @cached_property
    def _alike(self) -> list[tuple[int, ...]]:
        firsts: list[dict[Any, int]] = [{} for _ in self.samples]
        return [
            tuple(first.setdefault(f.what(), i) for i, f in enumerate(own))
            for own, first in zip(self.samples, firsts, strict=True)
        ]

    def named(self, name: str, n: int, i: int) -> Any:
        """f, f_n or f_ni."""
        return self.mean if name == "f" else self.own[n] if name == "f_n" else self.samples[n][i]

    def all_named(self, name: str) -> list[tuple[Any, dict[str, int]]]:
        """All functions that f, f_n or f_ni stands for, with their indices."""
        if name == "f":
            return [(self.mean, {})]
        if name == "f_n":
            return [(f, {"n": n}) for n, f in enumerate(self.own)]
        return [(f, {"n": n, "i": i}) for n, own in enumerate(self.samples) for i, f in enumerate(own)]

    def weighted(self, weights: tuple[Fraction, ...]) -> Any:
        """sum_n(q_n*f_n)."""
        if weights not in self._weighted:
            self.work.spend(self.N * (self.d**2 + 5))
            self._weighted[weights] = mean_of([scaled(f, self.N * q) for f, q in zip(self.own, weights, strict=True)])
        return self._weighted[weights]

    def minimum(self, function: Function) -> tuple[tuple[Fraction, ...], bool] | None:
        """A minimiser, and whether it is the only one; None where the function is unbounded below."""
        key = id(function)
        if key not in self._minimum:
            self.work.spend(4 * self.d**3)
            definite, rank = definiteness(function.H)
            point = solve(function.H, function.b) if definite else None
            self._minimum[key] = None if point is None else (point, rank == self.d)
        return self._minimum[key]

    def infimum(self, function: Any) -> Number:
        """The infimum of a function.

        Raises:
            Uncheckable: where it is unbounded below.
        """
        found = self.minimum(function)
        if found is None:
            raise Uncheckable("f is unbounded below, of which the claim does not speak")
        value: Number = function.value(found[0])
        return value

    def minimises(self, function: Any, point: Vector) -> bool:
        """Whether a function that has a minimum is least at a point."""
        return not any(x != 0 for x in function.gradient(point))

    def prox(self, n: int, v: Vector, t: Number) -> Vector:
        """argmin over u of f_n(u) + norm2(u - v)/(2t).

        Raises:
            Uncheckable: where there is none, or more than one.
        """
        inverse = self.proximal(n, t)
        right = [y + divided(x, t) for y, x in zip(self.own[n].b, v, strict=True)]
        found = []
        for row in inverse:
            total: Number = ZERO
            for a, y in zip(row, right, strict=True):
                total = total + a * y
            found.append(total)
        return tuple(found)

    def proximal(self, n: int, t: Number) -> list[list[Number]]:
        """The inverse of H_n + I/t, which must be positive definite."""
        if (n, t) not in self._inverse:
            self.work.spend(4 * self.d**3)
            step = divided(ONE, t)
            matrix: list[list[Number]] = [
                [h + step if i == j else h for j, h in enumerate(row)] for i, row in enumerate(self.own[n].H)
            ]
            self._inverse[n, t] = inverse_of(matrix)
        return self._inverse[n, t]


def read_samples(
    data: Any, read: Callable[[Any, str, int], Any], counted: Callable[[Any], int], most: int
) -> tuple[list[list[Any]], int]:
    """The functions of ``{"clients": [[sample, ...], ...]}``, and how many numbers they are given by.

    Args:
        data: as it stands in the certificate.
        read: a sample, its name, and the coordinates of those before it (0: none) -> the function.
        counted: what of a function there may be so many of in all.
        most: how many.
    """
    clients = list_of(fields(data, "problem", "clients")["clients"], "clients")
    if not 1 <= len(clients) <= MOST_CLIENTS:
        raise FormatError(f"the problem has not between 1 and {MOST_CLIENTS} clients")
    count = size = d = parts = 0
    samples: list[list[Any]] = []
    for n, own in enumerate(clients):
        if not list_of(own, f"client {n}"):
            raise FormatError(f"client {n + 1} has no samples")
        samples.append([])
        for sample in own:
            function = read(sample, f"a sample of client {n + 1}", d)
            numbers = function.numbers()
            d, parts = function.d, parts + counted(function)
            count, size = count + len(numbers), size + sum(map(bits, numbers))
            if count > MOST_NUMBERS or size > MOST_DATA_BITS or parts > most:
                raise FormatError("the problem has too many or too long numbers to be checked")
            samples[-1].append(function)
    return samples, count


def read_problem(data: Any, work: Work) -> Problem:
    """``{"clients": [[{"H", "b"} or {"H", "b", "c"}, ...], ...]}``."""
    return Problem(read_samples(data, read_function, lambda f: 1, MOST_NUMBERS)[0], work)


def read_function(data: Any, name: str, d: int) -> Function:
    """One sample, of d coordinates (0: of any number)."""
    fields(data, name, "H b", "c")
    b = read_vector(data["b"], f"b of {name}")
    if d and len(b) != d:
        raise FormatError(f"{name} has {len(b)} coordinates, not {d}")
    rows = list_of(data["H"], f"H of {name}")
    if len(rows) != len(b):
        raise FormatError(f"H of {name} has {len(rows)} rows, and b has {len(b)} entries")
    H = tuple(read_vector(row, f"a row of H of {name}") for row in rows)
    if any(len(row) != len(b) for row in H) or any(H[i][j] != H[j][i] for i in range(len(b)) for j in range(i)):
        raise FormatError(f"H of {name} is not symmetric")
    return Function(H, b, number(data.get("c", 0), f"c of {name}"))


def read_vector(data: Any, name: str) -> tuple[Fraction, ...]:
    """A list of at least one number."""
    if not 1 <= len(list_of(data, name)) <= MOST_COORDINATES:
        raise FormatError(f"{name} has not between 1 and {MOST_COORDINATES} entries")
    return tuple(number(x, name) for x in data)


# --- matrices ---------------------------------------------------------------------------------------------------------


def definiteness(matrix: Sequence[Sequence[Fraction]]) -> tuple[bool, int]:
    """Whether a symmetric matrix is positive semidefinite, and if so its rank, by its L D L^T factors."""
    rows = [list(row) for row in matrix]
    d, rank = len(rows), 0
    for j in range(d):
        pivot = rows[j][j]
        if pivot < 0 or (pivot == 0 and any(rows[j][i] for i in range(j + 1, d))):
            return False, 0
        if pivot == 0:
            continue
        rank += 1
        for i in range(j + 1, d):
            if rows[i][j]:
                factor = rows[i][j] / pivot
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[j], strict=True)]
    return True, rank


def semidefinite(matrix: Sequence[Sequence[Fraction]]) -> bool:
    """Whether a symmetric matrix is positive semidefinite."""
    return definiteness(matrix)[0]


def shifted(
    matrix: Sequence[Sequence[Fraction]], factor: Fraction | int, shift: Fraction | int
) -> list[list[Fraction]]:
    """factor*matrix + shift*identity."""
    return [[factor * h + (shift if i == j else 0) for j, h in enumerate(row)] for i, row in enumerate(matrix)]


def product(A: Sequence[Sequence[Fraction]], B: Sequence[Sequence[Fraction]]) -> list[list[Fraction]]:
    """The product of two matrices."""
    columns = list(zip(*B, strict=True))
    return [[sum((a * b for a, b in zip(row, c, strict=True) if a and b), ZERO) for c in columns] for row in A]


def echelon(matrix: Sequence[Sequence[Fraction]], columns: int) -> tuple[list[list[Fraction]], list[int]]:
    """The reduced rows of a matrix, and the columns of their leading ones, among the first `columns`."""
    rows, leading = [list(row) for row in matrix], list[int]()
    for j in range(columns):
        place = next((i for i in range(len(leading), len(rows)) if rows[i][j]), None)
        if place is None:
            continue
        at = len(leading)
        rows[at], rows[place] = rows[place], rows[at]
        pivot = rows[at][j]
        rows[at] = [x / pivot for x in rows[at]]
        for i in range(len(rows)):
            if i != at and rows[i][j]:
                factor = rows[i][j]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[at], strict=True)]
        leading.append(j)
    return rows, leading


def solve(matrix: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> tuple[Fraction, ...] | None:
    """A solution of matrix x = right, or None."""
    d = len(matrix)
    rows, leading = echelon([[*row, y] for row, y in zip(matrix, right, strict=True)], d)
    if any(row[d] for row in rows[len(leading) :]):
        return None
    found = [ZERO] * d
    for row, j in zip(rows, leading, strict=False):
        found[j] = row[d]
    return tuple(found)


def null_space(matrix: Sequence[Sequence[Fraction]]) -> list[tuple[Fraction, ...]]:
    """A basis of the vectors that the matrix takes to 0."""
    d = len(matrix)
    rows, leading = echelon(matrix, d)
    basis = []
    for free in (j for j in range(d) if j not in leading):
        v = [ZERO] * d
        v[free] = ONE
        for row, j in zip(rows, leading, strict=False):
            v[j] = -row[free]
        basis.append(tuple(v))
    return basis


def inverse_of(matrix: list[list[Number]]) -> list[list[Number]]:
    """The inverse of a positive definite matrix of fractions or intervals.

    Raises:
        Uncheckable: where it is not positive definite, or intervals do not tell.
    """
    d = len(matrix)
    rows: list[list[Number]] = [[*row, *(ONE if i == j else ZERO for j in range(d))] for i, row in enumerate(matrix)]
    for j in range(d):
        pivot = rows[j][j]
        if not below(ZERO, pivot):
            raise Uncheckable("a proximal point that does not exist, or is not the only one")
        rows[j] = [divided(x, pivot) for x in rows[j]]
        for i in range(d):
            factor = rows[i][j]
            if i != j and not (isinstance(factor, Fraction) and is_zero(factor)):
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[j], strict=True)]
    return [row[d:] for row in rows]
