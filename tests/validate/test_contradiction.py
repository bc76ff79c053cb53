"""What relations for every client imply for their means and extremes; nothing is called contradictory that is not."""

from dataclasses import replace

import pytest

from tests.rounds import descent
from theory import algorithm, claim
from theory.domain import COUNT, NONNEGATIVE, REAL
from validate.certificate import verified
from validate.contradiction import contradictions
from validate.examine import examine
from validate.no_functions import excluded


@algorithm
def willing(w, x, *, eta, p):
    return x - eta * w.average(w.gradient(x), w.coins(p))


WEIGHTED = "norm2(sum_n(q_n*a_n)) <= sum_n(q_n*norm2(a_n))"
ONE = "sum_n(q_n) == 1"
CANNOT = [
    (ONE, "q_n >= 2/N"),
    (ONE, "q_n > 1/N"),
    (ONE, "max_n(q_n) < 1/N"),
    (ONE, "min_n(q_n) > 1/N"),
    (ONE, "q_n <= 1/(2*N)"),
    ("mean_n(q_n) == 1", "q_n < 1"),
    ("max_n(q_n) == 3", "q_n**2 <= 4"),
    ("min_n(q_n) == 3", "q_n**2 >= 10"),
    ("sum_n(q_n) <= 0",),
    (ONE, "sum_n(2*q_n - 1/N) >= 3/2"),
    ("sum_n(q_n*r_n) == 1", "q_n*r_n + c <= 1/N"),
    (ONE, "q_n*N >= 1", "max_n(q_n) >= 2/N", "N >= 3"),
    (ONE, "q_n*N <= 1", "min_n(q_n) <= 1/(2*N)", "N >= 3"),
    (ONE, "q_n*N >= 1/2", "max_n(q_n) > (N + 1)/(2*N)"),
]
CAN = [
    (ONE, "q_n >= 1/N"),
    (ONE, "max_n(q_n) <= 1/N"),
    (ONE, "q_n <= 2/N"),
    (ONE, "q_n >= 1/(2*N)"),
    ("sum_n(q_n) == 2", "q_n <= 1"),
    ("max_n(q_n) == 3", "q_n**2 <= 9"),
    ("sum_n(q_n) >= N", "min_n(q_n) <= 1/2"),
    (ONE, "mean_n(q_n**2) >= 1/2"),
    ("mean_n(q_n) == 1", "max_n(q_n) >= 3"),
    (ONE, "sum_n(2*q_n - 1/N) >= 1"),
    (ONE, "q_n*N >= 1/2", "max_n(q_n) >= (N + 1)/(2*N)"),
    (ONE, "q_n*N <= 2", "min_n(q_n) <= 1/(2*N)", "N >= 3"),
]


ZERO = "parameters={{{0!r}: NONNEGATIVE}} lets it be 0, or leave out the terms that have it"


def outcomes(one):
    return [evidence.outcome for evidence in contradictions(one)]


@pytest.mark.parametrize("assuming", CANNOT)
def test_weights_that_cannot_be_are_contradictory(assuming, tmp_path):
    one = claim("any", WEIGHTED, vectors=("a_n",), assuming=assuming)
    assert outcomes(one) == ["vacuous"]
    assert examine(one, quick=True, out=tmp_path).verdict == "vacuous"  # though it may be proved, too


@pytest.mark.parametrize("assuming", CAN)
def test_weights_that_can_be_are_not(assuming):
    assert "vacuous" not in outcomes(claim("any", WEIGHTED, vectors=("a_n",), assuming=assuming))


@algorithm
def scheduled(w, x, *, eta):
    return x - eta * w.full_gradient(x)


IN_ROUNDS = [
    (("mean_k(eta_k) <= 1/(2*L)", "eta_k >= 1/L"), ["vacuous"]),
    (("max_k(eta_k) < 1/L", "eta_k == 1/L"), ["vacuous"]),
    (("min_k(eta_k) >= 2/L", "eta_k <= 1/L"), ["vacuous"]),
    (("mean_k(eta_k) <= 1/(2*L)", "eta_k >= 1/(2*L)"), []),
    (("mean_k(eta_k) <= 1/(2*L)", "eta_k >= 1/(L*(k+1))"), []),
    (("max_k(eta_k) <= 1/L", "eta_k*(k+1) >= 1/L"), []),
]


