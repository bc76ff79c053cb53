"""Law: a break that was found is never denied. Confirm what was found as it was found, then make it smaller."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.laws import units
from tests.rounds import descent
from tests.shares import share
from theory import algorithm
from theory.claim import Claim, claim
from validate import breaks as breaking
from validate import verifier
from validate.examine import examine
from validate.instances.hunt import hunt
from validate.instances.pool import drawn
from validate.instances.seen import Seen, measured
from validate.instances.shrinking import shrunk

QUARTER = next(one for one in units.WRONG if one.label == "quarter")


@pytest.mark.parametrize("one", share(units.WRONG, 3), ids=lambda one: one.label)
def test_a_wrong_unit_or_power_is_refuted(one: Claim, tmp_path: Path) -> None:
    result = examine(one, quick=True, out=tmp_path)
    assert result.verdict == "refuted", result.evidence[0].detail
    assert result.origin in ("pool", "search")
    assert result.certificate is not None
    assert verifier.verify(verifier.load(result.certificate)).valid


def test_the_order_of_definitions_denies_no_break(tmp_path: Path) -> None:
    where = {"half": "whole/2", "whole": "mean_n(norm2(a_n))"}
    result = examine(
        claim("halved", "mean_n(norm2(a_n)) <= half", vectors=("a_n",), where=where), quick=True, out=tmp_path
    )
    assert result.verdict == "refuted", result.evidence[0].detail


def test_its_true_neighbour_is_not_broken() -> None:
    """By the pool; that a check supports it, in slow tests."""
    found = hunt(units.ATTAINED, pool=400, evaluations=0)
    assert found.broken is None
    assert len(found.seen) > 50


@pytest.mark.slow
def test_its_true_neighbour_is_supported(tmp_path: Path) -> None:
    assert examine(units.ATTAINED, quick=True, out=tmp_path).verdict in ("supported", "proved")


@settings(max_examples=6, deadline=None, derandomize=True)
@given(
    factor=st.fractions(Fraction(1, 2), Fraction(1), max_denominator=2**40),
    power=st.integers(1, 2),
    curvature=st.integers(-1, 1),
    seed=st.integers(0, 5),
)
def test_an_attained_bound_times_less_than_one_is_broken(
    factor: Fraction, power: int, curvature: int, seed: int
) -> None:
    """In any units: the bound is attained, so that a factor below 1, or a wrong unit, is found, whatever the seed."""
    right = f"({factor})*(1 - delta*mu)**(2*k)*R2**{power}*L**{curvature}"
    one = units.made("attained", units.DISTANCE, right, assuming=(*units.QUIET, "mu == L"))
    found = hunt(one, pool=200, evaluations=0, seed=seed)
    if (factor, power, curvature) == (1, 1, 0):
        assert found.broken is None
        return
    assert found.broken is not None
    again = measured(one, found.broken.drawn)
    assert again is not None
    assert again.measured.broken


def test_what_is_made_smaller_breaks_the_claim_still() -> None:
    broken = 0
    for seed in range(30):
        one = drawn(QUARTER, seed)
        seen = None if one is None else measured(QUARTER, one)
        if seen is None or not seen.measured.broken:
            continue
        broken += 1
        small = shrunk(QUARTER, seen, checks=40)
        again = measured(QUARTER, small.drawn)
        assert again is not None
        assert again.measured.broken
    assert broken > 5


def test_a_break_that_nobody_certifies_stays_a_break(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def unable(*arguments: Any, **more: Any) -> Any:
        raise ValueError("beyond what a certificate can hold")

    monkeypatch.setattr(breaking, "play_certificate", unable)
    result = examine(QUARTER, quick=True, out=tmp_path)
    assert result.verdict == "undecided"
    assert result.broken
    assert result.evidence[0].outcome == "fails"
    assert "beyond what a certificate can hold" in result.evidence[0].detail
    assert not any("never broken" in item.detail for item in result.evidence)


def test_where_nothing_smaller_breaks_the_original_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A break that nothing accepts but as it was found is certified as it was found."""
    original = breaking.play_certificate
    first: list[Any] = []

    def only_the_first(claim: Claim, instance: Any, *rest: Any, **more: Any) -> Any:
        first.append(instance)
        if instance != first[0]:
            raise ValueError("not this one")
        return original(claim, instance, *rest, **more)

    monkeypatch.setattr(breaking, "play_certificate", only_the_first)
    result = examine(QUARTER, quick=True, out=tmp_path)
    assert result.verdict == "refuted"
    assert result.evidence[0].data is not None
    assert result.evidence[0].data["instance"] == first[0]


def test_what_everybody_refuses_is_found_all_the_same() -> None:
    """The hunt goes on behind a break that is refused, and keeps it in the end."""
    asked: list[Seen] = []

    def never(seen: Seen) -> bool:
        asked.append(seen)
        return False

    found = hunt(QUARTER, pool=50, evaluations=0, accepted=never)
    assert found.broken is not None
    assert len(asked) > 5


def test_a_break_is_told_whatever_stands_beside_it(tmp_path: Path) -> None:
    """A dropped assumption: the same claim without it is no longer supported."""
    one = replace(units.ATTAINED, assuming=tuple(t for t in units.ATTAINED.assuming if t != "mu == L"))
    assert examine(one, quick=True, out=tmp_path).verdict == "refuted"


LONGER = ((20, 83), (100, 804), (137, 551), (300, 1220))


@pytest.mark.parametrize(
    ("rounds", "constant"), [(50, 206), *(pytest.param(*one, marks=pytest.mark.slow) for one in LONGER)]
)
def test_a_rate_at_one_number_of_rounds_is_held_against_knees(rounds: int, constant: int, tmp_path: Path) -> None:
    """L R^2/(4 K + 2) is met by a function with a knee at R/(2 K + 1), and by nothing without one."""
    one = claim(
        "one",
        f"f(x[K]) - fstar <= L*norm2(x0 - xstar)/{constant}",
        of=descent,
        assuming=("smooth(f, L)", "convex(f)", "eta == 1/L", f"K == {rounds}"),
    )
    assert examine(one, quick=True, out=tmp_path).verdict == "refuted"


@algorithm
def sign_descent(w, x, *, eta):
    return x - eta * w.sign(w.full_gradient(x))


@pytest.mark.slow
def test_sixty_coordinates_are_no_hang(tmp_path: Path) -> None:
    """30 for the 29 would be true; a claim of so many coordinates is not made smaller."""
    one = claim(
        "one",
        "f(x[k+1]) <= f(x[k]) - eta*norm(grad(f, x[k])) + 29*eta**2*L",
        of=sign_descent,
        assuming=("smooth(f, L)", "d == 60"),
    )
    assert examine(one, quick=True, out=tmp_path).verdict == "refuted"
