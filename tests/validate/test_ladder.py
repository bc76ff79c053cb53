"""Instances that are made longer along one integer, until a claim breaks that holds for small ones."""

from fractions import Fraction

import numpy as np
import pytest

from sim.problems import Quadratic
from tests.rounds import descent, local
from tests.rounds import served as sparse
from theory import algorithm, claim
from theory.domain import COUNT
from validate.examine import examine
from validate.in_words import described
from validate.instances.by_moments import breaks_in_floats
from validate.instances.candidates import candidate_of, realised
from validate.instances.covered import coverage
from validate.instances.hunt import POOL, hunt
from validate.instances.longer import counts, longer, ways
from validate.instances.pool import drawn, instance_of_values
from validate.instances.problems import Quadratics
from validate.instances.reached import Reached
from validate.instances.refitting import refitted
from validate.instances.seen import relations_missed
from validate.instances.series import series
from validate.instances.stages import Budget, leapt_far, made_longer

F = Fraction


@algorithm
def wander(w, x, *, eta, sigma2):
    return x - eta * w.mean(w.noise(sigma2))


@algorithm
def chosen(w, x, *, eta, S):
    return x - eta * w.average(w.gradient(x), w.choose(S))


@algorithm
def taking_part(w, x, *, eta, p):
    return x - eta * w.average(w.gradient(x), w.coins(p))


SPARSE = "E(norm2(x[1] - x0 + eta*grad(f, x0))) <= 5*eta**2*norm2(grad(f, x0))"


@pytest.mark.parametrize(
    ("one", "word"),
    [
        (claim("vectors", "norm2(sum_n(a_n)) <= 1010*sum_n(norm2(a_n))", vectors=("a_n",)), "1011 times]"),
        pytest.param(claim("coordinates", SPARSE, of=sparse), "7 dimensions", marks=pytest.mark.slow),
        (claim("terms", "sum_k(1/(k + 1)) <= 6"), "K=227"),
        pytest.param(
            claim("rounds", "E(norm2(x[k] - x0)) <= 60*eta**2*sigma2/N", of=wander), "61 rounds", marks=pytest.mark.slow
        ),
        (
            claim("weights", "norm2(sum_n(q_n*a_n)) >= 1/40*max_n(norm2(q_n*a_n))*N", vectors=("a_n",),
                  assuming=("sum_n(q_n) == 1", "N >= 2", "dot(a_n, a_n) >= norm2(a_n)")),
            "broken",
        ),
    ],
    ids=lambda x: getattr(x, "label", ""),
)  # fmt: skip
def test_what_breaks_far_out_only_is_refuted_at_the_first_value(one, word, tmp_path):
    result = examine(one, quick=True, out=tmp_path)
    assert result.verdict == "refuted", result.covered
    assert result.origin in ("pool", "search")
    detail = next(e.detail for e in result.evidence if e.kind == "certificate")
    assert word in detail or word == "broken" or result.origin == "search"  # which doubles integers


@pytest.mark.parametrize("scale", [1, 3])
def test_coordinates_are_added_as_blocks(scale):
    one_claim = claim("any", "norm2(x[1] - x0) <= eta", of=sparse, assuming=("smooth(f, L)",))
    one = next(
        d
        for d in (drawn(one_claim, s) for s in range(9))
        if d is not None and d.instance.dim == 2 and isinstance(d.instance.problem, Quadratics)
    )
    c = candidate_of(one)
    now = 2
    found = [w for w in ways(claim("any", "norm2(x[1] - x0) <= eta", of=sparse), c) if w.name == "d"]
    assert [w.now for w in found] == [now, now]
    again, last = (w.grown(c, now * (scale + 1)) for w in found)
    assert again.hessian.shape[2] == last.hessian.shape[2] == now * (scale + 1)
    block = again.hessian[0, 0, now : 2 * now, now : 2 * now]
    assert (block == c.hessian[0, 0]).all()
    assert not again.hessian[0, 0, :now, now : 2 * now].any()
    assert last.hessian[0, 0, now, now] == c.hessian[0, 0, now - 1, now - 1]
    assert not (last.hessian[0, 0, now:, now:] - np.diag(np.diag(last.hessian[0, 0, now:, now:]))).any()


