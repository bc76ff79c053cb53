"""Candidates of a search: an instance as numbers that may be moved, and whether it is one that the claim speaks of.

A candidate holds what is free; the constants that the assumptions bind are computed from the problem. It becomes a
`Drawn` only if all assumptions are true, all relations hold and every parameter is in its domain, exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np

from sim.problems import Quadratic
from theory.claim import Claim
from theory.formula import Name
from theory.predicates import Connected
from theory.program import work
from theory.sentence import Expression, Sentence, evaluate, index_of
from validate import satisfied
from validate.instances.constants import best_constants, bests_of, values_in
from validate.instances.nearby import simpler
from validate.instances.piece_moves import numbers_of, simplified, translated
from validate.instances.pieces import Pieces, Piecewise
from validate.instances.point_moves import fewer_points, projected, simpler_points
from validate.instances.point_moves import numbers_of as numbers_of_points
from validate.instances.points import PointFunction, Points
from validate.instances.pool import Drawn, instance_of_values
from validate.instances.problems import Quadratics
from validate.instances.relations import holds_surely, relation_satisfied
from validate.instances.ridge_functions import RidgeFunction, mean_of, quadratics_of
from validate.instances.ridge_moves import (
    moved_by,
    numbers_of_ridges,
    pieces_of,
    projected_ridges,
    simplified_ridges,
)
from validate.instances.ridges import Ridges
from validate.instances.roles import roles_in
from validate.instances.setting import Setting, Values, schedules_of

F = Fraction
Matrix = Any
LONG = 1000
"""Rounds above which a run is made shorter by parts of it too, not by one round at a time only."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """What is free in an instance.

    Attributes:
        hessian: (N, n, d, d) fractions; None for a claim without functions, and where these are no quadratics.
        linear: (N, n, d).
        start: (d,).
        rounds: K.
        values: of all the claim's names, without index; those that assumptions bind are recomputed.
        vectors: the free vectors.
        functions: of each client, its samples, where these are no quadratics: piecewise ones, functions given by
            points, or sums of ridges; else None.
    """

    hessian: Matrix
    linear: Matrix
    start: Matrix
    rounds: int
    values: Mapping[str, Any]
    vectors: Mapping[str, Any]
    functions: Any = None

    def _of(self, kind: type) -> Any:
        """The functions, where they are of a kind."""
        return self.functions if self.functions is not None and isinstance(self.functions[0][0], kind) else None

    pieces = property(lambda self: self._of(Piecewise))
    points = property(lambda self: self._of(PointFunction))
    ridges = property(lambda self: self._of(RidgeFunction))

    @property
    def has_functions(self) -> bool:
        """Whether there is a problem."""
        return self.clients > 0

    @property
    def clients(self) -> int:
        """Whose functions there are; 0 without any."""
        functions = self.functions if self.hessian is None else self.hessian
        return 0 if functions is None else len(functions)

    @property
    def samples(self) -> int:
        """Of a client, at most; 0 without functions."""
        if self.hessian is not None:
            return int(self.hessian.shape[1])
        return 0 if self.functions is None else max(map(len, self.functions))

    @property
    def dim(self) -> int:
        """d, of the functions or of the free vectors; 0 without both."""
        if self.hessian is not None:
            return int(self.hessian.shape[2])
        if self.functions is not None:
            return int(self.functions[0][0].dim)
        return next((len(v[0] if isinstance(v, list) else v) for v in self.vectors.values()), 0)

    def of_clients(self, keep: Sequence[int], values: Mapping[str, Any]) -> Candidate:
        """These clients, in this order, with other values."""
        return replace(
            self,
            hessian=None if self.hessian is None else self.hessian[keep],
            linear=None if self.linear is None else self.linear[keep],
            functions=None if self.functions is None else tuple(self.functions[n] for n in keep),
            values=values,
            vectors={name: [v[n] for n in keep] if isinstance(v, list) else v for name, v in self.vectors.items()},
        )


def lines_of(hessian: Matrix, linear: Matrix, offset: Matrix | None = None) -> tuple[tuple[Piecewise, ...], ...]:
    """Quadratics of one dimension, (N, n, 1, 1), (N, n, 1) and (N, n), as functions of which each client may have other
    numbers; without constants where none are given."""
    offset = np.full(hessian.shape[:2], F(0), dtype=object) if offset is None else offset
    return tuple(
        tuple(Piecewise((), (h[0, 0],), b[0], c) for h, b, c in zip(*own, strict=True))
        for own in zip(hessian, linear, offset, strict=True)
    )


def candidate_of(drawn: Drawn) -> Candidate:
    """The candidate that an instance is."""
    instance = drawn.instance
    problem = instance.problem.quadratic if isinstance(instance.problem, Quadratics) else None
    functions = instance.problem.functions if isinstance(instance.problem, Pieces | Points | Ridges) else None
    uneven = problem is not None and len(set(problem.counts)) > 1  # numbers of samples differ in one dimension only
    if problem is not None and (uneven or (problem.dim == 1 and np.any(problem.offset))):
        each = zip(lines_of(problem.hessian, problem.linear, problem.offset), problem.counts, strict=True)
        functions = tuple(own[:count] for own, count in each)
        problem = None
    return Candidate(
        None if problem is None else np.array(problem.hessian),
        None if problem is None else np.array(problem.linear),
        np.array(instance.start, dtype=object),
        instance.rounds,
        dict(drawn.values),
        {name: _array(v) for name, v in instance.vectors.items()},
        functions,
    )


def _array(v: Any) -> Any:
    if v and isinstance(v[0], tuple):
        return [np.array(row, dtype=object) for row in v]
    return np.array(v, dtype=object)


REALISED, OF_NUMBERS = 100, 20
"""Of `theory.program.work`: what it takes to look whether a claim speaks of a candidate, and for each number of each
sample."""


def realised(claim: Claim, candidate: Candidate, bound: Mapping[str, Any] | None = None) -> Drawn | None:
    """The instance that a candidate is, if the claim speaks of it; else None.

    Args:
        claim: the claim.
        candidate: what is free.
        bound: values of names that assumptions bind, in the place of the problem's best.
    """
    work.count(REALISED + OF_NUMBERS * candidate.clients * candidate.samples * candidate.dim)
    try:
        problem = _problem(candidate)
    except ValueError:
        return None
    values: Values = dict(candidate.values)
    world = Setting(problem, candidate.start, values, candidate.rounds, claim, candidate.vectors)
    if not _bind(claim, candidate, world, values, bound):
        return None
    for relation in claim.relations:
        if relation.relation == "==" and not relation_satisfied(relation, world, claim):
            _tie(relation, world, values, claim)
    for symbol in claim.symbols:
        name = index_of(symbol)[0]
        if name == "K" or (isinstance(values.get(name), list) and name in roles_in(claim).matrices):
            continue
        domain = claim.domains[name]
        entries = values[name] if isinstance(values[name], list) else [values[name]]
        if name not in roles_in(claim).weights and not all(domain.contains(v) for v in entries):
            return None
    for one in claim.predicates:
        network = values.get(one.matrix) if isinstance(one, Connected) else None
        try:
            constants = values_in(one, world, lambda c, n: world.expectation(c, {"n": n, "i": 0, "k": 0}))
        except (ValueError, KeyError, IndexError):
            return None
        if isinstance(one, Connected) and "rho" in values:
            constants = [values["rho"]]
        if any(isinstance(v, float) for value in constants for v in (value if isinstance(value, list) else [value])):
            return None
        if satisfied.true(one, problem, constants, network) is not True:
            return None
    if not all(relation_satisfied(relation, world, claim, holds_surely) for relation in claim.relations):
        return None
    return instance_of_values(claim, problem, candidate.start, candidate.rounds, values, candidate.vectors)


def _bind(
    claim: Claim, candidate: Candidate, world: Setting, values: Values, bound: Mapping[str, Any] | None = None
) -> bool:
    """Gives the names that assumptions bind the problem's best constants, or others; False where there are none."""
    free = set() if claim.of is None else set(claim.of.parameters)
    bests = []
    for one in claim.predicates:
        if isinstance(one, Connected) or not one.binds:
            continue
        numbers = bests_of(one, world)
        if numbers is None:
            return False
        bests.append((one, numbers))
    for name, best in best_constants(claim, bests).items():
        if name not in free:
            given = None if bound is None else bound.get(name)
            values[name] = _near(claim, name, best, candidate.values.get(name)) if given is None else given
    return True


