"""Instances of claims that say what they mean, drawn by Hypothesis."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from tests.language import noise_ball, proxskip, scaffold, vectors
from theory import catalog, claim
from validate.instances import Quadratics
from validate.instances.pool import Drawn
from validate.on_instance import on_instance
from validate.strategies import instances, parameters

TRUE = (noise_ball.ONE_STEP, proxskip.THEOREM, scaffold.STAYS, vectors.COCOERCIVE, vectors.GEOMETRIC)


@settings(max_examples=25, deadline=None, database=None)
@given(st.sampled_from(TRUE).flatmap(lambda one: st.tuples(st.just(one), instances(one))))
def test_hypotheses_hold_on_what_is_drawn(both: tuple[Any, Drawn]) -> None:
    one, drawn = both
    found = on_instance(one, drawn.instance, {n: v for n, v in drawn.constants.items() if n not in ("N", "d", "K")})
    assert all(true for _, true in found.hypotheses)
    assert found.verdict in ("holds", "silent", "undecided")


def test_a_break_shrinks_to_something_small() -> None:
    def broken(drawn: Drawn) -> bool:
        found = on_instance(vectors.WRONG_WAY, drawn.instance, drawn.constants)
        return found.verdict == "broken"

    smallest = find(
        instances(vectors.WRONG_WAY), broken, settings=settings(max_examples=2000, deadline=None, database=None)
    )
    rows = smallest.instance.vectors["a_n"]
    assert len(rows) <= 3
    assert len(rows[0]) == 1


def test_sizes_vary() -> None:
    sizes = set()

    @settings(max_examples=40, deadline=None, database=None)
    @given(instances(noise_ball.NOISE_BALL))
    def collect(drawn: Drawn) -> None:
        problem = drawn.instance.problem
        assert problem is not None
        sizes.add((problem.clients, problem.dim, isinstance(problem, Quadratics)))

    collect()
    assert len(sizes) > 3


@settings(max_examples=10, deadline=None, database=None)
@given(parameters(noise_ball.ONE_STEP))
def test_parameters_are_those_of_instances(values: dict[str, Any]) -> None:
    assert values["eta"] <= 1 / (2 * values["L"])


@settings(max_examples=10, deadline=None, database=None)
@given(parameters(vectors.GEOMETRIC))
def test_the_number_of_rounds_is_among_them(values: dict[str, Any]) -> None:
    assert values["q"] < 1
    assert values["K"] >= 1


@settings(max_examples=10, deadline=None, database=None)
@given(parameters(scaffold.STAYS))
def test_so_is_what_only_the_algorithm_speaks_of(values: dict[str, Any]) -> None:
    assert values["eta_g"] > 0
    assert values["H"] >= 1
    assert values["S"] >= 1


def test_what_is_refused() -> None:
    never = claim("never", "q <= 1", assuming=("q < 1", "q > 2"))
    with pytest.raises(ValueError, match="no instance was found"):
        instances(never)
    with pytest.raises(ValueError, match="fixed, near and suppose"):
        parameters(noise_ball.ONE_STEP, fixed={"eta": 1})
    old = catalog.claim("open-fl/eq6")
    if not hasattr(old, "sentence"):
        with pytest.raises(ValueError, match="by its paper's tables"):
            instances("open-fl/eq6")
