"""The specification of a sweep: what it says, what it refuses, and that the grid is the product of its axes."""

import json
import math
import re
from fractions import Fraction
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.moments.turns import MOST_VISITED
from sim.problems import rand_hie
from tests.rationals import rationals
from theory.papers.specs import SPECS
from validate.sweep import Cell, Specification, canonical, key, kinds, read_specification
from validate.sweep import specification as module

DOCUMENT = (Path(__file__).resolve().parents[3] / "docs" / "sweeps.md").read_text(encoding="utf-8")
EQ8 = "fedavg-svrg/theorem-v1-eq8"
RULES = {"aggregation": ("unbiased", "normalised"), "empty": ("keep", "zero", "condition")}

TOP: dict[str, Any] = {"claims": [EQ8], "rounds": [10]}
QUADRATIC: dict[str, Any] = {"kind": "quadratic", "clients": 2, "dim": 2, "mu": "1/10", "L": 1}
SVRG: dict[str, Any] = {"kind": "fedavg-svrg", "step": "1/10", "S": 2, "M": 2}
LOCAL: dict[str, Any] = {"kind": "local-sgd", "step": "1/10", "local_steps": 2}
SHUFFLING: dict[str, Any] = {"kind": "shuffling", "step": "1/10", "local_steps": 2}
FEDMIM: dict[str, Any] = {"kind": "fedmim", "step": "1/10", "local_steps": 2}


class Raw(str):
    """A value that goes into the text as it is."""


def value(given: Any) -> str:
    """A value in TOML."""
    if isinstance(given, Raw):
        return str(given)
    if isinstance(given, dict):
        return "{ " + ", ".join(f"{name} = {value(entry)}" for name, entry in given.items()) + " }"
    if isinstance(given, list):
        return "[" + ", ".join(map(value, given)) + "]"
    return json.dumps(given)


def text(
    top: dict[str, Any] | None = None,
    problems: tuple[dict[str, Any], ...] = (QUADRATIC,),
    algorithms: tuple[dict[str, Any], ...] = (SVRG,),
    participation: dict[str, Any] | None = None,
) -> str:
    """A specification in TOML."""
    lines = [f"{name} = {value(entry)}" for name, entry in (TOP | (top or {})).items()]
    several = [("[[problem]]", problems), ("[[algorithm]]", algorithms)]
    if participation is not None:
        several.append(("[participation]", (participation,)))
    for header, found in several:
        for table in found:
            lines += [header, *(f"{name} = {value(entry)}" for name, entry in table.items())]
    return "\n".join(lines) + "\n"


def read(*args: Any, **options: Any) -> Specification:
    return read_specification(text(*args, **options))


def texts(specification: Specification) -> list[str]:
    return [canonical(document) for document in specification.documents()]


# what the page says


def example() -> str:
    found = re.search(r"```toml\n(.*?)```", DOCUMENT, re.DOTALL)
    assert found is not None
    return found[1]


def test_the_example_of_the_page_has_the_cells_that_it_says() -> None:
    made = read_specification(example())
    documents = list(made.documents())
    stated = re.search(r"This one has (\d+) cells", DOCUMENT)
    assert stated is not None
    assert len(documents) == len(made) == int(stated[1])
    assert len({key(document) for document in documents}) == len(documents)
    for document in documents:
        Cell.from_document(document)


def test_the_page_names_every_entry_and_every_kind() -> None:
    known = {**kinds.PROBLEMS, **kinds.ALGORITHMS}
    entries = {name for kind in known.values() for name in kind.entries}
    for name in (*module.NAMES, *entries, *kinds.PARTICIPATION):
        assert f"`{name}`" in DOCUMENT, name
    for name in known:
        assert f'"{name}"' in DOCUMENT, name


def test_words_and_limits_are_those_of_the_simulator() -> None:
    entries = kinds.ALGORITHMS["local-sgd"].entries
    algorithms = SPECS["local-sgd"]["algorithms"]
    assert {words[0] for words in algorithms} == set(RULES["aggregation"])
    assert {words[1] for words in algorithms} | {"condition"} == set(RULES["empty"])  # drawn again: no algorithm's
    for name, words in RULES.items():
        for word in words:
            assert entries[name].read(word, name) == word
    assert kinds.MOST_IN_ORDERS == MOST_VISITED
    assert rand_hie().clients == kinds.INSURANCE_CLIENTS


