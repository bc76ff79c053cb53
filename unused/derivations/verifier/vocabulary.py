"""What the trees of sentences are: numbers or vectors, certain or random, with which free indices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .reading import FormatError, shown
from .sentences import (
    ALL_CLIENTS,
    FUNCTIONS,
    INDICES,
    OF_VECTORS,
    ONE_NUMBER,
    OVER,
    POINTS,
    SEVERAL_NUMBERS,
    SIZES,
    Node,
    index_of,
)

PASTS = ("past", "client past")
"""Kinds of states that remember vectors: they have a second index, how long ago."""


@dataclass(frozen=True)
class Reading:
    """What a tree is: a vector or a number, its free indices, whether it speaks of what is drawn outside of E."""

    vector: bool
    free: frozenset[str] = frozenset()
    random: bool = False


@dataclass(frozen=True)
class Vocabulary:
    """What names mean.

    Attributes:
        states: the kinds of the state variables.
        taps: of each tap, the kind of its value and how many loops are around it.
        vectors: free vectors.
        definitions: trees by name, each in parameters and the definitions before it.
    """

    states: Mapping[str, str] = field(default_factory=dict)
    taps: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    vectors: frozenset[str] = frozenset()
    definitions: Mapping[str, Node] = field(default_factory=dict)
    known: dict[Node, Reading] = field(default_factory=dict)

    def read(self, tree: Node) -> Reading:
        """What a tree is.

        Raises:
            FormatError: where it makes no sense: vectors in the place of numbers, names that mean nothing.
        """
        found = self.known.get(tree)
        if found is None:
            found = self.known[tree] = self._read(tree)
        return found

    def _read(self, tree: Node) -> Reading:
        op = tree.op
        if op == "number":
            return Reading(False)
        if op == "name":
            return self._name(tree.name)
        if op == "at":
            return self._at(tree)
        if op == "function":
            raise FormatError(f"{tree.name} is a function and needs its argument")
        parts = [self.read(a) for a in tree.args]
        free = frozenset[str]().union(*(p.free for p in parts))
        random = any(p.random for p in parts)
        vectors = [p.vector for p in parts]
        if op in ("+", "-") and vectors[0] != vectors[1]:
            raise FormatError("a number and a vector are added")
        if (op == "*" and all(vectors)) or (op == "/" and vectors[1]):
            raise FormatError("a product of two vectors, or a division by one")
        if op in ("**", *ONE_NUMBER, *SEVERAL_NUMBERS) and any(vectors):
            raise FormatError(f"{op} of a vector")
        if op in ("+", "-", "*", "/", "neg"):
            return Reading(any(vectors), free, random)
        if op in ("**", *ONE_NUMBER, *SEVERAL_NUMBERS):
            return Reading(False, free, random)
        if op in OF_VECTORS or op == "grad" or op in FUNCTIONS:
            if not all(vectors):
                raise FormatError(f"{op} of a number")
            own = FUNCTIONS.get(tree.name if op == "grad" else op, "")
            own += "c" if op == "coordinate" else ""
            return Reading(op == "grad", free | frozenset(own), random)
        if op == "E":
            return Reading(vectors[0], free)
        if op == "quantile":
            if any(vectors) or parts[1].random:
                raise FormatError("a quantile of a vector, or for a probability that is drawn")
            return Reading(False, free)
        if op in ALL_CLIENTS:
            if any(vectors):
                raise FormatError(f"{op} of a vector")
            if op == "argmin_n" and any("n" in p.free for p in parts[1:]):
                raise FormatError("the radius of argmin_n is one a client")
            return Reading(True, free - {"n"}, random) if op == "argmin_n" else Reading(False, free | {"n"}, random)
        how, index = OVER[op]
        if how in ("max", "min") and vectors[0]:
            raise FormatError(f"{op} of vectors")
        if index in ("h", "j") and index not in free:
            raise FormatError(f"nothing has the turn {index} over which is summed")
        return Reading(vectors[0], free - {index} | (frozenset("n") if index == "i" else frozenset()), random)

    def _name(self, name: str) -> Reading:
        if name in self.vectors:
            return Reading(True, frozenset("n") if name.endswith("_n") else frozenset())
        if name in self.definitions:
            return self.read(self.definitions[name])
        if name in POINTS:
            return Reading(True, frozenset(POINTS[name]))
        if name in INDICES:
            return Reading(False, frozenset(name))
        if name in self.states or name in self.taps:
            raise FormatError(f"{name} is a state or a tap and needs its indices")
        if name in SIZES or name == "fstar":
            return Reading(False)
        return Reading(False, frozenset(index_of(name)[1]))

    def _at(self, tree: Node) -> Reading:
        kind, loops = self.taps.get(tree.name, ("", -1))
        if tree.name in self.states:
            kind = self.states[tree.name]
            loops = 1 if kind in PASTS else 0
        if loops < 0 or kind not in ("server", "client", "table", *PASTS) or len(tree.args) != 1 + loops:
            raise FormatError(f"{shown(tree.name)}[...] is no state and no tap, or has other indices")
        parts = [self.read(a) for a in tree.args]
        if any(p.vector or p.random or p.free - {"k", "h", "j"} for p in parts):
            raise FormatError(f"an index of {tree.name} is no number of rounds or turns")
        own = {"server": "", "past": "", "client": "n", "client past": "n", "table": "ni"}[kind]
        free = frozenset(own).union(*(p.free for p in parts))
        first = tree.args[0]
        start = tree.name in self.states and first.op == "number" and first.value == 0
        return Reading(True, free, not start)
