"""Clients that are the same, functions and parameters: they are exchangeable, and one of each class stands for all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sim.moments.numbers import Array

AT_ONCE = 8
"""Classes that are looked for by comparing all clients with one."""


def classes_of(values: Sequence[Array]) -> Array:
    """(N,), the class of each client, numbered as they first occur; those are alike whose rows of all values are.

    Args:
        values: arrays (N, ...).
    """
    N = len(values[0])
    rows = [value.reshape(N, -1) for value in values]
    found, left, number = np.zeros(N, dtype=int), np.arange(N), 0
    while len(left) and number < AT_ONCE:
        same = np.ones(len(left), dtype=bool)
        for each in rows:
            part = each if len(left) == N else each[left]
            same &= (part == each[left[0]]).all(axis=1)
        found[left[same]] = number
        left, number = left[~same], number + 1
    known: dict[Any, int] = {}
    for n in left.tolist():
        key = tuple(tuple(each[n].tolist()) if each.dtype == object else each[n].tobytes() for each in rows)
        found[n] = number + known.setdefault(key, len(known))
    return found
