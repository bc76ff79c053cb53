"""The contract of `fedproof moments` and `simulate` for FedMIM and shuffling local SGD, and their scenarios."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.validate.command_line import call, complaint, printed
from validate.scenario import read_scenario

pytestmark = pytest.mark.usefixtures("folder")

Spec = dict[str, Any]
# A step is 1/2 - 1/4 (1 - 1/2) of a client's gradient x - b, b = 0 or 8, with momentum 1/2 of the last increment
FEDMIM: Spec = {
    "algorithm": "fedmim", "clients": [{"h": "1", "b": "0"}, {"h": 1, "b": 8}], "S": 1, "local_steps": 1,
    "step": "1/2", "alpha": ["1/2"], "beta": [], "x0": "4", "K": 2,
}  # fmt: skip
# step alpha N = 1/4: client 1 makes 3v/4 + 1/4 of v, client 2 makes v/2; Phi = 3/4 v^2 - v/2, v* = 1/3
SHUFFLING: Spec = {
    "algorithm": "shuffling-local-sgd", "clients": [{"h": "1", "b": "1"}, {"h": 2, "b": 0}], "alpha": ["1/2", 0.5],
    "step": "1/4", "local_steps": 1, "epochs": 1, "v0": "4",
}  # fmt: skip


def changed(spec: Spec, **entries: object) -> str:
    """A specification as text, with other entries; None leaves one out."""
    return json.dumps({name: value for name, value in {**spec, **entries}.items() if value is not None})


def test_exact_moments_of_fedmim_done_by_hand() -> None:
    """x_1 = x_0 - (x_0 - b)/4 is 3 or 5; x_2 = x_1 + (x_1 - x_0)/2 - (x_1 - b)/4 is 7/4, 15/4, 17/4 or 25/4."""
    Path("spec.json").write_text(json.dumps(FEDMIM), encoding="utf-8")
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


def test_exact_moments_of_an_epoch_done_by_hand() -> None:
    Path("spec.json").write_text(json.dumps(SHUFFLING), encoding="utf-8")
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


def test_the_drift_of_two_local_steps() -> None:
    """From 4, without momentum in alpha: half the way to b after the first step, 2 squared; k = 0 adds nothing."""
    spec = changed(FEDMIM, local_steps=2, alpha=None, K=1)
    assert printed("moments", "-", "--exact", given=spec)["drift"] == ["2"]


def test_no_epochs_and_a_schedule_of_steps() -> None:
    assert printed("moments", "-", "--exact", given=changed(SHUFFLING, epochs=0))["mean"] == ["4"]
    found = printed("moments", "-", "--exact", given=changed(SHUFFLING, step=["1/4", "1/8"], epochs=2))
    assert found["mean"][:2] == ["4", "27/16"]


def test_the_metrics_of_a_simulated_scenario() -> None:
    scenario = read_scenario(json.loads(changed(SHUFFLING, epochs=2)), exact=True)
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


@pytest.mark.parametrize(
    ("spec", "also"), [(FEDMIM, "auxiliary_suboptimality"), (SHUFFLING, "squared_distance")], ids=["fedmim", "epochs"]
)
def test_no_rounds_and_no_minimum(spec: Spec, also: str) -> None:
    found = printed("moments", "-", "--exact", given=changed(spec, **{"K" if "K" in spec else "epochs": 0}))
    assert (found["mean"], found.get("drift", [])) == (["4"], [])
    found = printed("moments", "-", "--exact", given=changed(spec, clients=[{"h": 0, "b": 1}, {"h": 0, "b": 2}]))
    assert found["suboptimality"] is None
    assert found[also] is None


@pytest.mark.parametrize(("spec", "rounds"), [(FEDMIM, "K"), (SHUFFLING, "epochs")])
def test_a_scenario_that_diverges_says_so(spec: Spec, rounds: str) -> None:
    assert "diverge" in complaint(call("moments", "-", given=changed(spec, step="100", **{rounds: 300})))


BAD_OF_BOTH: list[tuple[Spec, str]] = [
    ({"p": 1}, "unknown entries p"),
    ({"clients": []}, "clients"),
    ({"clients": [{"h": 1, "a": 1}, {"h": 1, "b": 1}]}, "clients[0] lacks b"),
    ({"step": "0"}, "step"),
    ({"local_steps": 0}, "local_steps=0"),
]
BAD = [
    *((FEDMIM, *row) for row in BAD_OF_BOTH), *((SHUFFLING, *row) for row in BAD_OF_BOTH),
    (FEDMIM, {"algorithm": "fedmin"}, "'fedmim'"),
    (FEDMIM, {"x0": None}, "lacks x0"),
    (FEDMIM, {"S": 0}, "S=0"),
    (FEDMIM, {"S": 3}, "S=3 is outside the integers in [1, 2]"),
    (FEDMIM, {"alpha": "1/2"}, "alpha='1/2' is not a list"),
    (FEDMIM, {"alpha": ["1/2", "1/2"]}, "outside [0, 1)"),
    (FEDMIM, {"alpha": ["-1/2"]}, "alpha[0]=-"),
    (FEDMIM, {"beta": ["x"]}, "beta[0]='x'"),
    (FEDMIM, {"beta": [-1]}, "beta[0]=-1"),
    (FEDMIM, {"step": ["1/4"]}, "one a round, K=2"),
    (FEDMIM, {"K": -1}, "K=-1"),
    (FEDMIM, {"x0": "inf"}, "x0"),
    (SHUFFLING, {"algorithm": "shuffling"}, "'shuffling-local-sgd'"),
    (SHUFFLING, {"algorithm": ["shuffling-local-sgd"]}, "is not one of"),
    (SHUFFLING, {"alpha": None}, "lacks alpha"),
    (SHUFFLING, {"alpha": "1"}, "alpha"),
    (SHUFFLING, {"alpha": ["1"]}, "N=2"),
    (SHUFFLING, {"alpha": ["3/2", "-1/2"]}, "alpha[1]='-1/2'"),
    (SHUFFLING, {"clients": [1, 2]}, "clients[0]"),
    (SHUFFLING, {"clients": [{"h": [1, 2], "b": 1}, {"h": 1, "b": 1}]}, "2 values of h and 1 of b"),
    (SHUFFLING, {"clients": [{"h": "x", "b": 1}, {"h": 1, "b": 1}]}, "clients[0].h='x'"),
    (SHUFFLING, {"step": ["1/4", "1/4"]}, "one an epoch"),
    (SHUFFLING, {"epochs": -1}, "epochs=-1"),
    (SHUFFLING, {"v0": "inf"}, "v0"),
    (SHUFFLING, {"factor": 0}, "factor=0"),
    (SHUFFLING, {"clients": [{"h": 1, "b": 1}] * 17, "alpha": ["1/17"] * 17}, "17 clients"),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "entries", "message"), BAD)
@pytest.mark.parametrize("exact", [True, False])
def test_a_bad_spec_is_refused_in_one_line(spec: Spec, entries: Spec, message: str, exact: bool) -> None:
    assert message in complaint(call("moments", "-", *(["--exact"] if exact else []), given=changed(spec, **entries)))
