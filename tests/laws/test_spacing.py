"""A claim in another spacing is the same claim, and the same is drawn for it."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.laws.test_true_and_false import CLAIMS
from theory.sentence import parse_sentence, respaced
from validate.instances.hunt import POOL, hunt

STATEMENTS = sorted({claim.statement for _, claim in CLAIMS.values()})


def spaced_otherwise(text, seed):
    """More spaces, or none, at places where they mean nothing."""
    rng = random.Random(seed)
    found = text.replace(" ", "") if rng.random() < 0.5 else text
    for sign in ("+", "-", "<=", "(", ")", "[", "]", ",", "/"):
        found = found.replace(sign, f"{' ' * rng.randrange(3)}{sign}{' ' * rng.randrange(3)}")
    return found.strip()


@given(text=st.sampled_from(STATEMENTS), seed=st.integers(0, 10**6))
def test_there_is_one_spacing(text, seed):
    other = spaced_otherwise(text, seed)
    assert respaced(other) == respaced(text)
    assert respaced(respaced(text)) == respaced(text)
    assert parse_sentence(respaced(other)) == parse_sentence(text)


@pytest.mark.parametrize("name", ["gossip/agree-largest", "pairs/w3"])
def test_what_is_drawn_does_not_hang_on_spaces(name):
    one = CLAIMS[name][1]
    other = replace(one, statement=spaced_otherwise(one.statement, 3))
    assert other.statement != one.statement
    found, again = (hunt(claim, pool=30, evaluations=0, last=POOL) for claim in (one, other))
    assert [seen.drawn.values for seen in found.seen] == [seen.drawn.values for seen in again.seen]
    assert found.tried == again.tried
