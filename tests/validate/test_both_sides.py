"""Both sides of sentences: against values worked out by hand."""

import math
from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest

from tests.rounds import scaffold
from tests.rounds import sgd as parallel_sgd
from tests.validate.test_play import PLANE, TWO, instance
from theory.papers.algorithms import fedavg, gradient_descent, heavy_ball, proxskip
from theory.program import Algorithm, algorithm
from theory.sentence import SentenceError, parse_expression, parse_sentence
from validate.both_sides import Measured, as_printed, sides, words_of
from validate.instances import Instance, Schedule, read_instance
from validate.play import Play
from validate.rounds import TooManyOutcomesError

F = Fraction


def measured(text: str, one: Instance, where: Mapping[str, str] | None = None, **constants: Any) -> Measured:
    words = words_of(one, {name: parse_expression(formula) for name, formula in (where or {}).items()})
    return sides(parse_sentence(text), words, one, constants)


def lefts(text: str, one: Instance, **constants: Any) -> list[Any]:
    return [row.left for row in measured(f"{text} <= 0", one, **constants).rows]


SIMPLE = instance(gradient_descent, TWO, 5, 3, eta="1/4")
# f' = (f_1' + f_2')/2, f_1' = (3x - 6)/2, f_2' = (4x + 1)/2: f' = (7x - 5)/4, xstar = 5/7


# --- values ----------------------------------------------------------------------------------------------------------


def test_states_points_and_functions() -> None:
    x = [F(5)]
    for _ in range(3):
        x.append(x[-1] - (7 * x[-1] - 5) / F(16))
    star = F(5, 7)
    assert lefts("norm2(x[k] - xstar)", SIMPLE) == [(v - star) ** 2 for v in x]
    assert lefts("dot(x[k+1] - x[k], x0)", SIMPLE) == [5 * (b - a) for a, b in pairwise(x)]
    assert lefts("norm2(grad(f, x[k]))", SIMPLE) == [((7 * v - 5) / F(4)) ** 2 for v in x]
    assert lefts("f(x[k]) - fstar", SIMPLE) == [F(7, 8) * (v - star) ** 2 for v in x]
    assert lefts("norm(x[K] - x0)", SIMPLE) == [5 - x[3]]
    assert lefts("f_n(x0)", SIMPLE) == [F(25 + 2 * 4, 4), F(3 * 36 + 9, 4)]
    assert lefts("f_ni(x0)", SIMPLE) == [F(25, 2), 4, 54, F(9, 2)]
    assert lefts("norm2(grad(f_ni, xstar_n))", SIMPLE) == [4, 4, F(81, 16), F(81, 16)]
    assert lefts("mean_n(norm2(xstar_n))", SIMPLE) == [(4 + F(1, 16)) / 2]
    assert lefts("sum_i(1)", SIMPLE) == [2, 2]
    assert lefts("max_n(mean_i(f_ni(x0)))", SIMPLE) == [F(117, 4)]
    assert lefts("N + d + K + eta", SIMPLE) == [2 + 1 + 3 + F(1, 4)]
    assert lefts("0**k", SIMPLE) == [1, 0, 0, 0]
    assert lefts("sum_k(norm2(x[k]))/K - norm2(mean_k(x[k]))", SIMPLE) == [
        sum(v**2 for v in x[:3]) / 3 - (sum(x[:3]) / 3) ** 2
    ]
    assert lefts("max_k(norm2(x[k+1]))", SIMPLE) == [max(v**2 for v in x[1:])]


