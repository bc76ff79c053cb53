"""Sums of piecewise quadratics along directions: against plain sums, samples and brute force; what they refute."""

import copy
import random
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rounds import descent
from tests.rounds import sampled as proximal
from tests.validate.assumptions import ASSUMED, assumed, seen_by_others, text_of
from tests.validate.tampering import edit, verdict
from theory import predicates as p
from theory.arithmetic import to_element
from theory.claim import claim
from theory.formula import UndefinedError
from theory.operations import UndecidedError, to_fraction
from theory.program import algorithm
from validate import verifier
from validate.certificate.play import play_certificate
from validate.examine import examine
from validate.instances import Piecewise, RidgeFunction, Ridges, read_instance, read_problem
from validate.instances.candidates import candidate_of, realised, size, smaller
from validate.instances.longer import longer, ways
from validate.instances.piece_shapes import assumes_convex
from validate.instances.pool import drawn
from validate.instances.ridge_functions import axes_of
from validate.instances.ridge_moves import copied_along, moved_by, simplified_ridges
from validate.instances.ridge_shapes import made_ridges, may_slant
from validate.instances.seen import measured
from validate.instances.shapes import Size, shape_of
from validate.play import Play
from validate.report.played import in_words
from validate.satisfied import best, true
from validate.verifier import FormatError
from validate.verifier import ridges as read_by_others
from validate.verifier import ridges_assumed as other_eyes
from validate.verifier.reading import Uncheckable
from validate.verifier.scalars import Work

F = Fraction
SIZES = (Size(1, 1, 2), Size(1, 2, 2), Size(2, 1, 2), Size(2, 2, 2), Size(3, 1, 2), Size(1, 1, 3), Size(2, 1, 3))
SEEDS = given(st.integers(0, 10**6))
SIGNS = {
    "ridges": [{"a": [1, 1], "knots": [], "slopes": [1]}, {"a": [1, -1], "knots": [0], "slopes": [0, 2]}],
    "b": [0, 0],
}
"""(x_1 + x_2)^2/2 + (x_1 - x_2)_+^2."""


@algorithm
def greedy(w, x, *, eta, m):
    return x - eta * w.top(w.full_gradient(x), m)


def some(rng: random.Random) -> Fraction:
    return F(rng.randrange(-20, 21), rng.choice((1, 2, 3, 4)))


def vector(d: int, rng: random.Random) -> tuple[Fraction, ...]:
    return tuple(some(rng) for _ in range(d))


def of_seed(rng: random.Random, *predicates: p.Predicate) -> Ridges:
    """As the pool makes them, or anything."""
    if rng.random() < 0.3:
        d = rng.choice((1, 2, 3))
        return Ridges(
            tuple(tuple(function(d, rng) for _ in range(rng.choice((1, 2)))) for _ in range(rng.choice((1, 1, 2))))
        )
    convex = assumes_convex(predicates) or rng.random() < 0.6
    listed = [*predicates, *([assumed("convex(f_n)")] if convex else [])]
    return made_ridges(
        shape_of(listed, True), rng.choice(SIZES), rng, slanted=may_slant(predicates), convex=convex,
    )  # fmt: skip


def function(d: int, rng: random.Random) -> RidgeFunction:
    terms = []
    for _ in range(rng.randrange(4)):
        a = tuple(F(rng.randrange(-3, 4)) for _ in range(d))
        knots = sorted({some(rng) for _ in range(rng.randrange(3))})
        slopes = [F(rng.randrange(-2, 6)) for _ in range(len(knots) + 1)]
        if any(a):
            terms.append((a, Piecewise(tuple(knots), tuple(slopes), some(rng), some(rng))))
    return RidgeFunction(tuple(terms), vector(d, rng), some(rng))


def elements(v: Any) -> Any:
    return tuple(map(to_element, v))


