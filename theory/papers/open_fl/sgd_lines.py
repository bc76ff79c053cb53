"""The lines about SGD as statements about vectors, for the Gram prover.

One step from x for one function f, which is mu-strongly convex and L-smooth with the minimiser x*; g = grad f(x). A
sampled gradient takes the two values g + v and g - v with equal chances where only its mean and its variance matter
(they determine every line here).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from theory.claim import VectorLine

if TYPE_CHECKING:
    from theory.inequality.vectors import Condition, Form, Space, Vector

Values: TypeAlias = Mapping[str, Fraction]
Built: TypeAlias = "tuple[Space, Condition, list[Condition]]"


def _step_space() -> tuple[Space, Vector, Vector, Vector, Vector]:
    """x, x*, g and the noise v."""
    from theory.inequality.vectors import Space

    space = Space(("x", "x*", "g", "v"))
    x, star, g, v = space.vectors_of()
    return space, x, star, g, v


def _gradient(x: Vector, star: Vector, g: Vector, values: Values) -> list[Condition]:
    """g is the gradient at x of a function of the class with the minimiser x* (necessary and sufficient)."""
    from theory.inequality.vectors import inner, vanishes

    mu, L = values["mu"], values["L"]
    u = x - star
    if mu == L:
        return vanishes(g - u * L, "gradient")
    return [(inner(g - u * mu, u * L - g) >= 0).named("gradient")]


def _next(x: Vector, g: Vector, v: Vector, eta: Fraction) -> Form:
    """E||x - eta g||^2 over the two sampled gradients."""
    from theory.inequality.vectors import expectation, square

    return expectation(("1/2", "1/2"), [square(x - (g + v) * eta), square(x - (g - v) * eta)])


def _shares(values: Values) -> tuple[Fraction, Fraction]:
    """1 + 1/kappa and 1 - 1/kappa."""
    inverse = values["mu"] / values["L"]
    return 1 + inverse, 1 - inverse


def lemma4(values: Values) -> Built:
    """||x|| <= R and ||x - D/L|| <= R imply ||x - eta D|| <= R."""
    from theory.inequality.vectors import Space, square

    space = Space(("x", "D"))
    x, D = space.vectors_of()
    R2 = values["R"] ** 2
    given = [square(x) <= R2, square(x - D / values["L"]) <= R2]
    return space, square(x - D * values["eta"]) <= R2, given


def eq6(values: Values) -> Built:
    """<u, g> >= (||g||^2/L + mu ||u||^2)/(1 + 1/kappa)."""
    from theory.inequality.vectors import inner, square

    space, x, star, g, _ = _step_space()
    share, _ = _shares(values)
    u = x - star
    right = (square(g) / values["L"] + values["mu"] * square(u)) / share
    return space, inner(u, g) >= right, _gradient(x, star, g, values)


def eq7(values: Values) -> Built:
    """<x, g> >= (||g||^2/L + mu ||u||^2)/(1 + 1/kappa) - r ||g||, for a given ||g||."""
    from theory.inequality.vectors import inner, square

    space, x, star, g, _ = _step_space()
    share, _ = _shares(values)
    right = (square(g) / values["L"] + values["mu"] * square(x - star)) / share - values["r"] * values["gradient_norm"]
    norms = [square(star) <= values["r"] ** 2, square(g).equals(values["gradient_norm"] ** 2)]
    return space, inner(x, g) >= right, [*_gradient(x, star, g, values), *norms]


def eq8(values: Values) -> Built:
    """E||x - g/L||^2, multiplied out."""
    from theory.inequality.vectors import expectation, inner, square

    space, x, _, g, v = _step_space()
    L = values["L"]
    second = expectation(("1/2", "1/2"), [square(g + v), square(g - v)])
    return space, _next(x, g, v, 1 / L).equals(square(x) - 2 / L * inner(x, g) + second / L**2), []


def eq9(values: Values) -> Built:
    """E||g||^2 <= sigma^2 + ||grad f||^2 when the variance is at most sigma^2."""
    from theory.inequality.vectors import expectation, square

    space, _, _, g, v = _step_space()
    second = expectation(("1/2", "1/2"), [square(g + v), square(g - v)])
    return space, second <= values["sigma"] ** 2 + square(g), [square(v) <= values["sigma"] ** 2]


def eq10(values: Values) -> Built:
    """The last expression of (10), for a given ||g||."""
    from theory.inequality.vectors import square

    space, x, star, g, v = _step_space()
    plus, minus = _shares(values)
    L, r, norm = values["L"], values["r"], values["gradient_norm"]
    right = (
        square(x)
        + 2 * r / L * norm
        - minus / plus / L**2 * square(g)
        - 2 * values["mu"] / (L * plus) * square(x - star)
        + values["sigma"] ** 2 / L**2
    )
    given = [*_gradient(x, star, g, values), square(v) <= values["sigma"] ** 2]
    given += [square(star) <= r**2, square(g).equals(norm**2)]
    return space, _next(x, g, v, 1 / L) <= right, given


def eq11_first(values: Values) -> Built:
    """The first line of (11)."""
    from theory.inequality.vectors import square

    space, x, star, g, v = _step_space()
    plus, minus = _shares(values)
    L, r = values["L"], values["r"]
    noise = values["sigma"] ** 2 / L**2
    right = square(x) + r**2 * plus / minus - 2 * values["mu"] / (L * plus) * square(x - star) + noise
    given = [*_gradient(x, star, g, values), square(v) <= values["sigma"] ** 2, square(star) <= r**2]
    return space, _next(x, g, v, 1 / L) <= right, given


def eq11(values: Values) -> Built:
    """The second line of (11), for given ||x|| and ||x*||."""
    from theory.inequality.vectors import square

    space, x, star, g, v = _step_space()
    L, r, far, near = values["L"], values["r"], values["iterate_norm"], values["minimiser_norm"]
    right = far**2 + 2 * r**2 - values["mu"] / L * (far - near) ** 2 + values["sigma"] ** 2 / L**2
    given = [*_gradient(x, star, g, values), square(v) <= values["sigma"] ** 2]
    given += [square(x).equals(far**2), square(star).equals(near**2)]
    return space, _next(x, g, v, 1 / L) <= space.constant(right), given


def stable(radius2: Callable[[Values], Fraction]) -> Callable[[Values], Built]:
    """E||x - eta g||^2 <= R^2 for ||x|| <= R and ||x*|| <= r, given R^2 as a function of the parameters."""

    def build(values: Values) -> Built:
        from theory.inequality.vectors import square

        space, x, star, g, v = _step_space()
        R2 = radius2(values)
        given = [*_gradient(x, star, g, values), square(v) <= values["sigma"] ** 2]
        given += [square(star) <= values["r"] ** 2, square(x) <= R2]
        return space, _next(x, g, v, values["eta"]) <= R2, given

    return build


def affine(values: Values) -> Built:
    """||x - eta g||^2 <= a ||x||^2 + b ||x*||^2 without a ball; see `affine_factors`."""
    from theory.inequality.vectors import square

    space, x, star, g, _ = _step_space()
    a, b = affine_factors(values["mu"], values["L"], values["eta"])
    return space, square(x - g * values["eta"]) <= a * square(x) + b * square(star), _gradient(x, star, g, values)


def affine_factors(mu: Fraction, L: Fraction, eta: Fraction) -> tuple[Fraction, Fraction]:
    """a and b with ||x - eta g||^2 <= a ||x||^2 + b ||x*||^2; (kappa-1)/(kappa+1) and 1 at eta = 1/L."""
    c, s = 1 - eta * (L + mu) / 2, eta * (L - mu) / 2
    # at mu = L and eta = 1/L the step is x* itself
    return c + s**2 / (1 - c), (1 - c) + (s**2 / c if c else 0)


def corrected_radius2(values: Values) -> Fraction:
    """R(eta)^2; (kappa+1)/2 (r^2 + sigma^2/L^2) at eta = 1/L."""
    mu, L, eta = values["mu"], values["L"], values["eta"]
    a, b = affine_factors(mu, L, eta)
    return (b * values["r"] ** 2 + eta**2 * values["sigma"] ** 2) / (1 - a)


def full_step_radius2(values: Values) -> Fraction:
    """(kappa+1)/2 (r^2 + sigma^2/L^2), whatever eta is."""
    return corrected_radius2({**values, "eta": 1 / values["L"]})


def printed_radius2(values: Values) -> Fraction:
    """The square of the printed radius, at parameters where it is rational (the settings below)."""
    from math import isqrt

    kappa = max(Fraction(3), values["L"] / values["mu"])
    under = kappa * (2 * values["r"] ** 2 + values["sigma"] ** 2 / values["L"] ** 2)
    root = Fraction(isqrt(under.numerator), isqrt(under.denominator))
    if root**2 != under:
        raise ValueError(f"r={values['r']}, sigma={values['sigma']} are outside those with a rational printed radius")
    return (values["r"] + root) ** 2


def _at(mu: str, **more: str) -> dict[str, str]:
    return {"mu": mu, "L": "1", **more}


_EVERY_L = "these mu/L; every L, by scaling f"
_MODULI = ("1", "1/2", "1/3", "1/10", "1/1000")

LEMMA4 = VectorLine(
    lemma4,
    tuple({"L": "1", "R": "1", "eta": eta} for eta in ("1", "1/2", "1/10")),
    "these eta; every R and L, by scaling",
)
EQ6 = VectorLine(eq6, tuple(_at(mu) for mu in _MODULI), _EVERY_L)
EQ7 = VectorLine(eq7, tuple(_at(mu, r="1", gradient_norm=g) for mu in ("1/3", "1/10") for g in ("1", "3")), _EVERY_L)
EQ8 = VectorLine(eq8, ({"L": "1"}, {"L": "7/2"}), "two samples; only mean and variance matter")
EQ9 = VectorLine(eq9, ({"sigma": "1"}, {"sigma": "0"}), "two samples; only mean and variance matter")
EQ10 = VectorLine(
    eq10,
    tuple(_at(mu, r="1", sigma="1", gradient_norm=g) for mu in ("1/3", "1/10") for g in ("1", "3")),
    _EVERY_L,
)
EQ11_FIRST = VectorLine(
    eq11_first, tuple(_at(mu, r="1", sigma=s) for mu in ("1/3", "1/10", "1/1000") for s in ("0", "1")), _EVERY_L
)
EQ11 = VectorLine(
    eq11,
    tuple(
        _at(mu, r="1", sigma="1", iterate_norm=far, minimiser_norm=near)
        for mu in ("1/3", "1/10")
        for far, near in (("2", "1"), ("1/2", "1"), ("5", "1/2"))
    ),
    _EVERY_L,
)
PRINTED = VectorLine(
    stable(printed_radius2),
    (
        _at("1", r="1", sigma="1", eta="1"),
        _at("1/3", r="1", sigma="1", eta="1"),
        _at("1/4", r="2", sigma="1", eta="1"),
        _at("1/16", r="2", sigma="1", eta="1"),
        _at("1/16", r="2", sigma="1", eta="1/2"),
        _at("1/100", r="2", sigma="1", eta="1"),
    ),
    "these mu/L, r, sigma and eta, at which the radius is rational",
)
CORRECTED = VectorLine(
    stable(full_step_radius2),
    (
        _at("1", r="1", sigma="1", eta="1"),
        _at("1/2", r="1", sigma="0", eta="1"),
        _at("1/2", r="1", sigma="1", eta="1/2"),
        _at("1/10", r="1", sigma="1", eta="1"),
        _at("1/1000", r="1", sigma="1", eta="1"),
    ),
    _EVERY_L,
)
CORRECTED_AT_ETA = VectorLine(
    stable(corrected_radius2),
    (
        _at("1", r="1", sigma="1", eta="1/2"),
        _at("1/3", r="1", sigma="0", eta="1/2"),
        _at("1/3", r="1", sigma="1", eta="1/10"),
        _at("1/10", r="1", sigma="1", eta="1/2"),
        _at("1/1000", r="1", sigma="1", eta="1/2"),
    ),
    _EVERY_L,
)
AFFINE = VectorLine(affine, tuple(_at(mu, eta=eta) for mu in _MODULI for eta in ("1", "1/2", "1/10")), _EVERY_L)


def averaged(values: Values) -> Built:
    """||sum w_i x_i||^2 <= R^2 for three clients with ||x_i|| <= R and weights w_i >= 0 that sum to 1."""
    from theory.inequality.vectors import Space, combination, square

    space = Space(("x1", "x2", "x3"))
    points = space.vectors_of()
    weights = [values["w1"], values["w2"], 1 - values["w1"] - values["w2"]]
    R2 = values["R"] ** 2
    return space, square(combination(weights, points)) <= R2, [square(x) <= R2 for x in points]


AVERAGED = VectorLine(
    averaged,
    tuple({"R": "1", "w1": w1, "w2": w2} for w1, w2 in (("1/3", "1/3"), ("1/2", "1/2"), ("1", "0"), ("1/7", "4/7"))),
    "three clients with these shares; every number and every shares by convexity of the ball",
)
