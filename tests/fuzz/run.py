"""Fuzzes everything that reads input from outside, for as many cases as asked for, and prints what came of it.

    python -m tests.fuzz.run --cases 10000 [--seed 0] [--only certificate]
    python -m tests.fuzz.run --atheris 60 [--only formula]       guided by coverage; needs the extra `fuzz`

A case fails when something else comes of it than a right answer or a clear error, in the processor time and the memory
that a case may take. Exit status 1 when one does; each failure is shown once, with its input.
"""

import argparse
import resource
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzz.limits import TooSlow, limited
from tests.fuzz.target import OUTCOMES, Target
from tests.fuzz.targets import targets

MEMORY = 3 * 2**30  # bytes that the cases may take on top of what the process has


@dataclass
class Tally:
    """What came of the cases of a target.

    Attributes:
        outcomes: how often each.
        failures: the first of each kind, by where it was raised: the traceback and the input.
        slowest: seconds of the processor.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    failures: dict[str, str] = field(default_factory=dict)
    slowest: float = 0.0


def one(target: Target, example: Any, tally: Tally) -> None:
    """Run a case and note what came of it."""
    begun = time.process_time()
    try:
        with limited(target.seconds), warnings.catch_warnings():
            warnings.simplefilter("error")
            tally.outcomes[target.run(example)] += 1
    except (Exception, TooSlow) as error:
        tally.outcomes["failure"] += 1
        frames = [f"{f.filename}:{f.lineno}" for f in traceback.extract_tb(error.__traceback__)]
        own = [f for f in frames if any(part in f for part in ("/theory/", "/sim/", "/validate/", "/tests/"))]
        where = f"{type(error).__name__} at {(own or frames)[-1]}"
        text = f"{where}\n  {str(error)[:600]}\n  {' < '.join(reversed(own[-6:]))}\n  input: {example!r:.1500}"
        tally.failures.setdefault(where, text)
    tally.slowest = max(tally.slowest, time.process_time() - begun)


def fuzz(target: Target, cases: int, first_seed: int) -> Tally:
    """So many cases of a target, the same for the same seed."""
    tally = Tally()

    @seed(first_seed)
    @settings(max_examples=cases, database=None, deadline=None, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(target.examples)
    def run(example: Any) -> None:
        one(target, example, tally)

    run()
    return tally


def limit_memory() -> None:
    """Let a memory bomb be an error of this process, not the machine's."""
    with open("/proc/self/statm", encoding="ascii") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))


def report(found: Sequence[tuple[str, Tally, float]]) -> None:
    """The table, and each kind of failure once."""
    head = ("target", "cases", *OUTCOMES, "failures", "slowest [s]", "CPU [s]")
    rows = [
        (name, str(tally.outcomes.total()), *(str(tally.outcomes[o]) for o in OUTCOMES),
         str(tally.outcomes["failure"]), f"{tally.slowest:.2f}", f"{spent:.1f}")
        for name, tally, spent in found
    ]  # fmt: skip
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    for row in (head, *rows):
        print("  ".join(cell.rjust(width) if i else cell.ljust(width) for i, (cell, width) in
                        enumerate(zip(row, widths, strict=True))))  # fmt: skip
    for name, tally, _ in found:
        for text in tally.failures.values():
            print(f"\n{name}: {text}")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.run", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--cases", type=int, default=10_000, help="of all targets together")
    parser.add_argument("--seed", type=int, default=0)
    names = [target.name for target in targets()]
    parser.add_argument("--only", action="append", choices=names, help="a target; may be repeated")
    parser.add_argument("--atheris", type=int, metavar="SECONDS", help="a target, guided by coverage")
    given_ = parser.parse_args(arguments)
    if given_.atheris is not None:
        from tests.fuzz import guided

        return guided.run(given_.atheris, given_.only)
    chosen = [target for target in targets() if not given_.only or target.name in given_.only]
    whole = sum(target.share for target in chosen)
    limit_memory()
    found = []
    for target in chosen:
        begun = time.process_time()
        tally = fuzz(target, max(1, round(given_.cases * target.share / whole)), given_.seed)
        found.append((target.name, tally, time.process_time() - begun))
    report(found)
    return 1 if any(tally.failures for _, tally, _ in found) else 0


if __name__ == "__main__":
    sys.exit(main())
