"""One cell of a sweep: its result is that of the library, whatever way its scenario was written down."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.algorithms import FedAvg
from sim.exact_moments import CancellationError
from sim.participation import Bernoulli, UniformChoice
from sim.problems import quadratic
from tests.rationals import rationals
from theory.catalog import paper
from validate import bounds, papers
from validate.assumptions import unmet
from validate.bounds import compare, exact_or_rounded_sides
from validate.scenario import Scenario, read_scenario
from validate.sweep import Cell, building, canonical, key, run_cell
from validate.sweep import cell as module
from validate.sweep.building import certificate_spec, scenario_of, views

EQ8 = "fedavg-svrg/theorem-v1-eq8"
QUADRATIC = {
    "kind": "quadratic", "clients": 3, "dim": 2, "mu": "1/10", "L": "1", "heterogeneity": "1", "samples": 2,
    "sample_spread": "1/2", "seed": 7,
}  # fmt: skip
TWO = {"kind": "scalar", "clients": [{"h": ["1"], "a": ["0"]}, {"h": ["2"], "a": ["1"]}]}
ONE = {"kind": "scalar", "clients": [{"h": ["1", "2"], "a": ["0", "1"]}]}
NOISY = {"kind": "scalar", "clients": [{"h": ["1", "3"], "a": ["0", "1/2"]}, {"h": ["2"], "a": ["-1"]}]}
PLAIN = {**QUADRATIC, "samples": 1, "sample_spread": "0"}
INSURANCE = {"kind": "insurance", "columns": "standardised"}
RULES = {"aggregation": "unbiased", "empty": "keep"}
SVRG = {"kind": "fedavg-svrg", "step": "1/10", "S": 2, "M": 2, **RULES}
LOCAL = {"kind": "local-sgd", "step": "1/10", "local_steps": 2, **RULES}
OPEN = {**LOCAL, "local_steps": 1, "aggregation": "normalised"}
FEDMIM = {"kind": "fedmim", "step": "1/20", "local_steps": 2, "alpha": ["1/2", "1/4"], "beta": ["1/2"]}
SHUFFLING = {"kind": "shuffling", "step": "1/40", "local_steps": 2, "alpha": ["1/2", "1/2"]}


def document(name: str = EQ8, **changes: Any) -> dict[str, Any]:
    """A cell's document."""
    made = {
        "format": 1, "claim": name, "problem": QUADRATIC, "algorithm": SVRG, "participation": {"p": "1"}, "rounds": 4,
        "start": "1", "method": "exact",
    }  # fmt: skip
    return made | changes


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """No scenario is left over from another test."""
    scenario_of.cache_clear()
    yield
    scenario_of.cache_clear()


# the result is the library's


def drawn() -> Any:
    return quadratic(3, 2, 0.1, 1.0, 1.0, seed=7, samples=2, sample_spread=0.5)


def plain() -> Any:
    return quadratic(3, 2, 0.1, 1.0, 1.0, seed=7)


