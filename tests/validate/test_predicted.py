"""Which scenario is shown of a claim, and the two sides shown: against exact arithmetic, simulation and brute force."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.participation import Bernoulli
from theory import Parameter, catalog
from theory.claim import Claim, Quantity, Relation
from theory.domain import COUNT, NONNEGATIVE, REAL
from theory.evaluate import exact
from validate import papers
from validate.assumptions import unmet
from validate.bounds import Cases, compare_all, right_sides
from validate.checking import check_claim, check_paper
from validate.choice import choose
from validate.experiment import quantile
from validate.predicted import CONFIDENCE, LEAST, Predicted, along, can_vary, over_rounds
from validate.scenario import Scenario, read_scenario
from validate.survey import Pool, Survey, pool_of, survey
from validate.verdict import Evidence, Result

# Two clients whose local steps have a fixed point other than the minimiser: what falls with K is false there.
FALSE = {
    "algorithm": "local-sgd",
    "clients": [{"h": ["1"], "a": ["1"], "p": "1"}, {"h": ["1/2"], "a": ["-1"], "p": "1"}],
    "step": "1/2",
    "local_steps": 5,
    "K": 9,
    "theta0": "1",
}
HOLDS = {**FALSE, "local_steps": 1, "step": "1"}
ENDS = Claim(
    id="toy/ends",
    kind="theorem",
    title="t",
    equation="(1)",
    statement="the squared gradient norm after K rounds",
    latex="q",
    quantity=Quantity("final", "the squared gradient norm after K rounds", "q"),
    source="nowhere",
    parameters=(Parameter("K", COUNT, "rounds"), Parameter("start", NONNEGATIVE, "the same before the first")),
    right="4*start/(K*K)",
    relation="<=",
)


def at_the_end(claim: Claim, scenario: Scenario) -> Cases:
    """Where a run ends, one case a scenario."""
    norms = scenario.moments().squared_gradient_norm
    return Cases(np.array(norms[-1:]), {"K": scenario.rounds, "start": norms[0]}, {})


ENDING: Any = SimpleNamespace(cases=at_the_end)
LEMMA = catalog.claim("perm/lemma-6")


def measures(paper: str) -> ModuleType:
    """A paper's module, which is there."""
    module = papers.module(paper)
    assert module is not None
    return module


# Claims of each paper that take little time: over rounds, states and scenarios; one is false.
LOOKED_AT = {
    "perm": (
        "perm/lemma-4",
        "perm/lemma-6",
        "perm/proposition-4-eq15",
        "perm/proposition-4-eq15/corrected",
        "perm/proposition-4-eq16",
        "perm/proposition-4-eq16/corrected",
        "perm/proposition-4-eq17",
        "perm/proposition-4-eq17/corrected",
    ),
    "open-fl": (
        "open-fl/theorem-2/corrected-2",
        "open-fl/eq6",
        "open-fl/eq11",
        "open-fl/theorem-3",
        "open-fl/eq16",
        "open-fl/eq22/after-communication",
        "open-fl/eq23",
    ),
}


@cache
def seen(paper: str) -> tuple[Pool, dict[str, Survey]]:
    """The quick pool of a paper, and what is seen there of each claim."""
    module = measures(paper)
    pool = pool_of(module, True, lambda text: None, paper)
    found = {name: survey(catalog.claim(name), module, pool) for name in LOOKED_AT[paper]}
    return pool, {name: looked for name, looked in found.items() if looked.seen}


def said(name: str, verdict: Any = "supported", *evidence: Evidence) -> Result:
    """A verdict."""
    return Result(name, verdict, None, evidence)


def breaks(looked: Survey) -> bool:
    """Whether it is broken in the pool."""
    return bool(looked.others or looked.suspects)


@cache
def chosen(paper: str) -> dict[str, Predicted]:
    """What is shown of a paper's claims; one that is broken is taken as refuted."""
    return {
        name: choose(
            catalog.claim(name), measures(paper), looked, (), said(name, "refuted" if breaks(looked) else "supported")
        )
        for name, looked in seen(paper)[1].items()
    }


