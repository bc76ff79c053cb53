"""Random changes of derivations: what the kernel still accepts ends at the claim, and the verifier agrees."""

from __future__ import annotations

import json
import random

import pytest

from tests.derivation.corruption import corrupted
from tests.derivation.written import PROOFS, derivation
from theory.derivation import NotProvedError, check
from validate.certificate import verify
from validate.certificate.derivation import derivation_certificate

PLAIN = [(c, json.loads(json.dumps(derivation(c, written)))) for c, written in PROOFS]


@pytest.mark.parametrize("seed", range(4))
def test_what_is_accepted_after_a_change_is_accepted_by_the_verifier(seed: int) -> None:
    source = random.Random(seed)
    changed = kept = 0
    for _ in range(120):
        c, lines = PLAIN[source.randrange(len(PLAIN))]
        other = corrupted(lines, source)
        if other == lines:
            continue
        changed += 1
        try:
            check(c, other)
        except NotProvedError:
            continue
        kept += 1
        assert verify(derivation_certificate(c, other)).valid, (c.id, other)
    assert changed >= 40
    assert kept <= changed // 5  # names of lines, and lines that are not needed


def test_the_verifier_accepts_what_the_kernel_accepts() -> None:
    for c, lines in PLAIN:
        assert verify(derivation_certificate(c, lines)).valid, c.id
