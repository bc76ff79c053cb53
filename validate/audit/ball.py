"""The largest value of a convex quadratic in a ball, from both sides."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.arguments import rational, real, to_float

Array = NDArray[Any]

_BISECTIONS = 200


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

    The lower end is the value at a point of the ball. The upper end is the dual function l r^2 + c + q'(l I - Q)^-1 q
    at an l above the largest eigenvalue of Q, which bounds the maximum for every such l (add l (r^2 - ||e||^2) >= 0);
    at the best l they agree (the S-lemma: Boyd and Vandenberghe, Convex Optimization, appendix B). There is a closed
    form, in Fractions if the arguments are, in one dimension, for Q = 0 with q = 0, and for r = 0; else float64.

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
    r, c = float(radius), float(constant)
    values, vectors = np.linalg.eigh(to_float(form))
    q = vectors.T @ to_float(linear)
    top, size = max(float(values[-1]), 0.0), float(np.linalg.norm(q))
    # ||(l I - Q)^-1 q|| falls with l, is at most r at the upper end, and the best l is where it is r
    low, high = top, top + size / r + max(top, size / r) * 1e-15
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        gaps = middle - values
        if np.min(gaps) <= 0 or np.linalg.norm(q / gaps) > r:
            low = middle
        else:
            high = middle
    gaps = high - values
    kept = gaps > 0
    point = np.where(kept, q / np.where(kept, gaps, 1.0), 0.0)
    upper = high * r * r + c + float(q[kept] @ point[kept])
    if np.any(np.abs(q[~kept]) > 0):
        upper = np.inf
    # the rest of the way along the largest eigenvalue's vector, on the side where q pulls
    rest = max(0.0, r * r - float(point @ point) + float(point[-1] ** 2))
    point[-1] = np.sqrt(rest) * (1.0 if q[-1] >= 0 else -1.0)
    length = float(np.linalg.norm(point))
    point = point * (min(1.0, r / length) if length > 0 else 1.0)
    lower = float(values @ (point * point)) + 2 * float(q @ point) + c
    return lower, max(upper, lower), False
