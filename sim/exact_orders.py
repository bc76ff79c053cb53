"""The expectation of a product of linear maps over a uniformly random order of them, by a recursion over subsets.

Let S(U) be the sum, over all orders of a subset U of N maps T_c, of the maps of U applied in that order to x. The last
of them may be any, so

    S({}) = x,    S(U) = sum_{c in U} T_c S(U - {c}),    E[T_{s(N-1)} ... T_{s(0)} x] = S({0..N-1}) / N!,

which is N 2^(N-1) applications of some T_c in place of N N!. In fractions T_c = Z_c / q_c with integers Z_c, and all
orders of U have the same denominator prod_{c in U} q_c, so that the recursion is carried out in integers, without a
single greatest common divisor.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from sim.exact_numbers import Array, Numbers


def expected_product(numbers: Numbers, visits: Array, starts: Array) -> Array:
    """E over a uniformly random order s of starts @ T_{s(0)} @ ... @ T_{s(N-1)}.

    Args:
        numbers: the arithmetic.
        visits: (N, m, m), T_c.
        starts: (B, m).

    Returns:
        (B, m).
    """
    if not numbers.exact:
        return _over_subsets(visits, starts, average=True)
    scaled, denominators = zip(*(_integers(visit) for visit in visits), strict=True)
    begin, below = _integers(starts)
    total = _over_subsets(np.stack(scaled), begin, average=False)
    below *= math.factorial(len(visits)) * math.prod(denominators)
    out = np.empty(total.shape, dtype=object)
    out.ravel()[:] = [numbers.load(Fraction(int(value), below)) for value in total.ravel()]
    return out


def _over_subsets(visits: Array, starts: Array, *, average: bool) -> Array:
    """S(everybody), or its average over the orders: subsets as bit masks, one size after another."""
    clients, width = len(visits), starts.shape[1]
    masks = np.array([0])
    sums = starts[None]
    everything = np.arange(1 << clients)
    sizes = np.array([mask.bit_count() for mask in everything.tolist()])
    place = np.empty(1 << clients, dtype=np.int64)
    for size in range(1, clients + 1):
        following = everything[sizes == size]
        place[following] = np.arange(len(following))
        total = np.zeros((len(following), *starts.shape), dtype=starts.dtype)
        for c in range(clients):
            without = masks >> c & 1 == 0
            product = sums[without].reshape(-1, width) @ visits[c]
            total[place[masks[without] | 1 << c]] += product.reshape(-1, *starts.shape)
        sums = total / size if average else total
        masks = following
    return sums[0]


def _integers(values: Array) -> tuple[Array, int]:
    """An array of rationals as an array of Python's integers over one denominator."""
    entries = [_fraction(value) for value in values.ravel()]
    below = math.lcm(*(entry.denominator for entry in entries))
    out = np.empty(values.shape, dtype=object)
    out.ravel()[:] = [entry.numerator * (below // entry.denominator) for entry in entries]
    return out, below


def _fraction(value: Any) -> Fraction:
    return Fraction(value) if isinstance(value, int | Fraction) else Fraction(int(value.p), int(value.q))
