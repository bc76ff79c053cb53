"""Whether relations of a claim hold, exactly, surely, or for all that floats tell."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

from theory.claim import Claim
from theory.formula import Apply, Name
from theory.operations import to_fraction
from theory.sentence import (
    TURNS,
    Expression,
    Sentence,
    Vocabulary,
    everything,
    index_of,
    parts,
    read,
)
from validate.instances import along
from validate.instances.setting import Setting, Values
from validate.instances.settled import Code, compiled, value_once


def has_length(claim: Claim) -> bool:
    """Whether a relation of a claim has K in it, the length of the run."""
    return any(of_length(relation, claim.vocabulary) for relation in claim.relations)


def of_length(relation: Sentence, words: Vocabulary) -> bool:
    """Whether K is in a relation, through definitions too; one that speaks of the run is played, and K stays."""
    has_it = any(occurrences(side, "K", words) for side in relation.sides)
    return has_it and not along.speaks_of_run(relation, words)


Compare = Callable[[Any, str, Any], bool]
Memos = dict[tuple[int, int, int], dict[int, Any]]
"""Values of trees by their ids, by round, client and turn."""


def relation_satisfied(
    relation: Sentence, world: Setting, claim: Claim, compare: Compare | None = None, memos: Memos | None = None
) -> bool:
    """Whether a relation holds in a setting, for every client where it speaks of one a client.

    False where a side is undefined, or a name has no value yet.

    Args:
        relation: which.
        world: the setting.
        claim: whose relation it is.
        compare: `holds`, which is meant without; `holds_surely`, `may_hold`.
        memos: values that are known already; new ones are added.
    """
    compare = holds if compare is None else compare
    memos = {} if memos is None else memos
    words = claim.vocabulary
    if along.speaks_of_run(relation, words):
        return along.holds_along(relation, world, claim)
    names, free, left_code, right_code = _asked(relation, words)
    # as they are written: p is meant for every client, p_n only where no sum over the clients has it
    lists = {name for name in names if isinstance(world.values.get(name), list)}
    rounds = range(max(world.rounds, 1) if "k" in free or lists & world.schedules else 1)
    clients = range(world.clients if "n" in free or lists - world.schedules else 1)
    turns = range(max((len(v) for v in _remembered(names, free, world)), default=0) if free & {*TURNS} else 1)
    try:
        for k, n, j in product(rounds, clients, turns):
            at = {"n": n, "i": 0, "k": k, "h": j, "j": j}
            memo = memos.setdefault((k, n, j), {})
            if left_code is None or right_code is None:
                left, right = (value_once(side, world, at, words, memo) for side in relation.sides)
            else:
                left, right = left_code(world, at, memo), right_code(world, at, memo)
                if isinstance(left, float) or isinstance(right, float):
                    left, right = to_fraction(left), to_fraction(right)
            if not compare(left, relation.relation, right):
                return False
    except (ValueError, KeyError, IndexError, ZeroDivisionError):
        return False
    return True


def _remembered(names: frozenset[str], free: frozenset[str], world: Setting) -> Iterator[list[Any]]:
    """The lists that have an index that is free, of one number for each remembered vector."""
    for base, index in map(index_of, names):
        value = world.values.get(base)
        if index in free & {*TURNS} and isinstance(value, list):
            yield value


def _asked(relation: Sentence, words: Vocabulary) -> tuple[frozenset[str], frozenset[str], Code | None, Code | None]:
    """Parameters as a relation writes them, the indices that are free in it, and both its sides compiled."""

    def found() -> tuple[frozenset[str], frozenset[str], Code | None, Code | None]:
        sides = relation.left, relation.right
        readings = [read(side, words) for side in sides]
        names = frozenset(name for one in readings for name in one.parameters)
        free = frozenset(index for one in readings for index in one.free)
        left, right = (compiled(side, words, once=True) for side in sides)
        return names, free, left, right

    return words.kept.about(relation, "asked", found)


def with_name(e: Expression, name: str, words: Vocabulary, found: set[int]) -> bool:
    """Whether a name, without index, is in a tree, through definitions too; the ids of all trees that have it."""
    if isinstance(e, Name) and e.name in words.definitions:
        has_it = with_name(words.definitions[e.name], name, words, found)
    elif isinstance(e, Name):
        has_it = index_of(e.name)[0] == name
    else:
        has_it = sum(with_name(part, name, words, found) for part in parts(e)) > 0 if isinstance(e, Apply) else False
    if has_it:
        found.add(id(e))
    return has_it


def evaluate_alone(e: Expression, world: Setting) -> Any:
    """The value of a tree without free indices; None where it has none."""
    words, at = world.claim.vocabulary, {"n": 0, "i": 0, "k": 0}
    code = compiled(e, words, once=True)
    try:
        return value_once(e, world, at, words, {}) if code is None else to_fraction(code(world, at, {}))
    except (ValueError, KeyError, IndexError, ZeroDivisionError):
        return None


def occurrences(e: Expression, name: str, words: Vocabulary) -> int:
    """How often a name occurs in a tree, through definitions."""

    def found() -> int:
        total = 0
        for part in everything(e):
            if isinstance(part, Name):
                if part.name in words.definitions:
                    total += occurrences(words.definitions[part.name], name, words)
                elif index_of(part.name)[0] == name:
                    total += 1
        return total

    return words.kept.about(e, ("count", name), found)


_COMPARED: Mapping[str, Callable[[Any, Any], Any]] = {
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
    "==": operator.eq,
}


def holds(left: Any, relation: str, right: Any) -> bool:
    """Whether a relation holds between numbers; between floats up to rounding, and not if strict and they agree."""
    if isinstance(left, float) or isinstance(right, float):
        left, right = float(left), float(right)
        slack = 1e-12 * max(abs(left), abs(right))
        return {
            "<=": left <= right + slack,
            "<": left < right - slack,
            ">=": left >= right - slack,
            ">": left > right + slack,
            "==": abs(left - right) <= slack,
        }[relation]
    return bool(_COMPARED[relation](left, right))


def holds_surely(left: Any, relation: str, right: Any) -> bool:
    """As `holds`, but that an inequality between floats is to hold by more than rounding."""
    if relation != "==" and (isinstance(left, float) or isinstance(right, float)):
        low, high = (left, right) if relation in ("<=", "<") else (right, left)
        return float(low) < float(high) - 1e-12 * max(abs(float(low)), abs(float(high)))
    return holds(left, relation, right)


def may_hold(left: Any, relation: str, right: Any) -> bool:
    """As `holds`, but that floats may be wrong by a millionth of the larger one, and cannot tell beyond their range."""
    try:
        left, right = float(left), float(right)
    except OverflowError:
        return True
    slack = 1e-6 * max(abs(left), abs(right))
    if relation == "==":
        return abs(left - right) <= slack
    low, high = (left, right) if relation in ("<=", "<") else (right, left)
    return low <= high + slack


def rounded(values: Mapping[str, Any]) -> Values:
    """Values in floats; what no float can be stays as it is."""

    def one(value: Any) -> Any:
        if isinstance(value, list):
            return [one(v) for v in value]
        try:
            return float(value)
        except OverflowError:
            return value

    return {name: one(value) for name, value in values.items()}
