"""Lengths that relations bound by 0: vectors are moved so that they are 0."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from theory import NONNEGATIVE, claim
from theory.claim import Claim
from validate.instances.altered import altered
from validate.instances.candidates import Candidate, candidate_of, realised
from validate.instances.pool import drawn
from validate.instances.seen import measured
from validate.instances.tied import with_tied_vectors

F = Fraction


def assumed(
    *relations: str, statement: str = "norm2(u) <= norm2(u)", vectors: tuple[str, ...] = ("u", "v", "w")
) -> Claim:
    return claim("tied", statement, vectors=vectors, assuming=relations, parameters={"c": NONNEGATIVE})


def candidate(one: Claim, **values: Fraction) -> Candidate:
    """The first instance of the pool of which no vector is another, with other numbers."""
    found: Any = next(
        d for d in (drawn(replace(one, assuming=(), parameters={}), seed) for seed in range(100)) if d and apart(d)
    )
    c = candidate_of(found)
    return replace(c, values={**c.values, **values})


def apart(one: Any) -> bool:
    vectors = list(one.instance.vectors.values())
    return len(set(vectors)) == len(vectors) and all(any(v) for v in vectors)


@pytest.mark.parametrize(
    "relations",
    [
        ("norm2(u - v) <= c",),
        ("norm2(2*u - 3*v + w/2) <= c*norm2(u)",),
        ("c >= norm(w - u)", "norm2(v) <= c**2"),
        ("norm2(u - v) <= c", "norm2(v - w) == 0*c"),
    ],
)
def test_lengths_bounded_by_0_are_0(relations: tuple[str, ...]) -> None:
    one = assumed(*relations)
    c = candidate(one, c=F(0))
    assert realised(one, c) is None
    tied = with_tied_vectors(one, c)
    assert tied is not None
    assert realised(one, tied) is not None
    kept = [name for name in c.vectors if c.vectors[name] is tied.vectors[name]]
    assert len(kept) == 3 - len(relations)


@pytest.mark.parametrize(
    "relations", [("norm2(u - v) <= 1 + c",), ("norm2(u) >= c",), ("norm2(u - v) < c",), ("dot(u, v) <= c",)]
)
def test_what_is_not_bounded_by_0_stays(relations: tuple[str, ...]) -> None:
    one = assumed(*relations)
    assert with_tied_vectors(one, candidate(one, c=F(0))) is None


def test_the_end_of_a_domain_is_reached_where_vectors_have_to_be_the_same() -> None:
    one = assumed("norm2(u - v) <= c", "norm2(w) <= c", statement="norm2(u - w) <= norm2(v - w)/2 + 10**6*c")
    c = candidate(one, c=F(0))
    first = realised(one, replace(c, values={**c.values, "c": F(10**9)}))
    assert first is not None
    seen = measured(one, first)
    assert seen is not None
    assert not seen.measured.broken
    broken = [
        again
        for again in (measured(one, other) for other in altered(one, first))
        if again is not None and again.measured.broken
    ]
    assert broken
    assert all(again.drawn.values["c"] == 0 for again in broken)
