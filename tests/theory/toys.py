"""Small claims to try the theory on, and the catalogue's in numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from theory.calculator import calculator
from theory.claim import Claim, Hypothesis, Parameter, Quantity
from theory.domain import COUNT, POSITIVE, REAL, Domain
from theory.written import Claim as Written

SCALARS = {"a": POSITIVE, "b": POSITIVE, "K": COUNT, "x": REAL}
VALUES = {"a": "1/3", "b": 2, "K": 5, "x": Fraction(-1, 7)}


def toy(
    relations: tuple[str | None, ...] = (),
    parameters: dict[str, Domain] | None = None,
    definitions: dict[str, str] | None = None,
    right: str | None = None,
    vectors: dict[str, Domain] | None = None,
    assumptions: tuple[Any, ...] = (),
) -> Claim:
    """A claim; a relation that is None stands for a hypothesis in words."""
    held = [Hypothesis(f"h{i}", "s", relation=text) for i, text in enumerate(relations)]
    held += [Hypothesis(f"a{i}", "s", assumption=assumption) for i, assumption in enumerate(assumptions)]
    given = [Parameter(name, domain, "") for name, domain in (parameters or {}).items()]
    given += [Parameter(name, domain, "", "vector") for name, domain in (vectors or {}).items()]
    return Claim(
        id="toy/x",
        kind="theorem",
        title="t",
        equation="(1)",
        statement="s",
        latex="x",
        quantity=Quantity("q", "m", "q"),
        source="here",
        parameters=tuple(given),
        hypotheses=tuple(held),
        definitions=definitions or {},
        relation="<=",
        right=right,
    )


def bounded(
    right: str | None,
    definitions: dict[str, str] | None = None,
    relations: tuple[str | None, ...] = (),
    scalars: dict[str, Domain] = SCALARS,
    vectors: dict[str, Domain] | None = None,
) -> Claim:
    """A claim with this right side, in the parameters `SCALARS` unless others are given."""
    return toy(relations, scalars, definitions, right, vectors)


def in_numbers(claim: Claim | Written) -> Claim:
    """A claim of the catalogue with its right side and its relations in numbers; a sentence by `theory.calculator`."""
    return calculator(claim, all_relations=True).bound if isinstance(claim, Written) else claim
