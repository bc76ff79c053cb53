"""Trees of numbers as functions of a setting (`validate.instances.setting.Setting`), compiled once for a claim.

The search for parameters asks the same relations for thousands of values. A function computes with FLINT's rationals,
and with floats where a number is not rational, as `setting.number` does with Fractions; it gives what `evaluate` gives,
counts the operations that it counts, and raises what it raises. Trees of vectors, and those with weights that are
solved for, are not compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache, partial
from typing import Any, TypeAlias

from theory.formula import Apply, Name, Number
from theory.operations import NotRationalError, operations, rational_type, to_fraction
from theory.program import work
from theory.sentence import (
    ALL_CLIENTS,
    FUNCTION_NAMES,
    INDICES,
    NUMBERS_OF_VECTORS,
    OVER,
    SCALAR_FUNCTIONS,
    Expression,
    SentenceError,
    Vocabulary,
    evaluate,
    everything_meant,
    parts,
    read,
)
from validate.instances.setting import LIMIT_BITS, in_floats

Memo: TypeAlias = "dict[int, Any]"
Code: TypeAlias = "Callable[[Any, Mapping[str, int], Memo], Any]"
"""Of a setting, the indices, and what shared trees were worth so far, to a rational of FLINT or a float."""
FIELD = frozenset({"+", "-", "*", "/", "**", "neg"}) | frozenset(SCALAR_FUNCTIONS)


def compiled(e: Expression, words: Vocabulary, once: bool) -> Code | None:
    """A tree as a function; None where it is not one of numbers alone.

    Args:
        e: the tree.
        words: what its names mean.
        once: whether trees that occur several times, as definitions do, are worked out once.
    """
    return words.kept.about(e, ("compiled", once), lambda: _compiled(e, words, once))


def _compiled(e: Expression, words: Vocabulary, once: bool) -> Code | None:
    try:
        if any(isinstance(part, Apply) and part.operation in ALL_CLIENTS for part in everything_meant(e, words)):
            return None
        return _shared(e, words) if once else _plain(e, words)
    except SentenceError:
        return None


def element(value: Any) -> Any:
    """A Fraction or an integer as FLINT's rational; a float as it is."""
    if type(value) is Fraction or isinstance(value, int):
        return rational_type()(value.numerator, value.denominator)
    return value


def _shared(e: Expression, words: Vocabulary) -> Code | None:
    """As `choices` does it: trees of numbers are kept in the memo, and are counted where they are worked out."""
    while isinstance(e, Name) and e.name in words.definitions:
        e = words.definitions[e.name]
    if not isinstance(e, Apply):
        return _plain(e, words)
    if e.operation not in FIELD:
        return _kept(e, words)
    if any(read(part, words).shape != "scalar" for part in parts(e)):
        return None
    inner = [_shared(part, words) for part in parts(e)]
    if any(code is None for code in inner):
        return None
    apply, key = _arithmetic(e.operation), id(e)
    if len(inner) == 2:
        one, two = inner

        def pair(world: Any, at: Mapping[str, int], memo: Memo) -> Any:
            if key not in memo:
                work.count(1)
                memo[key] = apply(one(world, at, memo), two(world, at, memo))  # type: ignore[misc]
            return memo[key]

        return pair

    def several(world: Any, at: Mapping[str, int], memo: Memo) -> Any:
        if key not in memo:
            work.count(1)
            memo[key] = apply(*[code(world, at, memo) for code in inner])  # type: ignore[misc]
        return memo[key]

    return several


def _kept(e: Apply, words: Vocabulary) -> Code | None:
    """A tree that is no operation on numbers, such as a length or what is taken over an index, kept in the memo."""
    of_vectors = e.operation in NUMBERS_OF_VECTORS or e.operation in FUNCTION_NAMES
    found: Code | None = partial(_element_once, e, words) if of_vectors else _plain(e, words)
    if found is None or of_vectors:
        return found
    code, key = found, id(e)

    def kept(world: Any, at: Mapping[str, int], memo: Memo) -> Any:
        if key not in memo:
            memo[key] = code(world, at, memo)
        return memo[key]

    return kept


def _element_once(e: Expression, words: Vocabulary, world: Any, at: Mapping[str, int], memo: Memo) -> Any:
    return element(value_once(e, world, at, words, memo))


