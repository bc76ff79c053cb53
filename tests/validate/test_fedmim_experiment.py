"""FedMIM's experiments: their parts, the whole on tiny sizes, and that they go on where they stopped."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import sim
from sim.algorithms import FedAvg, FedMIM, fedcm
from validate.experiments import former as ex
from validate.experiments.inertia import figures, outcomes, runs, setting, statements, tables
from validate.experiments.inertia.runs import Job, Result
from validate.experiments.inertia.setting import BASE, FULL, LAGS, QUICK, Cell, Size

TINY = Size(
    sets=2,
    runs=3,
    rounds=6,
    every=3,
    tuned=1,
    trial=2,
    steps=2,
    values=1,
    cells=(Cell(None), BASE),
    lags=(LAGS[0], LAGS[1], LAGS[4], LAGS[6]),
    processes=1,
)


# --- settings --------------------------------------------------------------------------------------------------------


def test_every_method_is_tuned_alike() -> None:
    field = setting.methods()
    assert len(field) == 7
    for size in (QUICK, FULL):
        grids = [method.grid(size) for method in field.values()]
        grids += [setting.lag_method(lags).grid(size) for lags in size.lags]
        assert {len(set(grid)) for grid in grids} == {size.steps * size.values}
        for method, grid in zip(field.values(), grids, strict=False):
            assert {step for step, _ in grid} >= {method.steps[-1], method.steps[-size.steps]}
    assert field["fedmim"].series == max(method.series for method in field.values())


def test_methods_are_made_as_stated() -> None:
    made = {key: setting.algorithm(m, (0.1, m.values[0]), BASE, 3) for key, m in setting.methods().items()}
    for algorithm in made.values():
        assert algorithm.step == pytest.approx((0.1, 0.0998, 0.1 * 0.998**2))
        assert algorithm.local_steps == 5 * setting.SAMPLES // 20
        assert algorithm.batch == 20
        assert algorithm.aggregation == "normalised"
    assert made["fedmim"].alpha == pytest.approx((0.6, 0.3))
    assert made["fedmim"].beta == (0.9, 0.1)
    assert made["fedcm"].alpha == pytest.approx((0.9,))
    assert (made["fedadam"].server_step, made["feddyn"].weight, made["scaffold"].server_step) == (0.1, 0.1, 1)


def test_full_has_what_is_asked_for() -> None:
    assert FULL.sets * FULL.runs >= 100
    assert {cell.selected for cell in FULL.cells} == {2, 5, 10, 20}
    assert {cell.epochs for cell in FULL.cells} == {1, 5, 10}
    assert {cell.concentration for cell in FULL.cells} == {None, 0.3, 0.1}
    assert len(FULL.lags) == 9
    found = runs.jobs(FULL)
    assert len(found) == len(set(found)) == 8 * 7 + 8 + 8
    names = [f"{job.cell.key}-{job.method.key}-{job.step}" for job in found]
    assert len(set(names)) == len(names)
    assert runs.SHORT.step == pytest.approx(0.01)


def test_rows_of_table_iii_that_are_other_methods() -> None:
    steps = (0.1, 0.1, 0.1)
    none, one = (setting.lag_method(LAGS[at]).make(steps, 4, 0.0) for at in (0, 1))
    problem = setting.problem(0.1, 5)
    participation = sim.participation.UniformChoice(3)
    options: Any = {"rounds": 3, "runs": 2, "metrics": ("iterate",), "backend": "torch"}
    final = [
        sim.run(algorithm, problem, participation, **options).final
        for algorithm in (
            none,
            FedAvg(0.1, 4, aggregation="normalised", empty="condition", batch=20),
            one,
            fedcm(0.1, 4, 0.1, batch=20),
            FedMIM(0.1, 4, alpha=(0.6, 0.3), batch=20),
        )
    ]
    np.testing.assert_allclose(final[0], final[1], rtol=1e-12)
    np.testing.assert_allclose(final[2], final[3], rtol=1e-9)
    assert np.abs(final[2] - final[4]).max() > 1e-3
    assert "FedAvg" in LAGS[0].label
    assert "FedCM" in LAGS[1].label


# --- measuring -------------------------------------------------------------------------------------------------------


def test_objective_and_accuracy_against_plain_sums() -> None:
    p = setting.problem(0.1, 3)
    rng = np.random.default_rng(0)
    models = np.concatenate([np.zeros((1, p.dim)), rng.normal(size=(2, p.dim)), 300 * rng.normal(size=(1, p.dim))])
    cost, accuracy = runs.objective(p, models), runs.accuracy(p, models)
    assert cost[0] == pytest.approx(np.log(10))
    for at, model in enumerate(models):
        assert cost[at] == pytest.approx(p.loss(model).mean(), rel=1e-12)
        if at:
            logits = p.features @ model.reshape(10, -1).T
            assert accuracy[at] == pytest.approx(np.mean(logits.argmax(axis=2) == p.labels))


def test_models_that_diverged() -> None:
    p = setting.problem(None, 3)
    models = np.zeros((3, p.dim))
    models[0, 0], models[1, 1] = np.nan, 1e200
    cost, accuracy = runs.objective(p, models), runs.accuracy(p, models)
    assert cost[:2].tolist() == [np.inf, np.inf]
    assert accuracy[:2].tolist() == [0, 0]
    assert cost[2] == pytest.approx(np.log(10))


def test_the_least_objective_is_below_every_other(tmp_path: Path) -> None:
    least = runs.optimum(0.3, (7, 8), tmp_path)
    for seed, value in zip((7, 8), least, strict=True):
        p = setting.problem(0.3, seed)
        near = p.minimiser + 1e-3 * np.random.default_rng(1).normal(size=(5, p.dim))
        cost = runs.objective(p, np.vstack([p.minimiser, near]))
        assert cost[0] == pytest.approx(value, abs=1e-12)
        # strongly convex with modulus ridge
        assert np.all(cost[1:] - value >= setting.RIDGE / 2 * np.sum((near - p.minimiser) ** 2, axis=1) - 1e-14)


def made(excess: Any, accuracy: Any = 0.5, consistency: Any = 1.0, tuned: Any = None) -> Result:
    excess = np.asarray(excess, dtype=float)
    return Result(
        (0.1, 0.0),
        tuned,
        np.arange(excess.shape[1]) * 3,
        excess,
        np.broadcast_to(accuracy, excess.shape),
        np.broadcast_to(consistency, (len(excess), 7)),
    )


def test_rounds_until_an_excess() -> None:
    found = outcomes.rounds_to(made([[1, 0.5, 0.01], [1, 0.04, 0.2], [1, 1, 1]]), 0.05)
    assert found.tolist() == [6, 3, np.inf]


def test_ratios_and_points_have_their_directions() -> None:
    """FedMIM half the excess of the others, and two points more accuracy."""
    jobs = outcomes.in_cell(BASE)
    noise = 10 ** np.random.default_rng(0).normal(size=(6, 1))
    found = {job: made(noise * [[2, 2]], 0.6 + 0.001 * noise) for job in jobs}
    found[jobs[-1]] = made(noise * [[2, 1]], 0.62 + 0.001 * noise)
    ratio = outcomes.against(found, jobs, outcomes.EXCESS, TINY)
    points = outcomes.against(found, jobs, outcomes.ACCURACY, TINY)
    assert ratio.value.tolist() == pytest.approx([2] * 6 + [1])
    assert points.value.tolist() == pytest.approx([-2] * 6 + [0])
    assert np.all(ratio.lower <= ratio.value + 1e-12)
    assert np.all(points.lower <= points.value + 1e-12)
    held = outcomes.ranking(found, jobs, outcomes.EXCESS, TINY)
    assert outcomes.judged(held, 6) == "supported"
    assert outcomes.judged(held, 0) == "not borne out"
    assert outcomes.on_sets(found, jobs[-1], jobs[0], outcomes.EXCESS, TINY) == 2


def test_what_cannot_be_told_apart_is_not_settled() -> None:
    """Seven methods with the same law: at 99% one is called the best with probability below 1%, and not here."""
    rng = np.random.default_rng(1)
    jobs = outcomes.in_cell(BASE)
    found = {job: made(10 ** rng.normal(size=(6, 2))) for job in jobs}
    held = outcomes.ranking(found, jobs, outcomes.EXCESS, TINY)
    assert {outcomes.judged(held, at) for at in range(7)} == {"not settled"}


def test_the_best_pair_is_not_one_that_diverged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    method = setting.methods()["fedcm"]
    size = replace(TINY, values=2)
    last = dict(zip(method.grid(size), (0.5, setting.DIVERGED, 0.4, 0.6), strict=True))
    monkeypatch.setattr(
        runs, "simulate", lambda method, choice, *rest: {"excess": np.array([[1.0, last[choice]], [1.0, last[choice]]])}
    )
    found = runs.tune(method, BASE, size, tmp_path, 0)
    assert found.best == method.grid(size)[2]
    assert found.excess.tolist() == pytest.approx(list(last.values()))


# --- the experiment --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    out = tmp_path_factory.mktemp("fedmim")
    said: list[str] = []
    asked: list[dict[str, Any]] = []
    run = sim.run

    def noted(*args: Any, **options: Any) -> Any:
        asked.append({"algorithm": args[0], "problem": args[1], **options})
        return run(*args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(setting, "QUICK", TINY)
        patch.setattr(sim, "run", noted)
        experiment = figures.reproduce(out=out, quick=True, progress=said.append, seed=3)
        first, simulated = len(said), len(asked)
        again = figures.reproduce(out=out, quick=True, progress=said.append, seed=3)
        repeated = len(asked) - simulated
        # one simulation is lost: it alone is done again
        (out / "data" / "iid-s10-e5-feddyn.npz").unlink()
        figures.reproduce(out=out, quick=True, seed=3)
    return SimpleNamespace(
        out=out,
        experiment=experiment,
        again=again,
        said=said[:first],
        asked=asked[:simulated],
        repeated=repeated,
        lost=asked[simulated + repeated :],
    )


def test_reproduce_draws_and_tabulates(reproduced: SimpleNamespace) -> None:
    experiment = reproduced.experiment
    assert experiment.paper == "fedmim"
    names = ["figure-heterogeneity", "figure-2b"]
    assert [d.path.name for d in experiment.figures] == [f"{name}.svg" for name in names]
    assert [path.name for path in experiment.data] == [f"{name}.csv" for name in names]
    for drawing in experiment.figures:
        ElementTree.fromstring(drawing.path.read_text())
    for table in experiment.tables:
        assert table.rows
        assert all(len(row) == len(table.header) for row in table.rows), table.title
        assert all(isinstance(cell, str) for row in table.rows for cell in row)
    assert any("Quick run" in line for line in experiment.settings)
    assert len(experiment.findings) >= 3
    assert sum("finished" in line for line in reproduced.said) == 4 + len(runs.jobs(TINY))


def test_what_is_finished_is_not_simulated_again(reproduced: SimpleNamespace) -> None:
    assert reproduced.repeated == 0
    assert reproduced.experiment == reproduced.again
    assert len(reproduced.lost) == TINY.sets
    assert {type(call["algorithm"]).__name__ for call in reproduced.lost} == {"FedDyn"}


def test_runs_are_paired_and_tuning_has_data_of_its_own(reproduced: SimpleNamespace) -> None:
    compared = [c for c in reproduced.asked if c["first_run"] < setting.TUNING_SEED]
    numbers = {call["first_run"] for call in compared}
    assert len(numbers) == TINY.sets
    assert {call["seed"] for call in reproduced.asked} == {3}
    first = {
        number: {float(c["problem"].features[0, 0, 0]) for c in compared if c["first_run"] == number}
        for number in numbers
    }
    assert all(len(values) <= 2 for values in first.values())  # i.i.d. and Dirichlet 0.1
    tuned = [c for c in reproduced.asked if c["first_run"] >= setting.TUNING_SEED]
    trials = TINY.steps * TINY.values
    assert len(tuned) == trials * sum(job.step is None for job in runs.jobs(TINY))
    assert not {float(c["problem"].features[0, 0, 0]) for c in tuned} & set().union(*first.values())


def test_the_numbers_behind_the_figure_are_those_of_the_table(reproduced: SimpleNamespace) -> None:
    with reproduced.experiment.data[0].open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    final = {(r["setting"], r["method"]): r for r in rows if r["round"] == "6"}
    assert len(final) == 14
    table = next(t for t in reproduced.experiment.tables if t.title == "Comparison: heterogeneity")
    for cell in TINY.cells:
        for key, method in setting.methods().items():
            row = next(r for r in table.rows if r[:2] == (cell.label, method.label))
            found = final[cell.key, key]
            assert float(row[2].split()[0]) == pytest.approx(float(found["excess"]), rel=6e-3)
            assert float(row[6].split()[0]) == pytest.approx(100 * float(found["accuracy"]), abs=6e-3)
            assert float(found["excess-lower"]) <= float(found["excess"]) <= float(found["excess-upper"])


def test_every_statement_has_a_verdict(reproduced: SimpleNamespace) -> None:
    table = reproduced.experiment.tables[0]
    assert len(table.rows) == 2 + 1 + 3 + 2
    verdicts = {row[2] for row in table.rows} | {row[4] for row in table.rows}
    assert verdicts <= {"supported", "not borne out", "not settled", ""}


def test_other_seeds_are_other_runs(tmp_path: Path) -> None:
    job, size = Job(BASE, "fedavg", step=0.1), replace(TINY, sets=1)
    one, other = (runs.run_job(job, size, tmp_path, seed) for seed in (0, 1))
    assert np.array_equal(one.excess[:, 0], other.excess[:, 0])
    assert np.all(one.excess[:, 1] != other.excess[:, 1])
    assert len({*one.excess[:, 1].tolist()}) == size.runs


def test_statements_on_known_results() -> None:
    """FedMIM is made the best everywhere but in consistency; one lag is better than two."""
    noise = 10 ** (0.01 * np.random.default_rng(2).normal(size=(6, 1)))
    order = {key: 7 - at for at, key in enumerate(setting.methods())}
    found: dict[Job, Result] = {}
    for job in runs.jobs(TINY):
        level = order[job.key]
        if job.lags is not None:
            level = {1: 3, 2: 4}[len(job.lags.alpha)] - 3.5 * bool(job.lags.beta)
        found[job] = made(noise * [[10, level]], 0.9 - 0.01 * level + 0 * noise, 1 / level * noise)
    table = statements.statement_table(found, TINY)
    by_name = {row[0]: row for row in table.rows}
    for cell in TINY.cells:
        row = by_name[f"FedMIM is the best of the seven: {cell.label}"]
        assert (row[1], row[2], row[4]) == ("rank 1", "supported", "supported")
    two = next(row for name, row in by_name.items() if name.startswith("two lags"))
    assert (two[2], two[4]) == ("not borne out", "not borne out")
    beta = next(row for name, row in by_name.items() if name.startswith("a proper β"))
    assert (beta[2], beta[4]) == ("supported", "supported")
    assert [row[2] for name, row in by_name.items() if "consistency" in name] == ["not borne out"] * 2
    assert any(
        "FedAvg, both tuned" in line and "smaller in 2 of 2" in line for line in statements.findings(found, TINY)
    )
    assert [row[1] for row in tables.ranking_table(outcomes.EXCESS, found, TINY).rows] == [str(7 - i) for i in range(7)]


def test_a_run_that_is_not_there_is_said_to_have_diverged() -> None:
    found = {job: made([[1.0, 0.5]] * 6) for job in runs.jobs(TINY)}
    found[Job(BASE, "scaffold")] = made([[1.0, setting.DIVERGED]] * 6)
    assert any("6 runs of SCAFFOLD" in line and "diverged" in line for line in statements.findings(found, TINY))


def test_bands_of_the_figures_are_geometric() -> None:
    values = np.array([[1.0], [10.0], [100.0], [1.0], [10.0], [100.0]])
    band = figures.geometric(values, TINY)
    assert band.value[0] == pytest.approx(10)
    assert band.lower[0] * band.upper[0] == pytest.approx(100)
    assert isinstance(band, ex.Band)
