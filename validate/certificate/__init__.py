"""Certificates: a claim refuted by an instance in exact rationals, as JSON that a stand-alone program re-checks.

This layer only writes down what its caller found; `validate.verifier` decides whether it is true, with code of its
own. The caller's own values are printed in the certificate, so that a certificate is valid only if both agree to the
last digit.
"""

from validate.certificate.derivation import derivation_certificate
from validate.certificate.exact_text import as_text
from validate.certificate.files import copy_verifier, read, verified, verify, write
from validate.certificate.play import differences, play_certificate

__all__ = [
    "as_text",
    "copy_verifier",
    "derivation_certificate",
    "differences",
    "play_certificate",
    "read",
    "verified",
    "verify",
    "write",
]
