"""A sweep of 2,000 cells that is killed again and again, against one that nothing happens to.

    python -m benchmarks.sweep_faults            two processes; workers and coordinators killed 20 times
    python -m benchmarks.sweep_faults --dask     a Dask scheduler and two workers, one of them killed
    python -m benchmarks.sweep_faults --doubles 20   two coordinators of one store, which they know by different names

Who is killed, and when, is drawn from a seed. The exit status is 1 unless the results are the same, byte for byte.
Needs `ps`; a folder that is bound to a second place needs root, and is left out without.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

SPECIFICATION = """
name = "2,000 cells that are disturbed"
claims = ["fedavg-svrg/theorem-v1-eq7", "fedavg-svrg/theorem-v1-eq8"]
rounds = [1, 2, 5, 10, 20]

[[problem]]
kind = "quadratic"
clients = [2, 4]
dim = 2
mu = "1/10"
L = [1, 2, 5, 10]
heterogeneity = 1
seed = { from = 0, to = 24 }

[[algorithm]]
kind = "fedavg-svrg"
step = "1/20"
S = 1
M = 2
"""
CELLS = 2000
FEW = SPECIFICATION.replace("to = 24", "to = 1")
# Seconds that are added to each cell, so that there is time to disturb it.
PAUSE = 0.03


def unhurried(document: dict[str, Any]) -> dict[str, Any]:
    """A cell, and a pause."""
    from validate.sweep.cell import run_cell

    time.sleep(PAUSE)
    return run_cell(document)


def run(store: Path, address: str | None, text: str = SPECIFICATION) -> None:
    """The disturbed sweep, in a process of its own."""
    from benchmarks.sweep_faults import unhurried
    from validate.sweep.coordinator import sweep
    from validate.sweep.specification import read_specification

    options: dict[str, Any] = {"workers": 2} if address is None else {"engine": "dask", "address": address}
    sweep(read_specification(text), store, function=unhurried, resume=True, **options)


def undisturbed(store: Path, text: str = SPECIFICATION) -> str:
    """The digest of the same cells."""
    from validate.sweep.coordinator import sweep
    from validate.sweep.specification import read_specification

    return sweep(read_specification(text), store, workers=2).digest


def begun(store: Path, address: str | None = None) -> subprocess.Popen[bytes]:
    """A coordinator."""
    options = [] if address is None else ["--address", address]
    return subprocess.Popen([sys.executable, "-m", "benchmarks.sweep_faults", "--run", str(store), *options])


def workers_of(process: int) -> list[int]:
    """The processes of a coordinator, or of a nanny, that compute."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    return [int(row[0]) for row in rows if int(row[1]) == process and "multiprocessing.spawn" in row[2]]


def kept(store: Path) -> int:
    """Cells that are kept so far."""
    from validate.sweep.store import Store

    try:
        with Store.read(store) as found:
            return found.counts().finished
    except (ValueError, OSError):  # not made yet
        return 0


