"""Runs of several lengths that come near a knee at the end tell whether a rate has the right power of the rounds."""

import pytest

from tests.rounds import descent
from theory import algorithm, claim
from theory.claim import Claim
from validate.examine import examine
from validate.instances.arriving import CUBES, at_a_knee
from validate.instances.growth import still_growing
from validate.instances.longer import ROUNDS
from validate.instances.seen import Hunt, Seen


@algorithm
def lazy(w, x, *, eta, q):
    return x - eta * w.coin(q) * w.full_gradient(x)


WHOLE = ("smooth(f, L)", "convex(f)")
LAST = "f(x[K]) - fstar <= norm2(x0 - xstar)"
TRUE = claim("true", f"{LAST}/(2*eta*K)", of=descent, assuming=(*WHOLE, "eta*L <= 1"))
TUNED = claim("tuned", f"{LAST}*K**(-2/3)/2", of=descent, assuming=(*WHOLE, "eta == K**(-1/3)", "L <= 1"))
TOO_FAST = {
    "a power more": claim("fast", f"{LAST}/(2*eta*K**(13/12))", of=descent, assuming=(*WHOLE, "eta*L <= 1")),
    "a tuned step": claim("cube", f"{LAST}*K**(-3/4)/2", of=descent, assuming=(*WHOLE, "eta == K**(-1/3)", "L <= 1")),
}
BROKEN = claim(
    "mean",
    "mean_k(norm2(grad(f, x[k]))) <= 2*(f(x0) - fstar)/(eta*K**(13/12))",
    of=descent,
    assuming=("smooth(f, L)", "eta*L <= 1"),
)


def _met(one: Claim) -> tuple[list[Seen], Hunt]:
    found = Hunt()
    return [seen for seen in at_a_knee(one, found, lambda: False) if seen.measured.broken], found


@pytest.mark.parametrize("name", TOO_FAST)
def test_a_rate_that_is_too_fast_by_a_small_power_grows(name: str) -> None:
    """By K**(1/12): one instance that is made longer shows nothing of it, as the knee has to move."""
    broken, found = _met(TOO_FAST[name])
    assert not broken
    assert [*still_growing(found.reached.rungs, ROUNDS)]


@pytest.mark.parametrize("one", [TRUE, TUNED], ids=lambda one: one.label)
def test_one_that_is_right_does_not(one: Claim) -> None:
    broken, found = _met(one)
    assert not broken
    assert any(len(rungs) == len(CUBES) for _, rungs in found.reached.rungs)
    assert not [*still_growing(found.reached.rungs, ROUNDS)]


def test_what_it_breaks_is_broken_exactly() -> None:
    broken, _ = _met(BROKEN)
    assert broken


def test_runs_with_draws_and_hunts_that_are_to_stop_are_left_alone() -> None:
    found = Hunt()
    random = claim("lazy", "E(f(x[K])) - fstar <= E(norm2(x0))/K", of=lazy, assuming=(*WHOLE, "q <= 1"))
    assert not [*at_a_knee(random, found, lambda: False), *at_a_knee(TRUE, found, lambda: True)]
    assert not found.reached.rungs


@pytest.mark.slow
@pytest.mark.parametrize("name", TOO_FAST)
def test_a_check_does_not_support_it(name: str, tmp_path) -> None:
    assert examine(TOO_FAST[name], quick=True, out=tmp_path).verdict == "undecided"