# what it makes


def test_a_cell_is_written_out_in_full() -> None:
    made = read({"start": 0.5}, participation={"p": 0.5})
    assert list(made.documents()) == [
        {
            "format": 1,
            "claim": EQ8,
            "problem": {
                "kind": "quadratic", "clients": 2, "dim": 2, "mu": "1/10", "L": "1", "heterogeneity": "0",
                "samples": 1, "sample_spread": "0", "seed": 0,
            },
            "algorithm": {
                "kind": "fedavg-svrg", "step": "1/10", "S": 2, "M": 2, "aggregation": "unbiased", "empty": "keep",
            },
            "participation": {"p": "1/2"},
            "rounds": 10,
            "start": "1/2",
            "method": "exact",
        }
    ]  # fmt: skip


def test_claims_about_one_scenario_are_neighbours() -> None:
    made = read({"claims": "fedavg-svrg", "rounds": [1, 2]}, problems=({**QUADRATIC, "L": [1, 10]},))
    scenarios = [Cell.from_document(document).scenario for document in made.documents()]
    changes = sum(a != b for a, b in pairwise(scenarios))
    assert len(set(scenarios)) == 4 == changes + 1


@given(st.integers(1, 200), st.fractions(Fraction(1, 10**6), Fraction(999, 1000)).filter(lambda p: p < 1))
def test_the_level_is_the_largest_power_of_a_half_that_all_cells_together_can_afford(seeds: int, p: Fraction) -> None:
    share = Fraction(p).limit_denominator(10**9)
    made = read({"method": "sampled", "seeds": {"from": 1, "to": seeds}, "error_probability": str(share)})
    assert made.sampled == seeds
    assert math.log2(made.level.denominator) % 1 == 0
    assert made.level.numerator == 1
    assert made.level * seeds <= share
    assert made.level == Fraction(1, 2) or 2 * made.level * seeds > share


def test_equal_cells_are_merged() -> None:
    assert len(read(problems=(QUADRATIC, {**QUADRATIC, "mu": 0.1, "seed": [0, 0]}))) == 1
    assert len(read({"start": [1, "1.0", "2/2"]}, participation={"p": [1, [1, 1]]})) == 1
    # everybody, in the three ways in which it can be said
    assert texts(read(algorithms=(FEDMIM,))) == texts(read(algorithms=(FEDMIM,), participation={"p": 1}))
    assert texts(read(algorithms=(FEDMIM,))) == texts(read(algorithms=(FEDMIM,), participation={"clients": 2}))
    same = {**SHUFFLING, "alpha": ["1/2", "0.5"]}
    assert texts(read(algorithms=(SHUFFLING, same))) == texts(read(algorithms=(same,)))


# as properties

NUMBERS = rationals(Fraction(1, 50), 1, 50)


@st.composite
def spellings(draw: st.DrawFn, number: Fraction) -> Any:
    """A way to write a number."""
    ways: list[Any] = [str(number), f" {number.numerator}/{number.denominator}"]
    decimal = number * 10**6
    if decimal.denominator == 1:
        ways += [Raw(f"{float(number)!r}"), f"{float(number):.9f}", Raw(f"{int(decimal)}e-6"), f"{int(decimal)}E-06"]
    if number.denominator == 1:
        ways += [int(number), f"{number}.0"]
    return draw(st.sampled_from(ways))