def test_free_k_is_every_round_of_which_the_sentence_speaks() -> None:
    @algorithm
    def one(w, x, *, eta):
        w.tap("g", w.full_gradient(x))
        return x - eta * w.full_gradient(x)

    run = instance(one, TWO, 5, 3, eta="1/4")
    for text, rounds in (
        ("norm2(x[k]) >= 0", [0, 1, 2, 3]),
        ("norm2(x[k+1]) >= 0", [0, 1, 2]),
        ("norm2(g[k]) >= 0", [0, 1, 2]),
        ("norm2(x[k+2] - g[k+1]) >= 0", [0, 1]),
        ("norm2(x[k-1]) >= 0", [1, 2, 3]),
        ("norm2(x[K-k]) >= 0", [0, 1, 2, 3]),
        ("norm2(g[K-k]) >= 0", [1, 2, 3]),
        ("k >= 0", [0, 1, 2, 3]),
    ):
        assert [row.at["k"] for row in measured(text, run).rows] == rounds
    assert [dict(row.at) for row in measured("norm2(x[K]) >= 0", run).rows] == [{}]
    assert measured("norm2(x[k+9]) >= 0", run).silent
    assert measured("sum_k(norm2(x[k+2])) >= 0", run).silent
    with pytest.raises(SentenceError, match="no integer"):
        measured("norm2(x[k/2]) >= 0", run)


def test_turns_of_loops() -> None:
    @algorithm
    def one(w, x, *, H):
        y = w.each(x)
        for h in w.repeat(H):
            w.tap("y", y)
            for j in w.repeat(h + 1):
                w.tap("z", y + j * w.ones())
            y = y + w.ones()
        return w.mean(y)

    run = instance(one, TWO, 0, 2, H=3)
    assert lefts("dot(mean_n(y[k, h]), x0 + x0)", run) == [0] * 6
    found = measured("norm(y[k, h]) == k*H + h", run)
    assert found.holds
    assert [tuple(row.at[i] for i in "nkh") for row in found.rows] == [
        (n, k, h) for n in (0, 1) for k in (0, 1) for h in range(3)
    ]
    assert measured("mean_n(norm(y[k, h+1] - y[k, h])) == 1", run).holds
    assert [row.at["h"] for row in measured("mean_n(norm(y[0, h+1])) >= 1", run).rows] == [0, 1]
    assert lefts("sum_h(mean_n(norm(y[k, h])))", run) == [3, 12]
    found = measured("mean_n(norm(z[k, h, j])) == k*H + h + j", run)
    assert found.holds
    assert [(row.at["h"], row.at["j"]) for row in found.rows if row.at["k"] == 1] == [
        (0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2),
    ]  # fmt: skip


def test_one_number_a_client_and_one_a_round() -> None:
    @algorithm
    def one(w, x, *, p, eta):
        return x - eta * w.average(w.gradient(x), w.coins(p))

    run = instance(one, TWO, 5, 2, p=["1/2", "1/4"], eta={"k": [1, "1/2"]})
    assert lefts("p_n", run) == [F(1, 2), F(1, 4)]
    assert lefts("sum_n(p_n)", run) == [F(3, 4)]
    assert lefts("p", run) == [F(1, 2), F(1, 4)]
    assert lefts("eta_k", run) == [1, F(1, 2)]
    assert lefts("eta", run) == [1, F(1, 2)]
    assert lefts("sum_k(eta_k)", run) == [F(3, 2)]
    assert lefts("q_n*L_n", run, q=(F(2), F(3)), L_n=(F(5), F(7))) == [10, 21]
    assert lefts("gamma_k", run, gamma=Schedule((F(3), F(4)))) == [3, 4]
    assert lefts("p_n", instance(one, TWO, 5, 2, p="1/2", eta=1)) == [F(1, 2), F(1, 2)]
    with pytest.raises(ValueError, match="eta="):
        lefts("eta", SIMPLE, eta=F(1))
    assert lefts("eta", SIMPLE, eta=F(1, 4)) == [F(1, 4)]
    with pytest.raises(SentenceError, match="mu has no value"):
        lefts("mu", SIMPLE)


