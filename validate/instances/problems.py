"""What a problem is to whoever plays on it, and the kinds of problems, each with its part of the one JSON form.

Numbers and vectors are in FLINT's rationals (fmpq) where they are rational, and in Arb balls where they are not. A
further kind of problem is a class with the members of `Problem`, named in `validate.instances.kinds`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, runtime_checkable

import numpy as np

from sim.problems.linear_algebra import minimise
from theory.arithmetic import to_element
from theory.operations import Element, UndecidedError
from validate.instances.numbers import LARGEST_DIMENSION, entries, number, number_json

if TYPE_CHECKING:
    from sim.problems.quadratic import Quadratic

Vector: TypeAlias = "tuple[Element, ...]"
Rows: TypeAlias = "tuple[tuple[tuple[int, Element], ...], ...]"


@dataclass(frozen=True)
class Minimisers:
    """Where a function is least.

    Attributes:
        points: some minimisers, first the one nearest to the given point; none where there is no minimiser.
        unique: whether the first is the only one.
        why: where there is none, and there might be one, why that is not known.
    """

    points: tuple[Vector, ...]
    unique: bool
    why: str = ""


class Problem(Protocol):
    """N clients with functions f_n = mean_i f_ni of d coordinates, and f, their mean.

    A function is named by the indices that it has: f by none, f_n by ``n``, f_ni by ``n, i``.
    """

    @property
    def clients(self) -> int:
        """N."""

    @property
    def dim(self) -> int:
        """d."""

    def samples(self, n: int) -> int:
        """The number of samples of client n."""

    def value(self, v: Vector, *which: int) -> Element:
        """The function's value at v."""

    def gradient(self, v: Vector, *which: int) -> Vector:
        """Its gradient at v."""

    def prox(self, v: Vector, t: Element, n: int) -> Vector:
        """argmin over u of f_n(u) + norm2(u - v)/(2t).

        Raises:
            ValueError: where there is none, or more than one.
        """

    def minimisers(self, near: Vector, *which: int) -> Minimisers:
        """Where the function is least."""

    def infimum(self, *which: int) -> Element | None:
        """The infimum; None where the function is unbounded below."""

    def weighted(self, weights: Sequence[Fraction]) -> Problem:
        """The problem whose f is sum_n(q_n*f_n): client n has N*q_n*f_n."""

    def to_json(self) -> dict[str, Any]:
        """As `read_problem` reads it."""


@runtime_checkable
class KnowsEqualSamples(Protocol):
    """A problem of numbers: it can say which samples are the same."""

    @property
    def alike(self) -> tuple[tuple[int, ...], ...]:
        """Of each client, for each of its samples the first that is the same function."""


def first_equals(each: Iterable[Sequence[Any]]) -> tuple[tuple[int, ...], ...]:
    """Of each client, for each of its samples the first that is equal."""
    found = []
    for own in each:
        first: dict[Any, int] = {}
        found.append(tuple([first.setdefault(one, i) for i, one in enumerate(own)]))
    return tuple(found)


