"""The kernel's word on what was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from theory.claim import Claim


def accepted(claim: Claim, lines: Sequence[Mapping[str, Any]]) -> str | None:
    """None where the kernel accepts the lines as a derivation of the claim, else why not."""
    from theory.derivation.kernel import NotProvedError, check

    try:
        check(claim, lines)
    except NotProvedError as error:
        return str(error)
    return None
