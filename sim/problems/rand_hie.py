"""The RAND Health Insurance Experiment as a federated least-squares problem. Provenance: data/README.md."""

from __future__ import annotations

from importlib.resources import files

import numpy as np

from sim.problems.generators import least_squares
from sim.problems.quadratic import Quadratic

COLUMNS = ("site", "age", "log_income", "education", "chronic_diseases", "log_coinsurance", "log_medical_spend")
FEATURES = COLUMNS[1:-1]
TARGET = COLUMNS[-1]
SITES = 6
AGENTS_PER_SITE = 3
PEOPLE_PER_AGENT = 50


def rand_hie() -> Quadratic:
    """Least squares for the medical spending of 900 people, held by 18 agents of 50 people each.

    f_{n,i}(x) = (q'x - y)^2: y is the logarithm of a person's medical spending, q the 5 entries of `FEATURES`. Each of
    these 6 columns is standardised over all 900 people: its mean is subtracted and the rest divided by its standard
    deviation (the one with 900 in the denominator), so there is no intercept. Agents 3j, 3j+1 and 3j+2 hold the people
    of site j+1, in the order of the file.

    Returns:
        N = 18, n = 50, d = 5, float64.

    Raises:
        ValueError: when the installed CSV is not the one described.
    """
    text = files("sim.problems").joinpath("data", "rand_hie_900.csv").read_text(encoding="ascii")
    header, *lines = text.splitlines()
    people = SITES * AGENTS_PER_SITE * PEOPLE_PER_AGENT
    if tuple(header.split(",")) != COLUMNS or len(lines) != people:
        raise ValueError(f"rand_hie_900.csv has {len(lines)} rows under {header!r}, not {people} under {COLUMNS}")
    table = np.array([[float(entry) for entry in line.split(",")] for line in lines])
    order = np.argsort(table[:, 0], kind="stable")
    sites = np.repeat(np.arange(1, SITES + 1), AGENTS_PER_SITE * PEOPLE_PER_AGENT)
    if not np.array_equal(table[order, 0], sites):
        raise ValueError("rand_hie_900.csv does not hold 150 people of each of the sites 1 to 6")
    columns = table[order, 1:]
    standard = (columns - columns.mean(axis=0)) / columns.std(axis=0)
    agents = standard.reshape(SITES * AGENTS_PER_SITE, PEOPLE_PER_AGENT, len(COLUMNS) - 1)
    return least_squares(list(agents[..., :-1]), list(agents[..., -1]))


def scaled_to_unit(problem: Quadratic) -> Quadratic:
    """The same least-squares problem with every feature and the target scaled to [0, 1] over all people.

    Args:
        problem: made from features and targets, with equal counts.

    Raises:
        ValueError: when the problem has no features, or clients of different size.
    """
    if problem.features is None or problem.targets is None:
        raise ValueError("problem has no features and targets")
    if len(set(np.asarray(problem.counts).tolist())) != 1:
        raise ValueError(f"problem has clients of different size: counts={problem.counts}")

    def scaled(values: np.ndarray) -> np.ndarray:
        low, high = values.min(axis=(0, 1)), values.max(axis=(0, 1))
        return np.asarray((values - low) / (high - low))

    return least_squares(list(scaled(problem.features)), list(scaled(problem.targets)))
