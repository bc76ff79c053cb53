"""What piecewise quadratics satisfy: what they do as sums along one direction; and on a ball, by their knots."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

from theory import predicates as p
from validate.instances.pieces import Pieces
from validate.instances.ridges import RidgeFunction, Ridges
from validate.satisfied import of_ridges
from validate.satisfied.on_ball import piecewise_at_most
from validate.satisfied.rules import Numbers, Rules

ALONG = (Fraction(1),)
"""The direction."""


@lru_cache(maxsize=64)
def as_ridges(problem: Pieces) -> Ridges:
    """The same functions along a direction; there all is told that is true of them."""
    zero = (Fraction(0),)
    return Ridges(tuple(tuple(RidgeFunction(((ALONG, f),), zero) for f in own) for own in problem.functions))


def _of_ridges(rule: Callable[..., Any], predicate: p.Predicate, problem: Pieces, *constants: Numbers) -> Any:
    return rule(predicate, as_ridges(problem), *constants)


def _bounded(predicate: p.Predicate, problem: Pieces, constants: Numbers) -> bool | None:
    if len(constants) == 1:
        return of_ridges.bounded(predicate, as_ridges(problem), constants)
    functions = problem.named(predicate.function)
    return all(piecewise_at_most([f], 0, 1, constants[0] ** 2, constants[1]) for f in functions)


def _is_stable(predicate: p.Stable, problem: Pieces, constants: Numbers) -> bool:
    step, radius = constants
    if predicate.function == "f_ni":
        groups = [list(own) for own in problem.functions]
    else:
        groups = [[f] for f in problem.named(predicate.function)]
    return all(piecewise_at_most(group, 1, step, radius**2, radius) for group in groups)


RULES = Rules(
    true={
        **{kind: partial(_of_ridges, rule) for kind, rule in of_ridges.RULES.true.items()},
        p.Stable: _is_stable,
        p.Lipschitz: _bounded,
        p.BoundedGradients: _bounded,
    },
    best={kind: partial(_of_ridges, rule) for kind, rule in of_ridges.RULES.best.items()},
)