def test_integers_that_have_to_be_equal_grow_together():
    assuming = ("smooth(f, L)", "convex(f)", "m <= d", "K == d")
    one_claim = claim("any", "norm2(x[K] - xstar) <= norm2(x0 - xstar)*(1 + eta*L)**K", of=sparse, assuming=assuming)
    one = next(d for d in (drawn(one_claim, s) for s in range(60)) if d is not None and d.instance.dim == 2)
    assert one.instance.rounds == 2
    c = candidate_of(one)
    alone = next(way for way in ways(one_claim, c) if way.name == "K")
    assert longer(one_claim, c, alone, 6) is None
    both = next(way for way in ways(one_claim, c) if counts(way, "d"))
    assert counts(both, "K")
    grown = longer(one_claim, c, both, 6)
    assert (grown.instance.rounds, grown.instance.dim) == (6, 6)
    free = claim("any", one_claim.statement, of=sparse, assuming=assuming[:3])
    assert not any(counts(way, "K") and counts(way, "d") for way in ways(free, c))


def test_steps_that_turns_bound_are_moved_to_the_bound():
    one_claim = claim("any", "f(x[K]) >= fstar", of=local, assuming=("smooth(f_n, L)", "convex(f_n)", "eta <= 1/(L*H)"))
    for seed in range(60):
        one = drawn(one_claim, seed)
        if one is None or one.values["H"] != 1 or one.values["eta"] * one.values["L"] < F(1, 8):
            continue
        c = candidate_of(one)
        way = next(w for w in ways(one_claim, c) if w.name == "H")
        assert realised(one_claim, way.grown(c, 16)) is None
        grown = longer(one_claim, c, way, 16)
        assert grown.values["H"] == 16
        assert grown.values["eta"] == 1 / (grown.values["L"] * 16)
        return
    pytest.fail("no seed has H = 1")


def test_weights_that_add_up_to_one_are_scaled():
    one_claim = claim("any", "norm2(sum_n(q_n*a_n)) >= 0", vectors=("a_n",), assuming=("sum_n(q_n) == 1",))
    one = next(d for d in (drawn(one_claim, s) for s in range(40)) if d is not None and len(d.values["q"]) == 2)
    c = candidate_of(one)
    way = next(w for w in ways(one_claim, c) if w.name == "N")
    grown = way.grown(c, 6)
    assert realised(one_claim, grown) is None
    assert sum(refitted(one_claim, grown).values["q"]) == 1
    assert longer(one_claim, c, way, 6).instance.clients == 6


def test_numbers_of_clients_grow_with_their_count():
    """A claim about numbers alone, some of them one a client: N is no number beside these."""
    one = claim("least", "min_n(m_n)*sum_n(z_n) <= sum_n(m_n*z_n)", parameters={"m_n": COUNT})
    seen = next(d for d in (drawn(one, seed) for seed in range(50)) if d is not None and len(d.values["m"]) > 1)
    found = [way for way in ways(one, candidate_of(seen)) if way.name == "N"]
    kinds, clients = len({*zip(seen.values["m"], seen.values["z"], strict=True)}), len(seen.values["m"])
    assert len(found) == 2 + (1 < kinds < clients)  # in turn, the last, and those that differ in turn
    for way in found:
        grown = longer(one, candidate_of(seen), way, 9)
        assert (len(grown.values["m"]), len(grown.values["z"]), grown.values["N"]) == (9, 9, 9)


