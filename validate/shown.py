"""How a sentence was shown; what `validate.proving` makes evidence of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Shown:
    """How a sentence was shown.

    Attributes:
        hypotheses: names of those that it rests on.
        left: the left side, as text.
        more: further data for the evidence.
    """

    hypotheses: tuple[str, ...]
    left: str
    more: Mapping[str, Any]
