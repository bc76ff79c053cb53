"""From the table of a problem to the problem."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sim.problems import Quadratic


@lru_cache(maxsize=32)
def problem_of(text: str) -> Quadratic:
    """The problem of a canonical text (`validate.sweep.kinds.PROBLEMS`), in float64; the last ones are kept."""
    from sim.problems import quadratic, rand_hie, scalar, scaled_to_unit

    given = json.loads(text)
    if given["kind"] == "scalar":
        h, a = ([list(map(_float, client[name])) for client in given["clients"]] for name in ("h", "a"))
        return scalar(h, a)
    if given["kind"] == "insurance":
        problem = rand_hie()
        return scaled_to_unit(problem) if given["columns"] == "unit" else problem
    reals: dict[str, Any] = {name: _float(given[name]) for name in ("mu", "L", "heterogeneity", "sample_spread")}
    sizes = {name: given[name] for name in ("clients", "dim", "samples", "seed")}
    return quadratic(**sizes, **reals)


def _float(text: str) -> float:
    return float(Fraction(text))
