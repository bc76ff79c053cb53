"""Convex functions of hinges in slanted directions, many at once: what they are in floats, and in short fractions.

f_n(x) = mu norm2(x)/2 + sum_j (max(<a_j, x> + b_j, 0)^2/2 - max(b_j, 0) <a_j, x>) - <tilt_n, x>, the tilts adding up to
0: f is least at 0. A claim is played on all of them in one play (`validate.batch.many`).
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from theory import predicates as p
from theory.arithmetic import to_element
from theory.claim import Claim
from theory.formula import Name, Number
from theory.operations import rational_type
from theory.sentence import At, everything, everything_meant
from validate.batch.many import Many, size_of, values_of
from validate.batch.recorded import Array, UntracedError
from validate.batch.tracing import Played, ordered
from validate.both_sides import World
from validate.instances.candidates import Candidate, candidate_of, of_rounds
from validate.instances.pieces import Piecewise
from validate.instances.pool import Drawn
from validate.instances.problems import Minimisers, Vector
from validate.instances.ridge_functions import RidgeFunction
from validate.play import Play

F = Fraction
HINGES, DIM = 3, 2
STEEPEST = 4096.0
"""How much steeper than the claim's steps allow functions may be, if runs stay where they are."""
STAYS, MOSTLY = 1.001, 0.98
"""How far a run may go, in distances of its start, to be one that does not run away; which part of runs do not."""
LEAST, SMALL = 1e-11, 1e-13
"""A gap that is rounding; what is rounding, in parts of what it is a difference of, or of the largest of a run."""
STILL = 1e-6
"""A gradient, in parts of what it may be, at which a run that begins there says nothing but rounding."""
ROOM = F(63, 64)
"""Of the largest curvature: fractions near to floats may be steeper."""
MOST_ROWS = 4
"""Rows of a sentence for each round."""
FEW, SHORT = 256, 24
"""Instances of which it is asked whether their runs stay where they are, and rounds of these."""


