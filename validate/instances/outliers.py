"""One rare outcome of many: what sets a variance apart from what happens, and Markov's bound apart from a logarithm.

Of m samples, or of N clients of whom one is chosen, one is far away and all others are equal, so that the mean stays
where it was: sqrt(m - 1) times as far as the variance says. For a claim about every outcome that is enough; for one
about a quantile the level is beside its chance, and how many there are and the level grow together; where the level is
a number, a few of m are far away, half of them on either side, a few more than it leaves. The largest over clients is
far away if one sample of each is. Of d coordinates one alone is something, and a coin falls once in so many rounds.
Samples that are equal are drawn as one.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sim.problems import Quadratic
from theory.claim import Claim
from theory.derivation.search.settings import compiled
from theory.formula import Apply
from theory.program import work
from theory.sentence import Expression, read
from validate.instances.affordable import everything_said
from validate.instances.altered import BESIDE, chances_of, levels, with_altered_numbers
from validate.instances.candidates import Candidate, candidate_of, realised, setting_of, worth
from validate.instances.free_vectors import free_vectors
from validate.instances.longer import named
from validate.instances.outcomes import MOST as MOST_OUTCOMES
from validate.instances.parameters import choose
from validate.instances.pool import Drawn, fits, fitting_sizes, has_functions, instance_of_values, needs_minimiser
from validate.instances.refitting import refitted
from validate.instances.roles import Roles, roles_in
from validate.instances.seen import OUTCOMES, Hunt, Seen, measured
from validate.instances.setting import Setting
from validate.instances.shapes import Shape, Size, shape_of

if TYPE_CHECKING:
    from validate.instances.stages import Budget

F = Fraction
Kind = Literal["samples", "clients", "both", "each", "coordinates", "chances"]
MANY = (5, 10, 20, 40, 80)
"""Of so many one is rare."""
MOST = 4096
"""Or of a few more than a large number in the claim's text, up to this."""
BOTH = (5, 10, 15, 20)
"""Clients, and samples of each, of whom one client is far away and one of its samples."""
EACH = tuple((n, m) for n in (2, 4, 8, 11, 13) for m in (n, 20 * n))
"""Clients, and samples of each, of which one is far away for each client."""
LARGEST = 99
"""Samples, or clients, of whom more than one are far away."""
WIDEST = 20
"""Coordinates, at most: Hessians have their square."""
SHARE = 1.5
"""Of the budget, which is left out of it."""
ALTERED = 3
"""Of a claim about every outcome the tightest instances, whose numbers are altered: its steps may have to be short."""


@dataclass(frozen=True)
class Case:
    """What one instance is to be.

    Attributes:
        kind: what one of many is.
        many: of how many.
        whole: whether the rare one is all of the function, and the others are nothing; else their slopes differ.
        away: whether the run begins away from the minimiser.
        rounds: of the run.
        sharp: whether other numbers are where the claim has the least room.
        clients: how many there are at least.
        rare: of many, how many are far away, half of them on either side where they are more than one.
    """

    kind: Kind
    many: int
    whole: bool
    away: bool
    rounds: int
    sharp: bool
    clients: int = 1
    rare: int = 1


FORMS = ((False, False), (False, True), (True, True))
"""Whether the rare one is the whole function, and whether the run begins away from the minimiser."""


def with_one_far_away(claim: Claim, stop: Callable[[], bool], budget: Budget) -> Iterator[Seen]:
    """Instances with one rare outcome, and the level of a quantile beside its chance, measured.

    What they take is not of the budget, and they draw from a generator of their own.

    Args:
        claim: with a quantile, about every outcome, or about means of what is no polynomial, and an algorithm that
            draws; there are none for another.
        stop: asked between instances.
        budget: of the hunt.
    """
    if claim.program is None or not claim.program.random or not has_functions(claim):
        return
    every, most = not levels(claim), OUTCOMES
    if not every:
        some = _instances(claim)
    elif any(read(side, claim.vocabulary).random for side in claim.sentence.sides):
        some = _in_every_outcome(claim)
    else:
        some, most = _in_the_mean(claim), MOST_OUTCOMES
    before = work.operations()
    tightest: list[Seen] = []
    for one in some:
        if stop() or budget.took(before, SHARE):
            break
        seen = None if one is None else measured(claim, one, outcomes=most)
        if seen is None:
            continue
        yield seen
        if every:
            tightest = sorted([*tightest, seen], key=lambda seen: -seen.score)[:ALTERED]
    budget.leave_out(before)
    yield from with_altered_numbers(claim, Hunt(seen=tightest), stop, budget)


