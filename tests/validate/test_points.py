"""Functions given by points: which are read, what is known of them, and how a run goes on them."""

import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sim.problems.linear_algebra import eigenvalues
from tests.rounds import descent, proximal
from tests.validate.sampled_points import as_points, huber, places_of
from theory.arithmetic import to_element
from theory.formula import UndefinedError
from theory.operations import to_fraction
from theory.program import algorithm
from theory.sentence import parse_sentence
from validate.both_sides import sides, words_of
from validate.instances import Pieces, Piecewise, Point, PointFunction, Points, read_instance, read_problem
from validate.instances.runs import moments_of_instance, runs_of_instance
from validate.play import Play

F = Fraction
seeds = st.integers(0, 10**6)


def some(rng: random.Random) -> Fraction:
    return F(rng.randint(-6, 6), rng.choice((1, 1, 2, 3)))


def vector(*numbers: Any) -> tuple[Any, ...]:
    return tuple(to_element(F(x)) for x in numbers)


def random_quadratics(rng: random.Random, low: int, clients: int = 1, samples: int = 1) -> dict[str, Any]:
    """In two dimensions, turned by a rational angle, with eigenvalues in [low, 4]."""

    def sample() -> dict[str, Any]:
        c, s = rng.choice(((F(1), F(0)), (F(3, 5), F(4, 5)), (F(5, 13), F(12, 13))))
        a, b = (F(rng.randint(2 * low, 8), 2) for _ in range(2))
        H = [[a * c * c + b * s * s, (a - b) * c * s], [(a - b) * c * s, a * s * s + b * c * c]]
        return {"H": [[str(x) for x in row] for row in H], "b": [str(some(rng)), str(some(rng))]}

    return {"clients": [[sample() for _ in range(samples)] for _ in range(clients)]}


def random_pieces(rng: random.Random, low: int, clients: int = 1, samples: int = 1) -> Pieces:
    def sample() -> Piecewise:
        knots = sorted({some(rng) for _ in range(rng.randint(0, 4))})
        slopes = [F(rng.randint(2 * low, 8), 2) for _ in range(len(knots) + 1)]
        return Piecewise(tuple(knots), tuple(slopes), some(rng), some(rng))

    return Pieces(tuple(tuple(sample() for _ in range(samples)) for _ in range(clients)))


# --- which are read ---------------------------------------------------------------------------------------------------


def values_at(f: PointFunction, j: int) -> tuple[Fraction, Fraction]:
    """Between which values f_j can lie, from the other points: h = f - mu/2 norm2 is convex and (L - mu)-smooth."""
    here, M = f.points[j], f.L - f.mu

    def lifted(p: Point) -> tuple[Any, Any, Fraction]:
        x, g = np.array(p.x, dtype=object), np.array(p.g, dtype=object)
        return x, g - f.mu * x, p.f - f.mu / 2 * (x @ x)

    x, s, _ = lifted(here)
    low, high = [], []
    for other in (p for i, p in enumerate(f.points) if i != j):
        y, t, h = lifted(other)
        low.append(h + t @ (x - y) + (s - t) @ (s - t) / (2 * M))
        high.append(h + s @ (x - y) - (s - t) @ (s - t) / (2 * M))
    return max(low) + f.mu / 2 * (x @ x), min(high) + f.mu / 2 * (x @ x)


