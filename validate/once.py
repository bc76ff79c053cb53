"""What is computed once for a scenario or a problem, is kept with it, and goes with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

Found = TypeVar("Found")


def once(compute: Callable[[Any], Found]) -> Callable[[Any], Found]:
    """A function of one object that does not change; the claims of a paper ask for the same thing one after another.

    The result is kept in the object's own dictionary, as that of a `functools.cached_property` is, and must not be
    changed either.
    """
    name = f"{compute.__module__}.{compute.__qualname__}"

    @wraps(compute)
    def kept(of: Any) -> Found:
        known = vars(of)
        if name not in known:
            known[name] = compute(of)
        found: Found = known[name]
        return found

    return kept
