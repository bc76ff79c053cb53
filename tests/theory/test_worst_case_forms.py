"""Forms in inner products and values, and the classes of functions that assumptions ask for."""

from fractions import Fraction
from typing import Any

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from theory import predicates as p
from theory.formula import Name
from theory.operations import operations
from theory.predicates import predicate
from theory.sentence import parse_call
from theory.worst_case.classes import Class, NoClassError, classes
from theory.worst_case.forms import Extreme, Form, NotLinearError, Root, dot, extreme, lifted, squared_sides, times

NUMBERS = lifted(operations(1024, False))


def value(form: Any, vectors: list[list[int]]) -> Any:
    """A form at explicit basis vectors, without values of functions."""
    inner = [[sum(a * b for a, b in zip(u, v, strict=True)) for v in vectors] for u in vectors]
    return sum((c * inner[i][j] for (i, j), c in form.gram.items()), form.constant)


def test_inner_products() -> None:
    u, v = (fmpq(1), fmpq(2), fmpq(0)), (fmpq(0), fmpq(-1), fmpq(3))
    vectors = [[1, 0, 2], [0, 1, 1], [3, -1, 0]]
    one = [sum(int(u[k].p) * vectors[k][a] for k in range(3)) for a in range(3)]
    other = [sum(int(v[k].p) * vectors[k][a] for k in range(3)) for a in range(3)]
    assert value(dot(u, v), vectors) == sum(a * b for a, b in zip(one, other, strict=True))
    assert dot(u, v) == dot(v, u)


def test_arithmetic() -> None:
    form = dot((fmpq(1), fmpq(1)), (fmpq(1), fmpq(1)))
    assert NUMBERS["-"](form, form) == Form(constant=fmpq(0))
    assert NUMBERS["*"](fmpq(3), form).gram == {(0, 0): 3, (0, 1): 6, (1, 1): 3}
    assert NUMBERS["/"](form, fmpq(2)).gram[0, 1] == 1
    assert NUMBERS["+"](fmpq(1), form).constant == 1
    assert NUMBERS["+"](fmpq(1), fmpq(2)) == 3


@pytest.mark.parametrize("name", ["*", "/", "sqrt", "abs", "**", "log"])
def test_what_is_not_linear(name: str) -> None:
    form = dot((fmpq(1),), (fmpq(1),))
    arguments = (form,) if name in ("sqrt", "abs", "log") else (form, form)
    with pytest.raises(NotLinearError):
        NUMBERS[name](*arguments)


def test_least_and_greatest() -> None:
    one, other = dot((fmpq(1), fmpq(0)), (fmpq(1), fmpq(0))), dot((fmpq(0), fmpq(1)), (fmpq(0), fmpq(1)))
    least = NUMBERS["min"](one, other)
    assert isinstance(least, Extreme)
    assert times(least, fmpq(-2)) == Extreme("max", (one.times(-2), other.times(-2)))
    assert NUMBERS["+"](least, one).forms == (one.plus(one), other.plus(one))
    assert len(NUMBERS["+"](least, least).forms) == 4
    with pytest.raises(NotLinearError):
        NUMBERS["-"](least, least)
    with pytest.raises(NotLinearError):
        extreme("max", [least, one])


LENGTHS = st.lists(st.tuples(st.fractions(0, 4, max_denominator=9), st.integers(0, 12)), min_size=1, max_size=6)


@given(LENGTHS, st.fractions(0, 9, max_denominator=9))
def test_a_sum_of_lengths_is_at_most_what_is_taken_of_its_square(lengths: Any, number: Fraction) -> None:
    """And at least a part of that, as equal shares are among them."""
    total: Any = fmpq(number.numerator, number.denominator)
    for factor, along in lengths:
        length = Root(fmpq(factor.numerator, factor.denominator), Form({(0, 0): fmpq(along * along)} if along else {}))
        total = NUMBERS["+"](total, length)
    small, large = squared_sides(Root(fmpq(1), Form({(0, 0): fmpq(1)})), total)
    assert small == Form({(0, 0): fmpq(1)})
    exact = number + sum(factor * along for factor, along in lengths)
    taken = [Fraction(str(value(form, [[1]]))) for form in getattr(large, "forms", (large,))]
    assert min(taken) >= exact**2
    assert min(taken) <= (len(lengths) + 1) * exact**2


def test_the_shares_of_equal_lengths_and_of_one_alone() -> None:
    one, other = (Root(fmpq(1), dot(v, v)) for v in ((fmpq(1), fmpq(0)), (fmpq(0), fmpq(1))))
    _, large = squared_sides(Form(), NUMBERS["+"](one, other))
    assert isinstance(large, Extreme)
    assert large.how == "min"
    squares = [value(form, [[1, 0], [0, 1]]) for form in large.forms]
    assert min(squares) == 4  # (1 + 1)**2, by equal shares
    assert min(value(form, [[3, 0], [0, 1]]) for form in large.forms) == 16  # (3 + 1)**2, by shares of 3/4 and 1/4


