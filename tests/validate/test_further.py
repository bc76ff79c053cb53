"""Instances that a pool seldom draws: numbers that make room, extremes on a line, levels beside chances, large K."""

from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from tests.rounds import descent
from theory import catalog
from theory.claim import Claim, claim
from theory.domain import COUNT, NONNEGATIVE, POSITIVE, PROBABILITY, Domain
from validate.instances import Instance
from validate.instances.altered import altered
from validate.instances.covered import coverage, few_tell
from validate.instances.free_vectors import tied_vectors
from validate.instances.further import further
from validate.instances.hunt import POOL, hunt
from validate.instances.on_a_line import extremes, kinks
from validate.instances.pool import Drawn, drawn, instance_of_values
from validate.instances.problems import Quadratics
from validate.instances.seen import Hunt, measured
from validate.verifier.scalars import power

F = Fraction
ROOMY = claim("roomy", "c <= a**2", assuming=("q*(a + b)**2 + c <= a**2 - 2*a*b", "a*q >= 1"))


def test_a_number_that_leaves_no_room_for_another_is_changed() -> None:
    plain = [drawn(ROOMY, seed) for seed in range(40)]
    patient = [drawn(ROOMY, seed, patient=True) for seed in range(40)]
    assert sum(one is not None for one in patient) > sum(one is not None for one in plain)
    for one in patient:
        if one is not None:
            a, b, c, q = (one.values[name] for name in "abcq")
            assert q * (a + b) ** 2 + c <= a**2 - 2 * a * b
            assert a * q >= 1


def test_a_pool_goes_on_until_enough_tell() -> None:
    found = Hunt()
    assert few_tell(found)
    assert further(ROOMY, found, 400, 0, lambda: False) is None
    assert not few_tell(found)
    assert 20 <= len(found.seen) <= 30  # and no longer: it is asked every five instances


def test_a_pool_does_not_go_on_where_nothing_earns_support() -> None:
    of_functions = claim("least", "fstar <= f(x)", vectors=("x",), assuming=("smooth(f, L)",), over="norm(x) <= 1")
    found = Hunt()
    assert further(of_functions, found, 400, 0, lambda: False) is None
    assert not found.seen
    assert further(replace(of_functions, over=""), found, 400, 0, lambda: False) is None
    assert found.seen


def test_a_pool_goes_on_to_a_break() -> None:
    false = claim("false", "a*q <= 2", assuming=ROOMY.assuming)
    broken = further(false, Hunt(), 400, 0, lambda: False)
    assert broken is not None
    assert broken.measured.broken


def test_the_extremes_on_a_line_have_what_is_assumed() -> None:
    convex = claim("c", "f(x) <= f(y)", vectors=("x", "y"), assuming=("smooth(f, L)", "convex(f)"))
    steep = claim("s", "f(x) <= f(y)", vectors=("x", "y"), assuming=("lipschitz(f, G)",))
    ones = list(extremes(convex))
    assert len(ones) > 50
    for one in ones:
        (function,) = one.instance.problem.functions[0]
        assert min(function.slopes) >= 0
        assert max(function.slopes) <= one.values["L"]
    ones = list(extremes(steep))
    assert len(ones) > 50
    for one in ones:
        (function,) = one.instance.problem.functions[0]
        assert function.gradient_bound == one.values["G"] == 1


def test_numbers_alone_have_no_extremes_on_a_line() -> None:
    assert not list(extremes(ROOMY))


def test_the_level_of_a_quantile_is_taken_beside_chances() -> None:
    from theory.program import algorithm

    @algorithm
    def cohort(w, x, *, eta, S):
        return x - eta * w.average(w.gradient(x), w.choose(S))

    one = claim("quantile", "quantile(norm2(x[1]), 1 - p) >= 0", of=cohort, assuming=("smooth(f_n, L)", "p < 1"))
    levels = set()
    for seed in range(20):
        base = drawn(one, seed)
        if base is not None:
            levels |= {other.values["p"] for other in altered(one, base)}
    assert 1 - F(1, 10**9) in levels
    assert any(abs(level - F(1, 2)) == F(1, 10**9) for level in levels)


def test_an_integer_that_is_no_number_of_terms_may_be_large() -> None:
    number = claim("number", "(1 + 1/K)**K <= 27/10")
    one = instance_of_values(number, None, np.array([], dtype=object), 10**12, {}, {})
    assert one is not None
    seen = measured(number, one)
    assert seen is not None
    assert seen.measured.broken
    with pytest.raises(ValueError, match="rounds"):
        Instance(rounds=10**12 + 1)


def test_so_many_terms_are_not_added_up() -> None:
    terms = claim("terms", "sum_k(1/(k + 1)) <= 20")
    one = instance_of_values(terms, None, np.array([], dtype=object), 10**12, {}, {})
    assert one is not None
    found = Hunt()
    assert measured(terms, one, found) is None
    assert found.undefined + found.undecided + found.silent > 0


def test_long_powers_are_enclosed() -> None:
    value = power(1 + F(1, 10**12), F(10**12))
    low, high = value.ends
    e = F("2.71828182845904523536")
    assert e - 2 * F(1, 10**12) < low <= high < e
    assert high - low < F(1, 10**60)
    back = power(1 + F(1, 10**12), F(-(10**12)))
    assert back.ends[0] * low <= 1 <= back.ends[1] * high


