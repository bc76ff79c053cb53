"""Sentences for every point, asked at the points that are met: a larger class, over which a claim may be bounded.

Functions that satisfy a sentence there need not do so elsewhere: a solution is no instance, but where no function that
satisfies the sentences at the points of a run breaks the claim, none that satisfies them everywhere does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import islice, permutations

from theory.claim import Claim
from theory.for_every import ForEvery
from theory.sentence import evaluate, read
from theory.worst_case.classes import Classes
from theory.worst_case.forms import Form, NotLinearError, plus, squared_sides
from validate.instances.problems import Vector
from validate.worst_case.unknown import Unknown
from validate.worst_case.world import FormWorld

MOST_PLACES = 60
"""Choices of points at which a sentence for every point is asked."""


class _AtPoints(FormWorld):
    """The claim's world in which the points of a sentence are some that were met."""

    def __init__(self, world: FormWorld, points: Mapping[str, Vector]) -> None:
        self.__dict__.update(world.__dict__)
        self.points = points

    def point(self, name: str, at: Mapping[str, int]) -> Vector:
        return self.points[name] if name in self.points else super().point(name, at)


def of_sentences(unknown: Unknown, classes: Classes, world: FormWorld, claim: Claim) -> Iterator[tuple[str, Form]]:
    """Forms that are not positive, by name: what sentences for every point say at those that are known by now."""
    each = list(unknown.points.values())
    met = [point.x for place, point in each[0].items() if all(place in own for own in each)]
    for one in classes.across:
        if not isinstance(one, ForEvery):
            continue
        words = one.words(claim.vocabulary)
        free = frozenset[str]().union(*(read(side, words).free for side in one.sentence.sides))
        for chosen in islice(permutations(met, len(one.points)), MOST_PLACES):
            here = _AtPoints(world, dict(zip(one.points, chosen, strict=True)))
            for at in _indices(unknown, free):
                sides = [evaluate(side, here, at, words) for side in one.sentence.sides]
                if one.sentence.relation == ">=":
                    sides = sides[::-1]
                for small, large in (sides, sides[::-1]) if one.sentence.relation == "==" else (sides,):
                    gap = plus(*squared_sides(small, large), -1)
                    if not isinstance(gap, Form):
                        raise NotLinearError(one.text)
                    if gap.gram or gap.values:
                        yield f"{one.text} at a point", gap


def _indices(unknown: Unknown, free: Collection[str]) -> Iterator[dict[str, int]]:
    for n in range(unknown.clients) if {"n", "i"} & set(free) else (0,):
        for i in range(unknown.samples(n)) if "i" in free else (0,):
            yield {"n": n, "i": i}
