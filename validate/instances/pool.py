"""The pool of a claim: instances made from the claim, the same way for everybody's.

Problems satisfy the assumptions by construction (`shapes`, `piece_shapes`, `ridge_shapes`), parameters the relations
(`choices`); the start is at the minimiser and away from it, runs are short and long. Which instance comes next depends
on the claim's own words and the seed alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from theory.claim import Claim
from theory.for_every import ForEvery
from theory.formula import Apply, Name, Number
from theory.program import limits
from theory.sentence import (
    FUNCTION_NAMES,
    At,
    Expression,
    Sentence,
    everything,
    exchanged,
    index_of,
    parse_expression,
)
from validate.instances.centred import centred
from validate.instances.free_vectors import FRAMED, frame, free_vectors, tied_vectors
from validate.instances.instance import Instance
from validate.instances.kinds import problem_of
from validate.instances.parameters import choose
from validate.instances.piece_shapes import allows_pieces, assumes_convex, made_pieces, may_bend, wells
from validate.instances.pieces import Pieces, Piecewise
from validate.instances.relations import has_length, holds, relation_satisfied
from validate.instances.ridge_shapes import made_ridges, may_slant
from validate.instances.scalars import Schedule
from validate.instances.setting import Setting, Values, schedules_of
from validate.instances.shapes import DISTANCES, LARGE, MOST_TURNED, SIZES, Size, made, shape_of

F = Fraction
ROUNDS = (1, 2, 3, 2)
LONG = (10, 30, 100)
CERTAIN = (*ROUNDS, 1, 2, 10, 20, 30)
"""Rounds of a program that draws nothing: a long run has one outcome too, and claims of every k often break late."""
MOST_ROUNDS, MOST_CERTAIN, MOST_FAR = 100, 600, 1000
"""That relations between K and other numbers may ask for: of a run with many outcomes, with one, and in floats."""
TERMS = (20, 50, 100, 300)
"""Rounds of a claim without functions, where they are a number of terms."""
BEYOND = (1000, 3000, 10_000, 10**5)
"""Where they are a number only."""
FEW, MANY = (1, 2, 3, 4, 5, 7, 10), (20, 50, 100, 300, 1000)
"""N and d of a claim about numbers alone."""
WIDEST, MOST_SIZES = 64, 6
"""N or d, or both multiplied, of claims whose relations allow none of the usual ones; sizes of these."""
NEAR = (F(1, 10), F(-1, 10), F(1, 100), F(-1, 100), F(1, 1000), F(-1, 1000))
UNITS = (*[F(1)] * 7, F(10_000), F(1, 10_000), F(100))
"""Of curvature: both sides of a claim are in the same units, and a square too many shows in some of them only."""
EVERY = 3
"""One of so many instances has functions that are no quadratics, where the claim allows any; all but one of so many
where gradients are bounded, as quadratics have no curvature then."""


CLOSE = F(1, 10**12)
"""A start that is close to the minimiser, and not there."""
IN_PLANE, IN_PLANE_BOUNDED = 1 / 3, 1 / 2
"""Of functions that are no quadratics, the share of those of several variables; where gradients are bounded."""
ROUNDS_IN_PLANE = (*ROUNDS, 5, 10)


@dataclass(frozen=True)
class Drawn:
    """An instance with what else the claim needs.

    Attributes:
        instance: as it is played.
        constants: values of the claim's names that are no parameters of the algorithm.
        values: of all names, without index.
    """

    instance: Instance
    constants: Mapping[str, Any]
    values: Mapping[str, Any]


def needs_minimiser(claim: Claim) -> bool:
    """Whether a claim speaks of a minimiser, of one of a client, or of the infimum."""

    def found() -> bool:
        return any(
            (isinstance(part, Name) and part.name in ("xstar", "xstar_n", "fstar"))
            or (isinstance(part, Apply) and part.operation == "argmin_n")
            for tree in _trees(claim)
            for part in everything(tree)
        )

    return _once(claim, "needs minimiser", found)


def _once(claim: Claim, what: str, found: Callable[[], Any]) -> Any:
    """What is asked of a claim for every instance, found out once."""
    return claim.vocabulary.kept.once(what, found)


def _trees(claim: Claim) -> Iterator[Expression]:
    yield claim.sentence.left
    yield claim.sentence.right
    yield from claim.definitions.values()
    for relation in (*claim.relations, *(one.sentence for one in claim.predicates if isinstance(one, ForEvery))):
        yield relation.left
        yield relation.right
    if claim.of is not None:
        yield from (parse_expression(state.initial) for state in claim.of.state)


def fitting_sizes(claim: Claim, large: bool = False) -> list[Size]:
    """The sizes that relations between N, d and numbers (``N <= 1``) and draws of so many (``w.choose(20)``) allow."""
    return _once(claim, f"fitting sizes, {large}", lambda: _fitting_sizes(claim, large))


def _fitting_sizes(claim: Claim, large: bool) -> list[Size]:
    found = [size for size in (LARGE if large else SIZES) if fits(claim, size)]
    if not found and not large:
        least = _least_sizes(claim)
        clients, dims = (range(start, start + (6 if start == 1 else 2)) for start in (least["N"], least["d"]))
        found = [size for n in clients for s in (1, 2) for d in dims if fits(claim, size := Size(n, s, d))]
        wide = range(1, WIDEST + 1)
        wider = (Size(n, 1, d) for n in wide for d in wide if n * d <= WIDEST)
        found = found or [size for size in wider if fits(claim, size)][:MOST_SIZES]
        sampled = (Size(n, s, d) for n in clients[:3] for s in wide for d in dims[:2])
        found = found or [size for size in sampled if fits(claim, size)][:MOST_SIZES]
    return found


def fits(claim: Claim, size: Size) -> bool:
    """Whether the relations between N, d and numbers (``N <= 1``), and draws of so many, allow a size."""
    numbers = {"N": F(size.clients), "d": F(size.dim)}
    drawn_of = [] if claim.program is None else [Sentence(of, "<=", most) for _, of, most in limits(claim.program)]
    relations = (_counted(relation, size.samples) for relation in (*claim.relations, *drawn_of))
    return all(_true_of_sizes(relation, numbers) for relation in relations)


def _counted(relation: Sentence, samples: int) -> Sentence:
    """A relation with the number of samples in the place of ``sum_i(1)``, also where it is said of all clients."""

    def number(e: Expression) -> Expression | None:
        if isinstance(e, Apply) and e.operation == "sum_i" and isinstance(e.arguments[0], Number):
            return Number(e.arguments[0].value * samples)
        if isinstance(e, Apply) and e.operation in ("mean_n", "max_n", "min_n"):
            inner = exchanged(e.arguments[0], number)
            return inner if isinstance(inner, Number) else None
        return None

    return Sentence(exchanged(relation.left, number), relation.relation, exchanged(relation.right, number))


def _least_sizes(claim: Claim) -> dict[str, int]:
    """N and d that are least with which as many can be drawn as the program says, where it says a number."""
    found = {"N": 1, "d": 1}
    for _, of, most in () if claim.program is None else limits(claim.program):
        if isinstance(of, Number) and isinstance(most, Name):
            found[most.name] = max(found[most.name], int(of.value))
    return found


def _true_of_sizes(relation: Any, numbers: Mapping[str, Fraction]) -> bool:
    """Whether a relation holds for these sizes; true where it speaks of anything else."""
    sides = []
    for side in (relation.left, relation.right):
        names = {part.name for part in everything(side) if isinstance(part, Name)}
        if names - set(numbers) or any(isinstance(part, At) for part in everything(side)):
            return True
        from theory.arithmetic import Reals
        from theory.formula import UndefinedError

        try:
            sides.append(Reals(None).evaluate(side, numbers))
        except (UndefinedError, ValueError, KeyError):
            return True
    return holds(sides[0], relation.relation, sides[1])


def drawn(
    claim: Claim,
    seed: int,
    *,
    large: bool = False,
    long: bool = False,
    sizes: list[Size] | None = None,
    everybody: bool = False,
    patient: bool = False,
) -> Drawn | None:
    """The instance of a seed; None where this seed leads to none.

    Args:
        claim: with an algorithm, or about functions.
        seed: decides everything.
        large: many clients, samples, turns.
        long: many rounds.
        sizes: to choose from; those that fit the claim without.
        everybody: whether all clients take part, all coordinates are kept, and what may happen happens.
        patient: whether numbers that leave no room for another are changed (`validate.instances.parameters.choose`).
    """
    rng = random.Random(f"{seed}:{claim.spelling}")
    more = random.Random(f"{seed}, {claim.spelling}")
    sizes = fitting_sizes(claim, large) if sizes is None else sizes
    if not sizes:
        return None
    size = sizes[seed % len(sizes)]
    shape = shape_of(claim.predicates, needs_minimiser(claim))
    turn = seed % EVERY != 0 if shape.flat else seed % EVERY == EVERY - 1
    bends = turn and not (large or long) and shape.even == "any" and allows_pieces(claim)
    lines = [one for one in sizes if one.dim == 1] if bends else []
    planes = [one for one in sizes if 1 < one.dim <= MOST_TURNED] if bends else []
    aside = random.Random(f"{seed} in the plane, {claim.spelling}")
    in_plane = bool(planes) and (not lines or aside.random() < (IN_PLANE_BOUNDED if shape.flat else IN_PLANE))
    if in_plane:
        size, lines = aside.choice(planes), []
    vectors = free_vectors(claim, size, aside, near=aside.random() < 0.7) if in_plane else {}
    if lines:
        size = lines[seed // EVERY % len(lines)]
    certain = claim.program is not None and not claim.program.random
    rounds = rng.choice(LONG if long else (*CERTAIN, *(CERTAIN[-3:] if lines else ())) if certain else ROUNDS)
    problem: Any = None
    start = np.array([], dtype=object)
    if tied_vectors(claim) and not has_functions(claim) and more.random() < FRAMED:
        size = replace(size, dim=len(claim.vectors))  # so that all of them may be orthogonal
    if has_functions(claim):
        extreme, unit = rng.random() < 0.3, rng.choice(UNITS)
        if lines:
            convex = assumes_convex(claim.predicates)
            problem = made_pieces(shape, size, rng, extreme=extreme, convex=convex, unit=unit)
        elif in_plane:
            problem = made_ridges(
                shape,
                size,
                rng,
                slanted=may_slant(claim.predicates),
                bent=may_bend(shape, claim.predicates) and rng.random() < 0.2,
                extreme=extreme,
                convex=assumes_convex(claim.predicates),
                unit=unit,
                points=[
                    tuple(v) for given in vectors.values() for v in (given if isinstance(given, list) else [given])
                ],
            )
            rounds = rng.choice(ROUNDS_IN_PLANE) if certain else rounds
        else:
            problem = made(shape, size, rng, extreme=extreme, even=0.4 if large or long else 0.1, unit=unit)
        if lines and may_bend(shape, claim.predicates) and more.random() < 0.4:
            problem = wells(size, more)
            rounds = more.choice((3, 4, 5, 6, 8, 10)) if certain else rounds
        if isinstance(problem, Pieces) and more.random() < 0.3:
            problem = _with_another_sample(problem, more)
        if starts_at(claim, frozenset({"xstar"})):
            try:
                problem = centred(problem)
            except ValueError:
                return None
        start = np.array([rng.choice(DISTANCES) for _ in range(size.dim)], dtype=object)
        tops = _tops(problem) if isinstance(problem, Pieces) else ()
        if tops and more.random() < 0.5:
            start = np.array([more.choice(tops) + more.choice(NEAR)], dtype=object)
        if starts_at(claim, frozenset({"x0"})):
            start = np.array([F(0)] * size.dim, dtype=object)
        still = _starts_at_minimiser(claim) or rng.random() < (0.4 if large or long else 0.25)
        if still and not (in_plane and claim.program is None):
            try:
                start = problem.minimiser
            except ValueError:
                return None
    else:
        rounds = rng.choice((1, 2, 3, 5, 10))
        if large:
            rounds = more.choice((*TERMS, *(() if goes_over_rounds(claim) else BEYOND)))
        elif more.random() < 0.3:
            rounds = more.randrange(1, 41)
    if not in_plane:
        vectors = free_vectors(claim, size, rng)
        vectors |= frame(claim, size, more) if tied_vectors(claim) and more.random() < FRAMED else {}
        if isinstance(problem, Pieces) and not assumes_convex(claim.predicates):
            vectors = _where_it_bends(problem, vectors, aside)
    counts = counts_of_numbers(claim, vectors, more, large) if problem is None else {}
    most = MOST_FAR if large or long else MOST_CERTAIN if everybody or certain else MOST_ROUNDS
    found = choose(claim, problem, start, rounds, rng, large, vectors, counts, everybody, most, patient=patient)
    if found is None and has_length(claim) and problem is not None and not lines:
        # the shortest runs that relations allow are often those of one curvature everywhere
        problem = made(shape, size, more, even=1.0)
        if _starts_at_minimiser(claim) or more.random() < 0.1:
            try:
                start = problem.minimiser
            except ValueError:
                return None
        found = choose(claim, problem, start, rounds, more, large, vectors, counts, everybody, most, patient=patient)
    return None if found is None else instance_of_values(claim, problem, start, found[1].rounds, found[0], vectors)


def counts_of_numbers(claim: Claim, vectors: Mapping[str, Any], rng: random.Random, large: bool) -> dict[str, Fraction]:
    """N and d of a claim that speaks of them, where neither functions nor vectors say what they are."""
    names = {part.name for tree in _trees(claim) for part in everything(tree) if isinstance(part, Name)}
    over_clients = any(index_of(name)[1] == "n" for name in names) or any(
        isinstance(p, Apply) and p.operation.endswith("_n") for tree in _trees(claim) for p in everything(tree)
    )
    found = {}
    for name, said in (
        ("N", not any(v.endswith("_n") for v in vectors) and ("N" in names or over_clients)),
        ("d", not vectors and "d" in names),
    ):
        if said:
            many = MANY[:3] if over_clients else MANY
            tried: Sequence[int] = many if large else FEW
            if not any(_allows(claim, name, v) for v in tried):  # ``N == 10``
                tried = [v for v in range(1, WIDEST + 1) if _allows(claim, name, v)][:MOST_SIZES] or tried
            found[name] = F(rng.choice(tried))
    return found


def _allows(claim: Claim, name: str, value: int) -> bool:
    """Whether relations between N, or d, and numbers allow it."""
    return all(_true_of_sizes(relation, {name: F(value)}) for relation in claim.relations)


def _with_another_sample(problem: Pieces, rng: random.Random) -> Pieces:
    """One client has a sample more, which is the mean of its others: f_n stays, and so does what is true of them."""
    n = rng.randrange(problem.clients)
    functions = list(problem.functions)
    functions[n] = (*functions[n], problem.own[n])
    return Pieces(tuple(functions))


def _tops(problem: Pieces) -> tuple[Fraction, ...]:
    """Where f has a maximum: a run that begins beside one has the steep part before it."""
    return tuple(
        b / s
        for (s, b, _), (start, end) in problem.mean.stretches()
        if s < 0 and (start is None or start <= b / s) and (end is None or b / s <= end)
    )


def _where_it_bends(problem: Pieces, vectors: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Free vectors, half of the times all in one stretch of f where that is concave."""
    bends = [(low, high) for (s, _, _), (low, high) in problem.mean.stretches() if s < 0]
    ends = [(low, high) for low, high in bends if low is not None and high is not None]
    if not ends or rng.random() < 1 / 2:
        return vectors
    low, high = rng.choice(ends)

    def inside() -> Any:
        return np.array([low + (high - low) * F(rng.randrange(1, 8), 8)], dtype=object)

    return {name: [inside() for _ in v] if isinstance(v, list) else inside() for name, v in vectors.items()}


