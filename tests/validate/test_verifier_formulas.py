"""The formulas of the stand-alone verifier: fractions, functions of j, square roots."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rationals import rationals
from validate import verifier
from validate.verifier.intervals import Interval

F = Fraction

numbers = rationals(-5, 5, 7)


@st.composite
def formulas(draw: st.DrawFn, depth: int = 4) -> str:
    kind = (
        draw(st.sampled_from(["name", "integer", "+", "-", "*", "/", "**", "min", "max", "neg"])) if depth else "name"
    )
    if kind == "name":
        return draw(st.sampled_from(["x", "y", "z"]))
    if kind == "integer":
        return str(draw(st.integers(0, 9)))
    left = draw(formulas(depth=depth - 1))
    if kind == "neg":
        return f"(-{left})"
    if kind == "**":
        return f"({left})**{draw(st.integers(0, 4))}"
    right = draw(formulas(depth=depth - 1))
    return f"{kind}({left}, {right})" if kind in ("min", "max") else f"({left} {kind} {right})"


@given(formulas(), numbers, numbers, numbers)
@settings(max_examples=150, deadline=None)
def test_formulas_are_python_arithmetic_on_fractions(text: str, x: Fraction, y: Fraction, z: Fraction) -> None:
    names = {"x": x, "y": y, "z": z}

    literal = "".join(f"F({c})" if c.isdigit() and text[i - 2 : i] != "**" else c for i, c in enumerate(text))
    try:
        expected = eval(literal, {"F": Fraction, "min": min, "max": max, **names})
    except ZeroDivisionError:
        with pytest.raises(verifier.Uncheckable, match="zero"):
            verifier.evaluate(verifier.parse(text, "f"), names.__getitem__)
        return
    assert verifier.evaluate(verifier.parse(text, "f"), names.__getitem__) == expected


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "x.real",
        "(lambda: 1)()",
        "[1 for x in (1, 2)]",
        "x if y else z",
        "x or y",
        "x % 2",
        "x // 2",
        "0.5",
        "1e5",
        "'a'",
        "min()",
        "max(x, key=abs)",
        "open(x)",
        "x < y",
        "x @ y",
        "",
        "(",
        "x y",
        "(" * 1500 + "x" + ")" * 1500,
        "-" * 3500 + "x",
        "x" * 5000,
        "2**(10**9)",
        "2**99999",
        "(2**40000)**40000",
        " + ".join(["9**50000"] * 200),
        "True",
        "x\n+1",
    ],
)
def test_anything_else_is_not_a_formula(text: str) -> None:
    with pytest.raises((verifier.FormatError, verifier.Uncheckable)):
        verifier.evaluate(verifier.parse(text, "right"), {"x": F(1), "y": F(2), "z": F(3)}.__getitem__)


@pytest.mark.parametrize(
    ("relation", "holds"),
    [
        ("0 < x < 1", True),
        ("x = 1/2", True),
        ("x == 1/2", True),
        ("x >= 1/2", True),
        ("x <= 1/2", True),
        ("x > 1/2", False),
        ("x < 1/2", False),
        ("0 < x < 1/3", False),
        ("x = 1/3", False),
        ("d <= 1/3", True),  # d = 1/j, for j >= 3
        ("d < 1/3", False),
        ("0 < d", True),
        ("d >= 1/3", False),
        ("d**2 < d", True),
        ("d - d = 0", True),
        ("d = x", False),
        ("1/(1-d) <= 3/2", True),
    ],
)
def test_relations(relation: str, holds: bool) -> None:
    names = {"x": F(1, 2), "d": verifier.Function([F(1)], [F(0), F(1)])}
    assert verifier.relation_holds(relation, names.__getitem__, 3) is holds


polynomials = st.lists(st.integers(-6, 6).map(F), min_size=1, max_size=5)


@given(polynomials, polynomials, st.integers(1, 6), st.booleans())
@settings(max_examples=300, deadline=None)
def test_a_function_that_is_proved_non_negative_is(
    top: list[Fraction], bottom: list[Fraction], j0: int, strictly: bool
) -> None:
    function = verifier.Function(top, bottom)
    if function.never_negative(j0, strictly):
        for j in range(j0, j0 + 40):
            value = function.at(j)
            assert value > 0 if strictly else value >= 0


@given(polynomials, polynomials, polynomials, st.integers(2, 9))
@settings(max_examples=150, deadline=None)
def test_functions_of_j_add_multiply_and_divide(
    one: list[Fraction], two: list[Fraction], three: list[Fraction], j: int
) -> None:
    def value(part: list[Fraction]) -> Fraction:
        return sum((a * j**i for i, a in enumerate(part)), F(0))

    x, y = verifier.Function(one), verifier.Function(two)
    assert (x + y).at(j) == value(one) + value(two)
    assert (x - y).at(j) == value(one) - value(two)
    assert (3 - x * y).at(j) == 3 - value(one) * value(two)
    assert (x**3).at(j) == value(one) ** 3
    if value(three) != 0:
        assert (x / verifier.Function(three)).at(j) == value(one) / value(three)
        assert (2 / verifier.Function(three) + F(1, 3)).at(j) == 2 / value(three) + F(1, 3)
    assert verifier.shift(one, j)[0] == value(one)


def test_zero_cannot_be_divided_by() -> None:
    with pytest.raises(ZeroDivisionError):
        verifier.Function([F(1)]) / verifier.Function([F(0), F(0)])


# --- square roots --------------------------------------------------------------------------------------------------


def value(text: str, **names: Fraction) -> Fraction | Interval:
    return verifier.evaluate(verifier.parse(text, "f"), names.__getitem__, roots=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sqrt(4/9)", F(2, 3)),
        ("sqrt(0)", F(0)),
        ("sqrt(x)*sqrt(x) - 1/4", F(0)),
        ("max(sqrt(1/4), 1/3)", F(1, 2)),
    ],
)
def test_roots_that_are_fractions_stay_exact(text: str, expected: Fraction) -> None:
    assert value(text, x=F(1, 4)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sqrt(2)**2", 2),
        ("sqrt(2)**(-2)", F(1, 2)),
        ("sqrt(8)/sqrt(2)", 2),
        ("1/(sqrt(2)-1) - sqrt(2)", 1),
        ("min(sqrt(2), 1) + max(sqrt(2), 2, x)", 4),
        ("sqrt(sqrt(2)**4 + 5)", 3),
        ("-sqrt(2)*sqrt(2)", -2),
        ("(1 - sqrt(2))**2 + 2*sqrt(2)", 3),
    ],
)
def test_roots_that_are_no_fractions_are_narrow_intervals(text: str, expected: Fraction | int) -> None:
    found = value(text, x=F(3))
    assert isinstance(found, Interval)
    low, high = found.ends
    assert low <= expected <= high
    assert high - low < F(1, 2**300)


@pytest.mark.parametrize(
    ("relation", "holds"),
    [
        ("sqrt(2) < 3/2", True),
        ("7/5 <= sqrt(2)", True),
        ("sqrt(2) > 3/2", False),
        ("sqrt(2)**2 = 2", False),  # true, but not with certainty
        ("sqrt(2)**2 <= 2", False),
        ("sqrt(4) = 2", True),
    ],
)
def test_relations_between_intervals_hold_with_certainty(relation: str, holds: bool) -> None:
    assert verifier.relation_holds(relation, {}.__getitem__, roots=True) is holds


@pytest.mark.parametrize("text", ["sqrt(-1)", "sqrt(1-sqrt(2))", "1/(sqrt(2)**2-2)", "2**sqrt(2)"])
def test_what_cannot_be_computed(text: str) -> None:
    with pytest.raises(verifier.Uncheckable):
        value(text)


@pytest.mark.parametrize("text", ["sqrt()", "sqrt(1, 2)", "sqrt(2)**101", "sqrt(2*10**400)", "cos(1)"])
def test_what_is_no_formula_with_roots(text: str) -> None:
    with pytest.raises(verifier.FormatError):
        value(text)


def test_roots_are_only_for_the_kinds_that_compute_in_intervals() -> None:
    with pytest.raises(verifier.FormatError, match="not one of"):
        verifier.evaluate(verifier.parse("sqrt(4)", "f"), {}.__getitem__)
