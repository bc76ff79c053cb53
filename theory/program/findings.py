"""What readers find out about something that does not change, once: a program, or trees in a vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

Found = TypeVar("Found")


class Findings:
    """Each reader keeps what it finds out under keys of its own."""

    def __init__(self) -> None:
        self._found: dict[Hashable, Any] = {}

    def once(self, what: Hashable, work_out: Callable[[], Found]) -> Found:
        """What is asked of the whole."""
        if what not in self._found:
            self._found[what] = work_out()
        found: Found = self._found[what]
        return found

    def about(self, part: object, what: Hashable, work_out: Callable[[], Found]) -> Found:
        """What is asked of a part, which is kept too, so that its id stays its own."""
        key = (what, id(part))
        if key not in self._found:
            self._found[key] = part, work_out()
        found: Found = self._found[key][1]
        return found
