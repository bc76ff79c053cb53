"""Rounds that are written out as Python give what the instructions one by one give, to the last digit."""

import pytest

from tests.shares import share
from theory import catalog
from theory.claim import Claim
from validate.instances.pool import drawn
from validate.play import Play
from validate.rounds import TooManyOutcomesError
from validate.rounds import written as writing

PLAYED = [
    claim.id
    for claim in catalog.claims()
    if isinstance(claim, Claim) and claim.has_sentence and not claim.in_words and claim.program is not None
]


def laws(play: Play) -> str:
    """What the first two rounds may lead to, or why they cannot be played; as text, as no ball equals itself."""
    try:
        return str([play.distribution(k) for k in range(min(play.instance.rounds, 2) + 1)])
    except (ValueError, ArithmeticError) as error:
        return str(error)


@pytest.mark.parametrize("id", share(PLAYED, 24))
def test_what_is_written_out_is_played_as_before(id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    claim = catalog.claim(id)
    many = [one for seed in range(8) if (one := drawn(claim, seed)) is not None]
    fast = [laws(Play(one.instance, 2000)) for one in many]
    monkeypatch.setattr(writing, "MOST", 0)
    assert fast == [laws(Play(one.instance, 2000)) for one in many]
    assert all("Fraction" in law or "outcomes" in law for law in fast)


def test_a_stretch_of_code_is_shared_by_instances_of_the_same_form() -> None:
    claim = catalog.claim("textbook/gradient-descent-linear")
    many = [one for seed in range(40) if (one := drawn(claim, seed)) is not None]
    for one in many:
        try:
            Play(one.instance, 100).law(1)
        except (TooManyOutcomesError, ArithmeticError):
            continue
    before = writing._code.cache_info().misses
    for one in many:
        Play(one.instance, 100).law(1)
    assert writing._code.cache_info().misses == before
