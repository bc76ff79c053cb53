"""The least value of a function of a few positive numbers that is infinite outside of a region."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from theory.domain import Domain

POINTS = {1: 241, 2: 61, 3: 25, 4: 13}
"""In each direction, by how many there are."""
LOWEST, HIGHEST = 1e-12, 1e12
NARROW, MOST = 1e-10, 60


def least(value: Callable[[Mapping[str, Any]], Any], free: Mapping[str, Domain]) -> tuple[dict[str, float], float]:
    """Where a function is least: on a grid in logarithms, then on finer ones around the best, to ten digits.

    Args:
        value: of arrays by name, which broadcast; infinite where there is none.
        free: the domains of its arguments. Only positive numbers are tried.

    Returns:
        The arguments, shortened to few digits where that costs nothing, and the value; infinite where there is none.
    """
    if not free:
        return {}, float(np.max(value({})))
    names = list(free)
    ends = {name: _ends(domain) for name, domain in free.items()}
    many = POINTS[len(names)]
    window = {name: (low, high) for name, (low, high) in ends.items()}
    best: tuple[dict[str, float], float] = ({}, np.inf)
    for _ in range(MOST):
        grids = [np.geomspace(*window[name], many).clip(*ends[name]) for name in names]
        mesh = np.meshgrid(*grids, indexing="ij")
        found = np.asarray(value(dict(zip(names, (m.ravel() for m in mesh), strict=True)))).ravel()
        at = int(np.argmin(found))
        if found[at] < best[1] or not best[0]:
            best = ({name: float(m.ravel()[at]) for name, m in zip(names, mesh, strict=True)}, float(found[at]))
        if not np.isfinite(best[1]):
            return {}, np.inf
        wide = 0.0
        for name in names:
            low, high = np.log(window[name])
            step = 2 * (high - low) / (many - 1)
            middle = np.log(best[0][name])
            lowest, highest = np.log(ends[name])
            window[name] = tuple(np.exp([max(lowest, middle - step), min(highest, middle + step)]))
            wide = max(wide, step)
        if wide < NARROW:
            break
    return _shortened(value, best, ends)


def _ends(domain: Domain) -> tuple[float, float]:
    low = LOWEST if domain.lower is None or domain.lower <= 0 else float(domain.lower) * (1 + 1e-12 * domain.lower_open)
    high = HIGHEST if domain.upper is None else float(domain.upper) * (1 - 1e-12 * domain.upper_open)
    return low, high


def _shortened(
    value: Callable[[Mapping[str, Any]], Any], best: tuple[dict[str, float], float], ends: Mapping[str, Any]
) -> tuple[dict[str, float], float]:
    """The arguments with few digits where the value stays, up to a millionth."""
    arguments, least = best
    for name in arguments:
        for digits in range(1, 9):
            short = float(f"{arguments[name]:.{digits}g}")
            other = {**arguments, name: short}
            if not ends[name][0] <= short <= ends[name][1]:
                continue
            there = float(np.max(value(other)))
            if there <= best[1] + 1e-6 * abs(best[1]):
                arguments, least = other, there
                break
    return arguments, least
