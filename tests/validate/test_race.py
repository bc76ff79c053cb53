"""Instances at which a claim has little room, and their integers: the one that breaks a claim at the least work."""

from fractions import Fraction

import pytest

from tests.rounds import chosen, local
from theory import claim
from theory.domain import INDEX, NONNEGATIVE, Domain
from validate.instances import Quadratics
from validate.instances.candidates import candidate_of, realised
from validate.instances.hunt import LARGER, SHARP, hunt
from validate.instances.longer import EVERYBODY, ways
from validate.instances.pool import drawn
from validate.instances.race import Entrant, polished, raced
from validate.instances.seen import measured, relations_missed
from validate.instances.sharp import resting_place, sharpest

F = Fraction


STRONG = ("smooth(f_n, L)", "strongly_convex(f_n, mu)", "eta <= 1/L")
STAYS = claim("stays", "norm2(x0 - xstar) <= sqrt(-norm2(x[1] - x0))", of=local, assuming=STRONG)
ONE_HAS_IT = claim(
    "one-has-it",
    "norm2(grad(f_n, x0)) <= 40*mean_n(norm2(grad(f_n, x0)))",
    of=local,
    assuming=("smooth(f_n, L)", "eta <= 1/L"),
)
LONG = claim("long", "mean_k(norm2(grad(f, x[k]))) <= 20*L**2*mean_n(norm2(x0 - xstar_n))/K", of=local, assuming=STRONG)
ALL_CHOSEN = claim(
    "all-chosen",
    "E(norm2(x[1] - x0)) <= 60*eta**2*mean_n(norm2(grad(f_n, x0)))/S + E(norm2(x[1] - x0))*S/120",
    of=chosen,
    assuming=("smooth(f_n, L)", "eta <= 1/L"),
)


def of_kinds(one, seeds=60):
    return [made for _, made in sharpest(one, seeds) if made is not None]


@pytest.mark.parametrize("one", [STAYS, ONE_HAS_IT, LONG, ALL_CHOSEN], ids=lambda one: one.label)
def test_they_are_instances_of_the_claim(one):
    found = of_kinds(one)
    assert len(found) > 20
    for made in found:
        assert not any(relations_missed(one, made))
        assert realised(one, candidate_of(made)) is not None
        assert isinstance(made.instance.problem, Quadratics)


def test_which_comes_next_depends_on_the_claim_and_the_seed_alone():
    one, two = (of_kinds(LONG, 12) for _ in range(2))
    assert [m.instance for m in one] == [m.instance for m in two]
    assert [m.instance for m in one] != [m.instance for _, m in sharpest(LONG, 12, seed=99) if m is not None]


def test_a_constant_is_0_where_it_may_be():
    may, may_not = (
        claim(
            "noise",
            "E(norm2(x[1] - x0)) >= 0*sigma2",
            of=chosen,
            assuming=("smooth(f_n, L)", "bounded_variance(sigma2)"),
            parameters={} if domain is None else {"sigma2": domain},
        )
        for domain in (NONNEGATIVE, None)
    )
    assert {made.values["sigma2"] for made in of_kinds(may, 12)} == {F(0)}
    assert {made.values["sigma2"] for made in of_kinds(may_not, 12)} == {F(1, 10**6)}
    made = of_kinds(may, 12)[0]
    assert realised(may, candidate_of(made)).values["sigma2"] == 0


def test_numbers_are_near_the_end_of_their_domain():
    one = claim(
        "end", "norm2(x[1] - x0) >= 0*lam", of=local, assuming=("smooth(f_n, L)",), parameters={"lam": Domain(0, 0.5)}
    )
    open_end = claim(
        "end", "norm2(x[1] - x0) >= 0*lam", of=local, assuming=("smooth(f_n, L)",),
        parameters={"lam": Domain(0, 0.5, upper_open=True)},
    )  # fmt: skip
    assert len({made.values["lam"] for made in of_kinds(one)}) > 3
    ends = {made.values["lam"] for made in of_kinds(open_end)}
    assert max(ends) >= F(1, 4)
    assert all(value == 0 or value >= F(1, 4) for value in ends)  # 0 is a closed end


