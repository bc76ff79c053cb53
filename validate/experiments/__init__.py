"""The papers' experiments, redrawn.

A paper names the module of its experiments (`theory.claim.Paper.experiments`), which has a function
``reproduce(*, out, quick, seed, progress)`` that gives a `validate.experiment.Experiment`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from theory import catalog


def reproduction(paper: str) -> Callable[..., Any] | None:
    """What redraws a paper's experiments; None where it names none.

    Args:
        paper: its name.

    Raises:
        ValueError: for an unknown paper, and where the module that it names cannot be imported or redraws nothing.
    """
    name = catalog.paper(paper).experiments
    if not name:
        return None
    try:
        found: Callable[..., Any] | None = getattr(import_module(name), "reproduce", None)
    except ImportError as error:
        raise ValueError(f"experiments={name!r} of the paper {paper!r} cannot be imported: {error}") from error
    if found is None:
        raise ValueError(f"experiments={name!r} of the paper {paper!r} has no function reproduce")
    return found