@settings(max_examples=60, deadline=None)
@given(seeds, st.booleans(), st.sampled_from([0, -4, 1]))
def test_points_of_known_functions_are_read_and_others_refused(seed: int, pieces: bool, low: int) -> None:
    rng = random.Random(seed)
    problem = random_pieces(rng, low) if pieces else read_problem(random_quadratics(rng, low))
    places = {tuple(to_element(some(rng)) for _ in range(problem.dim)) for _ in range(5)}
    f = as_points(problem, sorted(places), lambda n, i: (F(4) if low < 4 else F(5), F(low))).functions[0][0]
    j = rng.randrange(len(f.points))
    assume(len(f.points) > 1)
    least, most = values_at(f, j)
    assert least <= f.points[j].f <= most
    for value, fits in ((least, True), (most, True), (least - F(1, 10**9), False), (most + F(1, 10**9), False)):
        points = (*f.points[:j], replace(f.points[j], f=value), *f.points[j + 1 :])
        if fits:
            assert replace(f, points=points).points[j].f == value
            continue
        with pytest.raises(ValueError, match=rf"points\[{j}\].* no function with curvature between mu={low} and L=4"):
            replace(f, points=points)


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_a_class_that_is_too_small_is_refused(seed: int) -> None:
    """At two points along an eigenvector of a quadratic, its curvature is what they show."""
    rng = random.Random(seed)
    h, b = F(rng.randint(-6, 6), 2), some(rng)
    points = tuple(Point((x,), (h * x - b,), h * x * x / 2 - b * x) for x in (F(0), F(1)))
    assert PointFunction(points, abs(h) + 1, h).mu == h
    if h > 0:
        assert h == PointFunction(points, h).L
        with pytest.raises(ValueError, match="no function with curvature"):
            PointFunction(points, h - F(1, 10**6))
    with pytest.raises(ValueError, match="no function with curvature"):
        PointFunction(points, abs(h) + 1, h + F(1, 10**6))


def test_the_extremes_of_a_nonconvex_class() -> None:
    """mu = -L: f' = 1, then -1 at 2 apart and of values that are equal: the parabolas touch half-way."""
    points = (Point((F(0),), (F(1),), F(0)), Point((F(2),), (F(-1),), F(0)))
    assert PointFunction(points, F(1), F(-1)).steepest == 1
    with pytest.raises(ValueError, match="no function"):
        PointFunction(points, F(99, 100), F(-99, 100))
    with pytest.raises(ValueError, match="no function"):
        PointFunction(points, F(1), F(-99, 100))


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        ({"L": 0}, r"L=0 is outside \(0, inf\)"),
        ({"mu": 1}, r"mu=1 is outside \[-L, L\)"),
        ({"mu": -2}, r"mu=-2 is outside \[-L, L\)"),
        ({"mu": "1/2", "G": 1}, "goes with mu = 0 only"),
        ({"G": -1}, "goes with mu = 0 only"),
        ({"points": []}, "a list of at least one point"),
        ({"points": [{"x": 0, "g": 0}]}, "is to be a point: x, g and f"),
        ({"points": [{"x": [0, 1], "g": 0, "f": 0}]}, "x has 2 entries and g 1"),
        ({"points": [{"x": 0, "g": 0, "f": 0}, {"x": [0, 1], "g": [0, 0], "f": 0}]}, "x has 2 entries and g 2"),
        ({"points": [{"x": 0, "g": "a", "f": 0}]}, "outside the rational numbers"),
        ({"points": [{"x": 0, "g": 0, "f": 0}] * 1001}, "has 1001 points; the limit is 1000"),
        ({"points": [{"x": 0, "g": 0, "f": 0}, {"x": 0, "g": 0, "f": 1}]}, "no function with curvature"),
        ({"points": [{"x": 0, "g": 2, "f": 0}], "G": 1}, r"points\[0\]: the gradient is longer than G=1"),
    ],
)
def test_what_is_no_function_is_refused(sample: dict[str, Any], message: str) -> None:
    given = {"points": [{"x": 0, "g": 0, "f": 0}], "L": 1, "mu": 0}
    with pytest.raises(ValueError, match=rf"clients\[0\]\[0\].*{message}"):
        read_problem({"clients": [[{**given, **sample}]]})


def test_kinds_do_not_mix_and_dimensions_agree() -> None:
    one, two = ({"points": [{"x": x, "g": x, "f": 0}], "L": 1, "mu": 0} for x in ([0], [0, 0]))
    with pytest.raises(ValueError, match="given by points, or as ridges, and others are not"):
        read_problem({"clients": [[one, {"h": 1, "b": 0}]]})
    with pytest.raises(ValueError, match="different dimensions: 1, 2"):
        read_problem({"clients": [[one, two]]})
    many = [{"x": [j, *[0] * 999], "g": [0] * 1000, "f": 0} for j in range(201)]
    with pytest.raises(ValueError, match="more points than are compared"):
        read_problem({"clients": [[{"points": many, "L": 1, "mu": 0}]]})