@pytest.mark.parametrize(
    ("statement", "first"),
    [
        ("sum_k(1/(k + 1)) <= 7", 616),
        ("mean_k(k) <= 99/2", 101),
        ("max_k(k) <= K - 2", 1),
        ("(1 + 1/K)**K <= 271/100", 164),
        ("sum_k(c**k) <= 4", None),
    ],
)
def test_series_are_those_of_the_sentence(statement, first):
    one_claim = claim("any", statement)
    both = series(one_claim, {"c": F(1, 2)} if "c" in one_claim.symbols else {}, 2000)
    assert (both.breaks or [None])[0] == first
    for K in (1, 7):
        terms = {
            "sum_k(1/(k + 1)) <= 7": sum(F(1, k + 1) for k in range(K)),
            "mean_k(k) <= 99/2": F(K - 1, 2),
            "max_k(k) <= K - 2": F(K - 1),
            "(1 + 1/K)**K <= 271/100": (1 + F(1, K)) ** K,
            "sum_k(c**k) <= 4": sum(F(1, 2) ** k for k in range(K)),
        }[statement]
        assert both.left[K - 1] == pytest.approx(float(terms))


@pytest.mark.parametrize("statement", ["sum_k(k/K) <= K", "sum_n(1) <= K", "c**k <= 1"])
def test_what_is_no_series_is_none(statement):
    assert series(claim("any", statement), {"c": F(1, 2), "N": F(1)}, 10) is None


def test_how_far_integers_went_is_covered(tmp_path):
    result = examine(
        claim("all", "norm2(sum_n(a_n)) <= N*sum_n(norm2(a_n)) + 1", vectors=("a_n",)), quick=True, out=tmp_path
    )
    assert result.verdict in ("supported", "proved")
    found = hunt(
        claim("all", "norm2(sum_n(a_n)) <= (N + 1/10)*sum_n(norm2(a_n))", vectors=("a_n",)),
        pool=60,
        evaluations=0,
        far=5,
    )
    assert found.broken is None
    assert found.reached.sizes["N"] >= 1000


CHOSEN = claim(
    "chosen", "E(norm2(x[k] - xstar)) <= norm2(x0 - xstar)", of=chosen,
    assuming=("smooth(f_n, L)", "convex(f_n)", "same_minimiser(f_n)", "eta <= 1/L"),
)  # fmt: skip


def test_what_grows_with_an_integer_is_reached_too():
    """Of N clients all are chosen: nobody reads that S went to 1024 and N to 16."""
    one = next(d for s in range(99) if (d := drawn(CHOSEN, s)) is not None and d.values["S"] == d.instance.clients > 1)
    base = candidate_of(one)
    way = next(way for way in ways(CHOSEN, base) if "all" in way.name)
    reached = Reached()
    reached.add(CHOSEN, base, longer(CHOSEN, base, way, 40))
    assert reached.sizes == {"N": 40, "S": 40}
    assert reached.longest is None


def test_a_run_made_longer_keeps_its_chance_for_who_asks_what_was_covered():
    one = claim("part", CHOSEN.statement, of=taking_part, assuming=CHOSEN.assuming)
    found = hunt(one, pool=60, evaluations=0, far=0)
    assert found.broken is None
    longest = max(one.drawn.instance.rounds for one in found.seen)
    base = next(s.drawn for s in found.seen if s.drawn.instance.rounds and s.drawn.values["p"] == F(1, 2))
    way = next(way for way in ways(one, candidate_of(base)) if way.name == "K")
    found.reached.add(one, candidate_of(base), longer(one, candidate_of(base), way, 10 * longest))
    assert f"up to {10 * longest} rounds, p from" in coverage(one, found, quick=True, bounded=True).detail
    assert "in the longest runs from 1/2" in coverage(one, found, quick=True, bounded=True).detail


def test_a_break_whose_relation_is_missed_by_rounding_is_none(tmp_path):
    """R is a fraction and the norm is not: none of the two is the other."""
    one_claim = claim("any", "norm2(x) < R**2", vectors=("x",), assuming=("norm(x) <= R",))
    found = hunt(one_claim, pool=60, evaluations=0)
    assert found.broken is not None  # at x = R, where the norm is rational
    assert not any(relations_missed(one_claim, found.broken.drawn))
    for seen in found.seen:
        assert not any(relations_missed(one_claim, seen.drawn))


