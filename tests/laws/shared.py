"""What several tests need and takes long, worked out once for all processes of a test run."""

import os
import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import TypeVar

from filelock import FileLock

T = TypeVar("T")


@cache
def folder() -> Path:
    """One for all processes of a run; of a process of its own where there is but one."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    if run is None:
        return Path(mkdtemp(prefix="laws-"))
    found = Path(gettempdir()) / f"laws-{run}"
    found.mkdir(exist_ok=True)
    return found


def shared(name: str, work_out: Callable[[], T]) -> T:
    """What is worked out under this name, by whichever process comes first; it is pickled for the others."""
    path = folder() / f"{name}.pickle"
    with FileLock(f"{path}.lock"):
        if not path.exists():
            path.write_bytes(pickle.dumps(work_out()))
        found: T = pickle.loads(path.read_bytes())
        return found
