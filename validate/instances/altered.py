"""Instances of the pool with numbers that a pool seldom draws: ends of domains, negative weights, uneven schedules.

Each is an instance that was measured, with some of its numbers replaced: a closed end of a domain belongs to the claim,
one number alone at its end and all at once, with vectors moved whose lengths have to be 0 then; weights of a given sum
may be negative where their domain says so; a schedule may rise, fall, or have one step that is far from the others; one
client may take far more local steps, or have far more samples, than all others.
Of a dissimilarity's two constants one may be larger and the other less. A quantile jumps where its level is the chance
of an outcome, and the level is taken beside it. And lengths and curvatures are in other units, as both sides of a claim
are to be in the same. Functions have constants, as a value is no distance from the infimum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate, chain, cycle, islice, product
from math import isqrt
from typing import TYPE_CHECKING, Any

from sim.problems import Quadratic
from theory.claim import Claim
from theory.for_every import ForEvery
from theory.formula import Apply, Name, UndefinedError
from theory.operations import UndecidedError, to_fraction
from theory.predicates import Convex, Dissimilar, SameMinimiser, StronglyConvex
from theory.program import work
from theory.sentence import FUNCTION_NAMES, everything, index_of
from validate import satisfied
from validate.instances.affordable import everything_said
from validate.instances.candidates import (
    Candidate,
    candidate_of,
    each_row,
    lines_of,
    of_rounds,
    realised,
    setting_of,
)
from validate.instances.constants import outward
from validate.instances.longer import ROUNDS as RUN
from validate.instances.longer import longer, ways, with_clients
from validate.instances.offered import closed_ends
from validate.instances.piece_shapes import allows_pieces
from validate.instances.pieces import Piecewise
from validate.instances.pool import Drawn
from validate.instances.refitting import refitted
from validate.instances.roles import roles_in
from validate.instances.seen import OUTCOMES, Hunt, Seen, is_telling, measured
from validate.instances.setting import schedules_of
from validate.instances.tied import with_tied_vectors
from validate.instances.together import with_its_start
from validate.play import Play
from validate.satisfied.of_quadratics import least_beside

if TYPE_CHECKING:
    from validate.instances.stages import Budget

F = Fraction
Change = tuple[Candidate, Mapping[str, Any]]
"""What is free, and constants of assumptions in the place of the best."""
FAR_LESS = F(1, 100)
"""One step of a schedule, as a part of the others."""
ROUNDS = 3
"""Of a run whose schedule is to vary."""
MOST_PAIRED = 3
"""Names all of whose ends are combined; of more, all lower and all upper ones."""


def altered(claim: Claim, one: Drawn, enough: Callable[[], bool] = lambda: False) -> Iterator[Drawn]:
    """The instances that one becomes; none where no number of the claim may be so.

    Args:
        claim: the claim.
        one: an instance of it.
        enough: asked before each change, of which many may come to nothing.
    """
    c = candidate_of(one)
    changes = (
        _at_ends(claim, c),
        _signed(claim, c),
        _at_corners(claim, c),
        _uneven(claim, c),
        _one_works_longer(claim, c),
        _unequal_samples(claim, c),
        _one_sample_in_many(claim, c),
        _beside_jumps(claim, c, one),
        _traded(claim, c),
        _lifted(claim, c),
        _kinked(claim, c),
        _with_a_second_well(claim, c),
        _in_other_units(claim, c),
    )
    for changed, bound in chain.from_iterable(changes):
        if enough():
            return
        made = realised(claim, changed, bound)
        if made is None:
            tied = with_tied_vectors(claim, changed)
            made = None if tied is None else realised(claim, tied, bound)
        ends = {name for name, value in changed.values.items() if value != c.values.get(name)}
        made = made or realised(claim, refitted(claim, changed, ends), bound)
        made = made or realised(claim, refitted(claim, changed), bound)
        if made is not None:
            yield made


def _in_one_dimension(c: Candidate) -> tuple[tuple[Piecewise, ...], ...] | None:
    """The functions of each client, where they are of one variable."""
    return c.pieces if c.hessian is None or c.dim > 1 else lines_of(c.hessian, c.linear)


def _lifted(claim: Claim, c: Candidate) -> Iterator[Change]:
    """In one dimension with constants added to the functions, where values are spoken of: no infimum is 0 by nature."""
    functions = _in_one_dimension(c)
    if functions is None or not any(
        isinstance(p, Apply) and p.operation in FUNCTION_NAMES for p in everything_said(claim)
    ):
        return
    for constant, clients in product((F(1), F(-1), F(1000)), dict.fromkeys((c.clients, 1))):
        lifted = tuple(
            tuple(replace(f, c=f.c + constant) for f in own) if n < clients else own for n, own in enumerate(functions)
        )
        yield replace(c, hessian=None, linear=None, functions=lifted), {}


def _kinked(claim: Claim, c: Candidate) -> Iterator[Change]:
    """In one dimension a run with draws from a minimiser that is a knee; samples or clients pull to both sides."""
    functions = _in_one_dimension(c)
    if functions is None or claim.program is None or not claim.program.random or not allows_pieces(claim):
        return
    x0, slopes = c.start[0], sorted({s for own in functions for f in own for s in f.slopes if s > 0})
    if not slopes:
        return
    most, less = slopes[-1], slopes[0] * LESS
    rounds = max(c.rounds, 2)
    kinks = [(Piecewise((x0,), ends).still_at(x0), F(1), rounds) for ends in ((most, less), (less, most))]
    flat = Piecewise((x0 - 3, x0 - 1), (most, most * ALMOST_FLAT, most))  # with its minimiser between the knots
    kinks.append((flat.still_at(x0 - 2), most / 3, rounds))
    kinks.append((Piecewise((x0,), (most * FLATTER, most)).still_at(x0), F(1), DRIFTING))
    for one, tilt, rounds in kinks:
        both = tuple(one.plus(Piecewise((), (F(0),), sign * tilt)) for sign in (1, -1))
        operations = claim.program.operations
        each = (both,) * c.clients if "sample" in operations else tuple((both[n % 2],) for n in range(c.clients))
        if "noise" in operations:  # which pulls to both sides
            each = ((one,),) * c.clients
        changed = replace(c, hessian=None, linear=None, functions=each)
        yield of_rounds(changed, claim, rounds), {}


def _with_a_second_well(claim: Claim, c: Candidate) -> Iterator[Change]:
    """In one dimension every other client has a second minimum, above the one that all share; also with more turns.

    What is convex then is their mean with the others.
    """
    same = any(isinstance(one, SameMinimiser) for one in claim.predicates)
    each = any(isinstance(one, Convex | StronglyConvex) and one.function != "f" for one in claim.predicates)
    if c.dim != 1 or not c.has_functions or not same or each or not allows_pieces(claim):
        return
    turns = roles_in(claim).turns & c.values.keys()
    for from_least, many in product((F(8, 5), F(-8, 5)), (0, WELL_TURNS) if turns else (0,)):
        least, sign = c.start[0] - from_least, 1 if from_least > 0 else -1
        knots = sorted(least + sign * at for at in (F(1, 2), F(23, 10)))
        two = Piecewise(tuple(knots), (F(1), F(-1, 2), F(1))).still_at(least)
        one = Piecewise((), (F(1),)).still_at(least)
        clients = max(c.clients, 2)
        grown = with_clients(c, claim, clients, last=False)
        functions = tuple(((one, two)[n % 2],) for n in range(clients))
        values = {**grown.values, **dict.fromkeys(turns if many else (), F(many))}
        yield replace(grown, hessian=None, linear=None, functions=functions, values=values), {}


WELL_TURNS = 6
"""Of loops where a client has a second minimum."""
LESS, ALMOST_FLAT, FLATTER, DRIFTING = F(1, 4), F(1, 100), F(1, 10), 10
"""Of the least slope, on one side of a knee; of the largest, between two, and on one side of a knee from which a mean
drifts away for so many rounds."""


def _in_other_units(claim: Claim, c: Candidate) -> Iterator[Change]:
    """Quadratics of other lengths and curvatures, and numbers that are inverse to these: a square too many shows."""
    if c.hessian is None:
        return
    free = [name for name in _names(claim) if isinstance(c.values.get(name), Fraction) and name not in claim.constants]
    steps = [name for name in free if claim.domains[name].upper is None and not claim.domains[name].integer]
    for length, curvature in UNITS:
        changed = replace(
            c,
            hessian=c.hessian * curvature,
            linear=c.linear * (length * curvature),
            start=c.start * length,
            vectors=each_row(c.vectors, lambda row, length=length: row * length),  # type: ignore[misc]
        )
        yield replace(changed, values={**c.values, **{name: c.values[name] / curvature for name in steps}}), {}


UNITS = ((F(1, 10**6), F(1)), (F(10**6), F(1)), (F(1), F(1, 10**6)), (F(1), F(10**6)))
"""Of length and of curvature."""


def _traded(claim: Claim, c: Candidate) -> Iterator[Change]:
    """Of a dissimilarity's two constants, and those of a sentence, other choices than the least of some."""
    for one in claim.predicates:
        if isinstance(one, ForEvery) and 1 < len(one.binds) == len(one.constants):
            world = setting_of(claim, c, dict(c.values))
            for name, value in product(one.binds, TRADED):
                found = None if world is None else satisfied.best(one, world.problem, {name: value})
                if found is not None:
                    yield c, {n: outward(v, up=one.binds[n] == "up") for n, v in zip(one.binds, found, strict=True)}
        if not isinstance(one, Dissimilar) or one.spread or not all(isinstance(name, Name) for name in one.constants):
            continue
        world = setting_of(claim, c, dict(c.values))
        if world is None or not isinstance(world.problem, Quadratic):
            continue
        first, second = (name.name for name in one.constants if isinstance(name, Name))
        for B in TRADED:
            yield c, {first: outward(least_beside(world.problem, float(B)), up=True), second: B}


