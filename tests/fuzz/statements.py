"""What a changed certificate says: its values set right again, and its claim held against the catalogue."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

Certificate = dict[str, Any]

_PRINTED = re.compile(r"FAIL  (left_value|right_value|squared_gradient_norm|theta) is (-?[0-9./]+), not .* as printed")
_PARAMETER = re.compile(r"FAIL  parameter (\w+) = \S+ (?:=|<=|>=) (-?[0-9/]+), from the instance")


def with_computed_values(certificate: Certificate, lines: Sequence[str]) -> Certificate | None:
    """The certificate with the values that the verifier computed in place of the printed ones.

    So a change of the instance gives a certificate of another instance, which is accepted if it refutes the claim.
    None when nothing else than printed values is what fails.
    """
    failed = [line for line in lines if line.startswith("FAIL")]
    found = dict(certificate)
    found["parameters"] = dict(found.get("parameters", {}))
    known = False
    for line in failed:
        if printed := _PRINTED.fullmatch(line):
            found[printed[1]], known = printed[2], True
        elif parameter := _PARAMETER.fullmatch(line):
            found["parameters"][parameter[1]], known = parameter[2], True
    if "parameters" not in certificate:
        del found["parameters"]
    return found if known else None


def told(certificate: Certificate) -> None:
    """That a claim of the catalogue is stated as the catalogue states it, or `differences` tells.

    Raises:
        AssertionError: otherwise.
    """
    from theory import catalog
    from theory.written import Claim
    from validate.certificate import differences

    try:
        claim = catalog.claim(certificate["claim"])
    except ValueError:
        return
    found = differences(certificate, claim)
    if isinstance(claim, Claim):  # of which only what is played says as much as it does
        assert found or _says_the_same(certificate, claim), "another claim than the catalogue's, and nobody tells"
        return
    same = certificate["statement"] == claim.statement
    if "right" in certificate:
        same = same and certificate["right"] == claim.right
        same = same and certificate.get("definitions") == dict(claim.definitions)
    if "relation" in certificate:
        same = same and certificate["relation"] == claim.relation
    printed = {h.name: h.relation for h in claim.hypotheses if h.printed}
    listed = [(h["name"], h["relation"]) for h in certificate["hypotheses"]]
    same = same and all(pair in listed for pair in printed.items())
    assert same or found, "another claim than the catalogue's, and nobody tells"


def _says_the_same(certificate: Certificate, claim: Any) -> bool:
    if certificate["kind"] != "play":
        return False
    assumed = [one["text"] for one in certificate["assumptions"]] + certificate["relations"]
    given = certificate["statement"], certificate["definitions"], sorted(assumed)
    return given == (claim.statement, dict(claim.where), sorted((*claim.assuming, *claim.standing)))