SCENARIOS: dict[str, tuple[dict[str, Any], Any]] = {
    "open-fl": (
        {"algorithm": {**LOCAL, "local_steps": 1, "aggregation": "normalised"}, "rounds": 1},
        lambda: Scenario("", FedAvg(0.1, 1, aggregation="normalised"), drawn(), Bernoulli(1), 1, np.ones(2)),
    ),
    "perm": (
        {"problem": PLAIN, "algorithm": LOCAL},
        lambda: Scenario("", FedAvg(0.1, 2), plain(), Bernoulli(1), 4, np.ones(2)),
    ),
    "open-fl, one probability a client": (
        {"problem": PLAIN, "algorithm": OPEN, "participation": {"p": ["1/2", "1", "1/4"]}},
        lambda: Scenario(
            "", FedAvg(0.1, 1, aggregation="normalised"), plain(), Bernoulli([0.5, 1.0, 0.25]), 4, np.ones(2)
        ),
    ),
    "open-fl, S of N": (
        {"problem": PLAIN, "algorithm": OPEN, "participation": {"clients": 2}},
        lambda: Scenario("", FedAvg(0.1, 1, aggregation="normalised"), plain(), UniformChoice(2), 4, np.ones(2)),
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_result_is_what_the_library_finds(name: str) -> None:
    changes, build = SCENARIOS[name]
    scenario, measured = build(), papers.module(name.split(",")[0])
    assert measured is not None
    seen = set()
    for each in paper(name.split(",")[0]):
        if not each.has_bound:
            continue
        found = run_cell(document(each.id, **changes))
        cases = measured.cases(each, scenario)
        seen.add(found["outcome"])
        if cases is None:
            assert found["outcome"] == "inapplicable", each.id
            continue
        failed = unmet(each, scenario, cases.parameters_at(0))
        if failed:
            assert found["outcome"] == "violated", each.id
            assert all(hypothesis in found["detail"] for hypothesis in failed)
            continue
        side = compare(each, cases)
        assert found["outcome"] == ("fails" if side.broken else "holds"), each.id
        assert (found["left"], found["right"]) == (side.left, side.right), each.id
        assert found["index"] == cases.index_at(side.worst)
        assert found["ratio"] == (side.left / side.right if side.right > 0 else None)
        assert found["guarantee"] == "exact"
    assert "holds" in seen


@pytest.mark.parametrize("algorithm", [SVRG, LOCAL, FEDMIM, {**SVRG, "step": ["1/10", "1/20", "1/7", "1/9"]}])
@pytest.mark.parametrize("problem", [TWO, NOISY])
def test_the_specification_of_a_certificate_is_the_same_scenario(
    algorithm: dict[str, Any], problem: dict[str, Any]
) -> None:
    part = {"clients": 1} if algorithm["kind"] == "fedmim" else {"p": ["1/2", "1"]}
    cell = Cell.from_document(document(problem=problem, algorithm=algorithm, participation=part, start="3/2"))
    spec = certificate_spec(cell)
    assert spec is not None
    exact, floats = read_scenario(spec, exact=True), scenario_of(cell.scenario)
    assert exact.exact
    assert not floats.exact
    for name in ("mean", "second_moment", "squared_gradient_norm", "suboptimality"):
        expected = np.asarray(getattr(exact.moments(), name), dtype=np.float64)
        np.testing.assert_allclose(getattr(floats.moments(), name), expected, rtol=1e-11, atol=1e-13)


@pytest.fixture
def tightened() -> Iterator[None]:
    """One claim of PERM has a right side that is too small."""
    whole = module._claim("perm/lemma-6")
    false = replace(whole[0], right=f"({whole[0].right})*(1/8)")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "_claim", lambda name: (false, whole[1]) if name == "perm/lemma-6" else whole)
        yield


BREAK = document("perm/lemma-6", problem=ONE, algorithm=LOCAL, rounds=10)


def test_a_break_on_a_scalar_problem_is_recomputed_in_fractions(tightened: None) -> None:
    found = run_cell(BREAK)
    spec = {
        "algorithm": "local-sgd", "clients": [{"h": [1, 2], "a": [0, 1]}], "step": "1/10", "local_steps": 2, "K": 10,
        "theta0": 1,
    }  # fmt: skip
    false, measured = module._claim("perm/lemma-6")
    assert measured is not None
    cases = measured.cases(false, read_scenario(spec, exact=True))
    left, right = exact_or_rounded_sides(false, cases, list(cases.index["k"]).index(found["index"]["k"]))
    assert left > right
    assert found["outcome"] == "fails"
    assert found["detail"].startswith("in fractions: left side ")
    assert math.isclose(found["left"], left, rel_tol=1e-12)
    assert math.isclose(found["right"], right, rel_tol=1e-12)


def test_a_break_elsewhere_is_one_in_floats(monkeypatch: pytest.MonkeyPatch, tightened: None) -> None:
    exact = run_cell(BREAK)
    monkeypatch.setattr(building, "MOST_EXACT", 39)  # 10 rounds of 2 steps with 2 samples are 40
    floats = run_cell(BREAK)
    assert floats["detail"].startswith("in floats; `fedproof falsify perm/lemma-6`")
    assert {**floats, "detail": None} == {**exact, "detail": None}
    for changes in ({"problem": ONE, "rounds": 10}, {"problem": TWO, "participation": {"clients": 1}}, {}):
        assert certificate_spec(Cell.from_document(document(**changes))) is None


def test_rounding_that_looks_like_a_break_is_cleared_by_fractions(monkeypatch: pytest.MonkeyPatch) -> None:
    # with this tolerance a left side above a tenth of the right side counts as broken in floats
    monkeypatch.setattr(bounds, "ROUNDING", -0.9)
    cell = document("perm/lemma-6", problem=ONE, algorithm=LOCAL)
    found = run_cell(cell)
    assert found["ratio"] > 0.1
    assert (found["outcome"], found["detail"]) == (
        "holds",
        "what looks broken in floats is rounding, as fractions show",
    )
    found = run_cell({**cell, "problem": PLAIN})
    assert found["outcome"] == "fails"
    assert found["detail"].startswith("in floats")


# the other outcomes


def test_a_claim_that_does_not_speak_of_a_scenario_is_inapplicable() -> None:
    for name, algorithm, part in (
        ("fedmim/eq37", SVRG, {"p": "1"}),
        (EQ8, FEDMIM, {"clients": 3}),
        (EQ8, SHUFFLING, {"p": "1"}),
        ("textbook/sgd-step", SHUFFLING, {"p": "1"}),
        ("perm/lemma-6", SVRG, {"p": "1"}),
        ("perm/proposition-4-eq16", {**LOCAL, "local_steps": 1, "aggregation": "normalised"}, {"p": "1"}),
        ("fedavg-svrg/lemma-a1", SVRG, {"clients": 1}),
        ("fedavg-svrg/remark-rate", SVRG, {"p": "1"}),
    ):
        problem = QUADRATIC if algorithm is FEDMIM else TWO
        found = run_cell(document(name, problem=problem, algorithm=algorithm, participation=part))
        assert found["outcome"] == "inapplicable", name
        assert {found[x] for x in ("left", "right", "ratio", "lower", "upper", "runs", "guarantee")} == {None}
        assert found["index"] is None


def test_a_hypothesis_that_does_not_hold_is_named() -> None:
    found = run_cell(document("perm/lemma-6", problem=PLAIN, algorithm={**LOCAL, "step": "3/4"}))
    assert found["outcome"] == "violated"
    assert found["detail"] == "hypotheses that do not hold: step size"
    found = run_cell(document("fedavg-svrg/lemma-v1-eq10", algorithm={**SVRG, "step": "3", "S": 1}))
    assert found["outcome"] == "violated"
    assert found["detail"].startswith("hypotheses that do not hold: ")
    assert "delta < 1/(2*L)" in found["detail"]


def test_iterates_that_leave_float64_diverge() -> None:
    found = run_cell(document(algorithm={**SVRG, "step": "1000000"}, rounds=100))
    assert found["outcome"] == "diverged"
    assert found["left"] is None
    assert "float64" in found["detail"]


def test_moments_that_rounding_hides_are_undecided() -> None:
    # the first step throws the iterates out, the others bring them back
    problem = {"kind": "scalar", "clients": [{"h": ["1"], "a": ["0"]}]}
    steps = ["1000000000", *["1"] * 3]
    cell = document("perm/lemma-6", problem=problem, algorithm={**LOCAL, "step": steps, "local_steps": 1})
    with pytest.raises(CancellationError) as caught:
        scenario_of(Cell.from_document(cell).scenario).moments()
    found = run_cell(cell)
    assert (found["outcome"], found["detail"]) == ("undecided", str(caught.value))


def test_sides_that_are_not_finite_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for left, right, outcome in (
        (math.nan, 1.0, "diverged"),
        (1.0, math.inf, "undecided"),
        (1.0, math.nan, "undecided"),
    ):
        broken = bounds.Comparison(1, None, 0, left, right, True)
        monkeypatch.setattr(bounds, "compare", lambda *_, broken=broken: broken)
        found = run_cell(document("perm/lemma-6", problem=PLAIN, algorithm=LOCAL))
        assert found["outcome"] == outcome
        assert found["ratio"] is None
        canonical(found)


def test_a_parameter_outside_its_domain_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = papers.module("perm")
    real = measured.cases  # type: ignore[union-attr]
    for value, outcome, text in ((-1.0, "violated", "L=-1 is outside (0, inf)"), (math.inf, "diverged", "parameter L")):

        def changed(each: Any, scenario: Any, value: float = value) -> Any:
            found = real(each, scenario)
            return bounds.Cases(found.left, {**found.parameters, "L": value}, found.index)

        monkeypatch.setattr(measured, "cases", changed)
        found = run_cell(document("perm/lemma-6", problem=PLAIN, algorithm=LOCAL))
        assert found["outcome"] == outcome
        assert text in found["detail"]


def test_a_paper_without_measures_is_inapplicable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(papers, "module", lambda name: None)
    module._claim.cache_clear()
    try:
        assert run_cell(document("perm/lemma-6", problem=PLAIN, algorithm=LOCAL))["outcome"] == "inapplicable"
    finally:
        module._claim.cache_clear()


# a pure function, and a quick one


def test_a_result_is_plain_and_the_same_every_time() -> None:
    for cell in (document(), document("fedavg-svrg/eq-a24", problem=TWO), document("fedmim/eq37")):
        text = json.dumps(cell)
        first = canonical(run_cell(cell))
        assert json.loads(first).keys() == {
            "outcome", "left", "right", "ratio", "lower", "upper", "runs", "guarantee", "index", "detail",
        }  # fmt: skip
        scenario_of.cache_clear()
        assert canonical(run_cell(json.loads(text))) == first == canonical(run_cell(cell))
        assert json.dumps(cell) == text


def test_claims_about_one_scenario_cost_one_run_of_the_oracle(monkeypatch: pytest.MonkeyPatch) -> None:
    import sim.exact

    runs = []
    oracle = sim.exact.moments

    def counted(*args: Any, **options: Any) -> Any:
        runs.append(args)
        return oracle(*args, **options)

    monkeypatch.setattr(sim.exact, "moments", counted)
    for each in paper("open-fl"):
        if each.has_bound:
            run_cell(document(each.id, problem=PLAIN, algorithm=OPEN, start="7/3"))
    assert len(runs) == 1


def test_a_sampled_cell_is_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    import validate.sweep.adaptive as adaptive

    given_: list[Any] = []
    answer = {"outcome": "undecided"}
    monkeypatch.setattr(adaptive, "sampled", lambda *args: given_.append(args) or answer)
    sampling = {"method": "sampled", "seed": 3, "level": "1/1024", "first": 8, "most": 64}
    assert run_cell(document("perm/lemma-6", problem=PLAIN, algorithm=LOCAL, **sampling)) is answer
    cell, found, measured, scenario = given_[0]
    assert (cell.level, cell.first, cell.most, cell.seed) == (Fraction(1, 1024), 8, 64, 3)
    assert isinstance(cell.level, Fraction)
    assert found.id == "perm/lemma-6"
    assert measured is papers.module("perm")
    assert isinstance(scenario, Scenario)


def test_a_sampled_cell_gives_a_result_of_the_same_form() -> None:
    sampling = {"method": "sampled", "seed": 3, "level": "1/1024", "first": 8, "most": 16}
    found = run_cell(document(**sampling))
    assert found.keys() == run_cell(document()).keys()
    assert canonical(found) == canonical(run_cell(document(**sampling)))


# properties

NUMBERS = rationals(-3, 3, 8)
CURVATURES = rationals(Fraction(1, 8), 2, 8)


@st.composite
def clients(draw: st.DrawFn) -> list[dict[str, list[str]]]:
    samples = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    return [
        {"h": [str(draw(CURVATURES)) for _ in range(n)], "a": [str(draw(NUMBERS)) for _ in range(n)]} for n in samples
    ]


@settings(max_examples=40)
@given(clients(), st.data())
def test_the_order_of_the_clients_does_not_matter(made: list[dict[str, list[str]]], data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(made))))
    name, algorithm, part = data.draw(
        st.sampled_from([
            (EQ8, SVRG, {"p": [f"1/{n + 2}" for n in range(len(made))]} if len(made) > 1 else {"p": "1"}),
            ("fedavg-svrg/theorem-v1-eq7", {**SVRG, "S": 1}, {"p": "1/2"}),
            ("perm/lemma-6", LOCAL, {"p": "1"}),
            ("fedmim/theorem-iv1-eq7", FEDMIM, {"clients": 1}),
        ])
    )  # fmt: skip
    moved = {"p": [part["p"][n] for n in order]} if isinstance(part.get("p"), list) else part
    first, second = (
        run_cell(document(name, problem={"kind": "scalar", "clients": c}, algorithm=algorithm, participation=p))
        for c, p in ((made, part), ([made[n] for n in order], moved))
    )
    assert first["outcome"] == second["outcome"]
    for side in ("left", "right", "ratio"):
        if first[side] is None:
            assert second[side] is None
        else:
            assert first[side] == pytest.approx(second[side], rel=1e-9, abs=1e-13)


