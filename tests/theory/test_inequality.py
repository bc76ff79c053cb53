"""Known inequalities are proved, their false neighbours refuted with vectors, and no false one is ever proved."""

from __future__ import annotations

import dataclasses
import random
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.theory.proving import proved, refuted
from theory.inequality.gram import Certificate
from theory.inequality.interpolation import Interpolated, bounded_gradients, cocoercive, convex, lipschitz_map, monotone
from theory.inequality.prover import Proof, Undecided, prove
from theory.inequality.vectors import Condition, Space, combination, expectation, inner, mean, square, vanishes

F = Fraction
PERCENT = F(99, 100)


@pytest.fixture
def abc():
    space = Space(("a", "b", "c"))
    return space, *space.vectors_of()


# --- inequalities without functions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("eps", ["1", "3/7", "1/1000", "250"])
def test_young(abc, eps):
    space, a, b, _ = abc
    left, right = 2 * inner(a, b), square(a) * eps + square(b) / F(eps)
    proved(left <= right, (), space)
    refuted(left <= right - square(b) / F(eps) / 100, (), space)


def test_jensen_for_three_vectors(abc):
    space, a, b, c = abc
    total = square(a) + square(b) + square(c)
    proved(square(a + b + c) <= 3 * total, (), space)
    found = refuted(square(a + b + c) <= 3 * PERCENT * total, (), space)
    assert found.excess > 0


def test_jensen_for_expectations(abc):
    space, *vectors = abc
    p = ["1/6", "1/3", "1/2"]
    second = expectation(p, [square(v) for v in vectors])
    proved(square(mean(p, vectors)) <= second, (), space)
    refuted(square(mean(p, vectors)) <= PERCENT * second, (), space)


def test_variance_is_second_moment_less_the_square_of_the_mean(abc):
    space, *vectors = abc
    p = ["1/6", "1/3", "1/2"]
    centre = mean(p, vectors)
    variance = expectation(p, [square(v - centre) for v in vectors])
    second = expectation(p, [square(v) for v in vectors])
    proved(variance.equals(second - square(centre)), (), space)
    refuted(variance.equals(second - PERCENT * square(centre)), (), space)


def test_polarisation_is_an_equation(abc):
    space, a, b, _ = abc
    found = proved((4 * inner(a, b)).equals(square(a + b) - square(a - b)), (), space)
    assert len(found.certificates) == 2
    refuted((4 * PERCENT * inner(a, b)).equals(square(a + b) - square(a - b)), (), space)


def test_cauchy_schwarz_with_given_norms(abc):
    space, a, b, _ = abc
    norms = [(square(a) <= 2).named("|a|^2"), (square(b) <= "1/2").named("|b|^2")]
    found = proved(inner(a, b) <= 1, norms, space)
    assert found.used == {"|a|^2": F(1, 4), "|b|^2": F(1)}
    refuted(inner(a, b) <= PERCENT, norms, space)


def test_equations_that_force_irrational_coordinates(abc):
    """|a|^2 = 2 and |b|^2 = 3 have no rational vectors on a line; the weights of the coordinates carry the roots."""
    space, a, b, _ = abc
    norms = [square(a).equals(2), square(b).equals(3), inner(a, b).equals(0)]
    found = refuted(square(a + b) <= "4.99", norms, space)
    assert found.configuration.gram()[0][0] == 2
    proved(square(a + b).equals(5), norms, space)


def test_vectors_that_vanish(abc):
    space, a, b, c = abc
    proved(square(b + a) <= square(b), vanishes(a - c) + vanishes(c), space)
    refuted(square(b + a) <= F(3, 2) * square(b), vanishes(a - c), space)


def test_hypotheses_that_contradict_each_other_prove_anything_and_the_proof_says_so(abc):
    space, a, _, c = abc
    found = proved(square(c) <= -1, [square(a).equals(2), square(a) <= 1], space)
    assert found.contradictory
    assert not proved(square(a) <= 3, [square(a) <= 2], space).contradictory


def test_constants_and_plain_linear_programs():
    empty = Space()
    proved(empty.constant(0) <= 0, (), empty)
    refuted(empty.constant(F(1, 10**6)) <= 0, (), empty)
    space = Space((), ("f", "g"))
    f, g = space.value("f"), space.value("g")
    proved(f <= 2, [f + g <= 3, g >= 1], space)
    refuted(f <= "1.99", [f + g <= 3, g >= 1], space)
    refuted(f <= 5, (), space)


