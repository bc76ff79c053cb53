"""Derivations as files: the claim as its author wrote it, and the lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from theory.claim import Claim
from theory.derivation import lines as lines_of
from validate import verifier
from validate.certificate.exact_text import Certificate
from validate.certificate.play import said


def derivation_certificate(claim: Claim, lines: Sequence[Mapping[str, Any]]) -> Certificate:
    """A certificate of kind ``"derivation"``; the verifier decides it with code of its own.

    Args:
        claim: as its author wrote it; all that it says is copied.
        lines: as `theory.derivation.lines` gives them.
    """
    found: Certificate = {"format": verifier.FORMAT, "kind": "derivation", **said(claim), "lines": plain(lines)}
    if claim.vectors:
        found["vectors"] = list(claim.vectors)
    return found


def plain(data: Any) -> Any:
    """Lines as JSON has them: lists for tuples, dictionaries for mappings, a file for another claim's derivation."""
    if isinstance(data, Claim):
        return derivation_certificate(data, lines_of(data, data.proof))
    if isinstance(data, Mapping):
        return {str(key): plain(value) for key, value in data.items()}
    if isinstance(data, Sequence) and not isinstance(data, str):
        return [plain(value) for value in data]
    return data
