"""Claims with 0 on one side, or a term on both: searched with what differs on either side, which is the same claim.

How close an instance comes is seen by comparing two sides. Where one is 0, all are as far from it; where both have a
large term, all are as near.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

from theory.claim import Claim
from theory.formula import Apply, Number
from theory.sentence import Expression, applied, parts, signed_terms, text_of
from validate.instances.outcomes import measured_at_length
from validate.instances.seen import Seen

ZERO = Number(Fraction(0))
MOST = 256
"""Terms of a side: a product of sums has more than anybody would go through."""


@dataclass(frozen=True)
class TwoSided:
    """A claim with something on either side.

    Attributes:
        claim: the claim with 0 on one side, or a term on both.
        free: the same without.
    """

    claim: Claim
    free: Claim

    @property
    def told(self) -> str:
        """In words, how it is searched."""
        return f"the same as {self.free.statement}"

    def moved(self, seen: Seen) -> Seen | None:
        """The instance, measured for the claim."""
        return measured_at_length(self.claim, seen.drawn)


def two_sided(claim: Claim) -> TwoSided | None:
    """The claim with what is different on either side; None where it is so, or nothing else is to be on one of them."""
    if any(_count(side) > MOST for side in claim.sentence.sides):
        return None
    left, right = ([*addends(side)] for side in claim.sentence.sides)
    shared = [term for term in left if term in right]
    for term in shared:
        if term in right:
            left.remove(term)
            right.remove(term)
    if not left or not right:
        terms = [*left, *((not plus, term) for plus, term in right)]
        left, right = ([(True, term) for plus, term in terms if plus is one] for one in (True, False))
    elif not shared:
        return None
    if not left or not right:
        return None
    statement = f"{_sum(left)} {claim.sentence.relation} {_sum(right)}"
    return TwoSided(claim, replace(claim, statement=statement))


def addends(e: Expression) -> Iterator[tuple[bool, Expression]]:
    """The terms of a sum, also within expectations, means and sums and beside factors, each with whether it is added.

    Example:
        >>> from theory.sentence import parse_expression
        >>> [(plus, text_of(one)) for plus, one in addends(parse_expression("2*E(a - b) - c"))]
        [(True, '2*E(a)'), (False, '2*E(b)'), (False, 'c')]
    """
    for sign, _, term in signed_terms(e):
        if term != ZERO:
            yield from ((plus is (sign == "+"), one) for plus, one in _distributed(term))


def _distributed(e: Expression) -> Iterator[tuple[bool, Expression]]:
    """The addends of what is no sum."""
    for i in _linear_in(e):
        inner = [*addends(parts(e)[i])]
        if len(inner) > 1 or not all(plus for plus, _ in inner):
            assert isinstance(e, Apply)
            for plus, one in inner:
                new = applied(e.operation, (*parts(e)[:i], one, *parts(e)[i + 1 :]))
                yield from ((plus is more, term) for more, term in _distributed(new))
            return
    if isinstance(e, Number) and e.value < 0:
        yield False, Number(-e.value)
    else:
        yield True, e


def _count(e: Expression) -> int:
    """How many addends there are, at most."""
    terms = [term for _, _, term in signed_terms(e)]
    if len(terms) > 1 or terms[0] is not e:
        return sum(map(_count, terms))
    return prod(_count(parts(e)[i]) for i in _linear_in(e))


def _linear_in(e: Expression) -> Iterable[int]:
    """The parts in each of which a formula is linear."""
    if not isinstance(e, Apply):
        return ()
    if e.operation == "*":
        return (0, 1)
    return (0,) if e.operation in ("E", "/") or e.operation.startswith(("mean_", "sum_")) else ()


def _sum(terms: Sequence[tuple[bool, Expression]]) -> str:
    plus, first = terms[0]
    total = first if plus else applied("neg", (first,))
    for plus, term in terms[1:]:
        total = applied("+" if plus else "-", (total, term))
    return text_of(total)
