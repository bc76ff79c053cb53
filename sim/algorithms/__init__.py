"""Federated algorithms, one file a family; each object is frozen and checked when it is made."""

from __future__ import annotations

from sim.algorithms.fedavg import FedAvg
from sim.algorithms.fedavg_svrg import FedAvgSVRG
from sim.algorithms.feddyn import FedDyn
from sim.algorithms.fedsam import FedSAM
from sim.algorithms.momentum import FedMIM, fedcm
from sim.algorithms.open import LocalAdam, LocalSGD
from sim.algorithms.scaffold import Scaffold
from sim.algorithms.schedule import step_at
from sim.algorithms.server_adam import FedAdam
from sim.algorithms.shuffling import ShufflingSGD, SingleLoopPERM, TwoStagePERM

__all__ = [
    "FedAdam",
    "FedAvg",
    "FedAvgSVRG",
    "FedDyn",
    "FedMIM",
    "FedSAM",
    "LocalAdam",
    "LocalSGD",
    "Scaffold",
    "ShufflingSGD",
    "SingleLoopPERM",
    "TwoStagePERM",
    "fedcm",
    "step_at",
]
