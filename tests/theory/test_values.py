"""Values that are given to a claim: what is refused, by name, and assignments as text."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.theory.toys import VALUES, bounded
from theory.domain import REAL
from theory.evaluate import bound, enclose, exact, hypotheses, parse_assignments, terms, violated

# --- bad input --------------------------------------------------------------------------------------------------------

BAD = [
    ({"mu": 1}, "toy/x has no parameter 'mu'"),
    ({"a": 0}, r"a=0 is outside \(0, inf\)"),
    ({"a": -1}, r"a=-1 is outside \(0, inf\)"),
    ({"a": "-1/2"}, r"a=-1/2 is outside \(0, inf\)"),
    ({"a": float("nan")}, r"a=nan is outside \(0, inf\)"),
    ({"a": np.float32("inf")}, r"a=inf is outside \(0, inf\)"),
    ({"a": Decimal("nan")}, r"a=NaN is outside \(0, inf\)"),
    ({"a": "nan"}, r"a=nan is outside \(0, inf\)"),
    ({"x": "-inf"}, r"x=-inf is outside \(-inf, inf\)"),
    ({"K": 1.5}, r"K=1.5 is outside the integers in \[1, inf\)"),
    ({"K": 0}, r"K=0 is outside the integers in \[1, inf\)"),
    ({"K": "3/2"}, r"K=3/2 is outside the integers in \[1, inf\)"),
    ({"a": True}, "a=True is a truth value"),
    ({"a": None}, "a=None has the type NoneType"),
    ({"a": 1j}, "a=1j has the type complex"),
    ({"a": {}}, "a={} has the type dict"),
    ({"a": ""}, "a=: formula '' is empty"),
    ({"a": "b +"}, r"a=b \+: formula 'b \+' cannot be read"),
    ({"a": "__import__('os')"}, "is not allowed"),
    ({"a": "9**9**9"}, "the power '9.*' is too large"),
    ({"a": "1/0"}, r"a=1/0 is not a number in \(0, inf\): division by zero"),
    ({"a": "log(x)"}, r"a=log\(x\) cannot be used: log of a number that is not positive"),
    ({"a": "mu"}, "a=mu is no number in .*, and toy/x has no parameter 'mu'"),
    ({"a": "a"}, "in a circle: a -> a"),
    ({"a": "b*K", "b": "1/a"}, "in a circle: (a -> b -> a|b -> a -> b)"),
    ({"a": "x"}, r"a=x is outside \(0, inf\)"),
]


@pytest.mark.parametrize(("changes", "message"), BAD)
def test_bad_values_are_refused_by_name(changes: dict[str, Any], message: str) -> None:
    claim = bounded("a + b + K", relations=("a < b",))
    for function in (bound, terms, enclose, exact, hypotheses, violated):
        with pytest.raises(ValueError, match=message):
            function(claim, VALUES | changes)


def test_missing_values_are_listed() -> None:
    for function in (bound, enclose, exact, hypotheses):
        with pytest.raises(ValueError, match="toy/x: no value for b, x; given are a, K"):
            function(bounded("a"), {"a": 1, "K": 1})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"a": [1, -1]}, r"a=-1 is outside \(0, inf\)"),
        ({"a": [1.0, np.nan]}, r"a=nan is outside \(0, inf\)"),
        ({"K": [1, 1.5]}, r"K=1.5 is outside the integers"),
        ({"a": []}, "a is an empty array"),
        ({"a": [[1], [1, 2]]}, "ragged"),
        ({"a": ["1", "b"]}, "a=b stands in an array and is not a rational number"),
        ({"a": [1, 2], "b": [1, 2, 3]}, r"do not broadcast: a \(2,\), b \(3,\)"),
        ({"a": [10**400, 1]}, "does not fit float64"),
        ({"a": [True]}, "a=True is a truth value"),
    ],
)
def test_bad_arrays_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bound(bounded("a + b + K"), VALUES | changes)


def test_arrays_of_text_are_read_exactly() -> None:
    assert np.array_equal(bound(bounded("a"), VALUES | {"a": ["1/8", Fraction(1, 4), 0.5]}), [0.125, 0.25, 0.5])


def test_arrays_are_for_floats_only() -> None:
    for function in (enclose, exact, hypotheses):
        with pytest.raises(ValueError, match="a=1,2 is not one number"):
            function(bounded("a"), VALUES | {"a": [1, 2]})


def test_a_claim_without_right_side_has_no_value() -> None:
    for function in (bound, enclose, exact):
        with pytest.raises(ValueError, match="toy/x has no right side"):
            function(bounded(None), VALUES)
    assert terms(bounded(None, {"t": "a*b"}), VALUES) == {"t": pytest.approx(2 / 3)}


def test_a_right_side_is_a_number() -> None:
    for function in (bound, enclose, exact):
        with pytest.raises(ValueError, match="is a vector"):
            function(bounded("z", vectors={"z": REAL}), VALUES | {"z": "1,2"})


# --- assignments ------------------------------------------------------------------------------------------------------


def test_assignments_are_read() -> None:
    claim = bounded("a*b + sum(z)", vectors={"z": REAL}, relations=("a == 1/sqrt(K)",))
    values = parse_assignments(["a = 1/sqrt(K)", "b=1e-1", "K=7", "x=-min(1, a)", "z=0,max(1,b),2/3"], claim)
    assert values == {"a": "1/sqrt(K)", "b": "1e-1", "K": "7", "x": "-min(1, a)", "z": ("0", "max(1,b)", "2/3")}
    assert bound(claim, values) == pytest.approx(0.1 / np.sqrt(7) + 5 / 3, rel=1e-14)
    assert enclose(claim, values).midpoint == pytest.approx(bound(claim, values), rel=1e-14)
    assert hypotheses(claim, values) == [{"name": "h0", "holds": True}]
    assert exact(claim, parse_assignments(["a=1/sqrt(K)", "b=2", "K=4", "x=0", "z=1"], claim)) == 2


@pytest.mark.parametrize(
    ("assignments", "message"),
    [
        (["a"], "'a' is not of the form name=value"),
        (["=1"], "not of the form"),
        (["a="], "not of the form"),
        (["a=1", "a=2"], "a is given twice: 1 and 2"),
        (["aa=1"], "has no parameter 'aa'; did you mean 'a'"),
        (["k=1"], "has no parameter 'k'; did you mean 'K'"),
        (["a==1"], "not allowed"),
        (["a=b", "b=a"], "in a circle"),
        (["a=1/K"], "a=1/K uses K, which has no value"),
        (["a=1,2"], "a list '1,2' stands"),
        (["a=nan"], "a=nan is outside"),
        (["a=-1"], "a=-1 is outside"),
        (["a=__import__('os').system('true')"], "not allowed"),
        (["a=(lambda: 1)()"], "not allowed"),
        (["a=" + "1+" * 4000 + "1"], "characters; the limit is"),
    ],
)
def test_bad_assignments_are_refused(assignments: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_assignments(assignments, bounded("a"))