def test_what_has_a_proof_only_in_the_limit_is_undecided(abc):
    """<a, b> <= y |a|^2 + |b|^2/(4y) for every y, and |a|^2 <= 0: no single y will do."""
    space, a, b, _ = abc
    found = prove(inner(a, b) <= 0, [square(a) <= 0], space)
    assert isinstance(found, Undecided)
    assert found.status == "optimal"
    assert abs(found.violation) < 1e-3
    assert not found


# --- functions -------------------------------------------------------------------------------------------------------


def two_points(mu, L):
    space = Space(("x", "y", "g", "h"), ("f", "e"))
    x, y, g, h = space.vectors_of()
    f, e = space.value("f"), space.value("e")
    return space, x, y, g, h, f, e, Interpolated("f", ((x, g, f), (y, h, e)), F(mu), F(L))


@pytest.mark.parametrize(("mu", "L"), [(0, 1), ("1/7", 3), (-2, 2)])
def test_descent_lemma(mu, L):
    space, x, y, _, h, f, e, function = two_points(mu, L)
    rise = square(x - y) * F(L) / 2
    proved(f <= e + inner(h, x - y) + rise, (), space, [function])
    found = refuted(f <= e + inner(h, x - y) + PERCENT * rise, (), space, [function])
    assert [q.curvature for q in found.functions] == [F(L)]


@pytest.mark.parametrize(("mu", "L"), [(0, 1), ("1/7", 3)])
def test_cocoercivity_of_gradients(mu, L):
    space, x, y, g, h, _, _, function = two_points(mu, L)
    product = inner(g - h, x - y)
    found = proved(square(g - h) / F(L) <= product, (), space, [function])
    assert set(found.used) == {"f(0,1)", "f(1,0)"}
    worse = square(g - h) / F(L) / PERCENT <= product
    assert refuted(worse, (), space, [function]).functions
    refuted(worse, function.conditions(), space)


def test_gradients_of_smooth_functions_are_lipschitz_convex_or_not():
    space, x, y, g, h, _, _, function = two_points(-2, 2)
    proved(square(g - h) <= 4 * square(x - y), (), space, [function])
    refuted(square(g - h) <= 4 * PERCENT * square(x - y), (), space, [function])
    # ... but cocoercive only if convex
    refuted(square(g - h) / 2 <= inner(g - h, x - y), (), space, [function])


@pytest.mark.parametrize(("L", "mu"), [("1000", "1/1000"), ("1/10000", "1/1000000"), ("1000000", "1")])
def test_the_units_do_not_matter(L, mu):
    space, x, y, g, h, _, _, function = two_points(mu, L)
    product = inner(g - h, x - y)
    proved(square(g - h) + F(mu) * F(L) * square(x - y) <= (F(mu) + F(L)) * product, (), space, [function])
    worse = square(g - h) + F(mu) * F(L) * square(x - y) <= PERCENT * (F(mu) + F(L)) * product
    refuted(worse, (), space, [function])


@pytest.mark.parametrize("step", ["1/2", "1", "7/4", "20/11", "2"])
def test_contraction_of_a_gradient_step(step):
    """|x1 - x*|^2 <= max((1 - h mu)^2, (1 - h L)^2) |x0 - x*|^2 (Polyak 1987, section 1.4.2)."""
    h, mu, L = F(step), F(1, 10), F(1)
    space = Space(("x", "g"), ("f",))
    x, g = space.vectors_of()
    function = Interpolated("f", ((x, g, space.value("f")), (space.zero(), space.zero(), space.constant(0))), mu, L)
    factor = max((1 - h * mu) ** 2, (1 - h * L) ** 2)
    proved(square(x - h * g) <= factor * square(x), (), space, [function])
    found = refuted(square(x - h * g) <= factor * PERCENT * square(x), (), space, [function])
    assert found.functions[0].curvature in (mu, L)


def descent(steps):
    """Gradient descent with step 1/L on a convex function, L = 1, x* = 0, f* = 0."""
    names = [str(i) for i in range(steps + 1)]
    space = Space(("x0", *[f"g{i}" for i in names]), tuple(f"f{i}" for i in names))
    x, points = space.vector("x0"), [(space.zero(), space.zero(), space.constant(0))]
    for i in names:
        g = space.vector(f"g{i}")
        points.append((x, g, space.value(f"f{i}")))
        x = x - g
    return space, space.value(f"f{steps}"), Interpolated("f", tuple(points), F(0), F(1))


