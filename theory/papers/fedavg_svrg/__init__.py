"""FedAvg-SVRG for probabilistically activated agents, by Rostami and Kia.

Every numbered result as printed, in the paper's order, and repairs as claims of their own; the lines of the proof of
Theorem V.1, which the appendix shows, come last.
"""

from __future__ import annotations

from theory.claim import Paper
from theory.papers.fedavg_svrg import appendix, lemma_v1, lemma_v1_equations, remark, theorem_v1, theorem_v1_equations
from theory.papers.fedavg_svrg.words import PAPER_NAME

PAPER = Paper(
    name=PAPER_NAME,
    title="Federated Learning Using Variance Reduced Stochastic Gradient for Probabilistically Activated Agents",
    authors="Mohammadreza Rostami, Solmaz S. Kia",
    claims=(
        *theorem_v1.CLAIMS,
        *remark.CLAIMS,
        *lemma_v1.CLAIMS,
        *lemma_v1_equations.CLAIMS,
        *appendix.CLAIMS,
        *theorem_v1_equations.CLAIMS,
    ),
)

__all__ = ["PAPER"]
