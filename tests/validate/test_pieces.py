"""Piecewise quadratics: against sums, differences and searches by brute force; what they refute, and certificates."""

import copy
import random
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rounds import descent, sampled
from tests.validate.assumptions import ASSUMED, assumed, seen_by_others, text_of
from theory import predicates as p
from theory.arithmetic import to_element
from theory.claim import Claim, claim
from theory.operations import UndecidedError, to_fraction
from theory.program import algorithm
from validate import verifier
from validate.certificate.play import play_certificate
from validate.examine import examine
from validate.instances import Pieces, Piecewise, Quadratics, read_instance, read_problem
from validate.instances.candidates import Candidate, candidate_of, realised, size
from validate.instances.piece_moves import simplified, translated
from validate.instances.piece_shapes import assumes_convex, made_pieces
from validate.instances.pieces import largest_sum, mean_of
from validate.instances.pool import drawn
from validate.instances.ridges import Ridges
from validate.instances.seen import measured
from validate.instances.setting import Setting
from validate.instances.shapes import Size, shape_of
from validate.instances.shrinking import shrunk
from validate.play import Play
from validate.satisfied import best, true
from validate.verifier import FormatError
from validate.verifier import ridges_assumed as other_eyes
from validate.verifier.ridges import read_ridges
from validate.verifier.scalars import Work

F = Fraction
ONE_DIMENSION = (Size(1, 1, 1), Size(1, 2, 1), Size(2, 1, 1), Size(2, 2, 1), Size(3, 1, 1), Size(4, 2, 1))
CYCLE = {"knots": [1, 2], "slopes": [25, 1, 25], "b": 0}
"""Of Lessard, Recht and Packard: f' = 25x, then x + 24, then 25x - 24."""


@algorithm(x="x0", z="x0")
def heavy_ball(w, x, z, *, alpha, beta):
    return x - alpha * w.full_gradient(x) + beta * (x - z), x


TUNED = ("alpha == 4/(sqrt(L) + sqrt(mu))**2", "beta == ((sqrt(L) - sqrt(mu))/(sqrt(L) + sqrt(mu)))**2", "N <= 1")
CONVEX = ("smooth(f, L)", "strongly_convex(f, mu)")
RATE = "norm2(x[k] - xstar) <= (1 + 2*k)**2*beta**k*norm2(x0 - xstar)"
ANYWHERE = claim("anywhere", RATE, of=heavy_ball, assuming=(*CONVEX, *TUNED))
QUADRATIC = claim("quadratic", RATE, of=heavy_ball, assuming=(*CONVEX, "quadratic(f)", *TUNED))
AVERAGE = "mean_k(f(x[k])) - fstar <= norm2(x0 - xstar)/(2*eta*K) + eta*G**2/{}"


def average(share: int, *assumed: str) -> Claim:
    return claim(f"average-{share}", AVERAGE.format(share), of=descent, assuming=(*assumed, "bounded_gradients(f, G)"))


def some(rng: random.Random) -> Fraction:
    return F(rng.randint(-6, 6), rng.choice((1, 1, 2, 3)))


def piece(rng: random.Random, low: int = -4) -> Piecewise:
    knots = sorted({some(rng) for _ in range(rng.randint(0, 4))})
    slopes = [F(rng.randint(low, 5), rng.choice((1, 2))) for _ in range(len(knots) + 1)]
    return Piecewise(tuple(knots), tuple(slopes), some(rng), some(rng))


def problem(rng: random.Random, low: int = -4) -> Pieces:
    return Pieces(tuple(tuple(piece(rng, low) for _ in range(rng.randint(1, 3))) for _ in range(rng.randint(1, 3))))


def points(*functions: Piecewise, width: int = 9) -> list[Fraction]:
    """All knots and points around them, near and far."""
    centres = {F(0), *(t for f in functions for t in f.knots)}
    found = {c + s * F(e) for c in centres for s in (1, -1) for e in (0, "1/1000", "1/7", 1, 2, width, 1000)}
    return sorted(found)


SEEDS = given(st.integers(0, 10**6))