@pytest.mark.parametrize("steps", [1, 2, 3, 8])
def test_the_tight_constant_of_gradient_descent_is_proved_exactly(steps):
    """f(x_n) - f* <= L |x0 - x*|^2 / (4 n + 2): Drori and Teboulle (2014), Theorem 3.1."""
    space, last, function = descent(steps)
    bound = square(space.vector("x0")) / (4 * steps + 2)
    proved(last <= bound, (), space, [function])
    found = refuted(last <= PERCENT * bound, (), space, [function])
    points = found.points(function)
    assert len(points) == steps + 2
    x0, g0, _ = points[1]
    assert points[2][0] == tuple([a - b for a, b in zip(x0, g0, strict=True)])  # it is a gradient step


def test_the_same_with_the_distance_as_a_hypothesis():
    space, last, function = descent(1)
    near = Condition("near", square(space.vector("x0")) - 1, "<=")
    assert proved(last <= F(1, 6), [near], space, [function]).used["near"] == F(1, 6)
    refuted(last <= F(1, 6) * PERCENT, [near], space, [function])


def test_bounded_subgradients_of_a_convex_function():
    """One subgradient step: 2 h (f - f*) <= |x - x*|^2 - |x1 - x*|^2 + h^2 G^2."""
    space = Space(("x", "g"), ("f",))
    x, g = space.vectors_of()
    f, h, G = space.value("f"), F(1, 3), F(5, 2)
    hypotheses = [
        *convex(space, [(x, g, f), (space.zero(), space.zero(), space.constant(0))]),
        *bounded_gradients([g], G),
    ]
    claim = 2 * h * f <= square(x) - square(x - h * g) + h**2 * G**2
    proved(claim, hypotheses, space)
    refuted(2 * h * f <= square(x) - square(x - h * g) + PERCENT * h**2 * G**2, hypotheses, space)


def test_operators():
    space = Space(("x", "y", "u", "v"))
    x, y, u, v = space.vectors_of()
    pairs = [(x, u), (y, v)]
    firmly = cocoercive(pairs, 1)
    proved(square(u - v) <= square(x - y), firmly, space)
    refuted(square(u - v) <= PERCENT * square(x - y), firmly, space)
    nonexpansive = lipschitz_map(pairs, 1)
    averaged = [(x, (x + u) / 2), (y, (y + v) / 2)]
    for condition in cocoercive(averaged, 1):  # (I + T)/2 is firmly nonexpansive
        proved(condition, nonexpansive, space)
    refuted(cocoercive(averaged, F(101, 100))[0], nonexpansive, space)
    # x - u for a resolvent: monotone, and strongly with the right modulus only
    proved(monotone([(u, x - u), (v, y - v)])[0], firmly, space)
    refuted(monotone([(u, x - u), (v, y - v)], F(1, 100))[0], firmly, space)


# --- evidence that has been tampered with ----------------------------------------------------------------------------


def test_a_proof_with_any_multiplier_changed_fails_its_check():
    space, last, function = descent(2)
    near = Condition("near", square(space.vector("x0")) - 1, "<=")
    found = proved(last <= F(1, 10), [near], space, [function])
    certificate = found.certificates[0]
    for i in range(len(certificate.multipliers)):
        for shift in (F(1, 10**9), F(-1, 10**9), -2 * certificate.multipliers[i] - 1):
            changed = list(certificate.multipliers)
            changed[i] += shift
            tampered = dataclasses.replace(certificate, multipliers=tuple(changed))
            assert not dataclasses.replace(found, certificates=(tampered,)).check()


def test_a_proof_of_something_else_fails_its_check(abc):
    space, a, b, _ = abc
    found = proved(2 * inner(a, b) <= square(a) + square(b), (), space)
    stronger = 2 * inner(a, b) <= PERCENT * square(a) + square(b)
    assert not dataclasses.replace(found, claim=stronger).check()
    forged = Certificate(stronger.form, (), (), F(0), "exact")
    assert not Proof(stronger, (), (forged,)).check()
    assert not Proof((2 * inner(a, b)).equals(square(a) + square(b)), (), found.certificates).check()


