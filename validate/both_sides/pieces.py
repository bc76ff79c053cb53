"""A tree as the sum of trees that need fewer rounds each: the law of one round is far shorter than that of many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any, Protocol

from theory.formula import Apply, Name
from theory.sentence import OVER, Expression, Vocabulary, read
from validate.both_sides.outcomes import OfOutcome, together


class Binds(Protocol):
    """A world in which trees become functions of the outcome (`validate.both_sides.world.World`)."""

    words: Vocabulary
    scalar_functions: Mapping[str, Callable[..., Any]]
    vector_functions: Mapping[str, Callable[..., Any]]

    def bind(self, e: Expression, at: Mapping[str, int]) -> OfOutcome:
        """A tree with its indices put in."""

    def operation(self, e: Apply) -> Callable[..., Any]:
        """What an operation does, on values."""

    def over(self, index: str, e: Expression, at: Mapping[str, int]) -> Iterable[int]:
        """The values of an index that is bound."""

    def constant(self, value: Fraction) -> Any:
        """A number that is written."""


def pieces(world: Binds, e: Expression, at: Mapping[str, int]) -> Iterator[OfOutcome]:
    """Trees whose sum is the tree: each needs fewer rounds, where one alone would need many."""
    whole = world.bind(e, at)
    if len({indices[0] for _, indices in whole.items}) < 2:
        yield whole
        return
    if isinstance(e, Name):
        yield from pieces(world, world.words.definitions[e.name], at)
        return
    assert isinstance(e, Apply)
    arguments: tuple[Expression, ...] = e.arguments
    if e.operation == "neg":
        yield from _scaled(world, e, arguments[0], at)
        return
    if e.operation in ("+", "-"):
        yield from pieces(world, arguments[0], at)
        if e.operation == "+":
            yield from pieces(world, arguments[1], at)
        else:
            yield from _scaled(world, Apply("neg", e.arguments[1:]), arguments[1], at)
        return
    how, index = OVER.get(e.operation, ("", ""))
    if how in ("sum", "mean"):
        values = list(world.over(index, arguments[0], at))
        functions = world.vector_functions if read(e, world.words).shape == "vector" else world.scalar_functions
        count = OfOutcome(world.constant(Fraction(len(values))))
        for value in values:
            for piece in pieces(world, arguments[0], {**at, index: value}):
                yield piece if how == "sum" else together([piece, count], functions["/"])
        return
    if e.operation in ("*", "/", "dot"):
        random = [world.bind(a, at).function is not None for a in arguments]
        if random == [True, False] or (random == [False, True] and e.operation != "/"):
            yield from _scaled(world, e, arguments[random.index(True)], at)
            return
    yield whole


def _scaled(world: Binds, e: Apply, inner: Expression, at: Mapping[str, int]) -> Iterator[OfOutcome]:
    """The pieces of a tree that is linear in one of its arguments."""
    arguments: tuple[Expression, ...] = e.arguments
    place = next(i for i, a in enumerate(arguments) if a is inner)
    parts = [OfOutcome() if i == place else world.bind(a, at) for i, a in enumerate(arguments)]
    apply = world.operation(e)
    for piece in pieces(world, inner, at):
        yield together([piece if i == place else part for i, part in enumerate(parts)], apply)
