"""What an algorithm does with its parameters: turns of loops, numbers of clients, steps, chances, matrices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from theory.claim import Claim
from theory.predicates import Connected
from theory.program import Instruction, Loop, Program, names_in

# --- what an algorithm does with its parameters ----------------------------------------------------------------------


@dataclass(frozen=True)
class Roles:
    """What the parameters of a program are for, by name.

    Attributes:
        turns: how often a loop turns.
        clients: how many clients are chosen (at most N, but for draws with replacement).
        coordinates: how many coordinates are kept (at most d).
        batch: how many samples are drawn.
        chances: probabilities.
        matrices: W of ``mix``, and of ``connected``.
        weights: J numbers for remembered vectors.
        steps: numbers of local steps that clients take (``before``).
        lengths: numbers of remembered vectors; names that only the decorator has are among them.
    """

    turns: frozenset[str] = frozenset()
    clients: frozenset[str] = frozenset()
    coordinates: frozenset[str] = frozenset()
    batch: frozenset[str] = frozenset()
    chances: frozenset[str] = frozenset()
    matrices: frozenset[str] = frozenset()
    weights: frozenset[str] = frozenset()
    steps: frozenset[str] = frozenset()
    lengths: frozenset[str] = frozenset()

    @property
    def counts(self) -> frozenset[str]:
        """All that are integers, at least 1."""
        return self.turns | self.clients | self.coordinates | self.batch | self.lengths


def roles_of(program: Program | None) -> Roles:
    """What the parameters of a program are for, read off its instructions."""
    return Roles() if program is None else program.kept.once("roles", lambda: _roles_of(program))


def roles_in(claim: Claim) -> Roles:
    """What the parameters of a claim are for: as its program has them, and networks of which it speaks without one."""
    roles = roles_of(claim.program)
    networks = frozenset(one.matrix for one in claim.predicates if isinstance(one, Connected))
    return roles if networks <= roles.matrices else replace(roles, matrices=roles.matrices | networks)


def _roles_of(program: Program) -> Roles:
    found: dict[str, set[str]] = {name: set() for name in Roles.__dataclass_fields__}
    kinds = {"choose": "clients", "keep": "coordinates", "top": "coordinates", "sample": "batch"}
    for step in program.steps:
        if isinstance(step, Loop):
            if step.count is not None:
                found["turns"] |= names_in(step.count)
            continue
        assert isinstance(step, Instruction)
        if step.op in kinds:
            found[kinds[step.op]] |= names_in(step.numbers[0])
        elif step.op in ("coin", "coins"):
            found["chances"] |= names_in(step.numbers[0])
        elif step.op == "before":
            found["steps"] |= names_in(step.numbers[1])
        elif step.op == "mix":
            found["matrices"].add(step.label)
        elif step.op == "combine":
            found["weights"].add(step.label)
    for state in program.state:
        if state.length is not None:
            found["lengths"] |= names_in(state.length)
    own = set(program.parameters)
    return Roles(**{role: frozenset(names if role == "lengths" else names & own) for role, names in found.items()})


def turns_of(program: Program | None, values: Mapping[str, Any]) -> int:
    """The turns of all loops of a round multiplied; of one number a client the largest counts.

    Args:
        program: whose loops.
        values: of its parameters.
    """
    turns = 1
    for name in roles_of(program).turns:
        value = values[name]
        turns *= max(map(int, value)) if isinstance(value, list) else int(value)
    return turns
