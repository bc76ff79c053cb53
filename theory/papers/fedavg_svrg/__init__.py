"""FedAvg-SVRG for probabilistically activated agents, by Rostami and Kia."""

from __future__ import annotations

from theory.papers.fedavg_svrg.claims import PAPER

__all__ = ["PAPER"]
