"""Comparisons of algorithms: statistics, resuming, drawing, and the paper's experiments on few runs."""

from __future__ import annotations

import csv
import json
import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from sim.algorithms import FedAvg, FedAvgSVRG
from sim.moments.runs import DivergenceError
from sim.participation import Bernoulli
from sim.problems import least_squares, rand_hie, scalar
from validate import experiment as ex
from validate.drawing import SERIES, Axes, Cloud, Curve, Level, Mark, Panel, draw_clouds, draw_curves
from validate.experiments.insurance import figures, setting, tables

# --- statistics ------------------------------------------------------------------------------------------------------


def test_circular_error_of_known_points() -> None:
    corners = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 3.0], [0.0, -3.0]])
    assert ex.circular_error(corners) == pytest.approx(2.0)
    assert ex.circular_error(corners + np.array([5.0, -7.0])) == pytest.approx(2.0)
    in_five = np.zeros((3, 5))
    in_five[0, 4], in_five[1, 4] = 6.0, -6.0
    assert ex.circular_error(in_five) == pytest.approx(6.0)


def test_median_interval_is_the_binomial_one() -> None:
    # for 10 values and 95%: the 2nd and the 9th, of coverage 1 - 2 * 11/1024 = 0.979 (a table in any textbook)
    estimate = ex.median_interval(np.arange(1.0, 11.0), 0.95)
    assert (estimate.lower, estimate.upper) == (2.0, 9.0)
    assert estimate.value == 5.5


def test_median_interval_covers_the_median() -> None:
    # 4,000 intervals of 80%, skewed distribution with median log 2. The coverage of the order statistics is at least
    # 0.8, so fewer than 3,050 hits have probability below 1e-7 (binomial, 6 standard deviations of 25).
    draws = np.random.default_rng(7).exponential(size=(4000, 60))
    intervals = [ex.median_interval(row, 0.8) for row in draws]
    hits = sum(i.lower <= math.log(2) <= i.upper for i in intervals)
    assert hits >= 3050
    assert hits < 3800  # and it is not the whole range


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 2, math.nan])
def test_confidence_outside_its_domain(confidence: float) -> None:
    with pytest.raises(ValueError, match=r"confidence=.* is outside \(0, 1\)"):
        ex.median_interval(np.arange(50.0), confidence)


def test_too_few_values_for_a_median_interval() -> None:
    with pytest.raises(ValueError, match="5 entries, too few"):
        ex.median_interval(np.arange(5.0), 0.99)


def test_bands_of_normal_samples() -> None:
    values = np.random.default_rng(3).normal(2.0, 3.0, size=(20000, 4))
    mean = ex.mean_band(values, 0.99)
    # 99.9999% of the means lie within 4.9 standard errors, of 3/sqrt(20000) = 0.0212
    np.testing.assert_allclose(mean.value, 2.0, atol=0.104)
    np.testing.assert_allclose(mean.upper - mean.lower, 2 * 2.5758 * 3 / math.sqrt(20000), rtol=0.05)
    variance = ex.variance_band(values, 0.99)
    # Var(log s^2) = 2/R for a normal sample; six of its standard deviations are 0.06
    np.testing.assert_allclose(np.log(variance.value / 9), 0, atol=0.06)
    np.testing.assert_allclose(np.log(variance.upper / variance.lower), 2 * 2.5758 * math.sqrt(2 / 20000), rtol=0.1)


def test_variance_band_without_spread() -> None:
    band = ex.variance_band(np.ones((10, 3)))
    assert not band.value.any()
    assert not band.upper.any()


def test_ratio_of_bands() -> None:
    numerator = ex.Band(np.array([6.0]), np.array([5.0]), np.array([6.0 * math.e**3]))
    denominator = ex.Band(np.array([2.0]), np.array([1.0]), np.array([2.0 * math.e**4]))
    estimate = ex.ratio(numerator, denominator, 0)
    assert estimate.value == 3.0
    assert estimate.upper == pytest.approx(3.0 * math.e**5)
    assert estimate.lower == pytest.approx(3.0 * math.e**-5)


def test_largest_deviation_finds_the_round() -> None:
    values = np.array([[1.0, 0.0, 0.0], [1.0, 2.0, 4.0]])
    z, at = ex.largest_deviation(values, np.array([1.0, 1.0, 8.0]))
    assert at == 2
    assert z == pytest.approx((2.0 - 8.0) / 2.0)
    with pytest.raises(ValueError, match="no spread"):
        ex.largest_deviation(np.ones((5, 2)), np.ones(2))
    with pytest.raises(ValueError, match="exact has shape"):
        ex.largest_deviation(values, np.ones(2))