# --- functions -------------------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@SEEDS
def test_values_are_integrals_of_derivatives_and_derivatives_of_slopes(seed: int) -> None:
    rng = random.Random(seed)
    f = piece(rng)
    assert f.value(F(0)) == f.c
    assert f.derivative(F(0)) == -f.b
    for one, two in zip(points(f), points(f)[1:], strict=False):
        inside = [one, *(t for t in f.knots if one < t < two), two]
        for a, b in pairwise(inside):  # between knots the derivative is a line
            slope = next(s for t, s in zip((*f.knots, b + 1), f.slopes, strict=True) if a < t and b <= t)
            assert f.derivative(b) - f.derivative(a) == slope * (b - a)
            assert f.value(b) - f.value(a) == (b - a) * (f.derivative(a) + f.derivative(b)) / 2


@settings(max_examples=60, deadline=None)
@SEEDS
def test_a_problem_in_flints_numbers_is_the_one_in_fractions(seed: int) -> None:
    rng = random.Random(seed)
    one = problem(rng)
    for which in ((), (0,), (0, 0)):
        f = one.function(*which)
        for x in points(f):
            v = (to_element(x),)
            assert to_fraction(one.value(v, *which)) == f.value(x)
            assert to_fraction(one.gradient(v, *which)[0]) == f.derivative(x)
            away = x + F(1, 3000)
            near = (arb(away.numerator) / away.denominator,)
            if all(abs(away - t) > F(1, 10**6) for t in f.knots):
                assert abs(float(one.gradient(near, *which)[0]) - float(f.derivative(away))) < 1e-6


def test_a_ball_around_a_knot_is_undecided() -> None:
    kink = Pieces(((Piecewise((F(1),), (F(1), F(2))),),))
    with pytest.raises(UndecidedError, match="on which side of a knot"):
        kink.gradient((arb(1, 0.1),))
    with pytest.raises(UndecidedError):
        kink.prox((arb(2, 0.1),), to_element(F(1)), 0)  # u + f'(u) = 2 at the knot u = 1


@settings(max_examples=60, deadline=None)
@SEEDS
def test_means_and_sums(seed: int) -> None:
    rng = random.Random(seed)
    one = problem(rng)
    for n in range(one.clients):
        own = one.functions[n]
        for x in points(*own):
            assert one.own[n].value(x) == sum(f.value(x) for f in own) / len(own)
    for x in points(*one.own):
        assert one.mean.derivative(x) == sum(f.derivative(x) for f in one.own) / one.clients
    f, g = piece(rng), piece(rng)
    assert f.plus(g, F(-2)).value(F(7, 3)) == f.value(F(7, 3)) - 2 * g.value(F(7, 3))
    assert f.plus(f, F(-1)) == Piecewise((), (F(0),))
    assert mean_of([f, f, f]) == f


def test_a_knot_without_a_change_of_slope_is_none() -> None:
    assert Piecewise((F(1), F(2)), (F(3), F(3), F(3)), F(5)) == Piecewise((), (F(3),), F(5))
    assert Piecewise((F(1), F(2)), (F(3), F(3), F(4))).knots == (2,)
    with pytest.raises(ValueError, match="do not increase"):
        Piecewise((F(2), F(2)), (F(1), F(2), F(3)))
    with pytest.raises(ValueError, match="2 slopes and 2 knots"):
        Piecewise((F(1), F(2)), (F(1), F(2)))


# --- minima ----------------------------------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@SEEDS
def test_minimisers_against_all_points(seed: int) -> None:
    rng = random.Random(seed)
    f = piece(rng, rng.choice((-4, 0, 0)))
    if rng.random() < 0.4:  # flat parts where f is least
        f = f.still_at(rng.choice(points(f)))
    one, near = Pieces(((f,),)), some(rng)
    found = one.minimisers((to_element(near),))
    lowest = min(f.value(x) for x in points(f, width=10**6))
    if f.least is None:
        assert found.points == ()
        assert one.infimum() is None
        outer = [f.value(s * F(10**9)) for s in (1, -1)]
        assert min(outer) < lowest - 10**3
        return
    infimum = to_fraction(one.infimum())
    assert lowest >= infimum
    xs = [to_fraction(v[0]) for v in found.points]
    assert xs
    assert all(f.value(x) == infimum and f.derivative(x) == 0 for x in xs)
    level = [x for x in points(f) if f.value(x) == infimum]
    assert min((abs(x - near) for x in level), default=abs(xs[0] - near)) >= abs(xs[0] - near)
    assert all(any(low is None or low <= x for low, _ in f.least[1]) for x in level)
    if found.unique:
        assert set(level) <= set(xs)
        assert len(xs) == 1
        assert list(one.minimiser) == xs
    else:
        assert len(xs) > 1
        with pytest.raises(ValueError, match="no unique minimiser"):
            _ = one.minimiser


