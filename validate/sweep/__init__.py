"""Sweeps: many claims on a grid of scenarios, one cell at a time, kept in a store as they are done.

`read_specification` reads the TOML text of a sweep and lists its cells, `run_cell` computes one.
"""

from __future__ import annotations

from validate.sweep.cell import Cell, canonical, key, run_cell
from validate.sweep.specification import Specification, read_specification

__all__ = ["Cell", "Specification", "canonical", "key", "read_specification", "run_cell"]
