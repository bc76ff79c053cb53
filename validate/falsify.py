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

import numpy as np

from theory.claim import Claim
from theory.formula import UndefinedError
from validate import certificate
from validate.assumptions import unmet
from validate.bounds import Cases, breaks, compare, exact_or_rounded_sides
from validate.scenario import Spec, rational, read_scenario

CasesOf = Callable[[Claim, Any], "Cases | None"]


@dataclass(frozen=True)
class Counterexample:
    """An exact instance that breaks a claim.

    Attributes:
        spec: the instance, as strings.
        index: which round, client, snapshot, inner step.
        parameters: the claim's parameters there; a vector as a tuple.
        left: exact left side.
        right: exact right side; where it is irrational, a decimal that the claim is broken by with certainty.
    """

    spec: Spec
    index: Mapping[str, int]
    parameters: Mapping[str, Fraction | tuple[Fraction, ...]]
    left: Fraction
    right: Fraction

    def to_json(self) -> dict[str, Any]:
        """Plain data, without the parameters, which the instance has."""
        return {"spec": self.spec, "index": dict(self.index), "left": self.left, "right": self.right}


def size(spec: Spec) -> tuple[int, ...]:
    """How large an instance is: clients, samples, rounds, local steps, then the height of its numbers."""
    clients = spec["clients"]
    samples = sum(len(c["h"]) if isinstance(c["h"], list) else 1 for c in clients)
    steps = int(spec.get("local_steps", 0)) or int(spec["S"]) * int(spec["M"])
    numbers = [clients, spec["step"], *(spec[key] for key in ("theta0", "x0", "alpha", "beta") if key in spec)]
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
    return recomputed(claim, spec, cases_of)[1]


def recomputed(claim: Claim, spec: Spec, cases_of: CasesOf) -> tuple[bool, Counterexample | None]:
    """`confirm`, after whether the sides could be computed in Fractions at all: a root in them may be irrational.

    A case at which a side is undefined (a division by zero) says nothing.

    Raises:
        ValueError: for a SPEC that is none, or numbers that are too long.
    """
    scenario = read_scenario(spec, exact=True)
    cases = cases_of(claim, scenario)
    if cases is None:
        return False, None
    found: list[tuple[Fraction, int, Fraction, Fraction]] = []
    for i in range(len(cases)):
        try:
            left, right = exact_or_rounded_sides(claim, cases, i)
        except UndefinedError:  # a side that does not exist there says nothing
            continue
        if breaks(claim, left, right) and not unmet(claim, scenario, cases.parameters_at(i)):
            found.append((abs(left - right), i, left, right))
    if not found:
        return True, None
    _, i, left, right = max(found, key=lambda entry: (entry[0], -entry[1]))
    return True, Counterexample(spec, cases.index_at(i), exact_parameters(cases.parameters_at(i)), left, right)


def exact_parameters(parameters: Mapping[str, Any]) -> dict[str, Fraction | tuple[Fraction, ...]]:
    """The parameters of a case as Fractions; vectors as tuples."""
    return {
        name: Fraction(value) if np.ndim(value) == 0 else tuple(Fraction(entry) for entry in value)
        for name, value in parameters.items()
    }


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
        try:
            known, found = recomputed(claim, spec, cases_of)
        except ValueError:  # beyond what can be computed in fractions: it stays suspected
            continue
        if found is not None:
            return found, cleared
        cleared += known  # one whose sides have no exact value stays suspected
    return None, cleared


def rounds_certificate(claim: Claim, found: Counterexample) -> certificate.Certificate:
    """The certificate of a counterexample, of the kind that its algorithm has.

    Raises:
        ValueError: when there is none, as for a quantity that no certificate has.
    """
    numbers = {name: value for name, value in found.parameters.items() if isinstance(value, Fraction)}
    if len(numbers) < len(found.parameters):
        raise ValueError(f"{claim.id} has vectors among its parameters, which a certificate of this kind cannot hold")
    return certificate.instance_certificate(
        claim, found.spec, found.index, numbers, found.left, found.right, silent=True
    )


def suspects(claim: Claim, specs: Sequence[Spec], cases_of: CasesOf) -> list[Spec]:
    """Those instances that break the claim in floats, hypotheses satisfied."""
    broken = []
    for spec in specs:
        scenario = read_scenario(spec, exact=False)
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