def test_two_minima_and_flat_ones() -> None:
    double = Piecewise((F(-1), F(1)), (F(1), F(-1), F(1)))  # least at -2 and at 2, stationary at 0
    assert double.least == (-F(1), ((-2, -2), (2, 2)))
    huber = Piecewise((F(-1), F(1)), (F(0), F(1), F(0)))
    assert huber.least == (0, ((0, 0),))
    assert huber.gradient_bound == 1
    flat = Piecewise((F(-1), F(1)), (F(2), F(0), F(2)))
    assert flat.least == (0, ((-1, 1),))
    assert Piecewise((F(1),), (F(0), F(2))).least == (0, ((None, 1),))
    assert [to_fraction(v[0]) for v in Pieces(((flat,),)).minimisers((to_element(F(5)),)).points] == [1, -1]
    assert Piecewise((), (F(0),), F(0), F(3)).least == (3, ((None, None),))


@settings(max_examples=100, deadline=None)
@SEEDS
def test_prox_by_optimality_and_against_neighbours(seed: int) -> None:
    rng = random.Random(seed)
    f = piece(rng)
    one, t, v = Pieces(((f,),)), F(rng.randint(1, 6), rng.choice((1, 2, 5, 20))), some(rng)
    if min(1 + t * s for s in f.slopes) <= 0:
        with pytest.raises(ValueError, match="has no unique value"):
            one.prox((to_element(v),), to_element(t), 0)
        return
    u = to_fraction(one.prox((to_element(v),), to_element(t), 0)[0])
    assert u + t * f.derivative(u) == v
    least = f.value(u) + (u - v) ** 2 / (2 * t)
    assert all(f.value(x) + (x - v) ** 2 / (2 * t) > least for x in points(f) if x != u)


def test_prox_without_a_step_is_refused() -> None:
    with pytest.raises(ValueError, match="t=0"):
        Pieces(((Piecewise((F(1),), (F(1), F(2))),),)).prox((to_element(F(1)),), to_element(F(0)), 0)


# --- assumptions -----------------------------------------------------------------------------------------------------


def gap(predicate: p.Predicate, one: Pieces, constants: tuple[Any, ...], x: Fraction, y: Fraction) -> Fraction:
    """By how much an assumption is missed at two points, from values and derivatives alone; above 0 only if it is."""
    if isinstance(predicate, p.BoundedVariance):
        pairs = zip(one.functions, one.own, strict=True)
        spread = [sum((f.derivative(x) - m.derivative(x)) ** 2 for f in own) / len(own) for own, m in pairs]
        return max(spread) - constants[0]
    if isinstance(predicate, p.Dissimilar):
        steep = [f.derivative(x) for f in one.own]
        mean = sum(steep) / len(steep)
        if predicate.spread:
            return sum((s - mean) ** 2 for s in steep) / len(steep) - constants[0] ** 2
        return sum(s * s for s in steep) / len(steep) - constants[0] ** 2 - constants[1] ** 2 * mean**2
    return max(_gap(predicate, f, constants, x, y) for f in one.named(predicate.function))


def _gap(predicate: p.Predicate, f: Piecewise, constants: tuple[Any, ...], x: Fraction, y: Fraction) -> Fraction:
    a, b = f.derivative(x), f.derivative(y)
    if isinstance(predicate, p.Smooth):
        return abs(a - b) - constants[0] * abs(x - y)
    if isinstance(predicate, p.Convex | p.StronglyConvex):
        mu = constants[0] if constants else 0
        return mu * (x - y) ** 2 - (a - b) * (x - y)
    if isinstance(predicate, p.Lipschitz | p.BoundedGradients):
        return abs(f.value(x) - f.value(y)) - constants[0] * abs(x - y) if x != y else abs(a) - constants[0]
    assert isinstance(predicate, p.PolyakLojasiewicz)
    assert f.least is not None
    return 2 * constants[0] * (f.value(x) - f.least[0]) - a * a


