"""The experiments of the open-fl paper at small sizes: structure, resuming, numbers behind figures, statements."""

from dataclasses import replace
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest

from examples import open_fl as own
from examples.open_fl import Case, Size
from validate.experiments import steadiness
from validate.experiments.kept import Work

pytest.importorskip("sklearn")  # the digits

SMALL = Size(60, 6, 40, 2, 20, 3, 10, sweep=((1, 10),))
EXAMPLE = replace(own.EXAMPLE, quick=SMALL)


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory):
    out = tmp_path_factory.mktemp("open-fl")
    said: list[str] = []
    experiment = EXAMPLE.reproduce(out=out, quick=True, progress=said.append, seed=3)
    first = list(said)
    found = own.gather(Work(out / "data", own.GIVEN, 3, said.append), SMALL)
    again = tuple(own.tables(found)), tuple(own.findings(found))
    return SimpleNamespace(
        out=out, first=first, second=said[len(first) :], experiment=experiment, again=again, found=found
    )


def test_reproduce_draws_what_the_paper_has_and_the_radii(reproduced) -> None:
    names = ["figure-2", "figure-3", "figure-4", "radii", "radius-ratio", "theorem-3-region", "figure-5", "figure-6"]
    experiment = reproduced.experiment
    assert [f.path.stem for f in experiment.figures] == names
    assert [p.name for p in experiment.data] == [f"{name}.csv" for name in names]
    for path, _, caption in experiment.figures:
        ElementTree.fromstring(path.read_text())
        assert "Differs from the paper" in caption or "Not in the paper" in caption
    assert all(path.is_file() for path in experiment.data)
    assert all(len(row) == len(table.header) for table in experiment.tables for row in table.rows)


def test_reproduce_resumes(reproduced) -> None:
    simulated = [line for line in reproduced.first if "simulating" in line]
    # 20 of figures 2 to 4, 4 more of the sweep, 2 constants, 4 with eta = 1/L, 1 replay, 10 of the digits
    assert len(simulated) == 20 + 4 + 2 + 4 + 1 + 10
    assert not any("simulating" in line for line in reproduced.second)
    assert (reproduced.experiment.tables, reproduced.experiment.findings) == reproduced.again


def test_without_scikit_learn_the_experiment_says_so(reproduced) -> None:
    found = replace(reproduced.found, digits=False)
    assert len(list(own.figures(found))) == 6
    assert any("scikit-learn" in text and "not installed" in text for text in own.findings(found))
    assert not any(table.title.startswith("Digits") for table in own.tables(found))