def goes_over_rounds(claim: Claim) -> bool:
    """Whether the rounds are gone through one by one, so that K is more than a number: a sum, mean, minimum or maximum
    over them, one number a round, or a free k."""

    def found() -> bool:
        if schedules_of(claim) or claim.free & {"k", "*k"}:
            return True
        return any(
            isinstance(p, Apply) and p.operation.endswith("_k") for tree in _trees(claim) for p in everything(tree)
        )

    return bool(_once(claim, "goes over rounds", found))


def has_functions(claim: Claim) -> bool:
    """Whether a claim speaks of functions at all."""
    if claim.of is not None or claim.predicates or needs_minimiser(claim):
        return True

    def found() -> bool:
        return any(
            isinstance(part, Apply) and (part.operation in FUNCTION_NAMES or part.operation.startswith("grad "))
            for tree in _trees(claim)
            for part in everything(tree)
        )

    return _once(claim, "has functions", found)


def _starts_at_minimiser(claim: Claim) -> bool:
    """Whether a relation ties the start to the minimiser: it holds there, and not close to it."""
    return starts_at(claim, frozenset({"x0", "xstar"}))


def starts_at(claim: Claim, tied: frozenset[str]) -> bool:
    """Whether a relation of these names alone holds where they are 0, and not where one is close to it."""

    def found() -> bool:
        for relation in claim.relations:
            trees = [p for side in relation.sides for p in everything(side)]
            if {p.name for p in trees if isinstance(p, Name)} != tied:
                continue
            at, close = (
                Setting(
                    Pieces(((Piecewise((), (F(1),), F(0) if "x0" in tied else x),),)),
                    np.array([x], dtype=object),
                    {},
                    1,
                    claim,
                )
                for x in (F(0), CLOSE)
            )
            if relation_satisfied(relation, at, claim) and not relation_satisfied(relation, close, claim):
                return True
        return False

    return bool(_once(claim, f"starts at {sorted(tied)}", found))