@given(st.dictionaries(st.sampled_from("abcdef"), st.none() | st.integers() | st.floats() | st.text(), max_size=4))
def test_the_canonical_text_is_one(made: dict[str, Any]) -> None:
    if any(isinstance(value, float) and not math.isfinite(value) for value in made.values()):
        with pytest.raises(ValueError, match="JSON compliant"):
            canonical(made)
        return
    turned = dict(reversed(made.items()))
    assert canonical(made) == canonical(turned)
    assert canonical(made).isascii()
    assert json.loads(canonical(made)) == made
    assert len(key(made)) == 40
    assert key(made) == key(turned)


# shuffling, in the forms that PERM's claims are measured in


@settings(max_examples=40)
@given(st.lists(st.tuples(CURVATURES, NUMBERS), min_size=1, max_size=4), st.integers(1, 3), NUMBERS)
def test_the_views_of_shuffling_are_the_same_run(made: list[Any], rounds: int, start: Fraction) -> None:
    problem = {"kind": "scalar", "clients": [{"h": [str(h)], "a": [str(a)]} for h, a in made]}
    weights = [str(Fraction(2 * (n + 1), len(made) * (len(made) + 1))) for n in range(len(made))]
    algorithm = {"kind": "shuffling", "step": "1/16", "local_steps": 2, "alpha": weights}
    cell = document("perm/lemma-10", problem=problem, algorithm=algorithm, rounds=rounds, start=str(start))
    scenario = scenario_of(Cell.from_document(cell).scenario)
    _, run, epoch = views(scenario, "perm")
    found = scenario.moments()
    mean, second = np.array(run.moments).T
    np.testing.assert_allclose(mean, found.mean[:, 0], rtol=1e-10, atol=1e-12)  # type: ignore[union-attr]
    np.testing.assert_allclose(second, found.second_moment[:, 0, 0], rtol=1e-10, atol=1e-12)
    ends = [epoch.end(order)[0] for order in epoch.orders]
    assert np.mean(ends) == pytest.approx(found.mean[1, 0], rel=1e-10, abs=1e-12)
    # W holds every iterate
    reached = epoch.width * (1 + 1e-12)
    assert max(abs(end - epoch.start[0]) for end in ends) <= reached
    assert views(scenario, "fedavg-svrg") == (scenario,)


