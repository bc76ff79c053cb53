"""Assumptions that are sentences for every point: what is read, which way constants may be wrong, what is refused."""

import pytest

from theory import algorithm, claim
from theory.for_every import ForEvery, assumption, predicate_of
from theory.predicates import PREDICATES
from theory.sentence import SentenceError
from theory.typeset import latex_of_assumption

QUASI = "for every x: dot(grad(f, x), x - xstar) >= f(x) - fstar + mu/2*norm2(x - xstar)"


@algorithm
def descent(w, x, *, eta):
    return x - eta * w.mean(w.gradient(x))


@pytest.mark.parametrize(
    ("text", "read_back", "binds"),
    [
        (QUASI, QUASI, {"mu": "down"}),
        (
            "for every x: mean_n(norm2(grad(f_n,x))) <= G2 + B2*norm2(grad(f,x))",
            "for every x: mean_n(norm2(grad(f_n, x))) <= G2 + B2*norm2(grad(f, x))",
            {"G2": "up", "B2": "up"},
        ),
        (
            "for every x: norm2(grad(f_n, x) - grad(f, x)) <= zeta**2",
            "for every n, x: norm2(grad(f_n, x) - grad(f, x)) <= zeta**2",
            {"zeta": "up"},
        ),
        (
            "for every x, y: f(y) >= f(x) + dot(grad(f, x), y - x) - rho/2*norm2(x - y)",
            "for every x, y: f(y) >= f(x) + dot(grad(f, x), y - x) - rho/2*norm2(x - y)",
            {"rho": "up"},
        ),
        (  # smaller divisors leave more room, and a factor inside of a vector may be wrong in neither way
            "for every x: norm2(x - eta*grad(f, x)) <= (1 + 1/b)*norm2(x - xstar)",
            "for every x: norm2(x - eta*grad(f, x)) <= (1 + 1/b)*norm2(x - xstar)",
            {"b": "down"},
        ),
        (  # a weight of each client is a number of the claim
            "for every x: sum_n(q_n*norm2(grad(f_n, x))) <= A*norm2(sum_n(q_n*grad(f_n, x)))",
            "for every x: sum_n(q_n*norm2(grad(f_n, x))) <= A*norm2(sum_n(q_n*grad(f_n, x)))",
            {"A": "up"},
        ),
        ("for every x: f(x) - c <= c*norm2(x)", "for every x: f(x) - c <= c*norm2(x)", {"c": "up"}),
        ("for every x: f(x) + c <= c*norm2(x)", "for every x: f(x) + c <= c*norm2(x)", {}),
        ("for every x: f(x) == c*norm2(x)", "for every x: f(x) == c*norm2(x)", {}),
        ("for every x: f(x) <= (2 - c)*norm2(x)", "for every x: f(x) <= (2 - c)*norm2(x)", {"c": "down"}),
        ("for every x: f(x)*c <= norm2(x)", "for every x: f(x)*c <= norm2(x)", {}),
    ],
)
def test_what_is_read(text, read_back, binds):
    one = assumption(text)
    assert isinstance(one, ForEvery)
    assert one.text == read_back == assumption(one.text).text
    assert dict(one.binds) == binds
    assert len(one.directions) == len(one.constants)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("for every z: f(x) <= 1", "x is a scalar"),
        ("for every z: f(xstar) <= 1", "nothing in it has z"),
        ("for every n, x: f(x) <= 1", "nothing in it has n"),
        ("for every x: f(x) < 1", "one of <= >= =="),
        ("for every x, x: f(x) <= 1", "each listed once"),
        ("for every n: norm2(grad(f_n, xstar)) <= 1", "one or more points"),
        ("for every xstar: f(xstar) <= 1", "no name of a point"),
        ("for every a_n: mean_n(f_n(a_n)) <= 1", "no name of a point"),
        ("for every x: f(x[k]) <= 1", "neither a state nor a tap"),
        ("for every x: E(f(x)) <= 1", "about functions"),
        ("for every x: f(x) <= f(x0)", "about functions"),
        ("for every x: x <= c", "is a vector"),
        ("for every x f(x) <= 1", "an operator is missing"),
        ("for every x: f(x) <= g(x)", "g"),
        ("for every x: dot(x, v) <= c", "v is a scalar"),
        ("for every x: f(x) <= away", "speaks of another x"),
    ],
)
def test_what_is_refused(text, words):
    with pytest.raises(SentenceError, match=f"claim 'c'.*{words}"):
        claim("c", "norm2(v) <= 1", vectors=("v", "x"), assuming=(text,), where={"away": "norm2(x)"})


def test_a_claim_has_its_constants_as_parameters():
    one = claim(
        "c", "f(x[k]) - fstar <= mu*eta*sigma", of=descent, assuming=(QUASI,), where={"sigma": "norm2(x0 - xstar)"}
    )
    assert one.symbols == ("eta", "mu")
    assert dict(one.constants) == {"mu": "down"}
    two = claim("c", "mu <= L", assuming=(QUASI, "smooth(f, mu)"))
    assert dict(two.constants) == {"mu": "exact"}  # one number, of which one assumption wants more and one less


def test_what_a_claim_defines_is_no_constant():
    text = "for every x: mean_n(norm2(grad(f_n, x))) <= 2*A*(f(x) - fstar) + s"
    one = claim("c", "s <= 2*A", assuming=(text,), where={"s": "mean_n(norm2(grad(f_n, xstar)))"})
    assert dict(one.constants) == {"A": "up"}
    assert one.symbols == ("A",)


def test_data_and_mathematics():
    one = predicate_of("for every x: norm2(grad(f_n, x)) <= G2")
    assert one.to_json() == {"predicate": "for every", "points": ["x"], "sentence": "norm2(grad(f_n, x)) <= G2"}
    assert latex_of_assumption(one) == r"\forall\, n,x:\; \|\nabla f_{n}(x)\|^{2} \leq G^{2}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("L-smooth(f)", r"it has no relation .*; an assumption is written smooth\(f, L\)$"),
        ("mu-strongly convex(f)", r"; an assumption is written strongly_convex\(f, mu\)$"),
        ("f is convex", r"missing between 'f' and 'is'; an assumption is written convex\(f\)$"),
        ("f is L-smooth and convex", r"; an assumption is written smooth\(f, L\)$"),
        ("convex", r"it has no relation .*; an assumption is written convex\(f\)$"),
        ("L_smooth(f)", r"not known; did you mean smooth\(f, L\)\?"),
        ("Lipschitz(f, G)", r"not known; did you mean lipschitz\(f, G\)\?"),
        ("bounded_dissimilarity(zeta)", r"not known; did you mean dissimilar\(zeta\)\?"),
        ("smooth(L)", r"the first argument of smooth is f, f_n or f_ni, as in smooth\(f, L\)"),
        ("pl(f)", r"pl takes 1 constants, not 0, as in pl\(f, mu\)"),
        ("smooth(f, L) and convex(f)", "in assuming an entry of the tuple$"),
        ("smooth(f, L), convex(f)", "in assuming an entry of the tuple$"),
        ("f(x0) - fstar", r"it has no relation \(< <= > >= ==\)$"),
        ("eta simple <= 1", "missing between 'eta' and 'simple'$"),
    ],
)
def test_an_assumption_in_other_words_is_told_how_it_is_written(text, words):
    with pytest.raises(SentenceError, match=words):
        assumption(text)


@pytest.mark.parametrize("kind", PREDICATES.values())
def test_how_messages_write_an_assumption_is_how_it_is_read(kind):
    assert assumption(kind.written).text == kind.written
