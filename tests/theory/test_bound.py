"""The objects of theory/bound.py: checked when made, and frozen."""

from typing import Any

import pytest

from theory.bound import Bound, Hypothesis, Parameter
from theory.domain import COUNT, POSITIVE


def make(**changes: Any) -> Bound:
    fields: dict[str, Any] = {
        "right": "1 + kappa",
        "parameters": (Parameter("mu", POSITIVE, "modulus"), Parameter("L", POSITIVE, "constant")),
        "hypotheses": (Hypothesis("order", "mu <= L", "mu <= L"), Hypothesis("smooth(f, L)", "L-smooth")),
        "definitions": {"kappa": "L/mu"},
    }
    return Bound("toy/theorem-1", **(fields | changes))


@pytest.mark.parametrize("name", ["", "1a", "a b", "é", "a-b", "_a", "a\n"])
def test_names_are_ascii_identifiers(name: str) -> None:
    with pytest.raises(ValueError, match="not an ASCII identifier"):
        Parameter(name, POSITIVE, "")


def test_a_shape_is_scalar_or_vector() -> None:
    with pytest.raises(ValueError, match="shape='matrix'"):
        Parameter("x", POSITIVE, "", shape="matrix")  # type: ignore[arg-type]


def test_a_name_is_used_once() -> None:
    with pytest.raises(ValueError, match=r"\['mu'\] are used twice"):
        make(definitions={"mu": "L"})


def test_a_relation_is_one_that_is_known() -> None:
    with pytest.raises(ValueError, match="relation='~' is none of"):
        make(relation="~")


def test_an_unknown_parameter_is_named_with_what_comes_close() -> None:
    one = make(parameters=(Parameter("gamma", POSITIVE, ""), Parameter("K", COUNT, "")), definitions={}, right="K")
    with pytest.raises(ValueError, match=r"toy/theorem-1 has no parameter 'gama'; did you mean 'gamma'\?"):
        one.parameter("gama")
    assert one.parameter("K").domain is COUNT
    with pytest.raises(ValueError, match="has no parameter 'K'; it has none"):
        make(parameters=(), hypotheses=(), definitions={}, right=None).parameter("K")
