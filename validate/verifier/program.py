"""Which kind a certificate is of, and the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from .chain import verify_chain
from .checks import Report
from .claimed import contradictions, metadata, plain, printed
from .finite import verify_finite
from .fixed_point import verify_fixed_point
from .gram import verify_vectors
from .instance import verify_instance
from .mixing import verify_mixing
from .open_adam import verify_open_adam
from .order import verify_order
from .permutations import verify_permutations
from .play import verify_play
from .products import verify_products
from .reading import FORMATS, FormatError, load, shown
from .relation import verify_relation
from .unrolled import verify_unrolled

KINDS: dict[str, Callable[[dict[str, Any]], Report]] = {
    "instance": verify_instance,
    "fixed-point": verify_fixed_point,
    "order": verify_order,
    "chain": verify_chain,
    "finite": verify_finite,
    "open-adam": verify_open_adam,
    "mixing": verify_mixing,
    "permutations": verify_permutations,
    "unrolled": verify_unrolled,
    "products": verify_products,
    "relation": verify_relation,
    "play": verify_play,
    "vectors": verify_vectors,
}


def verify(certificate: Any) -> Report:
    """Checks a certificate that was read from JSON.

    Raises:
        FormatError: (a ValueError) when it is malformed or too large to be checked.
    """
    if not isinstance(certificate, dict):
        raise FormatError(f"the certificate is not an object: {shown(certificate)}")
    if certificate.get("format") not in FORMATS:
        raise FormatError(f"format={shown(certificate.get('format'))} is none of {list(FORMATS)}")
    kind = certificate.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise FormatError(f"kind={shown(kind)} is none of {list(KINDS)}")
    metadata(certificate)
    if kind == "play":  # it prints the claim itself
        return verify_play(certificate)
    report = KINDS[kind](plain(certificate))
    wrong = tuple(f"FAIL  {text}" for text in contradictions(certificate))
    return Report(report.valid and not wrong, (*report.lines, *wrong), printed(certificate))


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
