"""Bounds as floats, enclosures and fractions: they agree with each other and with mpmath; hypotheses, vectors."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.theory.toys import VALUES, bounded
from theory.arithmetic import decimals
from theory.domain import COUNT, NONNEGATIVE, POSITIVE, REAL
from theory.evaluate import UndefinedError, bound, enclose, exact, exact_terms, hypotheses, terms, violated

# --- the three ways agree ---------------------------------------------------------------------------------------------

LEAVES = st.sampled_from(["a", "b", "K"]) | st.builds(str, st.integers(1, 9)) | st.sampled_from(["0.1", "2.5", "(1/3)"])


def grow(binary: list[str], unary: list[str]) -> st.SearchStrategy[str]:
    """Formulas of the given operations."""
    return st.recursive(
        LEAVES,
        lambda inner: (
            st.builds("({} {} {})".format, inner, st.sampled_from(binary), inner)
            | st.builds("{}({})".format, st.sampled_from(unary), inner)
            | st.builds("{}({}, {})".format, st.sampled_from(["min", "max"]), inner, inner)
            | st.builds("({})**{}".format, inner, st.sampled_from(["2", "3", "(-1)", "(-2)"]))
        ),
        max_leaves=8,
    )


RATIONALS = st.builds(Fraction, st.integers(1, 40), st.integers(1, 40))
DRAWN = st.fixed_dictionaries({"a": RATIONALS, "b": RATIONALS, "K": st.integers(1, 60), "x": st.just(Fraction(0))})


@settings(max_examples=150, deadline=None)
@given(grow(["+", "*", "/"], ["sqrt", "abs"]), DRAWN)
def test_a_float_of_positive_terms_is_within_1e_12_of_the_enclosure(text: str, values: dict[str, Any]) -> None:
    claim = bounded(text)
    ball = enclose(claim, values)
    low, high = Fraction(ball.lower), Fraction(ball.upper)
    assert 0 < low <= high
    assert (high - low) / low < Fraction(1, 10**24)
    assume(1e-150 < low < 1e150)
    assert abs(Fraction(bound(claim, values)) - low) < low / 10**12
    assert ball.midpoint == pytest.approx(float(low), rel=1e-15)


@settings(max_examples=150, deadline=None)
@given(grow(["+", "-", "*", "/"], ["-", "abs"]), DRAWN)
def test_the_exact_fraction_lies_in_the_enclosure(text: str, values: dict[str, Any]) -> None:
    claim = bounded(f"({text}) + sqrt(4*({text})**2)/3", {"piece": text})
    try:
        value = exact(claim, values)
    except UndefinedError:
        with pytest.raises(UndefinedError):
            enclose(claim, values)
        return
    ball = enclose(claim, values)
    assert Fraction(ball.lower) <= value <= Fraction(ball.upper)
    piece = exact_terms(claim, values)["piece"]
    assert Fraction(ball.terms["piece"][0]) <= piece <= Fraction(ball.terms["piece"][1])
    assert value == piece + 2 * abs(piece) / 3


@settings(max_examples=60, deadline=None)
@given(grow(["+", "-", "*", "/"], ["sqrt", "exp", "log", "abs"]), DRAWN)
def test_sympy_and_mpmath_find_the_same_value(text: str, values: dict[str, Any]) -> None:
    try:
        ball = enclose(bounded(text), values)
    except UndefinedError:
        return
    # sympy writes a rational out in full, and exp(exp(b)**3) has more digits than there is memory
    assume(ball.lower == ball.upper == "0" or 1e-150 < abs(ball.midpoint) < 1e150)
    names = {name: sympy.Rational(v.numerator, v.denominator) for name, v in values.items()}
    names |= {"min": sympy.Min, "max": sympy.Max, "abs": sympy.Abs}
    # the text comes from the strategy above, so that sympy may serve as an independent reader
    expected = sympy.sympify(text, locals=names, rational=True).evalf(60)
    low, high = sympy.Rational(ball.lower), sympy.Rational(ball.upper)
    slack = max(abs(low), abs(high), sympy.Rational(1, 10**40)) / 10**50
    assert low - slack <= expected <= high + slack


# --- floats -----------------------------------------------------------------------------------------------------------


def test_arrays_broadcast() -> None:
    values = {"a": np.array([1.0, 2.0, 3.0]), "b": [[1], [10]], "K": 2, "x": 0}
    assert np.array_equal(bound(bounded("max(3, a*b) - K"), values), [[1, 1, 1], [8, 18, 28]])
    # the shape is that of all parameters, also of those that drop out
    assert np.array_equal(bound(bounded("K"), values), np.full((2, 3), 2.0))
    assert np.array_equal(bound(bounded("min(a, b, 2) + 0*x"), values), [[1, 1, 1], [1, 2, 2]])
    found = terms(bounded("t", {"t": "a/K"}), values)["t"]
    assert np.array_equal(found, [[0.5, 1, 1.5]] * 2)
    assert isinstance(bound(bounded("a"), VALUES | {"a": np.float64(2)}), float)
    assert isinstance(bound(bounded("a"), VALUES | {"a": np.array(2)}), float)


def test_text_follows_an_array() -> None:
    rounds = np.array([4, 25, 100])
    found = bound(bounded("a"), VALUES | {"a": "1/sqrt(K)", "K": rounds})
    assert np.allclose(found, 1 / np.sqrt(rounds), rtol=1e-15)
    with pytest.raises(ValueError, match=r"a=5-K is outside \(0, inf\)"):
        bound(bounded("a"), VALUES | {"a": "5-K", "K": rounds})


def test_undefined_entries_of_an_array_stay_and_numbers_raise() -> None:
    claim = bounded("1/(a - b)", {"root": "sqrt(x)"})
    assert np.array_equal(bound(claim, VALUES | {"a": [1, 2, 3]}), [-1, np.inf, 1])
    found = terms(claim, VALUES | {"x": [-1, 4]})["root"]
    assert np.isnan(found[0])
    assert found[1] == 2
    for function in (bound, terms):
        with pytest.raises(UndefinedError, match="the term root of toy/x is undefined"):
            function(claim, VALUES | {"a": 2})
    with pytest.raises(UndefinedError, match="the right side of toy/x is undefined"):
        bound(claim, VALUES | {"a": 2, "x": 1})


def test_values_beyond_float64_are_refused_where_they_are_floats() -> None:
    for text in ("1e400", "1e-400"):
        with pytest.raises(ValueError, match="does not fit float64"):
            bound(bounded("a"), VALUES | {"a": text})
        assert enclose(bounded("a"), VALUES | {"a": text}).lower == text.replace("e4", "e+4")
    with pytest.raises(ValueError, match="does not fit float64"):
        bound(bounded("a*1e400"), VALUES)
    with pytest.raises(ValueError, match="does not fit"):
        bound(bounded("exp(K)"), VALUES | {"K": 1000})
    assert enclose(bounded("exp(K)"), VALUES | {"K": 1000}).midpoint == np.inf


# --- enclosures -------------------------------------------------------------------------------------------------------


def test_cancellation_raises_the_precision() -> None:
    ball = enclose(bounded("sqrt(1 + a) - 1"), VALUES | {"a": "1e-300"})
    low, high = Fraction(ball.lower), Fraction(ball.upper)
    small = Fraction(1, 10**300)
    assert small / 2 - small**2 / 8 <= high
    assert low <= small / 2
    assert (high - low) / low < Fraction(1, 10**24)
    zero = enclose(bounded("sqrt(2)*sqrt(3) - sqrt(6)"), VALUES)  # zero, which balls cannot know
    assert Fraction(zero.lower) <= 0 <= Fraction(zero.upper) < Fraction(1, 10**1000)


def test_a_float_is_its_binary_value() -> None:
    assert exact(bounded("a"), VALUES | {"a": 0.1}) == Fraction(0.1)
    assert exact(bounded("a"), VALUES | {"a": np.float64(0.1)}) == Fraction(0.1)
    assert exact(bounded("a"), VALUES | {"a": Decimal("0.1")}) == Fraction(1, 10)
    assert exact(bounded("a"), VALUES | {"a": np.int64(3)}) == 3
    ball = enclose(bounded("a"), VALUES | {"a": 0.1})
    assert Fraction(ball.lower) > Fraction(1, 10)


@given(st.fractions(), st.integers(-400, 400))
def test_decimals_enclose(value: Fraction, exponent: int) -> None:
    scaled = value * Fraction(10) ** exponent
    low, high = (Fraction(text) for text in decimals(scaled))
    assert low <= scaled <= high
    assert high - low <= abs(scaled) / 10**34


# --- fractions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("sqrt(9/4)*a", Fraction(1, 2)),
        ("(8/27)**(2/3)", Fraction(4, 9)),
        ("(1/4)**(-1/2)", 2),
        ("0**0", 1),
        ("exp(0) + log(1)", 1),
        ("max(a, 1/4, -b) - min(a, 1/4)", Fraction(1, 12)),
        ("(-2)**3", -8),
        ("1**(K*10**9)", 1),
        ("a/3*3 - a", 0),
    ],
)
def test_rational_values_are_exact(text: str, value: Fraction) -> None:
    assert exact(bounded(text), VALUES) == value
    assert Fraction(enclose(bounded(text), VALUES).midpoint) == pytest.approx(float(value), rel=1e-15)


def test_irrational_values_are_no_fractions() -> None:
    for text in ("sqrt(2)", "exp(a)", "log(b)", "b**(1/3)", "b**(1/65)"):
        with pytest.raises(ValueError, match="is not rational here"):
            exact(bounded(text), VALUES)
    with pytest.raises(ValueError, match=r"a=sqrt\(2\) cannot be used"):
        exact(bounded("a**2"), VALUES | {"a": "sqrt(2)"})


@pytest.mark.parametrize(
    "text", ["1/(K-5)", "sqrt(x)", "log(x)", "log(x+1/7)", "x**(1/3)", "(K-5)**-1", "1/(sqrt(2)-sqrt(2))", "x**sqrt(2)"]
)
def test_a_value_that_does_not_exist_is_refused(text: str) -> None:
    for function in (enclose, bound):
        with pytest.raises(UndefinedError, match="toy/x"):
            function(bounded(text), VALUES)


# --- hypotheses -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("relation", "answer"),
    [
        ("a == 1/3", True),
        ("a < 1/3", False),
        ("a >= 0.333333333333333333333333333", True),
        ("sqrt(b)*sqrt(b) <= 2", True),
        ("sqrt(b)*sqrt(b) < 2", False),
        ("sqrt(2)*sqrt(3) == sqrt(6)", True),
        ("sqrt(2) + sqrt(3) == sqrt(5 + 2*sqrt(6))", True),
        ("sqrt(2) + sqrt(3) > sqrt(5 + 2*sqrt(6)) + 1e-100", False),
        ("exp(1) < 2.718281828459045235360287471352662497757247093699959574966", False),
        ("0 < a < 1 < b", True),
        ("0 < a < 1/4 < b", False),
        ("1/(K-5) > 0", False),  # undefined: what has no value does not hold
        ("unheard_of > 0", None),
    ],
)
def test_relations(relation: str, answer: bool | None) -> None:
    claim = bounded("a", relations=(relation,))
    assert hypotheses(claim, VALUES) == [{"name": "h0", "holds": answer}]
    assert violated(claim, VALUES) == (("h0",) if answer is False else ())


# --- vectors ----------------------------------------------------------------------------------------------------------

WEIGHTS = bounded(
    "sum(alpha*z) + lam*sum(alpha**2/n) + amax(z) - amin(z)*mean(n)",
    {"share": "n/sum(n)", "largest": "amax(share)"},
    ("alpha >= 0", "sum(alpha) == 1", "share <= largest"),
    {"lam": POSITIVE},
    {"alpha": REAL, "z": NONNEGATIVE, "n": COUNT},
)
WEIGHT_VALUES = {"lam": "200", "alpha": "1/2, 1/4, 0.25", "z": "0, 0.5, 2", "n": (500, 100, 1000)}


def test_vectors_are_summed() -> None:
    alpha, z, n = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)], [0, Fraction(1, 2), 2], [500, 100, 1000]
    expected = sum(a * b for a, b in zip(alpha, z, strict=True)) + 2
    expected += 200 * sum(a * a / b for a, b in zip(alpha, n, strict=True))
    assert exact(WEIGHTS, WEIGHT_VALUES) == expected
    assert bound(WEIGHTS, WEIGHT_VALUES) == pytest.approx(float(expected), rel=1e-14)
    ball = enclose(WEIGHTS, WEIGHT_VALUES)
    assert Fraction(ball.lower) <= expected <= Fraction(ball.upper)
    assert ball.terms["share[1]"] == ("0.0625", "0.0625")
    assert exact_terms(WEIGHTS, WEIGHT_VALUES)["largest"] == Fraction(5, 8)
    assert [h["holds"] for h in hypotheses(WEIGHTS, WEIGHT_VALUES)] == [True, True, True]
    assert violated(WEIGHTS, WEIGHT_VALUES | {"alpha": [-1, 1, "1/2"]}) == ("h0", "h1")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"z": "0,1"}, r"toy/x: alpha and z are used together and have lengths 3 and 2"),
        ({"z": 1}, "z=1 is one number; z takes a vector"),
        ({"z": ()}, "z= is an empty vector"),
        ({"z": "1,,2"}, "formula '' is empty"),
        ({"z": "1,-1,2"}, r"z=-1 is outside \[0, inf\)"),
        ({"n": "1,2,0.5"}, r"n=0.5 is outside the integers in \[1, inf\)"),
        ({"n": "1,2,n"}, "is a vector where one number is needed"),
        ({"lam": "1,2"}, "lam=1,2: formula '1,2': a list"),
        ({"lam": "z"}, "lam=z is a vector where one number is needed"),
        ({"lam": "1/sum(n*alpha*z-z-alpha*n*z)"}, r"lam=.* is outside \(0, inf\)"),
    ],
)
def test_bad_vectors_are_refused(changes: dict[str, Any], message: str) -> None:
    for function in (bound, enclose, exact, hypotheses):
        with pytest.raises(ValueError, match=message):
            function(WEIGHTS, WEIGHT_VALUES | changes)