def _near(claim: Claim, name: str, best: Any, kept: Any) -> Any:
    """The best constant, or where it is none what there was, else 1; of a list, one a client, each."""
    if isinstance(best, list):
        earlier = kept if isinstance(kept, list) and len(kept) == len(best) else [None] * len(best)
        return [_near(claim, name, one, before) for one, before in zip(best, earlier, strict=True)]
    if _may_be(claim, name, best):
        return best
    return kept if isinstance(kept, Fraction) and _may_be(claim, name, kept) else F(1)


def _may_be(claim: Claim, name: str, value: Any) -> bool:
    return bool(value > 0) or bool(claim.domains[name].contains(value))


def _tie(relation: Sentence, world: Setting, values: Values, claim: Claim) -> None:
    """Gives a name that is alone on a side of an equation the value of the other side, or a fraction near to it."""
    for side, beside in (relation.sides, (relation.right, relation.left)):
        known = values.get(side.name) if isinstance(side, Name) and side.name not in claim.constants else None
        if not isinstance(side, Name) or not isinstance(known, Fraction):
            continue
        value = worth(beside, world, claim)
        if isinstance(value, Fraction | float):
            values[side.name] = F(value) if isinstance(value, Fraction) else F(value).limit_denominator(10**9)
            return


def setting_of(claim: Claim, c: Candidate, values: Values) -> Setting | None:
    """What sentences without states see of a candidate; None where assumptions bind what its problem has not.

    Args:
        claim: the claim.
        c: the candidate.
        values: of its names; those that assumptions bind are written into it.
    """
    try:
        problem = _problem(c)
    except ValueError:
        return None
    world = Setting(problem, c.start, values, c.rounds, claim, c.vectors)
    return world if _bind(claim, c, world, values) else None