# --- values -----------------------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@SEEDS
def test_values_and_gradients_are_those_of_the_sum_in_every_form(seed: int) -> None:
    rng = random.Random(seed)
    d = rng.choice((1, 2, 3))
    terms = []
    for _ in range(rng.randrange(1, 5)):
        a = vector(d, rng)
        knots = sorted({some(rng) for _ in range(rng.randrange(3))})
        if any(a):
            slopes = tuple(some(rng) for _ in range(len(knots) + 1))
            terms.append((a, Piecewise(tuple(knots), slopes, some(rng), some(rng))))
    b, c = vector(d, rng), some(rng)
    f = RidgeFunction(tuple(terms), b, c)
    for _ in range(6):
        x = vector(d, rng)
        places = [sum(y * z for y, z in zip(a, x, strict=True)) for a, _ in terms]
        value = c - sum(y * z for y, z in zip(b, x, strict=True))
        value += sum(phi.value(t) for t, (_, phi) in zip(places, terms, strict=True))
        gradient = [-y for y in b]
        for t, (a, phi) in zip(places, terms, strict=True):
            gradient = [g + phi.derivative(t) * y for g, y in zip(gradient, a, strict=True)]
        assert to_fraction(f.value(elements(x))) == value == f.at(x)[1]
        assert list(map(to_fraction, f.gradient(elements(x)))) == gradient == list(f.at(x)[0])
    assert f == RidgeFunction(f.terms, f.b, f.c)
    assert len({a for a, _ in f.terms}) == len(f.terms)
    written = Ridges(((f,),)).to_json()
    assert read_problem(written) == Ridges(((f,),))
    read = read_by_others.read_ridges(text_of(written), Work())
    x = vector(d, rng)
    assert read.mean.value(x) == f.at(x)[1]
    assert list(read.mean.gradient(x)) == list(f.at(x)[0])


def test_one_form_for_parallel_directions_and_what_is_refused() -> None:
    bend = Piecewise((F(1),), (F(0), F(2)))
    one = RidgeFunction((((F(2), F(-4)), bend), ((F(-1, 3), F(2, 3)), bend)), (F(0), F(0)))
    ((a, phi),) = one.terms
    assert a == (1, -2)
    assert phi == Piecewise((F(-3), F(1, 2)), (F(2, 9), F(0), F(8)))
    assert RidgeFunction(((((F(1), F(0))), Piecewise((), (F(0),), F(3))),), (F(0), F(1))).b == (3, 1)
    for wrong, why in (
        ({"ridges": [{"a": [0, 0], "knots": [], "slopes": [1]}], "b": [0, 0]}, "is 0"),
        ({"ridges": [{"a": [1], "knots": [], "slopes": [1]}], "b": [0, 0]}, "coordinates"),
        ({"ridges": [{"a": [1, 0], "knots": [1, 0], "slopes": [1, 2, 3]}], "b": [0, 0]}, "do not increase"),
        ({"ridges": [{"a": [1, 0], "slopes": [1]}], "b": [0, 0]}, "a, knots and slopes"),
        ({"ridges": 3, "b": [0, 0]}, "list"),
    ):
        with pytest.raises(ValueError, match=why):
            read_problem({"clients": [[wrong]]})
    with pytest.raises(ValueError, match="as ridges, and others are not"):
        read_problem({"clients": [[SIGNS, {"H": [[1, 0], [0, 1]], "b": [0, 0]}]]})
    with pytest.raises(ValueError, match="different dimensions"):
        read_problem({"clients": [[SIGNS], [{"ridges": [], "b": [0]}]]})