def test_roots_are_enclosed_and_undefined_sides_are_counted() -> None:
    (row,) = measured("sqrt(2) <= 3/2", SIMPLE).rows
    assert row.status == "holds"
    assert abs(float(row.left) - math.sqrt(2)) < 1e-15
    assert (row.left**2).contains(2)
    assert row.right == F(3, 2)
    assert measured("sqrt(9/4) == 3/2", SIMPLE).holds
    found = measured("1/k <= 1", SIMPLE)
    assert [row.status for row in found.rows] == ["undefined", "holds", "holds", "holds"]
    assert found.holds
    assert "division by zero" in found.undefined[0].why
    assert not measured("sqrt(0 - 1) <= 1", SIMPLE).holds
    (row,) = measured("sqrt(2)*sqrt(2) == 2", SIMPLE).undecided
    assert row.why


def test_a_close_call_is_decided_at_a_higher_precision() -> None:
    # sqrt(2) is within 1e-100 of this fraction, and below it
    scale = 10**100
    above = F(math.isqrt(2 * scale**2) + 1, scale)
    assert measured("sqrt(2) < q", SIMPLE, q=above).holds
    assert measured("sqrt(2) > q", SIMPLE, q=above).broken


def test_every_relation() -> None:
    for relation, expected in (("<", "broken"), ("<=", "holds"), ("==", "holds"), (">=", "holds"), (">", "broken")):
        assert [row.status for row in measured(f"eta {relation} 1/4", SIMPLE).rows] == [expected]
    with pytest.raises(SentenceError, match="is a vector"):
        measured("x[k] == x0", SIMPLE)


# --- expectation -----------------------------------------------------------------------------------------------------

NOISY = instance(parallel_sgd, TWO, 5, 2, eta="1/4")


def paths() -> list[list[Fraction]]:
    found = [[F(5)]]
    for _ in range(2):
        found = [
            [*xs, xs[-1] - F(1, 8) * (a["h"] * (xs[-1] - a["a"]) + b["h"] * (xs[-1] - b["a"]))]
            for xs in found
            for a in TWO[0]
            for b in TWO[1]
        ]
    return found


def test_expectations() -> None:
    found = paths()

    def mean(values: list[Fraction]) -> Fraction:
        return sum(values, F(0)) / len(values)

    assert lefts("E(norm2(x[k]))", NOISY) == [mean([xs[k] ** 2 for xs in found]) for k in range(3)]
    assert lefts("norm2(E(x[k]))", NOISY) == [mean([xs[k] for xs in found]) ** 2 for k in range(3)]
    assert lefts("E(dot(x[k+1], x[k]))", NOISY) == [mean([xs[k] * xs[k + 1] for xs in found]) for k in range(2)]
    assert lefts("E(min_k(norm2(x[k+1])))", NOISY) == [mean([min(xs[1] ** 2, xs[2] ** 2) for xs in found])]
    assert lefts("E(max(norm2(x[1]), norm2(x[2])))", NOISY) == [mean([max(xs[1] ** 2, xs[2] ** 2) for xs in found])]
    assert lefts("E(f(mean_k(x[k+1])))", NOISY) == [
        mean([F(7, 8) * (sum(xs[1:]) / 2 - F(5, 7)) ** 2 for xs in found]) + F(lefts("fstar", NOISY)[0])
    ]
    assert lefts("E(3*norm2(x[2]) - norm2(x[1])/2 + dot(x0, x[2] - x[1]) + 7)", NOISY) == [
        mean([3 * xs[2] ** 2 - xs[1] ** 2 / 2 + 5 * (xs[2] - xs[1]) + 7 for xs in found])
    ]
    assert lefts("E(mean_k(norm2(x[k])))", NOISY) == [mean([(xs[0] ** 2 + xs[1] ** 2) / 2 for xs in found])]
    assert lefts("E(norm2(x[1] - E(x[1])))", NOISY) == [
        mean([xs[1] ** 2 for xs in found]) - mean([xs[1] for xs in found]) ** 2
    ]
    assert lefts("E(E(norm2(x[1])) + 1)", NOISY) == [mean([xs[1] ** 2 for xs in found]) + 1]


