"""The example files of the language: every claim's verdict beside what is true, and how long a file takes.

Each file is one process, `fedproof check FILE --quick --json`, as a reader runs it; seconds are by the clock, CPU
seconds those of the process and of its children.

    python -m benchmarks.language [FOLDER]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FALSE = {
    "noise-ball/lost-factor", "proxskip/too-fast", "scaffold/fedavg-stays", "heavy-ball/anywhere",
    "compression/no-spread", "lsvrg/too-fast", "vectors/wrong-way", "vectors/without-convexity",
}  # fmt: skip
"""The claims that are not true, by the mathematics; all others are."""


def right(id: str, verdict: str) -> bool:
    """Whether a verdict says what is true."""
    return verdict == "refuted" if id in FALSE else verdict in ("proved", "supported")


def checked(file: Path, out: str) -> tuple[list[dict[str, object]], float, float]:
    """The results of a quick check of a file, its seconds, and its CPU seconds.

    Raises:
        RuntimeError: when the command fails otherwise than by a verdict.
    """
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [
        sys.executable,
        "-c",
        "from validate.cli import main; main()",
        "check",
        str(file),
        "--quick",
        "--json",
        "--out",
        out,
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{file}: status {done.returncode}: {done.stderr}")
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(done.stdout), seconds, used


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = Path(__file__).resolve().parent.parent / "tests" / "language"
    parser.add_argument("folder", nargs="?", type=Path, default=default, help="of the example files")
    folder = parser.parse_args().folder
    names = sorted({id.split("/")[0].replace("-", "_") for id in FALSE})
    total, fitting = 0, 0
    print(f"{'file':<20} {'seconds':>8} {'CPU s':>8}  verdicts")
    with tempfile.TemporaryDirectory() as out:
        for name in names:
            results, seconds, used = checked(folder / f"{name}.py", out)
            words = [
                f"{r['id']}: {r['verdict']}{'' if right(str(r['id']), str(r['verdict'])) else ' (wrong)'}"
                for r in results
            ]
            print(f"{name + '.py':<20} {seconds:>8.1f} {used:>8.1f}  {'; '.join(words)}", flush=True)
            total += len(results)
            fitting += sum(right(str(r["id"]), str(r["verdict"])) for r in results)
    print(f"{fitting} of {total} verdicts say what is true")


if __name__ == "__main__":
    main()
