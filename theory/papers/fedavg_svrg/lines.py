"""The lines of fedavg-svrg's proofs that speak of vectors, for small numbers of clients, snapshots, steps and samples.

Expectations over the participation are sums over its outcomes. What is said of the substituted gradients v is said for
every value of them, so it holds in expectation over the samples too; only where a line is to be refuted are they the
gradients of a run (of clients with one sample each, so that v is the client's gradient), so that the counterexample is
one of the algorithm. `theory.inequality.vectors` is imported when a line is built.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

from theory.claim import VectorLine

if TYPE_CHECKING:
    from theory.inequality.vectors import Condition, Form, Space, Vector

Values: TypeAlias = Mapping[str, Fraction]
Built: TypeAlias = "tuple[Space, Condition, list[Condition]]"
Expressions: TypeAlias = "tuple[Space, list[Form], list[Condition]]"

OTHER_SMOOTHNESS = 16  # in units of L, of samples of which nothing is assumed: what is refuted has functions


def _compared(expressions: Callable[[Values], Expressions], left: int, relation: str, right: int) -> Callable[..., Any]:
    """The line ``expressions[left] relation expressions[right]``, to be built from values."""
    return partial(_compare, expressions, left, relation, right)


def _compare(
    expressions: Callable[[Values], Expressions], left: int, relation: str, right: int, values: Values
) -> Built:
    space, forms, given = expressions(values)
    gap = forms[left] - forms[right]
    return space, (gap.equals(0) if relation == "=" else gap <= 0), given


def _total(forms: list[Form], space: Space) -> Form:
    return sum(forms, space.constant(0))


def _added(vectors: list[Vector], space: Space) -> Vector:
    return sum(vectors, space.zero())


def _participation(chances: list[Fraction]) -> list[tuple[Fraction, tuple[int, ...]]]:
    """Every outcome of independent draws: its probability, and who takes part."""
    outcomes = []
    for taken in product((0, 1), repeat=len(chances)):
        probability = Fraction(1)
        for p, i in zip(chances, taken, strict=True):
            probability *= p if i else 1 - p
        outcomes.append((probability, taken))
    return outcomes


def _chances(values: Values) -> list[Fraction]:
    return [values[f"p{n + 1}"] for n in range(int(values["N"]))]


# --- Theorem V.1 -----------------------------------------------------------------------------------------------------


def _descent(values: Values) -> Built:
    """(A.18): f the mean of N L-smooth functions, two values of theta^{k+1} with probabilities q and 1-q."""
    from theory.inequality.interpolation import smooth
    from theory.inequality.vectors import Space, inner, mean, square

    N, L, q = int(values["N"]), values["L"], values["q"]
    names = [f"g{n}({x})" for n in range(N) for x in range(3)]
    space = Space(("d1", "d2", *names), tuple(f"f{n}({x})" for n in range(N) for x in range(3)))
    moved = [space.zero(), space.vector("d1"), space.vector("d2")]
    given = []
    for n in range(N):
        points = [(moved[x], space.vector(f"g{n}({x})"), space.value(f"f{n}({x})")) for x in range(3)]
        given += smooth(space, points, L, f"f{n}")
    cost = [_total([space.value(f"f{n}({x})") for n in range(N)], space) / N for x in range(3)]
    gradient = _added([space.vector(f"g{n}(0)") for n in range(N)], space) / N
    chances = (q, 1 - q)
    left = q * cost[1] + (1 - q) * cost[2]
    second = q * square(moved[1]) + (1 - q) * square(moved[2])
    return space, left <= cost[0] + inner(gradient, mean(chances, moved[1:])) + L / 2 * second, given


DESCENT = VectorLine(
    _descent,
    ({"N": "1", "L": "1", "q": "1/2"}, {"N": "2", "L": "1", "q": "1/3"}),
    "one or two clients, two outcomes; every L by scaling f",
)


def _server_update(values: Values) -> Built:
    """(A.19): Algorithm 1 carried out on one outcome of the participation, against the printed sum."""
    from theory.inequality.vectors import Space, square

    N, S, M, delta = (int(values["N"]), int(values["S"]), int(values["M"]), values["delta"])
    steps = list(product(range(S), range(M)))
    space = Space(("theta", *(f"v{n},{s},{m}" for n in range(N) for s, m in steps)))
    theta = space.vector("theta")
    update, printed = space.zero(), space.zero()
    for n, p in enumerate(_chances(values)):
        w = theta
        for s, m in steps:
            w = w - delta * space.vector(f"v{n},{s},{m}")
        if values[f"i{n + 1}"]:
            update = update + (w - theta) / (N * p)
            printed = printed - (delta / (N * p)) * _added([space.vector(f"v{n},{s},{m}") for s, m in steps], space)
    return space, square(update - printed).equals(0), []


UPDATE = VectorLine(
    _server_update,
    (
        {"N": "1", "S": "1", "M": "1", "delta": "1/2", "p1": "1/2", "i1": "1"},
        {"N": "2", "S": "2", "M": "2", "delta": "1/3", "p1": "1/2", "p2": "1/3", "i1": "1", "i2": "1"},
    ),
    "up to two clients, two snapshots and two steps, in rounds in which all take part",
)


# --- Lemma A.1 -------------------------------------------------------------------------------------------------------


def _aggregates(values: Values) -> Expressions:
    """The six expressions of Lemma A.1's proof, then both sides of (A.16)."""
    from theory.inequality.vectors import Space, square

    N, S, M = int(values["N"]), int(values["S"]), int(values["M"])
    chances = _chances(values)
    space = Space(tuple(f"v{n},{s},{m}" for n in range(N) for s in range(S) for m in range(M)))

    def v(n: int, s: int, m: int) -> Vector:
        return space.vector(f"v{n},{s},{m}")

    snapshot = [[_added([v(n, s, m) for m in range(M)], space) for s in range(S)] for n in range(N)]
    client = [_added(parts, space) for parts in snapshot]
    whole, apart = [], []
    for probability, taken in _participation(chances):
        shares = [client[n] * (Fraction(taken[n]) / chances[n]) for n in range(N)]
        whole.append(square(_added(shares, space)) * probability)
        apart += [square(share) * (N * probability) for share in shares]
    weight = [p / p**2 for p in chances]
    forms = [
        _total(whole, space),
        _total(apart, space),
        _total([square(client[n]) * (N * weight[n]) for n in range(N)], space),
        _total([square(part) * (N * S * weight[n]) for n in range(N) for part in snapshot[n]], space),
    ]
    for factor in (weight, [1 / p for p in chances]):
        terms = [square(v(n, s, m)) * (N * S * M * factor[n]) for n in range(N) for s, m in product(range(S), range(M))]
        forms.append(_total(terms, space))
    scale = values.get("delta", Fraction(1)) ** 2 * values.get("L", Fraction(1)) / (2 * N**2)
    return space, [*forms, forms[0] * scale], []


