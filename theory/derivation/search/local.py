"""Rates of rounds that are made of local steps: what holds of each turn of the loop, and then of each round."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from theory.derivation.search.context import Context, Known, Line, at_most
from theory.derivation.search.induction import induction
from theory.formula import Apply, Name
from theory.program import loops_around
from theory.sentence import At, Expression, applied, everything, exchanged, parse_expression, parts, replaced, text_of


def over_turns_and_rounds(context: Context) -> list[Line] | None:
    """``q(x[k]) <= a**(H*k)*q(x0)`` from ``q(y[k, h]) <= a**h*q(x[k])``, by induction over turns, then over rounds."""
    claim, sides = context.claim, at_most(context.claim)
    program = claim.program
    if sides is None or program is None or "k" not in claim.free:
        return None
    left, state = sides[0], program.state[0].name
    if {e for e in everything(left) if isinstance(e, At)} != {At(state, (Name("k"),))}:
        return None
    for tap, count in _loops(context):
        for rate in _rates(context, sides[1], count):
            inside: dict[Expression, Expression] = {At(state, (Name("k"),)): At(tap, (Name("k"), Name("h")))}
            local = exchanged(left, inside.get)
            sentence = f"{text_of(local)} <= {rate}*({text_of(left)})"
            one = replace(context)
            lines = induction(one, sentence, "all turns", "h", 0)
            if lines is not None:
                turns = Known("all turns", sentence, cost=0.3, put={"h": count})
                rounds = induction(one, claim.statement, claim.label, "k", 0, [turns])
                lines = None if rounds is None else [*lines, *rounds]
            context.used = one.used
            if lines is not None:
                return lines
    return None


def _loops(context: Context) -> Iterator[tuple[str, str]]:
    """The taps in loops of so many turns, with the name of that number."""
    program = context.claim.program
    assert program is not None
    for tap, (kind, loops) in program.taps.items():
        around = loops_around(program.body, tap) or ()
        if kind in ("server", "client") and loops == 1 and len(around) == 1 and isinstance(around[0].count, Name):
            yield tap, around[0].count.name


def _rates(context: Context, right: Expression, count: str) -> Iterator[str]:
    """What a power a**(c*H*k) of the right side is for each turn: a**(c*h); 1 where nothing shrinks."""
    if not any(isinstance(e, Name) and e.name == "k" for e in everything(right)):
        yield "1"
    for e in dict.fromkeys(everything(right)):
        if not isinstance(e, Apply) or e.operation != "**":
            continue
        base, exponent = parts(e)
        turns = replaced(exponent, {"k": parse_expression("1"), count: Name("h")})
        whole = applied("-", (exponent, replaced(turns, {"h": applied("*", (Name(count), Name("k")))})))
        names = {n.name for n in everything(exponent) if isinstance(n, Name)}
        if {"k", count} <= names and not context.forms.expanded(text_of(whole)):
            yield f"({text_of(base)})**({text_of(turns)})"
