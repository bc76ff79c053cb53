"""The contract of `fedproof moments` and `simulate` for shuffling local SGD, and its scenario."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.validate.command_line import call, complaint, printed
from validate.scenario import read_scenario

pytestmark = pytest.mark.usefixtures("folder")

# step alpha N = 1/4: client 1 makes 3v/4 + 1/4 of v, client 2 makes v/2; Phi = 3/4 v^2 - v/2, v* = 1/3
SPEC: dict[str, Any] = {
    "algorithm": "shuffling-local-sgd",
    "clients": [{"h": "1", "b": "1"}, {"h": 2, "b": 0}],
    "alpha": ["1/2", 0.5],
    "step": "1/4",
    "local_steps": 1,
    "epochs": 1,
    "v0": "4",
}


def changed(**entries: object) -> str:
    """SPEC as text, with other entries; None leaves one out."""
    return json.dumps({name: value for name, value in {**SPEC, **entries}.items() if value is not None})


def test_exact_moments_of_an_instance_done_by_hand() -> None:
    Path("spec.json").write_text(json.dumps(SPEC), encoding="utf-8")
    found = printed("moments", "spec.json", "--exact")
    assert found == {
        "algorithm": "shuffling-local-sgd",
        "epochs": 1,
        "mean": ["4", "27/16"],
        "second_moment": ["16", "365/128"],
        # v - v* is 31/24 or 34/24 after the epoch, and 11/3 before
        "squared_gradient_norm": ["121/4", "2117/512"],
        "suboptimality": ["121/12", "2117/1536"],
        "squared_distance": ["121/9", "2117/1152"],
    }
    ends = (Fraction(13, 8), Fraction(7, 4))
    assert Fraction(found["mean"][1]) == sum(ends) / 2
    assert Fraction(found["squared_gradient_norm"][1]) == sum((3 * v / 2 - Fraction(1, 2)) ** 2 for v in ends) / 2
    assert Fraction(found["suboptimality"][1]) == sum(3 * (v - Fraction(1, 3)) ** 2 / 4 for v in ends) / 2
    floats = printed("moments", "spec.json")
    for name in ("mean", "second_moment", "squared_gradient_norm", "suboptimality", "squared_distance"):
        assert floats[name] == pytest.approx([float(Fraction(x)) for x in found[name]], rel=1e-13)
    table = call("moments", "spec.json", "--exact").stdout.splitlines()
    assert table[0].split()[:2] == ["epoch", "mean"]
    assert table[2].split()[:2] == ["1", "27/16"]
    assert len(table) == 3


def test_several_samples_are_averaged() -> None:
    """One client, two samples h = 1 and 3, b = 0: v -> v/2 or -v/2 with step 1/2."""
    spec = changed(clients=[{"h": ["1", "3"], "b": [0, 0]}], alpha=["1"], step="1/2", epochs=2)
    found = printed("moments", "-", "--exact", given=spec)
    assert found["mean"] == ["4", "0", "0"]
    assert found["second_moment"] == ["16", "4", "1"]


def test_no_epochs_and_a_schedule_of_steps() -> None:
    assert printed("moments", "-", "--exact", given=changed(epochs=0))["mean"] == ["4"]
    found = printed("moments", "-", "--exact", given=changed(step=["1/4", "1/8"], epochs=2))
    assert found["mean"][:2] == ["4", "27/16"]


def test_a_factor_of_the_objective() -> None:
    plain = printed("moments", "-", "--exact", given=changed())
    found = printed("moments", "-", "--exact", given=changed(factor="1/2"))
    assert found["mean"] == plain["mean"]
    assert found["squared_distance"] == plain["squared_distance"]
    for k in (0, 1):
        assert Fraction(found["squared_gradient_norm"][k]) * 4 == Fraction(plain["squared_gradient_norm"][k])
        assert Fraction(found["suboptimality"][k]) * 2 == Fraction(plain["suboptimality"][k])


def test_no_minimum_is_null() -> None:
    found = printed("moments", "-", "--exact", given=changed(clients=[{"h": 0, "b": 1}, {"h": 0, "b": 2}]))
    assert found["suboptimality"] is None
    assert found["squared_distance"] is None


def test_simulate_agrees_with_the_oracle() -> None:
    """Means over 20,000 runs within 6 standard errors: with probability 1 - 2e-9 a metric, two metrics."""
    spec = changed(clients=[{"h": ["1", "2"], "b": ["1", "0"]}, {"h": 2, "b": 0}, {"h": 1, "b": -1}], epochs=3)
    spec = json.dumps({**json.loads(spec), "alpha": ["1/2", "1/4", "1/4"], "factor": "1/3", "local_steps": 2})
    found = printed("simulate", "-", "--runs", 20000, "--seed", 4, given=spec)
    exact = printed("moments", "-", given=spec)
    assert found["rounds"] == 3
    for name in ("suboptimality", "squared_gradient_norm"):
        measured = found["metrics"][name]
        assert abs(measured["mean"] - exact[name][-1]) <= 6 * measured["standard_error"]
        assert measured["standard_error"] > 0


def test_the_metrics_of_a_simulated_scenario() -> None:
    scenario = read_scenario(json.loads(changed(epochs=2)), exact=True)
    names = ("suboptimality", "cost", "squared_gradient_norm", "squared_iterate_norm", "squared_distance", "iterate")
    trace = scenario.simulate(5, 1, metrics=names)
    v = trace["iterate"][..., 0]
    np.testing.assert_allclose(trace["cost"], 0.75 * v**2 - 0.5 * v, rtol=1e-12)
    np.testing.assert_allclose(trace["suboptimality"], 0.75 * (v - 1 / 3) ** 2, rtol=1e-12)
    np.testing.assert_allclose(trace["squared_gradient_norm"], (1.5 * v - 0.5) ** 2, rtol=1e-12)
    np.testing.assert_allclose(trace["squared_distance"], (v - 1 / 3) ** 2, rtol=1e-12)
    np.testing.assert_allclose(trace["squared_iterate_norm"], v**2, rtol=1e-12)
    assert np.array_equal(trace.final, trace["iterate"][:, -1])
    with pytest.raises(ValueError, match="nonsense"):
        scenario.simulate(1, metrics=("nonsense",))


def test_a_scenario_that_diverges_says_so() -> None:
    assert "diverge" in complaint(call("moments", "-", given=changed(step="100", epochs=300)))


BAD: list[tuple[dict[str, object], str]] = [
    ({"algorithm": "shuffling"}, "'shuffling-local-sgd'"),
    ({"algorithm": ["shuffling-local-sgd"]}, "is not one of"),
    ({"alpha": None}, "lacks alpha"),
    ({"p": 1}, "unknown entries p"),
    ({"alpha": "1"}, "alpha"),
    ({"alpha": ["1"]}, "N=2"),
    ({"alpha": ["3/2", "-1/2"]}, "alpha[1]='-1/2'"),
    ({"clients": []}, "clients"),
    ({"clients": [1, 2]}, "clients[0]"),
    ({"clients": [{"h": 1, "a": 1}, {"h": 1, "b": 1}]}, "clients[0] lacks b"),
    ({"clients": [{"h": [1, 2], "b": 1}, {"h": 1, "b": 1}]}, "2 values of h and 1 of b"),
    ({"clients": [{"h": "x", "b": 1}, {"h": 1, "b": 1}]}, "clients[0].h='x'"),
    ({"step": "0"}, "step"),
    ({"step": ["1/4", "1/4"]}, "one an epoch"),
    ({"local_steps": 0}, "local_steps=0"),
    ({"epochs": -1}, "epochs=-1"),
    ({"v0": "inf"}, "v0"),
    ({"factor": 0}, "factor=0"),
    ({"clients": [{"h": 1, "b": 1}] * 17, "alpha": ["1/17"] * 17}, "17 clients"),
]


@pytest.mark.parametrize(("entries", "message"), BAD)
@pytest.mark.parametrize("exact", [True, False])
def test_a_bad_spec_is_refused_in_one_line(entries: dict[str, object], message: str, exact: bool) -> None:
    assert message in complaint(call("moments", "-", *(["--exact"] if exact else []), given=changed(**entries)))
