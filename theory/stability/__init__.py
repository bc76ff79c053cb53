"""How far one stochastic gradient step can lead out of a ball, over a class of functions, and which balls hold it."""

from __future__ import annotations

from theory.stability.one_step import (
    exact_radius,
    noise_threshold,
    uniform_radius,
    worst_cosine,
    worst_next_norm,
    worst_step,
)

__all__ = [
    "exact_radius",
    "noise_threshold",
    "uniform_radius",
    "worst_cosine",
    "worst_next_norm",
    "worst_step",
]
