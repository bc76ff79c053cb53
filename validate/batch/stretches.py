"""Convex functions of one variable with many stretches, many at once: what they are in floats, and in short fractions.

On either side of 0, where f is least, the knots lie at any distances, of any sizes, and between them the curvature is
anything from the least to the most that a claim allows. A run with momentum swings from one side to the other, and
comes to other stretches on its way than those that it went through before.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from validate.batch.many import Many, values_of
from validate.batch.recorded import Array
from validate.batch.slanted import LeastAtZero, Runs
from validate.instances.candidates import Candidate, candidate_of, of_rounds
from validate.instances.pieces import Piecewise
from validate.instances.problems import Vector

F = Fraction
KNOTS = 5
"""On either side."""
NEAREST, FARTHEST = -8.0, 0.5
"""Logarithms of their distances from 0, as they are drawn; runs begin at 1."""
MOST = 20.0
"""Of these logarithms, the largest absolute value."""


@dataclass(frozen=True, eq=False)
class OnALine(Runs):
    """A claim on many such functions, at numbers that stay; every client has the same one."""

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """Of the numbers: logarithms of distances, (2, J), curvatures, (2, J + 1), nothing, and the start."""
        return [(2, KNOTS), (2, KNOTS + 1), (0,), (1,)]

    @cached_property
    def slow(self) -> float:
        """1: these functions are no steeper than the claim allows."""
        return 1.0

    def drawn(self, count: int) -> Array:
        """So many at random, (size, count); half of the curvatures are the least, or the most."""
        rng = np.random.default_rng(random.Random(f"on a line, {self.claim.spelling}").getrandbits(64))
        found = rng.normal(size=(self.size, count))
        found[self.places[0]] = rng.uniform(NEAREST, FARTHEST, size=(*self.places[0].shape, count))
        found[self.places[1]] = rng.normal(0.5, 1.0, size=(*self.places[1].shape, count))
        found[self.places[3]] = 1.0
        return found

    def _sides(self, numbers: Array) -> tuple[Array, Array]:
        """Distances of the knots, which increase, (2, J, ...), and how near curvatures are to the most, from 0 to 1."""
        logs = np.clip(numbers[self.places[0]], -MOST, MOST)
        return np.sort(np.exp(logs), axis=1), np.clip(numbers[self.places[1]], 0.0, 1.0)

    def problem(self, numbers: Array, steeper: float) -> LeastAtZero:
        distances, parts = self._sides(numbers)
        return _Stretches(distances, steeper * (self.least + (self.most - self.least) * parts), self.clients)

    def candidate(self, column: Array, rounds: int, most: int) -> Candidate:
        """The instance in fractions: curvatures with denominators up to `most`, distances with as many digits."""
        distances, parts = self._sides(column)
        least, more = F(self.least), F(self.most) - F(self.least)
        slopes = [[least + more * F(float(x)).limit_denominator(most) for x in row] for row in parts]
        right, left = ([_short(float(x), most) for x in row] for row in distances)
        knots, own = list[Fraction](), [slopes[1][-1]]
        for knot, slope in zip([-x for x in left[::-1]] + [F(0), *right], slopes[1][-2::-1] + slopes[0], strict=True):
            if knots and knot <= knots[-1]:  # two that are rounded to the same
                own[-1] = slope
            else:
                knots.append(knot)
                own.append(slope)
        c = of_rounds(candidate_of(self.base), self.claim, rounds)
        start = np.array([F(float(x)).limit_denominator(most) for x in column[self.places[3]]], dtype=object)
        f = Piecewise(tuple(knots), tuple(own))
        return replace(c, hessian=None, linear=None, functions=((f,),) * self.clients, start=start)


def _short(x: float, most: int) -> Fraction:
    """A fraction beside a positive number, off by a part of it that is no more than 1 in `most`."""
    unit = F(10) ** int(np.floor(np.log10(x)))
    return F(x / float(unit)).limit_denominator(most) * unit


class _Stretches(LeastAtZero):
    """Functions by distances of knots, (2, J, B), and curvatures, (2, J + 1, B), each right of 0, and left."""

    def __init__(self, distances: Array, curvatures: Array, clients: int) -> None:
        self.clients, self.dim = clients, 1
        zero = np.zeros_like(distances[:, :1])
        self.knots, self.curvatures = np.concatenate([zero, distances], axis=1), curvatures
        lengths = np.diff(self.knots, axis=1)
        self.lengths = np.concatenate([lengths, zero + np.inf], axis=1)
        self.slopes = np.concatenate([zero, np.cumsum(curvatures[:, :-1] * lengths, axis=1)], axis=1)

    def _at(self, v: Vector) -> tuple[Array, tuple[Array, ...]]:
        """Where a point is, (B,); how far into each stretch of its side it is, curvatures, and slopes, (J + 1, B)."""
        x = np.broadcast_to(values_of(v[0]), self.knots.shape[2:])
        side, own = (x < 0).astype(int), np.arange(x.size)
        knots, lengths, curved, slopes = (
            of[side, :, own].T for of in (self.knots, self.lengths, self.curvatures, self.slopes)
        )
        return x, (np.clip(np.abs(x) - knots, 0, lengths), curved, slopes)

    def gradient(self, v: Vector, *which: int) -> Vector:
        x, (into, curved, _) = self._at(v)
        return (Many(np.sign(x) * (curved * into).sum(axis=0)),)

    def value(self, v: Vector, *which: int) -> Many:
        _, (into, curved, slopes) = self._at(v)
        return Many(((slopes + curved * into / 2) * into).sum(axis=0))


__all__ = ["KNOTS", "OnALine"]