def test_what_is_random_outside_of_e_is_looked_at_in_every_outcome() -> None:
    found = measured("norm2(x[k]) <= 25", NOISY)
    assert found.holds
    ends = [xs[1] ** 2 for xs in paths()]
    bound = max(ends)
    (row,) = measured("norm2(x[1]) <= q", NOISY, q=bound - F(1, 1000)).rows
    assert row.status == "broken"
    assert row.left == bound
    assert row.probability == F(ends.count(bound), len(ends))
    assert measured("norm2(x[1]) <= q", NOISY, q=bound).holds


def test_a_definition_may_be_random() -> None:
    assert measured("E(psi) == q", NOISY, {"psi": "norm2(x[1])"}, q=lefts("E(norm2(x[1]))", NOISY)[0]).holds


def test_taps_of_clients_inside_e() -> None:
    run = instance(fedavg, TWO, 5, 1, eta="1/8", H=2, S=1)
    with pytest.raises(SentenceError, match="neither a state nor a tap"):
        measured("E(norm2(y[k, h])) >= 0", run)
    run = instance(scaffold, TWO, 5, 2, eta="1/8", eta_g=1, H=2, S=1)
    rows = measured("E(mean_n(norm2(y[k, h] - x[k]))) >= 0", run).rows
    assert len(rows) == 4
    assert [row.left == 0 for row in rows] == [True, False, True, False]


def test_the_limit_is_handed_on() -> None:
    with pytest.raises(TooManyOutcomesError):
        sides(parse_sentence("E(norm2(x[K])) >= 0"), words_of(NOISY), NOISY, limit=10)


# --- where a sentence does not speak ---------------------------------------------------------------------------------


def test_a_sentence_with_xstar_does_not_speak_where_there_is_no_minimiser() -> None:
    falling = instance(gradient_descent, [[{"h": 0, "b": 1}]], 0, 1, eta=1)
    assert measured("norm2(x[k] - xstar) >= 0", falling).silent == "f has no minimiser"
    assert measured("f(x[k]) >= fstar", falling).silent == "f is unbounded below"
    assert measured("f(x[k]) <= f(x0)", falling).holds
    assert measured(
        "norm2(xstar_n) >= 0", instance(gradient_descent, [[{"h": 1, "b": 0}], [{"h": 0, "b": 1}]], 0, 1, eta=1)
    ).silent == ("f_n of client 2 has no minimiser")
    assert not measured("norm2(x[k] - xstar) >= 0", falling).holds


def test_several_minimisers() -> None:
    flat = instance(gradient_descent, [[{"H": [[1, 0], [0, 0]], "b": [0, 0]}]], [2, 3], 1, eta="1/2")
    found = measured("norm2(x[k+1] - xstar) <= norm2(x[k] - xstar)", flat)
    assert found.holds
    assert not found.every_minimiser
    assert {row.minimiser for row in found.rows} == {0, 1, 2}
    broken = measured("norm2(x[k] - xstar) <= 4", flat)  # at the nearest minimiser alone
    assert {row.minimiser for row in broken.broken} == {1, 2}
    assert measured("f(x[k]) >= f(xstar)", flat).holds
    assert measured("norm2(x[k] - xstar) >= 0", SIMPLE).every_minimiser


# --- without an algorithm --------------------------------------------------------------------------------------------


def test_vectors_and_numbers_alone() -> None:
    vectors = read_instance({"vectors": {"a_n": [[1, 2], [3, -1], [0, 5]], "b": [1, 1]}, "rounds": 4})
    assert measured("norm2(mean_n(a_n)) <= mean_n(norm2(a_n))", vectors).holds
    assert measured("norm2(mean_n(a_n)) >= mean_n(norm2(a_n))/N", vectors).holds
    apart = read_instance({"vectors": {"a_n": [[1, 2], [-1, -2]]}})
    assert measured("norm2(mean_n(a_n)) >= mean_n(norm2(a_n))/N", apart).broken
    assert lefts("dot(a_n, b)", vectors) == [3, 2, 5]
    assert measured("norm2(a_n + b) <= (1 + c)*norm2(a_n) + (1 + 1/c)*norm2(b)", vectors, c=F(1, 3)).holds
    assert measured("sum_k(q**k) == (1 - q**K)/(1 - q)", vectors, q=F(1, 3)).holds
    assert measured("sum_k(q**k) == (1 - q**k)/(1 - q)", vectors, q=F(1, 3)).broken
    assert measured("E(norm2(a_n)) == norm2(a_n)", vectors).holds
    for text in ("x[k] == x[k]", "f(b) <= 0", "norm2(xstar) <= 0"):
        with pytest.raises(SentenceError):
            measured(text, vectors)


