"""How far local steps lead under bounded gradients: the lemmas of local SGD, found unaided."""

from dataclasses import replace

import pytest

from tests.derivation.both import check
from tests.derivation.search.finding import is_found, is_not_found
from theory import algorithm
from theory.claim import claim
from theory.derivation.search.searching import search
from validate.proving import work_of


@algorithm
def local(w, x, *, eta, H):
    y = w.each(x)
    for _ in w.repeat(H):
        w.tap("y", y)
        y = y - eta * w.gradient(y)
    return w.mean(y)


@algorithm
def with_memory(w, x, *, eta, H):
    y, v = w.each(x), w.each(0 * x)
    for _ in w.repeat(H):
        w.tap("y", y)
        w.tap("v", v)
        y, v = y + v, w.gradient(y)
    return w.mean(y) - eta * w.mean(v)


@algorithm
def descent(w, x, *, eta):
    return x - eta * w.full_gradient(x)


BOUNDED = ("bounded_gradients(f_n, G)",)
RUN = claim("run", "norm2(x[k] - x0) <= eta**2*k**2*G**2", of=descent, assuming=("bounded_gradients(f, G)",))
EACH = claim("each", "norm2(y[k, h] - x[k]) <= eta**2*(H - 1)**2*G**2", of=local, assuming=BOUNDED)
MOVED = claim("moved", "norm2(x[k+1] - x[k]) <= eta**2*H**2*G**2", of=local, assuming=BOUNDED)
FOUND = {
    "each": EACH,
    "with all turns": replace(EACH, statement="eta**2*H**2*G**2 >= norm2(y[k, h] - x[k])"),
    "so far": replace(EACH, statement="norm2(y[k, h] - x[k]) <= (eta*h*G)**2"),
    "a length": replace(EACH, statement="norm(y[k, h] - x[k]) <= eta*H*G"),
    "on average": replace(EACH, statement="mean_n(norm2(y[k, h] - x[k])) <= eta**2*H**2*G**2"),
    "a round": MOVED,
    "over rounds": RUN,
    "a length over rounds": replace(RUN, statement="norm(x[k] - x0) <= k*eta*G"),
    "at the end": replace(RUN, statement="norm(x[K] - x0) <= K*eta*G"),
    "with room": replace(RUN, statement="norm2(x[k] - x0) <= 2*eta**2*k**2*G**2"),
    "as long as its steps": replace(RUN, statement="norm2(x[K] - x0) <= K*sum_k(eta**2*norm2(grad(f, x[k])))"),
    "defined": replace(EACH, statement="far <= D", where={"far": "norm2(y[k, h] - x[k])", "D": "(eta*H*G)**2"}),
}
FALSE = {
    "one turn less": replace(EACH, statement=EACH.statement.replace("H - 1", "H - 2")),
    "over rounds with less": replace(RUN, statement="norm2(x[k] - x0) <= eta**2*(k**2 - k)*G**2"),
    "at the end with less": replace(RUN, statement="norm(x[K] - x0) <= (K - 1)*eta*G"),
    "less than its steps": replace(RUN, statement="norm2(x[K] - x0) <= (K - 1)*sum_k(eta**2*norm2(grad(f, x[k])))"),
    "linear": replace(EACH, statement="norm2(y[k, h] - x[k]) <= eta**2*H*G**2"),
    "of f alone": replace(EACH, assuming=("bounded_gradients(f, G)",)),
    "a round with less": replace(MOVED, statement=MOVED.statement.replace("H**2", "(H - 1)**2")),
    "with memory": claim("memory", "norm2(y[k, h] - x[k]) <= eta**2*H**2*G**2", of=with_memory, assuming=BOUNDED),
}


@pytest.mark.parametrize("name", FOUND)
def test_it_is_found(name: str) -> None:
    """With the work of a check, and what is found the verifier accepts too."""
    is_found(FOUND[name])


@pytest.mark.parametrize("name", FALSE)
def test_nothing_is_found_for_what_is_false(name: str) -> None:
    is_not_found(FALSE[name])


def test_what_is_so_of_one_client_is_at_most_the_sum() -> None:
    given = {"vectors": ("x",), "assuming": ("dissimilar(zeta)",)}
    one = claim("each", "norm2(grad(f_n, x) - grad(f, x)) <= N*zeta**2", **given)
    lines = search(one, work_of(one)).lines
    assert lines is not None
    assert check(one, lines).lines
    less = replace(one, statement=one.statement.replace("N*", ""))
    assert search(less, work_of(less)).lines is None


def test_a_convex_function_at_the_mean_of_the_clients() -> None:
    model = claim("model", "f(mean_n(y_n)) <= mean_n(f(y_n))", vectors=("y_n",), assuming=("convex(f_n)",))
    lines = search(model, work_of(model)).lines
    assert lines is not None
    assert check(model, lines).lines
    turned = replace(model, statement="mean_n(f(y_n)) <= f(mean_n(y_n))")
    assert search(turned, work_of(turned)).lines is None
