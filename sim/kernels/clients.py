"""What an algorithm may ask of the clients of a chunk of runs, and the kernel that answers for each kind of problem."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import torch
    from torch import Tensor


class Clients(Protocol):
    """The clients' first-order information for one chunk of R runs, with its buffers.

    All local tensors are (N, d, R) float64, contiguous, runs fastest. `draw` numbers the sample that the client picks
    in this round (see `sim.streams`). `out` shares no memory with the other arguments.
    """

    def buffer(self, name: str) -> Tensor:
        """An (N, d, R) tensor of the caller's own: zero at first, kept from round to round."""

    def shared(self, name: str, value: float = 0.0) -> Tensor:
        """A (d, R) tensor that server and clients know: `value` at first, kept from round to round."""

    def gradient(self, w: Tensor, scale: float, out: Tensor) -> Tensor:
        """out = scale grad f_n(w)."""

    def add_sample_gradient(self, draw: int, w: Tensor, scale: float, out: Tensor) -> Tensor:
        """out += scale grad f_{n,#}(w), # the sample picked."""

    def add_sample_change(self, draw: int, w: Tensor, move: Tensor, scale: float, out: Tensor) -> Tensor:
        """out += scale (grad f_{n,#}(w + move) - grad f_{n,#}(w)), # the sample picked."""

    def pick(self, indices: Tensor) -> None:
        """Take the samples of the round: (J, N, R) indices. The engine calls it."""


class Kernel(Protocol):
    """A problem's numbers on a device, shared by all chunks."""

    dim: int
    counts: Any
    """(N,) samples of each client."""

    def clients(self, width: int) -> Clients:
        """Buffers and numbers for one chunk of `width` runs."""

    def measures(self) -> Mapping[str, Callable[[Tensor], Tensor]]:
        """Metrics by name: functions from server models (B, d, R) to (B, R)."""


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
