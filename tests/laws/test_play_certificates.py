"""Independent eyes: the verifier's interpreter agrees with a plain walk through the program, for every primitive."""

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from tests.rounds import batched as batches
from tests.rounds import chosen_twice, gossip
from tests.validate import plays
from theory.claim import claim
from theory.formula import Name, Number
from theory.program import DRAWS, OPERATIONS, algorithm
from theory.sentence import At, parse_sentence, parts
from validate.certificate import play_certificate, verify
from validate.verifier import FormatError
from validate.verifier.sentences import read_sentence

TWO = {
    "clients": [
        [{"H": [[2, 1], [1, 3]], "b": [1, 0]}, {"H": [[1, 0], [0, "1/2"]], "b": [0, -1], "c": 1}],
        [{"H": [[1, "-1/2"], ["-1/2", 1]], "b": [-1, 2]}],
    ]
}
ONE = {
    "clients": [
        [{"h": 1, "b": 1}, {"h": "1/2", "b": -1}],
        [{"h": 2, "a": 1}, {"h": 1, "a": "-1/2"}],
        [{"h": 3, "b": 0}],
    ]
}
W = [["1/2", "1/2"], ["1/2", "1/2"]]


@algorithm
def without_replacement(w: Any, x: Any, *, eta: Any) -> Any:
    i = w.sample(1, replace=False)
    return x - eta * w.mean(w.gradient(x, i) - w.gradient(2 * x, i))


@algorithm(x="x0", c="each grad(f_n, x0)")
def controlled(w: Any, x: Any, c: Any, *, eta: Any, eta_g: Any, H: Any, S: Any) -> Any:
    active = w.choose(S)
    cbar = w.mean(c)
    y = w.each(x)
    for h in w.repeat(H):
        w.tap("y", y)
        y = y - eta / (1 + h) * (w.gradient(y, w.sample()) - c + cbar)
    plus = c - cbar + (x - y) / (H * eta)
    return x + eta_g * w.average(y - x, active), w.where(active, plus, c)


@algorithm
def coins(w: Any, x: Any, *, eta: Any, p: Any) -> Any:
    mask = w.coins(p)
    return x - eta * w.average(w.gradient(x), mask) - eta * w.coin(p) * w.sum(w.gradient(x)) + w.mean(mask * x) / 7


@algorithm
def delayed(w: Any, x: Any, *, eta: Any, tau: Any, H: Any) -> Any:
    y = w.each(x)
    for h in w.repeat(H):
        for h2 in w.repeat(2):
            y = y - eta * (1 + h - h2 / 3) * w.before(h, tau) * w.gradient(y)
    return w.mean(y)


@algorithm
def noisy(w: Any, x: Any, *, eta: Any, sigma2: Any) -> Any:
    return x - eta * w.full_gradient(x) + eta * w.mean(w.noise(sigma2 / (1 + w.k)))


@algorithm(x="x0", e="each 0")
def compressed(w: Any, x: Any, e: Any, *, eta: Any, m: Any) -> Any:
    moved = e + eta * w.gradient(x)
    kept = w.top(moved, m)
    return x - w.mean(kept) + w.keep(x, m) / 9 + w.mean(w.keep(e, m)) / 11, moved - kept


@algorithm
def proximal(w: Any, x: Any, *, t: Any) -> Any:
    return w.mean(w.prox(x - w.ones() / 2, t))


@algorithm
def coordinates(w: Any, x: Any, *, eta: Any) -> Any:
    g = w.full_gradient(x)
    step = w.times(g, w.sign(g)) + w.ones()
    return x - eta * w.larger(w.over(g, step), w.times(x, x) / 5 - w.ones())


@algorithm
def rooted(w: Any, x: Any, *, eta: Any, G: Any) -> Any:
    g = w.clip(w.gradient(x), G)
    return w.project(x - eta / w.sqrt(1 + w.k) * w.mean(g) + w.sqrt(w.times(x, x)) / (3 + w.norm(x)), 5)


@algorithm(x="x0", old="J times x0")
def remembering(w: Any, x: Any, old: Any, *, eta: Any, alpha: Any) -> Any:
    return w.combine(alpha, old) - eta * w.full_gradient(x), w.shift(old, x - eta * w.full_gradient(x))


@algorithm(x="each x0", old="each J times grad(f_n, x0)")
def remembering_each(w: Any, x: Any, old: Any, *, eta: Any, alpha: Any) -> Any:
    return w.mean(x) - eta * w.combine(alpha, old), w.shift(old, w.gradient(x))


@algorithm(x="x0", t="table grad(f_ni, x0)")
def saga(w: Any, x: Any, t: Any, *, eta: Any) -> Any:
    i = w.sample()
    fresh = w.gradient(x, i)
    return x - eta * w.mean(fresh - w.get(t, i) + w.get(t)), w.put(t, i, fresh) + t / 8 - t / 8


