"""Clients that cannot be told apart, merged: a program whose size does not hang on their number.

Where every exchange of two clients leaves the points and the forms as they are, a solution may be averaged over all of
them. In an averaged Gram matrix the gradients of client n are m_a + d_{n,a}, with the means m orthogonal to all
deviations d, sum_n d_{n,a} = 0 and <d_{n,a}, d_{n,b}> = D_ab the same for every n, so that <d_{n,a}, d_{m,b}> is
-D_ab/(N - 1) for n other than m. Conversely means and deviations with positive semidefinite M and D come from N
clients: d_{n,a} = e_n (x) d_a, with e_1..e_N the corners of a regular simplex. So nothing is lost: one block for M with
all that is no client's, one for D, and the conditions of one client.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from theory.arithmetic import to_element
from theory.worst_case.assembly import Meeting, families, fraction
from theory.worst_case.forms import Form
from theory.worst_case.program import Program, Row, single

Place = tuple[int, int]
"""A client, and which of its points: its gradient there is a basis vector."""


@dataclass(frozen=True)
class Merged:
    """The clients of a meeting, merged.

    Attributes:
        met: the meeting.
        clients: N, at least 2.
        place: of the basis vectors that are gradients, whose they are.
        basis: the other way round.
        kept: the basis vectors that are no client's.
        means: the points whose gradients have a mean; at the minimiser they have none.
        deviations: the points whose gradients differ from client to client.
    """

    met: Meeting
    clients: int
    place: Mapping[int, Place]
    basis: Mapping[Place, int]
    kept: tuple[int, ...]
    means: tuple[int, ...]
    deviations: tuple[int, ...]


def merged(met: Meeting, kept: Sequence[int], forms: Iterable[Form]) -> Merged | None:
    """The clients merged, where they cannot be told apart; else None.

    Args:
        met: the meeting.
        kept: the basis vectors that matter.
        forms: that are to be the same for all of them.
    """
    keys = list(met.functions)
    N = len(keys)
    lengths = {len(points) for points in met.functions.values()}
    if N < 2 or keys != [(n, 0) for n in range(N)] or len(set(met.classes.values())) > 1 or len(lengths) > 1:
        return None
    place: dict[int, Place] = {}
    for (n, _), points in met.functions.items():
        for j, point in enumerate(points):
            own = [b for b, c in enumerate(point.g) if c]
            if len(own) == 1 and point.g[own[0]] == 1 and own[0] not in place:
                place[own[0]] = (n, j)
            elif own and not (met.minimiser and j == 0 and n == N - 1):
                return None
    (count,) = lengths
    owners = [{n for n, j in place.values() if j == point} for point in range(count)]
    star = met.minimiser and bool(owners[0])
    if any(owned and len(owned) < N for owned in owners[int(star) :]) or (star and len(owners[0]) != N - 1):
        return None
    others = tuple(b for b in kept if b not in place)
    if any(b in met.gradients for b in others):
        return None
    deviations = tuple(j for j, owned in enumerate(owners) if owned)
    basis = {where: b for b, where in place.items()}
    found = Merged(met, N, place, basis, others, tuple(j for j in deviations if not (star and j == 0)), deviations)
    forms = list(forms)
    exchange, cycle = [1, 0, *range(2, N)], [*range(1, N), 0]  # they generate all permutations
    return found if all(_same(found, to, forms) for to in ([exchange] if N == 2 else [exchange, cycle])) else None


def _exchanged(one: Merged, to: Sequence[int], b: int) -> dict[int, Any]:
    """A basis vector after every client n has become to[n]."""
    if b not in one.place:
        return {b: 1}
    client, j = one.place[b]
    client = to[client]
    if (client, j) in one.basis:
        return {one.basis[client, j]: 1}
    return {one.basis[m, j]: -1 for m in range(one.clients - 1)}  # the last one's gradient at the minimiser


def _same(one: Merged, to: Sequence[int], forms: Iterable[Form]) -> bool:
    """Whether a permutation of the clients changes nothing."""
    met = one.met
    images = [_exchanged(one, to, b) for b in range(len(met.basis))]

    def image(vector: Sequence[Any]) -> dict[int, Any]:
        total: dict[int, Any] = {}
        for b, c in enumerate(vector):
            if c:
                for other, factor in images[b].items():
                    total[other] = total.get(other, 0) + factor * c
        return {b: c for b, c in total.items() if c}

    values: dict[int, int] = {}
    for (m, _), points in met.functions.items():
        others = met.functions[to[m], 0]
        for point, other in zip(points, others, strict=True):
            values[point.value] = other.value
            for vector, wanted in ((point.x, other.x), (point.g, other.g)):
                if image(vector) != {b: c for b, c in enumerate(wanted) if c}:
                    return False
    for form in forms:
        gram: dict[tuple[int, int], Any] = {}
        for (i, j), c in form.gram.items():
            for a, p in images[i].items():
                for b, q in images[j].items():
                    key = (a, b) if a <= b else (b, a)
                    gram[key] = gram.get(key, 0) + c * p * q
        if {key: c for key, c in gram.items() if c} != dict(form.gram):
            return False
        if {values[v]: c for v, c in form.values.items()} != dict(form.values):
            return False
    return True


def program_of(one: Merged, objective: Form, conditions: Sequence[tuple[str, Form]]) -> Program | None:
    """The program of merged clients; None where a client's point hangs on others in another way than by their mean."""
    met, N = one.met, one.clients
    scale, unit = met.scale, met.unit
    exact = [to_element(of) for of in scale]
    first = {b: a for a, b in enumerate(one.kept)}
    mean = {j: len(first) + a for a, j in enumerate(one.means)}
    deviation = {j: len(first) + len(mean) + a for a, j in enumerate(one.deviations)}
    size = len(first) + len(mean) + len(deviation)
    rows: list[Row] = [{a: Fraction(1)} for a in range(size)]
    astray = []

    def row(vector: Sequence[Any], of: Fraction) -> int:
        share = 1 / to_element(of)
        found = {first[b]: fraction(vector[b] * exact[b] * share) for b in one.kept if vector[b]}
        share = to_element(unit) * share
        for j in one.deviations:
            own = [vector[one.basis[n, j]] if (n, j) in one.basis else 0 for n in range(N)]
            if not any(own):
                continue
            if any(c != own[1] for c in own[2:]):
                astray.append(j)
            for place, c in ((mean.get(j), sum(own)), (deviation[j], own[0] - own[-1])):
                if place is not None and c:
                    found[place] = fraction(c * share)
        rows.append(found)
        return len(rows) - 1

    own = met.functions[0, 0]
    places = [-1] * met.values
    for points in met.functions.values():
        for j, point in enumerate(points):
            places[point.value] = j - 1
    found = list(families("f", own, met.classes[0, 0], met, places, row))
    if astray:
        return None

    def parts(form: Form) -> tuple[dict[tuple[int, int], Fraction], dict[int, Fraction], Fraction]:
        gram: dict[tuple[int, int], Any] = {}
        for (i, j), c in form.gram.items():
            coefficient = c * exact[i] * exact[j]
            (n, a), (m, b) = one.place.get(i, (-1, -1)), one.place.get(j, (-1, -1))
            pairs = [(first.get(i, mean.get(a)), first.get(j, mean.get(b)), coefficient)]
            if n >= 0 and m >= 0:
                pairs.append((deviation[a], deviation[b], coefficient if n == m else -coefficient / (N - 1)))
            for one_row, other_row, weight in pairs:
                if one_row is not None and other_row is not None:
                    key = (min(one_row, other_row), max(one_row, other_row))
                    gram[key] = gram.get(key, 0) + weight
        values: dict[int, Fraction] = {}
        for value, c in form.values.items():
            if places[value] >= 0:
                values[places[value]] = values.get(places[value], Fraction(0)) + fraction(c) * unit
        return {key: fraction(c) for key, c in gram.items()}, values, fraction(form.constant)

    for name, form in conditions:
        found.append(single(name, *parts(form)))
    names = [met.basis[b] for b in one.kept] + [f"mean gradient {j}" for j in one.means]
    blocks = (tuple(names), tuple(f"deviation of gradient {j}" for j in one.deviations))
    return Program(blocks, tuple(rows), len(own) - 1, tuple(found), single("objective", *parts(objective)))
