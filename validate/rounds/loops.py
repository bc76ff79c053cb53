"""The loops of a round, compiled: repeated steps, visits to one client after another, and passes over the samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from theory.program import Carried, Loop, Step
from validate.primitives import Choices
from validate.rounds.draws import independent
from validate.rounds.frame import CLIENT, Branches, Effect, Environment, Frame, Onward, Where

Body: TypeAlias = "Callable[[Frame, Sequence[Step], Where], list[Onward]]"
"""How the steps of a body are compiled."""
Turn: TypeAlias = "Callable[[Branches, int], Branches]"


def looped(frame: Frame, step: Loop, where: Where, body: Body) -> Onward:
    """A loop as what it makes of branches.

    Raises:
        ValueError: for a pass of clients with different numbers of samples that gives a server's value.
    """
    if step.op == "repeat":
        return _repeat(frame, step, where, body)
    return _visit(frame, step, where, body) if step.op == "visit" else _pass(frame, step, where, body)


def _hand_on(frame: Frame, carried: Sequence[Carried], first: bool, where: Where) -> Effect:
    """Put what is handed on under the names that the body reads it by, all at once."""
    moves = []
    for c in carried:
        source = c.first if first else c.following
        copied = where.made is None and c.kind == "client" and frame.kinds[source] == "server"
        taken = where.made is not None and frame.of_each(source, where)
        moves.append((frame.slots[source], frame.slots[c.name], copied, taken))

    def hand_on(env: Environment) -> None:
        values = []
        for source, _, copied, taken in moves:
            value = env[source]
            values.append(
                (value,) * frame.clients if copied else value[env[CLIENT]] if taken and value is not None else value
            )
        for (_, to, _, _), value in zip(moves, values, strict=True):
            env[to] = value

    return hand_on


def _turn(frame: Frame, step: Loop, where: Where, slot: int, body: Body) -> Turn:
    """One turn: hand on, count, run the body."""
    within = where.after(*[c.name for c in step.carried], *([step.index] if step.op == "pass" else []))
    begin = _hand_on(frame, step.carried, True, where)
    go_on = _hand_on(frame, step.carried, False, within.after(*step.defines))  # its values were made inside
    steps = body(frame, step.body, Where(within.made, (*where.loops, slot)))

    def turn(branches: Branches, t: int) -> Branches:
        move = begin if t == 0 else go_on
        for _, env in branches:
            move(env)
            env[slot] = t
        for one in steps:
            branches = one(branches)
        return branches

    return turn


def _repeat(frame: Frame, step: Loop, where: Where, body: Body) -> Onward:
    assert step.count is not None
    count = frame.scalar(step, step.count, 0, where)
    turn = _turn(frame, step, where, frame.slots[step.index], body)

    return _turned(lambda env: int(count.value(env)), turn)


def _turned(turns_of: Callable[[Environment], int], turn: Turn) -> Onward:
    """Every branch taken through its turns, those that have as many together."""

    def turned(branches: Branches) -> Branches:
        groups: dict[int, Branches] = {}
        for p, env in branches:
            groups.setdefault(turns_of(env), []).append((p, env))
        found: Branches = []
        for turns, group in groups.items():
            for t in range(turns):
                group = turn(group, t)
            found += group
        return found

    return turned


def _visit(frame: Frame, step: Loop, where: Where, body: Body) -> Onward:
    from flint import fmpq

    counter, left = frame.place(), frame.place()
    turn, N = _turn(frame, step, Where(frozenset(), where.loops), counter, body), frame.clients

    def visit(branches: Branches) -> Branches:
        for _, env in branches:
            env[left] = tuple(range(N))
        for t in range(N):
            p_next = fmpq(1, N - t)
            found: Branches = []
            for p, env in branches:
                frame.fit(len(found) + N - t)
                for n in env[left]:
                    new = env.copy()
                    new[CLIENT], new[left] = n, tuple([m for m in env[left] if m != n])
                    found.append((p * p_next, new))
            branches = turn(found, t)
        return branches

    return visit


def _pass(frame: Frame, step: Loop, where: Where, body: Body) -> Onward:
    """Every client goes through its samples; the next one is drawn in each turn."""
    counter, left, idle = frame.place(), frame.place(), frame.place()
    index, N, alone = frame.slots[step.index], frame.clients, where.made is not None
    each = [tuple(i for i, m in zip(*frame.samples(n), strict=True) for _ in range(m)) for n in range(N)]
    counts = [*map(len, each)]
    unequal = not alone and len(set(counts)) > 1
    if unequal and any(frame.kinds[c.following] == "server" for c in step.carried):
        raise ValueError("w.pass_over gives a server's value, and the clients have different numbers of samples")
    needed = frame.needed(step.index, where)
    if unequal:
        frame.idle.append(idle)
    turn = _turn(frame, step, where, counter, body)
    if unequal:
        frame.idle.pop()

    def begun(env: Environment) -> int:
        """Lay out the samples of the clients that are wanted; how many turns there are."""
        if alone:
            env[left] = each[env[CLIENT]]
            return counts[env[CLIENT]]
        wanted = [True] * N if needed is None else needed(env)
        env[left] = tuple([each[n] if wanted[n] else None for n in range(N)])
        return max(counts)

    def spread(branches: Branches) -> Branches:
        """The branches, each with the clients' next samples."""
        found: Branches = []
        for p, env in branches:
            if alone:
                choices: Choices = [(q, ((i,), (rest,))) for q, (i, rest) in _next_sample(env[left])]
            else:
                next_ones = [[(1, (None, None))] if own is None else _next_sample(own) for own in env[left]]
                choices = [(q, tuple(zip(*drawn, strict=True))) for q, drawn in independent(frame, next_ones)]
            frame.fit(len(found) + len(choices))
            for q, (samples, rests) in choices:
                new = env.copy()
                new[index], new[left] = (samples[0], rests[0]) if alone else (samples, rests)
                new[idle] = [i is None for i in samples]
                found.append((p * q, new))
        return found

    return _turned(begun, lambda group, t: turn(spread(group), t))


def _next_sample(remaining: tuple[int, ...]) -> Choices:
    """The next sample of one client, and what remains; nothing for a client that is through."""
    from flint import fmpq

    if not remaining:
        return [(fmpq(1), (None, ()))]
    found = []
    for at, i in enumerate(remaining):
        if i not in remaining[:at]:
            p = fmpq(remaining.count(i), len(remaining))
            found.append((p, ((i,), remaining[:at] + remaining[at + 1 :])))
    return found
