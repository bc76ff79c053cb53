"""Claims that choose their units, or have 0 on one side, are the same claims in a general form."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.rounds import descent
from theory import claim
from theory.sentence import parse_expression, text_of
from validate.instances.any_units import determinant, in_any_units, of_length_one, root_of, solved
from validate.instances.at_least import of_all_sizes
from validate.instances.candidates import candidate_of, minimiser_of, of_units, realised
from validate.instances.longer import with_still_coordinates
from validate.instances.named_units import with_named_units
from validate.instances.point_functions import Point, PointFunction
from validate.instances.pool import drawn
from validate.instances.seen import measured
from validate.instances.two_sided import addends, two_sided
from validate.instances.units import units_of
from validate.instances.without_loss import without_loss

CONTRACTS = claim(
    "contracts",
    "norm2(x[k] - xstar) <= (1 - eta*mu)**k*norm2(x0 - xstar)",
    of=descent,
    assuming=("smooth(f, L)", "strongly_convex(f, mu)", "eta <= 1/L"),
)
SCALES = st.fractions(min_value=Fraction(1, 9), max_value=9, max_denominator=9)
EVERY = [one for seed in range(80) if (one := drawn(CONTRACTS, seed)) is not None]
"""Instances of quadratics, pieces and ridges."""


def assuming(*more, of=CONTRACTS):
    return replace(of, assuming=(*of.assuming, *more))


@given(one=st.sampled_from(EVERY), length=SCALES, curvature=SCALES)
def test_an_instance_in_other_units_has_its_sides_in_these(one, length, curvature):
    c = candidate_of(one)
    there = of_units(c, length, curvature)
    there = replace(there, values={**c.values, "eta": c.values["eta"] / curvature})
    constants = {name: one.values[name] * curvature for name in ("L", "mu")}
    again = realised(CONTRACTS, there, constants)
    assert again is not None
    least = minimiser_of(c)
    if least is not None:
        assert all(minimiser_of(there) == np.array(least, dtype=object) * length)
    rows, others = (measured(CONTRACTS, two).measured.rows for two in (one, again))
    assert [(row.left * length**2, row.right * length**2) for row in rows] == [(row.left, row.right) for row in others]


def test_there_are_several_kinds():
    assert len({type(one.instance.problem).__name__ for one in EVERY}) > 2


@given(length=SCALES, curvature=SCALES)
def test_a_function_given_by_points_is_of_the_scaled_class(length, curvature):
    """x^2/2 at 0 and 1, of a class with bounds: its points satisfy the scaled class's conditions, or this raises."""
    points = (Point((Fraction(0),), (Fraction(0),), Fraction(0)), Point((Fraction(1),), (Fraction(1),), Fraction(1, 2)))
    there = PointFunction(points, Fraction(2), Fraction(1, 2)).in_units(length, curvature)
    assert 2 * curvature == there.L
    assert there.mu == curvature / 2
    assert there.points[1] == Point((length,), (length * curvature,), length**2 * curvature / 2)


@given(direction=st.lists(st.floats(-1, 1), min_size=1, max_size=5))
def test_directions_of_fractions_have_length_1_and_are_close(direction):
    size = float(np.linalg.norm(direction))
    assume(size > 1e-3)
    unit = [x / size for x in direction]
    found = of_length_one(unit)
    assert sum(x * x for x in found) == 1
    assert max(abs(float(x) - y) for x, y in zip(found, unit, strict=True)) < 0.01


@given(
    value=st.fractions(min_value=Fraction(1, 50), max_value=50, max_denominator=50), power=st.sampled_from([1, 2, 3])
)
def test_roots_are_exact_or_none(value, power):
    assert root_of(value**power, Fraction(1, power)) == value
    assert root_of(value, Fraction(-power)) == value**-power
    assert root_of(2 * value**2, Fraction(1, 2)) is None


@given(length=SCALES, curvature=SCALES, powers=st.lists(st.tuples(*[st.integers(-2, 2)] * 2), min_size=1, max_size=2))
def test_units_for_which_each_grows_by_its_ratio(length, curvature, powers):
    powers = [(Fraction(a), Fraction(b)) for a, b in powers]
    assume(all(any(power) for power in powers))
    ratios = [length**a * curvature**b for a, b in powers]
    found = solved(powers, ratios)
    if found is not None:
        assert [found[0] ** a * found[1] ** b for a, b in powers] == ratios
    elif len(powers) == 2:  # the same twice, or a root that no fraction is
        assert abs(determinant(*powers)) != 1
    else:
        assert 1 not in map(abs, powers[0])


