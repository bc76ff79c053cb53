"""Intervals contain what they say, contractors lose no solution, and branch and bound proves only what is true."""

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.rationals import rationals
from theory.arithmetic import NotRationalError, UndecidedError, ball, balls
from theory.domain import COUNT, INDEX, NONNEGATIVE, POSITIVE, REAL, Domain
from theory.feasible import contractor as contractor_module
from theory.feasible.boxes import BranchAndBound, search
from theory.feasible.constraints import System, read_system
from theory.feasible.contractor import Contractor
from theory.feasible.interval_rules import backward, slopes
from theory.feasible.intervals import INF, Interval, enclose, forward, meet
from theory.feasible.limits import Limits
from theory.feasible.points import simplest
from theory.feasible.scaling import normalised
from theory.feasible.signs import with_signs
from theory.formula import UndefinedError, parse, parse_relation

UNARY = ("neg", "sqrt", "log", "exp", "abs")
BINARY = ("+", "-", "*", "/", "min", "max", "**")
SIZES = rationals(-6, 6, 12)


def system(
    relations: list[str], domains: dict[str, Domain], definitions: dict[str, str] | None = None, **lengths: int
) -> System:
    """A system from text."""
    return read_system(
        [(r, parse_relation(r)) for r in relations],
        domains,
        {name: parse(text) for name, text in (definitions or {}).items()},
        lengths,
    )


def around(value: Fraction, below: int, above: int) -> Interval:
    """An interval with the value in it: 0 of a side is tight, 3 unbounded."""
    low, high = enclose(value)
    return (low - (0.0, 0.25, 4.0, INF)[below], high + (0.0, 0.25, 4.0, INF)[above])


def exactly(operation: str, arguments: list[Fraction]) -> Any:
    """The value, as a ball; None where it is undefined."""
    with balls(256) as reals:
        try:
            return ball(reals.scalar(operation, tuple(arguments)))
        except (UndefinedError, NotRationalError, UndecidedError):
            return None


def inside(value: Any, interval: Interval) -> bool:
    """Whether a ball meets an interval."""
    return not (value < interval[0] or value > interval[1])


