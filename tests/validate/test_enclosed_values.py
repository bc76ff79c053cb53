"""`bound --rigorous` prints a value, and terms, that lie in what it encloses them with, whatever the numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.theory.toys import in_numbers
from tests.validate.command_line import assigned, printed
from theory import evaluate
from theory.bound import Bound, Parameter
from theory.catalog import claims
from validate.commands.catalogue import terms_at
from validate.strategies import numbers

BOUNDED = [c for c in map(in_numbers, claims()) if c.right is not None]


def values(parameter: Parameter) -> st.SearchStrategy[Any]:
    """Fractions of the parameter's domain, also very near to its ends; a vector of one or two."""
    one = numbers(parameter.domain)
    return st.lists(one, min_size=1, max_size=2) if parameter.shape == "vector" else one


@pytest.mark.parametrize("claim", BOUNDED, ids=lambda c: c.id)
@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(data=st.data())
def test_value_and_terms_lie_in_their_enclosures(claim: Bound, data: st.DataObject) -> None:
    drawn = {p.name: data.draw(values(p), label=p.name) for p in claim.parameters}
    length = min((len(v) for v in drawn.values() if isinstance(v, list)), default=0)
    drawn = {name: v[:length] if isinstance(v, list) else v for name, v in drawn.items()}
    try:
        found = evaluate.enclose(claim, drawn)
        terms = terms_at(claim, drawn, found)
    except ValueError:  # undefined there, or beyond float64
        assume(False)
    # the float64 numbers nearest to the ends: the enclosure itself is most often narrower than their distance
    assert float(found.lower) <= found.midpoint <= float(found.upper)
    for name, value in terms.items():
        entries = {f"{name}[{i}]": v for i, v in enumerate(value)} if np.ndim(value) else {name: value}
        for entry, v in entries.items():
            lower, upper = found.terms[entry]
            assert float(lower) <= v <= float(upper)


LOST = {"mu": "2", "L": "2", "C1": "0.999999999999", "C2": "10", "C3": "1e-12", "C4": "10", "r": "2"}


def test_where_floats_lose_every_digit_the_value_is_that_of_the_enclosure() -> None:
    settings = [f"{name}={value}" for name, value in LOST.items()]
    plain = printed("bound", "open-fl/eq19", *assigned(*settings))
    found = printed("bound", "open-fl/eq19", *assigned(*settings), "--rigorous")
    assert abs(plain["value"] - float(found["lower"])) > 1e8  # by cancellation
    assert float(found["lower"]) <= found["value"] <= float(found["upper"])
    middle = (Fraction(found["lower"]) + Fraction(found["upper"])) / 2
    assert found["value"] == float(middle)


def test_a_value_inside_stays_and_one_outside_goes_to_the_nearest_end() -> None:
    assert evaluate.inside(1.5, "1", "2") == 1.5
    assert evaluate.inside(3.0, "1", "2") == 2.0
    assert evaluate.inside(-math.inf, "1", "2") == 1.0
    assert evaluate.inside(math.nan, "1", "2") == 1.0
    assert evaluate.inside(0.3, "0.33333333333333333333333333333", "0.33333333333333333333333333334") == 1 / 3
