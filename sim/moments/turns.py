"""Loops in random order: the expectation over all orders by a recursion over subsets.

What was done in all orders of a set of clients (or of samples) is the mean over who was last of what it makes of the
rest: 2^N laws instead of N! orders, and fewer where samples are the same. Clients visited one after another change the
server's value, so the law of the base is carried; a client's pass over its samples is its own affair, so only the law
of what it holds is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from sim.moments.curvatures import Curvatures, unfolded_of, upper_of
from sim.moments.draws import Axis
from sim.moments.law import Law, Linear, Own, Shared
from sim.moments.meeting import Output
from sim.moments.numbers import Array, Numbers, times
from sim.moments.operations import owns
from sim.moments.unrolled import Operation
from theory.program import work

if TYPE_CHECKING:
    from sim.moments.rounds import Execution

MOST_VISITED, MOST_SETS = 16, 20_000
"""Most clients whose orders are summed over, and most sets of a client's samples, those that are the same counted."""
SUMMED, IN_FLOATS = 3, 300
"""Entries of laws of subsets that are added up in one operation of `theory.program.work`, in fractions and floats."""
LARGEST, FEW = 20_000_000, 100
"""Entries of the laws of subsets that are worked on at once; so few moments are a basis in any case."""


def visited(execution: Execution, op: Operation, law: Law) -> Law:
    """The law after ``visit``. Before it, `law` has nothing but its base.

    Raises:
        ValueError: for too many clients.
    """
    around, body, numbers = execution.around, op.body, law.numbers
    assert body is not None
    N = law.curvatures.clients
    if N > MOST_VISITED:
        raise ValueError(f"{op}: N={N} clients are outside [1, {MOST_VISITED}]: the recursion takes 2^N laws")
    first = law.values[op.of[0]]
    assert isinstance(first, Shared)
    D, d = law.P.shape[1], len(first.B)
    size = D + d
    moving = numbers.zeros(d, D)
    moving[:, : first.B.shape[1]] = first.B
    reference = numbers.zeros(size)
    reference[D:] = moving[:, 0]
    moving[:, 0] = moving[:, 0] - reference[D:]
    grown = np.concatenate([numbers.identity(D), moving])
    base = numbers.zeros(D - 1, size)
    base[:, 1:D] = numbers.identity(D - 1)
    before = numbers.zeros(d, size)
    before[:, 0] = reference[D:]
    before[:, D:] = numbers.identity(d)

    unit, upper, unfolded = numbers.identity(size)[None], upper_of(size), unfolded_of(size)

    def opened(rows: Array) -> Array:
        """(b, D + d, D + d), of upper triangles."""
        return rows[:, unfolded].reshape(-1, size, size)

    def turn(rows: Array, c: int) -> tuple[Array, Array]:
        """After a visit to client c upper triangles of E[zz'], (b, q), and the mean as a map, (D + d, D + d)."""
        part = Law(law.curvatures.part((c,)), opened(rows), size, 0, mean=unit)
        for name in op.of:
            value = law.values.get(name)
            if isinstance(value, Shared):
                part.values[name] = Shared(_wide(value.B, size, numbers))
            elif isinstance(value, Own):
                own = value.linear.B[0, c % value.linear.B.shape[1]]
                wide = _wide(own[:, : law.width], size, numbers)
                start = law.width + c * law.own_width
                wide[:, start : start + law.own_width] = own[:, law.width :]
                part.values[name] = Shared(wide)
        part.values[body.inner] = Shared(before)
        part.scalars = {name: x if x.shape[1] == 1 else x[:, c : c + 1] for name, x in law.scalars.items()}
        inside = replace(around, curvatures=part.curvatures, clients=(around.clients[c],), single=True)
        done = execution.within(inside, body.operations, part, [body.after])
        outputs = [Output(-1), Output(body.after)]
        for one in done.laws:
            one.values[-1] = Shared(base)
        end = done.finish(outputs, reference)
        assert end.mean is not None
        return end.second.reshape(len(rows), -1)[:, upper], end.mean[0]

    def after(c: int, rows: Array) -> Array:
        return turn(rows, c)[0]

    b, q = len(law.P), len(upper)
    turns: list[Callable[[Array], Array]] = []
    maps = []
    for c in range(N):  # a visit is a linear map: it is found on a basis, unless that takes more than all sets do
        basis = q <= max(b << (N - 1), FEW) and q * size * size <= LARGEST
        step, found = turn(numbers.identity(q) if basis else numbers.zeros(1, q), c)
        maps.append(partial(_times, numbers, found.T))
        turns.append(partial(_times, numbers, step) if basis else partial(after, c))
    rows = numbers.congruent(grown, law.P).reshape(b, -1)[:, upper]
    second = opened(_all_orders(numbers, rows, turns))
    mean = None
    if law.mean is not None:
        rows = times(grown, law.mean).swapaxes(-1, -2)
        mean = _all_orders(numbers, rows.reshape(-1, size), maps).reshape(rows.shape).swapaxes(-1, -2)
    # the new value comes after the server's others
    s = law.width
    order = np.concatenate([np.arange(s), np.arange(D, size), np.arange(s, D)])
    mean = None if mean is None else mean[:, order]
    made = Law(law.curvatures, second[:, order[:, None], order[None, :]], s + d, law.own_width, mean=mean)
    made.given, made.scalars = law.given, law.scalars
    for name, value in law.values.items():
        B = value.B if isinstance(value, Shared) else value.linear.B
        B = np.concatenate([B[..., :s], numbers.zeros(*B.shape[:-1], d), B[..., s:]], axis=-1)
        made.values[name] = Shared(B) if isinstance(value, Shared) else Own(Linear(B, {}))
    new = numbers.zeros(d, s + d)
    new[:, 0] = reference[D:]
    new[:, s:] = numbers.identity(d)
    made.values[op.to] = Shared(new)
    return made


