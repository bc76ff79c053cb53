"""Derivations that the kernel accepts, put to the stand-alone verifier: only what both accept is proved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from validate import certificate as certificates
from validate.certificate.exact_text import failures
from validate.verdict import Evidence, refused


def agreed(item: Evidence) -> Evidence:
    """Evidence with a derivation, which the verifier accepts too; what it rejects, or does not read, is undecided."""
    made = (item.data or {}).get("derivation") if item.outcome == "proved" else None
    if made is None:
        return item
    try:
        report = certificates.verified(made)
    except ValueError as error:
        return _without_word(item, f"it does not read it: {error}")
    if not report.valid:
        return _without_word(item, failures(report))
    return item


def _without_word(item: Evidence, why: str) -> Evidence:
    return refused(
        item.origin, f" by the stand-alone verifier, while the kernel accepts it: {why}", "verifier", why=why
    )


def with_file(evidence: Sequence[Evidence], out: Path) -> tuple[list[Evidence], str | None]:
    """Evidence, and the path of the file of its derivation; None where it has none.

    What the verifier does not accept, with code of its own, is undecided: one of the two must be wrong, or it is not
    read by both.

    Args:
        evidence: of `validate.proving`.
        out: the file goes to its subdirectory ``derivations``, with the verifier.
    """
    found, path = [], None
    for item in map(agreed, evidence):
        made = (item.data or {}).get("derivation") if item.outcome == "proved" else None
        if made is not None:
            path = str(certificates.write(made, out / "derivations"))
        found.append(item)
    return found, path
