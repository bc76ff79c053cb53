"""What holds with a probability (Markov), and what lengths are on average (Jensen): found unaided."""

from dataclasses import replace

import pytest

from tests.derivation.both import accepted
from tests.derivation.search.finding import is_found, is_not_found
from theory import algorithm
from theory.claim import claim
from theory.derivation import axiom
from theory.domain import Domain


@algorithm
def sgd(w, x, *, eta):
    g = w.gradient(x, w.sample())
    w.tap("g", g)
    return x - eta * w.mean(g)


LEVEL = ("bounded_variance(sigma2)", "p < 1")
NOISE = "norm2(g[k] - grad(f_n, x[k]))"
TAIL = claim("tail", f"quantile({NOISE}, 1 - p) <= sigma2/p", of=sgd, assuming=LEVEL)
BALL = claim(
    "ball",
    "quantile(norm(x[k] - xstar), 1 - p) <= sqrt(((1 - eta*mu)**k*norm2(x0 - xstar) + 2*eta*sigma2/(mu*N))/p)",
    of=sgd,
    assuming=("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)", "eta <= 1/(2*L)", "p < 1"),
    where={"sigma2": "mean_n(mean_i(norm2(grad(f_ni, xstar) - grad(f_n, xstar))))"},
)
LENGTH = claim(
    "length",
    "E(norm(g[k] - grad(f_n, x[k]))) <= sigma",
    of=sgd,
    assuming=("bounded_variance(sigma**2)",),
)
FOUND = {
    "a tail": TAIL,
    "of a length": replace(TAIL, statement="quantile(norm(g[k] - grad(f_n, x[k])), 1 - p) <= sqrt(sigma2/p)"),
    "of all rounds": BALL,
    "a length": LENGTH,
    "over the clients": replace(LENGTH, statement="mean_n(E(norm(g[k] - grad(f_n, x[k])))) <= sigma"),
    "of free vectors": claim(
        "free", "mean_n(norm(a_n)) <= c", vectors=("a_n",), assuming=("mean_n(norm2(a_n)) <= c**2",)
    ),
}
FALSE = {
    "a tail, half of it": replace(TAIL, statement=TAIL.statement.replace("/p", "/(2*p)")),
    "a tail with a logarithm": replace(TAIL, statement=TAIL.statement.replace("sigma2/p", "3*sigma2*log(2/p)")),
    "a length for its square": replace(LENGTH, statement=f"E({NOISE}) <= sigma"),
    "of free vectors, the largest": replace(FOUND["of free vectors"], statement="max_n(norm(a_n)) <= c"),
}


@pytest.mark.parametrize("name", FOUND)
def test_it_is_found(name: str) -> None:
    """With the work of a check, and what is found the verifier accepts too."""
    is_found(FOUND[name])


@pytest.mark.parametrize("name", FALSE)
def test_nothing_is_found_for_what_is_false(name: str) -> None:
    """Its neighbours have no derivation."""
    is_not_found(FALSE[name])


def test_markov_is_of_what_is_never_negative() -> None:
    """Of any other number, and of a chance that may be 0, it says nothing."""
    said = "quantile({e}, 1 - p) <= E({e})/p"
    for e, domains, so in (
        (NOISE, {"p": Domain(0, 1, lower_open=True, upper_open=True)}, True),
        (NOISE, {}, False),
        ("dot(g[k], x0)", {"p": Domain(0, 1, lower_open=True, upper_open=True)}, False),
        (f"a*{NOISE}", {"a": Domain(None, None), "p": Domain(0, 1, lower_open=True, upper_open=True)}, False),
        (NOISE, {"p": Domain(0, 1)}, False),
    ):
        one = claim("said", said.format(e=e), of=sgd, parameters=domains)
        assert accepted(one, (axiom("said", None, "markov", e, "p"),)) is so


def test_the_probability_is_one_number() -> None:
    """No quantile is read of a probability that each client has."""
    one = claim("said", f"quantile({NOISE}, 1 - p_n) <= E({NOISE})/p_n", of=sgd)
    assert not accepted(one, (axiom("said", None, "markov", NOISE, "p_n"),))