def value_once(e: Expression, world: Any, at: Mapping[str, int], words: Vocabulary, memo: Memo) -> Any:
    """`evaluate`, with each tree that occurs several times, as definitions do, worked out once for the same indices.

    Args:
        e: the tree, of numbers or of vectors.
        world: a setting.
        at: its free indices.
        words: what its names mean.
        memo: what trees were worth so far, by their ids; numbers as `element` makes them.
    """
    while isinstance(e, Name) and e.name in words.definitions:
        e = words.definitions[e.name]
    if not isinstance(e, Apply):
        return evaluate(e, world, at, words)
    key = id(e)
    if key not in memo:
        memo[key] = element(_worked_out(e, world, at, words, memo))
    return to_fraction(memo[key])


def _worked_out(e: Apply, world: Any, at: Mapping[str, int], words: Vocabulary, memo: Memo) -> Any:
    op = e.operation
    function = op.removeprefix("grad ")
    if op not in FIELD and op not in NUMBERS_OF_VECTORS and function not in FUNCTION_NAMES:
        return evaluate(e, world, at, words)
    work.count(1)
    values = tuple([value_once(part, world, at, words, memo) for part in parts(e)])
    if op in FUNCTION_NAMES:
        return world.function(op, values[0], at)
    if function in FUNCTION_NAMES:
        return world.gradient(function, values[0], at)
    if op in FIELD and read(e, words).shape == "scalar":
        return world.numbers(op, values)
    turned = op == "*" and read(parts(e)[1], words).shape == "vector"
    return world.vectors(op, values[::-1] if turned else values)


def _plain(e: Expression, words: Vocabulary) -> Code | None:
    """As `evaluate` does it."""
    if read(e, words).shape != "scalar":
        return None
    count = work.count
    if isinstance(e, Number):
        constant = element(e.value)

        def number(world: Any, at: Mapping[str, int], memo: Memo) -> Any:
            count(1)
            return constant

        return number
    if isinstance(e, Name):
        return _named(e.name, words)
    if isinstance(e, Apply) and e.operation == "E":  # nothing is random before the algorithm runs
        return _counted(_plain(parts(e)[0], words))
    if isinstance(e, Apply) and e.operation in OVER:
        return _over(e, words)
    if isinstance(e, Apply) and e.operation in FIELD and all(read(p, words).shape == "scalar" for p in parts(e)):
        inner = [_plain(part, words) for part in parts(e)]
        if any(code is None for code in inner):
            return None
        apply = _arithmetic(e.operation)

        def arithmetic(world: Any, at: Mapping[str, int], memo: Memo) -> Any:
            count(1)
            return apply(*[code(world, at, memo) for code in inner])  # type: ignore[misc]

        return arithmetic
    return lambda world, at, memo: element(evaluate(e, world, at, words))


def _counted(inner: Code | None) -> Code | None:
    if inner is None:
        return None
    code = inner

    def counted(world: Any, at: Mapping[str, int], memo: Memo) -> Any:
        work.count(1)
        return code(world, at, memo)

    return counted


def _named(name: str, words: Vocabulary) -> Code | None:
    if name in words.definitions:
        return _counted(_plain(words.definitions[name], words))
    count = work.count
    if name in INDICES:

        def index(world: Any, at: Mapping[str, int], memo: Memo) -> Any:
            count(1)
            return rational_type()(at[name])

        return index

    def parameter(world: Any, at: Mapping[str, int], memo: Memo) -> Any:
        count(1)
        return element(world.parameter(name, at))

    return parameter


def _over(e: Apply, words: Vocabulary) -> Code | None:
    how, index = OVER[e.operation]
    inner: Expression = parts(e)[0]
    found = _plain(inner, words)
    if found is None:
        return None
    code, plus, divide = found, _arithmetic("+"), _arithmetic("/")

    def over(world: Any, at: Mapping[str, int], memo: Memo) -> Any:
        work.count(1)
        if how == "first":
            return code(world, {**at, index: 0}, memo)
        values = [code(world, {**at, index: value}, memo) for value in world.over(index, inner, at)]
        if how in ("max", "min"):
            return values[0] if len(values) == 1 else _arithmetic(how)(*values)
        total = values[0]
        for value in values[1:]:
            total = plus(total, value)
        return divide(total, rational_type()(len(values))) if how == "mean" else total

    return over


@cache
def _arithmetic(operation: str) -> Callable[..., Any]:
    """An operation on rationals of FLINT exactly where the result is one, else in floats, as `setting.number`."""
    from flint import fmpq

    exact = operations(LIMIT_BITS, exact=True)[operation]
    pick = min if operation == "min" else max

    def apply(*values: Any) -> Any:
        for value in values:
            if type(value) is not fmpq:
                break
        else:
            if operation in ("min", "max"):
                return pick(values)
            try:
                return exact(*values)
            except NotRationalError:
                pass
        return in_floats(operation, [to_fraction(value) for value in values])

    return apply


__all__ = ["Code", "compiled", "element", "value_once"]
