"""Clients that take part independently: that what they send is divided by p_n is said, and may be chosen otherwise."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.validate.command_line import call, printed
from theory import Paper, catalog
from validate.checking import check_claim
from validate.own import claim, module, parameters, pool, run, template
from validate.scenario import Scenario
from validate.survey import pool_of

DIVIDED, UNDIVIDED = "independent", "independent-mean"
ONE = {
    "algorithm": "local-sgd",
    "clients": [{"h": ["1"], "a": ["0"], "p": "1/2"}],
    "step": "1",
    "local_steps": 1,
    "K": 1,
    "theta0": "3",
}


def made(kind: str, right: str = "D", quantity: str = "next_distance", **rest: Any) -> Any:
    return claim(
        "mine/step",
        "words",
        quantity,
        right,
        parameters=parameters(
            D="distance",
            delta="step",
            L="sample_smoothness",
            H="local_steps",
            N="clients",
            noise="noise_at_minimiser",
        ),
        participation=kind,
        **rest,
    )


def test_the_two_readings_are_measured_as_they_say() -> None:
    """f = x^2/2 from 3 with step 1, there half of the time: x - x/p = -3 or 3 if divided, else 0 or 3."""
    divided = Scenario.from_spec(ONE, exact=True)
    undivided = Scenario.from_spec({**ONE, "aggregation": "normalised"}, exact=True)
    found = run.cases(made(DIVIDED), divided)
    assert found is not None
    assert list(found.left) == [9]
    found = run.cases(made(UNDIVIDED), undivided)
    assert found is not None
    assert list(found.left) == [Fraction(9, 2)]
    assert run.cases(made(DIVIDED), undivided) is None
    assert run.cases(made(UNDIVIDED), divided) is None
    everybody = Scenario.from_spec({**ONE, "clients": [{**ONE["clients"][0], "p": "1"}]}, exact=True)  # type: ignore[index]
    assert all(run.cases(made(kind), everybody) is not None for kind in (DIVIDED, UNDIVIDED, "everybody"))


@pytest.mark.parametrize("algorithm", ["local-sgd", "fedavg-svrg"])
def test_the_pool_has_absent_clients_of_both_readings(algorithm: str) -> None:
    for kind in (DIVIDED, UNDIVIDED):
        spoken = claim("mine/step", "", "suboptimality", "0", parameters=(), algorithm=algorithm, participation=kind)
        own = module.OwnModule(Paper("mine", "", "", (spoken,)))
        seen = [s for s in own.scenarios() if run.cases(spoken, s) is not None and not run.everybody(s)]
        scalar = [Scenario.from_spec(spec, exact=False) for spec in own.instances()]
        seen_scalar = [s for s in scalar if run.cases(spoken, s) is not None and not run.everybody(s)]
        assert seen
        assert seen_scalar
        rule = {"independent": "unbiased", "independent-mean": "normalised"}[kind]
        assert {s.algorithm.aggregation for s in [*seen, *seen_scalar]} == {rule}


def test_a_false_claim_is_refuted_in_the_reading_that_it_has(tmp_path: Path) -> None:
    """One client: undivided, nobody goes further away with a step of at most 1/L; divided by p_n, it does."""
    from theory import Convex, Hypothesis, Smooth

    assumed = (
        Hypothesis("smooth", "every sample", assumption=Smooth("L", "sample")),
        Hypothesis("convex", "every sample", assumption=Convex("sample")),
        Hypothesis("step", "short", relation="delta <= 1/L"),
        Hypothesis("one", "one client", relation="N == 1"),
        Hypothesis("single", "one step", relation="H == 1"),
        Hypothesis("no noise", "none at x*", relation="noise <= 0"),
    )
    specs = [{**ONE, "clients": [{"h": ["1"], "a": ["0"], "p": "1/4"}]}]
    specs.append({**specs[0], "aggregation": "normalised"})
    for kind in (DIVIDED, UNDIVIDED):
        spoken = made(kind, hypotheses=assumed)
        own = module.OwnModule(Paper("mine", "", "", (spoken,)))
        own.instances = lambda quick=False: iter(specs)  # type: ignore[method-assign, misc]
        own.scenarios = lambda quick=False: iter(())  # type: ignore[method-assign, misc]
        result = check_claim(spoken, own, pool_of(own, True, print, "mine"), (), tmp_path)
        assert (result.verdict == "refuted") == result.broken == (kind == DIVIDED), result
        said = " ".join(e.detail for e in result.evidence)
        assert ("divided by p_n" in said) == (kind == DIVIDED)


def test_it_is_said_wherever_one_meets_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = template.text("mine", "mine.py")
    assert 'participation="independent": it divides what client n sends by p_n' in text
    assert 'say participation="independent-mean"' in text
    tutorial = (Path(__file__).parents[2] / "docs" / "tutorial.md").read_text(encoding="utf-8")
    assert '`participation="independent"` divides by p_n' in tutorial
    assert '`participation="independent-mean"`' in tutorial
    for name, kind, said in (("one", DIVIDED, "the server divides by p_n"), ("two", UNDIVIDED, "undivided")):
        template.written(f"{name}.py")
        file = tmp_path / f"{name}.py"
        file.write_text(
            file.read_text(encoding="utf-8").replace('participation="everybody"', f'participation="{kind}"')
        )
        with catalog.forgetting():
            shown = " ".join(call("show", f"{name}.py:noise-ball").stdout.split())
            assert said in shown
            assert said in printed("show", f"{name}.py:noise-ball", "--json")["measured_as"]


@pytest.mark.parametrize("kind", [DIVIDED, UNDIVIDED])
def test_where_nobody_can_be_absent_it_is_refused(kind: str) -> None:
    for algorithm in ("shuffling", "fedmim"):
        with pytest.raises(ValueError, match="is not measured"):
            claim("mine/step", "", "suboptimality", "0", parameters=(), algorithm=algorithm, participation=kind)
    with pytest.raises(ValueError, match="independent, independent-mean, uniform"):
        made("sometimes")


def test_the_words_for_a_scenario_say_it() -> None:
    seen = [s for s in pool.scenarios(["local-sgd"]) if not run.everybody(s)]
    said = [s.description() for s in seen if "p=" in s.description()]
    assert said
    assert all("divided by p_n" in text for text in said)
    undivided = list(pool.undivided_scenarios(["local-sgd"]))
    assert all("undivided" in s.description() for s in undivided if not run.everybody(s))
