"""Fractions of small denominators, drawn ten times as fast as by `hypothesis.strategies.fractions`."""

import math
from fractions import Fraction

from hypothesis import strategies as st


def rationals(low: Fraction | str | float, high: Fraction | str | float, most: int) -> st.SearchStrategy[Fraction]:
    """The numbers p/q in [low, high] with q from 1 to `most`.

    As there, q is drawn first, so that integers and halves are frequent; so are `low`, `high` and 0, and the simplest
    comes first. That strategy makes, checks and explains new ones for every number that it draws.

    Args:
        low: the least, of a denominator of at most `most`.
        high: the largest, likewise.
        most: the largest denominator; every number is listed, so it is for small ones.
    """
    least, largest = Fraction(low), Fraction(high)
    by_denominator = [
        [Fraction(p, q) for p in range(math.ceil(least * q), math.floor(largest * q) + 1)] for q in range(1, most + 1)
    ]
    ends = [Fraction(0)] if least <= 0 <= largest else []
    choices = [sorted(values, key=lambda x: (abs(x), x < 0)) for values in by_denominator if values]
    return st.one_of(*map(st.sampled_from, [*choices, [*ends, least, largest]]))
