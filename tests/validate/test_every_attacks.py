"""False sentences under assumptions for every point, each false by hand: none is called supported, nor proved."""

import pytest

from tests.rounds import descent, sgd
from tests.rounds import local as local_descent
from theory import algorithm, claim
from theory.domain import NONNEGATIVE, REAL
from validate import check
from validate.worst_case.stage import worst

WEAK = "for every x, y: f(y) >= f(x) + dot(grad(f, x), y - x) - rho/2*norm2(x - y)"
CONVEX = "for every x, y: f(y) >= f(x) + dot(grad(f, x), y - x)"
QUASI = "for every x: fstar >= f(x) + dot(grad(f, x), xstar - x) + mu/2*norm2(xstar - x)"
STAR = "for every x: fstar >= f(x) + dot(grad(f, x), xstar - x)"
PL = "for every x: norm2(grad(f, x)) >= 2*mu*(f(x) - fstar)"
RSI = "for every x: dot(grad(f, x), x - xstar) >= mu*norm2(x - xstar)"
EB = "for every x: norm(grad(f, x)) >= c*norm(x - xstar)"
QG = "for every x: f(x) - fstar >= mu/2*norm2(x - xstar)"
AIM = "for every x: dot(grad(f, x), x - xstar) >= theta*(f(x) - fstar)"
ES = "for every x: mean_n(mean_i(norm2(grad(f_ni, x) - grad(f_ni, xstar)))) <= 2*A*(f(x) - fstar)"
ABC = "for every x: mean_n(norm2(grad(f_n, x))) <= 2*A*(f(x) - fstar) + B*norm2(grad(f, x)) + C"
SG = "for every x: mean_n(norm2(grad(f_n, x))) <= B*norm2(grad(f, x))"
GB = "for every x: mean_n(norm2(grad(f_n, x))) <= G**2 + B**2*norm2(grad(f, x))"
APART = "for every n, x: norm(grad(f_n, x) - grad(f, x)) <= zeta"
COCO = "for every x, y: dot(grad(f, x) - grad(f, y), x - y) >= norm2(grad(f, x) - grad(f, y))/L"
MONO = "for every x, y: dot(grad(f, x) - grad(f, y), x - y) >= mu*norm2(x - y)"
COERCIVE = "for every x: dot(grad(f, x), x) >= a*norm2(x) - b"
LINEAR = "for every x: norm2(grad(f, x)) <= a + b*norm2(x)"
RELATIVE = "for every n, x: norm2(grad(f_n, x) - grad(f, x)) <= r*norm2(grad(f, x))"
SELF = "for every x: norm2(grad(f, x)) <= 2*L*(f(x) - fstar)"
ONESIDED = "for every x, y: f(y) <= f(x) + dot(grad(f, x), y - x) + L/2*norm2(x - y)"
HESSIANS = "for every n, x, y: norm(grad(f_n, x) - grad(f, x) - grad(f_n, y) + grad(f, y)) <= delta*norm(x - y)"
MONOTONE = "dot(grad(f, x) - grad(f, y), x - y) >= 0"
S2 = {"s2": "mean_n(mean_i(norm2(grad(f_ni, xstar))))"}


@algorithm
def one_client(w, x, *, eta):
    return x - eta * w.average(w.gradient(x), w.choose(1))


