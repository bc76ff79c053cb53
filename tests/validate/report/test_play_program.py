"""A claim's formulas as plain data, run by an interpreter of the tests' own and held against `theory.floats`."""

from collections.abc import Mapping
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.validate.report.playing import CLAIMS, FORMULAS, INPUTS, made, run, same
from theory.bound import Bound, Parameter
from theory.floats import Floats
from theory.listing import listing
from validate.strategies import numbers


def values_of(claim: Bound) -> st.SearchStrategy[dict[str, Any]]:
    size = st.shared(st.integers(1, 4), key="size")

    def value(p: Parameter) -> st.SearchStrategy[Any]:
        number = numbers(p.domain).map(float)
        return number if p.shape == "scalar" else size.flatmap(lambda n: st.lists(number, min_size=n, max_size=n))

    return st.fixed_dictionaries({p.name: value(p) for p in claim.parameters})


def agrees(claim: Bound, values: Mapping[str, Any]) -> None:
    listed = listing(claim)
    found, floats = run(listed.program, values), Floats(claim, values)
    assert same(found[listed.right], floats.right())
    assert list(listed.definitions) == list(claim.definitions)
    for place, value in zip(listed.definitions.values(), floats.definitions(), strict=True):
        assert same(found[place], value)
    for i, places in enumerate(listed.sides):
        assert (places is None) == (claim.formulas.relations[i] is None)
        if places is not None:
            assert all(same(found[p], side) for p, side in zip(places, floats.sides(i), strict=True))


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_listed_programs_give_what_the_claims_give(draw: st.DataObject) -> None:
    claim = draw.draw(st.sampled_from(CLAIMS))
    agrees(claim, draw.draw(values_of(claim)))


@settings(max_examples=80, deadline=None)
@given(FORMULAS, INPUTS)
def test_listed_programs_of_any_formula(text: str, values: dict[str, Any]) -> None:
    try:
        claim = made(text, f"{text} <= a")
        claim.formulas.right  # noqa: B018  # an exponent may be too large
    except ValueError:
        return
    agrees(claim, values)
