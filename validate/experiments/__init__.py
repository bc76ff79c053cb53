"""The papers' experiments, redrawn: who computes which.

An experiment is a function ``reproduce(*, out, quick, progress)`` that gives a `validate.experiment.Experiment`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

BY_PAPER: Mapping[str, str] = MappingProxyType(
    {
        "fedavg-svrg": "validate.experiments.insurance",
        "fedmim": "validate.experiments.inertia",
        "perm": "validate.experiments.two_populations",
    }
)
"""Modules with a paper's experiments."""


def reproduction(paper: str) -> Callable[..., Any] | None:
    """What redraws a paper's experiments; None where there are none.

    Args:
        paper: its name.
    """
    if paper not in BY_PAPER:
        return None
    found: Callable[..., Any] = import_module(BY_PAPER[paper]).reproduce
    return found
