"""Runs a round once, with one choice of every draw.

What a client does is computed, and what it draws is drawn, only when it is asked for: the draws of clients that take no
part cost nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from .arguments import MOST_TURNS, check, whole
from .draws import Draws, orders
from .later import IDLE, now, when_asked
from .making import Maker
from .reading import FormatError, Uncheckable
from .scalars import Number
from .steps import OF_CLIENTS, Loop, Step, defined

if TYPE_CHECKING:
    from .playing import Game

MOST_RUN = 100_000  # steps that a round takes
Tap = tuple[str, tuple[int, ...]]


@dataclass(frozen=True)
class Outcome:
    """One outcome of a round: probability, state after it, what was tapped."""

    probability: Number
    state: tuple[Any, ...]
    taps: Mapping[Tap, Any]


class Run(Maker):
    """One way through a round."""

    def __init__(self, game: Game, k: int, draws: Draws, taps: frozenset[str]) -> None:
        super().__init__(game, k, draws)
        self.wanted = taps
        self.around: list[int] = []
        self.taps: dict[Tap, Any] = {}
        self.steps_left = MOST_RUN

    def outcome(self, state: tuple[Any, ...]) -> Outcome:
        """Runs the round."""
        program = self.game.program
        env: dict[str, Any] = {
            f"_{i}": _thawed(value, s.kind) for i, (value, s) in enumerate(zip(state, program.state, strict=True))
        }
        self.steps(program.body, env)
        after = []
        for name, copied in zip(program.result, program.copied, strict=True):
            value = [env[name]] * self.N if copied else env[name]
            after.append(_frozen(value))
        taps = {key: _frozen(value) for key, value in self.taps.items()}
        return Outcome(self.draws.probability, tuple(after), taps)

    def steps(self, steps: Sequence[Step | Loop], env: dict[str, Any]) -> None:
        """Runs steps: afterwards `env` has the values that they make."""
        for step in steps:
            self.steps_left -= 1
            if self.steps_left < 0:
                raise FormatError(f"a round takes more than {MOST_RUN} steps")
            self.work.spend(4)
            if isinstance(step, Loop):
                {"repeat": self.repeat, "visit": self.visit, "pass": self.go_through}[step.op](step, env)
            elif step.op == "tap":
                if step.label in self.wanted:
                    self.taps[step.label, tuple(self.around)] = env[step.of[0]]
            else:
                env[step.to] = self.value(step, env)

    # loops

    def hand_on(self, loop: Loop, env: dict[str, Any], first: bool) -> None:
        found = {}
        for c in loop.carried:
            value = env[c.first if first else c.following]
            found[c.name] = [value] * self.N if c.copied[0 if first else 1] else value
        env.update(found)

    def repeat(self, loop: Loop, env: dict[str, Any]) -> None:
        assert loop.count is not None
        count = self.number(loop.count, env, self.client)
        check(self.problem, loop, loop.count, 0, count, 0)
        for turn in range(whole(count, "the number of turns", 1, MOST_TURNS)):
            self.turn[loop.index] = turn
            self.around.append(turn)
            self.hand_on(loop, env, turn == 0)
            self.steps(loop.body, env)
            self.around.pop()
        del self.turn[loop.index]

    def visit(self, loop: Loop, env: dict[str, Any]) -> None:
        left = list(range(self.N))
        kinds = self.game.program.kinds
        own: dict[str, Any] = {}
        (c,) = loop.carried
        value = env[c.first]
        for turn in range(self.N):
            p = Fraction(1, len(left))
            client = self.draws.draw([(p, n) for n in left])
            left.remove(client)
            own = {name: cell[client] if kinds[name] in OF_CLIENTS else cell for name, cell in env.items()}
            own[c.name] = value
            self.work.spend(len(own))
            self.client, self.outer = client, env
            self.around.append(turn)
            self.steps(loop.body, own)
            self.around.pop()
            value = own[c.following]
        self.client, self.outer = None, {}
        env.update({name: own[name] for name in defined(loop)})

    def go_through(self, loop: Loop, env: dict[str, Any]) -> None:
        """Every client goes once through its own samples."""
        (c,) = loop.carried
        problem, client = self.problem, self.client
        clients = range(self.N) if client is None else [client]
        sizes = [len(problem.samples[n]) for n in clients]
        ways = [self.later(partial(orders, self.game.kinds(n)), ()) for n in clients]
        for turn in range(max(sizes)):
            self.hand_on(loop, env, turn == 0)
            drawn = [
                when_asked(partial(_turn_of, w, turn), (w,)) if turn < size else IDLE
                for w, size in zip(ways, sizes, strict=True)
            ]
            env[loop.index] = drawn if client is None else drawn[0]
            self.around.append(turn)
            self.steps(loop.body, env)
            self.around.pop()
            if client is None and IDLE in drawn:
                if c.copied[1]:
                    raise Uncheckable(
                        "a pass gives one value for all, and the clients have different numbers of samples"
                    )
                before, after = env[c.name], env[c.following]
                env[c.following] = [b if i is IDLE else a for i, b, a in zip(drawn, before, after, strict=True)]


def _turn_of(order: Any, turn: int) -> tuple[int, ...]:
    """The batch of a turn of a pass."""
    return (now(order)[turn],)


def _thawed(value: Any, kind: str) -> Any:
    """A value of a state, with lists for the parts that clients, samples and memories have."""
    if kind == "server":
        return value
    if kind in ("client", "past"):
        return list(value)
    return [list(part) for part in value]


def _frozen(value: Any) -> Any:
    """Everything computed, as tuples."""
    value = now(value)
    if value is IDLE:
        raise Uncheckable("a value of a client that has gone through its samples is asked for")
    if isinstance(value, list | tuple):
        return tuple([_frozen(part) for part in value])
    return value
