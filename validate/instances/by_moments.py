"""A claim on an instance by moments, where there are too many outcomes to be played: in fractions, or in floats."""

from __future__ import annotations

from fractions import Fraction
from math import isfinite
from typing import Any

import numpy as np

from theory.claim import Claim
from theory.operations import UndecidedError
from validate.both_sides import Measured, Row
from validate.expected import Line, lines, tapped
from validate.instances import tried
from validate.instances.pool import Drawn
from validate.instances.problems import Quadratics, in_floats
from validate.on_instance import setting_of

MOST_TAPPED, MOST_TAPPED_EXACTLY = 120, 16
"""Numbers of one round that taps are, in floats and in fractions: their second moments are found together."""


def by_moments(claim: Claim, one: Drawn, most: int = MOST_TAPPED_EXACTLY) -> Measured | None:
    """Both sides in fractions; None where moments do not tell.

    Args:
        claim: the claim.
        one: the instance.
        most: numbers of a round that taps may be.
    """
    problem = one.instance.problem
    if not isinstance(problem, Quadratics) or not _fits_taps(claim, one, most):
        return None
    try:
        found = lines(claim, problem.quadratic, setting_of(claim, one))
    except (ValueError, UndecidedError, ZeroDivisionError, OverflowError):
        return None
    rows = [Row(line.at, _ball(line.left), _ball(line.right), line.status) for line in found if _is_told(line)]
    if not any(row.status != "undefined" for row in rows):
        return None
    return Measured(tuple(rows), by="moments")


def _is_told(line: Line) -> bool:
    """Whether fractions tell, or floats that are far apart."""
    if line.status == "undefined" or isinstance(line.left + line.right, Fraction):
        return True
    left, right = float(line.left), float(line.right)
    return isfinite(left + right) and abs(left - right) > APART * max(abs(left), abs(right))


def _ball(value: Any) -> Any:
    """A float as a ball around it, within which the number that it stands for lies; a fraction as it is."""
    if not isinstance(value, float):
        return value
    import flint

    return flint.arb(value, abs(value) * APART / 8)


APART = 1e-6
"""Share of two numbers that rounding does not make up."""


def lines_in_floats(claim: Claim, one: Drawn) -> list[Line] | None:
    """Both sides in floats; None where moments do not tell, or the claim says nothing there."""
    problem = one.instance.problem
    if not isinstance(problem, Quadratics) or not _fits_taps(claim, one, MOST_TAPPED):
        return None
    tried.count()
    try:
        far = lines(claim, in_floats(problem.quadratic), setting_of(claim, one))
    except (ValueError, UndecidedError, ZeroDivisionError, OverflowError, np.linalg.LinAlgError):
        return None
    return far if any(line.status != "undefined" for line in far) else None


def breaks_in_floats(claim: Claim, one: Drawn) -> bool | None:
    """Whether an instance breaks a claim, in floats; None where moments do not tell."""
    far = lines_in_floats(claim, one)
    return None if far is None else any(line.status == "broken" for line in far)


def _fits_taps(claim: Claim, one: Drawn, most: int) -> bool:
    """Whether the taps of which the claim speaks are not too many numbers of a round."""
    assert one.instance.problem is not None
    try:
        count = tapped(claim, setting_of(claim, one))
    except ValueError:
        return False
    numbers = count * one.instance.problem.clients * one.instance.problem.dim
    return numbers <= most and numbers * one.instance.rounds <= 8 * most
