"""What is known of a claim's numbers without a proof: its relations, domains, and that mu <= L."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from theory import predicates as p
from theory.claim import Claim
from theory.derivation.search.context import Known
from theory.derivation.search.instances import LEVEL, assumed
from theory.derivation.search.settings import asked
from theory.for_every import predicate_of
from theory.formula import Apply
from theory.sentence import applied, index_of, parse_sentence, parts, text_of


def facts(claim: Claim) -> Iterator[Known]:
    """Relations as hypotheses, then lines of the rules ``domain`` and ``assumption`` that may be needed."""
    for text in (*claim.assuming, *claim.standing):
        if predicate_of(text) is None:
            yield Known(text, text, cost=0.3)
            yield from _squared(text)
    there = {str(relation) for relation in claim.relations}
    for sentence in dict.fromkeys(_of_domains(claim)):
        if sentence in there:
            continue
        yield Known(sentence, sentence, {"by": "domain"}, cost=0.4)
    known = assumed(claim)
    for text, one in known:
        for other, two in known:
            if isinstance(one, p.StronglyConvex) and isinstance(two, p.Smooth):
                on = min((one.function, two.function), key=lambda f: LEVEL[f])
                sentence = f"{text_of(one.constants[0])} <= {text_of(two.constants[0])}"
                yield Known(
                    f"curvature {sentence}", sentence,
                    {"by": "assumption", "of": [other, text], "schema": "curvature", "at": {}, "on": on}, cost=0.4,
                )  # fmt: skip


def _squared(text: str) -> Iterator[Known]:
    """``norm(v) <= c`` as ``norm2(v) <= c**2``."""
    said = parse_sentence(text)
    low, high = (said.left, said.right) if said.relation in ("<=", "<") else (said.right, said.left)
    if isinstance(low, Apply) and low.operation == "norm" and said.relation != "==":
        square = applied("norm2", parts(low))
        sentence = f"{text_of(square)} <= {text_of(high, 5)}**2"
        yield Known(f"{text} squared", sentence, {"by": "power", "line": text, "exponent": "2"}, cost=0.4)


def _of_domains(claim: Claim) -> Iterator[str]:
    if _has_clients(claim):
        yield "N >= 1"
    for symbol in claim.symbols:
        domain = claim.domains[index_of(symbol)[0]]
        if index_of(symbol)[1] in ("k", "h", "j"):  # no one number
            continue
        lower, upper = domain.lower, domain.upper
        if lower is not None and lower != 0:
            yield f"{symbol} {'>' if domain.lower_open else '>='} {_number(lower)}"
        if upper is not None:
            yield f"{symbol} {'<' if domain.upper_open else '<='} {_number(upper)}"
    if any(index_of(s)[0] == "K" for s in claim.symbols):
        yield "K >= 1"
    yield from asked(claim)


def _has_clients(claim: Claim) -> bool:
    """Whether it speaks of clients, or of their number."""
    texts = (claim.statement, *claim.where.values(), *claim.assuming, *claim.standing, *claim.vectors)
    return claim.of is not None or bool(claim.predicates) or any(re.search(r"_n|\bN\b", text) for text in texts)


def _number(value: object) -> str:
    fraction = Fraction(str(value))
    return str(fraction) if fraction.denominator == 1 else f"{fraction.numerator}/{fraction.denominator}"
