"""Certificates that the verifier accepts, confirmed by code that it does not use: `tests.validate.plays`."""

from tests.fuzz.statements import Certificate, told
from tests.validate import plays


def confirmed(certificate: Certificate) -> bool:
    """That an accepted certificate is true, by brute force over all outcomes.

    Raises:
        AssertionError: when it is not true.
    """
    told(certificate)
    assert plays.recomputed(certificate), certificate
    return True