def locally(folder: Path, kills: int, draw: random.Random) -> None:
    """Disturb a sweep over processes of this machine."""
    store = folder / "disturbed"
    process = begun(store)
    moments = sorted(draw.sample(range(CELLS * 19 // 20), kills))
    for number, moment in enumerate(moments, 1):
        victim = 0
        while not victim:
            if process.poll() is not None:
                sys.exit(f"the sweep ended with {process.returncode} before it was disturbed often enough")
            time.sleep(draw.uniform(0.05, 0.15))
            found = workers_of(process.pid)
            if kept(store) >= moment and found:
                victim = draw.choice([process.pid, *found])
        with suppress(ProcessLookupError):  # it was about to leave
            os.kill(victim, signal.SIGKILL)
        who = "coordinator" if victim == process.pid else "worker"
        print(f"{number}: killed the {who}, {kept(store)} cells kept", flush=True)
        if who == "coordinator":
            process.wait()
            process = begun(store)
    if process.wait() != 0:
        sys.exit(f"the sweep ended with {process.returncode}")


def on_dask(folder: Path, draw: random.Random) -> None:
    """Disturb a sweep on a Dask cluster."""
    from tests.validate.sweep.clusters import programs

    with programs(folder) as cluster:
        process = begun(folder / "disturbed", cluster.address)
        while kept(folder / "disturbed") < draw.uniform(500, 1000):
            time.sleep(0.2)
        nanny = draw.choice(cluster.workers).pid
        victim = workers_of(nanny)[0]
        os.kill(victim, signal.SIGKILL)
        print(f"killed a worker, {kept(folder / 'disturbed')} cells kept", flush=True)
        if process.wait() != 0:
            sys.exit(f"the sweep ended with {process.returncode}")


def other_names(folder: Path) -> dict[str, tuple[Path, Path]]:
    """The folder and the path by which a second coordinator knows the store ``folder/store``, by what they are."""
    (folder / "linked").symlink_to(folder)
    (folder / "link").symlink_to(folder / "store")
    found = {
        "the same name": (folder, folder / "store"),
        "a relative one": (folder, Path("store")),
        "a link to the file": (folder, folder / "link"),
        "a link to its folder": (folder, folder / "linked" / "store"),
        "a way round": (folder, folder / "linked" / ".." / folder.name / "store"),
    }
    bound = folder / "bound"
    bound.mkdir()
    if subprocess.run(["mount", "--bind", folder, bound], capture_output=True).returncode == 0:
        found["a bound folder"] = (folder, bound / "store")
    if (folder / "store").exists():
        os.link(folder / "store", folder / "hard")
        found["a hard link"] = (folder, folder / "hard")
    return found


def doubled(draw: random.Random) -> str:
    """Two coordinators of one store at the same time; what came of it.

    Raises:
        SystemExit: where the store ends otherwise than it would have with one.
    """
    from validate.sweep.store import Store

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        wanted = undisturbed(folder / "wanted", FEW)
        begin = [sys.executable, "-m", "benchmarks.sweep_faults", "--few", "--run"]
        where = {**os.environ, "PYTHONPATH": os.getcwd()}
        first = subprocess.Popen([*begin, str(folder / "store")], env=where, stderr=subprocess.DEVNULL)
        try:
            time.sleep(draw.uniform(0, 5))
            names = other_names(folder)
            kind = draw.choice(list(names))
            at, path = names[kind]
            second = subprocess.run([*begin, str(path)], cwd=at, env=where, capture_output=True, text=True)
            status = first.wait()
            (folder / "hard").unlink(missing_ok=True)  # under two names a store is not gone on with
            subprocess.run([*begin, str(folder / "store")], env=where, check=True)
        finally:
            first.kill()
            first.wait()
            if "a bound folder" in names:
                subprocess.run(["umount", folder / "bound"], check=True)
        with Store.read(folder / "store") as store:
            found, counts = store.digest(), store.counts()
        said = second.stderr.strip().splitlines()[-1:] or ["went on after the first"]
        if found != wanted or counts.finished != counts.cells:
            sys.exit(
                f"{kind}: {found} in place of {wanted}, {counts}; statuses {status}, {second.returncode}: {said[0]}"
            )
    return f"{kind}: statuses {status}, {second.returncode}: {said[0].replace(name, '')[:150]}"


def main() -> None:
    """Disturb a sweep, and compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dask", action="store_true")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--doubles", type=int, default=0, help="pairs of coordinators")
    parser.add_argument("--few", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--run", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--address", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run is not None:
        run(given.run, given.address, FEW if given.few else SPECIFICATION)
        return
    for number in range(given.doubles):
        print(f"{number + 1}: {doubled(random.Random(f'{given.seed} {number}'))}", flush=True)
    if given.doubles:
        print(f"{given.doubles} stores with two coordinators: all as with one")
        return
    from validate.sweep.store import Store

    draw = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        began = time.monotonic()
        if given.dask:
            on_dask(folder, draw)
        else:
            locally(folder, given.kills, draw)
        seconds = time.monotonic() - began
        with Store.read(folder / "disturbed") as store:
            found, counts = store.digest(), store.counts()
            attempts = [row.work.attempts for row in store.rows() if row.work]
        wanted = undisturbed(folder / "undisturbed")
    print(f"{counts.finished} of {counts.cells} cells in {seconds:.0f} s: {dict(counts.outcomes)}")
    if not given.dask:  # which counts them itself
        print(f"{sum(attempts) - len(attempts)} cells were begun again after their worker had died")
    print(f"disturbed   {found}\nundisturbed {wanted}")
    if found != wanted or counts.finished != CELLS:
        sys.exit(1)


if __name__ == "__main__":
    main()
