"""An open population of clients: who is present in which round, who leaves, who joins.

A round k = 0..K-1 (Sun, Fernando, Chen, Shahrampour: "On the Stability Analysis of Open Federated Learning Systems",
Algorithm 1 and section IV; the choices that the paper leaves open are made here):

1. With probability `leave` one of those present, uniformly chosen, leaves for ever: nothing of it is left in the round.
2. Those who remain take part in the round: a program's clients are they (`sim.simulate`).
3. With probability `join` the next client of the pool enters; it waits for round k+1. An exhausted pool sends nobody.
4. A round in which nobody takes part changes nothing.

A client that enters takes the smallest free slot and keeps it until it leaves. Slots depend on the run alone, so sums
over clients in the order of their slots do not depend on which other runs are simulated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sim.arguments import integer, real
from sim.streams import LIMIT, POOL, POPULATION, Streams, thresholds

Last = Literal["stays", "leaves"]

# Draws of a round, purpose POPULATION.
LEAVE_COIN, WHO_LEAVES, JOIN_COIN = 0, 1, 2

# Words drawn at once, to amortise the calls.
_BATCH = 1 << 18


@dataclass(frozen=True, eq=False, repr=False)
class PresenceSchedule:
    """Who is present. Shapes: K rounds, R runs, S slots.

    Attributes:
        clients: (K+1, R, S) int32, the pool index of the client in a slot at the beginning of round k; -1 for nobody.
            A client that enters in round k first appears in row k+1. Nobody returns, so a slot whose entry changes
            from row k to row k+1 holds a new client (or nobody), whose states begin afresh.
    """

    clients: NDArray[np.int32]

    def __repr__(self) -> str:
        return f"PresenceSchedule(rounds={self.rounds}, runs={self.runs}, slots={self.slots})"

    @property
    def rounds(self) -> int:
        """K."""
        return len(self.clients) - 1

    @property
    def runs(self) -> int:
        """R."""
        return int(self.clients.shape[1])

    @property
    def slots(self) -> int:
        """S, the largest number of slots that one of these runs has needed."""
        return int(self.clients.shape[2])

    @property
    def present(self) -> NDArray[np.int64]:
        """(R, K+1), how many are present at the beginning of round k, newcomers included."""
        return np.count_nonzero(self.clients >= 0, axis=2).T.astype(np.int64)

    def remains(self, round: int) -> NDArray[np.bool_]:
        """(R, S), who takes part in this round: is present, and does not leave in it."""
        before, after = self.clients[round], self.clients[round + 1]
        return (before >= 0) & (before == after)

    def enters(self, round: int) -> NDArray[np.bool_]:
        """(R, S), slots whose client is there for the first time."""
        now = self.clients[round]
        return now >= 0 if round == 0 else (now >= 0) & (now != self.clients[round - 1])


@dataclass(frozen=True)
class OpenPopulation:
    """A pool of clients of which some are present; they join and leave, at most one of each a round.

    The order in which the pool's clients come is a uniformly random permutation, another one in each run; its first
    `initial` clients are present at first.

    Attributes:
        pool: N, the number of clients in the pool, >= 1.
        initial: N_0 in 1..N, how many are present at first.
        leave: probability in [0, 1] that one client leaves in a round.
        join: probability in [0, 1] that one client joins in a round.
        last: "stays": the only client present does not leave (the paper's assumption N_k > 0); "leaves": it may.

    Raises:
        ValueError: at construction, when an attribute is outside its domain.
    """

    pool: int
    initial: int
    leave: float
    join: float
    last: Last = "stays"

    def __post_init__(self) -> None:
        object.__setattr__(self, "pool", integer("pool", self.pool, 1))
        object.__setattr__(self, "initial", integer("initial", self.initial, 1))
        if self.pool >= 1 << 31:
            raise ValueError(f"pool={self.pool} is outside [1, 2^31)")
        if self.initial > self.pool:
            raise ValueError(f"initial={self.initial} is outside the integers in [1, {self.pool}], 1..pool")
        for name in ("leave", "join"):
            value = real(name, getattr(self, name), "[0, 1]")
            if not 0 <= value <= 1:
                raise ValueError(f"{name}={value} is outside [0, 1]")
            object.__setattr__(self, name, value)
        if self.last not in get_args(Last):
            raise ValueError(f"last={self.last!r} is not one of {get_args(Last)}")

    def presence(self, rounds: int, runs: int, seed: int, first_run: int = 0) -> PresenceSchedule:
        """Who is present in runs first_run..first_run+runs-1 of a seed.

        Args:
            rounds: K >= 0.
            runs: R >= 1.
            seed: in [0, 2^64).
            first_run: first_run + runs <= 2^32.

        Raises:
            ValueError: an argument outside its domain.
        """
        rounds, runs = integer("rounds", rounds, 0), integer("runs", runs, 1)
        first_run = integer("first_run", first_run, 0)
        if first_run > LIMIT - runs:
            raise ValueError(f"first_run={first_run} is outside [0, 2^32 - runs]")
        streams = Streams(seed, first_run + np.arange(runs, dtype=np.int64))
        order = self._order(streams)
        everybody = np.arange(runs)
        arrived = np.full(runs, self.initial)
        slots = order[:, : self.initial].copy()
        clients = [slots]
        for coin, who, joining in self._coins(streams, rounds):
            slots = self._after_leaving(slots, coin, who)
            joins = joining & (arrived < self.pool)
            free = slots < 0
            if np.any(joins & ~free.any(axis=1)):
                slots = np.concatenate([slots, np.full((runs, 1), -1, dtype=np.int32)], axis=1)
                free = slots < 0
            rows = everybody[joins]
            slots[rows, np.argmax(free[rows], axis=1)] = order[rows, arrived[rows]]
            arrived[rows] += 1
            clients.append(slots)
        return PresenceSchedule(_stacked(clients))

    def _order(self, streams: Streams) -> NDArray[np.int32]:
        """(R, N), the order in which the pool's clients come; ties go to the smaller index."""
        words = streams.words(POOL, np.arange(self.pool), range(1), 1)[0, 0].numpy().T
        return np.argsort(words, axis=1, kind="stable").astype(np.int32)

    def _coins(self, streams: Streams, rounds: int) -> Any:
        """Round by round, whether one leaves, the word that says who, and whether one joins, each (R,)."""
        batch = max(1, _BATCH // int(streams.runs.shape[0]))
        leave, join = _threshold(self.leave), _threshold(self.join)
        for first in range(0, rounds, batch):
            stretch = range(first, min(rounds, first + batch))
            words = streams.words(POPULATION, np.array([0]), stretch, JOIN_COIN + 1)[:, :, 0].numpy()
            leaves, joins = words[:, LEAVE_COIN] < leave, words[:, JOIN_COIN] < join
            yield from zip(leaves, words[:, WHO_LEAVES].copy(), joins, strict=True)

    def _after_leaving(self, slots: NDArray[np.int32], coin: Any, who: Any) -> NDArray[np.int32]:
        """A copy of the slots (R, S) without the client that leaves."""
        occupied = slots >= 0
        count = np.count_nonzero(occupied, axis=1)
        leaves = coin & (count > (1 if self.last == "stays" else 0))
        rank = np.cumsum(occupied, axis=1) - 1
        gone = occupied & leaves[:, None] & (rank == ((who * count) >> 32)[:, None])
        return np.where(gone, np.int32(-1), slots)


def _threshold(probability: float) -> int:
    return int(thresholds(probability)) if probability > 0 else 0


def _stacked(rows: list[NDArray[np.int32]]) -> NDArray[np.int32]:
    """The arrays (R, S_k), where S_k does not decrease with k, as one array (K, R, S)."""
    runs, slots = rows[-1].shape
    table = np.full((len(rows), runs, slots), -1, dtype=np.int32)
    for k, row in enumerate(rows):
        table[k, :, : row.shape[1]] = row
    return table