@settings(max_examples=125, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(ASSUMED))
def test_best_constants_are_true_at_all_points_and_better_ones_nowhere_near(seed: int, text: str) -> None:
    rng = random.Random(seed)
    predicate = assumed(text)
    convex = rng.random() < 0.6
    one = made_pieces(
        shape_of([predicate, *([assumed("convex(f_n)")] if convex else [])], True), rng.choice(ONE_DIMENSION), rng,
        convex=convex,
    )  # fmt: skip
    found = best(predicate, one)
    if found is None:
        return
    exact = tuple(F(v).limit_denominator(10**9) * F(10**6 + 1, 10**6) if isinstance(v, float) else v for v in found)
    if not predicate.constants:
        assert true(predicate, one, ()) is True
        if not isinstance(predicate, p.Convex):
            return
    elif not all(exact):  # every positive number is one
        assert true(predicate, one, tuple(max(v, F(1, 100)) for v in exact)) is True
        return
    else:
        assert true(predicate, one, exact) is True
        up = predicate.directions[0] == "up"
        worse = tuple(v * (2 if d == "up" else F(1, 2)) for v, d in zip(exact, predicate.directions, strict=True))
        assert true(predicate, one, worse) is True
        if not (isinstance(predicate, p.PolyakLojasiewicz) and not any(any(f.slopes) for f in one.named("f"))):
            tighter = tuple(v * (F(999, 1000) if up else F(1001, 1000)) for v in exact)
            assert true(predicate, one, tighter) is False
    functions = [*one.own, *(f for own in one.functions for f in own)]
    xs = rng.sample(all_ := points(*functions), min(40, len(all_)))
    assert all(gap(predicate, one, exact, x, y) <= 0 for x, y in product(xs[:15], xs))


@settings(max_examples=125, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(ASSUMED))
def test_the_verifiers_own_eyes_see_the_same(seed: int, text: str) -> None:
    rng = random.Random(seed)
    predicate = assumed(text)
    one = made_pieces(shape_of([predicate], True), rng.choice(ONE_DIMENSION), rng, convex=rng.random() < 0.5)
    if rng.random() < 0.3:
        one = problem(rng)
    read = read_ridges(text_of(one.to_json()), Work(), alone=True)
    constants: tuple[Any, ...] = ()
    if predicate.constants:
        known = best(predicate, one) or (some(rng),) * len(predicate.constants)
        constants = tuple(
            F(v).limit_denominator(10**6) * rng.choice((F(1), F(1), F(2), F(1, 2), F(9, 10))) for v in known
        )
        constants = tuple(v if v > 0 else F(1) for v in constants)
    seen = seen_by_others(other_eyes, read, predicate, constants)
    assert true(predicate, one, constants) is seen
    for which, f in (((), read.mean), ((0,), read.own[0]), ((0, 0), read.samples[0][0])):
        for x in points(one.function(*which)):
            assert f.value((x,)) == one.function(*which).value(x)
            assert f.gradient((x,)) == (one.function(*which).derivative(x),)
        least = one.function(*which).least
        if least is None:
            assert read.minimum(f) is None
            continue
        point = f_minimum(least)
        assert read.minimum(f) == (point, one.minimisers((to_element(F(0)),), *which).unique)
        assert read.minimises(f, point)
        assert all(read.minimises(f, (x,)) is (one.function(*which).value(x) == least[0]) for x in points())


def f_minimum(least: Any) -> tuple[Fraction]:
    low, high = least[1][0]
    return (low if low is not None else high if high is not None else F(0),)


