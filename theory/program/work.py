"""How much this process has computed: operations that readings of programs and sentences have carried out.

A budget in operations ends a search at the same place on every machine; one in seconds does not. What an operation is
is rough: some microseconds of any reading.
"""

from __future__ import annotations

_operations = 0


def count(operations: int) -> None:
    """Add operations that were carried out."""
    global _operations
    _operations += operations


def operations() -> int:
    """How many have been counted since the process began."""
    return _operations
