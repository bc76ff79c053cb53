"""How long to go on looking."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """What ends a search that has not found an answer.

    An answer found within `boxes` and `effort` is the same on every machine; `seconds` is there for those who wait.

    Attributes:
        boxes: the most boxes for branch and bound, at least 1.
        effort: how much each question to z3, and branch and bound, may compute; 1 is about ten seconds for branch and
            bound on a machine of 2024, and for z3 mostly less than one. Positive.
        seconds: the longest time for each question to z3, and again for branch and bound. Positive.

    Raises:
        ValueError: for a limit outside its domain.
    """

    boxes: int = 20_000
    effort: float = 1.0
    seconds: float = 60.0

    def __post_init__(self) -> None:
        if self.boxes < 1:
            raise ValueError(f"boxes={self.boxes} is outside the integers in [1, inf)")
        for name in ("effort", "seconds"):
            if not 0 < getattr(self, name) < math.inf:
                raise ValueError(f"{name}={getattr(self, name)} is outside (0, inf)")

    def end(self) -> float:
        """The time, of `time.monotonic`, at which something that begins now is to end."""
        return time.monotonic() + self.seconds


ANY = Limits()
