"""From a function to its program: it is run once with symbols, and the result is put into its normal form."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from theory.formula import Apply, Formula, Name
from theory.program.algorithm import Algorithm, place
from theory.program.data import Carried, Instruction, Loop, Program, ProgramError, Step, flat, names_made, renamed, uses
from theory.program.symbols import ONE, TURNS, Recorder, Scalar, Value, apply
from theory.program.tracer import PRIMITIVES, Tracer


def trace(one: Algorithm) -> Program:
    """Run a round with symbols, and write down what it does.

    Raises:
        ProgramError: naming the line, and what to write instead.
    """
    program, looped = _traced(one, TURNS, 1)
    if looped and not _is_same(one, program):
        raise ProgramError(
            f"{place(one.function)}: algorithm {one.name!r} hangs on how often Python runs the body of a loop, which "
            "may not count or gather in Python's variables: take the h of `for h in w.repeat(H)`, hand values on from "
            "turn to turn, or sum over the clients with w.sum"
        )
    return program


def _is_same(one: Algorithm, program: Program) -> bool:
    """Whether the program is the same where the bodies of its loops are run once more."""
    try:
        again, _ = _traced(one, TURNS + 1, 2)
    except (ProgramError, KeyError):  # a value of a turn that is not written down
        return False
    return again.result == program.result and _said(again.body) == _said(program.body)


def _said(steps: Sequence[Step]) -> tuple[Step, ...]:
    """What steps do, whatever their author calls the values."""
    return tuple(
        replace(step, body=_said(step.body), carried=tuple(replace(c, hint="") for c in step.carried))
        if isinstance(step, Loop)
        else replace(step, hint="")
        for step in steps
    )


def _traced(one: Algorithm, turns: int, visits: int) -> tuple[Program, bool]:
    """The program, the bodies of loops being run so often; and whether there is a loop."""
    recorder = Recorder(one.function.__code__, [[]], {}, {}, {}, {}, turns=turns, visits=visits, primitives=PRIMITIVES)
    state = [Value(recorder, recorder.fresh(), s.kind) for s in one.state]
    recorder.kinds |= {v.name: v.kind for v in state}
    recorder.hints |= {v.name: s.name for v, s in zip(state, one.state, strict=True)}
    parameters = {name: Scalar(recorder, Name(name)) for name in one.parameters}
    where = f"{place(one.function)}: algorithm {one.name!r}"
    try:
        result = one.function(Tracer(recorder), *state, **parameters)
    except TypeError as error:
        called = str(error).partition("Tracer.")[2]
        if not called:
            raise
        raise ProgramError(f"{where}: w.{called}") from None
    values = result if isinstance(result, tuple) else (result,)
    if len(recorder.blocks) != 1:
        raise ProgramError(f"{where} leaves a loop of w.repeat before its end: a round does the same in every turn")
    if len(values) != len(state):
        raise ProgramError(f"{where} gives {len(values)} values and has {len(state)} state variables")
    for value, s in zip(values, one.state, strict=True):
        if not isinstance(value, Value):
            raise ProgramError(
                f"{where} gives {value!r} for its state {s.name}; it is to give the vector after the round"
            )
        if value.kind != s.kind and not (s.kind == "client" and value.kind == "server"):
            remedy = (
                "average it with w.mean, or begin with 'each'" if s.kind == "server" else "see what the decorator says"
            )
            raise ProgramError(
                f"{where}: the state {s.name} is a {s.kind}'s and becomes a {value.kind}'s value; {remedy}"
                f"{recorder.noise_in(value.name)}"
            )
    names = tuple(recorder.resolve(value.name) for value in values)
    twice = [label for label, n in _counted(recorder.blocks[0]).items() if n > 1]
    clash = [
        label for label in _counted(recorder.blocks[0]) if label in {s.name for s in one.state} | set(one.parameters)
    ]
    if twice or clash:
        raise ProgramError(f"{where}: the tap {(twice or clash)[0]!r} has a name that is taken")
    body, names = tidied(_hinted(recorder.blocks[0], recorder.hints), names, len(state))
    source = f"{Path(one.function.__code__.co_filename).name}:{one.name}"
    about = (inspect.getdoc(one.function) or "").split("\n")[0]
    return Program(one.name, one.state, one.parameters, body, names, source, about), recorder.looped


def _hinted(steps: Sequence[Step], hints: Mapping[str, str]) -> tuple[Step, ...]:
    """The steps with the author's names for their values."""
    return tuple(
        replace(step, body=_hinted(step.body, hints))
        if isinstance(step, Loop)
        else replace(step, hint=hints.get(step.to, ""))
        for step in steps
    )


