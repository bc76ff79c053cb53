"""Left sides of claims that are expectations of a number that the simulator records of every run.

A paper's module lists them in `SAMPLED`, by the name of the claim's quantity. It is the one place that says which
claims can be sampled: `validate.checking` and sampled cells of a sweep ask `per_run`.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sim.trace import Trace
from theory.claim import Claim
from validate.bounds import Cases


@dataclass(frozen=True)
class PerRun:
    """A quantity as the expectation of a number of each run.

    Attributes:
        metric: of the simulator, non-negative.
        at: "mean": its mean over k = 0..K-1; "k": after k rounds, k the index of the claim's case; "next": after k + 1
            rounds, where a case without an index k speaks of k = 0.
        root: the quantity is the square root of that expectation.
    """

    metric: str
    at: Literal["mean", "k", "next"]
    root: bool = False

    def values(self, trace: Trace, cases: Cases) -> NDArray[np.float64]:
        """(R, C): the numbers of each run, one a case.

        What is zero may come out of the simulator as a negative rounding error; it is 0 here.
        """
        if self.at == "mean":
            found = np.repeat(trace["mean_" + self.metric][:, None], len(cases), axis=1)
        else:
            k = np.asarray(cases.index.get("k", np.zeros(len(cases), dtype=int)), dtype=int)
            found = trace[self.metric][:, k + (self.at == "next")]
        return np.maximum(found, 0.0)


def per_run(claim: Claim, module: ModuleType | None) -> PerRun | None:
    """How a claim's left side is sampled, or None: then it bounds nothing from above that is recorded of a run."""
    if module is None or not claim.has_bound or claim.relation not in ("<=", "<"):
        return None
    found: PerRun | None = module.SAMPLED.get(claim.quantity.name) if hasattr(module, "SAMPLED") else None
    return found
