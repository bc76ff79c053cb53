"""Whether two programs are the same round, however their authors call things."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from theory.formula import Apply, Formula, Name
from theory.program.data import Instruction, Loop, Program, State, Step, renamed
from theory.program.tracing import tidied, with_taps

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def renaming(one: Program, other: Program) -> Mapping[str, str] | None:
    """The parameters of `one` by those of `other`, where they are the same round; None where they are not.

    Names of states and parameters make no difference, nor do taps, parameters that are not used, and the order
    in which a sum, or a round, is written.
    """
    (a, mine), (b, theirs) = _canonical(one), _canonical(other)
    return dict(zip(theirs, mine, strict=True)) if a == b else None


def _canonical(program: Program) -> tuple[Program, tuple[str, ...]]:
    """The program without taps, its names numbered in the order in which they are met, and what they were."""
    inputs = len(program.state)
    body, result = tidied(with_taps(program, ()).body, program.result, inputs)  # what only taps used is gone
    body, result = tidied(_ordered(body, result), result, inputs)
    met = dict.fromkeys(
        name
        for name in (*_of_states(program.state), *(name for step in body for name in _of_step(step)))
        if name in program.parameters
    )
    new = {name: f"p{i}" for i, name in enumerate(met)}

    def called(name: str) -> str:
        return new.get(name, name)

    state = tuple(
        replace(
            s,
            name=f"s{i}",
            initial=_WORD.sub(lambda m: called(m[0]), s.initial),
            length=None if s.length is None else renamed(s.length, called),
        )
        for i, s in enumerate(program.state)
    )
    steps = tuple(_step(step, called) for step in body)
    return Program("", state, tuple(new.values()), steps, result), tuple(met)


def _ordered(steps: Sequence[Step], wanted: Sequence[str]) -> tuple[Step, ...]:
    """The steps in the order in which what is wanted asks for them; what nobody asks for last."""
    made = {name: place for place, step in enumerate(steps) for name in step.defines}
    found: dict[int, Step] = {}

    def ask(place: int) -> None:
        waiting = [place]  # no recursion: a round may have thousands of steps
        while waiting:
            here = waiting[-1]
            missing = [p for p in (made.get(name) for name in _read_by(steps[here])) if p not in (None, here, *found)]
            if missing:
                waiting.append(missing[0])  # type: ignore[arg-type]
                continue
            waiting.pop()
            found.setdefault(here, steps[here])

    for place in (*(made[name] for name in wanted if name in made), *range(len(steps))):
        ask(place)
    return tuple(
        replace(step, body=_ordered(step.body, [c.following for c in step.carried])) if isinstance(step, Loop) else step
        for step in found.values()
    )


def _read_by(step: Step) -> list[str]:
    """The values that a step reads, in its order; of a loop also those inside it."""
    if isinstance(step, Instruction):
        return [*step.of, *(name for formula in step.numbers for name in _in_order(formula))]
    inside = [name for inner in step.body for name in _read_by(inner)]
    return [*(c.first for c in step.carried), *(() if step.count is None else _in_order(step.count)), *inside]


def _of_states(state: tuple[State, ...]) -> Iterator[str]:
    for s in state:
        yield from _WORD.findall(s.initial)
        if s.length is not None:
            yield from _in_order(s.length)


def _of_step(step: Step) -> Iterator[str]:
    if isinstance(step, Loop):
        yield from () if step.count is None else _in_order(step.count)
        for inner in step.body:
            yield from _of_step(inner)
        return
    for _, formula in _terms(step):
        yield from _in_order(formula)
    if step.label:
        yield step.label


def _in_order(formula: Formula) -> Iterator[str]:
    if isinstance(formula, Name):
        yield formula.name
    elif isinstance(formula, Apply):
        for part in formula.arguments:
            yield from _in_order(part)


def _terms(step: Instruction) -> list[tuple[str, Formula]]:
    """The values of a sum with their factors, by the values' numbers; of another operation its scalars as they are."""
    if step.op != "linear":
        return [("", formula) for formula in step.numbers]
    return sorted(zip(step.of, step.numbers, strict=True), key=lambda term: int(term[0][1:]))


def _step(step: Step, called: Callable[[str], str]) -> Step:
    if isinstance(step, Loop):
        count = None if step.count is None else renamed(step.count, called)
        return replace(step, count=count, body=tuple(_step(inner, called) for inner in step.body))
    terms = _terms(step)
    of = tuple(name for name, _ in terms) if step.op == "linear" else step.of
    numbers = tuple(renamed(formula, called) for _, formula in terms)
    return replace(step, of=of, numbers=numbers, label=called(step.label))
