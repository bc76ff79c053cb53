"""The compiled local steps of softmax and logistic regression, called with tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from sim.kernels import regression_steps
from sim.kernels.local_steps import LocalSteps

if TYPE_CHECKING:
    from sim.kernels.regression import RegressionKernel


class CompiledSteps:
    """Local steps of one regression on the CPU; see `sim.kernels.regression_steps`, which is compiled here.

    Raises:
        ImportError: when numba is missing.
    """

    def __init__(self, kernel: RegressionKernel) -> None:
        """Args: kernel: on the CPU."""
        self._take = regression_steps.compiled()
        self._data = (kernel.features.numpy(), kernel.labels.numpy(), float(kernel.ridge), kernel.classes)

    def __call__(self, plan: LocalSteps, picked: Tensor, w: Tensor, live: int) -> None:
        """Take the plan's steps from w (S, d, R), in place, for the first `live` runs.

        Args:
            plan: with J = plan.steps plan.batch.
            picked: (J, S, R), the samples, numbered over all clients.
            w: contiguous.
            live: in 1..R.
        """
        numbers = (plan.steps, plan.batch, float(plan.scale), float(plan.decay), float(plan.radius))
        shift, ahead = _slots(plan.shift), _slots(plan.ahead)
        self._take(self._data, picked.numpy(), numbers, shift, ahead, w.numpy(), live)


def _slots(values: Tensor | None) -> NDArray[Any]:
    """(S, d, R), (1, d, R) when all slots have the same, or (0, 0, 0) for None."""
    if values is None:
        return np.zeros((0, 0, 0))
    return (values if values.ndim == 3 else values[None]).numpy()
