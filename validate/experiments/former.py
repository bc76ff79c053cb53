"""What experiments that are not declared yet take from here."""

from __future__ import annotations

from validate.experiment import (
    Array,
    Band,
    Drawing,
    Estimate,
    Experiment,
    Progress,
    Table,
    write_csv,
)
from validate.experiments.kept import plain, stored
from validate.experiments.statistics import mean_band

__all__ = [
    "Array",
    "Band",
    "Drawing",
    "Estimate",
    "Experiment",
    "Progress",
    "Table",
    "mean_band",
    "plain",
    "stored",
    "write_csv",
]