def test_a_changed_counterexample_fails_its_check():
    space, last, function = descent(1)
    found = refuted(last <= F(1, 7) * square(space.vector("x0")), (), space, [function])
    point = found.configuration
    doubled = tuple([tuple([2 * x for x in row]) for row in point.coordinates])
    for changed in (
        dataclasses.replace(point, coordinates=doubled),
        dataclasses.replace(point, values=tuple([x + 1 for x in point.values])),
        dataclasses.replace(point, coordinates=point.coordinates[:-1]),
        dataclasses.replace(point, weights=tuple([-w for w in point.weights])),
        dataclasses.replace(point, weights=(*point.weights, F(1))),
    ):
        assert not dataclasses.replace(found, configuration=changed).check()


def test_a_changed_quadratic_fails_its_check():
    space, x, y, _, h, f, e, function = two_points(0, 1)
    found = refuted(f <= e + inner(h, x - y) + PERCENT * square(x - y) / 2, (), space, [function])
    quadratic = found.functions[0]
    for changed in (
        dataclasses.replace(quadratic, curvature=quadratic.curvature * 2),
        dataclasses.replace(quadratic, value=quadratic.value + 1),
        dataclasses.replace(quadratic, centre=tuple([c + 1 for c in quadratic.centre])),
        dataclasses.replace(quadratic, upper=quadratic.curvature / 2),
    ):
        assert not dataclasses.replace(found, functions=(changed,)).check()


def test_a_form_of_another_space_is_refused(abc):
    space, a, *_ = abc
    with pytest.raises(ValueError, match="outside the space of a form"):
        prove(square(a) <= 0, (), Space(("a",)))
    assert isinstance(prove(-square(a), (), space), Proof)  # a bare form is claimed to be at most 0


# --- random statements -----------------------------------------------------------------------------------------------


def small(draw):
    return F(draw.randint(-6, 6), draw.choice([1, 1, 2, 3]))


def random_form(draw, space, *, constant):
    vectors, total = space.vectors_of(), space.constant(small(draw) if constant else 0)
    for i, u in enumerate(vectors):
        for v in vectors[i:]:
            total = total + (small(draw) * inner(u, v) if draw.random() < 0.6 else 0)
    for name in space.values:
        total = total + (small(draw) * space.value(name) if draw.random() < 0.7 else 0)
    return total


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.integers(0, 2**32))
def test_combinations_of_hypotheses_and_squares_are_proved(seed):
    draw = random.Random(seed)
    n, m, constant = draw.randint(0, 4), draw.randint(0, 3), draw.random() < 0.5
    space = Space(tuple(f"v{i}" for i in range(n)), tuple(f"f{i}" for i in range(m)))
    hypotheses = [
        Condition(f"c{i}", random_form(draw, space, constant=constant), draw.choice(["<=", "<=", "=="]))
        for i in range(draw.randint(0, 4))
    ]
    claim = space.constant(-abs(small(draw)) if constant and draw.random() < 0.5 else 0)
    for c in hypotheses:
        y = small(draw)
        claim = claim + (y if c.relation == "==" else abs(y)) * c.form
    for _ in range(draw.randint(0, n)):
        claim = claim - abs(small(draw)) * square(combination([small(draw) for _ in range(n)], space.vectors_of()))
    proved(claim, hypotheses, space)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.integers(0, 2**32))
def test_statements_with_a_known_counterexample_are_refuted(seed):
    draw = random.Random(seed)
    n, m, d = draw.randint(1, 4), draw.randint(0, 3), draw.randint(1, 3)
    space = Space(tuple(f"v{i}" for i in range(n)), tuple(f"f{i}" for i in range(m)))
    rows = [[small(draw) for _ in range(d)] for _ in range(n)]
    gram = [[sum((a * b for a, b in zip(u, v, strict=True)), F(0)) for v in rows] for u in rows]
    values = [small(draw) for _ in range(m)]
    hypotheses = []
    for i in range(draw.randint(0, 4)):
        form, relation = random_form(draw, space, constant=True), draw.choice(["<=", "<=", "=="])
        slack = abs(small(draw)) if relation == "<=" and draw.random() < 0.7 else 0
        hypotheses.append(Condition(f"c{i}", form - form.at(gram, values) - slack, relation))
    form = random_form(draw, space, constant=True)
    refuted(form - form.at(gram, values) + F(draw.randint(1, 20), 10), hypotheses, space)
