"""Candidates of a search: an instance as numbers that may be moved, and whether it is one that the claim speaks of.

A candidate holds what is free; the constants that the assumptions bind are computed from the problem. It becomes a
`Drawn` only if all assumptions are true, all relations hold and every parameter is in its domain, exactly.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from sim.problems import Quadratic
from theory.formula import Name
from theory.predicates import Connected
from theory.sentence import index_of
from theory.written import Claim
from validate import satisfied
from validate.instances.choices import (
    Setting,
    Values,
    outward,
    relation_satisfied,
    roles_of,
    schedules_of,
)
from validate.instances.pool import Drawn, instance_of_values

F = Fraction
Matrix = Any


@dataclass(frozen=True, eq=False)
class Candidate:
    """What is free in an instance.

    Attributes:
        hessian: (N, n, d, d) fractions; None for a claim without functions.
        linear: (N, n, d).
        start: (d,).
        rounds: K.
        values: of all the claim's names, without index; those that assumptions bind are recomputed.
        vectors: the free vectors.
    """

    hessian: Matrix
    linear: Matrix
    start: Matrix
    rounds: int
    values: Mapping[str, Any]
    vectors: Mapping[str, Any]


def candidate_of(drawn: Drawn) -> Candidate:
    """The candidate that an instance is."""
    instance = drawn.instance
    problem = None if instance.problem is None else instance.problem.quadratic  # type: ignore[attr-defined]
    vectors = {name: _array(v) for name, v in instance.vectors.items()}
    start = np.array(instance.start, dtype=object)
    return Candidate(
        None if problem is None else np.array(problem.hessian),
        None if problem is None else np.array(problem.linear),
        start,
        instance.rounds,
        dict(drawn.values),
        vectors,
    )


def _array(v: Any) -> Any:
    if v and isinstance(v[0], tuple):
        return [np.array(row, dtype=object) for row in v]
    return np.array(v, dtype=object)


def realised(claim: Claim, candidate: Candidate, bound: Mapping[str, Any] | None = None) -> Drawn | None:
    """The instance that a candidate is, if the claim speaks of it; else None.

    Args:
        claim: the claim.
        candidate: what is free.
        bound: values of names that assumptions bind, in the place of the problem's best.
    """
    problem = None
    if candidate.hessian is not None:
        N, n = candidate.hessian.shape[:2]
        zero = np.full((N, n), F(0), dtype=object)
        try:
            problem = Quadratic(candidate.hessian, candidate.linear, zero, np.full(N, n))
        except ValueError:
            return None
    values: Values = dict(candidate.values)
    world = Setting(problem, candidate.start, values, candidate.rounds, claim, candidate.vectors)
    free = set() if claim.of is None else set(claim.of.parameters)
    for one in claim.predicates:
        if isinstance(one, Connected) or not one.constants:
            continue
        bests = satisfied.best(one, problem)
        if bests is None:
            return None
        for constant, value, direction in zip(one.constants, bests, one.directions, strict=True):
            if isinstance(constant, Name) and constant.name not in free:
                exact = outward(value, up=direction == "up")
                given = None if bound is None else bound.get(constant.name)
                kept = candidate.values.get(constant.name)
                if exact <= 0:
                    exact = kept if kept is not None and kept > 0 else F(1)
                values[constant.name] = exact if given is None else given
    for symbol in claim.symbols:
        name = index_of(symbol)[0]
        if name == "K" or (isinstance(values.get(name), list) and name in roles_of(claim.program).matrices):
            continue
        domain = claim.domains[name]
        entries = values[name] if isinstance(values[name], list) else [values[name]]
        if name not in roles_of(claim.program).weights and not all(domain.contains(v) for v in entries):
            return None
    for one in claim.predicates:
        network = values.get(one.matrix) if isinstance(one, Connected) else None
        try:
            numbers = [world.expectation(c, {"n": 0, "i": 0, "k": 0}) for c in one.constants]
        except (ValueError, KeyError, IndexError):
            return None
        if any(isinstance(v, float) for v in numbers):
            return None
        if satisfied.true(one, problem, numbers, network) is not True:
            return None
    if not all(relation_satisfied(relation, world, claim) for relation in claim.relations):
        return None
    return instance_of_values(claim, problem, candidate.start, candidate.rounds, values, candidate.vectors)


# --- moves -----------------------------------------------------------------------------------------------------------

FACTORS = (F(1, 2), F(2), F(9, 10), F(11, 10), F(1, 10), F(10), F(-1), F(3, 4), F(5, 4))
SHIFTS = (F(1), F(-1), F(1, 2), F(-1, 2), F(1, 10), F(-1, 10))


def moved(candidate: Candidate, claim: Claim, rng: random.Random) -> Candidate:
    """A neighbour: one to three numbers scaled, shifted, or set to 0; more rounds or fewer."""
    new = candidate
    for _ in range(rng.choice((1, 1, 2, 3))):
        new = _moved_once(new, claim, rng)
    return new


def _moved_once(c: Candidate, claim: Claim, rng: random.Random) -> Candidate:
    roles = roles_of(claim.program)
    kinds = ["values", "values"]
    if c.hessian is not None:
        kinds += ["linear", "linear", "hessian", "hessian", "start", "still"]
    if claim.of is not None or "K" in claim.symbols:
        kinds += ["rounds"]
    if c.vectors:
        kinds += ["vectors", "vectors"]
    kind = rng.choice(kinds)
    if kind == "values":
        names = [n for n, v in c.values.items() if n not in claim.constants and n not in roles.matrices]
        if not names:
            return c
        name = rng.choice(names)
        return replace(c, values={**c.values, name: _other(c.values[name], name in roles.counts | roles.steps, rng)})
    if kind == "rounds":
        return of_rounds(c, claim, max(1, c.rounds + rng.choice((-1, 1, 1, 2))))
    if kind == "vectors":
        name = rng.choice(sorted(c.vectors))
        v = c.vectors[name]
        if isinstance(v, list):
            n = rng.randrange(len(v))
            return replace(c, vectors={**c.vectors, name: [*v[:n], _bent(v[n], rng), *v[n + 1 :]]})
        return replace(c, vectors={**c.vectors, name: _bent(v, rng)})
    if kind == "start":
        return replace(c, start=_bent(c.start, rng))
    if kind == "still":
        return replace(c, linear=c.linear * rng.choice((F(1, 10), F(10), F(1, 2), F(2))))
    array = np.array(getattr(c, kind))
    N, n, d = array.shape[:3]
    at = (rng.randrange(N), rng.randrange(n))
    if kind == "linear":
        array[at] = _bent(array[at], rng)
    else:
        i, j = rng.randrange(d), rng.randrange(d)
        if rng.random() < 0.3:
            array[at] = array[at] * rng.choice(FACTORS)
        else:
            value = _other(array[at][i, j], False, rng)
            array[at][i, j] = value
            array[at][j, i] = value
    return replace(c, linear=array) if kind == "linear" else replace(c, hessian=array)


def of_rounds(c: Candidate, claim: Claim, rounds: int) -> Candidate:
    """The candidate with another number of rounds; schedules are cut, or go on as they ended."""
    values = dict(c.values)
    for name in schedules_of(claim):
        if isinstance(values.get(name), list):
            values[name] = (values[name] + [values[name][-1]] * rounds)[:rounds]
    return replace(c, rounds=rounds, values=values)


def _other(value: Any, integer: bool, rng: random.Random) -> Any:
    if isinstance(value, list):
        n = rng.randrange(len(value))
        return [*value[:n], _other(value[n], integer, rng), *value[n + 1 :]]
    if integer:
        return max(F(1), value + rng.choice((-1, 1, 1, 2)))
    if value == 0 or rng.random() < 0.2:
        return value + rng.choice(SHIFTS)
    return value * rng.choice(FACTORS)


def _bent(vector: Any, rng: random.Random) -> Any:
    new = np.array(vector)
    if rng.random() < 0.2:
        return new * rng.choice((*FACTORS, F(0)))
    i = rng.randrange(len(new))
    new[i] = _other(new[i], False, rng)
    return new


# --- smaller ---------------------------------------------------------------------------------------------------------


def smaller(c: Candidate, claim: Claim) -> Iterator[Candidate]:
    """Simpler candidates, by type of entry: fewer rounds, clients, samples, coordinates; then shorter numbers."""
    roles = roles_of(claim.program)
    for rounds in sorted({1, c.rounds // 2, c.rounds - 1}):
        if 1 <= rounds < c.rounds:
            yield of_rounds(c, claim, rounds)
    others = roles.matrices | roles.weights | schedules_of(claim)
    lists = [n for n, v in c.values.items() if isinstance(v, list) and n not in others]
    clients = _clients(c)
    if clients > 1 and not roles.matrices:
        for n in range(clients):
            keep = [m for m in range(clients) if m != n]
            yield replace(
                c,
                hessian=None if c.hessian is None else c.hessian[keep],
                linear=None if c.linear is None else c.linear[keep],
                values={name: [v[m] for m in keep] if name in lists else v for name, v in c.values.items()},
                vectors={name: [v[m] for m in keep] if isinstance(v, list) else v for name, v in c.vectors.items()},
            )
    if c.hessian is not None:
        n, d = c.hessian.shape[1], c.hessian.shape[2]
        for i in range(n) if n > 1 else ():
            keep = [j for j in range(n) if j != i]
            yield replace(c, hessian=c.hessian[:, keep], linear=c.linear[:, keep])
    else:
        d = next((len(v[0] if isinstance(v, list) else v) for v in c.vectors.values()), 1)
    for i in range(d) if d > 1 else ():
        keep = [j for j in range(d) if j != i]
        yield replace(
            c,
            hessian=None if c.hessian is None else c.hessian[:, :, keep][:, :, :, keep],
            linear=None if c.linear is None else c.linear[:, :, keep],
            start=c.start[keep] if len(c.start) else c.start,
            vectors={
                name: [row[keep] for row in v] if isinstance(v, list) else v[keep] for name, v in c.vectors.items()
            },
        )
    for name, value in c.values.items():
        if name in claim.constants or name in roles.matrices:
            continue
        if isinstance(value, list):
            for simple in _simpler(value[0]):
                yield replace(c, values={**c.values, name: [simple] * len(value)})
            for n in range(len(value)):
                for simple in _simpler(value[n]):
                    yield replace(c, values={**c.values, name: [*value[:n], simple, *value[n + 1 :]]})
            continue
        for simple in _simpler(value, name in roles.counts | roles.steps):
            yield replace(c, values={**c.values, name: simple})
    for i in range(len(c.start)):
        for simple in _simpler(c.start[i]):
            yield replace(c, start=_with(c.start, (i,), simple))
    for name, v in c.vectors.items():
        if isinstance(v, list):
            for n, row in enumerate(v):
                for i in range(len(row)):
                    for simple in _simpler(row[i]):
                        yield replace(c, vectors={**c.vectors, name: [*v[:n], _with(row, (i,), simple), *v[n + 1 :]]})
            continue
        for i in range(len(v)):
            for simple in _simpler(v[i]):
                yield replace(c, vectors={**c.vectors, name: _with(v, (i,), simple)})
    if c.hessian is None:
        return
    for index in np.ndindex(c.linear.shape):
        for simple in _simpler(c.linear[index]):
            yield replace(c, linear=_with(c.linear, index, simple))
    for index in np.ndindex(c.hessian.shape):
        i, j = index[2:]
        if i > j:
            continue
        for simple in _simpler(c.hessian[index]):
            array = _with(c.hessian, index, simple)
            array[(*index[:2], j, i)] = simple
            yield replace(c, hessian=array)


def size(c: Candidate) -> tuple[int, int, int, int]:
    """Rounds, then entries, then entries that are not 0, then digits: what shrinking makes smaller."""
    entries: list[Any] = list(c.start) + [
        x for v in c.values.values() for x in (np.ravel(np.array(v, dtype=object)) if isinstance(v, list) else [v])
    ]
    for v in c.vectors.values():
        entries += [x for row in v for x in row] if isinstance(v, list) else list(v)
    if c.hessian is not None:
        entries += [*c.hessian.ravel(), *c.linear.ravel()]
    digits = sum(len(str(x)) for x in entries)
    return len(entries), c.rounds, sum(x != 0 for x in entries), digits


def _clients(c: Candidate) -> int:
    if c.hessian is not None:
        return int(c.hessian.shape[0])
    return next((len(v) for v in c.vectors.values() if isinstance(v, list)), 1)


def _with(array: Any, index: tuple[int, ...], value: Any) -> Any:
    new = np.array(array)
    new[index] = value
    return new


def _simpler(value: Fraction, integer: bool = False) -> Iterator[Fraction]:
    """Shorter numbers, the shortest first."""
    value = F(value)
    tried: list[Fraction] = [F(1)] if integer else [F(0), F(1), F(-1), F(1, 2), F(2)]
    if integer:
        tried += [F(int(value) // 2), value - 1]
    else:
        tried += [F(round(value)), *(value.limit_denominator(m) for m in (2, 4, 10, 100))]
    seen = {value}
    for simple in tried:
        shorter = len(str(simple)) < len(str(value)) or (integer and simple < value) or (simple == 0 != value)
        if simple not in seen and shorter and not (integer and simple < 1):
            seen.add(simple)
            yield simple
