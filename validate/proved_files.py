"""Derivations that the kernel accepts, written to files and put to the stand-alone verifier."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from validate import certificate as certificates
from validate.verdict import Evidence

log = logging.getLogger(__name__)


def with_file(evidence: Sequence[Evidence], out: Path) -> tuple[list[Evidence], str | None]:
    """Evidence, and the path of the file of its derivation; None where it has none.

    What the verifier does not accept, with code of its own, is undecided: one of the two must be wrong.

    Args:
        evidence: of `validate.proving`.
        out: the file goes to its subdirectory ``derivations``, with the verifier.
    """
    found, path = [], None
    for item in evidence:
        made = (item.data or {}).get("derivation") if item.outcome == "proved" else None
        if made is not None:
            try:
                path = str(certificates.write(made, out / "derivations"))
            except certificates.FormatError as error:
                log.debug("%s: its derivation was not re-checked: %s", made["claim"], error)
                item = replace(item, detail=f"{item.detail}; the stand-alone verifier does not read it: {error}")
            except ValueError as error:
                text = f"the kernel accepts its derivation, and the stand-alone verifier does not: {error}"
                item = replace(item, outcome="undecided", detail=text)
        found.append(item)
    return found, path