# --- minima -----------------------------------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@SEEDS
def test_minimisers_are_least_and_the_verifier_finds_the_same_value(seed: int) -> None:
    rng = random.Random(seed)
    one = of_seed(rng)
    read = read_by_others.read_ridges(text_of(one.to_json()), Work())
    for which, other in (((), read.mean), ((0,), read.own[0])):
        near = vector(one.dim, rng)
        try:
            found, least = one.minimisers(elements(near), *which), one.infimum(*which)
        except (UndefinedError, UndecidedError):
            continue
        if least is None:
            assert not found.points
            assert found.why == ""
        for point in found.points:
            assert one.value(point, *which) == least
            assert not any(one.gradient(point, *which))
        for _ in range(20):
            assert least is None or to_fraction(least) <= one.at(vector(one.dim, rng), *which)[1]
        try:
            seen = read.least(other)
        except Uncheckable:
            continue
        assert (seen is None) == (least is None)
        if seen is not None:
            assert seen[2] == to_fraction(least) == other.value(seen[0])
            assert all(read.minimises(other, tuple(map(to_fraction, point))) for point in found.points)
            assert not (seen[1] or found.unique) or seen[0] == tuple(map(to_fraction, found.points[0]))


@settings(max_examples=100, deadline=None)
@SEEDS
def test_proximal_points_are_stationary_in_both_houses(seed: int) -> None:
    rng = random.Random(seed)
    one = of_seed(rng)
    read = read_by_others.read_ridges(text_of(one.to_json()), Work())
    t, v = rng.choice((F(1, 3), F(1), F(5, 2), F(-1, 50))), vector(one.dim, rng)
    try:
        (u) = one.prox(elements(v), to_element(t), 0)
    except ValueError:
        with pytest.raises(Uncheckable):
            read.prox(0, v, t)
        return
    gradient = one.gradient(u, 0)
    assert all(g + (x - y) / to_element(t) == 0 for g, x, y in zip(gradient, u, elements(v), strict=True))
    assert read.prox(0, v, t) == tuple(map(to_fraction, u))


@settings(max_examples=40, deadline=None)
@SEEDS
def test_a_run_is_that_of_plain_floats(seed: int) -> None:
    rng = random.Random(seed)
    one = made_ridges(shape_of([assumed("convex(f_ni)")], True), rng.choice(SIZES), rng, slanted=True)
    start, eta, t = vector(one.dim, rng), F(1, rng.choice((3, 10, 50))), F(1, 2)
    data = {"problem": one.to_json(), "start": list(map(str, start)), "rounds": 3, "algorithm": "a.py:a"}
    run = read_instance({**data, "parameters": {"eta": str(eta)}}, descent)
    ((_, (state,)),) = list(Play(run).law(3))
    x = np.array(start, dtype=float)
    for _ in range(3):
        x = x - float(eta) * np.mean([np.mean([plain(f, x) for f in own], axis=0) for own in one.functions], axis=0)
    assert np.allclose(x, list(map(float, map(to_fraction, state))), rtol=1e-9, atol=1e-9)
    run = read_instance({**data, "rounds": 1, "parameters": {"eta": str(eta), "t": str(t)}}, proximal)
    law = list(Play(run).law(1))
    assert sum(to_fraction(chance) for chance, _ in law) == 1


def plain(f: RidgeFunction, x: Any) -> Any:
    """The gradient in floats, by sums of positive parts."""
    total = -np.array(f.b, dtype=float)
    for a, phi in f.terms:
        way = np.array(a, dtype=float)

        def derivative(s: float, phi: Piecewise = phi) -> float:
            jumps = zip(phi.knots, phi.slopes, phi.slopes[1:], strict=False)
            return float(phi.slopes[0]) * s + sum(float(v - u) * max(s - float(knot), 0.0) for knot, u, v in jumps)

        total = total + (derivative(float(way @ x)) - derivative(0.0)) * way
    return total


# --- constants --------------------------------------------------------------------------------------------------------


