"""One package a paper: how its claims are measured, its scenarios and its experiments.

A paper's module has `cases(claim, scenario)`, `instances(quick)`, `scenarios(quick)` and `special(claim, ...)`, and may
have `given()`: instances that somebody wrote by hand for a claim. `validate.checking` asks for no more.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

_added: dict[str, ModuleType] = {}


def add(paper: str, module: ModuleType) -> None:
    """Make known what measures the claims of a paper that is no package here, for as long as this process runs."""
    _added[paper] = module


def added(paper: str) -> ModuleType | None:
    """What was added for a paper, or None."""
    return _added.get(paper)


@contextmanager
def forgetting() -> Iterator[None]:
    """What is added within is forgotten afterwards, and what was known before is known again."""
    before = dict(_added)
    try:
        yield
    finally:
        _added.clear()
        _added.update(before)


def module(paper: str) -> ModuleType | None:
    """The module that measures a paper's claims, or None when there is none.

    That is what was added for it, its package here, or, where its claims say themselves how they are measured
    (`validate.own.claim`), what goes by their word: so a paper of another distribution needs to add nothing.
    """
    if paper in _added:
        return _added[paper]
    name = f"{__name__}.{paper.replace('-', '_')}"
    if find_spec(name):
        return import_module(name)
    from validate.own.module import of_its_claims

    return of_its_claims(paper)
