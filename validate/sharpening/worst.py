"""The least factor of a term at numbers, by the worst functions of a claim's class, and a formula that says them all.

At numbers for all names a semidefinite program says how large a term has to be, from both sides
(`validate.worst_case`). Where one formula says it at all numbers that were asked, the claim with it in the place of the
term's own factor is put to the check.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from theory.claim import Claim
from theory.formula import Apply, Name, Number, power_too_large
from theory.sentence import (
    At,
    Expression,
    SentenceError,
    applied,
    everything,
    factors_of,
    parts,
    read,
    replaced,
    signed_terms,
    text_of,
)
from validate.instances.pool import Drawn
from validate.instances.seen import Seen, measured
from validate.mutate.neighbours import Path, put
from validate.sharpening.recognition import recognised
from validate.sharpening.stronger import edited, stated, without
from validate.worst_case import NoReadingError, WorstRatio, worst_case_of
from validate.worst_case.stage import settings

NUMBERS, SEEDS = 40, 400
"""Settings of a claim's numbers that are asked, of so many draws."""
ENOUGH = 6
"""Values by which a formula is told."""
TOLERANCE = 2e-5
"""Relative, of the values that a program in floats is certain of."""


@dataclass(frozen=True)
class Needed:
    """What a term's factor has to be at some numbers.

    Attributes:
        values: of the names.
        printed: the factor that the claim has there.
        least: the one that the worst functions attain.
    """

    values: Mapping[str, Fraction]
    printed: Fraction
    least: float


@dataclass(frozen=True)
class Term:
    """A term of the right side: a factor that is a formula in numbers, times what is left.

    Attributes:
        path: to the term.
        factor: the formula.
        of: what is left, a number 1 where nothing is.
    """

    path: Path
    factor: Expression
    of: Expression

    @property
    def text(self) -> str:
        """The term."""
        return text_of(self.whole(self.factor))

    def whole(self, factor: Expression) -> Expression:
        """The term with a factor."""
        return factor if self.of == Number(Fraction(1)) else applied("*", (factor, self.of))


def terms(claim: Claim) -> Iterator[Term]:
    """The terms of a right side that are added, with their factors."""
    right = claim.sentence.right
    for sign, path, term in signed_terms(right):
        if sign == "+":
            above, below = factors_of(term)
            numbers = [e for e in above if _of_numbers(claim, e)]
            under = [e for e in below if _of_numbers(claim, e)]
            rest = [e for e in above if e not in numbers]
            if rest and len(under) == len(below):
                factor = _product(numbers)
                yield Term(path, applied("/", (factor, _product(under))) if under else factor, _product(rest))


def needed(claim: Claim, term: Term, until: float) -> tuple[list[Needed], list[Drawn]]:
    """What a term's factor has to be, at numbers of the claim, and the instances that attain it.

    Args:
        claim: an inequality.
        term: of its right side; the others stay.
        until: a time of this process (`time.process_time`).
    """
    rest = without(claim.sentence.right, term.path)
    left = claim.sentence.left
    if rest != Number(Fraction(0)):
        left = applied("-", (left, rest))
    sentence = replace(claim.sentence, left=left, right=term.whole(term.factor))
    asked = edited(claim, "worst", statement=str(sentence))
    found: list[Needed] = []
    instances: list[Drawn] = []
    if asked is None:
        return found, instances
    least = claim.sentence.relation in ("<=", "<")
    for values, worst in _asked(asked, until):
        printed = _value(replaced(term.factor, claim.definitions), values)
        if printed is None or worst.lower is None or worst.upper is None:
            continue
        if worst.status == "proved" and not worst.squared and worst.lower > 0:
            middle = (worst.lower + worst.upper) / 2
            found.append(Needed(values, printed, float(printed * middle if least else printed / middle)))
        one = worst.instance
        if one is not None:
            instances.append(one)
    return found, instances


def _asked(claim: Claim, until: float) -> Iterator[tuple[Mapping[str, Fraction], WorstRatio]]:
    """The worst case at numbers; what has no reading, and what the solver cannot do, is passed over."""
    count = 0
    for numbers, samples, rounds in settings(claim, SEEDS):
        if time.process_time() > until or count >= NUMBERS:
            return
        count += 1
        try:
            worst = worst_case_of(claim, numbers, clients=len(samples), samples=samples, rounds=rounds)
        except (NoReadingError, ValueError, ArithmeticError, np.linalg.LinAlgError):
            continue
        named = {"N": Fraction(len(samples)), "K": Fraction(rounds), **numbers.parameters, **numbers.constants}
        named |= {index: Fraction(value) for index, value in worst.case.items()}
        yield {name: value for name, value in named.items() if isinstance(value, Fraction)}, worst


def formula(claim: Claim, term: Term, found: list[Needed]) -> Expression | None:
    """A formula that says what a term's factor has to be at all numbers; None where none is recognised."""
    if len(found) < ENOUGH:
        return None
    known = set(claim.symbols) | {index for one in found for index in one.values if index in claim.free} | {"K"}
    names = {
        name: np.array([float(one.values[name]) for one in found])
        for name in sorted(known)
        if all(name in one.values for one in found) and len({one.values[name] for one in found}) > 1
    }
    return recognised(np.array([one.least for one in found]), names, TOLERANCE) if names else None


def is_printed(found: list[Needed]) -> bool:
    """Whether a term's factor is at all numbers the one that it has to be."""
    return bool(found) and all(abs(one.least - one.printed) <= TOLERANCE * abs(one.printed) for one in found)


def with_factor(claim: Claim, term: Term, factor: Expression) -> Claim | None:
    """The claim with another factor of a term."""
    right = put(claim.sentence.right, term.path, term.whole(factor))
    return edited(claim, "worst-case", statement=stated(claim, right))


def attained(claim: Claim, instances: list[Drawn]) -> list[Seen]:
    """The claim on instances that attain a worst case."""
    seen = (measured(claim, one) for one in instances)
    return [one for one in seen if one is not None]


# --- factors ---


def _product(some: list[Expression]) -> Expression:
    found: Expression = Number(Fraction(1))
    for i, e in enumerate(some):
        found = applied("*", (found, e)) if i else e
    return found


def _of_numbers(claim: Claim, e: Expression) -> bool:
    """Whether a factor is a formula in parameters and indices."""
    words = claim.vocabulary
    try:
        if read(e, words).shape != "scalar":
            return False
    except SentenceError:
        return False
    whole = list(everything(replaced(e, claim.definitions)))
    known = {*claim.symbols, *claim.free, "K", "N"}
    return all(
        one.name in known if isinstance(one, Name) else isinstance(one, Number) or one.operation in _OPERATIONS
        for one in whole
        if isinstance(one, Name | Number | Apply)
    ) and not any(isinstance(one, At) for one in whole)


_OPERATIONS: Mapping[str, Callable[..., Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "neg": lambda a: -a,
    "max": max,
    "min": min,
    "**": lambda a, b: a ** int(b) if b == int(b) and not power_too_large(a, b) else None,
}


def _value(e: Expression, values: Mapping[str, Fraction]) -> Fraction | None:
    """A formula at numbers; None where it is no fraction."""
    if isinstance(e, Number):
        return e.value
    if isinstance(e, Name):
        return values.get(e.name)
    if not isinstance(e, Apply) or e.operation not in _OPERATIONS:
        return None
    inner = [_value(part, values) for part in parts(e)]
    try:
        return None if None in inner else _OPERATIONS[e.operation](*inner)
    except ZeroDivisionError:
        return None
