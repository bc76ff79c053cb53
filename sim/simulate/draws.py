"""The random words of a program, fetched for many turns and rounds at a time, numbered as `sim.streams` says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sim.streams import LIMIT, PASSES, PROGRAM, PURPOSES, VISITS, WORDS, Streams
from theory.program import DRAWS, Formula, Instruction, Loop, Program, walk

if TYPE_CHECKING:
    import torch

_BATCH = 1 << 15
"""Random words drawn at once: several turns' or rounds' when there are few in one, to amortise the calls."""
OF_ALL = frozenset({"choose", "coins", "coin"})
"""What draws for all clients at once, from the client word 0."""


def purposes(program: Program) -> dict[str, int]:
    """The purpose of each value that is drawn, by its name.

    Raises:
        ValueError: when there are more than 240.
    """
    drawing = [s.to for s in program.steps if isinstance(s, Instruction) and s.op in DRAWS]
    if len(drawing) > PURPOSES - PROGRAM:
        raise ValueError(f"{program.name} has {len(drawing)} instructions that draw; the limit is {PURPOSES - PROGRAM}")
    return {name: PROGRAM + q for q, name in enumerate(drawing)}


def width(step: Instruction, number: int, clients: int, samples: int, dim: int) -> int:
    """How many words of a stream an instruction that draws takes; `number` is its b, S or m."""
    if step.op == "sample":
        return number if step.flag else samples
    if step.op == "noise":
        return dim + dim % 2
    if step.op == "keep":
        return dim
    if step.op == "choose" and step.flag:
        return number
    return 1 if step.op == "coin" else clients


class Plan:
    """What a round draws and taps, found by walking through it without numbers.

    Attributes:
        words: for each purpose, (words of a stream, whether every client has its own stream).
        taps: how often each tap is reached.
        changes: whether another round may do something else.
    """

    def __init__(
        self,
        program: Program,
        clients: int,
        samples: int,
        dim: int,
        count: Callable[[Formula, Mapping[str, Any]], int],
        changes: Callable[[Formula], bool],
        k: int,
        open_: bool = False,
    ) -> None:
        self.words: dict[int, tuple[int, bool]] = {}
        self.taps: dict[str, int] = {}
        self._count, self._sizes, self._open = count, (1 if open_ else clients, samples, dim), open_
        self._purposes = purposes(program)
        self._in_visit = False
        self._env: dict[str, Any] = {"k": k}
        counted = [s.count for s in program.steps if isinstance(s, Loop) and s.count is not None]
        counted += [s.numbers[0] for s in program.steps if isinstance(s, Instruction) and s.op in ("sample", "choose")]
        self.changes = any(changes(f) for f in counted)
        self._env |= dict.fromkeys(program.inputs)
        walk(program.body, self._env, self)

    def _add(self, purpose: int, words: int, own: bool) -> None:
        before = self.words.get(purpose, (0, own))[0]
        self.words[purpose] = (before + words, own)

    # what `walk` asks for

    def number(self, formula: Formula, env: Mapping[str, Any]) -> Any:
        """As `Machine`: nothing is computed yet."""
        return formula

    def count(self, formula: Formula, env: Mapping[str, Any]) -> int:
        """As `Machine`."""
        return self._count(formula, env)

    def apply(self, step: Instruction, of: Sequence[Any], numbers: Sequence[Any]) -> Any:
        """As `Machine`: counts."""
        if step.op == "tap":
            self.taps[step.label] = self.taps.get(step.label, 0) + 1
        elif step.op in DRAWS:
            number = self._count(numbers[0], self._env) if step.op in ("sample", "choose") else 1
            own = not self._in_visit and not (step.op == "keep" and step.kind == "server")
            own &= step.op not in OF_ALL or (
                self._open and step.op != "coin" and not (step.op == "choose" and step.flag)
            )
            self._add(self._purposes[step.to], width(step, number, *self._sizes), own)

    def visits(self) -> Iterator[None]:
        """As `Machine`."""
        self._add(VISITS, self._sizes[0], False)
        self._in_visit = True
        for _ in range(self._sizes[0]):
            yield None
        self._in_visit = False

    def passes(self) -> Iterator[Any]:
        """As `Machine`."""
        self._add(PASSES, self._sizes[1], not self._in_visit)
        for _ in range(self._sizes[1]):
            yield None

    def kept(self, samples: Any, before: Any, after: Any) -> Any:
        """As `Machine`."""
        return after


class Draws:
    """The words of one chunk of runs, taken in the order of the program.

    Args:
        seed: of the streams.
        runs: (R,) numbers of the runs.
        clients: N.
        plan: of round k, what it draws.
        last: the round after the last one.
        device: where the words are wanted.
        present: of an open population, by round the clients (1, S, R) that draw.
    """

    def __init__(
        self,
        seed: int,
        runs: Any,
        clients: int,
        plan: Callable[[int], Plan],
        last: int,
        device: torch.device,
        present: Callable[[int], Any] | None = None,
    ) -> None:
        self._streams = Streams(seed, runs, device=device)
        self._clients = np.arange(clients)
        self._width = len(runs)
        self._plan, self._last, self._present = plan, last, present
        self._held: dict[int, tuple[int, int, Any]] = {}  # purpose -> first round, first word, (T, J, N or 1, R)
        self._taken: dict[int, int] = {}
        self._k = 0

    def begin(self, k: int) -> None:
        """Round k, from its first draw on."""
        self._k = k
        self._taken = {}
        self._now = self._plan(k)

    def take(self, purpose: int, words: int) -> torch.Tensor:
        """(words, N or 1, R) int64, uniform on 0..2^32-1: the next words of this purpose in this round."""
        first = self._taken.get(purpose, 0)
        self._taken[purpose] = first + words
        held = self._held.get(purpose)
        if held is None or not self._there(held, first, words):
            held = self._held[purpose] = self._fetched(purpose, first, words)
        round_, start, values = held
        found: torch.Tensor = values[self._k - round_, first - start : first - start + words]
        return found

    def _there(self, held: tuple[int, int, Any], first: int, words: int) -> bool:
        round_, start, values = held
        return 0 <= self._k - round_ < values.shape[0] and start <= first and first + words <= start + values.shape[1]

    def _fetched(self, purpose: int, first: int, words: int) -> tuple[int, int, Any]:
        total, own = self._now.words[purpose]
        clients = self._clients if own else np.zeros(1, dtype=np.int64)
        if own and self._present is not None:
            clients = self._present(self._k)
        size = clients.shape[-2 if clients.ndim == 3 else 0] * self._width
        start = first - first % WORDS
        rounds = 1
        if start == 0 and total * size <= _BATCH and not self._now.changes and clients.ndim == 1:
            rounds = min(self._last - self._k, max(1, _BATCH // (total * size)))
            count = total
        else:
            least = -(-(words + first - start) // WORDS) * WORDS  # a block gives four words at the price of one
            count = min(max(least, _BATCH // size // WORDS * WORDS), total - start)
        span = range(self._k, self._k + rounds)
        return self._k, start, self._streams.words(purpose, clients, span, count, first=start)


def smallest(words: Any, most: int, axis: int) -> Any:
    """Positions of the smallest `most` words along an axis, in their order, ties to the smaller position."""
    return words.argsort(dim=axis, stable=True).narrow(axis, 0, most)


__all__ = ["LIMIT", "Draws", "Plan", "purposes", "smallest", "width"]
