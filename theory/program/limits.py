"""What draws and compressions ask of their numbers beyond their being positive."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from theory.formula import Formula, Name, Number
from theory.program.data import Instruction, Program


def limits(program: Program) -> Iterator[tuple[str, Formula, Formula]]:
    """The operation, its number, and what it is at most: S of the N clients, m of d coordinates, a chance of 1."""
    for step in program.steps:
        if isinstance(step, Instruction) and step.numbers:
            most: Formula | None = {
                "choose": None if step.flag else Name("N"),
                "keep": Name("d"),
                "top": Name("d"),
                "coin": Number(Fraction(1)),
                "coins": Number(Fraction(1)),
            }.get(step.op)
            if most is not None:
                yield step.op, step.numbers[0], most
