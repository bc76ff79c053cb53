"""Lines of perm's Lemmas 4 and 5 that speak of vectors, for one and two clients."""

from __future__ import annotations

from functools import partial
from itertools import product

from theory.claim import VectorLine
from theory.papers.perm.weights_lines import Sides, Values, compared

# --- Lemma 4 ---------------------------------------------------------------------------------------------------------


def _one_step(values: Values) -> Sides:
    """x_i = w_i - w*; g_i, m_i, s_i the gradients of f_i at w_i, at the mean and at w*; exact gradients.

    Sampling adds gamma^2 times the variance of the mean of independent gradients, at most gamma^2 delta^2/N.
    """
    from theory.inequality.interpolation import smooth_strongly_convex
    from theory.inequality.vectors import Form, Space, Vector, inner, square, vanishes

    clients = range(int(values["N"]))
    places = [f"{kind}{i}" for kind in "xgms" for i in clients]
    space = Space(tuple(places), tuple(f"f{i}({at})" for i in clients for at in ("local", "mean", "best")))
    mu, L, gamma = values["mu"], values["L"], values["gamma"]
    share = 1 / values["N"]

    def mean(vectors: list[Vector]) -> Vector:
        return sum(vectors, space.zero()) * share

    def average(forms: list[Form]) -> Form:
        return sum(forms, space.constant(0)) * share

    x, g, m, s = ([space.vector(f"{kind}{i}") for i in clients] for kind in "xgms")
    local, there, best = ([space.value(f"f{i}({at})") for i in clients] for at in ("local", "mean", "best"))
    w = mean(x)
    given = [
        condition
        for i in clients
        for condition in smooth_strongly_convex(
            space, [(x[i], g[i], local[i]), (w, m[i], there[i]), (space.zero(), s[i], best[i])], mu, L, f"f{i}"
        )
    ]
    if values.get("inside", 1):
        given += vanishes(mean(s), "w* inside W")
    else:
        given.append((inner(mean(s), w) * -1 <= 0).named("w* is the minimiser over W"))
    gap = average(there) - average(best)
    drift = average([square(a - w) for a in x])
    step, gradient = mean(g), mean(m)
    forms = {
        "T1": -2 * gamma * inner(step, w),
        "T1 convex": 2 * gamma * (-1 * gap + average([square(a - w) * (L / 2) - square(a) * (mu / 2) for a in x])),
        "T1 Jensen": -2 * gamma * gap - gamma * mu * square(w) + gamma * L * drift,
        "T2": square(step),
        "T2 split": 2 * square(step - gradient) + 2 * square(gradient),
        "T2 bound": 2 * L**2 * drift + 4 * L * gap,
        "next": square(w - gamma * step),
        "printed": (1 - mu * gamma) * square(w)
        + (2 * gamma - 4 * gamma**2 * L) * gap
        + (gamma * L + 2 * gamma**2 * L**2) * drift,
        "right": (1 - mu * gamma) * square(w)
        - (2 * gamma - 4 * gamma**2 * L) * gap
        + (gamma * L + 2 * gamma**2 * L**2) * drift,
    }
    return space, forms, given


def _setting(clients: int, gamma: str = "1/3", **more: str) -> dict[str, str]:
    return {"N": str(clients), "mu": "1/4", "L": "1", "gamma": gamma, **more}


_SCOPE = "one and two clients, these mu/L and gamma L; every L, by scaling F"
_SHORT = (_setting(1), _setting(2), _setting(2, "1/2"))
_LONG = (_setting(1, "2"),)
_BINDING = (_setting(1, inside="0"),)


def one_step(left: str, relation: str, right: str, *, steps: str = "short") -> VectorLine:
    """A line of Lemma 4's proof.

    Args:
        left, relation, right: the line.
        steps: ``"short"``, gamma <= 1/(2L) and w* inside W; ``"any"``, gamma = 2/L as well; ``"binding"``, w* a
            minimiser over W at which grad F need not vanish.
    """
    settings = {"short": _SHORT, "any": (*_SHORT, *_LONG), "binding": _BINDING}[steps]
    return VectorLine(partial(compared, _one_step, left, relation, right), settings, _SCOPE)


# --- Lemma 5 ---------------------------------------------------------------------------------------------------------


def _apart(values: Values) -> Sides:
    """Two clients at x and y, samples with noise +n or -n and +m or -m; a, b the gradients of F there, c, e f_i - F."""
    from theory.inequality.interpolation import smooth_convex
    from theory.inequality.vectors import Space, square

    space = Space(("x", "y", "a", "b", "c", "e", "n", "m"), ("Fx", "Fy"))
    x, y, a, b, c, e, n, m = space.vectors_of()
    gamma, L, K = values["gamma"], values["L"], values["K"]
    given = smooth_convex(space, [(x, a, space.value("Fx")), (y, b, space.value("Fy"))], L, "F")
    outcomes = [square(x - y - gamma * (a - b + c - e + u * n - v * m)) / 4 for u, v in product((1, -1), repeat=2)]
    apart = square(x - y)
    forms = {
        "next": sum(outcomes, space.constant(0)),
        "bound": K / (K - 1) * apart + gamma**2 * (2 * K * (square(c) + square(e)) + square(n) + square(m)),
    }
    return space, forms, given


TWO_CLIENTS_PART = VectorLine(
    partial(compared, _apart, "next", "<=", "bound"),
    ({"K": "2", "L": "1", "gamma": "2"}, {"K": "2", "L": "1", "gamma": "1/2"}, {"K": "5", "L": "1", "gamma": "2"}),
    "these K and gamma L, up to gamma = 2/L; every L, by scaling F",
)