TRADED = (F(1, 10), F(1, 2), F(9, 10), F(1), F(2), F(10))


def _names(claim: Claim) -> list[str]:
    """The numbers that are free to be altered."""
    roles = roles_in(claim)
    names = dict.fromkeys(index_of(symbol)[0] for symbol in claim.symbols)
    return [name for name in names if name not in roles.matrices | roles.weights and name not in ("N", "d", "K")]


def _at_ends(claim: Claim, c: Candidate) -> Iterator[Change]:
    """Each number alone at each end of its domain, all at once; and that at the minimiser, and with vectors of 0."""
    ends = {name: closed_ends(claim.domains[name]) for name in _names(claim) if name in c.values}
    ends = {name: there for name, there in ends.items() if there}
    if all(claim.domains[name].integer for name in ends):  # the pool has these
        return
    choices: list[dict[str, Fraction]] = [{name: end} for name, there in ends.items() for end in there]
    if 1 < len(ends) <= MOST_PAIRED:
        choices += [dict(zip(ends, values, strict=True)) for values in product(*ends.values())]
    elif len(ends) > 1:
        choices += [{name: there[at] for name, there in ends.items()} for at in (0, -1)]
        real = {name: there for name, there in ends.items() if not claim.domains[name].integer}
        choices += [{name: there[at] for name, there in real.items()} for at in (0, -1)]
    starts = [c]
    if c.has_functions and claim.program is not None:
        starts += [still for still in (with_its_start(c),) if still is not None]
    if c.vectors:
        starts.append(replace(c, vectors=each_row(c.vectors, lambda row: row * 0)))
    for start in starts:
        for chosen in choices:
            values = {name: filled(c.values[name], end) for name, end in chosen.items()}
            bound = {name: end for name, end in chosen.items() if name in claim.constants}
            yield replace(start, values={**c.values, **values}), bound
    for name, end in ((name, end) for name, there in ends.items() for end in there):
        value = c.values[name]
        if isinstance(value, list) and len(value) > 1:  # one of them, and all but one
            yield replace(c, values={**c.values, name: [end, *value[1:]]}), {}
            yield replace(c, values={**c.values, name: [value[0], *[end] * (len(value) - 1)]}), {}


