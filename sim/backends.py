"""Which back end computes the rounds of a simulation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

from sim.algorithms.base import Algorithm
from sim.kernels import quadratic_native, quadratic_triton
from sim.kernels.clients import Kernel
from sim.kernels.presence import Presence

Backend = Literal["auto", "native", "triton", "torch"]
Precision = Literal["float64", "float32"]
# Sample gradients of a run from which on "auto" compiles: with fewer, a compiler (2 to 5 s, once on a machine)
# takes longer than torch. It is one run's number, for the choice may not depend on how many runs
# there are: back ends agree to rounding only.
_WORTH_COMPILING = 2000


def chosen_backend(
    backend: Any, algorithm: Algorithm, numbers: Kernel, presence: Presence, names: Sequence[str], visits: int
) -> Backend:
    """The back end that `sim.run` takes.

    Args:
        backend: what was asked for.
        algorithm: what to run, on
        numbers: the problem, with
        presence: those who take part, on their device.
        names: of the metrics.
        visits: how many times a client does local work in a run.

    Raises:
        ValueError: for a back end that does not exist, or does not know the case.
        ImportError: for one that is not installed.
    """
    if backend not in get_args(Backend):
        raise ValueError(f"backend={backend!r} is not one of {get_args(Backend)}")
    device = presence.device
    cpu = device.type == "cpu"
    native = cpu and quadratic_native.supports(algorithm, numbers, names)
    triton = quadratic_triton.supports(algorithm, numbers, presence, names)
    if backend == "native" and not native:
        raise ValueError(
            f"backend='native' does not know {algorithm!r} with the metrics {names} on this problem with"
            f" device={str(device)!r}: use 'auto' or 'torch'"
        )
    if backend == "triton":
        if not triton:
            raise ValueError(
                f"backend='triton' does not know {algorithm!r} with the metrics {names}, this problem or this"
                " participation: use 'auto' or 'torch'"
            )
        if cpu and not quadratic_triton.interpreted():
            raise ValueError("backend='triton' needs device='cuda', or TRITON_INTERPRET=1 in the environment")
        if not quadratic_triton.installed():
            raise ImportError("triton is not installed: pip install 'fedproof[gpu]', or take backend='torch'")
    if backend != "auto":
        return backend
    if (native or (triton and not cpu)) and visits * quadratic_native.local_steps(algorithm) >= _WORTH_COMPILING:
        if cpu:
            return "native" if quadratic_native.usable(numbers) else "torch"
        return "triton" if quadratic_triton.installed() else "torch"
    return "torch"
