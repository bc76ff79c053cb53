"""Law: no verdict says more than the machine did, whoever writes the claim. Each of these got a wrong word once."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.laws import units
from theory import claim
from theory.claim import Claim
from theory.domain import NONNEGATIVE, Domain
from validate import certificate, proving
from validate.examine import examine


def outcomes(one: Claim) -> list[str]:
    return [e.outcome for e in proving.evidence(one)]


# --- what has no value -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("statement", ["sqrt(-1-y)**2 == -1-y", "log(-1-y) - log(-1-y) == 0", "y/(y - y) == 1"])
def test_what_never_has_a_value_is_not_called_proved(statement: str, tmp_path: Path) -> None:
    """Where a side has no value an instance says nothing: a derivation may end there, and is of nothing."""
    found = examine(claim("a", statement, parameters={"y": NONNEGATIVE}), quick=True, out=tmp_path)
    assert found.verdict == "undecided"


def test_what_has_a_value_is_proved() -> None:
    assert outcomes(claim("a", "y/(1+y) <= 1", parameters={"y": NONNEGATIVE})) == ["proved"]
    assert outcomes(claim("a", "y/y == 1")) == ["proved"]


@pytest.mark.parametrize("ends", [(0, float("inf")), (float("nan"), None), (1, 0)])
def test_a_domain_without_ends_or_values_is_refused(ends: tuple[Any, Any]) -> None:
    with pytest.raises(ValueError, match=r"lower|upper"):
        Domain(*ends)


# --- induction and squares -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    ["sum_k((1-a)**k) >= 1", "sum_k((-2)**k) >= 1", "sum_k(3 - k) >= 0", "sum_k(q**k) <= K"],
    ids=["negative base", "negative number", "late", "not monotone"],
)
def test_an_induction_goes_through_every_index_and_every_value(statement: str) -> None:
    assert "proved" not in outcomes(claim("a", statement))


def test_a_pivot_that_vanishes_where_the_parameters_range_is_none() -> None:
    turned = "norm2(b) + (t-1)*(t-1)*norm2(a) - 2*(t-1)*dot(a,b)"  # at t = 1: norm2(b)
    false = claim("a", f"{turned} <= 0", vectors=("a", "b"), assuming=("t == 1",))
    assert "proved" not in outcomes(false)
    assert "proved" not in outcomes(replace(false, assuming=(), parameters={"t": Domain(1, 1)}))
    assert "proved" in outcomes(claim("a", "norm2((t-1)*a - b) >= 0", vectors=("a", "b")))


# --- claims about algorithms -----------------------------------------------------------------------------------------


def test_an_instance_that_the_claim_does_not_speak_of_refutes_it_not(tmp_path: Path) -> None:
    """A certificate is held against the claim's own algorithm and its own words."""
    one = next(c for c in units.WRONG if c.label == "quarter")
    path = examine(one, quick=True, out=tmp_path).certificate
    assert path is not None
    made = certificate.read(path)
    assert certificate.differences(made, one) == ()
    others = (
        replace(one, of=units.local_sgd),
        replace(one, statement=one.statement.replace("R2/4", "R2/3")),
        replace(one, assuming=one.assuming[:-1]),
    )
    assert all(certificate.differences(made, other) for other in others)
