"""The same in exact arithmetic: mixing weights in Fractions.

For small N: every number grows with the number of operations. Nothing here is shared with the float solver.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

Exact: TypeAlias = int | str | float | Fraction
"""A number taken at its exact value: text such as "1/8" or "0.1" as written, a float as its binary fraction."""


@dataclass(frozen=True)
class ExactWeights:
    """The solution of one program in Fractions.

    Attributes:
        weights: N Fractions that sum to one.
        multiplier: nu, with weights_j = n_j max(0, nu - z_j)/(2 lam).
        objective: the minimum.
        active: the clients with z_j < nu, in order; those with a positive weight.
    """

    weights: tuple[Fraction, ...]
    multiplier: Fraction
    objective: Fraction
    active: tuple[int, ...]


def exact_weights(z: Sequence[Exact], n: Sequence[Exact], lam: Exact) -> ExactWeights:
    """The minimiser of sum_j a_j z_j + lam sum_j a_j^2/n_j over the simplex, in Fractions (Deng et al., equation (2)).

    Args:
        z: N numbers.
        n: N positive numbers.
        lam: a positive number.

    Raises:
        ValueError: an argument has another length, or an entry outside its domain.
    """
    costs, counts, penalty = _read(z, n, lam)
    order = sorted(range(len(costs)), key=costs.__getitem__)
    total = weighted = Fraction(0)
    multiplier = None
    for j in order:
        if multiplier is not None and costs[j] >= multiplier:
            break
        total, weighted = total + counts[j], weighted + counts[j] * costs[j]
        multiplier = (2 * penalty + weighted) / total
    assert multiplier is not None  # _read refuses N = 0
    weights = tuple(
        n_j * max(multiplier - z_j, Fraction(0)) / (2 * penalty) for z_j, n_j in zip(costs, counts, strict=True)
    )
    return ExactWeights(
        weights, multiplier, exact_objective(weights, z, n, lam), tuple(j for j, a in enumerate(weights) if a > 0)
    )


def exact_objective(weights: Sequence[Fraction], z: Sequence[Exact], n: Sequence[Exact], lam: Exact) -> Fraction:
    """sum_j a_j z_j + lam sum_j a_j^2/n_j in Fractions, for N weights a_j. The other arguments as for `exact_weights`.

    Raises:
        ValueError: an argument has another length, or an entry outside its domain.
    """
    costs, counts, penalty = _read(z, n, lam)
    if len(weights) != len(costs):
        raise ValueError(f"weights has {len(weights)} entries; {len(costs)} needed")
    terms = (a * z_j + penalty * a * a / n_j for a, z_j, n_j in zip(weights, costs, counts, strict=True))
    return sum(terms, Fraction(0))


def _read(z: Sequence[Exact], n: Sequence[Exact], lam: Exact) -> tuple[list[Fraction], list[Fraction], Fraction]:
    """The arguments as Fractions, checked."""
    try:
        costs, counts, penalty = [Fraction(x) for x in z], [Fraction(x) for x in n], Fraction(lam)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError) as error:
        raise ValueError(f"z, n and lam must be rational numbers: {error}") from error
    if not costs:
        raise ValueError("z is empty")
    if len(counts) != len(costs):
        raise ValueError(f"n has {len(counts)} entries; one for each of the {len(costs)} clients is needed")
    for j, n_j in enumerate(counts):
        if n_j <= 0:
            raise ValueError(f"n[{j}]={n_j} is outside (0, inf)")
    if penalty <= 0:
        raise ValueError(f"lam={penalty} is outside (0, inf)")
    return costs, counts, penalty
