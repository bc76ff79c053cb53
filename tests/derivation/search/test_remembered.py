"""Vectors that are remembered with weights, and clients that are chosen of all: what a round makes of them."""

import pytest

from tests.derivation.search.finding import is_found, is_not_found
from theory import algorithm
from theory.claim import Claim, claim


@algorithm(x="x0", past="J times 0")
def inertial(w, x, past, *, eta, beta, H, S):
    active, ahead = w.choose(S), w.combine(beta, past)
    z = w.each(x)
    for _ in w.repeat(H):
        w.tap("z", z)
        y = z - ahead
        w.tap("y", y)
        w.tap("chosen", w.average(w.gradient(y), active))
        z = z - eta * w.gradient(y)
    new = w.average(z, active)
    return new, w.shift(past, x - new)


SQUARES = {
    "mean_sq": "E(norm2(mean_n(grad(f_n, y[k, h]))))",
    "gradients_sq": "mean_n(E(norm2(grad(f_n, y[k, h]))))",
}


def of_chosen(right: str, *assuming: str) -> Claim:
    return claim("chosen", f"E(norm2(chosen[k, h])) <= {right}", of=inertial, where=SQUARES, assuming=assuming)


FOUND = {
    "fewer than all": of_chosen("mean_sq + gradients_sq/S", "S < N"),
    "without replacement": of_chosen("(S - 1)*N/(S*(N - 1))*mean_sq + (N - S)/(S*(N - 1))*gradients_sq", "S < N"),
}
"""Below the line stands N - 1, which is positive as 1 <= S < N says."""
FALSE = {
    "a part of it": of_chosen("mean_sq/2 + gradients_sq/S", "S < N"),
    "fewer of the squares": of_chosen("mean_sq + gradients_sq/S/4", "S < N"),
}


@pytest.mark.parametrize("name", FOUND)
def test_it_is_found(name: str) -> None:
    is_found(FOUND[name])


@pytest.mark.parametrize("name", FALSE)
def test_what_is_false_is_not(name: str) -> None:
    is_not_found(FALSE[name])