@dataclass(frozen=True)
class Quadratics:
    """Quadratic samples ``x'Hx/2 - b'x + c``, convex or not.

    Attributes:
        quadratic: the exact problem, as everything else that works on quadratics takes it.
    """

    quadratic: Quadratic

    FORMS: ClassVar = (frozenset({"H", "b"}), frozenset({"h", "b"}), frozenset({"h", "a"}))

    def __post_init__(self) -> None:
        if not self.quadratic.exact:
            raise ValueError("quadratic is in float64; a problem that is played on has Fractions (dtype object)")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quadratics) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash((self.clients, self.dim, tuple(self.quadratic.mean_linear)))

    @classmethod
    def made_of(cls) -> type:
        """The type of `quadratic`."""
        from sim.problems.quadratic import Quadratic

        return Quadratic

    # the JSON form

    @classmethod
    def reads(cls, sample: Mapping[str, Any]) -> bool:
        """Whether a sample is written in one of the forms of this kind."""
        return frozenset(sample) - {"c"} in cls.FORMS

    @classmethod
    def read(cls, clients: Sequence[Sequence[Mapping[str, Any]]]) -> Quadratics:
        """The problem with these samples.

        Raises:
            ValueError: for what is no number or has the wrong shape.
        """
        from sim.problems.quadratic import Quadratic

        read = [[read_sample(f"clients[{n}][{i}]", s) for i, s in enumerate(own)] for n, own in enumerate(clients)]
        dims = {len(b) for own in read for _, b, _ in own}
        if len(dims) > 1:
            raise ValueError(f"the samples have different dimensions: {', '.join(map(str, sorted(dims)))}")
        (d,) = dims
        most = max(map(len, read))
        shape = (len(read), most)
        hessian = np.full((*shape, d, d), Fraction(0), dtype=object)
        linear = np.full((*shape, d), Fraction(0), dtype=object)
        offset = np.full(shape, Fraction(0), dtype=object)
        for n, own in enumerate(read):
            for i, (h, b, c) in enumerate(own):
                for row, given in enumerate(h):
                    hessian[n, i, row] = given
                linear[n, i] = b
                offset[n, i] = c
        return cls(Quadratic(hessian, linear, offset, np.array([len(own) for own in read])))

    def to_json(self) -> dict[str, Any]:
        """In one dimension ``{"h", "b"}`` or, for h (x - a)^2/2, ``{"h", "a"}``; ``c`` only where it is needed."""
        q = self.quadratic
        clients = []
        for n in range(self.clients):
            own = []
            for i in range(self.samples(n)):
                h, b, c = q.hessian[n, i], q.linear[n, i], q.offset[n, i]
                if self.dim == 1 and c != 0 and h[0, 0] != 0 and c == b[0] ** 2 / (2 * h[0, 0]):
                    own.append({"h": number_json(h[0, 0]), "a": number_json(b[0] / h[0, 0])})
                    continue
                sample: dict[str, Any]
                if self.dim == 1:
                    sample = {"h": number_json(h[0, 0]), "b": number_json(b[0])}
                else:
                    sample = {"H": [list(map(number_json, row)) for row in h], "b": list(map(number_json, b))}
                own.append({**sample, "c": number_json(c)} if c != 0 else sample)
            clients.append(own)
        return {"clients": clients}

    # sizes

    @property
    def clients(self) -> int:
        """N."""
        return self.quadratic.clients

    @property
    def dim(self) -> int:
        """d."""
        return self.quadratic.dim

    @cached_property
    def _counts(self) -> tuple[int, ...]:
        return tuple(map(int, self.quadratic.counts))

    def samples(self, n: int) -> int:
        """The number of samples of client n."""
        return self._counts[n]

    @cached_property
    def alike(self) -> tuple[tuple[int, ...], ...]:
        """Of each client, for each of its samples the first that is the same function."""
        q = self.quadratic
        return first_equals(
            [(*q.hessian[n, i].ravel(), *q.linear[n, i], q.offset[n, i]) for i in range(self.samples(n))]
            for n in range(self.clients)
        )

    # values

    @cached_property
    def _functions(self) -> dict[tuple[int, ...], tuple[Rows, Vector, Element]]:
        return {}

    def _function(self, which: tuple[int, ...]) -> tuple[Rows, Vector, Element]:
        """Hessian (rows with their entries that are not 0), linear term and constant."""
        found = self._functions.get(which)
        if found is None:
            h, b, c = self._fractions(which)
            rows = tuple(tuple((j, to_element(e)) for j, e in enumerate(row) if e != 0) for row in h)
            found = rows, tuple(map(to_element, b)), to_element(c)
            self._functions[which] = found
        return found

    def _fractions(self, which: tuple[int, ...]) -> tuple[Any, Any, Any]:
        q = self.quadratic
        if not which:
            return q.mean_hessian, q.mean_linear, q.mean_offset
        if len(which) == 1:
            (n,) = which
            return q.client_hessian[n], q.client_linear[n], q.client_offset[n]
        n, i = which
        return q.hessian[n, i], q.linear[n, i], q.offset[n, i]

    def value(self, v: Vector, *which: int) -> Element:
        """The function's value at v."""
        rows, b, c = self._function(which)
        curved = sum([x * h * v[j] for row, x in zip(rows, v, strict=True) for j, h in row], to_element(Fraction(0)))
        return curved / 2 - sum([x * y for x, y in zip(b, v, strict=True)], to_element(Fraction(0))) + c

    def gradient(self, v: Vector, *which: int) -> Vector:
        rows, b, _ = self._function(which)
        found = []
        for row, y in zip(rows, b, strict=True):
            total = -y
            for j, h in row:
                total = total + h * v[j]
            found.append(total)
        return tuple(found)

    # minima

    @cached_property
    def _proximal(self) -> dict[Any, tuple[tuple[Vector, ...], Vector]]:
        return {}

    def prox(self, v: Vector, t: Element, n: int) -> Vector:
        """The minimiser of f_n(u) + norm2(u - v)/(2t): (H + I/t) u = b + v/t.

        Raises:
            ValueError: where H + I/t is not positive definite.
        """
        from flint import fmpq

        key = (n, t) if type(t) is fmpq else None
        found = self._proximal.get(key) if key is not None else None
        if found is None:
            rows, b, _ = self._function((n,))
            if _sign(t) == 0:
                raise ValueError(f"prox with t=0 of client {n + 1} does not exist: t is outside the numbers but 0")
            matrix = [[fmpq(0)] * self.dim for _ in rows]
            for i, row in enumerate(rows):
                for j, h in row:
                    matrix[i][j] = h
                matrix[i][i] = matrix[i][i] + 1 / t
            inverse = inverse_of(matrix)
            if inverse is None:
                raise ValueError(
                    f"prox with t={t} of client {n + 1} has no unique value: its Hessian plus 1/t is not positive"
                )
            found = inverse, tuple([sum([a * y for a, y in zip(row, b, strict=True)], fmpq(0)) for row in inverse])
            if key is not None:
                self._proximal[key] = found
        inverse, constant = found
        return tuple(
            [
                c + sum([a * x for a, x in zip(row, v, strict=True)], fmpq(0)) / t
                for c, row in zip(constant, inverse, strict=True)
            ]
        )

    def minimisers(self, near: Vector, *which: int) -> Minimisers:
        """The minimiser, or of a flat of them the point nearest to `near` and its neighbours in the flat."""
        from flint import fmpq

        h, b, _ = self._fractions(which)
        found = minimise(h, b)
        if found is None:
            return Minimisers((), False)
        point = tuple(map(to_element, found[0]))
        if found[1] == self.dim:
            return Minimisers((point,), True)
        directions = null_space([[to_element(e) for e in row] for row in h])
        gap = [a - p for a, p in zip(near, point, strict=True)]
        gram = [[sum([a * c for a, c in zip(u, v, strict=True)], fmpq(0)) for v in directions] for u in directions]
        inverse = inverse_of(gram)
        assert inverse is not None  # directions are independent
        along = [sum([a * g for a, g in zip(u, gap, strict=True)], fmpq(0)) for u in directions]
        for row, u in zip(inverse, directions, strict=True):
            step = sum([a * c for a, c in zip(row, along, strict=True)], fmpq(0))
            point = tuple([p + step * e for p, e in zip(point, u, strict=True)])
        around = [tuple([p + s * e for p, e in zip(point, u, strict=True)]) for u in directions for s in (1, -1)]
        return Minimisers((point, *around), False)

    def weighted(self, weights: Sequence[Fraction]) -> Quadratics:
        """The problem whose f is sum_n(q_n*f_n)."""
        return Quadratics(weighted_quadratic(self.quadratic, weights))

    def infimum(self, *which: int) -> Element | None:
        """The infimum; None where the function is unbounded below."""
        h, b, c = self._fractions(which)
        found = minimise(h, b)
        return None if found is None else to_element(Fraction(c - b @ found[0] / 2))


