"""The largest over an index is at most what each is at most, the least at least what each is at least."""

from __future__ import annotations

from theory.claim import Claim
from theory.derivation.search.combining import combine
from theory.derivation.search.context import Context, Known, Line, at_most
from theory.formula import Apply
from theory.sentence import Expression, everything, parts, replaced, text_of

_SUMS = ("sum_n", "mean_n")


def of_each(context: Context) -> list[Line] | None:
    """The sentence, where a side of it is the largest or the least over an index, from what is so of each."""
    claim = context.claim
    sides = at_most(claim)
    if not context.first or sides is None:
        return None
    low, high = sides
    for extreme, bound, how in ((low, high, "max_"), (high, low, "min_")):
        if not isinstance(extreme, Apply) or not extreme.operation.startswith(how):
            continue
        (one,) = parts(extreme)
        first, second = (one, bound) if how == "max_" else (bound, one)
        lines = combine(
            context, f"{text_of(first)} <= {text_of(second)}", context.name("each"), _of_sums(claim, one, bound)
        )
        if lines is not None:
            of = [text_of(one), text_of(bound)]
            last: Line = {"name": claim.label, "sentence": claim.statement, "by": "axiom", "schema": "bounds"}
            return [*lines, {**last, "of": of, "over": extreme.operation}]
    return None


def _of_sums(claim: Claim, one: Expression, bound: Expression) -> list[Known]:
    """That what one client has is at most the sum over all, where it is added up in the bound or a relation."""
    sides = [bound, *(side for relation in claim.relations for side in relation.sides)]
    every = (e for side in sides for e in everything(replaced(side, claim.definitions)) if isinstance(e, Apply))
    added = {parts(e)[0] for e in every if e.operation in _SUMS}
    found = []
    for text in dict.fromkeys(text_of(e) for e in everything(one) if e in added):
        said = f"{text} <= sum_n({text})"
        found.append(Known(said, said, {"by": "axiom", "schema": "part", "of": [text], "over": "sum_n"}, 0.4))
    return found
