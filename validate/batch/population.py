"""A population of instances of one size that climbs towards a break, thousands of instances a step.

It is judged by how far a break is: by what part of themselves the numbers would have to change, to first order, until
the sides meet. How near the sides are would be a trap: as a step goes to 0 both sides of most claims meet, and nothing
breaks.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from theory.program import work
from validate.batch.recorded import Array
from validate.batch.tracing import Traced

SIZE = 256
"""Instances."""
GENERATION = 500
"""Of `theory.program.work`: what a generation takes beside the operations of its tapes."""
DULL = 3
"""Generations of a population of which no instance has a score, as nothing changes a side."""
FEW = 8
"""Instances one of which shows that it does not matter where the minimiser is."""
SCATTERED, WIDE = 6, 2
"""How often so many times as many are made at random to begin with, of which the best stay."""
HALVINGS, FINER, AT_ONCE = 4, 12, 8192
"""Steps of the bisection that brings an instance back to what the claim speaks of; of one that is to be at its end;
numbers of functions of which all that several steps may ask for is computed at once."""
STEP = 1e-6
"""Part of a number by which it is moved to see what it does."""
BROKEN = 1e-7
"""A gap beyond which it is no rounding."""
ROUNDED, PRECISE, DOUBTFUL = 1e-8, 1e-12, -0.2
"""What part of the sides may be rounding where they break a claim, and where a break is nearer than so much."""
LEAST, NARROW, SILENT = 1e-6, 0.01, -10.0
"""A gap that is as small says nothing of how far a break is, nor one that is narrow with no break near; the score of
what says nothing."""
FAR_OFF = 1e-3
"""Part of its sides by which a relation is missed where a small step led to what the claim does not speak of."""
FAR = 14
"""Powers of ten up to which all lengths are taken in other units: a square too many shows in some only."""
SIMPLE = (0.0, 0.0, 1.0, 1.0, -1.0, 0.5, 0.1, 0.01)
"""Parts of the largest number of a kind that others of the kind are tried at."""
FARTHER, MOST_MOVED = np.array([2.0, 8.0, 32.0]), 0.9
"""How much farther than a break seems to be it is looked for; the largest part by which a number is changed then."""
STEEPEST = 3.0
"""Beyond this what a number does is taken for less: where a minimiser hangs on a difference of large numbers, say."""
NONE = -1e300


class Population:
    """Instances of a claim of one size.

    Args:
        traced: the claim there.
        first: (size, B), instances of which it speaks.
        rng: draws.
        scattered: how often instances are made at random to begin with.

    Attributes:
        first: (size, at most `SIZE`), those with which it began.
        numbers: (size, `SIZE`), the free numbers.
        gaps: (`SIZE`,), of each the largest gap of its rows.
        scores: by what it is judged; beyond 0 it breaks the claim.
        tried: how many instances were computed.
    """

    def __init__(self, traced: Traced, first: Array, rng: np.random.Generator, scattered: int = SCATTERED) -> None:
        self.traced, self.rng = traced, rng
        self.numbers = first[:, rng.integers(first.shape[1], size=SIZE)]
        self.numbers[:, : first.shape[1]] = first[:, :SIZE]
        self.first = first[:, :SIZE]
        self.tried = 0
        self.groups = _groups(traced)
        if self._everywhere():
            self.groups = [group for group in self.groups if group is not traced.layout.centre]
            self.numbers[traced.layout.centre] = 0.0
        self.gaps, self.scores = self._judged(self.numbers)
        if first.shape[1] > SIZE:
            self._join(first[:, SIZE:])
        for _ in range(scattered):
            self._join(self._scattered())

    def _everywhere(self) -> bool:
        """Whether it is the same wherever the minimiser is."""
        centre = self.traced.layout.centre
        if not centre.size:
            return False
        linear = self.traced.layout.linear
        numbers = self.numbers[:, :FEW].copy()
        numbers[linear[linear >= 0]] = 0.0  # beside large ones others are lost
        here, there = numbers.copy(), numbers.copy()
        here[centre], there[centre] = 0.0, np.abs(here).max(axis=0) / 3
        gaps = np.isclose(self._gaps(here), self._gaps(there), 1e-6, 1e-9, equal_nan=True)
        return bool(gaps.all(axis=0).any())

    @property
    def best(self) -> float:
        """The score of what is nearest to a break."""
        return float(self.scores.max())

    def climb(self, steps: int) -> None:
        """So many generations; fewer where the claim is broken, or the first say nothing."""
        for step in range(steps):
            if self.best == NONE and step >= DULL:
                return
            self._compete(self._children())
            if (self.scores > 0).sum() > 8:
                return

    def breaking(self) -> Array:
        """What breaks the claim in floats, (size, B), the widest gap first."""
        order = np.argsort(-self.gaps)
        return self.numbers[:, order[self.gaps[order] > BROKEN]]

    def tightest(self, count: int) -> Array:
        """The best, (size, B)."""
        return self.numbers[:, np.argsort(-self.scores)[:count]]

    # generations

    def _compete(self, children: Array) -> None:
        """Each child against its parent."""
        work.count(GENERATION)
        children, everything = self._brought_back(children, self.numbers, HALVINGS)
        self.traced.relations.count(children.shape[1])
        gaps, scores = self._judged(children, everything, self.scores)
        better = scores > self.scores
        self.numbers[:, better] = children[:, better]
        self.gaps[better], self.scores[better] = gaps[better], scores[better]

    def _join(self, more: Array) -> None:
        """The best of what is there and of what is added, half of them by their gaps."""
        gaps, scores = self._judged(more)
        numbers = np.concatenate([self.numbers, more], axis=1)
        gaps, scores = np.concatenate([self.gaps, gaps]), np.concatenate([self.scores, scores])
        by_score = np.argsort(-scores)
        by_gap = np.argsort(-np.where(np.abs(gaps) < LEAST, NONE, gaps))
        kept = np.array(list(dict.fromkeys([*by_score[: SIZE // 2], *by_gap[: SIZE // 4], *by_score]))[:SIZE])
        self.numbers, self.gaps, self.scores = numbers[:, kept], gaps[kept], scores[kept]

    def _scattered(self) -> Array:
        """Instances whose functions and points are as simple as can be, with parameters at the ends of relations."""
        rng, layout = self.rng, self.traced.layout
        old = np.tile(self.numbers, WIDE)
        found, count = old.copy(), old.shape[1]
        alone = np.asarray(rng.random(count))
        for group in self.groups:
            if group[0] in layout.values:
                continue
            unit = np.abs(found[group]).max(axis=0)
            unit = np.where(unit > 0, unit, 1.0)
            simple = rng.choice(SIMPLE, size=(len(group), count)) * unit
            where = rng.random((len(group), count)) < rng.choice([0.0, 0.3, 1.0], size=count)
            found[group] = np.where(where, simple, found[group])
            lone = rng.random(count) < 0.3  # one has it all
            found[group] = np.where(lone, 0.0, found[group])
            place = group[(alone * len(group)).astype(int)]
            found[place[lone], np.flatnonzero(lone)] = (unit * rng.choice([1.0, -1.0, 0.5], size=count))[lone]
        unit = 10 ** np.where(rng.random(count) < 0.2, rng.uniform(-FAR, FAR, count), 0.0)
        for places in (layout.linear, layout.knots, layout.centre, layout.start, *layout.vectors.values()):
            found[places[places >= 0]] *= unit
        found, _ = self._brought_back(found, old, HALVINGS)
        for group in (one for one in self.groups if len(one) > 1 and one[0] in layout.values):
            there = found.copy()
            there[group] *= 10 ** (rng.uniform(-4, 4, count) * (rng.random(count) < 0.5))
            found, _ = self._brought_back(there, found, HALVINGS)
        for place in rng.permutation(list(layout.values)):
            there = found.copy()
            there[place] *= 10 ** (rng.uniform(-3, 3, count) * (rng.random(count) < 0.7))
            found, _ = self._brought_back(there, found, FINER)
        return found

    def _children(self) -> Array:
        """One child of each: of the difference of two others, of one number, of a group of numbers, of a copy."""
        rng, old = self.rng, self.numbers
        size, count = old.shape
        one, two, three = rng.integers(SIZE, size=(3, count))
        ranked = np.argsort(-self.scores)[rng.integers(SIZE // 8, size=count)]
        found = old.copy()
        kind = rng.random(count)
        rate = rng.choice([0.4, 0.8, 1.0], size=count)
        # differences: towards one of the best, and along what two others differ by
        crossed = rng.random((size, count)) < rng.choice([0.2, 0.6, 1.0], size=count)
        moved = old + rate * (old[:, ranked] - old) + rate * (old[:, one] - old[:, two])
        found = np.where(crossed & (kind < 0.45), moved, found)
        # one number: scaled, set to 0, turned, or copied from its group
        place = rng.choice(self.places, size=count)
        here, columns = old[place, np.arange(count)], np.arange(count)
        factor = np.exp(rng.normal(size=count) * rng.choice([0.02, 0.3, 2.0], size=count))
        changed = here * np.where(rng.random(count) < 0.1, -factor, factor)
        changed = np.where(rng.random(count) < 0.1, 0.0, changed)
        member = np.array([rng.choice(self.group_of[i]) for i in range(size)])[place]
        changed = np.where((rng.random(count) < 0.2) | (here == 0), old[member, columns], changed)
        single = (kind >= 0.45) & (kind < 0.75)
        found[place[single], columns[single]] = changed[single]
        # a group: scaled, or another's
        which = rng.integers(len(self.groups), size=count)
        scale = np.exp(rng.normal(size=count) * rng.choice([0.1, 1.0], size=count))
        for i, group in enumerate(self.groups):
            grouped = (kind >= 0.75) & (which == i)
            take = grouped & (rng.random(count) < 0.4)
            found[np.ix_(group, np.flatnonzero(grouped))] *= scale[grouped]
            found[np.ix_(group, np.flatnonzero(take))] = old[np.ix_(group, three[take])]
        return found

    @cached_property
    def places(self) -> Array:
        """The numbers by which it is judged, one group after the other."""
        return np.concatenate(self.groups)

    @cached_property
    def of_functions(self) -> Array:
        """(size,), which of the numbers are the functions'."""
        layout = self.traced.layout
        places = (layout.hessian, layout.linear, layout.knots, layout.slopes, layout.centre)
        return np.isin(np.arange(layout.size), np.concatenate([one.ravel() for one in places]))

    @cached_property
    def group_of(self) -> list[Array]:
        """For each number the others of its group."""
        found: list[Array] = [np.array([0])] * len(self.numbers)
        for group in self.groups:
            for place in group:
                found[place] = group
        return found

    def _brought_back(self, children: Array, parents: Array, halvings: int) -> tuple[Array, Array]:
        """Where the claim does not speak of a child, the farthest on the way to it of which it does.

        With the constants of each; these are NaN, and its numbers too, where it is its parent again.
        """
        layout = self.traced.layout
        if layout.centre.size and layout.linear.size and layout.linear[0, 0, 0] >= 0:  # what they have in common is 0
            own = children[layout.linear]
            children[layout.linear] = own - own.mean(axis=(0, 1), keepdims=True)
        everything, fits = self.traced.fits(children)
        self.tried += children.shape[1]
        out = np.flatnonzero(~fits)
        if not len(out):
            return children, everything
        low, high = parents[:, out], children[:, out]
        known = np.full((len(everything), len(out)), np.nan)
        most = AT_ONCE // (len(out) * max(1, layout.hessian.size, layout.knots.size)) + 1
        levels = max(1, min(halvings, most.bit_length() - 1))
        for done in range(0, halvings, levels):
            low, high, known = self._bisected(low, high, known, min(levels, halvings - done))
        found = children.copy()
        found[:, out], everything[:, out] = low, known
        return found, everything

    def _bisected(self, low: Array, high: Array, known: Array, steps: int) -> tuple[Array, Array, Array]:
        """So many steps of a bisection between instances that fit and others; the constants of the first, if known."""
        relations, (size, count), step = self.traced.relations, low.shape, 1 << steps
        between = np.empty((step + 1, size, count))
        between[0], between[-1] = low, high
        while step > 1:
            one, two = between[:-1:step], between[step::step]
            with np.errstate(all="ignore"):
                middle = np.where(one * two > 0, np.sign(one) * np.sqrt(one * two), (one + two) / 2)
            between[step // 2 :: step] = middle
            step //= 2
        there, fits = self.traced.fits(between[1:-1].swapaxes(0, 1).reshape(size, -1))
        relations.count(0, fits.size)
        fits = fits.reshape(-1, count)
        at, each = np.zeros(count, int), np.arange(count)
        for level in range(steps):
            relations.count(count)
            middle = at + (1 << (steps - 1 - level))
            at = np.where(fits[middle - 1, each], middle, at)
        known = np.where(at > 0, there.reshape(len(there), -1, count)[:, at - 1, each], known)
        return between[at, :, each].T, between[at + 1, :, each].T, known

    def _judged(
        self, numbers: Array, everything: Array | None = None, beside: Array | None = None
    ) -> tuple[Array, Array]:
        """Of each instance its largest gap, and its score: with its constants, if these are known, or NaN for none.

        Where even the steepest gap would not be above the score `beside` it, it is not looked for, but `NONE`.
        """
        if everything is None:
            everything = self.traced.with_constants(numbers)
        gaps = self._gaps_of(everything)
        most = np.where(np.isnan(gaps), NONE, gaps).max(axis=0)
        score = most.copy()
        told = most > NONE
        nearest = np.where(np.isnan(gaps), NONE, np.where(np.abs(gaps) < LEAST, SILENT, gaps / STEEPEST)).max(axis=0)
        nearer = told if beside is None else told & ((most > BROKEN) | (nearest >= beside))
        which = np.flatnonzero(nearer)
        free = sum(map(len, self.groups))
        many = int(told.sum()) + int(np.isnan(everything[0]).sum())
        self.traced.count(free * many, free * len(which))
        score[told & ~nearer] = most[told & ~nearer] = NONE
        if len(which):
            slopes = self._slopes(everything[:, which], gaps[:, which])
            with np.errstate(all="ignore"):
                away = gaps[:, which] / np.minimum(np.sqrt((slopes**2).sum(axis=1)), STEEPEST)
                away = np.where(np.isfinite(away), away, NONE)
            away[np.abs(gaps[:, which]) < LEAST] = SILENT
            score[which] = away.max(axis=0)
            open_ = np.flatnonzero((score[which] > SILENT) & (most[which] <= BROKEN))
            row, here = away.argmax(axis=0)[open_], which[open_]
            score[here] = self._along(everything[:, here], gaps[row, here], slopes[row, :, open_], score[here])
        doubtful = np.flatnonzero((score > DOUBTFUL) & (most <= BROKEN))
        if len(doubtful):
            self.traced.relations.count(len(doubtful))
            sure = self.traced.sure(everything[:, doubtful], PRECISE).all(axis=0)
            score[doubtful[~sure]] = SILENT
        score = np.where(most > BROKEN, 1 + most, np.minimum(score, -1e-12))
        return most, np.where(most > NONE, score, NONE)

    def _slopes(self, here: Array, gaps: Array) -> Array:
        """By what each gap grows when a number does, as a part of itself, (rows, free, B); less than 0 where it falls.

        What functions hang on is moved both ways: where a constant is the largest of several a gap may only fall.
        """
        places = self.places
        moved = np.flatnonzero(self.of_functions[places])  # what constants hang on
        forth, of = len(places), np.concatenate([moved, len(places) + np.arange(len(moved))])
        every, sign = np.concatenate([places, places[moved]]), np.ones((forth + len(moved), 1))
        sign[forth:] = -1
        there = np.repeat(here[:, None], len(every), axis=1)
        there[every, range(len(every))] += STEP * sign * np.abs(here[every])
        self._with_constants(there, of)
        changed = self._gaps_of(there.reshape(len(here), -1)).reshape(len(gaps), len(every), -1) - gaps[:, None]
        changed = np.nan_to_num(changed) / STEP
        slopes, back = changed[:, :forth], changed[:, forth:]
        slopes[:, moved] = np.where(np.maximum(slopes[:, moved], 0) >= back, np.maximum(slopes[:, moved], 0), -back)
        return slopes

    def _with_constants(self, there: Array, of: Array) -> None:
        """Writes the constants of numbers (everything, moves, B) into these, for some of the moves."""
        size, count = self.traced.layout.size, len(of) * there.shape[2]
        if count:
            constants = self.traced.with_constants(there[:size, of].reshape(size, -1))
            there[size:, of] = constants[size:].reshape(-1, len(of), there.shape[2])
        self.traced.relations.count(there.shape[1] * there.shape[2], count)

    def _along(self, here: Array, gaps: Array, slopes: Array, scores: Array) -> Array:
        """The scores; less than -1 where there is no break along the way that slopes show.

        Both sides of most claims meet as a step goes to 0, and a curvature that is less than the largest by as little
        makes such a point look near to a break that is not there. So it is gone that way, twice as far as it looks, and
        farther.
        """
        if not len(scores):
            return scores
        steep = np.sqrt((slopes**2).sum(axis=1))
        parts = np.minimum(FARTHER[:, None] * -gaps / steep, MOST_MOVED)
        there = np.repeat(here[:, None], len(FARTHER), axis=1)
        there[self.places] += (slopes / steep[:, None]).T[:, None] * parts * np.abs(here[self.places])[:, None]
        self._with_constants(there, np.arange(len(FARTHER)))
        broken = self._is_broken(there)
        return np.where(broken, scores, np.where(gaps > -NARROW, SILENT, np.minimum(scores, (scores - 2) / 2)))

    def _is_broken(self, there: Array) -> Array:
        """Of each instance at several places, (everything, places, B), whether it is broken at one, surely: (B,)."""
        self.tried += there.shape[1] * there.shape[2]
        gaps = self.traced.gaps(there.reshape(len(there), -1)).reshape(-1, *there.shape[1:])
        found = np.zeros(there.shape[2], bool)
        for place in range(there.shape[1]):
            rows = gaps[:, place] > BROKEN
            left = np.flatnonzero(rows.any(axis=0) & ~found)
            if len(left):
                found[left] = (rows[:, left] & self.traced.sure(there[:, place, left], ROUNDED)).any(axis=0)
        return found

    def _gaps(self, numbers: Array) -> Array:
        return self._gaps_of(self.traced.with_constants(numbers))

    def _gaps_of(self, everything: Array) -> Array:
        self.tried += everything.shape[1]
        gaps = self.traced.gaps(everything)
        broken = np.flatnonzero((gaps > BROKEN).any(axis=0))
        missed = self.traced.misses(everything[:, broken], FAR_OFF) if len(broken) else np.zeros(0, bool)
        gaps[:, broken[missed]] = np.nan
        broken = broken[~missed]
        if len(broken):
            gaps[:, broken] = np.where(self.traced.sure(everything[:, broken], ROUNDED), gaps[:, broken], np.nan)
        return gaps


def _groups(traced: Traced) -> list[Array]:
    """Numbers of one kind: Hessians or slopes, linear terms, points, and each parameter."""
    layout = traced.layout
    found = [np.unique(places[places >= 0]) for places in (layout.hessian, layout.slopes, layout.linear)]
    points = [layout.start, *(places.ravel() for places in layout.vectors.values())]
    # a knot may lie at a point
    found += [np.concatenate([layout.knots.ravel(), *points])] if layout.knots.size else points
    found.append(layout.centre)
    names: dict[str, list[int]] = {}
    for place, (name, _) in layout.values.items():
        names.setdefault(name, []).append(place)
    found += [np.array(places) for places in names.values()]
    return [group for group in found if len(group)]
