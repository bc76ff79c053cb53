"""Search for an instance that breaks a claim, and its reduction to the smallest one in exact rationals.

The search is over declared families of scalar instances (SPEC dictionaries, see `validate.scenario`). A break that is
seen in floats is only a suspicion: it counts when both sides, recomputed in Fractions, break the claim too and the
instance satisfies every hypothesis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from theory.claim import Claim
from validate.assumptions import unmet
from validate.bounds import Cases, breaks, compare, exact_sides
from validate.scenario import Scenario, Spec, rational

CasesOf = Callable[[Claim, Scenario], "Cases | None"]


@dataclass(frozen=True)
class Counterexample:
    """An exact instance that breaks a claim.

    Attributes:
        spec: the instance, as strings.
        index: which round, client, snapshot, inner step.
        parameters: the claim's parameters there.
        left: exact left side.
        right: exact right side.
    """

    spec: Spec
    index: Mapping[str, int]
    parameters: Mapping[str, Fraction]
    left: Fraction
    right: Fraction


def size(spec: Spec) -> tuple[int, ...]:
    """How large an instance is: clients, samples, rounds, local steps, then the height of its numbers."""
    clients = spec["clients"]
    samples = sum(len(c["h"]) if isinstance(c["h"], list) else 1 for c in clients)
    steps = int(spec.get("local_steps", 0)) or int(spec["S"]) * int(spec["M"])
    numbers = [clients, spec["step"], spec["theta0"]]
    return (len(clients), samples, int(spec["K"]), steps, _height(numbers))


def _height(value: Any) -> int:
    """Sum of |p| + q over the numbers p/q in it."""
    if isinstance(value, Mapping):
        return sum(_height(v) for v in value.values())
    if isinstance(value, list | tuple):
        return sum(_height(v) for v in value)
    number = rational(value, "number")
    return abs(number.numerator) + number.denominator


def confirm(claim: Claim, spec: Spec, cases_of: CasesOf) -> Counterexample | None:
    """Recompute an instance in Fractions; a counterexample if it breaks the claim and satisfies every hypothesis."""
    scenario = Scenario.from_spec(spec, exact=True)
    cases = cases_of(claim, scenario)
    if cases is None:
        return None
    found: list[tuple[Fraction, int, Fraction, Fraction]] = []
    for i in range(len(cases)):
        left, right = exact_sides(claim, cases, i)
        if breaks(claim, left, right) and not unmet(claim, scenario, cases.parameters_at(i)):
            found.append((abs(left - right), i, left, right))
    if not found:
        return None
    _, i, left, right = max(found, key=lambda entry: (entry[0], -entry[1]))
    parameters = {name: Fraction(value) for name, value in cases.parameters_at(i).items()}
    return Counterexample(spec, cases.index_at(i), parameters, left, right)


def smallest(
    claim: Claim, suspects: Iterable[Spec], cases_of: CasesOf, tries: int = 40
) -> tuple[Counterexample | None, int]:
    """The smallest of the suspected instances that breaks the claim in exact arithmetic, and how many were cleared.

    Args:
        claim: the claim.
        suspects: instances that break it in floats.
        cases_of: measures the claim's two sides on a scenario.
        tries: how many suspects, from the smallest up, are recomputed in fractions before the search gives up.

    Returns:
        The counterexample, or None; and the number of suspects that exact arithmetic showed to be rounding.
    """
    cleared = 0
    for spec in sorted(suspects, key=size)[:tries]:
        found = confirm(claim, spec, cases_of)
        if found is not None:
            return found, cleared
        cleared += 1
    return None, cleared


def suspects(claim: Claim, specs: Sequence[Spec], cases_of: CasesOf) -> list[Spec]:
    """Those instances that break the claim in floats, hypotheses satisfied."""
    broken = []
    for spec in specs:
        scenario = Scenario.from_spec(spec, exact=False)
        cases = cases_of(claim, scenario)
        if cases is None:
            continue
        if not unmet(claim, scenario, cases.parameters_at(0)) and compare(claim, cases).broken:
            broken.append(spec)
    return broken


def fixed_point(spec: Spec) -> Fraction | None:
    """The point that one round of a deterministic instance maps to itself, or None when the instance is random.

    Args:
        spec: a scalar instance; deterministic means one sample a client and p = 1, with a constant step.

    A client that starts at theta ends at a + q (theta - a) with q = (1 - step h)^(local steps), so the average has the
    fixed point sum (1-q_n) a_n / sum (1-q_n).
    """
    if isinstance(spec["step"], list):
        return None
    step = rational(spec["step"], "step")
    steps = int(spec.get("local_steps", 0)) or int(spec["S"]) * int(spec["M"])
    weights, total = Fraction(0), Fraction(0)
    for client in spec["clients"]:
        h, a = client["h"], client["a"]
        h, a = (h if isinstance(h, list) else [h]), (a if isinstance(a, list) else [a])
        if len(h) != 1 or client.get("p", 1) not in (1, "1"):
            return None
        moved = 1 - (1 - step * rational(h[0], "h")) ** steps
        weights += moved
        total += moved * rational(a[0], "a")
    return total / weights if weights else None
