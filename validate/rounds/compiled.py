"""A round compiled into functions of branches, and played."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from theory.operations import Element, rational_type, to_ball
from theory.program import Loop, Program, Step, work
from validate.instances.instance import Instance
from validate.primitives import short_enough
from validate.rounds.draws import DRAWS, drawn
from validate.rounds.frame import TAPS, Branches, Effect, Environment, Frame, Onward, State, Where
from validate.rounds.instructions import instruction, tap
from validate.rounds.loops import looped
from validate.rounds.written import Written, stretch, written


@dataclass(frozen=True, slots=True)
class Outcome:
    """One outcome of a round.

    Attributes:
        probability: of it.
        state: after the round.
        taps: what was tapped, by name and turns: ``("y", (h,))``.
    """

    probability: Any
    state: State
    taps: Mapping[tuple[str, tuple[int, ...]], Any]


class Round:
    """A round, compiled.

    Args:
        program: whose.
        instance: on what.
        taps: which are wanted.
    """

    def __init__(self, program: Program, instance: Instance, taps: frozenset[str]) -> None:
        self._frame = Frame(program, instance, taps)
        self._steps = _compiled(self._frame, program.body, Where())

    def play(self, state: State, k: int, room: int, limit: int, longest: int, enclosed: int = 0) -> list[Outcome]:
        """All outcomes of round k from a state.

        Args:
            state: before the round.
            k: the round.
            room: how many outcomes there may be.
            limit: how many there may be in the whole round, for the message.
            longest: bits that a number of a state may have.
            enclosed: bits above which it is enclosed in a ball at the end of the round; 0 where none is.

        Raises:
            TooManyOutcomesError: when there are more.
            UndefinedError, UndecidedError, ValueError: as `validate.play.Play.law`.
        """
        from flint import fmpq

        frame = self._frame
        frame.scalars.k, frame.room, frame.limit = k, room, limit
        env: Environment = [None] * frame.size
        env[TAPS] = ()
        for name, value in zip(frame.program.inputs, state, strict=True):
            env[frame.slots[name]] = value
        branches: Branches = [(fmpq(1), env)]
        for step in self._steps:
            branches = step(branches)
        ends = [
            (frame.slots[name], s.kind != "server" and frame.kinds[name] == "server")
            for name, s in zip(frame.program.result, frame.program.state, strict=True)
        ]
        outcomes = []
        for p, env in branches:
            after = tuple([(env[slot],) * frame.clients if copied else env[slot] for slot, copied in ends])
            if enclosed:
                after = _enclosed(after, enclosed)
            outcomes.append(Outcome(p, after, dict(env[TAPS])))
        for value in _numbers_of(outcomes[0].state) if outcomes else ():
            short_enough(value, longest)
        return outcomes


def _enclosed(value: Any, bits: int) -> Any:
    """A state with a ball in the place of each fraction that has more bits."""
    if isinstance(value, tuple):
        return tuple([_enclosed(one, bits) for one in value])
    return to_ball(value) if type(value) is rational_type() and value.height_bits() > bits else value


def _compiled(frame: Frame, steps: Sequence[Step], where: Where) -> list[Onward]:
    """The steps as functions of branches."""
    found: list[Onward] = []
    plain: list[Written | Effect] = []

    def onward(step: Onward) -> None:
        if plain:
            found.append(_straight(frame, tuple(plain)))
            plain.clear()
        found.append(step)

    for step in steps:
        if isinstance(step, Loop):
            onward(looped(frame, step, where, _compiled))
            where = where.after(*step.defines)
        elif step.op == "tap":
            if step.label in frame.taps:
                plain.append(tap(frame, step, where))
        else:
            if frame.readers.guards[step.to] is None:
                pass  # nobody reads it
            elif step.op in DRAWS:
                onward(drawn(frame, step, where))
            else:
                plain.append(written(frame, step, where) or instruction(frame, step, where))
            where = where.after(step.to)
    if plain:
        found.append(_straight(frame, tuple(plain)))
    return found


def _straight(frame: Frame, steps: tuple[Written | Effect, ...]) -> Onward:
    all_of_them = stretch(frame, steps)

    def run(branches: Branches) -> Branches:
        work.count(len(branches) * len(steps))
        for _, env in branches:
            all_of_them(env)
        return branches

    return run


def _numbers_of(value: Any) -> Iterator[Element]:
    if isinstance(value, tuple):
        for v in value:
            yield from _numbers_of(v)
    elif value is not None:
        yield value
