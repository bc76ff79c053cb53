"""The pool of a claim: instances made from the claim, the same way for everybody's.

Problems satisfy the assumptions by construction (`shapes`), parameters the relations (`choices`); the start is at the
minimiser and away from it, runs are short and long. Which instance comes next depends on the claim's own words and the
seed alone.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from theory.formula import Name
from theory.program import Program
from theory.sentence import At, Expression, everything, parse_expression
from theory.written import Claim
from validate.instances.choices import Setting, Values, choose, holds, roles_of
from validate.instances.instance import Instance
from validate.instances.problems import Quadratics
from validate.instances.shapes import DISTANCES, LARGE, SIZES, Shape, Size, made, shape_of

F = Fraction
ROUNDS = (1, 2, 3, 2)
LONG = (10, 30, 100)


@dataclass(frozen=True)
class Drawn:
    """An instance with what else the claim needs.

    Attributes:
        instance: as it is played.
        constants: values of the claim's names that are no parameters of the algorithm.
        values: of all names, without index.
        at_minimiser: whether the run starts at the minimiser of f.
    """

    instance: Instance
    constants: Mapping[str, Any]
    values: Mapping[str, Any]
    at_minimiser: bool


def needs_minimiser(claim: Claim) -> bool:
    """Whether a claim speaks of a minimiser, of one of a client, or of the infimum."""
    return any(
        isinstance(part, Name) and part.name in ("xstar", "xstar_n", "fstar")
        for tree in _trees(claim)
        for part in everything(tree)
    )


def _trees(claim: Claim) -> Iterator[Expression]:
    yield claim.sentence.left
    yield claim.sentence.right
    yield from claim.definitions.values()
    for relation in claim.relations:
        yield relation.left
        yield relation.right
    if claim.of is not None:
        yield from (parse_expression(state.initial) for state in claim.of.state)


def fitting_sizes(claim: Claim, large: bool = False) -> list[Size]:
    """The sizes that relations between N, d and numbers allow (``N <= 1``)."""
    found = []
    for size in LARGE if large else SIZES:
        numbers = {"N": F(size.clients), "d": F(size.dim)}
        if all(_true_of_sizes(relation, numbers) for relation in claim.relations):
            found.append(size)
    if not found and not large:
        wider = [Size(n, s, d) for n in range(1, 7) for s in (1, 2) for d in range(1, 5)]
        for size in wider:
            numbers = {"N": F(size.clients), "d": F(size.dim)}
            if all(_true_of_sizes(relation, numbers) for relation in claim.relations):
                found.append(size)
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
    claim: Claim, seed: int, *, large: bool = False, long: bool = False, sizes: list[Size] | None = None
) -> Drawn | None:
    """The instance of a seed; None where this seed leads to none.

    Args:
        claim: with an algorithm, or about functions.
        seed: decides everything.
        large: many clients, samples, turns.
        long: many rounds.
        sizes: to choose from; those that fit the claim without.
    """
    rng = random.Random(f"{seed}:{claim.statement}")
    sizes = fitting_sizes(claim, large) if sizes is None else sizes
    if not sizes:
        return None
    shape = shape_of(claim.predicates, needs_minimiser(claim))
    size = sizes[seed % len(sizes)]
    problem = made(shape, size, rng, extreme=rng.random() < 0.3)
    rounds = rng.choice(LONG if long else ROUNDS)
    start = np.array([rng.choice(DISTANCES) for _ in range(size.dim)], dtype=object)
    at_minimiser = _starts_at_minimiser(claim) or rng.random() < 0.25
    if at_minimiser:
        try:
            start = problem.minimiser
        except ValueError:
            return None
    found = choose(claim, problem, start, rounds, rng, large)
    return None if found is None else _instance(claim, problem, start, rounds, found, at_minimiser, shape)


def _starts_at_minimiser(claim: Claim) -> bool:
    """Whether a relation ties the start to the minimiser."""
    for relation in claim.relations:
        names = {p.name for side in (relation.left, relation.right) for p in everything(side) if isinstance(p, Name)}
        if {"x0", "xstar"} <= names and not names - {"x0", "xstar"}:
            return True
    return False


def _instance(
    claim: Claim, problem: Any, start: Any, rounds: int, found: tuple[Values, Setting], at_minimiser: bool, shape: Shape
) -> Drawn | None:
    values, _ = found
    program = claim.program
    names = set() if program is None else set(program.parameters)
    numbers = {"N": F(problem.clients), "d": F(problem.dim)}
    given = {name: _frozen(value) for name, value in {**numbers, **values}.items() if name in names}
    constants = {name: _frozen(value) for name, value in values.items() if name not in names}
    algorithm = "" if claim.of is None else f"{claim.paper}/{claim.of.name}"
    try:
        instance = Instance(program, given, Quadratics(problem), tuple(start), rounds, algorithm=algorithm)
    except ValueError:
        return None
    return Drawn(instance, constants, values, at_minimiser)


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_frozen(v) for v in value)
    return value


def roles(program: Program | None) -> Any:
    """What the program's parameters are for."""
    return roles_of(program)
