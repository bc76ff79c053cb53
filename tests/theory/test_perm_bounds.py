"""Right sides of perm at fixed numbers, as they were when first evaluated, under the contract's names."""

import json
from pathlib import Path

import pytest

from theory import claim

RECORDED = json.loads(Path(__file__).with_name("perm_bounds.json").read_text())


def given(values):
    return {name: text.split(",") if "," in text else text for name, text in values.items()}


def test_all_claims_with_a_bound_are_recorded():
    assert len(RECORDED) == 57


@pytest.mark.parametrize("label", RECORDED)
def test_a_bound_is_what_it_was(label):
    row = RECORDED[label]
    one = claim(f"perm/{label}")
    assert float(one.bound(**given(row["values"]))) == pytest.approx(float(row["value"]), rel=1e-13)


@pytest.mark.parametrize("label", list(RECORDED)[::6])
def test_and_its_enclosure_is_narrow(label):
    row = RECORDED[label]
    ball = claim(f"perm/{label}").enclose(**given(row["values"]))
    lower, upper = float(ball.lower), float(ball.upper)
    assert lower <= upper <= lower + 1e-12 * abs(lower)
    assert lower == pytest.approx(float(row["value"]), rel=1e-12)
