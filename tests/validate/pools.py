"""A claim on a pool of scenarios: where it applies, and whether the pool tells it from a false neighbour."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from theory.claim import Claim
from validate.assumptions import unmet
from validate.bounds import Cases, compare_all


def applicable(
    c: Claim, pool: Iterable[Any], cases_of: Callable[[Claim, Any], Cases | None]
) -> list[tuple[Any, Cases]]:
    """The scenarios that satisfy all the claim's hypotheses, each with its cases."""
    found = [(scenario, cases_of(c, scenario)) for scenario in pool]
    return [
        (scenario, cases)
        for scenario, cases in found
        if cases is not None and not unmet(c, scenario, cases.parameters_at(0))
    ]


def assert_told_apart(c: Claim, false_right: str, found: list[tuple[Any, Cases]]) -> None:
    """The claim is broken on none of at least ten scenarios; with `false_right` for its right side it is on some."""
    assert len(found) >= 10
    names, cases = zip(*((scenario.name, own) for scenario, own in found), strict=True)
    broken = [name for name, comparison in zip(names, compare_all(c, cases), strict=True) if comparison.broken]
    assert broken == []
    worse = replace(c, right=false_right)
    assert any(comparison.broken for comparison in compare_all(worse, cases)), "the pool notices nothing"
