"""First specifications as instances: what was printed of them before there were instances is printed of them now.

`specifications.json` has 34 of them with the exact moments, and the means and standard errors of 4000 runs (seed 1) at
the last round, as the engines that they were written for gave them.
"""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.validate.command_line import call, complaint, printed
from theory.papers.specs import SPECS
from validate.instances import read_instance
from validate.instances.named import algorithm_named
from validate.instances.runs import moments_of_instance, runs_of_instance
from validate.instances.specs import asked, instance_from, translated

RECORDS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("specifications.json").read_text(encoding="utf-8"))
SPOKEN = [record for record in RECORDS if translated(record["spec"]) is not None]
LISTS = ("mean", "second_moment", "squared_gradient_norm", "suboptimality")


def test_what_no_instance_says() -> None:
    """Rounds that are drawn again, chances that differ in both ways, no rounds: six of 34."""
    silent = [record["spec"] for record in RECORDS if translated(record["spec"]) is None]
    why = [
        (spec.get("empty") == "condition", spec.get("K", spec.get("epochs")) == 0, len(str(spec["clients"])) > 80)
        for spec in silent
    ]
    assert len(silent) == 6
    assert all(any(reasons) for reasons in why)


@pytest.mark.parametrize("record", RECORDS, ids=[f"{i}-{r['spec']['algorithm']}" for i, r in enumerate(RECORDS)])
def test_the_command_prints_what_it_printed(record: dict[str, Any]) -> None:
    assert printed("moments", "-", "--exact", given=json.dumps(record["spec"])) == record["moments"]


@pytest.mark.parametrize("record", SPOKEN, ids=[f"{i}-{r['spec']['algorithm']}" for i, r in enumerate(SPOKEN)])
def test_the_general_moments_of_the_instance_have_the_same_digits(record: dict[str, Any]) -> None:
    instance = read_instance(translated(record["spec"]) or {}, algorithm_named)
    found = moments_of_instance(instance, exact=True)
    for name in LISTS:
        value = getattr(found, name)
        flat = None if value is None else [str(x) for x in np.asarray(value).reshape(len(value), -1)[:, 0]]
        assert flat == record["moments"][name]
    floats = moments_of_instance(instance, exact=False)
    for name in LISTS:
        if getattr(found, name) is not None:
            np.testing.assert_allclose(
                np.asarray(getattr(floats, name)), np.asarray(getattr(found, name), dtype=float), rtol=1e-9, atol=1e-12
            )


@pytest.mark.parametrize("at", [0, 4, 7, 8, 16, 21, 27, 31])
def test_the_general_simulator_means_the_same(at: int) -> None:
    """4000 runs of other draws: means within 6 standard errors of the difference, with probability 1 - 2e-9 each."""
    record = RECORDS[at]
    instance = asked(record["spec"]).instance
    assert instance is not None
    found = runs_of_instance(instance, 4000, 1, metrics=tuple(record["simulated"]))
    for name, (mean, error) in record["simulated"].items():
        last = found.values[name][:, -1]
        apart = (error**2 + last.var(ddof=1) / len(last)) ** 0.5
        assert abs(last.mean() - mean) <= 6 * apart


SILENT = [record for record in RECORDS if translated(record["spec"]) is None and record.get("simulated")]


@pytest.mark.parametrize("record", SILENT, ids=[f"{i}-{r['spec']['algorithm']}" for i, r in enumerate(SILENT)])
def test_runs_of_what_no_instance_says_mean_what_they_meant(record: dict[str, Any]) -> None:
    """4000 runs of other draws: means within 6 standard errors of the difference, with probability 1 - 2e-9 each."""
    found = printed("simulate", "-", "--runs", 4000, "--seed", 2, given=json.dumps(record["spec"]))
    for name, (mean, error) in record["simulated"].items():
        got = found["metrics"][name]
        apart = (error**2 + got["standard_error"] ** 2) ** 0.5
        assert abs(got["mean"] - mean) <= 6 * apart + 1e-12 * abs(mean)


# --- instances -------------------------------------------------------------------------------------------------------

FILE = """
from theory import algorithm


@algorithm(x="x0", c="each grad(f_n, x0)")
def corrected(w, x, c, *, eta, H):
    y = w.each(x)
    for h in w.repeat(H):
        w.tap("y", y)
        y = y - eta * (w.gradient(y, w.sample()) - c + w.mean(c))
    return w.mean(y), c


@algorithm
def clipped(w, x, *, eta):
    return x - eta * w.clip(w.full_gradient(x), 1)
"""
INSTANCE: dict[str, Any] = {
    "algorithm": "mine.py:corrected",
    "parameters": {"eta": "1/4", "H": 2},
    "problem": {"clients": [[{"h": 1, "b": 0}], [{"h": 2, "b": 3}]]},
    "start": 3,
    "rounds": 2,
}