_A1_SETTINGS = (
    {"N": "1", "S": "2", "M": "2", "p1": "1/2"},
    {"N": "2", "S": "2", "M": "2", "p1": "1/2", "p2": "1/3"},
)
_A1_SCOPE = "up to two clients, two snapshots and two steps, all substituted gradients"


def aggregate(left: int, relation: str, right: int) -> VectorLine:
    """A line of Lemma A.1's proof between its expressions number `left` and `right` (from 0)."""
    return VectorLine(_compared(_aggregates, left, relation, right), _A1_SETTINGS, _A1_SCOPE)


AGGREGATE_AS_STATED = VectorLine(
    _compared(_aggregates, 6, "<=", 5),
    ({"N": "1", "S": "1", "M": "1", "p1": "1", "delta": "2", "L": "1"},),
    "one client, one step, where the only substituted gradient is the client's gradient",
)


# --- Lemma A.2 -------------------------------------------------------------------------------------------------------


def _inner_products(values: Values) -> Expressions:
    """The ten expressions of Lemma A.2's proof, at (s, m)."""
    from theory.inequality.interpolation import smooth
    from theory.inequality.vectors import Space, inner, square

    N, M, s, m = (int(values[name]) for name in ("N", "M", "s", "m"))
    L, delta = values["L"], values["delta"]
    done = s * M + m  # steps since the round began
    of_a_run = bool(values.get("run", 0))
    if of_a_run:  # one sample a client: v_t is the gradient at w_t, and the last one is the gradient at w_{n,s,m}
        names = [f"v{n},{t}" for n in range(N) for t in range(done + 1)]
        space = Space(tuple(names), tuple(f"f{n},{t}" for n in range(N) for t in range(done + 1)))
    else:
        names = [f"v{n},{t}" for n in range(N) for t in range(done)]
        space = Space((*names, *(f"g{n}" for n in range(N)), *(f"h{n}" for n in range(N))))
    steps = [[space.vector(f"v{n},{t}") for t in range(done)] for n in range(N)]
    moved = [delta * _added(v, space) for v in steps]  # theta^k - w_{n,s,m}^k
    given: list[Condition] = []
    if of_a_run:
        start = [space.vector(f"v{n},0") for n in range(N)]
        end = [space.vector(f"v{n},{done}") for n in range(N)]
        for n in range(N):
            points = [
                (-delta * _added(steps[n][:t], space), space.vector(f"v{n},{t}"), space.value(f"f{n},{t}"))
                for t in range(done + 1)
            ]
            given += smooth(space, points, L, f"f{n}")
    else:
        start = [space.vector(f"g{n}") for n in range(N)]
        end = [space.vector(f"h{n}") for n in range(N)]
        for n in range(N):
            given.append((square(start[n] - end[n]) <= L**2 * square(moved[n])).named(f"smooth client {n}"))
    gradient, there = _added(start, space) / N, _added(end, space) / N
    norm = square(gradient)
    recent = [v[s * M :] for v in steps]  # those since the last snapshot
    apart = _total([square(g - h) for g, h in zip(start, end, strict=True)], space)
    differences = _added([g - h for g, h in zip(start, end, strict=True)], space) / N
    forms = [
        -delta * inner(gradient, there),
        -delta * inner(gradient, there - gradient + gradient),
        delta * inner(gradient, gradient - there) - delta * inner(gradient, gradient),
        delta / 2 * norm - delta * norm + delta / 2 * square(gradient - there),
        delta / 2 * norm - delta * norm + delta / 2 * square(differences),
        delta / (2 * N) * apart - delta / 2 * norm,
        delta * L**2 / (2 * N) * _total([square(x) for x in moved], space) - delta / 2 * norm,
        delta * L**2 / (2 * N) * _total([square(delta * _added(v, space)) for v in recent], space) - delta / 2 * norm,
        delta**3 * L**2 / (2 * N) * _total([square(_added(v, space)) for v in recent], space) - delta / 2 * norm,
        delta**3 * L**2 * (M - 1) / (2 * N) * _total([square(x) for v in recent for x in v], space) - delta / 2 * norm,
    ]
    return space, forms, given


