"""The open simulator on tensors: local SGD and Adam of all pairs of a run and a client, round by round."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sim.algorithms.open import LocalAdam
from sim.kernels.open_models import OpenModel
from sim.kernels.open_task import OpenTask
from sim.streams import BLOCK_BITS, LIMIT, SAMPLING, WORDS, Workspace, philox, seed_key

# Bytes of the samples gathered at once: they stay in the caches of a CPU, and fill a GPU.
_GATHER_BYTES = 4_000_000
_GATHER_BYTES_GPU = 512_000_000
# Pairs advanced together are padded to a multiple of this, so that no product is of a single pair (see `open_models`).
_PAD = 16
# Points at which one client's loss is computed by one product.
_BLOCK = 16


class TorchWorker:
    """An `OpenTask` on a device of torch. Shapes: R runs, S slots, P pairs of a run and a slot, d coordinates."""

    def __init__(self, task: OpenTask, model: OpenModel) -> None:
        """Start at theta^0, with optimiser states that are zero.

        Args:
            task: what to do.
            model: its problem, on the device on which to work.
        """
        self.task, self.model = task, model
        self.device = model.features.device
        schedule = task.schedule
        self.samples = model.features.shape[1]
        self.flat = model.features.reshape(-1, model.features.shape[2])
        self.flat_labels = model.labels.reshape(-1)
        self.theta = self._tensor(task.start).expand(schedule.runs, -1).clone()
        self.models = self.theta.new_empty((schedule.runs, schedule.slots, model.dim))
        self.states = torch.zeros((2, *self.models.shape)).to(self.models) if task.remembers else None
        self.words = Workspace(self.device)
        self.key = seed_key(task.seed)

        batch = task.algorithm.batch
        rows = self.samples if batch is None else batch
        each = 8 * (rows * self.flat.shape[1] + 4 * task.algorithm.draws + 8 * model.dim)
        most = _GATHER_BYTES if self.device.type == "cpu" else _GATHER_BYTES_GPU
        self.width = max(1, most // each // _PAD) * _PAD

    def advance(self, rounds: range) -> NDArray[np.float64]:
        """(B, R, d), the server's models after these rounds. See `OpenWorker`."""
        path = self.theta.new_empty((len(rounds), *self.theta.shape))
        for i, k in enumerate(rounds):
            self._round(k)
            path[i] = self.theta
        return path.cpu().numpy()

    def global_loss(self, rounds: range, models: NDArray[np.float64]) -> NDArray[np.float64]:
        """(B, R), the mean of f_n(models[b, r]) over the clients present in round rounds[b]; see `OpenWorker`."""
        return global_loss(self.model, self.task.schedule.clients[rounds.start : rounds.stop], models)

    def _round(self, k: int) -> None:
        schedule = self.task.schedule
        runs, slots = np.nonzero(self.task.works(k))
        if self.states is not None:
            for state in self.states:
                state[self._tensor(schedule.enters(k))] = 0
        self.models.zero_()
        for first in range(0, len(runs), self.width):
            part = slice(first, first + self.width)
            self._work(k, runs[part], slots[part])
        uploads = schedule.uploads[k]
        counts = self._tensor(np.count_nonzero(uploads, axis=1))[:, None]
        if self.task.remembers:  # those not selected have worked too
            self.models[self._tensor(~uploads)] = 0
        total = torch.zeros_like(self.theta)
        for s in range(schedule.slots):  # in the order of the slots, so that other runs' slots change nothing
            total.add_(self.models[:, s])
        self.theta = torch.where(counts > 0, total / counts.clamp(min=1), self.theta)

    def _work(self, k: int, runs: NDArray[np.int64], slots: NDArray[np.int64]) -> None:
        """The local steps of round k of these pairs (P,); the final models go to `self.models`."""
        count = len(runs)
        padding = np.zeros(-count % _PAD, dtype=np.int64)  # any pair will do
        where = np.concatenate([np.arange(count), padding])
        run, slot = runs[where], slots[where]
        client = self.task.schedule.clients[k][run, slot].astype(np.int64)
        at = (self._tensor(runs), self._tensor(slots))
        w = self.theta[self._tensor(run)]
        algorithm = self.task.algorithm
        optimiser = None
        if isinstance(algorithm, LocalAdam):
            states = torch.zeros((2, *w.shape)).to(w)
            if self.states is not None:
                states[:, :count] = self.states[:, *at]
            optimiser = _Adam(algorithm, states)
        step = float(self.task.steps[k])
        numbers = self._tensor(client)
        if algorithm.batch is None:
            x, y = self.model.features[numbers], self.model.labels[numbers]
        else:
            rows = self._samples(k, run, client) + self.samples * numbers
        for m in range(algorithm.local_steps):
            if algorithm.batch is not None:
                chosen = rows[m * algorithm.batch : (m + 1) * algorithm.batch].T.reshape(-1)
                x = self.flat.index_select(0, chosen).view(len(w), algorithm.batch, -1)
                y = self.flat_labels[chosen].view(len(w), -1)
            gradient = self.model.gradient(x, y, w)
            if optimiser is None:
                w.sub_(gradient, alpha=step)
            else:
                optimiser.step(w, gradient, step)
        self.models[at] = w[:count]
        if optimiser is not None and self.states is not None:
            self.states[:, *at] = optimiser.states[:, :count]

    def _samples(self, k: int, runs: NDArray[np.int64], clients: NDArray[np.int64]) -> Tensor:
        """(J, P) int64, the samples that these pairs draw in round k; draw j = m batch + b."""
        draws, work = self.task.algorithm.draws, self.words
        blocks = -(-draws // WORDS)
        c0 = work.integers(self.task.first_run + runs).reshape(1, 1, 1, -1)
        c1 = work.integers(clients).reshape(1, 1, 1, -1)
        c2 = work.integers([[[[k]]]])
        c3 = work.integers(np.arange(blocks) + (SAMPLING << BLOCK_BITS)).reshape(1, -1, 1, 1)
        words = work.empty((blocks, WORDS, len(runs)))
        for i, word in enumerate(philox((c0, c1, c2, c3), self.key, work)):
            work.xp.bitwise_and(word[0, :, 0], LIMIT - 1, out=words[:, i])
        words = work.tensor(words).reshape(blocks * WORDS, -1)[:draws]
        return (words * self.samples) >> 32

    def _tensor(self, values: NDArray[Any]) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(values)).to(self.device)


