"""Where clients meet: means over the clients, mixing, choices of clients that depend on one another; a new base.

All that is alive becomes a part of the new base z', and E[z'z''] is found from the laws of the clients, one by one and
two by two: the draws that are alive are summed out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sim.moments.curvatures import Curvatures
from sim.moments.draws import Chances
from sim.moments.law import Law, Linear, Own, Shared, Value
from sim.moments.numbers import Array, times


@dataclass
class Output:
    """A part of the new base.

    Attributes:
        number: of the value.
        value: of the server or the clients.
        weights: (J, N) where it is a sum over the clients of `value`, of the server (J = 1) or of each client (J = N).
        kept: (r, r), the factor of E[vv'] in the covariance that is added to a server's value: random coordinates.
        each: whether a server's value is to be there for every client.
        factor: of an average over clients in random number, which of `Chances` it is multiplied by; 0 is 1.
        place: where it is in z', or in a client's part of it.
        rows: its length there.
    """

    number: int
    value: Value | None = None
    weights: Array | None = None
    kept: Array | None = None
    each: bool = False
    factor: int = 0
    place: int = 0
    rows: int = 0

    @property
    def of_clients(self) -> bool:
        """Whether it is a value of every client."""
        if self.weights is not None:
            return len(self.weights) > 1
        return isinstance(self.value, Own)


@dataclass(frozen=True)
class Meeting:
    """A new base, as of `Law`.

    Attributes:
        outputs: what is in it, with places.
        width: D_s' of the server's part.
        own_width: of every client's.
        reference: (D',), what was taken off z', but 0 at the 1.
        second: (b, D', D'), E[z'z''].
        spread, mean, own_mean: as of `Law`.
    """

    outputs: Sequence[Output]
    width: int
    own_width: int
    reference: Array
    second: Array
    spread: Array | None
    mean: Array | None
    own_mean: Array | None

    def plus(self, other: Meeting) -> Meeting:
        """The base of both laws together."""
        return replace(
            self,
            second=self.second + other.second,
            spread=_sum(self.spread, other.spread),
            mean=_sum(self.mean, other.mean),
            own_mean=_sum(self.own_mean, other.own_mean),
        )

    def law(self, curvatures: Curvatures) -> Law:
        """The law of the new base, without values yet."""
        return Law(curvatures, self.second, self.width, self.own_width, self.spread, self.mean, self.own_mean)


def _sum(one: Array | None, two: Array | None) -> Array | None:
    return None if one is None or two is None else one + two


def placed(outputs: Sequence[Output]) -> tuple[int, int]:
    """Give the outputs their places; D_s' and the width of a client's part."""
    width, own_width = 1, 0
    for out in outputs:
        assert out.value is not None
        out.rows = out.value.rows
        if out.of_clients:
            out.place, own_width = own_width, own_width + out.rows
        else:
            out.place, width = width, width + out.rows
    return width, own_width


def meet(
    law: Law, outputs: Sequence[Output], chances: Chances | None = None, reference: Array | None = None
) -> Meeting:
    """The base of these outputs.

    Args:
        law: without pending parts.
        outputs: what the new base is made of.
        chances: of the outcomes of the draws that are alive; None where there are none.
        reference: (D',), what is taken off z', so that squares of it keep their digits; None for the value that z' has
            where z = (1, 0, ..., 0), without any noise, or for nothing in Fractions.
    """
    width, own_width = placed(outputs)
    N, product, zeros = law.curvatures.clients, law.numbers.product, law.numbers.zeros
    size = width + N * own_width
    own: list[Linear] = [out.value.linear for out in outputs if isinstance(out.value, Own)]
    slices: dict[int, slice] = {}
    at = 0
    for i, out in enumerate(outputs):
        if isinstance(out.value, Own):
            slices[i] = slice(at, at + out.rows)
            at += out.rows
    mean = zeros(size, law.P.shape[1])
    mean[0, 0] = law.numbers.ratio(1, 1)
    layout = _Layout(law, outputs, slices, width, own_width)
    for out in outputs:
        if isinstance(out.value, Shared):
            mean[out.place : out.place + out.rows, : out.value.B.shape[1]] = out.value.B
    if own:
        B = law.stacked_map(own)
        factors = np.array([outputs[i].factor for i, rows in slices.items() for _ in range(rows.stop - rows.start)])
        centre = B
        if chances is not None:
            centre = (B * chances.mean[factors].transpose(2, 1, 0)[..., None]).sum(axis=0, keepdims=True)
        layout.scatter(mean, np.broadcast_to(centre[0], (N, *centre.shape[2:])))
    kept = _kept(law, outputs, mean)
    if reference is None:
        reference = mean[:, 0] * (not law.numbers.exact)
        reference[0] = reference[0] * 0
    mean[:, 0] = mean[:, 0] - reference
    second = law.numbers.congruent(mean, law.P) + kept
    spread: Any = None if law.spread is None else zeros(len(law.P), N, own_width, own_width)
    own_mean = None
    if own:
        covariance: Any = 0
        for g in sorted({g for one in own for g in one.G}):
            covariance = covariance + law.noise_of(own, g)
        if chances is None:
            covariance = covariance if isinstance(covariance, int) else covariance[:, 0]
        elif chances.same.shape[0] == 1:
            deviation = B - centre
            weights = chances.same[0, 0].T[None, :, :, None, None]
            covariance = ((covariance + law.second(deviation, deviation)) * weights).sum(axis=1)
        else:
            weights = chances.same[factors][:, factors].transpose(3, 2, 0, 1)[None]
            covariance = ((covariance + law.second(B, B)) * weights).sum(axis=1) - law.second(centre, centre)[:, 0]
        mine = np.flatnonzero([outputs[i].of_clients for i, s in slices.items() for _ in range(s.stop - s.start)])
        moved = lambda rows: np.broadcast_to(rows, (N, *rows.shape[1:]))[:, mine, law.width :]  # noqa: E731
        if law.spread is not None:  # how deviations from the mean over the class go on
            left = moved(centre[0])
            spread = spread + product(product(left, law.spread), left.swapaxes(-1, -2))
            own_mean = None if law.own_mean is None else times(left, law.own_mean)
        for one, two in () if chances is None else _together(B, factors, chances):
            covariance = covariance - law.second(one[None], two[None])[:, 0]
            here, there = (layout.scatter(zeros(*mean.shape), side) for side in (one, two))
            left, right = (np.flatnonzero((side != 0).any(axis=1)) for side in (here, there))
            second[:, left[:, None], right] += product(product(here[left], law.P), there[right].T)
            if law.spread is not None:
                spread = spread + product(product(moved(one), law.spread), moved(two).swapaxes(-1, -2))
        if isinstance(covariance, np.ndarray):
            many = law.curvatures.many[:, None, None]
            second = second + layout.noise(covariance / many)
            if spread is not None:
                part = covariance[..., mine[:, None], mine]
                spread = spread + (part - part / many)
    made = None if law.mean is None else product(mean, law.mean)
    return Meeting(outputs, width, own_width, reference, second, spread, made, own_mean)


def _together(B: Array, factors: Array, chances: Chances) -> Iterator[tuple[Array, Array]]:
    """Maps (N, r, D_n), one and two: the sum of E[(one z_n)(two z_m)'] is what draws of n and m together add.

    Args:
        B: (O, N, r, D_n), the maps of the stacked values by outcome.
        factors: (r,), by which factor each row is multiplied.
        chances: of the outcomes.
    """
    if chances.pair is None:
        return
    T, _, K, outcomes = chances.pair.shape[:4]
    N = len(chances.kind)
    full = np.broadcast_to(B, (outcomes, N, *B.shape[2:]))
    if T == 1:  # the rows of the excess sum to 0: differences to the last outcome are all that counts
        full = full[:-1] - full[-1]
    for s in sorted(set(factors.tolist())):
        for kind in range(K):
            here = (chances.kind == kind)[:, None] & (factors == s)
            for o in range(len(full)):
                excess = chances.pair[s][factors][:, kind, o][:, chances.kind, : len(full)]  # (r, N, O)
                two = (excess.transpose(2, 1, 0)[..., None] * full).sum(axis=0)
                if np.any(two != 0):
                    yield np.where(here[..., None], full[o], full[o] * 0), two


def _kept(law: Law, outputs: Sequence[Output], mean: Array) -> Any:
    """The covariance that random coordinates of the server's values add."""
    total: Any = 0
    for out in outputs:
        if out.kept is not None:
            if isinstance(total, int):
                total = law.numbers.zeros(len(law.P), len(mean), len(mean))
            part = mean[out.place : out.place + out.rows]
            places = slice(out.place, out.place + out.rows)
            total[:, places, places] = times(times(part, law.P), part.T) * out.kept
    return total


@dataclass(frozen=True)
class _Layout:
    """Where the rows of the clients' stacked values go."""

    law: Law
    outputs: Sequence[Output]
    slices: dict[int, slice]
    width: int
    own_width: int

    def _spread(self, rows: Array) -> Array:
        """(N, r, D_n) -> (N, r, D): maps of z_n as maps of z."""
        law, N = self.law, self.law.curvatures.clients
        if law.own_width == 0:
            return rows
        s, r = law.width, law.own_width
        out = law.numbers.zeros(*rows.shape[:2], s + N * r)
        out[..., :s] = rows[..., :s]
        for n in range(N):
            out[n, :, s + n * r : s + (n + 1) * r] = rows[n, :, s:]
        return out

    def _summed(self, rows: Array, weights: Array) -> Array:
        """(N, r, D_n) -> (J, r, D): sum_n weights_jn times the maps of z_n."""
        law, N = self.law, self.law.curvatures.clients
        s, r = law.width, law.own_width
        J, count = len(weights), rows.shape[1]
        out = law.numbers.zeros(J, count, s + N * r)
        out[..., :s] = times(weights, rows[..., :s].reshape(N, -1)).reshape(J, count, s)
        if r:
            owned = weights[:, :, None, None] * rows[None, ..., s:]
            out[..., s:] = owned.transpose(0, 2, 1, 3).reshape(J, count, N * r)
        return out

    def scatter(self, into: Array, rows: Array) -> Array:
        """Write the maps (N, r, D_n) of the stacked values into a map (D', D)."""
        N = self.law.curvatures.clients
        clients = into[self.width :].reshape(N, self.own_width, into.shape[1])
        for i, part in self.slices.items():
            out = self.outputs[i]
            if out.weights is None:
                clients[:, out.place : out.place + out.rows] = self._spread(rows[:, part])
            elif len(out.weights) == 1:
                into[out.place : out.place + out.rows] = self._summed(rows[:, part], out.weights)[0]
            else:
                clients[:, out.place : out.place + out.rows] = self._summed(rows[:, part], out.weights)
        return into

    def noise(self, covariance: Array) -> Array:
        """(b, N, r, r) of the stacked values, independent between the clients -> (b, D', D')."""
        law, N = self.law, self.law.curvatures.clients
        b, r = len(covariance), covariance.shape[-1]
        covariance = np.broadcast_to(covariance, (b, N, r, r))
        size = self.width + N * self.own_width
        out = law.numbers.zeros(b, size, size)
        groups = [(i, self.outputs[i]) for i in self.slices]
        each = self.width + self.own_width * np.arange(N)[:, None]
        mine = [np.arange(size)[self.slices[i]] for i, o in groups if o.weights is None]
        own = [o.place + np.arange(o.rows) for _, o in groups if o.weights is None]
        # places (J, p) in z', weights (J, N), rows of the stacked values
        parts: list[tuple[Array, Array | None, Array]] = []
        if mine:
            parts.append((each + np.concatenate(own), None, np.concatenate(mine)))
        for i, o in groups:
            if o.weights is not None:
                at = each + o.place if o.of_clients else np.array([[o.place]])
                parts.append((at + np.arange(o.rows), o.weights, np.arange(size)[self.slices[i]]))
        for i, (one, left, p) in enumerate(parts):
            for two, right, q in parts[i:]:
                inner = covariance[:, :, p[:, None], q]
                if left is None and right is None:
                    out[:, one[:, :, None], one[:, None, :]] += inner
                    continue
                assert right is not None
                if left is None:
                    block = inner[:, :, :, None, :] * right.T[:, None, :, None]
                else:
                    products = (left[:, None, :] * right[None, :, :]).reshape(-1, N)
                    block = times(products, inner.reshape(b, N, -1)).reshape(b, len(left), len(right), len(p), len(q))
                    block = block.swapaxes(2, 3)
                block = block.reshape(b, one.size, two.size)
                out[:, one.reshape(-1, 1), two.ravel()] += block
                if one is not two:
                    out[:, two.reshape(-1, 1), one.ravel()] += block.swapaxes(-1, -2)
        return out