def test_principal_plane_keeps_distances_of_flat_clouds() -> None:
    rng = np.random.default_rng(0)
    basis, _ = np.linalg.qr(rng.normal(size=(5, 2)))
    clouds = [rng.normal(size=(40, 2)) @ basis.T + rng.normal(size=5) for _ in range(2)]
    for cloud, flat in zip(clouds, ex.principal_plane(*clouds), strict=True):
        np.testing.assert_allclose(np.linalg.norm(flat, axis=1), ex.distances_from_mean(cloud), rtol=1e-12)
    line = ex.principal_plane(np.array([[0.0], [2.0]]))[0]
    np.testing.assert_allclose(line, [[-1.0, 0.0], [1.0, 0.0]])


def test_group_spread() -> None:
    final = np.array([[0.0], [2.0], [0.0], [2.0], [0.0], [6.0]])
    spread = ex.group_spread(final, 2, share=1.0)
    assert (spread.lower, spread.value, spread.upper) == (1.0, 1.0, 3.0)
    with pytest.raises(ValueError, match="size=4"):
        ex.group_spread(final, 4)


def test_csv_round_trip(tmp_path) -> None:
    path = ex.write_csv(tmp_path / "deep" / "x.csv", {"k": [0, 1], "value": np.array([0.1, 1 / 3])})
    with path.open(newline="") as stream:
        rows = list(csv.reader(stream))
    assert rows[0] == ["k", "value"]
    assert float(rows[2][1]) == 1 / 3
    with pytest.raises(ValueError, match="different lengths"):
        ex.write_csv(path, {"a": [1], "b": [1, 2]})


# --- resuming --------------------------------------------------------------------------------------------------------


class Engine:
    """Stands in for `sim.run`, and counts."""

    def __init__(self) -> None:
        self.calls: list[dict] = []

    def __call__(self, algorithm, problem, participation, **settings):
        self.calls.append(settings)
        rng = np.random.default_rng(settings["seed"])
        curves = rng.random((settings["runs"], settings["rounds"] + 1))

        class Trace(dict):
            final = rng.normal(size=(settings["runs"], problem.dim))

        return Trace(suboptimality=curves)


PROBLEM = scalar([[1.0], [2.0]], [[0.0], [1.0]])


def contender(step: float = 0.1, **changes) -> ex.Contender:
    made = {"key": "a", "label": "A", "algorithm": FedAvg(step, 2), "participation": Bernoulli([0.5, 0.25])}
    return ex.Contender(**(made | changes))


def simulate(engine, folder, who=None, problem=PROBLEM, **changes):
    settings = {"rounds": 3, "runs": 4, "start": [0.5], "folder": folder, "seed": 1} | changes
    return ex.simulate(who or contender(), problem, engine=engine, **settings)


def test_a_finished_simulation_is_read_again(tmp_path) -> None:
    engine, said = Engine(), []
    first = simulate(engine, tmp_path)
    again = simulate(engine, tmp_path, progress=said.append)
    assert len(engine.calls) == 1
    assert "read from a-4.npz" in said[0]
    np.testing.assert_array_equal(first.suboptimality, again.suboptimality)
    np.testing.assert_array_equal(first.final, again.final)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a-4.npz"]


@pytest.mark.parametrize(
    "changes",
    [
        {"who": contender(step=0.2)},
        {"who": contender(participation=Bernoulli([0.5, 0.25 + 1e-12]))},
        {"who": contender(seed=1)},
        {"problem": scalar([[1.0], [2.0]], [[0.0], [1.5]])},
        {"rounds": 5},
        {"start": [0.25]},
        {"seed": 2},
    ],
)
def test_other_settings_are_computed_again(tmp_path, changes) -> None:
    engine = Engine()
    simulate(engine, tmp_path)
    simulate(engine, tmp_path, **changes)
    assert len(engine.calls) == 2
    simulate(engine, tmp_path, **changes)
    assert len(engine.calls) == 2


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 half a file", b"text"])
def test_a_damaged_file_is_computed_again(tmp_path, damage) -> None:
    engine = Engine()
    good = simulate(engine, tmp_path)
    (tmp_path / "a-4.npz").write_bytes(damage)
    again = simulate(engine, tmp_path)
    assert len(engine.calls) == 2
    np.testing.assert_array_equal(good.final, again.final)


def test_an_interrupted_simulation_leaves_nothing_behind(tmp_path) -> None:
    def interrupted(*args, **settings):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(interrupted, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("name", "value"), [("runs", 1), ("runs", 0), ("rounds", 0), ("rounds", -3)])
