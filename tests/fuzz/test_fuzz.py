"""The properties of `tests.fuzz.targets` on a few hundred inputs; `make fuzz` runs tens of thousands of others."""

import itertools
import random
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tests.fuzz import confirmed, environments, seeds, statements
from tests.fuzz.bad_commands import Case, case
from tests.fuzz.limits import TooSlow, limited
from tests.fuzz.stores import read_store, valid_store
from tests.fuzz.target import ACCEPTED, OUTCOMES, RECOMPUTED, Target
from tests.fuzz.targets import targets
from tests.validate import known_plays
from theory import catalog
from validate import verifier

TARGETS = {target.name: target for target in targets()}
EXAMPLES = {
    "certificate": 80,
    "derivation": 20,
    "problem file": 60,
    "formula": 200,
    "sweep": 80,
    "store": 60,
    "command line": 30,
}


def check(target: Target, cases: int) -> None:
    """Nothing but a right answer or a clear error, in time."""

    @settings(max_examples=cases, deadline=None, suppress_health_check=list(HealthCheck))
    @given(target.examples)
    def run(example: Any) -> None:
        try:
            with limited(target.seconds):
                assert target.run(example) in OUTCOMES
        except TooSlow as error:
            raise AssertionError(str(error)) from None

    run()


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_right_answer_or_a_clear_error(name: str) -> None:
    check(TARGETS[name], EXAMPLES[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_many_more(name: str) -> None:
    check(TARGETS[name], round(10_000 * TARGETS[name].share))


def environments_are_survived(numbers: range, folder: Path) -> None:
    """Cases of the seed 24, each in a folder of its own."""
    for number in numbers:
        one = case(random.Random(f"24 {number}"), tuple(environments.PLACES))
        (folder / str(number)).mkdir()
        assert environments.run(one, folder / str(number)).failures == [], (number, one)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_bad_command_lines_and_environments(tmp_path: Path) -> None:
    environments_are_survived(range(3), tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_many_more_environments(tmp_path: Path) -> None:
    environments_are_survived(range(3, 150), tmp_path)


# --- that these tests can fail ---------------------------------------------------------------------------------------


def test_what_they_start_from_is_valid() -> None:
    for name, made in seeds.certificates().items():
        assert verifier.verify(made).valid, name
        statements.told(made)


def test_what_they_start_from_is_recomputed() -> None:
    assert all(confirmed.confirmed(made) for made in seeds.certificates().values())


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("lost-factor", {"left": "2"}),
        ("lost-factor", {"right": "1/2"}),
        ("lost-factor", {"statement": "E(norm2(x[k] - xstar)) >= 0"}),
        ("by moments", {"left": "1"}),
        ("fedavg-stays", {"start": ["2"]}),
        ("wrong-way", {"vectors": {"a_n": [["1", "2"], ["1", "2"]]}}),
        ("unit-steps", {"rounds": 1, "at": {"k": 0}}),
    ],
)
def test_the_second_computation_notices(name: str, change: dict[str, Any]) -> None:
    with pytest.raises(AssertionError):
        confirmed.confirmed({**seeds.certificates()[name], **change})


def test_values_that_were_changed_are_set_right_again() -> None:
    made = seeds.certificates()["lost-factor"]
    changed = {**made, "left": "7", "right": "8"}
    assert statements.with_computed_values(changed, verifier.verify(changed).lines) == made
    assert statements.with_computed_values(made, verifier.verify(made).lines) is None


@pytest.mark.parametrize("change", [{"statement": "0 <= 0 - 1"}, {"relations": []}, {"definitions": {"zzz": "1"}}])
def test_another_claim_is_told(change: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    with catalog.forgetting():
        catalog.add(known_plays.PAPER)
        made = {**seeds.certificates()["lost-factor"], **change}
        statements.told(made)  # as `differences` says so
        monkeypatch.setattr("validate.certificate.differences", lambda certificate, claim: ())
        with pytest.raises(AssertionError, match="nobody tells"):
            statements.told(made)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("code", "failure"),
    [
        ("raise RuntimeError('mine')", "a traceback"),
        ("import sys; sys.exit(2)", "no error: line"),
        ("import sys; sys.exit(9)", "status 9"),
        ("open('notes.txt', 'w').close()", "lost or changed: notes.txt"),
        ("while True: pass", "silent for"),
    ],
)
def test_what_goes_wrong_in_an_environment_is_seen(
    code: str, failure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environments, "PROGRAM", ())
    monkeypatch.setattr(environments, "SILENT", 0.5)
    found = environments.run(Case(("-c", code), "as usual", None), tmp_path).failures
    assert any(one.startswith(failure) for one in found), found


def test_a_case_that_goes_on_is_stopped() -> None:
    with pytest.raises(TooSlow), limited(0.05):
        sum(1 for _ in itertools.count())


def test_a_valid_store_is_accepted() -> None:
    assert read_store(valid_store()) == ACCEPTED


def test_valid_inputs_are_confirmed() -> None:
    import json

    for spec in seeds.SPECS:  # of normalised weights no instance of the language says anything: they are not played
        wanted = ACCEPTED if spec.get("aggregation") == "normalised" else RECOMPUTED
        assert TARGETS["problem file"].run(json.dumps(spec).encode()) == wanted
    for sweep in seeds.SWEEPS:
        assert TARGETS["sweep"].run(seeds.toml(sweep).encode()) == ACCEPTED
    assert TARGETS["formula"].run("L**2 - mu/(K*x)") == RECOMPUTED
