"""Moments as balls: they contain the fractions, whatever the number of rounds."""

import json
from pathlib import Path
from typing import Any

import flint
import pytest

from tests.validate.command_line import call, complaint, printed
from validate.instances.enclosed import enclosed_moments
from validate.instances.runs import OF_MODEL, moments_of_instance
from validate.instances.specs import instance_from

CLIENTS = [[{"h": 1, "a": 0}, {"h": 2, "a": 1}], [{"h": "3/2", "a": "-1"}, {"h": 4, "a": 2}]]
ALGORITHMS = {
    "fedavg": {"eta": "1/8", "H": 1, "S": 2},
    "scaffold": {"eta": "1/10", "eta_g": 1, "H": 2, "S": 1},
    "fedavg_": {"eta": "1/8", "H": 2, "S": 1},
}


def instance(name: str, rounds: int, **more: Any) -> dict[str, Any]:
    return {"algorithm": f"algorithms/{name.rstrip('_')}", "parameters": ALGORITHMS[name], "start": ["3"],
            "problem": {"clients": CLIENTS}, "rounds": rounds, **more}  # fmt: skip


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("rounds", [1, 17])
def test_balls_contain_the_fractions(name: str, rounds: int) -> None:
    one = instance_from(instance(name, rounds))
    balls, fractions = enclosed_moments(one), moments_of_instance(one, exact=True)
    with flint.ctx.workprec(20_000):
        for column in OF_MODEL:
            pairs = zip(getattr(balls, column).ravel(), getattr(fractions, column).ravel(), strict=True)
            for ball, value in pairs:
                assert ball.contains(flint.arb(flint.fmpq(int(value.numerator), int(value.denominator)))), column
                assert ball.rad() < 1e-30


def test_thousands_of_rounds_are_enclosed(tmp_path: Path) -> None:
    path = tmp_path / "i.json"
    path.write_text(json.dumps(instance("fedavg", 3000)))
    found = printed("moments", path, "--rigorous")
    lower, upper = map(float, found["squared_distance"][-1])
    (near,) = printed("moments", path)["squared_distance"][-1:]
    assert lower <= upper
    assert near == pytest.approx(lower, rel=1e-9)
    assert upper - lower < 1e-9 * lower
    assert call("moments", path, "--rigorous").stdout.count("\n") == 3002


def test_what_cannot_be_enclosed_says_so(tmp_path: Path) -> None:
    path = tmp_path / "i.json"
    steps = {"k": ["1/8", "1/9", "1/10"]}
    path.write_text(json.dumps(instance("fedavg", 3, parameters={**ALGORITHMS["fedavg"], "eta": steps})))
    assert "change from round to round" in complaint(call("moments", path, "--rigorous"))
    assert "--exact" in complaint(call("moments", path, "--rigorous", "--exact"))


def test_long_fractions_are_refused_beforehand(tmp_path: Path) -> None:
    path = tmp_path / "i.json"
    path.write_text(json.dumps(instance("fedavg", 5000)))
    said = complaint(call("moments", path, "--exact"))
    assert "--rigorous" in said
    assert "characters" in said
