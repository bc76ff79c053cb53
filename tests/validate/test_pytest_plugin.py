"""`assert_claim`, its fixture, and the example of docs/properties.md in a suite of its own."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from validate.bounds import Cases, compare
from validate.papers import perm

from theory.catalog import claim as find_claim
from validate import ClaimBroken, Held, HypothesisViolated, assert_claim
from validate.scenario import Scenario, read_scenario

ROOT = Path(__file__).resolve().parents[2]
DESCENT = "perm/lemma-6/corrected"
RATE = "perm/proposition-4-eq15/corrected"
FALSE = "perm/proposition-4-eq15"
SPEC: dict[str, Any] = {
    "algorithm": "local-sgd",
    "clients": [{"h": ["1"], "a": ["0"]}],
    "step": "1/4",
    "local_steps": 1,
    "K": 3,
    "theta0": "3",
}
# Proposition 4 (15) is false here: x1 = +-1/8, and E x2^2 = (1/64)(1 + 1/4), where nothing grows on its right side
BROKEN = SPEC | {"clients": [{"h": ["4", "4"], "a": ["1/4", "-1/4"]}], "step": "1/8", "K": 2, "theta0": "0"}
NOISY = SPEC | {"clients": [{"h": ["1", "1"], "a": ["1", "-1"]}], "step": "1/8"}


def test_it_compares_what_the_oracle_compares() -> None:
    held = assert_claim(DESCENT, SPEC)
    claim, scenario = find_claim(DESCENT), read_scenario(SPEC, exact=True)
    cases = perm.cases(claim, scenario)
    assert cases is not None
    assert held == Held(DESCENT, len(cases), True, pytest.approx(compare(claim, cases).tightness))
    floats = assert_claim(claim, read_scenario(SPEC, exact=False))
    assert floats == replace(held, exact=False, tightness=pytest.approx(held.tightness))


@pytest.mark.parametrize("exact", [True, False])
def test_a_break_shows_both_sides_the_index_and_the_hypotheses(exact: bool) -> None:
    with pytest.raises(ClaimBroken) as caught:
        assert_claim(FALSE, read_scenario(BROKEN, exact=exact))
    text = str(caught.value)
    assert ("left side:  5/16 = 0.3125" in text) is exact
    for part in ("0.3125", "right side: ", "left / right = 1.25", "index: k = 2", "gamma = ", "M = 1", "rounds=2"):
        assert part in text
    for hypothesis in find_claim(FALSE).hypotheses:
        assert f"holds: {hypothesis.name}: " in text


def test_the_index_is_that_of_the_break() -> None:
    claim, scenario = find_claim(DESCENT), read_scenario(SPEC, exact=True)

    def spoilt(claim: Any, scenario: Any) -> Cases | None:
        cases = perm.cases(claim, scenario)
        assert cases is not None
        left = cases.left.copy()
        left[2] += 100
        return replace(cases, left=left)

    at = spoilt(claim, scenario)
    assert at is not None
    with pytest.raises(ClaimBroken, match=re.escape(", ".join(f"{k} = {v}" for k, v in at.index_at(2).items()))):
        assert_claim(claim, scenario, cases=spoilt)


def test_a_violated_hypothesis_is_a_failure_that_names_it() -> None:
    with pytest.raises(HypothesisViolated, match=r"was not tested: .* violates 'step size'") as caught:
        assert_claim(DESCENT, SPEC | {"step": "3/2"})
    assert "VIOLATED: step size: gamma <= 1/(2*L)" in str(caught.value)
    assert issubclass(HypothesisViolated, AssertionError)
    assert issubclass(ClaimBroken, AssertionError)


def test_a_claim_that_does_not_speak_of_a_scenario_is_a_failure_too() -> None:
    with pytest.raises(HypothesisViolated, match="does not speak of"):
        assert_claim("perm/lemma-5/corrected", SPEC)


def test_a_violation_may_skip_or_reject_when_that_is_said() -> None:
    with pytest.raises(pytest.skip.Exception, match="violates 'step size'"):
        assert_claim(DESCENT, SPEC | {"step": "3/2"}, on_violation="skip")
    held = []

    @settings(max_examples=20, database=None)
    @given(st.sampled_from(["1/4", "3/2", "1/2"]))
    def inner(step: str) -> None:
        assert_claim(DESCENT, SPEC | {"step": step}, on_violation="reject")
        held.append(step)

    inner()
    assert set(held) == {"1/4", "1/2"}


def test_by_runs() -> None:
    """Two samples of equal curvature; the bound is loose after the start: error probability 1e-6 a limit."""
    scenario = read_scenario(NOISY, exact=False)
    held = assert_claim(RATE, scenario, runs=400, seed=3)
    assert not held.exact
    assert held.tightness is not None
    assert 0 < held.tightness < 1


def shrunk(factor: float) -> Callable[[Any, Any], Cases | None]:
    """The claim's cases with the starting gap, which the right side grows with, made smaller than it is."""

    def cases(claim: Any, scenario: Any) -> Cases | None:
        found = perm.cases(claim, scenario)
        assert found is not None
        return replace(found, parameters=dict(found.parameters) | {"F_gap": factor, "delta2": 0.0})

    return cases


