"""Can these hypotheses hold together? A witness, or a proof that none exists."""

from __future__ import annotations

from theory.feasible.compatible import Compatibility, Conflict, compatible, function_conflicts
from theory.feasible.decide import Emptiness, Feasibility, feasible, feasible_relations
from theory.feasible.limits import Limits

__all__ = [
    "Compatibility",
    "Conflict",
    "Emptiness",
    "Feasibility",
    "Limits",
    "compatible",
    "feasible",
    "feasible_relations",
    "function_conflicts",
]
