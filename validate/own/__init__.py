"""A paper of one's own, in one file: claims that say how they are measured.

    from theory import Hypothesis, Paper, Smooth
    from validate.own import claim, parameters

`fedproof new my_paper.py` writes a commented file that runs; docs/tutorial.md goes through one. The names that may be
used are those of `validate.own.tables`: quantities for the left side, constants for the parameters, algorithms.
"""

from __future__ import annotations

from validate.own.claims import MeasuredClaim, MeasuredParameter, claim, parameters
from validate.own.files import load

__all__ = ["MeasuredClaim", "MeasuredParameter", "claim", "load", "parameters"]
