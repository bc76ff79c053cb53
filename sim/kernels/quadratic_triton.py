"""Rounds of FedAvg-SVRG and of FedAvg on quadratics on a GPU, fused by Triton into one kernel for many rounds.

The kernel is `quadratic_triton_kernel.py`. It records the model of every round, from which torch computes the metrics.
Clients that are absent are computed, but their results are not used: steps that overflow do no harm.

Not yet run on a GPU: it is tested by Triton's interpreter (TRITON_INTERPRET=1, on tensors of the CPU), and compiles for
an H100 (compute capability 9.0) without spilling registers (triton 3.7.1: 148 of them at d = 5, 254 at d = 16). No
figure of its speed exists.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sim.algorithms.base import Algorithm
from sim.algorithms.fedavg import FedAvg
from sim.algorithms.fedavg_svrg import FedAvgSVRG
from sim.arguments import to_float
from sim.kernels.clients import Kernel
from sim.kernels.presence import Presence
from sim.kernels.quadratic import UNROLLED, QuadraticKernel
from sim.kernels.quadratic_native import loops
from sim.streams import seed_key

# Most coordinates where samples have Hessians of their own, not features: the kernel for 12 takes minutes to compile.
_DENSE = 8
# Runs of a program: one warp, so that each has its own way through the rounds and few runs fill many processors.
_BLOCK = 32
# Bytes of the models that a call of the kernel records.
_PATH_BYTES = 256_000_000


def supports(algorithm: Algorithm, kernel: Any, presence: Presence, metrics: Sequence[str]) -> bool:
    """Whether this back end knows the algorithm, the problem, who takes part, and all the metrics."""
    return (
        type(algorithm) in (FedAvg, FedAvgSVRG)
        and type(kernel) is QuadraticKernel
        and kernel.dim <= (_DENSE if kernel.problem.features is None else UNROLLED)
        and presence.size is None
        and (presence.empty == "keep" or not presence.may_be_empty)
        and "local_consistency" not in metrics  # of the clients' models, which are not recorded
    )


def installed() -> bool:
    """Whether triton can be imported."""
    return find_spec("triton") is not None


def interpreted() -> bool:
    """Whether Triton is to interpret its kernels, on any device; read by it when it is first imported."""
    return os.environ.get("TRITON_INTERPRET") == "1"


class TritonRounds:
    """Runs of an algorithm on a quadratic, from the first round to the last."""

    def __init__(
        self,
        algorithm: Algorithm,
        kernel: Kernel,
        presence: Presence,
        steps: Sequence[float],
        seed: int,
        dtype: torch.dtype = torch.float64,
    ) -> None:
        """Arguments as in `sim.engine`; those that `supports` accepts.

        Args:
            dtype: of the models and of all arithmetic, float64 or float32; the draws are the same integers.

        Raises:
            ImportError: without triton.
        """
        assert isinstance(algorithm, FedAvg | FedAvgSVRG)
        assert isinstance(kernel, QuadraticKernel)
        self._device, self._dtype = kernel.device, dtype
        self._rounds, self._dim = len(steps), kernel.dim
        low, high = seed_key(seed)
        self._seed = np.array([low | high << 32], dtype=np.uint64).view(np.int64)
        problem = kernel.problem
        features = problem.features is not None
        outer, inner = loops(algorithm)
        self._arguments: dict[str, Any] = {
            "clients": problem.clients,
            "samples": problem.samples,
            "counts": torch.from_numpy(problem.counts.copy()).to(self._device),
            "hessian": self._tensor(problem.client_hessian),
            "linear": self._tensor(problem.client_linear),
            "curvature": self._tensor(problem.features if features else problem.hessian),
            "slope": self._tensor(problem.targets if features else problem.linear),
            "steps": self._tensor(steps),
            "thresholds": presence.thresholds.contiguous(),
            "scale": presence.scale.to(dtype).contiguous(),
            "row": 0 if presence.constant else problem.clients,
            "outer": outer,
            "inner": inner,
            "again": 0,
            "D": kernel.dim,
            "BLOCK": _BLOCK,
            "FEATURES": features,
            "REDUCES_VARIANCE": isinstance(algorithm, FedAvgSVRG),
            "DIVIDES": algorithm.aggregation == "normalised",
            "num_warps": _BLOCK // 32,
            "enable_fp_fusion": True,
        }

    def _tensor(self, values: Any) -> Tensor:
        array = np.asarray(values)
        array = to_float(array) if array.dtype == object else array
        return torch.tensor(array, dtype=self._dtype, device=self._device)

    def paths(self, start: Tensor, first_run: int, runs: int) -> Iterator[tuple[int, Tensor]]:
        """The models of these runs, a stretch of rounds at a time.

        Args:
            start: (d,) theta^0.
            first_run: number of the first of them.
            runs: R.

        Yields:
            k, and theta^k, theta^{k+1}, ... as (B, d, R) float64, overwritten later; from k = 0 to K.
        """
        from sim.kernels.quadratic_triton_kernel import advance

        stream = torch.from_numpy(np.append(self._seed, first_run)).to(self._device)
        stretch = max(1, min(self._rounds, _PATH_BYTES // (8 * self._dim * runs)))
        models = torch.empty((stretch + 1, self._dim, runs), dtype=self._dtype, device=self._device)
        models[0] = start[:, None]
        grid = (-(-runs // _BLOCK),)
        for first in range(0, self._rounds, stretch):
            last = min(first + stretch, self._rounds)
            if first:
                models[0] = models[stretch]
            # Triton launches on the current device, which need not be that of the tensors
            with torch.cuda.device_of(models):
                advance[grid](
                    path=models[1:],
                    theta=models[0],
                    stream=stream,
                    first_round=first,
                    last_round=last,
                    runs=runs,
                    **self._arguments,
                )
            yield (0, models[: last + 1].double()) if first == 0 else (first + 1, models[1 : last - first + 1].double())