def which_of(name: str, at: Mapping[str, int]) -> tuple[int, ...]:
    """The client and the sample whose function f, f_n or f_ni is."""
    return {"f": (), "f_n": (at.get("n", 0),), "f_ni": (at.get("n", 0), at.get("i", 0))}[name]


def weighted_quadratic(problem: Quadratic, weights: Sequence[Any]) -> Quadratic:
    """Client n has N*q_n times its functions, so that f is sum_n(q_n*f_n).

    Args:
        problem: in fractions or float64.
        weights: q_n, of the same type.
    """
    from dataclasses import replace

    factors = np.array([problem.clients * q for q in weights], dtype=problem.hessian.dtype)
    return replace(
        problem,
        hessian=problem.hessian * factors[:, None, None, None],
        linear=problem.linear * factors[:, None, None],
        offset=problem.offset * factors[:, None],
        features=None,
        targets=None,
    )


def read_sample(name: str, sample: Mapping[str, Any]) -> tuple[list[list[Fraction]], list[Fraction], Fraction]:
    """H, b and c of a quadratic in one of its forms."""
    constant = number(f"{name}.c", sample.get("c", 0))
    if "H" in sample:
        b = entries(f"{name}.b", sample["b"])
        rows = sample["H"]
        if not isinstance(rows, Sequence) or isinstance(rows, str) or len(rows) != len(b):
            raise ValueError(f"{name}.H is to be {len(b)} rows, as b has {len(b)} entries")
        if len(b) > LARGEST_DIMENSION:
            raise ValueError(f"{name} has {len(b)} coordinates; the limit is {LARGEST_DIMENSION}")
        h = [entries(f"{name}.H[{j}]", row) for j, row in enumerate(rows)]
        for j, row in enumerate(h):
            if len(row) != len(b):
                raise ValueError(f"{name}.H[{j}] has {len(row)} entries, not {len(b)}")
            for m in range(j):
                if row[m] != h[m][j]:
                    raise ValueError(f"{name}.H is not symmetric: H[{j}][{m}]={row[m]} and H[{m}][{j}]={h[m][j]}")
        return h, b, constant
    curvature = number(f"{name}.h", sample["h"])
    if "b" in sample:
        return [[curvature]], [number(f"{name}.b", sample["b"])], constant
    centre = number(f"{name}.a", sample["a"])
    return [[curvature]], [curvature * centre], curvature * centre**2 / 2 + constant