@algorithm
def one_after_another(w: Any, x: Any, *, eta: Any) -> Any:
    def turn(v: Any, one: Any) -> Any:
        one.tap("v", v)
        g = one.gradient(v, one.sample())
        return v - eta * g - one.coin(eta) * one.noise(eta) / 3 - one.prox(v, eta) / 5

    return w.visit(x, turn)


@algorithm
def each_in_random_order(w: Any, x: Any, *, eta: Any) -> Any:
    return w.mean(w.pass_over(w.each(x), lambda v, i: v - eta * w.gradient(v, i)))


@algorithm
def both_orders(w: Any, x: Any, *, eta: Any) -> Any:
    return w.visit(x, lambda v, one: one.pass_over(v, lambda u, i: u - eta * one.gradient(u, i)))


@algorithm(x="x0", z="xstar")
def from_the_minimiser(w: Any, x: Any, z: Any, *, eta: Any) -> Any:
    return x - eta * w.full_gradient(z + x), z + w.where(w.coin(eta), x, z) / 4


def tree(node: Any) -> Any:
    """A tree of the verifier's reader, in the shape of `theirs`."""
    if node.op == "number":
        return node.value
    if node.op == "name":
        return node.name
    op = f"at {node.name}" if node.op == "at" else f"grad {node.name}" if node.op == "grad" else node.op
    return (op, *map(tree, node.args))


def theirs(e: Any) -> Any:
    """A tree of `theory.sentence`."""
    if isinstance(e, Number):
        return e.value
    if isinstance(e, Name):
        return e.name
    return (f"at {e.name}" if isinstance(e, At) else e.operation, *map(theirs, parts(e)))


def some_text(rng: random.Random, depth: int) -> str:
    """A random formula, with few brackets."""
    if depth == 0 or rng.random() < 0.15:
        return rng.choice(
            ["2", "1.5", ".5", "3e-2", "eta", "p_n", "k", "N", "x0", "xstar_n", "fstar", "x[k+1]", "y[k, h]"]
        )
    one, two = some_text(rng, depth - 1), some_text(rng, depth - 1)
    forms = [f"{one} {rng.choice(['+', '-', '*', '/', '**'])} {two}"] * 8 + [
        f"({one})",
        f"-{one}",
        f"+{one}",
        f"- -{one}",
    ]
    forms += [f"{rng.choice(['sqrt', 'norm2', 'E', 'mean_n', 'sum_k', 'f_n', 'max_i', 'abs'])}({one})"]
    forms += [f"{rng.choice(['min', 'max', 'dot'])}({one}, {two})", f"grad(f_ni, {one})", f"x[{one}]"]
    return rng.choice(forms)


NORM = "E(norm2(x[k])) <= 0"
NORMS = "mean_n(E(norm2(x[k]))) <= 0"
TAPPED = "E(norm2(y[k, h]) + dot(c[k], x[k])) + norm2(E(x[1])) <= -1000"
TURNS = "mean_h(mean_n(E(norm2(y[k, h])))) <= E(f(x[K])) - 100"
ROUNDS = "norm2(E(mean_k(x[k])) - x0) <= 0"
DELAYS = "E(norm2(x[k])) <= max_n(tau_n) - 3"
STEPS = "E(norm2(x[k+1])) <= eta_k - 100*E(norm2(x[k+1])**2)"
LOCAL = {"eta": "1/3", "eta_g": "1/2", "H": 2, "S": 1}
Case = tuple[Any, dict[str, Any], dict[str, Any], str, dict[str, int], int, dict[str, Any]]
CASES: list[Case] = [
    (batches, {"eta": "1/3", "b": 2}, TWO, NORM, {"k": 1}, 1, {}),
    (without_replacement, {"eta": "1/3"}, TWO, NORM, {"k": 2}, 2, {}),
    (controlled, LOCAL, TWO, "E(norm2(x[k+1] - x[k])) <= 0", {"k": 1}, 2, {}),
    (controlled, LOCAL, TWO, TAPPED, {"k": 1, "h": 1, "n": 0}, 2, {}),
    (controlled, {**LOCAL, "S": 2}, TWO, TURNS, {"k": 0}, 1, {}),
    (controlled, {**LOCAL, "H": 1, "S": 2}, TWO, ROUNDS, {}, 2, {}),
    (chosen_twice, {"eta": "1/3", "S": 2}, ONE, NORM, {"k": 2}, 2, {}),
    (coins, {"eta": "1/3", "p": "1/4"}, ONE, NORM, {"k": 1}, 1, {}),
    (delayed, {"eta": "1/9", "tau": [1, 2, 3], "H": 3}, ONE, DELAYS, {"k": 1}, 1, {}),
    (noisy, {"eta": {"k": ["1/3", "1/5"]}, "sigma2": 4}, ONE, STEPS, {"k": 1}, 2, {}),
    (noisy, {"eta": "1/3", "sigma2": 3}, TWO, "E(norm2(x[k])**2) <= 0", {"k": 1}, 1, {}),
    (gossip, {"eta": "1/3", "W": W}, TWO, NORMS, {"k": 2}, 2, {}),
    (compressed, {"eta": "1/3", "m": 1}, TWO, NORM, {"k": 2}, 2, {}),
    (proximal, {"t": "1/3"}, TWO, "norm2(x[k]) <= 0", {"k": 2}, 2, {}),
    (coordinates, {"eta": "1/3"}, TWO, "norm2(x[k]) <= 0", {"k": 3}, 3, {}),
    (remembering, {"eta": "1/3", "alpha": ["1/2", "1/4", "1/4"]}, TWO, "norm2(x[k]) <= 0", {"k": 3}, 3, {}),
    (remembering_each, {"eta": "1/3", "alpha": ["1/2", "1/4"]}, TWO, "mean_n(norm2(x[k])) <= 0", {"k": 3}, 3, {}),
    (saga, {"eta": "1/3"}, TWO, "E(norm2(x[k]) + mean_n(mean_i(norm2(t[k])))) <= 0", {"k": 2}, 2, {}),
    (one_after_another, {"eta": "1/3"}, TWO, "E(norm2(x[k]) + norm2(v[0, h])) <= 0", {"k": 1, "h": 1}, 1, {}),
    (each_in_random_order, {"eta": "1/3"}, ONE, NORM, {"k": 2}, 2, {}),
    (both_orders, {"eta": "1/3"}, TWO, NORM, {"k": 1}, 1, {}),
    (from_the_minimiser, {"eta": "1/3"}, TWO, "E(norm2(x[k])) <= fstar - 100", {"k": 2}, 2, {}),
    (batches, {"eta": "1/3", "b": 1}, ONE, "norm2(x[k] - xstar) <= norm2(x0 - xstar)/100", {"k": 2}, 2, {}),
]  # fmt: skip


