"""Results of the textbooks that are known to be true: the false-alarm test of everything else."""

from __future__ import annotations

from theory.papers.textbook.claims import PAPER

__all__ = ["PAPER"]
