"""Axioms about sums: what telescopes, also up to a turn; what is summed over pairs of turns; tails of lags."""

from __future__ import annotations

from dataclasses import replace

from theory.derivation.atoms import Binder, Index
from theory.derivation.combinations import turns_of
from theory.derivation.kernel import Kernel
from theory.derivation.polynomials import RejectedError
from theory.derivation.quotients import ONE, Quotient, constant
from theory.derivation.reading import PLAIN, put
from theory.derivation.statements import Found, Line
from theory.derivation.terms import bind
from theory.formula import Apply
from theory.sentence import OVER, TURNS, Expression, applied, parse_expression, read, text_of


def telescope(kernel: Kernel, of: list[Expression], over: str, line: Line) -> Found:
    """A sum of what a number or a vector grows by in a round, or turn, is what it is at the end less what it is at 0.

    The sum is over all rounds or turns, or over those before one that is given: its terms have the factor
    ``max(0, min(1, m - j))``, which is 1 for integers j < m, and else 0.
    """
    how, index = OVER.get(over, ("", ""))
    if how != "sum" or index not in ("k", *TURNS) or len(of) not in (1, 2) or line.place != PLAIN:
        raise RejectedError("telescope is about a sum over k, h or j, of one number or vector")
    end = turns_of(kernel, index)

    def there(value: Quotient) -> Quotient:
        place = put(PLAIN, index, value)
        kernel.has_value(of[0], place)
        return kernel.reader.value(of[0], place)

    now: Quotient = getattr(PLAIN, index)
    grows, last = there(now + ONE) - there(now), end
    if len(of) == 2:
        last = _turn(kernel, of[1], end)
        grows = _before(kernel, last - now) * grows
    _is_zero(kernel, line, there(last) - there(constant(0)) - _summed(index, grows, end), of[0])
    return Found()


def lexicographic(kernel: Kernel, of: list[Expression], line: Line) -> Found:
    """What is summed over the pairs of turns before (s, m) is that over all j of h < s, and over j < m of s."""
    if len(of) != 3 or line.place != PLAIN or read(of[0], kernel.claim.vocabulary).shape == "vector":
        raise RejectedError("lexicographic is about one number, and two turns")
    S, M = (turns_of(kernel, index) for index in TURNS)
    s, m = _turn(kernel, of[1], S - ONE), _turn(kernel, of[2], M)
    kernel.has_value(of[0])
    kernel.has_value(of[0], put(PLAIN, "h", s))
    e, at_s = kernel.reader.value(of[0]), kernel.reader.value(of[0], put(PLAIN, "h", s))
    whole = _before(kernel, s * M + m - PLAIN.h * M - PLAIN.j) * e
    earlier = _before(kernel, s - PLAIN.h) * _summed("j", e, M)
    last = _summed("j", _before(kernel, m - PLAIN.j) * at_s, M)
    _is_zero(kernel, line, _summed("h", _summed("j", whole, M), S) - _summed("h", earlier, S) - last, of[0])
    return Found()


def _summed(index: str, q: Quotient, end: Quotient) -> Quotient:
    return bind(Binder(index, Index(index), None, end), q)


def _before(kernel: Kernel, distance: Quotient) -> Quotient:
    """1 for integers more than 0, else 0."""
    return kernel.reader.elementary("max", [constant(0), kernel.reader.elementary("min", [ONE, distance])])


def _turn(kernel: Kernel, e: Expression, end: Quotient) -> Quotient:
    """The number of a turn, which is at most the end.

    Raises:
        RejectedError: where it may be none.
    """
    found = kernel.reader.value(e)
    kernel.reader.index(found)
    if found.free & {"h", "j", "n", "i"} or not kernel.signs.surely_nonnegative(end - found):
        raise RejectedError(f"nothing says that {text_of(e)} is one turn of the sum, or its end")
    return found


def _is_zero(kernel: Kernel, line: Line, gap: Quotient, of: Expression) -> None:
    """Nothing where a line says that a gap is 0: an equation, or of vectors that their difference has the norm 0."""
    said, left = line.gap, line.sentence.left
    relations = ["=="]
    if read(of, kernel.claim.vocabulary).shape == "vector":
        relations.append("<=")
        if (
            not isinstance(left, Apply)
            or left.operation != "norm2"
            or not kernel.reader.value(line.sentence.right).zero
        ):
            raise RejectedError("that vectors are equal is written norm2(u - v) <= 0")
        said = kernel.reader.value(left.arguments[0])
    if line.relation not in relations or said.direction[1] != gap.direction[1]:
        raise RejectedError("it is not what the axiom says")


def tail(kernel: Kernel, of: list[Expression], line: Line) -> Found:
    """Sums over the lags from j on: the first is the whole sum, the last is 0, each has one term more than the next."""
    if len(of) != 1 or line.relation != "==" or line.place != PLAIN or "j" in read(of[0], kernel.claim.vocabulary).free:
        raise RejectedError("tail is an equation about sums of one number over the lags h, which hangs on no j")
    sums = [applied("sum_h", (e,)) for e in (of[0], applied("*", (parse_expression(_FROM_J), of[0])))]
    if not kernel.reader.lagging(of[0], "h") or kernel.reader.lags is None:
        raise RejectedError(f"{text_of(of[0])} is not of remembered vectors h")
    now, first, last = PLAIN.j, constant(0), kernel.reader.lags

    def rest(j: Quotient) -> Quotient:
        return kernel.reader.value(sums[1], replace(PLAIN, j=j))

    ends = rest(first) - kernel.reader.value(sums[0]), rest(last)
    one = rest(now) - rest(now + ONE) - kernel.reader.value(of[0], replace(PLAIN, h=now))
    if line.gap.direction[1] in [gap.direction[1] for gap in ends]:
        return Found()
    if line.gap.direction[1] != one.direction[1]:
        raise RejectedError("it is not what a tail begins with, ends with, or loses")
    if not kernel.reader.one_range("j"):
        raise RejectedError("j counts turns, too: lines would not remember that it is of a lag")
    return Found(reach={"j": 1})


_FROM_J = "max(0, min(1, h + 1 - j))"
