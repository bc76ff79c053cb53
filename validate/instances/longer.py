"""An instance with one of its integers larger: more rounds, clients, samples, coordinates, turns, all else kept.

What is added is a copy of what is there: all of it again and again, or the last of it alone. Where a relation bounds a
parameter in terms of the integer, the parameter is moved to its bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from theory.claim import Claim
from theory.derivation.search.settings import compiled
from theory.formula import Name, Number
from theory.sentence import Expression, everything
from validate.instances.at_once import shows_at_once
from validate.instances.candidates import Candidate, each_row, minimiser_of, of_rounds, realised, worth
from validate.instances.point_moves import lengthened
from validate.instances.pool import Drawn, goes_over_rounds
from validate.instances.refitting import fitting, refitted
from validate.instances.ridge_moves import copied_along, padded, ridges_of
from validate.instances.roles import roles_in
from validate.instances.setting import Setting, schedules_of

F = Fraction
ROUNDS, CLIENTS, SAMPLES, COORDINATES = "K", "N", "samples", "d"
EVERYBODY = "N, all of them chosen"
AND = " and "
BOTH = f"N{AND}d together"
LONGER = f"K{AND}N together"
TIED = "tied: "
STRUCTURE = frozenset({ROUNDS, CLIENTS, COORDINATES})
MEMORY = "remembered vectors"
OLDER = "remembered vectors, in longer runs"
MOST_TOGETHER, MOST_TIED, MOST_MEMORY, EACH = 16, 48, 16, 16
"""Of rounds and clients together; of such as have to be equal; of remembered vectors, and rounds for each of them."""
MOST_COUNT, MOST_TERMS = 128, 20_000
"""Of a count that fixes how many terms a sum of a claim about numbers alone has, and of these."""
LEAST = 3
"""Of the integers of a text that are tried."""
MOST, MOST_COORDINATES, MOST_BY_ROUND, MOST_SUMMED, MOST_ALONE = 1024, 32, 10**4, 10**6, 10**12
"""Of an integer; of coordinates where functions have Hessians; of claims about numbers alone, of K where both sides are
found in each round, where rounds are summed, and of other integers."""


@dataclass(frozen=True)
class Way:
    """An integer of an instance.

    Attributes:
        name: what it counts.
        now: its value.
        most: how far it goes.
        grown: the candidate with another value of it.
    """

    name: str
    now: int
    most: int
    grown: Callable[[Candidate, int], Candidate]


def ways(claim: Claim, c: Candidate) -> Iterator[Way]:
    """The integers of an instance, each in the ways in which it can be larger."""
    roles = roles_in(claim)
    alone = claim.of is None and not c.has_functions and not c.vectors
    yield from _of_tied(claim, c)
    longer_runs = has_rounds(claim) and not shows_at_once(claim)
    if longer_runs:
        by_round = bool(claim.free & {"k", "*k"}) or bool(schedules_of(claim))  # then both sides are found in each
        summed = MOST_BY_ROUND if by_round else MOST_SUMMED
        most = MOST if not alone else summed if goes_over_rounds(claim) else MOST_ALONE
        yield Way(ROUNDS, c.rounds, most, lambda c, v: of_rounds(c, claim, v))
    for last in (False, True):
        clients = _clients(c, claim)
        if clients and not roles.matrices and (clients > 1 or not last):
            yield Way(CLIENTS, clients, MOST, lambda c, v, last=last: with_clients(c, claim, v, last))  # type: ignore[misc]
            if not last and 1 < len(different_clients(c, claim)) < clients:
                yield Way(
                    CLIENTS, clients, MOST, lambda c, v: with_clients(c, claim, v, False, different_clients(c, claim))
                )
            if not last and any(c.values.get(name) == clients for name in roles.clients):
                yield Way(EVERYBODY, clients, MOST, lambda c, v: _of_everybody(c, claim, v))
            if not last and claim.of is not None and longer_runs and c.has_functions and c.rounds < MOST_TOGETHER:
                now = max(clients, c.rounds)
                yield Way(
                    LONGER, now, MOST_TOGETHER, lambda c, v: of_rounds(with_clients(c, claim, v, False), claim, v)
                )
        samples = c.samples
        if samples and (samples > 1 or not last):
            yield Way(SAMPLES, samples, MOST, lambda c, v, last=last: _of_samples(c, v, last))  # type: ignore[misc]
        dim = c.dim
        if dim and c.pieces is None and c.points is None and (dim > 1 or not last):
            most = MOST_COORDINATES if c.has_functions else MOST
            yield Way(COORDINATES, dim, most, lambda c, v, last=last: with_coordinates(c, v, last))  # type: ignore[misc]
    if claim.of is None and c.vectors and not c.has_functions and _clients(c, claim):
        now = max(_clients(c, claim), c.dim)
        yield Way(
            BOTH, now, MOST_COORDINATES, lambda c, v: with_coordinates(with_clients(c, claim, v, False), v, False)
        )
    weights = [value for name in sorted(roles.weights) if isinstance(value := c.values.get(name), list)]
    if roles.lengths and any(map(any, weights)):  # what weighs nothing may be as old as it will
        now = len(weights[0])
        yield Way(MEMORY, now, MOST_MEMORY, lambda c, v: _of_memory(c, claim, v))
        if longer_runs:
            yield Way(OLDER, now, MOST_MEMORY, lambda c, v: of_rounds(_of_memory(c, claim, v), claim, EACH * v))
    for name, value in c.values.items():
        if name in claim.constants or name in roles.lengths or isinstance(value, list):
            continue
        of_lists = name in (CLIENTS, COORDINATES) and (not alone or _clients(c, claim) > 0)
        if (is_integer(claim, name) or name in roles.counts | roles.steps) and not of_lists:
            most = MOST_ALONE if alone else MOST
            yield Way(name, int(value), most, lambda c, v, n=name: replace(c, values={**c.values, n: F(v)}))  # type: ignore[misc]


def is_several(way: Way) -> bool:
    """Whether it makes more than one integer larger."""
    return AND in way.name


def in_step(one: Way, other: Way) -> Way:
    """Two integers at once, both of one value."""
    grown = partial(_in_step, one, other)
    return Way(f"{one.name}{AND}{other.name}", max(one.now, other.now), min(one.most, other.most), grown)


def _in_step(one: Way, other: Way, c: Candidate, value: int) -> Candidate:
    return other.grown(one.grown(c, value), value)


def _of_tied(claim: Claim, c: Candidate) -> Iterator[Way]:
    """Rounds, clients and coordinates that relations make equal, or a formula of one count: none grows alone."""
    if not (tied(claim) or _by_count(claim)):  # `ways` is asked for often
        return
    now, alone = sizes_of(claim, c), claim.of is None
    for names in tied(claim) if not alone else ():
        if all(now[name] == now[names[0]] for name in names) and _grows(c, *names):
            most = MOST_COORDINATES if COORDINATES in names else MOST_TIED
            grown = partial(_of_equal, claim, names)
            yield Way(_together(*names), now[names[0]], most, grown)
    for name, count, formula in _by_count(claim):
        if not _grows(c, name) or count not in now or (alone and name != ROUNDS):
            continue
        counts_of, most = (MOST_COUNT, MOST_TERMS) if alone else (MOST_TIED, MOST)
        every = ((v, _size(claim, c, formula, {count: v})) for v in range(1, counts_of + 1))
        sizes = {v: size for v, size in every if size is not None and size <= most}
        if sizes.get(now[count]) == now[name] and len(sizes) == max(sizes):
            grown = partial(_of_count, claim, name, count, sizes)
            yield Way(_together(count, name), now[count], max(sizes), grown)


def _of_equal(claim: Claim, names: Sequence[str], c: Candidate, value: int) -> Candidate:
    return _of_sizes(claim, c, dict.fromkeys(names, value))


def _of_count(claim: Claim, name: str, count: str, sizes: Mapping[int, int], c: Candidate, value: int) -> Candidate:
    return _of_sizes(claim, replace(c, values={**c.values, count: F(value)}), {name: sizes[value]})


def _together(*names: str) -> str:
    return TIED + AND.join(names)


def _grows(c: Candidate, *names: str) -> bool:
    """Whether an instance can have more of these."""
    return COORDINATES not in names or (c.pieces is None and c.points is None)


def _of_sizes(claim: Claim, c: Candidate, sizes: Mapping[str, int]) -> Candidate:
    """So many rounds, clients and coordinates."""
    c = with_clients(c, claim, sizes[CLIENTS], False) if CLIENTS in sizes and c.has_functions else c
    c = with_coordinates(c, sizes[COORDINATES], False) if COORDINATES in sizes else c
    return of_rounds(c, claim, sizes[ROUNDS]) if ROUNDS in sizes else c


def _by_count(claim: Claim) -> list[tuple[str, str, Expression]]:
    """Of rounds, clients and coordinates those that a relation makes a formula of one parameter that is an integer."""

    def found() -> list[tuple[str, str, Expression]]:
        made: list[tuple[str, str, Expression]] = []
        for relation in claim.relations:
            for side, formula in (relation.sides, relation.sides[::-1]):
                names = {part.name for part in everything(formula) if isinstance(part, Name)}
                if relation.relation == "==" and isinstance(side, Name) and side.name in STRUCTURE and len(names) == 1:
                    count = names.pop()
                    if count not in STRUCTURE and count in claim.domains and not isinstance(formula, Name):
                        made.append((side.name, count, formula))
        return made

    return claim.vocabulary.kept.once("sizes by a count", found)


def _size(claim: Claim, c: Candidate, formula: Expression, values: Mapping[str, int]) -> int | None:
    """What a formula is, where that is a size: an integer from 1 on."""
    world = Setting(None, c.start, {name: F(v) for name, v in values.items()}, c.rounds, claim)
    size = worth(formula, world, claim)
    return int(size) if isinstance(size, Fraction) and size.denominator == 1 and size >= 1 else None


def tied(claim: Claim) -> list[tuple[str, ...]]:
    """Those of rounds K, clients N and coordinates d that relations make equal, by the name of each."""
    names = {
        frozenset(side.name for side in relation.sides if isinstance(side, Name))
        for relation in claim.relations
        if relation.relation == "=="
    }
    equal = [one for one in names if len(one) == 2 and one <= STRUCTURE]
    together = frozenset[str]().union(*equal)
    return [tuple(sorted(together))] if together else []


def fixes_rounds(claim: Claim) -> bool:
    """Whether an equation speaks of K."""
    equations = (relation for relation in claim.relations if relation.relation == "==")
    parts = (part for relation in equations for side in relation.sides for part in everything(side))
    return any(isinstance(part, Name) and part.name == ROUNDS for part in parts)


def counts(way: Way, name: str) -> bool:
    """Whether a way makes an integer larger, alone or with those that are equal to it."""
    return name in way.name.removeprefix(TIED).split(AND)


def sizes_of(claim: Claim, c: Candidate) -> dict[str, int]:
    """The integers of an instance by name: rounds K, clients N, coordinates d, samples of a client, parameters."""
    roles, found = roles_in(claim), {ROUNDS: c.rounds, CLIENTS: _clients(c, claim), COORDINATES: c.dim}
    found[SAMPLES] = c.samples
    for name, value in c.values.items():
        if not isinstance(value, list) and (name in roles.counts | roles.steps or is_integer(claim, name)):
            found[name] = int(value)
    return found


def is_integer(claim: Claim, name: str) -> bool:
    """Whether a name is an integer by its domain."""
    return claim.domains[name].integer if name in claim.domains else name in (CLIENTS, COORDINATES)


def named(claim: Claim, most: int = MOST, whole: bool = True) -> list[int]:
    """The integers that the claim's text names, and one more than each, in order: a bound that changes at 37 may break
    at 37 only, and doubling steps over it. So are those that a formula of numbers is, such as 6**2; unless these are to
    be whole, exp(4) is one of them, rounded down."""
    trees = [*claim.sentence.sides, *claim.definitions.values()]
    trees += [side for relation in claim.relations for side in relation.sides]
    numbers = {int(n) for tree in trees for p in everything(tree) if (n := _number(p, whole)) is not None}
    return sorted({v for n in numbers if LEAST <= n < most for v in (n, n + 1)})


def _number(e: Expression, whole: bool) -> Fraction | float | None:
    """An integer in a text, or what a formula of numbers without a name is; None of anything else."""
    if isinstance(e, Number):
        return e.value if e.value % 1 == 0 else None
    if any(isinstance(part, Name) for part in everything(e)):
        return None
    try:
        found = compiled(e)({})
    except ValueError:  # of no number
        return None
    return found if abs(found) <= MOST_ALONE and (not whole or found % 1 == 0) else None


def longer(claim: Claim, c: Candidate, way: Way, value: int) -> Drawn | None:
    """The instance with a larger integer; None where the claim does not speak of it.

    The minimiser stays where it was if the claim speaks of the instance then only.
    """
    grown = way.grown(c, value)
    return fitting(claim, grown) or realised(claim, refitted(claim, _recentred(grown, c)))


def _recentred(grown: Candidate, c: Candidate) -> Candidate:
    """With linear terms moved alike, so that its minimiser is where that of another is."""
    least = None if grown.hessian is None or c.hessian is None or grown.dim != c.dim else minimiser_of(c)
    if least is None:
        return grown
    off = grown.hessian.mean(axis=(0, 1)) @ least - grown.linear.mean(axis=(0, 1))
    return replace(grown, linear=grown.linear + off)


def has_rounds(claim: Claim) -> bool:
    """Whether a claim speaks of rounds, or of how many there are."""
    return claim.of is not None or ROUNDS in claim.symbols or goes_over_rounds(claim)


# --- copies ----------------------------------------------------------------------------------------------------------


def _copied(count: int, now: int, last: bool) -> list[int]:
    """Of which of `now` things each of `count` is a copy."""
    return [i if i < now else now - 1 if last else i % now for i in range(count)]


def _clients(c: Candidate, claim: Claim) -> int:
    """How many clients the functions, the vectors or, without these, the numbers are of; 0 where none are."""
    if c.has_functions:
        return c.clients
    skipped = schedules_of(claim)
    numbers = (v for name, v in c.values.items() if name not in skipped)
    of_each = (v for v in (*c.vectors.values(), *numbers) if isinstance(v, list))
    return next(map(len, of_each), 0)


def different_clients(c: Candidate, claim: Claim) -> list[int]:
    """Of clients that are alike the first."""
    first: dict[str, int] = {}
    lists = [v for v in (*c.values.values(), *c.vectors.values()) if isinstance(v, list)]
    for n in range(_clients(c, claim)):
        functions = None if c.functions is None else c.functions[n]
        quadratics = [] if c.hessian is None else [c.hessian[n].tolist(), c.linear[n].tolist()]
        first.setdefault(repr((functions, quadratics, [v[n] for v in lists if n < len(v)])), n)
    return [*first.values()]


def with_clients(c: Candidate, claim: Claim, count: int, last: bool, of_kinds: Sequence[int] = ()) -> Candidate:
    """As many clients, copies of those there are, in turn or of the last alone; or of some in turn, so that a majority
    by one stays one by one."""
    now = _clients(c, claim)
    of = _copied(count, now, last)
    if of_kinds:
        of[now:] = [of_kinds[i % len(of_kinds)] for i in range(max(0, count - now))]
    return of_these(c, claim, of)


def of_these(c: Candidate, claim: Claim, of: Sequence[int]) -> Candidate:
    """With copies of these clients, in this order."""
    skipped = roles_in(claim).weights | schedules_of(claim)
    values = {
        name: [v[n] for n in of] if isinstance(v, list) and name not in skipped else v for name, v in c.values.items()
    }
    if CLIENTS in values:
        values[CLIENTS] = F(len(of))
    return c.of_clients(of, values)


def _of_everybody(c: Candidate, claim: Claim, count: int) -> Candidate:
    """More clients, of whom as many are chosen as there are."""
    now, grown = _clients(c, claim), with_clients(c, claim, count, last=False)
    chosen = {name: F(count) for name in roles_in(claim).clients if c.values.get(name) == now}
    return replace(grown, values={**grown.values, **chosen})


def _of_memory(c: Candidate, claim: Claim, count: int) -> Candidate:
    """More remembered vectors: the same weights, of older ones."""
    roles = roles_in(claim)
    grown = {
        name: [F(0)] * (count - len(v)) + list(v) for name in roles.weights if isinstance(v := c.values[name], list)
    }
    counts = {name: F(count) for name in roles.lengths if name in c.values}
    return replace(c, values={**c.values, **grown, **counts})


def _of_samples(c: Candidate, count: int, last: bool) -> Candidate:
    if c.hessian is not None:
        of = _copied(count, c.hessian.shape[1], last)
        return replace(c, hessian=c.hessian[:, of], linear=c.linear[:, of])
    functions = tuple(tuple(own[i] for i in _copied(count, len(own), last)) for own in c.functions)
    return replace(c, functions=functions)


def with_coordinates(c: Candidate, count: int, last: bool) -> Candidate:
    """As many coordinates, copies of those there are, in turn or of the last alone.

    Those that are added have nothing to do with the others: Hessians are blocks."""
    now = c.dim
    of = _copied(count, now, last)
    hessian, ridges = c.hessian, c.ridges if c.pieces is None else ridges_of(c.pieces)
    block = np.array([0 if i < now else i if last else i // now for i in range(count)])
    if hessian is not None:
        hessian = hessian[:, :, of][:, :, :, of] * (block[:, None] == block[None, :]).astype(int).astype(object)
    return replace(
        c,
        hessian=hessian,
        linear=None if c.linear is None else c.linear[:, :, of],
        functions=None if ridges is None else copied_along(ridges, of, list(block)),
        start=c.start[of] if len(c.start) else c.start,
        values={name: F(count) if name == COORDINATES else v for name, v in c.values.items()},
        vectors=each_row(c.vectors, lambda row: row[of]),
    )


def with_still_coordinates(c: Candidate, count: int) -> Candidate:
    """As many coordinates; in those that are added nothing moves, and quadratics are curved as along the last."""
    more = count - c.dim
    nothing = (F(0),) * more
    functions, hessian = c.functions, c.hessian
    if hessian is not None:
        hessian = np.full((*c.hessian.shape[:2], count, count), F(0), dtype=object)
        hessian[..., : c.dim, : c.dim] = c.hessian
        for i in range(c.dim, count):
            hessian[..., i, i] = c.hessian[..., -1, -1]
    elif c.points is None and functions is not None:
        functions = padded(c.ridges if c.pieces is None else ridges_of(c.pieces), more)
    elif functions is not None:
        functions = lengthened(c.points, more)

    def longer_by_nothing(row: Any) -> Any:
        return np.array([*row, *nothing], dtype=object)

    return replace(
        c,
        hessian=hessian,
        linear=None if c.linear is None else np.concatenate([c.linear, np.full((*c.linear.shape[:2], more), F(0))], 2),
        functions=functions,
        start=longer_by_nothing(c.start) if len(c.start) else c.start,
        values={name: F(count) if name == COORDINATES else v for name, v in c.values.items()},
        vectors=each_row(c.vectors, longer_by_nothing),
    )


__all__ = [
    "CLIENTS",
    "LONGER",
    "MOST_SUMMED",
    "ROUNDS",
    "SAMPLES",
    "Way",
    "counts",
    "different_clients",
    "fixes_rounds",
    "is_integer",
    "longer",
    "named",
    "of_these",
    "sizes_of",
    "tied",
    "ways",
    "with_clients",
    "with_still_coordinates",
]
