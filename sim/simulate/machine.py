"""The primitives of a round in torch: what `theory.program.walk` runs, for all runs of a chunk at once.

A value of the server is (1, d, R), of the clients (N, d, R), a table (N, n, d, R); remembered vectors are a tuple of
these; a scalar is a float or (N or 1, 1, R or 1); see `Sample`. Inside a visit all of them have one row, that of the
client whose turn it is in each run. No value is changed once it is made, so that values may share memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sim.simulate.draws import LIMIT, Draws, purposes, smallest, width
from sim.simulate.functions import Functions, Sample, product, tensor_of
from sim.simulate.parameters import Scalars
from sim.streams import PASSES, VISITS
from theory.program import DRAWS, Formula, Instruction, Loop, Program, Step, text_of, uses

if TYPE_CHECKING:
    import torch

    Tensor = torch.Tensor

Watch = Callable[[str, Any], None]
"""Told of every draw: its operation, and what was drawn in the simulator's layout."""


def integer(value: Any, formula: Formula) -> int:
    """A number that is to be an integer.

    Raises:
        ValueError: unless it is one, at least 1, and no draw.
    """
    if not isinstance(value, float | int) or value != int(value) or value < 1:
        shown = value if isinstance(value, float | int) else "a draw, or one number a client"
        raise ValueError(f"{text_of(formula)}={shown} is outside the integers from 1 on")
    return int(value)


