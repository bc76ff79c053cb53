"""The worst case as a part of a claim's check: small sizes, numbers as the pool has them, a budget in operations.

Numbers that satisfy the claim's relations are solved for on quadratics (`validate.instances.pool`), and the functions are
then let go: whatever function of the class is worst for these numbers is found. A break is an exact instance like any
other, and has to be played, and to become a certificate.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from theory.operations import UndecidedError
from theory.program import work
from theory.sentence import everything
from theory.formula import Name
from theory.written import Claim
from validate.instances.hunt import Seen, measured
from validate.instances.pool import drawn, fitting
from validate.instances.scalars import Schedule
from validate.instances.shapes import Size
from validate.worst_case.attack import problems, instance_of
from validate.worst_case.bound import ratio
from validate.worst_case.reading import NoReadingError, Numbers, Reading, largest, read_claim, refusal

log = logging.getLogger(__name__)

OPERATIONS = {True: 500_000, False: 8_000_000}
"""Quick and full (`theory.program.work`)."""
SEEDS = {True: 160, False: 2000}
"""Draws of numbers, quick and full."""
ROOM = 24
"""Basis vectors of a reading."""
SIZES = ((1,), (1, 1), (2,), (1, 1, 1), (2, 2))
"""Samples of each client."""
ROUNDS = {False: (1, 2, 3, 5, 10), True: (1, 2)}
"""K, of programs that draw nothing and of others."""
PROVED = 3
"""Readings of which a bound is proved, where nothing broke."""
"""


@dataclass
class Worst:
    """What the worst cases say.

    Attributes:
        broken: an instance that breaks the claim, exactly; or None.
        tried: how many cases were maximised.
        sizes: (N, samples, K) at which that was.
        refused: why there is no reading; empty where there was one.
        bounds: proved ratios of left to right, with their sizes.
    """
'''
