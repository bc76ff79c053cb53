"""What is said before the work begins where something optional is not installed, and which verdicts that costs."""

from __future__ import annotations

from validate.commands.output import progress


def notes() -> list[str]:
    """One line for each thing that is missing and costs verdicts; empty where nothing is."""
    from theory.feasible import smt

    return [note for note in (smt.missing(),) if note is not None]


def tell() -> None:
    """Say it on stderr."""
    for note in notes():
        progress(f"note: {note}")