def missed(predicate: p.Predicate, one: Ridges, constants: tuple[Any, ...], x: Any, y: Any) -> Fraction:
    """By how much an assumption is missed at two points, from values and gradients alone; above 0 only if it is."""

    def square(v: Any) -> Fraction:
        return sum((z * z for z in v), F(0))

    if isinstance(predicate, p.BoundedVariance):
        spreads = [
            sum(square(f.at(x)[0] - mean.at(x)[0]) for f in own) / len(own)
            for own, mean in zip(one.functions, one.own, strict=True)
        ]
        return max(spreads) - constants[0]
    if isinstance(predicate, p.Dissimilar):
        gradients, mean = [f.at(x)[0] for f in one.own], one.mean.at(x)[0]
        if predicate.spread:
            return sum(square(g - mean) for g in gradients) / len(gradients) - constants[0] ** 2
        return sum(map(square, gradients)) / len(gradients) - constants[0] ** 2 - constants[1] ** 2 * square(mean)
    found = []
    for f in one.named(predicate.function):
        (g, value), (h, other) = f.at(x), f.at(y)
        away = np.array(x, dtype=object) - np.array(y, dtype=object)
        if isinstance(predicate, p.Smooth):
            found.append(square(g - h) - constants[0] ** 2 * square(away))
        elif isinstance(predicate, p.Convex | p.StronglyConvex):
            found.append((constants[0] if constants else 0) * square(away) - ((g - h) * away).sum())
        elif isinstance(predicate, p.Lipschitz | p.BoundedGradients):
            found += [square(g) - constants[0] ** 2, (value - other) ** 2 - constants[0] ** 2 * square(away)]
        elif isinstance(predicate, p.PolyakLojasiewicz):
            index = one.named(predicate.function).index(f)
            which = ((),) if predicate.function == "f" else tuple((n,) for n in range(one.clients))
            if predicate.function == "f_ni":
                which = tuple((n, i) for n in range(one.clients) for i in range(one.samples(n)))
            least = one.infimum(*which[index])
            assert least is not None
            found.append(2 * constants[0] * (value - to_fraction(least)) - square(g))
        else:
            found.append(F(0))
    return max(found)


def rounded(values: Any) -> tuple[Fraction, ...]:
    return tuple(F(float(v)).limit_denominator(10**9) if isinstance(v, float) else F(v) for v in values)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(ASSUMED))
def test_best_constants_are_true_at_all_points_and_better_ones_not_where_directions_are_orthogonal(
    seed: int, text: str
) -> None:
    rng = random.Random(seed)
    predicate = assumed(text)
    one = of_seed(rng, predicate)
    found = best(predicate, one)
    if found is None:
        return
    ways = predicate.directions
    exact = tuple(
        (v if isinstance(w, F) else v * (F(10**6 + 1, 10**6) if way == "up" else F(10**6 - 1, 10**6)))
        for v, w, way in zip(rounded(found), found, ways, strict=True)
    )
    if not all(exact):  # every positive number is one
        exact = tuple(max(v, F(1, 100)) for v in exact)
        assert true(predicate, one, exact) is True
    else:
        assert true(predicate, one, exact) is True
        worse = tuple(v * (2 if way == "up" else F(1, 2)) for v, way in zip(exact, ways, strict=True))
        assert true(predicate, one, worse) is True
        functions = [*one.named(getattr(predicate, "function", "") or "f_ni"), *one.own, one.mean]
        curved = any(f.terms for f in one.named("f"))
        if predicate.constants and axes_of(functions) is not None and (curved or predicate.name != "pl"):
            tighter = tuple(
                v * (F(999, 1000) if way == "up" else F(1001, 1000)) for v, way in zip(exact, ways, strict=True)
            )
            assert true(predicate, one, tighter) is False
    xs = [vector(one.dim, rng) for _ in range(6)]
    assert all(missed(predicate, one, exact, x, y) <= 0 for x, y in combinations(xs, 2))


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(ASSUMED))
def test_the_verifiers_own_eyes_see_the_same(seed: int, text: str) -> None:
    rng = random.Random(seed)
    predicate = assumed(text)
    one = of_seed(rng, predicate)
    read = read_by_others.read_ridges(text_of(one.to_json()), Work())
    constants: tuple[Any, ...] = ()
    if predicate.constants:
        known = best(predicate, one) or (some(rng),) * len(predicate.constants)
        constants = tuple(v * rng.choice((F(1), F(1), F(2), F(1, 2), F(9, 10))) for v in rounded(known))
        constants = tuple(v if v > 0 else F(1) for v in constants)
    told = true(predicate, one, constants)
    try:
        seen = seen_by_others(other_eyes, read, predicate, constants)
    except Uncheckable:
        assert told is not True or predicate.name == "same_minimiser"
        return
    if seen:  # what the verifier accepts is true, and what is told to be true it accepts
        assert told is True
    else:
        assert told is not True or predicate.name in ("bounded_below", "same_minimiser")