@pytest.mark.parametrize(
    ("more", "values"),
    [
        (("L == 1",), {"L": 1}),
        (("eta == 1/2",), {"eta": Fraction(1, 2)}),
        (("norm2(x0 - xstar) == 1",), {}),
        (("2*L == 6", "norm2(x0 - xstar) == 4"), {"L": 3}),
    ],
)
def test_instances_are_put_into_the_units_of_the_claim(more, values):
    """The relations hold there, or they were no instances."""
    one = assuming(*more)
    general = in_any_units(one)
    assert general is not None
    assert general.free == CONTRACTS
    seen = [found for instance in EVERY if (found := general.moved(measured(CONTRACTS, instance))) is not None]
    assert len(seen) > len(EVERY) / 2
    for there in seen:
        assert not there.measured.broken
        assert {name: there.drawn.values[name] for name in values} == values


def test_what_scales_unlike_has_no_general_form():
    wrong = claim("wrong", "norm2(x[k] - xstar) <= eta", of=descent, assuming=CONTRACTS.assuming)
    assert in_any_units(assuming("L == 1", of=wrong)) is None
    assert in_any_units(CONTRACTS) is None, "it chooses none"
    assert in_any_units(assuming("L == 2", "mu == 1")) is None, "these give a ratio, too"
    assert in_any_units(assuming("L == 2*mu")) is None, "a ratio is no unit"
    assert in_any_units(assuming("N == 3")) is None, "nor is a number of clients"
    assert in_any_units(assuming("L <= 1")) is None, "nor an inequality"
    assert in_any_units(assuming("for every x: norm(grad(f, x)) <= G")) is None, "nor what is assumed of every point"


def test_one_general_form_after_another():
    one = replace(
        assuming("L == 1", "norm2(xstar) <= 0"),
        statement="norm2(x[k] - xstar) - (1 - eta*mu)**k*norm2(x0 - xstar) <= 0",
    )
    told = []
    while (general := without_loss(one)) is not None:
        told.append(general.told)
        one = general.free
    assert len(told) == 3
    assert one.assuming == CONTRACTS.assuming
    assert str(one.sentence) == str(CONTRACTS.sentence)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a - b", "+a -b"),
        ("2*E(a - b) - c", "+2*E(a) -2*E(b) -c"),
        ("mean_n(a_n - (b - c)/2)", "+mean_n(a_n) -mean_n(b/2) +mean_n(c/2)"),
        ("(a - b)*(c - d)", "+a*c -a*d -b*c +b*d"),
        ("-2", "-2"),
        ("(-2)*a*b + E(-a)/2", "-2*a*b -E(a)/2"),
        ("norm2(a - b) + 0", "+norm2(a - b)"),
    ],
)
def test_addends(text, expected):
    found = addends(parse_expression(text))
    assert " ".join(("+" if plus else "-") + text_of(one) for plus, one in found) == expected


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("0 <= R - f(x[k])", "f(x[k]) <= R"),
        ("f(x[k]) - R > 0", "f(x[k]) > R"),
        ("E(f(x[k]) - R) == 0", "E(f(x[k])) == E(R)"),
        ("0 >= f(x[k]) - R", "R >= f(x[k])"),
        ("f(x[k]) <= 0", None),
        ("f(x[k]) - R <= 1", None),
    ],
)
def test_two_sides_of_a_difference(statement, expected):
    found = two_sided(replace(CONTRACTS, statement=statement, parameters={}))
    assert (None if found is None else str(found.free.sentence)) == (
        None if expected is None else str(replace(CONTRACTS, statement=expected).sentence)
    )


@given(one=st.sampled_from(EVERY))
def test_the_two_forms_are_as_true(one):
    flat = replace(CONTRACTS, statement="0 <= (1 - 2*eta*mu)**k*norm2(x0 - xstar) - norm2(x[k] - xstar)")
    general = two_sided(flat)
    here, there = measured(flat, one), measured(general.free, one)
    assert [row.status for row in here.measured.rows] == [row.status for row in there.measured.rows]
    assert general.moved(there).measured.rows == here.measured.rows


@pytest.mark.parametrize(
    ("statement", "more", "expected", "of"),
    [
        (
            "f(x[k]) - fstar <= 1/(2*eta*k)",
            ("smooth(f, 1)", "convex(f)", "eta <= 1", "norm2(x0 - xstar) <= 1"),
            ("1/(2*eta*k)*R**2", "eta <= 1/L", "norm2(x0 - xstar) <= R**2"),
            {"L": 1, "R": 1},
        ),
        (
            "norm2(x[k] - xstar) <= (1 - eta/3)**k*norm2(x0 - xstar)",
            ("smooth(f, 2)", "strongly_convex(f, 1/3)", "eta <= 1/2"),
            ("(1 - eta/3*L/2)**k", "strongly_convex(f, 1/3*L/2)", "eta <= 1/L"),
            {"L": 2},
        ),
        (
            "f(x[k + 1]) - f(x[k]) <= min(norm2(grad(f, x[k])), D)",
            ("smooth(f, 1)", "f(x0) - fstar <= D", "eta <= bound"),
            ("min(norm2(grad(f, x[k])), D*L)", "eta <= 1/L"),
            {"L": 1},
        ),
    ],
)
def test_numbers_get_names_for_their_units(statement, more, expected, of):
    where = {"bound": "1"} if "bound" in " ".join(more) else {}
    one = claim("of numbers", statement, of=descent, assuming=more, where=where)
    general = with_named_units(one)
    assert general is not None
    text = "; ".join((general.free.statement, *general.free.assuming))
    for part in expected:
        assert part in text, text
    assert {tree.name: value for tree, value, _ in general.chosen} == of
    assert not units_of(general.free).conflicts
    as_it_was = [f"{name} == {value}" for name, value in of.items()]
    seen = [found for seed in range(60) if (found := drawn(general.free, seed)) is not None]
    moved = [there for instance in seen if (there := general.moved(measured(general.free, instance))) is not None]
    assert len(moved) > len(seen) / 3
    back = replace(general.free, assuming=(*general.free.assuming, *as_it_was))
    for there in moved:  # both claims say the same there
        again = realised(back, replace(candidate_of(there.drawn), values={**there.drawn.values, **of_fractions(of)}))
        if again is not None:
            rows, others = (measured(c, o).measured.rows for c, o in ((one, there.drawn), (back, again)))
            assert [row.status for row in rows] == [row.status for row in others]


