"""Stability of open federated learning, by Sun, Fernando, Chen and Shahrampour."""

from __future__ import annotations

from theory.claim import Paper
from theory.papers.open_fl import adam, sgd
from theory.papers.open_fl.words import PAPER_NAME

PAPER = Paper(
    name=PAPER_NAME,
    title="On the Stability Analysis of Open Federated Learning Systems",
    authors="Youbang Sun, Heshan Fernando, Tianyi Chen, Shahin Shahrampour",
    claims=(*sgd.CLAIMS, *adam.CLAIMS),
)

__all__ = ["PAPER"]
