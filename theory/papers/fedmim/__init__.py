"""Federated multi-step inertial momentum, by Liu, Sun, Ding, Shen, Liu and Tao."""

from __future__ import annotations

from theory.claim import Paper
from theory.papers.fedmim import (
    descent,
    drift,
    inertia,
    kept_mean,
    participation,
    remarks,
    theorems,
    theorems_pl,
    without_c,
)
from theory.papers.fedmim.words import PAPER_NAME

PAPER = Paper(
    name=PAPER_NAME,
    title="Enhance Local Consistency in Federated Learning: A Multi-Step Inertial Momentum Approach",
    authors="Yixing Liu, Yan Sun, Zhengtao Ding, Li Shen, Bo Liu, Dacheng Tao",
    claims=(
        *inertia.CLAIMS,
        *drift.CLAIMS,
        *participation.CLAIMS,
        *descent.CLAIMS,
        *theorems.CLAIMS,
        *theorems_pl.CLAIMS,
        *kept_mean.CLAIMS,
        *without_c.CLAIMS,
        *remarks.CLAIMS,
    ),
)

__all__ = ["PAPER"]
