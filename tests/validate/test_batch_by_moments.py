"""Moments that are recorded say in floats what moments in fractions say."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.rounds import sgd
from theory import algorithm, claim
from validate.batch.tracing import Traced, recorded_by_moments, traced
from validate.expected import lines
from validate.instances.candidates import realised
from validate.instances.pool import drawn
from validate.on_instance import setting_of

F = Fraction


@algorithm
def some(w: Any, x: Any, *, eta: Any, p: Any, H: Any, S: Any) -> Any:
    """H local steps of some clients, each heard with a chance."""
    y = w.each(x)
    for _ in w.repeat(H):
        y = y - eta * w.gradient(y, w.sample())
    return x + w.average(w.where(w.coin(p), y - x, 0 * x), w.choose(S))


@algorithm(x="x0", c="each grad(f_n, x0)")
def memory(w: Any, x: Any, c: Any, *, eta: Any, p: Any) -> Any:
    """Gradients that are remembered, and renewed now and then."""
    c = w.where(w.coins(p), w.gradient(x), c)
    return x - eta * w.mean(c), c


MINIMISED = ("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)")
DISTANCE = "E(norm2(x[k+1] - xstar)) <= (1 - eta*mu)*E(norm2(x[k] - xstar)) + 2*eta**2*mean_n(norm2(grad(f_n, x0)))"
CLAIMS = {
    "samples": claim("samples", DISTANCE, of=sgd, assuming=(*MINIMISED, "eta <= 1/(2*L)")),
    "some": claim("some", DISTANCE, of=some, assuming=(*MINIMISED, "eta*H <= 1/L", "p <= 1")),
    "memory": claim(
        "memory",
        "E(f(x[k]) - fstar) + E(mean_n(norm2(c[k] - grad(f_n, x[k]))))/L <= sqrt(f(x0) - fstar)",
        of=memory,
        assuming=("smooth(f_n, L)", "strongly_convex(f, mu)", "eta <= 1/L", "p_n <= 1"),
    ),
}


def columns(here: Traced, seed: int) -> Any:
    """Numbers around those of the instance that was recorded, which floats have exactly."""
    rng = np.random.default_rng(seed)
    base = np.array([float(x) for x in here.layout.numbers(here.base)])[:, None]
    return base * rng.choice([1.0, 0.5, 1.25, -1.0], size=(len(base), 8), p=[0.6, 0.18, 0.17, 0.05])


@pytest.mark.parametrize("label", CLAIMS)
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 300))
def test_both_sides_are_those_of_fractions(label: str, seed: int) -> None:
    one = drawn(CLAIMS[label], seed)
    assume(one is not None)
    here = recorded_by_moments(CLAIMS[label], one)
    assume(here is not None)
    numbers = columns(here, seed)
    everything, fits = here.fits(numbers)
    gaps = here.gaps(everything)
    compared = 0
    for at in np.flatnonzero(fits):
        there = realised(here.claim, here.layout.candidate(here.base, [F(float(x)) for x in numbers[:, at]]))
        if there is None:
            continue
        told = lines(here.claim, there.instance.problem.quadratic, setting_of(here.claim, there))
        wanted = [(float(line.left), float(line.right)) for line in told if line.left != line.right]
        found = gaps[:, at][~np.isnan(gaps[:, at])]
        wanted = [(low - high) / (abs(low) + abs(high)) for low, high in wanted]
        if len(wanted) == len(found):
            np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-9)
            compared += 1
    assume(compared > 0)


@pytest.mark.parametrize("label", CLAIMS)
def test_many_outcomes_are_recorded_by_moments(label: str) -> None:
    """Some instance has so many outcomes that no play of it is short, and its moments are."""

    def told(seed: int) -> bool:
        one = drawn(CLAIMS[label], seed)
        by_moments = None if one is None else recorded_by_moments(CLAIMS[label], one)
        here = None if by_moments is None or one is None else traced(CLAIMS[label], one)
        return here is not None and by_moments is not None and here.rows.key == by_moments.rows.key

    assert any(map(told, range(120)))
