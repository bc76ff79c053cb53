"""Federated algorithms, one file a family; each object is frozen and checked when it is made."""

from __future__ import annotations

from sim.algorithms.fedavg import FedAvg
from sim.algorithms.fedavg_svrg import FedAvgSVRG
from sim.algorithms.momentum import FedMIM
from sim.algorithms.open import LocalAdam, LocalSGD
from sim.algorithms.schedule import step_at
from sim.algorithms.shuffling import ShufflingSGD

__all__ = [
    "FedAvg",
    "FedAvgSVRG",
    "FedMIM",
    "LocalAdam",
    "LocalSGD",
    "ShufflingSGD",
    "step_at",
]
