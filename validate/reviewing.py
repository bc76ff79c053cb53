"""A review of papers in Markdown: a sheet for each refutation (`validate.report.sheet`), and what is left open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from validate.counted import counted
from validate.report.readable import called
from validate.report.sheet import markdown, sheet, verdict_on
from validate.report.summary import OTHERS, SAID

if TYPE_CHECKING:
    from theory.claim import Claim, Paper
    from validate.verdict import Result

MARK = "<!-- a review by fedproof -->"
"""The first line; a file without it is somebody's."""


def review(papers: Sequence[Paper], results: Mapping[str, Result], quick: bool) -> str:
    """The review of papers as Markdown.

    Args:
        papers: in the order of the review.
        results: verdicts by id, with certificates where they refute (`validate.check`).
        quick: whether the check was quick.
    """
    lines = [MARK, ""]
    for paper in papers:
        claims = [claim for claim in paper if claim.amends is None and claim.id in results]
        readings = [claim for claim in claims if "/" in claim.label]
        printed = [claim for claim in claims if claim not in readings]
        lines += [f"# {paper.title}", "", f"{paper.authors}", ""]
        how = "quick" if quick else "full"
        lines += [f"By a {how} check, of {counted(len(printed), 'result')} {_told(printed, results, SAID)}."]
        lines += (
            [f"Of {counted(len(readings), 'reading')} of them {_told(readings, results, OTHERS)}."] if readings else []
        )
        lines.append("")
        for claim in claims:
            if verdict_on(results, claim) == "refuted":
                lines += [markdown(sheet(claim, paper, results)), ""]
        for word in ("vacuous", "undecided"):
            left = [claim for claim in claims if verdict_on(results, claim) == word]
            if left:
                lines += [f"## {word.capitalize()}", ""]
                lines += [f"- {called(c)}: {results[c.id].telling or 'said in words alone'}" for c in left]
                lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _told(claims: Sequence[Claim], results: Mapping[str, Result], words: Mapping[str, tuple[str, str]]) -> str:
    """How many claims have which verdict."""
    counts = Counter(verdict_on(results, claim) for claim in claims)
    return ", ".join(f"{counts[word]} {words[word][counts[word] > 1]}" for word in words if counts[word])
