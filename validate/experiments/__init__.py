"""How papers' experiments are run; what they are is in `examples/`, one file a paper, in a clone of the repository.

A paper names the module of its experiments (`theory.claim.Paper.experiments`), which has a function
``reproduce(*, out, quick, seed, progress)`` that gives a `validate.experiment.Experiment`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from theory import catalog

FOLDER = "examples"
ROOT = Path(__file__).resolve().parents[2]
"""Of the clone; of an installed wheel the folder in which packages are."""


class NotInstalledError(ValueError):
    """The experiments are not part of what is installed."""


def reproduction(paper: str) -> Callable[..., Any] | None:
    """What redraws a paper's experiments; None where it names none.

    Args:
        paper: its name.

    Raises:
        NotInstalledError: where they are in the repository's folder `examples`, and that is not there.
        ValueError: for an unknown paper, and where the module that it names cannot be imported or redraws nothing.
    """
    name = catalog.paper(paper).experiments
    if not name:
        return None
    if name.startswith(f"{FOLDER}."):
        file = ROOT.joinpath(*name.split(".")).with_suffix(".py")
        if not file.is_file():
            raise NotInstalledError(
                f"the experiments of {paper!r} are in the file {FOLDER}/{file.name} of fedproof's repository, which an "
                "installed package does not have: clone the repository, and install that (pip install -e .)"
            )
        if str(ROOT) not in sys.path:  # as it is where the program is started from elsewhere
            sys.path.insert(0, str(ROOT))
    try:
        found: Callable[..., Any] | None = getattr(import_module(name), "reproduce", None)
    except ImportError as error:
        raise ValueError(f"experiments={name!r} of the paper {paper!r} cannot be imported: {error}") from error
    if found is None:
        raise ValueError(f"experiments={name!r} of the paper {paper!r} has no function reproduce")
    return found
