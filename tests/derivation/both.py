"""The kernel's answer, which the stand-alone verifier has to give too."""

from collections.abc import Mapping, Sequence
from typing import Any

from theory import derivation
from theory.claim import Claim
from theory.derivation import Checked, NotProvedError
from validate.certificate.derivation import derivation_certificate
from validate.verifier.derivation import verify_derivation
from validate.verifier.reading import FormatError


def verified(claim: Claim, lines: Sequence[Mapping[str, Any]] | None = None) -> bool:
    """Whether the verifier accepts a derivation."""
    written = claim.proof if lines is None else lines
    try:
        return verify_derivation(derivation_certificate(claim, derivation.lines(claim, written))).valid
    except (FormatError, NotProvedError):
        return False


def check(claim: Claim, lines: Sequence[Mapping[str, Any]] | None = None) -> Checked:
    """`theory.derivation.check`, and that the verifier agrees.

    Raises:
        NotProvedError: where neither accepts it.
        AssertionError: where one does, and the other does not.
    """
    try:
        found = derivation.check(claim, lines)
    except NotProvedError as error:
        if verified(claim, lines):
            raise AssertionError(f"the verifier accepts what the kernel does not: {error}") from None
        raise
    assert verified(claim, lines), f"the verifier does not accept {claim.statement}"
    return found


def accepted(claim: Claim, lines: Sequence[Mapping[str, Any]]) -> bool:
    """Whether kernel and verifier accept a derivation, on which they have to agree."""
    try:
        check(claim, lines)
    except NotProvedError:
        return False
    return True


def by_kernel(claim: Claim, lines: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the kernel accepts a derivation; the verifier is not asked."""
    try:
        derivation.check(claim, lines)
    except NotProvedError:
        return False
    return True
