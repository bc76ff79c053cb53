"""Assumptions on problems as the tests of all kinds of problems write them, and the verifier's reading of them."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from theory import predicates as p
from theory.sentence import parse_call
from theory.sentence import text_of as sentence_text
from validate.verifier.assumed import holds, read_assumption
from validate.verifier.scalars import Work
from validate.verifier.spoken import World
from validate.verifier.vocabulary import Vocabulary as Words

TEXTS = (
    "smooth({f}, L)", "convex({f})", "strongly_convex({f}, mu)", "lipschitz({f}, G)", "bounded_gradients({f}, G)",
    "quadratic({f})", "pl({f}, mu)", "bounded_below({f})", "same_minimiser({f})",
)  # fmt: skip
ASSUMED = (
    *(text.format(f=f) for text in TEXTS for f in ("f", "f_n", "f_ni")),
    "bounded_variance(s2)", "dissimilar(z)", "dissimilar(G, B)",
)  # fmt: skip


def assumed(text: str) -> p.Predicate:
    call = parse_call(text)
    assert call is not None
    return p.predicate(*call)


def text_of(data: Any) -> Any:
    """With all numbers as text, as certificates have them."""
    if isinstance(data, dict):
        return {key: text_of(value) for key, value in data.items()}
    return [text_of(v) for v in data] if isinstance(data, list) else str(data)


def told(predicate: p.Predicate, read: Any, constants: Sequence[Any]) -> bool:
    """What the verifier says of an assumption on a problem that it has read; errors as of `holds`."""
    values = {sentence_text(c): value for c, value in zip(predicate.constants, constants, strict=True)}
    world = World(Words(), values, read, (Fraction(0),) * read.d, 1, {}, Work())
    return holds(read_assumption({"text": predicate.text, **predicate.to_json()}), world)


def seen_by_others(eyes: Any, read: Any, predicate: p.Predicate, constants: tuple[Fraction, ...]) -> bool:
    """What the verifier's module for a kind of problem says of an assumption."""
    if isinstance(predicate, p.BoundedVariance | p.Dissimilar):
        return told(predicate, read, constants)
    return all(eyes.DECIDE[predicate.name](read, f, *constants) for f, _ in read.all_named(predicate.function))
