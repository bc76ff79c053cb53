"""The check against mutants: what is false is killed, what follows from the claim is not called false."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from typer.testing import CliRunner, Result
from validate.bounds import ROUNDING, compare_all
from validate.mutate.mutants import Mutant, mutants
from validate.mutate.oracle import weaker
from validate.mutate.tables import Exact, attained, computed, recorded, refute, tabulated, without
from validate.mutate.trial import Finding, MutationReport, kill_rate, mutate, mutate_all, summary

from theory import claim
from validate import papers as measured
from validate import verifier
from validate.commands import mutation
from validate.mutate import probe

STEP = "perm/lemma-4/corrected"
DRIFT = "perm/lemma-5/corrected"
RATE = "perm/proposition-4-eq15/corrected"
# Claims of several kinds; together they have more than 30 false mutants at the reduced size.
FEW = (STEP, DRIFT, RATE)
MODULE = measured.module("perm")
assert MODULE is not None


@cache
def report(label: str) -> MutationReport:
    """Of a claim at the reduced size, once."""
    return mutate(label, quick=True)


@cache
def instances() -> list[Any]:
    """Some of the paper's instances, with their moments."""
    assert MODULE is not None
    return computed(list(MODULE.instances(True))[::9])


def test_reduced_kill_rate() -> None:
    reports = [report(label) for label in FEW]
    assert sum(r.false for r in reports) >= 30
    rate, blind = kill_rate(reports), kill_rate(reports, by_oracle=True)
    assert rate is not None and blind is not None  # noqa: PT018
    assert rate >= 0.95
    assert blind >= 0.95
    assert all(r.stands for r in reports)


def test_a_tight_bound_that_is_scaled_down_is_killed() -> None:
    """Lemma 4 is attained, so nine tenths of its last term are too little, and eleven tenths are not."""
    original = claim(STEP)
    assert original.right is not None
    records = recorded(original, instances(), MODULE.cases)
    table, exact = tabulated(records), Exact(MODULE.cases)
    head, last = original.right.rsplit(" + ", 1)
    less = replace(original, right=f"{head} + 9/10*{last}")
    found = refute(less, table.suspects(less, 40), exact)
    assert found is not None
    assert found.left > found.right
    more = replace(original, right=f"{head} + 11/10*{last}")
    assert refute(more, table.suspects(more, 40), exact) is None
    assert weaker(more, original, table)
    assert not weaker(less, original, table)
    assert refute(original, table.suspects(original, 40), exact) is None


def test_killed_mutants_have_certificates_of_their_quantity_and_no_reason() -> None:
    found = report(STEP)
    assert found.killed > 0
    assert found.uncertifiable == ""
    assert not any(f.reason for f in found.findings if f.outcome in ("killed", "weaker"))


def test_killed_means_a_valid_certificate_and_false_an_exact_break() -> None:
    found = report(STEP)
    for finding in found.findings:
        assert finding.false == (finding.counterexample is not None)
        if finding.false:
            assert finding.counterexample is not None
            assert finding.counterexample.left > finding.counterexample.right
            assert isinstance(finding.counterexample.right, Fraction)
    assert {f.outcome for f in found.findings} >= {"killed", "weaker"}


def test_weaker_mutants_are_not_false() -> None:
    """For a bound from above: a positive term made larger, and a coefficient of the whole right side."""
    found = {f.mutant.description: f.outcome for id in (DRIFT, RATE) for f in report(id).findings}
    larger = [text for text in found if text.endswith(("right side times 2", "right side times 11/10"))]
    smaller = [text for text in found if text.endswith("below what is attained") or text == "start_term times 1/2"]
    assert {found[text] for text in larger} == {"weaker"}
    assert {found[text] for text in smaller} == {"killed"}


