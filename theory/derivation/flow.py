"""On which draws of its round a tap hangs, by the data that flow into it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from theory.formula import Formula, names_in
from theory.program import Instruction, Loop, Program
from theory.program.data import DRAWS, Step

Names: TypeAlias = frozenset[str]
Hangs: TypeAlias = tuple[Names, Names]
"""The draws, by the names of their instructions, on which a value hangs: those made in the same run through its body
(of the round, or of a turn of its loop), and those made in earlier turns, or outside of the loop."""
NOTHING: Hangs = (frozenset(), frozenset())


def taps_of(program: Program) -> dict[str, Hangs]:
    """The draws on which what each tap shows hangs."""
    found: dict[str, Hangs] = {}
    _through(program.body, {}, found)
    return found


def _through(body: Sequence[Step], values: dict[str, Hangs], taps: dict[str, Hangs]) -> None:
    """Note what values, and taps, hang on in one run through a body."""
    for step in body:
        if isinstance(step, Loop):
            _turns(step, values, taps)
            continue
        now, before = _together(values, [*step.of, *names_of(step.numbers)])
        if step.op == "tap":
            taps[step.label] = now, before
        else:
            values[step.to] = (now | {step.to} if step.op in DRAWS else now), before


def _turns(loop: Loop, values: dict[str, Hangs], taps: dict[str, Hangs]) -> None:
    """Through the turns of a loop, until what it hands on hangs on nothing more."""
    count = _whenever(values, () if loop.count is None else names_in(loop.count))
    outside: dict[str, Hangs] = {name: (frozenset(), _whenever(values, [name])) for name in values}
    carried = {c.name: _whenever(values, [c.first]) for c in loop.carried}
    while True:
        inside = outside | {name: (frozenset(), hangs) for name, hangs in carried.items()}
        _through(loop.body, inside, taps)
        more = {c.name: carried[c.name] | _whenever(inside, [c.following]) for c in loop.carried}
        if more == carried:
            break
        carried = more
    for name in loop.defines:
        values[name] = _whenever(inside, [name]) | count, frozenset()


def _together(values: Mapping[str, Hangs], names: Iterable[str]) -> Hangs:
    found = [values.get(name, NOTHING) for name in names]
    return frozenset().union(*(now for now, _ in found)), frozenset().union(*(before for _, before in found))


def _whenever(values: Mapping[str, Hangs], names: Iterable[str]) -> Names:
    now, before = _together(values, names)
    return now | before


def hanging(body: Sequence[Step], name: str) -> Names:
    """The values of a body on which one of them has a say in the same run through it, itself among them."""
    found = {name}
    for step in body:
        for one in _flat(step):
            of = [*one.of, *names_of(one.numbers)] if isinstance(one, Instruction) else [c.first for c in one.carried]
            if found & set(of):
                found |= set(step.defines)
    return frozenset(found)


def _flat(step: Step) -> list[Step]:
    return [step, *(s for inner in step.body for s in _flat(inner))] if isinstance(step, Loop) else [step]


def names_of(formulas: Sequence[Formula]) -> list[str]:
    """The names in some formulas."""
    return [name for f in formulas for name in names_in(f)]