def of(*specs: dict[str, Any]) -> Pool:
    """A pool of few instances."""
    scenarios: list[Any] = [read_scenario(spec, exact=False) for spec in specs]
    return Pool(tuple(zip(specs, scenarios, strict=True)), ())


# --- the choice ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("paper", ["perm", "open-fl"])
def test_no_scenario_is_tighter_than_the_one_shown(paper: str) -> None:
    module, (pool, _) = measures(paper), seen(paper)
    told = 0
    for name, found in chosen(paper).items():
        claim = catalog.claim(name)
        if claim.relation != "<=":
            continue
        every = [(scenario, module.cases(claim, scenario)) for _, scenario in pool.all()]
        held = [c for s, c in every if c is not None and not unmet(claim, s, c.parameters_at(0))]
        tightest = max(each.tightness or 0.0 for each in compare_all(claim, held))
        assert found.scenarios == len(held)
        assert found.ratio is not None
        assert found.ratio >= tightest * (1 - 1e-9), name
        told += 1
    assert told > 3


@pytest.mark.parametrize("paper", ["perm", "open-fl"])
def test_what_is_shown_is_a_curve_or_every_scenario(paper: str) -> None:
    kinds = {found.over for found in chosen(paper).values()}
    assert {"index", "scenarios"} <= kinds
    for name, found in chosen(paper).items():
        assert len(found.at) == len(found.left) == len(found.right) == len(found.broken) == len(found)
        assert (np.diff(found.at) > 0).all()
        assert found.over == "point" or len(found) >= LEAST
        assert found.broken.any() == breaks(seen(paper)[1][name])
        assert found.band is None
        assert 0 <= found.worst < len(found)
    broken = {name for name, found in chosen(paper).items() if found.broken.any()}
    assert ("open-fl/eq22/after-communication" if paper == "open-fl" else "perm/lemma-6") in broken
    assert len(broken) < len(chosen(paper))


def test_a_refuted_claim_is_shown_broken_and_over_the_rounds() -> None:
    looked = survey(ENDS, ENDING, of(HOLDS, FALSE, {**HOLDS, "K": 2}))
    assert len(looked.suspects) == 1
    found = choose(ENDS, ENDING, looked, (), said(ENDS.id, "refuted"))
    assert (found.over, found.index) == ("rounds", "K")
    assert "K=" not in found.scenario
    assert found.spec is not None
    assert "K" not in found.spec
    assert found.at[-1] <= 12
    # the same in fractions, each number of rounds by itself
    for at, left, right, broken in zip(found.at, found.left, found.right, found.broken, strict=True):
        cases = at_the_end(ENDS, read_scenario({**FALSE, "K": int(at)}, exact=True))
        assert float(cases.left[0]) == pytest.approx(left, rel=1e-12)
        bound = exact(ENDS, cases.parameters_at(0))
        assert float(bound) == pytest.approx(right, rel=1e-12)
        assert (Fraction(cases.left[0]) > bound) == broken
    assert found.broken.any()
    # supported, the same pool shows a scenario that does not break it
    other = choose(ENDS, ENDING, looked, (), said(ENDS.id))
    assert not other.broken.any()


def test_a_run_too_short_for_a_curve_is_prolonged() -> None:
    claim = replace(LEMMA, right=f"({LEMMA.right})*(1/16)")
    module = measures("perm")
    spec = {**FALSE, "clients": [{"h": ["1", "1"], "a": ["-1", "1"], "p": "1"}], "step": "1/5", "K": 1}
    looked = survey(claim, module, of(spec))
    assert looked.cases == 1
    found = choose(claim, module, looked, (), said(claim.id, "refuted"))
    assert (found.over, found.index, len(found)) == ("index", "k", 12)
    assert found.spec == {**spec, "K": 12}
    cases = module.cases(claim, read_scenario({**spec, "K": 12}, exact=True))
    np.testing.assert_allclose(found.left, cases.left.astype(float), rtol=1e-12)
    over = [cases.left[i] / exact(claim, cases.parameters_at(i)) - 1 for i in range(12)]
    assert found.broken.tolist() == [by > Fraction(1, 10**9) for by in over]
    assert over[0] > 1


