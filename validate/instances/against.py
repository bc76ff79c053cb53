"""Clients, or samples of a client, that curve against one another, where assumptions bound only their mean.

What one function has more another has less, so that the mean and what is assumed of it stay as they are: a bound by
the smoothness of f says nothing of how far apart clients drift whose functions bend many times as much. Steps are then
as long as these functions bend, and the curvature is around a point up or down the slope from the start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from theory import predicates as p
from theory.claim import Claim
from theory.program import work
from validate.instances.candidates import Candidate, candidate_of, realised
from validate.instances.pool import Drawn
from validate.instances.problems import Quadratics
from validate.instances.roles import roles_in
from validate.instances.seen import Hunt, Seen, measured

if TYPE_CHECKING:
    from validate.instances.stages import Budget

F = Fraction
SHAPED = p.Smooth | p.Convex | p.StronglyConvex | p.Lipschitz | p.BoundedGradients
"""Assumptions that bound the curvature of whom they speak of."""
BENT = (F(300), F(30))
"""How much more the functions bend than their mean."""
AROUND = (F(4), F(-4), F(0))
"""Where the curvature is, from the start: so many steps along the slope of f."""
TIGHTEST, OTHERS = 3, 6
"""Instances that are changed: the tightest, and so many of all."""
LEVELS = ("f", "f_n", "f_ni")


def set_against(claim: Claim, one: Drawn) -> Iterator[Drawn]:
    """The instances that one becomes; none where each function's curvature is bounded by itself.

    Args:
        claim: the claim.
        one: an instance of it.
    """
    c, of_clients = candidate_of(one), _deepest(claim) == "f"
    if not _several(claim, one):
        return
    mean, linear = c.hessian.mean(axis=(0, 1)), c.linear.mean(axis=(0, 1))
    curved = max((abs(v) for v in mean.ravel()), default=F(0)) or F(1)
    slope = mean @ c.start - linear
    for times in BENT:
        bend = times * curved
        for part in AROUND:
            changed = _apart(c, of_clients, bend, c.start - part * slope / bend)
            for values in (*_steps(claim, c, 1 / bend), {}):
                made = realised(claim, replace(changed, values={**c.values, **values}))
                if made is not None:
                    yield made


def _deepest(claim: Claim) -> str:
    """The smallest functions whose curvature is bounded."""
    asked = [one.function for one in claim.predicates if isinstance(one, SHAPED)]
    return max(asked, key=LEVELS.index, default="f")


def _several(claim: Claim, one: Drawn) -> bool:
    """Whether there are two functions, of which only the mean is bounded."""
    problem, deepest = one.instance.problem, _deepest(claim)
    if claim.program is None or deepest == "f_ni" or not isinstance(problem, Quadratics):
        return False
    if deepest == "f":
        return problem.clients > 1
    return min(problem.samples(n) for n in range(problem.clients)) > 1


def _apart(c: Candidate, of_clients: bool, bend: Fraction, around: Any) -> Candidate:
    """Two clients, or two samples of each client, with more and with less curvature around a point."""
    hessian, linear = c.hessian.copy(), c.linear.copy()
    more = bend * np.array([[F(int(i == j)) for j in range(len(around))] for i in range(len(around))], dtype=object)
    for place, sign in (((0,), 1), ((1,), -1)) if of_clients else (((slice(None), 0), 1), ((slice(None), 1), -1)):
        hessian[place] = hessian[place] + sign * more
        linear[place] = linear[place] + sign * (more @ around)
    return replace(c, hessian=hessian, linear=linear)


def _steps(claim: Claim, c: Candidate, length: Fraction) -> Iterator[dict[str, Any]]:
    """Each of the algorithm's numbers that is no count and no chance, as long."""
    roles = roles_in(claim)
    kept = roles.counts | roles.chances | roles.weights | roles.steps | roles.matrices
    for name in claim.of.parameters if claim.of is not None else ():
        value = c.values.get(name)
        if name in kept or name in claim.constants or value is None:
            continue
        if isinstance(value, list) and not any(isinstance(v, list) for v in value):
            yield {name: [length] * len(value)}
        elif isinstance(value, Fraction):
            yield {name: length}


def with_opposed_functions(claim: Claim, found: Hunt, stop: Callable[[], bool], budget: Budget) -> Iterator[Seen]:
    """Instances of the pool with functions that curve against one another.

    What they take is not of the budget, and none of them is kept: later stages are as they are without them.
    """
    before = work.operations()
    several = [seen for seen in found.seen if _several(claim, seen.drawn)]
    tightest = sorted(several, key=lambda s: -s.score)[:TIGHTEST]
    first = [*tightest, *several[:: max(1, len(several) // OTHERS)][:OTHERS]]
    for turn in zip_longest(*(set_against(claim, seen.drawn) for seen in first)):
        for one in turn:
            if stop() or budget.took(before):
                budget.leave_out(before)
                return
            seen = None if one is None else measured(claim, one)
            if seen is not None:
                yield seen
    budget.leave_out(before)
