"""Why mutants are not killed: the report says it, and what it says is so.

The radius of Theorem 2 of open-fl is an example of all of it. Its claim speaks of starts in a ball whose radius is the
right side, its sides have roots, and no certificate of an instance has its quantity.
"""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from theory import claim
from theory.claim import Claim
from validate import papers as measured
from validate.bounds import breaks
from validate.commands import mutation
from validate.falsify import recomputed, smallest
from validate.mutate.findings import (
    IRRATIONAL,
    NOWHERE,
    REASONS,
    ROUNDED,
    UNBROKEN,
    UNCERTIFIED,
    Finding,
    MutationReport,
)
from validate.mutate.mutants import Mutant, scaled, terms
from validate.mutate.tables import bounds_its_cases, computed, recorded, tabulated
from validate.mutate.trial import _Trial, mutate

RADIUS = "open-fl/theorem-2"


def at_the_minimiser(*centres: str, start: str = "0") -> dict[str, Any]:
    """One client of curvature 1 with those samples, and one step of 1: the next iterate is one of the centres."""
    return {
        "algorithm": "local-sgd", "clients": [{"h": ["1"] * len(centres), "a": list(centres), "p": "1"}], "step": "1",
        "local_steps": 1, "K": 1, "theta0": start, "aggregation": "normalised",
    }  # fmt: skip


# minimiser 0, so r = 0; the printed radius is sqrt(3) sigma, half of it is less than sigma = the root of E||x^1||^2
RATIONAL = at_the_minimiser("1", "-1")  # sigma = 1
ROOT = at_the_minimiser("2", "-1", "-1")  # sigma = sqrt(2)
OUTSIDE = at_the_minimiser("1", "-1", start="3/2")  # in the ball of the printed radius, not in that of half of it


def module() -> ModuleType:
    found = measured.module("open-fl")
    assert found is not None
    return found


def halved() -> Claim:
    original = claim(RADIUS)
    return scaled(original, terms(original)[0], Fraction(1, 2))


def trial(*specs: dict[str, Any]) -> Finding:
    """What becomes of half the radius on these instances of the check, without an oracle."""
    original, cases_of = claim(RADIUS), module().cases
    records = recorded(original, computed(specs), cases_of)
    nobody: Any = SimpleNamespace(tables=[], records=[])
    one = _Trial(original, records, tabulated(records), nobody, cases_of, None)
    return one.finding(Mutant(f"{RADIUS}/mutant-001", halved(), "coefficient scaled", "halved"))


@cache
def report() -> MutationReport:
    return mutate(RADIUS, quick=True)


def test_a_suspect_without_exact_sides_is_not_cleared_as_rounding() -> None:
    """It would turn a break into support."""
    cases_of = module().cases
    assert recomputed(halved(), ROOT, cases_of) == (False, None)
    assert smallest(halved(), [ROOT], cases_of) == (None, 0)
    found, cleared = smallest(halved(), [ROOT, RATIONAL], cases_of)
    assert found is not None
    assert cleared == 0
    assert (found.spec, found.left) == (RATIONAL, 1)
    assert breaks(halved(), found.left, found.right)
    assert found.right**2 >= Fraction(3, 4)  # rounded in the claim's favour
    assert smallest(claim(RADIUS), [RATIONAL], cases_of) == (None, 1)


def test_an_exact_break_without_a_certificate_makes_a_mutant_false_but_not_killed() -> None:
    found = trial(RATIONAL)
    assert (found.outcome, found.reason, found.by_oracle) == ("survived", UNCERTIFIED, False)
    assert found.counterexample is not None
    assert found.false
    assert not found.killed
    assert found.to_json()["reason"] == UNCERTIFIED


def test_a_break_that_has_irrational_sides_is_said_to_be_one() -> None:
    found = trial(ROOT)
    assert (found.outcome, found.reason) == ("not shown false", IRRATIONAL)


def test_a_start_outside_the_mutants_ball_breaks_nothing() -> None:
    """From 3/2 a step leads to +-1: in the ball of the printed radius sqrt(3); half the radius says nothing of it."""
    original, cases_of = claim(RADIUS), module().cases
    records = recorded(original, computed([OUTSIDE]), cases_of)
    assert tabulated(records).suspects(halved(), 1)  # what the original's cases alone would say
    assert bounds_its_cases(halved(), records, cases_of)
    found = trial(OUTSIDE)
    assert (found.outcome, found.reason) == ("not shown false", NOWHERE)
    assert trial(RATIONAL, OUTSIDE).counterexample == trial(RATIONAL).counterexample


def test_most_claims_speak_of_the_same_scenarios_whatever_they_say() -> None:
    perm = measured.module("perm")
    assert perm is not None
    other, cases_of = claim("perm/lemma-5/corrected"), perm.cases
    records = recorded(other, computed(list(perm.instances(True))[::9]), cases_of)
    assert records
    assert not bounds_its_cases(scaled(other, terms(other)[0], Fraction(1, 10**9)), records, cases_of)


def test_the_report_says_why_no_mutant_is_killed() -> None:
    found = report()
    assert found.stands
    assert found.uncertifiable == "root_mean_square_iterate"
    assert found.killed == 0
    for one in found.findings:
        assert (one.reason in REASONS) == (one.outcome == "not shown false" or one.reason == UNCERTIFIED)
    counts = found.reasons()
    assert set(counts) <= set(REASONS) - {ROUNDED}
    assert counts[UNBROKEN] + counts.get(IRRATIONAL, 0) >= 10
    content = json.loads(json.dumps(found.to_json(), default=str))
    assert (content["reasons"], content["uncertifiable"]) == (counts, found.uncertifiable)


def test_the_command_says_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("validate.mutate.trial.mutate", lambda label, **options: report())
    app = typer.Typer()
    app.command()(mutation.mutate)
    shown = " ".join(CliRunner().invoke(app, [RADIUS, "--quick"]).stdout.split())
    for reason, count in report().reasons().items():
        assert f"{RADIUS}: of {count} mutants, {reason}" in shown
    assert "no certificate of an instance has its quantity root_mean_square_iterate" in shown
