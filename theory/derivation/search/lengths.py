"""What is so of lengths: of a sum and its parts, of a mean and what it is taken over, of two vectors and their product.

``norm(u + v) <= norm(u) + norm(v)``, ``norm(mean_n(v)) <= mean_n(norm(v))``, ``dot(u, v) <= norm(u)*norm(v)``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, product

from theory.derivation.search.combining import combine
from theory.derivation.search.context import Context, Known, Line, at_most
from theory.formula import Apply
from theory.sentence import Expression, everything, parts, text_of

_MOST_PARTS, _MOST_PAIRS = 4, 4
"""Vectors that add up to another one; inner products."""
_OVER = ("mean_n", "sum_n", "mean_i", "sum_i", "mean_k", "sum_k", "mean_h", "sum_h", "E")


@dataclass(frozen=True)
class _Length:
    """A multiple of the length of a vector.

    Attributes:
        times, vector: as texts.
        below: whether it stands on the side that is to be less.
    """

    times: str
    vector: str
    below: bool


def by_lengths(context: Context) -> list[Line] | None:
    """The sentence, from what is so of the lengths in it."""
    claim = context.claim
    sides = at_most(claim)
    if not context.first or sides is None:
        return None
    low, high = sides
    given = {one.name: one for one in (*_of_sums(context, low, high), *_of_means(sides), *_of_products(sides))}
    if not given:
        return None
    if not isinstance(low, Apply) or low.operation != "abs":
        return combine(context, claim.statement, claim.label, list(given.values()))
    squares = f"({text_of(parts(low)[0])})**2 <= ({text_of(high)})**2"
    lines = combine(context, squares, "squares", list(given.values()))
    root: Line = {"name": claim.label, "sentence": claim.statement, "by": "root", "line": "squares"}
    return None if lines is None else [*lines, root]


def _of_sums(context: Context, low: Expression, high: Expression) -> Iterator[Known]:
    """That the length of a sum is at most that of its parts, if one on the lower side is so many times those on the
    other."""
    every = [*_lengths(low, True), *_lengths(high, False)]
    whole, some = ([one for one in every if one.below == below] for below in (True, False))
    if len(whole) != 1 or not 2 <= len(some) <= _MOST_PARTS:
        return
    for signs in product(("", "-"), repeat=len(some)):
        vectors = [
            f"{sign}({one.times})/({whole[0].times})*({one.vector})" for sign, one in zip(signs, some, strict=True)
        ]
        if not _is_zero(context, " - ".join([f"({whole[0].vector})", *(f"({v})" for v in vectors)])):
            continue
        for vector, one in zip(vectors, some, strict=True):
            yield from _of_multiple(vector, f"({one.times})/({whole[0].times})", one.vector)
        rests = [" + ".join(f"({v})" for v in vectors[i:]) for i in range(len(vectors))]
        for vector, (_, rest) in zip(vectors, pairwise(rests), strict=False):
            said = f"norm(({vector}) + ({rest})) <= norm({vector}) + norm({rest})"
            yield Known(said, said, {"by": "axiom", "schema": "triangle", "of": [vector, rest]}, 0.4)
        return


def _of_multiple(vector: str, times: str, of: str) -> Iterator[Known]:
    """That so many times a vector is so many times as long."""
    squares = f"norm2({vector}) <= (({times})*norm({of}))**2"
    yield Known(squares, squares, {"by": "combination", "parts": []}, 0.4)
    said = f"norm({vector}) <= ({times})*norm({of})"
    yield Known(said, said, {"by": "root", "line": squares}, 0.4)


def _is_zero(context: Context, vector: str) -> bool:
    try:
        return not context.forms.expanded(f"norm2({vector})")
    except ValueError:
        return False


def _lengths(e: Expression, below: bool, times: Sequence[str] = ()) -> Iterator[_Length]:
    """The lengths that are added up, or taken away."""
    if not isinstance(e, Apply):
        return
    some = parts(e)
    if e.operation == "+":
        for one in some:
            yield from _lengths(one, below, times)
    elif e.operation == "-":
        yield from _lengths(some[0], below, times)
        yield from _lengths(some[1], not below, times)
    elif e.operation == "neg":
        yield from _lengths(some[0], not below, times)
    elif e.operation == "*":
        for one, other in (some, some[::-1]):
            yield from _lengths(one, below, (*times, f"({text_of(other)})"))
    elif e.operation == "/":
        yield from _lengths(some[0], below, (*times, f"1/({text_of(some[1])})"))
    elif e.operation == "norm":
        yield _Length("*".join(times) or "1", text_of(some[0]), below)


def _of_means(sides: Sequence[Expression]) -> Iterator[Known]:
    """That the length of a mean is at most the mean of the lengths."""
    for e in _applied("norm", sides):
        (inner,) = parts(e)
        if isinstance(inner, Apply) and inner.operation in _OVER:
            vector = text_of(parts(inner)[0])
            said = f"norm({text_of(inner)}) <= {inner.operation}(norm({vector}))"
            line = {"by": "axiom", "schema": "triangle", "over": inner.operation, "of": [vector]}
            yield Known(said, said, line, 0.4)


def _of_products(sides: Sequence[Expression]) -> Iterator[Known]:
    """That an inner product is between minus and plus the product of the lengths, and so its square at most that of the
    product: of inner products in the sentence, and of vectors whose lengths are inside an absolute value."""
    pairs = [(one, other) for one, other in (map(text_of, parts(e)) for e in _applied("dot", sides))]
    for e in _applied("abs", sides):
        pairs += combinations(dict.fromkeys(text_of(parts(length)[0]) for length in _applied("norm", parts(e))), 2)
    for one, other in pairs[:_MOST_PAIRS]:
        named = []
        for u in (one, f"-({one})"):
            said = f"dot({u}, {other}) <= norm({u})*norm({other})"
            named.append(said)
            yield Known(said, said, {"by": "axiom", "schema": "cauchy", "of": [u, other]}, 0.4)
        sign, most = f"norm({one})*norm({other}) + dot({one}, {other})", f"(norm({one})*norm({other}))**2"
        above = Known(f"0 <= {sign}", f"0 <= {sign}", {"by": "combination", "parts": [{"line": named[1]}]}, 0.4)
        part = {"line": named[0], "times": sign}
        said = f"dot({one}, {other})**2 <= {most}"
        yield above
        yield Known(said, said, {"by": "combination", "parts": [part]}, 0.4, after=above.name)


def _applied(operation: str, sides: Sequence[Expression]) -> Iterator[Apply]:
    for side in sides:
        for e in everything(side):
            if isinstance(e, Apply) and e.operation == operation:
                yield e
