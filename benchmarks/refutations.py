"""How each refuted claim of the papers is refuted: by what kind of instance, after how many, and in how much time.

Each claim is checked by itself, as `fedproof check` does. A line has its verdict, the origin of the instance and the
stage of the hunt in which it was met, how many instances had been tried by then, and CPU seconds of the whole check.

    python -m benchmarks.refutations [--full] [--markdown] [--before FILE] [--json FILE] [PAPER or CLAIM ...]

With ``--before``, a JSON file of an earlier `fedproof check --json`, the origins of what was refuted there stand in a
column of their own, and of whole papers only that is checked.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from theory import catalog
from theory.claim import Claim
from validate.examine import examine
from validate.instances import tried

PAPERS = ("fedavg-svrg", "fedmim", "open-fl", "perm")


@dataclass(frozen=True)
class Line:
    """How a check of one claim went.

    Attributes:
        id: of the claim.
        verdict: the word.
        origin: of the instance that refutes it; empty where none does.
        stage: of the hunt, in which it was met.
        tried: instances tried before it, or in all where none refutes the claim.
        seconds: of CPU.
        detail: the evidence that decided.
    """

    id: str
    verdict: str
    origin: str
    stage: str
    tried: int
    seconds: float
    detail: str


def claims_of(names: Sequence[str]) -> Iterator[Claim]:
    """The claims of these papers that have a sentence, or these claims."""
    for name in names:
        paper, _, label = name.partition("/")
        for one in catalog.claims(paper):
            if isinstance(one, Claim) and one.has_sentence and label in ("", one.label):
                yield one


def checked(claim: Claim, quick: bool) -> Line:
    """A check of one claim."""
    before, start = tried.instances(), time.process_time()
    with tempfile.TemporaryDirectory() as out:
        result = examine(claim, quick=quick, out=out)
    seconds = round(time.process_time() - start, 1)
    decided = next((e for e in result.evidence if e.outcome in ("refuted", "vacuous", "fails")), None)
    data = (decided.data if decided is not None else None) or {}
    count = int(data.get("tried", tried.instances() - before))
    origin = "" if decided is None else decided.origin
    detail = "" if decided is None else decided.detail
    return Line(claim.id, result.verdict, origin, str(data.get("stage", "")), count, seconds, detail)


def refuted_before(file: Path) -> Mapping[str, str]:
    """By the id of each claim that was refuted, the origin of what refuted it."""
    found = {}
    for one in json.loads(file.read_text()):
        if one["verdict"] == "refuted":
            origins = [e["origin"] for e in one["evidence"] if e["outcome"] == "refuted"]
            found[one["id"]] = origins[0] if origins else ""
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=PAPERS, help="papers, or claims")
    parser.add_argument("--full", action="store_true", help="full checks instead of quick ones")
    parser.add_argument("--markdown", action="store_true", help="a table in Markdown, the most instances first")
    parser.add_argument("--before", type=Path, help="an earlier JSON")
    parser.add_argument("--json", type=Path, help="where to write the lines")
    given = parser.parse_args()
    before = None if given.before is None else refuted_before(given.before)
    lines = []
    for one in claims_of(given.names):
        if before is not None and one.id not in before and one.id not in given.names:
            continue
        line = checked(one, not given.full)
        lines.append(line)
        if not given.markdown:
            print(
                f"{line.id:<50} {line.verdict:<10} {line.origin:<10} {line.tried:>7} {line.seconds:>7}  {line.stage}",
                flush=True,
            )
    if given.markdown:
        print("| claim | verdict | origin | met in | instances | CPU s | before |\n|---|---|---|---|---|---|---|")
        for line in sorted(lines, key=lambda one: -one.tried):
            was = "" if before is None else before.get(line.id, "")
            cells = (line.id, line.verdict, line.origin, line.stage, line.tried, line.seconds, was)
            print(f"| {' | '.join(map(str, cells))} |")
    if given.json is not None:
        given.json.write_text(json.dumps([asdict(line) for line in lines], indent=1))


if __name__ == "__main__":
    main()
