"""What a simulation recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_MEAN = "mean_"


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """Metrics of R runs after k = 0..K rounds, under the names of the claims' quantities.

    ``trace[name]`` is (R, K+1) for a metric that was recorded ((R, K+1, d) for "iterate"), and (R,) for
    ``"mean_" + name``, the mean over k = 0..K-1, as in "mean_squared_gradient_norm".

    Attributes:
        values: the recorded metrics.
        final: (R, d), the server's models after K rounds.
        seed: the seed.
        first_run: number of the first run; row r holds run first_run + r.
    """

    values: Mapping[str, Array]
    final: Array
    seed: int
    first_run: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", MappingProxyType(dict(self.values)))

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the recorded metrics."""
        return tuple(self.values)

    @property
    def runs(self) -> int:
        """R."""
        return len(self.final)

    def __getitem__(self, name: str) -> Array:
        """A metric, or the mean of one over k = 0..K-1.

        Raises:
            ValueError: for a name that was not recorded.
        """
        if name in self.values:
            return self.values[name]
        if isinstance(name, str) and name.startswith(_MEAN) and name[len(_MEAN) :] in self.values:
            return np.mean(self.values[name[len(_MEAN) :]][:, :-1], axis=1)
        recorded = [*self.metrics, *(_MEAN + metric for metric in self.metrics)]
        raise ValueError(f"metric {name!r} was not recorded; it is not one of {recorded}")

    def __contains__(self, name: Any) -> bool:
        """Whether ``trace[name]`` exists."""
        return isinstance(name, str) and (name in self.values or name.removeprefix(_MEAN) in self.values)

    def __repr__(self) -> str:
        return f"Trace(runs={self.runs}, first_run={self.first_run}, seed={self.seed}, metrics={self.metrics})"
