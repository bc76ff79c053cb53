"""Sentences of a derivation that are true, and what they hang on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .derivation_places import Env
from .derivation_terms import Poly
from .sentences import Node

TURNED = {"<=": ">=", "<": ">", ">=": "<=", ">": "<", "==": "=="}


@dataclass(frozen=True, eq=False)
class Fact:
    """A sentence that is true, with what it hangs on.

    Attributes:
        difference: right - left, at least 0 (`strict`: more; `equal`: 0); `shape`: that without its content.
        fixed: indices at which alone it is known, by the number of the induction or case that fixes them: no other may
            be put in their place, and no mean taken over them.
        reach: where it hangs on a hypothesis with a free k, the number r with which it is known for k + r <= K; of h
            likewise, by the number of turns.
        remake: of what a schema says, its environment with other indices.
    """

    name: str
    left: Node
    relation: str
    right: Node
    env: Env
    difference: Poly
    shape: Poly
    fixed: frozenset[tuple[str, int]] = frozenset()
    reach: Mapping[str, int] = field(default_factory=dict)
    remake: Callable[[Env], Env] | None = None

    @property
    def strict(self) -> bool:
        return self.relation in ("<", ">")

    @property
    def equal(self) -> bool:
        return self.relation == "=="

    @property
    def held(self) -> frozenset[str]:
        """The indices at which it is fixed."""
        return frozenset(index for index, _ in self.fixed)


class Used:
    """What the line that is being checked hangs on.

    Attributes:
        fixed, reach: as of facts. open: whether it has a value only where something with a free index is not 0.
    """

    def __init__(self) -> None:
        self.fixed: frozenset[tuple[str, int]] = frozenset()
        self.reach: Mapping[str, int] = {}
        self.open = False

    def add(self, fact: Fact) -> None:
        """The line uses this."""
        self.fixed |= fact.fixed
        self.reach = furthest(self.reach, fact.reach)

    def merge(self, other: Used) -> None:
        """What hangs on the line hangs on this too."""
        self.fixed |= other.fixed
        self.open |= other.open
        self.reach = furthest(self.reach, other.reach)


def furthest(one: Mapping[str, int], two: Mapping[str, int]) -> dict[str, int]:
    """How far what hangs on both reaches."""
    return {index: max(one.get(index, 0), two.get(index, 0)) for index in (*one, *two)}
