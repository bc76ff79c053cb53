"""Functions of which nothing is known but what a run meets: a problem on which programs are played with symbols.

A vector is a tuple of coefficients of basis vectors: 0 is where the origin of space is put (the minimiser, where the
claim speaks of one, else the start), 1 the start seen from there, and then whatever is met: gradients, minimisers of
clients, free vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from theory.formula import UndefinedError
from theory.worst_case.assembly import Known
from theory.worst_case.forms import Form
from validate.instances.problems import Minimisers, Vector


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

    Attributes:
        basis: names of the basis vectors.
        points: by client and sample, where its function is known, by the point.
        roots: the basis vectors that are no gradients met on the way.
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
    ) -> None:
        from flint import fmpq

        self.counts, self.dim = tuple(samples), room
        self.has_minimiser, self.convex = minimiser, convex
        self.zero, self.one = fmpq(0), fmpq(1)
        self.zeros: Vector = (self.zero,) * room
        self.basis: list[str] = []
        self.points: dict[tuple[int, int], dict[Vector, Known]] = {
            (n, i): {} for n, count in enumerate(self.counts) for i in range(count)
        }
        self.values = 0
        self.narrowed = False
        self.roots: list[int] = []
        self.gradient_roots: dict[int, tuple[int, int]] = {}
        self.origin = self.new("origin")
        self.start = self.origin
        self._own: dict[int, Vector] = {}
        self._proximal: dict[tuple[Vector, Any, int], Vector] = {}
        if minimiser:
            if not nearby:
                self.start = self.plus(self.origin, self.new("x0 - x*", root=True))
            self._rest(self.origin, range(self.clients), same)

    @property
    def clients(self) -> int:
        """N."""
        return len(self.counts)

    def samples(self, n: int) -> int:
        """The number of samples of client n."""
        return self.counts[n]

    # vectors

    def new(self, name: str, root: bool = False) -> Vector:
        """A new basis vector; gradients have names that begin with ``grad``."""
        place = len(self.basis)
        if place >= self.dim:
            raise TooLargeError(f"the run meets more than {self.dim} vectors")
        self.basis.append(name)
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
        found = self.points[n, i][at] = Known(at, g, self.values)
        self.values += 1
        return found

    def known(self, v: Vector, n: int, i: int) -> Known:
        """A sample's function at a point."""
        found = self.points[n, i].get(v)
        if found is None:
            first = not self.has_minimiser and not self.points[n, i]
            g = self.new(f"grad f_{n + 1},{i + 1}", root=first)
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
            gradients = [self.new(f"grad f_{n + 1},{i + 1} at a prox") for i in range(self.counts[n])]
            u = self.plus(v, self.mean(gradients), -t)
            for i, g in enumerate(gradients):
                if u not in self.points[n, i]:
                    self._know(n, i, u, g)
            self._proximal[key] = u
        return self._proximal[key]

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
