"""Results that are known to be true, with their sources: what the toolkit must never call false.

A checker that raises false alarms is of no use, so every claim here has to come out proved or supported. The results
are of the kinds that federated optimisation uses; where a constant was changed or a case left out, the source says so.
"""

from __future__ import annotations

from theory.claim import Paper
from theory.papers.textbook import functions, inequalities, methods, stochastic
from theory.papers.textbook.words import PAPER_NAME

PAPER = Paper(
    name=PAPER_NAME,
    title="Textbook results that are known to be true",
    authors="various; each claim names its source",
    claims=(*inequalities.CLAIMS, *functions.CLAIMS, *methods.CLAIMS, *stochastic.CLAIMS),
)

__all__ = ["PAPER"]
