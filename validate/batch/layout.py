"""Which numbers of an instance are free: a candidate as a list of numbers, and numbers as a candidate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from sim.problems.linear_algebra import minimise
from theory.claim import Claim
from theory.predicates import Connected
from validate.batch.bests import Problems
from validate.batch.hinges import Hinges, embedded, kinds_of, line_of
from validate.batch.recorded import Array
from validate.instances.candidates import Candidate
from validate.instances.pieces import Piecewise, mean_of
from validate.instances.pool import needs_minimiser
from validate.instances.roles import roles_in
from validate.instances.shapes import shape_of
from validate.satisfied import second_eigenvalue

NO = -1
"""In the place of a number that is always 0."""


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the free numbers of an instance stand in a list.

    Attributes:
        size: how many there are.
        dim: d; piecewise quadratics go along the first coordinate (`validate.batch.hinges.embedded`).
        hessian: (N, n, d, d), the places of the entries, or `NO`; of shape (0, 0, 0, 0) without quadratics.
        knots: (F, m), of the different piecewise quadratics, from the minimiser where there is one; or empty.
        slopes: (F, m + 1).
        which: (N, n), which of these each sample is.
        linear: (N, n, d), the linear terms; of a claim that needs a minimiser the gradients there, with their signs
            turned, to which what they have in common is not added.
        centre: (d,), the minimiser; empty without one.
        start: (d,), from the minimiser where there is one; or empty.
        values: by place, a name and which of its numbers; None for the only one.
        vectors: by name, (d,) or (N, d).
        networks: by name of a gossip matrix, (N, N), what it is less the mean, over its second eigenvalue rho: with
            these the matrix hangs on rho alone, which is free.
    """

    size: int
    dim: int
    hessian: Array
    knots: Array
    slopes: Array
    which: Array
    linear: Array
    centre: Array
    start: Array
    values: dict[int, tuple[str, int | None]]
    vectors: dict[str, Array]
    networks: dict[str, Array] = field(default_factory=dict)

    def numbers(self, c: Candidate) -> list[Fraction]:
        """The free numbers of a candidate."""
        found: list[Any] = [Fraction(0)] * self.size
        start, linear = c.start, c.linear
        if self.knots.size:
            start = self._put_pieces(found, c)
        elif self.centre.size:
            least = minimise(c.hessian.mean(axis=(0, 1)), c.linear.mean(axis=(0, 1)))
            centre = c.start * 0 if least is None else least[0]
            start, linear = c.start - centre, c.linear - c.hessian @ centre
            self._put(found, self.centre, centre)
        if self.hessian.size:
            self._put(found, self.hessian, c.hessian)
            self._put(found, self.linear, linear)
        if self.start.size:
            self._put(found, self.start, start)
        for name, places in self.vectors.items():
            self._put(found, places, c.vectors[name])
        for place, (name, which) in self.values.items():
            found[place] = _number(c, name, which)
        return found

    def _put_pieces(self, found: list[Any], c: Candidate) -> Any:
        """Piecewise quadratics into a list of numbers; the start from their minimiser.

        Raises:
            ValueError: where they have more knots, or others are the same.
        """
        functions = [[line_of(f) for f in own] for own in c.functions]
        if not np.array_equal(kinds_of(functions), self.which) or any(c.start[1:]):
            raise ValueError("other functions are the same, or the start is elsewhere")
        centre = Fraction(0)
        if self.centre.size:
            least = mean_of([mean_of(own) for own in functions]).least
            if least is None:
                raise ValueError("f is unbounded below")
            low, high = least[1][0]
            centre = next((x for x in (low, high) if x is not None), c.start[0])
            self._put(found, self.centre, [centre])
        each = {int(f): one for f, one in zip(self.which.ravel(), (f for own in functions for f in own), strict=True)}
        for f, one in each.items():
            knots, slopes = list(one.knots), list(one.slopes)
            missing = self.knots.shape[1] - len(knots)
            if missing < 0:
                raise ValueError("there are more knots")
            knots += [(knots or [Fraction(0)])[-1] + i + 1 for i in range(missing)]
            self._put(found, self.knots[f], [t - centre for t in knots])
            self._put(found, self.slopes[f], slopes + slopes[-1:] * missing)
        self._put(found, self.linear, [[-f.derivative(centre) for f in own] for own in functions])
        return c.start[:1] - centre

    def _put(self, found: list[Any], places: Array, numbers: Any) -> None:
        for place, number in zip(places.ravel(), np.array(numbers, dtype=object).ravel(), strict=True):
            if place != NO:
                found[place] = number

    def pieces(self, numbers: Array) -> tuple[Array, Array, Array]:
        """Knots, (..., F, m), slopes, (..., F, m + 1), linear terms, (..., F), from the minimiser, for numbers."""
        padded = np.concatenate([numbers, numbers[..., :1] * 0], axis=-1)
        linear = padded[..., self.linear[..., 0]]
        if self.centre.size:
            linear = linear - linear.sum(axis=(-2, -1), keepdims=True) / (linear.shape[-2] * linear.shape[-1])
        of_each = linear.reshape(*linear.shape[:-2], -1)[..., self._first]
        return padded[..., self.knots], padded[..., self.slopes], of_each

    @cached_property
    def _first(self) -> Array:
        """(F,), of each different function the first sample that is it."""
        return np.unique(self.which, return_index=True)[1]

    def problems(self, numbers: Array) -> Problems | Hinges | None:
        """The problems of numbers, (B, size); None without functions."""
        if self.knots.size:
            return Hinges(*self.pieces(numbers), self.which, bool(self.centre.size))
        return Problems(*self.functions(numbers), self._different) if self.hessian.size else None

    @cached_property
    def _different(self) -> tuple[Array, Array]:
        """The first of the clients, and of all samples one after another, with the same Hessians."""
        N, n = self.hessian.shape[:2]
        places = self.hessian.reshape(N, -1), self.hessian.reshape(N * n, -1)
        return tuple(np.sort(np.unique(one, axis=0, return_index=True)[1]) for one in places)  # type: ignore[return-value]

    def starts(self, numbers: Array) -> Array:
        """Starts, (..., d), for numbers, (..., size)."""
        start = numbers[..., self.start] + (numbers[..., self.centre] if self.centre.size else 0)
        return np.concatenate([start, *[start[..., :1] * 0] * (self.dim - start.shape[-1])], axis=-1)

    def functions(self, numbers: Array) -> tuple[Array, Array]:
        """Hessians, (..., N, n, d, d), and linear terms, (..., N, n, d), of quadratics for numbers, (..., size)."""
        padded = np.concatenate([numbers, numbers[..., :1] * 0], axis=-1)
        hessian, linear = padded[..., self.hessian], padded[..., self.linear]
        if self.centre.size:
            linear = linear - linear.sum(axis=(-3, -2), keepdims=True) / (linear.shape[-3] * linear.shape[-2])
            centre = padded[..., self.centre]
            linear = linear + (hessian * centre[..., None, None, None, :]).sum(axis=-1)
        return hessian, linear

    def mixing(self, rho: Any) -> dict[str, list[list[Any]]]:
        """The gossip matrices of which rho is the second eigenvalue."""
        return {
            name: [[(rho * part if part else 0) + Fraction(1, len(row)) for part in row] for row in parts]
            for name, parts in self.networks.items()
        }

    def candidate(self, c: Candidate, numbers: Sequence[Fraction]) -> Candidate:
        """The candidate with these free numbers, all else being as in another.

        Raises:
            ValueError: where knots are not in their order.
        """
        listed = np.array(numbers, dtype=object)
        hessian, linear, functions = c.hessian, c.linear, c.functions
        start = self.starts(listed) if self.start.size else c.start
        if self.hessian.size:
            hessian, linear = self.functions(listed)
        elif self.knots.size:
            centre = listed[self.centre[0]] if self.centre.size else Fraction(0)
            different = [embedded(_function(*one, centre), self.dim) for one in zip(*self.pieces(listed), strict=True)]
            functions = tuple(tuple(different[f] for f in own) for own in self.which)
        values = dict(c.values)
        for place, (name, which) in self.values.items():
            if which is None:
                values[name] = listed[place]
            else:
                values[name] = [*values[name][:which], listed[place], *values[name][which + 1 :]]
        values.update(self.mixing(values.get("rho")))
        if "rho" not in c.values:
            values.pop("rho", None)
        vectors = dict(c.vectors)
        for name, places in self.vectors.items():
            vectors[name] = list(listed[places]) if places.ndim == 2 else listed[places]
        changed = {"start": start, "values": values, "vectors": vectors, "functions": functions}
        return replace(c, hessian=hessian, linear=linear, **changed)


