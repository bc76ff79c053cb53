"""Problems moved so that their minimiser is 0, where a claim says that it is: ``norm(xstar) <= 0``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sim.problems import Quadratic
from validate.instances.piece_moves import moved_alone
from validate.instances.pieces import Pieces
from validate.instances.ridges import Ridges


def centred(problem: Any) -> Any:
    """The same functions around 0, their values but for a constant.

    Args:
        problem: quadratics, piecewise ones of one variable, or sums along directions, in fractions.

    Raises:
        ValueError: where there is no minimiser, or it is not known.
    """
    least = problem.minimiser
    if isinstance(problem, Quadratic):
        linear = problem.linear - (problem.hessian @ least)
        return replace(problem, linear=linear, features=None, targets=None)
    if isinstance(problem, Pieces):
        return Pieces(tuple(tuple(moved_alone(f, -least[0]) for f in own) for own in problem.functions))
    assert isinstance(problem, Ridges)

    def moved(f: Any) -> Any:
        terms = [(a, moved_alone(phi, -sum(x * y for x, y in zip(a, least, strict=True)))) for a, phi in f.terms]
        return replace(f, terms=tuple(terms))

    return Ridges(tuple(tuple(moved(f) for f in own) for own in problem.functions))