def test_the_form_is_read_as_it_is_written() -> None:
    data = {"points": [{"x": "1/2", "g": 1, "f": "-1/3"}], "L": 2, "mu": "-1/2"}
    assert read_problem({"clients": [[data]]}).to_json() == {"clients": [[data]]}
    plane = {"points": [{"x": [0, 1], "g": ["1/2", 0], "f": 3}], "L": 2, "mu": 0, "G": 1}
    assert read_problem({"clients": [[plane], [plane]]}).to_json() == {"clients": [[plane], [plane]]}
    twice = {**data, "points": data["points"] * 2}
    assert read_problem({"clients": [[twice]]}) == read_problem({"clients": [[data]]})


# --- what is known ----------------------------------------------------------------------------------------------------


def test_values_are_known_where_all_samples_have_the_point() -> None:
    one = {"points": [{"x": 0, "g": -1, "f": 1}, {"x": 1, "g": 0, "f": "1/2"}], "L": 1, "mu": 0}
    two = {"points": [{"x": 0, "g": 1, "f": 0}, {"x": -1, "g": 0, "f": "-1/2"}], "L": 1, "mu": 0}
    problem = read_problem({"clients": [[one, two], [one]]})
    assert problem.gradient(vector(0), 0) == vector(0)
    assert problem.gradient(vector(0)) == vector("-1/2")
    assert problem.value(vector(0)) == to_element(F(3, 4))
    assert problem.gradient(vector(1), 1) == problem.gradient(vector(1), 0, 0) == vector(0)
    for v, which in ((vector(1), ()), (vector(1), (0,)), (vector("1/2"), (1,)), ((arb(0),), (1,))):
        with pytest.raises(UndefinedError, match="is not among the points of"):
            problem.gradient(v, *which)
    # client 0 is least at 0; f is no more known there, nor anywhere, to be least
    assert problem.minimisers(vector(5), 0).points == (vector(0),)
    assert problem.infimum(0) == to_element(F(1, 2))
    assert "no minimiser of f is among" in problem.minimisers(vector(5)).why
    with pytest.raises(UndefinedError, match="its infimum is not known"):
        problem.infimum()
    with pytest.raises(UndefinedError, match="no unique minimiser"):
        _ = problem.minimiser
    assert list(problem.client_minimisers[:, 0]) == [0, 1]


def test_minimisers_that_are_listed() -> None:
    flat = [{"x": x, "g": 0, "f": 2} for x in (-1, 3)]
    problem = read_problem({"clients": [[{"points": [*flat, {"x": 4, "g": 1, "f": "5/2"}], "L": 1, "mu": 0}]]})
    found = problem.minimisers(vector(2))
    assert (found.points, found.unique) == ((vector(3), vector(-1)), False)
    steep = read_problem({"clients": [[{"points": flat[:1], "L": 2, "mu": 1}]]})
    assert (steep.minimisers(vector(2)).points, steep.minimisers(vector(2)).unique) == ((vector(-1),), True)
    assert steep.minimiser[0] == -1
    # convex in the mean only
    hill, bowl = ({"points": [{"x": 0, "g": 0, "f": 0}], "L": 3, "mu": mu} for mu in (-1, 1))
    assert read_problem({"clients": [[hill], [bowl]]}).minimisers(vector(1)).points == (vector(0),)
    assert read_problem({"clients": [[hill], [hill]]}).minimisers(vector(1)).points == ()


def largest_on_a_grid(f: PointFunction, grid: Any) -> Any:
    """f - mu/2 x^2 is the convex hull of the least of the parabolas: by the lower hull of its graph, in floats."""
    parabolas = [
        float(p.f) + float(p.g[0]) * (grid - float(p.x[0])) + float(f.L) / 2 * (grid - float(p.x[0])) ** 2
        for p in f.points
    ]
    lifted = np.min(parabolas, axis=0) - float(f.mu) / 2 * grid**2
    hull: list[int] = []
    for i in range(len(grid)):
        while len(hull) > 1 and (lifted[hull[-1]] - lifted[hull[-2]]) * (grid[i] - grid[hull[-1]]) >= (
            lifted[i] - lifted[hull[-1]]
        ) * (grid[hull[-1]] - grid[hull[-2]]):
            hull.pop()
        hull.append(i)
    return np.interp(grid, grid[hull], lifted[hull]) + float(f.mu) / 2 * grid**2


