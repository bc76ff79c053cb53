"""One package a paper: how its claims are measured, its scenarios and its experiments.

A paper's module has `cases(claim, scenario)`, `instances(quick)`, `scenarios(quick)` and `special(claim, ...)`;
`validate.check` asks for no more.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

_added: dict[str, ModuleType] = {}


def add(paper: str, module: ModuleType) -> None:
    """Make known what measures the claims of a paper that is no package here, for as long as this process runs."""
    _added[paper] = module


def module(paper: str) -> ModuleType | None:
    """The module that measures a paper's claims, or None when there is none."""
    if paper in _added:
        return _added[paper]
    name = f"{__name__}.{paper.replace('-', '_')}"
    return import_module(name) if find_spec(name) else None
