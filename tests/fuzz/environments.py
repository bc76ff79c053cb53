"""Command lines in environments: `fedproof` as a process of its own, in a folder with a user's files.

    python -m tests.fuzz.environments [--cases 700] [--seed 0] [--log FILE]

A case fails when a traceback is shown, or a status comes that docs/command-line.md does not have; when bad input is not
one line that begins with ``error:``; when the process computes for `SILENT` seconds, or waits for `ASLEEP`, without a
word; when it does not end soon after Ctrl-C; when a file of the user's is changed or gone. Linux.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import json
import os
import pty
import random
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fuzz.bad_commands import INSTANCE, Case, case, files

ROOT = Path(__file__).resolve().parents[2]
SILENT, ASLEEP = 10.0, 60.0  # seconds of the processor, and of the clock while it computes nothing
STOPS = 10.0  # seconds of the processor, after Ctrl-C
PROGRAM = ("-m", "validate.cli")
CONTROLS = r"\r|\x1b\[[?0-9;]*[A-Za-z]"  # of a terminal: a colour, a cursor shown again after a bar
STATUSES = (0, 1, 2, 3, 130)


# --- where it runs ---------------------------------------------------------------------------------------------------


def _without(*names: str) -> Callable[[dict[str, str]], None]:
    def change(environment: dict[str, str]) -> None:
        for name in names:
            environment.pop(name, None)

    return change


def _with(**values: str) -> Callable[[dict[str, str]], None]:
    return lambda environment: environment.update(values)


def _closed(*numbers: int) -> Callable[[], None]:
    def before() -> None:
        for number in numbers:
            os.close(number)

    return before


def _small_files() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))


@dataclass(frozen=True)
class Place:
    """What is other than usual: variables, what is done before the program begins, streams."""

    change: Callable[[dict[str, str]], None] = lambda environment: None
    before: Callable[[], None] | None = None
    streams: str = "pipes"  # or "terminal", "full", "gone"
    full_disk: bool = False


ASCII = _with(LC_ALL="C", LANG="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0", PYTHONIOENCODING="ascii:strict")
PLACES = {
    "interrupted": Place(),
    "dumb terminal": Place(_with(TERM="dumb"), streams="terminal"),
    "terminal of 20 columns": Place(_with(TERM="xterm", COLUMNS="20"), streams="terminal"),
    "no HOME": Place(_without("HOME", "XDG_CACHE_HOME", "USER", "LOGNAME")),
    "HOME that is not there": Place(_with(HOME="/proc/nothing", XDG_CACHE_HOME="/proc/nothing")),
    "ASCII": Place(ASCII),
    "no compiler": Place(_with(PATH="/nonexistent", CXX="")),
    "no stdin": Place(before=_closed(0)),
    "no stdout": Place(before=_closed(1)),
    "no stderr": Place(before=_closed(2)),
    "no streams": Place(before=_closed(0, 1, 2)),
    "full stdout": Place(streams="full"),
    "reader gone": Place(streams="gone"),
    "no large files": Place(before=_small_files),
    "full disk": Place(full_disk=True),
}


def _not_almighty() -> None:
    """Rights that root has over others' files; they are given up, so that what is locked is locked."""
    libc = ctypes.CDLL(None)
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


def lay_out(folder: Path) -> None:
    """The user's folder."""
    for name, content in files().items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    (folder / "unreadable.json").write_text(json.dumps(INSTANCE))
    (folder / "unreadable.json").chmod(0)
    (folder / "locked").mkdir()
    (folder / "locked").chmod(0o555)
    (folder / "loop").symlink_to("loop")
    (folder / "dangling").symlink_to("nowhere")


def digests(folder: Path) -> dict[str, str]:
    """Of the user's files."""
    return {
        name: hashlib.sha256(path.read_bytes()).hexdigest() for name in files() if (path := folder / name).is_file()
    }


def may_change(words: tuple[str, ...]) -> set[str]:
    """Files that a command was told to go on with."""
    told = {"--resume", "--retry", "--force", "--questions", "--export"} & set(words)
    return {word for word in words if told} if told else set()


PYTHON_S = r"(?<!\(unicode error\) 'utf-8' )codec can't|object has no|NoneType|unexpected keyword|list index"
"""What no message says that is made for a reader."""


# --- one case --------------------------------------------------------------------------------------------------------


@dataclass
class Outcome:
    """What came of a case."""

    status: int | None = None
    text: bytes = b""
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)


def _spent(group: int) -> float:
    """Seconds of the processor that the processes of a group have taken so far, with those of children that ended."""
    total = 0
    for entry in os.listdir("/proc"):
        if entry.isdecimal():
            with suppress(OSError, ValueError):
                fields = Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()
                if int(fields[2]) == group:
                    total += sum(map(int, fields[11:15]))
    return total / os.sysconf("SC_CLK_TCK")


