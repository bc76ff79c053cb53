"""Scenarios in words: every one says what it is, briefly, and no two of a pool say the same."""

from dataclasses import replace
from types import SimpleNamespace

from validate.description import describe, in_words, of_step
from validate.scenario import read_scenario

LOCAL = {
    "algorithm": "local-sgd", "clients": [{"h": ["1", "3"], "a": ["0", "2"]}], "step": "1/5", "local_steps": 3, "K": 4,
    "theta0": "1",
}  # fmt: skip


def test_a_scenario_says_its_constants_and_its_rounds() -> None:
    scenario = read_scenario(LOCAL, exact=True, name="noisy")
    assert in_words(scenario) == "noisy (local-sgd, one client, d=1, mu=2, L=2, local_steps=3, K=4, step 0.2)"
    assert in_words(replace(scenario, rounds=9)).endswith("K=9, step 0.2)")
    assert "K=" not in scenario.description(rounds=False)
    assert in_words(scenario, LOCAL) == "noisy (local-sgd, one client, local_steps=3, K=4, step 1/5, start 1)"


def test_who_takes_part_is_said_unless_it_is_everybody() -> None:
    clients = [{"h": "1", "a": "0", "p": "1/2"}, {"h": "1", "a": "2", "p": "1"}]
    some = read_scenario({**LOCAL, "clients": clients}, exact=True)
    assert ", p=0.5 to 1," in some.description()
    inertial = {
        "algorithm": "fedmim", "clients": [{"h": "1", "b": "1"}] * 3, "local_steps": 2, "step": "1/8",
        "alpha": ["1/2"], "x0": "3", "K": 3,
    }  # fmt: skip
    assert " a round" not in read_scenario(inertial, exact=True).description()
    assert (
        ", 2 a round, local_steps=2, K=3, step 0.125, 1 lag"
        in read_scenario({**inertial, "S": 2}, exact=True).description() + ","
    )


def test_shuffling_is_told_with_its_epochs_and_its_start() -> None:
    spec = {
        "algorithm": "shuffling-local-sgd", "clients": [{"h": "1", "b": "1"}], "alpha": ["1"],
        "step": ["1/8", "1/4", "1/2"], "local_steps": 2, "epochs": 3, "v0": "5",
    }  # fmt: skip
    assert describe({**spec, "step": "1/8", "alpha": []}) == "one client, local_steps=2, epochs=3, step 1/8, start 5"
    scenario = read_scenario(spec, exact=False, name="run")
    expected = "local_steps=2, epochs=3, steps 0.125 to 0.5)"
    assert in_words(scenario) == f"run (shuffling-local-sgd, one client, d=1, mu=1, L=1, {expected}"
    assert of_step(0.25) == "step 0.25"


def test_a_scenario_without_a_description_has_its_name() -> None:
    assert in_words(SimpleNamespace(name="somebody else's")) == "somebody else's"
