"""What moments are asked for: E of products of affine functions of states and taps, of one round or of several."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sim.moments.numbers import Array, Numbers
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

    def place(
        self, name: str, turns: tuple[int, ...] = (), n: int | None = None, i: int | None = None, j: int = 0
    ) -> slice:
        """The d coordinates of a value.

        Raises:
            ValueError: when there is no such value.
        """
        if (name, turns) not in self.places:
            known = ", ".join(sorted({key[0] for key in self.places}))
            raise ValueError(f"there is no {name}{list(turns) if turns else ''}; there are {known}")
        kind, start, rows = self.places[name, turns]
        if kind in ("client", "table", "client past"):
            if n is None or not 0 <= n < self.clients:
                raise ValueError(f"n={n} of {name} is outside the clients 0..{self.clients - 1}")
            start += self.width + n * self.own_width
        step = (i if kind == "table" else j) if kind in ("table", "past", "client past") else 0
        if step is None or not 0 <= step < rows // self.dim:
            raise ValueError(f"{'i' if kind == 'table' else 'j'}={step} of {name} is outside 0..{rows // self.dim - 1}")
        return slice(start + step * self.dim, start + (step + 1) * self.dim)


@dataclass(frozen=True)
class Frame:
    """A round: the state before it, its taps, the state after it, as one vector w given the state y before it.

    Attributes:
        layout: of w; the state before has the names ``name``, the one after ``name'``.
        second: E[(w - shift)(w - shift)'], but for the 1 in front.
        shift: (D_w,), 0 in front.
        means: gives `mean`, which takes most of the work of a round and is seldom asked for.
    """

    layout: Layout
    second: Array
    shift: Array
    means: Callable[[], Array]

    @cached_property
    def mean(self) -> Array:
        """(D_w, D), E[w - shift | y] as a function of y - its own shift."""
        return self.means()


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
        seconds: list[Array],
        shifts: list[Array],
        frame: Callable[[int], Frame],
    ) -> None:
        self.numbers, self.layout, self.exact = numbers, layout, numbers.exact
        self._seconds, self._shifts, self._frame = seconds, shifts, frame
        self._frames: dict[int, Frame] = {}
        self._crosses: dict[tuple[int, tuple[str, int]], Array] = {}
        self._rows: dict[int, Array] = {}

    @property
    def rounds(self) -> int:
        """K."""
        return len(self._seconds) - 1

    def mean(self, k: int) -> Array:
        """(D,), E of (1, state after k rounds), as `layout` has it."""
        self._check(k)
        return self.numbers.result(self._seconds[k][:, 0] + self._shifts[k])

    def second(self, k: int) -> Array:
        """(D, D), E[yy'] of y = (1, state after k rounds)."""
        self._check(k)
        return self.numbers.result(_moved(self._seconds[k], self._shifts[k]))

    def centred(self, k: int) -> tuple[Array, Array]:
        """E[yy'] of y = (1, state - c), (D, D), and (0, c), (D,): in floats it has digits that `second` has not."""
        self._check(k)
        return self.numbers.result(self._seconds[k]), self.numbers.result(self._shifts[k])

    def frame(self, k: int) -> Frame:
        """The round from k to k + 1, k = 0..K-1, its numbers in working arithmetic (`Numbers.result` unloads them)."""
        if not 0 <= k < self.rounds:
            raise ValueError(f"k={k} is outside the rounds 0..{self.rounds - 1}")
        if k not in self._frames:
            self._frames[k] = self._frame(k)
        return self._frames[k]

    def expected(self, u: Affine) -> Array:
        """(d,), E of a vector function."""
        found: Any = self.numbers.zeros(self.layout.dim)
        for rows, mean in ((rows, self._mean_of(key)) for key, rows in self._parts(u).items()):
            found = found + rows @ mean
        return self.numbers.result(found)

    def dot(self, u: Affine, v: Affine) -> Any:
        """E of the product <u, v> of two vector functions, of any rounds."""
        left = self._parts(u, self._key(v))
        right = left if u is v else self._parts(v, self._key(u))
        total: Any = 0
        for one, rows in left.items():
            for two, columns in right.items():
                total = total + (rows * (columns @ self._cross(two, one))).sum()
        return self.numbers.result(np.array(total, dtype=self.numbers.dtype))[()]

    def norm2(self, u: Affine) -> Any:
        """E of the squared norm of a vector function."""
        return self.dot(u, u)

    # internal: keys are ("state", k) and ("frame", k)

    def _check(self, k: int) -> None:
        if not 0 <= k <= self.rounds:
            raise ValueError(f"k={k} is outside 0..K={self.rounds}")

    def _key(self, u: Affine) -> tuple[str, int]:
        """A state or a round of which the function speaks; the start where it speaks of none."""
        point = next((p for p in u if p is not None), None)
        if point is None:
            return "state", 0
        return ("state" if (point.name, ()) in self.layout.places else "frame"), point.k

    def _parts(self, u: Affine, at: tuple[str, int] = ("state", 0)) -> dict[tuple[str, int], Array]:
        """The function as matrices (d, D) times the centred vectors of states and rounds; a constant alone is at `at`.

        A constant may be anywhere: where it is beside what it meets no rounds are run for the product.
        """
        d = self.layout.dim
        found: dict[tuple[str, int], Array] = {}
        constant = self.numbers.zeros(d)
        if None in u:
            constant = constant + self.numbers.array(np.asarray(u[None], dtype=object if self.exact else float))
        for point, factor in u.items():
            if point is None:
                continue
            matrix = self.numbers.array(np.asarray(factor, dtype=object if self.exact else float))
            if matrix.ndim == 0:
                matrix = self.numbers.identity(d) * matrix[()]
            state = (point.name, ()) in self.layout.places
            if state:
                self._check(point.k)
                layout, shift, key = self.layout, self._shifts[point.k], ("state", point.k)
            else:
                frame = self.frame(point.k)
                layout, shift, key = frame.layout, frame.shift, ("frame", point.k)
            place = layout.place(point.name, point.turns, point.n, point.i, point.j)
            if key not in found:
                found[key] = self.numbers.zeros(d, layout.size)
            found[key][:, place] = found[key][:, place] + matrix
            constant = constant + matrix @ shift[place]
        key = next(iter(found), at)
        if key not in found:
            size = self.layout.size if key[0] == "state" else self.frame(key[1]).layout.size
            found[key] = self.numbers.zeros(d, size)
        found[key][:, 0] = found[key][:, 0] + constant
        return found

    def _mean_of(self, key: tuple[str, int]) -> Array:
        return (self._seconds[key[1]] if key[0] == "state" else self.frame(key[1]).second)[:, 0]

    def _cross(self, late: tuple[str, int], early: tuple[str, int]) -> Array:
        """E[w_late w_early'], (D_late, D_early)."""
        if late == early:
            return self._seconds[late[1]] if late[0] == "state" else self.frame(late[1]).second
        if (late[1], late[0] == "frame") < (early[1], early[0] == "frame"):
            return self._cross(early, late).T
        if late[0] == "frame":
            return self.frame(late[1]).mean @ self._cross(("state", late[1]), early)
        return self._state_with(late[1], early)

    def _state_with(self, k: int, early: tuple[str, int]) -> Array:
        """E[w_late w_early'] of the state after k rounds: on from the early one, or from where that was found."""
        first = early[1] + (early[0] == "frame")
        at = k
        while at > first and (at, early) not in self._crosses:
            at -= 1
        if at > first:
            found = self._crosses[at, early]
        elif early[0] == "frame":
            found = self.frame(early[1]).second[self._after(early[1])]
        else:
            found = self._seconds[first]
        for j in range(at, k):
            found = self.frame(j).mean[self._after(j)] @ found
            work.count(1)
            if (len(self._crosses) + 1) * found.size <= MOST_KEPT:
                self._crosses[j + 1, early] = found
        return found

    def _after(self, k: int) -> Array:
        """The rows of w of round k that are the state after it, in the state's order; their shifts are the state's."""
        if k not in self._rows:
            self._rows[k] = self._rows_after(self.frame(k))
        return self._rows[k]

    def _rows_after(self, frame: Frame) -> Array:
        layout, found = self.layout, np.zeros(self.layout.size, dtype=int)
        for (name, _), (kind, start, rows) in layout.places.items():
            _, there, _ = frame.layout.places[name + "'", ()]
            if kind in ("server", "past"):
                found[start : start + rows] = np.arange(there, there + rows)
                continue
            for n in range(layout.clients):
                here = layout.width + n * layout.own_width + start
                begin = frame.layout.width + n * frame.layout.own_width + there
                found[here : here + rows] = np.arange(begin, begin + rows)
        return found


def _moved(second: Array, shift: Array) -> Array:
    """E[yy'] of y + shift."""
    mean = second[:, 0]
    return second + np.outer(mean, shift) + np.outer(shift, mean) + np.outer(shift, shift)