def test_runs_that_break_a_claim_or_cannot_tell_fail() -> None:
    claim = replace(find_claim(RATE), hypotheses=(), standing=())
    scenario = read_scenario(NOISY, exact=False)
    with pytest.raises(ClaimBroken, match="is broken by 400 runs"):
        assert_claim(claim, scenario, cases=shrunk(1e-6), runs=400)
    with pytest.raises(ClaimBroken, match=r"is not shown to hold by 3 runs.*more of them may"):
        assert_claim(RATE, scenario, runs=3)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((DESCENT, SPEC), {"on_violation": "pass"}, "on_violation='pass'"),
        ((DESCENT, NOISY | {"clients": SPEC["clients"]}), {"runs": 1}, "runs=1"),
        ((DESCENT, SPEC), {"runs": 10, "error_probability": 0.7}, "error_probability=0.7"),
        (("perm/theorem-2", SPEC), {}, "no right side"),
        (("perm/no-such", SPEC), {}, "no-such"),
    ],
)
def test_bad_arguments(arguments: tuple[Any, ...], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        assert_claim(*arguments, **options)


def test_a_paper_that_nobody_measures_needs_cases() -> None:
    claim = replace(find_claim(DESCENT), id="mine/descent")
    with pytest.raises(ValueError, match="nobody measures"):
        assert_claim(claim, SPEC)
    assert assert_claim(claim, SPEC, cases=lambda c, s: perm.cases(find_claim(DESCENT), s)).cases > 1


def test_a_claim_in_a_file_of_ones_own(tmp_path: Path) -> None:
    """Two samples of curvature 1, the step 1/4, from the minimiser: m <- (9/16) m + 1/16."""
    from validate.template import written

    written(tmp_path / "my_paper.py")
    sample = [{"h": "1", "a": "1"}, {"h": "1", "a": "-1"}]
    instance = {"parameters": {"eta": "1/4", "H": 1}, "problem": {"clients": [sample]}, "start": ["0"], "rounds": 3}
    assert assert_claim(f"{tmp_path / 'my_paper.py'}:noise-ball", instance).exact


def test_the_numbers_of_a_long_run_are_shown_short() -> None:
    """Fractions of thousands of digits do not get into the message."""
    scenario = read_scenario(BROKEN | {"K": 9, "step": "249/1000", "theta0": "1000/999"}, exact=True)
    assert isinstance(scenario, Scenario)
    claim = replace(find_claim(FALSE), right="F_gap/10**6", definitions={})
    with pytest.raises(ClaimBroken) as caught:
        assert_claim(claim, scenario)
    assert max(map(len, str(caught.value).splitlines())) < 600


def suite(folder: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a test file in a fresh interpreter, with this plugin and no other."""
    (folder / "test_mine.py").write_text(text, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "validate.pytest_plugin", "-p", "no:cacheprovider", *options]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT)}
    environment.pop("PYTEST_ADDOPTS", None)
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_fixture_passes_fails_and_skips(tmp_path: Path) -> None:
    text = f"""
SPEC, BROKEN = {SPEC!r}, {BROKEN!r}

def test_holds(assert_claim):
    assert assert_claim({DESCENT!r}, SPEC).exact

def test_is_broken(assert_claim):
    assert_claim({FALSE!r}, BROKEN)

def test_is_violated(assert_claim):
    assert_claim({DESCENT!r}, SPEC | {{"step": "3/2"}})

def test_is_skipped(assert_claim):
    assert_claim({DESCENT!r}, SPEC | {{"step": "3/2"}}, on_violation="skip")
"""
    done = suite(tmp_path, text, "-rs")
    assert done.returncode == 1, done.stderr
    assert "2 failed, 1 passed, 1 skipped" in done.stdout
    assert f"ClaimBroken: {FALSE} " in done.stdout
    assert "left side:  5/16 = 0.3125" in done.stdout
    assert re.search(r"SKIPPED.*violates 'step size'", done.stdout)


def test_the_example_of_the_documentation_runs(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "properties.md").read_text(encoding="utf-8")
    (example,) = re.findall(r'```python title="test_my_assumptions.py"\n(.*?)```', page, re.S)
    done = suite(tmp_path, example)
    assert done.returncode == 0, done.stdout
    assert f"{len(re.findall('^def test_', example, re.M))} passed" in done.stdout


def test_the_other_code_of_the_documentation_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "properties.md").read_text(encoding="utf-8")
    found: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", page, re.S):
        exec(compile(block, "docs/properties.md", "exec"), found)
    assert found["found"]["L_client"].shown.endswith("(seen)")
    assert (found["both"].left[0], str(found["both"].right[0])) == (1, "30037/32768")
    assert (found["both"].broken[0], found["both"].parameters["S"]) == (True, 8)
    assert str(found["both"].tightness) in page
    assert found["certificate"].verify(found["path"]).verdict in page


def test_the_plugin_starts_with_the_standard_library_alone() -> None:
    code = "import pytest, sys; before = set(sys.modules); import validate.pytest_plugin\n"
    code += "print(*sorted({name.split('.')[0] for name in set(sys.modules) - before}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"validate"} | set(sys.stdlib_module_names)


def test_the_entry_point_is_the_plugin() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"fedproof": "validate.pytest_plugin"}
    installed = {
        e.name: e.value for e in importlib.metadata.distribution("fedproof").entry_points if e.group == "pytest11"
    }
    assert installed == {"fedproof": "validate.pytest_plugin"}
