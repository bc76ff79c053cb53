"""How far steps lead: a bound on each step, added up over the turns of a loop, or over the rounds.

``norm2(y[k, h] - x[k]) <= R**2``, or ``norm2(x[k] - x0) <= R**2``, where each turn or round adds a vector v with
``norm2(v) <= D**2``, and R grows by D: the norm of a sum is at most the sum of the norms (Cauchy, Schwarz).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from theory.derivation import spoken
from theory.derivation.reading import PLAIN
from theory.derivation.search.combining import combine
from theory.derivation.search.context import Context, Known, Line, at_most
from theory.derivation.search.induction import ONE, ZERO, induction
from theory.derivation.search.numbers import root_of, shown
from theory.formula import Apply, Name
from theory.program import loops_around
from theory.sentence import At, Expression, applied, everything, parse_expression, parts, replaced, text_of


@dataclass(frozen=True)
class Sum:
    """What is added up over the turns, or the rounds.

    Attributes:
        on: the index of these, h or k.
        vector: after h turns, or k rounds, as text.
        step: what a turn adds.
        most: what its length is at most then.
        each: what the length of a step is at most.
        count: how many of them the claim speaks of, as text: turns of its loop, k or K rounds.
    """

    on: str
    vector: str
    step: str
    most: str
    each: str
    count: str


def over_turns(context: Context) -> list[Line] | None:
    """A bound on what the steps of a loop, or of a run, lead away, by induction over its turns, or over the rounds."""
    claim = context.claim
    sides = at_most(claim)
    if not context.first or claim.program is None or sides is None:
        return None
    left, right = sides
    for one in _sums(context, left, right):
        lines = _added_up(context, one)
        if lines is None:
            continue
        last = _compared(context, one, left, right) or combine(
            context, claim.statement, claim.label, _at_the_end(context, one, lines)
        )
        if last is not None:
            return [*lines, *last]
    return None


def _sums(context: Context, left: Expression, right: Expression) -> Iterator[Sum]:
    """The sums over turns of whose length a claim speaks, with the bounds that its right side may be for each turn."""
    for e in everything(left):
        if not isinstance(e, Apply) or e.operation not in ("norm2", "norm"):
            continue
        moved = _moved(context, parts(e)[0]) or _run(context, parts(e)[0])
        if moved is None:
            continue
        on, vector, count = moved
        squared = right if e.operation == "norm2" else applied("*", (right, right))
        step = _step(context, on, vector)
        h = Name(on)
        after: list[Expression] = [h] if on == "k" else [h, applied("+", (h, ONE))]
        bounds = [_root(context, text_of(replaced(squared, {count: t}))) for t in after]
        some = [b for b in bounds if b is not None and step is not None]
        for most in sorted(some, key=lambda b: not _begins_with_nothing(context, on, b)):
            later = text_of(replaced(parse_expression(most), {on: applied("+", (h, ONE))}))
            each = context.forms.simplified(f"{later} - ({most})")
            yield Sum(on, text_of(vector), str(step), most, each, count)


def _root(context: Context, squared: str) -> str | None:
    """A length whose square it is, or, of 2*a**2, not beyond."""
    return next(filter(None, (root_of(context, f"({squared})/{part}") for part in (1, 2, 3))), None)


def _begins_with_nothing(context: Context, on: str, most: str) -> bool:
    return not context.forms.expanded(text_of(replaced(parse_expression(most), {on: ZERO})))


def _compared(context: Context, one: Sum, left: Expression, right: Expression) -> list[Line] | None:
    """The claim from the bound after h turns, where its left side is the length, its square, or the mean of these."""
    over = [] if not (isinstance(left, Apply) and left.operation == "mean_n") else ["mean_n"]
    e = parts(left)[0] if over and isinstance(left, Apply) else left
    if not isinstance(e, Apply) or e.operation not in ("norm2", "norm") or text_of(parts(e)[0]) != one.vector:
        return None
    square = e.operation == "norm2"
    within = [f"h <= {one.count} - 1", "h >= 0"] if one.on == "h" else ["k >= 0"]
    known = [*context.known, *(Known(t, t, {"by": "domain"}, 0.4) for t in within)]
    inside = replace(context, signs=True, known=known, supposed=[*context.supposed, *within])
    bound = f"({one.most})**2" if square else one.most
    room = shown(inside, f"{bound} <= {text_of(right)}", "room")
    if room is None:
        return None
    length: Line = {"name": "the length", "sentence": f"norm({one.vector}) <= {one.most}", "by": "root"}
    own: dict[str, object] = {"line": "all turns" if square else "the length"}
    both = [{**own, "over": over} if over else own, {"line": "room"}]
    last = {"name": context.claim.label, "sentence": context.claim.statement, "by": "combination", "parts": both}
    context.used = inside.used
    return [*room, *([] if square else [{**length, "line": "all turns"}]), last]


def _moved(context: Context, v: Expression) -> tuple[str, Expression, str] | None:
    """What a vector is after h turns, and the number of turns: where it is of a turn, or of a round made of turns."""
    program = context.claim.program
    assert program is not None
    taps = [e for e in everything(v) if isinstance(e, At) and e.name in program.taps]
    names = [e.name for e in taps] or [name for name, (kind, loops) in program.taps.items() if loops == 1]
    for name in names:
        around = loops_around(program.body, name) or ()
        if len(around) != 1 or not isinstance(around[0].count, Name):
            continue
        count = around[0].count.name
        if taps:
            return ("h", v, count) if all(e.indices == (Name("k"), Name("h")) for e in taps) else None
        state = program.state[0].name
        if v == parse_expression(f"{state}[k + 1] - {state}[k]"):
            return "h", parse_expression(f"{name}[k, h] - {state}[k]"), count
    return None


def _run(context: Context, v: Expression) -> tuple[str, Expression, str] | None:
    """What a vector is after k rounds, and the name of their number: where it is of a state after k or after K."""
    program = context.claim.program
    assert program is not None
    names, every = {one.name for one in program.state}, [e for e in everything(v) if isinstance(e, At)]
    for count in ("k", "K"):
        if every and all(e.name in names and e.indices == (Name(count),) for e in every):
            return "k", replaced(v, {count: Name("k")}), count
    return None


def _step(context: Context, on: str, vector: Expression) -> str | None:
    """What a turn, or a round, adds to a vector; None where that cannot be written."""
    following: dict[str, Expression] = {on: applied("+", (Name(on), ONE))}
    later = replaced(vector, following)
    try:
        added = context.forms.reader.value(applied("-", (later, vector)), replace(PLAIN, unfold=True))
        return None if added.zero else spoken.vector(added)
    except ValueError:
        return None


def _added_up(context: Context, one: Sum) -> list[Line] | None:
    """Lines that end with the bound after h turns, ``all turns``."""
    first = combine(context, f"norm2({one.step}) <= ({one.each})**2", "each step")
    if first is None:
        return None
    v, u = one.step, one.vector
    lines: list[Line] = [
        *first,
        {"name": "its length", "sentence": f"norm({v}) <= {one.each}", "by": "root", "line": "each step"},
        {
            "name": "Cauchy",
            "sentence": f"dot({u}, {v}) <= norm({u})*norm({v})",
            "by": "axiom",
            "schema": "cauchy",
            "of": [u, v],
        },
    ]
    both = [{"line": "so far", "times": f"norm({v})"}, {"line": "its length", "times": one.most}]
    product = f"norm({u})*norm({v}) <= ({one.most})*({one.each})"
    known = [
        *(Known(str(line["name"]), str(line["sentence"])) for line in lines[len(first) - 1 :]),
        Known("so far", f"norm({u}) <= {one.most}", {"by": "root", "line": "IH"}),
        Known("both", product, {"by": "combination", "parts": both}),
    ]
    plain = replace(context, plain=True)
    added = induction(plain, f"norm2({u}) <= ({one.most})**2", "all turns", one.on, 0, known)
    context.used = plain.used
    return None if added is None else [*lines, *added]


def _at_the_end(context: Context, one: Sum, lines: list[Line]) -> list[Known]:
    """The bound after h turns, and after all; that no turn is beyond the last; and the length."""
    squared, whole = str(lines[-1]["sentence"]), context.claim.free
    length = {"by": "root", "line": "all turns"}
    if one.on == "k":
        put = {} if one.count == "k" else {"k": one.count}
        return [
            Known("all turns", squared, put=put),
            Known("the length", f"norm({one.vector}) <= {one.most}", length, put=put),
        ]
    if "h" not in whole:
        return [Known("all turns", squared, put={"h": one.count}, over=("mean_n",))]
    return [
        Known("all turns", squared),
        Known("the length", f"norm({one.vector}) <= {one.most}", length),
        *(Known(t, t, {"by": "domain"}, 0.4) for t in (f"h <= {one.count} - 1", "h >= 0")),
    ]
