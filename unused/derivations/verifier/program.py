"""What a certificate has to be, and the command line."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from .checks import Report
from .derivation import verify_derivation
from .play import verify_play
from .reading import FORMAT, FormatError, load, shown

KINDS = {"play": verify_play, "derivation": verify_derivation}


def verify(certificate: Any) -> Report:
    """Checks a certificate that was read from JSON.

    Raises:
        FormatError: (a ValueError) when it is malformed or too large to be checked.
    """
    if not isinstance(certificate, dict):
        raise FormatError(f"the certificate is not an object: {shown(certificate)}")
    if certificate.get("format") != FORMAT:
        raise FormatError(f"format={shown(certificate.get('format'))} is not {FORMAT}")
    kind = certificate.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise FormatError(f"kind={shown(kind)} is none of {list(KINDS)}")
    return KINDS[kind](certificate)


def main(arguments: Sequence[str]) -> int:
    """Checks files and prints what it found; returns the worst exit status."""
    if not arguments or any(path.startswith("-") for path in arguments):
        print("usage: python verify.py CERTIFICATE.json ...", file=sys.stderr)
        return 2
    worst = 0
    for path in arguments:
        if len(arguments) > 1:
            print(f"{shown(path)}:")
        try:
            report = verify(load(path))
        except FormatError as reason:
            print(f"malformed: {reason}", file=sys.stderr)
            worst = 2
            continue
        print(report)
        worst = max(worst, 0 if report.valid else 1)
    return worst