class TorchMachine:
    """Runs one chunk of runs through rounds; a `theory.program.Machine`.

    Args:
        program: what is run.
        functions: the problem.
        scalars: its parameters.
        draws: where its random words come from.
        runs: R, padding included.
        device: where everything lives.
        taps: the names of those to keep.
        watch: told of every draw.
    """

    def __init__(
        self,
        program: Program,
        functions: Functions,
        scalars: Scalars,
        draws: Draws,
        runs: int,
        device: torch.device,
        taps: frozenset[str],
        watch: Watch | None,
    ) -> None:
        import torch

        self.functions, self.scalars, self.draws = functions, scalars, draws
        self.clients, self.dim, self.runs, self.device = functions.clients, functions.dim, runs, device
        self._purposes = purposes(program)
        self._loops = dict(_loops(program.body, ()))
        self._wanted, self._watch = taps, watch
        self._last_uses = last_uses(program)
        self._matrices: dict[str, Tensor] = {}
        self._counts = tensor_of(functions.counts, device)
        self._most = int(functions.counts.max())
        self._least = int(functions.counts.min())
        self._who: Tensor | None = None
        self._places: list[int] = []  # how far each visit and pass around is
        self.taps: dict[str, list[tuple[tuple[int, ...], Tensor]]] = {}
        self.env: dict[str, Any] = {}
        self._apply: dict[str, Callable[[Instruction, list[Any], Sequence[Any]], Any]] = {
            "linear": self._linear,
            "gradient": self._gradient,
            "full gradient": lambda step, of, _: functions.full_gradient(of[0]),
            "prox": lambda step, of, t: functions.prox(self._rows(of[0]), t[0], self._who),
            "each": lambda step, of, _: self._rows(of[0]),
            "mean": lambda step, of, _: of[0].mean(0, keepdim=True),
            "sum": lambda step, of, _: self._rows(of[0]).sum(0, keepdim=True),
            "average": self._average,
            "mix": self._mix,
            "where": self._where,
            "before": lambda step, _, numbers: self._mask(numbers[0] < numbers[1]),
            "sample": self._sample,
            "noise": self._noise,
            "choose": self._choose,
            "coins": self._coins,
            "coin": self._coins,
            "keep": self._keep,
            "top": self._top,
            "project": lambda step, of, radius: _into_ball(of[0], radius[0]),
            "clip": lambda step, of, radius: _into_ball(of[0], radius[0]),
            "times": lambda step, of, _: of[0] * of[1],
            "over": lambda step, of, _: of[0] / of[1],
            "larger": lambda step, of, _: torch.maximum(of[0], of[1]),
            "sqrt": lambda step, of, _: of[0].sqrt(),
            "sign": lambda step, of, _: of[0].sign(),
            "norm": lambda step, of, _: of[0].square().sum(1, keepdim=True).sqrt(),
            "ones": lambda step, *_: torch.ones((1, self.dim, runs), dtype=torch.float64, device=device),
            "shift": lambda step, of, _: (of[1], *of[0][:-1]),
            "combine": self._combine,
            "get": self._get,
            "put": self._put,
            "tap": self._tap,
        }

    def begin(self, k: int) -> None:
        """Round k."""
        self.draws.begin(k)
        self.scalars.begin(k)
        self.taps = {}

    # what `walk` asks for

    def number(self, formula: Formula, env: Mapping[str, Any]) -> Any:
        """As `Machine`."""
        return self.scalars.value(formula, env, self._local)

    def count(self, formula: Formula, env: Mapping[str, Any]) -> int:
        """As `Machine`."""
        return integer(self.number(formula, env), formula)

    def apply(self, step: Instruction, of: Sequence[Any], numbers: Sequence[Any]) -> Any:
        """As `Machine`."""
        values = list(of) if self._who is None else [self._local(v) for v in of]
        found = self._apply[step.op](step, values, numbers)
        if self._watch is not None and step.op in DRAWS:
            self._watch(step.op, found)
        for name in self._last_uses.get(id(step), ()):
            self.env.pop(name, None)
        return found

    def visits(self) -> Iterator[None]:
        """As `Machine`."""
        order = smallest(self.draws.take(VISITS, self.clients)[:, 0], self.clients, 0)  # (N, R)
        if self._watch is not None:
            self._watch("visit", order)
        self._places.append(0)
        try:
            for place, who in enumerate(order):
                self._who, self._places[-1] = who, place
                yield
        finally:
            self._who = None
            self._places.pop()

    def passes(self) -> Iterator[Sample]:
        """As `Machine`."""
        words = self._words(PASSES, self._most)
        order, counts = self._ordered(words)
        if self._watch is not None:
            self._watch("pass", order)
        self._places.append(0)
        for place in range(self._most):
            self._places[-1] = place
            has = None if place < self._least else (counts > place)[:, None]
            index = order[place : place + 1]
            if has is not None:
                index = index.where(has[None, :, 0], index.new_zeros(()))
            yield Sample(index, has)
        self._places.pop()

    def kept(self, samples: Any, before: Any, after: Any) -> Any:
        """As `Machine`."""
        return after if samples.has is None else after.where(samples.has, before)

    # whose values

    def _local(self, value: Any) -> Any:
        """In a visit, of the values of all clients that of the one whose turn it is; everything else as it is."""
        import torch

        if self._who is None or self.clients == 1:
            return value
        if isinstance(value, tuple):
            return tuple(self._local(v) for v in value)
        if isinstance(value, Sample):
            if value.index.shape[1] == 1:
                return value
            mine = self._who[None, None].expand(len(value.index), 1, -1)
            has = None if value.has is None else self._local(value.has)
            return Sample(torch.gather(value.index, 1, mine), has)
        if not isinstance(value, torch.Tensor) or value.shape[0] == 1:
            return value
        if value.shape[-1] == 1:  # a parameter: the same in all runs
            return value.index_select(0, self._who).movedim(0, -1).squeeze(-2)[None]
        return torch.gather(value, 0, self._who.expand(1, *value.shape[1:]))

    @property
    def _present(self) -> int:
        """How many rows a value of the clients has now."""
        return self.clients if self._who is None else 1

    def _rows(self, v: Tensor) -> Tensor:
        return v.expand(self._present, *v.shape[1:])

    def _mask(self, value: Any) -> Any:
        return float(value) if isinstance(value, bool) else value.to(dtype=self._float)

    @property
    def _float(self) -> torch.dtype:
        import torch

        return torch.float64

    # sums and choices

    def _linear(self, step: Instruction, of: list[Any], numbers: Sequence[Any]) -> Tensor:
        import torch

        terms = list(zip(of, numbers, strict=True))
        if step.kind == "table":
            terms = [(_over_samples(v), c[:, None] if isinstance(c, torch.Tensor) else c) for v, c in terms]
        total: Any = None
        mine = False  # whether `total` is no value of the program, and may be changed
        for v, c in terms:
            if isinstance(c, torch.Tensor):
                v, c = v * c, 1.0
                if total is None:
                    total, mine = v, True
                    continue
            if total is None:
                total, mine = (v, False) if c == 1 else (v * c, True)
            else:
                fits = mine and all(a <= b for a, b in zip(v.shape, total.shape, strict=True))
                total = total.add_(v, alpha=c) if fits else total.add(v, alpha=c)
                mine = True
        return total

    def _where(self, step: Instruction, of: list[Any], numbers: Sequence[Any]) -> Tensor:
        import torch

        (mask,), (a, b) = numbers, of
        if step.kind == "table":
            a, b = _over_samples(a), _over_samples(b)
        if not isinstance(mask, torch.Tensor):
            return (a if mask else b).expand(torch.broadcast_shapes(a.shape, b.shape))
        return torch.where((mask if step.kind != "table" else mask[:, None]) != 0, a, b)

    def _average(self, step: Instruction, of: list[Any], numbers: Sequence[Any]) -> Tensor:
        import torch

        active = torch.as_tensor(numbers[0], dtype=self._float, device=self.device)
        active = active.expand(self._present, 1, -1) if active.ndim else active.expand(self._present, 1, 1)
        total = active.sum(0, keepdim=True)
        summed = (active * of[0]).sum(0, keepdim=True)
        return torch.where(total != 0, summed / total, torch.zeros_like(summed))

    def _mix(self, step: Instruction, of: list[Any], numbers: Sequence[Any]) -> Tensor:
        if self._who is not None:
            raise ValueError(f"mix (line {step.line}) in a visit: one client has no neighbours")
        if step.label not in self._matrices:
            weights = self.scalars.parameters.weights(step.label, (self.clients, self.clients))
            self._matrices[step.label] = tensor_of(weights[None], self.device)
        rows = self._rows(of[0]).reshape(1, self.clients, -1)
        return product(self._matrices[step.label], rows).reshape(self.clients, self.dim, self.runs)

    # problems

    def _gradient(self, step: Instruction, of: list[Any], numbers: Sequence[Any]) -> Tensor:
        if len(of) == 1:
            return self.functions.gradient(of[0], self._who)
        return self.functions.sample_gradient(of[0], of[1], self._who)

    # draws

    def _words(self, purpose: int, words: int) -> Tensor:
        return self.draws.take(purpose, words)

    def _width(self, step: Instruction, number: int = 1) -> int:
        return width(step, number, self.clients, self._most, self.dim)

    def _counts_now(self) -> Tensor:
        """(N, 1) or (1, R), the samples of those whose turn it is."""
        return self._counts[:, None] if self._who is None else self._counts[self._who][None]

    def _ordered(self, words: Tensor) -> tuple[Tensor, Tensor]:
        """Of words (n, N or 1, R), each client's samples in the order of its words, and how many it has."""
        import torch

        counts = self._counts_now()
        places = torch.arange(self._most, device=self.device)[:, None, None]
        return smallest(words.where(places < counts, torch.full_like(words, LIMIT)), self._most, 0), counts

    def _sample(self, step: Instruction, of: list[Any], numbers: Sequence[Any]) -> Sample:
        b = integer(numbers[0], step.numbers[0])
        words = self._words(self._purposes[step.to], self._width(step, b))
        if step.flag:
            return Sample((words * self._counts_now()) >> 32)
        if b > self._least:
            raise ValueError(f"{text_of(step.numbers[0])}={b} samples without replacement: a client has {self._least}")
        return Sample(self._ordered(words)[0][:b])

    def _noise(self, step: Instruction, of: list[Any], numbers: Sequence[Any]) -> Tensor:
        import torch

        sigma2 = numbers[0]
        if not isinstance(sigma2, torch.Tensor) and not sigma2 >= 0:
            raise ValueError(f"{text_of(step.numbers[0])}={sigma2} is outside [0, inf): it is a variance")
        words = self._words(self._purposes[step.to], self._width(step)).transpose(0, 1)  # (N or 1, d or d + 1, R)
        uniform = (words.to(self._float) + 0.5) * 2.0**-32
        radius, angle = (-2 * uniform[:, 0::2].log()).sqrt(), uniform[:, 1::2] * (2 * math.pi)
        normal = torch.stack((radius * angle.cos(), radius * angle.sin()), 2).flatten(1, 2)[:, : self.dim]
        scale = (sigma2 / self.dim) ** 0.5
        return normal * scale

    def _choose(self, step: Instruction, of: list[Any], numbers: Sequence[Any]) -> Tensor:
        import torch

        S = integer(numbers[0], step.numbers[0])
        if self.clients < S and not step.flag:
            raise ValueError(f"{text_of(step.numbers[0])}={S} is outside [1, N={self.clients}] without replacement")
        words = self._words(self._purposes[step.to], self._width(step, S))[:, 0]
        chosen = (words * self.clients) >> 32 if step.flag else smallest(words, S, 0)
        found = torch.zeros((self.clients, self.runs), dtype=self._float, device=self.device)
        found.scatter_add_(0, chosen, torch.ones_like(chosen, dtype=self._float))
        result: Tensor = self._local(found[:, None])
        return result

    def _coins(self, step: Instruction, of: list[Any], numbers: Sequence[Any]) -> Tensor:
        import torch

        p = torch.as_tensor(numbers[0], dtype=self._float, device=self.device)
        if not bool(((p > 0) & (p <= 1)).all()):
            raise ValueError(f"{text_of(step.numbers[0])}={float(p.min()):g} is outside (0, 1]: it is a chance")
        words = self._tossed(step)
        limit = (p * float(LIMIT)).round().clamp(min=1).to(torch.int64)
        result: Tensor = (self._local(words) < limit).to(self._float)
        return result

    def _tossed(self, step: Instruction) -> Tensor:
        """(N or 1, 1, R), the words of coins."""
        return self._words(self._purposes[step.to], self._width(step))

    def _keep(self, step: Instruction, of: list[Any], numbers: Sequence[Any]) -> Tensor:
        m = self._most_kept(step, numbers)
        words = self._words(self._purposes[step.to], self._width(step)).transpose(0, 1)  # (N or 1, d, R)
        kept = smallest(words, m, 1)
        return self._only(of[0], kept) * (self.dim / m)

    def _top(self, step: Instruction, of: list[Any], numbers: Sequence[Any]) -> Tensor:
        import torch

        order = torch.sort(of[0].abs(), dim=1, descending=True, stable=True).indices
        return self._only(of[0], order[:, : self._most_kept(step, numbers)])

    def _most_kept(self, step: Instruction, numbers: Sequence[Any]) -> int:
        m = integer(numbers[0], step.numbers[0])
        if m > self.dim:
            raise ValueError(f"{text_of(step.numbers[0])}={m} is outside [1, d={self.dim}]")
        return m

    def _only(self, v: Tensor, coordinates: Tensor) -> Tensor:
        import torch

        v = v.expand(coordinates.shape[0], *v.shape[1:])
        mask = torch.zeros(v.shape, dtype=torch.bool, device=self.device).scatter_(1, coordinates, True)
        return torch.where(mask, v, torch.zeros((), dtype=v.dtype, device=self.device))

    # memory

    def _combine(self, step: Instruction, of: list[Any], numbers: Sequence[Any]) -> Tensor:
        (past,) = of
        weights = self.scalars.parameters.weights(step.label, (len(past),))
        total = past[0] * float(weights[0])
        for v, weight in zip(past[1:], weights[1:], strict=True):
            total.add_(v, alpha=float(weight))
        return total

    def _get(self, step: Instruction, of: list[Any], numbers: Sequence[Any]) -> Tensor:
        import torch

        table = of[0]
        if len(of) == 2:
            parts = [torch.gather(table, 1, self._entries(i, table))[:, 0] for i in of[1].index]
            return sum(parts[1:], parts[0]) / len(parts)
        counts = self._counts_now()
        if self._least < self._most:
            own = torch.arange(self._most, device=self.device)[None, :, None] < counts[:, None]  # (N or 1, n, 1 or R)
            table = torch.where(own[:, :, None], table, torch.zeros((), dtype=table.dtype, device=self.device))
        return table.sum(1) / counts[:, None]

    def _put(self, step: Instruction, of: list[Any], numbers: Sequence[Any]) -> Tensor:
        table, sample, v = of
        found = table.clone()
        for i in sample.index:
            entries = self._entries(i, table)
            value = v[:, None].expand(entries.shape)
            if sample.has is not None:
                value = value.where(sample.has[:, None], table.gather(1, entries))
            found.scatter_(1, entries, value)
        return found

    def _entries(self, index: Tensor, table: Tensor) -> Tensor:
        """(N or 1, 1, d, R), where the entries of samples (N or 1, R) are in a table."""
        return index[:, None, None].expand(table.shape[0], 1, self.dim, self.runs)

    # speech

    def _tap(self, step: Instruction, of: list[Any], numbers: Sequence[Any]) -> None:
        if step.label not in self._wanted:
            return
        places = iter(self._places)
        turns = tuple(self.env[loop.index] if loop.op == "repeat" else next(places) for loop in self._loops[step.label])
        value = of[0] if step.kind == "server" else self._rows(of[0])
        self.taps.setdefault(step.label, []).append((turns, value))