def _cases(claim: Claim) -> Iterator[Case]:
    """The cases of a claim, of few before those of many."""
    program, roles = claim.program, roles_in(claim)
    assert program is not None
    has: dict[Kind, bool] = {
        "samples": "sample" in program.operations,
        "clients": "choose" in program.operations,
        "coordinates": "keep" in program.operations,
        "chances": bool(roles.chances - set(levels(claim))),
    }
    kinds: list[Kind] = [kind for kind, there in has.items() if there]
    flat = shape_of(claim.predicates, needs_minimiser(claim)).flat
    for many, kind, (whole, away), rounds, sharp in product(MANY, kinds, FORMS, (1, 2), (True, False)):
        plain = kind in ("coordinates", "chances")
        if (plain and whole == flat) or (whole and flat) or (kind == "coordinates" and many > WIDEST):
            continue
        yield Case(kind, many, whole, away, rounds, sharp)
    if levels(claim):
        return
    if "samples" in kinds:
        yield from (Case("both", many, False, away, 1, False) for many, away in product(BOTH, (False, True)))
    large = [n + 2 for n in named(claim, MOST, whole=False) if n > MANY[-1]]  # as one of m is sqrt(m - 1) times as far
    for many, kind in product(large, [kind for kind in kinds if kind in ("samples", "clients")]):
        yield Case(kind, many, False, False, 1, False)


def _instances(claim: Claim) -> Iterator[Drawn | None]:
    """The instances of all cases, None where there is none: with simple levels first, which leave a break some room."""
    kept: list[tuple[Candidate, Fraction]] = []
    for case in _cases(claim):
        one = _one(claim, case)
        if one is None:
            yield None
            continue
        chances = {F(1, case.many), *chances_of(one, case.rounds)}
        for chance in sorted(chance for chance in chances if 0 < chance <= F(1, 2)):
            kept.append((candidate_of(one), chance))
            yield from _with_level(claim, kept[-1][0], chance / (1 + chance))
    for (c, chance), below in product(kept, (BESIDE, F(0))):
        yield from _with_level(claim, c, chance - below)


def _in_every_outcome(claim: Claim) -> Iterator[Drawn | None]:
    """The instances of all cases, also with two clients, of whom one is far away: that the mean is not."""
    for case in _cases(claim):
        yield _one(claim, case)
        if case.kind not in ("clients", "both"):
            yield _one(claim, replace(case, clients=2))


def _in_the_mean(claim: Claim) -> Iterator[Drawn | None]:
    """Where a claim takes quantiles at a level that is a number, a few more far away than that leaves; where it takes
    the largest of what samples are, one of each client."""
    assert claim.program is not None
    kinds = {"samples": "sample", "clients": "choose"}
    for kind in [kind for kind, operation in kinds.items() if operation in claim.program.operations]:
        for many, rare in _beside_levels(claim):
            yield from (_one(claim, Case(kind, many, False, away, 1, True, 1, rare)) for away in (False, True))  # type: ignore[arg-type]
    if "sample" in claim.program.operations and EXTREMES & {
        part.operation for part in everything_said(claim) if isinstance(part, Apply)
    }:
        for clients, many in EACH:
            yield _one(claim, Case("each", many, False, False, 1, True, clients))


EXTREMES = {"max_n", "min_n", "max", "min"}


def _beside_levels(claim: Claim) -> list[tuple[int, int]]:
    """How many there are, and how many of them are a little more likely than what a level that is a number leaves."""
    found: dict[int, int] = {}
    for level in _levels(claim):
        try:
            left = 1 - F(str(compiled(level)({})))
        except (ValueError, KeyError):
            continue
        nearest = F(1)
        for many in range(3, LARGEST + 1):
            rare = int(left * many) + 1
            if rare % 2 == 0 and 2 * rare <= many and F(rare, many) < nearest:
                nearest = F(rare, many)
                found[many] = rare
    return sorted(found.items())


def _with_level(claim: Claim, c: Candidate, above: Fraction) -> Iterator[Drawn | None]:
    """The instances of a candidate of which a quantile leaves so much above it."""
    world = setting_of(claim, c, dict(c.values))
    if world is None:
        return
    for level, name in product(_levels(claim), levels(claim)):
        if not isinstance(c.values.get(name), Fraction):
            continue
        value = _solved(level, name, 1 - above, world, claim)
        if value is not None and claim.domains[name].contains(value):
            changed = replace(c, values={**c.values, name: value})
            yield realised(claim, changed) or realised(claim, refitted(claim, changed, {name}))


