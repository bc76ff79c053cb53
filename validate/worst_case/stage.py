"""The worst case as a part of a claim's check: small sizes, numbers as the pool has them, a budget in operations.

Numbers that satisfy the claim's relations are solved for on quadratics (`validate.instances.pool`), and the functions
are then let go: whatever function of the class is worst for these numbers is sought. A break is an exact instance like
any other: it is played, and has to become a certificate.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, Context
from fractions import Fraction
from typing import Any

from theory.claim import Claim
from theory.derivation.search.settings import compiled
from theory.for_every import ForEvery
from theory.formula import Apply, Name, Number
from theory.program import work
from theory.sentence import everything, everything_meant, parts
from theory.worst_case.rounded import size_of
from validate.instances.pool import Drawn, drawn, fits
from validate.instances.roles import roles_in
from validate.instances.scalars import Schedule
from validate.instances.seen import Seen, measured
from validate.instances.shapes import Size
from validate.verdict import Evidence
from validate.worst_case.attack import attacks
from validate.worst_case.bound import WorstRatio, ratio
from validate.worst_case.numbers import Numbers
from validate.worst_case.reading import NoReadingError, Reading, last_first, read_claim, refusal
from validate.worst_case.unknown import Law

log = logging.getLogger(__name__)

OPERATIONS = {True: 250_000, False: 5_000_000}
"""Of all programs that are solved, quick and full (`theory.program.work`)."""
SEEDS = {True: 120, False: 2000}
"""Draws of numbers, quick and full."""
ROOM = 24
"""Basis vectors of a reading."""
SIZES = ((1, 1), (2, 1), (1, 2), (3, 1), (2, 2), (1, 3))
"""N, and the samples of each client."""
DIMENSIONS = (2, 2, 2, 1)
"""Of the quadratics on which numbers are solved for; functions with bounded gradients are drawn in one only."""
ROUNDS = {False: (1, 2, 3, 5, 10), True: (1, 2)}
"""K, of programs that draw nothing and of others."""
TURNS = 4
"""Of a loop, which few draws have with long steps: so many are enough for a run to turn back."""
LONGEST = 10
"""K, where the claim's numbers hang on it."""
READING = 200
"""Operations that a reading is counted for, beside those that it counts itself."""
LARGEST_PROVED = 20_000
"""Size of a program up to which a bound is proved."""
NEAR = Fraction(1, 10_000)
"""By how much a bound may be above 1 to be told: a solver does not come down to a sharp claim."""
TOGETHER = 40
"""Draws that are sorted, those with short numbers first."""
REFUSED = 100
"""Numbers that are refused one after another, after which no more are tried."""
KINDS, NUMBERS, SHORT, TAME = 6, 4, 3, Fraction(1000)
"""Sizes, and numbers of each, at which a claim with sentences for every point is to be proved; rounds, and how large
and small numbers are at most."""
PROVED = 4
"""Readings of which a bound is proved where nothing broke, the tightest first."""


@dataclass(frozen=True)
class Tried:
    """A reading whose worst case was computed, and did not break the claim."""

    clients: int
    samples: int
    reading: Reading

    @property
    def text(self) -> str:
        """Its size in words."""
        return f"N={self.clients}, {self.samples} sample{'s' * (self.samples > 1)}, K={self.reading.instance.rounds}"


@dataclass
class Worst:
    """What the worst cases say.

    Attributes:
        broken: an instance that breaks the claim, exactly; or None.
        suspects: instances that break it, and that nobody else accepts.
        tried: the readings whose worst cases did not break it.
        refused: why there is no reading at all; empty where there was one.
        bounds: proved ratios of left to right.
        bounded: of a claim with sentences for every point, whether it is proved at all numbers that were looked at.
    """

    broken: Seen | None = None
    suspects: list[Seen] = field(default_factory=list)
    tried: list[Tried] = field(default_factory=list)
    refused: str = ""
    bounds: list[tuple[Tried, WorstRatio]] = field(default_factory=list)
    bounded: bool = False


