"""How many false neighbours of true claims the check refutes: the table of docs/checks.md.

A line of the log is a mutant as soon as it is judged, or a claim when it is done; a claim that is done
is not measured again. Claims that do not stand have no mutants. Several processes share the claims by ``--share``.

    python -m benchmarks.mutants [--mutants 24] [--seconds 60] [--share 1/2] --log FILE TARGET ...
    python -m benchmarks.mutants --table FILE ...

A target is a paper, a claim, or a file like ``my_paper.py``.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from theory.claim import Claim
from validate.mutate import Finding, mutate

COLUMNS = ("claims", "cut off", "mutants", "weaker", "undecided", "false", "killed", "CPU s")
Line = dict[str, Any]


def claims_of(targets: Sequence[str]) -> Iterator[Claim]:
    """The claims of papers, claims and files of which there are mutants."""
    from theory import catalog
    from validate.commands import own

    for target in own.known(list(targets)):
        paper, _, label = target.partition("/")
        for one in catalog.paper(paper):
            if one.has_sentence and not one.in_words and label in ("", one.label):
                yield one


def measure(claim: Claim, mutants: int, seconds: float, write: Callable[[Line], None]) -> None:
    """Writes the lines of one claim."""
    last = time.process_time()

    def judged(finding: Finding) -> None:
        nonlocal last
        now = time.process_time()
        write({"claim": claim.id, "cpu": round(now - last, 1), **finding.to_json()})
        last = now

    report = mutate(claim, quick=True, mutants=mutants, seconds=seconds, standing=True, judged=judged)
    seconds = round(report.seconds, 1)
    write({"claim": claim.id, "report": True, "stands": report.stands, "cut": report.cut, "seconds": seconds})


def read(files: Iterable[Path]) -> list[Line]:
    """The lines of claims that are done, from logs; of one that is there more than once, those of its last time."""
    found: dict[str, list[Line]] = {}
    for file in files:
        begun: dict[str, list[Line]] = {}
        for text in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
            line = json.loads(text)
            begun.setdefault(line["claim"], []).append(line)
            if line.get("report"):
                # one that was cut short in the middle, and begun again, has its first mutants twice
                found[line["claim"]] = [*{one.get("name"): one for one in begun.pop(line["claim"])}.values()]
    return [line for lines in found.values() for line in lines]


def table(lines: Sequence[Line]) -> str:
    """The counts by paper, of claims that are done, in Markdown."""
    done = {line["claim"] for line in lines if line.get("report") and line["stands"]}
    counts: dict[str, Counter[str]] = {}
    for line in lines:
        if line["claim"] not in done:
            continue
        of = counts.setdefault(line["claim"].partition("/")[0], Counter())
        if line.get("report"):
            of.update({"claims": 1, "cut off": int(line["cut"]), "CPU s": line["seconds"]})
        else:
            of.update(["mutants"])
            words = {"weaker": ["weaker"], "not shown false": ["undecided"], "survived": ["false"]}
            of.update(words.get(line["outcome"], ["false", "killed"]))
    total: Counter[str] = Counter()
    for of in counts.values():
        total.update(of)
    rows = [f"| | {' | '.join(COLUMNS)} | killed of false |", f"|---|{'---|' * (len(COLUMNS) + 1)}"]
    for name, of in {**counts, "together": total}.items():
        rate = f"{of['killed'] / of['false']:.1%}" if of["false"] else ""
        rows.append(f"| {name} | {' | '.join(f'{of[column]:.0f}' for column in COLUMNS)} | {rate} |")
    return "\n".join(rows)


def _write(log: TextIO, line: Line) -> None:
    log.write(json.dumps(line, default=str) + "\n")
    log.flush()


def main() -> None:
    """Measure, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    parser.add_argument("--mutants", type=int, default=24, help="at most so many of each claim")
    parser.add_argument("--seconds", type=float, default=60, help="of CPU for each claim")
    parser.add_argument("--share", default="1/1", metavar="I/N", help="the I-th of N parts of the claims")
    parser.add_argument("--log", type=Path)
    parser.add_argument("--table", type=Path, nargs="+", metavar="FILE")
    given = parser.parse_args()
    if given.table:
        lines = read(given.table)
        print(table(lines))
        for line in lines:
            if line.get("outcome") == "survived":
                print(f"survived: {line['name']}: {line['description']} {line['reason']}")
        return
    if given.log is None:
        parser.error("--log FILE is needed")
    share, parts = map(int, given.share.split("/"))
    known = {line["claim"] for line in read([given.log]) if line.get("report")}
    for claim in list(claims_of(given.targets))[share - 1 :: parts]:
        if claim.id in known:
            continue
        with given.log.open("a", encoding="utf-8") as log:
            measure(claim, given.mutants, given.seconds, partial(_write, log))


if __name__ == "__main__":
    main()
