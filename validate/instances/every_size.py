"""Every size up to 64, and numbers far out: a bound may break at 17 coordinates, or beyond 65,000 workers, only.

Doubling steps over what is false at one value alone. So each integer of the tightest instance goes through all values
where a play takes little work, as nothing is drawn; and of a claim about numbers alone one number after another, and
two at once, lies far out, the others being solved for.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations, product

import numpy as np

from theory.claim import Claim
from theory.formula import Apply
from theory.program import work
from theory.sentence import OVER, everything, index_of, replaced
from validate.instances.affordable import fits_moments
from validate.instances.candidates import candidate_of, size
from validate.instances.ladder import Climb, Ladder
from validate.instances.longer import CLIENTS, ROUNDS, named, ways
from validate.instances.parameters import choose
from validate.instances.pool import counts_of_numbers, goes_over_rounds, has_functions, instance_of_values
from validate.instances.seen import Hunt, Seen, measured
from validate.instances.stages import Budget

F = Fraction
LARGEST, TIGHTEST, SHARE = 64, 1, 1 / 10
"""Of an integer; instances of which each goes so far; the share of the budget."""
LATE, NEAR, LEAPS = 1000, 60, 12
"""Rounds, at once; the tightest instances, and how many of them, those with the shortest numbers, are made so long."""
TOGETHER, STEP = 2000, 1.1
"""Tuples of integers of a claim about numbers alone, fewer where others are solved for; from one to the next beyond
`LARGEST`, where it adds up."""
MISSED = 4
"""Values that say nothing, after which an integer is left."""
FAR = tuple(F(base) ** power for base, powers in ((10, (2, 3, 6, 9, 12)), (2, (20,))) for power in powers)
FARTHER = (F(10) ** 6, F(10) ** 12)
"""How far out numbers lie, alone and in pairs; and as near to 0."""
TRIES, FEW = 3, 6
"""Of each; in pairs only where there are few of these."""
MOST = 800_000
"""Of `theory.program.work`: long formulas of many numbers would take ten times as much."""


def of_every_size(claim: Claim, found: Hunt, stop: Callable[[], bool], budget: Budget) -> Seen | None:
    """The tightest instances with each of their integers at every value that breaks the claim; not of the budget."""
    if claim.program is not None and claim.program.random:  # their outcomes grow with each size
        return None
    before = work.operations()
    ladder = Ladder()

    def spent() -> bool:
        return stop() or budget.took(before, SHARE)

    tightest = sorted(found.seen, key=lambda one: -one.score)
    if _late(claim, tightest, ladder, spent) or _each_value(claim, tightest, ladder, spent):
        budget.leave_out(before)
        return ladder.broken
    budget.leave_out(before)
    return None


def _late(claim: Claim, tightest: list[Seen], ladder: Ladder, spent: Callable[[], bool]) -> bool:
    """Whether a run of `LATE` rounds breaks it: the tightest round is often the first, which says nothing of others."""
    if claim.of is None or "k" not in claim.free:
        return False
    candidates = [candidate_of(seen.drawn) for seen in tightest[:NEAR]]
    for base in sorted(candidates, key=lambda one: size(one)[3])[:LEAPS]:  # whose fractions stay short
        way = next((way for way in ways(claim, base) if way.name == ROUNDS), None)
        if way is None or way.now >= LATE:
            continue
        if spent():
            break
        climb, late = Climb(claim, base, way, ladder, spent, lambda one: fits_moments(claim, one)), min(way.most, LATE)
        told = climb.told(base, late)
        if told is not None and told.broken and climb.confirmed(late):
            return True
    return False


def _each_value(claim: Claim, tightest: list[Seen], ladder: Ladder, spent: Callable[[], bool]) -> bool:
    """Whether an integer of the tightest instance at one of the small values breaks it."""
    for seen in tightest[:TIGHTEST]:
        base, known = candidate_of(seen.drawn), set[str]()
        for way in ways(claim, base):
            if way.name in known or (way.name == ROUNDS and ROUNDS not in claim.symbols):
                continue
            known.add(way.name)
            climb, missed = Climb(claim, base, way, ladder, spent, lambda one: fits_moments(claim, one)), 0
            small = [v for v in range(2, min(LARGEST, way.most) + 1) if v != way.now and v & (v - 1)]
            for value in (*small, *(v for v in named(claim) if LARGEST < v <= way.most)):
                if missed == MISSED or spent():
                    break
                told = climb.told(base, value)
                missed += told is None
                if told is not None and told.broken and climb.confirmed(value):
                    return True
    return False


def far_out(claim: Claim, found: Hunt, seed: int, stop: Callable[[], bool]) -> Iterator[Seen]:
    """Instances of a claim about numbers alone that break it: with one number far out, or two, and with its integers at
    all small values together, or one of them at an integer that the text names."""
    if claim.of is not None or claim.vectors or has_functions(claim):
        return
    names = dict.fromkeys(index_of(symbol)[0] for symbol in claim.symbols if symbol == index_of(symbol)[0])
    names = {name: None for name in names if not (name == CLIENTS and _has_lists(claim))}
    fixed = [{name: x} for name in names if name != ROUNDS for x in (*FAR, *(1 / x for x in FAR))]
    ends = (*FARTHER, *(1 / x for x in FARTHER))
    pairs = [*combinations([name for name in names if name != ROUNDS], 2)]
    both = [{one: x, two: y} for one, two in pairs for x, y in product(ends, ends)]
    start = np.array([], dtype=object)
    tries = [(values, TRIES) for values in fixed] + [(values, TRIES if len(pairs) <= FEW else 1) for values in both]
    tries += [(values, 1) for values in _integers(claim)]
    before = work.operations()
    for i, (values, times) in enumerate(tries):
        if not all(claim.domains[name].contains(x) for name, x in values.items() if name in claim.domains):
            continue
        for number in range(times):
            if stop() or work.operations() - before > MOST:
                return
            rng = random.Random(f"{seed}, {i}, {number} far out, {claim.spelling}")
            counts, rounds = {n: x for n, x in values.items() if n != ROUNDS}, int(values.get(ROUNDS, 1))
            made = choose(claim, None, start, rounds, rng, counts=counts, sharp=not number)
            one = None if made is None else instance_of_values(claim, None, start, made[1].rounds, made[0], {})
            seen = None if one is None else measured(claim, one, found)
            if seen is not None and seen.measured.broken:
                yield seen


def _has_lists(claim: Claim) -> bool:
    """Whether there is one number a client: then N is no number far out."""
    return any(index_of(symbol)[1] == "n" for symbol in claim.symbols)


def _adds_up(claim: Claim) -> bool:
    """Whether it speaks of sums, or of what else is taken over an index, or goes over the rounds one by one."""
    if goes_over_rounds(claim):
        return True
    trees = (replaced(side, claim.definitions) for side in claim.sentence.sides)
    return any(isinstance(part, Apply) and part.operation in OVER for tree in trees for part in everything(tree))


def _integers(claim: Claim) -> list[dict[str, Fraction]]:
    """Small integers for all names of a claim that are integers, and for one of them those that the text names."""
    names = [name for name in claim.symbols if index_of(name)[1] == "" and claim.domains[name].integer]
    counts = counts_of_numbers(claim, {}, random.Random(0), False)  # N and d, where it speaks of them
    names += [name for name in counts if not (name == CLIENTS and _has_lists(claim))]
    if not names:
        return []
    others = len({index_of(symbol)[0] for symbol in claim.symbols} - {*names})  # which are solved for each time
    most = int((TOGETHER / (1 + others)) ** (1 / len(names)))
    each = [v for v in range(1, most + 1) if v <= LARGEST or not _adds_up(claim)]
    while each[-1] < most:  # what is added up takes longer with each
        each.append(min(most, int(each[-1] * STEP)))
    found = [dict(zip(names, map(F, values), strict=True)) for values in product(each, repeat=len(names))]
    return found + [{name: F(value)} for name in names for value in named(claim) if value > most]
