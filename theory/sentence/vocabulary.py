"""What a tree speaks of: the names that a sentence may use, and whether it is a number or a vector, and random."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Literal

from theory.formula import SCALAR_FUNCTIONS, Apply, Name, Number
from theory.program import STACKS
from theory.program.findings import Findings
from theory.sentence.trees import (
    ALL_CLIENTS,
    COORDINATE,
    FUNCTION_NAMES,
    GIVEN_THE_PAST,
    INDICES,
    NUMBERS_OF_VECTORS,
    OVER,
    POINTS,
    SPECIAL,
    TURNS,
    At,
    Expression,
    SentenceError,
    everything,
    parts,
    text_of,
)

Shape = Literal["scalar", "vector"]


@dataclass(frozen=True)
class Vocabulary:
    """The names that a sentence may use.

    Attributes:
        states: kinds of the state variables by name, as in `theory.program.Kind`.
        taps: by name, the kind and how many loops are around.
        vectors: free vectors (``"x"``, ``"a_n"``).
        definitions: trees by name, without definitions in them.
        numbers: names that are parameters for certain (an algorithm's); others are parameters too.
    """

    states: Mapping[str, str] = field(default_factory=dict)
    taps: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    vectors: tuple[str, ...] = ()
    definitions: Mapping[str, Expression] = field(default_factory=dict)
    numbers: tuple[str, ...] = ()

    @cached_property
    def readings(self) -> dict[Expression, Reading]:
        """What `read` has found, kept."""
        return {}

    @cached_property
    def readings_of_objects(self) -> dict[int, tuple[Expression, Reading]]:
        """The same by the identity of trees, which are kept with them: equal trees take longer to find."""
        return {}

    @cached_property
    def kept(self) -> Findings:
        """What readers of trees find out about them in this vocabulary, each by keys of its own."""
        return Findings()

    @cached_property
    def free_vectors(self) -> Mapping[str, str]:
        """Index of each free vector: ``"n"`` for ``a_n``, else ``""``."""
        return {name: "n" if name.endswith("_n") else "" for name in self.vectors}


@dataclass(frozen=True)
class Reading:
    """What a tree is, in a vocabulary.

    Attributes:
        shape: a number or a vector.
        free: the indices that are free in it.
        random: whether it speaks of states after the start, or of taps, outside of E.
        parameters: names of parameters, ``p_n`` and ``eta_k`` as they are written.
    """

    shape: Shape
    free: frozenset[str] = frozenset()
    random: bool = False
    parameters: frozenset[str] = frozenset()


_INDEXED = re.compile(r"(?P<base>[A-Za-z][A-Za-z0-9_]*?)_(?P<index>ni|n|i|k|h|j)\Z")


@lru_cache(4096)
def index_of(name: str) -> tuple[str, str]:
    """A parameter's name without its index, and the index: ``p_n`` is p for every n; ``eta`` has none."""
    match = _INDEXED.match(name)
    return (match["base"], match["index"]) if match else (name, "")


def remembered(e: Expression, index: str, words: Vocabulary) -> tuple[frozenset[str], frozenset[str]]:
    """The states and the parameters, without index, of which a tree has what is remembered at this index.

    Both are empty where a tap has the index, which is then a turn.
    """
    if _of_a_tap(e, index, words):
        return frozenset(), frozenset()
    states, names = set(), set()
    for part in everything_meant(e, words):
        if isinstance(part, At) and Name(index) in (x for i in part.indices[1:] for x in everything(i)):
            states.add(part.name)
        elif isinstance(part, Name) and part.name not in words.definitions and index_of(part.name)[1] == index:
            names.add(index_of(part.name)[0])
    return frozenset(states), frozenset(names)


def check_turns(e: Expression, words: Vocabulary) -> None:
    """Sums, means and extremes over h and j are of the turns of a tap's loops, or of what is remembered.

    Raises:
        SentenceError: for one in which neither has the index; the taps in loops are named.
    """
    remembers = not (words.states or words.taps) or any(kind in STACKS for kind in words.states.values())
    for part in everything(e):
        index = OVER[part.operation][1] if isinstance(part, Apply) and part.operation in OVER else ""
        if index not in TURNS or _of_a_tap(part, index, words):
            continue
        states, names = remembered(part, index, words)
        if states or (names and remembers):
            continue
        raise SentenceError(
            f"{text_of(part)}: no tap in it has the turn {index}, nor has anything that is remembered{_loops(words)}"
        )


def _loops(words: Vocabulary) -> str:
    """Which taps stand in loops, for messages; nothing without an algorithm."""
    loops = [f"{name}[{', '.join(('k', *TURNS[:around]))}]" for name, (_, around) in words.taps.items() if around]
    if loops:
        return f"; taps in loops are {', '.join(loops)}"
    return "; no tap stands in a loop" if words.states or words.taps else ""


def _of_a_tap(e: Expression, index: str, words: Vocabulary) -> bool:
    """Whether a tap in a tree has an index, which is a turn then."""
    taps = (part for part in everything_meant(e, words) if isinstance(part, At) and part.name in words.taps)
    return any(Name(index) in everything(i) for tap in taps for i in tap.indices[1:])


def everything_meant(e: Expression, words: Vocabulary) -> Iterator[Expression]:
    """The tree and all its parts, with what definitions stand for."""
    for part in everything(e):
        yield part
        if isinstance(part, Name) and part.name in words.definitions:
            yield from everything_meant(words.definitions[part.name], words)


def read(e: Expression, words: Vocabulary) -> Reading:
    """What a tree is.

    Raises:
        SentenceError: for names that mean nothing here, vectors where numbers are needed, indices that are not there.
    """
    known = words.readings_of_objects.get(id(e))
    if known is not None:
        return known[1]
    found = words.readings.get(e)
    if found is None:
        if isinstance(e, Number):
            found = Reading("scalar")
        elif isinstance(e, Name):
            found = _read_name(e.name, words)
        else:
            found = _read_at(e, words) if isinstance(e, At) else _read_apply(e, words)
        words.readings[e] = found
    words.readings_of_objects[id(e)] = (e, found)
    return found


def _read_name(name: str, words: Vocabulary) -> Reading:
    if name in words.free_vectors:
        return Reading("vector", frozenset(words.free_vectors[name]))
    if name in words.definitions:
        return read(words.definitions[name], words)
    if name in POINTS:
        return Reading("vector", frozenset(POINTS[name]))
    if name in INDICES:
        return Reading("scalar", frozenset(name))
    if name in ("fstar", "N", "d"):
        return Reading("scalar")
    if name == "K":
        return Reading("scalar", parameters=frozenset({"K"}))
    if name in words.states or name in words.taps:
        raise SentenceError(f"{name} is a state or a tap: write {name}[k]")
    if name in SPECIAL:
        raise SentenceError(f"{name} is a function and needs its arguments")
    return Reading("scalar", frozenset(index_of(name)[1]), parameters=frozenset({name}))


def _read_at(e: At, words: Vocabulary) -> Reading:
    if e.name in words.states:
        kind = words.states[e.name]
        loops = int(kind in STACKS)
    elif e.name in words.taps:
        kind, loops = words.taps[e.name]
    else:
        raise SentenceError(f"{text_of(e)}: {_no_state(e, words)}")
    if len(e.indices) != 1 + loops:
        wanted = f"{e.name}[{', '.join(['k', 'j'] if kind in STACKS else ['k', 'h', 'j'][: 1 + loops])}]"
        raise SentenceError(f"{text_of(e)} has {len(e.indices)} indices; write {wanted}")
    found = [read(i, words) for i in e.indices]
    for index, one in zip(e.indices, found, strict=True):
        if one.shape != "scalar" or one.random or one.free - {"k", "h", "j"}:
            raise SentenceError(f"{text_of(e)}: the index {text_of(index)} is not a number of rounds or turns")
    own = {"client": {"n"}, "client past": {"n"}, "table": {"n", "i"}}.get(kind, set())
    start = e.name in words.states and e.indices[0] == Number(Fraction(0))
    free = frozenset(own).union(*(one.free for one in found))
    return Reading("vector", free, not start, frozenset().union(*(one.parameters for one in found)))


def _no_state(e: At, words: Vocabulary) -> str:
    """That something with indices is neither a state nor a tap, and what may be meant."""
    if e.name in SPECIAL - {*POINTS, *INDICES, "fstar", "N", "d", "K"} or e.name in SCALAR_FUNCTIONS:
        return f"{e.name} is a function, and its arguments stand in round parentheses: {e.name}(...)"
    if e.name.startswith("E_"):
        return f"{e.name} is neither a state nor a tap; {GIVEN_THE_PAST}"
    known = ", ".join([*words.states, *words.taps]) or "none"
    hint = "" if e.name in SPECIAL else f"; one number for each round is written {e.name}_k"
    if e.name in words.definitions or e.name in words.free_vectors:
        hint = f"; {e.name} is one thing for all rounds, and has no index in brackets"
    return f"{e.name} is neither a state nor a tap; there are {known}{hint}"


def _vectors_meant(e: Expression, words: Vocabulary) -> str:
    """Of a number where a vector is needed: which vectors its names may have been meant as."""
    spoken = sorted({part.name for part in everything(e) if isinstance(part, Name)})
    names = [name for name in spoken if name != "K" and name in _read_name(name, words).parameters]
    names = [name for name in names if name not in words.numbers]
    for name in names:
        base, index = index_of(name)
        if index and (base in words.states or base in words.taps):
            return f"; write {base}[{index}]"
        if close := difflib.get_close_matches(name, POINTS, 1, 0.75):
            return f"; did you mean {close[0]}?"
    return f"; free vectors are named: vectors={(*words.vectors, *names)!r}" if names else ""


def _read_apply(e: Apply, words: Vocabulary) -> Reading:
    op, inner = e.operation, [read(a, words) for a in parts(e)]
    free = frozenset().union(*(one.free for one in inner))
    chance = any(one.random for one in inner)
    names: frozenset[str] = frozenset().union(*(one.parameters for one in inner))
    shapes = [one.shape for one in inner]

    def need(shape: Shape) -> None:
        for argument, one in zip(parts(e), inner, strict=True):
            if one.shape != shape:
                hint = _vectors_meant(argument, words) if shape == "vector" else ""
                raise SentenceError(
                    f"{text_of(e)}: {text_of(argument)} is a {one.shape}, and a {shape} is needed{hint}"
                )

    if op in ("+", "-"):
        if shapes[0] != shapes[1]:
            hint = _vectors_meant(parts(e)[shapes.index("scalar")], words)
            raise SentenceError(f"{text_of(e)} adds a number and a vector{hint}")
        return Reading(shapes[0], free, chance, names)
    if op == "neg":
        return Reading(shapes[0], free, chance, names)
    if op == "*":
        if shapes == ["vector", "vector"]:
            raise SentenceError(f"{text_of(e)} is a product of two vectors: write dot(u, v)")
        return Reading("vector" if "vector" in shapes else "scalar", free, chance, names)
    if op == "/":
        if shapes[1] == "vector":
            raise SentenceError(f"{text_of(e)} divides by a vector")
        return Reading(shapes[0], free, chance, names)
    if op == "**" or op in SCALAR_FUNCTIONS:
        need("scalar")
        return Reading("scalar", free, chance, names)
    if op in NUMBERS_OF_VECTORS or op == COORDINATE:
        need("vector")
        return Reading("scalar", free, chance, names)
    function = op.removeprefix("grad ")
    if function in FUNCTION_NAMES:
        need("vector")
        own = frozenset({"f": "", "f_n": "n", "f_ni": "ni"}[function])
        return Reading("vector" if op.startswith("grad ") else "scalar", free | own, chance, names)
    if op == "E":
        return Reading(shapes[0], free, False, names)
    if op == "quantile":
        need("scalar")
        if inner[1].random:
            raise SentenceError(f"{text_of(e)}: the probability {text_of(parts(e)[1])} is random")
        return Reading("scalar", free, False, names)
    if op in ALL_CLIENTS:
        need("scalar")
        if op == "argmin_n":
            if "n" in frozenset().union(*(one.free for one in inner[1:])):
                raise SentenceError(f"{text_of(e)}: the radius is one number, and not one a client")
            return Reading("vector", free - {"n"}, chance, names)
        return Reading("scalar", free | {"n"}, chance, names)
    how, index = OVER[op]
    if how in ("max", "min"):
        need("scalar")
    if index in TURNS and index not in free:
        raise SentenceError(f"{text_of(e)}: nothing in it has the turn {index}{_loops(words)}")
    more = frozenset({"K"}) if index == "k" else frozenset()
    freed = free - {index} | (frozenset("n") if index == "i" else frozenset())
    return Reading(shapes[0], freed, chance, names | more)