def test_nothing_to_choose_from_is_an_error() -> None:
    looked = survey(LEMMA, measures("perm"), Pool((), ()))
    with pytest.raises(ValueError, match=r"looked has no scenario that satisfies the hypotheses of perm/lemma-6"):
        choose(LEMMA, measures("perm"), looked, (), said(LEMMA.id))


# --- the numbers -----------------------------------------------------------------------------------------------------


def test_both_sides_are_those_of_exact_arithmetic() -> None:
    module, checked = measures("perm"), 0
    for name, found in chosen("perm").items():
        if found.over != "index" or found.spec is None:
            continue
        claim = catalog.claim(name)
        cases = module.cases(claim, read_scenario(found.spec, exact=True))
        for at, left, right in zip(found.at, found.left, found.right, strict=True):
            here = [
                i
                for i in range(len(cases))
                if {**{k: float(v) for k, v in cases.index_at(i).items()}, found.index: at, **found.fixed}
                == {k: float(v) for k, v in cases.index_at(i).items()}
            ]
            pairs = [(float(cases.left[i]), float(exact(claim, cases.parameters_at(i)))) for i in here]
            assert any(left == pytest.approx(a, rel=1e-9) and right == pytest.approx(b, rel=1e-9) for a, b in pairs)
        checked += 1
    assert checked >= 5


@pytest.mark.parametrize("paper", ["perm", "open-fl"])
def test_parameters_are_data_and_give_the_right_side_again(paper: str) -> None:
    for name, found in chosen(paper).items():
        again = json.loads(json.dumps(dict(found.parameters), allow_nan=False))
        bound = catalog.claim(name).bound(**{key: np.asarray(value) for key, value in again.items()})
        assert float(np.ravel(bound)[0]) == pytest.approx(found.right[found.worst], rel=1e-12, abs=1e-300)


QUANTITY = Quantity("q", "a number", "q")
NUMBERS = st.floats(-100, 100, allow_nan=False).map(lambda value: round(value, 3))


def toy(relation: Relation) -> Claim:
    """q <= b, whatever b."""
    return Claim(
        id="toy/one",
        kind="theorem",
        title="t",
        equation="(1)",
        statement="q and b",
        latex="q",
        quantity=QUANTITY,
        source="nowhere",
        parameters=(Parameter("b", REAL, "a bound"),),
        right="b",
        relation=relation,
    )


@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 2), NUMBERS, NUMBERS), min_size=1, max_size=40),
    st.sampled_from(["<=", ">=", "="]),
)
def test_along_an_index_the_nearest_case_is_shown(
    rows: list[tuple[int, int, float, float]], relation: Relation
) -> None:
    k, n, left, right = (np.array(column) for column in zip(*rows, strict=True))
    cases = Cases(left.astype(float), {"b": right.astype(float)}, {"k": k, "n": n})
    claim = toy(relation)
    found = along(claim, cases, "words", None)
    if found is None:
        return
    assert found.over in ("index", "parameter")
    pairs = {(a, b) for a, b in zip(left, right, strict=True)}
    assert {(a, b) for a, b in zip(found.left, found.right, strict=True)} <= pairs
    if found.index != "k":
        return
    for at, a, b in zip(found.at, found.left, found.right, strict=True):
        same = [i for i in range(len(k)) if k[i] == at and n[i] == found.fixed.get("n", n[i])]
        same = [i for i in same if right[i] == found.fixed.get("b", right[i])]
        assert any((a, b) == (left[i], right[i]) for i in same)

        def beyond(a: float, b: float) -> float:
            excess = {"<=": a - b, ">=": b - a, "=": abs(a - b)}[relation]
            return excess / (max(abs(a), abs(b)) or 1.0)

        assert beyond(a, b) >= max(beyond(left[i], right[i]) for i in same) - 1e-9


