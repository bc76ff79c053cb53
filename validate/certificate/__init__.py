"""Certificates: a claim refuted by an instance in exact rationals, as JSON that a stand-alone program re-checks.

This layer only writes down what its caller found; `validate.verifier` decides whether it is true, with code of its
own. The caller's own values (exact ones from `sim.exact` and `theory.evaluate`) are printed in the certificate, so
that a certificate is valid only if the oracle and the verifier agree to the last digit.
"""

from validate.certificate.files import copy_verifier, differences, read, record, verify, write
from validate.certificate.mixing import mixing_certificate
from validate.certificate.open_systems import chain_certificate, finite_certificate, open_adam_certificate
from validate.certificate.parts import Certificate, Number, as_decimal, as_text
from validate.certificate.play import play_certificate
from validate.certificate.relation import relation_certificate
from validate.certificate.rounds import fixed_point_certificate, instance_certificate, order_certificate
from validate.certificate.shuffling import permutations_certificate, products_certificate, unrolled_certificate
from validate.certificate.vectors import vectors_certificate
from validate.verifier import FormatError, Report

__all__ = [
    "Certificate",
    "FormatError",
    "Number",
    "Report",
    "as_decimal",
    "as_text",
    "chain_certificate",
    "copy_verifier",
    "differences",
    "finite_certificate",
    "fixed_point_certificate",
    "instance_certificate",
    "mixing_certificate",
    "open_adam_certificate",
    "order_certificate",
    "permutations_certificate",
    "play_certificate",
    "products_certificate",
    "read",
    "record",
    "relation_certificate",
    "unrolled_certificate",
    "vectors_certificate",
    "verify",
    "write",
]
