"""FedAvg-SVRG (Rostami and Kia): how its claims are measured, its instances and scenarios."""

from __future__ import annotations

from validate.papers.fedavg_svrg.instances import given, instances, sampled, scenarios
from validate.papers.fedavg_svrg.measures import cases
from validate.papers.fedavg_svrg.special import special
from validate.per_run import PerRun

# `validate.search.recursion` evaluates its quantities on many instances at once, so that neighbours of all its claims
# can be searched for a report.
BATCHED = True

# The quantities that the simulator averages over runs; the others are of steps within a round.
SAMPLED = {"mean_squared_gradient_norm": PerRun("squared_gradient_norm", "mean")}

__all__ = ["BATCHED", "SAMPLED", "cases", "given", "instances", "sampled", "scenarios", "special"]