def test_what_is_given_round_by_round_is_not_prolonged() -> None:
    scenario = read_scenario(FALSE, exact=False)
    assert isinstance(scenario, Scenario)
    assert can_vary(scenario)
    assert not can_vary(replace(scenario, algorithm=replace(scenario.algorithm, step=(0.25,))))
    assert not can_vary(replace(scenario, participation=Bernoulli([[0.5]])))
    assert not can_vary(object())


# --- the simulator ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sampled() -> tuple[Scenario, Any]:
    """A scenario and its runs."""
    noisy = {**FALSE, "clients": [{"h": ["1", "1"], "a": ["-1", "1"], "p": "1"}], "step": "1/5", "K": 10}
    scenario = read_scenario(noisy, exact=False, name="noisy")
    assert isinstance(scenario, Scenario)
    return scenario, scenario.simulate(400, 3, metrics=("squared_distance",))


TESTED = Evidence("sampled", "holds", "a test", error_probability=1e-6)


def shown_sampled(sampled: tuple[Scenario, Any], *evidence: Evidence) -> Predicted:
    """A claim about every round, on the sampled scenario."""
    looked = survey(LEMMA, measures("perm"), of({**HOLDS, "step": "1/5"}))
    return choose(LEMMA, measures("perm"), looked, [sampled], said(LEMMA.id, "supported", *evidence))


def test_the_band_holds_the_exact_expectation(sampled: tuple[Scenario, Any]) -> None:
    found = shown_sampled(sampled, TESTED)
    assert (found.over, found.index) == ("index", "k")
    assert found.scenario.startswith("noisy (local-sgd, one client, d=1, ")
    assert (found.runs, found.error_probability, found.tested) == (400, None, None)  # a test of one case would be told
    assert found.band is not None
    error = (found.band.upper - found.band.lower) / 2 / quantile(CONFIDENCE)
    assert (error > 0).all()
    # 10 points, each beyond 6.5 standard errors with probability below 1e-9 by Student's t with 399 degrees of freedom
    assert len(found) == 10
    assert (np.abs(found.band.value - found.left) <= 6.5 * error).all()
    assert (found.left <= found.right).all()


def test_the_first_rounds_of_a_run_are_a_shorter_run(sampled: tuple[Scenario, Any]) -> None:
    scenario, _ = sampled
    found = shown_sampled(sampled)
    assert found.band is not None
    at = int(np.flatnonzero(found.at == 8)[0])
    short = replace(scenario, rounds=8).simulate(400, 3, metrics=("squared_distance",))["squared_distance"][:, 8]
    assert found.band.value[at] == pytest.approx(short.mean(), rel=1e-9)
    half = quantile(CONFIDENCE) * short.std(ddof=1) / 20
    assert found.band.upper[at] - found.band.value[at] == pytest.approx(half, rel=1e-9)


def test_the_exact_side_over_the_rounds_is_that_of_each_length(sampled: tuple[Scenario, Any]) -> None:
    scenario, _ = sampled
    found = over_rounds(ENDS, ENDING, scenario, "words", None)
    assert found is not None
    for at, left, right in zip(found.at, found.left, found.right, strict=True):
        cases = at_the_end(ENDS, replace(scenario, rounds=int(at)))
        assert (left, right) == (cases.left[0], right_sides(ENDS, cases)[0])


# --- the check -------------------------------------------------------------------------------------------------------


def test_verdicts_do_not_depend_on_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("validate.checking.EVALUATIONS", {True: 0})
    ids = ("open-fl/eq11", "open-fl/eq6")
    results, _, curves = check_paper("open-fl", ids, True, tmp_path / "with", 0)
    assert set(curves) == set(ids)
    assert all(found.claim == name for name, found in curves.items())
    refuse: Callable[..., Any] = lambda *arguments: None  # noqa: E731
    monkeypatch.setattr("validate.checking.choose", refuse)
    without, _, none = check_paper("open-fl", ids, True, tmp_path / "without", 0)
    assert none == {}
    assert without == results
    module, (pool, _) = measures("open-fl"), seen("open-fl")
    assert check_claim(catalog.claim(ids[0]), module, pool, (), tmp_path, 0).verdict == results[0].verdict
