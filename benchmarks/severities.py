"""How much the catalogue's refutations matter: the nearest repair of each, kept in validate/severities.json.

    python -m benchmarks.severities [--seconds 60] [--only ID,...]
    python -m benchmarks.severities --measured REPAIRS.jsonl [--seconds 60]
    python -m benchmarks.severities --markdown

Each claim that the tables in tests/catalogue call refuted is put to the search for a repair, with so many seconds of
CPU; without --only those that have no row, or had another text when theirs was written. The file is written after each
claim, so that what is interrupted is gone on with. --measured takes the rows that ``python -m benchmarks.repairs``
keeps, with so many seconds each, in place of a search. --markdown prints the tables of README and of docs/found.md
from the file.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from theory import catalog
from validate.repairs import repair
from validate.severity import KEPT, MEANING, NOT_DETERMINED, Kept, kept, severity_of, text_of

VERDICTS = Path(__file__).parent.parent / "tests" / "catalogue"
NOT_SEARCHED = "not searched"
PAPERS = ("fedavg-svrg", "open-fl", "perm", "fedmim")


def refuted() -> list[str]:
    """The claims that the tables of verdicts call refuted, in their order."""
    rows = [json.loads((VERDICTS / f"{name}.json").read_text(encoding="utf-8")) for name in ("claims", "landmarks")]
    return [row["id"] for some in rows for row in some if row["verdict"] == "refuted"]


def measured(text: str, seconds: float) -> Iterator[Kept]:
    """Rows of `benchmarks.repairs`, one a line."""
    for row in map(json.loads, text.splitlines()):
        claim = catalog.claim(row["id"])
        best = next(iter(row["repairs"]), None)
        words = "" if best is None else "; ".join(edit["words"] for edit in best["edits"])
        yield Kept(claim.id, text_of(claim), row["severity"], words, "" if best is None else best["verdict"], seconds)


def write(rows: dict[str, Kept]) -> None:
    """Keep rows, in the order of the tables."""
    lines = [json.dumps(rows[id].to_json()) for id in refuted() if id in rows]
    KEPT.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def summary() -> str:
    """How many claims of the four papers have which severity, in a line."""
    own = [severity_of(catalog.claim(id)) for id in refuted() if id.split("/")[0] in PAPERS]
    found = Counter(NOT_SEARCHED if one is None else one.severity or NOT_DETERMINED for one in own)
    return ", ".join(f"{word} {found[word]}" for word in (*MEANING, NOT_DETERMINED, NOT_SEARCHED) if found[word])


def table() -> Iterator[str]:
    """A line for each false claim of the four papers that a search was made for."""
    yield "| claim | severity | instead | which is |"
    yield "|---|---|---|---|"
    for id in refuted():
        one = severity_of(catalog.claim(id))
        if one is not None and id.split("/")[0] in PAPERS:
            instead = f"`{one.instead}`" if one.instead else ""
            yield f"| {id} | {one.severity or NOT_DETERMINED} | {instead} | {one.word} |"


def main() -> None:
    """Search, and keep; or print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--measured", type=Path)
    parser.add_argument("--markdown", action="store_true")
    given = parser.parse_args()
    if given.markdown:
        print("\n".join([summary(), "", *table()]))
        return
    only = [name for name in given.only.split(",") if name]
    rows = dict(kept())
    if given.measured is not None:
        write(rows | {one.id: one for one in measured(given.measured.read_text(encoding="utf-8"), given.seconds)})
        return
    for id in only or [id for id in refuted() if severity_of(catalog.claim(id)) is None]:
        rows[id] = Kept.of(repair(catalog.claim(id), seconds=given.seconds), given.seconds)
        write(rows)
        print(f"{id}: {rows[id].line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
