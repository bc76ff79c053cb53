"""Lines of fedmim that speak of vectors. `theory.inequality.vectors` is imported when a line is built."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

from theory.claim import VectorLine

if TYPE_CHECKING:
    from theory.inequality.vectors import Condition, Form, Space, Vector

Values: TypeAlias = Mapping[str, Fraction]
Built: TypeAlias = "tuple[Space, Condition, list[Condition]]"
Sides: TypeAlias = "tuple[Space, dict[str, Form], list[Condition]]"


def _compared(sides: Callable[[Values], Sides], left: str, relation: str, right: str, values: Values) -> Built:
    """The line ``left relation right`` between two of the named expressions that `sides` builds."""
    space, forms, given = sides(values)
    difference = forms[left] - forms[right]
    return space, (difference.equals(0) if relation == "=" else difference <= 0), given


# --- the recursion of a round (Lemmas 5 and 6) -----------------------------------------------------------------------


def _recursion(values: Values) -> Sides:
    """Two lags a and b, two selected clients, two steps: d0, d1, d2 are delta_t, delta_{t-1}, delta_{t-2}."""
    from theory.inequality.vectors import Space, square

    space = Space(("x", "d0", "d1", "d2", "g00", "g01", "g10", "g11"))
    x, d0, d1, d2, *g = space.vectors_of()
    a, b, eta, K = values["a"], values["b"], values["eta_l"], Fraction(2)
    A = 1 - a - b
    from_one = values["from one"]
    inertia = a * d1 + b * d2 if from_one else a * d0 + b * d1
    total = sum(g, space.zero())
    following = x - K * inertia - A * eta / 2 * total
    delta = (x - following) / K
    dtilde = eta / 4 * total
    # the printed sum over s = j, ..., J-1: with lags 1 and 2 it leaves the last weight out
    u = x - K / A * (a * d1 if from_one else (a + b) * d0 + b * d1)
    u_next = following - K / A * (a * d0 if from_one else (a + b) * delta + b * d0)
    forms = {
        "0": space.constant(0),
        "delta": square(delta - A * dtilde - inertia),
        "u": square(u_next - u + K * dtilde),
        "u by deltas": square(u_next - u + K / A * (delta - inertia)),
        "moved": square(A * dtilde + inertia),
        "Jensen": A * square(dtilde) + a * square(d0) + b * square(d1),
    }
    return space, forms, []


def recursion(left: str, relation: str, right: str, *, from_one: bool = False) -> VectorLine:
    """A line about one round; lags 0 and 1, or 1 and 2."""
    settings = tuple(
        {"a": a, "b": b, "eta_l": "1/3", "from one": str(int(from_one))} for a, b in (("1/2", "1/4"), ("3/10", "3/5"))
    )
    return VectorLine(
        partial(_compared, _recursion, left, relation, right), settings, "two lags, two clients, two steps"
    )


# --- gradients at y2, x_{i,k}, x_t and u_t (Lemmas 7 and 9, Theorem IV.1) --------------------------------------------


def _gradients(values: Values) -> Sides:
    """Two clients, two lags: z_i = x_{i,k} - x_t; p, q, r, s the gradients at y2, x_{i,k}, x_t, u_t."""
    from theory.inequality.vectors import Space, inner, square

    clients = (0, 1)
    space = Space(("d0", "d1", *[f"{kind}{i}" for kind in "zpqrs" for i in clients]))
    d0, d1 = space.vector("d0"), space.vector("d1")
    z, p, q, r, s = ([space.vector(f"{kind}{i}") for i in clients] for kind in "zpqrs")
    weights = [values["a"], values["b"]]
    betas = [values["beta0"], values["beta1"]]
    K, L, G, B, S = (values[name] for name in ("K", "L", "G", "B", "S"))
    A, rho = 1 - sum(weights), sum(betas)

    def mean(vectors: list[Vector]) -> Vector:
        return (vectors[0] + vectors[1]) / 2

    def average(vectors: list[Vector]) -> Form:
        return (square(vectors[0]) + square(vectors[1])) / 2

    shift = betas[0] * d0 + betas[1] * d1
    far = K / A * ((weights[0] + weights[1]) * d0 + weights[1] * d1)
    P = [rho * b + K**2 * 2 * (1 - A) ** 2 / A**2 for b in betas]
    lags = P[0] * square(d0) + P[1] * square(d1)
    given = []
    for i in clients:
        given.append((square(p[i] - q[i]) <= L**2 * square(shift)).named(f"smooth, y2 and x_k, client {i}"))
        given.append((square(q[i] - r[i]) <= L**2 * square(z[i])).named(f"smooth, x_k and x_t, client {i}"))
        given.append((square(r[i] - s[i]) <= L**2 * square(far)).named(f"smooth, x_t and u_t, client {i}"))
    at_u = square(mean(s))
    given.append((average(s) <= G**2 + B**2 * at_u).named("dissimilarity"))
    selected = average(p) if S == 1 else square(mean(p))
    product = -at_u / 2 + 3 * L**2 / 2 * (average(z) + lags)
    client = 4 * L**2 * average(z) + 4 * L**2 * lags + 4 * G**2 + 4 * B**2 * at_u
    step = Fraction(3, 16)  # eta L at its largest
    forms = {
        "clients": average(p),
        "Lemma 7": client,
        "selected": selected,
        "(31)": 8 * L**2 * average(z) + 8 * L**2 * lags + 4 * G**2 / S + 4 * (B**2 + 1) * at_u,
        "product": -inner(mean(s), mean(p)),
        "product bound": product,
        "product bound, mean kept": product - square(mean(p)) / 2,
        "a step's descent": step * selected - inner(mean(s), mean(p)),
        "a step's descent, mean kept": product + step / S * client,
    }
    return space, forms, given


_WEIGHTS = {"a": "1/2", "b": "1/4", "beta0": "1/3", "beta1": "1/6"}
_FEW = {"a": "3/10", "b": "0", "beta0": "0", "beta1": "1/10"}
_CONSTANTS = {"K": "2", "L": "1", "G": "1"}


def gradients(left: str, right: str) -> VectorLine:
    """A line ``left <= right`` about the gradients of two clients, of which one or both are selected."""
    settings = tuple(
        {**w, **_CONSTANTS, "B": B, "S": S}
        for w, B, S in ((_WEIGHTS, "1", "1"), (_WEIGHTS, "0", "2"), (_FEW, "2", "2"))
    )
    return VectorLine(
        partial(_compared, _gradients, left, "<=", right), settings, "two clients, two lags, these weights and B"
    )


def _one_of_five(values: Values) -> Sides:
    """Five clients at x_t = u_t = y2: gradients g_0, ..., g_4."""
    from theory.inequality.vectors import Space, square

    space = Space(tuple(f"g{i}" for i in range(5)))
    g = space.vectors_of()
    total = square(sum(g, space.zero()) / 5)
    every = sum((square(v) for v in g), space.constant(0)) / 5
    G, B = values["G"], values["B"]
    forms = {"one": square(g[0]), "four times": 4 * G**2 + 4 * B**2 * total}
    return space, forms, [(every <= G**2 + B**2 * total).named("dissimilarity")]


ONE_OF_FIVE = VectorLine(
    partial(_compared, _one_of_five, "one", "<=", "four times"), ({"G": "1", "B": "0"},), "five clients, no local step"
)

# --- sampling without replacement, Young, Lemma 4 --------------------------------------------------------------------


def _sampling(values: Values) -> Sides:
    """Three clients, S of them, all subsets."""
    from theory.inequality.vectors import Space, inner, square

    space = Space(("a0", "a1", "a2"))
    a = space.vectors_of()
    S = int(values["S"])
    subsets = list(combinations(a, S))
    drawn = sum((square(sum(c, space.zero()) / S) for c in subsets), space.constant(0)) / len(subsets)
    every = sum((square(v) for v in a), space.constant(0))
    cross = 2 * sum((inner(v, w) for v, w in combinations(a, 2)), space.constant(0))
    forms = {
        "drawn": drawn,
        "indicators": (Fraction(S * (S - 1), 6) * cross + Fraction(S, 3) * every) / S**2,
        "printed": square(sum(a, space.zero()) / 3) + every / (3 * S),
    }
    return space, forms, []


def sampling(relation: str, right: str) -> VectorLine:
    """The squared mean over S of three clients against `right`."""
    return VectorLine(
        partial(_compared, _sampling, "drawn", relation, right),
        tuple({"S": s} for s in ("1", "2", "3")),
        "three clients, S = 1, 2, 3",
    )


def _split(values: Values) -> Sides:
    """z = x_{k-1} - x_t; v = eta_l A grad + sum alpha delta, of the weights A, a and b; n the noise."""
    from theory.inequality.vectors import Space, square

    space = Space(("z", "h", "d0", "d1", "n"))
    z, h, d0, d1, n = space.vectors_of()
    k, a, b = values["k"], values["a"], values["b"]
    A = 1 - a - b
    v = A * h + a * d0 + b * d1
    forms = {
        "noisy": (square(z - v - A * n) + square(z - v + A * n)) / 2,
        "noise apart": square(z - v) + A**2 * square(n),
        "step": square(z - v),
        "Young": (1 + 1 / (2 * k - 1)) * square(z) + 2 * k * square(v),
        "move": square(v),
        "convex": A * square(h) + a * square(d0) + b * square(d1),
        "twice": 2 * square(z) + 2 * square(n),
        "sum": square(z + n),
    }
    return space, forms, []


def split(left: str, right: str) -> VectorLine:
    """A line ``left <= right`` about one local step; h is eta_l grad f_i(y2), n the noise times eta_l."""
    return VectorLine(
        partial(_compared, _split, left, "<=", right),
        tuple({"k": k, "a": "1/2", "b": "1/4"} for k in ("1", "2", "7")),
        "k = 1, 2, 7, two lags, noise of two outcomes",
    )
