"""The constants of a problem: strong convexity, smoothness, variance, dissimilarity, and how well each is known.

    from validate.audit import audit, audit_torch

    found = audit(problem, ball=1)
    print(found)                # a table
    found["L_client"].value     # exact: a closed form
    found["zeta2_ball"].upper   # a proved bound, None where there is none

Every constant says whether it is exact, between proved bounds, or only seen at sampled points. A sample is never a
bound: its `lower` and `upper` are None.
"""

from __future__ import annotations

from typing import Any

from validate.audit.losses import audit_torch
from validate.audit.record import MEANING, Audit, Measured

__all__ = ["MEANING", "Audit", "Measured", "audit", "audit_torch"]


def audit(
    problem: Any, *, start: Any = None, seed: int = 0, samples: int = 16, ball: Any = None, relative: Any = None
) -> Audit:
    """The constants of a problem, from closed forms and proved bounds, with samples where there is no closed form.

    - `Quadratic`: all in closed form, in Fractions where the problem is exact and the constant is rational (extreme
      eigenvalues with denominators up to 10^6 are found as such); suprema over a ball in several dimensions between
      bounds that agree up to rounding.
    - `RidgeLogistic`, `RidgeSoftmax`: closed forms and bounds; with a ball, samples beside them.

    Losses of your own: `audit_torch`.

    Args:
        problem: a problem of `sim.problems`.
        start: (d,), where runs start; for f(start) - f_min and ||start - x*||^2.
        seed: of the sampled points.
        samples: how many points of the ball are looked at, at least 1.
        ball: a radius, for the ball about the minimiser of f, or (centre, radius); for the suprema over a ball.
        relative: B, at least 0, for the least G^2 with mean_n ||grad f_n||^2 <= G^2 + B^2 ||grad f||^2. By default B^2
            is twice its infimum for a quadratic, and 1 for a regression, of which no G is known for less.

    Raises:
        ValueError: an argument outside its domain, or a problem that is none of these.
    """
    from sim.arguments import integer, rational, real
    from sim.problems import Quadratic, RidgeLogistic, RidgeSoftmax

    count, seed = integer("samples", samples, 1), integer("seed", seed, 0)
    exact = isinstance(problem, Quadratic) and problem.exact
    if relative is not None:
        relative = rational("relative", relative, "[0, inf)") if exact else real("relative", relative, "[0, inf)")
        if relative < 0:
            raise ValueError(f"relative={relative} is outside [0, inf)")
    if isinstance(problem, Quadratic):
        from validate.audit.quadratics import audit_quadratic

        return audit_quadratic(problem, start, ball, relative)
    if isinstance(problem, RidgeLogistic | RidgeSoftmax):
        from validate.audit.regressions import audit_regression

        return audit_regression(problem, start, seed, count, ball, relative)
    raise ValueError(
        f"problem={problem!r} is not a problem of sim.problems; for losses of your own there is audit_torch"
    )
