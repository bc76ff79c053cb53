"""A derivation that is searched for, and accepted by the kernel and by the stand-alone verifier."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from theory.claim import Claim
from validate import certificate as certificates
from validate.certificate.derivation import derivation_certificate

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Shown:
    """A derivation that kernel and verifier accept.

    Attributes:
        hypotheses: what it rests on.
        lines: how many it has.
        certificate: of kind "derivation".
    """

    hypotheses: tuple[str, ...]
    lines: int
    certificate: Any


def shown(claim: Claim, units: int) -> Shown | None:
    """A derivation of a claim that the search finds, and kernel and verifier accept; None where there is none."""
    from theory.derivation import NotProvedError, check, lines
    from theory.derivation.search.searching import search

    try:
        proof = search(claim, units).lines
        if proof is None:
            return None
        checked = check(claim, proof)
        made = derivation_certificate(claim, lines(claim, [dict(line) for line in proof]))
        if checked.citations or not certificates.verified(made).valid:
            return None
    except (ValueError, ArithmeticError, RecursionError, NotProvedError) as error:  # beyond what is read
        log.debug("%s: %s", claim.statement, error)
        return None
    return Shown(tuple(checked.hypotheses), len(checked.lines), made)
