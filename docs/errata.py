"""The page on the landmark theorems, from what a check says of them.

    fedproof check landmarks --quick --json > CHECK.json
    python docs/errata.py CHECK.json

Keeps of the check what the page has, in tests/catalogue/landmarks.json, and writes landmarks.md from it.
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from theory import catalog
from theory.claim import Claim
from validate.severity import severity_of
from validate.verdict import KNOWN

HERE = Path(__file__).parent
KEPT = HERE.parent / "tests" / "catalogue" / "landmarks.json"
VERDICTS = ("proved", "supported", "refuted", "undecided")
ABOUT = """# Landmark theorems

What people cite of federated, distributed and stochastic optimisation, as printed, and what
`fedproof check landmarks --quick` says of it. `theory/landmarks` has one file a paper. This page
is made from such a check by [docs/errata.py](errata.py). `fedproof report landmarks` draws it with typeset bounds, both
sides on the nearest instance, and a map of what rests on what.

A label with a slash is a part, a reading or a repair of the result before the slash. How a text is known stands beside
it:
"""
FALSE = """
## False as printed

Each on an instance in fractions that satisfies every hypothesis and that the stand-alone verifier has computed again.
Where it says so, it is a part or a reading of the printed result that is false.
"""
MEMORY = """
## False as transcribed

These texts are from memory, in part at least: the error may be the transcription's, and is not called the paper's.
"""


def kept(check: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What the page has of a check: of each claim the verdict, and what breaks it."""
    found = []
    for one in check:
        broken = next((e["detail"] for e in one["evidence"] if e["outcome"] == "refuted"), None)
        if broken is not None:
            broken = broken.removeprefix("an exact instance breaks it: ").removesuffix(
                "; the stand-alone verifier agrees"
            )
        found.append({"id": one["id"], "verdict": one["verdict"], "tightness": one["tightness"], "break": broken})
    return found


def page(said: Sequence[Mapping[str, Any]]) -> str:
    """The page."""
    by_id = {one["id"]: one for one in said}
    known = ", ".join(f"{name} ({words})" for name, words in KNOWN.items())
    text = ABOUT + "\n" + textwrap.fill(known + ".", 120) + "\n\n" + _table(by_id)
    refuted = [c for c in catalog.claims("landmarks") if by_id[c.id]["verdict"] == "refuted"]
    for heading, memory in ((FALSE, False), (MEMORY, True)):
        text += heading + "".join(_entry(c, by_id) for c in refuted if (c.sure == "memory") is memory)
    text += "\n## Proved\n\nFor all values that their hypotheses allow: kernel and verifier accept the derivation.\n\n"
    return text + "".join(
        f"- `{c.id}`: {c.title}\n" for c in catalog.claims("landmarks") if by_id[c.id]["verdict"] == "proved"
    )


def _table(by_id: Mapping[str, Mapping[str, Any]]) -> str:
    """By family, how many results and parts have which verdict."""
    lines = [f"| family | papers | {' | '.join(VERDICTS)} |", "|---|---|" + "---|" * len(VERDICTS)]
    papers = catalog.papers("landmarks")
    for family in dict.fromkeys(p.family for p in papers):
        some = [p for p in papers if p.family == family]
        counts = Counter(by_id[c.id]["verdict"] for p in some for c in p)
        names = ", ".join(p.name for p in some)
        lines.append(f"| {family} | {names} | {' | '.join(str(counts[name]) for name in VERDICTS)} |")
    counts = Counter(one["verdict"] for one in by_id.values())
    lines.append(f"| together | {len(papers)} | {' | '.join(str(counts[name]) for name in VERDICTS)} |")
    return "\n".join(lines) + "\n"


def _entry(claim: Claim, by_id: Mapping[str, Mapping[str, Any]]) -> str:
    """A false result: what it says, the instance, and what is repaired."""
    repairs = [c for c in catalog.paper(claim.paper) if c.amended == claim.id]
    text = f"\n### `{claim.id}`\n\n{claim.source}: {claim.title} ({claim.sure}).\n\n"
    text += "A part or a reading of the printed result.\n\n" if "/" in claim.label else ""
    text += f"    {claim.statement}\n\n"
    text += (
        textwrap.fill(f"Broken: {by_id[claim.id]['break']}.", 120, break_long_words=False, break_on_hyphens=False)
        + "\n"
    )
    matters = severity_of(claim)
    if matters is not None:
        line = f"How much it matters: {matters.line}."
        text += "\n" + textwrap.fill(line, 120, break_long_words=False, break_on_hyphens=False) + "\n"
    for one in repairs:
        text += f"\nRepair, {by_id[one.id]['verdict']}: `{one.id}`, {one.title}.\n"
        if one.statement != claim.statement:
            text += f"\n    {one.statement}\n"
    return text


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python docs/errata.py CHECK.json, as `fedproof check landmarks --quick --json` prints it")
    content = kept(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    KEPT.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    (HERE / "landmarks.md").write_text(page(content), encoding="utf-8")
