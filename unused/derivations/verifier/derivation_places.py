"""Where a tree of a derivation stands: which indices are meant there, and names that are given elsewhere."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from .derivation_terms import Poly
from .sentences import Node


@dataclass(frozen=True, eq=False)
class Env:
    """What indices are where a tree stands, and names that are given elsewhere.

    Attributes:
        names: of n and i, the index's name. nums: of k, h and K, a number.
        given: polynomials by name; those of a name with _n have the index n, which becomes that of the place.
        trees: trees by name, in the environments that they are from, where they are known.
    """

    names: Mapping[str, str] = field(default_factory=lambda: {"n": "n", "i": "i"})
    nums: Mapping[str, Poly] = field(default_factory=dict)
    given: Mapping[str, Poly] = field(default_factory=dict)
    trees: Mapping[str, tuple[Node, Env]] = field(default_factory=dict)

    @cached_property
    def key(self) -> Hashable:
        """What it says; where names are given elsewhere, it is like no other."""
        if self.given or self.trees:
            return self
        return tuple(self.names.items()), tuple((name, frozenset(p.items())) for name, p in self.nums.items())

    def with_names(self, **names: str) -> Env:
        return replace(self, names={**self.names, **names})

    def with_nums(self, **nums: Poly) -> Env:
        return replace(self, nums={**self.nums, **nums})
