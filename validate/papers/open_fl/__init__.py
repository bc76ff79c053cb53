"""Open federated learning (Sun et al.): how its claims are measured, its scenarios and its experiments.

The claims about SGD are measured on rounds of a federated system, those about Adam on states of one client; each of the
two modules says which claims are its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import validate.papers.open_fl.adam as adam
import validate.papers.open_fl.sgd as sgd
from theory.claim import Claim
from validate.bounds import Cases
from validate.papers.open_fl.figures import reproduce
from validate.per_run import PerRun
from validate.scenario import Spec
from validate.verdict import Evidence

# The quantities that the simulator averages over runs: those of SGD.
SAMPLED = {
    "next_squared_iterate_norm": PerRun("squared_iterate_norm", "next"),
    "root_mean_square_ever": PerRun("squared_iterate_norm", "k", root=True),
    "root_mean_square_iterate": PerRun("squared_iterate_norm", "next", root=True),
}

__all__ = ["SAMPLED", "cases", "instances", "reproduce", "sampled", "scenarios", "special"]


def cases(claim: Claim, scenario: Any) -> Cases | None:
    """The claim's left side and parameters on a scenario, or None when it does not speak of it."""
    found = sgd.cases(claim, scenario)
    return found if found is not None else adam.cases(claim, scenario)


def instances(quick: bool = False) -> Iterator[Spec]:
    """Scalar instances, for the claims about SGD."""
    yield from sgd.instances(quick)


def scenarios(quick: bool = False) -> Iterator[Any]:
    """Scenarios in several dimensions, and states of Adam."""
    yield from sgd.scenarios(quick)
    yield from adam.scenarios(quick)


def sampled(quick: bool = False) -> Iterator[Any]:
    """Scenarios that the simulator repeats."""
    yield from sgd.sampled(quick)


def special(claim: Claim, out: Path) -> tuple[list[Evidence], Path | None]:
    """Evidence that is particular to a claim, and the path of a certificate when it refutes the claim."""
    evidence, path = sgd.special(claim, out)
    more, other = adam.special(claim, out)
    return [*evidence, *more], path or other
