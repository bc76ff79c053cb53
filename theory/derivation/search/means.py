"""What is asked of the best round, of the mean of the models, or of the last one, from what holds over the rounds."""

from __future__ import annotations

from dataclasses import replace

from theory.derivation.search.combining import combine
from theory.derivation.search.context import Context, Known, Line
from theory.derivation.search.forms import Forms
from theory.derivation.search.induction import ONE, induction
from theory.derivation.search.strategies import over_length
from theory.formula import Apply, Name
from theory.sentence import (
    At,
    Expression,
    Sentence,
    applied,
    everything,
    exchanged,
    parse_expression,
    parse_sentence,
    parts,
    replaced,
    text_of,
)

START, ZERO = parse_expression("norm2(x0 - xstar)"), parse_expression("0")


def best_of_rounds(context: Context) -> list[Line] | None:
    """What is at most c in the best round, from what is at most c on average: the least is at most the mean."""
    sides = _at_most(context)
    if sides is None:
        return None
    left, right = sides
    for e in everything(left):
        if isinstance(e, Apply) and e.operation == "min_k":
            lines = _over_rounds(context, left, e, parts(e)[0], right)
            if lines is None:
                return None
            q = text_of(parts(e)[0])
            least = {"name": "the least", "sentence": f"{text_of(e)} <= {q}", "by": "axiom", "schema": "extreme"}
            both = [{"line": "the least", "over": ["mean_k"]}, {"line": MEAN}]
            claim = context.claim
            last = {"name": claim.label, "sentence": claim.statement, "by": "combination", "parts": both}
            return [*lines, {**least, "of": [q], "over": "min_k"}, last]
    return None


def at_the_mean(context: Context) -> list[Line] | None:
    """What holds of f at the mean of the models, from the mean of its values, f being convex."""
    sides = _at_most(context)
    if sides is None:
        return None
    for e in everything(sides[0]):
        f = parts(e)[0] if isinstance(e, Apply) and e.operation == "E" else e
        at = parts(f)[0] if isinstance(f, Apply) and f.operation == "f" else None
        if isinstance(at, Apply) and at.operation == "mean_k":
            value = applied("f", parts(at))
            lines = _over_rounds(context, sides[0], e, value if f is e else applied("E", (value,)), sides[1])
            if lines is None:
                return None
            lean = replace(context, lean=True)
            last = combine(lean, context.claim.statement, context.claim.label, [Known(MEAN, lines[-1]["sentence"])])
            return None if last is None else [*lines, *last]
    return None


def through_distance(context: Context) -> list[Line] | None:
    """``q <= c*norm2(x0 - xstar)`` in round k, or the last, from ``a*q + norm2(x[k] - xstar)``, which never grows.

    The number a is 1/c less what it is before the first round.
    """
    claim, sides = context.claim, _at_most(context)
    if sides is None or claim.program is None or claim.program.random or "h" in claim.free:
        return None
    left, right = sides
    per_start: dict[Expression, Expression] = {START: ONE}
    c = exchanged(right, per_start.get)
    rounds = {e.indices for e in everything(left) if isinstance(e, At)}
    if c == right or len(rounds) != 1 or next(iter(rounds)) not in BEFORE:
        return None
    if context.forms.expanded(f"{text_of(right)} - ({text_of(c)})*{text_of(START)}"):
        return None
    (at,) = rounds
    forms, k = context.forms, Name("k")
    inverse = parse_expression(forms.simplified(f"1/({text_of(replaced(c, BEFORE[at]))})"))
    a = forms.simplified(f"{text_of(inverse)} - ({text_of(replaced(inverse, {'k': ZERO}))})")
    value = exchanged(left, lambda e: At(e.name, (k,)) if isinstance(e, At) else None)
    state = claim.program.state[0].name
    known = Known("potential", f"({a})*({text_of(value)}) + norm2({state}[k] - xstar) <= norm2(x0 - xstar)")
    lines = induction(context, known.sentence, known.name, "k", 0)
    if lines is None:
        return None
    if at != (k,):
        said = parse_sentence(known.sentence)
        there = Sentence(*(replaced(said.left, {"k": at[0]}), said.relation, said.right))
        known = Known("at the end", str(there))
        put = {"k": text_of(at[0])}
        lines = [
            *lines,
            {"name": known.name, "sentence": known.sentence, "by": "at", "line": "potential", "put": put},
        ]
    last = combine(context, claim.statement, claim.label, [known])
    return None if last is None else [*lines, *last]


BEFORE: dict[tuple[Expression, ...], dict[str, Expression]] = {
    (Name("k"),): {},
    (Name("K"),): {"K": Name("k")},
    (parse_expression("k + 1"),): {"k": parse_expression("k - 1")},
}
"""By the round that a claim speaks of, what is put for it in its bound, so that it is that of round k."""
MEAN = "the mean"


def _at_most(context: Context) -> tuple[Expression, Expression] | None:
    """What is at most what, with definitions put in."""
    said = context.claim.sentence
    if said.relation not in ("<=", ">="):
        return None
    left, right = (replaced(side, context.claim.definitions) for side in said.sides)
    return (left, right) if said.relation == "<=" else (right, left)


def _over_rounds(
    context: Context, left: Expression, old: Expression, new: Expression, right: Expression
) -> list[Line] | None:
    """Lines that end with the mean over the rounds of what the left side is with another part; linear in that part."""
    inside: dict[Expression, Expression] = {old: new}
    averaged: dict[Expression, Expression] = {old: ZERO}
    try:
        rest = text_of(exchanged(left, averaged.get))
        if context.forms.expanded(f"{text_of(left)} - ({rest}) - {text_of(old)}"):
            return None
    except ValueError:
        return None
    statement = str(Sentence(applied("mean_k", (exchanged(left, inside.get),)), "<=", right))
    mean = replace(context.claim, statement=statement, label=MEAN, proof=None)
    within = replace(context, claim=mean, forms=Forms(mean))
    lines = over_length(within)
    context.used = within.used
    return None if lines is None else [*lines[:-1], {**lines[-1], "sentence": statement}]
