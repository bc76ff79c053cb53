"""Instances of claims, drawn by Hypothesis."""

from importlib import import_module
from typing import Any

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from tests.language import noise_ball, proxskip, scaffold, vectors
from theory import claim
from validate.instances import Quadratics
from validate.instances.pool import Drawn
from validate.on_instance import on_instance
from validate.strategies import instances

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


def test_what_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("validate.strategies.instances"), "_AGAIN", 3)  # however often: there is none
    never = claim("never", "q <= 1", assuming=("q < 1", "q > 2"))
    with pytest.raises(ValueError, match="no instance was found"):
        instances(never)
    with pytest.raises(ValueError, match="is no sentence"):
        instances("fedmim/remark-iv3")
