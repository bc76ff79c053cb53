"""What can be computed from rounds of local SGD in which everybody takes part: inside a round, on W, of mini-batches.

w_n^m is the local iterate of client n before its step m (after the last one, for m = M), w^m the average over the
clients; W is the interval of `domain`. All expectations are over the sampling.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .domain import copies, everybody, largest_dissimilarity, largest_variance, minimiser
from .formulas import Uncheckable
from .quadratic_rounds import Round, average


@dataclass(frozen=True)
class Averaged:
    """The average of the clients' local iterates: E w, E w^2, and the mean over the clients of E(w_n - w)^2."""

    mean: Fraction
    square: Fraction
    spread: Fraction


def averaged(round_: Round, m: int) -> Averaged:
    """After m local steps. Given theta the clients are independent of each other."""
    mean, square = round_.start
    now = [path[m] for path in round_.path]
    pairs = [
        v.square
        if v is w
        else v.constant * w.constant + (v.constant * w.slope + v.slope * w.constant) * mean + v.slope * w.slope * square
        for v in now
        for w in now
    ]
    middle = average([v.constant + v.slope * mean for v in now])
    second = sum(pairs, Fraction(0)) / len(now) ** 2
    return Averaged(middle, second, average([v.square for v in now]) - second)


def inside(c: Any, m: int) -> Averaged:
    """After m local steps of the context's round."""
    everybody(c.instance)
    return averaged(c.rounds[c.k], m)


def to_minimiser(c: Any, mean: Fraction, square: Fraction) -> Fraction:
    """E(w - w*)^2 from E w and E w^2."""
    best = minimiser(c.instance)
    return square - 2 * best * mean + best**2


def least_cost(c: Any) -> Fraction:
    best = minimiser(c.instance)
    return c.instance.cost(best, best**2)


def next_squared_distance(c: Any) -> Fraction:
    after = inside(c, c.m + 1)
    return to_minimiser(c, after.mean, after.square)


def average_distance(c: Any) -> Fraction:
    now = inside(c, c.m)
    return to_minimiser(c, now.mean, now.square)


def average_gap(c: Any) -> Fraction:
    now = inside(c, c.m)
    return c.instance.cost(now.mean, now.square) - least_cost(c)


def squared_move(c: Any) -> Fraction:
    """E(theta^{k+1} - theta^k)^2."""
    everybody(c.instance)
    return c.rounds[c.k].spread


def batch(c: Any) -> Fraction:
    """The size of the mini-batch, where clients are copies of one another and take one step a round."""
    everybody(c.instance)
    if not copies(c.instance.clients) or c.instance.M != 1:
        raise Uncheckable("a mini-batch is one step of clients that are copies of one another")
    return Fraction(len(c.instance.clients))


LOCAL_QUANTITIES: dict[str, Callable[[Any], Fraction]] = {
    "next_squared_distance": next_squared_distance,
    "client_drift": lambda c: inside(c, c.m).spread,
    "squared_distance": lambda c: to_minimiser(c, *c.theta),
    "squared_distance_to_minimiser": lambda c: to_minimiser(c, *c.theta),
    "squared_move": squared_move,
}

# As PARAMETERS in `measures`; a certificate says which of the claim's names mean which of these.
LOCAL_PARAMETERS: dict[str, tuple[str, Callable[[Any], Fraction]]] = {
    "step": ("=", lambda c: c.step),
    "local_steps": ("=", lambda c: Fraction(c.instance.M)),
    "round": ("=", lambda c: Fraction(c.at("k", len(c.rounds) + 1))),
    "batch": ("=", batch),
    "start_distance": ("=", lambda c: (c.instance.theta0 - minimiser(c.instance)) ** 2),
    "start_gap_of_f": ("=", lambda c: c.instance.cost(c.instance.theta0, c.instance.theta0**2) - least_cost(c)),
    "average_distance": ("=", average_distance),
    "average_gap": ("=", average_gap),
    "client_drift": ("=", LOCAL_QUANTITIES["client_drift"]),
    "sample_variance": (">=", lambda c: largest_variance(c.instance)),
    "dissimilarity": ("=", lambda c: largest_dissimilarity(c.instance)),
}