def _at(N: int, M: int, s: int, m: int, **more: str) -> dict[str, str]:
    return {"N": str(N), "M": str(M), "s": str(s), "m": str(m), "L": "1", "delta": "1", **more}


_FIRST_SNAPSHOT = (_at(1, 2, 0, 1), _at(2, 3, 0, 2))
_ANY_SNAPSHOT = (*_FIRST_SNAPSHOT, _at(2, 2, 1, 1))
_A_RUN = _at(1, 1, 1, 0, run="1")  # the second snapshot, whose first step comes after one step of the first
_A2_SCOPE = "up to two clients, s = 0 and s = 1"


def inner_product(left: int, relation: str, right: int, *, drifts: bool = False) -> VectorLine:
    """A line of Lemma A.2's proof between its expressions number `left` and `right` (from 0).

    Args:
        left, relation, right: the line.
        drifts: whether it replaces the drift since theta^k by that since the last snapshot; it is then tried on a run.
    """
    settings = (*_FIRST_SNAPSHOT, _A_RUN) if drifts else _ANY_SNAPSHOT
    return VectorLine(_compared(_inner_products, left, relation, right), settings, _A2_SCOPE)


# --- Lemma V.1 -------------------------------------------------------------------------------------------------------


def _substituted(given_of: str, values: Values) -> Expressions:
    """The five expressions before (9), for one client with a few equally likely samples, and w_n* = 0.

    a_i, b_i, c_i are the gradients of sample i at w, at the snapshot u and at w_n*; the c_i sum to 0.
    """
    from theory.inequality.interpolation import smooth, smooth_convex, smooth_strongly_convex
    from theory.inequality.vectors import Space, square

    count, L, mu = int(values["samples"]), values["L"], values["mu"]
    indices = range(count)
    names = [f"{kind}{i}" for kind in "ab" for i in indices] + [f"c{i}" for i in indices[:-1]]
    space = Space(("w", "u", *names), tuple(f"f{i}({x})" for x in ("w", "u", "0") for i in indices))
    a, b = ([space.vector(f"{kind}{i}") for i in indices] for kind in "ab")
    c = [space.vector(f"c{i}") for i in indices[:-1]]
    c.append(-_added(c, space))
    share = Fraction(1, count)
    centre = _added(b, space) * share  # grad f_n(u)

    def average(vectors: list[Vector]) -> Form:
        return _total([square(x) * share for x in vectors], space)

    def cost(x: str) -> Form:
        return _total([space.value(f"f{i}({x})") for i in indices], space) * share

    given: list[Condition] = []
    places = ((space.vector("w"), a, "w"), (space.vector("u"), b, "u"), (space.zero(), c, "0"))
    if given_of in ("client", "samples"):
        points = [(x, _added(g, space) * share, cost(name)) for x, g, name in places]
        given += smooth_strongly_convex(space, points, mu, L, "f_n")
    for i in indices if given_of != "nothing" else ():
        points = [(x, g[i], space.value(f"f{i}({name})")) for x, g, name in places]
        if given_of == "strong samples":
            given += smooth_strongly_convex(space, points, mu, L, f"sample {i}")
        elif given_of == "samples":
            given += smooth_convex(space, points, L, f"sample {i}")
        elif i < count - 1:  # the last sample is what the client's function leaves
            given += smooth(space, points, OTHER_SMOOTHNESS * L, f"sample {i}")
    far = average([x - z for x, z in zip(a, c, strict=True)])
    near = average([y - z for y, z in zip(b, c, strict=True)])
    spread = average([y - z - centre for y, z in zip(b, c, strict=True)])
    estimator = average([x - y + centre for x, y in zip(a, b, strict=True)])
    forms = [
        estimator,
        2 * far + 2 * spread,
        2 * far + 2 * near - near,
        2 * far + 2 * near,
        4 * L * (cost("w") + cost("u") - 2 * cost("0")),
    ]
    return space, forms, given


def substituted(
    left: int,
    relation: str,
    right: int,
    *,
    given: str = "nothing",
    samples: tuple[int, ...] = (1, 2),
    mu: str = "1/4",
) -> VectorLine:
    """A line before (9) between expressions number `left` and `right` (from 0).

    Args:
        left, relation, right: the line.
        given: ``"nothing"``; ``"client"``, f_n mu-strongly convex and L-smooth, and the samples smooth with some other
            constant; ``"samples"``, every f_{n,i} convex and L-smooth besides; ``"strong samples"``, every f_{n,i}
            mu-strongly convex and L-smooth.
        samples: how many samples the client has.
        mu: modulus of strong convexity, L being 1.
    """
    settings = tuple({"samples": str(n), "L": "1", "mu": mu} for n in samples)
    scope = f"a client with {' or '.join(map(str, samples))} equally likely samples"
    return VectorLine(_compared(partial(_substituted, given), left, relation, right), settings, scope)
