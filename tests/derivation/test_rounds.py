"""A round unfolded, E of its draws taken exactly, is worth what the exact law of a run says."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from tests.derivation.exact import Numbers, law_of
from tests.rounds import batched, chosen, loopless, served
from tests.rounds import sgd as sampled
from tests.shares import share
from theory import algorithm, claim
from theory.claim import Claim
from theory.derivation.polynomials import RejectedError
from theory.derivation.reading import PLAIN, Reader, finest
from theory.derivation.rounds import Rounds
from theory.operations import to_fraction
from theory.sentence import evaluate, parse_expression
from validate.both_sides import World, words_of
from validate.instances import read_instance

F = Fraction


@algorithm(x="x0", z="each grad(f_n, x0)")
def twice(w, x, z, *, eta):
    i = w.sample()
    g = w.gradient(x, i)
    return x - eta * w.mean(g - w.gradient(0 * x, i) + z), z + g


@algorithm
def chosen_again(w, x, *, eta, S):
    return x - eta * w.average(w.gradient(x, w.sample()), w.choose(S, replace=True))


@algorithm(x="x0", c="each 0")
def where_chosen(w, x, c, *, eta, S):
    active = w.choose(S)
    g = w.gradient(x)
    return x - eta * w.average(g - c, active), w.where(active, g, c)


@algorithm
def coined(w, x, *, eta, p):
    return x - eta * w.mean(w.coins(p) / p * w.gradient(x, w.sample()))


@algorithm(x="each x0", h="each 0")
def skipping(w, x, h, *, eta, p):
    moved = x - eta * (w.gradient(x) - h)
    after = w.where(w.coin(p), w.each(w.mean(moved - eta / p * h)), moved)
    return after, h + p / eta * (after - moved)


@algorithm
def kept(w, x, *, eta, m):
    return x - eta * w.mean(w.keep(w.gradient(x, w.sample()), m))


@algorithm(x="x0", h="each 0")
def remembered(w, x, h, *, eta, m):
    moved = w.keep(w.gradient(x) - h, m)
    return x - eta * w.mean(h + moved), h + w.keep(moved, m)


@algorithm
def local(w, x, *, eta, H):
    y = w.each(x)
    for _ in w.repeat(H):
        w.tap("y", y)
        y = y - eta * w.gradient(y, w.sample())
    w.tap("last", y)
    return w.mean(y)


@algorithm
def local_chosen(w, x, *, eta, S, H):
    active = w.choose(S)
    y = w.each(x)
    for h in w.repeat(H):
        w.tap("y", y)
        y = y - eta / (h + 1) * w.gradient(y)
    w.tap("last", y)
    return x + w.average(y - x, active)


@algorithm
def drawn_before(w, x, *, eta, H):
    i = w.sample()
    y = w.each(x)
    for _ in w.repeat(H):
        w.tap("y", y)
        y = y - eta * w.gradient(y, i)
    w.tap("last", y)
    return w.mean(y) + eta * w.mean(w.gradient(x, i))


@algorithm
def adding(w, x, *, eta, S, H):
    """What a loop adds up is shown by no tap in it."""
    active = w.choose(S)
    y, added = w.each(x), w.each(0 * x)
    for h in w.repeat(H):
        w.tap("y", y)
        w.tap("chosen", w.average(w.gradient(2 * y), active))
        g = w.gradient(2 * y, w.sample())
        w.tap("g", g)
        added = added + g / (h + 1)
        y = y - eta * g
    w.tap("last", y)
    w.tap("moved", w.average(added, active))
    return w.average(y, active)


@algorithm(x="x0", past="J times x0")
def inertial(w, x, past, *, eta, alpha):
    new = x - w.combine(alpha, past) - eta * w.mean(w.gradient(x, w.sample()))
    return new, w.shift(past, x - new)


@algorithm
def two_turns(w, x, *, eta):
    y = x
    for _ in w.repeat(2):
        y = y - eta * w.mean(w.gradient(x, w.sample()))
    return y


SAMPLES = [
    [(((F(2), F(1)), (F(1), F(3))), (F(1), F(-1)), F(1)), (((F(1), F(0)), (F(0), F(2))), (F(0), F(2)), F(0))],
    [(((F(1), F(-1)), (F(-1), F(4))), (F(2), F(1)), F(-1))],
]
THIRD = [[(((F(3), F(0)), (F(0), F(1))), (F(-1), F(1, 2)), F(2))]]
X0 = (F(1, 2), F(-2))
SERVER = (
    "E(norm2(x[k+1] - x0))",
    "E(dot(x[k+1], grad(f, x[k])))",
    "norm2(E(x[k+1]))",
    "E(norm2(x[k+1] - E(x[k+1])))",
    "mean_n(norm2(E(x[k+1] - grad(f_n, x[k]))))",
    "E(f(x[k]) + norm2(mean_n(mean_i(x[k+1] - grad(f_ni, x[k])))))",
)
CASES: list[tuple[Any, dict[str, Any], tuple[str, ...]]] = [
    (sampled, {"eta": "1/2"}, SERVER),
    (batched, {"eta": "1/2", "b": 2}, SERVER),
    (
        twice,
        {"eta": "1/2"},
        (*SERVER, "E(dot(x[k+1], mean_n(z[k+1])))", "E(norm2(z[k+1] - x[k+1]))", "E(norm2(z[k+1]))"),
    ),
    (chosen, {"eta": "1/2", "S": 1}, SERVER),
    (chosen, {"eta": "1/2", "S": 2}, SERVER),
    (chosen_again, {"eta": "1/2", "S": 2}, SERVER),
    (
        where_chosen,
        {"eta": "1/2", "S": 2},
        (*SERVER, "E(norm2(c[k+1]))", "E(dot(c[k+1], x[k+1]))", "E(norm2(mean_n(c[k+1])))", "E(f_n(c[k+1]))"),
    ),
    (coined, {"eta": "1/2", "p": "1/3"}, SERVER),
    (
        loopless,
        {"eta": "1/2", "p": "1/3"},
        (*SERVER, "E(dot(x[k+1], s[k+1]))", "E(norm2(grad(f_ni, s[k+1])))", "E(f(s[k+1]) * f(s[k+1]))", "E(f(x[k+1]))"),
    ),
    (
        skipping,
        {"eta": "1/2", "p": "1/3"},
        ("E(norm2(x[k+1] - x0))", "E(dot(x[k+1], h[k+1]))", "E(norm2(mean_n(h[k+1])))", "E(mean_n(norm2(h[k+1])))"),
    ),
    (kept, {"eta": "1/2", "m": 1}, SERVER[:4]),
    (
        remembered,
        {"eta": "1/2", "m": 1},
        ("E(norm2(x[k+1]))", "E(dot(h[k+1], x[k]))", "norm2(E(h[k+1]))", "E(norm2(h[k+1]))"),
    ),
    (served, {"eta": "1/2", "m": 1}, SERVER),
    (
        local,
        {"eta": "1/2", "H": 2},
        ("E(norm2(x[k+1] - x0))", "E(norm2(y[k,h+1]))", "E(dot(y[k,h+1], mean_n(y[k,h+1])))"),
    ),
    (
        local_chosen,
        {"eta": "1/2", "H": 2, "S": 1},
        ("E(norm2(x[k+1] - x0))", "E(norm2(y[k,h+1]))", "E(dot(x[k+1], x[k]))"),
    ),
    (two_turns, {"eta": "1/2"}, SERVER),
    (
        inertial,
        {"eta": "1/2", "alpha": ["1/3", "1/2", "2"]},
        (
            *SERVER[:4],
            "E(norm2(past[k+1, 0]))",
            "E(norm2(past[k+1, 2] - past[k, 1]))",
            "sum_j(alpha_j*E(dot(past[k, j], x[k+1])))",
            "E(norm2(x[k+1] - x[k] + sum_h(alpha_h*past[k, h])))",
            "sum_j(sum_h(max(0, min(1, h + 1 - j))*alpha_h)*E(norm2(past[k, j])))",
        ),
    ),
    *(
        (
            adding,
            {"eta": "1/2", "S": S, "H": 2},
            (
                "E(norm2(moved[k]))",
                "E(norm2(moved[k] - sum_h(chosen[k, h]/(h + 1))))",
                "E(dot(moved[k] - x[k], chosen[k, h]))",
                "E(norm2(chosen[k, h]))",
            ),
        )
        for S in (1, 2)
    ),
]


def read(algorithm_: Any, parameters: dict[str, Any], texts: Any, samples: Any, k: int) -> None:
    """The unfolded normal forms at a round, and the exact values, at all free indices."""
    loops = {tap: depth for tap, (_, depth) in algorithm_.program.taps.items()}
    rounds = k + 1
    problem = {
        "clients": [
            [{"H": [[str(x) for x in row] for row in H], "b": list(map(str, b)), "c": str(c)} for H, b, c in own]
            for own in samples
        ]
    }
    instance = read_instance(
        {"problem": problem, "start": list(map(str, X0)), "rounds": rounds, "parameters": parameters}, algorithm_
    )
    turns = int(parameters.get("H", 0))
    law = law_of(instance, {tap: turns if depth else 0 for tap, depth in loops.items()})
    for _, outcome in law:  # what a loop hands on after its last turn
        for key, value in list(outcome.items()):
            if key[0] == "last":
                outcome["y", (*key[1], turns)] = value
    given = {name: tuple(map(F, v)) if isinstance(v, list) else F(str(v)) for name, v in parameters.items()}
    lags = {"J": F(len(given["alpha"]))} if "alpha" in given else {}
    numbers = Numbers({**given, **lags}, samples, {"x0": X0}, law, rounds)
    words = words_of(instance)
    world = World(instance, given, words)
    for text in texts:
        c: Claim = claim("c", f"{text} >= 0*norm2(x0)", of=algorithm_, parameters={})
        e = parse_expression(text)
        reader = Reader(c, finest(c, [e]))
        reader.rounds = Rounds(reader)
        q = reader.value(e, replace(PLAIN, unfold=True))
        for n in range(len(samples)):
            for i in range(len(samples[n])):
                at = {"n": n, "i": i, "k": k, "h": 0}
                assert numbers.value(q, at) == to_fraction(evaluate(e, world, at, words)), (text, n, i)


@pytest.mark.parametrize(
    ("algorithm_", "parameters", "texts"), share(CASES, 2), ids=lambda v: getattr(v, "__name__", None)
)
@pytest.mark.parametrize(
    ("samples", "k"),
    [pytest.param(SAMPLES, 1, id="2"), pytest.param([*SAMPLES, *THIRD], 0, id="3", marks=pytest.mark.slow)],
)
def test_an_unfolded_round_is_worth_what_its_law_says(
    algorithm_: Any, parameters: Any, texts: Any, samples: Any, k: int
) -> None:
    read(algorithm_, parameters, texts, samples, k)


@pytest.mark.parametrize(
    ("algorithm_", "text"),
    [
        (drawn_before, "E(norm2(x[k+1]))"),  # what the loop hands on hangs on the sample beside it
        (sampled, "E(dot(x[k+1], grad(f, x[k+1])))"),
        (sampled, "E(norm2(sum_k(x[k+1] - x[k])))"),  # draws of two rounds, which may be the same
        (sampled, "E(norm2(x[k+1])*norm2(x[k+1])*norm2(mean_n(x[k+1])))"),
    ],
)
def test_what_is_not_averaged(algorithm_: Any, text: str) -> None:
    c = claim("c", f"{text} >= 0*norm2(x0)", of=algorithm_)
    e = parse_expression(text)
    reader = Reader(c, finest(c, [e]))
    reader.rounds = Rounds(reader)
    with pytest.raises(RejectedError):
        reader.value(e, replace(PLAIN, unfold=True))
