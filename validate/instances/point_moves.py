"""Simpler problems of functions given by points.

Points lie where a run goes. A move that changes the run (another gradient, a start, a parameter) takes them along:
`along` plays the changed run beside the old one, and puts every point where its old place has come to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, TypeAlias

from theory.arithmetic import to_element
from theory.operations import Element, UndecidedError, to_fraction
from validate.instances.instance import Instance
from validate.instances.nearby import simpler, with_one
from validate.instances.points import Exact, Point, PointFunction, Points
from validate.instances.problems import Vector
from validate.play import Play

Given: TypeAlias = "tuple[tuple[PointFunction, ...], ...]"
Lists: TypeAlias = "tuple[tuple[tuple[Point, ...], ...], ...]"
"""The points of every sample; whether any function has them is not looked at yet."""
MOST_SCALES = 6
DENOMINATORS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 20, 60, 100, 1000)


def fewer_points(functions: Given) -> Iterator[Given]:
    """One point less, in all samples that have it, or in one of them."""
    lists = lists_of(functions)
    for x in dict.fromkeys(p.x for own in lists for points in own for p in points):
        rest = tuple(tuple(tuple(p for p in points if p.x != x) for points in own) for own in lists)
        if all(all(own) for own in rest):
            yield with_lists(functions, rest)
    if sum(map(len, functions)) > 1:
        for n, i, points in _places(lists):
            for j in range(len(points) if len(points) > 1 else 0):
                yield with_lists(functions, with_one(lists, n, i, points[:j] + points[j + 1 :]))


def projected(functions: Given, keep: Sequence[int]) -> Given | None:
    """The points with these coordinates only; None where no function of the class has them."""

    def cut(v: Exact) -> Exact:
        return tuple(v[j] for j in keep)

    return made(functions, _each(functions, lambda p: Point(cut(p.x), cut(p.g), p.f)))


def lengthened(functions: Given, more: int) -> Given:
    """The points with more coordinates, which are 0."""
    nothing = (Fraction(0),) * more
    return with_lists(functions, _each(functions, lambda p: Point((*p.x, *nothing), (*p.g, *nothing), p.f)))


def moved_by(functions: Given, by: Exact) -> Given:
    """x -> f(x - by)."""
    lists = _each(functions, lambda p: Point(tuple(a + b for a, b in zip(p.x, by, strict=True)), p.g, p.f))
    return with_lists(functions, lists)


def scaled(functions: Given, by: Fraction) -> Given:
    """x -> by^2 f(x/by), which is of the same class; not for a class with a bound G on gradients.

    Raises:
        ValueError: where there is such a bound.
    """

    def times(v: Exact) -> Exact:
        return tuple(by * y for y in v)

    return with_lists(functions, _each(functions, lambda p: Point(times(p.x), times(p.g), by * by * p.f)))


def lowered(functions: Given) -> Iterator[Given]:
    """All samples less their values at one of the points that all of them have."""
    common = set.intersection(*({p.x for p in f.points} for own in functions for f in own))
    for x in sorted(common):
        lists = []
        for own in functions:
            values = [next(p.f for p in f.points if p.x == x) for f in own]
            lists.append(
                tuple(tuple(Point(p.x, p.g, p.f - c) for p in f.points) for f, c in zip(own, values, strict=True))
            )
        if tuple(lists) != lists_of(functions):
            yield with_lists(functions, tuple(lists))


def shorter_values(functions: Given) -> Iterator[Lists]:
    """Values of fewer digits, all at once and then one by one."""
    for parts in DENOMINATORS:
        yield _each(functions, lambda p, q=parts: Point(p.x, p.g, _rounded(p.f, q)))
    yield from _one_by_one(functions, lambda p: (Point(p.x, p.g, simple) for simple in simpler(p.f)))


def shorter_gradients(functions: Given) -> Iterator[Lists]:
    """Gradients of fewer digits, with and without values, all at once and then one by one."""
    for parts in DENOMINATORS:
        for values in (True, False):

            def change(p: Point, q: int = parts, values: bool = values) -> Point:
                return Point(p.x, tuple(_rounded(y, q) for y in p.g), _rounded(p.f, q) if values else p.f)

            yield _each(functions, change)

    def one(p: Point) -> Iterator[Point]:
        for j, y in enumerate(p.g):
            for simple in simpler(y):
                yield Point(p.x, (*p.g[:j], simple, *p.g[j + 1 :]), p.f)

    yield from _one_by_one(functions, one)


@dataclass(frozen=True)
class Simpler:
    """A simpler problem, with the start and those parameters that are other ones."""

    functions: Given
    start: Exact
    values: Mapping[str, Fraction] = field(default_factory=dict)


def simpler_points(old: Instance, names: Sequence[str]) -> Iterator[Simpler]:
    """Points nearer to 0, shorter numbers, other starts and parameters; what is on the way of a run follows it.

    Args:
        old: with a problem of points.
        names: the parameters that may change.
    """
    assert isinstance(old.problem, Points)
    functions, same = old.problem.functions, lists_of(old.problem.functions)
    for x in dict.fromkeys((old.start, *(p.x for p in functions[0][0].points))):
        by = tuple(-a for a in x)
        there = moved_by(functions, by), tuple(a + b for a, b in zip(old.start, by, strict=True))
        if any(x):
            yield Simpler(*there)
        yield from _scaled(*there)
    for new in lowered(functions):
        yield Simpler(new, old.start)
    for lists in shorter_values(functions):
        yield from _simpler(functions, lists, old.start, {})
    if old.program is None:
        return
    changed: list[tuple[Lists, Exact, dict[str, Fraction]]] = []
    changed += [(lists, old.start, {}) for lists in shorter_gradients(functions)]
    for i, here in enumerate(old.start):
        changed += [(same, (*old.start[:i], simple, *old.start[i + 1 :]), {}) for simple in simpler(here)]
    for name in names:
        value = old.parameters.get(name)
        changed += [(same, old.start, {name: s}) for s in (simpler(value) if isinstance(value, Fraction) else ())]
    for lists, start, values in changed:
        try:
            run = replace(old, start=start, parameters={**old.parameters, **values})
        except ValueError:  # a parameter outside its domain
            continue
        moved = along(old, run, lists)
        if moved is not None:
            yield from _simpler(functions, moved, start, values)


def _scaled(functions: Given, start: Exact) -> Iterator[Simpler]:
    """Scaled so that one of the numbers of points and gradients is 1."""
    if any(f.G is not None for own in functions for f in own):
        return
    numbers = [abs(y) for p in functions[0][0].points for y in (*p.x, *p.g)]
    for number in sorted(set(numbers) - {Fraction(0), Fraction(1)}, reverse=True)[:MOST_SCALES]:
        yield Simpler(scaled(functions, 1 / number), tuple(y / number for y in start))


def _simpler(functions: Given, lists: Lists, start: Exact, values: Mapping[str, Fraction]) -> Iterator[Simpler]:
    new = made(functions, lists)
    if new is not None:
        yield Simpler(new, start, values)


def numbers_of(functions: Given) -> list[Fraction]:
    """All numbers that say what the functions are."""
    every = [f for own in functions for f in own]
    of_points = [y for f in every for p in f.points for y in (*p.x, *p.g, p.f)]
    return of_points + [y for f in every for y in (f.L, f.mu, f.G) if y is not None]


def lists_of(functions: Given) -> Lists:
    """The points of every sample."""
    return tuple(tuple(f.points for f in own) for own in functions)


def with_lists(functions: Given, lists: Lists) -> Given:
    """Functions of the same classes with these points.

    Raises:
        ValueError: where no function of its class has a sample's points.
    """
    return tuple(
        tuple(replace(f, points=points) for f, points in zip(own, listed, strict=True))
        for own, listed in zip(functions, lists, strict=True)
    )


def made(functions: Given, lists: Lists) -> Given | None:
    """As `with_lists`; None where there are no such functions."""
    try:
        return with_lists(functions, lists)
    except ValueError:
        return None


def _each(functions: Given, change: Any) -> Lists:
    return tuple(tuple(tuple(map(change, f.points)) for f in own) for own in functions)


def _one_by_one(functions: Given, changed: Any) -> Iterator[Lists]:
    lists = lists_of(functions)
    for n, i, points in _places(lists):
        for j, p in enumerate(points):
            for other in changed(p):
                yield with_one(lists, n, i, (*points[:j], other, *points[j + 1 :]))


def _rounded(value: Fraction, parts: int) -> Fraction:
    return Fraction(round(value * parts), parts)


def _places(lists: Lists) -> list[tuple[int, int, tuple[Point, ...]]]:
    return [(n, i, points) for n, own in enumerate(lists) for i, points in enumerate(own)]


# --- along a run ------------------------------------------------------------------------------------------------------


@dataclass
class _Played:
    """A problem of points that notes in which order it is asked for gradients, or follows such notes.

    Attributes:
        problem: the old one.
        lists: its points, with other gradients where they are changed.
        notes: the points at which it was asked so far, or, of the old run, is going to be.
        places: where the points of the old run are in the new one; None while notes are taken.
        running: whether it is asked by a run, and not by whoever checks arguments.
    """

    problem: Points
    lists: Lists
    notes: list[Vector] = field(default_factory=list)
    places: dict[Vector, Vector] | None = None
    asked: int = 0
    running: bool = False

    def __post_init__(self) -> None:
        self.clients, self.dim, self.samples = self.problem.clients, self.problem.dim, self.problem.samples
        self.tables: dict[tuple[int, int], Mapping[Vector, Vector]] = {
            (n, i): {tuple(map(to_element, p.x)): tuple(map(to_element, p.g)) for p in points}
            for n, i, points in _places(self.lists)
        }

    def _changed(self, v: Vector, which: tuple[int, ...]) -> Vector:
        total: list[Any] = [0] * self.dim
        for (n, i), table in self.tables.items():
            if (n, i)[: len(which)] == which:
                weight = to_element(Fraction(1))
                weight = weight / (1 if len(which) == 2 else self.samples(n)) / (1 if which else self.clients)
                total = [t + weight * y for t, y in zip(total, table[v], strict=True)]
        return tuple(total)

    def _next(self) -> Vector:
        if self.asked >= len(self.notes):
            raise ValueError("the run asks for more gradients than the old one")
        self.asked += 1
        return self.notes[self.asked - 1]

    def _put(self, old: Vector, new: Vector) -> None:
        assert self.places is not None
        if self.places.setdefault(old, new) != new:
            raise ValueError("a point of the old run comes to two places")

    def gradient(self, v: Vector, *which: int) -> Vector:
        """As `Points`; of the new run that of the point which the old run was at."""
        if self.places is None:
            self.notes.append(v)
            return self.problem.gradient(v, *which)
        old = self._next()
        self._put(old, v)
        return self._changed(old, which)

    def prox(self, v: Vector, t: Element, n: int) -> Vector:
        """As `Points`, likewise."""
        if not self.running:
            return v
        if self.places is None:
            self.notes.append(self.problem.prox(v, t, n))
            return self.notes[-1]
        old = self._next()
        new = tuple([x - t * g for x, g in zip(v, self._changed(old, (n,)), strict=True)])
        self._put(old, new)
        return new


def along(old: Instance, new: Instance, lists: Lists) -> Lists | None:
    """Changed points, taken along by a changed run; None where it asks for other gradients than the old run.

    Args:
        old: with a problem of points.
        new: the same with another start or other parameters; its problem is not looked at.
        lists: the points of `old`, with gradients and values of the new run.
    """
    assert isinstance(old.problem, Points)
    before = _Played(old.problem, lists)
    try:
        ends = _ends(old, before)
        after = _Played(old.problem, lists, before.notes, {})
        for one, two in zip(ends, _ends(new, after), strict=True):
            after._put(one, two)
    except (ValueError, KeyError, ZeroDivisionError, UndecidedError, AttributeError):
        return None
    if after.asked < len(before.notes):
        return None
    places = {tuple(map(to_fraction, a)): tuple(map(to_fraction, b)) for a, b in (after.places or {}).items()}
    return tuple(tuple(tuple(Point(places.get(p.x, p.x), p.g, p.f) for p in points) for points in own) for own in lists)


def _ends(instance: Instance, problem: _Played) -> list[Vector]:
    """All vectors in the states that a run on a problem leaves, in order."""
    play = Play(replace(instance, problem=problem))  # type: ignore[arg-type]
    problem.running = True
    found: list[Vector] = []

    def collect(value: Any) -> None:
        if value and not isinstance(value[0], tuple):
            found.append(value)
        else:
            for part in value:
                collect(part)

    for _, state in play.law(instance.rounds):
        collect(state)
    return found
