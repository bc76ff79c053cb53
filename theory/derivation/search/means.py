"""What is asked of the best round, of the mean of the models, or of the last one, from what holds over the rounds."""

from __future__ import annotations

import re
from dataclasses import replace

from theory.claim import Claim
from theory.derivation.search.combining import combine
from theory.derivation.search.context import Context, Known, Line, at_most
from theory.derivation.search.facts import facts
from theory.derivation.search.forms import Forms
from theory.derivation.search.induction import ONE, ZERO, induction
from theory.derivation.search.settings import Settings
from theory.derivation.search.strategies import over_length
from theory.derivation.writing import claimed
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

START = parse_expression("norm2(x0 - xstar)")


def best_of_rounds(context: Context) -> list[Line] | None:
    """What is at most c in the best round, from what is at most c on average: the least is at most the mean."""
    sides = at_most(context.claim)
    if sides is None:
        return None
    left, right = sides
    for e in everything(left):
        if isinstance(e, Apply) and e.operation == "min_k":
            q = parts(e)[0]
            if e == left and isinstance(q, Apply) and q.operation == "norm":
                return _of_lengths(context, q, right)
            lines = _over_rounds(context, left, e, q, right)
            if lines is None:
                return None
            text = text_of(q)
            both: list[dict[str, object]] = [{"line": "the least", "over": ["mean_k"]}, {"line": MEAN}]
            return [*lines, _least(text), _last(context, both)]
    return None


def _least(q: str) -> Line:
    return {"name": "the least", "sentence": f"min_k({q}) <= {q}", "by": "axiom", "schema": "extreme", "of": [q],
            "over": "min_k"}  # fmt: skip


def _of_lengths(context: Context, length: Apply, right: Expression) -> list[Line] | None:
    """``min_k(norm(v)) <= c``, from ``mean_k(norm2(v)) <= c**2``."""
    claim, rooted = context.claim, isinstance(right, Apply) and right.operation == "sqrt"
    most = parts(right)[0] if rooted else applied("**", (right, parse_expression("2")))
    squared = applied("norm2", parts(length))
    mean = applied("mean_k", (squared,))
    lines = _over_rounds(context, mean, mean, squared, most)
    if lines is None:
        return None
    q, c = text_of(length), text_of(most)
    away = {"of": f"{q} - mean_k({q})", "over": ["mean_k"]}
    return [
        *lines,
        _least(q),
        {
            "name": "at most the mean",
            "sentence": f"min_k({q}) <= mean_k({q})",
            "by": "combination",
            "parts": [{"line": "the least", "over": ["mean_k"]}],
        },
        {
            "name": "both squared",
            "sentence": f"min_k({q})**2 <= mean_k({q})**2",
            "by": "power",
            "line": "at most the mean",
            "exponent": "2",
        },
        {
            "name": "squares",
            "sentence": f"min_k({q})**2 <= {c}",
            "by": "combination",
            "parts": [{"line": "both squared"}, {"line": MEAN}],
            "squares": [away],
        },
        {
            "name": "not negative",
            "sentence": f"0 <= {c}",
            "by": "combination",
            "parts": [{"line": MEAN}],
            "squares": [{"of": text_of(parts(length)[0]), "over": ["mean_k"]}],
        },
        {"name": claim.label, "sentence": claim.statement, "by": "root", "line": "squares"},
    ]


def enough_rounds(context: Context) -> list[Line] | None:
    """``q <= c`` for K >= e, from ``q <= e*c/K``."""
    claim, sides = context.claim, at_most(context.claim)
    if not context.first or sides is None:
        return None
    left, right = sides
    for relation in claim.relations:
        more, least = relation.sides if relation.relation == ">=" else relation.sides[::-1]
        if more != Name("K") or relation.relation not in ("<=", ">="):
            continue
        e, c = text_of(replaced(least, claim.definitions)), text_of(right)
        best = isinstance(left, Apply) and left.operation == "min_k"  # a lemma may not be about the run's rounds alone
        mean = applied("mean_k", parts(left)) if best and isinstance(left, Apply) else left
        theorem = _without_rounds(claim, f"{text_of(mean)} <= ({e})*({c})/K")
        inside = Context(
            theorem, Forms(theorem), context.work, Settings(theorem), list(facts(theorem)), stage=1, plain=True
        )
        for way in (over_length, at_the_mean, through_distance):
            lines = way(inside)
            if lines is not None:
                line = dict(claimed("in K rounds", replace(theorem, proof=tuple(lines))))
                both = [{"line": line["name"]}, {"line": str(relation), "times": f"({c})/K"}]
                if not (best and isinstance(left, Apply)):
                    return [line, _last(context, both)]
                least_ = _least(text_of(parts(left)[0]))
                return [line, least_, _last(context, [*both, {"line": least_["name"], "over": ["mean_k"]}])]
    return None


def _without_rounds(claim: Claim, statement: str) -> Claim:
    """Another sentence, without what a claim assumes of the number of rounds, of which an induction may not speak."""
    kept = [text for text in claim.assuming if not re.search(r"\bK\b", text)]
    standing = [text for text in claim.standing if not re.search(r"\bK\b", text)]
    return replace(
        claim, statement=statement, label="in-k-rounds", assuming=tuple(kept), standing=tuple(standing), proof=None,
        beside=(),
    )  # fmt: skip


def _last(context: Context, given: list[dict[str, object]]) -> Line:
    claim = context.claim
    return {"name": claim.label, "sentence": claim.statement, "by": "combination", "parts": given}


def at_the_mean(context: Context) -> list[Line] | None:
    """What holds of f at the mean of the models, from the mean of its values, f being convex."""
    sides = at_most(context.claim)
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
    claim, sides = context.claim, at_most(context.claim)
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
