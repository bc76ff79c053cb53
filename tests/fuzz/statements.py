"""What a changed certificate says: its values set right again, and its claim held against the catalogue."""

import re
from collections.abc import Sequence
from typing import Any

Certificate = dict[str, Any]

_PRINTED = re.compile(r"FAIL  the (left|right) side(?: in one outcome)? is (-?[0-9/]+), not as printed")


def with_computed_values(certificate: Certificate, lines: Sequence[str]) -> Certificate | None:
    """The certificate with the sides that the verifier computed in place of the printed ones.

    So a change of the instance gives a certificate of another instance, which is accepted if it refutes the claim.
    None when nothing else than printed sides is what fails.
    """
    printed = [match for line in lines if (match := _PRINTED.fullmatch(line))]
    return {**certificate, **{match[1]: match[2] for match in printed}} if printed else None


def told(certificate: Certificate) -> None:
    """That a claim of the catalogue is stated as the catalogue states it, or `differences` tells.

    Raises:
        AssertionError: otherwise.
    """
    from theory import catalog
    from validate.certificate import differences

    try:
        claim = catalog.claim(certificate["claim"])
    except ValueError:
        return
    assert differences(certificate, claim) or _says_the_same(certificate, claim), (
        "another claim than the catalogue's, and nobody tells"
    )


def _says_the_same(certificate: Certificate, claim: Any) -> bool:
    assumed = [one["text"] for one in certificate["assumptions"]] + certificate["relations"]
    given = certificate["statement"], certificate["definitions"], sorted(assumed)
    return given == (claim.statement, dict(claim.where), sorted((*claim.assuming, *claim.standing)))