@pytest.mark.parametrize(("assuming", "expected"), IN_ROUNDS)
def test_what_bounds_a_step_in_every_round_bounds_their_mean(assuming, expected):
    one = claim("any", "f(x[k]) <= f(x0)", of=scheduled, assuming=("smooth(f, L)", *assuming))
    assert outcomes(one) == expected


@pytest.mark.parametrize(
    ("same", "still"),
    [
        ("same_minimiser(f_ni)", "mean_n(norm2(grad(f_n, xstar))) >= zeta"),
        ("same_minimiser(f_ni)", "max_n(norm(grad(f_n, xstar))) >= a + zeta"),
        ("same_minimiser(f_n)", "mean_n(norm2(grad(f_n, xstar))) >= zeta"),
        ("convex(f)", "norm(grad(f, xstar)) >= zeta"),
        ("convex(f)", "dot(grad(f, xstar), x0) >= zeta"),
    ],
)
def test_at_a_minimiser_gradients_are_0(same, still):
    one = claim("any", "norm2(x[1] - xstar) <= norm2(x0 - xstar) + zeta", of=descent, assuming=(same, still))
    assert outcomes(one) == ["vacuous"]


@pytest.mark.parametrize(
    ("same", "still"),
    [
        ("convex(f_n)", "mean_n(norm2(grad(f_n, xstar))) >= zeta"),
        ("same_minimiser(f_n)", "mean_n(mean_i(norm2(grad(f_ni, xstar)))) >= zeta"),
        ("same_minimiser(f_ni)", "mean_n(norm2(grad(f_n, x0))) >= zeta"),
    ],
)
def test_at_other_points_and_of_other_functions_they_need_not_be(same, still):
    one = claim("any", "norm2(x[1] - xstar) <= norm2(x0 - xstar) + zeta", of=descent, assuming=(same, still))
    assert "vacuous" not in outcomes(one)


def test_the_programs_name_of_one_number_a_client_is_that_number():
    """`p` in a relation is p_n for every client."""
    assuming = ("sum_n(p_n) == S", "p <= 1/2", "2*S > N")
    one = claim("any", "E(norm2(x[1] - x0)) <= eta", of=willing, assuming=assuming)
    assert outcomes(one) == ["vacuous"]
    assert outcomes(claim("any", "E(norm2(x[1] - x0)) <= eta", of=willing, assuming=(*assuming[:2], "2*S >= N"))) == []


@pytest.mark.parametrize("assuming", [("k >= 0",), ("k <= 2",), ("eta_k >= k",), ("eta_k > k/2", "eta_k <= 1 + k")])
def test_what_the_first_round_allows_is_no_contradiction(assuming):
    assert "vacuous" not in outcomes(claim("any", "2**k + 0*eta_k >= k**2", assuming=assuming))


def test_a_round_that_a_run_may_not_have_is_asked_nothing():
    late = claim("late", "f(x[k]) >= fstar", of=descent, assuming=("norm2(x[k+2] - x[k]) <= -1",))
    assert outcomes(late) != ["vacuous"]
    early = claim("early", "f(x[k]) >= fstar", of=descent, assuming=("norm2(x[k+1] - x[k]) <= -1",))
    assert outcomes(early) == ["vacuous"]


