"""What is left over, and what was meant, in the words of the language: for messages alone, on which nothing rests."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from fractions import Fraction
from functools import reduce

from theory.claim import Claim
from theory.derivation import spoken
from theory.derivation.quotients import Quotient
from theory.derivation.schemas import SCHEMAS
from theory.formula import Apply, Number
from theory.sentence import (
    FUNCTION_NAMES,
    OVER,
    Expression,
    Vocabulary,
    applied,
    factors_of,
    parse_expression,
    parts,
    read,
    text_of,
)

MOST_TERMS = 12
"""Of what is left over, that are told."""


def left_over(q: Quotient, claim: Claim) -> str:
    """A normal form as a formula of the claim's language; how many of its terms no formula says is told."""
    pieces: list[str] = []
    unsaid = 0
    terms = sorted(q.over.items(), key=lambda term: (term[1] < 0, len(term[0]), term[0]))
    for m, c in terms[:MOST_TERMS]:
        try:
            text = text_of(_tidy(parse_expression(spoken.monomial(m, abs(Fraction(c)))), claim.vocabulary), 1)
        except Exception:  # whatever is not said: no message may take the place of the refusal
            unsaid += 1
            continue
        pieces += [" - " if c < 0 else " + ", text] if pieces else ["-" if c < 0 else "", text]
    more = len(terms) - MOST_TERMS
    found = "".join(pieces or ["" if unsaid else "0"])
    for count, which in ((unsaid, "no formula of the language says"), (max(0, more), "")):
        if count:
            what = f"{count}{' more' if found else ''} term{'s' * (count > 1)}{which and f' that {which}'}"
            found = f"{found} + {what}" if found else what
    for p, e in q.under.items():
        try:
            below = " + ".join(spoken.monomial(m, Fraction(c)) for m, c in p).replace("+ -", "- ")
        except spoken.UnspeakableError:
            return f"{found}, over a denominator that no formula of the language says"
        found = f"({found})/({below})" + (f"**{e}" if e != 1 else "")
    return found + ("; zero f (v) says dot(grad(f, xstar), v) == 0" if "grad(f, xstar)" in found else "")


def unsigned(multiplier: Expression, of: str) -> str:
    """Why a multiplier of an inequality or a square is refused, and what to write."""
    text = text_of(multiplier)
    return f"nothing says that the multiplier {text} of {of} is >= 0: a line before it has to, such as '{text} >= 0'"


def near(name: str, lines: Iterable[str]) -> str:
    """What somebody may have meant who names a line that is not there: a line, or a schema; nothing where none is."""
    if re.match(r"(E|(mean|sum)_[nikhj]):", name):
        return "; all that a part is taken over stands before one colon, as in 'E mean_n mean_i: LINE'"
    schema = re.split(r"\s+(?:f|f_n|f_ni)\b|\s*\(", name.strip())[0]
    if "(" in name and schema in SCHEMAS:
        return f"; an instance is written {schema} f ({', '.join(SCHEMAS[schema][0].points)}), with expressions"
    meant = [f"the schema {one!r}" for one in get_close_matches(schema, [*SCHEMAS], n=1, cutoff=0.7)]
    if not meant or "(" not in name:
        meant = [*(repr(one) for one in get_close_matches(name, [*lines], n=2, cutoff=0.7)), *meant]
    return f"; did you mean {' or '.join(meant)}?" if meant else ""


def _tidy(e: Expression, words: Vocabulary) -> Expression:
    """The same expression as people write it: gradients of means, squared norms, numbers and parameters in front."""
    if not isinstance(e, Apply):
        return e
    op, inner = e.operation, tuple(_tidy(part, words) for part in parts(e))
    if op in ("*", "/"):
        above, below = [list(some) for some in factors_of(applied(op, inner))]
        above.sort(key=_rank)
        found = reduce(lambda a, b: applied("*", (a, b)), above) if above else Number(Fraction(1))
        return applied("/", (found, reduce(lambda a, b: applied("*", (a, b)), below))) if below else found
    if op == "dot" and inner[0] == inner[1]:
        return applied("norm2", inner[:1])
    if op == "sqrt" and isinstance(inner[0], Apply) and inner[0].operation == "norm2":
        return applied("norm", parts(inner[0]))
    if op in OVER and OVER[op][0] == "mean":
        return _mean(op, OVER[op][1], inner[0], words)
    return applied(op, inner)


def _rank(e: Expression) -> int:
    """Numbers first, then parameters and their powers, then all that has a bracket."""
    return 0 if isinstance(e, Number) else 2 if "(" in (text := text_of(e)) or "[" in text else 1


def _mean(op: str, index: str, e: Expression, words: Vocabulary) -> Expression:
    """The mean of an expression, taken as far inside as it goes."""

    def without(part: Expression) -> bool:
        return index not in read(part, words).free

    if isinstance(e, Apply):
        inner = parts(e)
        if e.operation == "E":
            return applied("E", (_mean(op, index, inner[0], words),))
        if e.operation in ("*", "/"):
            above, below = factors_of(e)
            if [*filter(without, above)] and all(map(without, below)):
                rest = [part for part in above if not without(part)]
                product = reduce(lambda a, b: applied("*", (a, b)), rest)
                found = [*filter(without, above), _mean(op, index, product, words)]
                top = reduce(lambda a, b: applied("*", (a, b)), found)
                return applied("/", (top, reduce(lambda a, b: applied("*", (a, b)), below))) if below else top
        if e.operation == "dot":
            for one, other in (inner, inner[::-1]):
                if without(other):
                    u = _mean(op, index, one, words)
                    return applied("norm2", (u,)) if u == other else applied("dot", (u, other))
        name = e.operation.removeprefix("grad ")
        if name in FUNCTION_NAMES[1:] and name[-1] == index and without(inner[0]):
            return applied(e.operation.removesuffix(name) + FUNCTION_NAMES[FUNCTION_NAMES.index(name) - 1], inner)
    return applied(op, (e,))


__all__ = ["left_over", "near"]
