"""Steps that are tuned to the number of rounds, of which an induction may not speak: found unaided."""

from dataclasses import replace

import pytest

from tests.derivation.search.finding import is_found, is_not_found
from tests.rounds import descent
from theory import algorithm
from theory.claim import claim


@algorithm
def sgd(w, x, *, eta):
    return x - eta * w.mean(w.gradient(x, w.sample()))


@algorithm
def projected(w, x, *, eta, R):
    return w.project(x - eta * w.full_gradient(x), R)


LIPSCHITZ = ("convex(f)", "lipschitz(f, G)")
TUNED = claim(
    "tuned",
    "mean_k(f(x[k])) - fstar <= R*G/sqrt(K)",
    of=descent,
    assuming=(*LIPSCHITZ, "eta == R/(G*sqrt(K))", "norm(x0 - xstar) <= R"),
)
NOISY = claim(
    "noisy",
    "mean_k(E(norm2(grad(f, x[k])))) <= (2*(f(x0) - fstar) + L*sigma2)/sqrt(N*K)",
    of=sgd,
    assuming=("smooth(f, L)", "bounded_variance(sigma2)", "eta <= 1/L", "eta == sqrt(N/K)"),
)
IN_A_BALL = claim(
    "in-a-ball",
    "mean_k(f(x[k])) - fstar <= 2*R*G/sqrt(K)",
    of=projected,
    assuming=(*LIPSCHITZ, "norm(x0) <= R", "norm(xstar) <= R", "eta == 2*R/(G*sqrt(K))"),
)
LONG = claim(
    "long",
    "mean_k(norm2(grad(f, x[k]))) <= 2*L*(f(x0) - fstar)/K",
    of=descent,
    assuming=("smooth(f, L)", "eta == 1/L", "K >= 10"),
)
SMALL = claim(
    "small",
    "min_k(norm2(grad(f, x[k]))) <= eps",
    of=descent,
    assuming=("smooth(f, L)", "eta == 1/L", "f(x0) - fstar <= D", "K >= 2*L*D/eps"),
)
FOUND = {
    "a tuned step": TUNED,
    "at the mean of the models": replace(
        TUNED, statement=TUNED.statement.replace("mean_k(f(x[k]))", "f(mean_k(x[k]))")
    ),
    "a speedup by clients": NOISY,
    "in a ball": IN_A_BALL,
    "not so few rounds": LONG,
    "the best round": SMALL,
}
FALSE = {
    "a tuned step, half of it": replace(TUNED, statement=TUNED.statement.replace("R*G", "R*G/2")),
    "a speedup by more": replace(NOISY, statement=NOISY.statement.replace("sqrt(N*K)", "sqrt(N**2*K)")),
    "in a ball without the minimiser": replace(
        IN_A_BALL, assuming=(*LIPSCHITZ, "norm(x0) <= R", IN_A_BALL.assuming[-1])
    ),
    "too few rounds": replace(SMALL, assuming=(*SMALL.assuming[:-1], "K >= L*D/(8*eps)")),
}


@pytest.mark.parametrize("name", FOUND)
def test_it_is_found(name: str) -> None:
    """With the work of a check, and what is found the verifier accepts too."""
    is_found(FOUND[name])


@pytest.mark.parametrize("name", FALSE)
def test_nothing_is_found_for_what_is_false(name: str) -> None:
    """Its neighbours have no derivation."""
    is_not_found(FALSE[name])