def _function(knots: Sequence[Fraction], slopes: Sequence[Fraction], linear: Fraction, centre: Fraction) -> Piecewise:
    """The piecewise quadratic of these numbers around a centre; of knots that are the same the last.

    Raises:
        ValueError: where knots are not in their order.
    """
    kept = [j for j, t in enumerate(knots) if t not in knots[j + 1 :]]
    one = Piecewise(tuple(knots[j] + centre for j in kept), (slopes[0], *(slopes[j + 1] for j in kept)))
    return Piecewise(one.knots, one.slopes, one.derivative(centre) + linear)


class _Places:
    def __init__(self) -> None:
        self.count = 0

    def of(self, *shape: int) -> Array:
        size = int(np.prod(shape))
        found = np.arange(self.count, self.count + size).reshape(shape)
        self.count += size
        return found


def layout_of(claim: Claim, c: Candidate, fixed: frozenset[str]) -> Layout:
    """The free numbers of a candidate of quadratics or piecewise ones, or without functions.

    Args:
        claim: what its assumptions ask of the functions is so by construction, as far as it is a pattern.
        c: a candidate.
        fixed: names that are not free.
    """
    places = _Places()
    hessian, linear, centre, start = np.zeros((0,) * 4, int), np.zeros((0,) * 3, int), *[np.zeros(0, int)] * 2
    knots = slopes = which = np.zeros((0, 0), int)
    shape = shape_of(claim.predicates, needs_minimiser(claim))
    if c.functions is not None:
        lines = [[line_of(f) for f in own] for own in c.functions]
        which = kinds_of(lines)
        different, most = which.max() + 1, max(len(f.knots) for own in lines for f in own)
        if not most:
            raise ValueError("there are no knots")
        knots, slopes = places.of(different, most), np.full((different, most + 1), NO)
        within = slice(1, -1) if shape.flat else slice(None)
        slopes[:, within] = places.of(*slopes[:, within].shape)
        if shape.bounded or shape.same_minimiser:
            centre = places.of(1)
        linear = np.full((*which.shape, 1), NO)
        if not shape.same_minimiser and (different > 1 or not centre.size):
            linear = places.of(different)[which][..., None]
    if c.hessian is not None:
        N, n, d = c.hessian.shape[:3]
        own = (1 if shape.alike_clients else N, 1 if shape.alike_samples or shape.alike_clients else n)
        hessian = np.full((N, n, d, d), NO)
        if not shape.flat:
            across = any(c.hessian[..., i, j].any() for i in range(d) for j in range(i))
            for i in range(d):
                for j in range(i + 1 if across else 0) if shape.even != "f_ni" else ():
                    hessian[..., i, j] = hessian[..., j, i] = places.of(*own)
                if shape.even != "f_ni" and not across:
                    hessian[..., i, i] = places.of(*own)
            if shape.even == "f_ni":
                hessian[..., range(d), range(d)] = places.of(1)
        if shape.bounded or shape.same_minimiser:
            centre = places.of(d)
        linear = np.full((N, n, d), NO)
        if not shape.same_minimiser:
            linear = places.of(N, n, d)
    if c.has_functions and (claim.program is not None or _named(claim, "x0")):
        start = places.of(c.dim if c.hessian is not None else 1)
    vectors = {}
    for name, v in c.vectors.items():
        vectors[name] = places.of(len(v), len(v[0])) if isinstance(v, list) else places.of(len(v))
    values: dict[int, tuple[str, int | None]] = {}
    for name, value in c.values.items():
        if name in fixed or not is_free(claim, name):
            continue
        if isinstance(value, list):
            if not any(isinstance(v, list) for v in value):
                values.update((int(places.of(1)[0]), (name, i)) for i in range(len(value)))
        elif isinstance(value, Fraction):
            values[int(places.of(1)[0])] = (name, None)
    networks = {} if "rho" in fixed else networks_of(claim, c)
    if networks and ("rho", None) not in values.values():
        values[int(places.of(1)[0])] = ("rho", None)
    return Layout(places.count, c.dim, hessian, knots, slopes, which, linear, centre, start, values, vectors, networks)


