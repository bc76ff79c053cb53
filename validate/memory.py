"""The memory of a process of this program: how often it looks for what nobody needs, and how much a check may take."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MOST = 2 << 30
"""Bytes that the check of one claim may take; those of the catalogue take a fifth of it."""


def collect_seldom() -> None:
    """For a process of this program alone: look for circles of what is not needed less often than Python does.

    Exact play and proofs make millions of small tuples, which are no circles: to go through them takes a sixth of the
    time. To be called where a process begins, and by no library.
    """
    gc.set_threshold(100_000, 20, 100)


@contextmanager
def bounded(most: int = MOST) -> Iterator[None]:
    """While this lasts, the process may take so many bytes more than it has; then Python raises a MemoryError.

    Where the system has no such limit (other systems than Linux) there is none.
    """
    has = _has()
    if has is None:
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limits = [limit for limit in (has + most, soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min(limits), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _has() -> int | None:
    """The bytes of data and stack that this process has, as RLIMIT_DATA counts them; None where nobody tells."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[5]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None
