"""PERM's synthetic experiment: its parts on small sizes, its structure, and that it goes on where it stopped."""

from __future__ import annotations

import csv
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from sim.algorithms import PFedMe, SingleLoopPERM
from sim.problems import two_population_logistic
from validate.experiments.two_populations import figures, rates, setting, statements, weights
from validate.experiments.two_populations.setting import Data, Result, Size
from validate.heat_maps import HeatMap, draw_heat_maps
from validate.rates import Slope

SMALL = Size(clients=6, epochs=3, seeds=3, grid=2, swept=1, points=3, rounds=(16, 24, 36), runs=12)


# --- parts -----------------------------------------------------------------------------------------------------------


def test_accuracy_and_loss_of_known_models() -> None:
    p = two_population_logistic(4, 30, 5, 0.01, 1)
    w = 0.1 + np.random.Generator(np.random.PCG64(1)).standard_normal(5)
    right = np.concatenate([np.tile(w, (2, 1)), np.tile(-w, (2, 1))])
    accuracy, loss = setting.measure(p, np.stack([right, -right, np.zeros((4, 5)), np.tile(w, (4, 1))]))
    assert accuracy.tolist() == [1.0, 0.0, 0.5, 0.5]
    assert loss[2] == pytest.approx(np.log(2))
    plain = [np.log1p(np.exp(-p.labels[c, i] * (p.features[c, i] @ right[c]))) for c in range(4) for i in range(30)]
    assert loss[0] == pytest.approx(np.mean(plain))


def test_the_mixing_step_solves_equation_2() -> None:
    """Two groups far apart: equal weights within, none between; and the optimality conditions for random z."""
    far = np.kron(1 - np.eye(2), np.full((2, 2), 5.0))
    found = setting.mixing(4, 0.5)(far[None], None)
    np.testing.assert_allclose(found[0], np.kron(np.eye(2), np.full((2, 2), 0.5)))
    z = np.random.default_rng(0).exponential(size=(3, 4, 4))
    alpha = setting.mixing(4, 0.7, samples=9)(z, None)
    np.testing.assert_allclose(alpha.sum(axis=-1), 1)
    slope = z + 2 * 0.7 * alpha  # n cancels: lam/n = 0.7
    level = np.where(alpha > 0, slope, np.inf).min(axis=-1, keepdims=True)
    np.testing.assert_allclose(np.where(alpha > 0, slope, level), np.broadcast_to(level, slope.shape))
    assert np.all(slope >= level - 1e-12)


def test_every_method_is_tuned_alike() -> None:
    field = setting.methods()
    assert list(field) == ["perm", "fedavg", "per-fedavg", "pfedme", "local"]
    assert len({m.seed for m in field.values()}) == len(field)
    for key, method in field.items():
        grid = method.grid(3)
        assert {step for step, _ in grid} == set(setting.STEPS)
        assert len(grid) == len(set(grid)) == (3 if key == "local" else 9)
        made = method.make(0.1, method.values[0], 4)
        assert made.step == 0.1
        assert made.local_steps == setting.LOCAL_STEPS
    assert isinstance(field["perm"].make(0.1, 1.0, 4), SingleLoopPERM)
    near = field["pfedme"].make(0.1, 0.01, 4)
    assert isinstance(near, PFedMe)
    assert near.local_steps * near.inner_steps == field["pfedme"].gradients


def test_the_best_setting_is_not_one_that_diverged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = {(0.1, 1.0): 0.5, (0.1, 2.0): np.nan, (0.3, 1.0): 0.4, (0.3, 2.0): np.inf}

    def fake(method: Any, choice: Any, *args: Any, **options: Any) -> Result:
        one = np.array([1.0, values[choice]])
        return Result(np.arange(2), one, one, one)

    monkeypatch.setattr(setting, "run_method", fake)
    method = SimpleNamespace(grid=lambda size: list(values))
    found = setting.tune(method, SMALL, tmp_path, 0)  # type: ignore[arg-type]
    assert setting.best(found) == (0.3, 1.0)
    assert found[0.1, 2.0] == np.inf


def test_bands_are_student_s() -> None:
    """Three values: t of two degrees of freedom at 99% is 9.925 (a table in any textbook)."""
    b = setting.band(np.array([[1.0], [2.0], [3.0]]))
    assert b.value[0] == 2
    assert b.upper[0] - 2 == pytest.approx(9.925 / np.sqrt(3), rel=1e-3)