def filled(value: Any, end: Fraction) -> Any:
    """The number, where the value is a list in each of its places."""
    return [end] * len(value) if isinstance(value, list) else end


def _signed(claim: Claim, c: Candidate) -> Iterator[Change]:
    """Lists of one number a client with negative entries, where these are in the domain."""
    schedules = schedules_of(claim)
    for name in _names(claim):
        value, domain = c.values.get(name), claim.domains[name]
        if not isinstance(value, list) or len(value) < 2 or name in schedules:
            continue
        if domain.lower is not None and domain.lower >= 0:
            continue
        for signs in _signs(len(value)):
            changed = [sign * abs(v) for sign, v in zip(signs, value, strict=True)]
            yield replace(c, values={**c.values, name: changed}), {}


def _signs(clients: int) -> Iterator[Sequence[Fraction]]:
    """One negative, or all but one, or every other one; no two of these sum to 0 where weights are alike."""
    for less in (F(1, 2), F(1, 10)):
        yield [-less, *[F(1)] * (clients - 1)]
        yield [F(1), *[-less / (clients - 1)] * (clients - 1)]
    yield [F(2) if n % 2 == 0 else F(-1) for n in range(clients)]


def _at_corners(claim: Claim, c: Candidate) -> Iterator[Change]:
    """Numbers of clients of the same sum, which some of them share and the others have hardly anything of."""
    kept = roles_in(claim).matrices | schedules_of(claim)
    for name in _names(claim):
        value = c.values.get(name)
        if not isinstance(value, list) or len(value) < 2 or name in kept or not sum(value):
            continue
        total, clients = sum(value), len(value)
        for some in range(1, min(clients, MOST_AT_ONCE)):
            one, other = total * (1 - HARDLY) / some, total * HARDLY / (clients - some)
            yield replace(c, values={**c.values, name: [one] * some + [other] * (clients - some)}), {}


