"""Derivations: proofs line by line, and the kernel that accepts them or does not.

`check` is the kernel (see `theory.derivation.kernel`); the other names write lines as plain data.
"""

from theory.derivation.kernel import Checked, NotProvedError, check
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
    lines,
    mean,
    power,
    replaced,
    root,
    single,
    step,
    telescope,
    zero,
)

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
    "power",
    "replaced",
    "root",
    "single",
    "step",
    "telescope",
    "zero",
]
