"""The worst case of any claim about any program that is linear given finitely many draws.

A program is played (`validate.play`) on functions of which nothing is known but their values and gradients where the
run meets them: vectors are combinations of basis vectors. Both sides of the sentence are then linear in inner products
and values, or they are refused with a reason; the assumptions are conditions on the points (`theory.worst_case`).
"""

from __future__ import annotations

from validate.worst_case.bound import WorstRatio, worst_case_of
from validate.worst_case.numbers import Numbers, numbers_of
from validate.worst_case.reading import NoReadingError

__all__ = ["NoReadingError", "Numbers", "WorstRatio", "numbers_of", "worst_case_of"]