@dataclass(frozen=True, eq=False)
class Runs:
    """A claim on many functions, at numbers that stay.

    Attributes:
        claim: the claim.
        base: an instance with these numbers.
        most: the largest curvature that they allow.
        least: the least.
    """

    claim: Claim
    base: Drawn
    most: float
    least: float

    @cached_property
    def clients(self) -> int:
        """N."""
        assert self.base.instance.problem is not None
        return self.base.instance.problem.clients

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """Of the numbers of a function, and of the start: directions, (N, J, d), offsets, (N, J), tilts, (N, d)."""
        N = self.clients
        tilted = N > 1 and not any(isinstance(one, p.SameMinimiser) for one in self.claim.predicates)
        return [(N, HINGES, DIM), (N, HINGES), (N if tilted else 0, DIM), (DIM,)]

    @cached_property
    def places(self) -> list[Array]:
        """Where the numbers of each kind stand: those of `shapes`, and each free vector."""
        at, found = 0, []
        for shape in (*self.shapes, *(np.shape(np.array(v)) for v in self.base.instance.vectors.values())):
            count = int(np.prod(shape))
            found.append(np.arange(at, at + count).reshape(shape))
            at += count
        return found

    @property
    def size(self) -> int:
        """How many numbers are free."""
        return sum(places.size for places in self.places)

    def drawn(self, count: int) -> Array:
        """So many at random, (size, count)."""
        rng = np.random.default_rng(random.Random(f"that turn, {self.claim.spelling}").getrandbits(64))
        return np.asarray(rng.normal(size=(self.size, count)) * np.exp(rng.normal(size=(self.size, count))))

    @cached_property
    def slow(self) -> float:
        """How much steeper functions may be before runs do not stay where they are."""
        few, found = self.drawn(FEW), 1.0
        while found < STEEPEST and self.gaps(few, SHORT + self.apart, 2 * found)[2]:
            found *= 2
        return found

    @cached_property
    def apart(self) -> int:
        """By how many rounds, at most, indices differ of which the sentence speaks at once."""
        said = (part for side in self.claim.sentence.sides for part in everything_meant(side, self.claim.vocabulary))
        numbers = (
            e.value for at in said if isinstance(at, At) for e in everything(at.indices[0]) if isinstance(e, Number)
        )
        return int(max(numbers, default=F(0)))

    @cached_property
    def scaled(self) -> tuple[str, ...]:
        """Constants that are as much larger as functions are steeper."""
        names = set()
        for one in self.claim.predicates:
            names |= {c.name for c in one.constants if isinstance(c, Name)}
        return tuple(sorted(names & set(self.base.constants)))

    def functions(self, numbers: Array) -> tuple[Array, Array, Array]:
        """Directions, (N, J, d, B), of squares that sum to the curvature that is left; offsets; tilts, (N, d, B)."""
        a, b, tilt = (numbers[places] for places in self.places[:3])
        hessian = np.einsum("njdb,njeb->bnde", a, a)
        with np.errstate(all="ignore"):
            scale = np.sqrt((self.most * float(ROOM) - self.least) / np.linalg.eigvalsh(hessian)[..., -1].T)[:, None]
        tilt = tilt - tilt.mean(axis=0) if len(tilt) else np.zeros((self.clients, DIM, 1))
        return a * scale[:, :, None], b * scale, tilt

    def problem(self, numbers: Array, steeper: float) -> LeastAtZero:
        """The functions, so much steeper."""
        return _Slanted(*self.functions(numbers), self.least, steeper)

    def gaps(self, numbers: Array, rounds: int, steeper: float) -> tuple[Array, list[int], bool]:
        """Of each row by how much of itself it is missed, (rows, B); its round; whether runs stay where they are.

        Raises:
            UntracedError: where what is played hangs on the instance.
        """
        instance, given = self.base.instance, self.base.constants
        start = numbers[self.places[3]]
        of = self.problem(numbers, steeper)
        named = dict(zip(instance.vectors, self.places[4:], strict=True))
        vectors = {name: _vectors(numbers[places]) for name, places in named.items()}
        many = of_rounds(candidate_of(self.base), self.claim, rounds).values
        parameters = {
            name: _as(value, many[name]) if name in many else value for name, value in instance.parameters.items()
        }
        constants = {name: _as(value, many[name]) if name in many else value for name, value in given.items()}
        constants |= {name: constants[name] * F(steeper) for name in self.scaled}
        made = Played(instance.program, parameters, of, _vectors(start), rounds, vectors, instance.algorithm)  # type: ignore[arg-type]
        play = Play(made, 1)
        with np.errstate(all="ignore"):
            world = World(made, constants, self.claim.vocabulary, play)
            rows, sizes, ks = [], [], []
            for at, low, high in ordered(self.claim.sentence, world):
                if isinstance(low, Many) or isinstance(high, Many):
                    rows.append(values_of(low) - values_of(high))
                    sizes.append(size_of(low) + size_of(high))
                    ks.append(at.get("k", rounds))
                if len(rows) > MOST_ROWS * rounds:
                    raise UntracedError("there are many rows")
            if not rows:
                raise UntracedError("no row hangs on the instance")
            last = play.law(rounds)[0][1][0]
            while isinstance(last[0], tuple):  # of the first client, or the newest that is remembered
                last = last[0]
            end = [values_of(x) for x in last]
            gap, size = (np.array([np.broadcast_to(x, numbers.shape[1:]) for x in xs]) for xs in (rows, sizes))
            gaps = np.where(size > SMALL * np.nanmax(size, axis=0, initial=0.0), gap / size, np.nan)
            gaps[~(np.abs(gaps) > LEAST)] = np.nan
            gaps[:, _length(of.gradient(made.start)) <= STILL * steeper * self.most * _length(made.start)] = np.nan
        return gaps, ks, _stays(end, start)

    def candidate(self, column: Array, rounds: int, most: int) -> Candidate:
        """The instance in fractions with denominators up to `most`."""
        _, _, tilt = self.functions(column[:, None])
        functions = []
        tilts = [[F(float(x)).limit_denominator(most) for x in row] for row in tilt[..., 0]]
        mean = [sum(row) / len(tilts) for row in zip(*tilts, strict=True)]
        for n in range(self.clients):
            a, b = column[self.places[0][n]], column[self.places[1][n]]
            unit = np.abs(a).max(axis=1)
            directions = [[F(float(x)).limit_denominator(most) for x in row] for row in a / unit[:, None]]
            knots = [F(-float(x)).limit_denominator(most) for x in b / unit]
            slopes = [F(float(x)).limit_denominator(max(most, 16)) for x in (unit / unit.max()) ** 2]
            rounded = np.array([[float(x) for x in row] for row in directions])
            hessian = np.einsum("j,jd,je->de", np.array(slopes, float), rounded, rounded)
            room = (F(self.most) * ROOM - F(self.least)) / F(float(np.linalg.eigvalsh(hessian)[-1]))
            scale = _below(room)
            terms = [
                (tuple(row), Piecewise((t,), (F(0), s * scale)))
                for row, t, s in zip(directions, knots, slopes, strict=True) if s
            ]  # fmt: skip
            if self.least:
                low = Piecewise((), (F(self.least),))
                terms += [(tuple(F(int(i == j)) for j in range(DIM)), low) for i in range(DIM)]
            own = tuple(x - y for x, y in zip(tilts[n], mean, strict=True))
            functions.append((RidgeFunction(tuple(terms), own),))
        near = [F(float(x)).limit_denominator(most) for x in column]
        c = of_rounds(candidate_of(self.base), self.claim, rounds)
        vectors = {
            name: _listed(np.array(near, dtype=object)[places])
            for name, places in zip(c.vectors, self.places[4:], strict=True)
        }
        start = np.array([near[i] for i in self.places[3]], dtype=object)
        return replace(c, hessian=None, linear=None, functions=tuple(functions), start=start, vectors=vectors)


