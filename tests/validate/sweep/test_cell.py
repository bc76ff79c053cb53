"""One cell of a sweep: a document, and a result that depends on it alone."""

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rationals import rationals
from theory.catalog import claim
from validate.instances import read_instance
from validate.on_instance import on_instance
from validate.sweep import canonical, run_cell
from validate.sweep.sentences import problem_of

EQ8 = "fedavg-svrg/theorem-v1-eq8"
QUADRATIC = {
    "kind": "quadratic", "clients": 3, "dim": 2, "mu": "1/10", "L": "1", "heterogeneity": "1", "samples": 2,
    "sample_spread": "1/2", "seed": 7,
}  # fmt: skip
TWO = {"kind": "scalar", "clients": [{"h": ["1"], "a": ["0"]}, {"h": ["2"], "a": ["1"]}]}
RULES = {"aggregation": "unbiased", "empty": "keep"}
SVRG = {"kind": "fedavg-svrg", "step": "1/10", "S": 2, "M": 2, **RULES}
LOCAL = {"kind": "local-sgd", "step": "1/10", "local_steps": 2, **RULES}
FEDMIM = {"kind": "fedmim", "step": "1/20", "local_steps": 2, "alpha": ["1/2", "1/4"], "beta": ["1/2"]}
SHUFFLING = {"kind": "shuffling", "step": "1/40", "local_steps": 2, "alpha": ["1/2", "1/2"]}
ROUND = {"kind": "program", "gamma": "1/10", "H": "2"}


def document(name: str = EQ8, **changes: Any) -> dict[str, Any]:
    """A cell's document."""
    made = {
        "format": 1, "claim": name, "problem": QUADRATIC, "algorithm": SVRG, "participation": {"p": "1"}, "rounds": 4,
        "start": "1", "method": "exact",
    }  # fmt: skip
    return made | changes


# outcomes


def test_a_program_s_parameters_are_a_grid_of_its_claims() -> None:
    """What a cell says of a projected epoch, which moments do not tell, is what playing it says."""
    epoch = {"kind": "program", "H": "2", "alpha": ["1/2", "1/2"], "eta": "1/40", "r": "5"}
    name = "perm/theorem-2-unrolled/corrected"
    found = run_cell(document(name, problem=TWO, algorithm=epoch))
    clients = [[{"h": "1", "a": "0"}], [{"h": "2", "a": "1"}]]
    given = {"H": 2, "alpha": ["1/2", "1/2"], "eta": "1/40", "r": 5}
    data = {"algorithm": "x/y", "parameters": given, "problem": {"clients": clients}, "start": 1, "rounds": 4}
    exact = on_instance(claim(name), read_instance(data, claim(name).of))
    assert (found["outcome"], exact.verdict) == ("holds", "holds")
    assert found["ratio"] == pytest.approx(max(float(r.left) / float(r.right) for r in exact.measured.rows))


def test_a_claim_that_does_not_speak_of_a_scenario_is_inapplicable() -> None:
    for name, algorithm, part in (
        ("fedmim/eq37", SVRG, {"p": "1"}),
        (EQ8, FEDMIM, {"clients": 3}),
        (EQ8, SHUFFLING, {"p": "1"}),
        ("textbook/sgd-step", SHUFFLING, {"p": "1"}),
        ("perm/lemma-6", SVRG, {"p": "1"}),
        ("perm/eq3", ROUND, {"p": "1"}),
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
    found = run_cell(document("perm/lemma-6", problem=TWO, algorithm={**ROUND, "gamma": "3/4"}))
    assert found["outcome"] == "violated"
    assert found["detail"] == "hypotheses that do not hold: gamma <= 1/(2*L)"
    found = run_cell(document("fedavg-svrg/lemma-v1-eq10", algorithm={**SVRG, "step": "3", "S": 1}))
    assert found["outcome"] == "violated"
    assert found["detail"].startswith("hypotheses that do not hold: ")
    assert "delta < 1/(2*L)" in found["detail"]


def test_iterates_that_leave_float64_diverge() -> None:
    found = run_cell(document(algorithm={**SVRG, "step": "1000000"}, rounds=100))
    assert found["outcome"] == "diverged"
    assert found["left"] is None
    assert "float64" in found["detail"]


# a pure function, and a quick one


def test_a_result_is_plain_and_the_same_every_time() -> None:
    for cell in (document(), document("fedavg-svrg/eq-a24", problem=TWO), document("fedmim/eq37")):
        text = json.dumps(cell)
        first = canonical(run_cell(cell))
        assert json.loads(first).keys() == {
            "outcome", "left", "right", "ratio", "lower", "upper", "runs", "guarantee", "index", "detail",
        }  # fmt: skip
        problem_of.cache_clear()
        assert canonical(run_cell(json.loads(text))) == first == canonical(run_cell(cell))
        assert json.dumps(cell) == text


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
            ("perm/lemma-6/corrected", ROUND, {"p": "1"}),
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