def test_an_interrupted_simulation_is_not_kept(tmp_path, monkeypatch) -> None:
    import sim

    def interrupted(*args, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr(sim, "run_open", interrupted, raising=False)
    with pytest.raises(KeyboardInterrupt):
        Work(tmp_path)[Case("sgd").of(SMALL)]
    assert not list(tmp_path.iterdir())


# --- statements on synthetic norms -----------------------------------------------------------------------------------


def norms(level: float, noise: float = 0.01, slope: float = 0.0, rate: float = 1.0, runs: int = 40) -> np.ndarray:
    """(R, 101): from 0 to a level at a rate, with a linear drift (of the level, over all rounds) and noise."""
    k = np.arange(101)
    curve = level * (1 - np.exp(-rate * k) + slope * k / 100)
    return np.asarray(curve + noise * np.random.default_rng(int(1000 * level)).normal(size=(runs, 1)))


def test_stable_norms_are_told_from_drifting_ones() -> None:
    assert steadiness.stability(norms(2.0)) == "borne out"
    assert steadiness.stability(norms(2.0, slope=0.5)) == "not borne out"
    wild = norms(2.0) + np.random.default_rng(0).normal(size=(40, 101)) * np.repeat([0.0, 3.0], [50, 51])
    assert steadiness.stability(wild) == "not settled"


def test_settling_round() -> None:
    # 1 - exp(-k/10) passes 0.95 at k = 10 log 20 = 29.96
    assert steadiness.settled(norms(2.0, noise=0.0, rate=0.1)) == 30
    assert steadiness.settled(norms(2.0, noise=0.0, rate=0.01)) is None
    assert steadiness.settled(np.ones((4, 101))) == 0


def test_orders_are_judged_by_paired_differences() -> None:
    rng = np.random.default_rng(1)
    common = rng.normal(size=60)  # far larger than the differences: only pairs tell
    low, high = common + 0.1 + 0.01 * rng.normal(size=60), common + 0.2 + 0.01 * rng.normal(size=60)
    even = low + rng.permutation(np.tile([-1.0, 1.0], 30))

    def told(**ends: np.ndarray) -> str:
        return steadiness.ordered(steadiness.ordering(steadiness.neighbours(list(ends)), ends))

    assert told(a=high, b=low) == "borne out"
    assert told(a=low, b=high) == "not borne out: b is above a"
    assert told(a=low, b=even) == "not settled"
    assert told(a=high, b=low, c=high) == "not borne out everywhere: c is above b"


def synthetic(levels) -> tuple[dict[str, Case], dict]:
    family = {f"λ = {ridge:g}": Case("sgd", ridge=ridge) for ridge in (0.001, 0.01, 0.1)}
    found = {
        case: {"norm": norms(*level), "present": np.full((40, 101), 10.0)}
        for case, level in zip(family.values(), levels, strict=True)
    }
    return family, found


def test_statements_on_synthetic_norms() -> None:
    family, found = synthetic(((3.0, 0.01, 0.0, 0.1), (2.0, 0.01, 0.0, 0.3), (1.0, 0.01, 0.0, 1.0)))
    said = {s.words: s.held[0].verdict for s in own.sentences("2", "sgd", family, found)}
    assert said == {
        "the norm converges to a stable value": "borne out",
        "faster when λ is larger": "borne out",
        "the norm is higher when λ is smaller": "borne out",
    }
    assert list(own.by_ridge("sgd", family, found, {})) == []
    family, found = synthetic(((1.0, 0.01, 0.0, 0.1), (2.0, 0.01, 0.5, 1.0), (1.5, 0.01, 0.0, 0.2)))
    said = {s.words: s.held[0].verdict for s in own.sentences("2", "sgd", family, found)}
    assert said == {
        "the norm converges to a stable value": "not borne out everywhere",
        "faster when λ is larger": "not borne out everywhere: λ = 0.01 settles later than λ = 0.001",
        "the norm is higher when λ is smaller": "not borne out everywhere: λ = 0.01 is above λ = 0.001",
    }
    texts = list(own.by_ridge("sgd", family, found, {}))
    assert len(texts) == 2
    assert "λ = 0.01" in texts[0]
    assert texts[1].endswith("stable value for λ = 0.01.")


def test_p_in_between_is_explained_by_who_is_present() -> None:
    family = {f"p = {change:g}": Case("sgd", change=change) for change in (0.0, 0.5, 1.0)}
    present = np.full((40, 101), 12.0)
    present[:20] = 2
    middle = norms(2.0)
    middle[:20] += 1
    found = {
        family["p = 0"]: {"norm": norms(1.0), "present": np.full((40, 101), 10.0)},
        family["p = 0.5"]: {"norm": middle, "present": present},
        family["p = 1"]: {"norm": norms(1.5), "present": np.full((40, 101), 10.0)},
    }
    (text,) = own.by_change("sgd", family, found)
    assert "2.50 at p = 0.5 and 1.50 at p = 1" in text
    assert "at most 4 present the norm is 3.00, with 10 or more 2.00" in text
    rows = own.presence_table({"sgd": family}, found).rows
    assert rows[1][2:4] == ("2 to 12", "50.0%")
    assert rows[1][-2:] == ("3.00", "2.00")
    assert rows[0][-2:] == ("–", "1.00")
    found[family["p = 1"]]["norm"] = norms(4.0)
    assert list(own.by_change("sgd", family, found)) == []
