"""The objects of theory/claim.py: checked when made, frozen, and evaluated through their methods."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from theory.assumptions import Assumption, Smooth
from theory.claim import Claim, Hypothesis, Paper, Parameter, Quantity
from theory.domain import COUNT, POSITIVE

QUANTITY = Quantity("suboptimality", "f(x) - f*", "f-f^*")


def make(id: str = "toy/theorem-1", **changes: Any) -> Claim:
    fields: dict[str, Any] = {
        "kind": "theorem",
        "title": "a bound",
        "equation": "(1)",
        "statement": "statement",
        "latex": "x",
        "quantity": QUANTITY,
        "source": "here",
        "parameters": (Parameter("mu", POSITIVE, "modulus"), Parameter("L", POSITIVE, "constant")),
        "hypotheses": (Hypothesis("order", "mu <= L", "mu <= L"), Hypothesis("smooth", "L-smooth", None, Smooth())),
        "definitions": {"kappa": "L/mu"},
        "relation": "<=",
        "right": "1 + kappa",
    }
    return Claim(id, **(fields | changes))


def test_the_id_falls_into_paper_and_label() -> None:
    c = make("toy/theorem-1/corrected")
    assert (c.paper, c.label, c.has_bound) == ("toy", "theorem-1/corrected", True)
    assert not make(right=None).has_bound


@pytest.mark.parametrize("id", ["toy", "toy/", "/x", "Toy/x", "toy/a b", "toy//x", "toy/x\n", ""])
def test_an_id_of_another_form_is_refused(id: str) -> None:
    with pytest.raises(ValueError, match="not of the form paper/label"):
        make(id)


@pytest.mark.parametrize("name", ["", "1a", "a b", "é", "a-b", "_a", "a\n"])
def test_names_are_ascii_identifiers(name: str) -> None:
    with pytest.raises(ValueError, match="not an ASCII identifier"):
        Parameter(name, POSITIVE, "")
    with pytest.raises(ValueError, match="not an ASCII identifier"):
        Quantity(name, "", "")


def test_a_shape_is_scalar_or_vector() -> None:
    with pytest.raises(ValueError, match="shape='matrix'"):
        Parameter("x", POSITIVE, "", shape="matrix")  # type: ignore[arg-type]


def test_a_name_is_used_once() -> None:
    with pytest.raises(ValueError, match=r"\['mu'\] are used twice"):
        make(definitions={"mu": "L"})


def test_a_repair_has_a_derivation() -> None:
    with pytest.raises(ValueError, match="carries its derivation"):
        make("toy/theorem-1/corrected", amends="toy/theorem-1")


def test_claims_are_frozen_all_the_way() -> None:
    definitions = {"kappa": "L/mu"}
    c = make(definitions=definitions)
    definitions["kappa"] = "0"
    assert c.definitions["kappa"] == "L/mu"
    with pytest.raises(TypeError):
        c.definitions["kappa"] = "0"  # type: ignore[index]
    with pytest.raises(dataclasses.FrozenInstanceError):
        c.right = "0"  # type: ignore[misc]
    assert dataclasses.replace(c, right="2").bound(mu=1, L=1) == 2


def test_a_paper_holds_its_own_claims_once() -> None:
    c = make()
    assert list(Paper("toy", "t", "a", (c,))) == [c]
    with pytest.raises(ValueError, match="used twice"):
        Paper("toy", "t", "a", (c, c))
    with pytest.raises(ValueError, match="does not belong to paper 'other'"):
        Paper("other", "t", "a", (c,))
    repair = make("toy/theorem-1/corrected", amends="toy/theorem-2", derivation="because")
    with pytest.raises(ValueError, match="amends 'toy/theorem-2', which the paper does not have"):
        Paper("toy", "t", "a", (c, repair))


def test_the_methods_evaluate() -> None:
    c = make()
    assert c.bound(mu="1/10", L=1) == pytest.approx(11, rel=1e-15)
    assert c.terms(mu=0.5, L=1) == {"kappa": 2.0}
    assert np.array_equal(c.bound(mu=np.array([1.0, 2.0]), L=2), [3, 2])
    assert (c.enclose(mu="1/10", L=1).lower, c.enclose(mu="1/10", L=1).upper) == ("11", "11")
    assert c.violated(mu=2, L=1) == ("order",)
    assert c.violated(mu=1, L=1) == ()
    value = c.expression().subs({p.symbol: Fraction(1, 4) for p in c.parameters[:1]}).subs(c.parameters[1].symbol, 1)
    assert value == 5


def test_an_unknown_parameter_is_named_with_what_comes_close() -> None:
    c = make(parameters=(Parameter("gamma", POSITIVE, ""), Parameter("K", COUNT, "")), definitions={}, right="K")
    with pytest.raises(ValueError, match=r"toy/theorem-1 has no parameter 'gama'; did you mean 'gamma'\?"):
        c.parameter("gama")
    assert c.parameter("K").domain is COUNT
    with pytest.raises(ValueError, match="has no parameter 'K'; it has none"):
        make(parameters=(), hypotheses=(), definitions={}, right=None).parameter("K")


def test_the_base_of_the_assumptions_says_nothing() -> None:
    with pytest.raises(TypeError):
        Assumption().describe()
    assert Smooth("L1", "sample").describe() == "the gradient of every sample function is L1-Lipschitz"