def test_the_largest_of_lengths_is_squared_and_negative_ones_change_sides() -> None:
    one, other = (Root(fmpq(2), dot(v, v)) for v in ((fmpq(1), fmpq(0)), (fmpq(0), fmpq(1))))
    small, large = squared_sides(one, NUMBERS["*"](fmpq(3), NUMBERS["max"](one, other, fmpq(5))))
    assert small == one.form.times(4)
    assert large == Extreme("max", (one.form.times(36), other.form.times(36), Form(constant=fmpq(225))))
    moved = squared_sides(NUMBERS["-"](one, other), fmpq(0))
    assert moved == (one.form.times(4), other.form.times(4))
    for left in (NUMBERS["+"](one, other), NUMBERS["+"](one, fmpq(1))):
        with pytest.raises(NotLinearError, match="a sum of lengths that is to be small"):
            squared_sides(left, fmpq(3))
    for wrong in (("max", (NUMBERS["+"](one, other), one)), ("min", (NUMBERS["neg"](one), other))):
        with pytest.raises(NotLinearError):
            NUMBERS[wrong[0]](*wrong[1])


def asked(*texts: str, samples: tuple[int, ...] = (1,)) -> Any:
    numbers = {"L": Fraction(2), "mu": Fraction(1, 2), "G": Fraction(3), "M": Fraction(1)}
    found = []
    for text in texts:
        call = parse_call(text)
        assert call is not None
        found.append(predicate(*call))

    def constant(one: p.Predicate, n: int, i: int, place: int) -> Fraction:
        name = one.constants[place]
        assert isinstance(name, Name)
        return numbers[name.name]

    return classes(found, samples, constant)


@pytest.mark.parametrize(
    ("texts", "samples", "own", "whole"),
    [
        (("smooth(f, L)", "convex(f)"), (1,), Class(Fraction(0), Fraction(2)), True),
        (("smooth(f, L)",), (1,), Class(Fraction(-2), Fraction(2)), True),
        (("smooth(f_ni, L)", "strongly_convex(f_n, mu)"), (1, 1), Class(Fraction(1, 2), Fraction(2)), True),
        (("smooth(f_ni, L)", "strongly_convex(f_n, mu)"), (2,), Class(Fraction(1, 2), Fraction(2)), False),
        (("smooth(f_n, L)", "convex(f_n)", "smooth(f, L)"), (1, 1), Class(Fraction(0), Fraction(2)), True),
        (("smooth(f_n, L)", "smooth(f, M)"), (1, 1), Class(Fraction(-1), Fraction(1)), False),
        (("smooth(f, L)", "pl(f, mu)"), (1,), Class(Fraction(1, 2), Fraction(2)), False),
        (("smooth(f, L)", "strongly_convex(f, mu)", "pl(f, mu)"), (1,), Class(Fraction(1, 2), Fraction(2)), True),
        (("smooth(f, L)", "bounded_gradients(f, G)"), (1,), Class(Fraction(0), Fraction(2), Fraction(3)), False),
        (("smooth(f, L)", "convex(f)", "lipschitz(f, G)"), (1,), Class(Fraction(0), Fraction(2), Fraction(3)), True),
        (("smooth(f_n, L)", "bounded_variance(G)"), (1, 1), Class(Fraction(-2), Fraction(2)), True),
    ],
)
def test_classes(texts: tuple[str, ...], samples: tuple[int, ...], own: Class, whole: bool) -> None:
    found = asked(*texts, samples=samples)
    assert set(found.of.values()) == {own}
    assert found.whole is whole
    assert bool(found.notes) is not whole


@pytest.mark.parametrize(
    ("texts", "samples"),
    [
        (("bounded_below(f)",), (1,)),
        (("smooth(f, mu)", "strongly_convex(f, L)"), (1,)),
        (("smooth(f_n, L)", "strongly_convex(f, mu)", "dissimilar(G)"), (1, 1)),
        (("smooth(f, L)", "quadratic(f)"), (1,)),
        (("strongly_convex(f, mu)", "bounded_gradients(f, G)"), (1,)),
    ],
)
def test_no_class(texts: tuple[str, ...], samples: tuple[int, ...]) -> None:
    with pytest.raises(NoClassError):
        asked(*texts, samples=samples)


@pytest.mark.parametrize(
    ("texts", "samples", "count"),
    [
        (("smooth(f_ni, L)", "bounded_variance(G)"), (2,), 1),
        (("smooth(f_n, L)", "dissimilar(G)"), (1, 1), 1),
        (("smooth(f_n, L)", "dissimilar(G, M)"), (1,), 0),
    ],
)
def test_asked_across_functions(texts: tuple[str, ...], samples: tuple[int, ...], count: int) -> None:
    found = asked(*texts, samples=samples)
    assert found.whole
    assert len(found.across) == count
