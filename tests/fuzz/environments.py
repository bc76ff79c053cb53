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
from functools import cache
from pathlib import Path
from typing import Any

from tests.fuzz.stores import valid_store
from tests.validate.command_line import SPEC

ROOT = Path(__file__).resolve().parents[2]
SILENT, ASLEEP = 10.0, 60.0  # seconds of the processor, and of the clock while it computes nothing
STOPS = 10.0  # seconds of the processor, after Ctrl-C
STATUSES = (0, 1, 2, 3, 130)

PAPER = """from theory import Paper, algorithm, claim

@algorithm
def descent(w, x, *, eta):
    return x - eta * w.mean(w.gradient(x))

ASSUMED = ("smooth(f_n, L)", "strongly_convex(f_n, mu)", "eta <= 1/L")
TRUE = claim("true", "norm2(x[k] - xstar) <= (1 - eta*mu)**k*norm2(x0 - xstar)", of=descent, assuming=ASSUMED)
FALSE = claim("false", "norm2(x[k] - xstar) <= (1 - 2*eta*mu)**k*norm2(x0 - xstar)", of=descent, assuming=ASSUMED)
NUMBERS = claim("numbers", "a**2 >= b**2", assuming=("a >= b",), parameters={})
PAPER = Paper("mine", "Mine", "a reader", (TRUE, FALSE, NUMBERS))
"""
TEX = r"""\documentclass{article}\begin{document}
\begin{theorem}\label{thm}Then \[ \|x_k - x^\star\|^2 \leq (1-\eta\mu)^k \|x_0-x^\star\|^2 \]\end{theorem}
\begin{equation}\label{eq}\|x_K - x^\star\|^2 \leq \sigma^2\end{equation}
\end{document}
"""
CODE = """
def right(x, problem, eta):
    return x - eta * problem.gradient(x) if False else x
def raises(x, problem, eta):
    raise RuntimeError("mine")
def nothing(x):
    return None
def exits(x):
    raise SystemExit(7)
"""
SWEEP = """claims = ["fedavg-svrg/theorem-v1-eq8"]
rounds = [2, 3]
[[problem]]
kind = "quadratic"
clients = 2
dim = 1
mu = "1/10"
L = 1
heterogeneity = 1
[[algorithm]]
kind = "fedavg-svrg"
step = "1/10"
S = 1
M = 1
"""
INSTANCE = {
    "algorithm": "mine.py:descent",
    "parameters": {"eta": "1/8"},
    "problem": {"clients": [[{"h": 1, "a": 0}], [{"h": 2, "a": 1}]]},
    "start": ["3"],
    "rounds": 3,
}


@cache
def files() -> dict[str, bytes]:
    """The user's files, by name."""
    texts: dict[str, str] = {
        "mine.py": PAPER,
        "broken.py": "raise RuntimeError('mine')\n",
        "syntax.py": "def (:\n",
        "code.py": CODE,
        "paper.tex": TEX,
        "instance.json": json.dumps(INSTANCE),
        "spec.json": json.dumps(SPEC),
        "sweep.toml": SWEEP,
        "notes.txt": "my notes\n",
        "empty.json": "",
        "list.json": "[1, 2]",
        "numbers.csv": "1,2,3\n",
        "site/index.html": "<p>my page</p>\n",
        "site/report.json": "{}\n",
        "results/data.bin": "what I measured\n",
    }
    binary = {"binary.json": bytes(range(256)) * 8, "store.sqlite": valid_store(), "latin.py": b"x = '\xe9'\n"}
    return {**{name: text.encode() for name, text in texts.items()}, **binary}


