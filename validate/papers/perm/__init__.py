"""PERM (Deng et al.): how its claims are measured, its instances and scenarios, and its experiments.

Each module says which claims are its own: rounds of local SGD and of mini-batch SGD (`local_sgd`), mixing weights
(`mixing`), minimisers of Phi (`minimisers`), epochs of shuffling local SGD (`shuffling`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from theory.claim import Claim
from validate.bounds import Cases
from validate.papers.perm import local_sgd, minimisers, mixing, mixing_scenarios, shuffling
from validate.papers.perm.special import special as own_evidence
from validate.per_run import PerRun
from validate.scenario import Spec
from validate.verdict import Evidence

# The quantities that the simulator averages over runs: those of local SGD. Those of epochs are exact, over all orders.
SAMPLED = {
    "next_squared_distance": PerRun("squared_distance", "next"),
    "squared_distance": PerRun("squared_distance", "k"),
    "squared_distance_to_minimiser": PerRun("squared_distance", "k"),
    "squared_gradient_norm": PerRun("squared_gradient_norm", "k"),
}

__all__ = ["SAMPLED", "cases", "given", "instances", "sampled", "scenarios", "special"]


def cases(claim: Claim, scenario: Any) -> Cases | None:
    """The claim's left side and parameters on a scenario, or None when it does not speak of it."""
    for measure in (local_sgd.cases, mixing.cases, minimisers.cases, shuffling.cases):
        found = measure(claim, scenario)
        if found is not None:
            return found
    return None


def instances(quick: bool = False) -> Iterator[Spec]:
    """Scalar instances, which certificates can carry."""
    yield from local_sgd.instances(quick)
    yield from shuffling.instances(quick)


def given() -> Iterator[Spec]:
    """Scalar instances that were made by hand for a claim."""
    yield from local_sgd.given()


def scenarios(quick: bool = False) -> Iterator[Any]:
    """Scenarios in several dimensions, mixing weights, and orders of the clients."""
    yield from local_sgd.scenarios(quick)
    yield from mixing_scenarios.scenarios(quick)
    yield from minimisers.scenarios(quick)
    yield from shuffling.scenarios(quick)


def sampled(quick: bool = False) -> Iterator[Any]:
    """Scenarios that the simulator repeats."""
    yield from shuffling.sampled(quick)


def special(claim: Claim, out: Path) -> tuple[list[Evidence], Path | None]:
    """Evidence that is particular to a claim, and the path of a certificate when it refutes the claim."""
    evidence, path = own_evidence(claim, out)
    more, other = shuffling.special(claim, out)
    return [*evidence, *more], path or other
