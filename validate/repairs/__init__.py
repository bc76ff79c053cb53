"""From a false sentence to the nearest one that stands, and how much the error matters."""

from __future__ import annotations

from validate.repairs.repaired import Repair, Repaired
from validate.repairs.search import repair
from validate.severity import MEANING, Severity

__all__ = ["MEANING", "Repair", "Repaired", "Severity", "repair"]