def test_constants_of_directions_that_are_not_orthogonal_are_those_of_the_matrices() -> None:
    bend = Piecewise((F(0),), (F(0), F(1)))
    f = RidgeFunction((((F(1), F(0)), bend), ((F(1), F(1)), bend)), (F(0), F(0)))
    one = Ridges(((f,),))
    assert f.free
    assert f.lines is None
    (L,) = best(assumed("smooth(f, L)"), one)
    assert abs(L - (3 + 5**0.5) / 2) < 1e-9
    assert true(assumed("smooth(f, L)"), one, (F(2618034, 10**6),)) is True
    assert true(assumed("smooth(f, L)"), one, (F(2618033, 10**6),)) is False
    three = RidgeFunction((*f.terms, ((F(0), F(1)), bend)), (F(0), F(0)))
    assert not three.free
    assert true(assumed("smooth(f, L)"), Ridges(((three,),)), (F(2),)) is None
    steps = Piecewise((F(0), F(3)), (F(0), F(1), F(0)))
    flat = Ridges(((RidgeFunction((((F(1), F(0)), steps), ((F(1), F(1)), steps)), (F(1), F(0))),),))
    (G,) = best(assumed("lipschitz(f, G)"), flat)
    assert abs(G - 34**0.5) < 1e-9  # 3*(1, 0) + 3*(1, 1) - (1, 0)
    assert true(assumed("lipschitz(f, G)"), flat, (F(6),)) is True
    assert true(assumed("lipschitz(f, G)"), flat, (F(29, 5),)) is False


# --- in the pool and the search ---------------------------------------------------------------------------------------

ANY = claim("any", "norm2(x[k] - xstar) <= norm2(x0 - xstar)", of=descent,
            assuming=("smooth(f_n, L)", "convex(f_n)", "eta <= 1/L"))  # fmt: skip
SIGN = claim(
    "signs",
    "dot(grad(f, x) - grad(f, y), z - y)*dot(grad(f, z) - grad(f, y), x - y) >= 0",
    vectors=("x", "y", "z"),
    assuming=("smooth(f, L)", "convex(f)"),
)


def test_the_pool_has_them_and_they_satisfy_what_is_assumed() -> None:
    found = [one for seed in range(120) if (one := drawn(ANY, seed)) and isinstance(one.instance.problem, Ridges)]
    assert len(found) >= 8
    assert {one.instance.dim for one in found} == {2, 3}
    for one in found:
        for predicate in ANY.predicates:
            constants = [one.values[symbol.name] for symbol in predicate.constants]
            assert true(predicate, one.instance.problem, constants) is True
        seen = measured(ANY, one)
        assert seen is None or not seen.measured.broken
        assert realised(ANY, candidate_of(one)) is not None


@settings(max_examples=30, deadline=None)
@SEEDS
def test_simpler_ones_are_simpler(seed: int) -> None:
    rng = random.Random(seed)
    one = of_seed(rng).functions
    by = vector(one[0][0].dim, rng)
    for f, g in zip(sum(one, ()), sum(moved_by(one, by), ()), strict=True):
        x = vector(len(by), rng)
        there = tuple(a + b for a, b in zip(x, by, strict=True))
        assert list(g.at(there)[0]) == list(f.at(x)[0])
    assert all(f.dim == len(by) for other in simplified_ridges(one) for own in other for f in own)


