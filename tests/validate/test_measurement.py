"""`measure` and `certify`: one claim on one scenario, both sides, and the certificate where it is broken."""

from __future__ import annotations

import operator
import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from validate.bounds import Cases, compare, sides

from tests.validate.test_pytest_plugin import BROKEN, DESCENT, FALSE, ROOT, SPEC
from theory import catalog
from validate import ClaimBroken, assert_claim, certificate, certify, measure, papers
from validate.scenario import read_scenario

HOLDS = {"<=": operator.le, "<": operator.lt, "=": operator.eq, ">=": operator.ge, ">": operator.gt}


def toy(relation: str, right: str = "k/3") -> Any:
    """A claim whose right side needs the index only; what it says is of no matter here."""
    claim = catalog.claim(DESCENT)
    wanted = (replace(claim.parameters[0], name="k"),)
    bare = replace(claim, right=None, definitions={}, hypotheses=(), standing=(), steps=(), parameters=wanted)
    return replace(bare, relation=relation, right=right)


def cases(left: list[Fraction]) -> Cases:
    at = np.arange(1, len(left) + 1)
    return Cases(np.array(left, dtype=object), {"k": at}, {"k": at})


# --- both sides ------------------------------------------------------------------------------------------------------


def test_both_sides_of_gradient_descent_by_hand() -> None:
    """f = x^2/2 from 3 with the step 1/4: x_k = 3 (3/4)^k, against (1 - 1/4)^k 9."""
    found = measure(DESCENT, SPEC)
    k = range(1, 4)
    assert found.claim == DESCENT
    assert found.left.tolist() == [9 * Fraction(3, 4) ** (2 * i) for i in k]
    assert found.right.tolist() == [9 * Fraction(3, 4) ** i for i in k]
    assert found.index["k"].tolist() == list(k)
    assert [found.parameters_at(i)["gamma"] for i in range(len(found))] == [Fraction(1, 4)] * 3
    assert not found.broken.any()
    assert (found.tightness, found.index_at(found.worst)) == (0.75, {"k": 1})
    floats = measure(catalog.claim(DESCENT), read_scenario(SPEC, exact=False))
    assert floats.left.dtype == floats.right.dtype == np.float64
    assert floats.left == pytest.approx(found.left.astype(float), rel=1e-12)
    assert floats.right == pytest.approx(found.right.astype(float), rel=1e-12)
    assert floats.tightness == pytest.approx(0.75)


@pytest.mark.parametrize("exact", [True, False])
def test_a_break_is_seen_and_is_no_error(exact: bool) -> None:
    found = measure(FALSE, read_scenario(BROKEN, exact=exact))
    assert found.broken.tolist() == [False, False, True]
    assert (found.left[2], found.right[2]) == (Fraction(5, 16), Fraction(1, 4))
    assert found.tightness == pytest.approx(5 / 4)
    with pytest.raises(ClaimBroken):
        assert_claim(FALSE, BROKEN)


@pytest.mark.parametrize(
    ("claim", "spec", "parts"),
    [
        ("perm/lemma-5/corrected", SPEC, ("perm/lemma-5/corrected does not speak of Scenario 'local-sgd'",)),
        (DESCENT, SPEC | {"step": "3/2"}, (DESCENT, "Scenario 'local-sgd'", "violates 'step size', at k = 1")),
        ("perm/theorem-2", SPEC, ("no right side",)),
        ("perm/no-such", SPEC, ("no-such",)),
    ],
)
def test_where_there_is_nothing_to_compare_it_is_said_why(claim: str, spec: dict[str, Any], parts: Any) -> None:
    with pytest.raises(ValueError, match=re.escape(parts[0])) as caught:
        measure(claim, spec)
    assert all(part in str(caught.value) for part in parts)
    assert "\n" not in str(caught.value)


def test_a_claim_that_nobody_measures_needs_cases() -> None:
    claim = replace(catalog.claim(DESCENT), id="mine/descent")
    with pytest.raises(ValueError, match="nobody measures the claims of 'mine'"):
        measure(claim, SPEC)
    perm = papers.module("perm")
    assert perm is not None
    found = measure(claim, SPEC, cases=lambda _, scenario: perm.cases(catalog.claim(DESCENT), scenario))
    assert found.left.tolist() == measure(DESCENT, SPEC).left.tolist()


