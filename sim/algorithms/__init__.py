"""Algorithms of open populations; each object is frozen and checked when it is made."""

from __future__ import annotations

from sim.algorithms.open import LocalAdam, LocalSGD
from sim.algorithms.schedule import step_at

__all__ = ["LocalAdam", "LocalSGD", "step_at"]