PATHS = (
    *("missing.json", "missing/deep/file.json", ".", "site", "/", "/dev/null", "unreadable.json", "binary.json"),
    *("empty.json", "list.json", "notes.txt", "loop", "dangling", "a" * 300, "line\nbreak", "~", "-", "results"),
    *("locked/new", "store.sqlite", "mine.py", "latin.py", "site/index.html", "\x1b[2J.json", "é.json", "paper.tex"),
)
NUMBERS = (
    *("nan", "inf", "-inf", "-1", "0", "1e400", "1e308", "-1e308", "1e-400", "5e-324", "99999999999999999999", "1.5"),
    *("1/0", "1/3", "abc", "٣", "1,2", ",", " ", "", "9" * 5000, "1e99999999", "0x10", "1_000", "True", "--json"),
)
NAMES = (
    *(
        "nonsense",
        "perm",
        "all",
        "mine.py",
        "mine.py:",
        "mine.py:true",
        "mine.py:false",
        "mine.py:numbers",
        "mine.py:no",
    ),
    *("broken.py", "syntax.py:a", "latin.py", "missing.py:a", "textbook/young", "saga/lemma-3", "fedmim/eq25", "é", ""),
    *("fedmim/remark-iv3", "perm/lemma-1", "a/b/c", "../mine.py:true", "code.py:right", "code.py:raises", "code:right"),
    *("code.py:nothing", "code.py:exits", "os:getcwd", "missing:round", "mine.py:descent", "algorithms/fedavg", ":"),
)
ASSIGNED = (
    *("L=nan", "L=inf", "L=1e400", "L=-1", "L=0", "L=", "=1", "L", "L=1/0", "L=2**L", "L=9**9**9", "K=1e18", "K=0"),
    *(
        "K=1.5",
        "nonsense=1",
        "eta=1/8",
        "eta=1e308",
        "L=" + "9" * 4001,
        "L=(((",
        "L=__import__('os')",
        "mu=L",
        "N=10**9",
    ),
)
TEXTS = (
    "",
    " ",
    "sgd",
    "adam",
    "rocq",
    "lean",
    "coq",
    "mean",
    "gap",
    "dask",
    "cuda",
    "cpu",
    "1 <= 0",
    "L <= ",
    "a=b",
    "\x00"[:0],
)
WORTH = {
    **dict.fromkeys(("--set", "--rename", "--suppose"), ASSIGNED),
    **dict.fromkeys(("--out", "--log", "--kept", "--questions", "--export", "--status", "--store", "--proof"), PATHS),
    **dict.fromkeys(("--claims", "--verdicts", "--gradients"), (*PATHS, *NAMES)),
    **dict.fromkeys(("--against", "--implementation", "--also", "--paper"), NAMES),
    **dict.fromkeys(
        ("--to", "--metric", "--tap", "--device", "--engine", "--quantity", "--effort", "--address"), TEXTS
    ),
}
STARTS: tuple[tuple[str, ...], ...] = (
    ("claims",),
    ("claims", "--paper", "mine.py", "--out", "results"),
    ("show", "mine.py:true"),
    ("bound", "mine.py:true", "--set", "eta=1/4", "--set", "mu=1/2", "--set", "L=1", "--set", "k=3",
     "--set", "norm2_x0_xstar=1"),
    ("bound", "textbook/young", "--rigorous", "--set", "t=1", "--set", "norm2_a=1", "--set", "norm2_b=2"),
    ("prove", "mine.py:true", "--out", "new"),
    ("replay", "textbook/jensen-three"),
    ("export", "--to", "rocq", "textbook/young", "--out", "new"),
    ("feasible", "mine.py:true", "--set", "L=1", "--suppose", "mu <= L"),
    ("weights", "--z", "0,0.5,2", "--n", "500,100,1000", "--lam", "200"),
    ("weights", "--gradients", "instance.json", "--n", "1,2", "--lam", "1"),
    ("radius", "sgd", "--set", "mu=1/2", "--set", "L=2", "--set", "r=1", "--set", "sigma=1"),
    ("falsify", "mine.py:false", "--seconds", "2", "--out", "new"),
    ("repair", "mine.py:numbers", "--seconds", "3"),
    ("repair", "mine.py:false", "--seconds", "3"),
    ("mutate", "textbook/jensen-three", "--quick", "--seconds", "3", "--mutants", "2", "--out", "new",
     "--log", "l.jsonl"),
    ("sharpen", "mine.py:numbers", "--seconds", "3", "--out", "new"),
    ("sharpen", "mine.py:true", "--seconds", "3", "--out", "new"),
    ("new", "fresh.py"),
    ("read", "paper.tex:thm", "--against", "mine.py:descent", "--questions", "open.toml"),
    ("read", "paper.tex:eq", "--questions", "open.toml"),
    ("moments", "instance.json", "--exact"),
    ("moments", "instance.json", "--rigorous"),
    ("moments", "spec.json"),
    ("measure", "mine.py:false", "instance.json", "--set", "mu=1"),
    ("compare", "--L", "10", "--N", "10", "--rounds", "100", "--mu", "1", "--H", "2", "--out", "new.svg"),
    ("compare", "--L", "10", "--N", "10", "--rounds", "100", "--only", "--also", "mine.py", "--verdicts", "results"),
    ("diff", "mine.py:true", "--implementation", "code.py:right", "--set", "eta=1/8"),
    ("diff", "mine.py:true", "--implementation", "code.py:raises", "--tolerance", "1e-6"),
    ("audit", "instance.json", "--ball", "1"),
    ("audit", "mine.py:true"),
    ("check", "mine.py:numbers", "--quick", "--out", "new", "--jobs", "1"),
    ("check", "mine.py:false", "--quick", "--out", "new", "--jobs", "2"),
    ("verify", "instance.json", "--claims", "mine.py"),
    ("report", "mine.py", "--quick", "--out", "new", "--jobs", "1"),
    ("review", "mine.py:numbers", "--quick", "--out", "review.md", "--kept", "new", "--jobs", "1"),
    ("reproduce", "fedavg-svrg", "--quick", "--out", "new"),
    ("simulate", "instance.json", "--runs", "16", "--out", "runs.npz", "--block", "8"),
    ("simulate", "spec.json", "--runs", "8", "--metric", "suboptimality", "--device", "cpu"),
    ("sweep", "sweep.toml", "--out", "s.sqlite", "--workers", "1"),
    ("sweep", "--status", "store.sqlite", "--export", "table.csv"),
    ("doctor", "--no-self-test"),
    ("--install-completion",),
)  # fmt: skip


