"""Lines of perm's Theorems 2 and 3 and of Proposition 4 that speak of vectors."""

from __future__ import annotations

from functools import partial

from theory.claim import VectorLine
from theory.papers.perm.weights_lines import Sides, Values, compared

_ANY = "all vectors, these mu s"
_STEPS = ({"x": "1/8"}, {"x": "1/2"})


def _epoch(values: Values) -> Sides:
    """v = v^r - v*, g = g^r, b = s grad Phi; x = mu s. Outcomes +m and -m of the noise, with the moves g1 and g2."""
    from theory.inequality.vectors import Space, inner, square

    space = Space(("v", "g", "b", "m", "g1", "g2", "p", "y"))
    v, g, b, m, g1, g2, p, y = space.vectors_of()
    x = values["x"]
    moved = (square(v - g1 - m) + square(v - g2 + m)) / 2
    moves = (square(g1) + square(g2)) / 2
    given = [(inner(y - p, v - p) <= 0).named("projection")]  # p = P_W(y), v in W
    forms = {
        "projected": square(p - v),
        "before": square(y - v),
        "with noise": moved,
        "printed without cross terms": square(v) - inner(v, g1 + g2) + moves + square(m),
        "true with noise": (1 + x / 2) * square(v) + (2 / x + 2) * moves + 2 * square(m),
        "cross": -2 * inner(g - b, v),
        "printed Young": square(g - b) / (2 * x) + x / 2 * square(v),
        "true Young": 2 / x * square(g - b) + x / 2 * square(v),
        "move": square(g),
        "move split": 2 * square(g - b) + 2 * square(b),
    }
    return space, forms, given


def epoch(left: str, right: str) -> VectorLine:
    """A line about an epoch, ``left <= right``."""
    return VectorLine(partial(compared, _epoch, left, "<=", right), _STEPS, _ANY)


def _minibatch(values: Values) -> Sides:
    """F at w (gradient g), at w - gamma (g + n) and w - gamma (g - n), and at its minimiser, which is 0."""
    from theory.inequality.interpolation import smooth_strongly_convex
    from theory.inequality.vectors import Space, square

    space = Space(("w", "g", "n", "h", "k"), ("fw", "fh", "fk", "fmin"))
    w, g, noise, h, k = space.vectors_of()
    fw, fh, fk, least = (space.value(name) for name in space.values)
    mu, L, gamma = values["mu"], values["L"], values["gamma"]
    points = [
        (w, g, fw),
        (w - gamma * (g + noise), h, fh),
        (w - gamma * (g - noise), k, fk),
        (space.zero(), space.zero(), least),
    ]
    gap = fw - least
    forms = {
        "next gap": (fh + fk) / 2 - least,
        "gap bound": (1 - mu * gamma) * gap + gamma**2 * L / 2 * square(noise),
        "gradient": square(g),
        "smooth": 2 * L * gap,
        "distance": square(w),
        "convex": 2 / mu * gap,
    }
    return space, forms, smooth_strongly_convex(space, points, mu, L, "F")


_SHORT = ({"mu": "1/4", "L": "1", "gamma": "1"}, {"mu": "1/4", "L": "1", "gamma": "1/3"})
_LONG = ({"mu": "1/4", "L": "1", "gamma": "19/10"},)


def minibatch(left: str, right: str, *, long: bool = False) -> VectorLine:
    """A line about mini-batch SGD, ``left <= right``, for gamma <= 1/L, or for gamma = 1.9/L."""
    return VectorLine(
        partial(compared, _minibatch, left, "<=", right),
        _LONG if long else _SHORT,
        "these mu/L and gamma L; every L, by scaling F; noise of two outcomes",
    )
