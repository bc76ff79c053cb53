"""Open populations in torch: a program's clients are those who take part, each in its slot of its run.

A value of the clients is (S, d, R): slot s of run r holds the client who[s, r] of the pool, or nobody. Sums over
clients go through the slots in their order, so that they do not depend on how many slots other runs need.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sim.population import OpenPopulation, PresenceSchedule
from sim.simulate.draws import LIMIT, smallest, width
from sim.simulate.functions import Functions, Sample
from sim.simulate.machine import TorchMachine, integer
from sim.simulate.parameters import Scalars
from theory.program import Instruction, Program, State

if TYPE_CHECKING:
    import torch

    Tensor = torch.Tensor

METRICS = ("cost", "squared_gradient_norm", "squared_iterate_norm")
"""What may be measured: cost and gradient are means over those present."""
OF_CLIENTS = frozenset({"client", "table", "client past"})


def refused(population: Any, program: Program, clients: int, metrics: Sequence[str]) -> None:
    """Raise for what has no meaning in an open population of so many clients.

    Raises:
        ValueError: for it.
    """
    if not isinstance(population, OpenPopulation):
        raise ValueError(f"population={population!r} is not an OpenPopulation")
    if population.pool != clients:
        raise ValueError(f"population.pool={population.pool} is not the problem's number of clients, {clients}")
    for what in ("mix", "visit"):
        if what in program.operations:
            raise ValueError(f"{program.name} has the operation {what!r}, which no open population has")
    unknown = sorted(set(metrics) - set(METRICS))
    if unknown:
        raise ValueError(f"metrics has {unknown[0]!r}; with a population there are {', '.join(METRICS)}")
    if metrics and program.state[0].kind != "server":
        raise ValueError(f"metrics with a population are of a server's value; {program.state[0].name} is a client's")


class PresentFunctions(Functions):
    """The functions of those who are there, of which `meet` tells.

    Args:
        inner: those of the whole pool.
        slots: S.
    """

    def __init__(self, inner: Functions, slots: int) -> None:
        self.inner, self.clients, self.dim, self.pad = inner, slots, inner.dim, inner.pad
        self.pool = inner.clients
        self.counts = np.full(slots, int(inner.counts.max()))

    def meet(self, clients: NDArray[np.int32], device: torch.device) -> None:
        """Who is there: (R, S) indices in the pool, -1 for nobody."""
        import torch

        who = torch.from_numpy(np.ascontiguousarray(clients.T).astype(np.int64)).to(device)
        self.there = (who >= 0)[:, None]  # (S, 1, R)
        self.who = who.clamp_(min=0)
        self.number = self.there.sum(0, keepdim=True)  # (1, 1, R)
        self.somebody = bool(np.all(np.any(clients >= 0, axis=1)))  # in every run
        self._used = np.flatnonzero(np.any(clients >= 0, axis=0)).tolist()

    @property
    def work(self) -> int:
        """As `Functions`; the data of a client are gathered run by run."""
        return 4 * self.clients * self.dim + 4 * int(self.inner.counts.max()) * self.dim

    def _slots(self, v: Tensor, sample: Sample | None, what: str) -> Tensor:
        """Slot by slot; zeros where nobody is."""
        import torch

        shape = (self.clients, self.dim, v.shape[-1]) if what != "value" else (self.clients, v.shape[-1])
        found = torch.zeros(shape, dtype=v.dtype, device=v.device)
        v = v.expand(self.clients, *v.shape[1:])
        for s in self._used:
            at, who = v[s : s + 1], self.who[s]
            if sample is None:
                one = getattr(self.inner, what)(at, who)
            else:
                has = sample.has if sample.has is None or sample.has.shape[0] == 1 else sample.has[s : s + 1]
                one = self.inner.sample_gradient(at, Sample(sample.index[:, s : s + 1], has), who)
            found[s] = one[0]
        return found

    def gradient(self, v: Tensor, who: Tensor | None = None) -> Tensor:
        return self._slots(v, None, "gradient")

    def sample_gradient(self, v: Tensor, sample: Sample, who: Tensor | None = None) -> Tensor:
        return self._slots(v, sample, "sample_gradient")

    def value(self, v: Tensor, who: Tensor | None = None) -> Tensor:
        return self._slots(v, None, "value")

    def prox(self, v: Tensor, t: Any, who: Tensor | None = None) -> Tensor:
        import torch

        rows = torch.where(self.there, v, v.new_zeros(()))
        parts = []
        for s in range(self.clients):
            mine = t[s : s + 1] if isinstance(t, torch.Tensor) and t.shape[0] > 1 else t
            parts.append(self.inner.prox(rows[s : s + 1], mine, self.who[s]))
        return torch.cat(parts)

    def total(self, v: Tensor) -> Tensor:
        """(1, ...), the sum of (S, ...) over those who are there."""
        import torch

        v = v.expand(self.clients, *v.shape[1:])
        there = self.there if v.ndim == 3 else self.there[:, 0]
        nothing = torch.zeros((), dtype=v.dtype, device=v.device)
        found = v.new_zeros((1, *v.shape[1:]))
        for s in self._used:
            found = found + torch.where(there[s], v[s], nothing)
        return found

    def full_gradient(self, v: Tensor) -> Tensor:
        """(1, d, R), the mean gradient of those who are there; nan where nobody is."""
        return self.total(self.gradient(v)) / self.number

    def mean_value(self, v: Tensor) -> Tensor:
        """(1, R), the mean of f_n at v (1, d, R) over those who are there; nan where nobody is."""
        return self.total(self.value(v)) / self.number[:, 0]


class Presence:
    """Who is there in the runs of one chunk, and what becomes of the states.

    Args:
        schedule: of all runs of the call.
        columns: the runs of the chunk, padding included.
        functions: is told who is there.
        device: where everything lives.
    """

    def __init__(
        self, schedule: PresenceSchedule, columns: NDArray[np.int64], functions: PresentFunctions, device: torch.device
    ) -> None:
        self.schedule, self._columns, self.functions, self.device = schedule, columns, functions, device

    def _remaining(self, k: int) -> NDArray[np.int32]:
        return np.where(self.schedule.remains(k), self.schedule.clients[k], -1)[self._columns]

    def take_part(self, k: int) -> None:
        """From now on those who take part in round k are there."""
        self.functions.meet(self._remaining(k), self.device)

    def look(self, k: int) -> None:
        """From now on those who are present after k rounds are there."""
        self.functions.meet(self.schedule.clients[k][self._columns], self.device)

    def words(self, k: int) -> NDArray[np.int64]:
        """(1, S, R), the client words of round k; any where nobody is."""
        return np.maximum(self._remaining(k), 0).astype(np.int64).T[None]

    def entered(self, k: int) -> Tensor | None:
        """(S, 1, R), the slots whose client is there after k rounds and has not worked yet; None for none."""
        import torch

        new = self.schedule.enters(k)[self._columns]
        return torch.from_numpy(np.ascontiguousarray(new.T)[:, None]).to(self.device) if new.any() else None

    def kept(self, states: Sequence[State], before: tuple[Any, ...], after: tuple[Any, ...]) -> tuple[Any, ...]:
        """The states after a round: what they were where nobody takes part."""
        if self.functions.somebody:
            return after
        some = self.functions.number > 0
        return tuple(either(some, s.kind, a, b) for s, a, b in zip(states, after, before, strict=True))

    def shown(self, states: Sequence[State], values: tuple[Any, ...]) -> tuple[Any, ...]:
        """The states with nan where nobody is."""
        there = self.functions.there
        return tuple(
            either(there, s.kind, v, _same(v, float("nan"))) if s.kind in OF_CLIENTS else v
            for s, v in zip(states, values, strict=True)
        )

    def all_slots(self, state: State, value: NDArray[np.float64]) -> NDArray[np.float64]:
        """A state of an earlier call (R, ..., S or fewer, ...), with all slots of this one."""
        axis = 2 if state.kind == "client past" else 1
        more = [(0, 0)] * value.ndim
        more[axis] = (0, self.functions.clients - value.shape[axis])
        return np.pad(value, more, constant_values=np.nan)


def _same(value: Any, number: float) -> Any:
    """A value of this shape, the number everywhere."""
    return tuple(_same(v, number) for v in value) if isinstance(value, tuple) else value.new_full(value.shape, number)


def either(where: Tensor, kind: str, a: Any, b: Any) -> Any:
    """Of a state of this kind, a where it is so, else b; (S or 1, 1, R) `where`."""
    import torch

    if isinstance(a, tuple):
        return tuple(either(where, "client", x, y) for x, y in zip(a, b, strict=True))
    return torch.where(where[:, None] if kind == "table" else where, a, b)


class PresenceMachine(TorchMachine):
    """A `TorchMachine` whose clients are those who take part; arguments as there, and `presence`."""

    def __init__(self, *arguments: Any, presence: Presence) -> None:
        super().__init__(*arguments)
        self.presence, self.there = presence, presence.functions
        counts = self.there.inner.counts
        self._pool_counts, self._all = self._counts.new_tensor(counts), self.scalars
        self._most, self._least = int(counts.max()), int(counts.min())
        self._apply |= {
            "mean": lambda step, of, _: self.there.total(of[0]) / self.there.number,
            "sum": lambda step, of, _: self.there.total(of[0]),
        }

    def begin(self, k: int) -> None:
        self.presence.take_part(k)
        self.scalars = self._all
        super().begin(k)
        self.scalars = _those(self._all, self.there)

    def _counts_now(self) -> Tensor:
        return self._pool_counts[self.there.who]

    def _width(self, step: Instruction, number: int = 1) -> int:
        return width(step, number, 1, self._most, self.dim)

    def _average(self, step: Instruction, of: list[Any], numbers: Sequence[Any]) -> Tensor:
        import torch

        active = torch.as_tensor(numbers[0], dtype=self._float, device=self.device)
        active = active.expand(self.clients, 1, self.runs)
        number = self.there.total(active)
        summed = self.there.total(active * of[0])
        return torch.where(number != 0, summed / number, torch.zeros_like(summed))

    def _choose(self, step: Instruction, of: list[Any], numbers: Sequence[Any]) -> Tensor:
        import torch

        S = integer(numbers[0], step.numbers[0])
        words = self._words(self._purposes[step.to], self._width(step, S))
        found = torch.zeros((self.clients, self.runs), dtype=self._float, device=self.device)
        there = self.there.there[:, 0]
        if step.flag:
            place = (words[:, 0] * self.there.number[:, 0]) >> 32  # (S, R), among those there
            rank = torch.where(there, there.cumsum(0) - 1, -1)
            for one in place:
                found += (rank == one).to(self._float)
        else:
            order = smallest(words[0].where(there, torch.full_like(words[0], LIMIT)), min(S, self.clients), 0)
            found.scatter_(0, order, 1.0)
            found *= there
        return found[:, None]

    def _tossed(self, step: Instruction) -> Tensor:
        words = super()._tossed(step)
        return words if step.op == "coin" else words.transpose(0, 1)

    def _tap(self, step: Instruction, of: list[Any], numbers: Sequence[Any]) -> None:
        if step.kind != "server":
            of = [self._rows(of[0]).where(self.there.there, of[0].new_full((), float("nan")))]
        super()._tap(step, of, numbers)


def _those(scalars: Scalars, there: PresentFunctions) -> Scalars:
    """Scalars whose numbers a client are (S, 1, R), of those who are there."""
    found = copy(scalars)

    def picked(value: Any) -> Any:
        return value if isinstance(value, float) else value[:, 0, 0][there.who][:, None]

    found._each = {name: picked(value) for name, value in scalars._each.items()}
    found._now = {name: picked(value) for name, value in scalars._now.items()}
    return found
