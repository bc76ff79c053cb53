"""How much the catalogue's refutations matter: the nearest repair of each, kept in validate/severities.json.

    python -m benchmarks.severities [--seconds 60] [--only ID,...]
    python -m benchmarks.severities --markdown

Each claim that the tables in tests/catalogue call refuted is put to the search for a repair, with so many seconds of
CPU; without --only those that have no row, or had another text when theirs was written. The file is written after each
claim, so that what is interrupted is gone on with. --markdown prints the table of docs/found.md from the file.
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
from validate.severity import KEPT, NOT_DETERMINED, Kept, kept, severity_of

VERDICTS = Path(__file__).parent.parent / "tests" / "catalogue"
PAPERS = ("fedavg-svrg", "open-fl", "perm", "fedmim")


def refuted() -> list[str]:
    """The claims that the tables of verdicts call refuted, in their order."""
    rows = [json.loads((VERDICTS / f"{name}.json").read_text(encoding="utf-8")) for name in ("claims", "landmarks")]
    return [row["id"] for some in rows for row in some if row["verdict"] == "refuted"]


def write(rows: dict[str, Kept]) -> None:
    """Keep rows, in the order of the tables."""
    lines = [json.dumps(rows[id].to_json()) for id in refuted() if id in rows]
    KEPT.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def counts() -> Iterator[str]:
    """A table of how many claims of each of the four papers have which severity."""
    words = ("misprint", "lost constant", "lost hypothesis", "false", NOT_DETERMINED)
    yield f"| | {' | '.join(words)} |"
    yield "|---" * (len(words) + 1) + "|"
    for paper in PAPERS:
        own = [severity_of(catalog.claim(id)) for id in refuted() if id.startswith(f"{paper}/")]
        found = Counter(NOT_DETERMINED if one is None else one.severity or NOT_DETERMINED for one in own)
        yield f"| {paper} | {' | '.join(str(found[word]) for word in words)} |"


def table() -> Iterator[str]:
    """A line for each false claim of the four papers."""
    yield "| claim | severity | instead | which is |"
    yield "|---|---|---|---|"
    for id in refuted():
        one = severity_of(catalog.claim(id))
        if id.split("/")[0] in PAPERS:
            cells = (NOT_DETERMINED, "", "")
            if one is not None and one.severity is not None:
                cells = (one.severity, f"`{one.instead}`", one.word)
            yield f"| {id} | {' | '.join(cells)} |"


def main() -> None:
    """Search, and keep; or print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--markdown", action="store_true")
    given = parser.parse_args()
    if given.markdown:
        print("\n".join([*counts(), "", *table()]))
        return
    only = [name for name in given.only.split(",") if name]
    rows = dict(kept())
    for id in only or [id for id in refuted() if severity_of(catalog.claim(id)) is None]:
        rows[id] = Kept.of(repair(catalog.claim(id), seconds=given.seconds), given.seconds)
        write(rows)
        print(f"{id}: {rows[id].line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
