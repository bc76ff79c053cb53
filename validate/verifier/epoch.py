"""An epoch of shuffling local SGD (Algorithm 4 of PERM) on scalar quadratics, played in exact fractions.

Client j has f_j(v) = h_j/2 v^2 - b_j v and the weight alpha_j. In the order s the clients take their turns: from v,
client s(1), then s(2), ... each takes K steps v <- v - c_j (h_j v - b_j + noise) with c_j = eta alpha_j N. After the
last one v is projected to W = [low, high].

With H_j = h_j the moves are v <- v - Q_j f_j'(v) - delta_j, Q_j = c_j sum_{t<K} (1 - c_j h_j)^(K-1-t).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .reading import FormatError, bits, fields, integer, list_of, number

MOST_CLIENTS = 6
MOST_STEPS = 64  # K
MOST_BITS = 20_000  # of all numbers of an epoch, times its steps
FIELDS = " clients alpha step local_steps start"

Order = tuple[int, ...]


@dataclass(frozen=True)
class Epoch:
    """Clients, weights, step and start."""

    h: tuple[Fraction, ...]
    b: tuple[Fraction, ...]
    alpha: tuple[Fraction, ...]
    step: Fraction
    local_steps: int
    start: Fraction

    @property
    def clients(self) -> int:
        """N."""
        return len(self.h)

    def gradient(self, j: int, v: Fraction) -> Fraction:
        return self.h[j] * v - self.b[j]

    def rate(self, j: int) -> Fraction:
        """c_j = eta alpha_j N."""
        return self.step * self.alpha[j] * self.clients

    def factor(self, j: int) -> Fraction:
        """(1 - c_j h_j)^K, which is 1 - Q_j h_j."""
        return Fraction((1 - self.rate(j) * self.h[j]) ** self.local_steps)

    def move(self, j: int) -> Fraction:
        """Q_j."""
        c = self.rate(j)
        return sum((c * (1 - c * self.h[j]) ** t for t in range(self.local_steps)), Fraction(0))

    @property
    def weighted_gradient(self) -> Fraction:
        """sum_j alpha_j f_j'(start)."""
        return sum((a * self.gradient(j, self.start) for j, a in enumerate(self.alpha)), Fraction(0))

    def cost(self, v: Fraction) -> Fraction:
        """sum_j alpha_j f_j(v)."""
        return sum((a * (h / 2 * v - b) * v for a, h, b in zip(self.alpha, self.h, self.b, strict=True)), Fraction(0))

    def minimiser(self, low: Fraction, high: Fraction) -> Fraction:
        """Of sum_j alpha_j f_j on [low, high]; all h are positive, and some alpha is."""
        top = sum((a * b for a, b in zip(self.alpha, self.b, strict=True)), Fraction(0))
        bottom = sum((a * h for a, h in zip(self.alpha, self.h, strict=True)), Fraction(0))
        return min(max(top / bottom, low), high)

    def play(self, order: Sequence[int], noise: Sequence[Sequence[Fraction]]) -> Fraction:
        """v after the epoch, before the projection; noise[i][t] is that of step t of the i-th turn."""
        v = self.start
        for j, own in zip(order, noise, strict=True):
            for d in own:
                v = v - self.rate(j) * (self.gradient(j, v) + d)
        return v

    def silent(self) -> list[list[Fraction]]:
        """No noise."""
        return [[Fraction(0)] * self.local_steps for _ in self.h]


def read_epoch(data: dict[str, Any]) -> Epoch:
    """The epoch of a certificate."""
    listed = [fields(item, "a client", "h b") for item in list_of(data["clients"], "clients")]
    if not 1 <= len(listed) <= MOST_CLIENTS:
        raise FormatError(f"clients has {len(listed)} entries, which is not in [1, {MOST_CLIENTS}]")
    h = tuple(number(item["h"], "h", 0, open_low=True) for item in listed)
    b = tuple(number(item["b"], "b") for item in listed)
    alpha = tuple(number(a, "alpha", 0) for a in list_of(data["alpha"], "alpha"))
    if len(alpha) != len(h) or sum(alpha) == 0:
        raise FormatError(f"alpha does not have one weight a client, N={len(h)}, or all are 0")
    step, start = number(data["step"], "step", 0, open_low=True), number(data["start"], "start")
    epoch = Epoch(h, b, alpha, step, integer(data["local_steps"], "local_steps", 1, MOST_STEPS), start)
    if sum(map(bits, (*h, *b, *alpha, step, start))) * len(h) * epoch.local_steps > MOST_BITS:
        raise FormatError("the numbers of the epoch are too long, or its steps too many, to be checked")
    return epoch