def test_constants_by_hand() -> None:
    one = read_problem({"clients": [[{"knots": [-1, 1], "slopes": [0, 1, 0], "b": 0}]]})
    assert best(assumed("bounded_gradients(f, G)"), one) == (1,)
    assert best(assumed("smooth(f, L)"), one) == (1,)
    assert best(assumed("pl(f, mu)"), one) is None
    assert best(assumed("strongly_convex(f, mu)"), one) is None
    kink = read_problem({"clients": [[{"knots": [0], "slopes": [4, 1], "b": 0}, {"h": 2, "b": 2}]]})
    assert best(assumed("pl(f, mu)"), kink) == (F(3, 2),)
    assert best(assumed("quadratic(f)"), kink) is None
    assert best(assumed("bounded_variance(s2)"), kink) is None  # slopes differ far away
    alike = Pieces(tuple((Piecewise((F(-1), F(1)), (F(1), s, F(1))),) for s in (F(3), F(1))))
    assert best(assumed("dissimilar(z)"), alike) == (1,)  # f_1' - f_2' is 2 at most
    valley = Piecewise((F(1), F(2)), (F(4), F(-1), F(4)))  # f' falls to 3, and f never rises above its minimum again
    assert valley.growth == F(9) / (2 * valley.value(F(2)))
    assert largest_sum([(F(1), valley), (F(-2), valley)]) == 0


# --- JSON ------------------------------------------------------------------------------------------------------------


