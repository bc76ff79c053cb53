"""Landmark theorems of the field, as printed: one file a paper, which has the paper's name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

LANDMARKS: Mapping[str, str] = MappingProxyType(
    {path.stem.replace("_", "-"): f"{__name__}.{path.stem}" for path in sorted(Path(__file__).parent.glob("[!_]*.py"))}
)
"""The modules of the papers, by the papers' names, which are those of the files: none is imported for that."""

FAMILIES = (
    "local SGD",
    "FedAvg",
    "SCAFFOLD",
    "FedProx",
    "ProxSkip",
    "variance reduction",
    "momentum",
    "decentralised",
    "compression",
    "reshuffling",
    "adaptive",
    "stochastic",
)
"""What their papers call themselves families of (`theory.claim.Paper.family`), in the order in which they are shown."""