def test_functions_and_vectors() -> None:
    data = {"problem": {"clients": PLANE}, "start": [0, 0], "vectors": {"x": [1, 2], "y": ["1/2", -3]}}
    one = read_instance(data)
    inner = "dot(grad(f, x) - grad(f, y), x - y)"
    assert measured(f"{inner} >= norm2(grad(f, x) - grad(f, y))/L", one, L=F(3)).holds
    concave = {**data, "problem": {"clients": [[{"H": [[-1, 0], [0, 1]], "b": [0, 0]}]]}}
    other = read_instance({**concave, "vectors": {"x": [0, 1], "y": [0, 0]}})
    assert measured(f"{inner} >= norm2(grad(f, x) - grad(f, y))/L", other, L=F(1)).holds
    other = read_instance({**concave, "vectors": {"x": [1, 0], "y": [0, 0]}})
    assert measured(f"{inner} >= norm2(grad(f, x) - grad(f, y))/L", other, L=F(1)).broken


def doubled(one: Instance) -> Instance:
    """Each client twice: f, the mean of the f_n and its law under full participation stay the same."""
    data = one.to_json()
    data["problem"] = {"clients": [own for own in data["problem"]["clients"] for _ in range(2)]}
    return read_instance(data, one.program)


@pytest.mark.parametrize("algorithm_", [gradient_descent, heavy_ball, proxskip])
def test_twice_the_clients_say_the_same(algorithm_: Algorithm) -> None:
    values = {"eta": "1/7", "gamma": "1/4", "p": "1/3", "alpha": "1/9", "beta": "4/9"}
    one = instance(algorithm_, TWO, 5, 3, **{name: values[name] for name in algorithm_.parameters})
    text = "E(norm2(mean_n(x[k]) - xstar)) <= 0" if algorithm_ is proxskip else "E(norm2(x[k] - xstar)) <= 0"
    assert [row.left for row in measured(text, one).rows] == [row.left for row in measured(text, doubled(one)).rows]
    assert Play(one).program is one.program


def test_a_quantile_of_each_client_and_round_is_its_own() -> None:
    """What is kept of a quantile is kept for the indices that it has: here of every client and every round."""

    @algorithm
    def apart(w, x, *, eta):
        y = w.each(x) - eta * w.gradient(x, w.sample())
        w.tap("y", y)
        return w.mean(y)

    text = "mean_n(quantile(norm2(y[k] - x0), 1)) <= max_n(quantile(norm2(y[k] - x0), 1/2))"
    clients = [[{"h": 1, "b": 0}, {"h": 1, "b": 2}], [{"h": 1, "b": 0}, {"h": 1, "b": 6}]]
    data = {"algorithm": "x/y", "parameters": {"eta": "1/2"}, "problem": {"clients": clients}, "start": 0, "rounds": 2}
    instance = read_instance(data, apart)
    rows = sides(parse_sentence(text), words_of(instance), instance).rows
    # of both clients 1 and 9 at most, then from x = 0, 1/2, 3/2, 2 at most 2^2 and 4^2, and 1 for half of the outcomes
    assert [(row.left, row.right) for row in rows] == [(5, 0), (10, 1)]


def test_clients_and_samples_are_counted_from_1_for_people_and_rounds_from_0() -> None:
    assert as_printed({"*n": 0, "i": 2, "k": 0, "h": 1}) == {"n": 1, "i": 3, "k": 0, "h": 1}
