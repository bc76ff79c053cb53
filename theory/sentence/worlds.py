"""What a tree is worth on an instance: a `World` says what its names mean there, and `evaluate` folds it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol

from theory.formula import SCALAR_FUNCTIONS, Apply, Name, Number, UndefinedError
from theory.operations import UndecidedError
from theory.program import work
from theory.sentence.trees import (
    ALL_CLIENTS,
    FUNCTION_NAMES,
    INDICES,
    NUMBERS_OF_VECTORS,
    OVER,
    At,
    Expression,
    SentenceError,
    parts,
    text_of,
)
from theory.sentence.vocabulary import Vocabulary, everything_meant, read

_OF_NUMBERS = frozenset({"+", "-", "*", "/", "**", "neg", *SCALAR_FUNCTIONS})
"""Operations on numbers; the first of them on vectors too."""


class World(Protocol):
    """An instance as a sentence sees it. Numbers and vectors are of whatever type the world computes with.

    One in which nothing ever changes may have an empty dict ``kept``: `evaluate` keeps there what sums that hang on no
    run are worth.
    """

    def constant(self, value: Fraction) -> Any:
        """A number that is written."""

    def parameter(self, name: str, at: Mapping[str, int]) -> Any:
        """A parameter, N, d, K or fstar; of ``p_n`` that of client ``at["n"]``."""

    def point(self, name: str, at: Mapping[str, int]) -> Any:
        """x0, xstar, xstar_n, or a free vector."""

    def value(self, name: str, indices: tuple[int, ...], at: Mapping[str, int]) -> Any:
        """A state or a tap."""

    def function(self, name: str, v: Any, at: Mapping[str, int]) -> Any:
        """f, f_n or f_ni at v."""

    def gradient(self, name: str, v: Any, at: Mapping[str, int]) -> Any:
        """Its gradient."""

    def numbers(self, operation: str, arguments: tuple[Any, ...]) -> Any:
        """``+ - * / ** neg sqrt log exp abs min max`` of numbers.

        Raises:
            UndefinedError: where there is no real value.
        """

    def vectors(self, operation: str, arguments: tuple[Any, ...]) -> Any:
        """``+ - neg``; ``*`` and ``/`` by a number, which comes second; ``norm2 norm dot``, which are numbers."""

    def over(self, index: str, e: Expression, at: Mapping[str, int]) -> Iterable[int]:
        """The values of an index that is bound, e being what is taken over it."""

    def expectation(self, e: Expression, at: Mapping[str, int]) -> Any:
        """E of a tree."""

    def quantile(self, e: Expression, q: Any, at: Mapping[str, int]) -> Any:
        """The least number that a tree exceeds with probability at most 1 - q."""

    def least(self, weights: tuple[Any, ...], radius: Any = None) -> Any:
        """The minimiser of sum_n(q_n*f_n), q_n the weights of the clients; with a radius that over the ball around 0.

        Raises:
            UndefinedError: where there is none, or more than one; in two and more dimensions where the ball binds.
        """


def evaluate(
    e: Expression,
    world: World,
    at: Mapping[str, int],
    words: Vocabulary,
    known: dict[Any, tuple[Any, ...]] | None = None,
) -> Any:
    """The value of a tree in a world, with its free indices at `at`.

    Args:
        e: the tree.
        world: which.
        at: its free indices.
        words: what its names mean.
        known: weights on the simplex that were found for a part of this tree, kept for the other clients.

    Raises:
        UndefinedError: where a number has no real value.
    """
    work.count(1)
    known = {} if known is None else known
    if type(e) is Apply and e.operation in _OF_NUMBERS:
        values = tuple([evaluate(a, world, at, words, known) for a in parts(e)])
        if read(e, words).shape == "scalar":
            return world.numbers(e.operation, values)
        turned = e.operation == "*" and read(parts(e)[1], words).shape == "vector"
        return world.vectors(e.operation, values[::-1] if turned else values)
    if isinstance(e, Number):
        return world.constant(e.value)
    if isinstance(e, Name):
        if e.name in words.definitions:
            return evaluate(words.definitions[e.name], world, at, words, known)
        if e.name in INDICES:
            return world.constant(Fraction(at[e.name]))
        return (world.point if read(e, words).shape == "vector" else world.parameter)(e.name, at)
    if isinstance(e, At):
        return world.value(e.name, tuple(index_value(i, world, at, words) for i in e.indices), at)
    op = e.operation
    if op == "E":
        return world.expectation(parts(e)[0], at)
    if op in OVER:
        return _over(e, world, at, words, known)
    if op == "quantile":
        return world.quantile(parts(e)[0], evaluate(parts(e)[1], world, at, words, known), at)
    if op in ALL_CLIENTS:
        return _of_all_clients(e, world, at, words, known)
    values = tuple([evaluate(a, world, at, words, known) for a in parts(e)])
    if op in FUNCTION_NAMES:
        return world.function(op, values[0], at)
    if op.startswith("grad "):
        return world.gradient(op.removeprefix("grad "), values[0], at)
    assert op in NUMBERS_OF_VECTORS
    return world.vectors(op, values)


def _of_all_clients(
    e: Apply, world: World, at: Mapping[str, int], words: Vocabulary, known: dict[Any, tuple[Any, ...]]
) -> Any:
    key = (id(e), *(value for index, value in at.items() if index != "n"))  # the tree outlives this evaluation
    if key not in known:
        clients = list(world.over("n", e, at))
        numbers = [tuple(evaluate(a, world, {**at, "n": n}, words, known) for n in clients) for a in parts(e)]
        if e.operation == "argmin_n":
            known[key] = (world.least(numbers[0], numbers[1][0] if len(numbers) > 1 else None),)
        else:
            work.count(len(clients) ** 2)
            known[key] = simplex_weights(*numbers)
    return known[key][0 if e.operation == "argmin_n" else at["n"]]


def simplex_weights(costs: Sequence[Any], curvatures: Sequence[Any]) -> tuple[Any, ...]:
    """The point of the simplex at which sum_n(c_n*a_n + q_n*a_n**2) is least: a_n = max(0, nu - c_n)/(2*q_n).

    Args:
        costs: c_n.
        curvatures: q_n, positive; both of any type of number with + - * / and <.

    Raises:
        UndefinedError: where a curvature is not positive.
        UndecidedError: where numbers are balls that do not tell which is smaller.
    """
    if not all(q > 0 for q in curvatures):
        raise UndefinedError("a curvature of simplex_n is not positive")
    zero = costs[0] - costs[0]
    taking: list[int] = []
    total = spent = nu = zero
    # each takes part whose cost is below the level that the cheaper ones leave; it stays below the new one
    for n in sorted(range(len(costs)), key=lambda n: (float(costs[n]), n)):
        if taking and costs[n] >= nu:
            break
        taking.append(n)
        total, spent = total + 1 / curvatures[n], spent + costs[n] / curvatures[n]
        nu = (2 + spent) / total
    part = set(taking)
    if not all(c < nu if n in part else c >= nu for n, c in enumerate(costs)):
        raise UndecidedError("balls do not tell which weights of simplex_n are 0")
    both = enumerate(zip(costs, curvatures, strict=True))
    return tuple((nu - c) / (2 * q) if n in part else zero for n, (c, q) in both)


def _over(e: Apply, world: World, at: Mapping[str, int], words: Vocabulary, known: dict[Any, tuple[Any, ...]]) -> Any:
    kept = getattr(world, "kept", None)  # of a world in which nothing changes
    free = None if kept is None else _settled(e, words, getattr(world, "of_whole_run", False))
    if kept is None or free is None:
        return _taken(e, world, at, words, known)
    key = (id(e), getattr(world, "choice", 0), *[at.get(index) for index in free])
    found = kept.get(key)
    if found is None:
        before = work.operations()
        value = _taken(e, world, at, words, known)
        kept[key] = found = (value, work.operations() - before, e)  # e is kept, so that its id stays its own
    else:
        work.count(found[1])  # as if it were worked out again
    return found[0]


def _settled(e: Expression, words: Vocabulary, of_whole_run: bool) -> tuple[str, ...] | None:
    """The indices on which a tree hangs in one world; None where a run that goes on there, or what was found before,
    has a say in it."""

    def found() -> tuple[str, ...] | None:
        moving = not of_whole_run and any(
            isinstance(part, At)
            or (isinstance(part, Apply) and (part.operation in ("E", "quantile") or part.operation in ALL_CLIENTS))
            for part in everything_meant(e, words)
        )
        return None if moving else (*sorted(read(e, words).free), "*n", "*k")

    return words.kept.about(e, ("settled", of_whole_run), found)


def _taken(e: Apply, world: World, at: Mapping[str, int], words: Vocabulary, known: dict[Any, tuple[Any, ...]]) -> Any:
    how, index = OVER[e.operation]
    inner: Expression = parts(e)[0]
    if how == "first":
        return evaluate(inner, world, {**at, index: 0}, words, known)
    values = [evaluate(inner, world, {**at, index: value}, words, known) for value in world.over(index, inner, at)]
    if how in ("max", "min"):
        return values[0] if len(values) == 1 else world.numbers(how, tuple(values))
    apply = world.vectors if read(inner, words).shape == "vector" else world.numbers
    total = values[0]
    for value in values[1:]:
        total = apply("+", (total, value))
    return apply("/", (total, world.constant(Fraction(len(values))))) if how == "mean" else total


def index_value(e: Expression, world: World, at: Mapping[str, int], words: Vocabulary) -> int:
    """The value of an index such as ``k+1`` or ``K``.

    Raises:
        SentenceError: when it is no integer.
    """
    value = evaluate(e, world, at, words)
    whole = int(value)
    if whole != value:
        raise SentenceError(f"the index {text_of(e)} is {value}, and no integer")
    return whole
