"""Numbers for all names of a claim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from theory.claim import Claim
from theory.sentence import index_of
from validate.instances.numbers import number
from validate.instances.scalars import Schedule


@dataclass(frozen=True)
class Numbers:
    """Numbers for all names of a claim.

    Attributes:
        parameters: of the algorithm, as an instance has them.
        constants: of all other names.
        algorithm: ``paper/name``, as an instance has it.
    """

    parameters: Mapping[str, Any]
    constants: Mapping[str, Any]
    algorithm: str = ""


def numbers_of(claim: Claim, values: Mapping[str, Any]) -> Numbers:
    """Numbers by name without index, exactly: "0.1" is one tenth; lists are one a client, or the rows of a
    matrix, and ``{"k": [...]}`` is one a round.

    Raises:
        ValueError: for a name that is missing, or that the claim does not have.
    """
    own = () if claim.program is None else claim.program.parameters
    needed = {index_of(name)[0] for name in claim.symbols} - {"N", "K"}
    if claim.program is not None and "keep" in claim.program.operations:
        needed |= {"d"}
    known = needed | set(own) | {"J"}
    for name in values:
        if name not in known:
            raise ValueError(f"values has {name!r}; {claim.id} has {', '.join(sorted(needed))}")
    for name in sorted(needed | set(own) - {"N"}):
        if name not in values and not (claim.of is not None and name in claim.of.defaults):
            raise ValueError(f"values: {name} is missing; {claim.id} has {', '.join(sorted(needed))}")

    def exact(value: Any) -> Any:
        if isinstance(value, Mapping) and set(value) == {"k"}:
            return Schedule(tuple(exact(v) for v in value["k"]))
        return tuple(map(exact, value)) if isinstance(value, list | tuple) else number("values", value)

    given = {} if claim.of is None else dict(claim.of.defaults)
    given |= {name: exact(value) for name, value in values.items()}
    called = "" if claim.of is None else f"{claim.paper}/{claim.of.name}"
    parameters = {name: value for name, value in given.items() if name in own or name == "J"}
    return Numbers(parameters, {name: value for name, value in given.items() if name not in own}, called)