def _solved(level: Expression, name: str, wanted: Fraction, world: Setting, claim: Claim) -> Fraction | None:
    """What a name is for a level to be as wanted, where the level is linear in it."""

    def at(value: Fraction) -> Any:
        return worth(level, replace(world, values={**world.values, name: value}), claim)

    first, second = at(F(1, 4)), at(F(1, 2))
    if not (isinstance(first, Fraction) and isinstance(second, Fraction)) or first == second:
        return None
    value = F(1, 4) + (wanted - first) / (second - first) / 4
    return value if at(value) == wanted else None


def _levels(claim: Claim) -> list[Expression]:
    """The levels of the quantiles of which a claim speaks, each once."""
    found = [
        tree.arguments[1] for tree in everything_said(claim) if isinstance(tree, Apply) and tree.operation == "quantile"
    ]
    return [*dict.fromkeys(found)]


def _one(claim: Claim, case: Case) -> Drawn | None:
    """The instance of a case with any level; None where the claim does not speak of it."""
    size = _size(claim, case)
    if size is None:
        return None
    rng = random.Random(f"{case}, {claim.spelling}")
    shape = shape_of(claim.predicates, needs_minimiser(claim))
    problem = _problem(shape, size, case)
    start = np.array([F(int(case.away and i == 0)) for i in range(size.dim)], dtype=object)
    vectors = free_vectors(claim, size, rng)
    counts = _counts(claim, roles_in(claim), case)
    chosen = choose(claim, problem, start, case.rounds, rng, vectors=vectors, counts=counts, sharp=case.sharp)
    if chosen is None:
        return None
    return instance_of_values(claim, problem, start, chosen[1].rounds, chosen[0], vectors)


def _size(claim: Claim, case: Case) -> Size | None:
    """The least size that the claim allows, with so many samples, clients or coordinates."""
    sizes = fitting_sizes(claim)
    if not sizes:
        return None
    least = min(sizes, key=lambda size: (size.dim, size.clients, size.samples))
    kinds = {"samples": "samples", "each": "samples", "clients": "clients", "coordinates": "dim"}
    least = replace(least, clients=max(case.clients, least.clients))
    if case.kind == "both":
        size = replace(least, clients=case.many, samples=case.many)
    else:
        size = least if case.kind == "chances" else replace(least, **{kinds[case.kind]: case.many})
    return size if fits(claim, size) else None


def _problem(shape: Shape, size: Size, case: Case) -> Quadratic:
    """Quadratics of curvature 1 around 0 on average, or functions without curvature, of which one is far away."""
    parts = np.full((size.clients, size.samples), F(0), dtype=object)
    if case.rare > 1:
        far = [F((-1) ** i) for i in range(case.rare)]
        if case.kind == "samples":
            parts[0, : case.rare] = far
        else:
            parts[: case.rare] = np.array(far, dtype=object)[:, None]
    elif case.kind == "each":
        parts[:, 1:], parts[:, 0] = F(-1), F(case.many - 1)
    elif case.kind == "samples":  # of the first client alone
        parts[0, 1:], parts[0, 0] = F(-1), F(case.many - 1)
    elif case.kind in ("clients", "both"):
        parts[1:], parts[0] = F(-1), F(case.many - 1)
        if case.kind == "both":
            parts[0, 1:] -= 1
            parts[0, 0] += case.many - 1
    identity = np.array([[F(int(i == j)) for j in range(size.dim)] for i in range(size.dim)], dtype=object)
    linear = np.full((*parts.shape, size.dim), F(0), dtype=object)
    curved = F(0) * parts if shape.flat else 1 + parts * int(case.whole)
    if not case.whole:
        linear[..., 0] = parts + int(shape.flat and case.kind in ("coordinates", "chances"))
    counts = np.full(size.clients, size.samples)
    return Quadratic(curved[..., None, None] * identity, linear, F(0) * parts, counts)


def _counts(claim: Claim, roles: Roles, case: Case) -> dict[str, Fraction]:
    """One of all is drawn, and what happens by chance happens once in so many times."""
    found = {name: F(1) for name in roles.clients | roles.coordinates | roles.batch}
    if case.kind == "chances":
        found |= {name: F(1, case.many) for name in roles.chances}
    free = set(claim.domains) - set(claim.constants) - set(levels(claim))
    return {name: value for name, value in found.items() if name in free and claim.domains[name].contains(value)}


__all__ = ["with_one_far_away"]
