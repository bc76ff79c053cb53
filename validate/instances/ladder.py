"""How far a claim holds along its integers: an instance that is tight is made longer for as long as it grows tighter.

One integer at a time goes 1, 2, 4, ..., or at once to where two rungs say that the sides meet: in floats by moments
where these tell, else exactly. The first value that breaks the claim is found by bisection, the instance that was made
longer is made simpler, and both sides are computed again in fractions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain, combinations
from math import ceil

from theory.claim import Claim
from theory.formula import Name
from theory.program import LINEAR_GIVEN_DRAWS
from validate.expected import Line
from validate.instances.affordable import MANY
from validate.instances.by_moments import MOST_TAPPED, by_moments, lines_in_floats
from validate.instances.candidates import Candidate, candidate_of, realised, setting_of, size, smaller, worth
from validate.instances.longer import (
    MOST_SUMMED,
    ROUNDS,
    TIED,
    Way,
    fixes_rounds,
    in_step,
    is_several,
    longer,
    ways,
)
from validate.instances.pool import Drawn
from validate.instances.reached import Reached
from validate.instances.roles import roles_in, turns_of
from validate.instances.seen import Seen, enclosed, measured
from validate.instances.series import series

TIGHTEST = 3
"""Instances that are made longer."""
RUNGS = 60
"""Values of integers that no budget cuts."""
LONGEST, STRAIGHT = 60_000, 30_000
"""Rounds times turns times digits of an instance that is played in fractions; times numbers where nothing is drawn, as
runs whose fractions grow long end early then (`validate.primitives.LONG`)."""
SIMPLER = 80
"""Candidates on the way to a simpler instance."""
GROWS = 1e-9
"""By how much an instance is to come closer to a break."""
FACTORS, TIGHTER = (Fraction(2), Fraction(10), Fraction(1, 2), Fraction(1, 10)), 1.01
"""By which numbers are moved; by how much left over right is to grow for it."""
RISING = 3
"""Integers of which every two are made larger together."""
LEAP = 8
"""By which the farthest value of an integer is divided, to be tried first."""
BESIDE = 4
"""So many times as many terms as there are a claim has to speak of, if what grows with them is to tell anything."""
CONFIRMED = 10**5
"""Terms of a sum that are added in fractions."""


BROKEN = 2.0
"""The score of an instance that breaks its claim."""


@dataclass
class Ladder:
    """What came of it.

    Attributes:
        broken: an instance that breaks the claim, exactly.
        suspect: one that does so in floats, which fractions do not confirm.
        reached: how far the claim was tried.
        rungs: how many values were tried.
    """

    broken: Seen | None = None
    suspect: Drawn | None = None
    reached: Reached = field(default_factory=Reached)
    rungs: int = 0


@dataclass(frozen=True)
class Told:
    """How close an instance comes to a break (`Seen.score`), and whether it breaks the claim."""

    score: float
    broken: bool


@dataclass(frozen=True)
class Moved:
    """What moving numbers came to: left over right, and whether the claim is broken."""

    ratio: float
    broken: bool


def climbed(
    claim: Claim,
    tightest: list[Seen],
    spent: Callable[[], bool],
    fits: Callable[[Drawn], bool],
    largest: Sequence[Seen] = (),
) -> Ladder:
    """The integers of the tightest instances, each as far as it grows tighter.

    Args:
        claim: the claim.
        tightest: instances on which it holds, the tightest first.
        spent: whether the budget is; asked after `RUNGS` values.
        fits: whether moments of an instance take little work.
        largest: instances whose integers that are tied to each other are made as large as they can be, before the rest.
    """
    found = Ladder()
    if claim.of is None and not claim.vectors and not claim.predicates and _by_series(claim, tightest, found):
        return found
    for seen in largest:
        base = candidate_of(seen.drawn)
        for way in (way for way in ways(claim, base) if way.name.startswith(TIED)):
            climb = Climb(claim, base, way, found, spent, fits)
            far = None if spent() else climb.first_break_elsewhere()
            if far is not None and climb.confirmed(far):
                return found
    chosen: dict[float, Seen] = {}
    for seen in tightest:
        chosen.setdefault(round(seen.score, 6), seen)
    for place, seen in enumerate([*chosen.values()][:TIGHTEST]):
        base, rising = candidate_of(seen.drawn), dict[str, Way]()
        for way in chain(ways(claim, base), _in_pairs(rising)):
            if found.rungs >= RUNGS and spent():
                return found
            climb = Climb(claim, base, way, found, spent, fits)
            broken = climb.first_break(seen.score, to_the_end=place == 0)
            if broken is None and way.name.startswith(TIED):
                broken = climb.first_break_elsewhere()
            if broken is not None and climb.confirmed(broken):
                return found
            if climb.rises and not is_several(way):
                rising.setdefault(way.name, way)
    return found


def _in_pairs(rising: Mapping[str, Way]) -> Iterator[Way]:
    """Of integers that each bring an instance closer to a break, every two at once: H local steps in each of K rounds.

    Args:
        rising: what is known of them when the first pair is asked for.
    """
    yield from (in_step(one, other) for one, other in combinations(list(rising.values())[:RISING], 2))


def leapt(claim: Claim, some: Sequence[Seen], spent: Callable[[], bool], fits: Callable[[Drawn], bool]) -> Ladder:
    """Each integer of some instances at once far out: there a side may have gone to 0 that was the larger one.

    Args:
        claim: the claim.
        some: instances on which it holds, by far.
        spent: whether the budget is.
        fits: whether moments of an instance take little work.
    """
    found = Ladder()
    for seen in some:
        base = candidate_of(seen.drawn)
        for way in ways(claim, base):
            climb = Climb(claim, base, way, found, spent, fits)
            for value in sorted({way.most // LEAP, way.most}):
                if spent():
                    return found
                told = climb.told(base, value) if value > way.now else None
                if told is not None and told.broken:
                    if climb.confirmed(climb.bisected(base, way.now, value)):
                        return found
                    break
    return found


def _by_series(claim: Claim, tightest: list[Seen], found: Ladder) -> bool:
    """Every number of terms up to a million; whether one breaks the claim, exactly."""
    for seen in tightest[:TIGHTEST]:
        base = candidate_of(seen.drawn)
        way = next((way for way in ways(claim, base) if way.name == ROUNDS), None)
        if way is None or fixes_rounds(claim):  # the claim has no K, or not any
            return False
        both = series(claim, {name: v for name, v in base.values.items() if name != ROUNDS}, MOST_SUMMED)
        if both is None:
            return False
        speaks = [K for K, _ in both.rungs if way.now < K <= BESIDE * way.now]
        if all(longer(claim, base, way, K) is not None for K in speaks):  # else K is bounded, and nothing grows with it
            found.reached.sizes[ROUNDS] = MOST_SUMMED
            if both.end is None:
                found.reached.rungs.append((ROUNDS, both.rungs))
            elif both.end > 0:
                found.reached.ends.append((ROUNDS, both.end))
        breaks = [K for K in both.breaks if K <= CONFIRMED]
        for K in (*breaks[:2], *breaks[2:100:30]):  # the first may be one by rounding only
            one = longer(claim, base, way, K)
            exact = None if one is None else measured(claim, one)
            if exact is not None and exact.measured.broken:
                found.broken = exact
                return True
        if both.breaks and not breaks:
            found.suspect = found.suspect or longer(claim, base, way, both.breaks[0])
    return False


class Climb:
    """One integer of one instance."""

    def __init__(
        self,
        claim: Claim,
        base: Candidate,
        way: Way,
        found: Ladder,
        spent: Callable[[], bool],
        fits: Callable[[Drawn], bool],
        straight: int = STRAIGHT,
    ) -> None:
        self.claim, self.base, self.way, self.found, self.spent, self.fits = claim, base, way, found, spent, fits
        self.straight = straight
        self.rises = False
        """Whether a larger value brought the instance closer to a break."""
        self.cut = False
        """Whether there was an instance with a larger value that could not be measured."""

    def first_break(self, score: float, to_the_end: bool) -> int | None:
        """The least value that breaks the claim, as far as bisection finds it; None where none does.

        Args:
            score: of the instance as it is.
            to_the_end: whether the last value is tried, too, if it does not grow tighter.
        """
        ratios = [(self.way.now, ratio_of(score))]
        broken = self._first_break(score, to_the_end, ratios)
        if broken is None:
            self.found.reached.rungs.append((self.way.name, tuple(ratios)))
            if self.cut:
                self.found.reached.cut.append((self.way.name, tuple(self._with_middle(ratios))))
        return broken

    def _first_break(self, score: float, to_the_end: bool, ratios: list[tuple[int, float]]) -> int | None:
        way, last, best, idle = self.way, self.way.now, score, 0
        while last < way.most and not (self.found.rungs >= RUNGS and self.spent()):
            value = _next(last, ratios, way.most)
            if idle == 2:
                if not to_the_end:
                    return None
                value = way.most
            told = self.told(self.base, value)
            if told is None:
                return None
            if told.broken:
                return self.bisected(self.base, last, value)
            idle = idle + 1 if told.score <= best + GROWS else 0
            self.rises = self.rises or idle == 0
            best, last = max(best, told.score), value
            ratios.append((value, ratio_of(told.score)))
        return None

    def first_break_elsewhere(self) -> int | None:
        """As `first_break`, from the largest value that its instance has, with its other numbers moved there."""
        value, told = self.way.most, self.told(self.base, self.way.most)
        if told is None or told.broken:
            return None
        before = 0.0
        ratio = ratio_of(told.score)
        while ratio > before * TIGHTER and not self.spent():
            before, there = ratio, self.nearer(value, ratio)
            if there.broken:
                return self.bisected(self.base, self.way.now, value)
            ratio = there.ratio
        return None

    def bisected(self, base: Candidate, holds: int, breaks: int) -> int:
        """The least value between two at which the claim is broken, if it is from some value on."""
        while breaks - holds > 1:
            middle = (holds + breaks) // 2
            told = self.told(base, middle)
            holds, breaks = (holds, middle) if told is not None and told.broken else (middle, breaks)
        return breaks

    def nearer(self, value: int, ratio: float) -> Moved:
        """The same with this value and other numbers, each moved if left over right grows; `base` has them then.

        Args:
            value: of the integer.
            ratio: left over right there.
        """
        for name in sorted(self.base.values):
            for base in moved(self.claim, self.base, name):
                told = self.told(base, value)
                if told is None:
                    continue
                there = ratio_of(told.score)
                if told.broken or there > ratio * TIGHTER:
                    self.base, ratio = base, there
                if told.broken:
                    return Moved(ratio, True)
        return Moved(ratio, False)

    def told(self, base: Candidate, value: int) -> Told | None:
        """Of the instance with this value: in floats where these tell, else exactly; None where neither does."""
        self.found.rungs += 1
        one = longer(self.claim, base, self.way, value)
        told = None if one is None else self.measured(one)
        if one is not None and told is not None:
            self.found.reached.add(self.claim, self.base, one)
        self.cut = one is not None and told is None
        return told

    def _with_middle(self, ratios: list[tuple[int, float]]) -> list[tuple[int, float]]:
        """The rungs with one more between the last two, as there are few."""
        if len(ratios) < 2:
            return ratios
        middle = (ratios[-2][0] + ratios[-1][0]) // 2
        told = self.told(self.base, middle) if ratios[-2][0] < middle < ratios[-1][0] else None
        return ratios if told is None or told.broken else sorted([*ratios, (middle, ratio_of(told.score))])

    def measured(self, one: Drawn) -> Told | None:
        program = self.claim.program
        if program is not None and program.operations <= LINEAR_GIVEN_DRAWS and self.fits(one):
            score = score_in_floats(self.claim, one)
            if score is not None:
                return Told(score, score == BROKEN)
        if not self.playable(one):
            return None
        seen = measured(self.claim, one)
        return None if seen is None else Told(seen.score, bool(seen.measured.broken))

    def playable(self, one: Drawn) -> bool:
        """Whether playing it in fractions takes little time: of random runs those of few clients and samples."""
        program, problem = self.claim.program, one.instance.problem
        if program is None:
            return True
        if program.random and problem is not None:
            samples = max(map(problem.samples, range(problem.clients)))
            if problem.clients * samples >= MANY:
                return False
        steps = one.instance.rounds * turns_of(program, one.values)
        entries, *_, digits, _ = size(candidate_of(one))
        one_outcome = not program.random and steps * entries <= self.straight
        return one_outcome or steps * min(steps, 8) * digits <= LONGEST

    def confirmed(self, value: int) -> bool:
        """Whether a break stands in fractions, on an instance that was made simpler before; it is kept if it does."""
        base = self.simpler(value)
        value = self.bisected(base, min(self.way.now, value - 1), value)
        one = longer(self.claim, base, self.way, value)
        assert one is not None
        exact = measured(self.claim, one) or enclosed(self.claim, one)
        if exact is None:
            told = by_moments(self.claim, one, MOST_TAPPED)
            exact = None if told is None else Seen(one, told)
        if exact is not None and exact.measured.broken:
            self.found.broken = exact
            return True
        if exact is None and self.found.suspect is None:
            self.found.suspect = one
        return False

    def simpler(self, value: int) -> Candidate:
        """The simplest instance that single moves lead to and that breaks the claim at this value."""
        base, left = self.base, SIMPLER
        moves = smaller(base, self.claim)
        while left > 0 and (step := next(moves, None)) is not None:
            if size(step) >= size(base) or realised(self.claim, step) is None:
                continue
            left -= 1
            told = self.told(step, value)
            if told is not None and told.broken:
                base = step
                moves = smaller(base, self.claim)
        return base


def moved(claim: Claim, base: Candidate, name: str) -> Iterator[Candidate]:
    """With another value of one number: several times as large or as small, or near the end of its domain."""
    value = base.values[name]
    if name in claim.constants or not isinstance(value, Fraction):
        return
    roles, domain = roles_in(claim), claim.domains.get(name)
    if name in roles.counts | roles.steps or (domain is not None and domain.integer):
        tried = [2 * value, 4 * value]
    else:
        ends = _strict_ends(claim, base, name)
        if domain is not None and domain.upper is not None:
            ends.append(Fraction(domain.upper))
        tried = [value * factor for factor in FACTORS] + [
            (value + 9 * end) / 10 for end in dict.fromkeys(ends) if end != value
        ]
    for new in tried:
        yield replace(base, values={**base.values, name: new})


def _strict_ends(claim: Claim, base: Candidate, name: str) -> list[Fraction]:
    """What relations want a number to be larger or smaller than, and not as large as: beta < 1."""
    strict = [(r, r.sides.index(side)) for r in claim.relations for side in r.sides if side == Name(name)]
    strict = [(relation, at) for relation, at in strict if relation.relation in ("<", ">")]
    world = setting_of(claim, base, dict(base.values)) if strict else None
    if world is None:
        return []
    ends = (worth(relation.sides[1 - at], world, claim) for relation, at in strict)
    return [end for end in ends if isinstance(end, Fraction)]


def _next(last: int, ratios: list[tuple[int, float]], most: int) -> int:
    """Twice as much, or just where a line through the last two rungs reaches 1, if that comes before."""
    double = 1 << last.bit_length()
    (one, low), (two, high) = ratios[-2:] if len(ratios) > 1 else (ratios[0], ratios[0])
    if high > low and high < 1:
        crossing = two + (1 - high) * (two - one) / (high - low)
        if two < crossing < double:
            return min(ceil(crossing) + 1, most)
    return min(double, most)


def ratio_of(score: float) -> float:
    """Left over right, of (left - right)/(left + right)."""
    return (1 + score) / (1 - score) if -1 <= score < 1 else 0.0


def score_in_floats(claim: Claim, one: Drawn) -> float | None:
    """How close an instance comes to a break, in floats (`Seen.score`); None where moments do not tell."""
    far = lines_in_floats(claim, one)
    if far is None:
        return None
    return BROKEN if any(line.status == "broken" for line in far) else max(map(_gap, _later(far)))


def _later(far: list[Line]) -> Iterator[Line]:
    """The lines that say something: not those at the start, if there are others."""
    told = [line for line in far if line.status != "undefined"]
    return iter([line for line in told if line.at.get("k") != 0] or told)


def _gap(line: Line) -> float:
    if line.status == "broken":
        return BROKEN
    left, right = float(line.left), float(line.right)
    total = abs(left) + abs(right)
    return -1.0 if not 0 < total < float("inf") else -abs(left - right) / total
