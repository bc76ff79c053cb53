"""Programs that differ from one in a single term, what its neighbours do; or in that nothing is held back."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from theory.formula import Apply, Formula, Name, Number, text_of
from theory.program.algorithm import Algorithm
from theory.program.data import Instruction, Loop, Program, Step, flat, opposite, uses

HOLDING = frozenset({"clip", "project", "top"})
"""Operations that let what is short, or has few coordinates, through as it is."""


def altered(program: Program, factors: Sequence[Fraction]) -> Iterator[tuple[str, Program]]:
    """The program with one term of one sum scaled, in the order of its text, each with words that say what was done.

    Args:
        program: the program.
        factors: by which each term is scaled; 0 leaves a term out of a sum of two or more.
    """
    for words, body in _altered(program.body, factors, _hints(program)):
        yield words, replace(program, body=body)


def algorithm_of(program: Program, defaults: Mapping[str, Fraction] | None = None) -> Algorithm:
    """An algorithm of which there is a program and no function, as one read from data.

    Args:
        program: what it does in a round.
        defaults: of its parameters, where they have any.
    """
    made = Algorithm(program.name, _without_function(program), program.state, program.parameters, dict(defaults or {}))
    made.__dict__["program"] = program  # where `Algorithm.program` would keep what it traces
    return made


def _without_function(program: Program) -> Callable[..., Any]:
    def function(*_: Any, **__: Any) -> Any:
        raise TypeError(f"the algorithm {program.name!r} is data: there is no function to call")

    return function


def _hints(program: Program) -> dict[str, str]:
    """What values are called by their author, or by the operation that makes them."""
    found = {name: state.name for name, state in zip(program.inputs, program.state, strict=True)}
    for step in flat(program.body):
        if isinstance(step, Loop):
            found |= {c.name: c.hint or c.name for c in step.carried}
        elif step.to:
            found[step.to] = step.hint or step.op
    return found


def _altered(
    steps: tuple[Step, ...], factors: Sequence[Fraction], hints: Mapping[str, str]
) -> Iterator[tuple[str, tuple[Step, ...]]]:
    for i, step in enumerate(steps):
        others: Iterator[tuple[str, Step]]
        if isinstance(step, Loop):
            others = ((words, replace(step, body=body)) for words, body in _altered(step.body, factors, hints))
        elif step.op == "linear":
            others = _terms(step, factors, hints)
        else:
            continue
        for words, other in others:
            yield words, (*steps[:i], other, *steps[i + 1 :])


def _terms(step: Instruction, factors: Sequence[Fraction], hints: Mapping[str, str]) -> Iterator[tuple[str, Step]]:
    for j, (name, number) in enumerate(zip(step.of, step.numbers, strict=True)):
        coefficient = re.sub(r"\b_[0-9]+\b", lambda match: hints.get(match[0], match[0]), text_of(number))
        where = f"{coefficient} times {hints.get(name, name)}"
        where += f" in {step.hint}" if step.hint else ""
        where += f", line {step.line}" if step.line else ""
        for factor in factors:
            if factor == 0:
                if len(step.of) > 1:
                    of, numbers = step.of[:j] + step.of[j + 1 :], step.numbers[:j] + step.numbers[j + 1 :]
                    yield f"the algorithm without {where}", replace(step, of=of, numbers=numbers)
                continue
            new: Formula = opposite(number) if factor == -1 else Apply("*", (Number(factor), number))
            numbers = (*step.numbers[:j], new, *step.numbers[j + 1 :])
            yield f"the algorithm's {where} times {factor}", replace(step, numbers=numbers)


def let_through(program: Program) -> Program | None:
    """The program where nothing is held back: as it runs on what is short, to first order.

    Clips, projections and the largest coordinates let a vector through as it is, and lengths are 0 in the numbers that
    they stand in.

    Returns:
        None where it does none of this, or hands a length on.
    """
    lengths = {step.to for step in program.steps if isinstance(step, Instruction) and step.op == "norm"}
    if not (lengths or program.operations & HOLDING):
        return None
    made = replace(program, body=_let_through(program.body, lengths))
    return None if lengths & uses(made.body, made.result).keys() else made


def _let_through(steps: tuple[Step, ...], lengths: Collection[str]) -> tuple[Step, ...]:
    found: list[Step] = []
    for step in steps:
        if isinstance(step, Loop):
            found.append(replace(step, body=_let_through(step.body, lengths)))
        elif step.op in HOLDING:
            found.append(replace(step, op="linear", numbers=(Number(Fraction(1)),)))
        elif step.to not in lengths or not step.to:
            found.append(replace(step, numbers=tuple(_without(number, lengths) for number in step.numbers)))
    return tuple(found)


def _without(number: Formula, lengths: Collection[str]) -> Formula:
    """A formula with 0 for lengths."""
    if isinstance(number, Name):
        return Number(Fraction(0)) if number.name in lengths else number
    if isinstance(number, Apply):
        return Apply(number.operation, tuple(_without(part, lengths) for part in number.arguments))
    return number
