"""How often a process of this program looks for objects that hold each other and that nobody else needs."""

from __future__ import annotations

import gc


def collect_seldom() -> None:
    """For a process of this program alone: look for circles of what is not needed less often than Python does.

    Exact play and proofs make millions of small tuples, which are no circles: to go through them takes a sixth of the
    time. To be called where a process begins, and by no library.
    """
    gc.set_threshold(20_000, 20, 20)
