"""Federated algorithms, one file a family; each object is frozen and checked when it is made."""

from __future__ import annotations

from sim.algorithms.fedavg import FedAvg
from sim.algorithms.fedavg_svrg import FedAvgSVRG
from sim.algorithms.schedule import step_at

__all__ = ["FedAvg", "FedAvgSVRG", "step_at"]