@cache
def options() -> dict[str, dict[str, bool]]:
    """The options of each command, and which of them are flags."""
    import typer

    from validate.cli import app

    group: Any = typer.main.get_command(app)
    return {
        name: {p.opts[0]: p.is_flag for p in command.params if p.param_type_name == "option"}
        for name, command in group.commands.items()
    }


def worth(option: str) -> tuple[str, ...]:
    """Values for an option."""
    return WORTH.get(option, NUMBERS)


@dataclass(frozen=True)
class Case:
    """A command line, where it runs, and after how many seconds it is interrupted, if it is."""

    words: tuple[str, ...]
    place: str
    interrupted: float | None


def case(draw: random.Random) -> Case:
    """One more."""
    words = list(draw.choice(STARTS))
    known = options().get(words[0], {})
    for _ in range(draw.choice((0, 1, 1, 1, 2, 3))):
        kind = draw.choice(("value",) * 6 + ("option",) * 4 + ("word", "remove", "repeat"))
        at = draw.randrange(len(words) > 1, len(words))
        if kind == "value" and at and not words[at].startswith("--"):
            before = words[at - 1]
            words[at] = draw.choice(worth(before) if before.startswith("--") else (*PATHS, *NAMES, *NUMBERS))
        elif kind == "option" and known:
            name = draw.choice(list(known))
            words += [name] if known[name] else [name, draw.choice(worth(name))]
        elif kind == "word":
            words.insert(at, draw.choice((*NAMES, *PATHS, "--", "--nonsense", "--json", "-h")))
        elif kind == "remove" and len(words) > 1:
            del words[at]
        elif kind == "repeat":
            words.insert(at, words[at])
    place = draw.choice(("as usual",) * 12 + tuple(PLACES))
    # nobody waits for hours: what still computes then is ended as a reader would end it
    after = draw.uniform(0.05, 8) if place == "interrupted" else draw.uniform(15, 25)
    return Case(tuple(words), place, after)


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
    "HOME that is not there": Place(_with(HOME="/nonexistent", XDG_CACHE_HOME="/proc/nothing")),
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
    process = subprocess.Popen([sys.executable, "-m", "validate.cli", *words], cwd=folder, env=environment,
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
        errors = [line for line in text.replace("\r", "").splitlines() if line.startswith("error: ")]
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
        one = case(random.Random(f"{given.seed} {number}"))
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
