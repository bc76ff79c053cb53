"""How many instances this process has tried: both sides of a sentence measured on them, exactly or in floats."""

from __future__ import annotations

_tried = 0


def count() -> None:
    """One more."""
    global _tried
    _tried += 1


def instances() -> int:
    """How many since the process began."""
    return _tried
