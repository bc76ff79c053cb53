"""What a report found, counted in a few sentences."""

from __future__ import annotations

from collections.abc import Sequence

from validate.report.claim import ClaimView
from validate.report.views import ORDER, PaperView

# How many claims of a verdict there are, in words: one, and several.
SAID = {
    "refuted": ("is false as printed", "are false as printed"),
    "vacuous": ("can never be applied", "can never be applied"),
    "undecided": ("could not be decided", "could not be decided"),
    "supported": ("was never broken where it could have been", "were never broken where they could have been"),
    "proved": ("is proved", "are proved"),
}
MEMORY = SAID | {"refuted": ("is false as transcribed", "are false as transcribed")}
OTHERS = SAID | {"refuted": ("is false", "are false")}


def in_words(views: Sequence[PaperView]) -> str:
    """The verdicts on papers as one paragraph: the results as printed, then readings and repairs.

    Example:
        >>> in_words([])
        'No results.'
    """
    printed = [c for view in views for c in view.printed]
    if not printed:
        return "No results."
    who = f"{len(views)} papers print" if len(views) > 1 else "the paper prints"
    many = "the 1 result" if len(printed) == 1 else f"{len(printed)} results"
    said = f"Of {many} that {who}, {tallied(printed, SAID)}."
    memory = [c for c in printed if c.from_memory]
    if memory:  # what is not known to be printed is not called false as printed
        known = [c for c in printed if not c.from_memory]
        where = f"{len(views)} papers" if len(views) > 1 else "the paper"
        said = f"Of {many} of {where}, {tallied(known, SAID)}; of {len(memory)} from memory {tallied(memory, MEMORY)}."
    sure = any(c.claim.sure for c in printed)
    reading = ("1 reading of printed claims, in a case", "readings of printed claims, in cases")
    for version, one, several in (
        ("reading", *(("1 part or reading of them", "parts or readings of them") if sure else reading)),
        ("repair", "1 repair", "repairs"),
    ):
        found = [c for view in views for c in view.claims if c.version == version]
        if found:
            what = one if len(found) == 1 else f"{len(found)} {several}"
            where = " that their text does not exclude" if version == "reading" and not sure else ""
            said += f" {what}{where}: {tallied(found, OTHERS)}."
    return said


def tallied(claims: Sequence[ClaimView], words: dict[str, tuple[str, str]] = SAID) -> str:
    """How many claims have which verdict, the worst first: "2 are false as printed, 1 is proved"."""
    counts = {name: sum(c.verdict == name for c in claims) for name in ORDER}
    said = {name: f"{times} {words[name][times > 1]}" for name, times in counts.items() if times}
    broken = sum(c.broken for c in claims)
    without = sum(c.verdict == "undecided" and not c.claim.has_sentence for c in claims)
    if without:
        said["undecided"] += f" ({without} of them said in words alone)"
    if broken:
        said["undecided"] += f" ({broken} of them broken, without a certificate)"
    return ", ".join(said.values())
