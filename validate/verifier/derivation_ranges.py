"""Over what the indices h and j go in derivations: the turns of a loop, or the vectors that a state remembers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .assumed import alike
from .derivation_places import Env
from .derivation_terms import Atom, Poly, all_atoms
from .reading import Uncheckable
from .sentences import Node, everything, index_of, names_in
from .stated import Claimed
from .steps import Loop, Program
from .vocabulary import PASTS

LAGS = "lags"
"""What is remembered, as a range."""
DEPTHS = {"h": 0, "j": 1}
Range = Loop | str


def ranges_in(tree: Node, index: str, env: Env, claimed: Claimed, weights: set[str]) -> set[Range]:
    """The loops around the taps that have an index, and whether remembered vectors, or their weights, have it.

    Raises:
        Uncheckable: where it stands for a round.
    """
    found: set[Range] = set()
    program, words = claimed.program, claimed.words
    for node in meant(tree, env, claimed):
        if node.op == "name" and index_of(node.name) in {(base, index) for base in weights}:
            found.add(LAGS)
        if node.op != "at":
            continue
        places = [place for place, part in enumerate(node.args) if index in names_in(part)]
        if 0 in places:
            raise Uncheckable(f"the index {index} stands for a round of {node.name}")
        for place in places:
            if node.name in words.states:
                found.add(LAGS)
            else:
                assert program is not None
                found.add(program.taps[node.name][1][place - 1])
    return found


def meant(tree: Node, env: Env, claimed: Claimed) -> Iterator[Node]:
    """All parts of a tree, and of what the names in it stand for."""
    left, seen = [tree], set[str]()
    while left:
        for node in everything(left.pop()):
            yield node
            if node.op == "name" and node.name not in seen:
                seen.add(node.name)
                inner = env.trees[node.name][0] if node.name in env.trees else None
                inner = inner or claimed.words.definitions.get(node.name)
                left += [] if inner is None else [inner]


def ranges_of(p: Poly, index: str, program: Program | None, weights: set[str]) -> set[Range]:
    """The same of a polynomial in which the index is free."""
    found: set[Range] = set()

    def has(part: object) -> bool:
        return isinstance(part, Atom) and index in part.frees

    for a in all_atoms(p):
        if a.tag == "p" and a.parts[0] in weights and any(map(has, a.parts[1:])):
            found.add(LAGS)
        if a.tag not in ("x", "tap") or index not in a.frees:
            continue
        assert program is not None
        if has(a.parts[1]):
            raise Uncheckable(f"the index {index} stands for a round of {a.parts[0]}")
        if a.tag == "x":
            found.add(LAGS)
        else:
            loops = program.taps[a.parts[0]][1]
            found |= {loop for loop, part in zip(loops, a.parts[2:], strict=False) if has(part)}
    return found


def possible(program: Program | None, index: str) -> set[Range]:
    """All that an index may go over in an algorithm."""
    if program is None:
        return set()
    depth = DEPTHS[index]
    found: set[Range] = {loops[depth] for _, loops in program.taps.values() if len(loops) > depth}
    return found | ({LAGS} if any(s.kind in PASTS for s in program.state) else set())


def length(program: Program | None) -> Node:
    """The formula of how many vectors are remembered.

    Raises:
        Uncheckable: where there is none, or states remember differently many.
    """
    trees = [s.length.tree for s in (() if program is None else program.state) if s.length is not None]
    if not trees or not all(alike(tree, trees[0]) for tree in trees) or trees[0].op not in ("name", "number"):
        raise Uncheckable("how many vectors are remembered is not one formula")
    return trees[0]


def one_range(found: Iterable[Range], index: str) -> Range:
    """The only one.

    Raises:
        Uncheckable: where there are none, or several.
    """
    every = list(found)
    if len(every) != 1:
        raise Uncheckable(f"over how many {index} is summed cannot be told")
    return every[0]
