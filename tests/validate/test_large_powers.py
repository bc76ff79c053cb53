"""Powers with large exponents: measured within bounds of memory and time, never an end of the process."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from theory import claim
from theory.arithmetic import balls
from validate.both_sides import measuring
from validate.examine import examine
from validate.instances.candidates import candidate_of
from validate.instances.longer import MOST_BY_ROUND, ROUNDS, ways
from validate.instances.pool import TERMS, Drawn, drawn, instance_of_values
from validate.instances.seen import measured
from validate.sharpening.worst import _OPERATIONS
from validate.worked import shown

FALLING = claim("falling", "q**K <= q**k", assuming=("q <= 1",))
SQUARED = claim("squared", "q**(K*K) <= q**k", assuming=("q <= 1",))


def at(one: object, rounds: int, **values: Fraction) -> Drawn:
    found = instance_of_values(one, None, np.array([], dtype=object), rounds, values, {})  # type: ignore[arg-type]
    assert found is not None
    return found


@pytest.mark.parametrize("one", [FALLING, SQUARED], ids=lambda one: one.label)
def test_long_fractions_are_kept_as_balls_once_they_were_compared(one, monkeypatch):
    here = at(one, 60, q=Fraction(3, 10))
    full = measured(one, here)
    monkeypatch.setattr(measuring, "MOST_KEPT", 1000)
    short = measured(one, here)
    assert full is not None
    assert short is not None
    assert len(full.measured.rows) == 61
    assert [row.status for row in short.measured.rows] == ["holds"] * 61
    assert all(isinstance(row.left, Fraction) for row in full.measured.rows)
    kept = [row for row in short.measured.rows if isinstance(row.left, Fraction)]
    assert 0 < len(kept) < 61
    assert short.score == pytest.approx(full.score)


def test_a_broken_row_is_broken_also_where_it_is_kept_as_a_ball(monkeypatch):
    one = claim("rising", "q**k <= q**K", assuming=("q <= 1",))
    monkeypatch.setattr(measuring, "MOST_KEPT", 0)
    seen = measured(one, at(one, 40, q=Fraction(3, 10)))
    assert seen is not None
    assert len(seen.measured.broken) == 40


@pytest.mark.parametrize("text", ["q**K <= q**k", "q_k <= max_k(q_k)", "sum_k(q**k) <= K"])
def test_runs_are_no_longer_than_each_round_of_them_can_be_gone_through(text):
    one = claim("each", text)
    some = [one_ for seed in range(60) if (one_ := drawn(one, seed, large=True)) is not None]
    assert some
    assert max(here.instance.rounds for here in some) <= max(TERMS)
    of_rounds = [way.most for way in ways(one, candidate_of(some[0])) if way.name == ROUNDS]
    assert text.startswith("sum") or of_rounds == [MOST_BY_ROUND]


def test_where_no_round_is_gone_through_runs_are_long():
    one = claim("alone", "q**K <= 1", assuming=("q <= 1",))
    some = [one_ for seed in range(60) if (one_ := drawn(one, seed, large=True)) is not None]
    assert max(here.instance.rounds for here in some) > 10**4


def test_a_side_without_the_free_index_is_counted_in_every_round():
    from theory.program import work

    counts = []
    for rounds in (1, 40):
        before = work.operations()
        measured(FALLING, at(FALLING, rounds, q=Fraction(1, 2)))
        counts.append(work.operations() - before)
    assert counts[1] == 41 * counts[0] // 2


def test_powers_of_numbers_are_not_written_out_where_they_are_too_large():
    assert _OPERATIONS["**"](Fraction(2), Fraction(10)) == 1024
    assert _OPERATIONS["**"](Fraction(2), Fraction(10**12)) is None
    with balls(128):
        from flint import arb, fmpz

        far = arb(3) ** fmpz(10**12)
        assert shown(far).startswith("≈")
        assert "4.59661×10477121254719" in shown(far).translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789"))
        assert shown(-far).startswith("≈ −") or shown(-far).startswith("≈−")


@pytest.mark.slow
@pytest.mark.parametrize("one", [FALLING, SQUARED], ids=lambda one: one.label)
def test_a_quick_check_ends(one, tmp_path: Path):
    assert examine(one, quick=True, out=tmp_path).verdict == "supported"
