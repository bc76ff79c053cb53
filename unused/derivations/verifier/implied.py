"""What the classes of functions that are given by points imply: the assumptions that are true of all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from .points import Known, Points
from .scalars import ZERO


def _same_minimiser(problem: Points, f: Known) -> bool:
    """All functions that f stands for are checked one by one: a common one is looked for among f's minimisers.

    If z minimises each, and all are convex, then whatever else minimises their mean minimises each.
    """
    if f is problem.mean:
        return True
    level = problem.own if any(f is own for own in problem.own) else [g for own in problem.samples for g in own]
    if any(g.mu < 0 for g in level):
        return False
    return any(all(z in g.table and not any(g.table[z][0]) for g in level) for z in problem.mean.minimisers())


DECIDE: Mapping[str, Callable[..., bool]] = {
    "smooth": lambda problem, f, c: c >= f.L and -f.mu <= c,
    "convex": lambda problem, f: f.mu >= 0,
    "strongly_convex": lambda problem, f, c: 0 < c <= f.mu,
    "lipschitz": lambda problem, f, c: f.G is not None and c >= f.G,
    "bounded_gradients": lambda problem, f, c: f.G is not None and c >= f.G,
    "quadratic": lambda problem, f: False,
    "pl": lambda problem, f, c: 0 < c <= f.mu,
    "bounded_below": lambda problem, f: f.bounded_below(),
    "same_minimiser": _same_minimiser,
}
"""Whether the class of a function implies an assumption: of the problem, the function, the constants."""


def variance(problem: Any, n: int, sigma2: Fraction) -> bool:
    """One sample varies not at all; else the variance is at most the mean square of gradients."""
    own = problem.samples[n]
    if len(own) == 1:
        return sigma2 >= 0
    return all(f.G is not None for f in own) and sum((f.G**2 for f in own), ZERO) <= sigma2 * len(own)


def dissimilar(problem: Any, constants: Sequence[Fraction]) -> bool:
    """One client is not apart from itself; else all that is bounded is no more apart than it is long."""
    if any(c < 0 for c in constants):
        return False
    if problem.N == 1 and (len(constants) == 1 or constants[1] >= 1):
        return True
    return all(f.G is not None and constants[0] >= f.G for f in problem.own)
