"""How many rounds are enough at a linear rate: ``K >= L/mu*log(1/eps)``."""

from __future__ import annotations

from dataclasses import replace

from theory.derivation.search.context import Context, Line, at_most
from theory.derivation.search.flat import GAP, LEAST
from theory.derivation.search.forms import Forms
from theory.derivation.search.induction import ONE
from theory.derivation.search.means import START
from theory.derivation.search.numbers import through_exponentials
from theory.derivation.search.strategies import in_either_way, over_rounds
from theory.formula import Apply, Name
from theory.sentence import At, Expression, everything, exchanged, replaced, text_of


def at_a_linear_rate(context: Context) -> list[Line] | None:
    """What is left of the start after K rounds, from ``(1 - q)**k`` of it after k, and that K rounds are enough."""
    claim, sides = context.claim, at_most(context.claim)
    if not context.first or sides is None or claim.program is None:
        return None
    left, right = sides
    whole = next((e for e in everything(right) if e in (START, GAP)), None)
    if whole is None or {e.indices for e in everything(left) if isinstance(e, At)} != {(Name("K"),)}:
        return None
    c, start = _per(whole, right), text_of(whole)
    if context.forms.expanded(f"{text_of(right)} - ({c})*({start})"):
        return None
    for q in _rates(context):
        rate = f"(1 - {q})**k*({start})"
        there = text_of(exchanged(left, lambda e: At(e.name, (Name("k"),)) if isinstance(e, At) else None))
        carried = replace(claim, statement=f"{there} <= {rate}", label="the rate", proof=None)
        enough = replace(claim, statement=f"(1 - {q})**K <= {c}", label="enough rounds", proof=None)
        inside = replace(context, claim=carried, forms=Forms(carried))
        first = in_either_way(inside, over_rounds)
        numbers = replace(context, claim=enough, forms=Forms(enough), used=inside.used)
        second = None if first is None else through_exponentials(numbers)
        context.used = numbers.used
        if first is None or second is None:
            continue
        return [
            *first[:-1],
            {**first[-1], "sentence": carried.statement},
            *second[:-1],
            {**second[-1], "sentence": enough.statement},
            {
                "name": "at the end",
                "sentence": f"{text_of(left)} <= {rate.replace('**k', '**K')}",
                "by": "at",
                "line": "the rate",
                "put": {"k": "K"},
            },
            *([LEAST] if whole == GAP else []),
            {
                "name": claim.label,
                "sentence": claim.statement,
                "by": "combination",
                "parts": [{"line": "at the end"}, {"line": "enough rounds", "times": f"({start})"}],
            },
        ]
    return None


def _per(node: Expression, e: Expression) -> str:
    """An expression with 1 for a part."""
    inside: dict[Expression, Expression] = {node: ONE}
    return text_of(exchanged(e, inside.get))


def _rates(context: Context) -> list[str]:
    """For each assumption that K is at least so many times a logarithm, one over so many."""
    claim, found = context.claim, list[str]()
    for relation in claim.relations:
        more, least = relation.sides if relation.relation == ">=" else relation.sides[::-1]
        if more != Name("K") or relation.relation not in ("<=", ">="):
            continue
        least = replaced(least, claim.definitions)
        for e in everything(least):
            if isinstance(e, Apply) and e.operation == "log":
                times = _per(e, least)
                if not context.forms.expanded(f"{text_of(least)} - ({times})*({text_of(e)})"):
                    found.append(context.forms.simplified(f"1/({times})"))
    return found
