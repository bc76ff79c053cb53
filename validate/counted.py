"""How many there are of something, in words: a number with its noun, one of them in the singular."""

from __future__ import annotations


def counted(many: int, what: str) -> str:
    """A number, at least 0, with its noun, whose plural has an s."""
    return f"{many:,} {what}{'s' if many != 1 else ''}"


__all__ = ["counted"]
