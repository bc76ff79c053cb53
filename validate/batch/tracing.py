"""One exact play of an instance, recorded: both sides of its claim as a program over the numbers that are free in it.

Where its outcomes are many, its moments are recorded instead (`validate.batch.by_moments`).

The player, the sentence's reader and the relations are those that measure exactly (`validate.both_sides`); what they
are handed are numbers that record (`validate.batch.recorded`). The sizes of the instance, its rounds and its integers
stay; so does the outcome of every comparison on the way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from theory.claim import Claim
from theory.domain import Domain
from theory.formula import Name, UndefinedError
from theory.operations import UndecidedError
from theory.program import work
from theory.sentence import Sentence, SentenceError, evaluate, everything_meant
from validate.batch.alike import with_kinds
from validate.batch.bests import Bound, best_of_all, knows
from validate.batch.by_moments import ordered_by_moments
from validate.batch.hinges import recorded_problem
from validate.batch.layout import Layout, is_free, layout_of
from validate.batch.recorded import Array, Recorded, Straight, Tape, TooLongError, UntracedError
from validate.both_sides import World, in_outcomes, meant
from validate.instances.candidates import Candidate, candidate_of
from validate.instances.instance import Instance
from validate.instances.pieces import Pieces
from validate.instances.pool import Drawn
from validate.instances.problems import Minimisers, Quadratics, Vector, inverse_of
from validate.instances.ridges import Ridges
from validate.instances.scalars import Schedule
from validate.instances.world import Still
from validate.play import Play
from validate.rounds import TooManyOutcomesError

OUTCOMES = 200
"""Outcomes of a round that are recorded at most."""
SHORT = 500
"""Operations of a play up to which it is not recorded by moments, too."""
STEP = 3
"""Operations of `theory.program.work` that it takes to record one of a tape."""
SLACK = 1e-12
"""By how much of its sides a relation may be missed in floats: where it is met exactly they are rounded."""


SEVERAL = 3
"""How often it is asked in longer numbers whether something is rounding."""
CENTRE = (-1,)
"""Beside the functions of a problem that records, where its minimiser stands."""


@dataclass(frozen=True, eq=False)
class Traced:
    """A claim on all instances that are played like one of them.

    Attributes:
        claim: the claim.
        base: the candidate that was played.
        layout: which of its numbers are free.
        bound: names of constants, in the order in which they follow the free numbers, each with its client, or None.
        kept: their values on the instance that was played.
        relations: both sides of each relation, the smaller first, in turn.
        strict: of each relation, whether the sides may not be equal.
        rows: both sides of the sentence in every row and outcome, the left one (which is to be the smaller) first; then
            what has to be positive, or not negative, for the play to be the same.
        conditions: of each of these, whether it has to be positive.
    """

    claim: Claim
    base: Candidate
    layout: Layout
    bound: tuple[Bound, ...]
    kept: Array
    relations: Straight
    strict: tuple[bool, ...]
    rows: Straight
    conditions: tuple[bool, ...]

    @property
    def key(self) -> Any:
        """What two of them share that are the same but for integers of which nothing hangs on."""
        return (self.layout.size, self.bound, self.strict, self.rows.key, self.relations.key)

    def with_constants(self, numbers: Array) -> Array:
        """The numbers with the constants that belong to them."""
        self.relations.count(numbers.shape[1])
        return self._with_constants(numbers)[0]

    def fits(self, numbers: Array) -> tuple[Array, Array]:
        """The numbers with the constants that belong to them, and which instances the claim speaks of, (B,)."""
        everything, fits = self._with_constants(numbers)
        places, least, most = self._ends
        fits &= ((numbers[places] >= least) & (numbers[places] <= most)).all(axis=0)
        sides = self.relations.run(everything)
        low, high = sides[0::2], sides[1::2]
        with np.errstate(all="ignore"):
            slack = SLACK * (np.abs(low) + np.abs(high))
            fits &= np.where(self._strict, low < high - slack, low <= high + slack).all(axis=0)
        return everything, fits

    def misses(self, everything: Array, part: float) -> Array:
        """Which instances, with their constants, miss a relation by more than a part of its sides, (B,)."""
        sides = self.relations.run(everything)
        low, high = sides[0::2], sides[1::2]
        with np.errstate(all="ignore"):
            return np.asarray((low - high > part * (np.abs(low) + np.abs(high))).any(axis=0))

    @cached_property
    def _places(self) -> dict[Bound, int]:
        return {one: place for place, one in self.layout.values.items()}

    @cached_property
    def _allowed(self) -> list[tuple[float, float]]:
        return [_ends_of(self.claim.domains[name]) for name, _ in self.bound]

    @cached_property
    def _strict(self) -> Array:
        return np.array(self.strict, bool)[:, None]

    @cached_property
    def _ends(self) -> tuple[Array, Array, Array]:
        """The places of parameters, and the least and the largest floats that their domains have, (..., 1)."""
        ends = [_ends_of(self.claim.domains[name]) for name, _ in self.layout.values.values()]
        return np.array([*self.layout.values], int), *np.array(ends).reshape(-1, 2).T[..., None]

    def _with_constants(self, numbers: Array) -> tuple[Array, Array]:
        """Also where its assumptions are true with them, (B,)."""
        fits = np.ones(numbers.shape[1], bool)
        everything = np.empty((len(numbers) + len(self.bound), numbers.shape[1]))
        everything[: len(numbers)] = numbers
        problems = self.layout.problems(numbers.T)
        if problems is not None:
            best, true = best_of_all(self.claim, problems)
            fits &= true
            for i, one in enumerate(self.bound):
                value = best.get(one, np.full(1, self.kept[i]))
                least, most = self._allowed[i]
                allowed = (value > 0) | ((value >= least) & (value <= most))
                everything[len(numbers) + i] = np.where(allowed, value, self.kept[i])
            for one in best.keys() & self._places.keys():
                below, above = (best[one], numbers[self._places[one]])[
                    :: -1 if self.claim.constants[one[0]] == "down" else 1
                ]
                fits &= below <= above * (1 + SLACK)
        else:
            everything[len(numbers) :] = self.kept[:, None]
        return everything, fits

    def gaps(self, everything: Array) -> Array:
        """(left - right)/(abs(left) + abs(right)) in every row, (rows, B); NaN where a side is undefined.

        An instance that is played otherwise has none.
        """
        left, right, needed = self._sides(everything)
        with np.errstate(all="ignore"):
            size = np.abs(left) + np.abs(right)
            size[self.beside_zero] += self._squares(everything)
            gaps = np.where(np.isfinite(size) & (size > 0), (left - right) / size, np.nan)
            if len(needed):
                strict = np.array(self.conditions, bool)[:, None]
                gaps[:, ~np.where(strict, needed > 0, needed >= 0).all(axis=0)] = np.nan
        return gaps

    def count(self, instances: int, computed: int) -> None:
        """Count the gaps of so many instances as work, of which some are computed."""
        for straight in (self.relations, self.rows):
            straight.count(instances, computed)

    def _squares(self, everything: Array) -> Array:
        """Of the lengths of free vectors: where a side is 0, a gap is a part of these, too."""
        places = np.concatenate([np.zeros(0, int), *(places.ravel() for places in self.layout.vectors.values())])
        return np.asarray((everything[places] ** 2).sum(axis=0))

    @cached_property
    def beside_zero(self) -> Array:
        """The rows of which a side is always 0."""
        known = np.array(self.rows.known[: len(self.rows.known) - len(self.conditions)])
        return np.flatnonzero((known[0::2] == 0) | (known[1::2] == 0))

    def sure(self, everything: Array, part: float) -> Array:
        """In which rows only so small a part of the sides is rounding, (rows, B): longer numbers say the same.

        Each is rounded at random, several times: what is lost in a sum of much larger numbers is lost in longer ones as
        well, and numbers that were centred would lose the same again.
        """
        left, right, _ = self._sides(everything)
        long, rng = everything.astype(np.longdouble), np.random.default_rng(0)
        sure = np.ones(left.shape, bool)
        with np.errstate(all="ignore"):
            most = part * (np.abs(left) + np.abs(right))
            for _ in range(SEVERAL):
                here = np.flatnonzero(sure.any(axis=0))
                longer = self._sides(long[:, here], rng)
                for side, other in zip((left, right), longer[:2], strict=True):
                    sure[:, here] &= np.abs(side[:, here] - other) <= most[:, here]
        return sure

    def _sides(self, everything: Array, rounded: np.random.Generator | None = None) -> tuple[Array, Array, Array]:
        found = self.rows.run(everything, rounded)
        count = len(found) - len(self.conditions)
        return found[0:count:2], found[1:count:2], found[count:]


def _ends_of(domain: Domain) -> tuple[float, float]:
    """The least and the largest float in a domain."""
    far = float(np.finfo(float).max)
    least = -far if domain.lower is None else float(domain.lower)
    most = far if domain.upper is None else float(domain.upper)
    least = float(np.nextafter(least, np.inf)) if domain.lower_open else least
    return least, float(np.nextafter(most, -np.inf)) if domain.upper_open else most


def traced(claim: Claim, one: Drawn, kinds: bool = False) -> Traced | None:
    """What is recorded of a claim on an instance; None where it is not, or nothing is free.

    Args:
        claim: the claim.
        one: the instance.
        kinds: whether clients that are the same in it stay the same, and samples.
    """
    if claim.sentence.relation == "==" or not isinstance(one.instance.problem, Quadratics | Pieces | Ridges | None):
        return None
    if len({len(own) for own in _counts(one)}) > 1:
        return None
    found = _recorded(claim, one, kinds, moments=False)
    if found is not None and len(found.rows) <= SHORT:
        return found
    if claim.program is None or not claim.program.random or not isinstance(one.instance.problem, Quadratics):
        return found
    told = recorded_by_moments(claim, one, kinds)
    return min((one for one in (found, told) if one is not None), key=lambda one: len(one.rows), default=None)


def recorded_by_moments(claim: Claim, one: Drawn, kinds: bool = False) -> Traced | None:
    """The same, of quadratics and a program with draws, its moments in the place of its outcomes."""
    return _recorded(claim, one, kinds, moments=True)


def _recorded(claim: Claim, one: Drawn, kinds: bool, moments: bool) -> Traced | None:
    tape = Tape()
    try:
        return _traced(claim, one, kinds, moments, tape)
    except (TooLongError, TooManyOutcomesError, UndecidedError, UndefinedError, SentenceError):
        return None
    except (ValueError, ZeroDivisionError, OverflowError, KeyError, IndexError):
        return None
    finally:
        work.count(STEP * len(tape.steps))


def _counts(one: Drawn) -> list[range]:
    problem = one.instance.problem
    return [] if problem is None else [range(problem.samples(n)) for n in range(problem.clients)]


def _traced(claim: Claim, one: Drawn, kinds: bool, moments: bool, tape: Tape) -> Traced | None:
    """By outcomes, or by moments, on a tape that is empty."""
    base = candidate_of(one)
    if base.has_functions and not knows(claim, base.dim, base.functions is not None):
        return None
    ties, fixed = _ties(claim, base)
    layout = layout_of(claim, base, fixed)
    layout = with_kinds(layout, base) if kinds else layout
    if not layout.size:
        return None
    free = [tape.number(float(x)) for x in layout.numbers(base)]
    bound = _bound(claim, base, layout) if base.has_functions else ()
    kept = np.array([float(base.values[name] if n is None else base.values[name][n]) for name, n in bound])
    constants = dict(zip(bound, map(tape.number, kept.tolist()), strict=True))
    recorded: dict[str, Any] = {name: one for (name, n), one in constants.items() if n is None}
    for name in {name for name, n in bound if n is not None}:
        recorded[name] = tuple(constants[name, n] for n in range(len(base.values[name])))
    for name in {name for name, _ in layout.values.values()}:
        own = {which: free[place] for place, (other, which) in layout.values.items() if other == name}
        recorded[name] = own[None] if None in own else tuple(own[i] for i in range(len(own)))
    mixing = layout.mixing(recorded.get("rho"))
    recorded |= {name: tuple(map(tuple, matrix)) for name, matrix in mixing.items()}
    instance, others = _instance(one, layout, free, recorded)
    for name, beside in ties:
        still = Still(instance, others, claim.vocabulary)
        recorded[name] = evaluate(beside, still, {"n": 0, "i": 0, "k": 0}, claim.vocabulary)
        instance, others = _instance(one, layout, free, recorded)
    world = World(instance, others, claim.vocabulary, None if instance.program is None else Play(instance, OUTCOMES))
    wanted: list[Any] = []
    strict: list[bool] = []
    for relation in claim.relations:
        if relation.relation == "==":
            continue
        for _, low, high in ordered(relation, world):
            wanted += [low, high]
            strict.append(relation.relation in ("<", ">"))
    weights = (weight for matrix in mixing.values() for row in matrix for weight in row)
    for weight in {one.place: one for one in weights if isinstance(one, Recorded)}.values():
        wanted += [0, weight]
        strict.append(False)
    if moments:
        sides = ordered_by_moments(claim, instance, others, layout.functions(np.array(free, dtype=object)))
    else:
        sides = ((low, high) for _, low, high in ordered(claim.sentence, world))
    rows: list[Any] = []
    for low, high in sides:
        if low is not high and (isinstance(low, Recorded) or isinstance(high, Recorded)):
            rows += [low, high]
    if not rows:
        return None
    conditions = list(tape.conditions)
    needed = [Recorded(tape, place, 0.0) for place, _ in conditions]
    return Traced(
        claim, base, layout, bound, kept, Straight(tape, wanted), tuple(strict), Straight(tape, [*rows, *needed]),
        tuple(strictly for _, strictly in conditions),
    )  # fmt: skip


def _bound(claim: Claim, base: Candidate, layout: Layout) -> tuple[Bound, ...]:
    """The names that assumptions bind and that are not free; of a constant of each client one for each."""
    given = set(claim.constants) - {name for name, _ in layout.values.values()}
    found: list[Bound] = []
    for name in sorted(given):
        value = base.values.get(name)
        if isinstance(value, Fraction):
            found.append((name, None))
        elif isinstance(value, list) and all(isinstance(one, Fraction) for one in value):
            found += [(name, n) for n in range(len(value))]
    return tuple(found)


def ordered(sentence: Sentence, world: World) -> Iterator[tuple[Mapping[str, int], Any, Any]]:
    """The indices of every row and outcome with both sides, the one that is to be the smaller first."""
    for at in meant(sentence, world):
        try:
            for _, left, right in in_outcomes(sentence, world, at):
                yield at, *((left, right) if sentence.relation in ("<=", "<") else (right, left))
        except UndefinedError:  # such a row says nothing
            continue


def _ties(claim: Claim, base: Candidate) -> tuple[list[tuple[str, Any]], frozenset[str]]:
    """Names that equations give a value, with the other side; all other names that stand in equations.

    Raises:
        UntracedError: for an equation about functions or points.
    """
    ties: list[tuple[str, Any]] = []
    fixed: set[str] = set()
    for relation in claim.relations:
        if relation.relation != "==":
            continue
        for side, beside in (relation.sides, relation.sides[::-1]):
            if (
                isinstance(side, Name)
                and is_free(claim, side.name)
                and isinstance(base.values.get(side.name), Fraction)
            ):
                ties.append((side.name, beside))
                fixed.add(side.name)
                break
        else:
            for e in relation.sides:
                for part in everything_meant(e, claim.vocabulary):
                    name = getattr(part, "name", "")
                    if name in claim.constants or name in ("x0", "xstar", "xstar_n", "fstar") or name in claim.vectors:
                        raise UntracedError(f"{relation} ties functions or points")
                    fixed |= {name, name.rpartition("_")[0]} - {""}
    return ties, frozenset(fixed)


# --- the instance -----------------------------------------------------------------------------------------------------


class Played(Instance):
    """An instance with numbers that record; it was checked with those that it has."""

    def __post_init__(self) -> None:
        pass


class _Functions(Quadratics):
    """Quadratics with numbers that record; where they are around a minimiser, it is known."""

    @property
    def alike(self) -> tuple[tuple[int, ...], ...]:
        """No two samples: their numbers may be the same now, and are not later."""
        return tuple(tuple(range(self.samples(n))) for n in range(self.clients))

    def minimisers(self, near: Vector, *which: int) -> Minimisers:
        """The minimiser, of functions that are curved in all directions."""
        rows, b, _ = self._function(which)
        dense: list[list[Any]] = [[0 * y for y in b] for _ in rows]
        for i, row in enumerate(rows):
            for j, h in row:
                dense[i][j] = h
        inverse = inverse_of(dense)
        if inverse is None:
            raise UntracedError("a function has no minimiser, or more than one")
        if not which and CENTRE in self._functions:
            return Minimisers((self._functions[CENTRE][1],), True)
        return Minimisers((tuple([sum([a * y for a, y in zip(row, b, strict=True)]) for row in inverse]),), True)

    def infimum(self, *which: int) -> Any:
        """Its value there."""
        return self.value(self.minimisers((), *which).points[0], *which)

    def weighted(self, weights: Any) -> Quadratics:
        """None that record."""
        raise UntracedError("the minimiser of a weighted sum is not recorded")


def _instance(
    one: Drawn, layout: Layout, free: list[Recorded], recorded: Mapping[str, Any]
) -> tuple[Instance, dict[str, Any]]:
    """The instance, and the claim's other names, with numbers that record."""
    instance = one.instance
    parameters = {name: _like(value, recorded.get(name)) for name, value in instance.parameters.items()}
    others = {name: _like(value, recorded.get(name)) for name, value in one.constants.items()}
    listed = np.array(free, dtype=object)
    vectors = {name: _tuples(listed[layout.vectors[name]]) for name in instance.vectors}
    start: Any = instance.start
    problem: Any = None
    if layout.start.size:
        start = tuple(layout.starts(listed))
    if layout.knots.size:
        centre = listed[layout.centre[0]] if layout.centre.size else Fraction(0)
        problem = recorded_problem(*layout.pieces(listed), layout.which, centre, bool(layout.centre.size), layout.dim)
    elif instance.problem is not None:
        problem = _functions(instance.problem, *layout.functions(listed))
        if layout.centre.size:
            problem._functions[CENTRE] = (), tuple(listed[layout.centre]), 0
    made = Played(instance.program, parameters, problem, start, instance.rounds, vectors, instance.algorithm)
    return made, others


def _tuples(values: Any) -> Any:
    return tuple(map(_tuples, values)) if isinstance(values, np.ndarray) else values


def _like(value: Any, recorded: Any) -> Any:
    if recorded is None:
        return value
    return Schedule(recorded) if isinstance(value, Schedule) else recorded


def _functions(problem: Any, hessian: Any, linear: Any) -> _Functions:
    from flint import fmpq

    found = _Functions(problem.quadratic)
    N, n = hessian.shape[:2]
    own = hessian.sum(axis=1) / fmpq(n), linear.sum(axis=1) / fmpq(n)
    mean = own[0].sum(axis=0) / fmpq(N), own[1].sum(axis=0) / fmpq(N)
    entries = found._functions
    entries[()] = _written(*mean)
    for client in range(N):
        entries[client,] = _written(own[0][client], own[1][client])
        for i in range(n):
            entries[client, i] = _written(hessian[client, i], linear[client, i])
    return found


def _written(hessian: Any, linear: Any) -> tuple[Any, Any, Any]:
    from flint import fmpq

    rows = tuple(tuple((j, e) for j, e in enumerate(row) if isinstance(e, Recorded) or e != 0) for row in hessian)
    return rows, tuple(linear), fmpq(0)
