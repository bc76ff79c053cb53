"""Functions of which nothing is known but what a run meets: a problem on which programs are played with symbols.

A vector is a tuple of coefficients of basis vectors: 0 is where the origin of space is put (the minimiser, where the
claim speaks of one, else the start), 1 the start seen from there, and then whatever is met: gradients, minimisers of
clients, free vectors.

Where a program draws noise, vectors are random, and inner products and values mean their expectations. Conditions on
points hold in expectation, a draw is orthogonal to all that does not hang on it, and its square is what the law says:
that is true of every law of the noise, and of ``w.keep`` as far as it is unbiased with a known variance. So a bound is
one for the claim, and a solution none of its instances. The other reading, for instances, takes the one law that exact
play takes in one dimension.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from theory.formula import UndefinedError
from theory.worst_case.assembly import Known
from theory.worst_case.forms import Extreme, Form, NotLinearError, dot
from validate.instances.problems import Minimisers, Vector
from validate.primitives import two_points

Law = Literal["any", "on a line"]
"""Of noise: all laws at once, or that of exact play in one dimension."""
Zero = Literal["", "x0", "xstar"]
"""What of a problem is 0; nothing where that does not matter."""


Place = tuple[tuple[int, Any, Any], ...]
"""What a vector is looked up by."""


def place_of(v: Vector) -> Place:
    """The same for equal vectors: the coefficients that are not 0 (rationals of flint are slow to hash)."""
    return tuple([(j, c.p, c.q) for j, c in enumerate(v) if c])


class TooLargeError(ValueError):
    """A run meets more vectors than the semidefinite program is to have."""


class Unknown:
    """A `validate.instances.problems.Problem` that writes down where it is asked.

    Args:
        samples: of each client.
        room: how many basis vectors there may be.
        minimiser: whether the origin is a minimiser of f, which every function then knows.
        same: which functions have it for a minimiser too: ``f_n``, ``f_ni``, or none.
        nearby: whether the start is the minimiser.
        convex: whether every function is convex.
        law: of noise.
        coordinates: d, where something speaks of it.
        zero: which of the start and the minimiser is 0; the other is a basis vector then.

    Attributes:
        basis: names of the basis vectors.
        points: by client and sample, where its function is known, by the point's `place_of`.
        roots: the basis vectors that are no gradients met on the way.
        spread: of each basis vector that is noise, what its square is in expectation.
        line: where noise has one law, the basis vector of length 1 along which it is.
        narrowed: whether the minimiser of the only client was asked for, and taken to be that of f.
    """

    def __init__(
        self,
        samples: Sequence[int],
        room: int,
        *,
        minimiser: bool,
        same: str = "",
        nearby: bool = False,
        convex: bool = True,
        law: Law = "any",
        coordinates: int | None = None,
        zero: Zero = "",
    ) -> None:
        from flint import fmpq

        self.counts, self.dim = tuple(samples), room
        self.has_minimiser, self.convex = minimiser, convex
        self.law, self.coordinates = law, coordinates
        self.spread: dict[int, Form] = {}
        self.line: int | None = None
        self._draws: dict[Any, Vector] = {}
        self._keys: dict[int, Any] = {}
        self._hangs: list[frozenset[Any]] = []  # of each basis vector, the draws on which it hangs
        self.zero, self.one = fmpq(0), fmpq(1)
        self.zeros: Vector = (self.zero,) * room
        self.basis: list[str] = []
        self.points: dict[tuple[int, int], dict[Place, Known]] = {
            (n, i): {} for n, count in enumerate(self.counts) for i in range(count)
        }
        self.values = 0
        self.narrowed = False
        self.roots: list[int] = []
        self.gradient_roots: dict[int, tuple[int, int]] = {}
        self.origin = self.new("origin")
        if zero:  # as what is 0 is 0 exactly, and no solution of a program is
            self.origin = self.zeros
        self.start = self.origin
        self._own: dict[int, Vector] = {}
        self._proximal: dict[tuple[Vector, Any, int], Vector] = {}
        if minimiser:
            if not nearby:
                away = self.new("x0 - x*", root=True)
                if zero == "x0":
                    self.origin = self.plus(self.zeros, away, -1)
                else:
                    self.start = self.plus(self.origin, away)
            self._rest(self.origin, range(self.clients), same)

    @property
    def clients(self) -> int:
        """N."""
        return len(self.counts)

    def samples(self, n: int) -> int:
        """The number of samples of client n."""
        return self.counts[n]

    # vectors

    def new(self, name: str, root: bool = False, hangs: frozenset[Any] = frozenset()) -> Vector:
        """A new basis vector, and the draws on which it hangs; gradients have names that begin with ``grad``."""
        place = len(self.basis)
        if place >= self.dim:
            raise TooLargeError(f"the run meets more than {self.dim} vectors")
        self.basis.append(name)
        self._hangs.append(hangs)
        if root:
            self.roots.append(place)
        return (*self.zeros[:place], self.one, *self.zeros[place + 1 :])

    def plus(self, u: Vector, v: Vector, factor: Any = 1) -> Vector:
        """``u + factor*v``."""
        return tuple([a + factor * b if b else a for a, b in zip(u, v, strict=True)])

    def mean(self, vectors: Sequence[Vector]) -> Vector:
        """Of several."""
        total = vectors[0]
        for v in vectors[1:]:
            total = self.plus(total, v)
        return total if len(vectors) == 1 else tuple([c / len(vectors) if c else c for c in total])

    # functions

    def _rest(self, at: Vector, clients: Sequence[int], same: str) -> None:
        """Know the functions of clients where the gradient of their mean is 0; the last one follows from the others.

        All clients count alike, and so do the samples of each.
        """
        total, last = self.zeros, (clients[-1], self.counts[clients[-1]] - 1)
        for n in clients:
            own = self.zeros
            for i in range(self.counts[n]):
                ends = (n, i) == last or (same == "f_n" and i == self.counts[n] - 1)
                if same == "f_ni":
                    g = self.zeros
                elif ends:
                    # of this client's own mean, or of the mean over clients, what is left
                    left = own if same == "f_n" else self.plus(own, total, self.counts[n])
                    g = tuple([-c if c else c for c in left])
                else:
                    g = self.new(f"grad f_{n + 1},{i + 1} at a minimiser", root=True)
                    self.gradient_roots[self.roots[-1]] = (n, i)
                own = self.plus(own, g)
                self._know(n, i, at, g)
            total = self.plus(total, own, self.one / self.counts[n])

    def _know(self, n: int, i: int, at: Vector, g: Vector) -> Known:
        found = self.points[n, i][place_of(at)] = Known(at, g, self.values)
        self.values += 1
        return found

    def known(self, v: Vector, n: int, i: int) -> Known:
        """A sample's function at a point."""
        found = self.points[n, i].get(place_of(v))
        if found is None:
            first = not self.has_minimiser and not self.points[n, i]
            g = self.new(f"grad f_{n + 1},{i + 1}", root=first, hangs=self.hangs(v))
            if first:
                self.gradient_roots[self.roots[-1]] = (n, i)
            found = self._know(n, i, v, g)
        return found

    def _parts(self, which: tuple[int, ...]) -> list[list[tuple[int, int]]]:
        clients = range(self.clients) if not which else which[:1]
        return [[(n, i) for i in (range(self.counts[n]) if len(which) < 2 else which[1:])] for n in clients]

    def gradient(self, v: Vector, *which: int) -> Vector:
        """Of f, f_n or f_ni."""
        return self.mean([self.mean([self.known(v, *key).g for key in own]) for own in self._parts(which)])

    def value(self, v: Vector, *which: int) -> Form:
        """Of f, f_n or f_ni."""
        total, clients = Form(), self._parts(which)
        for own in clients:
            for key in own:
                total = total.plus(Form({}, {self.known(v, *key).value: self.one / (len(own) * len(clients))}))
        return total

    def prox(self, v: Vector, t: Any, n: int) -> Vector:
        """The point u with u = v - t grad f_n(u)."""
        if not self.convex or not t > 0:
            raise ValueError("the prox of a function that need not be convex, or with t that is not positive")
        if not any(v):  # asked of every instance for the sake of t
            raise UndefinedError("a prox at the zero of space")
        key = (v, t, n)
        if key not in self._proximal:
            names = [f"grad f_{n + 1},{i + 1} at a prox" for i in range(self.counts[n])]
            gradients = [self.new(name, hangs=self.hangs(v)) for name in names]
            u = self.plus(v, self.mean(gradients), -t)
            for i, g in enumerate(gradients):
                if place_of(u) not in self.points[n, i]:
                    self._know(n, i, u, g)
            self._proximal[key] = u
        return self._proximal[key]

    # noise

    def hangs(self, v: Vector) -> frozenset[Any]:
        """The draws of noise on which a vector hangs."""
        return frozenset().union(*(self._hangs[j] for j, c in enumerate(v) if c)) if self._keys else frozenset()

    def is_random(self, value: Any) -> bool:
        """Whether a form, a vector or a nest of vectors hangs on noise of any law."""
        if not self.spread:
            return False
        if isinstance(value, Form):
            noisy = any(self._hangs[j] for key in value.gram for j in key)
            return noisy or any(p.value in value.values and self.hangs(p.x) for p in self._all_points())
        if isinstance(value, Extreme):
            return any(map(self.is_random, value.forms))
        if isinstance(value, tuple):
            nested = bool(value) and isinstance(value[0], tuple)
            return any(map(self.is_random, value)) if nested else bool(self.hangs(value))
        return False

    def _all_points(self) -> list[Known]:
        return [point for own in self.points.values() for point in own.values()]

    def draw(self, op: str, key: Any, of: Sequence[Vector], number: Any) -> list[tuple[Any, Vector]]:
        """What ``w.noise`` or ``w.keep`` give: a vector of which mean and square are known, or one on a line.

        Args:
            op: ``noise`` or ``keep``.
            key: of the draw: where in the program, in which turn, and which client's.
            of: the vector that is kept.
            number: sigma2, or m.
        """
        from flint import fmpq

        if not isinstance(number, fmpq):
            raise NotLinearError("noise whose variance is no rational number")
        base = of[0] if op == "keep" else self.zeros
        if self.law == "on a line":
            if op == "keep":
                raise NotLinearError("coordinates")
            if not number:
                return [(self.one, base)]
            if self.line is None:
                self.line = len(self.basis)
                self.new("direction of the noise")
            return [(p, self.plus(base, self._unit(self.line), value)) for p, value in two_points(number)]
        spread = Form(constant=number) if op == "noise" else self._kept(base, number)
        if not spread.gram and not spread.constant:
            return [(self.one, base)]
        where = (key, base)
        if where not in self._draws:
            place = len(self.basis)
            self._draws[where] = self.new(f"noise {len(self.spread) + 1}", True, self.hangs(base) | {key})
            self.spread[place] = spread
            self._keys[place] = key
        return [(self.one, self.plus(base, self._draws[where]))]

    def _kept(self, v: Vector, m: Any) -> Form:
        """The variance of m of the d coordinates of a vector, scaled by d/m."""
        if self.coordinates is None or m > self.coordinates:
            raise ValueError(f"m={m} is outside the integers in [1, d={self.coordinates}]")
        return dot(v, v).times(self.one * self.coordinates / m - 1)

    def _unit(self, place: int) -> Vector:
        return (*self.zeros[:place], self.one, *self.zeros[place + 1 :])

    def orthogonal(self) -> tuple[tuple[int, int], ...]:
        """Noise and the basis vectors that do not hang on it."""
        return tuple(
            sorted(
                {
                    (min(place, j), max(place, j))
                    for place, key in self._keys.items()
                    for j in range(len(self.basis))
                    if j != place and key not in self._hangs[j]
                }
            )
        )

    def expected(self, v: Vector) -> Vector:
        """The expectation of a vector: noise has mean 0.

        Raises:
            NotLinearError: where a gradient in it hangs on noise.
        """
        if any(c and self._hangs[j] and j not in self.spread for j, c in enumerate(v)):
            raise NotLinearError("the mean of a gradient at a noisy point")
        return tuple([self.zero if j in self.spread else c for j, c in enumerate(v)])

    # minimisers

    def minimisers(self, near: Vector, *which: int) -> Minimisers:
        """The origin of f; of a client a vector of its own."""
        self.narrowed = self.narrowed or (bool(which) and self.clients == 1)
        if not which or self.clients == 1:
            return Minimisers((self.origin,) if self.has_minimiser else (), True)
        (n,) = which
        if n not in self._own:
            self._own[n] = self.plus(self.origin, self.new(f"x*_{n + 1}", root=True))
            self._rest(self._own[n], [n], "f_n")
        return Minimisers((self._own[n],), True)

    def weighted(self, weights: Sequence[Any]) -> Unknown:
        """Weighted sums have no reading.

        Raises:
            ValueError: always.
        """
        raise ValueError("a weighted sum of functions that are not known")

    def infimum(self, *which: int) -> Any:
        """The value at a minimiser."""
        found = self.minimisers(self.start, *which).points
        return self.value(found[0], *which) if found else None

    def to_json(self) -> dict[str, Any]:
        """There is none: it is no problem yet."""
        raise ValueError("functions that are known at no numbers")
