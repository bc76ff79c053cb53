"""Instances are made however hypotheses are written, and where domains end."""

from fractions import Fraction

import pytest

from theory.claim import claim
from theory.domain import Domain
from theory.program import algorithm
from validate.instances.altered import altered
from validate.instances.pool import drawn

F = Fraction
UNIT = Domain(0, 1)
SPELLINGS = (
    "S >= 9*B**2",
    "B <= sqrt(S)/3",
    "sqrt(S) >= 3*B",
    "9*B**2 - S <= 0",
    "B**2/S <= 1/9",
    "3*B <= S/sqrt(S)",
)


@pytest.mark.parametrize("written", SPELLINGS)
def test_a_relation_leaves_as_much_room_however_it_is_written(written: str) -> None:
    one = claim("room", "B <= S", assuming=("B >= 100", written))
    made = [drawn(one, seed) for seed in range(40)]
    assert all(d is not None and d.values["S"] >= 9 * d.values["B"] ** 2 for d in made)


@algorithm(x="x0", m="0")
def heavy_ball(w, x, m, *, alpha, b):
    m = b * m + (1 - b) * w.mean(w.gradient(x))
    return x - alpha * m, m


@pytest.mark.parametrize("written", ["b_k <= q", "q >= b_k", "b_k <= q*(1 - q)**k"])
def test_an_end_of_a_domain_takes_a_schedule_with_it(written: str) -> None:
    """Four other numbers have ends too, and relations that exclude all of these ends at once."""
    one = claim(
        "falling",
        "norm2(x[k] - x0) <= c*q + u + v",
        of=heavy_ball,
        assuming=("smooth(f, L)", written, "c + u >= 1/10", "u + v <= 1/2", "v <= q + 1/3"),
        parameters={"b_k": UNIT, "q": UNIT, "c": UNIT, "u": UNIT, "v": UNIT},
    )
    made = next(d for d in (drawn(one, seed) for seed in range(20)) if d is not None and d.values["q"] != 0)
    changed = [d for d in altered(one, made) if d.values["q"] == 0]
    assert changed
    assert all(not any(d.values["b"]) for d in changed)


def test_the_pool_has_ends_of_domains_with_all_sorts_of_other_numbers() -> None:
    one = claim(
        "ends",
        "norm2(x[k]) <= q*c",
        of=heavy_ball,
        assuming=("q <= c/2", "b_k <= q"),
        parameters={"b_k": UNIT, "q": UNIT},
    )
    there = [d.values["c"] for d in (drawn(one, seed) for seed in range(100)) if d is not None and d.values["q"] == 0]
    assert len(set(there)) > 2
