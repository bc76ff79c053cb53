"""Values of a claim's parameters that satisfy its hypotheses, by a walk from a witness that never leaves them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from theory.bound import Bound, Hypothesis, Parameter
from theory.calculator import ROUNDS, Calculator, calculator
from theory.claim import Claim
from theory.formula import Comparison, Name, names_in, parse_relation, text_of
from validate.measurement import sentence_of
from validate.strategies.numbers import numbers

Values = dict[str, Any]

LONGEST = 4  # entries of a vector that the witness does not have longer
_HALVINGS = 5  # of a move that leaves the hypotheses, before it is given up


def parameters(
    claim: Claim | str,
    *,
    fixed: Mapping[str, Any] | None = None,
    near: Mapping[str, Any] | None = None,
    suppose: Sequence[str] = (),
) -> st.SearchStrategy[Values]:
    """Values of all that a claim's bound takes, at which every relation among its hypotheses holds.

    The names are those of `Claim.bound` (`theory.calculator`): parameters, and what else stands in the right side or in
    a relation, such as a distance at the start. The walk starts at a witness (`theory.feasible`, or `near`) and moves
    one after the other, anywhere in its domain or near to where it is; at last it may put one on a limit that a
    hypothesis sets it. A move that would leave the hypotheses is halved until it does not, or is not made. So nothing
    is filtered out, and examples shrink to the witness. What is drawn is in the domains, satisfies all relations, and
    those that assumptions imply for their constants (mu <= L), and gives a right side within float64.

    Assumptions about functions are not relations between numbers: for these there are `instances`.

    Args:
        claim: a claim with parameters, its id, or ``"my_paper.py:label"``, a file that is run.
        fixed: values that are kept, as in `theory.values.read`.
        near: a point to start from, a value for each name; without it, `theory.feasible.feasible` looks for one.
        suppose: further relations, as text ("K >= 5").

    Returns:
        Of dictionaries by name: ints for integers, Fractions, and tuples of these for vectors, of up to 4 entries. What
        a hypothesis sets equal to a formula of others has that formula as its value, as text.

    Raises:
        ValueError: a claim without parameters; hypotheses that cannot hold together, or of which it is not known; a
            start that does not satisfy them; an unknown name or a relation that cannot be read.
    """
    there = _there(claim, suppose)
    bound = there.bound
    if not there.free:
        raise ValueError(f"{bound.id} has no parameters, so no values can be drawn for them")
    kept = dict(fixed or {})
    for name in kept:
        bound.parameter(name)
    start = dict(near) | kept if near is not None else _witness(bound, kept)
    for name, (_, formula) in bound.formulas.tied.items():
        if name not in kept:
            start[name] = text_of(formula)
            kept[name] = start[name]
    start = {p.name: _plain(p, start[p.name]) for p in there.free if p.name in start}
    if not there.satisfied(start):
        told = ", ".join(f"{name}={value}" for name, value in start.items())
        raise ValueError(f"{bound.id}: the start {told} does not satisfy its hypotheses, or has no right side there")
    return _walk(there, start, frozenset(kept))


def satisfies(claim: Claim | str, values: Mapping[str, Any]) -> bool:
    """Whether every relation among the claim's hypotheses is defined and holds, and the right side is within float64.

    Args:
        claim: as in `parameters`.
        values: of all names that `parameters` draws; where one is missing, or outside its domain, nothing is satisfied.

    Raises:
        ValueError: for a claim that is not known, or is no sentence.
    """
    return _there(claim, ()).satisfied(values)


@dataclass(frozen=True)
class _There:
    """A claim in numbers.

    Attributes:
        whole: it, as it is written.
        bound: its right side and hypotheses, with those that were supposed.
        free: the parameters that have values of their own; the rounds that are summed over follow from K.
    """

    whole: Calculator
    bound: Bound

    @property
    def free(self) -> tuple[Parameter, ...]:
        return tuple(p for p in self.bound.parameters if p.name != ROUNDS)

    def satisfied(self, values: Mapping[str, Any]) -> bool:
        from theory.evaluate import bound, hypotheses

        try:
            complete = self.whole.complete(values)
            found = zip(self.bound.formulas.relations, hypotheses(self.bound, complete), strict=True)
            if any(relation is not None and entry["holds"] is not True for relation, entry in found):
                return False
            if self.bound.right is not None:
                bound(self.bound, complete)
        except (ValueError, KeyError):  # a value is missing, outside its domain, or beyond float64
            return False
        return True


def _there(claim: Claim | str, suppose: Sequence[str]) -> _There:
    whole = calculator(sentence_of(claim), all_relations=True)
    bound = whole.bound
    known = {p.name for p in bound.parameters} | set(bound.definitions)
    more = []
    for text in suppose:
        unknown = sorted(names_in(parse_relation(text)) - known)
        if unknown:
            raise ValueError(f"suppose={text!r} has the name {unknown[0]!r}, which {bound.id} does not have")
        more.append(Hypothesis(text, text, relation=text))
    return _There(whole, replace(bound, hypotheses=(*bound.hypotheses, *more)) if more else bound)


def _witness(bound: Bound, fixed: Mapping[str, Any]) -> Values:
    from theory.feasible import feasible

    found = feasible(bound, fixed=fixed)
    if found.witness is None:
        told = {"empty": "cannot hold together", "undecided": "are not known to hold together"}[found.outcome]
        raise ValueError(
            f"{bound.id}: its hypotheses {told}, so no parameters can be drawn ({found.detail})"
            + ("; give a point that satisfies them as `near`" if found.outcome == "undecided" else "")
        )
    return dict(found.witness)


def _plain(parameter: Parameter, value: Any) -> Any:
    """A value as ints and Fractions; text that is no plain number stays text."""
    if parameter.shape == "vector":
        entries = value.split(",") if isinstance(value, str) else value
        return tuple(_plain(replace(parameter, shape="scalar"), entry) for entry in entries)
    try:
        number = Fraction(value)
    except (ValueError, TypeError):
        return value
    return int(number) if parameter.domain.integer and number.denominator == 1 else number


@st.composite
def _walk(draw: st.DrawFn, there: _There, start: Values, kept: frozenset[str]) -> Values:
    values = _resized(draw, there, dict(start), kept)
    free = [p for p in there.free if p.name not in kept]
    order = draw(st.permutations(free))
    for parameter in (*order, *reversed(order)):  # twice: one move may make room for another
        if parameter.shape == "vector":
            values = _moved_vector(draw, there, values, parameter)
            continue
        before = values[parameter.name]
        candidate = _candidate(draw, parameter, before)
        for value in _towards(before, candidate, parameter):
            moved = values | {parameter.name: value}
            if there.satisfied(moved):
                values = moved
                break
    return _on_an_edge(draw, there, values, free)


def _on_an_edge(draw: st.DrawFn, there: _There, values: Values, free: Sequence[Parameter]) -> Values:
    """In a third of the draws one number at last put on a limit that a hypothesis sets it."""
    alone = {
        side.name for relation in there.bound.formulas.relations if relation is not None for side in _names(relation)
    }
    places = [p for p in free if p.name in alone and p.shape == "scalar"]
    if not places or draw(st.sampled_from((False, False, True))) is False:
        return values
    parameter = draw(st.sampled_from(places))
    for edge in _edges(there.bound, values, parameter.name):
        whole = int(edge) if parameter.domain.integer and edge.denominator == 1 else edge
        moved = values | {parameter.name: whole}
        if there.satisfied(moved):
            return moved
    return values


def _names(relation: Comparison) -> list[Name]:
    return [side for side in relation.sides if isinstance(side, Name)]


def _candidate(draw: st.DrawFn, parameter: Parameter, before: Any) -> Any:
    """Where a number is to go; where it is, for a move that is not made."""
    kind = draw(st.sampled_from(("stay", "free", "near", "free")))
    if kind == "free":
        return draw(numbers(parameter.domain))
    if kind == "near" and isinstance(before, int | Fraction):
        if parameter.domain.integer:
            return before + draw(st.integers(-2, 2))
        return before * draw(st.builds(Fraction, st.integers(1, 16), st.integers(1, 16)))
    return before


def _towards(before: Any, after: Any, parameter: Parameter) -> list[Any]:
    """Where to try to go: all the way, half of it, a quarter, ..."""
    if after == before:
        return []
    if not isinstance(before, int | Fraction):
        return [after]
    ways = [before + (Fraction(after) - before) / 2**i for i in range(_HALVINGS + 1)]
    if parameter.domain.integer:
        ways = list(dict.fromkeys(int(way) for way in ways if int(way) != before))
    return ways


def _edges(claim: Bound, values: Values, name: str) -> list[Fraction]:
    """The other sides of relations that have the parameter alone on one side, where they are rational."""
    found = []
    for relation in claim.formulas.relations:
        if relation is None:
            continue
        for i, side in enumerate(relation.sides):
            if isinstance(side, Name) and side.name == name:
                for j in (i - 1, i + 1):
                    if 0 <= j < len(relation.sides):
                        found += _rational(claim, values, relation, j)
    return found


def _rational(claim: Bound, values: Values, relation: Comparison, j: int) -> list[Fraction]:
    """Side j of a relation as a Fraction, or nothing."""
    from theory.arithmetic import Reals
    from theory.evaluate import exact_terms
    from theory.formula import UndefinedError

    numbers_only = {n: v for n, v in values.items() if not isinstance(v, str)}
    used = names_in(relation.sides[j])
    try:
        known = {n: Fraction(v) for n, v in numbers_only.items() if not isinstance(v, tuple)}
        vectors = {n: tuple(map(Fraction, v)) for n, v in numbers_only.items() if isinstance(v, tuple)}
        terms = exact_terms(claim, values) if used & set(claim.definitions) else {}
        value = Reals(None).evaluate(relation.sides[j], {**known, **vectors, **terms})
    except (ValueError, KeyError, ArithmeticError, UndefinedError):  # irrational, or a name without a number
        return []
    return [] if isinstance(value, tuple) else [Fraction(value)]


def _moved_vector(draw: st.DrawFn, there: _There, values: Values, parameter: Parameter) -> Values:
    """One entry of a vector moved, or some of one entry given to another, which keeps their sum."""
    before = values[parameter.name]
    if not all(isinstance(entry, int | Fraction) for entry in before):
        return values
    for _ in range(len(before)):
        i = draw(st.integers(0, len(before) - 1))
        if len(before) > 1 and draw(st.booleans()):
            j = (i + draw(st.integers(1, len(before) - 1))) % len(before)
            part = before[i] * draw(st.builds(Fraction, st.integers(0, 8), st.just(8)))
            tries = [_with(_with(before, i, before[i] - part), j, before[j] + part)]
        else:
            candidate = _candidate(draw, replace(parameter, shape="scalar"), before[i])
            tries = [_with(before, i, value) for value in _towards(before[i], candidate, parameter)]
        for vector in tries:
            if there.satisfied(values | {parameter.name: vector}):
                before = vector
                break
        values = values | {parameter.name: before}
    return values


def _with(vector: tuple[Any, ...], i: int, value: Any) -> tuple[Any, ...]:
    return (*vector[:i], value, *vector[i + 1 :])


def _resized(draw: st.DrawFn, there: _There, values: Values, kept: frozenset[str]) -> Values:
    """Vectors of another length, all at once: entries repeated, or repeated with the same sum, or followed by zeros."""
    free = [p.name for p in there.free if p.shape == "vector" and p.name not in kept]
    if not free or any(isinstance(entry, str) for name in free for entry in values[name]):
        return values
    length = draw(st.integers(1, max(LONGEST, *(len(values[name]) for name in free))))
    ways = [
        lambda v: tuple(v[i % len(v)] for i in range(length)),
        lambda v: tuple(Fraction(len(v), length) * v[i % len(v)] for i in range(length)),
        lambda v: (*v[:length], *(0 * v[0] for _ in range(length - len(v)))),
    ]
    for way in ways:
        changed = values | {name: way(values[name]) for name in free}
        if there.satisfied(changed):
            return changed
    return values
