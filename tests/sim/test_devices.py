"""No operation mixes tensors of the CPU with tensors of the device on which a simulation runs.

A machine for tests need not have a GPU. torch's device "meta" has no numbers, but refuses operations with tensors of
other devices as a GPU does, and so finds those that were made in the wrong place.
"""

import numpy as np
import pytest
import torch

from sim.algorithms import LocalAdam, LocalSGD
from sim.open_engine import run_open
from sim.population import OpenPopulation
from sim.problems import RidgeLogistic, RidgeSoftmax

RNG = np.random.default_rng(0)
POINTS = RNG.standard_normal((4, 6, 3))
LOGISTIC = RidgeLogistic(POINTS, np.where(RNG.random((4, 6)) < 0.5, -1.0, 1.0), 0.1)
SOFTMAX = RidgeSoftmax(POINTS, RNG.integers(0, 3, (4, 6)), 3, 0.1)


@pytest.fixture
def elsewhere(monkeypatch):
    """The name of a device that is not the CPU, from which nothing but zeros comes back."""
    copy, calls = torch.Tensor.cpu, []

    def cpu(tensor):
        return torch.zeros(tensor.shape, dtype=tensor.dtype) if tensor.is_meta else copy(tensor)

    def nonzero(
        tensor,
    ):  # two places, then none, and so on: whoever draws again where nobody takes part comes to an end
        calls.append(tensor.device)
        return torch.empty((2 * (len(calls) % 2), 1), dtype=torch.int64, device=tensor.device)

    monkeypatch.setattr(torch.Tensor, "cpu", cpu)
    monkeypatch.setattr(torch.Tensor, "nonzero", nonzero)
    monkeypatch.setattr("sim.open_engine.checked_device", torch.device)
    return "meta"


def test_a_mix_is_refused():
    with pytest.raises(RuntimeError, match="device"):
        torch.empty(2, device="meta") + torch.empty(2)


@pytest.mark.parametrize("problem", [LOGISTIC, SOFTMAX], ids=["logistic", "softmax"])
@pytest.mark.parametrize(
    "algorithm",
    [LocalSGD(0.1, 2), LocalSGD(0.1, 2, batch=2), LocalAdam(0.1, 2, batch=2), LocalAdam(0.1, 2, batch=2, reset=True)],
    ids=repr,
)
def test_open_populations(problem, algorithm, elsewhere):
    metrics = ["squared_iterate_norm", "global_loss", "present", "eligible", "iterate"]
    population = OpenPopulation(4, 2, 0.5, 0.5)
    trace = run_open(
        algorithm, problem, population, rounds=4, runs=3, metrics=metrics, device=elsewhere, backend="torch"
    )
    assert trace.final.shape == (3, problem.dim)
