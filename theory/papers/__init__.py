"""The papers: one file each."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

BUILT_IN: Mapping[str, str] = MappingProxyType(
    {
        "fedavg-svrg": "theory.papers.fedavg_svrg",
        "fedmim": "theory.papers.fedmim",
        "open-fl": "theory.papers.open_fl",
        "perm": "theory.papers.perm",
        "textbook": "theory.papers.textbook",
    }
)
"""The modules of the papers that come with fedproof, by the papers' names."""