def _times(numbers: Numbers, step: Array, rows: Array) -> Array:
    return numbers.product(rows, step)


def _all_orders(numbers: Numbers, rows: Array, turns: Sequence[Callable[[Array], Array]]) -> Array:
    """The mean over all orders of what the turns, each a linear map of rows, make of (b, q) together."""
    N, step = len(turns), max(1, (LARGEST >> len(turns)) // rows.shape[1])
    sets = np.arange(1 << N)
    size = np.array([bin(s).count("1") for s in sets])
    parts = []
    work.count(rows.size * N * len(sets) // (SUMMED if numbers.exact else IN_FLOATS))
    for at in range(0, len(rows), step):
        laws = numbers.zeros(len(sets), *rows[at : at + step].shape)
        laws[0] = rows[at : at + step]
        for taken in range(N):
            for c, turn in enumerate(turns):
                those = sets[(size == taken) & (sets >> c & 1 == 0)]
                moved = turn(laws[those].reshape(-1, rows.shape[1]))
                laws[those | 1 << c] += moved.reshape(len(those), *laws.shape[1:])
            laws[size == taken + 1] *= numbers.ratio(1, taken + 1)
        parts.append(laws[-1])
    return np.concatenate(parts)


def _wide(B: Array, size: int, numbers: Any) -> Array:
    out = numbers.zeros(len(B), size)
    out[:, : B.shape[1]] = B
    return out


def passed(execution: Execution, op: Operation, law: Law) -> Own:
    """What ``pass_over`` makes of the value that it begins with.

    Raises:
        ValueError: for too many samples, or where clients meet in it.
    """
    curvatures, numbers = law.curvatures, law.numbers
    execution.reads.settle(law)
    for name in op.of:
        value = law.values.get(name)
        if isinstance(value, Shared) and value.B.shape[1] > law.width:
            law.known(value)
    first = owns(law, [law.values[op.of[0]]])[0].linear
    moving = Linear(first.B, dict(first.G))
    law.values[op.to] = Own(moving)
    others = [one for one in law.carriers() if one.G and one is not moving]
    parts = [moving, *others]
    groups = sorted({g for one in parts for g in one.G})
    outcomes, N, q = law.outcomes, curvatures.clients, sum(one.rows for one in parts)
    C: Any = numbers.zeros(len(law.P), outcomes, N, q, q)
    for g in groups:
        C = C + law.noise_of(parts, g)
    B = np.broadcast_to(moving.B, (outcomes, N, *moving.B.shape[2:])).copy()
    C = C.copy()
    for count in sorted({int(c) for c in curvatures.counts}):
        clients = [n for n in range(N) if curvatures.counts[n] == count]
        B[:, clients], C[:, :, clients] = _orders(execution, op, law, clients, parts, B[:, clients], C[:, :, clients])
    moving.B = B
    law.regrouped(parts, groups, C)
    law.tidied()
    found = law.values[op.to]
    assert isinstance(found, Own)
    return found


def _orders(
    execution: Execution, op: Operation, law: Law, clients: list[int], parts: list[Linear], B: Array, C: Array
) -> tuple[Array, Array]:
    """Of clients with equally many samples, the map of the value and the covariance of `parts` after all orders."""
    around, body, numbers = execution.around, op.body, law.numbers
    assert body is not None
    curvatures = law.curvatures.part(clients)
    count, outcomes = int(curvatures.counts[0]), len(B)
    rows, q = parts[0].rows, C.shape[-1]
    at = np.concatenate(
        [np.arange(law.width)] + [law.width + n * law.own_width + np.arange(law.own_width) for n in clients]
    )
    P = law.P[:, at[:, None], at[None, :]]
    differing = None if law.spread is None else law.spread[:, clients]
    unit = numbers.identity(q)
    inside = replace(around, curvatures=curvatures, clients=tuple(around.clients[n] for n in clients), turning=True)

    def one_turn(B: Array, C: Array, samples: Array) -> tuple[Array, Array, Law]:
        """Axis 0 of B and axis 1 of C: O outcomes times E pairs of a subset and a sample."""
        E = len(samples)
        wide = lambda x: x if x.shape[0] == 1 else np.repeat(x, E, axis=0)  # noqa: E731
        here = lambda x: x if x.shape[1] == 1 else x[:, clients]  # noqa: E731
        part = Law(curvatures, P, law.width, law.own_width, differing)
        part.axes = [Axis(-1, numbers.zeros(1, outcomes * E))]
        g = part.add_noise(C)
        memo: dict[int, Linear] = {}
        start = 0
        for i, one in enumerate(parts):
            G = {g: unit[start : start + one.rows][None, None]}
            memo[id(one)] = Linear(B if i == 0 else wide(here(one.B)), G)
            start += one.rows
        for i, one in enumerate(parts):
            part.values[-2 - i] = Own(memo[id(one)])
        for name in op.of:
            value = law.values.get(name)
            if isinstance(value, Shared):
                part.values[name] = Shared(value.B)
            elif isinstance(value, Own):
                linear = value.linear
                part.values[name] = Own(memo.get(id(linear)) or Linear(wide(here(linear.B)), {}))
        part.values[body.inner] = part.values.pop(-2)
        part.scalars = {name: wide(here(x)) for name, x in law.scalars.items()}
        for axis in law.axes:
            table = axis.values if axis.values is not None else axis.shares
            assert table is not None
            part.scalars[axis.draw] = wide(here(law.along(axis, table)))
        shares = numbers.zeros(outcomes, E, curvatures.samples)
        shares[:, np.arange(E), samples] = numbers.ratio(1, 1)
        part.scalars[body.index] = shares.reshape(outcomes * E, 1, -1)
        kept = [-2 - i for i in range(1, len(parts))]
        done = execution.within(inside, body.operations, part, [body.after, *kept])
        if len(done.laws) > 1:
            raise ValueError(f"{op}: a coin for all is tossed while clients go through their samples")
        (after,) = done.laws
        moved = owns(after, [after.values[body.after]])[0]
        others = {name: after.values[name] for name in kept}
        after.values = {body.after: Own(Linear(moved.linear.B, dict(moved.linear.G)), moved.pending), **others}
        done.reads.settle(after)
        for axis in after.axes[1:]:
            if axis.pair is not None:
                raise ValueError(f"{op}: clients are chosen while they go through their samples")
            after.merge(axis)
        linears = [value.linear for value in after.values.values() if isinstance(value, Own)]
        total: Any = numbers.zeros(len(P), 1, 1, q, q)
        for group in sorted({g for one in linears for g in one.G}):
            total = total + after.noise_of(linears, group)
        shape = (outcomes * E, len(clients))
        B = np.broadcast_to(linears[0].B, (*shape, *linears[0].B.shape[2:]))
        return B, np.broadcast_to(total, (len(P), *shape, q, q)), after

    of = _kinds(op, curvatures, count)
    first, many = [of.index(a) for a in range(max(of) + 1)], [of.count(a) for a in range(max(of) + 1)]
    if (total := prod(m + 1 for m in many)) > MOST_SETS:
        raise ValueError(f"{op}: {count} samples of a client have {total} sets, more than {MOST_SETS}")
    sets = [(0,) * len(many)]
    B, C = B[:, None], C[:, :, None]
    for taken in range(count):
        pairs = [(t, a) for t, s in enumerate(sets) for a, m in enumerate(many) if s[a] < m]
        target = [(*sets[t][:a], sets[t][a] + 1, *sets[t][a + 1 :]) for t, a in pairs]
        following = list(dict.fromkeys(target))
        incoming, share = _last(following, pairs, target, numbers, taken + 1)
        chosen = np.array([t for t, _ in pairs])
        E = len(pairs)
        if C.shape[0] * outcomes * E * len(clients) * q * q > 10 * LARGEST:
            raise ValueError(f"{op}: the laws of {E} subsets of samples are more than fit")
        moved_B, moved_C, after = one_turn(
            B[:, chosen].reshape(outcomes * E, *B.shape[2:]),
            C[:, :, chosen].reshape(len(P), outcomes * E, *C.shape[3:]),
            np.array([first[a] for _, a in pairs]),
        )
        split_B = moved_B.reshape(outcomes, E, *moved_B.shape[1:])[:, incoming]
        B = (split_B * share[..., None, None, None]).sum(axis=2)
        deviation = (split_B - B[:, :, None]).reshape(-1, *moved_B.shape[1:])
        spread = after.second(deviation, deviation).reshape(len(P), outcomes, *incoming.shape, -1, rows, rows)
        share = share[..., None, None, None]
        split_C = moved_C.reshape(len(P), outcomes, E, *moved_C.shape[2:])[:, :, incoming]
        C = (split_C * share).sum(axis=3)
        C[..., :rows, :rows] = C[..., :rows, :rows] + (spread * share).sum(axis=3)
        sets = following
    return B[:, 0], C[:, :, 0]


def _kinds(op: Operation, curvatures: Curvatures, count: int) -> list[int]:
    """By sample, its kind: those are of one that are the same for every client and that no table tells apart."""
    if _has_tables(op):
        return list(range(count))
    known: dict[Any, int] = {}
    keys = (
        tuple(curvatures.sample_hessian[:, i].ravel()) + tuple(curvatures.sample_linear[:, i].ravel())
        for i in range(count)
    )
    return [known.setdefault(key, len(known)) for key in keys]


def _has_tables(op: Operation) -> bool:
    assert op.body is not None
    return any(
        one.step.op in ("get", "put") or (one.body is not None and _has_tables(one)) for one in op.body.operations
    )


def _last(
    following: list[tuple[int, ...]],
    pairs: list[tuple[int, int]],
    target: list[tuple[int, ...]],
    numbers: Numbers,
    taken: int,
) -> tuple[Array, Array]:
    """By which pairs of a set and a kind each set comes about, and with what chance the last one was of that kind.

    Returns:
        (F, A), places among the pairs, those that are missing the first, and (F, A), 0 of these.
    """
    by: dict[tuple[int, ...], list[int]] = {goal: [] for goal in following}
    for place, goal in enumerate(target):
        by[goal].append(place)
    most = max(map(len, by.values()))
    incoming, share = np.zeros((len(following), most), dtype=int), numbers.zeros(len(following), most)
    for f, goal in enumerate(following):
        for j, place in enumerate(by[goal]):
            incoming[f, j], share[f, j] = place, numbers.ratio(goal[pairs[place][1]], taken)
    return incoming, share