def test_a_lead_is_a_paired_difference_at_the_ends_of_epochs() -> None:
    def runs(at: list[int], curves: list[list[float]]) -> list[Result]:
        return [Result(np.array(at), np.array(c), -np.array(c), np.array(c)) for c in curves]

    level = np.array([0.1, 0.5, 0.9])  # data sets differ far more than the methods: unpaired, nothing would show
    ours = runs([0, 10, 20], [[x, x - 0.1, x + 0.2 + e] for x, e in zip(level, (0, 0.01, -0.01), strict=True)])
    theirs = runs([0, 15], [[x, x + 0.1] for x in level])
    both = {"perm": ours, "x": theirs}
    assert statements.lead(both, "accuracy", "x") == 20
    assert statements.lead(both, "loss", "x") == 20
    assert statements.lead({"perm": theirs, "x": theirs}, "accuracy", "x") is None


def test_algorithm_3_s_global_model_with_one_local_step_is_gradient_descent() -> None:
    p = two_population_logistic(4, 40, 3, 0.1, 2)
    w = np.zeros(3)
    for _ in range(5):
        w = w - 0.7 * p.gradient(w).mean(axis=0)
    np.testing.assert_allclose(weights.global_model(p, 5, 0.7, 1), w, atol=1e-14)


def test_sparsity_counts_positive_weights() -> None:
    assert weights.sparsity(np.array([[1.0, 0.0], [0.5, 0.5]])) == (1.5, 0.75)


def test_heat_maps_are_drawn(tmp_path: Path) -> None:
    maps = [HeatMap(f"map {i}", np.eye(5) / (i + 1)) for i in range(4)]
    path = draw_heat_maps(tmp_path / "heat.svg", maps, "j", "i", "weight", columns=3)
    text = path.read_text()
    ElementTree.fromstring(text)
    assert text.count("<image") >= 4


# --- rates -----------------------------------------------------------------------------------------------------------


def test_minimisers_of_weighted_sums() -> None:
    for case in rates.cases():
        alpha = np.array([0.5, 0.3, 0.2, 0.0])
        v = rates.minimiser(case.problem, alpha)
        assert np.linalg.norm(alpha @ rates._gradients(case.problem, v)) < 1e-12
        # the constants that set the steps hold: eigenvalues of every client's Hessian there
        values = np.linalg.eigvalsh(rates._hessians(case.problem, v))
        assert values.min() >= case.mu - 1e-9
        assert values.max() <= case.L + 1e-9


def test_rates_of_known_curves() -> None:
    """Errors that fall exactly as printed, and half as fast."""
    R = np.array([16.0, 32.0, 64.0, 128.0])
    exact, slow = rates._fit(R, np.tile(3 / R, (4, 1))), rates._fit(R, np.tile(3 / np.sqrt(R), (4, 1)))
    assert exact.value == pytest.approx(-1)
    made = [rates.Rate("c", "q", "p", 1, s, s) for s in (exact, slow)]
    assert [r.verdict for r in made] == ["yes", "slower"]
    assert len(rates.findings(made)) == 1
    assert "R^-0.50" in rates.findings(made)[0]
    wide = Slope(-1.0, -2.0, 0.0, 0.1, 0.0, 0.0, 4, 0.99)
    assert rates.Rate("c", "q", "p", 1, wide, wide).verdict == "not settled"


def test_rates_are_measured_and_kept(reproduced: SimpleNamespace, tmp_path: Path) -> None:
    """They are measured in the experiment below, and read again here."""
    measured = [line for line in reproduced.first if "rates, " in line]
    assert len(measured) == len(rates.cases())
    assert not any("read from" in line for line in measured)
    said: list[str] = []
    found, _, table, data = rates.rates(SMALL, reproduced.out / "data", tmp_path / "f.svg", 3, said.append)
    assert [r.claim for r in found] == ["perm/theorem-1", "perm/theorem-2"] * len(rates.cases())
    assert len(table.rows) == len(found)
    assert all(r.raw.value < 0 for r in found if "exact" in r.case)
    assert table == reproduced.experiment.tables[-1]
    assert data.read_bytes() == reproduced.experiment.data[-1].read_bytes()
    assert sum("read from" in line for line in said) == len(rates.cases())
    with data.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [float(r["R"]) for r in rows] == [16, 24, 36]


