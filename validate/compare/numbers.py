"""A reader's numbers, and the quadratics that have them: every bound is evaluated, and every run taken, on these.

All start at the origin, and f is least at a distance of `distance`. Clients curve between mu and L; their gradients at
the minimiser are zeta apart in root mean square, and a client's sampled gradients have the variance sigma2. Clients
either curve alike, so that zeta is their dissimilarity everywhere, or differ in one direction, in which a
client that curves more has its gradient along the same sign. The start lies along the flattest direction, the
steepest one, or between.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

import numpy as np

from sim.problems import Quadratic

MOST_CLIENTS, MOST_ROUNDS, MOST_SAMPLES, MOST_TURNS, MOST_DIM = 1000, 10**5, 1000, 10**5, 50
"""What is affordable."""


@dataclass(frozen=True)
class Numbers:
    """What a reader knows of the problem and the run.

    Attributes:
        L: every function is L-smooth.
        N: clients.
        rounds: K.
        mu: every function is mu-strongly convex; 0 for convex.
        H: local steps, turns of loops.
        sigma2: variance of a client's sampled gradient.
        zeta: root mean square of the clients' gradients at the minimiser.
        distance: from the start to the minimiser.
        S: clients that take part in a round.
        batch: samples of a minibatch.
        kept: coordinates that a compression keeps.
        n: samples of a client.
        d: coordinates.
        G2: no gradient that a run uses has a squared norm above it, in expectation.

    What is None is not known: what needs it has no bound.

    Raises:
        ValueError: naming the number, its value and its domain.
    """

    L: float
    N: int
    rounds: int
    mu: float = 0.0
    H: int | None = None
    sigma2: float | None = None
    zeta: float | None = None
    distance: float = 1.0
    S: int | None = None
    batch: int | None = None
    kept: int | None = None
    n: int | None = None
    d: int | None = None
    G2: float | None = None

    def __post_init__(self) -> None:
        positive = {"L": self.L, "distance": self.distance}
        for name, value in (
            *positive.items(),
            ("mu", self.mu),
            ("sigma2", self.sigma2),
            ("zeta", self.zeta),
            ("G2", self.G2),
        ):
            low = 1e-100 if name in positive else 0.0
            if value is not None and not low <= value <= 1e100:
                what = "(0, 1e100]" if name in positive else "[0, 1e100]"
                raise ValueError(f"{name}={value} is outside {what}")
        most = {
            "N": MOST_CLIENTS, "rounds": MOST_ROUNDS, "H": MOST_TURNS, "S": self.N, "batch": MOST_SAMPLES,
            "kept": self.d or MOST_DIM, "n": MOST_SAMPLES, "d": MOST_DIM,
        }  # fmt: skip
        for name, upper in most.items():
            value = getattr(self, name)
            if value is not None and (value != int(value) or not 1 <= value <= upper):
                raise ValueError(f"{name}={value} is outside the integers in [1, {upper}]")
        if self.mu > self.L:
            raise ValueError(f"mu={self.mu} is above L={self.L}: no function is both")
        if self.N == 1 and self.zeta:
            raise ValueError(f"zeta={self.zeta} is the clients' distance from their mean, and N=1")
        if self.n == 1 and self.sigma2:
            raise ValueError(f"sigma2={self.sigma2} is not 0, and n=1: a single sample has no variance")
        if self.d == 1 and self.mu < self.L:
            raise ValueError(f"d=1 has room for one curvature, and mu={self.mu} is not L={self.L}")

    @property
    def known(self) -> Numbers:
        """The numbers with a value for each that is not known."""
        n = self.n or (2 if self.sigma2 else 1)
        usual: dict[str, Any] = {"sigma2": 0.0, "zeta": 0.0, "n": n, "d": 3 if self.kept is None else max(3, self.kept)}
        return replace(self, **{name: value for name, value in usual.items() if getattr(self, name) is None})

    def otherwise(self) -> Iterator[tuple[str, Numbers]]:
        """For each number that is not known and that a problem has, the numbers with another value of it."""
        here = self.known
        other: dict[str, Any] = {"sigma2": 1.0, "zeta": 1.0, "n": 2 * (here.n or 1), "d": (here.d or 3) + 1}
        for name, value in other.items():
            if getattr(self, name) is None and not (name == "zeta" and self.N == 1):
                more = {"n": 2} if name == "sigma2" and here.n == 1 else {}
                yield name, replace(here, **{name: value}, **more)


@dataclass(frozen=True, eq=False)
class Case:
    """One of the problems.

    Attributes:
        name: how its clients curve, and where it starts.
        problem: float64.
        start: x0, (d,), the origin.
    """

    name: str
    problem: Quadratic
    start: Any


@lru_cache(maxsize=64)
def cases(numbers: Numbers) -> tuple[Case, ...]:
    """The problems that have the numbers, all of which are known (`Numbers.known`)."""
    assert None not in [getattr(numbers, f.name) for f in fields(numbers) if f.name in ("sigma2", "zeta", "n", "d")]
    N, n, d = numbers.N, int(numbers.n or 1), int(numbers.d or 3)
    flattest = numbers.mu or min(numbers.L, numbers.L / numbers.rounds)
    alike = np.array([flattest, *np.geomspace(flattest, numbers.L, d)[1:]]) if d > 1 else np.array([numbers.L])
    signs = _signs(N)
    found = []
    for differ in (False, True):
        curves = np.tile(alike, (N, 1))
        if differ:
            if d < 3 or N == 1 or flattest == numbers.L:
                continue
            curves[:, 1] = np.where(signs > 0, numbers.L, flattest)
        away = np.zeros((N, d))
        away[:, int(differ)] = float(numbers.zeta or 0) * signs
        noise = np.zeros((n, d))
        noise[:, 0] = float(numbers.sigma2 or 0) ** 0.5 * _signs(n)
        for where, towards in (("flat", np.eye(d)[0]), ("steep", np.eye(d)[-1]), ("between", np.ones(d) / d**0.5)):
            best = numbers.distance * towards
            linear = curves * best - away
            hessian = np.broadcast_to((curves[:, :, None] * np.eye(d))[:, None], (N, n, d, d))
            every = linear[:, None, :] + noise[None]
            name = f"{'clients differ' if differ else 'clients alike'}, {where}"
            problem = Quadratic(hessian, every, np.zeros((N, n)), np.full(N, n))
            found.append(Case(name, problem, np.zeros(d)))
            if d == 1:
                break
    return tuple(found)


def _signs(many: int) -> Any:
    """+-1 in turn, of mean 0 and mean square 1: where their number is odd the last is 0; of one, 0."""
    if many == 1:
        return np.zeros(1)
    even = many - many % 2
    found = np.where(np.arange(many) % 2 == 0, 1.0, -1.0) * (many / even) ** 0.5
    found[even:] = 0.0
    return found