def networks_of(claim: Claim, c: Candidate) -> dict[str, Array]:
    """A candidate's gossip matrices less the mean, over their second eigenvalue, where that is not 0."""
    names = [one.matrix for one in claim.predicates if isinstance(one, Connected)]
    known = {name: np.array(c.values[name], dtype=object) for name in names if isinstance(c.values.get(name), list)}
    eigenvalues = {second_eigenvalue(W) for W in known.values()}
    rho = eigenvalues.pop() if len(eigenvalues) == 1 and len(known) == len(names) else None
    if not isinstance(rho, Fraction) or rho <= 0:
        return {}
    return {name: (W - Fraction(1, len(W))) / rho for name, W in known.items()}


def _number(c: Candidate, name: str, which: int | None) -> Any:
    """One of a candidate's values; a second eigenvalue may be one that the claim does not name."""
    if name == "rho" and name not in c.values:
        return max(second_eigenvalue(v) for v in c.values.values() if isinstance(v, list) and isinstance(v[0], list))
    return c.values[name] if which is None else c.values[name][which]


def is_free(claim: Claim, name: str) -> bool:
    """Whether a name is a real number that nothing else decides."""
    roles = roles_in(claim)
    if name in roles.counts | roles.steps | roles.matrices | roles.weights | {"N", "d", "K"}:
        return False
    domain = claim.domains.get(name)
    bound = name in claim.constants and not (claim.of is not None and name in claim.of.parameters)
    return domain is not None and not domain.integer and not bound


def _named(claim: Claim, name: str) -> bool:
    from theory.formula import Name
    from theory.sentence import everything

    trees = [*claim.sentence.sides, *claim.definitions.values(), *(s for r in claim.relations for s in r.sides)]
    return any(isinstance(part, Name) and part.name == name for tree in trees for part in everything(tree))
