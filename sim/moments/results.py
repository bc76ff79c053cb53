"""What moments are asked for: E of products of affine functions of states and taps, of one round or of several."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sim.moments.around import DifferentError
from sim.moments.numbers import Array, Numbers, times
from theory.program import Kind, work


@dataclass(frozen=True, order=True)
class Point:
    """A vector of d coordinates: a state or a tap at its indices.

    Attributes:
        name: of the state or the tap.
        k: the round; a state with k is the one after k rounds.
        turns: of the loops around a tap.
        n, i: the client, and its sample in a table; None where there are none.
        j: in remembered vectors, how long ago, from 0.
    """

    name: str
    k: int
    turns: tuple[int, ...] = ()
    n: int | None = None
    i: int | None = None
    j: int = 0


Affine = Mapping[Point | None, Any]
"""A vector function: the constant, (d,), under None; a number or a (d, d) matrix under each point."""
MOST_KEPT = 4_000_000
"""Numbers of products of different rounds that are kept."""
MOST_COORDINATES = 20_000
"""Of the state of clients that are the same, all whose products are written out."""
OF_SERVER = ("server", "past")


@dataclass(frozen=True)
class Layout:
    """Where things are in a vector that begins with 1: the server's values, then those of each client.

    Attributes:
        places: of each name (a state; a tap with its turns), its kind, the place, and how many rows it has; a client's
            place is counted from where the client's part begins.
        width: 1 and the server's values.
        own_width: of each client's part.
        clients, dim, samples: N, d, n.
    """

    places: Mapping[tuple[str, tuple[int, ...]], tuple[Kind, int, int]]
    width: int
    own_width: int
    clients: int
    dim: int
    samples: int

    @property
    def size(self) -> int:
        """Of the vector."""
        return self.width + self.clients * self.own_width

    def coordinates(self, name: str) -> Array:
        """(rows,), or (clients, rows), where a state's coordinates are."""
        kind, start, rows = self.places[name, ()]
        at = start + np.arange(rows)
        return at if kind in OF_SERVER else self.width + self.own_width * np.arange(self.clients)[:, None] + at

    def place(
        self,
        name: str,
        turns: tuple[int, ...] = (),
        n: int | None = None,
        i: int | None = None,
        j: int = 0,
        clients: int | None = None,
    ) -> slice:
        """The d coordinates of a value; `clients`, for messages, is of how many there is one a class here.

        Raises:
            ValueError: when there is no such value.
        """
        if (name, turns) not in self.places:
            known = ", ".join(sorted({key[0] for key in self.places}))
            raise ValueError(f"there is no {name}{list(turns) if turns else ''}; there are {known}")
        kind, start, rows = self.places[name, turns]
        if kind not in OF_SERVER:
            if n is None or not 0 <= n < self.clients:
                raise ValueError(f"n={n} of {name} is outside the clients 0..{(clients or self.clients) - 1}")
            start += self.width + n * self.own_width
        step = (i if kind == "table" else j) if kind in ("table", "past", "client past") else 0
        if step is None or not 0 <= step < rows // self.dim:
            raise ValueError(f"{'i' if kind == 'table' else 'j'}={step} of {name} is outside 0..{rows // self.dim - 1}")
        return slice(start + step * self.dim, start + (step + 1) * self.dim)


@dataclass(frozen=True)
class Classes:
    """Clients that are the same: of each class there is one in the vectors that are carried, the mean over the class.

    Attributes:
        of: (N,), the class of each client.
        many: how many clients each class has.
    """

    of: Array
    many: tuple[int, ...]

    @property
    def alone(self) -> bool:
        """Whether each client is a class."""
        return len(self.many) == len(self.of)


@dataclass(frozen=True)
class Cross:
    """E of products of two vectors that begin with 1, classes for clients, each less its shift but for the 1.

    Attributes:
        second: E[wv'].
        spread: (classes, r_w, r_v), of what a client's parts differ by from the mean over its class, E[de']; None where
            all are alone.
    """

    second: Array
    spread: Array | None

    @property
    def T(self) -> Cross:
        """E[vw']."""
        return Cross(self.second.T, None if self.spread is None else self.spread.swapaxes(-1, -2))


