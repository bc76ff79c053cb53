"""Problems turned into points: those at which a run asks for gradients, its states, and minimisers."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from theory.arithmetic import to_element
from theory.operations import to_fraction
from validate.instances import Instance, Point, PointFunction, Points
from validate.play import Play

F, ONE = Fraction, Fraction(1)


class Watched:
    """A problem that notes where it is asked for gradients and proximal points."""

    def __init__(self, problem: Any) -> None:
        self.problem = problem
        self.places: dict[Any, None] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.problem, name)

    def gradient(self, v: Any, *which: int) -> Any:
        self.places[v] = None
        return self.problem.gradient(v, *which)

    def prox(self, v: Any, t: Any, n: int) -> Any:
        found = self.problem.prox(v, t, n)
        self.places[found] = None
        return found


def vectors(state: Any) -> list[Any]:
    if state and not isinstance(state[0], tuple):
        return [state]
    return [v for part in state for v in vectors(part)]


def places_of(instance: Instance) -> list[Any]:
    """Where a run asks for gradients, its states, and where f and the f_n are least."""
    watched = Watched(instance.problem)
    play = Play(replace(instance, problem=watched))
    watched.places.clear()  # of what checking its arguments took
    for k in range(instance.rounds + 1):
        watched.places |= dict.fromkeys(v for _, state in play.law(k) for v in vectors(state))
    start = tuple(map(to_element, instance.start))
    for which in ((), *((n,) for n in range(watched.clients))):
        watched.places |= dict.fromkeys(watched.minimisers(start, *which).points[:1])
    return list(watched.places)


def as_points(problem: Any, places: Sequence[Any], classes: Any, G: Any = None) -> Points:
    """The samples of a problem at points, of the class (L, mu) that `classes(n, i)` says."""

    def sample(n: int, i: int) -> PointFunction:
        found = []
        for v in places:
            x, g = (tuple(map(to_fraction, u)) for u in (v, problem.gradient(v, n, i)))
            found.append(Point(x, g, to_fraction(problem.value(v, n, i))))
        return PointFunction(tuple(found), *map(F, classes(n, i)), G)

    return Points(tuple(tuple(sample(n, i) for i in range(problem.samples(n))) for n in range(problem.clients)))


def huber(K: int, L: Fraction = ONE, R: Fraction = ONE) -> dict[str, Any]:
    """Where gradient descent with eta = 1/L goes from R in K rounds on a Huber function, and its minimiser 0."""
    d = R / (2 * K + 1)
    points = [{"x": R - k * d, "g": L * d, "f": L * (d * (R - k * d) - d * d / 2)} for k in range(K + 1)]
    points.append({"x": F(0), "g": F(0), "f": F(0)})
    return {"points": [{key: str(v) for key, v in p.items()} for p in points], "L": str(L), "mu": 0}
