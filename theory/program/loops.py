"""Loops: their body is run a few times, and what it carries from turn to turn is seen by comparing the turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from theory.formula import Apply, Formula, Name
from theory.program.data import VALUE, Carried, Loop, Step, names_made, renamed
from theory.program.symbols import Recorder, Scalar


def repeat(recorder: Recorder, count: Formula) -> Iterator[Scalar]:
    """`Tracer.repeat`: its body is run a few times, and the turns are compared."""
    recorder.name_values()
    frame = recorder.frame()
    line = 0 if frame is None else frame.f_lineno
    recorder.depth += 1
    recorder.looped = True
    index = "h" if recorder.depth == 1 else f"h{recorder.depth}"
    turns: list[list[Step]] = []
    finished = False
    try:
        for _ in range(recorder.turns):
            recorder.blocks.append([])
            yield Scalar(recorder, Name(index))
            turns.append(recorder.blocks.pop())
        finished = True
    finally:
        recorder.depth -= 1
        if not finished:
            recorder.blocks.append([])  # whatever comes next fails in `trace`, which counts the blocks
    recorder.name_values()
    recorder.blocks[-1].append(_folded(recorder, turns, index, renamed(count, recorder.resolve), line))


def _folded(recorder: Recorder, turns: list[list[Step]], index: str, count: Formula, line: int) -> Loop:
    """The turns of a loop as one, with what is carried from turn to turn."""
    if len({_shape(turn) for turn in turns}) > 1:
        recorder.error(
            "the turns of a loop do different things: what a turn does may not depend on Python variables; a sum over "
            "the turns begins with a vector, such as s = 0*x, and not with the number 0"
        )
    defined = [[name for step in turn for name in names_made(step)] for turn in turns]
    place = [{name: i for i, name in enumerate(names)} for names in defined]
    last = defined[-1]
    carried: dict[tuple[str, ...], Carried] = {}
    todo: list[tuple[str, ...]] = []

    def known(seen: tuple[str, ...]) -> str | None:
        """The name in the folded loop of a value that goes by these names in the turns, where nothing is carried."""
        at = [place[t].get(name) for t, name in enumerate(seen)]
        if at[0] is not None and len(set(at)) == 1:
            return last[at[0]]
        return seen[0] if len(set(seen)) == 1 and len(seen) > 1 else None

    def variable(seen: tuple[str, ...]) -> str:
        for other, one in carried.items():
            if other[: len(seen)] == seen:
                return one.name
        if len(seen) < 2:
            recorder.error("a loop remembers a value for more than two turns: hand it on in variables of its own")
        if any(seen[0] in names for names in defined):
            recorder.error("a loop uses a value before it is there")
        name = recorder.fresh()
        kind = recorder.kinds[seen[0]]
        if recorder.kinds[seen[-1]] != kind:
            if {kind, recorder.kinds[seen[-1]]} != {"server", "client"}:
                recorder.error(f"a loop makes a {recorder.kinds[seen[-1]]}'s value of a {kind}'s value")
            kind = "client"  # the first turn has a copy for every client
        recorder.kinds[name] = kind
        carried[seen] = Carried(name, kind, seen[0], "", recorder.hints.get(seen[-1], ""))
        todo.append(seen)
        return name

    def folded(seen: tuple[str, ...]) -> str:
        found = known(seen)
        return variable(seen) if found is None else found

    def finish() -> None:
        while todo:
            seen = todo.pop()
            carried[seen] = replace(carried[seen], following=_following(seen))

    def _following(seen: tuple[str, ...]) -> str:
        later = seen[1:]
        at = [place[t].get(name) for t, name in enumerate(later)]
        if at[0] is not None and len(set(at)) == 1:
            return last[at[0]]
        if len(later) > 1 and len(set(later)) == 1 and len(seen) == recorder.turns:
            return later[0]
        return variable(later)

    body = _merged(turns, folded)
    finish()
    loop = Loop("repeat", index, count, tuple(carried.values()), body, line)
    for i, name in enumerate(defined[-2]):  # after the loop: what the turn before the last one left
        seen = tuple(names[i] for names in defined[:-1])

        def before(seen: tuple[str, ...] = seen) -> str:
            found = next((one.name for other, one in carried.items() if other[1:] == seen), None)
            if found is None:
                recorder.error("a value of the turn before the last is used after a loop: hand it on in a variable")
            return found

        recorder.pending[name] = before
    for names in defined[:-2]:
        for name in names:
            recorder.pending[name] = _too_early(recorder)
    return loop


def _too_early(recorder: Recorder) -> Callable[[], str]:
    def fail() -> str:
        recorder.error("a value of an early turn of a loop is used after the loop: hand it on in a variable")

    return fail


def _shape(steps: Sequence[Step]) -> Any:
    """What has to be alike in all turns: everything but the names of values."""
    blank = lambda name: "_" if VALUE.match(name) else name  # noqa: E731

    def of(step: Step) -> Any:
        if isinstance(step, Loop):
            index = "" if step.op == "pass" else step.index  # the sample of a pass has a name of its own in each turn
            return step.op, index, step.count and renamed(step.count, blank), len(step.carried), _shape(step.body)
        formulas = tuple(renamed(f, blank) for f in step.numbers)
        return step.op, len(step.of), formulas, step.label, step.flag

    return tuple(map(of, steps))


def _merged(turns: Sequence[Sequence[Step]], folded: Callable[[tuple[str, ...]], str]) -> tuple[Step, ...]:
    """Steps of one turn out of those of all, with each value under its name in the folded loop."""

    def formula(parts: tuple[Formula, ...]) -> Formula:
        one = parts[0]
        if isinstance(one, Name):
            names = tuple(p.name for p in parts if isinstance(p, Name))
            return Name(folded(names)) if VALUE.match(one.name) else one
        if isinstance(one, Apply):
            columns = zip(*(p.arguments for p in parts if isinstance(p, Apply)), strict=True)
            return Apply(one.operation, tuple(map(formula, columns)))
        return one

    merged: list[Step] = []
    for steps in zip(*turns, strict=True):
        final = steps[-1]
        if isinstance(final, Loop):
            firsts = [folded(names) for names in zip(*([c.first for c in s.carried] for s in steps), strict=True)]
            following = [folded(n) for n in zip(*([c.following for c in s.carried] for s in steps), strict=True)]
            carried = tuple(
                replace(c, first=a, following=b) for c, a, b in zip(final.carried, firsts, following, strict=True)
            )
            count = None if final.count is None else formula(tuple(s.count for s in steps))
            merged.append(replace(final, carried=carried, count=count, body=_merged([s.body for s in steps], folded)))
        else:
            of = tuple(folded(names) for names in zip(*(s.of for s in steps), strict=True))
            numbers = tuple(map(formula, zip(*(s.numbers for s in steps), strict=True)))
            merged.append(replace(final, of=of, numbers=numbers))
    return tuple(merged)
