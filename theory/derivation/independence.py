"""What may hang on a draw: the values of a round that are made of it, and the states and taps that come after it.

Values carried through loops are made of what they begin with and of what they become, whatever the turn; a tap that
shows what its loop carries shows it as it is at the beginning of a turn, before the draws of that turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from theory.derivation.quotients import Quotient, RejectedError
from theory.formula import names_in
from theory.program import Loop, loops_around
from theory.program.data import Step

if TYPE_CHECKING:
    from theory.derivation.rounds import Rounds


def made_of(steps: Sequence[Step]) -> Mapping[str, frozenset[str]]:
    """Of each value of a round, those that it is made of in that round, itself among them."""
    parents: dict[str, set[str]] = {}

    def walk(some: Iterable[Step], counts: frozenset[str]) -> None:
        for step in some:
            if isinstance(step, Loop):
                own = counts | (names_in(step.count) if step.count is not None else frozenset())
                for c in step.carried:
                    parents.setdefault(c.name, set()).update({c.first, c.following}, own)
                walk(step.body, own)
            elif step.to:
                parents.setdefault(step.to, set()).update(step.of, counts, *map(names_in, step.numbers))

    walk(steps, frozenset())
    return {name: _reached(name, parents) for name in parents}


def _reached(name: str, parents: Mapping[str, set[str]]) -> frozenset[str]:
    found, left = {name}, [name]
    while left:
        new = parents.get(left.pop(), set()) - found
        found |= new
        left += new
    return frozenset(found)


def _loops_around(steps: Sequence[Step], value: str) -> tuple[Loop, ...] | None:
    for step in steps:
        if isinstance(step, Loop):
            inside = _loops_around(step.body, value)
            if inside is not None:
                return (step, *inside)
        elif step.to == value:
            return ()
    return None


def check_before(rounds: Rounds, moment: Any, draw: tuple[Any, ...]) -> None:
    """Nothing where a state or tap does not hang on a draw.

    Args:
        rounds: of the claim's algorithm.
        moment: a state or a tap, with its indices.
        draw: the draw's instruction, its round, and its turns.

    Raises:
        RejectedError: where it may.
    """
    if not _before(rounds, moment, draw):
        raise RejectedError(f"{moment[0]} may hang on the draw that it is multiplied with")


def _before(rounds: Rounds, moment: Any, draw: tuple[Any, ...]) -> bool:
    name, (k, *turns), *_ = moment
    to, t, *at = draw
    later = _least(rounds, t - k)
    if name in rounds.reader.words.states:
        return later >= 0
    assert rounds.program is not None
    if later != 0:
        return later > 0
    if name in rounds.twice:
        return False
    shown = rounds.shown[name]
    if to not in rounds.made_of.get(shown, frozenset()):
        return True
    own, other = loops_around(rounds.program.body, name) or (), _loops_around(rounds.program.body, to) or ()
    for loop, another, turn, drawn in zip(own, other, turns, at, strict=False):
        later = _least(rounds, drawn - turn)
        if loop is not another or later < 0:
            return False
        if later > 0:
            return True
    return len(other) >= len(own) > 0 and any(c.name == shown for c in own[-1].carried)


def _least(rounds: Rounds, q: Quotient) -> int:
    """What a difference of indices is at least; -1 where that is not known, or less."""
    if not rounds.reader.whole(q) or any(c < 0 for c in q.over.values()):
        return -1
    return int(q.over.get((), 0))