@pytest.fixture
def written(folder: Path) -> str:
    (folder / "mine.py").write_text(FILE, encoding="utf-8")
    (folder / "instance.json").write_text(json.dumps(INSTANCE), encoding="utf-8")
    return "instance.json"


def test_moments_of_a_program_in_a_file(written: str) -> None:
    """f = 3/4 x^2 - 3/2 x; y_1 = 3 - (3 - 3 + 3)/4 for both; then the clients part, and c stays what it was."""
    found = printed("moments", written, "--exact")
    start, c = Fraction(3), (Fraction(3), Fraction(3))
    ends = []
    for h, b, own in ((1, 0, c[0]), (2, 3, c[1])):
        y = start
        for _ in range(2):
            y = y - (h * y - b - own + Fraction(3)) / 4
        ends.append(y)
    x = sum(ends) / 2
    assert found["mean"][:2] == ["3", str(x)]
    assert found["squared_distance"][1] == str((x - 1) ** 2)
    assert found["states"]["c"]["mean"][2] == [["3"], ["3"]]
    assert found["algorithm"] == "mine.py:corrected"
    table = call("moments", written, "--exact").stdout.splitlines()
    assert table[0].split()[:2] == ["round", "mean"]
    assert table[2].split()[1] == str(x)


def test_simulate_records_taps(written: str) -> None:
    found = printed("simulate", written, "--runs", 20, "--tap", "y", "--metric", "iterate")
    exact = printed("moments", written)
    assert found["per_round"]["iterate"]["mean"] == [pytest.approx([m]) for m in exact["mean"]]
    assert found["taps"]["y"]["mean"][0] == [[9, 9], pytest.approx([81 / 16, 81 / 16])]  # round 0: turns, clients
    text = call("simulate", written, "--runs", 20, "--tap", "y").stdout
    assert "mean squared norm" in text
    blocks = printed("simulate", written, "--runs", 20, "--tap", "y", "--block", 7, "--out", "runs.npz")
    assert blocks["taps"] == found["taps"]
    with np.load("runs.npz") as stored:
        assert stored["tap y"].shape == (20, 2, 2, 2)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"algorithm": "mine.py:correctd"}, "did you mean 'mine.py:corrected'?"),
    ({"algorithm": "none.py:corrected"}, "none.py: No such file"),
    ({"algorithm": "algorithm/fedavg"}, "did you mean 'algorithms'?"),
    ({"algorithm": "algorithms/fedavgg"}, "did you mean 'algorithms/fedavg'?"),
    ({"parameters": {"eta": 1}}, "H is missing"),
    ({"parameters": {"eta": 1, "H": "1/2"}}, "H=1/2"),
    ({"start": [1, 2]}, "start has 2 entries"),
    ({"rounds": 0}, "rounds=0"),
    ({"problem": {"clients": []}}, "at least one client"),
    ({"algorithm": "mine.py:clipped", "parameters": {"eta": 1}}, "clip"),
]


@pytest.mark.parametrize(("entries", "message"), BAD)
@pytest.mark.usefixtures("written")
def test_a_bad_instance_is_refused_in_one_line(entries: dict[str, Any], message: str) -> None:
    assert message in complaint(call("moments", "-", given=json.dumps({**INSTANCE, **entries})))


@pytest.mark.usefixtures("written")
def test_simulate_runs_what_moments_refuse_and_names_its_taps() -> None:
    clipped = json.dumps({**INSTANCE, "algorithm": "mine.py:clipped", "parameters": {"eta": 1}})
    found = printed("simulate", "-", "--runs", 2, "--metric", "iterate", given=clipped)
    assert found["metrics"]["iterate"]["mean"] == [1.0]  # from 3 by 1 twice
    assert "it has y" in complaint(call("simulate", "-", "--tap", "z", given=json.dumps(INSTANCE)))
    assert "suboptimality" in complaint(call("simulate", "-", "--metric", "cosst", given=json.dumps(INSTANCE)))


def test_every_table_names_algorithms_that_are_there() -> None:
    for table in SPECS.values():
        for name in table["algorithms"].values():
            known = algorithm_named(name).parameters
            assert {*table["parameters"].values(), *table["clients"].values()} <= {*known}
    with pytest.raises(ValueError, match="no instance of the language says"):
        instance_from(next(r["spec"] for r in RECORDS if r["spec"].get("empty") == "condition"))
