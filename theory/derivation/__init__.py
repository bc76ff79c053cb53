"""Derivations: proofs line by line, and the kernel that accepts them or does not.

`check` is the kernel (see `theory.derivation.kernel`); the other names write lines as plain data. Files of papers need
these alone: the kernel is loaded when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from theory.derivation.writing import (
    assumed,
    at,
    averaged,
    axiom,
    cases,
    citation,
    claimed,
    combined,
    domain,
    drawn,
    hypothesis,
    induction,
    jensen,
    mean,
    operated,
    power,
    replaced,
    root,
    single,
    step,
    telescope,
    zero,
)

if TYPE_CHECKING:
    from theory.derivation.kernel import Checked, NotProvedError, check
    from theory.derivation.named import lines

_LATER = {
    **dict.fromkeys(("Checked", "NotProvedError", "check"), "theory.derivation.kernel"),
    "lines": "theory.derivation.named",
}

__all__ = [
    "Checked",
    "NotProvedError",
    "assumed",
    "at",
    "averaged",
    "axiom",
    "cases",
    "check",
    "citation",
    "claimed",
    "combined",
    "domain",
    "drawn",
    "hypothesis",
    "induction",
    "jensen",
    "lines",
    "mean",
    "operated",
    "power",
    "replaced",
    "root",
    "single",
    "step",
    "telescope",
    "zero",
]


def __getattr__(name: str) -> Any:
    """What the kernel is, and what it reads."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)
