"""What the strategies promise of the values that they draw, checked on every claim of the catalogue."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.problems import Quadratic
from tests.language import noise_ball, scaffold
from theory import catalog, claim
from theory.calculator import calculator
from theory.domain import COUNT, INDEX, NONNEGATIVE, OPEN_UNIT, POSITIVE, PROBABILITY, REAL, Domain
from validate.strategies import numbers, parameters, quadratics, satisfies, vectors

F = Fraction

EMPTY = {
    "open-fl/theorem-3/papers-settings",
    "perm/theorem-2",
    "perm/theorem-2-step",
    "perm/theorem-2-unrolled",
    "perm/theorem-3-explicit",
}
"""Their hypotheses cannot hold together."""
UNDECIDED = {"open-fl/theorem-3/on-the-ball"}
"""Nobody has seen that they can."""
NOTHING = {"fedmim/eq2", "fedmim/eq2/corrected"}
"""Their bound takes no number."""
DRAWN = [c.id for c in catalog.claims() if c.has_sentence and c.id not in EMPTY | UNDECIDED | NOTHING]
# A few of each paper in every run; the others with the slow tests.
QUICK = {*DRAWN[::24], "open-fl/theorem-3", "perm/gen", "perm/theorem-2/corrected-2"}
LEMMA = "perm/lemma-6"


def check_draws(name: str, examples: int) -> None:
    one = catalog.claim(name)
    domains = {p.name: p for p in calculator(one, all_relations=True).bound.parameters}

    @settings(max_examples=examples, database=None, deadline=None)
    @given(parameters(one))
    def inner(values: dict[str, Any]) -> None:
        assert one.violated(**values) == ()
        assert satisfies(one, values)
        for key, value in values.items():
            parameter = domains[key]
            if parameter.shape == "vector":
                assert 1 <= len(value) <= 4
                assert all(isinstance(x, str) or parameter.domain.contains(F(x)) for x in value)
            elif not isinstance(value, str):
                assert parameter.domain.contains(F(value))
        assert np.isfinite(one.bound(**values)).all()

    inner()


@pytest.mark.parametrize("name", sorted(QUICK))
def test_what_is_drawn_satisfies_the_hypotheses(name: str) -> None:
    check_draws(name, 5)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in DRAWN if name not in QUICK])
def test_what_is_drawn_satisfies_the_hypotheses_of_every_claim(name: str) -> None:
    check_draws(name, 8)


def test_nothing_is_drawn_where_the_hypotheses_cannot_hold() -> None:
    with pytest.raises(ValueError, match="cannot hold together, so no parameters"):
        parameters("open-fl/theorem-3/papers-settings")


def test_a_claim_without_parameters_has_none_to_draw() -> None:
    with pytest.raises(ValueError, match="has no parameters"):
        parameters("fedmim/eq2")
    with pytest.raises(ValueError, match="is no sentence"):
        parameters("fedmim/remark-iv3")


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(EMPTY | UNDECIDED))
def test_the_list_of_claims_for_which_nothing_is_drawn_is_right(name: str) -> None:
    with pytest.raises(ValueError, match="no parameters can be drawn"):
        parameters(name)


def test_the_draws_reach_far_from_the_witness() -> None:
    """None of these would be found if the walk stayed at its start, or kept away from the hypotheses' limits."""
    drawn = seen(parameters(LEMMA), 60)
    assert any(v["L"] > 10 * v["mu"] for v in drawn)
    assert any(v["mu"] == v["L"] for v in drawn)
    drawn = seen(parameters("fedmim/eq34"), 60)
    steps = [F(v["eta_l"]) * v["K"] * v["L"] for v in drawn]
    assert F(3, 16) in steps  # on its limit
    assert any(0 < step < F(3, 160) for step in steps)
    assert max(steps) <= F(3, 16)
    assert {len(v["alpha"]) for v in drawn} >= {1, 2, 3}


def test_the_simplest_example_is_the_witness() -> None:
    from theory.feasible import feasible

    bound = calculator(catalog.claim(LEMMA), all_relations=True).bound
    witness = feasible(bound).witness
    assert witness is not None
    (found,) = seen(parameters(LEMMA), 1)  # the simplest comes first
    assert {name: F(value) for name, value in found.items()} == {name: F(str(v)) for name, v in witness.items()}


def seen(strategy: st.SearchStrategy[Any], examples: int) -> list[Any]:
    found = []

    @settings(max_examples=examples, database=None)
    @given(strategy)
    def collect(value: Any) -> None:
        found.append(value)

    collect()
    return found


def test_values_that_are_fixed_or_supposed_stay() -> None:
    for values in seen(parameters(LEMMA, fixed={"K": 60}, suppose=("L <= 3",)), 10):
        assert values["K"] == 60
        assert values["L"] <= 3
        assert catalog.claim(LEMMA).violated(**values) == ()


def test_a_start_has_to_satisfy_the_hypotheses() -> None:
    start = seen(parameters(LEMMA), 1)[0]
    bad = start | {"mu": start["L"] * 2}
    assert satisfies(LEMMA, start)
    assert not satisfies(LEMMA, bad)
    assert not satisfies(LEMMA, {"mu": 1})
    assert seen(parameters(LEMMA, near=start), 1)[0] == start
    with pytest.raises(ValueError, match="does not satisfy its hypotheses"):
        parameters(LEMMA, near=bad)
    with pytest.raises(ValueError, match="no parameter 'nu'"):
        parameters(LEMMA, fixed={"nu": 1})
    with pytest.raises(ValueError, match="'nu'"):
        parameters(LEMMA, suppose=("nu < 1",))