@given(st.sampled_from(sorted(HOLDS)), st.lists(st.integers(-9, 9), min_size=1, max_size=5))
def test_fractions_and_floats_agree_on_what_is_broken(relation: str, thirds: list[int]) -> None:
    """Sides that differ by a third or not at all; `compare`, of floats, is broken where one case is."""
    claim, given = toy(relation), cases([Fraction(n, 3) for n in thirds])
    exact, floats = sides(claim, given, exact=True), sides(claim, given)
    by_hand = [not HOLDS[relation](left, right) for right, left in enumerate(thirds, start=1)]
    assert exact.broken.tolist() == floats.broken.tolist() == by_hand
    found = compare(claim, given)
    assert (found.broken, found.worst, found.tightness) == (any(by_hand), floats.worst, floats.tightness)
    assert not any(by_hand) or exact.broken[exact.worst]
    if relation in ("<=", "<"):
        largest = max(Fraction(left, right) for right, left in enumerate(thirds, start=1))
        assert exact.tightness == pytest.approx(max(0.0, float(largest)))
        assert floats.tightness == (pytest.approx(float(largest)) if largest > 0 else None)
    else:
        assert exact.tightness is floats.tightness is None


@pytest.mark.parametrize(("relation", "sign"), [("<=", 1), (">=", -1)])
def test_an_irrational_right_side_is_rounded_in_the_claims_favour(relation: str, sign: int) -> None:
    found = sides(toy(relation, "sqrt(2)*k"), cases([Fraction(1), Fraction(2)]), exact=True)
    for i, right in enumerate(found.right, start=1):
        assert sign * (right**2 - 2 * i**2) > 0
        assert abs(right**2 - 2 * i**2) < Fraction(1, 10**12)


def test_what_is_not_a_number_does_not_hold() -> None:
    left = np.array([0.1, np.nan])
    found = sides(toy("<="), Cases(left, {"k": np.array([1, 2])}, {}))
    assert found.broken.any()


def test_no_case_is_an_error() -> None:
    for exact in (True, False):
        with pytest.raises(ValueError, match="there is nothing to compare"):
            sides(toy("<="), cases([]), exact=exact)


# --- certificates ----------------------------------------------------------------------------------------------------


def test_a_break_becomes_a_certificate_that_python_alone_accepts(tmp_path: Path) -> None:
    path = certify(FALSE, BROKEN, tmp_path / "new")
    assert path == tmp_path / "new" / "perm.proposition-4-eq15.json"
    written_down = certificate.read(path)
    assert (written_down["left_value"], written_down["right_value"]) == ("5/16", "1/4")
    assert certificate.differences(written_down, catalog.claim(FALSE)) == ()
    program = [sys.executable, "-I", "-S", "verify.py", path.name]
    done = subprocess.run(program, cwd=path.parent, capture_output=True, text=True, check=True)
    report = certificate.verify(path)
    assert done.stdout == f"{report}\n"
    assert report.verdict == "VALID for the claim as printed above: compare it with your paper"
    assert str(report).splitlines() == [*report.claimed, *report.lines, report.verdict]
    false = certificate.verify({**written_down, "left_value": "2"})
    assert str(false).splitlines()[-1] == false.verdict == "INVALID"


@pytest.mark.parametrize(
    ("claim", "spec", "message"),
    [
        (DESCENT, SPEC, f"{DESCENT} is not broken, its hypotheses satisfied, on spec="),
        (
            DESCENT,
            SPEC | {"step": "5"},
            "is not broken, its hypotheses satisfied",
        ),  # it is broken, with too long a step
        ("perm/lemma-5/corrected", SPEC, "is not broken"),
        (FALSE, "spec.json", "spec='spec.json' is not the specification"),
        ("perm/theorem-2", SPEC, "no right side"),
        (FALSE, BROKEN | {"step": "no"}, "step"),
    ],
)
def test_nothing_is_written_without_a_break(tmp_path: Path, claim: str, spec: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        certify(claim, spec, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_the_names_cost_the_standard_library_alone() -> None:
    code = "import sys; before = set(sys.modules); from validate import certify, measure\n"
    code += "print(*sorted({name.split('.')[0] for name in set(sys.modules) - before}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"validate"} | set(sys.stdlib_module_names)