V, D = ("x",), ("x", "y")
FALSE = (
    claim("weak", "dot(grad(f, x) - grad(f, y), x - y) >= -rho/2*norm2(x - y)", vectors=D, assuming=(WEAK,)),
    claim("middle", "f(x/2 + y/2) <= f(x)/2 + f(y)/2 + rho/16*norm2(x - y)", vectors=D, assuming=(WEAK,)),
    claim("weak-smooth", "norm(grad(f, x) - grad(f, y)) <= rho*norm(x - y)", vectors=D, assuming=(WEAK,)),
    claim("kink", "norm2(x[k+1] - xstar) <= norm2(x[k] - xstar) - 4*eta*(1 - eta*L/2)*(f(x[k]) - fstar)", of=descent,
          assuming=("smooth(f, L)", CONVEX)),
    claim("kink-convex", "norm2(x[k+1] - xstar) <= norm2(x[k] - xstar) - 4*eta*(1 - eta*L/2)*(f(x[k]) - fstar)",
          of=descent, assuming=("smooth(f, L)", CONVEX, "convex(f)")),
    claim("coco", "f(y) >= f(x) + dot(grad(f, x), y - x) + norm2(grad(f, x) - grad(f, y))/L", vectors=D,
          assuming=(COCO,)),
    claim("quasi-strong", "dot(grad(f, x) - grad(f, y), x - y) >= mu*norm2(x - y)", vectors=D,
          assuming=(QUASI, "smooth(f, L)")),
    claim("quasi-growth", "f(x) - fstar >= mu*norm2(x - xstar)", vectors=V, assuming=(QUASI,)),
    claim("star", "norm2(grad(f, x)) <= L*(f(x) - fstar)", vectors=V, assuming=(STAR, "smooth(f, L)")),
    claim("pl-growth", "f(x) - fstar >= mu*norm2(x - xstar)", vectors=V, assuming=(PL, "convex(f)")),
    claim("pl-rsi", "dot(grad(f, x), x - xstar) >= mu*norm2(x - xstar)", vectors=V, assuming=(PL, "smooth(f, L)")),
    claim("rsi-pl", "norm2(grad(f, x)) >= 2*mu*(f(x) - fstar)", vectors=V, assuming=(RSI, "smooth(f, L)")),
    claim("rsi", "norm2(x[k+1] - xstar) <= (1 - eta*mu)*norm2(x[k] - xstar)", of=descent,
          assuming=(RSI, "smooth(f, L)", "eta <= 2/L")),
    claim("eb-growth", "f(x) - fstar >= c*norm2(x - xstar)", vectors=V, assuming=(EB, "convex(f)")),
    claim("qg-pl", "norm2(grad(f, x)) >= mu*(f(x) - fstar)/2", vectors=V, assuming=(QG, "smooth(f, L)")),
    claim("aim", "norm2(x[k+1] - xstar) <= norm2(x[k] - xstar) - 2*eta*theta*(f(x[k]) - fstar)", of=descent,
          assuming=(AIM, "smooth(f, L)", "eta <= 1/L")),
    claim("aim-one", "theta <= 1", assuming=(AIM, "smooth(f, L)")),
    claim("es", "E(norm2(x[1] - xstar)) <= (1 - eta*mu)*norm2(x0 - xstar) + eta**2*s2", of=sgd, where=S2,
          assuming=(QUASI, ES, "N == 1", "eta <= 1/(2*A)")),
    claim("es-each", "norm2(grad(f_n, x) - grad(f_n, xstar)) <= 2*A*(f(x) - fstar)", vectors=V, assuming=(ES,)),
    claim("abc", "E(f(x[1])) <= f(x0) - eta*norm2(grad(f, x0)) + eta**2*L/4*C + eta**2*L/2*B*norm2(grad(f, x0))"
          " + eta**2*L*A*(f(x0) - fstar)", of=one_client, assuming=("smooth(f, L)", ABC),
          parameters={"A": NONNEGATIVE, "B": NONNEGATIVE}),
    claim("growth", "B <= 4", assuming=(SG, "smooth(f_n, L)", "convex(f_n)")),
    claim("gb", "mean_n(norm2(grad(f_n, x) - grad(f, x))) <= G**2", vectors=V, assuming=(GB,)),
    claim("gb-local", "norm2(x[1] - x0) <= H**2*eta**2*(G**2 + B**2*norm2(grad(f, x0)))/2", of=local_descent,
          assuming=(GB, "smooth(f_n, L)", "eta <= 1/(10*H*L)")),
    claim("apart", "norm(grad(f_n, x)) <= norm(grad(f, x)) + zeta/2", vectors=V, assuming=(APART, "smooth(f_n, L)")),
    claim("hessians", "norm(grad(f_n, x) - grad(f, x)) <= delta*norm(x - xstar)", vectors=V,
          assuming=(HESSIANS, "convex(f_n)")),
    claim("relative", "E(norm2(grad(f, x[1]))) <= (1 + eta*L)**2*norm2(grad(f, x0)) - r*eta**2*L**2"
          "*norm2(grad(f, x0))", of=one_client, assuming=(RELATIVE, "smooth(f, L)")),
    claim("coercive", "a*norm2(xstar) <= b/2", assuming=(COERCIVE, "smooth(f, L)")),
    claim("linear", "norm(grad(f, x)) <= sqrt(b)*norm(x)", vectors=V, assuming=(LINEAR, "smooth(f, L)")),
    claim("sign", "c*norm2(grad(f, x)) >= 0", vectors=V, assuming=("for every x: f(x) >= fstar",),
          parameters={"c": REAL}),
    claim("floor", "f(x) >= 0", vectors=V, assuming=("for every x: f(x) >= c",), parameters={"c": REAL}),
    claim("real", "f(y) >= f(x) + dot(grad(f, x), y - x)", vectors=D, assuming=(MONO, "smooth(f, L)"),
          parameters={"mu": REAL}),
    claim("self", "f(x) - fstar >= 0.6*norm2(grad(f, x))/L", vectors=V, assuming=(SELF,)),
    claim("onesided", "norm2(x[k+1] - xstar) <= norm2(x[k] - xstar) - 2*eta*(f(x[k]) - fstar)"
          " - eta*norm2(grad(f, x[k]))/L", of=descent, assuming=(ONESIDED, CONVEX, "eta <= 1/L")),
)  # fmt: skip


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(one, marks=[] if place % 4 == 0 else [pytest.mark.slow], id=one.label)
        for place, one in enumerate(FALSE)
    ],
)
def test_false_sentences_are_refuted(one, tmp_path):
    """By quadratics of one or two clients, a kink, a negative constant, or a bump: worked out by hand for each."""
    assert check(one, quick=True, out=tmp_path).verdict == "refuted"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("assumed", "statement"),
    [(STAR, "f(x/2 + y/2) <= f(x)/2 + f(y)/2"), (QUASI, MONOTONE), (PL, MONOTONE), (AIM, MONOTONE)],
)
def test_functions_that_need_not_be_convex(assumed, statement, tmp_path):
    """Slopes 1, -1/4, 1 far enough from the minimiser: each holds with a small constant, and f is not convex."""
    one = claim("c", statement, vectors=D, assuming=(assumed, "smooth(f, L)"))
    assert check(one, quick=True, out=tmp_path).verdict == "refuted"


