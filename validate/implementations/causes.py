"""Where a round goes wrong: the first recorded value, or gradient, that is not the program's; else the state itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.program import Carried, Instruction, Loop, Program, pseudo_lines
from validate.implementations.calling import Recorded
from validate.implementations.holding import Held, Round
from validate.implementations.oracle import Asked
from validate.implementations.reference import Seen

Array = NDArray[Any]
LONG = 6
"""Coordinates of a vector that is written out."""


@dataclass(frozen=True)
class Cause:
    """The first value that differs, as far as it is seen.

    Attributes:
        words: what differs, with both values.
        line: of the program's pseudo-code, from 1 on (the head is line 0); None for what is in no line.
        text: of that line.
        state, client, step, round: where it is; None for what it has not.
        theirs, ours: the two values; empty where there are none.
    """

    words: str
    line: int | None
    text: str
    state: str
    client: int | None
    step: int | None
    round: int
    theirs: tuple[float, ...]
    ours: tuple[float, ...]


def cause(program: Program, held: Held) -> Cause:
    """Of a trial that differs, the first value that does."""
    if held.gap is None:
        return Cause(held.unlike, *_draw_line(program, held.unlike), "", None, None, len(held.rounds), (), ())
    gap, last = held.gap, held.first
    code = pseudo_lines(program)
    if last is not None and not held.of_run:
        found = _recorded(program, last, held.tolerance) or _asked(program, last, held.tolerance)
        if found is not None:
            return found
    at = [s.name for s in program.state].index(gap.state)
    variable = program.state[at]
    line = code.results[at] if gap.k else 0
    whose = variable.kind in ("client", "table") and gap.place
    client = gap.place[0] if whose else gap.place[1] if variable.kind == "client past" else None
    when = f"after round {gap.k - 1}" if gap.k else "before the first round"
    who = "" if client is None else f" of client {client + 1}"
    entry = f", sample {gap.place[1] + 1}" if variable.kind == "table" else ""
    entry = f", remembered vector {gap.place[0]}" if variable.kind in ("past", "client past") else entry
    words = f"{gap.state}{who}{entry} {when}: yours {shown(gap.theirs)}, the program's {shown(gap.ours)}"
    if last is not None and last.asked:
        words += "; your code takes no gradient here that the program does not take"
    return Cause(
        words, line, code.lines[line].strip(), gap.state, client, None, max(gap.k - 1, 0), gap.theirs, gap.ours
    )


def shown(vector: Sequence[float]) -> str:
    """A vector, not too long."""
    numbers = [f"{v:.6g}" for v in vector[:LONG]]
    return numbers[0] if len(vector) == 1 else f"({', '.join(numbers)}{', ...' if len(vector) > LONG else ''})"


def _draw_line(program: Program, unlike: str) -> tuple[int | None, str]:
    """The line of a draw of which a message speaks."""
    code = pseudo_lines(program)
    told = unlike.rpartition("the program draws ")[2]
    kinds = {"clients": "choose", "coin": "coin", "sample": "sample", "noise": "noise", "coordinates": "keep"}
    wanted = next((op for word, op in kinds.items() if word in told), None)
    for step in program.steps:
        if isinstance(step, Instruction) and wanted is not None and step.op.startswith(wanted) and step.to in code.of:
            return code.of[step.to], code.lines[code.of[step.to]].strip()
    return None, ""


def _close(theirs: Array, ours: Array, tolerance: float, scale: float) -> bool:
    return theirs.shape == ours.shape and bool(np.all(np.abs(theirs - ours) <= tolerance * scale))


def _scale(last: Round) -> float:
    return max(float(np.abs(v).max()) for s in (last.before, last.played.after) for v in s.values()) or 1.0


# --- what was recorded -----------------------------------------------------------------------------------------------


def _recorded(program: Program, last: Round, tolerance: float) -> Cause | None:
    """The first recorded value that differs, in the order of the program.

    A name may stand for several values (before and after a step): it is read as the one that agrees longest.
    """
    code, scale = pseudo_lines(program), _scale(last)
    found: list[tuple[int, Cause]] = []
    for name in dict.fromkeys(one.name for one in last.recorded):
        mine = [one for one in last.recorded if one.name == name]
        best: tuple[int, int, Cause | None] | None = None
        for value in _meant(program, name):
            agreed, place, gap = 0, 0, None
            turns: dict[int | None, int] = {}
            for one in mine:
                step = one.step if one.step is not None else turns.get(one.client, 0)
                turns[one.client] = turns.get(one.client, 0) + 1
                there = _value_at(last, value, step, one)
                if there is None:
                    break
                place, ours, at, shape_fits = there
                if not shape_fits:
                    break
                if not _close(one.value, ours, tolerance, scale):
                    line = code.of.get(at, 0)
                    gap = _of_record(one, step, ours, line, code.lines[line].strip(), last.k, value)
                    break
                agreed += 1
            else:
                gap = None
            if best is None or agreed >= best[0]:
                best = (agreed, place, gap)
            if agreed == len(mine):
                best = (agreed, place, None)
                break
        if best is not None and best[2] is not None:
            found.append((best[1], best[2]))
    return min(found, key=lambda pair: pair[0])[1] if found else None


def _of_record(one: Recorded, step: int, ours: Array, line: int, text: str, k: int, value: Any) -> Cause:
    in_loop = isinstance(value, Carried) or one.step is not None
    where = "".join(
        [f" of client {one.client + 1}" if one.client is not None else "", f" at step {step}" if in_loop else ""]
    )
    theirs, mine = tuple(map(float, np.ravel(one.value))), tuple(map(float, np.ravel(ours)))
    words = f"{one.name}{where} of round {k}: yours {shown(theirs)}, the program's {shown(mine)}"
    return Cause(words, line, text, one.name, one.client, step if in_loop else None, k, theirs, mine)


def _meant(program: Program, name: str) -> Iterator[str | Carried]:
    """The values of the program that a recorded name may mean."""
    called = pseudo_lines(program).called
    for step in program.steps:
        if isinstance(step, Loop):
            yield from (c for c in step.carried if name in (c.hint, called.get(c.name)))
        elif step.op == "tap" and step.label == name:
            yield _carried(program).get(step.of[0], step.of[0])
        elif step.to and name in (step.hint, called.get(step.to)):
            yield step.to


def _carried(program: Program) -> dict[str, Carried]:
    return {c.name: c for s in program.steps if isinstance(s, Loop) for c in s.carried}


def _value_at(last: Round, value: str | Carried, step: int, one: Recorded) -> tuple[int, Array, str, bool] | None:
    """Where in the round, the value, and its name there; whether it has the shape of what was recorded."""
    name, turn = (
        (value, step) if isinstance(value, str) else (value.first, step) if step == 0 else (value.following, step - 1)
    )
    for place, seen in enumerate(last.played.seen):
        if seen.name != name or (seen.turns and seen.turns[-1] != turn):
            continue
        if seen.client is not None and one.client is not None and seen.client != one.client:
            continue
        rows = seen.kind in ("client", "table", "numbers", "sample") and seen.client is None
        ours = seen.value[one.client] if rows and one.client is not None else seen.value
        return place, ours, name, ours.shape == one.value.shape
    return None


# --- where gradients are taken ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Taken:
    """A gradient that the program takes."""

    seen: Seen
    client: int | None
    point: Array
    samples: tuple[int, ...] | None


def _asked(program: Program, last: Round, tolerance: float) -> Cause | None:
    """The first gradient that the code takes and the program does not."""
    if not last.asked:
        return None
    scale = _scale(last)
    N = max(len(one.of[0]) for one in _gradients(last)) if any(True for _ in _gradients(last)) else 1
    clients = max([N, *(a.client + 1 for a in last.asked if a.client is not None)])
    left = [taken for one in _gradients(last) for taken in _of_clients(one, clients)]

    def same(asked: Asked, taken: _Taken) -> bool:
        whose = asked.client is None or taken.client is None or asked.client == taken.client
        return whose and taken.samples == asked.samples and _close(asked.point, taken.point, tolerance, scale)

    turns: dict[int | None, int] = {}
    for asked in last.asked:
        turns[asked.client] = turns.get(asked.client, 0) + 1
        if any(same(asked, taken) for taken in left):
            continue  # the same gradient may be taken twice
        matched = [taken for taken in left if any(same(a, taken) for a in last.asked)]
        rest = [t for t in left if t not in matched and (asked.client is None or t.client in (None, asked.client))]
        return _of_gradient(program, last, asked, turns[asked.client], rest[0] if rest else None, tolerance, scale)
    return None


def _gradients(last: Round) -> Iterator[Seen]:
    return (one for one in last.played.seen if one.op in ("gradient", "full gradient"))


def _of_clients(one: Seen, clients: int) -> Iterator[_Taken]:
    points = one.of[0]
    samples = one.of[1] if len(one.of) > 1 else None
    if one.op == "full gradient":
        yield _Taken(one, None, points[0], None)
        return
    for n in range(clients) if one.client is None else (one.client,):
        row = 0 if one.client is not None or len(points) == 1 else n
        if row < len(points) and (samples is None or len(samples) == 1 or n < len(samples)):
            batch = None if samples is None else samples[n if len(samples) > 1 else 0]
            yield _Taken(one, n, points[row], None if batch is None else tuple(map(int, batch)))


def _of_gradient(
    program: Program, last: Round, asked: Asked, count: int, taken: _Taken | None, tolerance: float, scale: float
) -> Cause:
    code, steps = pseudo_lines(program), {s.to: s for s in program.steps if isinstance(s, Instruction)}
    whose = "f" if asked.client is None else f"client {asked.client + 1}"
    theirs = tuple(map(float, asked.point))
    words = f"gradient number {count} of {whose} that your code takes in round {last.k} is at {shown(theirs)}"
    if asked.samples is not None:
        words += f" of {_samples(asked.samples)}"
    if taken is None:
        return Cause(
            f"{words}, where the program takes none", None, "", "", asked.client, count - 1, last.k, theirs, ()
        )
    name, turns = steps[taken.seen.name].of[0], taken.seen.turns
    step = turns[-1] if turns else None
    carried = _carried(program)
    while name in carried:
        name = carried[name].following if step else carried[name].first
    line = code.of.get(taken.seen.name if name in program.inputs else name, 0)
    ours = tuple(map(float, taken.point))
    words += f"; the program takes it at {shown(ours)}"
    if _close(asked.point, taken.point, tolerance, scale):
        words = f"{words.partition(';')[0]}; the program takes it there of {_samples(taken.samples)}"
        line = code.of.get(taken.seen.name, 0)
    elif taken.samples is not None:
        words += f" of {_samples(taken.samples)}"
    if step is not None:
        words += f", step {step}"
    return Cause(
        words, line, code.lines[line].strip(), code.called.get(name, ""), asked.client, step, last.k, theirs, ours
    )


def _samples(which: Sequence[int] | None) -> str:
    return "all samples" if which is None else f"sample {', '.join(str(i + 1) for i in which)}"
