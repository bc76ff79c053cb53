"""What an algorithm may ask of the clients of a chunk of runs, and the kernel that answers for each kind of problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import torch
from torch import Tensor

if TYPE_CHECKING:
    from sim.kernels.local_steps import LocalSteps


class Clients(Protocol):
    """The clients' first-order information for one chunk of R runs, with its buffers.

    The clients that are computed stand in S slots: all N of them, or, when only those that take part are, another
    choice of S in each run and round, in the order of their numbers. All local tensors are (S, d, R) float64,
    contiguous, runs fastest. `draw` numbers a sample that the client picks in this round (see `sim.streams`). `out`
    shares no memory with the other arguments.
    """

    number: int
    """N, of all clients."""

    def buffer(self, name: str) -> Tensor:
        """An (S, d, R) tensor of the caller's own, for scratch: zero at first, and then as it was left."""

    def memory(self, name: str) -> Tensor:
        """An (S, d, R) tensor of what the clients in the slots remember: zero at first, kept from round to round."""

    def shared(self, name: str, value: float = 0.0) -> Tensor:
        """A (d, R) tensor that server and clients know: `value` at first, kept from round to round."""

    def steps(self, plan: LocalSteps, w: Tensor) -> Tensor:
        """The models (S, d, R) after these local steps from w (S, d, R), in `w` or in a buffer."""

    def add_batch_gradient(self, draws: range, w: Tensor, scale: float, out: Tensor) -> Tensor:
        """out += scale times the mean of grad f_{n,#}(w) over the samples # picked in these draws."""

    def add_sample_change(self, draw: int, w: Tensor, move: Tensor, scale: float, out: Tensor) -> Tensor:
        """out += scale (grad f_{n,#}(w + move) - grad f_{n,#}(w)), # the sample picked."""

    def gradient(self, w: Tensor, scale: float, out: Tensor) -> Tensor:
        """out = scale grad f_n(w); only where all clients are computed."""

    def begin(self, chosen: Tensor | None) -> None:
        """Begin a round with the clients `chosen` (S, R) in the slots; None when all have their own. For the engine."""

    def pick(self, indices: Tensor) -> None:
        """Take the samples of the round: (J, S, R) indices. For the engine, after `begin`."""

    def end(self) -> None:
        """Put what the clients in the slots remember back to where it is kept. For the engine."""


class Kernel(Protocol):
    """A problem's numbers on a device, shared by all chunks."""

    dim: int
    counts: Any
    """(N,) samples of each client."""
    metrics: Sequence[str]
    """The names that `measure` knows."""

    def clients(self, width: int, slots: int | None = None, live: int | None = None) -> Clients:
        """Buffers and numbers for one chunk.

        Args:
            width: R, the runs.
            slots: S, when only clients that are chosen are computed; None for all N.
            live: how many of the runs, from the first on, are wanted; the others need not be computed.
        """

    def measure(self, names: Sequence[str], theta: Tensor, live: int) -> Mapping[str, Tensor]:
        """Metrics of server models (B, d, R), by name: (B, R), where columns beyond the first `live` may be missing."""


class Memories:
    """The part of `Clients` that is the same for every problem: who is in the slots, and what is kept for whom."""

    def __init__(self, number: int, slots: int | None, dim: int, width: int, device: torch.device) -> None:
        """Nothing is remembered. Shapes: N = `number` clients, S = `slots` (N for None), d = `dim`, R = `width`."""
        self.number, self.device = number, device
        self.shape = (number if slots is None else slots, dim, width)
        self._buffers: dict[str, Tensor] = {}
        self._shared: dict[str, Tensor] = {}
        self._memories: dict[str, Tensor] = {}  # (N R, d), rows of numbers that lie together, when clients are chosen
        self._places: Tensor | None = None  # (S R,), in which of these rows each slot's memory is kept
        self._copies: Tensor | None = None  # (S R, d), memories on their way

    def empty(self, dim: int) -> Tensor:
        """An uninitialised tensor (S, `dim`, R)."""
        return torch.empty((self.shape[0], dim, self.shape[2]), dtype=torch.float64, device=self.device)

    def buffer(self, name: str) -> Tensor:
        """See `Clients`."""
        if name not in self._buffers:
            self._buffers[name] = self.empty(self.shape[1]).zero_()
        return self._buffers[name]

    def memory(self, name: str) -> Tensor:
        """See `Clients`."""
        own = self.buffer(f"memory of {name}")
        if self._places is not None and name not in self._memories:
            self._memories[name] = own.new_zeros((self.number * self.shape[2], self.shape[1]))
        return own

    def shared(self, name: str, value: float = 0.0) -> Tensor:
        """See `Clients`."""
        if name not in self._shared:
            self._shared[name] = torch.full(self.shape[1:], value, dtype=torch.float64, device=self.device)
        return self._shared[name]

    def begin(self, chosen: Tensor | None) -> None:
        """See `Clients`."""
        if chosen is None:
            return
        slots, dim, width = self.shape
        self._places = (chosen * width + torch.arange(width, device=self.device)).flatten()
        for name, kept in self._memories.items():
            rows = torch.index_select(kept, 0, self._places, out=self._row_copies())
            self.memory(name).copy_(rows.view(slots, width, dim).transpose(1, 2))

    def end(self) -> None:
        """See `Clients`."""
        slots, dim, width = self.shape
        for name, kept in self._memories.items():
            assert self._places is not None
            rows = self._row_copies()
            rows.view(slots, width, dim).copy_(self.memory(name).transpose(1, 2))
            kept.index_copy_(0, self._places, rows)

    def _row_copies(self) -> Tensor:
        if self._copies is None:
            slots, dim, width = self.shape
            self._copies = torch.empty((slots * width, dim), dtype=torch.float64, device=self.device)
        return self._copies


def kernel(problem: Any, device: torch.device) -> Kernel:
    """The kernel of a problem: that which the problem brings along, or the quadratic one.

    Args:
        problem: a `sim.problems.Quadratic`, or an object whose method `kernel(device)` returns a `Kernel`.
        device: where to compute.

    Raises:
        ValueError: for anything else.
    """
    own = getattr(problem, "kernel", None)
    if own is not None:
        return own(device)
    from sim.kernels.quadratic import QuadraticKernel
    from sim.problems import Quadratic

    if not isinstance(problem, Quadratic):
        raise ValueError(f"problem={problem!r} is neither a Quadratic nor has a method kernel(device)")
    return QuadraticKernel(problem, device)