def _end(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def run(one: Case, folder: Path) -> Outcome:
    """Run a case in a folder of its own."""
    place = PLACES.get(one.place, Place())
    lay_out(folder)
    if place.full_disk:
        (folder / "small").mkdir()
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=16k", "none", folder / "small"], capture_output=True
        )
        words = tuple(w if w not in ("new", "runs.npz", "s.sqlite", "review.md", "new.svg", "table.csv", "open.toml",
                                     "l.jsonl", "fresh.py") else f"small/{w}" for w in one.words)  # fmt: skip
    else:
        mounted, words = None, one.words
    environment = {**os.environ, "HOME": str(folder / "home"), "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONSTARTUP", None)
    place.change(environment)

    def before() -> None:
        _not_almighty()
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # which a shell's background jobs ignore
        if place.before is not None:
            place.before()

    outcome = Outcome()
    kept = digests(folder)
    theirs: Any = subprocess.PIPE
    ours: list[int] = []
    given: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": theirs, "stderr": theirs}
    opened: list[int] = []
    if place.streams == "terminal":
        master, slave = pty.openpty()
        opened, ours = [slave], [master]
        given = {"stdin": slave, "stdout": slave, "stderr": slave}
    elif place.streams == "full":
        opened = [os.open("/dev/full", os.O_WRONLY)]
        given["stdout"] = opened[0]
    elif place.streams == "gone":
        reader, writer = os.pipe()
        os.close(reader)
        opened, given["stdout"] = [writer], writer
    began = time.monotonic()
    process = subprocess.Popen([sys.executable, *PROGRAM, *words], cwd=folder, env=environment,
                               start_new_session=True, preexec_fn=before, **given)  # fmt: skip
    for number in opened:
        os.close(number)
    ours += [stream.fileno() for stream in (process.stdout, process.stderr) if stream is not None]
    try:
        _watch(process, ours, one, outcome, began)
    finally:
        _end(process.pid)
        process.wait()
        for number in ours[: 1 if place.streams == "terminal" else 0]:
            os.close(number)
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
        if mounted is not None and mounted.returncode == 0:
            subprocess.run(["umount", "-l", folder / "small"], check=True)
    outcome.seconds = time.monotonic() - began
    after = digests(folder)
    changed = {name for name in kept if after.get(name) != kept[name]} - may_change(words)
    if changed:
        outcome.failures.append(f"lost or changed: {', '.join(sorted(changed))}")
    _judge(one, place, outcome)
    return outcome


def _watch(process: subprocess.Popen[bytes], ours: list[int], one: Case, outcome: Outcome, began: float) -> None:
    """Read what it says until it ends; note silence, and interrupt it when its time has come."""
    heard, spent_then, told = time.monotonic(), 0.0, None
    alive = list(ours)
    while True:
        ready, _, _ = select.select(alive, [], [], 0.2)  # without streams it waits as long
        for number in ready:
            try:
                piece = os.read(number, 1 << 16)
            except OSError:  # a terminal that nobody has open any more
                piece = b""
            if not piece:
                alive.remove(number)
                continue
            outcome.text += piece
            heard, spent_then = time.monotonic(), _spent(process.pid)
        ended = process.poll()
        if ended is not None and (not alive or not ready):
            outcome.status = ended
            return
        now, spent = time.monotonic(), _spent(process.pid)
        if told is None and one.interrupted is not None and now - began > one.interrupted:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGINT)
            told, heard, spent_then = now, now, spent
        quiet = ours and one.place not in ("no stderr", "no streams")  # nobody hears those
        if told is not None and (spent - spent_then > STOPS or now - told > ASLEEP):
            outcome.failures.append("goes on after Ctrl-C")
            return
        if told is None and quiet and (spent - spent_then > SILENT or now - heard > ASLEEP):
            outcome.failures.append(f"silent for {spent - spent_then:.0f} s of the processor")
            return


def _judge(one: Case, place: Place, outcome: Outcome) -> None:
    """Statuses and messages."""
    text = outcome.text.decode("utf-8", "replace")
    if "Traceback" in text or "Exception ignored" in text:
        outcome.failures.append("a traceback")
    if "Warning:" in text:
        outcome.failures.append("a warning of Python's")
    if outcome.status is None:
        return
    if outcome.status not in STATUSES:
        ours = one.interrupted is not None and outcome.status == -signal.SIGINT  # before Python has begun
        if not ours:
            outcome.failures.append(f"status {outcome.status}")
    if outcome.status == 2 and "stderr" not in one.place and one.place != "no streams":
        errors = [line for line in re.sub(CONTROLS, "", text).splitlines() if line.startswith("error: ")]
        if not errors:
            outcome.failures.append("no error: line")
        if re.search(PYTHON_S, text):
            outcome.failures.append("a message of Python's")


def main() -> int:
    """The command; returns its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz.environments", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--cases", type=int, default=700)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="of the cases of this seed")
    parser.add_argument("--log", type=Path, help="a line of JSON for each case")
    given = parser.parse_args()
    statuses: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    for number in range(given.first, given.first + given.cases):
        one = case(random.Random(f"{given.seed} {number}"), tuple(PLACES))
        folder = Path(tempfile.mkdtemp(prefix="fedproof-environments-"))
        try:
            outcome = run(one, folder)
        finally:
            (folder / "locked").chmod(0o755)
            shutil.rmtree(folder, ignore_errors=True)
        statuses[str(outcome.status)] += 1
        failures.update(outcome.failures)
        line = {"case": number, "words": one.words, "place": one.place, "status": outcome.status,
                "seconds": round(outcome.seconds, 2), "failures": outcome.failures,
                "text": outcome.text.decode("utf-8", "replace")[-1500:]}  # fmt: skip
        if given.log is not None:
            with given.log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
        if outcome.failures:
            print(f"{number}: {'; '.join(outcome.failures)}: {one.words!r:.300} ({one.place})", flush=True)
    print(f"{given.cases} cases; statuses {dict(statuses)}; failures {dict(failures) or 'none'}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
