"""Instances just inside of what strict relations allow: where ``C > 0``, C is next to nothing, several such at once.

A bound is often least, or no bound at all, right at the end of what its hypotheses allow: where a definition that has
to be positive turns negative, or what is under a root. Numbers that are drawn do not come near such ends, and no
relation alone has an end for a number that stands in a definition several times. Here numbers of instances that were
measured are moved one after another, in floats, to where the right side is least of all that these ends leave; what has
the least right sides is measured exactly.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from theory.claim import Claim
from theory.domain import Domain
from theory.formula import Name
from theory.sentence import Expression, Sentence, evaluate
from validate.instances import along
from validate.instances.candidates import Candidate, candidate_of, of_rounds, realised, setting_of
from validate.instances.formulas import Formulas, formulas_of
from validate.instances.pool import Drawn
from validate.instances.relations import may_hold, relation_satisfied, rounded
from validate.instances.roles import roles_in
from validate.instances.seen import Hunt, Seen, measured
from validate.instances.together import with_its_start

F = Fraction
BASES, TRIES, MEASURED, LONGER = 16, 80, 24, 6
"""Instances whose numbers are moved, the smallest of all; how often that is done; of which so many are measured, and
so many of these in runs as long as they may be."""
UNITS, SLACK = (F(1), F(1, 10)), 1.0001
"""Of length, in which instances are taken; by how much more a number is than a relation asks for at least."""
MOVED = (2, 3, 3, 4)
"""Numbers that are moved."""
SWEEPS, LITTLE = 8, 1e-4
"""Times that each of them is at most, and by what part of it the right side has to be less after each time."""
ROOM = 1e-5
"""What is left at an end at least, as a share of the terms that cancel there."""
STEPS, ZOOMS, FINER = np.arange(-32, 33) / 4, 3, 32
"""Steps along a number's logarithm; how often the place is looked at more closely, and by how much."""
DENOMINATOR = 10**9
"""Of the fractions that are taken near to floats."""
MOST_ROUNDS = 16
"""Of the runs that are tried with such numbers."""


def inside(claim: Claim, found: Hunt, seed: int, stop: Callable[[], bool]) -> Iterator[Seen]:
    """Instances of a claim with strict relations, near their ends, those with the least right sides first.

    Args:
        claim: the claim.
        found: the hunt so far, on whose instances numbers are moved.
        seed: of what is drawn.
        stop: asked between instances.
    """
    formulas = formulas_of(claim)
    if formulas is None:
        return
    rng = random.Random(f"{seed}, inside, {claim.statement}")
    bases = [c for base in _bases(found) for c in _tightened(claim, base)]
    ranked: list[tuple[float, int, Candidate]] = []
    tried: set[Any] = set()
    for i in range(TRIES if bases else 0):
        if stop():
            return
        base = bases[i % len(bases)]
        free = sorted(_free(claim, base) & formulas.names)
        names = tuple(rng.sample(free, min(len(free), rng.choice(MOVED))))
        if not names or (id(base), names) in tried:
            continue
        tried.add((id(base), names))
        with np.errstate(all="ignore"):
            moved = _moved(claim, base, formulas, names)
        if moved is not None:
            ranked.append((moved[0], i, moved[1]))
    seen: list[tuple[float, int, Candidate]] = []
    for _, _, there in sorted(ranked)[:MEASURED]:
        for c in _starts(claim, there):
            if stop():
                return
            one = _measured(claim, c)
            if one is not None:
                yield one
                seen.append((-one.score, len(seen), c))
    tightest: dict[Any, Candidate] = {}
    for _, _, c in sorted(seen, key=lambda t: t[:2]):
        tightest.setdefault((id(c.hessian), tuple(c.start)), c)
    for c in list(tightest.values())[:LONGER] if claim.program is not None else ():
        for start in [c, replace(c, start=c.start * 0)] if any(c.start) else [c]:
            if stop():
                return
            longest = _longest(claim, start)
            one = None if longest is None else measured(claim, longest)
            if one is not None:
                yield one


