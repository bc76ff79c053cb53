"""Programs in C++ by hand on least squares: reference/w1.cpp, scaffold.cpp, proxskip.cpp.

They draw what programs draw (`sim.streams`), so that run by run the results are the program's up to rounding. Each is a
function of (runs, rounds) that gives f - f* (R, K + 1); the squared gradient norm is computed as well.
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import byref, c_int64
from typing import Any

import numpy as np

from benchmarks.measuring import reference, structure
from sim.problems import Quadratic
from sim.streams import seed_key, thresholds

Array = np.ndarray[Any, Any]
ByHand = Callable[[int, int], Array]


def by_hand(
    name: str, problem: Quadratic, start: float, seed: int, threads: int, more: dict[str, Any], *flags: str
) -> ByHand | None:
    """A program of reference/, from (start, ..., start); None, and a line, without a compiler.

    Args:
        name: of the file and its function.
        problem: with features.
        start, seed: as the engine takes them.
        threads: as many are taken.
        more: what its structure `Job` has besides `Common`, in order.
        flags: for the compiler, such as -DCHEAP and -ffast-math.
    """
    assert problem.features is not None
    assert problem.targets is not None
    function = reference(name, f"-DDIM={problem.dim}", *flags)
    if function is None:
        return None
    samples = np.concatenate([problem.features, problem.targets[..., None]], -1)
    first = (problem.client_hessian, problem.client_linear, samples)
    arrays = [np.ascontiguousarray(a, np.float64) for a in first]
    mean = [
        np.ascontiguousarray(a, np.float64)
        for a in (problem.mean_hessian, problem.mean_linear, problem.minimiser, np.full(problem.dim, start))
    ]

    def advance(runs: int, rounds: int) -> Array:
        gap, norm = np.empty((runs, rounds + 1)), np.empty((runs, rounds + 1))
        job = structure(
            clients=problem.clients, samples=problem.samples, runs=runs, rounds=rounds, hessian=arrays[0],
            linear=arrays[1], rows=arrays[2], key=seed_key(seed), mean_hessian=mean[0], mean_linear=mean[1],
            minimiser=mean[2], start=mean[3], gap=gap, norm=norm, **more,
        )  # fmt: skip
        function(byref(job), c_int64(threads))
        return gap

    return advance


def w1(problem: Quadratic, p: Array, step: float, turns: tuple[int, int]) -> dict[str, Any]:
    """What FedAvg-SVRG takes: probabilities (N,), the step, snapshots and inner steps."""
    limits = thresholds(p).astype(np.uint64)
    return {
        "snapshots": turns[0], "inner": turns[1], "thresholds": limits, "scale": 1 / (problem.clients * p),
        "step": step,
    }  # fmt: skip


def scaffold(eta: float, eta_g: float, H: int, S: int) -> dict[str, Any]:
    """What SCAFFOLD takes."""
    return {"steps": H, "active": S, "step": eta, "server_step": eta_g}


def proxskip(gamma: float, p: float) -> dict[str, Any]:
    """What ProxSkip takes."""
    return {"step": gamma, "chance": p, "threshold": int(thresholds(np.array([p]))[0])}