@settings(max_examples=30, deadline=None)
@SEEDS
def test_more_coordinates_are_copies_in_blocks(seed: int) -> None:
    rng = random.Random(seed)
    d = rng.choice((1, 2, 3))
    f, x, rest = function(d, rng), vector(d, rng), vector(2 * d, rng)
    ((g,),) = copied_along(((f,),), [*range(d), *range(d)], [0] * d + [1] * d)
    value = f.at(rest[:d])[1] + f.at(rest[d:])[1] - f.c
    assert g.at(rest)[1] == value
    assert list(g.at((*x, *x))[0]) == [*f.at(x)[0]] * 2


def test_coordinates_grow_to_what_breaks_a_claim_there(tmp_path: Any) -> None:
    one = claim("greedy", "norm2(x[1] - x0 + eta*grad(f, x0)) <= 4/5*eta**2*norm2(grad(f, x0))", of=greedy)
    bent = next(
        o for s in range(99) if (o := drawn(one, s, sizes=[SIZES[0]])) and isinstance(o.instance.problem, Ridges)
    )
    c = replace(candidate_of(bent), values={**bent.values, "m": F(1)})
    way = next(way for way in ways(one, c) if way.name == "d")
    grown = longer(one, c, way, 16)
    assert grown is not None
    assert grown.instance.dim == 16
    assert len(grown.instance.start) == 16


def test_candidates_shrink() -> None:
    one = next(
        o for s in range(99) if (o := drawn(ANY, s, sizes=[SIZES[0]])) and isinstance(o.instance.problem, Ridges)
    )
    here = candidate_of(one)
    less = [step for step in smaller(here, ANY) if size(step) < size(here)]
    assert any(realised(ANY, step) is not None for step in less)
    flat = [step for step in less if len(step.start) == 1 and one.instance.dim == 2]
    assert one.instance.dim != 2 or (flat and realised(ANY, flat[0]) is not None)


def test_what_is_false_in_the_plane_only_is_refuted(tmp_path: Any) -> None:
    result = examine(SIGN, quick=True, out=tmp_path)
    assert result.verdict == "refuted"
    assert result.origin in ("pool", "search")
    assert "sums of piecewise quadratics along directions" in next(e.detail for e in result.evidence)


@pytest.mark.slow
def test_what_is_true_of_bounded_gradients_is_supported_in_the_plane(tmp_path: Any) -> None:
    assuming = ("lipschitz(f, G)",)
    one = claim("lip", "abs(f(x) - f(y)) <= G*norm(x - y)", vectors=("x", "y"), assuming=assuming)
    result = examine(one, quick=True, out=tmp_path)
    assert result.verdict in ("supported", "proved")
    assert result.verdict == "proved" or "piecewise quadratics in one dimension and along directions" in result.covered
    wrong = claim("lip", "abs(f(x) - f(y)) <= 99/100*G*norm(x - y)", vectors=("x", "y"), assuming=assuming)
    assert examine(wrong, quick=True, out=tmp_path).verdict == "refuted"


# --- certificates -----------------------------------------------------------------------------------------------------


def certificate(problem: Any = SIGNS, **more: Any) -> dict[str, Any]:
    data = {
        "problem": {"clients": [[problem]]},
        "start": [0, 0],
        "rounds": 1,
        "vectors": {"x": [1, 0], "y": [0, 0], "z": [0, 1]},
    }
    return play_certificate(SIGN, data, {}, F(-1), F(0), origin="pool", quick=True, constants={"L": F(4)}, **more)