@settings(max_examples=40, deadline=None)
@given(seeds, st.sampled_from([0, -1, -4]))
def test_the_infimum_of_the_largest_function(seed: int, mu: int) -> None:
    """The largest function has the points, curvature between mu and L, and the infimum that is told."""
    rng = random.Random(seed)
    problem = random_pieces(rng, mu)
    f = as_points(problem, [vector(some(rng)) for _ in range(4)], lambda n, i: (4, mu)).functions[0][0]
    step = F(1, 60)
    ends = [y for p in f.points for y in (p.x[0], p.x[0] - p.g[0] / f.L)]
    grid = np.arange(float(min(ends)) - 2, float(max(ends)) + 2, float(step))
    values = largest_on_a_grid(f, grid)
    assert f.lowest is not None
    assert abs(values.min() - float(f.lowest)) < 4 * float(step) ** 2 + 1e-9
    for p in f.points:
        assert abs(np.interp(float(p.x[0]), grid, values) - float(p.f)) < 4 * float(step) ** 2 + 1e-9
    curved = np.diff(values, 2) / float(step) ** 2
    assert curved.min() > mu - 1e-6
    assert curved.max() < 4 + 1e-6


def test_the_infimum_of_one_function_that_is_not_convex() -> None:
    data = {"points": [{"x": 0, "g": 1, "f": 0}, {"x": "-1/2", "g": "1/2", "f": "-3/8"}], "L": 1, "mu": -1}
    one = read_problem({"clients": [[data]]})
    assert one.infimum() == to_element(F(-1, 2))
    assert one.minimisers(vector(0)).points == ()
    data["points"].append({"x": -1, "g": 0, "f": "-1/2"})
    assert read_problem({"clients": [[data]]}).minimisers(vector(0)).points == (vector(-1),)
    data["points"].append({"x": 9, "g": 0, "f": "-1/4"})  # stationary, and not least
    assert read_problem({"clients": [[data]]}).minimisers(vector(9)).points == (vector(-1),)
    with pytest.raises(UndefinedError, match="its infimum is not known"):
        read_problem({"clients": [[data], [data]]}).infimum()
    bounded = {"points": [{"x": 0, "g": 1, "f": 0}], "L": 1, "mu": 0, "G": 1}
    with pytest.raises(UndefinedError, match="its infimum is not known"):
        read_problem({"clients": [[bounded]]}).infimum()


def test_proximal_points() -> None:
    data = {"points": [{"x": 2, "g": 3, "f": 0}], "L": 2, "mu": -1}
    problem = read_problem({"clients": [[data]]})
    assert problem.prox(vector("7/2"), to_element(F(1, 2)), 0) == vector(2)
    with pytest.raises(UndefinedError, match="is not among its points"):
        problem.prox(vector(3), to_element(F(1, 2)), 0)
    with pytest.raises(UndefinedError, match="intervals only"):
        problem.prox(vector(3), arb(0.5), 0)
    for t in (F(1), F(2), F(0), F(-1, 2)):
        with pytest.raises(ValueError, match="need not be unique"):
            problem.prox(vector(5), to_element(t), 0)


# --- play -------------------------------------------------------------------------------------------------------------


@algorithm
def local_sgd(w, x, *, eta, S):
    y = w.each(x)
    for _ in w.repeat(2):
        y = y - eta * w.gradient(y, w.sample())
    return w.average(y, w.choose(S))


@algorithm
def batched(w, x, *, eta):
    return x - eta * w.mean(w.gradient(x, w.sample(2, replace=False)))


@algorithm
def in_turn(w, x, *, eta):
    return w.visit(x, lambda x, one: x - eta * one.gradient(x, one.sample()))


@algorithm
def reshuffled(w, x, *, eta):
    return w.mean(w.pass_over(w.each(x), lambda y, i: y - eta * w.gradient(y, i)))


