"""Methods whose worst case is computed, written as performance estimation problems in normalised units.

Units: the largest L, and the length that the initial condition bounds, are 1. Every vector is relative to the minimiser
x* of f = (1/N) sum_i f_i, every value of f_i to f_i(x*).

Clients that cannot be told apart (same class, same local steps, same weight, all taking part in every round) form an
equivalence class. The program of all N clients is convex and stays the same when such clients are permuted, as do the
metrics, so a solution may be averaged over these permutations. An averaged Gram matrix is one in which, within a
class, gradient a of client i is m_a + d_{i,a}, with the means m orthogonal to all deviations, the deviations of
different classes orthogonal, and <d_{i,a}, d_{i,b}> = D_ab the same for every i. Conditions concern one client at a
time and so see M, D, and not the number of clients. Conversely M >= 0 and D >= 0 come from n >= 2 clients of a class:
d_{i,a} = e_i (x) d_a, with e_1..e_n the corners of a regular simplex, sum_i e_i = 0 and |e_i| = 1. Hence nothing is
lost, the program has one block for the means and one for the deviations of each class of two or more, and its size and
value depend on the numbers of clients only through the weights of the classes. (For one class: the same worst case for
every N >= 2, as Colla and Hendrickx, arXiv 2403.11724, find; here by the permutation argument alone.)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from theory.worst_case.program import Family, Point, Program, Row, interpolation, single

METRICS = ("squared_distance", "suboptimality", "squared_gradient_norm", "mean_squared_gradient_norm")
LARGEST = 400  # basis vectors


@dataclass(frozen=True)
class Group:
    """Clients that are treated alike: how many, their class of functions, and their local steps."""

    clients: int
    mu: Fraction
    L: Fraction
    local_steps: int


@dataclass(frozen=True)
class Model:
    """A method with everything that its worst case depends on, in normalised units.

    Attributes:
        groups: of clients; one that holds several is reduced as above.
        steps: (R,) of each round.
        participating: clients drawn in each round without replacement, or None for all.
        outcomes: equally probable values of the noise of a gradient (groups: one client), or None for no noise.
        distance: bound on |x0 - x*|^2, or None.
        gap: bound on f(x0) - f*, or None.
        heterogeneity: bound on (1/N) sum_i |grad f_i(x*)|^2, or None.
        variance: bound on the mean squared noise.
        metric: one of METRICS.
    """

    groups: tuple[Group, ...]
    steps: tuple[Fraction, ...]
    participating: int | None
    outcomes: int | None
    distance: Fraction | None
    gap: Fraction | None
    heterogeneity: Fraction | None
    variance: Fraction
    metric: str

    @property
    def clients(self) -> int:
        """N."""
        return sum(g.clients for g in self.groups)

    @property
    def start_is_free(self) -> bool:
        """Whether nothing bounds |x0 - x*| and it matters only for x* to exist (`theory.worst_case.unbounded`)."""
        alone = self.clients == 1 or self.heterogeneity == 0
        convex = all(g.mu == 0 for g in self.groups)
        return self.distance is None and alone and convex and self.metric != "squared_distance"


@dataclass
class _Basis:
    """Basis vectors by block, numbered at the end; rows are sums of (block, place) with coefficients."""

    blocks: list[list[str]] = field(default_factory=list)

    def new(self, block: int, name: str) -> dict[tuple[int, int], Fraction]:
        while len(self.blocks) <= block:
            self.blocks.append([])
        self.blocks[block].append(name)
        if sum(map(len, self.blocks)) > LARGEST:
            raise ValueError(
                f"the method needs more than {LARGEST} basis vectors, too many for a dense semidefinite program; "
                "take fewer steps, rounds or outcomes"
            )
        return {(block, len(self.blocks[block]) - 1): Fraction(1)}


_Sum = dict[tuple[int, int], Fraction]


def _plus(*terms: tuple[Fraction | int, _Sum]) -> _Sum:
    total: _Sum = {}
    for factor, vector in terms:
        for key, c in vector.items():
            total[key] = total.get(key, Fraction(0)) + factor * c
    return {key: c for key, c in total.items() if c}


class _Builder:
    """Walks through the method and writes down what it meets."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.basis = _Basis()
        self.rows: list[_Sum] = [{}]
        self.points: list[list[Point]] = [[] for _ in model.groups]
        self.values = 0
        self.start = self.basis.new(0, "x0 - x*")
        self.deviating = [g.clients > 1 for g in model.groups]
        self.block = {c: 1 + sum(self.deviating[:c]) for c, d in enumerate(self.deviating) if d}
        self.weights = [Fraction(g.clients, model.clients) for g in model.groups]

    def row(self, vector: _Sum) -> int:
        self.rows.append(vector)
        return len(self.rows) - 1

    def gradient(self, c: int, at: _Sum, name: str) -> tuple[_Sum, Point]:
        """The gradient of a client of group c at a point, and the point as one of its function."""
        vector = self.basis.new(0, f"grad f{c + 1}({name})" if not self.deviating[c] else f"mean grad f{c + 1}({name})")
        if self.deviating[c]:
            vector = _plus((1, vector), (1, self.basis.new(self.block[c], f"deviation of grad f{c + 1}({name})")))
        point = Point(self.row(at), self.row(vector), self.values)
        self.values += 1
        self.points[c].append(point)
        return vector, point

    def mean(self, vectors: Sequence[_Sum]) -> _Sum:
        """The mean over all clients of a vector given for one client of each group: deviations cancel."""
        whole = _plus(*zip(self.weights, vectors, strict=True))
        return {key: c for key, c in whole.items() if key[0] == 0}

    def at_minimiser(self) -> tuple[list[_Sum], list[Family]]:
        """The gradients at x*, which sum to zero over the clients, and the bound on their squares."""
        model = self.model
        zero = model.clients == 1 or model.heterogeneity == 0
        if zero:
            return [{} for _ in model.groups], []
        stars: list[_Sum] = []
        for c in range(len(model.groups) - 1):
            stars.append(self.basis.new(0, f"grad f{c + 1}(x*)"))
        stars.append(_plus(*[(-w / self.weights[-1], s) for w, s in zip(self.weights, stars, strict=False)]))
        squares: dict[tuple[int, int], Fraction] = {}
        for c, weight in enumerate(self.weights):
            if self.deviating[c]:
                own = self.basis.new(self.block[c], f"deviation of grad f{c + 1}(x*)")
                stars[c] = _plus((1, stars[c]), (1, own))
            place = self.row(stars[c])
            squares[place, place] = weight
        if model.heterogeneity is None:
            return stars, []
        return stars, [single("heterogeneity at the minimiser", squares, constant=-model.heterogeneity)]


