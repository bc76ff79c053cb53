"""Textbook results: how those about stochastic methods are measured, and how the others are proved."""

from __future__ import annotations

from validate.papers.textbook.instances import instances, sampled, scenarios
from validate.papers.textbook.measures import cases
from validate.papers.textbook.special import special
from validate.per_run import PerRun

# The quantities that the simulator averages over runs.
SAMPLED = {
    "mean_squared_gradient_norm": PerRun("squared_gradient_norm", "mean"),
    "mean_suboptimality": PerRun("suboptimality", "mean"),
    "next_distance": PerRun("squared_distance", "next"),
    "squared_distance": PerRun("squared_distance", "k"),
    "suboptimality": PerRun("suboptimality", "k"),
}

__all__ = ["SAMPLED", "cases", "instances", "sampled", "scenarios", "special"]