def test_simulate_refuses(tmp_path, name, value) -> None:
    with pytest.raises(ValueError, match=rf"{name}={value} is outside the integers"):
        simulate(Engine(), tmp_path, **{name: value})


def test_settings_as_json() -> None:
    plain = ex.plain(
        {"a": Fraction(1, 3), "b": np.arange(2), "c": FedAvgSVRG(Fraction(1, 5), 2, 3), "d": np.float64(2)}
    )
    assert json.loads(json.dumps(plain)) == plain
    assert plain["a"] == "1/3"
    assert plain["c"]["type"] == "FedAvgSVRG"


# --- drawing ---------------------------------------------------------------------------------------------------------


def test_curves_are_drawn_with_every_series(tmp_path) -> None:
    values = np.random.default_rng(0).random((6, 11)) + 0.1
    curves = tuple(
        Curve(
            f"algorithm {i}", values.mean(axis=0) + i, i, ex.mean_band(values + i), values[:2] + i, values.mean(axis=0)
        )
        for i in range(len(SERIES))
    )
    path = draw_curves(tmp_path / "figure.svg", [Panel("left", curves), Panel("right", curves[:1], skip=1)], "error")
    text = path.read_text()
    ElementTree.fromstring(text)
    assert all(colour in text for colour in SERIES)
    assert (
        path.read_bytes()
        == draw_curves(
            tmp_path / "again.svg", [Panel("left", curves), Panel("right", curves[:1], skip=1)], "error"
        ).read_bytes()
    )


def test_rows_levels_and_marks_are_drawn(tmp_path) -> None:
    at = np.geomspace(1, 100, 5)
    curve = Curve("a", np.array([1.0, 2.0, np.nan, 3.0, 4.0]), 0, at=at)
    level = Level("the radius", 9.0)
    panels = [Panel("one", (curve,), levels=(level,)), Panel("two", (curve,), marks=(Mark("here", 10.0, 2.0),))]
    panels.append(Panel("three", (curve,), skip=2))
    path = draw_curves(tmp_path / "rows.svg", panels, ("above", "below"), Axes("x", log_x=True, log_y=False, columns=2))
    text = path.read_text()
    ElementTree.fromstring(text)
    bare = [Panel("one", (curve,)), Panel("two", (curve,)), panels[2]]
    other = draw_curves(tmp_path / "bare.svg", bare, ("above", "below"), Axes("x", log_x=True, log_y=False, columns=2))
    assert text != other.read_text()
    with pytest.raises(ValueError, match="zip"):
        draw_curves(tmp_path / "wrong.svg", panels, ("above",), Axes(columns=2))


def test_clouds_are_drawn(tmp_path) -> None:
    cloud = np.random.default_rng(0).normal(size=(50, 2))
    made = [Cloud(f"panel {i}", cloud[:5], cloud, 0.8, 1.0, i) for i in range(2)]
    ElementTree.fromstring(draw_clouds(tmp_path / "cep.svg", made).read_text())


# --- the paper's experiments -----------------------------------------------------------------------------------------


def test_columns_are_scaled_to_the_unit_interval() -> None:
    standard = rand_hie()
    unit = setting.scaled_to_unit(standard)
    for values in (unit.features, unit.targets):
        np.testing.assert_allclose(values.min(axis=(0, 1)), 0, atol=1e-15)
        np.testing.assert_allclose(values.max(axis=(0, 1)), 1, rtol=1e-15)
    back = np.corrcoef(unit.features.reshape(900, 5)[:, 2], standard.features.reshape(900, 5)[:, 2])
    assert back[0, 1] == pytest.approx(1.0)


def test_scaling_refuses_other_problems() -> None:
    with pytest.raises(ValueError, match="no features"):
        setting.scaled_to_unit(PROBLEM)
    ragged = least_squares([[[1.0], [2.0]], [[3.0]]], [[1.0, 2.0], [3.0]])
    with pytest.raises(ValueError, match="different size"):
        setting.scaled_to_unit(ragged)


def test_contenders_are_the_paper_s() -> None:
    field = setting.contenders()
    assert len({c.seed for c in field.values()}) == len(field)
    for snapshots, inner in ((5, 2), (10, 5)):
        ours, theirs = field[f"svrg-{snapshots}-{inner}"].algorithm, field[f"fedavg-{snapshots}-{inner}"].algorithm
        assert (ours.snapshots, ours.inner, ours.step) == (snapshots, inner, 0.1)
        assert (theirs.local_steps, theirs.step) == (snapshots * inner, 0.1)
    p = setting.probabilities()
    assert p.shape == (18,)
    assert (p >= 0.3).all()
    assert (p <= 0.9).all()