# --- small linear algebra over rationals and balls ----------------------------------------------------------------


def _sign(value: Element) -> int:
    if value > 0:
        return 1
    if value < 0:
        return -1
    if value == 0:
        return 0
    raise UndecidedError(f"the sign of {value}")


def inverse_of(matrix: Sequence[Sequence[Element]]) -> tuple[Vector, ...] | None:
    """The inverse of a symmetric matrix; None where it is not positive definite."""
    from flint import fmpq

    d = len(matrix)
    rows = [[*row, *(fmpq(int(i == j)) for j in range(d))] for i, row in enumerate(matrix)]
    for j in range(d):  # no pivoting: a positive definite matrix needs none, and its pivots are positive
        pivot = rows[j][j]
        if _sign(pivot) <= 0:
            return None
        rows[j] = [e / pivot for e in rows[j]]
        for i in range(d):
            if i != j and rows[i][j] != 0:
                factor = rows[i][j]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[j], strict=True)]
    return tuple(tuple(row[d:]) for row in rows)


def null_space(matrix: list[list[Any]]) -> list[Vector]:
    """A basis of the null space of a matrix of rationals."""
    from flint import fmpq, fmpq_mat

    reduced, rank = fmpq_mat(matrix).rref()
    d = len(matrix)
    pivots = [next(j for j in range(d) if reduced[i, j] != 0) for i in range(rank)]
    basis = []
    for free in (j for j in range(d) if j not in pivots):
        v = [fmpq(0)] * d
        v[free] = fmpq(1)
        for i, j in enumerate(pivots):
            v[j] = -reduced[i, free]
        basis.append(tuple(v))
    return basis


@contextmanager
def in_range(name: str) -> Iterator[None]:
    """What is said of an exact number of an instance that float64 does not have."""
    try:
        yield
    except OverflowError as error:
        raise ValueError(f"{name} has a number beyond float64, 1.8e308; `moments --exact` has fractions") from error


def in_floats(problem: Quadratic) -> Quadratic:
    """The same quadratics in float64.

    Raises:
        ValueError: for a number beyond its range.
    """
    from sim.problems import Quadratic

    with in_range("problem"):
        parts = (problem.hessian, problem.linear, problem.offset)
        hessian, linear, offset = (np.asarray(a, dtype=float) for a in parts)
    return Quadratic(hessian, linear, offset, problem.counts)