def _longest(claim: Claim, c: Candidate) -> Drawn | None:
    """The longest run with these numbers of which the claim speaks: it is in the last round that a bound ends."""
    fitting, least, most = None, 0, MOST_ROUNDS + 1
    while most - least > 1:
        rounds = MOST_ROUNDS if most > MOST_ROUNDS else (least + most) // 2
        one = realised(claim, of_rounds(c, claim, rounds))
        least, most, fitting = (least, rounds, fitting) if one is None else (rounds, most, one)
    return fitting


def _measured(claim: Claim, c: Candidate) -> Seen | None:
    one = realised(claim, c)
    return None if one is None else measured(claim, one)


def _bases(found: Hunt) -> list[Candidate]:
    """Instances with few functions of few variables, of which the tightest first."""

    def size(seen: Seen) -> tuple[int, float]:
        problem = seen.drawn.instance.problem
        if problem is None:
            return 0, -seen.score
        return int(problem.dim * sum(problem.samples(n) for n in range(problem.clients))), -seen.score

    chosen: dict[Any, Candidate] = {}
    for seen in sorted(found.seen, key=size):
        chosen.setdefault(repr(sorted(seen.drawn.instance.parameters.items())), candidate_of(seen.drawn))
    return list(chosen.values())[:BASES]


def _tightened(claim: Claim, c: Candidate) -> Iterator[Candidate]:
    """A candidate begun where it was and at 0, in smaller units too, its numbers as small as relations let them."""
    starts = [c]
    if claim.program is not None and c.hessian is not None:
        at_zero = replace(c, start=c.start * 0)
        starts = [*([c] if any(c.start) else []), *(replace(at_zero, linear=c.linear * unit) for unit in UNITS)]
    for start in starts:
        free, values = _free(claim, start), dict(start.values)
        for name, (low, _) in _limits(claim, start).items():
            if name in free and 0 < low < values[name]:
                values[name] = F(low * SLACK).limit_denominator(DENOMINATOR)
        yield replace(start, values=values)


# --- numbers ----------------------------------------------------------------------------------------------------------


def _moved(claim: Claim, c: Candidate, formulas: Formulas, names: Sequence[str]) -> tuple[float, Candidate] | None:
    """The candidate with numbers at which the right side is less, and what part of it that is; None without any."""
    values = _numbers(claim, c)
    domains = claim.domains
    try:
        first, _ = formulas.at(values)
    except (KeyError, TypeError, ZeroDivisionError):  # a number that each client, or each round, has one of
        return None
    here, bound, limits = dict(values), first, _limits(claim, c)
    for _ in range(SWEEPS):
        before = bound
        for name in names:
            place, step = _open(domains[name], here[name]), STEPS
            for _ in range(ZOOMS):
                points = place + step
                low, high = limits.get(name, (-math.inf, math.inf))
                there = _back(domains[name], points)
                bounds, left = formulas.at({**here, name: there})
                fits = (left >= ROOM) & np.isfinite(bounds) & (there >= low) & (there <= high)
                bounds = np.where(fits, bounds, np.inf)
                best = int(np.argmin(bounds))
                if not bounds[best] < bound:
                    break
                place, bound, step = points[best], bounds[best], step / FINER
                here[name] = float(_back(domains[name], place))
        if not bound < before - LITTLE * abs(before):
            break
    new = {name: F(here[name]).limit_denominator(DENOMINATOR) for name in names if here[name] != values[name]}
    if not new or not _may_hold(claim, c, new):
        return None
    bound, left = formulas.at({**values, **{name: float(value) for name, value in new.items()}})
    if not left > 0:
        return None
    return float(bound) / (abs(float(first)) or 1.0), replace(c, values={**c.values, **new})


