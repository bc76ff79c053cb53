"""One package a paper: how its claims are measured, its scenarios and its experiments.

A paper's module has `cases(claim, scenario)`, `instances(quick)`, `scenarios(quick)` and `special(claim, ...)`, and may
have `given()`: instances that somebody wrote by hand for a claim. `validate.checking` asks for no more.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType


def module(paper: str) -> ModuleType | None:
    """The package here that measures a paper's claims, or None when there is none.

    Claims that say what they mean (`theory.written`) need none.
    """
    name = f"{__name__}.{paper.replace('-', '_')}"
    found = find_spec(name)
    return import_module(name) if found is not None and found.origin is not None else None  # no folder of leftovers
