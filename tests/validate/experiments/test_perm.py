"""PERM's synthetic experiment: its parts on small sizes, its structure, and that it goes on where it stopped."""

import csv
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from examples import perm as own
from examples.perm import Size
from sim.problems import ridge_logistic, split_samples, two_population_logistic
from sim.simulate import simulate
from theory.papers.perm import shuffling
from validate.experiments.kept import Work

SMALL = Size(clients=6, epochs=3, seeds=3, grid=2, swept=1, points=3, rounds=(16, 24, 36), runs=12)


# --- parts -----------------------------------------------------------------------------------------------------------


def test_accuracy_and_loss_of_known_models() -> None:
    p = two_population_logistic(4, 30, 5, 0.01, 1)
    w = 0.1 + np.random.Generator(np.random.PCG64(1)).standard_normal(5)
    right = np.concatenate([np.tile(w, (2, 1)), np.tile(-w, (2, 1))])
    accuracy, loss = own.measure(p, np.stack([right, -right, np.zeros((4, 5)), np.tile(w, (4, 1))]))
    assert accuracy.tolist() == [1.0, 0.0, 0.5, 0.5]
    assert loss[2] == pytest.approx(np.log(2))
    plain = [np.log1p(np.exp(-p.labels[c, i] * (p.features[c, i] @ right[c]))) for c in range(4) for i in range(30)]
    assert loss[0] == pytest.approx(np.mean(plain))


def test_the_mixing_step_solves_equation_2() -> None:
    """Two groups far apart: equal weights within, none between; and the optimality conditions for random z."""
    far = np.kron(1 - np.eye(2), np.full((2, 2), 5.0))
    found = own.mixing(far[None], 0.5)
    np.testing.assert_allclose(found[0], np.kron(np.eye(2), np.full((2, 2), 0.5)))
    z = np.random.default_rng(0).exponential(size=(3, 4, 4))
    alpha = own.mixing(z, 0.7, samples=9)
    np.testing.assert_allclose(alpha.sum(axis=-1), 1)
    slope = z + 2 * 0.7 * alpha  # n cancels: lam/n = 0.7
    level = np.where(alpha > 0, slope, np.inf).min(axis=-1, keepdims=True)
    np.testing.assert_allclose(np.where(alpha > 0, slope, level), np.broadcast_to(level, slope.shape))
    assert np.all(slope >= level - 1e-12)


def test_the_baselines_are_their_papers_steps() -> None:
    """With one sample a client there is nothing to draw: their rounds by hand."""
    p = split_samples(ridge_logistic(3, 2, 2, 1.0, 0.1, 5), (1, 1))[0]
    g, x, K = p.gradient, np.array([0.3, -0.2]), 3
    tiled = np.tile(x, (3, 1))
    meta, near, tuned_, alone = tiled, tiled, tiled, tiled
    for _ in range(K):
        meta = meta - 0.2 * g(meta - 0.3 * g(meta))
        t = near
        for _ in range(2):
            t = t - 0.3 * (g(t) + 0.5 * (t - near))
        near = near - 0.2 * 0.5 * (near - t)
        tuned_ = tuned_ - 0.3 * (g(tuned_) + 0.5 * (tuned_ - x))
        alone = alone - 0.2 * g(alone)
    steps = {"eta": 0.2, "H": K}
    for program, parameters, expected in (
        (own.per_fedavg, steps | {"a": 0.3}, meta.mean(axis=0)),
        (own.pfedme, steps | {"penalty": 0.5, "a": 0.3, "J": 2}, near.mean(axis=0)),
        (own.near_server, {"penalty": 0.5, "a": 0.3, "H": K}, tuned_),
        (own.local_training, steps, alone),
    ):
        found = simulate(program, p, parameters, x).final["x"][0]
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_clients_tune_the_server_s_model_of_every_recorded_round() -> None:
    p = split_samples(ridge_logistic(3, 2, 2, 1.0, 0.1, 5), (1, 1))[0]
    made = own.localised(0.2, 4, 3)
    found = own.personalised(made, p, np.array([0, 2]), 0)
    server = simulate(made.program, p, made.parameters, rounds=2, record=[0, 2]).states["x"][0]
    for models, w in zip(found, server, strict=True):
        expected = np.tile(w, (3, 1))
        for _ in range(4):
            expected = expected - 0.2 * p.gradient(expected)
        np.testing.assert_allclose(models, expected, rtol=1e-12)


def test_an_epoch_is_algorithm_1_of_the_paper_s_file() -> None:
    """With one model's weights as numbers, and a ball that does not bind; the draws are the same."""
    p = split_samples(ridge_logistic(5, 12, 3, 1.0, 0.1, 5), (8, 4))[0]
    alpha = np.array([[0.5, 0.1, 0.0, 0.3, 0.1]])
    given = {"eta": 0.3, "H": 4}
    found = own.epochs_of(p, given, alpha, 3, 7).final["x"]
    expected = simulate(shuffling, p, given | {"alpha": alpha[0], "r": 1e6}, rounds=3, seed=7).final["x"]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    again = own.epochs_of(p, given, alpha, 1, 7, own.epochs_of(p, given, alpha, 2, 7)).final["x"]
    np.testing.assert_array_equal(found, again)