@algorithm(x="x0", t="table grad(f_ni, x0)")
def saga(w, x, t, *, eta):
    i = w.sample()
    g = w.gradient(x, i)
    return x - eta * w.mean(g - w.get(t, i) + w.get(t)), w.put(t, i, g)


SENTENCES = (
    "E(f(x[k])) - fstar <= norm2(x0 - xstar)",
    "E(norm2(x[k] - xstar)) <= mean_n(norm2(grad(f_n, xstar))) + norm2(grad(f, x0))",
    "E(norm2(grad(f, x[k]))) <= mean_n(mean_i(norm2(grad(f_ni, x0))))",
)


@settings(max_examples=40, deadline=None)
@given(seeds, st.sampled_from([descent, local_sgd, batched, proximal, in_turn, reshuffled, saga]), st.booleans())
def test_a_run_on_points_is_the_run_on_the_function(seed: int, one: Any, pieces: bool) -> None:
    rng = random.Random(seed)
    if pieces:
        problem: Any = random_pieces(rng, 1, 2, 2).to_json()
    else:
        problem = random_quadratics(rng, 1, 2, 2)
    data: dict[str, Any] = {"algorithm": "a.py:b", "parameters": {"eta": "1/5"}, "problem": problem, "rounds": 2}
    if one is local_sgd:
        data["parameters"]["S"] = 1
        data["rounds"] = 1
    data["start"] = str(some(rng)) if pieces else [str(some(rng)), str(some(rng))]
    instance = read_instance(data, one)
    points = as_points(instance.problem, places_of(instance), lambda n, i: (4, 1))
    again = read_instance({**data, "problem": points.to_json()}, one)
    assert isinstance(again.problem, Points)
    for k in range(data["rounds"] + 1):
        assert Play(again).distribution(k) == Play(instance).distribution(k)
    for text in SENTENCES:
        told = [
            [(row.at, row.left, row.right, row.status) for row in sides(parse_sentence(text), words_of(i), i).rows]
            for i in (instance, again)
        ]
        assert told[0] == told[1]
        assert all(status in ("holds", "broken") for *_, status in told[0])


def test_what_a_run_does_not_know_says_nothing() -> None:
    data = {"algorithm": "a.py:b", "parameters": {"eta": "1/2"}, "problem": {"clients": [[huber(2)]]}}
    instance = read_instance({**data, "start": 1, "rounds": 2}, descent)
    measured = sides(parse_sentence("f(x[k]) - fstar <= 1"), words_of(instance), instance)
    assert [row.status for row in measured.rows] == ["holds", "undefined", "undefined"]
    assert "(9/10) is not among the points of f" in measured.rows[1].why
    unknown = read_problem({"clients": [[{"points": [{"x": 1, "g": 1, "f": 1}], "L": 1, "mu": "1/2"}]]})
    measured = sides(parse_sentence("f(x[0]) - fstar <= 1"), words_of(instance), replace(instance, problem=unknown))
    assert "its infimum is not known" in measured.silent
    measured = sides(parse_sentence("norm(x0 - xstar) <= 1"), words_of(instance), replace(instance, problem=unknown))
    assert "no minimiser of f is among the points" in measured.silent


def test_moments_and_runs_are_of_quadratics() -> None:
    data = {"algorithm": "a.py:b", "parameters": {"eta": 1}, "problem": {"clients": [[huber(1)]]}}
    instance = read_instance({**data, "start": 1, "rounds": 1}, descent)
    with pytest.raises(ValueError, match="not quadratic: moments are of quadratics only"):
        moments_of_instance(instance, exact=True)
    with pytest.raises(ValueError, match="not quadratic: metrics are of quadratics only"):
        runs_of_instance(instance, 2, 0)


def test_eigenvalues_of_the_quadratics_are_in_their_class() -> None:
    """What `random_quadratics` promises, on which the tests above stand."""
    for seed in range(30):
        one = read_problem(random_quadratics(random.Random(seed), -4))
        found = [float(v) for v in eigenvalues(one.quadratic.hessian[0, 0])]
        assert -4 - 1e-9 <= min(found) <= max(found) <= 4 + 1e-9
    assert to_fraction(to_element(F(1, 3))) == F(1, 3)