@given(
    operation=st.sampled_from(UNARY + BINARY),
    values=st.tuples(SIZES, SIZES),
    sides=st.tuples(*[st.integers(0, 3)] * 4),
    known=st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_operations_contain_their_values_and_backwards_loses_none(
    operation: str, values: tuple[Fraction, Fraction], sides: tuple[int, int, int, int], known: bool
) -> None:
    arguments = list(values[: 1 if operation in UNARY else 2])
    value = exactly(operation, arguments)
    assume(value is not None)
    intervals = [around(a, *sides[2 * i : 2 * i + 2]) for i, a in enumerate(arguments)]
    exponent = arguments[1] if operation == "**" and known else None
    if exponent is not None:
        intervals[1] = enclose(exponent)
    result = forward(operation, intervals, exponent)
    assert result is not None
    assert inside(value, result)
    narrow = (math.nextafter(float(value.lower()), -INF), math.nextafter(float(value.upper()), INF))
    for smaller in (result, meet(result, narrow)):
        assert smaller is not None
        for argument, kept in zip(arguments, backward(operation, smaller, intervals, exponent), strict=True):
            assert kept is not None
            assert kept[0] <= argument <= kept[1]


@given(
    operation=st.sampled_from(UNARY + BINARY),
    first=st.tuples(SIZES, SIZES),
    second=st.tuples(SIZES, SIZES),
    known=st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_slopes_contain_every_difference_quotient(
    operation: str, first: tuple[Fraction, Fraction], second: tuple[Fraction, Fraction], known: bool
) -> None:
    size = 1 if operation in UNARY else 2
    a, b = list(first[:size]), list(second[:size])
    b[1:] = a[1:]  # along the first argument; the mean value theorem says that the quotient is a slope in between
    assume(a[0] != b[0])
    at, to = exactly(operation, a), exactly(operation, b)
    assume(at is not None)
    assume(to is not None)
    intervals = [(enclose(min(x, y))[0], enclose(max(x, y))[1]) for x, y in zip(a, b, strict=True)]
    exponent = a[1] if operation == "**" and known else None
    result = forward(operation, intervals, exponent)
    assert result is not None
    with balls(256):
        assert inside((to - at) / ball(b[0] - a[0]), slopes(operation, result, intervals, exponent)[0])


@pytest.mark.parametrize(
    ("operation", "arguments", "exponent"),
    [
        ("sqrt", [(-2.0, -1.0)], None),
        ("log", [(-1.0, 0.0)], None),
        ("/", [(1.0, 2.0), (0.0, 0.0)], None),
        ("**", [(0.0, 0.0), (-1.0, -1.0)], Fraction(-1)),
        ("**", [(-2.0, -1.0), (0.5, 0.5)], Fraction(1, 2)),
    ],
)
def test_what_is_defined_nowhere_is_empty(operation: str, arguments: list[Interval], exponent: Fraction | None) -> None:
    assert forward(operation, arguments, exponent) is None


def test_huge_and_tiny_numbers_keep_their_sign_and_side() -> None:
    big = enclose(Fraction(10) ** 400)
    assert big[0] < big[1] == INF
    assert enclose(-(Fraction(10) ** 400))[0] == -INF
    tiny = forward("*", [(1e-300, 1e-300), (1e-300, 1e-300)])
    assert tiny is not None
    assert 0 <= tiny[0] < Fraction(1, 10**300) ** 2 < tiny[1]
    assert forward("exp", [(2000.0, 3000.0)])[0] > 1e308  # type: ignore[index]
    assert forward("exp", [(-3000.0, -2000.0)])[0] == 0  # type: ignore[index]
    assert forward("**", [(2.0, 2.0), (-4000.0, -4000.0)], Fraction(-4000))[1] > 0  # type: ignore[index]


@given(st.fractions(), st.fractions())
def test_simplest_has_the_smallest_denominator(a: Fraction, b: Fraction) -> None:
    low, high = sorted((a, b))
    found = simplest(low, high)
    assert low <= found <= high
    assert found.denominator <= min(low.denominator, high.denominator)
    for q in range(1, min(found.denominator, 30)):
        assert math.ceil(low * q) > high * q


# --- systems ---------------------------------------------------------------------------------------------------------

XY = {"x": REAL, "y": REAL}
EMPTY = [
    (["exp(x) <= x"], XY),
    (["exp(x) <= x + 99/100"], XY),
    (["log(x) >= x - 99/100"], XY),
    (["log(x) >= 1", "x < 27/10"], XY),
    (["exp(x) == 2", "x > 7/10"], XY),
    (["sqrt(x) + sqrt(y) == 3", "x + y <= 4"], XY),
    (["sqrt(x) >= 1 + x/2 + 1/100"], XY),
    (["x**(1/3) > 2", "x < 8"], XY),
    (["x**(3/2) + y**(3/2) == 3", "x <= 1", "y <= 1"], XY),
    (["x**y > 1", "x < 1", "y > 0", "x > 0"], XY),
    (["sqrt(x) < 0"], XY),
    (["1/x == 0"], XY),
    (["max(x, y) < min(x, y)", "x + y == 1"], XY),
    (["abs(x) < 0"], XY),
    (["2*x == 1"], {"x": Domain(0, 100, integer=True)}),
    (["x*y < 0"], {"x": NONNEGATIVE, "y": NONNEGATIVE}),
]
FEASIBLE = [
    (["exp(x) <= x + 101/100"], XY),
    (["log(x) >= 1", "x < 28/10"], XY),
    (["sqrt(x) + sqrt(y) == 3", "x + y <= 5"], XY),
    (["x**(1/3) > 2", "x < 9"], XY),
    (["x**y == 8", "x == 2"], XY),
    (["x*log(x) < -1/3"], XY),
    (["x*exp(-x) > 1/3"], XY),
    (["log(x) + log(y) == 0"], XY),
    (["a**3 + 1 == b**2"], {"a": COUNT, "b": COUNT}),
    (["exp(-a) < 1/1000000"], {"a": COUNT}),
    (["x + y == 1/3", "x - y == 1/7"], XY),
]


@pytest.mark.parametrize(("relations", "domains"), EMPTY, ids=[" ".join(r) for r, _ in EMPTY])
def test_empty_systems_are_proved_empty(relations: list[str], domains: dict[str, Domain]) -> None:
    found = search(system(relations, domains), Limits(boxes=2000))
    assert found.outcome == "empty", found.detail
    assert found.witness is None


@pytest.mark.parametrize(("relations", "domains"), FEASIBLE, ids=[" ".join(r) for r, _ in FEASIBLE])
def test_solutions_are_found_and_hold(relations: list[str], domains: dict[str, Domain]) -> None:
    posed = system(relations, domains)
    found = search(posed, Limits(boxes=2000))
    assert found.outcome == "feasible", found.detail
    assert found.witness is not None
    assert posed.holds(found.witness) is True


def test_what_is_empty_only_in_the_limit_stays_undecided() -> None:
    found = search(system(["exp(x) < 1 + x"], XY), Limits(boxes=300))
    assert found.outcome == "undecided"
    assert "300 boxes" in found.detail
    stuck = search(system(["x**2 == 2"], XY), Limits(boxes=300))
    assert stuck.outcome == "undecided"
    assert stuck.stuck == 2
    assert "1.41421" in stuck.detail


@pytest.mark.parametrize("relations", [["exp(x) < 1 + x"], ["x**2 == 2"], ["x**3 + y == 7", "x*y == log(x + 2)"]])
def test_a_search_that_was_stopped_goes_on_as_if_it_had_not_been(relations: list[str]) -> None:
    posed = system(relations, XY)
    tree = BranchAndBound(posed)
    for boxes in (1, 5, 40, 120):
        assert tree.search(Limits(boxes=boxes)) == search(posed, Limits(boxes=boxes))


def test_a_store_of_results_that_is_full_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    posed = system(["x**3 + y == 7", "x*y == log(x + 2)", "x + exp(y) <= 9"], XY)
    found = search(posed, Limits(boxes=60))
    monkeypatch.setattr(contractor_module, "KEPT", 1)
    assert search(posed, Limits(boxes=60)) == found


@pytest.mark.parametrize(
    ("name", "value"),
    [("boxes", 0), ("effort", 0.0), ("effort", math.inf), ("seconds", 0.0), ("seconds", -1.0), ("seconds", math.nan)],
)
def test_bad_limits_are_refused(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{name}={value} is outside"):
        Limits(**{name: value})  # type: ignore[arg-type]


NUMBERS = rationals(-4, 4, 6)
TERMS = (
    "x + y", "x*y", "x - 2*y", "x**2", "x/(1 + y**2)", "exp(x)", "exp(x - y)", "abs(x)", "max(x, y)", "sqrt(x**2 + 1)",
    "log(1 + y**2)", "(1 + x**2)**y", "(x**2)**(1/3)", "1/x", "sqrt(x)", "log(y)", "x**3*y", "min(x, y**2)",
)  # fmt: skip


@given(
    x=NUMBERS,
    y=NUMBERS,
    texts=st.lists(st.sampled_from(TERMS), min_size=1, max_size=3),
    slack=st.integers(0, 2),
    below=st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_a_planted_solution_is_never_lost(x: Fraction, y: Fraction, texts: list[str], slack: int, below: bool) -> None:
    relations = []
    for text in texts:
        with balls(128) as reals:
            try:
                value = reals.evaluate(parse(text), {"x": x, "y": y})
            except UndefinedError:
                assume(False)
        middle = Fraction(float(ball(value).mid()))  # type: ignore[arg-type]
        gap = Fraction(slack + 1, 100)
        relations.append(f"{text} > {middle - gap}" if below else f"{middle - gap} < {text} <= {middle + gap}")
    posed = system(relations, XY)
    assume(posed.holds({"x": x, "y": y}) is True)
    contractor = Contractor(posed)
    box = {"x": (enclose(x)[0] - 0.5, enclose(x)[1] + 2.0), "y": (-INF, enclose(y)[1] + 0.125)}
    for start in (contractor.start(), box):
        assert not contractor.ruled_out(start)
        kept = contractor.contract(start)
        assert kept is not None
        assert kept["x"][0] <= x <= kept["x"][1]
        assert kept["y"][0] <= y <= kept["y"][1]
        assert not contractor.ruled_out(kept)
    assert with_signs(posed).holds({"x": x, "y": y}) is True
    found = search(posed, Limits(boxes=60))
    assert found.outcome != "empty"
    assert found.witness is None or posed.holds(found.witness) is True


# --- scalings and signs ----------------------------------------------------------------------------------------------

CONSTANTS = {"mu": POSITIVE, "L": POSITIVE, "delta": POSITIVE, "M": COUNT}
ALPHA = {"alpha": "1/(mu*delta*(1-2*L*delta)*M) + 2*L*delta/(1-2*L*delta)"}


def test_the_lipschitz_constant_is_set_to_one() -> None:
    posed = system(["delta < 1/(2*L)", "mu <= L", "alpha < 1"], CONSTANTS, ALPHA)
    assert normalised(posed) == {"L": 1}


@pytest.mark.parametrize(
    "relation", ["x < 1 + y", "exp(x) < 3", "x*y > 2", "x**y > 2", "max(x, 1) < y", "x + x**2 < 1"]
)
def test_what_a_scaling_would_change_is_not_normalised_too_far(relation: str) -> None:
    posed = system([relation], {"x": POSITIVE, "y": POSITIVE})
    unit = normalised(posed)
    assert len(unit) <= 1
    outcome = search(posed.fixed(unit), Limits(boxes=500)).outcome
    assert outcome == "feasible"
    assert not normalised(system(["x < y"], {"x": Domain(1, None), "y": COUNT}))


@given(a=rationals("1/9", 9, 9), p=st.integers(-2, 2), q=st.integers(-2, 2))
@settings(max_examples=40, deadline=None)
def test_a_normalised_system_is_feasible_with_the_system(a: Fraction, p: int, q: int) -> None:
    posed = system([f"x**{p}*y**{q} == {a}"] if p or q else ["x < y"], {"x": POSITIVE, "y": POSITIVE})
    unit = normalised(posed)
    assert len(unit) == 1  # one equation between two weights
    assert search(posed.fixed(unit), Limits(boxes=200)).outcome != "empty"


def test_roots_halve_the_weight_of_a_scaling_and_integers_have_none() -> None:
    positive = {"x": POSITIVE, "y": POSITIVE}
    assert len(normalised(system(["x == 2*sqrt(y)", "x**2 == 4*y"], positive))) == 1
    both = system(["x == 2*sqrt(y)", "x == 3*y"], positive)
    assert normalised(both) == {}
    assert search(both).witness == {"x": Fraction(4, 3), "y": Fraction(4, 9)}
    assert normalised(system(["x == 2*a"], {"x": POSITIVE, "a": INDEX})) == {}


def test_denominators_get_the_sign_that_the_relations_say() -> None:
    posed = system(["delta < 1/(2*L)", "alpha < 1"], CONSTANTS, ALPHA)
    added = with_signs(posed).constraints[len(posed.constraints) :]
    assert added
    good = {"mu": Fraction(1), "L": Fraction(1), "delta": Fraction(1, 8), "M": Fraction(17)}
    for constraint in added:
        assert "delta" in str(constraint)
        assert posed.only([constraint]).holds(good) is True
        assert posed.only([constraint]).holds(good | {"delta": Fraction(3, 4)}) is False


# --- reading ---------------------------------------------------------------------------------------------------------


def test_vectors_are_taken_apart() -> None:
    relations = ["sum(p) == 1", "p > a", "amax(p) < 1/2", "m == mean(p)"]
    posed = system(relations, {"p": POSITIVE, "a": REAL}, {"m": "amin(p)"}, p=3)
    third = Fraction(1, 3)
    point = {"p[0]": third, "p[1]": third, "p[2]": third, "a": Fraction(0)}
    assert posed.holds(point) is True
    assert posed.holds(point | {"a": third}) is False
    assert posed.holds(point | {"p[2]": Fraction(1, 4)}) is False


def test_points_are_checked_exactly() -> None:
    posed = system(["x**2 == 2", "d > 0"], XY, {"d": "1/y"})
    assert posed.holds({"x": parse("sqrt(2)"), "y": Fraction(1)}) is True
    assert posed.holds({"x": parse("sqrt(3)"), "y": Fraction(1)}) is False
    assert posed.holds({"x": parse("sqrt(2)"), "y": Fraction(0)}) is False  # d is not defined
    assert system(["x > 0"], {"x": COUNT}).holds({"x": parse("sqrt(2)")}) is False
    with pytest.raises(ValueError, match="no value for y"):
        posed.holds({"x": Fraction(1)})


@pytest.mark.parametrize(
    ("relations", "definitions", "lengths", "message"),
    [
        (["z < 1"], {}, {}, "unknown name 'z'"),
        (["x < 1"], {"x": "2"}, {}, "'x' is both a variable and a definition"),
        (["x < y"], {}, {"x": 2, "y": 3}, r"lengths \[2, 3\]"),
        (["x + y < 1"], {}, {"x": 2, "y": 3}, r"lengths \[2, 3\]"),
        (["sum(x) < 1"], {}, {}, "sum takes a vector"),
    ],
)
def test_bad_systems_are_refused(
    relations: list[str], definitions: dict[str, str], lengths: dict[str, int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        system(relations, XY, definitions, **lengths)