def test_what_is_repeated_is_said_once():
    one = next(
        d for d in (drawn(claim("any", "norm2(sum_n(q_n*a_n)) >= 0", vectors=("a_n",)), s) for s in range(9)) if d
    )
    text = described(one)
    assert text.startswith("q=[")
    assert "a_n=[[" in text
    assert described(drawn(claim("any", "sum_k(c**k) >= 0"), 1)).startswith("c=")
    assert ", K=" in described(drawn(claim("any", "sum_k(c**k) >= 0"), 1))


def test_a_claim_about_numbers_without_rounds_has_no_series() -> None:
    one = claim("c", "min(a, b) <= 2*a")
    found = hunt(one, pool=40, evaluations=0, far=0)
    assert found.broken is None
    assert "K" not in found.reached.sizes


@algorithm(x="each x0")
def in_turn(w, x, *, S, t):
    """S clients a round go to nearly what is theirs."""
    return w.where(w.choose(S), w.prox(x, t), x)


@algorithm
def svrg(w, x, *, eta, H):
    """One epoch."""
    g = w.full_gradient(x)
    y = x
    for _ in w.repeat(H):
        i = w.sample()
        y = y - eta * (w.mean(w.gradient(y, i) - w.gradient(x, i)) + g)
    return y


EPOCH = claim(
    "epoch",
    "E(norm2(x[k+1] - xstar)) <= (1 - eta*mu)**H*E(norm2(x[k] - xstar))",
    of=svrg,
    assuming=("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)", "eta <= 1/(10*L)"),
)
"""The variance of an epoch has a floor: two samples of curvatures 1 and 0 break it from 73 steps on."""


def test_an_instance_with_room_is_tried_far_out():
    """Two equal samples make the sentence an equation, and are the tightest: others are not made longer by rungs."""
    found = hunt(EPOCH, pool=200, evaluations=0, last=POOL)
    assert found.broken is None
    leap = leapt_far(EPOCH, found, lambda: False, Budget(None))
    assert leap is not None
    assert leap.measured.broken
    assert leap.drawn.values["H"] > 16


@pytest.mark.slow
def test_an_epoch_that_is_too_long_is_refuted(tmp_path):
    assert examine(EPOCH, quick=True, out=tmp_path).verdict == "refuted"


@pytest.mark.parametrize("unit", [F(1), F(1, 10**12), F(10**12)])
def test_what_cancels_is_small_where_all_is(unit):
    """At half the distance, which is not 6/25 of it, in any unit of length."""
    one = claim("half", "norm2(x[1] - xstar) <= 6/25*norm2(x0 - xstar)", of=descent)
    flat = np.full((1, 1, 1), F(0), dtype=object)
    problem = Quadratic(flat[..., None] + 1, flat, flat[..., 0], np.full(1, 1))
    made = instance_of_values(one, problem, np.array([unit], dtype=object), 1, {"eta": F(1, 2)}, {})
    assert breaks_in_floats(one, made) is True


def test_what_relations_tie_grows_from_its_largest_sizes():
    """The tightest of all have short steps, at any size; with long ones the chance that nobody came grows to 1/e."""
    one = claim(
        "once", "E(mean_n(norm2(x[N] - xstar))) <= (9/25 + 1/(1 + t*mu))*norm2(x0 - xstar)", of=in_turn,
        assuming=("smooth(f_n, L)", "strongly_convex(f_n, mu)", "same_minimiser(f_n)", "S <= 1", "N == K"),
    )  # fmt: skip
    found = hunt(one, pool=150, evaluations=0, far=0, last=POOL)
    assert found.broken is None
    seen = made_longer(one, found, lambda: False, Budget(None))
    assert seen is not None
    assert seen.measured.broken
    assert seen.drawn.instance.clients == seen.drawn.instance.rounds > 20
