"""Something that reads input, and what may come of it: a right answer, or a clear error, and nothing else."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

ACCEPTED, REFUSED, NOT_VALID = "accepted", "clear error", "not valid"
RECOMPUTED = "recomputed"  # accepted, and a second computation by other code says the same
OUTCOMES = (ACCEPTED, RECOMPUTED, NOT_VALID, REFUSED)


@dataclass(frozen=True)
class Target:
    """Something that reads input.

    Attributes:
        name: for the table.
        examples: the inputs.
        run: from an input to one of `OUTCOMES`; whatever it raises is a failure.
        share: of the cases of a long run.
        seconds: of the processor that a case may take.
    """

    name: str
    examples: st.SearchStrategy[Any]
    run: Callable[[Any], str]
    share: float
    seconds: float


def clear(error: BaseException | str, most: int = 6000) -> str:
    """That a message is one: some text, of a readable length, that says no Python.

    Raises:
        AssertionError: otherwise.
    """
    message = str(error)
    assert message.strip(), f"an empty message: {error!r}"
    assert len(message) <= most, f"a message of {len(message)} characters: {message[:300]}"
    assert "Traceback" not in message
    return REFUSED


@cache
def folder() -> Path:
    """A folder of this process, for the files that the code under test reads; it goes with the process."""
    made = tempfile.TemporaryDirectory(prefix="fedproof-fuzz-")
    _KEPT.append(made)
    return Path(made.name)


_KEPT: list[tempfile.TemporaryDirectory[str]] = []
