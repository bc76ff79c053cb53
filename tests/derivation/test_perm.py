"""Derivations about projected iterates, which the kernel reads: Theorem 1 and Lemma 15 of PERM, with constants."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from theory import catalog
from theory.derivation import NotProvedError, check, lines
from theory.papers.perm import distances
from theory.papers.perm_proofs import estimated, in_ball, last_local, last_minibatch

AT_OPTIMUM = distances("xstar")
WRITTEN = {
    "perm/theorem-1/corrected": (*in_ball("x[K]"), *last_local(projected=True), *estimated("x[K]", AT_OPTIMUM)),
    "perm/lemma-15/corrected": (*in_ball("x[k]"), *last_minibatch(), *estimated("x[k]", AT_OPTIMUM)),
}


@pytest.mark.parametrize("label", WRITTEN)
def test_projected_iterates(label: str) -> None:
    claim: Any = catalog.claim(label)
    found = check(claim, lines(claim, WRITTEN[label]))
    assert found.unused == ()
    assert found.citations == ()
    for text in ("norm2(x0) <= r**2", "norm2(xstar) <= r**2"):
        other = replace(claim, assuming=tuple(one for one in claim.assuming if one != text))
        with pytest.raises(NotProvedError):
            check(other, lines(other, WRITTEN[label]))