def last_uses(program: Program) -> dict[int, tuple[str, ...]]:
    """For instructions (by `id`) the values that nobody reads after them: dropped, their memory serves again at once.

    Only values that are read nowhere but in the block, a round or a loop's body, in which they are made.
    """
    total = uses(program.body, program.result)
    found: dict[int, tuple[str, ...]] = {}

    def look(steps: Sequence[Step]) -> None:
        reads = [uses((step,), ()) for step in steps]
        for step in steps:
            if isinstance(step, Loop):
                look(step.body)
                continue
            places = [at for at, read in enumerate(reads) if step.to in read]
            if not step.to or not places or sum(reads[at][step.to] for at in places) < total[step.to]:
                continue
            last = steps[places[-1]]
            if isinstance(last, Instruction):
                found[id(last)] = (*found.get(id(last), ()), step.to)

    look(program.body)
    return found


def _loops(steps: Sequence[Step], around: tuple[Loop, ...]) -> Iterator[tuple[str, tuple[Loop, ...]]]:
    """The loops around each tap, the outermost first."""
    for step in steps:
        if isinstance(step, Loop):
            yield from _loops(step.body, (*around, step))
        elif step.op == "tap":
            yield step.label, around


def _over_samples(v: Tensor) -> Tensor:
    return v if v.ndim == 4 else v[:, None]


def _into_ball(v: Tensor, radius: Any) -> Tensor:
    """v, or what is left of it in the ball of this radius around 0."""
    import torch

    norm = v.square().sum(1, keepdim=True).sqrt()
    bound = torch.as_tensor(radius, dtype=v.dtype, device=v.device)
    return torch.where(norm > bound, v * (bound / norm), v)
