"""What a scenario can show of a claim: its size, and whether it moves. `validate.coverage` asks for each of these."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from validate.once import once

# A start this close to the minimiser, relative to both, is at it.
ROUNDING = 1e-9

PHRASES: Mapping[str, str] = {
    "dimensions": "two dimensions or more",
    "clients": "three clients or more",
    "steps": "two local steps or more",
    "inertia": "inertia that is not 0",
    "away": "a start off the minimiser",
    "settled": "a start at the minimiser",
}
"""The traits, by name, and what of each is to be seen."""

LEAST: Mapping[str, int] = {"dimensions": 2, "clients": 3, "steps": 2, "inertia": 1, "away": 1, "settled": 1}
"""How much of each trait is to be seen."""


@once
def traits(scenario: Any) -> Mapping[str, float]:
    """The traits that a scenario has, by name; one that has no meaning there is left out.

    ``dimensions`` d, ``clients`` N, ``steps`` local steps of a client in a round, ``inertia`` 1 where a weight of a lag
    is not 0, ``away`` 1 off the minimiser of what is minimised and ``settled`` 1 at it, else 0.

    Args:
        scenario: any; a class for which this is not to be read off ``problem``, ``algorithm``, ``local_steps`` and
            ``start`` has a method ``traits``.
    """
    own = getattr(scenario, "traits", None)
    if own is not None:
        told: Mapping[str, float] = own()
        return told
    found: dict[str, float] = {}
    problem: Any = getattr(scenario, "problem", None)
    algorithm: Any = getattr(scenario, "algorithm", None)
    if problem is not None:
        found |= {"dimensions": problem.dim, "clients": problem.clients}
    if hasattr(algorithm, "inner"):
        found["steps"] = int(algorithm.snapshots) * int(algorithm.inner)
    elif hasattr(algorithm or scenario, "local_steps"):
        found["steps"] = int((algorithm or scenario).local_steps)
    if hasattr(algorithm, "alpha") and hasattr(algorithm, "beta"):
        found["inertia"] = float(any(weight != 0 for weight in (*algorithm.alpha, *algorithm.beta)))
    away = _away(scenario, problem)
    return found if away is None else found | {"away": float(away), "settled": float(not away)}


def _away(scenario: Any, problem: Any) -> bool | None:
    """Whether it starts off the minimiser; None where there is no start, or no unique minimiser."""
    start = getattr(scenario, "start", None)
    if start is None or problem is None:
        return None
    weights = getattr(getattr(scenario, "algorithm", scenario), "weights", getattr(scenario, "alpha", None))
    hessian, linear = (np.asarray(part, dtype=np.float64) for part in (problem.client_hessian, problem.client_linear))
    shares = np.full(len(hessian), 1 / len(hessian))
    if weights is not None:
        shares = np.atleast_2d(np.asarray(weights, dtype=np.float64))[0]
    mean, slope = np.tensordot(shares, hessian, 1), shares @ linear
    x = np.atleast_1d(np.asarray(start, dtype=np.float64))
    least, largest = np.linalg.eigvalsh(mean)[[0, -1]]
    if not least > ROUNDING * max(largest, 0):
        return None
    gradient = mean @ x - slope
    # relative to the gradients of single clients, which need not vanish at the minimiser
    scale = float(np.abs(hessian @ x).max() + np.abs(linear).max())
    return bool(np.linalg.norm(gradient) > ROUNDING * scale)
