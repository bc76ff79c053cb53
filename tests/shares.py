"""Which cases of a law are tried in every run: a share, the same each time; the others are slow tests."""

from collections.abc import Iterable
from typing import Any

import pytest


def share(cases: Iterable[Any], every: int, *more: object) -> list[Any]:
    """The first case and each `every`-th after it, and those that are among `more`; the others are slow.

    A case is what ``parametrize`` takes: a tuple has a value of each argument.
    """
    return [
        case if n % every == 0 or case in more else pytest.param(*_values(case), id=_id(case), marks=pytest.mark.slow)
        for n, case in enumerate(cases)
    ]


def _values(case: Any) -> tuple[Any, ...]:
    return tuple(case) if isinstance(case, tuple) else (case,)


def _id(case: Any) -> str | None:
    return case if isinstance(case, str) else getattr(case, "id", None)
