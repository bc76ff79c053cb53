"""Linear rates under the Polyak-Lojasiewicz inequality, and how many rounds are enough, found unaided."""

from dataclasses import replace

import pytest

from tests.derivation.search.finding import is_found, is_not_found
from tests.rounds import descent
from theory import algorithm
from theory.claim import claim


@algorithm
def sgd(w, x, *, eta):
    return x - eta * w.mean(w.gradient(x, w.sample()))


FLAT = ("smooth(f, L)", "pl(f, mu)", "eta <= 1/L")
CURVED = ("smooth(f, L)", "strongly_convex(f, mu)", "eps < 1")
PL = claim("pl", "f(x[k]) - fstar <= (1 - eta*mu)**k*(f(x0) - fstar)", of=descent, assuming=FLAT)
NOISY = claim(
    "noisy",
    "E(f(x[k])) - fstar <= (1 - eta*mu)**k*(f(x0) - fstar) + L*eta*sigma2/(2*mu*N)",
    of=sgd,
    assuming=(*FLAT, "bounded_variance(sigma2)"),
)
ENOUGH = claim(
    "enough",
    "f(x[K]) - fstar <= eps*(f(x0) - fstar)",
    of=descent,
    assuming=(*CURVED, "eta == 1/L", "K >= L/mu*log(1/eps)"),
)
NEAR = claim(
    "near",
    "norm2(x[K] - xstar) <= eps*norm2(x0 - xstar)",
    of=descent,
    assuming=(*CURVED, "eta <= 1/L", "K >= 1/(eta*mu)*log(1/eps)"),
)
CONVEX = claim(
    "convex",
    "f(x[K]) - fstar <= eps",
    of=descent,
    assuming=("smooth(f, L)", "convex(f)", "eta == 1/L", "K >= L*norm2(x0 - xstar)/(2*eps)"),
)
LENGTH = claim(
    "length",
    "min_k(norm(grad(f, x[k]))) <= sqrt(2*L*(f(x0) - fstar)/K)",
    of=descent,
    assuming=("smooth(f, L)", "eta == 1/L"),
)
SMALL = replace(
    LENGTH,
    statement="min_k(norm2(grad(f, x[k]))) <= eps",
    assuming=(*LENGTH.assuming, "K >= 2*L*(f(x0) - fstar)/eps"),
)
FAR = claim(
    "far", "norm(x[k] - xstar) <= norm(x0 - xstar)", of=descent, assuming=("smooth(f, L)", "convex(f)", "eta <= 2/L")
)
RATE = claim(
    "rate",
    "norm(x[k] - xstar) <= (1 - eta*mu)**k*norm(x0 - xstar)",
    of=descent,
    assuming=("smooth(f, L)", "strongly_convex(f, mu)", "eta <= 1/L"),
)
FOUND = {
    "far": FAR,
    "rate": RATE,
    "pl": PL,
    "noisy": NOISY,
    "enough": ENOUGH,
    "near": NEAR,
    "convex": CONVEX,
    "length": LENGTH,
    "small": SMALL,
}
FALSE = {
    "far, longer steps": replace(FAR, assuming=(*FAR.assuming[:2], "eta <= 3/L")),
    "rate, faster": replace(RATE, statement=RATE.statement.replace("(1 - eta*mu)", "(1 - 2*eta*mu)")),
    "pl, faster": replace(PL, statement=PL.statement.replace("(1 - eta*mu)", "(1 - 2*eta*mu)")),
    "pl, longer steps": replace(PL, assuming=(*FLAT[:2], "eta <= 3/L")),
    "pl, not smooth": replace(PL, assuming=FLAT[1:]),
    "noisy, half of it": replace(NOISY, statement=NOISY.statement.replace("2*mu*N", "8*mu*N")),
    "enough, for its root": replace(ENOUGH, assuming=(*CURVED, "eta == 1/L", "K >= sqrt(L/mu)*log(1/eps)")),
    "near, a third": replace(NEAR, assuming=(*NEAR.assuming[:-1], "K >= 1/(3*eta*mu)*log(1/eps)")),
    "convex, a fifth": replace(
        CONVEX, assuming=(*CONVEX.assuming[:-1], "K >= L*norm2(x0 - xstar)/(10*eps)")
    ),
    "length, less": replace(LENGTH, statement=LENGTH.statement.replace("2*L", "L/2")),
}  # fmt: skip


@pytest.mark.parametrize("name", FOUND)
def test_it_is_found(name: str) -> None:
    """With the work of a check, and what is found the verifier accepts too."""
    is_found(FOUND[name])


@pytest.mark.parametrize("name", FALSE)
def test_nothing_is_found_for_what_is_false(name: str) -> None:
    is_not_found(FALSE[name])
