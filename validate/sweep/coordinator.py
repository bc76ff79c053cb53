"""The loop of a sweep: cells out of the store, to where they are computed, and their results back into it.

What makes a sweep safe is here and in the store: a cell is pending until its result is committed; a round's results are
one transaction; a result that was lost on the way is computed again, and computing one twice gives the same.
"""

from __future__ import annotations

import errno
import json
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from validate.parallel import cores
from validate.sweep.cell import canonical, run_cell
from validate.sweep.claim_files import ENTRIES
from validate.sweep.database import Busy, Gone
from validate.sweep.executors import Engine, Finished, Function, Pool, Stopped
from validate.sweep.lanes import Lanes
from validate.sweep.records import FAILURES, OUTCOMES, Work
from validate.sweep.specification import Specification
from validate.sweep.store import Store

ENGINES = ("local", "dask")
# Seconds: between two looks at everything, between two messages about the same thing, of the rate that is shown.
LOOKING, SAYING, RECENT = 0.5, 10.0, 60.0
_OF_THE_CLAIM = ("claim", *ENTRIES)


class Specified(Protocol):
    """What is needed of a specification; `validate.sweep.specification.Specification` has it."""

    @property
    def text(self) -> str: ...

    @property
    def name(self) -> str: ...

    def documents(self) -> Iterable[Mapping[str, Any]]: ...


@dataclass(frozen=True)
class Snapshot:
    """How far a sweep is now.

    Attributes:
        finished, cells: with a result, and all.
        outcomes: finished cells by outcome.
        rate: cells a second during the last minute, or None before the first.
        left: estimate of the seconds left, or None.
        message: something that the user should know, or "".
    """

    finished: int
    cells: int
    outcomes: Mapping[str, int]
    rate: float | None
    left: float | None
    message: str = ""

    @property
    def failures(self) -> int:
        """Cells that ended without an answer."""
        return sum(self.outcomes.get(outcome, 0) for outcome in FAILURES)


@dataclass(frozen=True)
class Summary:
    """What a sweep came to.

    Attributes:
        path: of the store.
        name: of the sweep.
        cells: how many there are; all of them are finished.
        outcomes: how many have each outcome.
        computed: cells computed by this call.
        seconds: taken by this call.
        digest: of all results.
        damaged: keys of cells whose kept result was not what its checksum says; they were computed again.
    """

    path: Path
    name: str
    cells: int
    outcomes: Mapping[str, int]
    computed: int
    seconds: float
    digest: str
    damaged: tuple[str, ...] = ()


