"""What can be computed of the point at which a round begins or ends, of whole runs, and at the minimiser x* of f."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from .domain import minimiser, variance
from .local_measures import to_minimiser
from .quadratic_rounds import average, minimum


def mean_suboptimality(c: Any) -> Fraction:
    """The average over k = 0..K-1 of E f(theta^k) - f*."""
    return average([c.instance.cost(*r.start) for r in c.rounds]) - minimum(c.instance)


def noise_at_minimiser(c: Any) -> Fraction:
    """The variance of a sampled gradient at x*, its mean over the clients."""
    best = minimiser(c.instance)
    return average([variance(client, best) for client in c.instance.clients])


def heterogeneity(c: Any) -> Fraction:
    """The mean over the clients of f_n'(x*)^2."""
    best = minimiser(c.instance)
    return average([(client.curvature * best - client.linear) ** 2 for client in c.instance.clients])


ROUND_QUANTITIES: dict[str, Callable[[Any], Fraction]] = {
    "next_distance": lambda c: to_minimiser(c, *c.rounds[c.k].end),
    "mean_suboptimality": mean_suboptimality,
}

# As PARAMETERS in `measures`.
ROUND_PARAMETERS: dict[str, tuple[str, Callable[[Any], Fraction]]] = {
    "round_distance": ("=", lambda c: to_minimiser(c, *c.rounds[c.k].start)),
    "round_gap": ("=", lambda c: c.instance.cost(*c.rounds[c.k].start) - minimum(c.instance)),
    "noise_at_minimiser": ("=", noise_at_minimiser),
    "heterogeneity": ("=", heterogeneity),
}
