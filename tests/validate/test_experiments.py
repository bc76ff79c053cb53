"""The runner of experiments: statistics, what is kept, declared values, sentences, figures and their numbers."""

import csv
import json
import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from sim.problems import scalar
from theory.papers.algorithms import gradient_descent
from theory.papers.specs import local_sgd_unbiased
from validate.drawing import SERIES, Axes, Cloud, Curve, Level, Mark, Panel, draw_clouds, draw_curves
from validate.experiment import Band, Experiment, write_csv
from validate.experiments import NotInstalledError, reproduction, simulated
from validate.experiments import statistics as st
from validate.experiments.declared import chosen, sized, stated
from validate.experiments.example import Example
from validate.experiments.figures import Curves, curve
from validate.experiments.kept import Job, Work, plain, stored
from validate.experiments.sentences import Held, Sentence, above, judged, sentence_table
from validate.report.writing import _parts

# --- statistics ------------------------------------------------------------------------------------------------------


def test_circular_error_of_known_points() -> None:
    corners = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 3.0], [0.0, -3.0]])
    assert st.circular_error(corners) == pytest.approx(2.0)
    assert st.circular_error(corners + np.array([5.0, -7.0])) == pytest.approx(2.0)
    in_five = np.zeros((3, 5))
    in_five[0, 4], in_five[1, 4] = 6.0, -6.0
    assert st.circular_error(in_five) == pytest.approx(6.0)


def test_median_interval_is_the_binomial_one() -> None:
    # for 10 values and 95%: the 2nd and the 9th, of coverage 1 - 2 * 11/1024 = 0.979 (a table in any textbook)
    estimate = st.median_interval(np.arange(1.0, 11.0), 0.95)
    assert (estimate.lower, estimate.upper) == (2.0, 9.0)
    assert estimate.value == 5.5


def test_median_interval_covers_the_median() -> None:
    # 4,000 intervals of 80%, skewed distribution with median log 2. The coverage of the order statistics is at least
    # 0.8, so fewer than 3,050 hits have probability below 1e-7 (binomial, 6 standard deviations of 25).
    draws = np.random.default_rng(7).exponential(size=(4000, 60))
    intervals = [st.median_interval(row, 0.8) for row in draws]
    hits = sum(i.lower <= math.log(2) <= i.upper for i in intervals)
    assert hits >= 3050
    assert hits < 3800  # and it is not the whole range


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 2, math.nan])
def test_confidence_outside_its_domain(confidence: float) -> None:
    with pytest.raises(ValueError, match=r"confidence=.* is outside \(0, 1\)"):
        st.median_interval(np.arange(50.0), confidence)


def test_too_few_values_for_a_median_interval() -> None:
    with pytest.raises(ValueError, match="5 entries, too few"):
        st.median_interval(np.arange(5.0), 0.99)


def test_bands_of_normal_samples() -> None:
    values = np.random.default_rng(3).normal(2.0, 3.0, size=(20000, 4))
    mean = st.mean_band(values, 0.99)
    # 99.9999% of the means lie within 4.9 standard errors, of 3/sqrt(20000) = 0.0212
    np.testing.assert_allclose(mean.value, 2.0, atol=0.104)
    np.testing.assert_allclose(mean.upper - mean.lower, 2 * 2.5758 * 3 / math.sqrt(20000), rtol=0.05)
    variance = st.variance_band(values, 0.99)
    # Var(log s^2) = 2/R for a normal sample; six of its standard deviations are 0.06
    np.testing.assert_allclose(np.log(variance.value / 9), 0, atol=0.06)
    np.testing.assert_allclose(np.log(variance.upper / variance.lower), 2 * 2.5758 * math.sqrt(2 / 20000), rtol=0.1)


def test_variance_band_without_spread() -> None:
    band = st.variance_band(np.ones((10, 3)))
    assert not band.value.any()
    assert not band.upper.any()


