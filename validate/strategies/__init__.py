"""Hypothesis strategies for a suite of your own: instances and parameters of claims, problems, participation, vectors.

They need Hypothesis, which the extra `test` brings (``pip install 'fedproof[test]'``); nothing else of fedproof imports
this package. Everything that is drawn is rational unless floats are asked for, satisfies what it promises by
construction, and shrinks towards the simplest instance.
"""

from __future__ import annotations

try:
    import hypothesis as hypothesis
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("strategies need Hypothesis: pip install 'fedproof[test]'", name=error.name) from error

from validate.strategies.instances import instances
from validate.strategies.numbers import numbers, vectors
from validate.strategies.parameters import parameters, satisfies
from validate.strategies.problems import quadratics

__all__ = [
    "instances",
    "numbers",
    "parameters",
    "quadratics",
    "satisfies",
    "vectors",
]
