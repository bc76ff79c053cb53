"""A pass over the samples by moments: of all orders in which a client may take its own.

A turn is affine in the value that it is handed, x -> T x + u, with a T and a u for each sample, found by running the
turn on unknowns. What samples a client has left behind is a set of which only matters how many there are of each kind
(samples of one kind are the same function): whoever was last, the rest came in any order. So what the client holds
after a set is a sum of the quantities that were there before, the mean over who was last, and a rest of mean 0 given
all of these, whose covariance follows from set to set. Clients take their samples independently of one another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from .quantities import Form, Sum, draws_of
from .reading import FormatError, Uncheckable
from .scalars import ONE, ZERO
from .steps import Loop, Step, defined

if TYPE_CHECKING:
    from .linear import Round

MOST_SETS = 20_000  # of the samples of a client
Counts = tuple[int, ...]
Matrix = Sequence[Sequence[Fraction]]


@dataclass(frozen=True)
class Turn:
    """What a turn does to the value of one client.

    Attributes:
        times: T, (d, d).
        plus: u, a sum of quantities a coordinate.
    """

    times: Matrix
    plus: Sequence[Sum]


@dataclass(frozen=True)
class Law:
    """What a client holds: sums of quantities, and the covariance of a rest of mean 0 given these."""

    mean: Sequence[Sum]
    rest: Matrix


def passed(run: Round, loop: Loop, after: frozenset[str]) -> None:
    """Every client goes once through its own samples: `run.env` has what it holds then; `after` is read later."""
    (c,) = loop.carried
    own = {name for step in loop.body for name in defined(step)} | {c.name}
    if c.copied[1] or (own - {c.following}) & after:
        raise Uncheckable("moments of a pass that gives one value for all, or of which a last turn is read")
    if any(not isinstance(step, Step) or (step.op == "tap" and step.label in run.wanted) for step in loop.body):
        raise Uncheckable("moments of loops, or taps, within a pass")
    first = run.env[c.first]
    values = [first] * run.N if c.copied[0] else first
    tables = any(isinstance(step, Step) and step.op in ("get", "put") for step in loop.body)
    kinds = [_kinds(samples, tables) for samples in run.problem.samples]
    found: list[list[Turn]] = [[] for _ in range(run.N)]
    for kind in range(max(map(len, kinds))):
        for n, turn in enumerate(_turns(run, loop, [own[min(kind, len(own) - 1)][0] for own in kinds])):
            found[n].append(turn)
    made = []
    for n, turns in enumerate(found):
        law = Law([_sum(run, form) for form in values[n]], [[ZERO] * run.d for _ in range(run.d)])
        made.append(_all_orders(run, law, turns, [len(places) for places in kinds[n]]))
    for name in own:
        run.env.pop(name, None)
    run.env[c.following] = made


def _kinds(samples: Sequence[Any], tables: bool) -> list[list[int]]:
    """The places of samples that are the same; each alone where there are tables that tell them apart."""
    found: dict[Any, list[int]] = {}
    for i, f in enumerate(samples):
        key = i if tables else (tuple(map(tuple, f.rows)), tuple(f.b))
        found.setdefault(key, []).append(i)
    return list(found.values())


def _turns(run: Round, loop: Loop, samples: Sequence[int]) -> Iterator[Turn]:
    """The turns of all clients, each with a sample of its own."""
    (c,), room = loop.carried, run.room
    unknown = [[room.new() for _ in range(run.d)] for _ in range(run.N)]
    drawn, known = len(room.chances), len(room.covariance)
    run.env[c.name] = [[{((), x): ONE} for x in own] for own in unknown]
    run.env[loop.index] = [
        [ONE if i == sample else ZERO for i in range(len(f))]
        for f, sample in zip(run.problem.samples, samples, strict=True)
    ]
    for step in loop.body:
        assert isinstance(step, Step)
        if step.op != "tap":
            run.env[step.to] = run.value(step)
    if len(room.chances) > drawn or len(room.covariance) > known:
        raise Uncheckable("moments of draws within a pass")
    after = run.env[c.following]
    del run.env[loop.index]
    for n, own in enumerate(unknown):
        sums = [_sum(run, form) for form in after[n]]
        times = [[one.pop(x, ZERO) for x in own] for one in sums]
        if any(x in one for one in sums for other in unknown for x in other):
            raise Uncheckable("moments of clients that meet within a pass")
        yield Turn(times, sums)
    room.forget([x for own in unknown for x in own])


def _sum(run: Round, form: Form) -> Sum:
    """A form without draws that may still be read; where it has some, these are told apart."""
    if draws_of(form):
        run.settled(form)
    return {quantity: value for (_, quantity), value in form.items()}


def _all_orders(run: Round, law: Law, turns: Sequence[Turn], many: Sequence[int]) -> list[Form]:
    """After all samples, so many of each kind."""
    if prod(m + 1 for m in many) > MOST_SETS:
        raise FormatError(f"the samples of a client have more than {MOST_SETS} sets")
    laws = {(0,) * len(many): law}
    sets = sorted(product(*(range(m + 1) for m in many)), key=sum)
    for those in sets[1:]:
        total = sum(those)
        before = [
            (Fraction(m, total), turns[a], laws[(*those[:a], m - 1, *those[a + 1 :])]) for a, m in enumerate(those) if m
        ]
        laws[those] = _mixed(run, before)
    last = laws[tuple(many)]
    news = [run.room.new() for _ in range(run.d)]
    for i, one in enumerate(news):
        for j in range(i, run.d):
            run.room.relate(one, news[j], last.rest[i][j])
    return [
        run.room.short(
            {**{((), q): value for q, value in own.items()}, **({((), new): ONE} if last.rest[j][j] else {})}
        )
        for j, (own, new) in enumerate(zip(last.mean, news, strict=True))
    ]


def _mixed(run: Round, before: Sequence[tuple[Fraction, Turn, Law]]) -> Law:
    """The law after one more sample, each of these with its probability."""
    room, d = run.room, range(run.d)
    after = [[_added(turn.times[j], law.mean, turn.plus[j]) for j in d] for _, turn, law in before]
    shares = [p for p, _, _ in before]
    mean = [_added(shares, [own[j] for own in after], {}) for j in d]
    rest = [[ZERO] * run.d for _ in d]
    for (p, turn, law), own in zip(before, after, strict=True):
        off = [_added((ONE, -ONE), (own[j], mean[j]), {}) for j in d]
        carried = [[sum((turn.times[i][a] * law.rest[a][j] for a in d), ZERO) for j in d] for i in d]
        for i in d:
            for j in range(i, run.d):
                moved = sum((carried[i][a] * turn.times[j][a] for a in d), ZERO)
                rest[i][j] += p * (moved + room.together(off[i], off[j]))
                rest[j][i] = rest[i][j]
    room.spend([value for row in rest for value in row])
    room.spend([value for own in mean for value in own.values()])
    return Law(mean, rest)


def _added(factors: Sequence[Fraction], sums: Sequence[Sum], plus: Sum) -> Sum:
    """sum c s, and one more."""
    found = dict(plus)
    for c, one in zip(factors, sums, strict=True):
        if c:
            for quantity, value in one.items():
                found[quantity] = found.get(quantity, ZERO) + c * value
    return {quantity: value for quantity, value in found.items() if value}
