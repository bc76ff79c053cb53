"""The claims about shuffling (Propositions 1 to 3, Lemmas 7 to 13, Theorems 2 and 3): how both sides are measured."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from theory.claim import Claim
from validate.bounds import Cases
from validate.papers.perm.shuffling_epochs import Epoch
from validate.papers.perm.shuffling_measures import epoch_cases
from validate.papers.perm.shuffling_runs import run_cases
from validate.papers.perm.shuffling_scenarios import scenarios
from validate.papers.perm.shuffling_special import special_evidence
from validate.papers.perm.shuffling_tools import tool_cases
from validate.scenario import Spec
from validate.verdict import Evidence

__all__ = ["cases", "instances", "sampled", "scenarios", "special"]


def cases(claim: Claim, scenario: Any) -> Cases | None:
    """The claim's left side and parameters on a scenario.

    Args:
        claim: a claim of this paper.
        scenario: an `Epoch`, a `Run`, `Vectors` or `Products`.

    Returns:
        None when the claim does not speak of such a scenario, or is not one that is measured.
    """
    if isinstance(scenario, Epoch):
        return epoch_cases(claim, scenario)
    found = tool_cases(claim, scenario)
    return found if found is not None else run_cases(claim, scenario)


def instances(quick: bool = False) -> Iterator[Spec]:
    """None: the scalar instances of this module are epochs, which no SPEC of rounds describes."""
    yield from ()


def sampled(quick: bool = False) -> Iterator[Any]:
    """None: expectations over the orders are exact."""
    yield from ()


def special(claim: Claim, out: Path) -> tuple[list[Evidence], Path | None]:
    """Proofs, refutations and measurements that are particular to a claim."""
    return special_evidence(claim, out)