def worst(
    claim: Claim,
    *,
    quick: bool = False,
    seed: int = 0,
    accepted: Callable[[Seen], bool] = lambda _: True,
    stop: Callable[[], bool] = lambda: False,
    proved: bool = True,
) -> Worst:
    """Try to break a claim by the worst functions of its class, at small sizes.

    Args:
        claim: the claim.
        quick: a smaller budget.
        seed: of the numbers that are drawn.
        accepted: whether a break stands up to whoever else looks at it.
        stop: asked between readings; where it says so, what was seen so far is what came of it.
        proved: whether bounds are wanted where nothing breaks it.
    """
    found = Worst(refused=refusal(claim))
    if found.refused:
        return found
    end, reasons = work.operations() + OPERATIONS[quick], dict[str, int]()
    refusals = 0
    for numbers, samples, rounds in settings(claim, SEEDS[quick], seed):
        if stop() or work.operations() > end or len(found.suspects) > 3 or (refusals > REFUSED and not found.tried):
            break
        try:
            work.count(READING)
            reading = read_claim(claim, numbers, samples, rounds, ROOM, _law(claim))
            if _broken(claim, reading, found, accepted):
                return found
        except NoReadingError as error:
            refusals += 1
            reasons[str(error)] = reasons.get(str(error), 0) + 1
            continue
        found.tried.append(Tried(len(samples), samples[0], reading))
    if not found.tried and reasons:
        found.refused = max(reasons, key=lambda reason: reasons[reason])
    if proved and not found.suspects and not stop():
        _prove(found)
        found.bounded = any(isinstance(one, ForEvery) for one in claim.predicates) and _is_bounded(claim, found.tried)
    return found


def _law(claim: Claim) -> Law:
    """Of noise: one that instances have, but where coordinates are drawn, of which points know nothing."""
    return "any" if claim.program is not None and "keep" in claim.program.operations else "on a line"


def _broken(claim: Claim, reading: Reading, found: Worst, accepted: Callable[[Seen], bool]) -> bool:
    """Whether the worst case of a reading breaks the claim, exactly."""
    for problem, instances in attacks(reading):
        work.count(size_of(problem.program))
        for seen in _played(claim, instances):
            if accepted(seen):
                found.broken = seen
                return True
            found.suspects.append(seen)
            break
    return False


def _played(claim: Claim, instances: Iterator[Drawn]) -> Iterator[Seen]:
    """The instances that break a claim when they are played."""
    while True:
        try:
            one = next(instances, None)
        except ValueError:  # rounded out of their class, or too long
            log.debug("%s: a solution is no instance", claim.id, exc_info=True)
            return
        if one is None:
            return
        seen = measured(claim, one)
        if seen is not None and seen.measured.broken:
            yield seen
        else:
            log.debug("%s: an instance of the worst case does not break it when played", claim.id)


