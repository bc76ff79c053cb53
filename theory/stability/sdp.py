"""The worst stochastic gradient step as a semidefinite program, with a proved upper bound.

With u = x - x* and g = (L+mu)/2 u + (L-mu)/2 e, the step is known by the Gram matrix of x, x* and e (3 x 3): maximise
|x - eta g|^2 subject to |x|^2 <= R^2, |x*|^2 <= r^2 and |e|^2 <= |u|^2, which is <g - mu u, L u - g> >= 0. The last
condition is necessary and sufficient for a function of the class with the minimiser x* and the gradient g at x, so in
three or more dimensions the optimum is the worst step; by the closed form of `theory.stability.one_step` it is so in
two dimensions already. As the optimum of a convex program, the squared worst step is a concave function of the right
sides R^2 and r^2.

After Taylor, Hendrickx and Glineur, Smooth strongly convex interpolation and exact worst-case performance of
first-order methods, Math. Program. 161 (2017); the condition is that of their Theorem 4 for two points, added up.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf, nextafter, sqrt
from typing import TYPE_CHECKING, Any

from theory.stability.one_step import worst_next_norm

if TYPE_CHECKING:
    from theory.inequality.gram import Certificate


@dataclass(frozen=True)
class StepBound:
    """What the program says of one step.

    Attributes:
        status: the solver's: "optimal", or what went wrong.
        value: the worst norm in floats; nan without an optimum.
        upper: a norm that no step exceeds, proved in exact rationals; None when no proof was found.
        certificate: the proof of it (lengths in units of max(R, r)); or None.
        unit: max(R, r).
    """

    status: str
    value: float
    upper: float | None
    certificate: Certificate | None
    unit: Fraction


def worst_next_norm_sdp(R: Any, r: Any, mu: Any, L: Any, eta: Any = None, *, certified: bool = True) -> StepBound:
    """max of ||x - eta grad f(x)|| over the class, in two or more dimensions, by semidefinite programming.

    Args:
        R, r, mu, L, eta: as for `theory.stability.worst_next_norm`; single numbers (Fractions stay exact, floats are
            taken at their binary value).
        certified: also prove an upper bound from the multipliers.

    Raises:
        ValueError: naming the argument, its value and its domain.
    """
    from theory.inequality.gram import certify, solve
    from theory.inequality.vectors import Condition, Space, square

    eta = _fraction("eta", eta) if eta is not None else 1 / _fraction("L", L)
    numbers = {"R": _fraction("R", R), "r": _fraction("r", r), "mu": _fraction("mu", mu), "L": _fraction("L", L)}
    floats: list[Any] = [float(number) for number in (*numbers.values(), eta)]
    worst_next_norm(*floats)  # for its checks
    unit = max(numbers["R"], numbers["r"]) or Fraction(1)
    out, centre = numbers["R"] / unit, numbers["r"] / unit
    c = 1 - eta * (numbers["L"] + numbers["mu"]) / 2
    s = eta * (numbers["L"] - numbers["mu"]) / 2
    space = Space((*[name for name, size in (("x", out), ("x*", centre)) if size], "e"))
    # a vector of norm 0 would leave the program without interior points
    x = space.vector("x") if out else space.zero()
    star = space.vector("x*") if centre else space.zero()
    e, u = space.vector("e"), x - star
    given = [Condition("gradient", square(e) - square(u))]
    given += [Condition("ball of x", square(x) - out**2)] if out else []
    given += [Condition("ball of x*", square(star) - centre**2)] if centre else []
    objective = square(x * c + star * (1 - c) - e * s)
    solution = solve(space, objective, given)
    found = certify(space, objective, given, solution) if certified else None
    return StepBound(
        status=solution.status,
        value=sqrt(max(solution.value, 0.0)) * float(unit) if solution.value == solution.value else float("nan"),
        upper=None if found is None else _root_above(found.bound * unit**2),
        certificate=found,
        unit=unit,
    )


def _root_above(square: Fraction) -> float:
    """A float whose square is at least `square`."""
    root = sqrt(square)
    while Fraction(root) ** 2 < square:
        root = nextafter(root, inf)
    return root


def _fraction(name: str, value: Any) -> Fraction:
    try:
        return Fraction(value)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        raise ValueError(f"{name}={value!r} is outside the finite real numbers") from None
