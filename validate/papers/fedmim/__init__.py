"""FedMIM (Liu et al.): how its claims are measured, its instances and scenarios, and its experiments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from validate.papers.fedmim.figures import reproduce
from validate.papers.fedmim.instances import given, instances
from validate.papers.fedmim.rounds import cases
from validate.papers.fedmim.scenarios import scenarios
from validate.papers.fedmim.special import special
from validate.per_run import PerRun

SEARCH_SPACE = "inertial"

# None: the claims speak of u_t and of steps within a round, and the simulator records x_t.
SAMPLED: dict[str, PerRun] = {}

__all__ = ["SAMPLED", "SEARCH_SPACE", "cases", "given", "instances", "reproduce", "sampled", "scenarios", "special"]


def sampled(quick: bool = False) -> Iterator[Any]:
    """Scenarios that the simulator repeats: none, as no claim bounds what it measures at x_t (they speak of u_t)."""
    return iter(())
