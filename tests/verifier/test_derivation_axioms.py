"""Axioms of the verifier: powers with integer exponents, parts of sums, coordinates, and what follows from them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.derivation.both import verified
from theory import algorithm, claim
from theory.derivation import axiom, cases, combined, step
from theory.domain import REAL


def says(statement: str, *lines: Any, assuming: tuple[str, ...] = (), **fields: Any) -> bool:
    return verified(claim("one", statement, assuming=assuming, **fields), lines)


@pytest.mark.parametrize(
    ("statement", "assuming", "of", "true"),
    [
        ("a**H <= a**(H + 2)", ("a >= 1",), ("a", "H", "H + 2"), True),
        ("a**(H + 2) <= a**H", ("a <= 1",), ("a", "H", "H + 2"), True),
        ("a**H <= a**(H + 2)", ("a <= 1",), ("a", "H", "H + 2"), False),
        ("a**H <= a**(H + 2)", (), ("a", "H", "H + 2"), False),
        ("a**(H + 2) <= a**H", ("a >= 1",), ("a", "H + 2", "H"), False),
        ("a**p <= a**(p + 1)", ("a >= 1",), ("a", "p", "p + 1"), False),
    ],
)
def test_exponents(statement: str, assuming: tuple[str, ...], of: tuple[str, ...], true: bool) -> None:
    assert says(statement, axiom("all", None, "exponents", *of), assuming=assuming) is true


def test_exponents_of_what_may_be_negative() -> None:
    line = axiom("all", None, "exponents", "a", "H", "H + 1")
    assert not says("a**(H + 1) <= a**H", line, assuming=("a <= 1",), parameters={"a": REAL})


@pytest.mark.parametrize(
    ("statement", "true"),
    [
        ("b**(H*(M + 1)) == b**(H*M)*b**H", True),
        ("(b**H)**M == b**(H*M)", True),
        ("(b**H)**M == (b**M)**H", True),
        ("(b**H)**M == b**(H + M)", False),
        ("b**(H*M) == b**H*b**M", False),
        ("b**(p*M) == (b**p)**M", False),
    ],
)
def test_products_in_exponents(statement: str, true: bool) -> None:
    from theory.domain import COUNT

    fields = {"parameters": {"M": COUNT}}
    assert says(statement, combined("all"), **fields) is true


def test_a_part_of_a_sum() -> None:
    assert says(
        "norm(a_n) <= sum_n(norm(a_n))", axiom("all", None, "part", "norm(a_n)", over="sum_n"), vectors=("a_n",)
    )
    assert not says(
        "norm(a_n) <= mean_n(norm(a_n))", axiom("all", None, "part", "norm(a_n)", over="sum_n"), vectors=("a_n",)
    )
    assert not says("b_n <= sum_n(b_n)", axiom("all", None, "part", "b_n", over="sum_n"), parameters={"b_n": REAL})


def test_cases_of_integers() -> None:
    first = [combined("less", None, {"H <= S": "1"})]
    second = [combined("more", None, {"S + 1 <= H": "1"})]
    split = cases("all", None, "H <= S", first, second)
    statement = "(H - S)*(H - S) >= 0"
    assert says(statement, cases("all", None, "H <= S", [axiom("a", None, "square", "H - S")],
                                 [combined("b", None, {"S + 1 <= H": "0"}, {"H - S": "1"})]))  # fmt: skip
    assert not says("H <= S", split)
    assert not says("p <= q", cases("all", None, "p <= q", [combined("a", None, {"p <= q": "1"})],
                                    [combined("b", None, {"q + 1 <= p": "1"})]))  # fmt: skip


@algorithm
def scaled(w: Any, x: Any, *, eta: Any) -> Any:
    w.tap("square", w.times(x, x))
    w.tap("root", w.sqrt(w.times(x, x)))
    return x - eta * w.times(w.ones(), x)


C = "coordinate({})".format


@pytest.mark.parametrize(
    ("statement", "true"),
    [
        ("dot(square[k], x[k]) == dot(x[k], square[k])", True),
        ("norm2(x[k+1]) == (1 - eta)**2*norm2(x[k])", True),
        ("norm2(root[k]) == norm2(x[k])", True),
        ("norm2(square[k]) == norm2(x[k])**2", False),
        ("norm2(x[k+1]) == (1 - eta)*norm2(x[k])", False),
    ],
)
def test_rounds_by_coordinates(statement: str, true: bool) -> None:
    assert says(statement, step("all"), of=scaled) is true


def test_a_sum_over_coordinates() -> None:
    one = step("one", f"{C('square[k]')} == {C('x[k]')}**2")
    over = {"line": "one", "over": ["coordinates"], "times": C("x[k]")}
    assert says(
        "dot(square[k], x[k]) == dot(x[k], square[k])",
        one,
        combined("all", None, [over, {**over, "times": f"-{C('x[k]')}"}]),
        of=scaled,
    )
    low = axiom("low", f"{C('x[k]')}**2 <= norm2(x[k])", "coordinate", "x[k]")
    every = combined("all", None, [{"line": "low", "over": ["coordinates"]}])
    assert says("norm2(x[k]) <= d*norm2(x[k])", low, every, of=scaled)
    assert not says("d*norm2(x[k]) <= norm2(x[k])", low, every, of=scaled)
    assert not says("norm2(x[k]) <= norm2(x[k])*2", low, every, of=scaled)


def test_what_may_have_no_value_is_known_in_the_run_only() -> None:
    """The last root of a run is that of its last round: x[K] is not spoken of by it."""
    rule = step("same", "norm2(root[k]) == norm2(x[k])")
    assert says("norm2(root[k]) >= norm2(x[k])", rule, combined("all", None, {"same": "-1"}), of=scaled)
    assert not says("norm2(x[k]) >= 0", rule, combined("all", None, {"same": "-1"}, {"root[k]": "1"}), of=scaled)
    assert says("norm2(x[k]) >= 0", combined("all", None, (), {"x[k]": "1"}), of=scaled)


def test_claims_do_not_speak_of_coordinates() -> None:
    from tests.verifier.written import derivation, line
    from validate.verifier import FormatError, verify

    square = derivation(
        "a/b",
        "coordinate(v)**2 >= 0",
        [line("all", None, "axiom", schema="square", of=["coordinate(v)"])],
        vectors=("v",),
    )
    with pytest.raises(FormatError, match="coordinates"):
        verify(square)
