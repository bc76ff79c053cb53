"""The draws of a round, compiled: every outcome with its probability."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import comb, prod
from typing import Any, Protocol, TypeAlias, runtime_checkable

from theory.program import Instruction
from validate.instances.problems import Vector
from validate.instances.scalars import Scalar
from validate.primitives import Choices, batches, chosen, coin, count_batches, kept_coordinates, noises
from validate.rounds.frame import CLIENT, Branches, Environment, Frame, Onward, TooManyOutcomesError, Where
from validate.rounds.readers import PER_CLIENT

DRAWS = ("sample", "noise", "coins", "keep", "coin", "choose")
Draw: TypeAlias = "Callable[[Environment], Choices]"
MOST_SAMPLES = 200_000
"""In all batches of a client together, which are written out."""
OneDraw: TypeAlias = "Callable[[int, list[Any], Any], Choices]"
"""Client, its operands, the number of the draw -> what it can draw."""


@runtime_checkable
class KnowsNoCoordinates(Protocol):
    """A problem whose vectors have no coordinates, which has to say what a random one is."""

    def draw(self, op: str, key: Any, of: Sequence[Vector], number: Any) -> list[tuple[Any, Vector]]:
        """What ``w.noise`` or ``w.keep`` give, ``key`` naming the draw, its turn and its client."""


def drawn(frame: Frame, step: Instruction, where: Where) -> Onward:
    """A draw as what it makes of branches: one for each of its outcomes."""
    draw, to = _timed(frame, step, where), frame.slots[step.to]

    def onward(branches: Branches) -> Branches:
        found: Branches = []
        for p, env in branches:
            choices = draw(env)
            if len(choices) == 1:
                env[to] = choices[0][1]
                found.append((p, env))
                continue
            frame.fit(len(found) + len(choices))
            for q, value in choices:
                new = env.copy()
                new[to] = value
                found.append((p * q, new))
        return found

    return onward


def independent(frame: Frame, each: Sequence[Choices]) -> Choices:
    """All combinations of what the clients draw."""
    frame.fit(prod(map(len, each)))
    found = []
    for choice in product(*each):
        p = choice[0][0]
        for q, _ in choice[1:]:
            p = p * q
        found.append((p, tuple([value for _, value in choice])))
    return found


def _without_coordinates(frame: Frame, step: Instruction) -> bool:
    return step.op in ("noise", "keep") and isinstance(frame.problem, KnowsNoCoordinates)


def _timed(frame: Frame, step: Instruction, where: Where) -> Draw:
    """The choices of a draw; a problem that takes the law into its own hands is told of the turn."""
    plain = _draw(frame, step, where)
    if not _without_coordinates(frame, step):
        return plain

    def draw(env: Environment) -> Choices:
        frame.turns = (frame.scalars.k, *[env[s] for s in where.loops])
        return plain(env)

    return draw


def _draw(frame: Frame, step: Instruction, where: Where) -> Draw:
    of, numbers = frame.operands(step, where)
    number = numbers[0]
    if step.op == "coin":
        return lambda env: coin(number.value(env))
    if step.op == "choose":
        return _choose(frame, step, number, where)
    one = _one_draw(frame, step)
    if where.made is not None:
        return lambda env: one(
            env[CLIENT], [env[s][env[CLIENT]] if own else env[s] for s, own in of], number.value(env)
        )
    if step.kind not in PER_CLIENT:
        return lambda env: one(0, [env[s] for s, _ in of], number.value(env))
    needed, N, many = frame.needed(step.to, where), frame.clients, number.per_client

    def draws(env: Environment) -> Choices:
        c = number.value(env)
        wanted = None if needed is None else needed(env)
        values = [(env[s], own) for s, own in of]
        each: list[Choices] = [
            one(n, [v[n] if own else v for v, own in values], c[n] if many else c)
            if wanted is None or wanted[n]
            else [(1, None)]
            for n in range(N)
        ]
        return independent(frame, each)

    if of or needed is not None or not number.fixed or number.by_round or _without_coordinates(frame, step):
        return draws
    found: list[Choices] = []

    def always(env: Environment) -> Choices:
        if not found:
            found.append(draws(env))
        return found[0]

    return always


def _one_draw(frame: Frame, step: Instruction) -> OneDraw:
    """What one client draws, or the server."""
    problem = frame.problem
    if _without_coordinates(frame, step):
        assert isinstance(problem, KnowsNoCoordinates)
        own = problem.draw
        return lambda n, of, number: own(step.op, (step.to, frame.turns, n), of, number)

    drawn: dict[tuple[int, int], tuple[int, Choices]] = {}  # runs ask for the same again and again

    def sample(n: int, of: list[Any], size: Any) -> Choices:
        b = int(size)
        if (n, b) not in drawn:
            replace = bool(step.flag) or b == 1
            which, times = frame.samples(n)
            count = count_batches(times, b, replace)
            frame.fit(count)
            if count * b > MOST_SAMPLES:
                raise TooManyOutcomesError(
                    f"round {frame.scalars.k} draws one of {count} batches of {b} samples: take smaller ones"
                )
            each = [(p, tuple([which[i] for i in batch])) for p, batch in batches(times, b, replace)]
            drawn[n, b] = count, each
        count, each = drawn[n, b]
        frame.fit(count)
        return each

    def keep(n: int, of: list[Any], m: Any) -> Choices:
        if sum(map(bool, of[0])) > 20:
            frame.fit(comb(problem.dim, int(m)))
        return kept_coordinates(of[0], int(m))

    found: dict[str, OneDraw] = {
        "sample": sample,
        "noise": lambda n, of, sigma2: noises(sigma2, problem.dim),
        "coins": lambda n, of, p: coin(p),
        "keep": keep,
    }
    return found[step.op]


def _choose(frame: Frame, step: Instruction, number: Scalar, where: Where) -> Draw:
    from flint import fmpq

    N, replace = frame.clients, bool(step.flag)

    def choose(env: Environment) -> Choices:
        S = int(number.value(env))
        if where.made is not None:  # only what falls to the one client is seen of it
            if not replace:
                return coin(fmpq(S, N))
            return [(fmpq(comb(S, s) * (N - 1) ** (S - s), N**S), fmpq(s)) for s in range(S + 1) if N > 1 or s == S]
        frame.fit(count_batches((1,) * N, S, replace))
        return list(chosen(N, S, replace))

    return choose