def distinct(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(values, min_size=1, max_size=2, unique=True)


@st.composite
def grids(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Axes of a specification: top, problem, algorithm and participation; numbers as Fractions."""
    top = {"claims": draw(distinct(st.sampled_from(["fedmim/eq37", EQ8, "textbook/sgd-step"])))}
    top |= {"rounds": draw(distinct(st.integers(1, 50))), "start": draw(distinct(NUMBERS))}
    top |= {"method": draw(distinct(st.sampled_from(["exact", "sampled"]))), "seeds": draw(distinct(st.integers(0, 9)))}
    problem: dict[str, Any] = {"kind": "quadratic", "clients": draw(distinct(st.integers(2, 6)))}
    problem |= {"dim": draw(distinct(st.integers(1, 3))), "mu": draw(distinct(NUMBERS))}
    problem |= {"L": draw(distinct(NUMBERS.map(lambda x: 1 + x))), "seed": draw(distinct(st.integers(0, 99)))}
    algorithm = {"kind": draw(st.sampled_from(["fedavg-svrg", "local-sgd"])), "step": draw(distinct(NUMBERS))}
    names = ("S", "M") if algorithm["kind"] == "fedavg-svrg" else ("local_steps",)
    algorithm |= {name: draw(distinct(st.integers(1, 9))) for name in names}
    algorithm |= {"empty": draw(distinct(st.sampled_from(RULES["empty"])))}
    return top, problem, algorithm, {"p": draw(distinct(NUMBERS))}


def spelled(data: st.DataObject, table: dict[str, Any]) -> dict[str, Any]:
    """A table with its entries in some order and its numbers in some spelling."""
    names = data.draw(st.permutations(list(table)))

    def one(entry: Any) -> Any:
        return data.draw(spellings(entry)) if isinstance(entry, Fraction) else entry

    return {name: [one(v) for v in table[name]] if isinstance(table[name], list) else table[name] for name in names}


@settings(max_examples=50)
@given(grids(), st.data())
def test_order_and_spelling_do_not_matter_and_the_grid_is_the_product(grid: Any, data: st.DataObject) -> None:
    first, second = (
        read_specification(text(top, (problem,), (algorithm,), part))
        for top, problem, algorithm, part in ([spelled(data, table) for table in grid] for _ in range(2))
    )
    top, problem, algorithm, part = grid
    methods = ("exact" in top["method"]) + ("sampled" in top["method"]) * len(top["seeds"])
    axes = [top["claims"], top["rounds"], top["start"], part["p"]]
    axes += [values for table in (problem, algorithm) for values in table.values() if isinstance(values, list)]
    assert len(first) == methods * math.prod(map(len, axes))
    found = texts(first)
    assert found == texts(second)
    assert len(set(found)) == len(found) == len(first)


@given(grids(), st.data())
def test_a_document_survives_json_and_is_its_own_canonical_form(grid: Any, data: st.DataObject) -> None:
    top, problem, algorithm, part = (spelled(data, table) for table in grid)
    made = read_specification(text(top, (problem,), (algorithm,), part))
    for document in islice(made.documents(), 5):
        again = json.loads(canonical(document))
        assert again == document
        assert key(again) == key(document)
        cell = Cell.from_document(again)
        assert (cell.claim, cell.rounds, cell.method) == (document["claim"], document["rounds"], document["method"])


# what it refuses

BAD: list[tuple[str, str]] = [
    (text({"rouns": 3}), "unknown entry 'rouns'.*may have name, claims.*did you mean 'rounds'"),
    (text({"claims": []}), r"claims=\[\] is empty"),
    (text({"claims": ["fedavg-svrg/theorem-v1-eq9"]}), r"claims\[0\]: unknown claim .*did you mean"),
    (text({"claims": ["fedavg"]}), r"claims\[0\]: unknown paper 'fedavg'.*fedavg-svrg"),
    (text({"claims": [3]}), r"claims\[0\]=3 is neither"),
    (text({"claims": ["fedmim/remark-iv3"]}), r"claims\[0\]: .*is no sentence"),
    (text({"rounds": 0}), r"rounds=0 is outside the integers in \[1, inf\)"),
    (text({"rounds": [1, "2"]}), r"rounds\[1\]='2' is not an integer in \[1, inf\)"),
    (text({"rounds": True}), "rounds=True is not an integer"),
    (text({"rounds": []}), r"rounds=\[\] has no value"),
    (text({"rounds": {"from": 5, "to": 1}}), r"rounds.to=1 is outside the integers in \[5, inf\)"),
    (text({"rounds": {"from": 5}}), "rounds lacks to"),
    (text({"rounds": {"from": 1, "to": 9, "by": 0}}), r"rounds.by=0 is outside the integers in \[1, inf\)"),
    (text({"rounds": {"from": 1, "too": 9}}), "rounds has the unknown entry 'too'; .*did you mean 'to'"),
    (text({"rounds": {"from": 1, "to": 10**7}}), "rounds has 10000000 values"),
    (text({"method": "exakt"}), "method='exakt' is not one of 'exact', 'sampled'; did you mean 'exact'"),
    (text({"seeds": -1}), r"seeds=-1 is outside the integers in \[0, inf\)"),
    (text({"start": "one"}), "start='one' is not a finite number"),
    (text({"start": "1e999999999"}), "start='1e999999999' is neither 0 nor between"),
    (text({"start": Raw("1e999999999")}), "start=1e999999999 is neither 0 nor between"),
    (text({"start": Raw("nan")}), "start=nan? is not a finite number|start='nan' is not"),
    (text({"start": Raw("1979-05-27")}), "start=.* is not a number"),
    (text({"start": "1" * 101}), "start has 101 characters"),
    (text({"start": 10**40}), "start=.* is neither 0 nor between"),
    (text({"error_probability": 1}), r"error_probability=1 is outside \(0, 1\)"),
    (text({"error_probability": ["1/2", "1/4"]}), "error_probability=.* is not a number"),
    (text({"runs": {"first": 64, "most": 32}}), r"runs.most=32 is outside the integers in \[64, 10000000\]"),
    (text({"runs": {"frist": 64}}), "runs has the unknown entry 'frist'.*did you mean 'first'"),
    (text({"runs": 64}), "runs=64 is not a table"),
    (text({"name": 3}), "name=3 is not text"),
    (text({"problem": 3}, problems=()), "problem=3 is not one or more tables"),
    (text(problems=()), "the specification lacks problem"),
    (text(problems=({"clients": 2},)), r"problem\[0\] lacks kind, one of 'quadratic', 'scalar', 'insurance'"),
    (text(problems=({"kind": "quadratc"},)), r"problem\[0\].kind='quadratc' is not one of .*did you mean 'quadratic'"),
    (text(problems=({"kind": ["quadratic"]},)), r"problem\[0\].kind=\['quadratic'\] is not one of"),
    (text(problems=(QUADRATIC, {**QUADRATIC, "mew": 1})), r"problem\[1\] has the unknown entry 'mew'"),
    (text(problems=({"kind": "quadratic", "clients": 2},)), r"problem\[0\] lacks dim; kind 'quadratic' needs it"),
    (text(problems=({**QUADRATIC, "mu": [0, 2]},)), r"problem\[0\].mu=2 is outside \[0, 1\], 0..L"),
    (text(problems=({**QUADRATIC, "L": [1, 0]},)), r"problem\[0\].L\[1\]=0 is outside \(0, inf\)"),
    (text(problems=({**QUADRATIC, "mu": "-1/2"},)), r"problem\[0\].mu='-1/2' is outside \[0, inf\)"),
    (text(problems=({**QUADRATIC, "clients": 1, "heterogeneity": 1},)), r"problem\[0\].clients=1 .* heterogeneity=1"),
    (text(problems=({**QUADRATIC, "clients": 1, "dim": 1},)), r"problem\[0\]: clients\*dim=1 .*mu=1/10 < L=1"),
    (text(problems=({**QUADRATIC, "sample_spread": "1/2"},)), r"problem\[0\].samples=1 .* sample_spread=1/2"),
    (text(problems=({**QUADRATIC, "dim": 1000},)), r"clients\*samples\*dim\^2=2000000 is outside"),
    (text(problems=({"kind": "scalar", "clients": []},)), r"problem\[0\].clients=\[\] is not a list of at least one"),
    (text(problems=({"kind": "scalar", "clients": [{"h": 1}]},)), r"problem\[0\].clients\[0\] lacks a"),
    (text(problems=({"kind": "scalar", "clients": [{"h": [1, 2], "a": 1}]},)), "has 2 values of h and 1 of a"),
    (text(problems=({"kind": "scalar", "clients": [{"h": 1, "a": 0, "p": 1}]},)), "unknown entry 'p'; it may"),
    (text(problems=({"kind": "scalar", "clients": [{"h": [1] * 1001, "a": [0] * 1001}]},)), "has 1001 samples"),
    (text(problems=({"kind": "insurance", "columns": "unti"},)), "columns='unti' is not one of .*did you mean 'unit'"),
    (text(algorithms=({**SVRG, "step": [0, 1]},)), r"algorithm\[0\].step\[0\]=0 is outside \(0, inf\)"),
    (text(algorithms=({**SVRG, "step": [["1/2", "1/4"]]},)), r"algorithm\[0\] .*step has 2 entries; .*rounds=10"),
    (text(algorithms=(LOCAL, {**SVRG, "S": 0})), r"algorithm\[1\].S=0 is outside the integers in \[1, inf\)"),
    (text(algorithms=({**SVRG, "S": 10**4, "M": 10**4},)), r"algorithm\[0\] .*problem\[0\] .*local steps=2000000000"),
    (text(algorithms=({**FEDMIM, "alpha": [["1/2", "1/2"]]},)), r"algorithm\[0\].alpha=.* has a sum outside \[0, 1\)"),
    (text(algorithms=({**FEDMIM, "alpha": "1/2"},)), r"algorithm\[0\].alpha='1/2' is not a list"),
    (text(algorithms=({**FEDMIM, "alpha": [["1/2"], "1/4"]},)), r"algorithm\[0\].alpha\[0\]=.* is not a number"),
    (text(algorithms=({**SHUFFLING, "alpha": ["1/2"]},)), r"algorithm\[0\] .*problem\[0\] .*alpha has 1 weights.*N=2"),
    (text(problems=({**QUADRATIC, "clients": 17},), algorithms=(SHUFFLING,)), r"clients=17 is outside .*\[1, 16\]"),
    (text(participation={"p": [0, 1]}), r"participation.p\[0\]=0 is outside \(0, 1\]"),
    (text(participation={"p": [[1, 1, 1]]}), r"participation with problem\[0\] .*p has 3 probabilities.*N=2"),
    (text(participation={"clients": 5}), r"participation with problem\[0\] .*clients=5 is outside .*\[1, 2\]"),
    (text(participation={"clients": 1, "p": 1}), "participation has clients, p; it has one of p and clients"),
    (text(participation={"q": 1}), "participation has the unknown entry 'q'; it may have p, clients"),
    (text(algorithms=(SVRG, FEDMIM), participation={"p": "1/2"}), r"participation with algorithm\[1\] \(fedmim\).*1/2"),
    (text(algorithms=(SHUFFLING,), participation={"clients": 1}), r"participation with algorithm\[0\] \(shuffling\)"),
    ("claims = [\n", r"not TOML: .*line 1|not TOML: .*end of document"),
    ("rounds = 1\nrounds = 2\n", "not TOML: .*line 2"),
    ("a = " + "9" * 5000, "not TOML"),
    ("a = " + "[" * 5000, "nested too deeply"),
    ("a" + ".a" * 20_000 + " = 1", "line 1 of the specification has 40005 characters"),
    ("#\n" * 600_000, "has 1200000 characters"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "message"), BAD, ids=range(len(BAD)))
def test_a_bad_specification_is_refused_in_words(given: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.compile(message, re.DOTALL)) as caught:
        read_specification(given)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_a_grid_that_is_too_large_is_refused_before_it_is_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any) -> Any:
        raise AssertionError("expanded")

    monkeypatch.setattr(kinds, "combinations", never)
    seeds = {"from": 0, "to": 499_999}
    with pytest.raises(
        ValueError, match=r"has 1000000000000 cells .*problem 1000000, .*rounds 1000000.*may have 1000000"
    ):
        read({"rounds": {"from": 1, "to": 1_000_000}}, problems=({**QUADRATIC, "L": [1, 10], "seed": seeds},))


def test_only_text_is_read() -> None:
    with pytest.raises(ValueError, match="is a bytes, not text"):
        read_specification(b"rounds = 1")  # type: ignore[arg-type]
