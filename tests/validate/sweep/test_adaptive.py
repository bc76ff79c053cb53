"""Sampled cells: runs against bounds, as many as their decision needs."""

import json
import math
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sim.problems import scalar
from validate.sweep.adaptive import sampled_sides

SCENARIO = SimpleNamespace(problem=scalar([[1.0], [2.0]], [[0.0], [1.0]]), start=np.array([1.0]))


@dataclass(frozen=True)
class Sampling:
    """Of a cell."""

    seed: int = 0
    level: str = "1/1024"
    first: int = 64
    most: int = 20_000


def coins(start: int, size: int) -> Any:
    """Runs of two expectations, 1 and 1/4; run r gives the same whatever the batch."""
    draws = np.random.default_rng(7).random((40_000, 2))[start : start + size]
    return np.stack([2.0 * (draws[:, 0] < 0.5), 1.0 * (draws[:, 1] < 0.25)], axis=1)


def told(sides: list[float], draw: Any = coins, **changes: Any) -> dict[str, Any]:
    return sampled_sides(Sampling(**changes), draw, np.array(sides), SCENARIO, lambda case: {"k": case})


@pytest.mark.parametrize(("sides", "wanted"), [([2.0, 1.0], "unbroken"), ([2.0, 0.1], "fails")])
def test_a_decision_does_not_depend_on_the_batches(sides: list[float], wanted: str) -> None:
    found = [told(sides, first=n) for n in (2, 64, 999)]
    assert found[0] == found[1] == found[2]
    assert found[0]["outcome"] == wanted
    json.dumps(found[0], allow_nan=False)


def test_what_fails_is_shown_and_only_it_is_held_to_an_error_probability() -> None:
    fails = told([2.0, 0.1])
    assert (fails["index"], fails["guarantee"]) == ({"k": 1}, "anytime")
    assert fails["lower"] > fails["right"] == 0.1
    holds = told([2.0, 1.0])
    assert (holds["index"], holds["guarantee"]) == ({"k": 0}, "asymptotic")
    assert holds["lower"] <= 1 <= holds["upper"]  # with probability 1 - 1/512; the seed is fixed
    assert holds["ratio"] == pytest.approx(holds["left"] / 2)


def test_runs_that_are_not_finite_never_hold() -> None:
    def broken(start: int, size: int) -> Any:
        values = coins(start, size)
        if start <= 20 < start + size:
            values[20 - start] = math.nan
        return values

    assert told([2.0, 1.0], first=4)["runs"] > 20
    found = told([2.0, 1.0], broken, first=4)
    assert (found["outcome"], found["runs"]) == ("diverged", 21)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"level": "2"}, r"level='2' is outside \(0, 1\)"),
        ({"first": 0}, r"first=0 is not an integer in \[1, inf\)"),
        ({"most": 5}, r"most=5 is outside \[first=64, inf\)"),
    ],
)
def test_errors_name_what_is_wrong(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        told([2.0, 1.0], **changes)
