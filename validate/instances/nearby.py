"""Numbers near a number, for searches, and shorter ones, for making an instance smaller."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

F = Fraction
FACTORS = (F(1, 2), F(2), F(9, 10), F(11, 10), F(1, 10), F(10), F(-1), F(3, 4), F(5, 4))
SHIFTS = (F(1), F(-1), F(1, 2), F(-1, 2), F(1, 10), F(-1, 10))


def other(value: Any, integer: bool, rng: random.Random) -> Any:
    """A neighbour of a number, or of one of a list of numbers; of an integer at least 1 another one."""
    if isinstance(value, list):
        n = rng.randrange(len(value))
        return [*value[:n], other(value[n], integer, rng), *value[n + 1 :]]
    if integer:
        return max(F(1), value + rng.choice((-1, 1, 1, 2)))
    if value == 0 or rng.random() < 0.2:
        return value + rng.choice(SHIFTS)
    return value * rng.choice(FACTORS)


def simpler(value: Fraction, integer: bool = False) -> Iterator[Fraction]:
    """Shorter numbers, the shortest first."""
    value = F(value)
    tried: list[Fraction] = [F(1)] if integer else [F(0), F(1), F(-1), F(1, 2), F(2)]
    if integer:
        tried += [F(int(value) // 2), value - 1]
    else:
        tried += [F(round(value)), *(value.limit_denominator(m) for m in (2, 4, 10, 100))]
    seen = {value}
    for simple in tried:
        shorter = len(str(simple)) < len(str(value)) or (integer and simple < value) or (simple == 0 != value)
        if simple not in seen and shorter and not (integer and simple < 1):
            seen.add(simple)
            yield simple
