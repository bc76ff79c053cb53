"""The RAND HIE problem against the file itself, read by other means."""

import csv
from pathlib import Path

import numpy as np
import pytest
import scipy.optimize

import sim.problems
from sim.problems import least_squares, rand_hie, scalar, scaled_to_unit

FILE = Path(sim.problems.__file__).parent / "data" / "rand_hie_900.csv"


@pytest.fixture(scope="module")
def rows():
    with FILE.open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def problem():
    return rand_hie()


def test_each_column_is_standardised_over_everybody(problem):
    for values in (*np.moveaxis(problem.features, -1, 0), problem.targets):
        assert values.mean() == pytest.approx(0, abs=1e-12)
        assert values.std() == pytest.approx(1, abs=1e-12)


def test_agents_hold_the_people_of_their_site_in_order(problem, rows):
    assert [int(float(r["site"])) for r in rows] == [site for site in range(1, 7) for _ in range(150)]
    spend = np.array([float(r["log_medical_spend"]) for r in rows])
    age = np.array([float(r["age"]) for r in rows])
    for agent in (0, 4, 17):
        mine = slice(50 * agent, 50 * agent + 50)
        np.testing.assert_allclose(problem.targets[agent] * spend.std() + spend.mean(), spend[mine], rtol=1e-12)
        np.testing.assert_allclose(problem.features[agent, :, 0] * age.std() + age.mean(), age[mine], atol=1e-12)


def test_minimiser_is_the_regression(problem, rows):
    names = ["age", "log_income", "education", "chronic_diseases", "log_coinsurance"]
    raw = np.array([[float(r[name]) for name in names] for r in rows])
    spend = np.array([float(r["log_medical_spend"]) for r in rows])
    # a regression of the raw columns with an intercept is the same model in other units
    slopes = scipy.optimize.lsq_linear(np.column_stack([np.ones(900), raw]), spend, tol=1e-14).x[1:]
    np.testing.assert_allclose(problem.minimiser, slopes * raw.std(axis=0) / spend.std(), rtol=1e-8)
    residual = spend - spend.mean() - (raw - raw.mean(axis=0)) @ slopes
    assert problem.optimal_value == pytest.approx(np.mean(residual**2) / spend.var(), rel=1e-10)


def test_columns_are_scaled_to_the_unit_interval() -> None:
    standard = rand_hie()
    unit = scaled_to_unit(standard)
    for values in (unit.features, unit.targets):
        np.testing.assert_allclose(values.min(axis=(0, 1)), 0, atol=1e-15)
        np.testing.assert_allclose(values.max(axis=(0, 1)), 1, rtol=1e-15)
    back = np.corrcoef(unit.features.reshape(900, 5)[:, 2], standard.features.reshape(900, 5)[:, 2])
    assert back[0, 1] == pytest.approx(1.0)


def test_scaling_refuses_other_problems() -> None:
    with pytest.raises(ValueError, match="no features"):
        scaled_to_unit(scalar([[1.0], [2.0]], [[0.0], [1.0]]))
    ragged = least_squares([[[1.0], [2.0]], [[3.0]]], [[1.0, 2.0], [3.0]])
    with pytest.raises(ValueError, match="different size"):
        scaled_to_unit(ragged)