def test_what_is_written_is_read_again() -> None:
    data = {"clients": [[CYCLE, {"knots": [], "slopes": ["1/2"], "b": -1}], [{**CYCLE, "c": "2/3"}]]}
    one = read_problem(data)
    assert isinstance(one, Pieces)
    assert one.to_json() == data
    assert read_problem(one.to_json()) == one
    mixed = read_problem({"clients": [[CYCLE, {"h": 3, "b": 2}, {"h": 2, "a": 1}, {"H": [[5]], "b": [1]}]]})
    assert isinstance(mixed, Pieces)
    assert mixed.functions[0][2] == Piecewise((), (F(2),), F(2), F(1))
    assert isinstance(read_problem({"clients": [[{"h": 3, "b": 2}]]}), Quadratics)
    instance = read_instance(
        {"algorithm": "a.py:gd", "parameters": {"eta": 1}, "problem": data, "start": 1, "rounds": 2}, descent
    )
    assert read_instance(instance.to_json(), descent) == instance


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        ({"knots": [1], "slopes": [1], "b": 0}, r"clients\[0\]\[0\]: there are 1 slopes and 1 knots"),
        ({"knots": [1, 1], "slopes": [1, 2, 3], "b": 0}, "the knots 1, 1 do not increase"),
        ({"knots": 1, "slopes": [1, 2], "b": 0}, r"clients\[0\]\[0\]\.knots=1 is outside"),
        ({"knots": [1], "slopes": [1, "x"], "b": 0}, r"slopes\[1\]='x' is outside the rational numbers"),
        ({"knots": [1], "slopes": [1, 2]}, "a sample function has one of: .*; b, knots, slopes"),
        ({"knots": list(range(1001)), "slopes": [0] * 1002, "b": 0}, "has 1001 knots; the limit is 1000"),
    ],
)
def test_what_is_no_sample_is_refused(sample: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_problem({"clients": [[sample]]})


def test_beside_knots_there_is_one_dimension() -> None:
    plane = {"H": [[1, 0], [0, 1]], "b": [0, 0]}
    with pytest.raises(ValueError, match="has 2 coordinates; beside piecewise quadratics there is one"):
        read_problem({"clients": [[CYCLE], [plane]]})


# --- play ------------------------------------------------------------------------------------------------------------


def test_the_heavy_ball_cycles() -> None:
    data = {"algorithm": "a.py:b", "parameters": {"alpha": "1/9", "beta": "4/9"}, "start": "33/10", "rounds": 60}
    play = Play(read_instance({**data, "problem": {"clients": [[CYCLE]]}}, heavy_ball))
    states = [play.distribution(k)[0][1] for k in range(61)]
    x, z = F(33, 10), F(33, 10)
    for (u,), (v,) in states:
        assert (u, v) == (x, z)
        steep = 25 * x if x < 1 else x + 24 if x < 2 else 25 * x - 24
        x, z = x - steep / 9 + F(4, 9) * (x - z), x
    around = {F(792, 1225), F(-2208, 1225), F(2592, 1225)}
    assert all(min(abs(u - c) for c in around) < F(1, 100) for (u,), _ in states[40:])
    assert len({min(around, key=lambda c: abs(u - c)) for (u,), _ in states[40:]}) == 3


def test_a_setting_sees_the_functions() -> None:
    one = read_problem({"clients": [[CYCLE, {"h": 1, "b": 2}], [{"h": 3, "a": 1}]]})
    world = Setting(one, np.array([F(3)], dtype=object), {}, 1, ANYWHERE)
    v = np.array([F(5, 2)], dtype=object)
    for name, which in (("f", ()), ("f_n", (0,)), ("f_ni", (0, 1))):
        at = dict(zip("ni", which, strict=False))
        assert world.function(name, v, at) == one.function(*which).value(F(5, 2))
        assert world.gradient(name, v, at)[0] == one.function(*which).derivative(F(5, 2))
    assert world.parameter("fstar", {}) == one.mean.least[0]
    assert world.point("xstar", {})[0] == one.mean.least[1][0][0]
    assert list(world.over("i", None, {"n": 0})) == [0, 1]


# --- the pool, moves, shrinking --------------------------------------------------------------------------------------


def test_problems_are_of_the_shape_that_is_asked_for() -> None:
    for seed in range(400):
        rng = random.Random(seed)
        of, asked = ONE_DIMENSION[seed % len(ONE_DIMENSION)], [assumed(t) for t in rng.choice(SHAPES)]
        one = made_pieces(shape_of(asked, True), of, rng, convex=assumes_convex(asked))
        assert (one.clients, one.dim, one.samples(0)) == (of.clients, 1, of.samples)
        assert all(best(a, one) is not None for a in asked), seed


@pytest.mark.parametrize("convex", [True, False])
def test_where_a_claim_needs_it_f_is_bounded_below(convex: bool) -> None:
    asked = shape_of([assumed("smooth(f, L)"), assumed("bounded_below(f)")], True)
    for seed in range(400):
        one = made_pieces(asked, ONE_DIMENSION[seed % len(ONE_DIMENSION)], random.Random(seed), convex=convex)
        assert one.mean.least is not None, seed


SHAPES = (
    ("smooth(f_ni, L)", "strongly_convex(f_ni, mu)"), ("strongly_convex(f_n, mu)",), ("strongly_convex(f, mu)",),
    ("convex(f_ni)", "bounded_gradients(f_ni, G)"), ("convex(f)", "lipschitz(f_n, G)"), ("bounded_below(f)",),
    ("convex(f_n)", "bounded_variance(s2)"), ("strongly_convex(f, mu)", "dissimilar(z)"),
)  # fmt: skip


def test_problems_are_not_all_alike() -> None:
    made = [
        made_pieces(shape_of([assumed("bounded_below(f)")], True), Size(1, 1, 1), random.Random(seed), convex=False)
        for seed in range(60)
    ]
    assert len({one.mean for one in made}) > 40
    assert 10 < sum(min(one.mean.slopes) < 0 for one in made) < 50  # bounded below, and not convex
    assert sum(len(one.mean.knots) > 1 for one in made) > 20


def test_the_pool_has_them_unless_functions_are_quadratics() -> None:
    kinds = [
        [type(one.instance.problem) for seed in range(60) if (one := drawn(c, seed))] for c in (ANYWHERE, QUADRATIC)
    ]
    assert 10 <= kinds[0].count(Pieces) <= 20
    assert 3 <= kinds[0].count(Ridges) <= 12
    assert kinds[1].count(Pieces) == kinds[1].count(Ridges) == 0
    rounds = {one.instance.rounds for seed in range(90) if (one := drawn(ANYWHERE, seed))}
    assert {1, 2, 3, 10, 20, 30} <= rounds  # nothing is drawn: long runs too


@settings(max_examples=40, deadline=None)
@SEEDS
def test_simpler_ones_are_simpler(seed: int) -> None:
    rng = random.Random(seed)
    one = made_pieces(shape_of([assumed("convex(f)")], True), rng.choice(ONE_DIMENSION), rng).functions
    for by, other in translated(one):
        x = some(rng)
        assert all(g.derivative(x + by) == f.derivative(x) for f, g in zip(sum(one, ()), sum(other, ()), strict=True))
    assert len(list(simplified(one))) > 0


def test_a_break_is_made_smaller() -> None:
    seen = next(
        s
        for seed in range(2, 3000, 3)
        if (one := drawn(ANYWHERE, seed)) is not None and (s := measured(ANYWHERE, one)) is not None
        and s.measured.broken
    )  # fmt: skip
    small = shrunk(ANYWHERE, seen, 200)
    assert small.measured.broken
    assert size(candidate_of(small.drawn)) <= size(candidate_of(seen.drawn))
    again = realised(ANYWHERE, candidate_of(small.drawn), dict(small.drawn.constants))
    assert again is not None
    assert again.instance == small.drawn.instance


def with_another_slope(c: Candidate, rng: random.Random) -> Candidate:
    f = c.functions[0][0]
    return replace(c, functions=((replace(f, slopes=(*f.slopes[:-1], f.slopes[-1] * rng.randrange(2, 9))),),))


def test_what_is_tied_follows_the_problem() -> None:
    one = drawn(ANYWHERE, 2)
    seeds = iter(range(5, 3000, 3))
    while one is None or not isinstance(one.instance.problem, Pieces) or one.values["beta"].denominator > 10**4:
        one = drawn(ANYWHERE, next(seeds))
    rng, found = random.Random(0), 0
    for _ in range(100):
        near = realised(ANYWHERE, with_another_slope(candidate_of(one), rng))
        if near is not None and near.values["L"] != one.values["L"]:
            L, mu = near.values["L"], near.values["mu"]
            assert abs(float(near.values["alpha"]) - 4 / (float(L) ** 0.5 + float(mu) ** 0.5) ** 2) < 1e-9
            found += 1
    assert found >= 3


# --- what they refute ------------------------------------------------------------------------------------------------


def accepted_alone(path: str) -> bool:
    folder = Path(path).parent
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(folder / "verify.py"), path], capture_output=True, text=True, check=False
    )
    return done.returncode == 0 and "VALID" in done.stdout and "f' is continuous" in done.stdout