def of_fractions(values):
    return {name: Fraction(value) for name, value in values.items()}


def test_what_has_no_numbers_of_a_unit_gets_no_names():
    assert with_named_units(CONTRACTS) is None
    wrong = claim("wrong", "norm2(x[k] - xstar) <= eta", of=descent, assuming=CONTRACTS.assuming)
    assert with_named_units(wrong) is None, "its sides are unlike, and no number that it assumes is why"


@pytest.mark.parametrize(
    ("more", "least"),
    [
        (("K >= 5",), {"K": 5}),
        (("4 < N", "d >= 3"), {"N": 5, "d": 3}),
        (("N >= 5/2", "N > 3", "K >= 3"), {"N": 4, "K": 3}),
    ],
)
def test_instances_are_made_as_large_as_the_claim_wants_them(more, least):
    one = assuming(*more)
    general = of_all_sizes(one)
    assert general is not None
    assert general.least == least
    assert set(general.free.assuming) <= set(one.assuming)
    wrong = replace(one, statement="norm2(x[k] - xstar) <= (1 - eta*mu)**(4*k)*norm2(x0 - xstar)")
    general = of_all_sizes(wrong)
    broken = [seen for instance in EVERY if (seen := measured(general.free, instance)).measured.broken]
    moved = [there for seen in broken if (there := general.moved(seen)) is not None]
    assert len(moved) > len(broken) / 2 > 2
    for there in moved:
        instance = there.drawn.instance
        now = {"K": instance.rounds, "N": instance.clients, "d": instance.dim}
        assert all(now[name] >= size for name, size in least.items())
        assert there.measured.broken


@given(one=st.sampled_from(EVERY), more=st.integers(1, 3))
def test_in_still_coordinates_nothing_happens(one, more):
    """Sides are the same; what has no curvature there is no instance of a strongly convex function."""
    c = candidate_of(one)
    again = realised(CONTRACTS, with_still_coordinates(c, c.dim + more), {n: one.values[n] for n in ("L", "mu")})
    assume(again is not None)
    assert again.instance.dim == one.instance.dim + more
    rows, others = (measured(CONTRACTS, two).measured.rows for two in (one, again))
    assert [(row.left, row.right) for row in rows] == [(row.left, row.right) for row in others]


@pytest.mark.parametrize("text", ["K >= 2", "K == 5", "K <= 5", "N >= M", "eta >= 5", "K >= 500"])
def test_what_bounds_no_size_from_below_is_kept(text):
    assert of_all_sizes(assuming(text)) is None


@pytest.mark.parametrize(
    ("statement", "free"),
    [
        ("norm2(x[k]) + 1 <= 4*norm2(x0) + 1", "norm2(x[k]) <= 4*norm2(x0)"),
        ("norm2(x0) - f(x0) <= 4*norm2(x[k]) - f(x0) - 1", "norm2(x0) <= 4*norm2(x[k]) - 1"),
        ("2*norm2(x0) + E(f(x0) + norm2(x[k])) <= E(f(x0)) + 3", "2*norm2(x0) + E(norm2(x[k])) <= 3"),
        ("norm2(x0) + norm2(x[k]) <= norm2(x0) + norm2(x[k])", None),
        ("norm2(x0) + norm2(x[k]) <= norm2(x0)", None),
        ("norm2(x0) <= 4*norm2(x[k])", None),
    ],
)
def test_what_both_sides_have_is_left_out(statement, free):
    one = two_sided(replace(CONTRACTS, statement=statement, assuming=()))
    assert (None if one is None else one.free.statement) == free


def test_a_product_of_many_sums_is_not_written_out():
    product = "*".join(f"(1 - a{i})" for i in range(40))
    assert two_sided(claim("one", f"{product} <= 1 + b")) is None
    assert two_sided(claim("one", f"0 <= {product} - b")) is None
