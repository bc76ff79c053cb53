"""The properties of `tests.fuzz.targets` on a few hundred inputs; `make fuzz` runs tens of thousands of others."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tests.fuzz import confirmed, seeds, statements
from tests.fuzz.limits import TooSlow, limited
from tests.fuzz.stores import read_store, valid_store
from tests.fuzz.target import ACCEPTED, OUTCOMES, RECOMPUTED, Target
from tests.fuzz.targets import targets
from validate import verifier

TARGETS = {target.name: target for target in targets()}
EXAMPLES = {"certificate": 150, "problem file": 120, "formula": 200, "sweep": 80, "store": 60, "command line": 30}


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


# --- that these tests can fail ---------------------------------------------------------------------------------------


def test_what_they_start_from_is_valid() -> None:
    for name, made in seeds.certificates().items():
        assert verifier.verify(made).valid, name
        statements.told(made)


def test_every_kind_is_recomputed() -> None:
    kinds = {made["kind"] for made in seeds.certificates().values() if confirmed.confirmed(made)}
    # what is played is recomputed by brute force, corrupted too, in tests/laws/test_play_certificates.py
    assert kinds == set(verifier.program.KINDS) - {"play"} == set(confirmed.KINDS)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("known", {"left_value": "2"}),
        ("known", {"right_value": "1/2"}),
        ("rich", {"relation": ">="}),
        ("chain", {"left_value": "1"}),
        ("larger", {"R2": "100"}),
        ("relation", {"left_value": "0"}),
        ("mixing lemma-3", {"left_value": "7"}),
        ("adam", {"left_value": "7"}),
        ("shuffling lemma-10", {"alpha": ["1", "1"]}),
        ("shuffling lemma-7", {"left_value": "0"}),
        ("order", {"constant": "100000"}),
        ("fixed point", {"squared_gradient_norm": "1"}),
        ("vectors young", {"value": "1"}),
        ("vectors descent", {"weights": ["-1"]}),
    ],
)
def test_the_second_computation_notices(name: str, change: dict[str, Any]) -> None:
    made = {**seeds.certificates()[name], **change}
    with pytest.raises(AssertionError):
        confirmed.KINDS[made["kind"]](made)


@pytest.mark.parametrize("change", [{"statement": "Another."}, {"relation": "<"}, {"hypotheses": []}])
def test_another_claim_is_told(change: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    made = {**seeds.certificates()["mixing lemma-3"], **change}
    statements.told(made)  # as `differences` says so
    monkeypatch.setattr("validate.certificate.differences", lambda certificate, claim: ())
    with pytest.raises(AssertionError, match="nobody tells"):
        statements.told(made)


def test_a_case_that_goes_on_is_stopped() -> None:
    with pytest.raises(TooSlow), limited(0.05):
        sum(1 for _ in itertools.count())


def test_a_valid_store_is_accepted() -> None:
    assert read_store(valid_store()) == ACCEPTED


def test_valid_inputs_are_confirmed() -> None:
    import json

    for spec in seeds.SPECS:
        assert TARGETS["problem file"].run(json.dumps(spec).encode()) == RECOMPUTED
    for sweep in seeds.SWEEPS:
        assert TARGETS["sweep"].run(seeds.toml(sweep).encode()) == ACCEPTED
    assert TARGETS["formula"].run("L**2 - mu/(K*x)") == RECOMPUTED