@pytest.mark.slow
def test_the_heavy_ball_is_refuted_anywhere(tmp_path: Path) -> None:
    found = examine(ANYWHERE, quick=True, out=tmp_path)
    assert found.verdict == "refuted"
    assert found.evidence[0].origin in ("pool", "search")
    assert "piecewise quadratic" in found.evidence[0].detail
    assert accepted_alone(str(found.certificate))


@pytest.mark.slow
def test_the_heavy_ball_on_quadratics_is_supported(tmp_path: Path) -> None:
    found = examine(QUADRATIC, quick=True, out=tmp_path)
    assert found.verdict == "supported"
    assert "quadratics, d up to 3" in found.covered
    assert "piecewise" not in found.covered


def test_bounded_gradients_with_curvature(tmp_path: Path) -> None:
    false = examine(average(4, "convex(f)"), quick=True, out=tmp_path)
    assert false.verdict == "refuted"
    assert accepted_alone(str(false.certificate))


@pytest.mark.slow
def test_bounded_gradients_without_more_are_nearly_attained(tmp_path: Path) -> None:
    still = examine(average(2, "convex(f)"), quick=True, out=tmp_path)
    assert not any(e.outcome in ("refuted", "fails") for e in still.evidence)
    assert any(e.outcome == "holds" and e.tightness is not None and e.tightness > 0.9 for e in still.evidence)


def test_functions_that_are_not_convex_are_tried_where_nobody_says_that_they_are(tmp_path: Path) -> None:
    text = "norm2(grad(f, x[k+1])) <= norm2(grad(f, x[k]))"
    loose = claim("c", text, of=descent, assuming=("smooth(f, L)", "bounded_below(f)", "eta <= 1/L"))
    assert examine(loose, quick=True, out=tmp_path).verdict == "refuted"
    convex = claim("c", text, of=descent, assuming=("smooth(f, L)", "convex(f)", "eta <= 1/L"))
    found = examine(convex, quick=True, out=tmp_path)
    assert found.verdict == "proved"


# --- certificates ----------------------------------------------------------------------------------------------------

INSTANCE = {
    "parameters": {"alpha": "1/9", "beta": "4/9"}, "problem": {"clients": [[CYCLE]]}, "start": "33/10", "rounds": 12,
}  # fmt: skip


def made(one: Claim, data: dict[str, Any], constants: dict[str, Any], **more: Any) -> dict[str, Any]:
    from validate.both_sides import sides

    instance = read_instance({**data, "algorithm": "a.py:a"}, one.of)
    rows = sides(one.sentence, one.vocabulary, instance, {k: F(v) for k, v in constants.items()}).broken
    row = rows[-1]
    return play_certificate(
        one, data, row.at, row.left, row.right, origin="pool", quick=True, constants=constants, **more
    )


