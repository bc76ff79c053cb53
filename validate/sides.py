"""Both sides of a claim as numbers, over every index of which it speaks; what rounding of floats amounts to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

# Two float64 sides that are equal in exact arithmetic differ by rounding: relative to the larger side, and, where
# something has converged to almost nothing, relative to the largest value of the run.
ROUNDING = 1e-9
CONVERGED = 1e-13


@dataclass(frozen=True, eq=False)
class Sides:
    """Both sides of a claim on one instance, for C index values.

    Attributes:
        left: shape (C,), object (Fractions); an irrational side is a decimal that is rounded in the claim's favour.
        parameters: by name; scalars, or tuples of them for one a client or a round.
        index: by index name (k, n, s, m), integer arrays of shape (C,); empty for a claim about the whole run.
        claim: id.
        right: as `left`.
        broken: (C,), whether the relation fails there.
        worst: the case that breaks the claim by most, or, when none does, has the largest left / right.
        tightness: largest left / right among cases with a positive right side; None where there is none, or the claim
            does not bound from above.
    """

    left: np.ndarray
    parameters: Mapping[str, Any]
    index: Mapping[str, np.ndarray]
    claim: str
    right: np.ndarray
    broken: np.ndarray
    worst: int
    tightness: float | None

    def __len__(self) -> int:
        return len(self.left)

    def index_at(self, i: int) -> dict[str, int]:
        """The index of case i."""
        return {name: int(value[i]) for name, value in self.index.items()}


def nearest_float(value: Any) -> float:
    """A number as a float, infinite beyond their range."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
