"""A hunt in two parts, between which a derivation is searched; what takes much work ends early."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.rounds import descent
from theory import algorithm, claim
from theory.claim import Claim
from theory.program import work
from validate import proving
from validate.examine import FIRST, examine
from validate.instances import read_instance
from validate.instances.hunt import COORDINATES, LARGER, POOL, hunt
from validate.instances.pool import Drawn
from validate.instances.seen import Hunt, measured


@algorithm(x="x0")
def one_after_another(w: Any, x: Any, *, eta: Any) -> Any:
    return w.visit(x, lambda v, one: v - eta * one.gradient(v))


CONTRACTS = ("smooth(f_n, L)", "strongly_convex(f_n, mu)", "eta == 1/L")
TRUE = claim("true", "norm2(x[k+1] - xstar) <= (1 - eta*mu)*norm2(x[k] - xstar)", of=descent, assuming=CONTRACTS)
FALSE = claim("false", "norm2(x[k+1] - xstar) <= (1 - 3*eta*mu)*norm2(x[k] - xstar)", of=descent, assuming=CONTRACTS)
BUDGET = {"evaluations": 0, "operations": 120_000}


def seen_by(found: Hunt) -> list[object]:
    return [one.drawn.instance.to_json() for one in found.seen]


def test_a_hunt_in_two_parts_sees_what_it_sees_in_one():
    whole = hunt(TRUE, pool=60, **BUDGET)
    first = hunt(TRUE, pool=60, **BUDGET, last=LARGER)
    assert 0 < len(first.seen) < len(whole.seen)
    assert first.few
    assert first.taken > 0
    both = hunt(TRUE, pool=60, **BUDGET, begun=first)
    assert seen_by(both) == seen_by(whole)
    assert both.drawn == whole.drawn


def test_what_the_first_part_breaks_is_broken_by_the_whole():
    whole, first, pool = (hunt(FALSE, pool=60, **BUDGET, last=last) for last in (COORDINATES, LARGER, POOL))
    assert first.broken is not None
    assert (first.stage, first.tried) == (whole.stage, whole.tried)
    assert pool.stage in ("", POOL)


def test_fewest_instances_of_the_pool_are_drawn_whatever_they_take(monkeypatch):
    def tried(least: int) -> Hunt:
        monkeypatch.setattr("validate.instances.hunt.BEFORE", least)
        return hunt(TRUE, pool=60, evaluations=0, operations=1000, last=POOL)

    few, more = tried(0), tried(7)
    assert few.drawn < 7
    assert more.drawn <= 7


def test_a_search_tells_whether_more_work_may_find_more():
    rate = claim(
        "rate",
        "f(x[K]) - fstar <= norm2(x0 - xstar)/(2*eta*K)",
        of=descent,
        assuming=("smooth(f, L)", "convex(f)", "eta == 1/L"),
    )
    assert proving.searched(rate, 1) == ([], True)
    (found,), limited = proving.searched(rate)
    assert (found.outcome, limited) == ("proved", False)
    beside = replace(rate, beside=(TRUE,))
    assert proving.searched(beside, 1000, lemmas=False)[1] is False  # found without
    beside = replace(FALSE, beside=(TRUE,))
    assert proving.searched(beside, 100_000, lemmas=False) == ([], True)
    assert proving.searched(claim("false", "norm2(a) <= norm2(b)", vectors=("a", "b")), 10_000) == ([], False)


def test_a_break_ends_a_check_before_the_longer_search(
    monkeypatch: pytest.MonkeyPatch, few_instances: None, without_search: None, tmp_path: Path
) -> None:
    asked: list[int] = []

    def searched(one: Claim, units: int, lemmas: bool) -> tuple[list[object], bool]:
        asked.append(units)
        return [], True

    monkeypatch.setattr(proving, "searched", searched)
    monkeypatch.setitem(FIRST, True, 0)  # else the pool breaks it before
    assert examine(FALSE, quick=True, out=tmp_path).verdict == "refuted"
    assert asked == [proving.FIRST_UNITS]
    asked.clear()
    examine(TRUE, quick=True, out=tmp_path)
    assert asked == [proving.FIRST_UNITS, proving.UNITS]


@pytest.mark.parametrize(("clients", "rounds", "told"), [(7, 2, True), (8, 8, False)])
def test_moments_over_many_orders_of_long_runs_are_not_taken_in_fractions(clients, rounds, told):
    """Each round has 2^N sets of clients, and fractions whose digits grow: a minute for 8 clients and 8 rounds."""
    one = claim("orders", "E(norm2(x[K])) <= 2*norm2(x0)", of=one_after_another, assuming=("smooth(f_n, L)",))
    data = {
        "parameters": {"eta": "1/3"},
        "problem": {"clients": [[{"h": c + 1, "b": 0}] for c in range(clients)]},
        "start": [1],
        "rounds": rounds,
    }
    eta = Fraction(1, 3)
    count = Hunt()
    before = work.operations()
    seen = measured(one, Drawn(read_instance(data, one_after_another), {"L": Fraction(9)}, {"eta": eta}), count)
    assert (seen is not None) is told
    assert count.too_many == (not told)
    assert work.operations() - before < 10**6