def settings(claim: Claim, seeds: int, seed: int = 0) -> Iterator[tuple[Numbers, tuple[int, ...], int]]:
    """Numbers that satisfy a claim's relations, with samples of each client and K: each once, small sizes first.

    Args:
        claim: the claim.
        seeds: how many draws are made.
        seed: the first.
    """
    sizes = [(N, n) for N, n in SIZES if _speaks_of(claim, N, n) and fits(claim, Size(N, n, 2))]
    of_coordinates = claim.of is not None and (_names_coordinates(claim) or _law(claim) == "any")
    runs = ROUNDS[claim.program is not None and claim.program.random]
    more = [f"K == {K}" for K in _rooted(claim)] + [f"{H} == {TURNS}" for H in _turns(claim)]
    forms = [claim, *(replace(claim, assuming=(*claim.assuming, text)) for text in more)]
    seen: set[Any] = set()
    for begin in range(0, seeds if sizes else 0, TOGETHER):
        if begin and not seen:  # no numbers satisfy the relations on quadratics of this kind
            return
        found = []
        for s in range(begin, min(begin + TOGETHER, seeds)):
            N, n = sizes[s // len(DIMENSIONS) % len(sizes)]
            one = drawn(forms[s % len(forms)], seed + s, sizes=[Size(N, n, d) for d in DIMENSIONS])
            if one is None:
                continue
            constants = dict(one.constants)
            if of_coordinates:
                assert one.instance.dim is not None
                constants["d"] = Fraction(one.instance.dim)
            numbers = Numbers(one.instance.parameters, constants, one.instance.algorithm)
            given = (*numbers.parameters.values(), *numbers.constants.values())
            fixed = "K" in claim.symbols or any(isinstance(value, Schedule) for value in given)
            rounds = (one.instance.rounds,) if fixed or claim.of is None else runs
            found += [((n,) * N, numbers, K) for K in rounds if K <= LONGEST]
        for samples, numbers, K in sorted(found, key=lambda f: _length(f[1]) + 8 * f[2] + 8 * sum(f[0])):
            key = (samples, K, repr(sorted(numbers.parameters.items())), repr(sorted(numbers.constants.items())))
            if key not in seen:
                seen.add(key)
                yield numbers, samples, K


def _turns(claim: Claim) -> list[str]:
    """The numbers of turns of loops, of a program that draws nothing, that no relation of the claim speaks of."""
    if claim.program is None or claim.program.random:
        return []
    bound = {
        part.name
        for one in claim.relations
        for side in one.sides
        for part in everything(side)
        if isinstance(part, Name)
    }
    return [H for H in sorted(roles_in(claim).turns) if H in claim.domains and H not in bound]


def _rooted(claim: Claim) -> list[int]:
    """Values of K, the largest first, of which the roots that a claim speaks of are fractions; none without roots."""
    found, roots = {*range(2, LONGEST + 1)}, False
    for side in (*claim.sentence.sides, *(side for one in claim.relations for side in one.sides)):
        for part in everything_meant(side, claim.vocabulary):
            if not isinstance(part, Apply) or part.operation not in ("sqrt", "**"):
                continue
            base, *power = parts(part)
            if Name("K") not in everything(base) or any(isinstance(e, Name) for p in power for e in everything(p)):
                continue
            root = Fraction(compiled(power[0])({}) if power else 1 / 2).limit_denominator(LONGEST).denominator
            alone = {e for e in everything(base) if isinstance(e, Name)} == {Name("K")}
            of = compiled(base) if alone else lambda at: at["K"]
            found = {K for K in found if root == 1 or _is_power(of, K, root)}
            roots |= root > 1
    return sorted(found, reverse=True) if roots else []


def _is_power(of: Callable[[Mapping[str, float]], float], K: int, root: int) -> bool:
    """Whether what a formula of K comes to is such a power of an integer."""
    with suppress(ValueError, ZeroDivisionError):
        value = of({"K": float(K)})
        return value > 0 and bool(round(value ** (1 / root)) ** root == value)
    return False


def _names_coordinates(claim: Claim) -> bool:
    """Whether the number of coordinates stands in a claim, or in what it assumes."""
    sides = [side for relation in claim.relations for side in relation.sides]
    return "d" in claim.symbols or any(part == Name("d") for side in sides for part in everything(side))


def _length(numbers: Numbers) -> int:
    """The bits of all numbers: short ones are for readers."""

    def bits(value: Any) -> int:
        if isinstance(value, Schedule):
            value = value.values
        if isinstance(value, tuple):
            return sum(map(bits, value))
        exact = Fraction(value)
        return exact.numerator.bit_length() + exact.denominator.bit_length()

    return sum(map(bits, (*numbers.parameters.values(), *numbers.constants.values())))


def _speaks_of(claim: Claim, clients: int, samples: int) -> bool:
    """Whether a claim with so many clients and samples says more than with one."""
    trees = [*claim.sentence.sides, *claim.definitions.values()]
    words = {one.function for one in claim.predicates}
    for tree in trees:
        for part in everything(tree):
            if isinstance(part, Apply):
                words |= {part.operation, part.operation.removeprefix("grad ")}
            elif isinstance(part, Name):
                words.add(part.name)
    operations = frozenset[str]() if claim.program is None else claim.program.operations
    of_samples = bool(words & {"f_ni", "mean_i", "sum_i"} or operations & {"sample", "pass", "get", "put"})
    one = {"full gradient", "linear", "repeat", "tap", "shift", "combine", "coin", "where"}
    of_clients = bool(words & {"f_n", "xstar_n", "mean_n", "sum_n", "max_n", "min_n", "first_n"} or operations - one)
    return (samples == 1 or of_samples) and (clients == 1 or of_clients)


def _prove(found: Worst) -> None:
    """Bounds of what was tried, for the largest runs of different sizes."""
    kinds: dict[tuple[Any, ...], Tried] = {}
    for one in found.tried:
        if one.reading.classes.whole:
            kinds.setdefault((one.clients, one.samples, one.reading.instance.rounds), one)
    for tried in list(kinds.values())[:PROVED]:
        one, bound = _bound(tried)
        if bound is not None and _stands(bound):
            found.bounds.append((one, bound))


def _bound(one: Tried) -> tuple[Tried, WorstRatio | None]:
    """The reading of which a bound is looked for, for every law of the noise, and what came of it; None without one."""
    try:
        if one.reading.unknown.line is not None:
            counts, was = (one.samples,) * one.clients, one.reading
            again = read_claim(was.claim, was.values, counts, was.instance.rounds, ROOM)
            one = Tried(one.clients, one.samples, again)
        case = next(last_first(one.reading.cases))
        alike = sum(dict(other.at) == dict(case.at) for other in one.reading.cases)
        if case.squared or alike > 1:  # a ratio of squares, or of one outcome only
            return one, None
        return one, ratio(one.reading, case, attained=False, largest=LARGEST_PROVED)
    except NoReadingError:
        return one, None


def _stands(bound: WorstRatio) -> bool:
    return bound.upper is not None and bound.upper <= 1 + NEAR and bound.check()


def _is_tame(numbers: Numbers) -> bool:
    """Whether no number is so large or small that a solver may not come to an end."""
    values = [v for v in (*numbers.parameters.values(), *numbers.constants.values()) if isinstance(v, Fraction)]
    return all(value == 0 or 1 / TAME <= abs(value) <= TAME for value in values)


def _is_bounded(claim: Claim, tried: list[Tried]) -> bool:
    """Whether the claim is proved wherever a bound is looked for: at several sizes, and at several numbers of each.

    With two clients or samples at least where a sentence for every point speaks of them.
    """
    kinds: dict[tuple[int, int, int], list[Tried]] = {}
    for one in tried:
        if one.reading.instance.rounds <= SHORT and _is_tame(one.reading.values):
            kinds.setdefault((one.clients, one.samples, one.reading.instance.rounds), []).append(one)
    count, clients, samples = 0, set[int](), set[int]()
    for own in list(kinds.values())[:KINDS]:
        for place in sorted({(len(own) - 1) * i // (NUMBERS - 1) for i in range(NUMBERS)}):
            one, bound = _bound(own[place])
            if bound is None:
                continue
            if not _stands(bound):
                return False
            count, clients, samples = count + 1, clients | {one.clients}, samples | {one.samples}
    words = " ".join(one.text for one in claim.predicates if isinstance(one, ForEvery))
    of_samples, of_clients = re.search(r"f_ni|_i\(", words), re.search(r"f_n|_n\b", words)
    few = (of_clients and max(clients, default=0) < 2) or (of_samples and max(samples, default=0) < 2)
    return count >= NUMBERS and not few


def told(claim: Claim, found: Worst) -> list[Evidence]:
    """What the worst cases say of a claim that they did not break."""
    if found.refused and not found.tried:
        if claim.of is None:
            return []
        text = f"the worst case over its class was not computed: {found.refused}"
        return [Evidence("exact", "undecided", text, origin="worst case")]
    if not found.tried:
        return []
    attacked = [one for one in found.tried if not one.reading.larger]
    if not attacked and not found.bounds:
        text = "worst cases over a larger class, for bounds only, do not bound it at small sizes"
        return [Evidence("exact", "undecided", text, origin="worst case")]
    text = "the worst case over a larger class, for bounds only"
    if attacked:
        largest_run = max(attacked, key=lambda one: (one.reading.instance.rounds, one.clients, one.samples))
        text = (
            f"the worst functions of its class do not break it at {len(attacked)} small sizes and numbers, by "
            f"semidefinite programs in floats, up to {largest_run.text}"
        )
    notes = sorted({note for one in found.tried for note in one.reading.classes.notes})
    if any(one.reading.unknown.line is not None for one in attacked):
        notes.append("noise along one coordinate")
    if notes:
        text += f"; of a smaller class: {', '.join(notes)}"
    if found.bounds:
        text += f"; proved by exact multipliers: {_proved(claim, found.bounds)}"
    bounds = [
        {"at": _sizes(one, bound), "numbers": _in_words(one), "upper": str(bound.upper)} for one, bound in found.bounds
    ]
    data = {"tried": len(found.tried), "bounds": bounds, "bounded": found.bounded}
    return [Evidence("exact", "holds", text, data=data, origin="worst case")]


def _proved(claim: Claim, bounds: list[tuple[Tried, WorstRatio]]) -> str:
    """What bounds say: of ``>=`` they are ratios of right to left, which say nothing more where right is 0."""
    where = [(_rounded_up(bound), f"{_sizes(one, bound)}, {_in_words(one)}") for one, bound in bounds]
    if claim.sentence.relation in (">=", ">"):
        if claim.sentence.right == Number(Fraction(0)):
            return "left is not below 0 at " + "; ".join(at for _, at in where)
        return "right is at most left times " + "; ".join(f"{ratio} at {at}" for ratio, at in where)
    return "left is at most right times " + "; ".join(f"{ratio} at {at}" for ratio, at in where)


def _sizes(one: Tried, bound: WorstRatio) -> str:
    return ", ".join([one.text, *(f"{index}={value}" for index, value in bound.case.items())])


def _rounded_up(bound: WorstRatio) -> str:
    assert bound.upper is not None
    return str(Context(prec=9, rounding=ROUND_CEILING).divide(bound.upper.numerator, bound.upper.denominator))


def _in_words(one: Tried) -> str:
    numbers = one.reading.values
    named = {**numbers.parameters, **numbers.constants}
    return ", ".join(f"{name}={value}" for name, value in named.items() if isinstance(value, Fraction) and name != "N")
