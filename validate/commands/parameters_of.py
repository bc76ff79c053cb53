"""The values of a claim's parameters, as options ``--set NAME=VALUE`` give them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from theory.bound import Bound, Parameter
    from theory.calculator import Calculator
    from theory.claim import Claim

SAMPLES = tuple(map(Fraction, ("1", "1/2", "2", "1/10", "0", "10", "-1")))
"""Values for an example; the first one in a parameter's domain is taken."""


def all_of(
    claim: Bound, assignments: Sequence[str], command: str, otherwise: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The values of all parameters, by name, as `theory.evaluate` takes them.

    Args:
        claim: the claim.
        assignments: texts ``NAME=VALUE``.
        command: its beginning, for the example of a message.
        otherwise: values of parameters that may be left out.

    Raises:
        ValueError: for a value that cannot be read, an unknown name, or parameters that are missing: all of them are
            named, each with its domain, and the command is written out with values that can be replaced.
    """
    from theory import evaluate
    from theory.values import split

    named = {text.partition("=")[0].strip() for text in assignments}
    given = [*assignments, *(f"{name}={value}" for name, value in (otherwise or {}).items() if name not in named)]
    missing = [p for p in claim.parameters if p.name not in named and p.name not in (otherwise or {})]
    lengths = [len(split(text)) for text in given if "," in text] or [2]
    samples = [_sample(p, lengths[0]) for p in missing]
    found = evaluate.parse_assignments([*given, *samples], claim)  # what is wrong with a given value comes first
    if not missing:
        return found
    wanted = "; ".join(f"{p.name} {p.domain.membership}{' (a vector)' * (p.shape == 'vector')}" for p in missing)
    example = " ".join(f"--set {text}" for text in [*map(shlex.quote, assignments), *samples])
    raise ValueError(f"{claim.id} needs values for {wanted}; for example: {command} {example}")


def of_calculator(claim: Claim, assignments: Sequence[str], command: str) -> tuple[Calculator, dict[str, Any]]:
    """A claim in numbers, and the values of its parameters, as `all_of` finds them.

    A parameter that stands for an expression is given by its name or by that, ``norm2(x0 - xstar)=4``. What only
    hypotheses speak of may be left out.

    Raises:
        ValueError: as `all_of`.
    """
    from theory.calculator import ROUNDS, calculator
    from theory.values import unknown_parameter

    whole = calculator(claim, all_relations=True)
    split = [text.partition("=") for text in assignments]
    given = {whole.named(name.strip()): name.strip() for name, _, _ in split}
    found = calculator(claim, given)
    known = {p.name for p in found.bound.parameters} - {ROUNDS}
    for name, written in given.items():
        if name not in known and written:
            raise unknown_parameter(whole.left or whole.bound, written)
    renamed = [f"{whole.named(name.strip())}{equals}{value}" for name, equals, value in split]
    defaults = {} if claim.of is None else {name: str(value) for name, value in claim.of.defaults.items()}
    otherwise = {name: value for name, value in {**defaults, ROUNDS: "0"}.items() if name in (*known, ROUNDS)}
    if not any(p.name == ROUNDS for p in found.bound.parameters):
        otherwise.pop(ROUNDS)
    return found, found.complete(all_of(found.bound, renamed, command, otherwise))


def _sample(parameter: Parameter, length: int) -> str:
    value = str(next((value for value in SAMPLES if parameter.domain.contains(value)), SAMPLES[0]))
    return f"{parameter.name}={','.join([value] * length) if parameter.shape == 'vector' else value}"
