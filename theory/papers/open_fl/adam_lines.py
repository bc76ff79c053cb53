"""The lines of open-fl's proofs of Theorem 3 and Lemma 5 that speak of vectors.

Expectations are over the next sample, given the state at step k; a random vector with a finite second moment is a
vector of a Hilbert space, so a statement about all vectors holds of expectations too. `theory.inequality.vectors` is
imported when a line is built.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from theory.claim import VectorLine

if TYPE_CHECKING:
    from theory.inequality.vectors import Condition, Space

Values: TypeAlias = Mapping[str, Fraction]
Built: TypeAlias = "tuple[Space, Condition, list[Condition]]"


def _descent(values: Values) -> Built:
    """(20): f(y) <= f(x) + <grad f(x), y-x> + L/2 |y-x|^2."""
    from theory.inequality.interpolation import smooth
    from theory.inequality.vectors import Space, inner, square

    space = Space(("y", "g", "q"), ("fx", "fy"))
    y, g = space.vector("y"), space.vector("g")
    points = [(space.zero(), g, space.value("fx")), (y, space.vector("q"), space.value("fy"))]
    given = smooth(space, points, values["L"])
    return space, space.value("fy") - space.value("fx") <= inner(g, y) + values["L"] / 2 * square(y), given


def _about_minimiser(values: Values) -> tuple[Space, list[Condition]]:
    """x, its gradient g and f(x), f with the minimiser 0: mu-strongly convex where mu is given, else L-smooth."""
    from theory.inequality.interpolation import convex, smooth
    from theory.inequality.vectors import Space

    space = Space(("x", "g"), ("f", "least"))
    points = [
        (space.vector("x"), space.vector("g"), space.value("f")),
        (space.zero(), space.zero(), space.value("least")),
    ]
    given = convex(space, points, values["mu"]) if "mu" in values else smooth(space, points, values["L"])
    return space, given


def _lower(values: Values) -> Built:
    """|x-x*|^2 <= (2/mu)(f - f*)."""
    from theory.inequality.vectors import square

    space, given = _about_minimiser(values)
    gap = space.value("f") - space.value("least")
    return space, square(space.vector("x")) <= 2 / values["mu"] * gap, given


def _upper(values: Values) -> Built:
    """|x-x*|^2 >= (2/L)(f - f*)."""
    from theory.inequality.vectors import square

    space, given = _about_minimiser(values)
    gap = space.value("f") - space.value("least")
    return space, square(space.vector("x")) >= 2 / values["L"] * gap, given


def _polyak(values: Values) -> Built:
    """|grad f|^2 >= 2 mu (f - f*)."""
    from theory.inequality.vectors import square

    space, given = _about_minimiser(values)
    gap = space.value("f") - space.value("least")
    return space, square(space.vector("g")) >= 2 * values["mu"] * gap, given


def _first_part(values: Values) -> Built:
    """(22): -b1 <g, q> <= -b1 <p, q> + (b1 L/eta)|x^k - x^{k-1}|^2 with x^k - x^{k-1} = -eta q."""
    from theory.inequality.interpolation import lipschitz_map
    from theory.inequality.vectors import Space, inner, square

    space = Space(("q", "p", "g"))  # D h, the gradient at x^{k-1}, the gradient at x^k
    q, p, g = (space.vector(name) for name in ("q", "p", "g"))
    moved = -values["eta"] * q
    given = lipschitz_map([(space.zero(), p), (moved, g)], values["L"])
    right = -values["beta1"] * inner(p, q) + values["beta1"] * values["L"] / values["eta"] * square(moved)
    return space, -values["beta1"] * inner(g, q) <= right, given


def _sufficient(values: Values) -> Built:
    """(18): E|u|^2 <= a|x-s|^2 + K with |x| <= R, |s| <= r gives E|u+s|^2 <= R^2."""
    from theory.inequality.vectors import Space, square

    space = Space(("x", "s", "u"))  # x^k, x*, x^{k+1} - x* as a random vector
    x, s, u = (space.vector(name) for name in ("x", "s", "u"))
    R, r = values["R"], values["r"]
    given = [
        (square(u) <= values["kappa"] * values["C1"] * square(x - s) + values["offset"]).named("(17)"),
        (square(x) <= R**2).named("x^k in the ball"),
        (square(s) <= r**2).named("x* in the ball"),
    ]
    return space, square(u + s) <= R**2, given


def _bounded(values: Values) -> Built:
    """|x^{k+1}| <= r + sigma/mu + eta sigma/sqrt(eps), squared; `root` is sqrt(eps)."""
    from theory.inequality.vectors import Space, inner, square

    space = Space(("u", "s", "g", "q"))  # x^k - x*, x*, grad f(x^k), (eps I + Vhat)^(-1/2) h
    u, s, g, q = (space.vector(name) for name in ("u", "s", "g", "q"))
    mu, sigma, r, root, eta = (values[name] for name in ("mu", "sigma", "r", "root", "eta"))
    given = [
        (mu * square(u) <= inner(g, u)).named("strong convexity"),
        (square(g) <= sigma**2).named("bounded gradient"),
        (square(s) <= r**2).named("minimiser"),
        (root**2 * square(q) <= sigma**2).named("bounded momentum"),
    ]
    return space, square(u + s - eta * q) <= (r + sigma / mu + eta * sigma / root) ** 2, given


DESCENT = VectorLine(_descent, ({"L": "1"}, {"L": "3"}), "every L, by scaling f; every L-smooth function")
LOWER = VectorLine(_lower, ({"mu": "1"}, {"mu": "1/3"}), "every mu, by scaling f; every mu-strongly convex function")
UPPER = VectorLine(_upper, ({"L": "1"}, {"L": "3"}), "every L, by scaling f; every L-smooth function")
POLYAK = VectorLine(_polyak, ({"mu": "1"}, {"mu": "1/3"}), "every mu, by scaling f; every mu-strongly convex function")
FIRST_PART = VectorLine(
    _first_part,
    ({"beta1": "1/2", "L": "1", "eta": "1"}, {"beta1": "9/10", "L": "2", "eta": "1/10"}),
    "every beta1, L and eta, by scaling; every map with an L-Lipschitz gradient",
)
SUFFICIENT = VectorLine(
    _sufficient,
    (
        {"kappa": "1", "C1": "1/4", "offset": "7/4", "R": "4", "r": "1"},
        {"kappa": "2", "C1": "1/3", "offset": "1", "R": "11", "r": "1"},
        {"kappa": "1", "C1": "0", "offset": "3", "R": "3", "r": "1"},
    ),
    "three settings; `fedproof check` shows it for all by algebra",
)
BOUNDED = VectorLine(
    _bounded,
    (
        {"mu": "1", "sigma": "1", "r": "1", "root": "1", "eta": "1"},
        {"mu": "1/2", "sigma": "3", "r": "1", "root": "1/5", "eta": "1/4"},
    ),
    "two settings; `fedproof check` shows it for all by algebra",
)