def sweep(
    specification: Specified,
    path: Path | str,
    *,
    executor: Any = None,
    engine: str = "local",
    address: str | None = None,
    workers: int | None = None,
    resume: bool = False,
    retry: bool = False,
    limit: float | None = None,
    progress: Callable[[Snapshot], None] | None = None,
    function: Function = run_cell,
) -> Summary:
    """Compute all cells of a specification that the store at `path` does not have yet.

    Args:
        specification: with its text, name and documents; and where the authors' files lie that it names, for workers
            to run them.
        path: of the store; made unless `resume` or `retry`, when it may be there.
        executor: a `concurrent.futures.Executor` to compute cells with, or a function without arguments that makes one
            (then it is made anew when it breaks); instead of an engine.
        engine: "local" for processes of this machine, "dask" for a Dask cluster. Programs that begin processes must be
            importable, as `multiprocessing` wants it.
        address: of the Dask scheduler; None for a Dask cluster of this machine.
        workers: how many processes; None for one a core.
        resume: go on with a store. A specification that has all its cells and more adds the others.
        retry: go on, and compute failures (error, timeout, crashed) again.
        limit: seconds for one cell, > 0; not with an executor, which cannot end a cell.
        progress: called with a `Snapshot` about twice a second.
        function: a function of a module, from a document to a result.

    Returns:
        A summary; also when there was nothing to do.

    Raises:
        ValueError: for arguments that do not fit, a file that is no store or another sweep's, a store that another
            process writes, and one with cells of an author's file that has changed since; it stays as it is.
        OSError: when the sweep cannot go on (disk full, cluster lost). What is kept stays, and is named.
        KeyboardInterrupt: after an interrupt; what was finished is kept.
    """
    _check(executor, engine, address, workers, limit)
    path, began = Path(path), time.monotonic()
    if function is run_cell and isinstance(specification, Specification) and specification.paths:
        function = partial(run_cell, paths=dict(specification.paths))
    go_on = (resume or retry) and path.exists()
    with _continued(path, specification) if go_on else _created(path, specification) as store:
        damaged = tuple(store.drop_damaged()) if go_on else ()
        pending = store.pending(retry)
        first = next(pending, None)
        rounds = _Rounds(store, progress, retry)
        if damaged:
            some = ", ".join(damaged[:3]) + (", ..." if len(damaged) > 3 else "")
            what = "1 result is" if len(damaged) == 1 else f"{len(damaged)} results are"
            rounds.show(f"{path} was damaged: {what} computed again (cells {some})")
        if first is not None:
            made = _engine(function, executor, engine, address, workers, limit)
            try:
                rounds.run(made, _chain(first, pending))
            except BaseException:
                made.close(False)
                raise
            made.close(True)
        rounds.show()
        counts = store.counts()
        name = store.meta["name"]
        seconds = time.monotonic() - began
        store.must_be_there()
        return Summary(path, name, counts.cells, counts.outcomes, rounds.computed, seconds, store.digest(), damaged)


def _check(executor: Any, engine: str, address: str | None, workers: int | None, limit: float | None) -> None:
    if engine not in ENGINES:
        raise ValueError(f"engine={engine!r} is not one of {', '.join(ENGINES)}")
    if workers is not None and workers < 1:
        raise ValueError(f"workers={workers} is outside the integers in [1, inf)")
    if limit is not None and not 0 < limit < float("inf"):
        raise ValueError(f"limit={limit} is outside (0, inf)")
    if address is not None and engine != "dask":
        raise ValueError(f"address={address!r} is of a Dask scheduler, and engine={engine!r}")
    if executor is not None and (limit is not None or engine != "local"):
        raise ValueError("an executor cannot be given with an engine, or with a limit: it cannot end a cell")


def _created(path: Path, specification: Specified) -> Store:
    return Store.create(path, specification.text, specification.documents(), name=specification.name)


def _continued(path: Path, specification: Specified) -> Store:
    store = Store.open(path)
    try:
        # the same text may name a file that has changed
        own = isinstance(specification, Specification) and specification.paths
        if own or store.meta["specification"] != specification.text:
            store.extend(specification.text, specification.documents())
    except BaseException:
        store.close()
        raise
    return store


def _engine(
    function: Function, executor: Any, engine: str, address: str | None, workers: int | None, limit: float | None
) -> Engine:
    if executor is not None:
        return Pool(function, executor, workers)
    if engine == "dask":
        from validate.sweep.cluster import Cluster

        return Cluster(function, address, workers, limit)
    return Lanes(function, cores() if workers is None else workers, limit)


