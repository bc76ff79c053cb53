"""`measure` and `certify`: one claim on one instance, both sides, and the certificate where it is broken."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.validate.test_pytest_plugin import BROKEN, DESCENT, FALSE, INSTANCE, ROOT, TOO_LONG
from theory import catalog
from validate import ClaimBroken, assert_claim, certificate, certify, measure


def test_both_sides_of_gradient_descent_by_hand() -> None:
    """f = x^2/2 from 3 with the step 1/4: x_k = 3 (3/4)^k, against (1 - 1/4)^k of the start."""
    found = measure(DESCENT, INSTANCE)
    assert found.claim == DESCENT
    powers = [Fraction(3, 4) ** i for i in range(4)]
    assert [left / found.left[0] for left in found.left] == [power**2 for power in powers]
    assert [right / found.right[0] for right in found.right] == powers
    assert found.index["k"].tolist() == [0, 1, 2, 3]
    assert found.parameters["eta"] == Fraction(1, 4)
    assert not found.broken.any()
    assert (found.tightness, found.index_at(found.worst)) == (1.0, {"k": 0})


def test_a_break_is_seen_and_is_no_error() -> None:
    found = measure(catalog.claim(FALSE), BROKEN)
    assert found.broken.tolist() == [True]
    assert (found.left[0], found.right[0]) == (1, Fraction(30037, 32768))
    assert found.tightness == pytest.approx(32768 / 30037)
    with pytest.raises(ClaimBroken):
        assert_claim(FALSE, BROKEN)


def test_a_claim_that_no_catalogue_has() -> None:
    mine = replace(catalog.claim(DESCENT), paper="mine", label="descent")
    assert measure(mine, INSTANCE).left.tolist() == measure(DESCENT, INSTANCE).left.tolist()
    assert measure(mine, INSTANCE).claim == "mine/descent"


@pytest.mark.parametrize(
    ("claim", "instance", "parts"),
    [
        (DESCENT, TOO_LONG, (DESCENT, "the instance violates 'eta <= 1/L'")),
        (DESCENT, BROKEN, ("eta",)),
        (DESCENT, 3, ("not to a int",)),
        ("fedmim/remark-iv3", INSTANCE, ("is no sentence",)),
        ("textbook/no-such", INSTANCE, ("no-such",)),
    ],
)
def test_where_there_is_nothing_to_compare_it_is_said_why(claim: str, instance: Any, parts: Any) -> None:
    with pytest.raises(ValueError, match=re.escape(parts[0])) as caught:
        measure(claim, instance)
    assert all(part in str(caught.value) for part in parts)
    assert "\n" not in str(caught.value)


# --- certificates ----------------------------------------------------------------------------------------------------


def test_a_break_becomes_a_certificate_that_python_alone_accepts(tmp_path: Path) -> None:
    path = certify(FALSE, BROKEN, tmp_path / "new")
    assert path == tmp_path / "new" / "fedavg-svrg.theorem-v1-eq7.json"
    written_down = certificate.read(path)
    assert (written_down["left"], written_down["right"]) == ("1", "30037/32768")
    assert certificate.differences(written_down, catalog.claim(FALSE)) == ()
    program = [sys.executable, "-I", "-S", "verify.py", path.name]
    done = subprocess.run(program, cwd=path.parent, capture_output=True, text=True, check=True)
    report = certificate.verify(path)
    assert done.stdout == f"{report}\n"
    assert report.verdict == "VALID for the claim as printed above: compare it with your paper"
    false = certificate.verify({**written_down, "left": "2"})
    assert str(false).splitlines()[-1] == false.verdict == "INVALID"


@pytest.mark.parametrize(
    ("claim", "instance", "message"),
    [
        (DESCENT, INSTANCE, DESCENT),
        (DESCENT, TOO_LONG, "eta <= 1/L"),  # it is broken, with too long a step
        (FALSE, "no JSON", "the instance is no JSON"),
        ("fedmim/remark-iv3", INSTANCE, "is no sentence"),
        (FALSE, BROKEN | {"start": "no"}, "start"),
    ],
)
def test_nothing_is_written_without_a_break(tmp_path: Path, claim: str, instance: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        certify(claim, instance, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_the_names_cost_the_standard_library_alone() -> None:
    code = "import sys; before = set(sys.modules); from validate import certify, measure\n"
    code += "print(*sorted({name.split('.')[0] for name in set(sys.modules) - before}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"validate"} | set(sys.stdlib_module_names)
