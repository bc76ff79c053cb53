"""Induction over k, h or K: the sentence at the start, and after one more."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from theory.claim import Claim
from theory.derivation.search.combining import combine
from theory.derivation.search.context import Context, Known, Line
from theory.formula import Name, Number
from theory.sentence import Expression, Sentence, applied, index_of, parse_sentence, replaced

ONE, ZERO = Number(Fraction(1)), Number(Fraction(0))


def induction(
    context: Context, sentence: str, name: str, on: str, start: int, given: Sequence[Known] = ()
) -> list[Line] | None:
    """A line by induction, whose hypothesis is the sentence itself."""
    first, then = f"{name} at {start}", f"{name} at {on} + 1"
    known = [*given, Known("IH", sentence, cost=0.3)]
    if on == "K":  # a sum of K + 1 terms has no name
        known += _of_round(context.claim, "K")
        base = combine(context, sentence, first, [*given, *_of_round(context.claim, "0")], put={"K": str(start)})
        step = None if base is None else combine(context, sentence, then, known, put={"K": "K + 1"})
    else:
        base = combine(context, at(sentence, on, Number(Fraction(start))), first, given)
        following = applied("+", (Name(on), ONE))
        step = None if base is None else combine(context, at(sentence, on, following), then, known)
    if base is None or step is None:
        return None
    return [
        {"name": name, "sentence": sentence, "by": "induction", "on": on, "from": start, "base": base, "step": step}
    ]


def _of_round(claim: Claim, k: str) -> list[Known]:
    """The signs of numbers that there are for each round, in round k."""
    found = []
    for symbol in claim.symbols:
        base, index = index_of(symbol)
        low = claim.domains[base].lower
        if index == "k" and low is not None and low >= 0:
            text = f"{symbol} >= 0"
            found.append(Known(text, text, {"by": "domain"}, 0.4, {"k": k}))
    return found


def at(sentence: str, on: str, value: Expression) -> str:
    """The sentence with an index put in."""
    tree = parse_sentence(sentence)
    left, right = (replaced(side, {on: value}) for side in (tree.left, tree.right))
    return str(Sentence(left, tree.relation, right))