def test_a_certificate_and_what_is_wrong_with_others() -> None:
    good = certificate()
    report = verifier.verify(good)
    assert report.valid
    assert any("a = (1, -1): knots (0), slopes (0, 2)" in line for line in report.claimed)
    ridge = ("problem", "clients", 0, 0, "ridges", 1)
    for path, value in (
        ((*ridge, "slopes"), ["0", "3"]),  # L = 4 is not true any more, nor are the sides
        ((*ridge, "slopes"), ["-1", "2"]),  # not convex
        ((*ridge, "knots"), ["5"]),  # all the same where x, y and z are
        ((*ridge, "a"), ["1", "-2"]),
        (("parameters", "L"), "3"),
        (("left",), "-2"),
        (("vectors", "z"), ["1", "0"]),
    ):
        assert verdict(edit(good, path, value)) == "invalid", path
    for path, value in (
        ((*ridge, "a"), ["0", "0"]),
        ((*ridge, "a"), ["1", "1"]),  # there already
        ((*ridge, "a"), ["1"]),
        ((*ridge, "slopes"), ["0"]),
        ((*ridge, "knots"), ["0", "0"]),
        ((*ridge, "b"), "0"),
        ((*ridge[:-2], "b"), ["0"]),
        (ridge[:-1], "none"),
    ):
        assert verdict(edit(good, path, value)) == "malformed", path
    other = copy.deepcopy(good)
    other["problem"]["clients"].append([{"H": [["1", "0"], ["0", "1"]], "b": ["0", "0"]}])
    assert verdict(other) == "malformed"


def test_runs_draws_and_minimisers_are_played_by_the_verifier_too() -> None:
    slanted = {
        "ridges": [{"a": [1, 0], "knots": [1], "slopes": [1, 3]}, {"a": [1, 2], "knots": [0], "slopes": [1, 2]}],
        "b": [1, 0],
    }
    other = {"ridges": [{"a": [2, -1], "knots": [], "slopes": ["1/2"]}, {"a": [1, 0], "knots": [], "slopes": [1]}],
             "b": [0, 1], "c": 1}  # fmt: skip
    data = {"parameters": {"eta": "1/7", "t": "1/2"}, "problem": {"clients": [[slanted, other], [slanted]]},
            "start": [2, -3], "rounds": 1}  # fmt: skip
    one = claim("c", "E(norm2(x[k] - xstar)) <= f(x0) - fstar - 50", of=proximal, assuming=("convex(f_ni)",))
    from validate.both_sides import sides

    instance = read_instance({**data, "algorithm": "a.py:a"}, one.of)
    row = sides(one.sentence, one.vocabulary, instance, {}).broken[-1]
    good = play_certificate(one, data, row.at, row.left, row.right, origin="pool", quick=True)
    assert verifier.verify(good).valid
    assert not verifier.verify({**good, "parameters": {**good["parameters"], "t": "1/3"}}).valid
    assert not verifier.verify({**good, "start": ["2", "-2"]}).valid
    assert "φ″ = 1 up to 1, 3 beyond along" in in_words(good).replace("\N{NO-BREAK SPACE}", " ")


def test_hostile_problems_are_refused_soon() -> None:
    good = certificate()
    ridge = {"a": ["1", "0"], "knots": [], "slopes": ["1"]}
    for clients in (
        [[{"ridges": [], "b": ["0"] * 41}]],
        [[{"ridges": [{**ridge, "knots": [str(k) for k in range(101)], "slopes": ["1"] * 102}], "b": ["0", "0"]}]],
        [[{"ridges": [{**ridge, "slopes": ["1" * 100_000]}], "b": ["0", "0"]}]],
        [[{"ridges": [ridge], "b": ["0", "0"]}], []],
        [[{"ridges": [ridge], "b": ["0", "0"]}]] * 1025,
    ):
        with pytest.raises(FormatError):
            verifier.verify({**good, "problem": {"clients": clients}})
    bends = [{"a": ["1", str(j)], "knots": ["0", "1"], "slopes": ["1", "2", "1"]} for j in range(12)]
    many = {"ridges": bends, "b": ["1", "0"]}
    read = read_by_others.read_ridges({"clients": [[many]]}, Work())
    with pytest.raises(Uncheckable, match="too many pieces"):
        read.minimum(read.mean)