def test_a_hunt_still_ends_where_nothing_makes_room() -> None:
    none = claim("none", "a <= 1", assuming=("a**2 + 1 <= 2*a", "a >= 2"))
    found = hunt(none, pool=20, evaluations=5, far=5, operations=10_000)
    assert found.broken is None
    assert not found.seen


def test_a_run_towards_a_kink_attains_the_bound_of_the_subgradient_method() -> None:
    bound = catalog.claim("textbook/subgradient-method")
    ones = list(kinks(bound))
    assert len(ones) > 20
    scores = [seen.score for seen in (measured(bound, one) for one in ones) if seen is not None]
    assert -1e-4 < max(scores) < 0


def test_vectors_of_which_equations_speak_are_orthonormal() -> None:
    tied = claim(
        "tied",
        "dot(a, v) <= 2*norm2(v)",
        vectors=("a", "b", "v"),
        assuming=("norm2(a) == 1", "norm2(b) == 1", "dot(a, b) == 0"),
    )
    assert tied_vectors(tied) == {"a", "b"}
    dims = set()
    for seed in range(40):
        one = drawn(tied, seed)
        if one is not None:
            a, b = (one.instance.vectors[name] for name in "ab")
            assert sum(x * x for x in a) == sum(x * x for x in b) == 1
            assert sum(x * y for x, y in zip(a, b, strict=True)) == 0
            dims.add(len(a))
    assert {2, 3} <= dims


@pytest.mark.parametrize(
    ("name", "relation", "domain", "fixed"),
    [
        ("a", "a == 3", POSITIVE, True),
        ("a", "a <= 1", POSITIVE, False),
        ("a", "a <= 0", NONNEGATIVE, True),
        ("a", "0 >= a", NONNEGATIVE, True),
        ("a", "a >= 0", NONNEGATIVE, False),
        ("a", "a >= 1", PROBABILITY, True),
        ("m", "m <= 1", COUNT, True),
        ("m", "m >= 1", COUNT, False),
    ],
)
def test_which_relations_fix_a_number(name: str, relation: str, domain: Domain, fixed: bool) -> None:
    one = claim("one", f"{name} >= -1", assuming=(relation,), parameters={name: domain})
    found = Hunt()
    assert further(one, found, 60, 0, lambda: False) is None
    kept = [seen for seen in found.seen if seen.drawn.values[name] == found.seen[0].drawn.values[name]]
    text = coverage(one, replace(found, seen=kept), quick=True).detail
    assert (f"{name} had one value throughout" not in text) is fixed


def test_hessians_of_clients_need_not_commute() -> None:
    one = claim("any", "f(x[1]) <= f(x0)", of=descent, assuming=("smooth(f_n, L)", "convex(f_n)", "N == 2", "d == 2"))
    apart = 0
    for seed in range(60):
        made = drawn(one, seed)
        problem = None if made is None else made.instance.problem
        if isinstance(problem, Quadratics):
            a, b = problem.quadratic.hessian[:, 0]
            apart += bool((a @ b != b @ a).any())
    assert apart >= 5


def test_lengths_and_curvatures_are_looked_at_in_other_units() -> None:
    """A square too many shows where lengths are small."""
    one = claim(
        "units", "norm2(x[1] - xstar) <= norm2(x0 - xstar)**2 + norm2(x0 - xstar)/10**6", of=descent,
        assuming=("smooth(f, L)", "strongly_convex(f, mu)", "eta <= 1/(2*L)"),
    )  # fmt: skip
    made = next(d for d in map(partial(drawn, one), range(300)) if _is_large(one, d))
    assert any(_broken(one, other) for other in altered(one, made))


def _is_large(one: Claim, made: Drawn | None) -> bool:
    if made is None or not isinstance(made.instance.problem, Quadratics) or _broken(one, made):
        return False
    seen = measured(one, made)
    return seen is not None and seen.measured.rows[0].right > 1 and seen.measured.rows[0].left > F(1, 100)


def _broken(one: Claim, made: Drawn) -> bool:
    seen = measured(one, made)
    return seen is not None and bool(seen.measured.broken)


def test_a_side_that_is_always_0_earns_no_support() -> None:
    stays = claim(
        "stays", "norm2(x[k] - x0) <= eta*L*norm2(x0)", of=descent,
        assuming=("smooth(f, L)", "convex(f)", "norm2(grad(f, x0)) <= 0", "eta <= 1/L"),
    )  # fmt: skip
    told = coverage(stays, hunt(stays, pool=100, evaluations=0, last=POOL), True, True)
    assert "the side that is to be less was 0 throughout" in told.detail
    moves = replace(stays, assuming=stays.assuming[:2] + stays.assuming[3:])
    told = coverage(moves, hunt(moves, pool=100, evaluations=0, last=POOL), True, True)
    assert "0 throughout" not in told.detail


def test_one_client_may_take_more_steps_or_have_more_samples_than_all_others() -> None:
    unequal = claim("unequal", "norm2(grad(f, x)) <= mean_n(mean_i(norm2(grad(f_ni, x))))", vectors=("x",),
                    assuming=("smooth(f_ni, L)",))  # fmt: skip
    counts = set()
    for seed in range(12):
        one = drawn(unequal, seed)
        for changed in () if one is None else altered(unequal, one):
            problem = changed.instance.problem
            assert problem is not None
            counts.add(tuple(problem.samples(n) for n in range(problem.clients)))
            seen = measured(unequal, changed)
            assert seen is None or not seen.measured.broken
    assert {(1, 10), (10, 1), (10, 1, 1, 1), (1, 10, 10, 10)} <= counts
