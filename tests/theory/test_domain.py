"""Intervals of parameters."""

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from theory.domain import AT_LEAST_ONE, COUNT, INDEX, NONNEGATIVE, OPEN_UNIT, POSITIVE, PROBABILITY, REAL, Domain


@pytest.mark.parametrize(
    ("domain", "inside", "outside"),
    [
        (REAL, [0, -1e300, Fraction(1, 3)], []),
        (POSITIVE, [1, 5e-324, Fraction(1, 10**400)], [0, -1]),
        (NONNEGATIVE, [0, 1], [-5e-324]),
        (PROBABILITY, [1, 0.5], [0, 1.0000001]),
        (OPEN_UNIT, [0.5], [0, 1]),
        (COUNT, [1, 2.0, 10**30], [0, 1.5, Fraction(3, 2)]),
        (INDEX, [0, 3], [-1, 0.5]),
        (AT_LEAST_ONE, [1, 1.5], [0.999]),
        (Domain(None, 2), [2, -100], [2.5]),
        (Domain(None, 2, upper_open=True), [1.9], [2]),
    ],
)
def test_the_ends_belong_to_the_domain_or_not(domain: Domain, inside: list, outside: list) -> None:
    assert all(domain.contains(v) for v in inside)
    assert not any(domain.contains(v) for v in outside)


@pytest.mark.parametrize("domain", [REAL, POSITIVE, NONNEGATIVE, COUNT, PROBABILITY])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_nan_and_infinity_are_outside_every_domain(domain: Domain, value: float) -> None:
    assert not domain.contains(value)
    assert not domain.contains([1.0, value])
    assert not domain.contains(np.array([1, value], dtype=object))


def test_listing_the_claims_loads_no_numerical_library() -> None:
    code = (
        "import sys, theory; theory.claims(); print(*sorted({'sympy', 'flint', 'numpy', 'torch'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == ""