@dataclass(frozen=True)
class Centred(Cross):
    """The first two moments of a vector.

    Attributes:
        shift: (D_w,), 0 in front.
    """

    shift: Array

    def moved(self, by: Array) -> Centred:
        """Around shift + by; 0 in front."""
        mean = self.second[:, 0]
        second = self.second - np.outer(mean, by) - np.outer(by, mean) + np.outer(by, by)
        return Centred(second, self.spread, self.shift + by)


@dataclass(frozen=True)
class Frame(Centred):
    """A round: the state before it, its taps, the state after it, as one vector w given the state y before it.

    Attributes:
        layout: of w; the state before has the names ``name``, the one after ``name'``.
        mean: (D_w, D), E[w - shift | y] as a function of y less its shift.
        own_mean: (classes, r_w, r), likewise of what clients differ by from the mean over their class.
    """

    layout: Layout
    mean: Array
    own_mean: Array | None


@dataclass(frozen=True)
class _Part:
    """A matrix (d, S) times coordinates of the state of all clients, or of a round.

    Attributes:
        rows: the matrix.
        at: (S,), the coordinates, of classes.
        client: (S,), whose they are, or -1.
        own: (S,), where in a client's part.
    """

    rows: Array
    at: Array
    client: Array
    own: Array


class Moments:
    """The first two moments of a program's states and taps.

    Attributes:
        layout: of the state.
        rounds: K.
        exact: whether numbers are Fractions.
    """

    def __init__(
        self,
        numbers: Numbers,
        layout: Layout,
        classes: Classes,
        states: list[Centred],
        frame: Callable[[int], Frame],
        apart: Callable[[], Moments],
    ) -> None:
        self.numbers, self.layout, self.exact = numbers, layout, numbers.exact
        self._classes, self._states, self._made, self._apart = classes, states, frame, apart
        self._carried = replace(layout, clients=len(classes.many))
        self._frames: dict[int, Frame] = {}
        self._of_clients: dict[int, tuple[Array, Array]] = {}
        self._crosses: dict[tuple[int, tuple[str, int]], Cross] = {}
        self._rows: dict[int, tuple[Array, Array]] = {}

    @property
    def rounds(self) -> int:
        """K."""
        return len(self._states) - 1

    def mean(self, k: int) -> Array:
        """(D,), E of (1, state after k rounds), as `layout` has it."""
        state, everything = self._state(k), self._everything
        return self.numbers.result((state.second[:, 0] + state.shift)[everything.at])

    def second(self, k: int) -> Array:
        """(D, D), E[yy'] of y = (1, state after k rounds)."""
        state = self._state(k)
        return self.numbers.result(self._of_all(state.moved(-state.shift)))

    def centred(self, k: int) -> tuple[Array, Array]:
        """E[yy'] of y = (1, state - c), (D, D), and (0, c), (D,): in floats it has digits that `second` has not."""
        state = self._state(k)
        if k not in self._of_clients:
            found = self._of_all(state)
            self._of_clients[k] = self.numbers.result(found), self.numbers.result(state.shift[self._everything.at])
        return self._of_clients[k]

    def _frame(self, k: int) -> Frame:
        """The round from k to k + 1, k = 0..K-1, its numbers in working arithmetic (`Numbers.result` unloads them)."""
        if not 0 <= k < self.rounds:
            raise ValueError(f"k={k} is outside the rounds 0..{self.rounds - 1}")
        if k not in self._frames:
            self._frames[k] = self._made(k)
        return self._frames[k]

    def expected(self, u: Affine) -> Array:
        """(d,), E of a vector function."""

        def found() -> Array:
            constant, moved = self._known(u.get(None, 0)), self.numbers.zeros(self.layout.dim)
            for point, factor in u.items():
                if point is not None:
                    key, place = self._place(point)
                    matrix, of = self._known(factor), self._centred(key)
                    by = times if matrix.ndim else np.multiply
                    constant = constant + by(matrix, of.shift[place])
                    moved = moved + by(matrix, of.second[place, 0])
            return self.numbers.result(constant + moved)

        return self._told_apart(found)

    def dot(self, u: Affine, v: Affine) -> Any:
        """E of the product <u, v> of two vector functions, of any rounds."""

        def found() -> Any:
            left = self._parts(u, self._key(v))
            right = left if u is v else self._parts(v, self._key(u))
            total: Any = 0
            for one, of_one in left.items():
                for two, of_two in right.items():
                    products = self._products(of_two, of_one, self._cross(two, one))
                    total = total + (of_one.rows * times(of_two.rows, products)).sum()
            return self.numbers.result(np.array(total, dtype=self.numbers.dtype))[()]

        return self._told_apart(found)

    def norm2(self, u: Affine) -> Any:
        """E of the squared norm of a vector function."""
        return self.dot(u, u)

    # internal: keys are ("state", k) and ("frame", k)

    def _told_apart(self, found: Callable[[], Any]) -> Any:
        """What is found, with every client a class where those that are the same have to be told apart."""
        try:
            return found()
        except DifferentError:
            self.__dict__.update(self._apart().__dict__)
            return found()

    def _state(self, k: int) -> Centred:
        if not 0 <= k <= self.rounds:
            raise ValueError(f"k={k} is outside 0..K={self.rounds}")
        return self._states[k]

    def _centred(self, key: tuple[str, int]) -> Centred:
        return self._states[key[1]] if key[0] == "state" else self._frame(key[1])

    @property
    def _everything(self) -> _Part:
        """The state of all clients; its matrix is of no use."""
        layout, of = self.layout, self._classes.of
        if layout.size > MOST_COORDINATES and not self._classes.alone:
            raise ValueError(
                f"the products of all {layout.size - 1} coordinates of the state are asked for; of more than"
                f" {MOST_COORDINATES} ask for single ones"
            )
        own = np.concatenate([np.zeros(layout.width, dtype=int), np.tile(np.arange(layout.own_width), layout.clients)])
        client = np.repeat(np.arange(-1, layout.clients), [layout.width] + [layout.own_width] * layout.clients)
        at = np.where(client < 0, np.arange(layout.size), layout.width + of[client] * layout.own_width + own)
        return _Part(self.numbers.zeros(0, len(at)), at, client, own)

    def _of_all(self, state: Centred) -> Array:
        """(D, D), of the state of all clients."""
        alone, everything = self._classes.alone, self._everything
        return state.second if alone else self._products(everything, everything, state)

    def _products(self, late: _Part, early: _Part, of: Cross) -> Array:
        """(S_late, S_early), E of products of coordinates."""
        found = of.second[late.at[:, None], early.at]
        if of.spread is None or not of.spread.size:
            return found
        classes = self._classes
        beside = np.array([self.numbers.ratio(-1, max(m - 1, 1)) for m in classes.many], dtype=self.numbers.dtype)
        one, two = late.client[:, None], early.client
        c = classes.of[one]
        alike = (one >= 0) & (two >= 0) & (c == classes.of[two])
        factor = np.where(one == two, self.numbers.ratio(1, 1), beside[c])
        return found + np.where(alike, factor, 0) * of.spread[c, late.own[:, None], early.own]

    def _key(self, u: Affine) -> tuple[str, int]:
        """A state or a round of which the function speaks; the start where it speaks of none."""
        point = next((p for p in u if p is not None), None)
        if point is None:
            return "state", 0
        return ("state" if (point.name, ()) in self.layout.places else "frame"), point.k

    def _parts(self, u: Affine, at_constant: tuple[str, int] = ("state", 0)) -> dict[tuple[str, int], _Part]:
        """The function by states and rounds, centred; a constant alone is at `at_constant`.

        A constant may be anywhere: where it is beside what it meets no rounds are run for the product.
        """
        d = self.layout.dim
        constant = self.numbers.zeros(d) + self._known(u.get(None, 0))
        found: dict[tuple[str, int], list[tuple[Array, Array, int, Array]]] = {}
        for point, factor in u.items():
            if point is None:
                continue
            matrix = self._known(factor)
            if matrix.ndim == 0:
                matrix = self.numbers.identity(d) * matrix[()]
            key, place = self._place(point)
            layout, n = self._layout(key), point.n
            at, owner = np.arange(place.start, place.stop), -1
            if place.start >= layout.width and n is not None:
                owner = n
            own = (at - layout.width) % max(layout.own_width, 1)
            found.setdefault(key, []).append((matrix, at, owner, own))
            constant = constant + times(matrix, self._centred(key).shift[at])
        one = (constant[:, None], np.zeros(1, dtype=int), -1, np.zeros(1, dtype=int))
        found.setdefault(next(iter(found), at_constant), []).append(one)
        return {key: _joined(parts) for key, parts in found.items()}

    def _known(self, x: Any) -> Array:
        """A number, a vector or a matrix, in working arithmetic."""
        return self.numbers.array(np.asarray(x, dtype=object if self.exact else float))

    def _place(self, point: Point) -> tuple[tuple[str, int], slice]:
        """The state or the round in which a point is, and where its coordinates are there."""
        of, n = self._classes.of, point.n
        key = ("state" if (point.name, ()) in self.layout.places else "frame"), point.k
        if key[0] == "state":
            self._state(point.k)
        c = int(of[n]) if n is not None and 0 <= n < len(of) else n
        return key, self._layout(key).place(point.name, point.turns, c, point.i, point.j, clients=len(of))

    def _layout(self, key: tuple[str, int]) -> Layout:
        return self._carried if key[0] == "state" else self._frame(key[1]).layout

    def _cross(self, late: tuple[str, int], early: tuple[str, int]) -> Cross:
        """Of w_late and w_early."""
        if late == early:
            return self._centred(late)
        if (late[1], late[0] == "frame") < (early[1], early[0] == "frame"):
            return self._cross(early, late).T
        if late[0] == "frame":
            return self._on(late[1], self._cross(("state", late[1]), early))
        return self._state_with(late[1], early)

    def _on(self, k: int, cross: Cross, after: bool = False) -> Cross:
        """From the state after k rounds on to that round, or to the state after it."""
        frame, (rows, own) = self._frame(k), self._after(k) if after else (slice(None), slice(None))
        spread = None
        if frame.own_mean is not None and cross.spread is not None:
            spread = times(frame.own_mean[:, own], cross.spread)
        return Cross(times(frame.mean[rows], cross.second), spread)

    def _state_with(self, k: int, early: tuple[str, int]) -> Cross:
        """Of the state after k rounds and an early one: on from that, or from where it was found."""
        first = early[1] + (early[0] == "frame")
        at = k
        while at > first and (at, early) not in self._crosses:
            at -= 1
        found: Cross = self._crosses[at, early] if at > first else self._centred(early)
        if at == first and early[0] == "frame":
            rows, own = self._after(early[1])
            found = Cross(found.second[rows], None if found.spread is None else found.spread[:, own])
        for j in range(at, k):
            found = self._on(j, found, after=True)
            work.count(1)
            if (len(self._crosses) + 1) * found.second.size <= MOST_KEPT:
                self._crosses[j + 1, early] = found
        return found

    def _after(self, k: int) -> tuple[Array, Array]:
        """The rows of w of round k that are the state after it, and of a client's part; in the state's order.

        Their shifts are the state's.
        """
        if k not in self._rows:
            layout, there = self._carried, self._frame(k).layout
            rows, own = np.zeros(layout.size, dtype=int), np.zeros(layout.own_width, dtype=int)
            for name, _ in layout.places:
                here, after = layout.coordinates(name), there.coordinates(name + "'")
                rows[here] = after
                if here.ndim == 2:
                    own[here[0] - layout.width] = after[0] - there.width
            self._rows[k] = rows, own
        return self._rows[k]


def _joined(parts: list[tuple[Array, Array, int, Array]]) -> _Part:
    matrices, at, owners, own = zip(*parts, strict=True)
    client = np.repeat(owners, [len(one) for one in at])
    return _Part(np.concatenate(matrices, axis=1), np.concatenate(at), client, np.concatenate(own))
