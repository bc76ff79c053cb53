"""Scenarios in words: every one says what it is, briefly, and no two of a pool say the same."""

import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import pytest
from validate.survey import pool_of

from theory.catalog import papers
from validate import papers as measured
from validate.description import describe, in_words, of_step
from validate.scenario import read_scenario

LONGEST = 130
LOCAL = {
    "algorithm": "local-sgd", "clients": [{"h": ["1", "3"], "a": ["0", "2"]}], "step": "1/5", "local_steps": 3, "K": 4,
    "theta0": "1",
}  # fmt: skip


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("name", [paper.name for paper in papers() if measured.module(paper.name) is not None])
def test_the_scenarios_of_a_pool_say_what_they_are(name: str, quick: bool) -> None:
    """Nothing here computes moments, whose cost is the pool's."""
    module = measured.module(name)
    lines = [in_words(scenario) for scenario in (*module.scenarios(quick), *module.sampled(quick))]
    repeated = {line: count for line, count in Counter(lines).items() if count > 1}
    # what is simulated may be a scenario of the pool, for as many rounds
    assert all(line in {in_words(scenario) for scenario in module.sampled(quick)} for line in repeated)
    for line in lines:
        assert re.fullmatch(r"[^()]+ \([^()]+\)", line), line
        assert re.search(r"\bd=\d", line), line
        assert len(line) <= LONGEST, line


def test_the_instances_of_a_pool_are_named_by_their_place() -> None:
    module = measured.module("open-fl")
    pool = pool_of(module, True, lambda text: None, "open-fl")
    lines = [in_words(scenario, spec) for spec, scenario in pool.instances]
    assert lines[0] == "instance 1 (local-sgd, one client, local_steps=1, K=1, step 1, start 1)"
    assert len(set(lines)) == len(lines) > 100
    place = {scenario.name: scenario for _, scenario in pool.instances}
    for number, spec in enumerate(module.instances(True), start=1):
        if (scenario := place.get(f"instance {number}")) is not None:
            assert scenario.rounds == spec["K"]
            assert scenario.algorithm.step == float(Fraction(spec["step"]))


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
