"""A program in small blocks: the Gram matrix in a basis in which all invariant matrices are block diagonal.

What an exchange leaves as it is may be averaged over: multipliers of one orbit are equal, and the residual is an
invariant matrix. In an orthonormal basis made for it such a matrix is sum_i B_i (x) 1_{d_i}, so that B_i positive
semidefinite, each once, are enough. The basis is read off two random matrices of the kind: eigenspaces of the first,
matched by the second (Murota, Kanno, Kojima and Kojima, "A numerical algorithm for block-diagonal decomposition of
matrix *-algebras with application to semidefinite programming", Japan J. Indust. Appl. Math. 27 (2010)). A third one
tells whether that worked. All of it is in floats: multipliers and Gram matrices are expanded, and checked as any.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from theory.worst_case.program import Array, Program, matrices

_GAP = 1e-10  # relative difference of eigenvalues above which it is none of rounding,
_APART = 1e-7  # and size of an entry
_WORKED = 1e-9  # relative error of a third invariant matrix in blocks, up to which they are taken
_SEEDS = 4  # of random matrices that are tried: eigenvalues may lie too near to each other
_TURNS = 2000  # of an average


@dataclass(frozen=True, eq=False)
class Forms:
    """Conditions as matrices, the mean over each orbit: what they are on an invariant Gram matrix.

    Attributes:
        blocks: of each block of its `Reduced`, (C, m, m).
        values: (C, V) coefficients of the values, one for each orbit.
        constants: (C,).
    """

    blocks: list[Array]
    values: Array
    constants: Array

    def levels(self, factors: list[Array], values: Array) -> Array:
        """(C,) the left-hand sides at factors of the blocks of the Gram matrix."""
        total = self.values @ values + self.constants
        for form, factor in zip(self.blocks, factors, strict=True):
            total = total + np.einsum("kab,ab->k", form, factor @ factor.T)
        return total

    def slopes(self, factors: list[Array]) -> Array:
        """(C, coordinates + V) the derivatives of the left-hand sides."""
        count = len(self.values)
        parts = [2 * np.matmul(m, f).reshape(count, f.size) for m, f in zip(self.blocks, factors, strict=True)]
        return np.concatenate([*parts, self.values], axis=1)


@dataclass(frozen=True, eq=False)
class Reduced:
    """A program in blocks.

    Attributes:
        program: which.
        table: the rows in the first copies of the blocks, (rows, sum of the blocks' sizes).
        slices: the place of each block among the columns.
        copies: of each block of the program, the blocks in it with all d copies, each (d, n, m).
        conditions: (C,) the number of each condition's orbit.
        values: (values,) of each value's.
    """

    program: Program
    table: Array
    slices: tuple[slice, ...]
    copies: tuple[tuple[Array, ...], ...]
    conditions: Array
    values: Array

    @cached_property
    def sizes(self) -> Array:
        """Of the orbits of conditions."""
        return np.bincount(self.conditions, minlength=0)

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """How often each block is in the Gram matrix."""
        return tuple([len(one) for own in self.copies for one in own])

    @cached_property
    def equations(self) -> Array:
        """Which orbits are of equations."""
        equal = np.zeros(len(self.sizes), dtype=bool)
        equal[self.conditions] = self.program.equations
        return equal

    def factors(self, small: Sequence[Array]) -> list[Array]:
        """The vectors, (n, r) for each block of the program, that belong to factors of the small blocks."""
        waiting = iter(small)
        found = []
        for own in self.copies:
            parts = []
            for one in own:
                factor = next(waiting)
                parts += [copy @ factor for copy in one]
            found.append(np.concatenate(parts, axis=1))
        return found

    def gram(self, small: Sequence[Array]) -> tuple[Array, ...]:
        """The Gram matrices, one for each block of the program, that belong to small ones."""
        waiting = iter(small)
        found = []
        for own in self.copies:
            total = np.zeros((own[0].shape[1],) * 2)
            for one in own:
                block = next(waiting)
                for copy in one:
                    total += copy @ block @ copy.T
            found.append(total)
        return tuple(found)

    def objective(self) -> Forms:
        """The objective, as one condition."""
        goal, only = self.program.objective, np.array([0])
        blocks = [m * d for m, d in zip(matrices(self.table, self.slices, goal, only), self.weights, strict=True)]
        return Forms(blocks, self.program.value_parts(goal, only) @ self._by_value, np.array([float(goal.constant)]))

    def forms(self, orbits: Array) -> Forms:
        """The conditions of some orbits, which are numbers in ascending order."""
        chosen = np.zeros(len(self.sizes), dtype=bool)
        chosen[orbits] = True
        places = np.flatnonzero(chosen[self.conditions])
        parts, blocks, constants, start = [], [], [], 0
        for family in self.program.families:
            which = places[(places >= start) & (places < start + len(family))] - start
            start += len(family)
            parts.append(self.program.value_parts(family, which))
            blocks.append(matrices(self.table, self.slices, family, which))
            constants.append(np.full(len(which), float(family.constant)))
        mean = self._means(places, orbits)
        small = []
        for b, d in enumerate(self.weights):
            stacked = np.concatenate([own[b] for own in blocks])
            summed = mean(stacked.reshape(len(places), -1))
            small.append(d * summed.reshape(len(orbits), *stacked.shape[1:]))
        return Forms(small, mean(np.concatenate(parts)) @ self._by_value, mean(np.concatenate(constants)))

    @cached_property
    def every(self) -> Forms:
        """The conditions of all orbits."""
        return self.forms(np.arange(len(self.sizes)))

    def _means(self, places: Array, orbits: Array) -> Callable[[Array], Array]:
        """The mean over each orbit of what is given for each place; nothing to do where all are alone."""
        if len(places) == len(orbits):
            return lambda given: given
        where = np.zeros(len(self.sizes), dtype=int)
        where[orbits] = np.arange(len(orbits))
        at = where[self.conditions[places]]
        order = np.argsort(at, kind="stable")
        starts, sizes = np.searchsorted(at[order], np.arange(len(orbits))), self.sizes[orbits]

        def mean(given: Array) -> Array:
            total: Array = np.add.reduceat(given[order], starts, axis=0)
            return total / sizes.reshape(-1, *[1] * (given.ndim - 1))

        return mean

    @cached_property
    def _by_value(self) -> Array:
        count = int(self.values.max()) + 1 if len(self.values) else 0
        return np.eye(count)[self.values] if count else np.zeros((0, 0))


@lru_cache(maxsize=4)
def reduced(program: Program) -> Reduced:
    """A program in blocks; as it is, where nothing in it is alike or no blocks came of it."""
    if program.alike is not None and len(program.blocks) == 1:
        copies = next((found for seed in range(_SEEDS) if (found := _copies(program, seed)) is not None), None)
        if copies is not None:
            ends = np.cumsum([0, *[one.shape[2] for one in copies]])
            slices = tuple([slice(int(a), int(b)) for a, b in itertools.pairwise(ends)])
            table = program.table @ np.concatenate([one[0] for one in copies], axis=1)
            return Reduced(program, table, slices, (copies,), program.alike.conditions, program.alike.values)
    whole = tuple([(np.eye(s.stop - s.start)[None],) for s in program.slices])
    orders = np.arange(program.conditions), np.arange(program.values)
    return Reduced(program, program.table, program.slices, whole, *orders)


def _copies(program: Program, seed: int) -> tuple[Array, ...] | None:
    """For each block its d copies, (d, n, m): the columns of each are its basis vectors."""
    assert program.alike is not None
    root = _metric(program.alike.actions)
    random = np.random.default_rng(seed)
    one, two, three = (root @ _invariant(program, random) @ root.T for _ in range(3))
    weights, axes = np.linalg.eigh(one)
    size = max(abs(weights[0]), abs(weights[-1]))
    cuts = np.flatnonzero(np.diff(weights) > _GAP * size) + 1
    spaces = np.split(axes, cuts, axis=1)
    copies = [np.stack(same, axis=2).transpose(1, 0, 2) for same in _matched(spaces, two)]
    whole = np.concatenate([copy for own in copies for copy in own], axis=1)
    blocks = np.zeros_like(one)
    at = 0
    for own in copies:
        small = own[0].T @ three @ own[0]
        for _ in own:
            blocks[at : at + len(small), at : at + len(small)] = small
            at += len(small)
    if np.abs(whole.T @ three @ whole - blocks).max() > _WORKED * np.abs(three).max():
        return None
    return tuple([np.stack([root.T @ copy for copy in own]) for own in copies])


def _matched(spaces: list[Array], matrix: Array) -> list[list[Array]]:
    """Eigenspaces of one kind together, in bases in which the matrix is a number between any two of them."""
    left, found = list(range(len(spaces))), []
    strength = np.abs(matrix).max()
    while left:
        own = [spaces[left.pop(0)]]
        at = 0
        while at < len(own):
            for b in list(left):
                link = own[at].T @ matrix @ spaces[b]
                size = np.sqrt((link * link).sum() / len(link))  # a multiple of an orthogonal matrix, if anything
                if size > _APART * strength and link.shape[0] == link.shape[1]:
                    own.append(spaces[b] @ link.T / size)
                    left.remove(b)
            at += 1
        found.append(own)
    return found


def _invariant(program: Program, random: np.random.Generator) -> Array:
    """A random invariant matrix, (n, n), of norm near 1.

    Where conditions speak of points in turn, an image speaks of the images in the same order, and any form in them will
    do as well; of others and of the objective multiples are taken.
    """
    assert program.alike is not None
    labels = program.alike.conditions
    count = labels.max() + 1
    shape = (count, *[max((len(f.form) for f in program.families if len(f) > 1), default=1)] * 2)
    forms = random.uniform(-1, 1, shape)
    forms, weights = forms + forms.transpose(0, 2, 1), random.uniform(0.5, 1.5, count + 1)
    middle, at = np.zeros((len(program.rows),) * 2), 0
    for family in (*program.families, program.objective):
        own = labels[at : at + len(family)]
        at += len(family)
        s, size = family.supports, len(family.form)
        if len(family) > 1:
            parts = forms[own, :size, :size]
        else:
            fixed = family.floats
            parts = (weights[own[0] if len(own) else -1] * fixed / max(np.abs(fixed).max(), 1e-300))[None]
        np.add.at(middle, (s[:, :, None], s[:, None, :]), parts)
    whole: Array = program.table.T @ middle @ program.table
    return whole / np.abs(whole).max()


def _metric(actions: tuple[Array, ...]) -> Array:
    """S with S T S^-1 orthogonal for every action T: a root of a metric that they leave as it is."""
    size = len(actions[0])
    one = np.eye(size)
    mixed = {int(j) for a in actions for j in np.flatnonzero(np.abs(a.T @ a - one).max(axis=0) > _WORKED)}
    while True:  # what these are taken to as well
        more = mixed | {int(i) for a in actions for j in mixed for i in np.flatnonzero(a[:, j])}
        if more == mixed:
            break
        mixed = more
    if not mixed:
        return one
    places = np.ix_(sorted(mixed), sorted(mixed))
    parts = [a[places] for a in actions]
    metric = np.eye(len(mixed))
    for _ in range(_TURNS):
        new = (metric + sum(a.T @ metric @ a for a in parts)) / (len(parts) + 1)
        if np.abs(new - metric).max() < 1e-15:
            break
        metric = new
    one[places] = np.linalg.cholesky(metric).T
    return one