def worth(e: Expression, world: Setting, claim: Claim, at: Mapping[str, int] | None = None) -> Any:
    """What a tree is worth for the first client and sample, in the first round, or `at` others; None: no value."""
    try:
        return evaluate(e, world, {"n": 0, "i": 0, "k": 0, **(at or {})}, claim.vocabulary)
    except (ValueError, KeyError, IndexError, ZeroDivisionError):
        return None


def minimiser_of(c: Candidate) -> Any:
    """Where its f is least; None where that is nowhere, or in more than one place."""
    try:
        return _problem(c).minimiser
    except (ValueError, ZeroDivisionError):
        return None


def _problem(c: Candidate) -> Any:
    """Its problem, of quadratics where all functions are; None for a claim without functions."""
    if c.points is not None:
        return Points(c.points)
    if c.ridges is not None:
        if len(c.start) > 1 and any(phi.knots for own in c.ridges for f in own for _, phi in f.terms):
            return Ridges(c.ridges)
        if len(c.start) > 1 and len(set(map(len, c.ridges))) > 1:
            return Ridges(c.ridges)
        c = _as_quadratics(c, True) if len(c.start) > 1 else replace(c, functions=pieces_of(c.ridges))
    hessian, linear, offset = c.hessian, c.linear, None
    if c.pieces is not None:
        if any(f.knots for own in c.pieces for f in own):
            return Pieces(c.pieces)
        hessian = np.full((c.clients, c.samples, 1, 1), F(0), dtype=object)
        linear = np.full((c.clients, c.samples, 1), F(0), dtype=object)
        offset = np.full((c.clients, c.samples), F(0), dtype=object)
        for n, own in enumerate(c.pieces):
            for i, f in enumerate(own):
                hessian[n, i], linear[n, i], offset[n, i] = f.slopes[0], f.b, f.c
    elif hessian is None:
        return None
    counts = np.full(c.clients, c.samples) if c.functions is None else np.array([len(own) for own in c.functions])
    offset = np.full(hessian.shape[:2], F(0), dtype=object) if offset is None else offset
    return Quadratic(hessian, linear, offset, counts)


def of_units(c: Candidate, length: Fraction, curvature: Fraction) -> Candidate:
    """With functions and start in other units: x -> curvature*length^2*f(x/length).

    Args:
        c: the candidate; its numbers and free vectors stay.
        length: by what distances are multiplied.
        curvature: by what second derivatives are.
    """
    hessian = None if c.hessian is None else c.hessian * curvature
    linear = None if c.linear is None else c.linear * (length * curvature)
    functions = c.functions and tuple(tuple(f.in_units(length, curvature) for f in own) for own in c.functions)
    return replace(c, hessian=hessian, linear=linear, functions=functions, start=c.start * length)


