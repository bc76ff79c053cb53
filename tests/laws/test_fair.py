"""Law 7, fair to the author: a condition that the paper fixes elsewhere for a result is in the claim as `standing`, and
a refutation satisfies it too; a certificate has every condition of its claim, and the verifier evaluates all of them.
"""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from tests.laws import units
from tests.laws.all_papers import SIZES, certificates, checked
from theory.catalog import claim as find
from validate.certificate import differences, verify
from validate.examine import examine
from validate.instances.hunt import hunt

LEAST = {"few": (9, 20, 4), "all": (45, 100, 13)}
"""Refuted claims, their assumptions and their standing conditions."""


@pytest.mark.parametrize("size", SIZES)
def test_refutations_satisfy_every_hypothesis_and_every_standing_condition(size: str) -> None:
    refuted = [r.id for r in checked(size)[0] if r.verdict == "refuted"]
    conditions = standing = 0
    for id in refuted:
        claim, certificate = find(id), certificates(size)[id]
        assert verify(certificate).valid, id
        assert differences(certificate, claim) == (), id
        assert len(certificate["assumptions"]) + len(certificate["relations"]) == len(claim.assumptions)
        conditions += len(claim.assumptions)
        standing += len(claim.standing)
    assert all(seen >= least for seen, least in zip((len(refuted), conditions, standing), LEAST[size], strict=True))


@pytest.mark.parametrize("searched", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_standing_conditions_are_asked_for_like_hypotheses(searched: bool, tmp_path: Path) -> None:
    """What only an instance without it breaks is not refuted; without it, it is. In slow tests a check is asked."""
    printed = units.ATTAINED
    moved = tuple(text for text in printed.assuming if text not in ("noise <= 0", "mu == L"))
    stands = replace(printed, assuming=moved, standing=("noise <= 0", "mu == L"))
    if searched:
        assert examine(stands, quick=True, out=tmp_path).verdict != "refuted"
    assert hunt(stands, pool=100, evaluations=0).broken is None
    assert examine(replace(stands, standing=()), quick=True, out=tmp_path).verdict == "refuted"


def test_standing_conditions_are_evaluated_like_hypotheses() -> None:
    claim = find("perm/lemma-4")
    assert claim.standing == ("gamma <= 1/(2*L)",)
    at = {"mu": 1, "L": 1, "N": 2, "delta2": 0, "dist": 1, "gap": 1, "drift": 0}
    assert claim.violated(**at, gamma=Fraction(51, 100)) == claim.standing
    assert claim.violated(**at, gamma=Fraction(1, 2)) == ()
