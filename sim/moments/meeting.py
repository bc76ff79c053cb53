"""Where clients meet: means over the clients, mixing, choices of clients that depend on one another; a new base.

All that is alive becomes a part of the new base z', and E[z'z''] is found from the laws of the clients, one by one and
two by two: the draws that are alive are summed out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sim.moments.law import Law, Linear, Own, Shared, Value
from sim.moments.numbers import Array


@dataclass
class Output:
    """A part of the new base.

    Attributes:
        number: of the value.
        value: of the server or the clients.
        weights: (J, N) where it is a sum over the clients of `value`, of the server (J = 1) or of each client (J = N).
        kept: (r, r), the factor of E[vv'] in the covariance that is added to a server's value: random coordinates.
        each: whether a server's value is to be there for every client.
        divisor: of an average over clients in random number, the sum's place among those that are given.
        place: where it is in z', or in a client's part of it.
        rows: its length there.
    """

    number: int
    value: Value | None = None
    weights: Array | None = None
    kept: Array | None = None
    each: bool = False
    divisor: int | None = None
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
    """A new base.

    Attributes:
        outputs: what is in it, with places.
        width: D_s' of the server's part.
        own_width: of every client's.
        reference: (D',), what was taken off z', but 0 at the 1.
        second: (b, D', D'), E[z'z''].
    """

    outputs: Sequence[Output]
    width: int
    own_width: int
    reference: Array
    second: Array


def placed(outputs: Sequence[Output]) -> tuple[int, int]:
    """Give the outputs their places; D_s' and the width of a client's part."""
    width, own_width = 1, 0
    for out in outputs:
        if isinstance(out.value, Shared):
            out.rows = len(out.value.B)
        elif out.value is not None:
            out.rows = out.value.linear.rows
        if out.of_clients:
            out.place, own_width = own_width, own_width + out.rows
        else:
            out.place, width = width, width + out.rows
    return width, own_width


def meet(
    law: Law,
    outputs: Sequence[Output],
    probability: Array | None = None,
    pair: Array | None = None,
    reference: Array | None = None,
) -> Meeting:
    """The base of these outputs.

    Args:
        law: without pending parts.
        outputs: what the new base is made of.
        probability: (1 or N, O), of the outcomes of the draws that are alive; None where there are none.
        pair: (O, O), the law of two clients together, or (N, O, N, O), P(o of n, o' of m) - P(o of n) P(o' of m) with
            0 for n = m; None when the clients are independent.
        reference: (D',), what is taken off z', so that squares of it keep their digits; None for the value that z' has
            where z = (1, 0, ..., 0), without any noise.
    """
    width, own_width = placed(outputs)
    N = law.curvatures.clients
    size = width + N * own_width
    own: list[Linear] = [out.value.linear for out in outputs if isinstance(out.value, Own)]
    slices: dict[int, slice] = {}
    at = 0
    for i, out in enumerate(outputs):
        if isinstance(out.value, Own):
            slices[i] = slice(at, at + out.rows)
            at += out.rows
    mean = law.numbers.zeros(size, law.P.shape[1])
    mean[0, 0] = law.numbers.ratio(1, 1)
    layout = _Layout(law, outputs, slices, width, own_width)
    for out in outputs:
        if isinstance(out.value, Shared):
            mean[out.place : out.place + out.rows, : out.value.B.shape[1]] = out.value.B
    B = chance = centre = None
    if own:
        B = law.stacked_map(own)
        chance = None if probability is None else probability.T[:, :, None, None]
        centre = B if chance is None else (B * chance).sum(axis=0, keepdims=True)
        layout.scatter(mean, np.broadcast_to(centre[0], (N, *centre.shape[2:])))
    kept = _kept(law, outputs, mean)
    if reference is None:
        reference = mean[:, 0].copy()
        reference[0] = reference[0] * 0
    mean[:, 0] = mean[:, 0] - reference
    product = law.numbers.product
    second = product(product(mean, law.P), mean.T) + kept
    if B is None or centre is None:
        return Meeting(outputs, width, own_width, reference, second)
    groups = sorted({g for one in own for g in one.G})
    covariance: Any = 0
    for g in groups:
        G = law.stacked(own, g)[None]
        covariance = covariance + product(product(G, law.noises[g]), G.swapaxes(-1, -2))
    if chance is not None:
        deviation = B - centre
        covariance = ((covariance + law.second(deviation, deviation)) * chance[None]).sum(axis=1)
    elif groups:
        covariance = covariance[:, 0]
    cross: Any = 0
    if pair is not None and pair.ndim == 2:
        assert probability is not None
        excess = pair - probability[0][:, None] * probability[0]
        # the rows of the excess sum to 0: differences to the last outcome are all that counts
        full = np.broadcast_to(B, (len(excess), N, *B.shape[2:]))
        full = full - full[-1]
        for o in range(len(excess) - 1):
            left = full[o]
            right = (excess[o][:, None, None, None] * full).sum(axis=0)
            if not np.any(right != 0):
                continue
            covariance = covariance - law.second(left[None], right[None])[:, 0]
            one, two = (layout.scatter(law.numbers.zeros(*mean.shape), side) for side in (left, right))
            cross = cross + product(product(one, law.P), two.T)
    elif pair is not None:
        full = (B - centre) if len(B) > 1 else np.zeros_like(B)
        full = np.broadcast_to(full, (pair.shape[1], N, *B.shape[2:])).swapaxes(0, 1)
        cross = layout.together(full, pair)
    if isinstance(covariance, np.ndarray):
        second = second + layout.noise(covariance)
    return Meeting(outputs, width, own_width, reference, second + cross)


def _kept(law: Law, outputs: Sequence[Output], mean: Array) -> Any:
    """The covariance that random coordinates of the server's values add."""
    total: Any = 0
    for out in outputs:
        if out.kept is not None:
            if isinstance(total, int):
                total = law.numbers.zeros(len(law.P), len(mean), len(mean))
            part = mean[out.place : out.place + out.rows]
            places = slice(out.place, out.place + out.rows)
            total[:, places, places] = (part @ law.P @ part.T) * out.kept
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
        out[..., :s] = (weights @ rows[..., :s].reshape(N, -1)).reshape(J, count, s)
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

    def together(self, rows: Array, pair: Array) -> Array:
        """What clients whose draws depend on one another add to E[z'z'']: (b, D', D').

        Args:
            rows: (N, O, r, D_n), the maps of the stacked values by outcome.
            pair: (N, O, N, O), as of `meet`.
        """
        law, (N, outcomes, r, c) = self.law, rows.shape
        own = law.width + law.own_width * np.arange(N)[:, None] + np.arange(law.own_width)
        columns = np.concatenate([np.broadcast_to(np.arange(law.width), (N, law.width)), own], axis=1)
        P = law.P[:, columns[:, :, None, None], columns]  # (b, N, D_n, N, D_m)
        b = len(P)
        product = law.numbers.product
        mixed = product(pair.transpose(2, 0, 1, 3).reshape(N, N * outcomes, outcomes), rows.reshape(N, outcomes, r * c))
        mixed = (
            mixed.reshape(N, N, outcomes, r, c).transpose(1, 0, 2, 4, 3).reshape(N, N, outcomes * c, r)
        )  # of m given (n, o)
        half = product(rows.reshape(N, outcomes * r, c), P.reshape(b, N, c, N * c))
        half = half.reshape(b, N, outcomes, r, N, c).transpose(0, 1, 4, 3, 2, 5).reshape(b, N, N, r, outcomes * c)
        inner = product(half, mixed)  # (b, N, N, r, r)
        out = law.numbers.zeros(b, self.width + N * self.own_width, self.width + N * self.own_width)
        places = self.places()
        for i, one in self.slices.items():
            left = self.outputs[i].weights
            of_left = inner[..., one, :]
            p = of_left.shape[-2]
            if left is not None:
                of_left = (left @ of_left.reshape(b, N, -1)).reshape(b, len(left), N, p, r)
            for j, two in self.slices.items():
                right = self.outputs[j].weights
                block = of_left[..., two].swapaxes(1, 2)
                q = block.shape[-1]
                if right is not None:
                    block = (right @ block.reshape(b, N, -1)).reshape(b, len(right), -1, p, q)
                block = block.transpose(0, 2, 3, 1, 4).reshape(b, len(places[i]), len(places[j]))
                out[:, places[i][:, None], places[j][None, :]] += block
        return out

    def places(self) -> dict[int, Array]:
        """Where the rows of each of the clients' outputs are in z'."""
        found = {}
        for i in self.slices:
            o = self.outputs[i]
            if not o.of_clients:
                found[i] = np.arange(o.place, o.place + o.rows)
            else:
                start = self.width + o.place + self.own_width * np.arange(self.law.curvatures.clients)
                found[i] = (start[:, None] + np.arange(o.rows)).ravel()
        return found

    def noise(self, covariance: Array) -> Array:
        """(b, N, r, r) of the stacked values, independent between the clients -> (b, D', D')."""
        law, N = self.law, self.law.curvatures.clients
        b, r = len(covariance), covariance.shape[-1]
        covariance = np.broadcast_to(covariance, (b, N, r, r))
        size = self.width + N * self.own_width
        out = law.numbers.zeros(b, size, size)
        places = self.places()
        identity = law.numbers.identity(N)
        for i, one in self.slices.items():
            left = self.outputs[i].weights
            left = identity if left is None else left
            for j, two in self.slices.items():
                if j < i:
                    continue
                right = self.outputs[j].weights
                right = identity if right is None else right
                inner = covariance[:, :, one, two]
                p, q = inner.shape[2:]
                if left is identity and right is identity:
                    block = law.numbers.zeros(b, N, p, N, q)
                    block[:, np.arange(N), :, np.arange(N), :] = inner.swapaxes(0, 1)
                else:
                    products = (left[:, None, :] * right[None, :, :]).reshape(-1, N)
                    block = (products @ inner.reshape(b, N, -1)).reshape(b, len(left), len(right), p, q)
                    block = block.swapaxes(2, 3)
                block = block.reshape(b, len(left) * p, len(right) * q)
                out[:, places[i][:, None], places[j][None, :]] += block
                if i != j:
                    out[:, places[j][:, None], places[i][None, :]] += block.swapaxes(-1, -2)
        return out