def _as(value: Any, many: Any) -> Any:
    """A schedule for more rounds; anything else as it is."""
    return type(value)(tuple(many)) if isinstance(many, list) and not isinstance(value, tuple) else value


def _below(x: Fraction) -> Fraction:
    """A short fraction that is hardly below."""
    near = x.limit_denominator(64)
    return near if 0 < near <= x * F(101, 100) else x.limit_denominator(4096)


def _listed(v: Any) -> Any:
    return list(v) if v.ndim == 2 else v


def _vectors(values: Array) -> Any:
    """(d, B) as d numbers; (N, d, B) as N times d."""
    return tuple(map(_vectors, values)) if values.ndim > 2 else tuple(map(Many, values))


def _length(v: Vector) -> Array:
    return np.asarray(np.sqrt(sum(values_of(x) ** 2 for x in v)))


def _stays(end: list[Any], start: Array) -> bool:
    """Whether nearly all runs do not run away."""
    with np.errstate(all="ignore"):
        far = sum(np.broadcast_to(x, start.shape[1:]) ** 2 for x in end)
        return bool(np.mean(far <= STAYS**2 * (start**2).sum(axis=0)) >= MOSTLY)


class LeastAtZero(ABC):
    """A problem (`validate.instances.problems.Problem`) of many at once: clients have one sample, and f is least at 0.

    Attributes:
        clients: N.
        dim: d.
    """

    clients: int
    dim: int

    def samples(self, n: int) -> int:
        """One."""
        return 1

    @abstractmethod
    def gradient(self, v: Vector, *which: int) -> Vector:
        """Of f, or of a client."""

    @abstractmethod
    def value(self, v: Vector, *which: int) -> Any:
        """The function's value, that at 0 being 0."""

    def minimisers(self, near: Vector, *which: int) -> Minimisers:
        """f is least at 0."""
        return Minimisers(((rational_type()(0),) * self.dim,), True)

    def infimum(self, *which: int) -> Any:
        """0, that of f."""
        self.minimisers((), *which)
        return to_element(F(0))

    def prox(self, v: Vector, t: Any, n: int) -> Vector:
        """None in floats."""
        raise UntracedError("a proximal point is not played in floats")

    def weighted(self, weights: Any) -> LeastAtZero:
        """None in floats."""
        raise UntracedError("the minimiser of a weighted sum is not played in floats")


class _Slanted(LeastAtZero):
    """Functions of hinges in slanted directions."""

    def __init__(self, a: Array, b: Array, tilt: Array, least: float, steeper: float) -> None:
        self.a, self.b, self.tilt, self.least, self.steeper = a, b, tilt, least, steeper
        self.clients, self.dim = len(a), a.shape[2]
        self.zero, self.low = np.maximum(b, 0), np.minimum(b, 0)

    def _at(self, v: Vector, which: tuple[int, ...]) -> tuple[Array, list[tuple[int, Array]]]:
        x = np.array([np.broadcast_to(values_of(y), self.a.shape[3:]) for y in v])
        clients = which[:1] or range(self.clients)
        return x, [(n, np.einsum("jdb,db->jb", self.a[n], x)) for n in clients]

    def gradient(self, v: Vector, *which: int) -> Vector:
        x, clients = self._at(v, which)
        total = self.least * x
        for n, along in clients:
            steep = np.maximum(along + self.low[n], -self.zero[n])
            steep[np.abs(steep) < SMALL * (np.abs(along) - self.low[n])] = 0.0
            total = total + (np.einsum("jdb,jb->db", self.a[n], steep) - self.tilt[n]) / len(clients)
        return tuple(map(Many, self.steeper * total))

    def value(self, v: Vector, *which: int) -> Any:
        x, clients = self._at(v, which)
        total = self.least / 2 * (x * x).sum(axis=0)
        for n, along in clients:
            above = np.maximum(along + self.b[n], 0)
            own = ((above - self.zero[n]) * (above + self.zero[n]) / 2 - self.zero[n] * along).sum(axis=0)
            total = total + (own - (self.tilt[n] * x).sum(axis=0)) / len(clients)
        return Many(self.steeper * total)

    def minimisers(self, near: Vector, *which: int) -> Minimisers:
        if which and self.tilt.any():
            raise UntracedError("the minimisers of clients are not known")
        return super().minimisers(near, *which)