def test_ratio_of_bands() -> None:
    numerator = Band(np.array([6.0]), np.array([5.0]), np.array([6.0 * math.e**3]))
    denominator = Band(np.array([2.0]), np.array([1.0]), np.array([2.0 * math.e**4]))
    estimate = st.ratio(numerator, denominator, 0)
    assert estimate.value == 3.0
    assert estimate.upper == pytest.approx(3.0 * math.e**5)
    assert estimate.lower == pytest.approx(3.0 * math.e**-5)


def test_largest_deviation_finds_the_round() -> None:
    values = np.array([[1.0, 0.0, 0.0], [1.0, 2.0, 4.0]])
    z, at = st.largest_deviation(values, np.array([1.0, 1.0, 8.0]))
    assert at == 2
    assert z == pytest.approx((2.0 - 8.0) / 2.0)
    with pytest.raises(ValueError, match="no spread"):
        st.largest_deviation(np.ones((5, 2)), np.ones(2))
    with pytest.raises(ValueError, match="exact has shape"):
        st.largest_deviation(values, np.ones(2))


def test_principal_plane_keeps_distances_of_flat_clouds() -> None:
    rng = np.random.default_rng(0)
    basis, _ = np.linalg.qr(rng.normal(size=(5, 2)))
    clouds = [rng.normal(size=(40, 2)) @ basis.T + rng.normal(size=5) for _ in range(2)]
    for cloud, flat in zip(clouds, st.principal_plane(*clouds), strict=True):
        np.testing.assert_allclose(np.linalg.norm(flat, axis=1), st.distances_from_mean(cloud), rtol=1e-12)
    line = st.principal_plane(np.array([[0.0], [2.0]]))[0]
    np.testing.assert_allclose(line, [[-1.0, 0.0], [1.0, 0.0]])


def test_group_spread() -> None:
    final = np.array([[0.0], [2.0], [0.0], [2.0], [0.0], [6.0]])
    spread = st.group_spread(final, 2, share=1.0)
    assert (spread.lower, spread.value, spread.upper) == (1.0, 1.0, 3.0)
    with pytest.raises(ValueError, match="size=4"):
        st.group_spread(final, 4)


def test_csv_round_trip(tmp_path) -> None:
    path = write_csv(tmp_path / "deep" / "x.csv", {"k": [0, 1], "value": np.array([0.1, 1 / 3])})
    with path.open(newline="") as stream:
        rows = list(csv.reader(stream))
    assert rows[0] == ["k", "value"]
    assert float(rows[2][1]) == 1 / 3
    with pytest.raises(ValueError, match="different lengths"):
        write_csv(path, {"a": [1], "b": [1, 2]})


def test_change_over_rounds_and_where_one_is_above() -> None:
    one = Band(np.array([1.0, 4.0, 2.0]), np.array([0.9, 3.9, 1.9]), np.array([1.1, 4.1, 2.1]))
    other = Band(np.ones(3), np.full(3, 0.9), np.full(3, 1.1))
    assert st.change(one, 1, 2).value == 0.5
    assert st.rounds_above(one, other) == [1, 2]
    assert st.rounds_above(other, one) == []


def test_words_for_rounds() -> None:
    assert st.rounds_in_words([3]) == "round 3"
    assert st.rounds_in_words([1, 2, 3]) == "rounds 1 to 3"
    assert st.rounds_in_words([1, 3]) == "2 rounds between 1 and 3"


# --- what is kept ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Given:
    """A setting."""

    agents: int = stated(18, "{} agents")
    cases: tuple[tuple[int, int], ...] = stated(((5, 2), (10, 5)), "(S, M) = {}")
    ridge: float = chosen(1e-3, "ridge {}")
    silent: int = 3


@dataclass(frozen=True)
class Size:
    """A size."""

    runs: int = sized(20_000, "{} runs")


CALLS: list[tuple[float, int]] = []


@dataclass(frozen=True)
class Curve4(Job):
    """Random curves; counts how often it is computed."""

    step: float = 0.1

    @property
    def key(self) -> str:
        return "curve"

    def compute(self, work: Work) -> dict[str, Any]:
        CALLS.append((self.step, work.seed))
        return {"values": np.random.default_rng(work.seed).random((4, 3)) * self.step}


