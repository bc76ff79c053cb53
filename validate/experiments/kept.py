"""Runs that are kept: an interrupted experiment goes on where it stopped."""

from __future__ import annotations

import json
import logging
import os
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from validate.experiment import Array, Progress
from validate.parallel import over_processes

log = logging.getLogger(__name__)


class Job(ABC):
    """Something to be computed once: a subclass is a frozen dataclass of plain data, which decide the result together
    with the experiment's setting and seed."""

    @property
    @abstractmethod
    def key(self) -> str:
        """Name of its file."""

    @property
    def label(self) -> str:
        """In words."""
        return self.key

    @property
    def settings(self) -> Any:
        """What decides the result; by default the job itself."""
        return self

    @abstractmethod
    def compute(self, work: Work) -> Mapping[str, Array]:
        """The arrays by name, none of them called ``settings``; `work` gives the seed, and other jobs' results."""


@dataclass(frozen=True)
class Work:
    """Where jobs are done, and what they share.

    Attributes:
        folder: where finished ones are kept; made when missing.
        setting: the experiment's, which decides every result.
        seed: of all simulations.
        progress: called with one line of text.
    """

    folder: Path
    setting: Any = None
    seed: int = 0
    progress: Progress | None = None
    _held: dict[Job, dict[str, Array]] = field(default_factory=dict, repr=False, compare=False)

    def __getitem__(self, job: Job) -> dict[str, Array]:
        """A job's arrays: done already, read from its file when that has these very settings, or computed and kept."""
        if job not in self._held:
            decided = {"job": job.settings, "setting": self.setting, "seed": self.seed}
            self._held[job] = stored(
                self.folder / f"{job.key}.npz",
                json.dumps(plain(decided), sort_keys=True),
                lambda: job.compute(self),
                what=job.label,
                progress=self.progress,
            )
        return self._held[job]

    def all_of(self, jobs: Sequence[Job], processes: int | None = 1) -> None:
        """Do all of these, over processes: at most so many, None for one a core."""
        jobs = list(dict.fromkeys(jobs))  # two processes never write the same file
        count = iter(range(1, len(jobs) + 1))

        def done(at: int, _: Any) -> None:
            if self.progress:
                self.progress(f"{jobs[at].label}: finished, {next(count)} of {len(jobs)}")

        quiet = Work(self.folder, self.setting, self.seed)
        found = over_processes(_done, [(quiet, job) for job in jobs], processes=processes, done=done)
        self._held.update(zip(jobs, found, strict=True))


def _done(work: Work, job: Job) -> dict[str, Array]:
    return work[job]


def plain(value: Any) -> Any:
    """Settings as JSON data; dataclasses become dictionaries, arrays lists, fractions strings."""
    if is_dataclass(value) and not isinstance(value, type):
        return {"type": type(value).__name__, **{f.name: plain(getattr(value, f.name)) for f in fields(value)}}
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Fraction):
        return str(value)
    return value


def stored(
    path: Path,
    settings: str,
    compute: Callable[[], Mapping[str, Array]],
    *,
    what: str,
    progress: Progress | None = None,
) -> dict[str, Array]:
    """Arrays that take long to compute: read from `path` when it holds these very settings, else computed and kept.

    A file with other settings, or one that cannot be read, is computed again.

    Args:
        path: of the .npz file; its folder is made when missing.
        settings: everything that decides the result, as text.
        compute: makes the arrays by name; none is called ``settings``.
        what: what is computed, for `progress`.
        progress: called with one line of text.
    """
    saved = _read(path, settings)
    if progress:
        progress(f"{what}: read from {path.name}" if saved is not None else f"{what}: simulating")
    if saved is not None:
        return saved
    arrays = {name: np.asarray(array) for name, array in compute().items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    # written aside and renamed, so that an interruption never leaves half a file under the final name
    aside = path.with_suffix(f".{os.getpid()}.part")
    with aside.open("wb") as stream:
        np.savez(stream, settings=np.array(settings), **arrays)  # type: ignore[arg-type]
    os.replace(aside, path)
    return arrays


def _read(path: Path, key: str) -> dict[str, Array] | None:
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as saved:
            if str(saved["settings"]) != key:
                log.info("%s holds other settings; computing again", path)
                return None
            return {name: saved[name] for name in saved.files if name != "settings"}
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        log.warning("%s cannot be read (%s); computing again", path, error)
        return None
