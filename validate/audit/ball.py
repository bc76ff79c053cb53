"""The largest value of a convex quadratic in a ball, from both sides."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.arguments import rational, real, to_float
from theory.mixing import maximise

Array = NDArray[Any]


def checked_ball(ball: Any, dim: int, centre: Array | None, exact: bool) -> tuple[Array, Any]:
    """Centre (d,) and radius of a ball given by its radius about `centre`, or as a pair of centre and radius.

    Raises:
        ValueError: a radius outside [0, inf), a centre of another shape, or none where there is no unique minimiser.
    """
    given, radius = ball if isinstance(ball, tuple | list) else (centre, ball)
    if given is None:
        raise ValueError(f"ball={ball!r} has no centre, and f has no unique minimiser: give (centre, radius)")
    try:
        point = np.array([rational("ball", x) if exact else float(x) for x in given], dtype=object if exact else None)
    except TypeError:
        raise ValueError(f"ball={ball!r} is neither a radius nor a pair of centre and radius") from None
    if point.shape != (dim,) or (not exact and not np.all(np.isfinite(point))):
        raise ValueError(f"ball has the centre {list(given)}, not {dim} finite numbers")
    reach = rational("ball", radius, "[0, inf)") if exact else real("ball", radius, "[0, inf)")
    if reach < 0:
        raise ValueError(f"ball={radius} is outside [0, inf), the radii")
    return point, reach


def largest(form: Array, linear: Array, constant: Any, radius: Any) -> tuple[Any, Any, bool]:
    """The maximum of e'Qe + 2 q'e + c over ||e|| <= r: lower end, upper end, and whether it is a closed form.

    There is a closed form, in Fractions if the arguments are, in one dimension, for Q = 0 with q = 0, and for r = 0;
    else float64, by `theory.mixing.maximise`.

    Args:
        form: Q, (d, d), symmetric and positive semidefinite.
        linear: q, (d,).
        constant: c.
        radius: r >= 0.
    """
    if radius == 0 or not (np.any(form != 0) or np.any(linear != 0)):
        return constant, constant, True
    if len(linear) == 1:
        value = form[0, 0] * radius**2 + 2 * abs(linear[0]) * radius + constant
        return value, value, True
    doubled = 2 * to_float(form)
    found = maximise((doubled + doubled.T) / 2, 2 * to_float(linear), float(constant), float(radius))
    return found.lower, found.upper, False
