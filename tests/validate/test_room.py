"""Instances are made however hypotheses are written, and where domains end."""

import pytest

from theory.claim import claim
from theory.domain import Domain
from theory.program import algorithm
from validate.instances.altered import altered
from validate.instances.pool import Drawn, drawn

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


@algorithm
def descent(w, x, *, eta):
    return x - eta * w.mean(w.gradient(x))


def drawn_of_descent(statement: str, *more: str) -> list[Drawn]:
    assuming = ("smooth(f, L)", "strongly_convex(f, mu)", "eta <= 1/L", *more)
    one = claim("descent", statement, of=descent, assuming=assuming)
    return [d for d in (drawn(one, seed) for seed in range(60)) if d is not None]


@pytest.mark.parametrize("written", ["L == 3*mu", "mu == L/3"])
def test_constants_that_an_equation_ties_are_worse_than_the_best(written: str) -> None:
    made = drawn_of_descent("norm2(x[k] - xstar) <= norm2(x0 - xstar)/(1 - mu/L)", written)
    assert len(made) >= 20
    assert all(d.values["L"] == 3 * d.values["mu"] for d in made)
    assert {d.instance.problem.dim for d in made} >= {1, 2}


@pytest.mark.parametrize("written", ["norm2(x0 - xstar) > 0", "0 < norm(xstar - x0)", "norm(x0 - xstar) >= 1/10"])
def test_a_start_that_is_not_the_minimiser_may_have_several_coordinates(written: str) -> None:
    made = drawn_of_descent("norm2(x[k] - xstar) <= norm2(x0 - xstar)", written)
    assert len(made) >= 20
    assert {d.instance.problem.dim for d in made} >= {1, 2, 3}


@pytest.mark.parametrize("written", ["norm2(x0 - xstar) <= 0", "0 >= norm(xstar - x0)", "norm(x0 - xstar) == 0"])
def test_a_start_that_is_the_minimiser_is_there(written: str) -> None:
    """No random start is, and an instance is one only where the relation holds."""
    assert len(drawn_of_descent("norm2(x[k] - xstar) <= norm2(x0 - xstar)", written)) >= 20
