"""What holds of parameters by their domains, and by what the draws of a program ask of them."""

from __future__ import annotations

from collections.abc import Iterator

from theory.derivation.polynomials import RejectedError
from theory.derivation.quotients import ONE, Quotient, constant
from theory.derivation.reading import PLAIN, Reader, parameter
from theory.derivation.signs import NONNEGATIVE, POSITIVE, Signs
from theory.program import Instruction, Loop


def by_domain(reader: Reader, signs: Signs, gap: Quotient, relation: str) -> bool:
    """Whether a gap is at least 0 (more, for a strict relation; 0 for ``==``) by domains alone."""
    if gap.zero:
        return relation in ("<=", ">=", "==")
    if relation == "==":
        return False
    strict = relation in ("<", ">")
    facts, signs.facts = signs.facts, {}
    try:
        if signs.of_quotient(gap) <= (POSITIVE if strict else NONNEGATIVE):
            return True
    finally:
        signs.facts = facts
    for asked, is_strict in _asked(reader):
        one, other = asked.direction, gap.direction
        if one[1] == other[1] and (one[0] > 0) == (other[0] > 0) and (is_strict or not strict):
            return True
    return False


def _asked(reader: Reader) -> Iterator[tuple[Quotient, bool]]:
    """What is at least 0 (more, where True) wherever the program can be run."""
    program = reader.claim.program
    if program is None:
        return
    for loop in program.body:
        if isinstance(loop, Loop) and loop.op == "repeat":
            yield reader.count(loop) - ONE, False
    for step in program.steps:
        if not isinstance(step, Instruction) or step.op not in ("choose", "coin", "coins", "keep", "top"):
            continue
        from theory.derivation.rounds import formula

        try:
            number = formula(reader, step.numbers[0], PLAIN)
        except RejectedError:  # one for each turn, or beyond what is read
            continue
        if number.free - {"n"}:
            continue
        if step.op == "choose" and not step.flag:
            yield parameter("N") - number, False
        elif step.op in ("keep", "top"):
            yield parameter("d") - number, False
        elif step.op in ("coin", "coins"):
            yield number, True
            yield constant(1) - number, False