def test_a_finished_job_is_read_again(tmp_path: Path) -> None:
    said: list[str] = []
    CALLS.clear()
    first = Work(tmp_path)
    assert first[Curve4()] is first[Curve4()]
    again = Work(tmp_path, progress=said.append)[Curve4()]
    assert len(CALLS) == 1
    assert said == ["curve: read from curve.npz"]
    np.testing.assert_array_equal(first[Curve4()]["values"], again["values"])
    assert [path.name for path in tmp_path.iterdir()] == ["curve.npz"]


@pytest.mark.parametrize(
    ("job", "options"), [(Curve4(0.1 + 1e-12), {}), (Curve4(), {"seed": 1}), (Curve4(), {"setting": Given(ridge=0.1)})]
)
def test_other_settings_are_computed_again(tmp_path: Path, job: Job, options: dict[str, Any]) -> None:
    CALLS.clear()
    Work(tmp_path, Given())[Curve4()]
    for _ in range(2):
        Work(tmp_path, **{"setting": Given(), **options})[job]
        assert len(CALLS) == 2


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 half a file", b"text"])
def test_a_damaged_file_is_computed_again(tmp_path: Path, damage: bytes) -> None:
    CALLS.clear()
    good = Work(tmp_path)[Curve4()]
    (tmp_path / "curve.npz").write_bytes(damage)
    again = Work(tmp_path)[Curve4()]
    assert len(CALLS) == 2
    np.testing.assert_array_equal(good["values"], again["values"])


def test_an_interrupted_job_leaves_nothing_behind(tmp_path: Path) -> None:
    def interrupted() -> dict[str, Any]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stored(tmp_path / "x.npz", "", interrupted, what="x")
    assert not list(tmp_path.iterdir())


def test_jobs_over_processes(tmp_path: Path) -> None:
    said: list[str] = []
    work = Work(tmp_path, progress=said.append)
    work.all_of([Curve4()])
    assert said == ["curve: finished, 1 of 1"]
    assert work[Curve4()]["values"].shape == (4, 3)


@dataclass(frozen=True)
class Pair:
    one: Fraction
    two: int


def test_settings_as_json() -> None:
    found = plain({"a": Fraction(1, 3), "b": np.arange(2), "c": Pair(Fraction(1, 5), 2), "d": np.float64(2)})
    assert json.loads(json.dumps(found)) == found
    assert found["a"] == "1/3"
    assert found["c"] == {"type": "Pair", "one": "1/5", "two": 2}


# --- programs on quadratics ------------------------------------------------------------------------------------------

QUADRATIC = scalar([[1.0], [2.0]], [[0.0], [1.0]])


def test_runs_are_the_steps_by_hand_where_nothing_is_drawn() -> None:
    # gradient descent, and local SGD with one step of everybody
    start = np.array([4.0])
    plain_ = simulated.simulated(gradient_descent, {"eta": 0.1}, QUADRATIC, start=start, rounds=3, runs=2, seed=0)
    x = start.copy()
    for k in range(4):
        assert plain_["suboptimality"][0, k] == pytest.approx(float(QUADRATIC.cost(x) - QUADRATIC.optimal_value))
        x = x - 0.1 * QUADRATIC.gradient(x)
    given = {"eta": 0.1, "p": [1.0, 1.0], "H": 1}
    local = simulated.simulated(local_sgd_unbiased, given, QUADRATIC, start=start, rounds=3, runs=2, seed=0)
    np.testing.assert_allclose(local["suboptimality"], plain_["suboptimality"], rtol=1e-12)
    np.testing.assert_allclose(local["final"], plain_["final"], rtol=1e-12)
    exact = simulated.expected(local_sgd_unbiased, given, QUADRATIC, start, 3)
    np.testing.assert_allclose(exact, local["suboptimality"][0], rtol=1e-12)


@pytest.mark.parametrize(("name", "value"), [("runs", 1), ("runs", 0), ("rounds", 0), ("rounds", -3)])
def test_simulations_that_are_refused(name: str, value: int) -> None:
    options: Any = {"start": np.zeros(1), "rounds": 3, "runs": 4, "seed": 0, name: value}
    with pytest.raises(ValueError, match=rf"{name}={value} is outside the integers"):
        simulated.simulated(gradient_descent, {"eta": 0.1}, QUADRATIC, **options)


