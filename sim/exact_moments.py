"""What the exact oracle finds: the moments of the iterates, and the sums of them that the claims speak of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sim.exact_numbers import Array


class DivergenceError(ValueError):
    """The moments leave the range of float64: the iterates diverge in mean square."""


class CancellationError(ValueError):
    """The moments grew so far before they came back that rounding at their peak hides what they came back to."""


@dataclass(frozen=True, eq=False)
class Moments:
    """Exact moments of an algorithm's iterates; arrays of float64, or of Fractions when the problem is exact.

    The estimator v_{n,s,m}^k and the inner iterate w_{n,s,m}^k (before its step) are defined for every client n, also
    for one that does not take part in round k: the expectations are over the sampling and over theta^k, which does not
    depend on who takes part in round k. (For local SGD, S = 1, M = local_steps and v is the stochastic gradient.)

    Under ``empty="condition"`` the law is that of the algorithm that draws again until somebody takes part.

    Attributes:
        mean: (K+1, d), E theta^k.
        second_moment: (K+1, d, d), E theta^k theta^k'.
        squared_gradient_norm: (K+1,), E||grad f(theta^k)||^2.
        suboptimality: (K+1,), E f(theta^k) - f*; None when f is unbounded below.
        cost: (K+1,), E f(theta^k).
        squared_iterate_norm: (K+1,), E||theta^k||^2.
        estimator: (K, N, S, M), E||v_{n,s,m}^k||^2.
        inner_product: (K, N, S, M), E<grad f(theta^k), grad f_n(w_{n,s,m}^k)>.
        displacement: (K, N, S, M), E||w_{n,s,m}^k - theta^k||^2.
        local_suboptimality: (K, N, S, M), E f_n(w_{n,s,m}^k) - f_n*; None when some f_n is unbounded below.
        aggregate: (K,), E||sum_n (1_n/p_n) sum_{s,m} v_{n,s,m}^k||^2; None unless participation is Bernoulli and the
            aggregation unbiased.
        participation: (K, N), p_n^k = P(client n takes part in round k); S/N under uniform choice, and not conditional
            on anything.
    """

    mean: Array
    second_moment: Array
    squared_gradient_norm: Array
    suboptimality: Array | None
    cost: Array
    squared_iterate_norm: Array
    estimator: Array
    inner_product: Array
    displacement: Array
    local_suboptimality: Array | None
    aggregate: Array | None
    participation: Array

    @property
    def rounds(self) -> int:
        """K."""
        return len(self.mean) - 1

    def mean_squared_gradient_norm(self) -> Any:
        """(1/K) sum_{k<K} E||grad f(theta^k)||^2, the left side of eq. (7) of Rostami and Kia.

        Raises:
            ValueError: for K = 0, an average over no rounds.
        """
        if self.rounds == 0:
            raise ValueError("rounds=0 is outside [1, inf): the average is over the rounds k = 0..K-1")
        return self.squared_gradient_norm[:-1].sum() / self.rounds

    def drift_sum(self) -> Any:
        """sum_{k,n,s,m} sum_{m'<m} E||v_{n,s,m'}^k||^2, as printed in eq. (7) of Rostami and Kia."""
        inner = self.estimator.shape[-1]
        # v_{m'} is counted once for each later m of its own snapshot
        later = np.arange(inner - 1, -1, -1)
        return self._total(self.estimator * self._integers(later))

    def weighted_sum(self) -> Any:
        """sum_{k,n} (1/p_n^k) sum_{s,m} E||v_{n,s,m}^k||^2, as printed in eq. (7) of Rostami and Kia."""
        return self._total(self.estimator / self.participation[:, :, None, None])

    def lexicographic_drift_sum(self) -> Any:
        """sum_{k,n,s,m} (sM + m) sum_{(s',m')<(s,m)} E||v_{n,s',m'}^k||^2, in lexicographic order.

        The sum that eq. (7) of Rostami and Kia needs in place of `drift_sum`: w_{n,s,m} - theta is -delta times the
        sum of all sM + m earlier estimators of the round, those of earlier snapshots included.
        """
        rounds, clients, snapshots, inner = self.estimator.shape
        steps = snapshots * inner
        # the estimator of step t is counted with weight u for each later step u: (t+1) + ... + (steps-1)
        later = np.array([(steps * (steps - 1) - t * (t + 1)) // 2 for t in range(steps)], dtype=np.int64)
        return self._total(self.estimator.reshape(rounds, clients, steps) * self._integers(later))

    def _integers(self, values: Array) -> Array:
        return values.astype(object) if self.estimator.dtype == object else values

    def _total(self, values: Array) -> Any:
        if values.dtype == object:
            return sum(values.ravel().tolist(), 0 * self.squared_iterate_norm[0])
        return float(math.fsum(values.ravel()))
