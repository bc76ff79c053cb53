"""The contract of `fedproof moments` and `simulate` for FedMIM, and its scenario."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.validate.command_line import call, complaint, printed
from validate.scenario import read_scenario

pytestmark = pytest.mark.usefixtures("folder")

# A step is 1/2 - 1/4 (1 - 1/2) of a client's gradient x - b, b = 0 or 8, with momentum 1/2 of the last increment
SPEC: dict[str, Any] = {
    "algorithm": "fedmim",
    "clients": [{"h": "1", "b": "0"}, {"h": 1, "b": 8}],
    "S": 1,
    "local_steps": 1,
    "step": "1/2",
    "alpha": ["1/2"],
    "beta": [],
    "x0": "4",
    "K": 2,
}


def changed(**entries: object) -> str:
    """SPEC as text, with other entries; None leaves one out."""
    return json.dumps({name: value for name, value in {**SPEC, **entries}.items() if value is not None})


def test_exact_moments_of_an_instance_done_by_hand() -> None:
    """x_1 = x_0 - (x_0 - b)/4 is 3 or 5; x_2 = x_1 + (x_1 - x_0)/2 - (x_1 - b)/4 is 7/4, 15/4, 17/4 or 25/4."""
    Path("spec.json").write_text(json.dumps(SPEC), encoding="utf-8")
    found = printed("moments", "spec.json", "--exact")
    ends = [Fraction(7, 4), Fraction(15, 4), Fraction(17, 4), Fraction(25, 4)]
    # u_t = 2 x_t - x_{t-1}
    late = [2 * x - before for x, before in zip(ends, (3, 3, 5, 5), strict=True)]
    assert found == {
        "algorithm": "fedmim",
        "K": 2,
        "mean": ["4", "4", "4"],
        "second_moment": ["16", "17", str(sum(x * x for x in ends) / 4)],
        "squared_gradient_norm": ["0", "1", str(sum((x - 4) ** 2 for x in ends) / 4)],
        "suboptimality": ["0", "1/2", str(sum((x - 4) ** 2 for x in ends) / 8)],
        "auxiliary_squared_gradient_norm": ["0", "4", str(sum((u - 4) ** 2 for u in late) / 4)],
        "auxiliary_suboptimality": ["0", "2", str(sum((u - 4) ** 2 for u in late) / 8)],
        "squared_increment": ["0", "1", str(sum((x - y) ** 2 for x, y in zip(ends, (3, 3, 5, 5), strict=True)) / 4)],
        "drift": ["0", "0"],
        # dtilde is half of x - b: of 4 in both cases, then of 3, 5, 5 and 3
        "squared_average_step": ["4", "17/4"],
    }
    floats = printed("moments", "spec.json")
    for name in (*list(found)[2:],):
        assert floats[name] == pytest.approx([float(Fraction(x)) for x in found[name]], rel=1e-13, abs=1e-13)
    table = call("moments", "spec.json", "--exact").stdout.splitlines()
    assert table[0].split()[:2] == ["round", "mean"]
    assert "squared_increment" in table[0]
    assert len(table) == 4


def test_the_drift_of_two_local_steps() -> None:
    """From 4, without momentum in alpha: half the way to b after the first step, 2 squared; k = 0 adds nothing."""
    spec = changed(local_steps=2, alpha=None, K=1)
    assert printed("moments", "-", "--exact", given=spec)["drift"] == ["2"]


def test_the_scenario_is_what_the_specification_says() -> None:
    spec = json.loads(changed(clients=[{"h": ["1", "2"], "b": ["1", "0"]}, {"h": 2, "b": "1/3"}, {"h": 1, "b": -1}]))
    spec |= {"alpha": [0.6, "3/10"], "beta": ["1/2", 0.25], "step": ["1/4", "1/8"], "local_steps": 3, "S": 2}
    scenario = read_scenario(spec, exact=True)
    assert scenario.parameters["alpha"] == [Fraction(3, 5), Fraction(3, 10)]
    assert scenario.parameters["beta"] == [Fraction(1, 2), Fraction(1, 4)]
    assert (scenario.parameters["A"], scenario.parameters["S"]) == (Fraction(1, 10), 2)
    assert scenario.problem.counts.tolist() == [2, 1, 1]
    everybody = read_scenario(json.loads(changed(S=None, beta=None)), exact=False)
    assert everybody.parameters["S"] == 2
    assert everybody.parameters["beta"] == [0]


def test_without_momentum_it_is_local_sgd() -> None:
    clients = [{"h": ["1", "2"], "b": ["1", "0"]}, {"h": "2", "b": "1"}]
    mine = printed("moments", "-", "--exact", given=changed(clients=clients, alpha=[0], S=2, local_steps=2))
    # h/2 x^2 - b x is h/2 (x - a)^2 - const, a = b/h
    plain = {
        "algorithm": "local-sgd",
        "clients": [{"h": ["1", "2"], "a": ["1", "0"]}, {"h": "2", "a": "1/2"}],
        "local_steps": 2,
        "step": "1/2",
        "K": 2,
        "theta0": "4",
    }
    theirs = printed("moments", "-", "--exact", given=json.dumps(plain))
    for name in ("mean", "second_moment", "squared_gradient_norm", "suboptimality"):
        assert mine[name] == theirs[name]
    assert mine["auxiliary_suboptimality"] == mine["suboptimality"]


def test_simulate_agrees_with_the_oracle() -> None:
    """Means over 20,000 runs within 6 standard errors: with probability 1 - 2e-9 a metric, two metrics."""
    spec = changed(
        clients=[{"h": ["1", "2"], "b": ["1", "0"]}, {"h": 2, "b": 0}, {"h": 1, "b": -1}],
        S=2,
        local_steps=2,
        step="1/4",
        alpha=["1/2", "1/4"],
        beta=["1/4", "1/2"],
        K=4,
    )
    found = printed("simulate", "-", "--runs", 20000, "--seed", 4, given=spec)
    exact = printed("moments", "-", given=spec)
    assert found["rounds"] == 4
    for name in ("suboptimality", "squared_gradient_norm"):
        measured = found["metrics"][name]
        assert abs(measured["mean"] - exact[name][-1]) <= 6 * measured["standard_error"]
        assert measured["standard_error"] > 0


def test_no_rounds_and_no_minimum() -> None:
    found = printed("moments", "-", "--exact", given=changed(K=0))
    assert (found["mean"], found["drift"]) == (["4"], [])
    found = printed("moments", "-", "--exact", given=changed(clients=[{"h": 0, "b": 1}, {"h": 0, "b": 2}]))
    assert found["suboptimality"] is None
    assert found["auxiliary_suboptimality"] is None


def test_a_scenario_that_diverges_says_so() -> None:
    assert "diverge" in complaint(call("moments", "-", given=changed(step="100", K=300)))


BAD: list[tuple[dict[str, object], str]] = [
    ({"algorithm": "fedmin"}, "'fedmim'"),
    ({"x0": None}, "lacks x0"),
    ({"p": 1}, "unknown entries p"),
    ({"S": 0}, "S=0"),
    ({"S": 3}, "S=3 is outside the integers in [1, 2]"),
    ({"alpha": "1/2"}, "alpha='1/2' is not a list"),
    ({"alpha": ["1/2", "1/2"]}, "outside [0, 1)"),
    ({"alpha": ["-1/2"]}, "alpha[0]=-"),
    ({"beta": ["x"]}, "beta[0]='x'"),
    ({"beta": [-1]}, "beta[0]=-1"),
    ({"clients": []}, "clients"),
    ({"clients": [{"h": 1, "a": 1}, {"h": 1, "b": 1}]}, "clients[0] lacks b"),
    ({"step": "0"}, "step"),
    ({"step": ["1/4"]}, "one a round, K=2"),
    ({"local_steps": 0}, "local_steps=0"),
    ({"K": -1}, "K=-1"),
    ({"x0": "inf"}, "x0"),
]


@pytest.mark.parametrize(("entries", "message"), BAD)
@pytest.mark.parametrize("exact", [True, False])
def test_a_bad_spec_is_refused_in_one_line(entries: dict[str, object], message: str, exact: bool) -> None:
    assert message in complaint(call("moments", "-", *(["--exact"] if exact else []), given=changed(**entries)))