@dataclass(frozen=True)
class _Visit:
    """A model in the tree of outcomes: its vector, its probability, and what the clients found there."""

    x: _Sum
    probability: Fraction
    gradients: tuple[tuple[_Sum, Point], ...] = ()


def program(model: Model) -> Program:
    """The performance estimation problem of a model."""
    builder = _Builder(model)
    visits = [[_Visit(builder.start, Fraction(1))]]
    extra: list[Family] = []
    for r, step in enumerate(model.steps):
        children: list[_Visit] = []
        for number, visit in enumerate(visits[r]):
            name = f"x{r}" + (f".{number + 1}" if len(visits[r]) > 1 else "")
            first, totals = _local_updates(builder, visit.x, step, name)
            visits[r][number] = _Visit(visit.x, visit.probability, first)
            moves = _moves(builder, totals, name, extra)
            children += [_Visit(_plus((1, visit.x), (-step, m)), visit.probability / len(moves)) for m in moves]
        visits.append(children)
    if model.metric in ("suboptimality", "squared_gradient_norm"):
        visits[-1] = [
            _Visit(v.x, v.probability, _gradients(builder, v.x, f"x{len(model.steps)}" + (f".{i + 1}" if i else "")))
            for i, v in enumerate(visits[-1])
        ]
    objective = _objective(builder, visits)
    stars, bounds = builder.at_minimiser()
    families = []
    for c, group in enumerate(model.groups):
        star = Point(0, builder.row(stars[c]) if stars[c] else 0, -1)
        families.append(interpolation(f"f{c + 1} is in its class", builder.points[c], star, group.mu, group.L))
    if model.distance is not None:
        x0 = builder.row(builder.start)
        families.append(single("initial distance", {(x0, x0): Fraction(1)}, constant=-model.distance))
    if model.gap is not None:
        values = {p.value: w for w, (_, p) in zip(builder.weights, visits[0][0].gradients, strict=True)}
        families.append(single("initial suboptimality", {}, values, constant=-model.gap))
    offsets = [0, *itertools.accumulate(map(len, builder.basis.blocks))]
    rows: list[Row] = [{offsets[b] + i: c for (b, i), c in row.items()} for row in builder.rows]
    blocks = tuple(map(tuple, builder.basis.blocks))
    return Program(blocks, tuple(rows), builder.values, (*families, *bounds, *extra), objective)


