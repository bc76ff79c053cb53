"""No operation mixes tensors of the CPU with tensors of the device on which a simulation runs.

A machine for tests need not have a GPU. torch's device "meta" has no numbers, but refuses operations with tensors of
other devices as a GPU does, and so finds those that were made in the wrong place.
"""

import numpy as np
import pytest
import torch

from sim.population import OpenPopulation
from sim.problems import RidgeLogistic, RidgeSoftmax
from sim.simulate import simulate
from tests.sim.test_open_populations import PROGRAMS

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
    monkeypatch.setattr("sim.running.checked_device", torch.device)
    return "meta"


def test_a_mix_is_refused():
    with pytest.raises(RuntimeError, match="device"):
        torch.empty(2, device="meta") + torch.empty(2)


@pytest.mark.parametrize("problem", [LOGISTIC, SOFTMAX], ids=["logistic", "softmax"])
@pytest.mark.parametrize("which", ["sgd", "adam"])
def test_open_populations(problem, which, elsewhere):
    program, given = PROGRAMS[which]
    population = OpenPopulation(problem.clients, 2, 0.5, 0.5)
    found = simulate(
        program, problem, given, rounds=4, runs=3, metrics=("cost", "squared_iterate_norm"), device=elsewhere,
        population=population, backend="torch",
    )  # fmt: skip
    assert found.final["x"].shape[0] == 3