def _chain(
    first: tuple[str, dict[str, Any]], rest: Iterator[tuple[str, dict[str, Any]]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    yield first
    yield from rest


class _Rounds:
    """Rounds of: begin cells, wait, keep what is finished, tell."""

    def __init__(self, store: Store, progress: Callable[[Snapshot], None] | None, retry: bool) -> None:
        self._store, self._progress = store, progress
        counts = store.counts()
        self._cells = counts.cells
        # failures that are computed again are not finished until they are
        self._outcomes = Counter({name: n for name, n in counts.outcomes.items() if not (retry and name in FAILURES)})
        self._todo = counts.cells - self._outcomes.total()
        self.computed = 0
        self._versions = {versions for versions in store.versions() if versions}
        self._warned = False
        self._held: list[Finished] = []
        self._times: deque[tuple[float, int]] = deque([(time.monotonic(), 0)])
        self._shown = self._said = float("-inf")

    def run(self, engine: Engine, pending: Iterator[tuple[str, dict[str, Any]]]) -> None:
        """Until every cell is kept."""
        flying = 0
        waiting = True
        try:
            while waiting or flying or self._held:
                # nothing is begun while results cannot be kept
                while waiting and not self._held and engine.room() > 0:
                    following = next(pending, None)
                    if following is None:
                        waiting = False
                        break
                    name, document = following
                    # claims about one scenario have its moments in common
                    group = canonical({entry: document[entry] for entry in document if entry not in _OF_THE_CLAIM})
                    engine.submit(name, canonical(document), group)
                    flying += 1
                if flying:
                    done = engine.wait(LOOKING, begin=not self._held)
                    flying -= len(done)
                    self._held.extend(done)
                elif self._held:
                    time.sleep(LOOKING)
                self._keep()
                self._tell(engine.message)
        except BaseException as error:
            self._rescue(engine if isinstance(error, KeyboardInterrupt) else None)
            if isinstance(error, OSError):
                raise self._stopped(error) from error
            raise

    def _keep(self) -> None:
        if not self._held:
            return
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        entries = []
        for done in self._held:
            work = Work(done.seconds, done.attempts, done.worker, done.versions, now)
            entries.append((done.key, json.loads(done.result), work))
        try:
            self._store.keep(entries)
        except Busy:
            self._tell(f"{self._store.path} is locked by another program; {len(entries)} results wait for it")
            return
        self._held = []
        for _, result, _ in entries:
            self._outcomes[result["outcome"]] += 1
        self.computed += len(entries)
        self._compare({work.versions for _, _, work in entries if work.versions})

    def _compare(self, computed: set[str]) -> None:
        """Say once that cells are computed by other versions than those before: their results may differ."""
        other = computed - self._versions
        if other and self._versions and not self._warned:
            self._warned = True
            before, now = ("; ".join(sorted(versions)) for versions in (self._versions, other))
            self.show(f"{self._store.path} has cells computed by {before}; now others are by {now}, and may differ")
        self._versions |= computed

    def _rescue(self, engine: Engine | None) -> None:
        """Keep what can still be kept."""
        try:
            if engine is not None:
                self._held.extend(engine.wait(0.0, begin=False))
            self._keep()
        except Exception:  # the first error is the one to tell; what is not kept is computed again
            pass

    def _stopped(self, error: OSError) -> OSError:
        """What is kept, and how to go on."""
        if isinstance(error, Gone):
            return Stopped(str(error))
        reason = error.strerror or str(error)
        if error.errno == errno.ENOSPC:
            reason += "; make room on the disk"
        return Stopped(f"{reason}; {self._kept()}")

    def _kept(self) -> str:
        try:
            finished = str(self._store.counts().finished)
        except (OSError, ValueError):
            return "what was kept stays; go on with --resume"
        return f"{finished} of {self._cells} cells are kept; go on with --resume"

    def _tell(self, message: str) -> None:
        now = time.monotonic()
        if message and now - self._said < SAYING:
            message = ""
        if message:
            self._said = now
        if message or now - self._shown >= LOOKING:
            self._shown = now
            self.show(message)

    def show(self, message: str = "") -> None:
        """Tell how far the sweep is."""
        if self._progress is None:
            return
        now = time.monotonic()
        self._times.append((now, self.computed))
        while len(self._times) > 2 and now - self._times[1][0] >= RECENT:
            self._times.popleft()
        then, before = self._times[0]
        rate = (self.computed - before) / (now - then) if now > then and self.computed > before else None
        left = (self._todo - self.computed) / rate if rate else None
        outcomes = {name: self._outcomes[name] for name in OUTCOMES if self._outcomes[name]}
        self._progress(Snapshot(self._outcomes.total(), self._cells, outcomes, rate, left, message))
