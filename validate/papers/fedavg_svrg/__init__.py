"""FedAvg-SVRG (Rostami and Kia): how its claims are measured, its instances, scenarios and experiments."""

from __future__ import annotations

from validate.papers.fedavg_svrg.figures import reproduce
from validate.papers.fedavg_svrg.instances import instances, sampled, scenarios
from validate.papers.fedavg_svrg.measures import cases
from validate.papers.fedavg_svrg.special import special

# `validate.search.recursion` evaluates its quantities on many instances at once.
BATCHED = True

__all__ = ["BATCHED", "cases", "instances", "reproduce", "sampled", "scenarios", "special"]