@pytest.mark.parametrize("label", FEW)
def test_dropped_hypotheses_are_tried_on_instances_that_violate_them(label: str) -> None:
    original = claim(label)
    records = recorded(original, instances(), MODULE.cases)
    for hypothesis in original.hypotheses:
        rest = replace(original, hypotheses=tuple(h for h in original.hypotheses if h is not hypothesis))
        fast = tabulated(without(rest, hypothesis.name, records, MODULE.cases))
        slow = tabulated(recorded(rest, instances(), MODULE.cases))
        assert fast.specs == slow.specs
        assert np.array_equal(fast.left, slow.left)
        assert all(np.array_equal(fast.parameters[name], slow.parameters[name]) for name in slow.parameters)


def test_without_the_limit_of_its_step_size_a_rate_is_false() -> None:
    original = claim(RATE)
    rest = replace(original, hypotheses=tuple(h for h in original.hypotheses if h.name != "step size"))
    assert len(rest.hypotheses) == len(original.hypotheses) - 1
    records = recorded(original, computed(MODULE.instances(True)), MODULE.cases)
    table = tabulated(without(rest, "step size", records, MODULE.cases))
    assert refute(rest, table.suspects(rest, 40), Exact(MODULE.cases)) is not None


@pytest.mark.parametrize("label", FEW)
def test_the_table_sees_what_the_ordinary_comparison_sees(label: str) -> None:
    original = claim(label)
    records = [r for r in recorded(original, instances(), MODULE.cases) if not r.failed]
    table = tabulated(records)
    for changed in [original, *(m.claim for m in mutants(original)[::5])]:
        right = table.right(changed)
        if not np.isfinite(right).all():
            continue
        expected = compare_all(changed, [r.cases for r in records])
        assert list(table.excess(changed) > ROUNDING) == [c.broken for c in expected]


def test_attained_factors() -> None:
    """Scaling a term by the factor that an instance needs makes that instance tight."""
    original = claim(DRIFT)
    assert original.right is not None
    table = tabulated(recorded(original, instances(), MODULE.cases))
    noise, spread = original.right.split(" + ")
    factors, sign = attained(original, table, replace(original, right=noise))
    assert sign == 1
    factor = float(factors.max())
    assert 0 < factor < 1
    scaled_to = [replace(original, right=f"{noise} + {c}*{spread}") for c in (factor, 0.9 * factor)]
    assert abs(table.excess(scaled_to[0]).max()) < 1e-9
    assert table.excess(scaled_to[1]).max() > 1e-3


@pytest.mark.parametrize("draw", ["random", "varied"])
def test_probes_are_instances_that_certificates_can_carry(draw: str) -> None:
    templates = list(MODULE.instances(True))[::40]
    rng = np.random.default_rng(3)
    specs = [probe.at_random(templates, rng) for _ in range(60)]
    if draw == "varied":
        specs = [probe.varied(spec, rng) for spec in specs]
    assert len(computed(specs)) > 40
    for spec in specs:
        assert 1 <= int(spec["K"]) <= probe.MOST_ROUNDS
        assert 1 <= int(spec["local_steps"]) <= probe.MOST_STEPS
        assert 1 <= len(spec["clients"]) <= probe.MOST_CLIENTS
        json.dumps(spec)
        numbers = [spec["step"], spec["theta0"], *(h for c in spec["clients"] for h in (*c["h"], *c["a"], c["p"]))]
        assert all(isinstance(v, str) and Fraction(v).denominator < 10_000 for v in numbers)
    again = np.random.default_rng(3)
    assert [probe.at_random(templates, again) for _ in range(60)] == specs or draw == "varied"


def test_deterministic_and_certificates_are_written_and_valid(tmp_path: Path) -> None:
    label = DRIFT
    found = mutate(label, quick=True, out=tmp_path)
    again = replace(found, findings=tuple(replace(f, certificate=None) for f in found.findings))
    assert again.to_json() == report(label).to_json()
    paths = [f.certificate for f in found.findings if f.certificate is not None]
    assert len(paths) == found.killed > 0
    for path in paths:
        data = verifier.load(str(path))
        assert verifier.verify(data).valid
        assert "/mutant-" in data["claim"], "it must not be taken for one against the paper's claim"
        assert data["statement"].startswith("Not in the paper")