def test_a_round_leaves_the_resting_place_as_it_is():
    found = [made for still, made in sharpest(STAYS, 30) if still and made is not None]
    assert found
    for made in found:
        assert resting_place(STAYS, made) == pytest.approx(list(made.instance.start))
        seen = measured(STAYS, made)
        assert [row.right for row in seen.measured.rows] == [0]
        assert seen.measured.broken


@pytest.mark.parametrize(
    ("one", "stage"), [(STAYS, SHARP), (ONE_HAS_IT, LARGER), (LONG, LARGER)], ids=lambda x: getattr(x, "label", x)
)
def test_what_breaks_there_only_is_broken(one, stage):
    found = hunt(one, pool=20, evaluations=0, far=60, operations=800_000)
    assert found.broken is not None
    assert (found.stage, found.origin) == (stage, "pool")
    assert found.tried > 0


def test_one_against_many_breaks_at_the_first_number_of_clients():
    found = hunt(ONE_HAS_IT, pool=20, evaluations=0, far=60, operations=800_000)
    assert found.broken.drawn.instance.clients == 41


def test_clients_are_added_with_all_of_them_chosen():
    for seed in range(200):
        one = drawn(ALL_CHOSEN, seed)
        if one is None or one.values["S"] != one.instance.clients or one.instance.clients < 2:
            continue
        c = candidate_of(one)
        way = next(w for w in ways(ALL_CHOSEN, c) if w.name == EVERYBODY)
        grown = realised(ALL_CHOSEN, way.grown(c, 3 * way.now))
        assert grown.values["S"] == grown.instance.clients == 3 * way.now
        return
    pytest.fail("no seed has all clients chosen")


def test_other_numbers_are_moved_where_it_gets_tighter():
    one = claim(
        "far",
        "norm2(x[1] - x0) <= 5*norm2(grad(f, x0))/L**2",
        of=chosen,
        assuming=("smooth(f_n, L)", "convex(f_n)", "eta <= 1/L"),
    )
    small = [made for made in of_kinds(one) if made.values["eta"] * made.values["L"] < F(1, 5)]
    seen = next(seen for seen in (measured(one, made) for made in small) if seen is not None and seen.score > -1)
    better = polished(one, Entrant(seen.score, seen.drawn, False))
    assert better.score > seen.score
    assert better.drawn.values["eta"] > seen.drawn.values["eta"]


def test_an_integer_that_is_0_is_raced_like_any_other():
    """No power law goes through 0: the first step of such an integer is to 1."""
    more = {"assuming": ("smooth(f_n, L)",), "parameters": {"m": Domain(0, None, integer=True)}}
    one = claim("counted", "(m + 1)*norm2(x[k] - x0) <= (m + 2)*norm2(x[k] - x0)", of=local, **more)
    made = [made for made in (drawn(one, seed) for seed in range(40)) if made is not None]
    ones = [Entrant(measured(one, each).score, each, False) for each in made]
    assert any(each.values["m"] == 0 for each in made)
    assert raced(one, ones, lambda: False, lambda _: True).broken is None


def test_without_a_budget_nothing_is_made_larger():
    ones = [Entrant(measured(LONG, made).score, made, False) for made in of_kinds(LONG, 12)]
    found = raced(LONG, ones, lambda: True, lambda _: True)
    assert (found.broken, found.rungs) == (None, 0)


def test_an_integer_that_is_0_is_not_doubled():
    one = claim(
        "index", "norm2(x[1] - xstar) <= (2 + s)*norm2(x0 - xstar)", of=local, assuming=STRONG, parameters={"s": INDEX}
    )
    made = [made for made in of_kinds(one) if made.values["s"] == 0]
    seen = next(seen for seen in (measured(one, m) for m in made) if seen is not None and -1 < seen.score < 0)
    asked = iter(range(40))
    found = raced(one, [Entrant(seen.score, seen.drawn, False)], lambda: next(asked) > 30, lambda _: True)
    assert found.broken is None
    assert found.rungs > 0
