"""What happens: problems, open populations, the simulator and the exact moments.

Public names are loaded when they are first used, so that ``import sim`` needs numpy alone and no torch:
`moments`, `problems`, `population`. Any algorithm is run by `sim.simulate`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sim import moments, population, problems

__all__ = [
    "moments",
    "population",
    "problems",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'sim' has no attribute {name!r}")
    return importlib.import_module(f"sim.{name}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
