"""Euclidean projections onto a ball."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.arguments import float_array, real

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ball:
    """W = {x : ||x - centre|| <= radius}, of diameter 2 radius.

    Attributes:
        radius: in (0, inf).
        centre: (d,); 0 by default.

    Raises:
        ValueError: at construction, when an attribute is outside its domain.
    """

    radius: float
    centre: Any = None

    def __post_init__(self) -> None:
        radius = real("radius", self.radius, "(0, inf)")
        if radius <= 0:
            raise ValueError(f"radius={radius} is outside (0, inf)")
        object.__setattr__(self, "radius", radius)
        centre = float_array("centre", 0.0 if self.centre is None else self.centre)
        if centre.ndim > 1:
            raise ValueError(f"centre has shape {centre.shape}, not (d,)")
        object.__setattr__(self, "centre", centre)

    def project(self, x: Array) -> Array:
        """P_W, (..., d) -> (..., d); what lies in W is returned as it is, to the last bit."""
        away = x - self.centre
        norm = np.sqrt(np.square(away).sum(axis=-1, keepdims=True))
        inside = norm <= self.radius
        return np.where(inside, x, self.centre + away * (self.radius / np.where(inside, 1.0, norm)))
