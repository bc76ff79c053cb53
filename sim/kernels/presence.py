"""Who takes part, and with what weight, for a batch of rounds of a chunk of runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from sim.participation import Bernoulli, UniformChoice, probabilities
from sim.streams import Streams, thresholds

# Beyond this probability of an empty round, conditioning by redrawing would take more than 10^4 attempts.
_HOPELESS = 1 - 1e-4


class Presence:
    """The aggregation weights c_n of theta+ = theta + sum_n c_n (w_n - theta), drawn round by round.

    Shapes: K rounds, N clients, R runs, T rounds of a batch.
    """

    def __init__(
        self,
        participation: Any,
        clients: int,
        rounds: int,
        aggregation: str,
        empty: str,
        device: torch.device,
    ) -> None:
        """Read a participation; None means that everybody takes part.

        Raises:
            ValueError: when it does not fit the clients and the rounds, or when rounds are empty so often that
                conditioning by redrawing is hopeless.
        """
        participation = Bernoulli(1) if participation is None else participation
        if not isinstance(participation, Bernoulli | UniformChoice):
            raise ValueError(f"participation={participation!r} is not None, Bernoulli or UniformChoice")
        p = probabilities(participation, clients, rounds)
        self.clients, self.device = clients, device
        self.aggregation, self.empty = aggregation, empty
        self.size = participation.size if isinstance(participation, UniformChoice) else None
        self.constant = not (isinstance(participation, Bernoulli) and participation.p.ndim == 2)
        p = p[:1] if self.constant else p
        self.everybody = bool(np.all(p == 1))
        self.may_be_empty = self.size is None and not np.all(np.any(p == 1, axis=1))
        if empty == "condition" and self.may_be_empty:
            missing = np.prod(1 - p, axis=1)
            if missing.max() > _HOPELESS:
                raise ValueError(
                    f"empty='condition' with a round that is empty with probability {missing.max():.6g}"
                    f" is outside [0, {_HOPELESS}]: redrawing would take too long"
                )
        self.thresholds = torch.from_numpy(thresholds(p)).to(device)[:, :, None]
        scale = 1 / (clients * p) if aggregation == "unbiased" else np.ones_like(p)
        self.scale = torch.from_numpy(scale).to(device)[:, :, None]
        if self.size is not None and aggregation == "unbiased":
            self.scale.fill_(1 / self.size)

    def weights(self, streams: Streams, rounds: range) -> tuple[Tensor, Tensor | None]:
        """Weights (T, N, R) float64 (or (T, N, 1) when everybody takes part) and, where some round may be empty and
        the rule is "zero", (T, 1, R) float64 that is 0 in an empty round and 1 elsewhere."""
        if self.everybody:
            shape = (len(rounds), self.clients, 1)
            return torch.full(shape, 1 / self.clients, dtype=torch.float64, device=self.device), None
        present = self._present(streams, rounds, 0)
        if self.empty == "condition" and self.may_be_empty:
            self._redraw(streams, rounds, present)
        scale = self._rows(self.scale, rounds)
        if self.aggregation == "normalised":
            weights = present.double()
            weights /= weights.sum(1, keepdim=True).clamp_(min=1)
        else:
            weights = present * scale
        kept = None
        if self.empty == "zero" and self.may_be_empty:
            kept = present.any(1, keepdim=True).double()
        return weights, kept

    def chosen(self, streams: Streams, rounds: range) -> Tensor:
        """(T, S, R) int64, the S clients that take part under `UniformChoice`, the smaller numbers first."""
        assert self.size is not None
        keys = self._keys(streams.participation(self.clients, rounds))
        return keys.topk(self.size, dim=1, largest=False).indices.sort(dim=1).values

    def _rows(self, values: Tensor, rounds: range) -> Tensor:
        return values if self.constant else values[rounds.start : rounds.stop]

    def _present(self, streams: Streams, rounds: range, attempt: int, columns: Any = None) -> Tensor:
        words = streams.participation(self.clients, rounds, attempt, columns)
        if self.size is None:
            return words < self._rows(self.thresholds, rounds)
        keys = self._keys(words)
        return keys <= keys.kthvalue(self.size, dim=1, keepdim=True).values

    def _keys(self, words: Tensor) -> Tensor:
        """Distinct keys in the order of (word, client): below 2^63 as there are fewer than 2^31 clients."""
        return words * self.clients + torch.arange(self.clients, device=self.device)[None, :, None]

    def _redraw(self, streams: Streams, rounds: range, present: Tensor) -> None:
        attempt = 0
        while True:
            empty = ~present.any(1)
            columns = empty.any(0).nonzero()[:, 0]
            if not len(columns):
                return
            attempt += 1
            fresh = self._present(streams, rounds, attempt, columns.cpu().numpy() if streams.work.numpy else columns)
            present[:, :, columns] = torch.where(empty[:, None, columns], fresh, present[:, :, columns])