def test_shuffling_has_cells_that_hold_and_fail() -> None:
    outcomes = {}
    for each in paper("perm"):
        if each.has_bound:
            outcomes[each.label] = run_cell(document(each.id, problem=TWO, algorithm=SHUFFLING))["outcome"]
    assert outcomes["theorem-2-unrolled/corrected"] == "holds"
    assert outcomes["lemma-10/corrected"] == "holds"
    assert outcomes["lemma-10"] == "fails"


def test_what_views_of_shuffling_cannot_stand_for_is_left_out() -> None:
    for changes in (
        {"problem": NOISY},
        {"algorithm": {**SHUFFLING, "step": "2"}},
        {"algorithm": {**SHUFFLING, "alpha": ["1/2", "1/4"]}},
        {"algorithm": {**SHUFFLING, "step": ["1/40"] * 4}},
        {"problem": {**TWO, "clients": [{"h": ["1"], "a": ["0"]}, {"h": ["-1"], "a": ["1"]}]}},
    ):
        cell = Cell.from_document(document(**{"problem": TWO, "algorithm": SHUFFLING, **changes}))
        scenario = scenario_of(cell.scenario)
        assert views(scenario, "perm") == (scenario,)


# documents that are none


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 2}, "format=2 is not 1"),
        ({"format": True}, "format=True is not 1"),
        ({"claim": 3}, "claim=3 is not the id"),
        ({"method": "guess"}, "method='guess' is not one of"),
        ({"seed": 3}, "unknown entry 'seed'"),
        ({"method": "sampled", "seed": 3}, "the cell lacks level, first, most"),
        ({"start": "0.5"}, "start='0.5' is not in canonical form, which is '1/2'"),
        ({"start": 1}, "start=1 is not in canonical form, which is '1'"),
        ({"rounds": True}, "rounds=True is not an integer"),
        ({"rounds": 10**6, "algorithm": {**SVRG, "M": 100}}, r"local steps=600000000 is outside"),
        ({"problem": 3}, "problem=3 is not a table"),
        ({"problem": {**QUADRATIC, "mu": "2"}}, r"problem.mu=2 is outside \[0, 1\]"),
        ({"problem": {**QUADRATIC, "mu": "0.1"}}, "problem=.* is not in canonical form"),
        ({"problem": {"kind": "quadratic"}}, "problem lacks clients"),
        ({"algorithm": {**SVRG, "step": ["1/10"]}}, "step has 1 entries; it needs one a round, rounds=4"),
        ({"algorithm": {**SVRG, "step": ["1/10", ["1/10"]]}}, "is not a number"),
        ({"participation": {"p": ["1", "1", "1"]}}, "participation=.* is not in canonical form"),
        ({"participation": {"clients": 4}}, r"clients=4 is outside the integers in \[1, 3\]"),
        ({"participation": {"p": "1", "clients": 3}}, "exactly one of p and clients"),
    ],
)
def test_what_is_no_cell_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        run_cell(document(**changes))


def test_an_unknown_claim_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown claim 'fedavg-svrg/theorem-v9'"):
        run_cell(document("fedavg-svrg/theorem-v9"))
