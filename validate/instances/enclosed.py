"""The moments of an instance as balls that contain them: as tight as asked for, whatever the number of rounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from theory.arithmetic import balls, is_tight
from validate.instances.instance import Instance
from validate.instances.runs import OF_MODEL, InstanceMoments, moments_of_instance

FIRST, LAST = 256, 1 << 17
"""Bits of precision."""
TIGHT = 40
"""Bits of a value that are known."""
SMALL = -120
"""As a power of 2, a radius that is small enough around 0."""


def enclosed_moments(instance: Instance, tell: Callable[[str], None] = lambda line: None) -> InstanceMoments:
    """Balls of python-flint, each `TIGHT` or as narrow as 2**`SMALL`.

    Args:
        instance: of which every round is the same, as `sim.moments.moments_of` wants it to be enclosed.
        tell: what is being done, a line at a time.

    Raises:
        ValueError: as `moments_of_instance`; where no precision up to `LAST` bits is enough.
    """
    bits = FIRST
    while bits <= LAST:
        with balls(bits):
            found = moments_of_instance(instance, exact=True, enclosed=True)
            if all(_known(value) for value in _values(found)):
                return found
        tell(f"{bits} bits are not enough; once more with {4 * bits}")
        bits *= 4
    raise ValueError(f"the moments of {instance.rounds} rounds are not enclosed at {LAST} bits")


def _values(found: InstanceMoments) -> list[Any]:
    lists = [getattr(found, name) for name in OF_MODEL]
    return [value for values in lists if values is not None for value in values.ravel()]


def _known(value: Any) -> bool:
    import flint

    return is_tight(value, TIGHT) or value.rad() < flint.arb(2) ** SMALL