@pytest.mark.parametrize(
    ("assuming", "vacuous"),
    [
        (("norm2(a) < 1", "norm2(b) < 1", "dot(a, b) >= 1"), True),
        (("norm(a) < 1", "norm(b) < 1", "1 <= dot(b, a)"), True),
        (("norm2(a) < 1", "norm2(b) < 4", "dot(a, b) <= -2"), True),
        (("norm2(a) <= c", "norm2(b) <= c", "dot(a, b) > c"), True),
        (("norm2(a) + norm2(b) < 1", "dot(a, b) >= 1/2"), True),
        (("norm2(a) <= 1", "norm2(b) <= 1", "dot(a, b) >= 1"), False),
        (("norm2(a) < 1", "norm2(b) < 4", "dot(a, b) <= -199/100"), False),
        (("norm2(a) + norm2(b) <= 1", "dot(a, b) >= 1/2"), False),
    ],
)
def test_a_product_of_vectors_is_at_most_that_of_their_lengths(assuming: tuple[str, ...], vacuous: bool) -> None:
    one = claim("angle", "norm2(a - b) <= c", vectors=("a", "b"), assuming=assuming)
    assert [e.outcome for e in contradictions(one)].count("vacuous") == vacuous


def test_a_product_for_every_client_is_at_most_that_of_their_lengths() -> None:
    lengths = ("norm2(a_n) < 1", "norm2(b_n) < 1")
    for product, vacuous in (("dot(a_n, b_n) >= 1", True), ("dot(a_n, b_n) >= 1/2", False)):
        one = claim("angles", "norm2(mean_n(a_n)) <= c", vectors=("a_n", "b_n"), assuming=(*lengths, product))
        assert [e.outcome for e in contradictions(one)].count("vacuous") == vacuous


QUASI = "for every x: fstar >= f(x) + dot(grad(f, x), xstar - x) + mu/2*norm2(xstar - x)"
GROWS = "for every x: f(x) - fstar >= mu/2*norm2(x - xstar)"
NO_FUNCTIONS = [
    ("strongly_convex(f, mu)", "for every x: norm2(grad(f, x)) <= G"),
    ("strongly_convex(f_n, mu)", "for every x: f(x) - fstar <= c"),
    ("smooth(f, L)", "for every x, y: norm2(grad(f, x) - grad(f, y)) >= M*norm2(x - y)", "M > L**2"),
    ("for every x: norm2(grad(f, x)) >= c + 0*norm2(x - xstar)",),
    ("for every x: norm2(x - xstar) <= R",),
    ("smooth(f, L)", QUASI, "mu > L"),
    ("strongly_convex(f, mu)", "for every x, y: f(y) <= f(x) + dot(grad(f, x), y - x) - r/2*norm2(x - y)"),
    ("smooth(f, L)", "for every x, y: dot(grad(f, x) - grad(f, y), x - y) >= mu*norm2(x - y)", "mu > L"),
    (GROWS, "for every x: f(x) - fstar <= nu/2*norm2(x - xstar)", "nu < mu"),
]
LARGE = "for every x: mean_n(mean_i(norm2(grad(f_ni, x)))) <= rho*norm2(grad(f, x))"
NO_FUNCTIONS += [
    ("strongly_convex(f, mu)", LARGE, "rho < 1"),
    ("smooth(f, L)", "dissimilar(G, B)", "B < 1", "strongly_convex(f, mu)"),
    ("dissimilar(G, 1/2)", "strongly_convex(f_n, mu)"),
]
FUNCTIONS = [
    ("strongly_convex(f, mu)", LARGE, "rho <= 1"),
    ("convex(f)", LARGE, "rho < 1"),
    ("smooth(f, L)", "dissimilar(G, B)", "B <= 1", "strongly_convex(f, mu)"),
    ("smooth(f, L)", "dissimilar(G, B)", "B < 1"),
    ("dissimilar(zeta)", "strongly_convex(f_n, mu)"),
    ("convex(f)", "for every x: norm2(grad(f, x)) <= G"),
    ("smooth(f, L)", QUASI, "mu >= L"),
    (GROWS, "for every x: f(x) - fstar <= nu/2*norm2(x - xstar)", "nu <= mu"),
    ("for every x: norm2(grad(f, x)) >= c*norm2(x - xstar)",),
    ("smooth(f, L)", "for every x, y: norm2(grad(f, x) - grad(f, y)) >= M*norm2(x - y)", "M >= L**2"),
]