def test_algorithm_2_s_weights_are_those_at_the_global_model_of_the_round() -> None:
    """With one sample a client its global model is gradient descent; the first epoch has equal weights."""
    p = split_samples(ridge_logistic(3, 2, 2, 1.0, 0.1, 5), (1, 1))[0]
    found = own.in_a_single_loop(own.SingleLoop(0.4, 0.05), p, 3, 9)
    w, alpha, last = np.zeros(2), np.full((3, 3), 1 / 3), None
    for r in range(3):
        last = own.epochs_of(p, {"eta": 0.4, "H": own.GIVEN.local_steps}, alpha, 1, 9, last)
        np.testing.assert_allclose(found[r + 1], last.final["x"], rtol=1e-9)
        w = w - 0.4 * p.gradient(w).mean(axis=0)
        slopes = p.gradient(w)
        alpha = own.mixing(np.square(slopes[:, None] - slopes).sum(axis=-1), 0.05)
    assert found.shape == (4, 3, 2)
    assert np.ptp(alpha) > 0.1


def test_a_lead_is_a_paired_difference_at_the_ends_of_epochs(monkeypatch: pytest.MonkeyPatch) -> None:
    def runs(at: list[int], curves: list[list[float]]) -> list[Any]:
        return [{"rounds": np.array(at), "accuracy": np.array(c), "loss": -np.array(c)} for c in curves]

    level = np.array([0.1, 0.5, 0.9])  # data sets differ far more than the methods: unpaired, nothing would show
    ours = runs([0, 10, 20], [[x, x - 0.1, x + 0.2 + e] for x, e in zip(level, (0, 0.01, -0.01), strict=True)])
    theirs = runs([0, 15], [[x, x + 0.1] for x in level])
    both = {"perm": ours, "x": theirs}
    monkeypatch.setattr(own.Found, "runs", lambda self, key: both[key])
    found = own.Found(Work(Path()), SMALL, {})
    assert own.ahead_from(found, "accuracy", "x") == 20
    assert own.ahead_from(found, "loss", "x") == 20
    both["perm"] = theirs
    assert own.ahead_from(found, "accuracy", "x") is None


def test_algorithm_3_s_global_model_with_one_local_step_is_gradient_descent() -> None:
    p = two_population_logistic(4, 40, 3, 0.1, 2)
    w = np.zeros(3)
    for _ in range(5):
        w = w - 0.7 * p.gradient(w).mean(axis=0)
    np.testing.assert_allclose(own.global_model(p, 5, 0.7, 1), w, atol=1e-14)


# --- rates -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["noisy", "exact", "logistic"])
def test_minimisers_of_weighted_sums(kind: str) -> None:
    problem, mu, L = own.convex(kind)
    alpha = np.array([0.5, 0.3, 0.2, 0.0])
    v = own.minimiser(problem, alpha)
    assert np.linalg.norm(alpha @ own.of_clients(problem, "gradient", v)) < 1e-12
    # the constants that set the steps hold: eigenvalues of every client's Hessian there
    values = np.linalg.eigvalsh(own.of_clients(problem, "hessian", v))
    assert values.min() >= mu - 1e-9
    assert values.max() <= L + 1e-9


def test_rates_are_measured(reproduced: SimpleNamespace) -> None:
    table = reproduced.experiment.tables[-1]
    assert [row[0] for row in table.rows] == ["perm/theorem-1", "perm/theorem-2"] * len(own.CASES)
    fits = reproduced.found.fits
    assert all(f.raw.value < 0 for f in fits if f.case in ("exact", "drift"))
    with reproduced.experiment.data[-1].open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert sorted({float(r["x"]) for r in rows}) == [16, 24, 36]


# --- the experiment --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory: pytest.TempPathFactory) -> Any:
    out = tmp_path_factory.mktemp("perm")
    said: list[str] = []
    few = {k: replace(m, values=(30, 20, 10)) if m.own == "tuning steps" else m for k, m in own.METHODS.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(own, "GIVEN", replace(own.GIVEN, proximal_steps=10, local_steps=4))
        patch.setattr(own, "METHODS", few)
        example = replace(own.EXAMPLE, setting=own.GIVEN, quick=SMALL)
        experiment = example.reproduce(out=out, quick=True, progress=said.append, seed=3)
        first = len(said)
        found = own.gather(Work(out / "data", own.GIVEN, 3, said.append), SMALL)
        again = tuple(own.tables(found)), tuple(own.findings(found))
        yield SimpleNamespace(first=said[:first], second=said[first:], experiment=experiment, again=again, found=found)


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
    assert any(table.title.startswith("Work in a round") for table in experiment.tables)
    assert any("quick run" in line for line in experiment.settings)
    assert len(experiment.findings) >= 6


def test_a_finished_experiment_is_read_again(reproduced: SimpleNamespace) -> None:
    assert not any("simulating" in line for line in reproduced.second)
    assert sum("read from" in line for line in reproduced.second) == sum(":" in line for line in reproduced.first)
    assert reproduced.again == (reproduced.experiment.tables, reproduced.experiment.findings)


def test_intervals_of_an_accuracy_stay_in_0_and_1_and_of_a_loss_above_0(
    reproduced: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the exact minimisers too, whose few data sets differ so much that a Student interval goes beyond."""
    seeds = len(reproduced.found.last("perm"))
    far = np.linspace(0, 1, seeds)
    names = [f"{pool}-{what}" for pool in ("own", "population") for what in ("accuracy", "loss")]
    monkeypatch.setattr(own.Found, "reference", dict.fromkeys(names, far))
    for row in own.ranking_table(reproduced.found).rows:
        for cell, most in ((row[2], 1.0), (row[3], np.inf)):
            low, high = map(float, cell.partition("[")[2].rstrip("]").split(","))
            assert 0 <= low <= high <= most, row