def instance_of_values(
    claim: Claim, problem: Any, start: Any, rounds: int, values: Values, vectors: Mapping[str, Any]
) -> Drawn | None:
    """The instance of these values; None where there is none.

    Args:
        claim: whose names these are.
        problem: in fractions, or None.
        start: x0, (d,).
        rounds: K.
        values: of all names, without index.
        vectors: the free vectors.
    """
    program = claim.program
    names = set() if program is None else set(program.parameters)
    schedules = schedules_of(claim)
    values = {n: Schedule(tuple(v)) if n in schedules and isinstance(v, list) else v for n, v in values.items()}
    given = {name: _frozen(value) for name, value in values.items() if name in names}
    if problem is not None:
        sizes = {"N": F(problem.clients), "d": F(problem.dim)}
        values = {**values, **{name: value for name, value in sizes.items() if name in names}}
        given |= {name: values[name] for name in sizes if name in names}
    constants = {name: _frozen(value) for name, value in values.items() if name not in names}
    algorithm = "" if claim.of is None else f"{claim.paper}/{claim.of.name}"
    functions = None if problem is None else problem_of(problem)
    free = {name: _frozen([tuple(v) for v in w] if isinstance(w, list) else tuple(w)) for name, w in vectors.items()}
    try:
        instance = Instance(program, given, functions, tuple(start), rounds, free, algorithm)
    except ValueError:
        return None
    for state, length in zip(() if program is None else program.state, instance.lengths, strict=True):
        if isinstance(state.length, Name) and constants.get(state.length.name, length) != length:
            return None  # the claim's J is the number of weights
    return Drawn(instance, constants, listed(values))


def listed(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values of names as `Drawn` has them: lists for one a client or a round, rows for a matrix."""
    return {name: _listed(value.values if isinstance(value, Schedule) else value) for name, value in values.items()}


def _listed(value: Any) -> Any:
    return [_listed(v) for v in value] if isinstance(value, list | tuple) else value


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_frozen(v) for v in value)
    return value