def _limits(claim: Claim, c: Candidate) -> dict[str, tuple[float, float]]:
    """From where to where relations let numbers go that stand alone on a side, as long as all else stays."""
    world = setting_of(claim, c, dict(c.values))
    found: dict[str, tuple[float, float]] = {}
    for relation in claim.relations if world is not None else ():
        if relation.relation == "==":
            continue
        less, more = (relation.left, relation.right)[:: 1 if relation.relation in ("<=", "<") else -1]
        for side, other, above in ((more, less, True), (less, more, False)):
            if not isinstance(side, Name) or side.name not in c.values:
                continue
            end = _worst(claim, world, relation, other, "largest" if above else "smallest")
            if end is not None:
                low, high = found.get(side.name, (-math.inf, math.inf))
                found[side.name] = (max(low, end), high) if above else (low, min(high, end))
    return found


def _worst(claim: Claim, world: Any, relation: Sentence, e: Expression, which: along.Which) -> float | None:
    """The largest, or least, value of a side of a relation: over the run, and over the clients."""
    if along.speaks_of_run(relation, claim.vocabulary):
        value = along.worst(e, which, world, claim)
        return None if value is None else float(value)
    try:
        each = [float(evaluate(e, world, {"n": n, "i": 0, "k": 0}, claim.vocabulary)) for n in range(world.clients)]
    except (ValueError, KeyError, IndexError, ZeroDivisionError, TypeError):
        return None
    return max(each) if which == "largest" else min(each)


def _may_hold(claim: Claim, c: Candidate, new: Mapping[str, Fraction]) -> bool:
    """Whether floats leave it open that what the claim assumes before a run holds."""
    world = setting_of(claim, c, {**c.values, **new})
    if world is None:
        return False
    world = replace(world, values=rounded(world.values))
    before = (r for r in claim.relations if not along.speaks_of_run(r, claim.vocabulary))
    return all(relation_satisfied(relation, world, claim, may_hold) for relation in before)


def _numbers(claim: Claim, c: Candidate) -> dict[str, Any]:
    """All numbers of an instance as floats, its sizes among them."""
    values: dict[str, Any] = dict(c.values)
    world = setting_of(claim, c, values)
    found = {name: float(v) for name, v in values.items() if isinstance(v, Fraction | int)}
    return found if world is None else {**found, "N": float(world.clients), "d": float(world.dim), "K": float(c.rounds)}


def _free(claim: Claim, c: Candidate) -> set[str]:
    """The numbers that may be moved, from where they are inside of their domains."""
    roles = roles_in(claim)
    return {
        name
        for name, value in c.values.items()
        if isinstance(value, Fraction) and name in claim.domains and name not in claim.constants
        if not claim.domains[name].integer and name not in roles.counts | {"N", "d", "K"}
        if _inner(claim.domains[name], float(value))
    }  # fmt: skip


def _inner(domain: Domain, value: float) -> bool:
    """Whether a value is strictly inside of a domain."""
    low, high = domain.lower, domain.upper
    return (low is None or value > low) and (high is None or value < high)


def _open(domain: Domain, value: float) -> float:
    """A value of a domain as one of the real line."""
    low, high = domain.lower, domain.upper
    if low is not None and high is not None:
        share = (value - low) / (high - low)
        return math.log(share / (1 - share))
    return math.log(value - low) if low is not None else math.log(high - value) if high is not None else value


def _back(domain: Domain, t: Any) -> Any:
    """The values of a domain that numbers of the real line are."""
    low, high, t = domain.lower, domain.upper, np.clip(t, -60, 60)
    if low is not None and high is not None:
        return low + (high - low) / (1 + np.exp(-t))
    return low + np.exp(t) if low is not None else high - np.exp(t) if high is not None else t


def _starts(claim: Claim, c: Candidate) -> Iterator[Candidate]:
    """Begun at the minimiser, and where it was."""
    yield c
    still = with_its_start(c) if claim.program is not None and c.has_functions else None
    if still is not None:
        yield of_rounds(still, claim, 1)