def _counted(steps: Sequence[Step]) -> dict[str, int]:
    found: dict[str, int] = {}
    for step in flat(steps):
        if isinstance(step, Instruction) and step.op == "tap":
            found[step.label] = found.get(step.label, 0) + 1
    return found


def tidied(body: tuple[Step, ...], result: tuple[str, ...], inputs: int) -> tuple[tuple[Step, ...], tuple[str, ...]]:
    """Sums put into the sums that they are part of, what nobody uses left out, and values numbered in their order."""
    body = needed(body, result)
    body = needed(_fused(body, uses(body, result)), result)
    names = {f"_{i}": f"_{i}" for i in range(inputs)}
    for name in (name for step in body for name in names_made(step)):
        names.setdefault(name, f"_{len(names)}")
    return tuple(_with_names(step, names) for step in body), tuple(names[n] for n in result)


def with_taps(program: Program, taps: Collection[str]) -> Program:
    """The same program with these taps only, and without what the others alone read."""
    return replace(program, body=needed(_tapped(program.body, taps), program.result))


def _tapped(steps: Sequence[Step], taps: Collection[str]) -> tuple[Step, ...]:
    return tuple(
        replace(step, body=_tapped(step.body, taps)) if isinstance(step, Loop) else step
        for step in steps
        if isinstance(step, Loop) or step.op != "tap" or step.label in taps
    )


def needed(body: tuple[Step, ...], result: tuple[str, ...]) -> tuple[Step, ...]:
    """The steps whose values somebody reads, and the taps."""
    while True:
        shorter = _without(body, uses(body, result))
        if shorter == body:
            return body
        body = shorter


def _with_names(step: Step, names: Mapping[str, str]) -> Step:
    new = lambda name: names.get(name, name)  # noqa: E731
    if isinstance(step, Instruction):
        numbers = tuple(renamed(f, new) for f in step.numbers)
        return replace(step, to=names[step.to] if step.to else "", of=tuple(map(new, step.of)), numbers=numbers)
    carried = tuple(
        replace(c, name=names[c.name], first=names[c.first], following=names[c.following]) for c in step.carried
    )
    index = names[step.index] if step.op == "pass" else step.index
    count = None if step.count is None else renamed(step.count, new)
    return replace(
        step, index=index, count=count, carried=carried, body=tuple(_with_names(s, names) for s in step.body)
    )


def _without(steps: Sequence[Step], used: Mapping[str, int]) -> tuple[Step, ...]:
    kept: list[Step] = []
    for step in steps:
        if isinstance(step, Instruction):
            if step.op == "tap" or used.get(step.to):
                kept.append(step)
            continue
        inside = uses(step.body, ())
        carried = tuple(
            c
            for c in step.carried
            if (inside.get(c.name) or used.get(c.name, 0) > _own(step, c.name)) and not _for_itself(step, c, used)
        )
        body = _without(step.body, used)
        if body:
            kept.append(replace(step, carried=carried, body=body))
    return tuple(kept)


def _for_itself(loop: Loop, c: Carried, used: Mapping[str, int]) -> bool:
    """Whether a carried value is a sum that nobody reads but the next turn's sum."""
    step = next((s for s in loop.body if isinstance(s, Instruction) and s.to == c.following), None)
    if step is None or step.op != "linear" or used.get(c.following) != 1:
        return False
    return used.get(c.name, 0) == step.of.count(c.name)


def _own(loop: Loop, name: str) -> int:
    """How often a carried value is read by what is carried in the same loop only to itself."""
    return sum(c.name == name and c.following == name for c in loop.carried)


def _fused(steps: Sequence[Step], used: Mapping[str, int]) -> tuple[Step, ...]:
    found: list[Step] = []
    sums: dict[str, Instruction] = {}
    for step in steps:
        if isinstance(step, Loop):
            found.append(replace(step, body=_fused(step.body, used)))
            continue
        if step.op == "linear":
            terms: dict[str, Formula] = {}
            for name, factor in zip(step.of, step.numbers, strict=True):
                inner = sums.get(name) if used.get(name) == 1 else None
                parts = [(name, ONE)] if inner is None else zip(inner.of, inner.numbers, strict=True)
                if inner is not None:
                    found.remove(inner)
                for part, weight in parts:
                    product = apply("*", factor, weight)
                    terms[part] = _plus(terms[part], product) if part in terms else product
            step = replace(step, of=tuple(terms), numbers=tuple(terms.values()))
            sums[step.to] = step
        found.append(step)
    return tuple(found)


def _plus(one: Formula, two: Formula) -> Formula:
    if isinstance(two, Apply) and two.operation == "neg":
        return Apply("-", (one, two.arguments[0]))
    return Apply("+", (one, two))
