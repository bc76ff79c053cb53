"""The mixing-weight program as a cvxpy model: what the exact solver is checked against, and a start for variants."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from theory.mixing.inputs import finite, positive, sizes

if TYPE_CHECKING:
    import cvxpy


def model(z: ArrayLike, n: ArrayLike, lam: float) -> cvxpy.Problem:
    """The program minimise sum_j a_j z_j + lam sum_j a_j^2/n_j over the simplex (Deng et al., equation (2)).

    Args:
        z: shape (N,).
        n: shape (N,), positive.
        lam: positive.

    Returns:
        The problem, unsolved; its one variable is named ``weights``, and its first constraint is sum_j a_j = 1, whose
        dual value is minus the multiplier.

    Raises:
        ValueError: an argument has another shape, or an entry outside its domain.
    """
    import cvxpy as cp

    costs = finite("z", z, 1)
    counts, penalty = sizes(n, len(costs)), positive("lam", lam)
    weights = cp.Variable(len(costs), name="weights")
    objective = costs @ weights + cp.sum_squares(cp.multiply(np.sqrt(penalty / counts), weights))
    return cp.Problem(cp.Minimize(objective), [cp.sum(weights) == 1, weights >= 0])
