"""Which line of a program an implementation has otherwise: the edit of the program that it agrees with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from theory.program import Program, pseudo_lines
from validate.implementations.found import Slip
from validate.implementations.holding import Held, first_gap
from validate.implementations.reference import Reference
from validate.implementations.slips import slips


def slip_of(program: Program, held: list[Held]) -> tuple[Slip | None, int]:
    """The shortest edit of a program with which an implementation agrees in every round, and how many were tried.

    Args:
        program: of the claim.
        held: the implementation in all trials.
    """
    told = [one for one in held if one.rounds]
    told.sort(key=lambda one: not one.differs)
    if not any(one.gap is not None for one in held):
        return None, 0  # it draws otherwise, which no edit says
    agreeing: list[Slip] = []
    code, tried = pseudo_lines(program), 0
    for edited in slips(program):
        tried += 1
        if all(_explains(edited.program, one) for one in told):
            reads = _changed(code.lines, pseudo_lines(edited.program).lines)
            if reads:
                line = reads[0][0] if edited.result is None else code.results[edited.result]
                agreeing.append(Slip(code.of.get(edited.at, line), reads, 0))
    agreeing.sort(key=lambda one: (len(one.reads), sum(abs(len(new) - len(old)) for _, old, new in one.reads)))
    if not agreeing:
        return None, tried
    first = agreeing[0]
    others = {one.reads for one in agreeing} - {first.reads}
    return replace(first, others=len(others)), tried


def _explains(program: Program, held: Held) -> bool:
    """Whether a program leaves what the implementation left, in every round."""
    try:
        reference = Reference(program, held.trial)
        state = reference.start() if held.of_run else {}
        for one in held.rounds:
            after = reference.round(one.k, state if held.of_run else one.before).after
            scale = max(float(np.abs(v).max()) for s in (one.before, one.played.after, after) for v in s.values())
            if not np.isfinite(scale):
                return False
            for name, theirs in one.theirs.items():
                if first_gap(name, one.k, theirs, after[name], scale or 1.0, held.tolerance * 10) is not None:
                    return False
            state = after
    except (ValueError, RuntimeError, KeyError, IndexError):  # no program of these kinds of values
        return False
    return True


def _changed(before: tuple[str, ...], after: tuple[str, ...]) -> tuple[tuple[int, str, str], ...]:
    """The lines that differ."""
    from difflib import SequenceMatcher

    found: list[tuple[int, str, str]] = []
    for tag, i, i2, j, j2 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            old, new = [line.strip() for line in before[i:i2]], [line.strip() for line in after[j:j2]]
            for place in range(max(len(old), len(new))):
                was, now = (part[place] if place < len(part) else "" for part in (old, new))
                found.append((min(i + place, len(before) - 1), was, now))
    return tuple(found)
