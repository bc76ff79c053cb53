"""A round by moments: its steps in order, and what is forgotten on the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .arguments import MOST_TURNS, check, whole
from .chances import Drawn
from .linear_steps import Steps
from .passes import passed
from .quantities import Form, Quantities, draws_of
from .reading import FormatError, Uncheckable
from .steps import OF_CLIENTS, Loop, Step, defined

if TYPE_CHECKING:
    from .moments import Moments

DRAWN = ("number", "numbers", "sample")
"""The kinds that are numbers."""
MOST_STEPS = 100_000  # of one round


class Round(Steps):
    """One round from a state, given the outcomes that are planned.

    Attributes:
        kept: values that are to be known after the round beside its state, by what they are called.
    """

    def __init__(
        self, game: Moments, k: int, room: Quantities, plan: Mapping[Drawn, Any], taps: frozenset[str]
    ) -> None:
        super().__init__(game, k, room, plan)
        self.wanted = taps
        self.kept: dict[Any, tuple[str, Any]] = {}
        self.left = MOST_STEPS

    def run(self, state: Sequence[Any]) -> list[Any]:
        """The state after the round."""
        program = self.game.program
        self.env = {f"_{i}": value for i, value in enumerate(state)}
        self.steps(program.body, frozenset(program.result))
        after = []
        for name, copied in zip(program.result, program.copied, strict=True):
            after.append([self.env[name]] * self.N if copied else self.env[name])
        return after

    def steps(self, steps: Sequence[Step | Loop], after: frozenset[str]) -> None:
        """Runs steps; `after` are the values that are read later."""
        later = [after]
        for step in reversed(steps):
            later.append(later[-1] | self.game.reads(step))
        for step, needed in zip(steps, later[-2::-1], strict=True):
            self.left -= 1
            if self.left < 0:
                raise FormatError(f"a round takes more than {MOST_STEPS} steps")
            if isinstance(step, Loop):
                self.repeat(step, needed)
            elif step.op == "tap":
                if step.label in self.wanted:
                    self.kept[step.label, (self.k, *self.around)] = (step.kinds[0], self.env[step.of[0]])
            else:
                self.env[step.to] = self.value(step)
            self.forget(needed)

    def repeat(self, loop: Loop, after: frozenset[str]) -> None:
        if loop.op == "pass":
            passed(self, loop, after)
            return
        if loop.count is None:
            raise Uncheckable("moments of clients in random order")
        count = self.exact(loop.count, None)
        check(self.problem, loop, loop.count, 0, count, 0)
        own = {name for step in loop.body for name in defined(step)} | {c.name for c in loop.carried}
        needed = (
            after
            | frozenset(c.following for c in loop.carried)
            | (frozenset(name for step in loop.body for name in self.game.reads(step)) - own)
        )
        for turn in range(whole(count, "the number of turns", 1, MOST_TURNS)):
            self.turn[loop.index] = turn
            self.around.append(turn)
            handed = {}
            for c in loop.carried:
                value = self.env[c.following if turn else c.first]
                handed[c.name] = [value] * self.N if c.copied[1 if turn else 0] else value
            self.env.update(handed)
            self.steps(loop.body, needed)
            self.around.pop()
        del self.turn[loop.index]

    # what is forgotten

    def forget(self, needed: frozenset[str]) -> None:
        """Values that are read no more, and the draws that nothing reads any more."""
        self.env = {name: value for name, value in self.env.items() if name in needed}
        alive: set[int] = set()
        for name, value in self.env.items():
            if self.game.program.kinds[name] in DRAWN:
                for form in leaves(value):
                    alive |= draws_of(form)
        dead = self.open - alive
        if not dead:
            return
        self.open &= alive
        forms, owners = self.forms()
        self.rewritten(forms, self.room.settled(forms, dead))
        forms, owners = self.forms()
        self.rewritten(forms, self.room.merge(forms, owners))

    def vectors(self) -> Iterator[tuple[str, Any]]:
        """All vectors that are there, with their kinds."""
        kinds = self.game.program.kinds
        yield from ((kinds[name], value) for name, value in self.env.items() if kinds[name] not in DRAWN)
        yield from self.kept.values()

    def forms(self) -> tuple[dict[int, Form], dict[int, frozenset[int]]]:
        """All forms by their identities, and whose they are: the clients', or the server's, which is -1."""
        forms: dict[int, Form] = {}
        owners: dict[int, set[int]] = {}
        for kind, value in self.vectors():
            for n, part in enumerate(value) if kind in OF_CLIENTS else [(-1, value)]:
                for form in leaves(part):
                    forms[id(form)] = form
                    owners.setdefault(id(form), set()).add(n)
        return forms, {number: frozenset(who) for number, who in owners.items()}

    def rewritten(self, forms: Mapping[int, Form], changed: Mapping[int, Form]) -> None:
        """Puts forms in the places of others."""
        if not changed:
            return
        kinds = self.game.program.kinds
        for name, value in self.env.items():
            if kinds[name] not in DRAWN:
                self.env[name] = replaced(value, changed)
        self.kept = {key: (kind, replaced(value, changed)) for key, (kind, value) in self.kept.items()}


def leaves(value: Any) -> Iterator[Form]:
    """The forms of a value."""
    if isinstance(value, dict):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from leaves(part)


def replaced(value: Any, changed: Mapping[int, Form]) -> Any:
    """A value with forms in the places of others."""
    if isinstance(value, dict):
        return changed.get(id(value), value)
    return [replaced(part, changed) for part in value]
