"""What the search asks of the kernel beside normal forms."""

from __future__ import annotations

from typing import Any


def rounds_of(reader: Any) -> Any:
    """What makes a round of an algorithm out of its states; None until it is there."""
    from theory.derivation.rounds import Rounds

    return Rounds(reader)
