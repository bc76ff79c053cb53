"""The first two moments of all live values at a point of a round.

The *base* is a vector z that begins with 1, with E[zz'] = P: values of the server, then those of client 1, of client 2,
... Given z and the outcomes o of the draws that are still alive, a value v of client n is

    v = B_n z_n + sum_g G_n,g e_n,g,

where z_n is the part of z that client n knows (the 1, the server's values, its own), and the e are *noises*: of mean 0,
uncorrelated between groups g and between clients, of covariance C_n,g (averaged over z). So what does not mix clients
is done client by client, and their joint moments are never formed but where clients meet. A value of the server is a
linear function of z, without noise; where clients meet, a new base is made (`sim.moments.meeting`).

Of a sample that only enters linearly, two moments suffice: a gradient of sample i is left as grad f_n plus D_i w, the
*pending* part, until i is read no more; sums of pending parts are pending. Then mean_i D_i E[ww'] D_i' is a new noise.

A client stands for all of its class, which are exchangeable: what z has of it is the mean over the class, from which
its own part of z_n differs by a *deviation*, of covariance V, with which nothing is correlated but the deviations of
the others in its class: -V/(many - 1). So sums over the clients are functions of z.

Shapes: b start matrices are carried at once (P has shape (b, D, D), C (b, O, N, q, q)); B and G do not depend on P:
(O, N, r, D_n), (O, N, r, q). An axis of length 1 stands for one that does not matter.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from sim.moments.curvatures import Curvatures
from sim.moments.draws import Axis
from sim.moments.numbers import Array, Numbers, times


class Linear:
    """B and the G by group, of one value of every client. Not changed but by the law that it belongs to."""

    __slots__ = ("B", "G")

    def __init__(self, B: Array, G: dict[int, Array]) -> None:
        self.B = B
        self.G = G

    @property
    def rows(self) -> int:
        """r."""
        return int(self.B.shape[-2])


class Own:
    """A value of every client: its linear part, and by draw the pending parts (w1, w): D_i (w1, w - w1 point)."""

    __slots__ = ("linear", "pending")

    def __init__(self, linear: Linear, pending: dict[int, tuple[Array, Linear]] | None = None) -> None:
        self.linear = linear
        self.pending = pending or {}

    @property
    def rows(self) -> int:
        """r."""
        return self.linear.rows


class Shared:
    """A value of the server: B (r, D), or (r, D_s) when it has nothing to do with the clients' values in the base."""

    __slots__ = ("B",)

    def __init__(self, B: Array) -> None:
        self.B = B

    @property
    def rows(self) -> int:
        """r."""
        return len(self.B)


Value = Own | Shared


class AliveError(Exception):
    """A draw is read in a way that needs all its outcomes."""

    def __init__(self, draw: int) -> None:
        super().__init__(draw)
        self.draw = draw