def test_a_claim_that_nothing_measures_has_mutants_and_no_rate() -> None:
    found = mutate("perm/lemma-12", quick=True)
    assert found.findings
    assert {f.outcome for f in found.findings} == {"not measured"}
    assert found.kill_rate is None


def test_a_false_claim_is_said_to_be_so() -> None:
    assert not report("perm/lemma-5").stands


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="has no right side"):
        mutate("perm/theorem-2", quick=True)
    with pytest.raises(ValueError, match="perm/nothing"):
        mutate("perm/nothing", quick=True)
    with pytest.raises(ValueError, match="nobody"):
        mutate_all("nobody", quick=True)
    with pytest.raises(ValueError, match="templates is empty"):
        probe.at_random([], np.random.default_rng(0))


# --- the command -----------------------------------------------------------------------------------------------------


def call(*arguments: str) -> Result:
    """The command alone, so that it is tested whether or not `fedproof` has it yet."""
    app = typer.Typer()
    app.command()(mutation.mutate)
    return CliRunner().invoke(app, list(arguments))


def faked(*outcomes: Any) -> Callable[..., MutationReport]:
    """A report with these outcomes, in place of a computed one."""
    original = claim(STEP)
    findings = [
        Finding(Mutant(f"{STEP}/mutant-{i:03d}", original, "term dropped", "moved"), outcome, outcome == "survived")
        for i, outcome in enumerate(outcomes, 1)
    ]
    return lambda label, **options: MutationReport(label, True, tuple(findings))


def test_json_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    def computed_once(label: str, *, quick: bool, **options: Any) -> MutationReport:
        assert quick
        return report(label)

    monkeypatch.setattr("validate.mutate.trial.mutate", computed_once)
    result = call(STEP, "--quick", "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == (0 if found["killed"] == found["false"] else 1), result.stderr
    assert {"id", "mutants", "false", "killed", "kill_rate", "detail"} <= set(found)
    assert found["id"] == STEP
    assert found["mutants"] == len(found["detail"]) == len(report(STEP).findings)
    assert found["false"] == sum(d["false"] for d in found["detail"])
    assert found["killed"] == sum(d["killed"] for d in found["detail"])
    assert found["kill_rate"] == pytest.approx(found["killed"] / found["false"])
    for entry in found["detail"]:
        assert not entry["killed"] or entry["false"]
        if entry["killed"]:
            left, right = (Fraction(entry["counterexample"][side]) for side in ("left", "right"))
            assert left > right


@pytest.mark.parametrize(
    ("outcomes", "status", "rate"),
    [(("killed", "killed"), 0, 1.0), (("weaker",), 0, None), (("killed", "survived"), 1, 0.5), ((), 0, None)],
)
def test_exit_status(outcomes: Any, status: int, rate: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("validate.mutate.trial.mutate", faked(*outcomes))
    result = call(STEP, "--json")
    assert result.exit_code == status
    assert json.loads(result.stdout)["kill_rate"] == rate
    text = call(STEP)
    assert text.exit_code == status
    assert f"{len(outcomes)} mutants" in text.stdout


def test_a_paper_has_one_summary(monkeypatch: pytest.MonkeyPatch) -> None:
    one = faked("killed", "survived")
    monkeypatch.setattr("validate.mutate.trial.mutate_all", lambda paper, **options: [one("a/b"), one("a/c")])
    result = call("perm", "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 1
    assert (found["id"], found["mutants"], found["false"], found["killed"]) == ("perm", 4, 4, 2)
    assert [d["id"] for d in found["detail"]] == ["a/b", "a/c"]
    assert "survived: " in call("perm").stdout


def test_summary_counts_the_oracle_apart() -> None:
    reports = [faked("killed", "survived")(STEP)]
    assert summary("x", reports)["oracle"] == {"false": 1, "killed": 0, "kill_rate": 0.0}
    assert kill_rate([]) is None


@pytest.mark.slow
def test_kill_rate_of_the_paper() -> None:
    reports = mutate_all("perm")
    assert sum(r.false for r in reports) >= 200
    rate = kill_rate(reports)
    assert rate is not None
    assert rate >= 0.95