def test_a_certificate_of_the_cycle_and_what_is_wrong_with_others() -> None:
    good = made(ANYWHERE, INSTANCE, {"L": "25", "mu": "1"})
    report = verifier.verify(good)
    assert report.valid
    assert any("knots (1, 2), slopes (25, 1, 25), b = 0, c = 0" in line for line in report.claimed)

    def changed(**sample: Any) -> dict[str, Any]:
        new = copy.deepcopy(good)
        new["problem"]["clients"][0][0] |= sample
        return new

    for wrong in (
        changed(slopes=["25", "1/2", "25"]),  # mu = 1 is not true any more
        changed(slopes=["26", "1", "25"]),  # nor L = 25
        changed(knots=["1", "3"]),  # another run
        changed(b="1"),
        {**good, "start": ["3"]},
        {**good, "left": "1"},
        {
            **good,
            "assumptions": [*good["assumptions"], {"text": "quadratic(f)", "predicate": "quadratic", "function": "f"}],
        },
    ):
        assert not verifier.verify(wrong).valid
    for malformed in (
        changed(knots=["2", "1"]),
        changed(knots=["1", "1"]),
        changed(slopes=["25", "1"]),
        changed(knots="1"),
        changed(knots=[str(k) for k in range(101)], slopes=["1"] * 102),
        changed(h="1"),
        changed(knots=["1", 2.5]),
    ):
        with pytest.raises(FormatError):
            verifier.verify(malformed)


def test_hostile_problems_are_refused_soon() -> None:
    good = made(ANYWHERE, INSTANCE, {"L": "25", "mu": "1"})
    many = {"knots": [str(k) for k in range(100)], "slopes": ["1", "25"] * 50 + ["1"], "b": "0"}
    for clients in (
        [[many] * 100],
        [[CYCLE], [{"H": [["1", "0"], ["0", "1"]], "b": ["0", "0"]}]],
        [[text_of(CYCLE)], []],
        [[text_of(CYCLE)]] * 1025,
        [[{**text_of(CYCLE), "b": "1" * 100_000}]],
        [[{"knots": [], "slopes": ["1"], "b": "0"}] * 40_000],
    ):
        with pytest.raises(FormatError):
            verifier.verify({**good, "problem": {"clients": clients}})


def test_draws_and_proximal_points_are_played_by_the_verifier_too() -> None:
    data = {
        "parameters": {"eta": "1/3", "t": "1/2"},
        "problem": {"clients": [[CYCLE, {"h": 2, "b": 1}], [{"knots": [0], "slopes": [0, 3], "b": "1/2", "c": 1}]]},
        "start": 3, "rounds": 2,
    }  # fmt: skip
    one = claim("c", "E(f(x[k])) <= 0", of=sampled, assuming=("convex(f_ni)",))
    good = made(one, data, {})
    assert verifier.verify(good).valid
    assert not verifier.verify({**good, "parameters": {**good["parameters"], "t": "1/3"}}).valid
    hollow = copy.deepcopy(good)
    hollow["problem"]["clients"][1][0]["slopes"] = ["0", "-3"]  # 1/t - 3 < 0
    hollow["assumptions"] = []
    report = verifier.verify(hollow)
    assert not report.valid
    assert any("proximal point" in line for line in report.lines)


def test_a_minimiser_that_is_meant_is_one() -> None:
    double = {"knots": [-1, 1], "slopes": [1, -1, 1], "b": 0}  # least at -2 and 2; at 0 it is stationary
    data = {"parameters": {"eta": "1"}, "problem": {"clients": [[double]]}, "start": 2, "rounds": 1}
    one = claim("c", "norm2(x[k] - xstar) <= 1", of=descent, assuming=("smooth(f, L)",))
    good = made(one, data, {"L": "1"}, xstar=["-2"])
    assert verifier.verify(good).valid
    for xstar in (["0"], ["2"], ["1"]):
        assert not verifier.verify({**good, "xstar": xstar}).valid
    assert not verifier.verify({k: v for k, v in good.items() if k != "xstar"}).valid