def test_diverging_expectations_are_told_from_small_ones() -> None:
    problem = scalar([[1.0], [1.0]], [[1.0], [-1.0]])
    wild = contender(step=1e6)
    assert setting.expected_or_infinite(wild, problem, np.array([1.0]), (1, 100))[1] == math.inf
    back = contender(
        algorithm=FedAvg((1e9, *[0.9] * 99), 1), participation=Bernoulli([1.0, 1.0])
    )  # flung out, then called back
    value = setting.expected_or_infinite(back, problem, np.array([1.0]), (100,))[0]
    assert math.isnan(value)


def test_words_for_rounds() -> None:
    assert tables.rounds_in_words([3]) == "round 3"
    assert tables.rounds_in_words([1, 2, 3]) == "rounds 1 to 3"
    assert tables.rounds_in_words([1, 3]) == "2 rounds between 1 and 3"


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory):
    out = tmp_path_factory.mktemp("reproduce")
    said: list[str] = []
    computed: dict[tuple[Any, ...], np.ndarray | Exception] = {}
    oracle = setting.expected

    def expected(contender: ex.Contender, problem: Any, start: np.ndarray, rounds: int = setting.ROUNDS) -> np.ndarray:
        """The oracle's, computed once for both times that the experiment is reproduced."""
        p = getattr(contender.participation, "p", np.zeros(0))
        key = (contender.algorithm, repr(contender.participation), p.tobytes(), problem.optimal_value, rounds)
        if key not in computed:
            try:
                computed[key] = oracle(contender, problem, start, rounds)
            except (DivergenceError, setting.CancellationError) as error:
                computed[key] = error
        found = computed[key]
        if isinstance(found, Exception):
            raise found
        return found

    with pytest.MonkeyPatch.context() as patch:
        for module in (figures, setting, tables):
            patch.setattr(module, "expected", expected)
        patch.setattr(figures, "MANY_QUICK", 60)
        experiment = figures.reproduce(out=out, quick=True, progress=said.append, seed=5)
        patch.setattr(figures, "draw", lambda *args: (list(experiment.figures), list(experiment.data)))
        again = figures.reproduce(out=out, quick=True, progress=said.append, seed=5)
    return SimpleNamespace(out=out, said=said, experiment=experiment, again=again)


def test_reproduce_draws_figures_3_to_9(reproduced) -> None:
    experiment = reproduced.experiment
    assert [f.path.name for f in experiment.figures] == [f"figure-{n}.svg" for n in range(3, 10)]
    assert [p.name for p in experiment.data] == [f"figure-{n}.csv" for n in range(3, 10)]
    for path, title, caption in experiment.figures:
        ElementTree.fromstring(path.read_text())
        assert title.startswith("Figure")
        assert "Differs from the paper" in caption


def test_reproduce_resumes(reproduced) -> None:
    simulated = [line for line in reproduced.said if "simulating" in line]
    read = [line for line in reproduced.said if "read from" in line]
    assert len(simulated) == len(read) == 6
    assert reproduced.experiment == reproduced.again


def test_tables_hold_the_paper_s_radii_and_ours(reproduced) -> None:
    radii = next(t for t in reproduced.experiment.tables if t.title.startswith("Circular"))
    assert [row[2] for row in radii.rows] == ["0.0029", "0.0059", "0.0077", "0.0201"]
    with np.load(reproduced.out / "data" / "svrg-5-2-60.npz") as saved:
        assert radii.rows[0][3] == f"{ex.circular_error(saved['final'][:20]):.4f}"
    assert all(len(row) == len(t.header) for t in reproduced.experiment.tables for row in t.rows)


def test_simulator_and_oracle_agree(reproduced) -> None:
    # 5 curves of 100 rounds, normal approximation: beyond 6.5 standard errors with probability below 1e-7; with only 60
    # runs of skewed costs the approximation is rough, so the bound is generous. The report uses 2,000 runs.
    table = next(t for t in reproduced.experiment.tables if t.title.startswith("Simulator"))
    assert len(table.rows) == 5
    assert all(abs(float(row[3].replace("−", "-"))) < 8 for row in table.rows)


def test_csv_behind_a_figure(reproduced) -> None:
    with (reproduced.out / "figures" / "figure-3.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 101
    with np.load(reproduced.out / "data" / "svrg-5-2-60.npz") as saved:
        assert float(rows[-1]["svrg-5-2-mean-60"]) == pytest.approx(saved["suboptimality"][:, -1].mean(), rel=1e-14)
        assert float(rows[7]["svrg-5-2-mean-20"]) == pytest.approx(saved["suboptimality"][:20, 7].mean(), rel=1e-14)
