"""Repairs that the search finds, held against those that were written by hand.

    python -m benchmarks.repairs [--seconds 60] [--only ID,...] --rows repairs.jsonl > repairs.json
    python -m benchmarks.repairs [--only ID,...] --rows repairs.jsonl --deep
    python -m benchmarks.repairs --rows repairs.jsonl --markdown

Of every printed claim that a list of verdicts calls refuted and that has repairs written by hand (`Claim.amends`): the
nearest claim that stands within so many CPU seconds, and whether it is proved, or at least as strong as one of those:
on parameters and problems drawn for the one by hand, its hypotheses hold and its right side is no larger (no smaller,
for a lower bound). What is done is kept in the file --rows, one claim a line with the commit that did it, and is not
done again; --only says what is done, and in which order. --deep hunts for what breaks the repairs in the rows that are
supported, with ten times the budget of a quick check, and writes what came of it beside them; what that breaks is no
repair. --markdown prints the table of docs/repair.md from the rows.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from math import sqrt
from pathlib import Path
from typing import Any

from theory import catalog
from theory.claim import Claim
from theory.sentence import text_of
from validate.examine import EVALUATIONS, FAR, OPERATIONS, POOL
from validate.instances.candidates import candidate_of, realised
from validate.instances.hunt import hunt
from validate.instances.pool import drawn, fitting_sizes
from validate.instances.seen import measured
from validate.repairs import Repaired, repair
from validate.repairs.candidates import alone

VERDICTS = Path(__file__).parent.parent / "tests" / "catalogue"
DRAWN, ENOUGH, DEEP = 200, 20, 10
BROKEN = "broken by a deeper search"
HUNTED = {None: "", False: "not broken", True: "broken"}
CLOSE = 1e-12


def by_hand() -> dict[str, list[Claim]]:
    """The repairs of each printed claim that is refuted."""
    refuted = {
        row["id"]
        for name in ("claims.json", "landmarks.json")
        for row in json.loads((VERDICTS / name).read_text(encoding="utf-8"))
        if row["verdict"] == "refuted"
    }
    claims = [*catalog.claims(), *(c for name in catalog.COLLECTIONS for c in catalog.claims(name))]
    found: dict[str, list[Claim]] = {}
    for one in claims:
        if one.amended is not None and one.amended in refuted and catalog.claim(one.amended).amends is None:
            found.setdefault(one.amended, []).append(one)
    return found


def as_strong(ours: Claim, theirs: Claim) -> bool | None:
    """Whether a claim says at least as much as another, at the instances of that; None where that cannot be told."""
    relation = ours.sentence.relation
    mine, hand_ = text_of(ours.sentence.left), text_of(theirs.sentence.left)
    root = hand_ == f"sqrt({mine})"
    same_left = mine == hand_ or root or hand_.endswith(f"*{mine}")
    runs = [p and (p.state, p.body, p.result) for p in (ours.program, theirs.program)]  # whatever they are called
    if not same_left or runs[0] != runs[1] or theirs.sentence.relation != relation:
        return None
    compared, sizes = 0, fitting_sizes(theirs)
    for seed in range(DRAWN):
        one = drawn(theirs, seed, sizes=sizes)
        hand = None if one is None else measured(theirs, one)
        if one is None or hand is None:
            continue
        try:
            again = realised(ours, candidate_of(one), {n: one.values[n] for n in ours.constants if n in one.values})
        except KeyError:  # a number that the one by hand has not
            return None
        seen = None if again is None else measured(ours, again)
        if seen is None:
            return False  # our hypotheses ask for more
        rows = {(tuple(row.at.items()), row.minimiser): row for row in seen.measured.rows}
        for row in hand.measured.rows:
            other = rows.get((tuple(row.at.items()), row.minimiser))
            if other is None or other.right is None or row.right is None:
                continue
            by = 1.0 if root or mine == hand_ or not other.left else float(row.left) / float(other.left)
            right = sqrt(float(other.right)) if root else by * float(other.right)
            gap, size = right - float(row.right), abs(float(row.right)) + abs(right)
            if (-gap if relation in (">=", ">") else gap) > CLOSE * size:
                return False
            compared += 1
        if compared >= ENOUGH * 10:
            break
    return compared >= ENOUGH


def deeper(printed: str, one: dict[str, Any]) -> bool | None:
    """Whether a hunt with ten times the budget of a quick check breaks a repair; None if its algorithm is another."""
    if any(edit["kind"] == "algorithm" for edit in one["edits"]):
        return None
    fields = {name: tuple(one[name]) for name in ("assuming", "standing")}
    claim = replace(alone(catalog.claim(printed)), statement=one["statement"], where=one["where"], **fields)
    found = hunt(
        claim, pool=DEEP * POOL[True], evaluations=DEEP * EVALUATIONS[True], far=DEEP * FAR[True],
        operations=DEEP * OPERATIONS[True], smallest=False,
    )  # fmt: skip
    return found.broken is not None


def hunt_deeper(some: list[dict[str, Any]], rows: list[dict[str, Any]], file: Path) -> None:
    """Of each supported repair in some of the rows of a file what a deeper hunt says, which is written there."""
    for row in some:
        for one in row["repairs"]:
            if one["verdict"] != "supported" or BROKEN in one:
                continue
            begun = time.process_time()
            one[BROKEN], one["deeper at"] = deeper(row["id"], one), commit()
            one["deeper cpu"] = round(time.process_time() - begun, 1)
            file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
            print(f"{row['id']}: {one[BROKEN]} {one['deeper cpu']} s | {words(one)}", file=sys.stderr, flush=True)


def commit() -> str:
    """What is checked out here; it ends in ``-dirty`` where files differ from it."""
    asked = ["git", "describe", "--always", "--dirty", "--exclude", "*"]
    return subprocess.run(asked, cwd=Path(__file__).parent, check=True, capture_output=True, text=True).stdout.strip()


def row_of(id: str, amended: list[Claim], seconds: float) -> dict[str, Any]:
    """What came of one claim."""
    begun = time.process_time()
    found = repair(
        catalog.claim(id), seconds=seconds,
        tell=lambda line: print(f"{time.process_time() - begun:6.1f} {line}", file=sys.stderr, flush=True),
    )  # fmt: skip
    taken = time.process_time() - begun

    def judged(one: Repaired) -> dict[str, Any]:
        strong = [hand.id for hand in amended if as_strong(one.claim, hand)]
        return {**one.to_json(), "as strong as": strong, "counts": one.verdict == "proved" or bool(strong)}

    repairs = [judged(one) for one in found.repairs]
    counts = any(one["counts"] for one in repairs)
    row = {"id": id, "commit": commit(), "counts": counts, "severity": found.severity, "cpu": round(taken, 1)}
    return {**row, "repairs": repairs}


def words(one: dict[str, Any]) -> str:
    """What was changed."""
    return "; ".join(edit["words"] for edit in one["edits"])


def _told(row: dict[str, Any]) -> str:
    best = row["repairs"][0] if row["repairs"] else {"edits": [], "verdict": "none"}
    return f"{row['id']}: {row['counts']} {row['severity']} {best['verdict']} {row['cpu']} s | {words(best)}"


def table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """A line for each claim: the repair that counts, or the nearest."""
    yield "| claim | severity | instead | by the check | by a deeper hunt | CPU s | commit | counts |"
    yield "|---|---|---|---|---|---|---|---|"
    for id in by_hand():
        for row in (row for row in rows if row["id"] == id):
            best = next((one for one in row["repairs"] if one["counts"]), next(iter(row["repairs"]), None))
            said = ["not determined", "", "", ""]
            if best is not None:
                edits = "; ".join(f"`{edit['words']}`" for edit in best["edits"])
                said = [best["severity"], edits, best["verdict"], HUNTED[best.get(BROKEN)]]
            cells = [id, *said, f"{row['cpu']:.0f}", row.get("commit", "older"), "yes" if row["counts"] else "no"]
            yield f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the measurement as JSON; each claim is told on stderr, and kept, when it is done."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--deep", action="store_true")
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--markdown", action="store_true")
    given = parser.parse_args()
    only = [name for name in given.only.split(",") if name]
    lines = given.rows.read_text(encoding="utf-8").splitlines() if given.rows.exists() else []
    rows = list(map(json.loads, lines))
    if given.markdown:
        print("\n".join(table(rows)))
        return
    if given.deep:
        hunt_deeper([row for row in rows if row["id"] in (only or [row["id"]])], rows, given.rows)
        return
    with suppress(KeyboardInterrupt):  # what is finished is printed
        hand = by_hand()
        for id in [id for id in only or hand if all(row["id"] != id for row in rows)]:
            rows.append(row_of(id, hand[id], given.seconds))
            with given.rows.open("a", encoding="utf-8") as file:
                print(json.dumps(rows[-1]), file=file)
            print(_told(rows[-1]), file=sys.stderr, flush=True)
    found = [one for row in rows for one in row["repairs"]]
    summary = {
        "seconds": given.seconds,
        "claims": len(rows),
        "repaired": sum(bool(row["repairs"]) for row in rows),
        "as strong or proved": sum(row["counts"] for row in rows),
        "proved": sum(any(one["verdict"] == "proved" for one in row["repairs"]) for row in rows),
        "hunted deeper": sum(one.get(BROKEN) is not None for one in found),
        "broken by it": sum(one.get(BROKEN) is True for one in found),
    }
    print(json.dumps({**summary, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