def of_rounds(c: Candidate, claim: Claim, rounds: int) -> Candidate:
    """The candidate with another number of rounds; schedules are cut, or go on as they ended."""
    values = dict(c.values)
    for name in schedules_of(claim):
        if isinstance(values.get(name), list):
            values[name] = (values[name] + [values[name][-1]] * rounds)[:rounds]
    return replace(c, rounds=rounds, values=values)


# --- smaller ---------------------------------------------------------------------------------------------------------


def smaller(c: Candidate, claim: Claim) -> Iterator[Candidate]:
    """Simpler candidates, by type of entry: fewer rounds, clients, samples, coordinates; then shorter numbers."""
    roles = roles_in(claim)
    parts = (8, 64, 512, 4096, 32768) if c.rounds > LONG else ()
    for rounds in sorted({1, c.rounds // 2, c.rounds - 1, *(c.rounds - c.rounds // part for part in parts)}):
        if 1 <= rounds < c.rounds:
            yield of_rounds(c, claim, rounds)
    others = roles.matrices | roles.weights | schedules_of(claim)
    lists = [n for n, v in c.values.items() if isinstance(v, list) and n not in others]
    clients = c.clients or next((len(v) for v in c.vectors.values() if isinstance(v, list)), 1)
    for keep in _parts(clients) if clients > 1 and not roles.matrices else ():
        fewer = {
            name: [v[m] for m in keep] if name in lists else v - 1 if name == "N" else v for name, v in c.values.items()
        }
        yield c.of_clients(keep, fewer)
    if c.hessian is not None:
        for keep in _parts(c.samples) if c.samples > 1 else ():
            yield replace(c, hessian=c.hessian[:, keep], linear=c.linear[:, keep])
    elif c.functions is not None:
        for i in range(c.samples) if c.samples > 1 else ():
            rest = tuple(own[:i] + own[i + 1 :] if len(own) > 1 else own for own in c.functions)
            yield replace(c, functions=rest)
    for points in () if c.points is None else fewer_points(c.points):
        yield replace(c, functions=points)
    for i in range(c.dim) if c.dim > 1 else ():
        keep = [j for j in range(c.dim) if j != i]
        cut = None if c.points is None else projected(c.points, keep)
        if c.points is not None and cut is None:
            continue
        yield replace(
            c,
            functions=cut if c.ridges is None else projected_ridges(c.ridges, keep),
            hessian=None if c.hessian is None else c.hessian[:, :, keep][:, :, :, keep],
            linear=None if c.linear is None else c.linear[:, :, keep],
            start=c.start[keep] if len(c.start) else c.start,
            vectors=each_row(c.vectors, itemgetter(keep)),
        )
    if c.points is not None:
        yield from _simpler_points(c, claim)
    if c.ridges is not None:
        yield from _simpler_ridges(c)
    for name, value in c.values.items():
        if name in claim.constants or name in roles.matrices or (name == "N" and lists):
            continue
        if isinstance(value, list):
            for simple in simpler(value[0]):
                yield replace(c, values={**c.values, name: [simple] * len(value)})
            for n in range(len(value)):
                for simple in simpler(value[n]):
                    yield replace(c, values={**c.values, name: [*value[:n], simple, *value[n + 1 :]]})
            continue
        whole = name in roles.counts | roles.steps or (name in claim.domains and claim.domains[name].integer)
        for simple in simpler(value, whole):
            yield replace(c, values={**c.values, name: simple})
    for row, put in _rows(c):
        for i in range(len(row)):
            for simple in simpler(row[i]):
                yield put(_with(row, (i,), simple))
    if c.pieces is not None:
        for pieces in simplified(c.pieces):
            yield replace(c, functions=pieces)
        for by, pieces in translated(c.pieces):
            yield replace(c, functions=pieces, start=c.start + by)
    if c.hessian is None:
        return
    for index in np.ndindex(c.linear.shape):
        for simple in simpler(c.linear[index]):
            yield replace(c, linear=_with(c.linear, index, simple))
    for index in np.ndindex(c.hessian.shape):
        i, j = index[2:]
        if i > j:
            continue
        for simple in simpler(c.hessian[index]):
            array = _with(c.hessian, index, simple)
            array[(*index[:2], j, i)] = simple
            yield replace(c, hessian=array)


def each_row(vectors: Mapping[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    """Free vectors, each of them, or each client's, changed."""
    return {name: [*map(change, v)] if isinstance(v, list) else change(v) for name, v in vectors.items()}


def _rows(c: Candidate) -> Iterator[tuple[Any, Callable[[Any], Candidate]]]:
    """The start and every free vector, and the candidate with another one in its place."""

    def put(name: str, n: int, row: Any) -> Candidate:
        v = c.vectors[name]
        return replace(c, vectors={**c.vectors, name: [*v[:n], row, *v[n + 1 :]] if isinstance(v, list) else row})

    yield c.start, lambda row: replace(c, start=row)
    for name, v in c.vectors.items():
        for n, row in enumerate(v if isinstance(v, list) else [v]):
            yield row, partial(put, name, n)


def _as_quadratics(c: Candidate, largest: bool) -> Candidate:
    """With the largest or the least slope of each function everywhere."""
    assert c.ridges is not None
    hessian, linear = quadratics_of(c.ridges, largest)
    return replace(c, hessian=hessian, linear=linear, functions=None)


def _simpler_ridges(c: Candidate) -> Iterator[Candidate]:
    assert c.ridges is not None
    if len(set(map(len, c.ridges))) == 1:
        yield from (_as_quadratics(c, largest) for largest in (True, False))
    if len(c.ridges) > 1 and not any(isinstance(v, list) for v in (*c.values.values(), *c.vectors.values())):
        one = ((mean_of([mean_of(own) for own in c.ridges]),),)  # f, where nothing is said of clients but N
        yield replace(c, functions=one, values={name: F(1) if name == "N" else v for name, v in c.values.items()})
    for ridges in simplified_ridges(c.ridges):
        yield replace(c, functions=ridges)
    alone = [v for v in c.vectors.values() if not isinstance(v, list)]
    for to in (c.start, *alone, *(row for v in c.vectors.values() if isinstance(v, list) for row in v)):
        if any(to):  # everything moved, so that a point comes to 0
            vectors = each_row(c.vectors, partial(np.add, -to))
            yield replace(c, functions=moved_by(c.ridges, tuple(-to)), start=c.start - to, vectors=vectors)


def _simpler_points(c: Candidate, claim: Claim) -> Iterator[Candidate]:
    drawn = instance_of_values(claim, Points(c.points or ()), c.start, c.rounds, dict(c.values), c.vectors)
    free = [name for name in c.values if name not in claim.constants and isinstance(c.values[name], Fraction)]
    for new in () if drawn is None else simpler_points(drawn.instance, free):
        start = np.array(new.start, dtype=object)
        yield replace(c, functions=new.functions, start=start, values={**c.values, **new.values})


def _parts(count: int) -> Iterator[list[int]]:
    """Less of so many: either half, a quarter less, then one less."""
    if count > 3:
        half, quarter = count // 2, count // 4
        yield list(range(half))
        yield list(range(half, count))
        yield list(range(count - quarter))
    for left_out in range(count):
        yield [i for i in range(count) if i != left_out]


NUMBERS: Mapping[type, Callable[..., list[Fraction]]] = {
    Piecewise: numbers_of,
    PointFunction: numbers_of_points,
    RidgeFunction: numbers_of_ridges,
}


def size(c: Candidate) -> tuple[int, int, int, int, int]:
    """Entries, then rounds, entries that are not 0, digits, and how large all are: what shrinking makes smaller."""
    entries: list[Any] = list(c.start) + [
        x for v in c.values.values() for x in (np.ravel(np.array(v, dtype=object)) if isinstance(v, list) else [v])
    ]
    for v in c.vectors.values():
        entries += [x for row in v for x in row] if isinstance(v, list) else list(v)
    if c.hessian is not None:
        entries += [*c.hessian.ravel(), *c.linear.ravel()]
    if c.functions is not None:
        entries += NUMBERS[type(c.functions[0][0])](c.functions)
    digits = sum(len(str(x)) for x in entries)
    return len(entries), c.rounds, sum(x != 0 for x in entries), digits, sum(int(abs(x)) for x in entries)


def _with(array: Any, index: tuple[int, ...], value: Any) -> Any:
    new = np.array(array)
    new[index] = value
    return new
