"""Prove or refute an inequality between vectors of a Hilbert space, with evidence that anybody can re-check.

`prover` decides a statement; `vectors` and `interpolation` state it; `gram` solves and certifies the semidefinite
programs behind it; the other modules turn floats into rational certificates and explicit counterexamples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theory.inequality.interpolation import (
    Interpolated,
    bounded_gradients,
    cocoercive,
    convex,
    lipschitz_map,
    monotone,
    smooth,
    smooth_convex,
    smooth_strongly_convex,
)
from theory.inequality.vectors import (
    Condition,
    Form,
    Space,
    Vector,
    combination,
    expectation,
    inner,
    mean,
    square,
    vanishes,
)

if TYPE_CHECKING:
    from theory.inequality.prover import Proof, Refutation, Undecided, prove

__all__ = [
    "Condition",
    "Form",
    "Interpolated",
    "Proof",
    "Refutation",
    "Space",
    "Undecided",
    "Vector",
    "bounded_gradients",
    "cocoercive",
    "combination",
    "convex",
    "expectation",
    "inner",
    "lipschitz_map",
    "mean",
    "monotone",
    "prove",
    "smooth",
    "smooth_convex",
    "smooth_strongly_convex",
    "square",
    "vanishes",
]


def __getattr__(name: str) -> Any:
    """The prover, loaded when it is asked for: stating an inequality takes no numerical library."""
    if name in ("Proof", "Refutation", "Undecided", "prove"):
        from theory.inequality import prover

        return getattr(prover, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