def test_diverging_expectations_are_told_from_small_ones() -> None:
    from sim.moments import Schedule

    problem, start = scalar([[1.0], [1.0]], [[1.0], [-1.0]]), np.array([1.0])
    wild: Any = {"eta": 1e6, "p": [0.5, 0.25], "H": 2}
    assert simulated.expected_at(local_sgd_unbiased, wild, problem, start, (1, 100))[1] == math.inf
    back: Any = {"eta": Schedule((1e9, *[0.9] * 99)), "p": [1.0, 1.0], "H": 1}  # flung out, then called back
    assert math.isnan(simulated.expected_at(local_sgd_unbiased, back, problem, start, (100,))[0])


# --- declared values, sentences, the whole ---------------------------------------------------------------------------


def test_sentences_are_held_against_intervals() -> None:
    assert above(st.Estimate(2, 1.5, 3), 1) == "borne out"
    assert above(st.Estimate(0.5, 0.4, 0.6), 1) == "not borne out"
    assert above(st.Estimate(1, 0.5, 2), 1) == "not settled"
    assert judged(False, False) == "not settled"
    table = sentence_table("t", [Sentence("it is so", (Held("2", "borne out"),), "figure 1")], "n", where="of")
    assert table.header == ("of", "the paper", "measured", "held against data")
    assert table.rows == (("figure 1", "it is so", "2", "borne out"),)


def test_an_example_is_run_drawn_and_read_again(tmp_path: Path) -> None:
    def gather(work: Work, size: Size) -> Any:
        return work[Curve4()]["values"], size

    def figures(found: Any) -> list[Curves]:
        panel = Panel("a panel", (curve("a curve", st.mean_band(found[0]), 0, exact=np.ones(3)),))
        return [Curves("figure-1", "Figure 1", "a caption", [panel], "y", beside=[Panel("beside", panel.curves)])]

    example = Example("toy", "a title", Given(), Size(), Size(7), gather, figures, lambda found: ())
    said: list[str] = []
    first = example.reproduce(out=tmp_path, quick=True, progress=said.append, seed=4)
    assert example.reproduce(out=tmp_path, quick=True, progress=said.append, seed=4) == first
    assert said == ["curve: simulating", "drawing", "curve: read from curve.npz", "drawing"]
    assert isinstance(first, Experiment)
    assert first.settings[-2:] == ("Size of this run: 7 runs.", "This is a quick run, with less of everything.")
    assert example.reproduce(out=tmp_path, seed=4).settings[-1] == "Size of this run: 20,000 runs."
    ElementTree.fromstring(first.figures[0].path.read_text())
    with first.data[0].open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["panel"] for row in rows] == ["a panel"] * 3 + ["beside"] * 3
    assert list(rows[0]) == ["panel", "series", "x", "value", "lower", "upper", "exact"]
    values = np.random.default_rng(4).random((4, 3)) * 0.1
    assert [float(row["value"]) for row in rows[:3]] == pytest.approx(values.mean(axis=0).tolist(), rel=1e-14)


def test_without_a_clone_the_command_says_where_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("validate.experiments.ROOT", tmp_path)
    with pytest.raises(NotInstalledError, match=r"examples/fedavg_svrg\.py .* clone the repository"):
        reproduction("fedavg-svrg")
    said: list[str] = []
    assert {part.kind for part in _parts(["fedavg-svrg"], True, tmp_path, said.append)} == {"claims", "formulas"}
    assert said[0].startswith("left out: the experiments of 'fedavg-svrg'")


# --- drawing ---------------------------------------------------------------------------------------------------------


def test_curves_are_drawn_with_every_series(tmp_path) -> None:
    values = np.random.default_rng(0).random((6, 11)) + 0.1
    curves = tuple(
        Curve(
            f"algorithm {i}", values.mean(axis=0) + i, i, st.mean_band(values + i), values[:2] + i, values.mean(axis=0)
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
