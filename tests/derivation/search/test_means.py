"""The best round, the mean of the models and the last model: theorems that everybody states, found unaided."""

from dataclasses import replace

import pytest

from tests.derivation.both import check
from tests.derivation.search.finding import is_not_found
from tests.rounds import descent
from theory import algorithm
from theory.claim import Claim, claim
from theory.derivation.search.searching import search
from validate.proving import work_of


@algorithm
def sgd(w, x, *, eta):
    return x - eta * w.mean(w.gradient(x, w.sample()))


@algorithm
def projected(w, x, *, eta, r):
    return w.project(x - eta * w.full_gradient(x), r)


CONVEX = ("smooth(f, L)", "convex(f)", "eta <= 1/L")
NOISY = ("smooth(f, L)", "bounded_variance(sigma2)", "eta <= 1/L")
SPREAD = {"s": "mean_n(mean_i(norm2(grad(f_ni, xstar) - grad(f_n, xstar))))"}
LAST = claim("last", "f(x[K]) - fstar <= norm2(x0 - xstar)/(2*eta*K)", of=descent, assuming=CONVEX)
FROM_4 = claim("from-4", "f(x[k]) - fstar <= 2*L*norm2(x0 - xstar)/(k + 4)", of=descent, assuming=CONVEX)
BEST = claim("best", "min_k(norm2(grad(f, x[k]))) <= 2*(f(x0) - fstar)/(eta*K)", of=descent, assuming=CONVEX[::2])
MODEL = claim(
    "model",
    "E(f(mean_k(x[k]))) - fstar <= norm2(x0 - xstar)/(eta*K) + 2*eta*s/N",
    of=sgd,
    assuming=("smooth(f_ni, L)", "convex(f_ni)", "eta <= 1/(4*L)"),
    where=SPREAD,
)
VALUES = "norm2(x0 - xstar)/(2*eta*K) + eta*G**2/2"
LIPSCHITZ = ("convex(f)", "bounded_gradients(f, G)")
IN_BALL = claim(
    "in-ball",
    "norm2(x[k+1] - xstar) <= norm2(x[k] - xstar) - 2*eta*(f(x[k]) - fstar) + eta**2*G**2",
    of=projected,
    assuming=(*LIPSCHITZ, "norm(xstar) <= r"),
)
FOUND = {
    "projected": IN_BALL,
    "projected, by the square": replace(IN_BALL, assuming=(*LIPSCHITZ, "norm2(xstar) <= r**2")),
    "the last model": LAST,
    "each model": replace(LAST, statement="norm2(x0 - xstar)/(2*eta*(k + 1)) >= f(x[k+1]) - fstar"),
    "each model from the first on": replace(FROM_4, assuming=(*CONVEX[:2], "eta == 1/L")),
    "the best round": BEST,
    "the best round, in expectation": claim(
        "best",
        "min_k(E(norm2(grad(f, x[k])))) <= 2*(f(x0) - fstar)/(eta*K) + L*eta*sigma2/N",
        of=sgd,
        assuming=NOISY,
    ),
    "the best value": claim("value", f"min_k(f(x[k])) - fstar <= {VALUES}", of=descent, assuming=LIPSCHITZ),
    "the mean of the models": claim("mean", f"f(mean_k(x[k])) - fstar <= {VALUES}", of=descent, assuming=LIPSCHITZ),
    "the mean of the models, in expectation": MODEL,
}
FALSE = {
    "projected, the minimiser outside": replace(IN_BALL, assuming=LIPSCHITZ),
    "projected, the minimiser in a larger ball": replace(IN_BALL, assuming=(*LIPSCHITZ, "norm(xstar) <= 2*r")),
    "the last model": replace(LAST, statement=LAST.statement.replace("(2*", "(5*")),
    "the last model of long steps": replace(LAST, assuming=(*CONVEX[:2], "eta <= 2/L")),
    "without convexity": replace(LAST, assuming=("smooth(f, L)", "eta <= 1/L")),
    "the worst round": replace(BEST, statement=BEST.statement.replace("min_k", "max_k")),
    "the best round": replace(BEST, statement=BEST.statement.replace("2*(f", "(f")),
    "the mean of the models, not convex": replace(MODEL, assuming=("smooth(f_ni, L)", "eta <= 1/(4*L)")),
    "the last model of steps that do not shrink": claim(
        "last", f"f(x[K]) - fstar <= {VALUES}", of=descent, assuming=LIPSCHITZ
    ),
    "not linear": replace(BEST, statement="min_k(norm2(grad(f, x[k])))**2 <= 2*(f(x0) - fstar)/(eta*K)"),
}


@pytest.mark.parametrize("name", FOUND)
def test_it_is_found(name: str) -> None:
    """With the work of a check, and what is found the verifier accepts too."""
    one: Claim = FOUND[name]
    lines = search(one, work_of(one)).lines
    assert lines is not None
    assert check(one, lines).lines


@pytest.mark.parametrize("name", FALSE)
def test_nothing_is_found_for_what_is_false(name: str) -> None:
    is_not_found(FALSE[name])
