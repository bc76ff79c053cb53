"""The instructions of a round that no draw is in, compiled: what each writes into an environment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from theory.arithmetic import to_element
from theory.formula import names_in
from theory.program import Instruction
from validate.instances.problems import Vector
from validate.instances.scalars import Scalar
from validate.primitives import Terms, added, combined, elementwise, nonzero, summed, terms_of
from validate.rounds.frame import CLIENT, TAPS, Effect, Environment, Frame, Where
from validate.rounds.readers import PER_CLIENT

Made: TypeAlias = "Callable[[Environment], Callable[[int, list[Any]], Any]]"
"""What an instruction does to the operands of a client, its numbers being those of an environment."""


def instruction(frame: Frame, step: Instruction, where: Where) -> Effect:
    """An instruction as what it does to an environment.

    Args:
        frame: of the round.
        step: neither a draw nor a tap.
        where: it stands.

    Raises:
        ValueError: for a sum over the clients of what is one client's.
    """
    if step.op in ("mean", "sum", "average", "mix"):
        return _over_clients(frame, step, where)
    of, numbers = frame.operands(step, where)
    made, to = _made(frame, step, numbers, where), frame.slots[step.to]
    if where.made is not None:

        def visited(env: Environment) -> None:
            n = env[CLIENT]
            env[to] = made(env)(n, [env[s][n] if own else env[s] for s, own in of])

        return visited
    if step.kind not in PER_CLIENT:

        def server(env: Environment) -> None:
            env[to] = made(env)(0, [env[s] for s, _ in of])

        return server
    needed, N = frame.needed(step.to, where), frame.clients
    all_clients, nothing = (True,) * N, (None,) * N

    def clients(env: Environment) -> None:
        values, one = [(env[s], own) for s, own in of], made(env)
        wanted = all_clients if needed is None else needed(env)
        before = env[to] or nothing  # a client that is through with its samples stays as it was
        env[to] = tuple(
            [one(n, [v[n] if own else v for v, own in values]) if wanted[n] else before[n] for n in range(N)]
        )

    return clients


def _made(frame: Frame, step: Instruction, numbers: Sequence[Scalar], where: Where) -> Made:
    tables = [frame.kinds[name] == "table" for name in step.of]
    fixed = all(c.fixed and not c.by_round and not c.per_client for c in numbers)
    if step.op == "linear" and fixed and where.made is None and not any(tables):
        return _sum(frame, numbers)
    weights: Vector | None = None
    if step.op == "combine":
        weights = tuple(to_element(w) for w in frame.instance.parameters[step.label])  # type: ignore[union-attr]
    one, split = elementwise(step, frame.problem, tables, weights), [c.per_client for c in numbers]

    def made(env: Environment) -> Callable[[int, list[Any]], Any]:
        values = [c.value(env) for c in numbers]
        if any(split):
            return lambda n, of: one(n, of, [v[n] if m else v for v, m in zip(values, split, strict=True)])
        return lambda n, of: one(n, of, values)

    return made


def _sum(frame: Frame, numbers: Sequence[Scalar]) -> Made:
    """A sum whose factors are always the same: which of them are 0, 1 and -1 is seen once."""
    from flint import fmpq

    zeros = (fmpq(0),) * frame.problem.dim
    known: list[Terms] = []

    def made(env: Environment) -> Callable[[int, list[Any]], Any]:
        if not known:
            known.append(terms_of([c.value(env) for c in numbers]))
        terms = known[0]
        return lambda n, of: summed(terms, of, zeros)

    return made


def _over_clients(frame: Frame, step: Instruction, where: Where) -> Effect:
    """A sum over the clients."""
    from flint import fmpq

    (name,) = step.of
    to, slot, N = frame.slots[step.to], frame.slots[name], frame.clients
    zeros = (fmpq(0),) * frame.problem.dim
    of_clients = frame.kinds[name] in PER_CLIENT
    if where.made is not None:
        own = {name} if of_clients else set()
        if step.op == "average":
            own = own.union(*map(names_in, step.numbers))
        if own & where.made:
            raise ValueError(f"w.{step.op} in w.visit: there, a value that was made in it is that of one client")

    def vectors(env: Environment) -> Sequence[Any]:
        value: Sequence[Any] = env[slot] if of_clients else (env[slot],) * N
        return value

    if step.op == "mix":
        matrix = [[to_element(e) for e in row] for row in frame.instance.parameters[step.label]]  # type: ignore[union-attr]

        def mix(env: Environment) -> None:
            if where.made is None:
                env[to] = tuple([combined(row, env[slot], zeros) for row in matrix])
            else:
                env[to] = combined(matrix[env[CLIENT]], env[slot], zeros)

        return mix
    if step.op == "average":
        active = frame.scalars.compiled(step.numbers[0], frame.slots, frame.many)

        def average(env: Environment) -> None:
            weights = active.value(env) if active.per_client else (active.value(env),) * N
            count = sum(weights[1:], weights[0])
            total = combined(weights, vectors(env), zeros)
            env[to] = tuple([x / count if x else x for x in total]) if nonzero(count) else zeros

        return average

    def total(env: Environment) -> None:
        columns = added(vectors(env))
        env[to] = tuple(columns if step.op == "sum" else [x / N if x else x for x in columns])

    return total


def tap(frame: Frame, step: Instruction, where: Where) -> Effect:
    """A tap as what it does to an environment: what it saw stands there, by its name and the turns."""
    slot, label = frame.slots[step.of[0]], step.label
    own = where.made is not None and frame.of_each(step.of[0], where)

    def tapped(env: Environment) -> None:
        value = env[slot][env[CLIENT]] if own else env[slot]
        env[TAPS] = (*env[TAPS], ((label, tuple([env[s] for s in where.loops])), value))

    return tapped