def _gradients(builder: _Builder, x: _Sum, name: str) -> tuple[tuple[_Sum, Point], ...]:
    """The gradient of one client of each group at a model."""
    return tuple([builder.gradient(c, x, name) for c in range(len(builder.model.groups))])


def _local_updates(
    builder: _Builder, x: _Sum, step: Fraction, name: str
) -> tuple[tuple[tuple[_Sum, Point], ...], list[_Sum]]:
    """Local steps of one client of each group: the gradients at the model, and the sums of the local gradients."""
    first, totals = [], []
    for c, group in enumerate(builder.model.groups):
        total: _Sum = {}
        for e in range(group.local_steps):
            found = builder.gradient(c, _plus((1, x), (-step, total)), f"{name}, {e}" if e else name)
            if not e:
                first.append(found)
            total = _plus((1, total), (1, found[0]))
        totals.append(total)
    return tuple(first), totals


def _moves(builder: _Builder, totals: list[_Sum], name: str, extra: list[Family]) -> list[_Sum]:
    """The equally probable directions in which a model moves."""
    model = builder.model
    if model.outcomes is not None:
        noises = [builder.basis.new(0, f"noise {o + 1} at {name}") for o in range(model.outcomes - 1)]
        noises.append(_plus(*[(-1, n) for n in noises]))
        places = [builder.row(n) for n in noises]
        squares = {(p, p): Fraction(1, model.outcomes) for p in places}
        extra.append(single(f"variance at {name}", squares, constant=-model.variance))
        return [_plus((1, totals[0]), (1, n)) for n in noises]
    if model.participating is None:
        return [builder.mean(totals)]
    share = Fraction(1, model.participating)
    chosen = itertools.combinations(totals, model.participating)
    return [_plus(*[(share, t) for t in some]) for some in chosen]


def _objective(builder: _Builder, visits: list[list[_Visit]]) -> Family:
    """The metric as an objective."""
    metric, form, values = builder.model.metric, {}, {}
    if metric == "squared_distance":
        for visit in visits[-1]:
            place = builder.row(visit.x)
            form[place, place] = visit.probability
    elif metric == "suboptimality":
        for visit in visits[-1]:
            for w, (_, point) in zip(builder.weights, visit.gradients, strict=True):
                values[point.value] = visit.probability * w
    else:
        rounds = visits[-1:] if metric == "squared_gradient_norm" else visits[:-1]
        for visit in itertools.chain(*rounds):
            place = builder.row(builder.mean([g for g, _ in visit.gradients]))
            form[place, place] = visit.probability / len(rounds)
    return single(metric, form, values)


def tree_size(model: Model) -> int:
    """Models in the tree of outcomes, as a size to refuse before anything is built."""
    branches = model.outcomes or 1
    if model.participating is not None:
        branches = math.comb(model.clients, model.participating)
    return sum(branches**r for r in range(len(model.steps) + 1))
