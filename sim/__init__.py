"""What happens: problems, algorithms, the batched simulator and the exact moments.

Public names are loaded when they are first used, so that ``import sim`` needs numpy alone and no torch:
`run_open`, `moments`, `problems`, `algorithms`, `population`. Any algorithm is run by `sim.simulate`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sim import algorithms, moments, population, problems
    from sim.open_engine import run_open

__all__ = [
    "algorithms",
    "moments",
    "population",
    "problems",
    "run_open",
]

_MODULES = {
    "run_open": "sim.open_engine",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'sim' has no attribute {name!r}")
    if name in _MODULES:
        return getattr(importlib.import_module(_MODULES[name]), name)
    return importlib.import_module(f"sim.{name}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
