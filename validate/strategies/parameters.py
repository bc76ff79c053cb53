"""Values of a claim's parameters that satisfy its hypotheses, by a walk from a witness that never leaves them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from theory.claim import Claim, Hypothesis, Parameter
from theory.formula import Comparison, Name, names_in, parse_relation, text_of
from theory.sentence import index_of
from theory.written import Claim as Written
from validate.strategies.instances import instances
from validate.strategies.numbers import numbers

Values = dict[str, Any]

LONGEST = 4  # entries of a vector that the witness does not have longer
_HALVINGS = 5  # of a move that leaves the hypotheses, before it is given up


def parameters(
    claim: Claim | Written | str,
    *,
    fixed: Mapping[str, Any] | None = None,
    near: Mapping[str, Any] | None = None,
    suppose: Sequence[str] = (),
) -> st.SearchStrategy[Values]:
    """Values of all parameters of a claim at which every relation among its hypotheses holds.

    The walk starts at a witness (`theory.feasible`, or `near`) and moves one parameter after the other, anywhere in its
    domain or near to where it is; at last it may put one on a limit that a hypothesis sets it. A move that would leave
    the hypotheses is halved until it does not, or is not made. So nothing is filtered out, and examples shrink to the
    witness. What is drawn is in the domains, satisfies the relations of all hypotheses, printed or not, and those that
    assumptions imply for their constants (mu <= L), and gives a right side within float64, if the claim has one.

    Assumptions about functions are not relations between numbers; of these, problems are drawn by `quadratics` and
    `scenarios`.

    Args:
        claim: a claim with parameters, its id, or ``"my_paper.py:label"``, a file that is run. Of a sentence the values
            are those of its `instances`: Fractions, and lists of them, by the names of its bound, the algorithm's too;
            K is its rounds.
        fixed: values that are kept, as in `theory.values.read`.
        near: a point to start from, a value for each parameter; without it, `theory.feasible.feasible` looks for one.
        suppose: further relations, as text ("K >= 5").

    Returns:
        Of dictionaries by name: ints for integers, Fractions, and tuples of these for vectors, of up to 4 entries. A
        parameter that a hypothesis sets equal to a formula of others has that formula as its value, as text.

    Raises:
        ValueError: a claim without parameters; hypotheses that cannot hold together, or of which it is not known; a
            start that does not satisfy them; an unknown name or a relation that cannot be read.
    """
    if isinstance(claim, str):
        from validate.files import find

        claim = find(claim)
    if isinstance(claim, Written):
        if fixed or near or suppose:
            raise ValueError(f"{claim.id}: fixed, near and suppose are for claims that are measured by tables")
        run = {"K"} & set(claim.symbols)
        names = {index_of(here)[0]: name for here, name in claim.paper_names.items()}

        def named(one: Any) -> dict[str, Any]:
            values = {**one.values, **dict.fromkeys(run, one.instance.rounds)}
            return {names.get(name, name): value for name, value in values.items()}

        return instances(claim).map(named)
    if not claim.parameters:
        raise ValueError(f"{claim.id} has no parameters, so no values can be drawn for them")
    whole = _with_implied(claim, suppose)
    kept = dict(fixed or {})
    for name in kept:
        claim.parameter(name)
    start = dict(near) | kept if near is not None else _witness(whole, kept)
    for name, (_, formula) in whole.formulas.tied.items():
        if name not in kept:
            start[name] = text_of(formula)
            kept[name] = start[name]
    start = {p.name: _plain(p, start[p.name]) for p in claim.parameters if p.name in start}
    if not satisfies(whole, start):
        told = ", ".join(f"{name}={value}" for name, value in start.items())
        raise ValueError(f"{claim.id}: the start {told} does not satisfy its hypotheses, or has no right side there")
    return _walk(whole, start, frozenset(kept))


def satisfies(claim: Claim, values: Mapping[str, Any]) -> bool:
    """Whether every relation of the claim's hypotheses is defined and holds, and the right side is within float64.

    Relations in names that the claim has no parameters or definitions for are left out. So is what is not a relation.
    Values that are missing or outside their domains do not satisfy anything.
    """
    from theory.evaluate import hypotheses

    try:
        found = zip(claim.formulas.relations, hypotheses(claim, values), strict=True)
        if any(relation is not None and entry["holds"] is not True for relation, entry in found):
            return False
        if claim.right is not None:
            claim.bound(**values)
    except ValueError:
        return False
    return True


def _with_implied(claim: Claim, suppose: Sequence[str]) -> Claim:
    """The claim with what its assumptions imply for their constants, and what is supposed, as further hypotheses."""
    from theory.feasible import implied_relations

    known = {p.name for p in claim.parameters} | set(claim.definitions)
    more = [h for h in implied_relations(claim.conditions) if names_in(parse_relation(h.relation or "")) <= known]
    for text in suppose:
        unknown = sorted(names_in(parse_relation(text)) - known)
        if unknown:
            raise ValueError(f"suppose={text!r} has the name {unknown[0]!r}, which {claim.id} does not have")
        more.append(Hypothesis(text, text, relation=text))
    return replace(claim, hypotheses=(*claim.hypotheses, *more))


def _witness(claim: Claim, fixed: Mapping[str, Any]) -> Values:
    from theory.feasible import feasible

    found = feasible(claim, fixed=fixed)
    if found.witness is None:
        told = {"empty": "cannot hold together", "undecided": "are not known to hold together"}[found.outcome]
        raise ValueError(
            f"{claim.id}: its hypotheses {told}, so no parameters can be drawn ({found.detail})"
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
def _walk(draw: st.DrawFn, claim: Claim, start: Values, kept: frozenset[str]) -> Values:
    values = _resized(draw, claim, dict(start), kept)
    free = [p for p in claim.parameters if p.name not in kept]
    order = draw(st.permutations(free))
    for parameter in (*order, *reversed(order)):  # twice: one move may make room for another
        if parameter.shape == "vector":
            values = _moved_vector(draw, claim, values, parameter)
            continue
        before = values[parameter.name]
        candidate = _candidate(draw, parameter, before)
        for value in _towards(before, candidate, parameter):
            moved = values | {parameter.name: value}
            if satisfies(claim, moved):
                values = moved
                break
    return _on_an_edge(draw, claim, values, free)


def _on_an_edge(draw: st.DrawFn, claim: Claim, values: Values, free: Sequence[Parameter]) -> Values:
    """In a third of the draws one number at last put on a limit that a hypothesis sets it."""
    alone = {side.name for relation in claim.formulas.relations if relation is not None for side in _names(relation)}
    places = [p for p in free if p.name in alone and p.shape == "scalar"]
    if not places or draw(st.sampled_from((False, False, True))) is False:
        return values
    parameter = draw(st.sampled_from(places))
    for edge in _edges(claim, values, parameter.name):
        whole = int(edge) if parameter.domain.integer and edge.denominator == 1 else edge
        moved = values | {parameter.name: whole}
        if satisfies(claim, moved):
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


def _edges(claim: Claim, values: Values, name: str) -> list[Fraction]:
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


def _rational(claim: Claim, values: Values, relation: Comparison, j: int) -> list[Fraction]:
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


def _moved_vector(draw: st.DrawFn, claim: Claim, values: Values, parameter: Parameter) -> Values:
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
            if satisfies(claim, values | {parameter.name: vector}):
                before = vector
                break
        values = values | {parameter.name: before}
    return values


def _with(vector: tuple[Any, ...], i: int, value: Any) -> tuple[Any, ...]:
    return (*vector[:i], value, *vector[i + 1 :])


def _resized(draw: st.DrawFn, claim: Claim, values: Values, kept: frozenset[str]) -> Values:
    """Vectors of another length, all at once: entries repeated, or repeated with the same sum, or followed by zeros."""
    free = [p.name for p in claim.parameters if p.shape == "vector" and p.name not in kept]
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
        if satisfies(claim, changed):
            return changed
    return values
