"""Instances at which a claim has little room: few numbers, most of them 1 or 0, and everything else at its end.

A pool varies everything at once, so that something loose is in most of its instances. Here functions are of one
dimension and of few kinds, constants that may be 0 are 0, remembered vectors weigh nothing, steps are at their bounds;
and a run may start where a round leaves it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from sim.problems import Quadratic
from theory.claim import Claim
from theory.program import LINEAR_GIVEN_DRAWS
from validate.instances.parameters import choose
from validate.instances.pool import Drawn, fits, instance_of_values, needs_minimiser
from validate.instances.problems import Quadratics
from validate.instances.roles import turns_of
from validate.instances.shapes import Shape, Size, shape_of

F = Fraction
Function = tuple[Fraction, Fraction]
"""h and b of h x^2/2 - b x."""
SHARES = (F(1, 8), F(1, 4), F(1, 16), F(1, 2))
"""How much less curved one function is than another."""
LESS = (F(1, 2), F(3, 4))
MOST_SOLVED = 300
"""Turns of a round whose resting place is solved for."""
FEW = 4
"""Instances of a kind that begin at the minimiser."""
LONGEST = 600
"""Rounds that relations may ask for."""
OF_SAMPLES, OF_TURNS = frozenset({"pass"}), frozenset({"repeat", "visit"})
"""Operations with which samples, or clients, lead a run away from where the mean of their functions is least."""


def sharpest(claim: Claim, seeds: int, seed: int = 0) -> Iterator[tuple[bool, Drawn | None]]:
    """Instances of a claim with an algorithm, each with whether its start is where a round leaves it.

    There is None for each seed that leads to none.

    Args:
        claim: with an algorithm.
        seeds: how many.
        seed: the first.
    """
    yield from _of_kinds(claim, KINDS, seeds, seed, False)


def moved_by_draws(claim: Claim, seed: int = 0) -> list[tuple[bool, Drawn | None]]:
    """The same of one client whose samples are least in different places, from the minimiser: only draws move a run."""
    drawn = claim.program is not None and "sample" in claim.program.operations
    return [*_of_kinds(claim, (_apart_in_itself,), FEW, seed, True)] if drawn else []


def led_away(claim: Claim, seed: int = 0) -> Iterator[Drawn]:
    """The same of functions that are least in different places, begun at the minimiser of their mean, if a round moves
    it: of samples that a run passes over, and of clients that take more than one step each."""
    operations = frozenset[str]() if claim.program is None else claim.program.operations
    for of, kind in ((OF_SAMPLES, _apart_in_itself), (OF_TURNS, _apart)):
        for _, one in _of_kinds(claim, (kind,), FEW, seed, True) if operations & of else ():
            if one is not None:
                yield one


def _of_kinds(
    claim: Claim, kinds: Sequence[Kind], seeds: int, seed: int, at_minimiser: bool
) -> Iterator[tuple[bool, Drawn | None]]:
    shape = shape_of(claim.predicates, needs_minimiser(claim))
    kinds = [kind for kind in kinds if kind(shape, random.Random(0)) is not None]
    for turn in range(seeds if kinds else 0):
        rng = random.Random(f"{seed + turn}! {claim.spelling}")
        made = kinds[turn % len(kinds)](shape, rng)
        assert made is not None
        yield from _instances(claim, _problem(made), rng, at_minimiser)


def _instances(
    claim: Claim, problem: Quadratic, rng: random.Random, at_minimiser: bool
) -> Iterator[tuple[bool, Drawn | None]]:
    """From 1, and from where a round leaves a run, if that is elsewhere than the minimiser; or from that alone."""
    if not fits(claim, Size(problem.clients, int(problem.counts[0]), 1)):
        yield False, None
        return
    start = _minimiser(problem) if at_minimiser else np.array([F(1)], dtype=object)
    if start is None:
        yield False, None
        return
    found = choose(
        claim, problem, start, rng.choice((1, 1, 2)), rng, everybody=rng.random() < 0.6, most_rounds=LONGEST, sharp=True
    )
    if found is None:
        yield False, None
        return
    values, world = found
    one = instance_of_values(claim, problem, start, world.rounds, values, {})
    place = None if one is None else resting_place(claim, one)
    rests = place is not None and _is_minimiser(problem, place)
    if at_minimiser:
        yield False, None if rests and not (claim.program and claim.program.random) else one
        return
    yield False, one
    if place is not None and not rests:
        yield True, instance_of_values(claim, problem, place, world.rounds, values, {})


def _problem(functions: Sequence[Sequence[Function]]) -> Quadratic:
    N, n = len(functions), len(functions[0])
    hessian = np.array([h for own in functions for h, _ in own], dtype=object).reshape(N, n, 1, 1)
    linear = np.array([b for own in functions for _, b in own], dtype=object).reshape(N, n, 1)
    return Quadratic(hessian, linear, np.full((N, n), F(0), dtype=object), np.full(N, n))


def _minimiser(problem: Quadratic) -> Any:
    """The one minimiser of the mean, (1,); None where there is none, or more than one."""
    curvature = problem.mean_hessian[0, 0]
    return np.array([problem.mean_linear[0] / curvature], dtype=object) if curvature > 0 else None


def _is_minimiser(problem: Quadratic, point: Any) -> bool:
    return bool(problem.mean_hessian[0, 0] * point[0] == problem.mean_linear[0])


# --- where a round leaves a run --------------------------------------------------------------------------------------


def resting_place(claim: Claim, one: Drawn) -> Any:
    """The start, (1,), at which the mean of the first round is the start itself; None where that is not one point.

    Args:
        claim: with an algorithm.
        one: an instance of it in one dimension, of quadratics; its start does not matter.
    """
    program, problem = claim.program, one.instance.problem
    if program is None or not isinstance(problem, Quadratics) or turns_of(program, one.values) > MOST_SOLVED:
        return None
    states = [state for state in program.state if state.initial == "x0" and state.kind == "server"]
    if not states or not program.operations <= LINEAR_GIVEN_DRAWS:
        return None
    from sim.moments import means_after_a_round

    given = {name: one.values[name] for name in program.parameters if name in one.values}
    starts = [np.array([F(start)], dtype=object) for start in (0, 1)]
    try:
        ends = [x[0] for x in means_after_a_round(program, problem.quadratic, given, states[0].name, starts)]
    except (ValueError, ZeroDivisionError, OverflowError):
        return None
    factor = ends[1] - ends[0]
    return None if factor == 1 else np.array([ends[0] / (1 - factor)], dtype=object)


# --- functions -------------------------------------------------------------------------------------------------------


def _one(shape: Shape, rng: random.Random) -> Sequence[Sequence[Function]] | None:
    """One client, least at 0."""
    return None if shape.flat else [[(F(1), F(0))]]


def _alike(shape: Shape, rng: random.Random) -> Sequence[Sequence[Function]] | None:
    """Two clients with one function: linear where that is allowed."""
    curved = shape.bounded or shape.strongly != "any" or shape.even != "any"
    return [[(F(1), F(0)) if curved else (F(0), F(1))]] * 2


def _lone(shape: Shape, rng: random.Random) -> Sequence[Sequence[Function]] | None:
    """One client has it all, the others have nothing, or as little as is allowed."""
    if shape.flat or shape.alike_clients or shape.even != "any":
        return None
    least = F(0) if shape.strongly in ("any", "f") else rng.choice(SHARES)
    return [[(F(1), F(0))], *[[(least, F(0))]] * rng.choice((1, 2))]


def _apart(shape: Shape, rng: random.Random) -> Sequence[Sequence[Function]] | None:
    """Two clients that are least in different places, and curved differently."""
    if shape.flat or shape.same_minimiser:
        return None
    less = F(1) if shape.alike_clients or shape.even != "any" else rng.choice(LESS)
    return [[(F(1), F(1))], [(less, -less)]]


def _opposed(shape: Shape, rng: random.Random) -> Sequence[Sequence[Function]] | None:
    """Two clients that are curved against each other, so that little is left of both."""
    if shape.flat or shape.alike_clients or shape.even != "any":
        return None
    if shape.convex not in ("any", "f") or shape.strongly not in ("any", "f"):
        return None
    return [[(F(1), F(0))], [(rng.choice(SHARES) - 1, F(0))]]


def _lone_sample(shape: Shape, rng: random.Random) -> Sequence[Sequence[Function]] | None:
    """One client, one sample of which has it all."""
    if shape.flat or shape.alike_samples or shape.even != "any" or shape.strongly == "f_ni":
        return None
    return [[(F(1), F(0)), (F(0), F(0))]]


def _apart_in_itself(shape: Shape, rng: random.Random) -> Sequence[Sequence[Function]] | None:
    """One client, whose samples are least in different places: at the minimiser nothing but draws moves a run."""
    if shape.flat or shape.same_minimiser:
        return None
    return [[(F(1), F(1)), (F(1), F(-1))]]


Kind = Callable[[Shape, random.Random], "Sequence[Sequence[Function]] | None"]
KINDS: tuple[Kind, ...] = (_apart, _opposed, _lone, _alike, _one, _lone_sample)
