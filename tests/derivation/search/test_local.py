"""Local steps on functions that share their minimiser: rates of rounds from those of turns, found unaided."""

from dataclasses import replace

import pytest

from tests.derivation.search.finding import is_found, is_not_found
from theory import algorithm
from theory.claim import claim


@algorithm
def local(w, x, *, eta, H):
    y = w.each(x)
    for _ in w.repeat(H):
        w.tap("y", y)
        y = y - eta * w.gradient(y)
    return w.mean(y)


SHARED = ("smooth(f_n, L)", "strongly_convex(f_n, mu)", "same_minimiser(f_n)", "eta <= 1/L")
RATE = claim("rate", "norm2(x[k] - xstar) <= (1 - eta*mu)**(2*H*k)*norm2(x0 - xstar)", of=local, assuming=SHARED)
FAR = claim(
    "far",
    "norm2(x[k] - xstar) <= norm2(x0 - xstar)",
    of=local,
    assuming=("smooth(f_n, L)", "convex(f_n)", "same_minimiser(f_n)", "eta <= 2/L"),
)
FOUND = {
    "a rate": RATE,
    "half of it": replace(RATE, statement=RATE.statement.replace("2*H", "H")),
    "no farther": FAR,
}
FALSE = {
    "a faster rate": replace(RATE, statement=RATE.statement.replace("2*H", "3*H")),
    "with minimisers of their own": replace(RATE, assuming=(*SHARED[:2], SHARED[3])),
    "with longer steps": replace(FAR, assuming=(*FAR.assuming[:3], "eta <= 3/L")),
}


@pytest.mark.parametrize("name", FOUND)
def test_it_is_found(name: str) -> None:
    """With the work of a check, and what is found the verifier accepts too."""
    is_found(FOUND[name])


@pytest.mark.parametrize("name", FALSE)
def test_nothing_is_found_for_what_is_false(name: str) -> None:
    """Its neighbours have no derivation."""
    is_not_found(FALSE[name])