def test_a_parameter_that_a_hypothesis_sets_follows_the_others() -> None:
    tied = claim("tied", "q**k <= gamma*L + 1", assuming=("mu <= L", "gamma == 1/(mu + 2*L)", "q <= 1"))
    found = seen(parameters(tied), 20)
    assert len({(v["mu"], v["L"]) for v in found}) > 5
    for values in found:
        assert tied.violated(**values) == ()
        told = values | {"gamma": 1 / (F(values["mu"]) + 2 * F(values["L"]))}
        assert tied.violated(**told) == ()


def test_the_names_are_those_of_the_bound() -> None:
    """Rounds that the right side sums over follow from K, and what only the algorithm takes is not among them."""
    summed = claim("summed", "q <= sum_k(q**k)", assuming=("q < 1",))
    for values in seen(parameters(summed), 10):
        assert set(values) == {"q", "K"}
        assert values["q"] < 1
        assert summed.bound(**values) > 0
    for values in seen(parameters(noise_ball.ONE_STEP), 10):
        assert values["eta"] <= 1 / (2 * F(values["L"]))
    with pytest.raises(ValueError, match="no parameter 'H'"):
        parameters(scaffold.STAYS, fixed={"H": 2})


DOMAINS = [
    REAL,
    POSITIVE,
    NONNEGATIVE,
    PROBABILITY,
    OPEN_UNIT,
    COUNT,
    INDEX,
    Domain(None, 3, upper_open=True),
    Domain(None, 3, integer=True),
    Domain(-2, 2, integer=True),
    Domain(0.5, 0.5),
    Domain(0, 3, lower_open=True, upper_open=True, integer=True),
]


@given(st.sampled_from(DOMAINS).flatmap(lambda d: st.tuples(st.just(d), numbers(d))))
def test_numbers_are_in_their_domain(drawn: tuple[Domain, Any]) -> None:
    domain, number = drawn
    assert isinstance(number, int if domain.integer else F)
    assert domain.contains(F(number))


def test_numbers_reach_the_closed_ends_and_no_open_one() -> None:
    assert {F(0), F(1)} <= set(seen(numbers(Domain(0, 1)), 200))
    assert 1 in seen(numbers(PROBABILITY), 200)
    assert 0 in seen(numbers(NONNEGATIVE), 200)


@pytest.mark.parametrize("domain", [Domain(0, 0, lower_open=True), Domain(0, 1, True, True, True)])
def test_an_empty_domain_has_no_numbers(domain: Domain) -> None:
    with pytest.raises(ValueError, match="is empty"):
        numbers(domain)


@settings(max_examples=40)
@given(st.data())
def test_quadratics_have_their_constants(data: st.DataObject) -> None:
    mu = data.draw(st.sampled_from([F(-1), F(0), F(1, 10), F(2)]))
    problem = data.draw(quadratics(mu=mu, L=2, samples=(1, 2)))
    assert problem.exact
    flat = [problem.hessian[n, i] for n in range(problem.clients) for i in range(problem.counts[n])]
    values = np.concatenate([np.linalg.eigvalsh(h.astype(float)) for h in flat])
    assert values.min() >= float(mu) - 1e-9
    assert values.max() <= 2 + 1e-9
    if len(values) > 1:
        assert values.min() == pytest.approx(float(mu), abs=1e-9)
        assert values.max() == pytest.approx(2, abs=1e-9)
    if problem.samples == 1 and len(values) > 1:
        assert float(problem.strong_convexity) == pytest.approx(float(mu), abs=1e-9)
        assert float(problem.smoothness) == pytest.approx(2, abs=1e-9)


@settings(max_examples=10)
@given(quadratics(exact=False, clients=2, dim=3))
def test_quadratics_in_floats(problem: Quadratic) -> None:
    assert not problem.exact
    assert (problem.clients, problem.dim, problem.samples) == (2, 3, 1)
    assert problem.strong_convexity == pytest.approx(0.1)
    assert problem.smoothness == pytest.approx(1)


def test_quadratics_with_one_minimiser_and_with_many_are_both_drawn() -> None:
    def apart(problem: Quadratic) -> bool:
        return problem.heterogeneity > 0

    found = [apart(p) for p in seen(quadratics(clients=2), 30)]
    assert {True, False} == set(found)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"L": 0}, "L=0 is outside"),
        ({"mu": 2}, "mu=2 is outside"),
        ({"mu": -2}, "mu=-2 is outside"),
        ({"clients": 0}, "clients=0 is outside"),
        ({"dim": (3, 2)}, "above its largest"),
    ],
)
def test_quadratics_refuse_what_does_not_exist(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        quadratics(**arguments)


@given(vectors(3, 2))
def test_vectors_have_their_shape(drawn: tuple[tuple[F, ...], ...]) -> None:
    assert len(drawn) == 3
    assert all(len(v) == 2 and all(isinstance(x, F) for x in v) for v in drawn)
    x, y, _ = drawn
    squares = [sum(a * a for a in v) for v in (x, y)]
    assert sum(a * b for a, b in zip(x, y, strict=True)) ** 2 <= squares[0] * squares[1]  # Cauchy and Schwarz


def test_vectors_are_where_inequalities_are_tight() -> None:
    drawn = seen(vectors(2, 2), 200)
    nonzero = [(x, y) for x, y in drawn if any(x) and any(y)]
    assert any(x == y for x, y in nonzero)
    assert any(x == tuple(-a for a in y) for x, y in nonzero)
    assert any(x[0] * y[1] == x[1] * y[0] and x != y for x, y in nonzero)
    assert any(x[0] * y[0] + x[1] * y[1] == 0 for x, y in nonzero)
    assert any(max(map(abs, x)) > 10**5 for x, _ in nonzero)
    with pytest.raises(ValueError, match="dim=0"):
        vectors(1, 0)
