"""What happens: problems, participation, algorithms, the batched simulator and the exact oracle.

Public names are loaded when they are first used, so that ``import sim`` needs numpy alone and no torch:
`run`, `moments`, `problems`, `algorithms`, `participation`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sim import algorithms, participation, problems
    from sim.engine import run
    from sim.exact import moments

__all__ = ["algorithms", "moments", "participation", "problems", "run"]

_MODULES = {"run": "sim.engine", "moments": "sim.exact"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'sim' has no attribute {name!r}")
    if name in _MODULES:
        return getattr(importlib.import_module(_MODULES[name]), name)
    return importlib.import_module(f"sim.{name}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