MOST_AT_ONCE, HARDLY = 17, F(1, 1000)
"""Clients that share a sum; the part of it that the others have."""


def _uneven(claim: Claim, c: Candidate) -> Iterator[Change]:
    """Schedules that fall, rise, or have one step far smaller or far larger than the others; none grows anywhere."""
    names = [name for name in _names(claim) if name in schedules_of(claim) and isinstance(c.values.get(name), list)]
    if not names:
        return
    long = of_rounds(c, claim, max(c.rounds, ROUNDS))
    for shape in _shapes(long.rounds):
        values = {name: [part * v for part, v in zip(shape, long.values[name], strict=True)] for name in names}
        yield replace(long, values={**long.values, **values}), {}


def _one_works_longer(claim: Claim, c: Candidate) -> Iterator[Change]:
    """One client takes many local steps, all others one; and among more clients."""
    roles = roles_in(claim)
    names = [name for name in sorted(roles.steps) if isinstance(c.values.get(name), list)]
    for many, clients in product(MANY_STEPS, dict.fromkeys((c.clients, max(c.clients, FEW)))) if names else ():
        grown = with_clients(c, claim, clients, last=False)
        turns = {name: F(many) for name in roles.turns & c.values.keys()}
        steps = {name: [F(many), *[F(1)] * (clients - 1)] for name in names}
        yield replace(grown, values={**grown.values, **turns, **steps}), {}


def _unequal_samples(claim: Claim, c: Candidate) -> Iterator[Change]:
    """In one dimension one client has many samples and all others one, or the other way; and among more clients.

    Functions are as they are, all like the first, or none but the first client's is anything.
    """
    functions = _in_one_dimension(c)
    if functions is None or c.clients < 2:
        return
    few, nothing = max(c.clients, FEW), (Piecewise((), (F(0),), F(0)),)
    as_they_are = [functions[n % c.clients] for n in range(few)]
    alike, alone = functions[:1] * few, [functions[0], *[nothing] * (few - 1)]
    for own in (as_they_are[: c.clients], as_they_are, alike, alone[: c.clients]):
        for one, others in ((1, MANY_SAMPLES), (MANY_SAMPLES, 1)):
            of_each = [tuple(islice(cycle(f), one if n == 0 else others)) for n, f in enumerate(own)]
            grown = with_clients(c, claim, len(own), last=False)
            yield replace(grown, hessian=None, linear=None, functions=tuple(of_each)), {}


def _one_sample_in_many(claim: Claim, c: Candidate) -> Iterator[Change]:
    """In one dimension one sample of each client is something, which is seldom drawn; with few clients or many."""
    functions = _in_one_dimension(c)
    if functions is None or claim.program is None or "sample" not in claim.program.operations:
        return
    nothing = Piecewise((), (F(0),), F(0))
    for clients in dict.fromkeys((c.clients, MANY_CLIENTS)):
        grown = with_clients(c, claim, clients, last=False)
        for first in dict.fromkeys(f for own in functions for f in own if f != nothing):
            each = ((first, *[nothing] * (SELDOM - 1)),) * clients
            yield replace(grown, hessian=None, linear=None, functions=each), {}


MANY_CLIENTS, SELDOM = 8, 20
"""Clients, and samples of each, of which one is something."""
MANY_STEPS, MANY_SAMPLES, FEW = (12, 40), 10, 4
"""Steps of one client, samples, and clients."""