VALLEYS = (
    claim("pl-sign", "dot(grad(f, x), x - xstar) >= 0", vectors=V, assuming=(PL, "smooth(f, L)")),
    claim("eb-sign", "dot(grad(f, x), x - xstar) >= c*norm2(x - xstar)/2", vectors=V, assuming=(EB, "smooth(f, L)")),
)
"""False in curved valleys of two dimensions, such as x^2/2 + 50 (y - sin(x))^2, which no search has."""


@pytest.mark.parametrize("one", VALLEYS, ids=lambda one: one.label)
def test_what_a_valley_breaks_is_not_bounded(one):
    assert not worst(one, quick=True).bounded


@pytest.mark.slow
@pytest.mark.parametrize("one", VALLEYS, ids=lambda one: one.label)
def test_what_a_valley_breaks_is_not_supported(one, tmp_path):
    assert check(one, quick=True, out=tmp_path).verdict == "undecided"


def test_a_claim_that_holds_for_all_functions_with_the_sentence_at_its_points_is_bounded():
    """By hand: 2*eta*dot(g, x - xstar) >= 2*eta*(gap + mu/2 r), norm2(g) <= 2*L*gap and eta*L <= 1/2."""
    true = "norm2(x[k+1] - xstar) <= (1 - eta*mu)*norm2(x[k] - xstar)"
    assuming = (QUASI, "smooth(f, L)", "eta <= 1/(2*L)")
    assert worst(claim("c", true, of=descent, assuming=assuming), quick=True).bounded
    false = true.replace("(1 - eta*mu)", "(1 - 2*eta*mu)")
    assert not worst(claim("c", false, of=descent, assuming=assuming), quick=True).bounded
