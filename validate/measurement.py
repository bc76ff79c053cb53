"""One claim on one instance: both its sides, and the certificate where it is broken.

This module imports the standard library alone, so that `import validate` costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from theory.claim import Claim
    from validate.instances import Instance
    from validate.instances.pool import Drawn
    from validate.sides import Sides


def measure(claim: Claim | str, instance: Instance | Drawn | Mapping[str, Any] | str) -> Sides:
    """Both sides of a claim on an instance that satisfies its hypotheses, at every index of which it speaks.

    Args:
        claim: a claim that is a sentence, its id, or ``my_paper.py:label`` for one in a file, which is run.
        instance: one, or its JSON form (`validate.instances.occasion.occasion`).

    Returns:
        Left and right side, index and parameters, in Fractions; where there are too many outcomes to be played, the
        Fractions of moments in float64.

    Raises:
        ValueError: when the claim does not speak of the instance, or a hypothesis is violated, which it names; for a
            claim that is not known, or is no sentence.
        OSError: for a file that cannot be read.
    """
    from validate.instances.occasion import occasion

    one = occasion(sentence_of(claim), instance)
    if one.unmet:
        raise ValueError(f"{one.claim.id}: the instance violates {', '.join(map(repr, one.unmet))}")
    return one.sides()


def certify(claim: Claim | str, instance: Instance | Drawn | Mapping[str, Any] | str, out: str | Path) -> Path:
    """The certificate of an instance that breaks a claim, with the stand-alone verifier beside it.

    Args:
        claim: as in `measure`.
        instance: as in `measure`.
        out: the folder; made if need be.

    Returns:
        The path of the JSON file.

    Raises:
        ValueError: when the instance does not break the claim where its hypotheses hold, or no certificate can hold it;
            otherwise as `measure`.
        OSError: for a file that cannot be read or written.
    """
    from validate import certificate
    from validate.breaks import certificate_of_break
    from validate.instances.occasion import occasion

    return certificate.write(certificate_of_break(occasion(sentence_of(claim), instance)), out)


def claim_of(claim: Claim | str) -> Any:
    """The claim itself, of an id or of ``my_paper.py:label`` too.

    Raises:
        ValueError: for one that is not known.
        OSError: for a file that cannot be read.
    """
    if not isinstance(claim, str):
        return claim
    from validate import files

    return files.find(claim)


def sentence_of(claim: Claim | str) -> Claim:
    """As `claim_of`, of a claim that is a sentence.

    Raises:
        ValueError: for one that is not known, or is no sentence.
        OSError: for a file that cannot be read.
    """
    found: Claim = claim_of(claim)
    if not found.has_sentence:
        raise ValueError(f"{found.id} is no sentence, so that it has no sides")
    return found