def _shapes(rounds: int) -> Iterator[list[Fraction]]:
    """Parts of each step that are left."""
    yield [F(1, k + 1) for k in range(rounds)]
    yield [F(isqrt(10**6 // (k + 1)), 1000) for k in range(rounds)]  # about 1/sqrt(k + 1), with few digits
    yield [F(k + 1, rounds) for k in range(rounds)]
    for at in (0, rounds - 1, rounds // 2):
        yield [FAR_LESS if k == at else F(1) for k in range(rounds)]
        yield [F(1) if k == at else FAR_LESS for k in range(rounds)]


def _beside_jumps(claim: Claim, c: Candidate, one: Drawn) -> Iterator[Change]:
    """Numbers in the level of a quantile a little less and more than a chance at which the quantile jumps.

    Tails show where much is drawn: so also in a longer run, and with more of what is counted.
    """
    names = [name for name in levels(claim) if isinstance(c.values.get(name), Fraction)]
    if not names:
        return
    counted = {*c.values, *({RUN} & {*claim.symbols})}
    signs = realised(claim, _of_two_signs(c)) if c.dim == 1 and c.has_functions else None
    grown = [
        longer(claim, candidate_of(base), way, MANY_DRAWN)
        for base in (signs, one)
        if base is not None
        for way in ways(claim, candidate_of(base))
        if way.name in counted
    ]
    for now in (*grown, one):
        if now is None:
            continue
        here = candidate_of(now)
        for name, chance, side in product(names, chances_of(now, 1, here.rounds), (-BESIDE, BESIDE)):
            yield replace(here, values={**here.values, name: chance + side}), {}


def _of_two_signs(c: Candidate) -> Candidate:
    """Two linear samples of opposite slopes for each client: of bounded ones none has heavier tails."""
    slopes = [Piecewise((), (F(0),), F(sign)) for sign in (1, -1)]
    return replace(c, hessian=None, linear=None, functions=(tuple(slopes),) * c.clients)


def levels(claim: Claim) -> list[str]:
    """The numbers in the levels of quantiles."""
    names = {
        part.name
        for tree in everything_said(claim)
        if isinstance(tree, Apply) and tree.operation == "quantile"
        for part in everything(tree.arguments[1])
        if isinstance(part, Name)
    }
    return [n for n in sorted(names & claim.domains.keys() - set(claim.constants)) if not claim.domains[n].integer]


def _tightest_of_few(found: Hunt) -> list[Seen]:
    """Of the instances with two samples, or two clients with one, the tightest."""
    few = [one for one in found.seen if is_telling(one) and _samples_of(one) == 2]
    return sorted(few, key=lambda one: -one.score)[:FEWEST]


def _samples_of(seen: Seen) -> int:
    problem = seen.drawn.instance.problem
    return 0 if problem is None else sum(problem.samples(n) for n in range(problem.clients))


def chances_of(one: Drawn, *rounds: int) -> list[Fraction]:
    """Of the likeliest outcome of some rounds, of the two likeliest, and so on; and of all others but these."""
    found: set[Fraction] = set()
    try:
        play = Play(one.instance, OUTCOMES)
        for k in dict.fromkeys(rounds):
            each = sorted((to_fraction(chance) for chance, _ in play.law(k)), reverse=True)
            sums = list(accumulate(each))
            found |= {*sums[:MOST_LIKELY], *sums[:: max(1, len(sums) // MOST_SUMS)]}
    except (UndecidedError, UndefinedError, ValueError, ZeroDivisionError):
        pass
    return sorted({s for total in found for s in (total, 1 - total)})


BESIDE, MOST_LIKELY, MOST_SUMS, MANY_DRAWN = F(1, 10**9), 6, 16, 48
FEWEST = 3
"""How far beside a chance; outcomes whose chances are added up one by one, and sums of more; how much;
instances."""
ALTERED = (8, 24)
"""Instances that are altered: the tightest, and so many of all."""
SHARE = 1
"""Of the budget, which is left out of it."""
SHORT_ALTERED = 12
"""Rounds of those of a random algorithm."""


def with_altered_numbers(claim: Claim, found: Hunt, stop: Callable[[], bool], budget: Budget) -> Iterator[Seen]:
    """Instances of the pool with numbers at ends of their domains, weights of both signs, uneven schedules.

    What they take is not of the budget, and none of them is kept: later stages are as they are without them.
    """
    before = work.operations()
    tightest = sorted(found.seen, key=lambda s: -s.score)[: ALTERED[0]]
    if levels(claim):  # where little can be drawn at once much is drawn in all
        tightest = [*_tightest_of_few(found), *tightest]
    others = found.seen[:: max(1, len(found.seen) // (ALTERED[1] - ALTERED[0]))]
    for first in [*tightest, *others][: ALTERED[1]]:
        if claim.program is not None and claim.program.random and first.drawn.instance.rounds > SHORT_ALTERED:
            continue
        for one in altered(claim, first.drawn, lambda: stop() or budget.took(before, SHARE)):
            seen = measured(claim, one)
            if seen is not None:
                yield seen
    budget.leave_out(before)


__all__ = ["altered", "chances_of", "levels", "with_altered_numbers"]