class Law:
    """See the module.

    Attributes:
        curvatures: the clients.
        P: (b, D, D).
        spread: (b, N, r, r), V; None where every class is one client.
        mean: (1 or b, D, D0), E[z | y] for a vector y known before, and of the deviations from y's, (N, r, r0),
            own_mean; None where nobody asks.
        width: D_s, 1 and the server's values.
        own_width: of each client's values in z.
        axes: draws with outcomes that are alive.
        noises: C by group.
        values: by number.
        given: the outcomes, for all clients, that are taken for granted, by draw.
    """

    _groups = itertools.count()

    def __init__(
        self,
        curvatures: Curvatures,
        P: Array,
        width: int,
        own_width: int,
        spread: Array | None = None,
        mean: Array | None = None,
        own_mean: Array | None = None,
    ) -> None:
        self.curvatures, self.P, self.width, self.own_width = curvatures, P, width, own_width
        self.spread, self.mean, self.own_mean = spread, mean, own_mean
        self.numbers: Numbers = curvatures.numbers
        self.axes: list[Axis] = []
        self.noises: dict[int, Array] = {}
        self.values: dict[int, Value] = {}
        self.scalars: dict[int, Array] = {}
        self.given: dict[int, Any] = {}
        self._local: Array | None = None

    # sizes

    @property
    def outcomes(self) -> int:
        """O."""
        total = 1
        for axis in self.axes:
            total *= axis.size
        return total

    @property
    def local_width(self) -> int:
        """D_n."""
        return self.width + self.own_width

    @property
    def local(self) -> Array:
        """(b, 1 or N, D_n, D_n), E[z_n z_n']."""
        if self._local is None:
            if self.own_width == 0:
                self._local = self.P[:, None]
            else:
                N, s, r = self.curvatures.clients, self.width, self.own_width
                at = np.concatenate([np.tile(np.arange(s), (N, 1)), s + np.arange(N * r).reshape(N, r)], axis=1)
                self._local = self.P[:, at[:, :, None], at[:, None, :]]
                if self.spread is not None:
                    self._local[..., s:, s:] += self.spread
        return self._local

    # second moments

    def second(self, left: Array, right: Array) -> Array:
        """E[(Bz)(B'z)'], (b, O, N, r, r'), of maps (O, N, r, D_n) and (O, N, r', D_n)."""
        product = self.numbers.product
        if self.own_width == 0:
            half = product(left.reshape(1, -1, left.shape[-1]), self.P).reshape(len(self.P), *left.shape)
        else:
            half = product(left[None], self.local[:, None])
        return product(half, right.swapaxes(-1, -2)[None])

    def covariance(self, left: Linear, right: Linear) -> Any:
        """Of the noise parts, (b, O, N, r, r'); 0 where there is none."""
        total: Any = 0
        for g in left.G.keys() & right.G.keys():
            half = self.numbers.product(left.G[g][None], self.noises[g])
            total = total + self.numbers.product(half, right.G[g].swapaxes(-1, -2)[None])
        return total

    # values

    def copied(self) -> Law:
        """An independent copy; the arrays are shared, for none is changed in place."""
        other = copy.copy(self)
        memo: dict[int, Linear] = {}

        def again(one: Linear) -> Linear:
            if id(one) not in memo:
                memo[id(one)] = Linear(one.B, dict(one.G))
            return memo[id(one)]

        other.values = {}
        for name, value in self.values.items():
            if isinstance(value, Own):
                pending = {draw: (w1, again(w)) for draw, (w1, w) in value.pending.items()}
                other.values[name] = Own(again(value.linear), pending)
            else:
                other.values[name] = Shared(value.B)
        other.axes, other.noises = list(self.axes), dict(self.noises)
        other.scalars, other.given = dict(self.scalars), dict(self.given)
        return other

    def scaled(self, p: Any) -> None:
        """Everything with probability p."""
        self.P = self.P * p
        self.spread, self.mean, self.own_mean = (
            None if x is None else x * p for x in (self.spread, self.mean, self.own_mean)
        )
        self.noises = {g: C * p for g, C in self.noises.items()}
        self._local = None

    def coordinates(self, reference: Array, place: int, rows: int, of_clients: bool) -> Value:
        """A value that is coordinates of z, or of each client's part of it, from a place on, and what was taken off."""
        unit, N = self.numbers.ratio(1, 1), self.curvatures.clients
        if not of_clients:
            B = self.numbers.zeros(rows, self.width)
            B[:, 0] = reference[place : place + rows]
            B[range(rows), range(place, place + rows)] = unit
            return Shared(B)
        B = self.numbers.zeros(1, N, rows, self.local_width)
        B[0, :, :, 0] = reference[self.width :].reshape(N, self.own_width)[:, place : place + rows]
        B[:, :, range(rows), range(self.width + place, self.width + place + rows)] = unit
        return Own(Linear(B, {}))

    def own(self, value: Value) -> Own:
        """The value as one of every client."""
        if isinstance(value, Own):
            return value
        B = value.B
        if B.shape[1] > self.width:
            B = self.known(value)
        if self.own_width:
            B = np.concatenate([B, self.numbers.zeros(len(B), self.own_width)], axis=1)
        return Own(Linear(B[None, None], {}))

    def known(self, value: Shared) -> Array:
        """Make a server's value that depends on the clients' values a part of z; its map, (r, D_s)."""
        s, rows, numbers = self.width, value.rows, self.numbers
        # the new coordinates come after the server's others; squares of what is left without 1 keep their digits
        constant, B = value.B[:, 0], value.B.copy()
        B[:, 0] = B[:, 0] * 0
        D = self.P.shape[1]
        grown = np.concatenate([numbers.identity(D)[:s], B, numbers.identity(D)[s:]])
        self.P, self._local = numbers.congruent(grown, self.P), None
        self.mean = None if self.mean is None else times(grown, self.mean)
        self.width += rows
        for other in {id(v): v for v in [*self.carriers(), *self.values.values()] if not isinstance(v, Own)}.values():
            other.B = np.insert(other.B, [s] * rows, 0, axis=-1)
        value.B = numbers.zeros(rows, self.width)
        value.B[:, 0] = constant
        value.B[:, s:] = numbers.identity(rows)
        return value.B

    def carriers(self) -> list[Linear]:
        """All linear parts, each once."""
        found: dict[int, Linear] = {}
        for value in self.values.values():
            if isinstance(value, Own):
                found[id(value.linear)] = value.linear
                for _, w in value.pending.values():
                    found[id(w)] = w
        return list(found.values())

    # linear maps

    def combined(self, terms: Iterable[tuple[Array, Own]]) -> Own:
        """A sum of values with scalars, (1 or O, 1 or N), as factors."""
        B: Any = None
        G: dict[int, Array] = {}
        pending: dict[int, list[tuple[Array, Array, Linear]]] = {}
        for c, value in terms:
            factor = c[:, :, None, None]
            B = factor * value.linear.B if B is None else B + factor * value.linear.B
            for g, part in value.linear.G.items():
                G[g] = G[g] + factor * part if g in G else factor * part
            for draw, (w1, w) in value.pending.items():
                pending.setdefault(draw, []).append((c, w1, w))
        parts = {}
        for draw, several in pending.items():
            inner = self.combined((c, Own(w)) for c, _, w in several).linear
            total: Any = 0
            for c, w1, _ in several:
                total = total + c * w1
            parts[draw] = (total, inner)
        return Own(Linear(B, G), parts)

    def mapped(self, matrix: Array, value: Own) -> Own:
        """matrix (1 or O, 1 or N, r', r) times a value without pending parts."""
        linear = value.linear
        return Own(Linear(times(matrix, linear.B), {g: times(matrix, part) for g, part in linear.G.items()}))

    # noise

    def add_noise(self, covariance: Array) -> int:
        """A new group."""
        g = next(Law._groups)
        self.noises[g] = covariance
        return g

    def stacked(self, parts: Sequence[Linear], g: int) -> Array:
        """The G of some values for one group, below one another: (O, N, sum r, q)."""
        q = self.noises[g].shape[-1]
        found = [one.G.get(g) for one in parts]
        outcomes = max((f.shape[0] for f in found if f is not None), default=1)
        N = max((f.shape[1] for f in found if f is not None), default=1)
        rows = [
            np.broadcast_to(f, (outcomes, N, one.rows, q))
            if f is not None
            else self.numbers.zeros(outcomes, N, one.rows, q)
            for f, one in zip(found, parts, strict=True)
        ]
        return np.concatenate(rows, axis=2) if len(rows) > 1 else rows[0]

    def noise_of(self, parts: Sequence[Linear], g: int) -> Array:
        """The covariance of the noise of one group in some values, below one another: (b, O, N, sum r, sum r)."""
        G, C = self.stacked(parts, g), self.noises[g]
        q = G.shape[-1]
        if G.shape == (1, 1, q, q) and np.array_equal(G[0, 0], self.numbers.identity(q)):
            return C
        return self.numbers.product(self.numbers.product(G[None], C), G[None].swapaxes(-1, -2))

    def stacked_map(self, parts: Sequence[Linear]) -> Array:
        """The B of some values below one another: (O, N, sum r, D_n)."""
        outcomes = max(one.B.shape[0] for one in parts)
        N = max(one.B.shape[1] for one in parts)
        return np.concatenate([np.broadcast_to(one.B, (outcomes, N, *one.B.shape[2:])) for one in parts], axis=2)

    def regrouped(self, parts: Sequence[Linear], old: Iterable[int], covariance: Array) -> None:
        """Let the noises of some groups, all carried by `parts`, be one group that holds these parts themselves."""
        for g in old:
            self.noises.pop(g)
            for one in parts:
                one.G.pop(g, None)
        new = self.add_noise(covariance)
        total, at = covariance.shape[-1], 0
        unit = self.numbers.identity(total)
        for one in parts:
            one.G[new] = unit[at : at + one.rows][None, None]
            at += one.rows

    def tidied(self) -> None:
        """Forget noises that nobody carries; let those that the same values carry be one, where that is smaller."""
        carriers = self.carriers()
        by: dict[frozenset[int], list[int]] = {}
        for g in list(self.noises):
            holders = frozenset(i for i, one in enumerate(carriers) if g in one.G)
            if holders:
                by.setdefault(holders, []).append(g)
            else:
                del self.noises[g]
        for holders, groups in by.items():
            parts = [carriers[i] for i in sorted(holders)]
            if sum(self.noises[g].shape[-1] for g in groups) <= sum(one.rows for one in parts):
                continue
            total: Any = 0
            for g in groups:
                total = total + self.noise_of(parts, g)
            self.regrouped(parts, groups, total)

    def settle(self, draws: Iterable[int], tidy: bool = True) -> None:
        """Make noise of the pending parts of draws that are read no more."""
        for draw in draws:
            values = [v for v in self.values.values() if isinstance(v, Own) and draw in v.pending]
            values = list({id(v): v for v in values}.values())
            if not values:
                continue
            parts = [v.pending.pop(draw) for v in values]
            # several values may have the same linear part, but not the same noise
            for v in values:
                v.linear = Linear(v.linear.B, dict(v.linear.G))
            kept = [
                i
                for i, (w1, w) in enumerate(parts)
                if _any(w1) or _any(w.B) or any(_any(part) for part in w.G.values())
            ]
            factor = self.scalars[draw]
            if not kept or not np.any(factor != 0):
                continue
            affine = [bool(np.any(parts[i][0] != 0)) for i in kept]
            vectors = [self._centred(*parts[i], a) for i, a in zip(kept, affine, strict=True)]
            d, m = self.curvatures.dim, len(kept)
            blocks: dict[tuple[int, int], Array] = {}
            for i in range(m):
                for j in range(i, m):
                    X = self.second(vectors[i].B, vectors[j].B) + self.covariance(vectors[i], vectors[j])
                    X = np.broadcast_to(X, (*X.shape[:2], self.curvatures.clients, *X.shape[3:]))
                    if i == j:
                        blocks[i, i] = self.curvatures.noise(X, affine[i])
                    else:
                        blocks[i, j] = self.curvatures.mixed_noise(X, affine[i], affine[j])
                        blocks[j, i] = blocks[i, j].swapaxes(-1, -2)
            if m == 1:
                C = blocks[0, 0]
            else:
                outcomes = max(block.shape[1] for block in blocks.values())
                C = self.numbers.zeros(len(self.P), outcomes, self.curvatures.clients, m * d, m * d)
                for (i, j), block in blocks.items():
                    C[..., i * d : (i + 1) * d, j * d : (j + 1) * d] = block
            g = self.add_noise(C * factor[None, :, :, None, None])
            unit = self.numbers.identity(m * d)
            for place, i in enumerate(kept):
                values[i].linear.G[g] = unit[place * d : (place + 1) * d][None, None]
        if tidy:
            self.tidied()

    def _centred(self, w1: Array, w: Linear, affine: bool) -> Linear:
        """(w1, w - w1 point) as a linear part of 1 + d rows; w alone where w1 is 0."""
        if not affine:
            return w
        outcomes, N = max(w1.shape[0], w.B.shape[0]), max(w1.shape[1], w.B.shape[1])
        d, width = w.B.shape[-2:]
        B = self.numbers.zeros(outcomes, N, 1 + d, width)
        B[:, :, 1:] = w.B
        B[:, :, 0, 0] = w1
        B[:, :, 1:, 0] -= w1[:, :, None] * self.curvatures.point
        G = {g: np.concatenate([self.numbers.zeros(*p.shape[:2], 1, p.shape[3]), p], axis=2) for g, p in w.G.items()}
        return Linear(B, G)

    # outcomes

    def add_axis(self, axis: Axis) -> None:
        """Tell the outcomes of a draw apart."""
        if self.axes:
            repeat = lambda x, at: x if x.shape[at] == 1 else np.repeat(x, axis.size, axis=at)  # noqa: E731
            for one in self.carriers():
                one.B = repeat(one.B, 0)
                one.G = {g: repeat(part, 0) for g, part in one.G.items()}
            self.noises = {g: repeat(C, 1) for g, C in self.noises.items()}
            for value in self.values.values():
                if isinstance(value, Own):
                    value.pending = {draw: (repeat(w1, 0), w) for draw, (w1, w) in value.pending.items()}
            self.scalars = {name: repeat(c, 0) for name, c in self.scalars.items()}
        self.axes.append(axis)

    def along(self, axis: Axis, per_outcome: Array) -> Array:
        """An array (O_r, ...) over the outcomes of one axis as one over all outcomes."""
        at = self.axes.index(axis)
        before = int(np.prod([a.size for a in self.axes[:at]], initial=1))
        after = int(np.prod([a.size for a in self.axes[at + 1 :]], initial=1))
        shape = (before, axis.size, after, *per_outcome.shape[1:])
        return np.broadcast_to(per_outcome[None, :, None], shape).reshape(-1, *per_outcome.shape[1:])

    def merge(self, axis: Axis) -> None:
        """Sum an independent draw out: what differs between its outcomes becomes noise."""
        at = self.axes.index(axis)
        size = axis.size
        before = int(np.prod([a.size for a in self.axes[:at]], initial=1))
        after = int(np.prod([a.size for a in self.axes[at + 1 :]], initial=1))

        def split(x: Array, place: int) -> Array:
            return x.reshape(*x.shape[:place], before, size, after, *x.shape[place + 1 :])

        def first(x: Array, place: int = 0) -> Array:
            if x.shape[place] == 1:
                return x
            found = np.take(split(x, place), 0, axis=place + 1)
            return found.reshape(*x.shape[:place], before * after, *x.shape[place + 1 :])

        def varies(x: Array) -> bool:
            if x.shape[0] == 1:
                return False
            parts = split(x, 0)
            return bool(np.any(parts != parts[:, :1]))

        chance = axis.probability.T  # (size, 1 or N)

        def mean(x: Array, place: int = 0) -> Array:
            """Over the outcomes; the clients' axis comes next."""
            weights = chance.reshape(1, size, 1, chance.shape[1], *(1,) * (x.ndim - place - 2))
            found = (split(x, place) * weights).sum(axis=place + 1)
            return found.reshape(*x.shape[:place], before * after, *found.shape[place + 2 :])

        carriers = self.carriers()
        moving = [one for one in carriers if varies(one.B)]
        touched = {g for one in carriers for g, part in one.G.items() if varies(part)}
        parts = [one for one in carriers if varies(one.B) or touched & one.G.keys()]
        for value in self.values.values():
            if isinstance(value, Own):
                for draw, (w1, w) in value.pending.items():
                    if varies(w1):
                        raise AliveError(draw)
                    value.pending[draw] = (first(w1), w)
        if parts:
            N = self.curvatures.clients
            total: Any = 0
            for g in touched:
                total = total + self.noise_of(parts, g)
            deviations = self.stacked_map(parts)
            if moving:
                deviations = np.broadcast_to(deviations, (len(deviations), N, *deviations.shape[2:]))
                middle, whole = mean(deviations), split(deviations, 0)
                dev = (whole - middle.reshape(before, 1, after, *middle.shape[1:])).reshape(-1, *middle.shape[1:])
                total = total + self.second(dev, dev)
            outcomes = before * size * after
            total = np.broadcast_to(total, (len(self.P), outcomes, N, *total.shape[3:]))
            C = mean(total, 1)
            for one in moving:
                one.B = mean(np.broadcast_to(one.B, (one.B.shape[0], N, *one.B.shape[2:])))
        for one in carriers:
            if one not in moving:
                one.B = first(one.B)
            one.G = {g: part if g in touched else first(part) for g, part in one.G.items()}
        for g, noise in self.noises.items():
            if g not in touched and noise.shape[1] > 1:
                N = self.curvatures.clients
                self.noises[g] = mean(np.broadcast_to(noise, (*noise.shape[:2], N, *noise.shape[3:])), 1)
        if parts:
            self.regrouped(parts, touched, C)
        self.scalars = {name: first(c) for name, c in self.scalars.items()}
        self.axes.pop(at)
        self.tidied()


def _any(x: Array) -> bool:
    return bool(np.any(x != 0))
