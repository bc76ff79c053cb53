"""Numbers just inside of what strict relations allow."""

import math

import numpy as np
import pytest

from theory import claim
from theory.claim import Claim
from validate.instances.inside import inside
from validate.instances.pool import drawn
from validate.instances.seen import Hunt, measured

ROOM = {"C": "1 - 2*a*b/sqrt(c + b**2)"}
BOUND = claim("room", "1 <= 10**4*C", assuming=("C > 0",), where=ROOM)
"""False where C is next to nothing."""


def pooled(one: Claim, seeds: int = 60) -> Hunt:
    found = Hunt()
    for seed in range(seeds):
        made = drawn(one, seed)
        seen = None if made is None else measured(one, made)
        if seen is not None:
            found.seen.append(seen)
    return found


def test_an_end_is_met_that_the_pool_does_not_come_near() -> None:
    found = pooled(BOUND)
    assert found.seen
    assert not any(seen.measured.broken for seen in found.seen)
    broken = [seen for seen in inside(BOUND, found, 0, lambda: False) if seen.measured.broken]
    assert broken
    for seen in broken:
        a, b, c = (float(seen.drawn.values[name]) for name in "abc")
        assert 0 < 1 - 2 * a * b / math.sqrt(c + b * b) < 1e-4


def test_two_ends_at_once() -> None:
    """Each by itself leaves room on the right."""
    one = claim(
        "both",
        "1 <= 1000*C + 1000*D",
        assuming=("C > 0", "D > 0"),
        where={**ROOM, "D": "1 - e**2*g/(1 + e)"},
    )
    found = pooled(one, 200)
    assert not any(seen.measured.broken for seen in found.seen)
    assert any(seen.measured.broken for seen in inside(one, found, 0, lambda: False))


@pytest.mark.parametrize(
    "one",
    [
        claim("plain", "a*b <= 1000*a + b**2", assuming=("a <= b",)),
        claim("indexed", "mean_n(a_n) <= 1000*b", assuming=("a_n < b",)),
    ],
)
def test_claims_without_such_ends_are_left_alone(one: Claim) -> None:
    assert not list(inside(one, pooled(one, 10), 0, lambda: False))


def test_what_is_true_is_not_broken() -> None:
    one = claim("true", "C <= 1", assuming=("C > 0",), where=ROOM)
    with np.errstate(all="raise"):
        assert not any(seen.measured.broken for seen in inside(one, pooled(one, 20), 0, lambda: False))
