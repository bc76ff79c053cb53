"""Exchanges of clients, and of samples of one client, that leave a problem as it is: what is alike under them.

An exchange takes functions to functions. What it does to points and basis vectors follows: a point is a combination of
gradients that were met before it, so its image is known once theirs are, and where the other function is known there,
the gradient's image is its gradient. Branches of a draw are exchanged along with the points in them. Floats are enough:
what is alike decides how a program is solved (`theory.worst_case.reduced`), and no proof rests on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from theory.worst_case.assembly import Known, Meeting
from theory.worst_case.forms import Form
from theory.worst_case.program import Alike, Array, Family, Program

Key = tuple[int, int]
_DIGITS = 987_654_321.123  # points and forms are told apart by their floats times this, rounded


@dataclass(frozen=True, eq=False)
class Exchange:
    """What an exchange does.

    Attributes:
        keys: the image of each function.
        basis: (n, n), the image of basis vector j in column j.
        points: of each function, the places of its points' images among those of its image.
    """

    keys: Mapping[Key, Key]
    basis: Array
    points: Mapping[Key, tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class _Points:
    """The points of one function as floats, and their places by what they are."""

    x: Array
    g: Array
    places: Mapping[tuple[bytes, float], int]


def exchanges(met: Meeting, goal: Form, conditions: Sequence[Form]) -> list[Exchange]:
    """Exchanges of two clients or of two samples that generate all those under which everything is the same.

    Args:
        met: what a run meets.
        goal: which is to be the same.
        conditions: which are to be the same but for their order.
    """
    keys = list(met.functions)
    if len(keys) < 2 or met.orthogonal:
        return []
    size = len(met.basis)
    points = {key: _floats(own, size) for key, own in met.functions.items()}
    aim, others = _table(goal, met), [_table(form, met) for form in conditions]
    names, accepted = {_name(*table) for table in others}, []
    for places in _candidates(keys):
        one = _exchange(met, points, places)
        if one is None:
            continue
        values = _values(met, one)
        if _name(*_image(aim, one.basis, values)) != _name(*aim):
            continue
        if {_name(*_image(table, one.basis, values)) for table in others} == names:
            accepted.append(one)
    return accepted


def _candidates(keys: Sequence[Key]) -> Iterator[dict[Key, Key]]:
    """Neighbouring clients, and neighbouring samples of one client."""
    clients = sorted({n for n, _ in keys})
    counts = [sum(n == m for m, _ in keys) for n in clients]
    for n in clients[:-1]:
        if counts[n] == counts[n + 1]:
            swap = {n: n + 1, n + 1: n}
            yield {(m, i): (swap.get(m, m), i) for m, i in keys}
    for n in clients:
        for i in range(counts[n] - 1):
            turn = {(n, i): (n, i + 1), (n, i + 1): (n, i)}
            yield {key: turn.get(key, key) for key in keys}


def _floats(points: Sequence[Known], size: int) -> _Points:
    x, g = np.zeros((len(points), size)), np.zeros((len(points), size))
    for rows, vectors in ((x, [p.x for p in points]), (g, [p.g for p in points])):
        for row, vector in zip(rows, vectors, strict=True):
            for j, c in enumerate(vector):
                if c:
                    row[j] = float(c)
    return _Points(x, g, {_place(a, b): i for i, (a, b) in enumerate(zip(x, g, strict=True))})


def _place(x: Array, g: Array) -> tuple[bytes, float]:
    """What a point is, but for its own gradient (in a prox, x hangs on it)."""
    (own,) = np.nonzero(g) if np.count_nonzero(g) == 1 else (np.array([], dtype=int),)
    c = float(x[own[0]]) if len(own) else 0.0
    return _bytes(x - c * g if c else x), round(c, 9)


def _bytes(numbers: Array) -> bytes:
    return np.rint(numbers * _DIGITS).astype(np.int64).tobytes()


def _exchange(met: Meeting, points: Mapping[Key, _Points], keys: Mapping[Key, Key]) -> Exchange | None:
    """What follows from an exchange of functions; None where they are not alike."""
    if any(met.classes[key] != met.classes[to] or len(points[key].x) != len(points[to].x) for key, to in keys.items()):
        return None
    basis = np.eye(len(met.basis))
    waiting = set(met.gradients)
    places = {key: [-1] * len(own.x) for key, own in points.items()}
    order = sorted((p.value, key, i) for key, own in met.functions.items() for i, p in enumerate(own))
    for _, key, i in order:
        x, g, other = points[key].x[i], points[key].g[i], points[keys[key]]
        own = np.flatnonzero(g)
        new = len(own) == 1 and g[own[0]] == 1 and own[0] in waiting
        c = x[own[0]] if new else 0.0
        rest = x - c * g if c else x
        if any(j in waiting for j in np.flatnonzero(rest)):
            return None
        image = basis @ rest
        where = other.places.get((_bytes(image), round(c, 9)))
        if where is None or (where == 0) != (i == 0):
            return None
        if new:
            basis[:, own[0]] = other.g[where]
            waiting.discard(own[0])
        elif any(j in waiting for j in own) or _bytes(basis @ g) != _bytes(other.g[where]):
            return None
        places[key][i] = where
    return Exchange(keys, basis, {key: tuple(own) for key, own in places.items()})


def _values(met: Meeting, one: Exchange) -> Array:
    """The image of each value; those of no function are their own."""
    most = max([met.values, *(p.value + 1 for own in met.functions.values() for p in own)])
    images = np.arange(most + 1)
    for key, own in met.functions.items():
        for point, place in zip(own, one.points[key], strict=True):
            images[point.value] = met.functions[one.keys[key]][place].value
    return images


def _table(form: Form, met: Meeting) -> tuple[Array, Array, float]:
    """A form in floats: a symmetric matrix, coefficients of the values, and the constant."""
    gram, values = np.zeros((len(met.basis),) * 2), np.zeros(met.values + 1)
    for (i, j), c in form.gram.items():
        gram[i, j] += float(c) / 2
        gram[j, i] += float(c) / 2
    for value, c in form.values.items():
        values[value] = float(c)
    return gram, values, float(form.constant)


def _image(table: tuple[Array, Array, float], basis: Array, values: Array) -> tuple[Array, Array, float]:
    gram, old, constant = table
    new = np.zeros_like(old)
    new[values[: len(old)]] = old
    return basis @ gram @ basis.T, new, constant


def _name(gram: Array, values: Array, constant: float) -> tuple[bytes, bytes, float]:
    return _bytes(gram), _bytes(values), constant


def with_alike(
    program: Program,
    met: Meeting,
    kept: Sequence[int],
    places: Sequence[int],
    owners: Sequence[Key | None],
    forms: Sequence[Form],
) -> Program:
    """A program of one block with what is alike in it; the same where nothing is.

    Args:
        program: which.
        met: what the run meets.
        kept: the places of its basis vectors in the meeting's.
        places: of each value of a function, its place in the program.
        owners: of each of its families the function, as `theory.worst_case.assembly.families` has them; None for
            those of one condition each, which are of no single function.
        forms: the objective, and those conditions.
    """
    accepted = exchanges(met, forms[0], forms[1:])
    if not accepted:
        return program
    starts = np.cumsum([0, *map(len, program.families)])
    lone = [int(start) for start, owner in zip(starts, owners, strict=False) if owner is None]
    own = {key: [f for f, owner in enumerate(owners) if owner == key] for key in met.functions}
    tables = [_table(form, met) for form in forms[1:]]
    named = {_name(*table): start for table, start in zip(tables, lone, strict=True)}
    conditions, values = [], []
    for one in accepted:
        moved, image = _values(met, one), np.arange(starts[-1])
        for key, to in one.keys.items():
            for f, h in zip(own[key], own[to], strict=True):
                order = _order(program.families[f], np.array(one.points[key]))
                image[starts[f] : starts[f + 1]] = starts[h] + order
        for table, start in zip(tables, lone, strict=True):
            image[start] = named[_name(*_image(table, one.basis, moved))]
        conditions.append(image)
        turned = np.arange(program.values)
        for value, place in enumerate(places):
            if place >= 0:
                turned[place] = places[moved[value]]
        values.append(turned)
    actions = tuple([one.basis[np.ix_(kept, kept)] for one in accepted])
    return replace(program, alike=Alike(_orbits(conditions), _orbits(values), actions))


def _order(family: Family, points: Array) -> Array:
    """The places of the images of a function's conditions in the image's family, its points being moved."""
    count = len(points)
    if family.supports.shape[1] == 1:  # of one point each, of all or of all but the first
        return points if len(family) == count else points[1:] - 1
    listed = [*range(1, count), 0]  # the order in which `interpolation` has them
    pairs = np.array([(i, j) for i in listed for j in listed if i != j])
    where = np.zeros((count, count), dtype=int)
    where[pairs[:, 0], pairs[:, 1]] = np.arange(len(pairs))
    return where[points[pairs[:, 0]], points[pairs[:, 1]]]


def _orbits(images: Sequence[Array]) -> Array:
    """The number of the orbit of each place, under permutations."""
    lowest = np.arange(len(images[0]))
    while True:
        before = lowest.copy()
        for image in images:  # the least place that is reached, forwards and backwards
            lowest = np.minimum(lowest, lowest[image])
            np.minimum.at(lowest, image, lowest.copy())
        if (lowest == before).all():
            return np.unique(lowest, return_inverse=True)[1]