def certificate(case: Case, left: Any, right: Any) -> dict[str, Any]:
    program, parameters, problem, statement, at, rounds, constants = case
    d = 2 if problem is TWO else 1
    instance = {"parameters": parameters, "problem": problem, "start": [1, "-1/2"][:d], "rounds": rounds}
    made = claim("c", statement, of=program)
    return play_certificate(made, instance, at, left, right, origin="given", quick=False, constants=constants)


@pytest.mark.parametrize("case", CASES, ids=[f"{i}-{case[0].name}" for i, case in enumerate(CASES)])
def test_both_sides_are_those_of_a_plain_walk(case: Case) -> None:
    left, right = plays.sides(certificate(case, 0, 0))
    assert left > right
    true = certificate(case, left, right)
    report = verify(true)
    assert report.valid, report
    for name in ("left", "right"):
        other = {**true, name: str(Fraction(true[name]) + Fraction(1, 10**9))}
        assert not verify(other).valid


def test_the_two_readers_of_sentences_read_the_same() -> None:
    rng = random.Random(5)
    read = refused = 0
    for _ in range(3_000):
        text = f"{some_text(rng, 4)} {rng.choice(['<=', '<', '==', '>=', '>'])} {some_text(rng, 3)}"
        if rng.random() < 0.3:
            place = rng.randrange(len(text))
            text = text[:place] + rng.choice("()[]*-+,<= 0k") + text[place + rng.randrange(2) :]
        try:
            ours = read_sentence(text, "a text")
        except FormatError:
            refused += 1
            continue  # the verifier may refuse more
        other = parse_sentence(text)
        assert (tree(ours.left), ours.relation, tree(ours.right)) == (
            theirs(other.left),
            other.relation,
            theirs(other.right),
        ), text
        read += 1
    assert read > 1_000
    assert refused > 100


def test_every_operation_is_among_the_cases() -> None:
    played: set[str] = set()
    for program, *_ in (*CASES, ROOTED):
        played |= program.program.operations
    assert played == OPERATIONS
    assert played >= DRAWS


ROOTED: Case = (rooted, {"eta": "1/3", "G": "1/2"}, TWO, "norm(x[k]) <= sqrt(k)/exp(2) + log(k) - 1", {"k": 2}, 3, {})


def test_roots_are_enclosed() -> None:
    left, right = plays.sides(certificate(ROOTED, 0, 0))
    assert left > right
    # float64 and a run of three rounds: the sides are right to twelve digits
    near: Callable[[float], tuple[Fraction, Fraction]] = lambda v: (  # noqa: E731
        Fraction(v) - Fraction(1, 10**10),
        Fraction(v) + Fraction(1, 10**10),
    )
    assert verify(certificate(ROOTED, near(left), near(right))).valid
    off = (Fraction(left) + Fraction(1, 10**9), Fraction(left) + Fraction(2, 10**9))
    assert not verify(certificate(ROOTED, off, near(right))).valid
