"""Of which indices a sentence speaks on an instance: those at which all that it names lies in the run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product

from theory.formula import Apply, Name, Number
from theory.sentence import (
    ALL_CLIENTS,
    INDICES,
    OVER,
    TURNS,
    At,
    Expression,
    Sentence,
    applied,
    everything_meant,
    index_value,
    remembered,
)
from validate.both_sides.world import HIDDEN, World
from validate.instances.scalars import Schedule
from validate.instances.world import few_terms


def indices_of(sentence: Sentence, world: World, free: frozenset[str]) -> Iterator[dict[str, int]]:
    """The values of the free indices for which all indices of the sentence lie in the run."""
    turns, words = 0, world.words
    if free & set(TURNS):
        taps = {e.name for side in sentence.sides for e in everything_meant(side, world.words) if isinstance(e, At)}
        turns = max((_most_turns(world, tap) for tap in taps & set(world.words.taps)), default=0)
        both = applied("+", sentence.sides)
        lags = [world.remembers(both, i) for i in free & set(TURNS) if any(remembered(both, i, words))]
        turns = max(turns, *lags, 0)
    K = few_terms(world.instance.rounds) if free & {"k", "*k"} else world.instance.rounds
    ranges: dict[str, Iterable[int]] = {"k": range(K + 1), "*k": range(K), "h": range(turns), "j": range(turns)}
    clients = [name for name in ("n", "*n") if name in free]
    if clients or "i" in free:
        ranges |= {
            name: list(world.over("n", sentence.left, {})) for name in (*clients, *(["n"] if "i" in free else []))
        }
    names = [name for name in (*HIDDEN, *INDICES) if name in free or (name == "n" and "i" in free)]
    plain = [name for name in names if name != "i"]
    inside: dict[tuple[int, ...], bool] = {}
    for values in product(*(ranges[name] for name in plain)):
        at = dict(zip(plain, values, strict=True))
        rest = tuple([value for name, value in at.items() if name != "n"])  # which client it is makes no difference
        if rest not in inside:
            inside[rest] = all(in_run(world, side, {**at, "n": 0, "i": 0}) for side in sentence.sides)
        if not inside[rest]:
            continue
        if "i" not in free:
            yield at
            continue
        for i in range(world.problem.samples(at["n"])):
            yield {**at, "i": i}


def _most_turns(world: World, tap: str) -> int:
    """The largest number of turns of any loop around a tap, in any round."""
    loops = world.words.taps[tap][1]
    most = 0
    for k in range(world.instance.rounds):
        outers: list[tuple[int, ...]] = [()]
        for _ in range(loops):
            counts = [(outer, world.play.turns(tap, k, outer)) for outer in outers]
            most = max(most, *(count for _, count in counts))
            outers = [(*outer, t) for outer, count in counts for t in range(count)]
    return most


def in_run(world: World, e: Expression, at: Mapping[str, int]) -> bool:
    """Whether all indices of a tree lie in the run."""
    if _always_in_run(world, e):
        return True
    K = world.instance.rounds
    if isinstance(e, Name):
        if e.name in world.words.definitions:
            return in_run(world, world.words.definitions[e.name], at)
        value = world.given.get(e.name, world.given.get(e.name.removesuffix("_k")))
        if isinstance(value, Schedule):
            return at["k" if e.name.endswith("_k") else "*k"] < min(K, len(value.values))
        return True
    if isinstance(e, At):
        indices = [index_value(i, world, at, world.words) for i in e.indices]
        if not 0 <= indices[0] <= K - (e.name not in world.words.states):
            return False
        if e.name in world.words.states and len(indices) > 1:
            lengths = zip(world.instance.program.state, world.instance.lengths, strict=True)  # type: ignore[union-attr]
            return any(s.name == e.name and indices[1] in range(length or 0) for s, length in lengths)
        if e.name in world.words.states or len(indices) == 1:
            return True
        return all(
            0 <= t < world.play.turns(e.name, indices[0], tuple(indices[1:p])) for p, t in enumerate(indices[1:], 1)
        )
    if isinstance(e, Number):
        return True
    arguments: tuple[Expression, ...] = e.arguments
    if e.operation not in OVER:
        within = {**at, "n": 0} if e.operation in ALL_CLIENTS else at
        return all(in_run(world, a, within) for a in arguments)
    index, inner = OVER[e.operation][1], arguments[0]
    if index in "ni":  # as above
        return in_run(world, inner, {**at, index: 0})
    if index == "k":
        return all(in_run(world, inner, {**at, "k": k}) for k in world.over("k", inner, at))
    try:
        turns = world.over(index, inner, at)
    except ValueError:  # the round itself is not in the run
        return False
    return all(in_run(world, inner, {**at, index: turn}) for turn in turns)


def _always_in_run(world: World, e: Expression) -> bool:
    """Whether nothing in a tree could lie outside of the run: no state, no tap, no turn, no number of a round."""
    if world.by_round:
        return False

    def found() -> bool:
        return not any(
            isinstance(part, At) or (isinstance(part, Apply) and OVER.get(part.operation, ("", ""))[1] in TURNS)
            for part in everything_meant(e, world.words)
        )

    return world.words.kept.about(e, "always", found)