class _Adam:
    """The steps of `LocalAdam` on states h, vhat (2, P, d), changed in place."""

    def __init__(self, algorithm: LocalAdam, states: Tensor) -> None:
        self.algorithm, self.states = algorithm, states

    def step(self, w: Tensor, gradient: Tensor, step: float) -> None:
        """One step of w (P, d), in place."""
        algorithm = self.algorithm
        h, peak = self.states
        h.mul_(algorithm.beta1).add_(gradient, alpha=1 - algorithm.beta1)
        v = (peak * algorithm.beta2).addcmul_(gradient, gradient, value=1 - algorithm.beta2)
        torch.maximum(v, peak, out=peak)
        w.addcdiv_(h, (peak + algorithm.eps).sqrt_(), value=-step)


def global_loss(model: OpenModel, clients: NDArray[np.int32], models: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean over the clients present of f_n at the server's models.

    Args:
        model: the problem on a device.
        clients: (B, R, S), pool indices of those present, -1 for nobody.
        models: (B, R, d), the server's models.

    Returns:
        (B, R); nan where nobody is present.
    """
    device = model.features.device
    stretch, runs, slots = clients.shape
    pairs = np.flatnonzero(clients >= 0)
    owners = clients.reshape(-1)[pairs]
    order = np.argsort(owners, kind="stable")
    pairs, owners = pairs[order], owners[order]
    # one client's points in blocks of fixed width: the products are then the same whatever the other points are
    who, starts, counts = np.unique(owners, return_index=True, return_counts=True)
    blocks = -(-counts // _BLOCK)
    block_client = np.repeat(who, blocks)
    offset = np.arange(len(block_client)) - np.repeat(np.cumsum(blocks) - blocks, blocks)
    members = np.repeat(starts, blocks)[:, None] + offset[:, None] * _BLOCK + np.arange(_BLOCK)
    last = np.repeat(starts + counts, blocks)[:, None] - 1
    table = pairs[np.minimum(members, last)]  # (blocks, _BLOCK), short blocks repeat their client's last point
    points = torch.from_numpy(models.reshape(stretch * runs, -1)).to(device)
    losses = np.zeros(clients.shape)
    flat = losses.reshape(-1)
    samples, inputs = model.features.shape[1:]
    logits = samples * model.dim // inputs
    each = 8 * (samples * inputs + 3 * _BLOCK * (model.dim + logits))
    most = _GATHER_BYTES if device.type == "cpu" else _GATHER_BYTES_GPU
    width = max(2, most // each)
    for first in range(0, len(table), width):
        part = slice(first, first + width)
        chosen, members = block_client[part], table[part]
        if len(chosen) == 1:  # never the product of a single block (see `open_models`)
            chosen, members = np.repeat(chosen, 2), np.repeat(members, 2, axis=0)
        theta = points[torch.from_numpy(members // slots).to(device)]
        found = model.losses(torch.from_numpy(chosen.astype(np.int64)).to(device), theta)
        flat[members.reshape(-1)] = found.reshape(-1).cpu().numpy()
    total = np.zeros((stretch, runs))
    for s in range(slots):
        total += losses[:, :, s]
    number = np.count_nonzero(clients >= 0, axis=2)
    return np.divide(total, number, out=np.full((stretch, runs), np.nan), where=number > 0)
