"""The local steps of softmax and logistic regression and their draws, compiled by the system's C++ compiler.

What is compiled is `sim/native/regression_steps.cpp`, which computes what `sim.kernels.regression_steps` does, for
eight pairs of a client and a run at a time, by one thread. No sum is over pairs, so a run's models do not depend on the
others.
"""

from __future__ import annotations

import ctypes
from typing import Any

from torch import Tensor

from sim.algorithms.averaged import AveragedAlgorithm
from sim.algorithms.base import Algorithm
from sim.algorithms.fedavg import FedAvg
from sim.kernels.local_steps import LocalSteps
from sim.kernels.regression import RegressionClients, RegressionKernel
from sim.native import build
from sim.streams import seed_key

_SOURCE = "regression_steps.cpp"
_LANES = 8
# Multiplications of a call, about 0.1 s: an interrupt is noticed between calls.
_CALL = 1 << 30

# Whole vectors of torch's sums and products, so that a run does not depend on how many there are; see `sim.engine.PAD`.
PAD = 16

_Array = ctypes.c_void_p


class _Task(ctypes.Structure):
    """The structure of the same name in the source, which says what the fields are."""

    _fields_ = [
        ("features", _Array),
        ("labels", _Array),
        ("samples", ctypes.c_int64),
        ("inputs", ctypes.c_int64),
        ("classes", ctypes.c_int64),
        ("ridge", ctypes.c_double),
        ("slots", ctypes.c_int64),
        ("width", ctypes.c_int64),
        ("live", ctypes.c_int64),
        ("key", ctypes.c_uint64 * 2),
        ("first_run", ctypes.c_uint64),
    ]


class _Round(ctypes.Structure):
    """The structure of the same name in the source."""

    _fields_ = [
        ("round", ctypes.c_int64),
        ("chosen", _Array),
        ("steps", ctypes.c_int64),
        ("batch", ctypes.c_int64),
        ("scale", ctypes.c_double),
        ("decay", ctypes.c_double),
        ("radius", ctypes.c_double),
        ("shift", _Array),
        ("ahead", _Array),
        ("shift_of_slots", ctypes.c_int64),
        ("ahead_of_slots", ctypes.c_int64),
        ("models", _Array),
    ]


def supports(algorithm: Algorithm, kernel: Any) -> bool:
    """Whether this back end knows the problem, and local steps are all that the algorithm asks of its clients."""
    known = (FedAvg.local_update, AveragedAlgorithm.local_update)
    return type(kernel) is RegressionKernel and type(algorithm).local_update in known


def usable() -> bool:
    """Whether the steps can be compiled here, which they are at need; if not, the reason is logged once."""
    return build.usable(_SOURCE)


class NativeClients(RegressionClients):
    """`sim.kernels.clients.Clients` of a chunk of runs that draw their samples themselves; they know `steps` alone."""

    def __init__(
        self, kernel: RegressionKernel, width: int, slots: int | None, live: int, seed: int, first_run: int
    ) -> None:
        """As `RegressionKernel.clients`, on the CPU; the runs are numbered from `first_run` on.

        Raises:
            ImportError: without a compiler, or when it fails.
        """
        super().__init__(kernel, width, slots, live, False)
        self._library = build.library(_SOURCE)
        self._round = -1
        self._chosen: Tensor | None = None
        self._task = _Task(
            features=kernel.features.data_ptr(),
            labels=kernel.labels.data_ptr(),
            samples=kernel.samples,
            inputs=kernel.inputs,
            classes=kernel.classes,
            ridge=float(kernel.ridge),
            slots=self.shape[0],
            width=width,
            live=live,
            key=(ctypes.c_uint64 * 2)(*seed_key(seed)),
            first_run=first_run,
        )

    def begin(self, chosen: Tensor | None) -> None:
        """See `Clients`; rounds are counted."""
        super().begin(chosen)
        self._round += 1
        self._chosen = None if chosen is None else chosen.contiguous()

    def steps(self, plan: LocalSteps, w: Tensor) -> Tensor:
        """See `Clients`."""
        kept = [None if part is None else part.contiguous() for part in (self._chosen, plan.shift, plan.ahead)]
        chosen, shift, ahead = (None if part is None else part.data_ptr() for part in kept)
        assert w.is_contiguous()
        task = _Round(
            round=self._round,
            chosen=chosen,
            steps=plan.steps,
            batch=plan.batch,
            scale=float(plan.scale),
            decay=float(plan.decay),
            radius=float(plan.radius),
            shift=shift,
            ahead=ahead,
            shift_of_slots=plan.shift is not None and plan.shift.ndim == 3,
            ahead_of_slots=plan.ahead is not None and plan.ahead.ndim == 3,
            models=w.data_ptr(),
        )
        groups = -(-self.shape[0] * self.live // _LANES)
        size = max(1, _CALL // (2 * _LANES * plan.steps * plan.batch * self.shape[1]))
        for first in range(0, groups, size):
            some = ctypes.c_int64(first), ctypes.c_int64(min(first + size, groups))
            if self._library.regression_steps(ctypes.byref(self._task), ctypes.byref(task), *some):
                raise MemoryError("not enough memory for eight clients")
        return w
