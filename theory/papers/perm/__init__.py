"""Personalised empirical risk minimisation at scale, by Deng, Kamani, Mahdavinia and Mahdavi."""

from __future__ import annotations

from theory.claim import Paper
from theory.papers.perm import (
    discrepancy,
    epochs,
    local_sgd,
    minibatch,
    minimisers,
    moving_weights,
    one_epoch,
    problems,
    remainder,
    sampling,
    shuffling,
    single_loop,
    two_stage,
    weights,
)
from theory.papers.perm.words import PAPER_NAME

PAPER = Paper(
    name=PAPER_NAME,
    title="Distributed Personalized Empirical Risk Minimization",
    authors="Yuyang Deng, Mohammad Mahdi Kamani, Pouria Mahdavinia, Mehrdad Mahdavi",
    claims=(
        *problems.CLAIMS,
        weights.OBSERVATION,
        *discrepancy.CLAIMS,
        problems.EQ3,
        *minimisers.CLAIMS,
        *weights.CLAIMS,
        *local_sgd.CLAIMS,
        *shuffling.CLAIMS,
        *sampling.CLAIMS,
        *epochs.CLAIMS,
        *remainder.CLAIMS,
        *one_epoch.CLAIMS,
        *two_stage.CLAIMS,
        *minibatch.CLAIMS,
        *moving_weights.CLAIMS,
        *single_loop.CLAIMS,
    ),
)

__all__ = ["PAPER"]