# --- the experiment --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    out = tmp_path_factory.mktemp("perm")
    said: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "QUICK", SMALL)
        patch.setattr(setting, "TUNING_STEPS", (10, 20, 30))
        patch.setattr(setting, "PROXIMAL_STEPS", 10)
        patch.setattr(setting, "LOCAL_STEPS", 4)
        experiment = figures.reproduce(out=out, quick=True, progress=said.append, seed=3)
        first = len(said)
        for module, name in ((figures, "draw_curves"), (figures, "draw_heat_maps"), (rates, "draw_curves")):
            patch.setattr(module, name, lambda path, *args, **options: path)  # they are drawn already
        again = figures.reproduce(out=out, quick=True, progress=said.append, seed=3)
    return SimpleNamespace(out=out, first=said[:first], second=said[first:], experiment=experiment, again=again)


def test_reproduce_draws_and_tabulates(reproduced: SimpleNamespace) -> None:
    experiment = reproduced.experiment
    assert experiment.paper == "perm"
    names = ["figure-1", "figure-1-paired", "figure-6", "figure-rates"]
    assert [d.path.name for d in experiment.figures] == [f"{name}.svg" for name in names]
    for drawing in experiment.figures:
        ElementTree.fromstring(drawing.path.read_text())
    assert [path.name for path in experiment.data] == [f"{name}.csv" for name in names]
    for table in experiment.tables:
        assert table.rows
        assert all(len(row) == len(table.header) for row in table.rows), table.title
        assert all(isinstance(cell, str) for row in table.rows for cell in row)
    assert any("measured in this run" in table.title for table in experiment.tables)
    assert any("quick run" in line for line in experiment.settings)
    assert len(experiment.findings) >= 6


def test_the_numbers_behind_figure_1_are_those_of_the_ranking(reproduced: SimpleNamespace) -> None:
    with reproduced.experiment.data[0].open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    final = {r["method"]: 1 - float(r["error"]) for r in rows}  # the last round of each method
    assert {int(r["round"]) for r in rows if r["method"] == "perm"} == {0, 6, 12, 18}
    ranking = experiment_table(reproduced.experiment, "Personalised accuracy")
    shown = {row[0]: float(row[2].split()[0]) for row in ranking.rows}
    for key, method in setting.methods().items():
        assert shown[method.label] == pytest.approx(final[key], abs=6e-5)


def test_the_paired_figure_is_the_difference_of_figure_1_s_curves(reproduced: SimpleNamespace) -> None:
    plain, paired = (list(csv.DictReader(path.read_text().splitlines())) for path in reproduced.experiment.data[:2])
    mean = {(r["method"], r["round"]): r for r in plain}
    for row in paired:
        ours, theirs = mean["perm", row["round"]], mean[row["method"], row["round"]]  # both recorded at 0, 6, 12, 18
        assert float(row["accuracy"]) == pytest.approx(float(theirs["error"]) - float(ours["error"]), abs=1e-12)
        assert float(row["loss"]) == pytest.approx(float(theirs["loss"]) - float(ours["loss"]), abs=1e-12)


def experiment_table(experiment: Any, title: str) -> Any:
    return next(t for t in experiment.tables if t.title.startswith(title))


def test_weights_in_figure_6_are_weights(reproduced: SimpleNamespace) -> None:
    with reproduced.experiment.data[2].open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) in (3 * 6, 5 * 6)  # without and with scikit-learn
    values = np.array([[float(r[f"weight{j}"]) for j in range(6)] for r in rows])
    np.testing.assert_allclose(values.sum(axis=1), 1)
    assert (values >= 0).all()
    two = values[:6]
    assert two[:3, 3:].max() == two[3:, :3].max() == 0  # the populations are told apart


def test_a_finished_experiment_is_read_again(reproduced: SimpleNamespace) -> None:
    assert not any("simulating" in line for line in reproduced.second)
    assert sum("read from" in line for line in reproduced.second) == sum(":" in line for line in reproduced.first)
    one, two = reproduced.experiment, reproduced.again
    assert one.figures == two.figures
    clock = ("Run time", "What the paper says")
    for a, b in zip(one.tables, two.tables, strict=True):
        assert a == b or a.title.startswith(clock)


def test_other_data_are_other_runs(tmp_path: Path) -> None:
    method = setting.methods()["local"]
    size = Size(clients=2, epochs=1, points=1)
    a, b, c = (
        setting.run_method(method, (0.1, 0.0), data, size, tmp_path, 0)
        for data in (Data(1), Data(1, ridge=0.01), Data(2))
    )
    assert len({float(r.loss[-1]) for r in (a, b, c)}) == 3
    assert len(list(tmp_path.iterdir())) == 3
