"""What a round, or a turn of a loop in it, is in: its clients, its numbers, and how its draws are treated."""

from __future__ import annotations

from dataclasses import dataclass, field

from sim.moments.curvatures import Curvatures
from sim.moments.law import AliveError, Law
from sim.moments.numbers import Array, Numbers
from sim.moments.scalars import Parameters, evaluate, one
from sim.moments.unrolled import Scalar
from theory.program import text_of

LINEARLY, BY_CLIENT, TOGETHER = range(3)
"""How a draw is treated: by its first two moments, by its outcomes client by client, by all outcomes together."""


class DifferentError(Exception):
    """Clients of a class are told apart: by all outcomes of a draw together."""


@dataclass
class Treatment:
    """How draws are treated, by their number; what was found out stays for the next round."""

    how: dict[int, int] = field(default_factory=dict)


@dataclass
class Around:
    """What a round, or a turn of a loop over clients or samples, is in.

    Attributes:
        curvatures: the clients that take part in it.
        parameters: their values.
        k: the round.
        clients: which of all clients these are; of each class the first.
        single: whether a server's value is that of the one client that is visited.
        treatment: of draws.
        mean: (d, d), (d,) and N of f, the mean of all clients.
        turning: whether clients go through their samples, each for itself.
    """

    curvatures: Curvatures
    parameters: Parameters
    k: int
    clients: tuple[int, ...]
    single: bool
    treatment: Treatment
    mean: tuple[Array, Array, int]
    turning: bool = False

    @property
    def numbers(self) -> Numbers:
        """The arithmetic."""
        return self.curvatures.numbers

    def number(self, scalar: Scalar, law: Law) -> Array:
        """(1 or O, 1 or N)."""

        def lookup(name: str) -> Array:
            if name in scalar.turns:
                return one(self.numbers, scalar.turns[name])
            if name in scalar.values:
                draw = scalar.values[name]
                for axis in law.axes:
                    if axis.draw == draw:
                        if axis.values is None:
                            raise ValueError(f"{name} is a sample, not a number")
                        return law.along(axis, axis.values)
                if draw not in law.scalars:
                    raise ValueError(f"the number {name} in {text_of(scalar.formula)} is not linear in the state")
                return law.scalars[draw]
            if name == "k":
                return one(self.numbers, self.k)
            found = self.parameters.scalar(name, self.k)
            return found if found.shape[1] == 1 else found[:, list(self.clients)]

        return evaluate(scalar.formula, self.numbers, lookup)


def shares_of(law: Law, draw: int) -> Array:
    """(1 or O, 1 or N, n), the part of each sample in the batch.

    Raises:
        AliveError: where only two moments of the sample are carried.
    """
    for axis in law.axes:
        if axis.draw == draw:
            assert axis.shares is not None
            return law.along(axis, axis.shares)
    found = law.scalars[draw]
    if found.ndim != 3:
        raise AliveError(draw)
    return found


def linearly(law: Law, draw: int) -> bool:
    """Whether only two moments of a sample are carried."""
    if any(axis.draw == draw for axis in law.axes):
        return False
    return bool(law.scalars[draw].ndim == 2)
