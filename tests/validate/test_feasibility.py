"""The contract of `fedproof feasible`."""

import json
from fractions import Fraction

import typer
from typer.testing import CliRunner, Result

from theory import claim
from validate.commands.feasibility import feasible

EQ14 = "fedavg-svrg/lemma-v1-eq14"


def call(*arguments: str) -> Result:
    """Run the command on its own."""
    app = typer.Typer()
    app.command()(feasible)
    return CliRunner().invoke(app, list(arguments))


def test_a_witness_is_printed_and_satisfies_the_hypotheses() -> None:
    done = call(EQ14, "--json", "--set", "K=7", "--suppose", "M <= 17")
    assert done.exit_code == 0
    printed = json.loads(done.stdout)
    assert set(printed) == {"id", "outcome", "witness", "proof", "hypotheses", "method", "detail", "conflicts"}
    assert (printed["id"], printed["outcome"], printed["proof"]) == (EQ14, "feasible", None)
    witness = {name: Fraction(value) for name, value in printed["witness"].items()}
    assert (witness["K"], witness["M"]) == (7, 17)
    assert claim(EQ14).violated(**witness) == ()
    assert "can hold together" in call(EQ14).stdout


def test_an_empty_claim_ends_with_status_one_and_a_core() -> None:
    done = call(EQ14, "--json", "--set", "M=16")
    assert done.exit_code == 1
    printed = json.loads(done.stdout)
    assert printed["outcome"] == "empty"
    assert printed["witness"] is None
    assert {"delta < 1/(2*L)", "alpha < 1"} <= set(printed["proof"]["core"])
    shown = call(EQ14, "--set", "M=1")
    assert shown.exit_code == 1
    assert "cannot hold together" in shown.stdout
    assert "proved by" in shown.stdout


def test_assumptions_that_exclude_each_other_under_every_reading() -> None:
    done = call("open-fl/theorem-3/everywhere", "--json")
    assert done.exit_code == 1
    printed = json.loads(done.stdout)
    assert (printed["outcome"], printed["witness"]) == ("empty", None)
    assert printed["conflicts"]
    assert "cannot hold together" in call("open-fl/theorem-3/everywhere").stdout


def test_effort_is_what_decides_and_is_asked_for() -> None:
    little = call("perm/theorem-2", "--effort", "0.001")
    assert little.exit_code == 0
    assert "not decided" in little.stdout
    assert "a larger --effort" in little.stdout
    outside = call("perm/theorem-2", "--effort", "0")
    assert isinstance(outside.exception, ValueError)
    assert "effort=0.0 is outside (0, inf)" in str(outside.exception)