@pytest.mark.parametrize("assuming", NO_FUNCTIONS, ids="; ".join)
def test_sentences_for_every_point_that_no_functions_satisfy(assuming, tmp_path):
    """By hand: of two points apart each set asks what no number is; the derivation is accepted on its own, too."""
    result = examine(claim("c", "norm2(grad(f, x)) <= 1", vectors=("x",), assuming=assuming), quick=True, out=tmp_path)
    assert result.verdict == "vacuous"
    (made,) = (item.data["derivation"] for item in result.evidence if item.outcome == "vacuous")
    assert verified(made).valid


@pytest.mark.parametrize("assuming", FUNCTIONS, ids="; ".join)
def test_sentences_for_every_point_that_some_functions_satisfy(assuming):
    """A constant, or x^2/2 times a number, does."""
    one = claim("c", "norm2(grad(f, x)) <= 1", vectors=("x",), assuming=assuming)
    assert not excluded(one)


@pytest.mark.parametrize("where", [REAL, NONNEGATIVE])
def test_a_constant_that_may_be_0_bounds_nothing(where):
    """With mu = 0 a linear function satisfies them, although mu**2*norm2(v - w) <= G follows."""
    one = claim(
        "c", "norm2(grad(f, x)) <= 1", vectors=("x",), parameters={"mu": where},
        assuming=("for every x, y: norm2(grad(f, x) - grad(f, y)) >= mu**2*norm2(x - y)",
                  "for every x, y: norm2(grad(f, x) - grad(f, y)) <= G", "G >= 5"),
    )  # fmt: skip
    assert not excluded(one)


@pytest.mark.parametrize(("where", "said"), [({}, True), ({"b": COUNT}, False)])
def test_what_is_an_integer_by_its_name_is_said_to_be_one(where, said):
    """Momentum is often called b, and an author who reads "vacuous" alone looks in vain."""
    one = claim("c", "a*b <= a", assuming=("b < 1",), parameters=where)
    (item,) = contradictions(one)
    assert item.outcome == "vacuous"
    assert ("b is an integer, at least 1, by its name (parameters={'b': ...} says otherwise)" in item.detail) == said


@pytest.mark.parametrize(
    ("assumed", "name"),
    [
        ("zeta == 0", "zeta"),
        ("zeta*L <= 0", "zeta"),
        ("q_n == 0", "q"),
        ("sum_n(q_n) == 0", "q"),
        ("eta_k == 0", "eta"),
    ],
)
def test_what_is_positive_by_its_domain_is_said_to_be(assumed, name):
    """Clients that are alike are often said to have zeta = 0, and names are positive where nothing else is said."""
    one = claim("c", "f(x[k+1]) <= f(x[k])", of=descent, assuming=("smooth(f_n, L)", "dissimilar(zeta)", assumed))
    (item,) = contradictions(one)
    assert item.outcome == "vacuous"
    assert f"{name} is positive by its domain: {ZERO.format(name)}" in item.detail
    assert "vacuous" not in outcomes(replace(one, parameters={name: NONNEGATIVE}))


@pytest.mark.parametrize("assumed", [("eta <= 1/L", "eta > 2/L"), ("L <= -1",), ("K <= 1", "K >= 2")])
def test_what_no_0_mends_has_no_such_hint(assumed):
    one = claim("c", "f(x[k+1]) <= f(x[k])", of=descent, assuming=("smooth(f, L)", *assumed))
    assert not any("by its domain" in item.detail or "begins at 0" in item.detail for item in contradictions(one))


@pytest.mark.parametrize("assumed", ["k >= 1", "eta_k == 1/(L*k)", "k*eta >= 2/L"])
def test_a_round_is_said_to_begin_at_0(assumed):
    """What holds of every round holds of round 0, and papers often count from 1."""
    one = claim("c", "f(x[k+1]) <= f(x[k])", of=descent, assuming=("smooth(f, L)", assumed))
    (item,) = contradictions(one)
    assert item.outcome == "vacuous"
    assert "k begins at 0: to begin with 1, write k + 1 for k in the sentence and what it assumes" in item.detail
    assert "by its domain" not in item.detail
