"""The mixing weights: minimise sum_j a_j z_j + lam sum_j a_j^2/n_j over the simplex, exactly, in O(N log N).

The optimality conditions say a_j = n_j max(0, nu - z_j)/(2 lam) with the multiplier nu for which these sum to one. The
sum grows with nu, so the clients that take part are those with the k smallest z, and client k is among them when
S_k = sum_j n_j max(0, z_k - z_j) < 2 lam. S is a running sum of non-negative terms (gaps of the sorted z times running
sums of n) and nu enters only by its distance from the last z that takes part: nothing cancels, whatever z is offset by.

Source: Deng et al., equation (2), and the heterogeneous version of section 3.3; equation (1) is the case lam = 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from theory.mixing.inputs import FloatArray, finite, sizes


@dataclass(frozen=True)
class Weights:
    """The solution of one or many of the programs.

    Attributes:
        weights: shape (..., N), non-negative, each row sums to one.
        multiplier: shape (...), nu, in the unit of z: a_j > 0 exactly where z_j < nu.
        objective: shape (...), the minimum, in the unit of z.
        kkt_residual: shape (...), the largest of |sum_j a_j - 1| and |a_j - n_j max(0, nu - z_j)/(2 lam)|, with nu
            taken relative to the z of the last client that takes part. As the weights are monotone in nu, weights that
            satisfy the second condition are within |sum_j a_j - 1| of the minimiser in the 1-norm.
    """

    weights: FloatArray
    multiplier: FloatArray
    objective: FloatArray
    kkt_residual: FloatArray

    def __getitem__(self, client: int | tuple[int, ...]) -> Weights:
        """The solution of one row, or of some."""
        return Weights(self.weights[client], self.multiplier[client], self.objective[client], self.kkt_residual[client])


def heterogeneous_cost(z: ArrayLike, n: ArrayLike, vc: ArrayLike) -> FloatArray:
    """z_j + sqrt(vc_j/n_j), what stands for z_j when client j's model space has complexity vc_j (section 3.3).

    Args:
        z: shape (..., N).
        n: shape (N,), numbers of samples, positive.
        vc: shape (N,) or that of z, non-negative; a VC dimension, or any other complexity.

    Raises:
        ValueError: an argument has another shape, or an entry outside its domain.
    """
    costs, complexities = finite("z", z), finite("vc", vc)
    counts = sizes(n, costs.shape[-1])
    if complexities.shape not in (costs.shape, costs.shape[-1:]):
        raise ValueError(f"vc has shape {complexities.shape}; one for each of the {costs.shape[-1]} clients is needed")
    if not (complexities >= 0).all():
        where = tuple(int(i) for i in np.argwhere(complexities < 0)[0])
        raise ValueError(f"vc[{', '.join(map(str, where))}]={complexities[where]:g} is outside [0, inf)")
    with np.errstate(over="ignore"):
        return finite("z + sqrt(vc/n)", costs + np.sqrt(complexities / counts))


def mixing_weights(z: ArrayLike, n: ArrayLike, lam: ArrayLike, *, vc: ArrayLike | None = None) -> Weights:
    """The minimiser of sum_j a_j z_j + lam sum_j a_j^2/n_j over the simplex, for every row of z and every lam.

    Args:
        z: shape (..., N), the discrepancies, of any sign; a row a client whose weights are wanted.
        n: shape (N,), numbers of samples, positive.
        lam: a positive number, or an array of them of any shape.
        vc: shape (N,) or that of z, the complexities of the heterogeneous version; None for the plain one.

    Returns:
        Weights of shape lam.shape + z.shape. One sort of z serves every lam.

    Raises:
        ValueError: an argument has another shape, or an entry outside its domain.
    """
    costs = finite("z", z) if vc is None else heterogeneous_cost(z, n, vc)
    counts = sizes(n, costs.shape[-1])
    penalties = finite("lam", np.atleast_1d(np.asarray(lam, dtype=object)))
    if not (penalties > 0).all():
        raise ValueError(f"lam={penalties[~(penalties > 0)].flat[0]:g} is outside (0, inf)")
    with np.errstate(over="ignore"):  # a client infinitely far from the others takes no part
        order = np.argsort(costs, axis=-1)
        ordered = np.take_along_axis(costs, order, axis=-1)
        filled = np.cumsum(counts[order[..., :-1]], axis=-1) * np.diff(ordered, axis=-1)
        np.cumsum(filled, axis=-1, out=filled)
        rows = [_at(costs, counts, ordered, filled, float(value)) for value in penalties.ravel()]
    shape, parts = np.shape(lam), zip(*rows, strict=True)
    weights, multiplier, objective, residual = (np.stack(part).reshape(shape + part[0].shape) for part in parts)
    return Weights(weights, multiplier, objective, residual)


def _at(
    costs: FloatArray, counts: FloatArray, ordered: FloatArray, filled: FloatArray, lam: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """The four parts of `Weights` at one lam; `filled` is S of the second, third, ... smallest z."""
    last = np.count_nonzero(filled / 2 < lam, axis=-1)
    highest = np.take_along_axis(ordered, np.expand_dims(last, -1), axis=-1)
    active = costs <= highest
    below = highest - costs  # exact to one rounding; minus infinity at worst where inactive
    height = np.where(active, below / lam / 2, 0.0)
    # `filled` is a running sum; the pairwise sums here make the weights sum to one to a few roundings.
    rest = 1 - np.sum(counts * height, axis=-1, keepdims=True)
    level = np.maximum(rest, 0) / np.sum(np.where(active, counts, 0.0), axis=-1, keepdims=True)
    weights = np.where(active, counts * (height + level), 0.0)
    margin = 2 * (lam * level)
    conditions = np.maximum(counts * ((below + margin) / lam / 2), 0)
    residual = np.maximum(
        np.abs(np.sum(weights, axis=-1) - 1), np.max(np.abs(weights - conditions), axis=-1, initial=0.0)
    )
    # lam a_j^2/n_j = a_j (margin + below_j)/2, and the weights sum to one.
    saved = np.sum(weights * np.where(active, below, 0.0), axis=-1)
    top, distance = highest[..., 0], margin[..., 0]
    return weights, top + distance, top + (distance - saved) / 2, residual
