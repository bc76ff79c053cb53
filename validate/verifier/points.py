"""Problems whose functions are given by points, in fractions.

A sample is any function f that has the given values and gradients at the given points, with f - mu/2 norm2 convex and
L/2 norm2 - f convex, -L <= mu < L. Whether there is one is checked, for h = f - mu/2 norm2 with gradients s = g - mu x:

    h_i >= h_j + <s_j, x_i - x_j> + |s_i - s_j|^2/(2 (L - mu))    for every two points

(Taylor, Hendrickx and Glineur, "Smooth strongly convex interpolation and exact worst-case performance of first-order
methods", Mathematical Programming 161, 2017, Theorem 4: h is convex and (L - mu)-smooth). What is not known of all such
functions is not told: values and gradients are known at the points only, and an assumption is true if the class implies
it. With a G, which goes with mu = 0, all gradients of f have norm at most G: that the g_i have is enough, since the
smallest such function, a maximum of affine functions made smooth, has means of the g_i for gradients.

Without G and with mu <= 0, f is the largest such function wherever it matters: h is then the convex hull of the least
of the parabolas h_i + <s_i, x - x_i> + (L - mu)/2 |x - x_i|^2. It lies above m - mu/2 norm2, m being the least of
f_i - |g_i|^2/(2 L), since all these parabolas do and this is convex; and at x_i - g_i/L one of them comes down to it:
so m is the infimum of f.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from .checks import Checks
from .quadratics import Problem, read_samples, read_vector
from .reading import FormatError, Uncheckable, bits, fields, list_of, number, shown, shown_vector
from .scalars import ONE, ZERO, Number, Vector, Work, divided, square, sure

MOST_POINTS = 300  # of a sample
MOST_SAMPLES = 500
MOST_SHOWN = 12  # points of all samples together
EXISTENCE = (
    "that there are such functions rests on Taylor, Hendrickx and Glineur, Mathematical Programming 161 (2017), "
    "Theorem 4; the certificate is about every one of them"
)
LARGEST = (
    "where it matters the largest is meant, of a sample with mu <= 0: its infimum is the least of f - norm2(g)/(2*L)"
)
BOUNDED = "of a sample with G, any whose gradients have norm at most G; the smallest function of the class is one"

Exact = tuple[Fraction, ...]


class Known:
    """A function, or a mean of functions, of which gradient and value are known at some points.

    Attributes:
        table: by the point.
        mu, L: curvature is at least mu and at most L.
        G: a bound on the norm of gradients, or None.
        floor: the infimum of the largest function with these points, where that is the one that is meant; or None.
        parts: the functions of which it is the mean; none for a sample.
    """

    def __init__(self, table: Mapping[Exact, tuple[Exact, Fraction]], mu: Fraction, L: Fraction, G: Fraction | None):
        self.table, self.mu, self.L, self.G = table, mu, L, G
        self.floor: Fraction | None = None
        self.parts: tuple[Known, ...] = ()
        self.d = len(next(iter(table), ()))

    def numbers(self) -> list[Fraction]:
        """All that it is given by, but for its class."""
        return [y for x, (g, value) in self.table.items() for y in (*x, *g, value)]

    def what(self) -> Any:
        """What is known of it: functions of which it is equal may be one."""
        return frozenset(self.table.items()), self.mu, self.L, self.G, self.floor

    def at(self, v: Vector) -> tuple[Exact, Fraction]:
        """Gradient and value.

        Raises:
            Uncheckable: at any point that is not listed.
        """
        exact = tuple(x for x in v if isinstance(x, Fraction))
        found = self.table.get(exact) if len(exact) == len(v) else None
        if found is None:
            raise Uncheckable(f"({', '.join(shown(x, 40) for x in v)}) is not among the points that are given")
        return found

    def gradient(self, v: Vector) -> Vector:
        """The gradient at a point that is listed."""
        return self.at(v)[0]

    def value(self, v: Vector) -> Number:
        """The value there."""
        return self.at(v)[1]

    def still(self) -> list[Exact]:
        """The points at which the gradient is 0."""
        return [x for x, (g, _) in self.table.items() if not any(g)]

    def infimum(self) -> Fraction | None:
        """The infimum; None where it is not known."""
        still = self.still()
        if self.mu >= 0 and still:
            return self.table[still[0]][1]
        return self.floor

    def minimisers(self) -> list[Exact]:
        """Those that are listed."""
        least = self.infimum()
        return [x for x in self.still() if self.table[x][1] == least]

    def bounded_below(self) -> bool:
        """Whether it is known to be."""
        if self.mu > 0 or self.infimum() is not None:
            return True
        return bool(self.parts) and all(part.bounded_below() for part in self.parts)


def mean_of(functions: Sequence[Known]) -> Known:
    """The mean of functions, known where all of them are."""
    if len(functions) == 1:
        return functions[0]
    share = Fraction(1, len(functions))

    def mean(values: Sequence[Fraction]) -> Fraction:
        return sum(values, ZERO) * share

    table = {}
    for x in functions[0].table:
        here = [f.table[x] for f in functions if x in f.table]
        if len(here) == len(functions):
            gradients = zip(*(g for g, _ in here), strict=True)
            table[x] = tuple(map(mean, gradients)), mean([value for _, value in here])
    bounds = [f.G for f in functions if f.G is not None]
    G = mean(bounds) if len(bounds) == len(functions) else None
    found = Known(table, mean([f.mu for f in functions]), mean([f.L for f in functions]), G)
    found.parts = tuple(functions)
    return found


class Points(Problem):
    """A problem of functions given by points; as `Problem`."""

    def __init__(self, samples: list[list[Known]], d: int, work: Work) -> None:
        self.samples, self.N, self.d, self.work = samples, len(samples), d, work
        work.spend(10 * d * sum(len(f.table) for own in samples for f in own))
        self.own = [mean_of(functions) for functions in samples]
        self.mean = mean_of(self.own)

    def minimum(self, function: Any) -> tuple[Exact, bool] | None:
        """A minimiser that is listed, and whether it is the only one.

        Raises:
            Uncheckable: where none is listed.
        """
        found = function.minimisers()
        if not found:
            raise Uncheckable("no minimiser is among the points that are given")
        return found[0], function.mu > 0

    def weighted(self, weights: tuple[Fraction, ...]) -> Any:
        """sum_n(q_n*f_n), of which nothing is told.

        Raises:
            Uncheckable: always.
        """
        raise Uncheckable("a weighted sum of functions that are given by points")

    def infimum(self, function: Any) -> Number:
        """The infimum of a function.

        Raises:
            Uncheckable: where the points do not tell.
        """
        least: Fraction | None = function.infimum()
        if least is None:
            raise Uncheckable("the points that are given do not tell the infimum")
        return least

    def minimises(self, function: Any, point: Vector) -> bool:
        """Whether a point is a minimiser that is listed."""
        return point in function.minimisers()

    def proximal(self, n: int, t: Number) -> Any:
        """1/t, which with mu must be positive.

        Raises:
            Uncheckable: where it is not.
        """
        inverse = divided(ONE, t)
        if not sure(inverse + self.own[n].mu, ">", ZERO):
            raise Uncheckable("a proximal point that need not exist, or need not be the only one")
        return inverse

    def prox(self, n: int, v: Vector, t: Number) -> Vector:
        """The listed u with u + t grad f_n(u) = v.

        Raises:
            Uncheckable: where none is listed.
        """
        self.proximal(n, t)
        if isinstance(t, Fraction):
            for u, (g, _) in self.own[n].table.items():
                self.work.spend(2 * self.d)
                if tuple(x + t * y for x, y in zip(u, g, strict=True)) == v:
                    return u
        raise Uncheckable("a proximal point that is not among the points that are given")


# --- reading ----------------------------------------------------------------------------------------------------------


def read_points(data: Any, work: Work) -> Points:
    """``{"clients": [[{"points": [{"x", "g", "f"}, ...], "L", "mu"} or with "G", ...], ...]}``."""
    samples, count = read_samples(data, _read, lambda f: 1, MOST_SAMPLES)
    work.spend(5 * count)
    return Points(samples, samples[0][0].d, work)


def _read(data: Any, name: str, d: int) -> Known:
    fields(data, name, "points L mu", "G")
    L, mu = number(data["L"], f"L of {name}"), number(data["mu"], f"mu of {name}")
    G = None if "G" not in data else number(data["G"], f"G of {name}")
    if not (L > 0 and -L <= mu < L):
        raise FormatError(f"{name} has not 0 < L and -L <= mu < L")
    if G is not None and (mu != 0 or G < 0):
        raise FormatError(f"{name} has a G that is negative, or beside a mu that is not 0")
    points = list_of(data["points"], f"points of {name}")
    if not 1 <= len(points) <= MOST_POINTS:
        raise FormatError(f"{name} has not between 1 and {MOST_POINTS} points")
    table: dict[Exact, tuple[Exact, Fraction]] = {}
    for point in points:
        fields(point, f"a point of {name}", "x g f")
        x, g = read_vector(point["x"], f"x of {name}"), read_vector(point["g"], f"g of {name}")
        d = d or len(x)
        if len(x) != d or len(g) != d:
            raise FormatError(f"a point of {name} has {len(x)} and {len(g)} coordinates, not {d}")
        if x in table:
            raise FormatError(f"{name} has a point twice")
        table[x] = g, number(point["f"], f"f of {name}")
    found = Known(table, mu, L, G)
    if mu <= 0 and G is None:
        found.floor = min(value - square(g) / (2 * L) for g, value in table.values())
    return found


# --- whether there are such functions ---------------------------------------------------------------------------------


def check_points(checks: Checks, problem: Any) -> None:
    """That for each sample there is a function with its points in its class."""
    if not isinstance(problem, Points):
        return
    for n, own in enumerate(problem.samples):
        for i, f in enumerate(own):
            wrong = _misfit(f, problem.d, problem.work)
            what = f"client {n + 1}, sample {i + 1}: "
            if f.G is not None and any(square(g) > f.G**2 for g, _ in f.table.values()):
                checks.check(False, f"{what}a gradient is longer than G = {shown(f.G)}")
            if wrong is not None:
                a, b = (f"({', '.join(shown(x, 40) for x in v)})" for v in wrong)
                checks.check(False, f"{what}no function of its class has both the points {a} and {b}")
            else:
                checks.check(
                    True, f"{what}every two of its {len(f.table)} point(s) satisfy the conditions of its class"
                )


def _misfit(f: Known, d: int, work: Work) -> tuple[Exact, Exact] | None:
    """Two points that no function of the class has both, if there are any."""
    lifted = []
    longest = 0
    for x, (g, value) in f.table.items():
        s = tuple(a - f.mu * b for a, b in zip(g, x, strict=True))
        lifted.append((x, s, value - f.mu * square(x) / 2))
        longest = max(longest, *(bits(y) for y in (*x, *s, lifted[-1][2])))
    size = 4 * longest
    work.spend(len(lifted) ** 2 * d * (4 + (size * size >> 18)))
    for x, s, h in lifted:
        for y, t, e in lifted:
            if x is y:
                continue
            along = sum((b * (p - q) for b, p, q in zip(t, x, y, strict=True)), ZERO)
            if 2 * (f.L - f.mu) * (h - e - along) < square([a - b for a, b in zip(s, t, strict=True)]):
                return x, y
    return None


def described(problem: Points) -> Iterator[str]:
    """The functions, for the reader."""
    yield (
        "of each sample, values f and gradients g at points x; the function is any with these, for which f - "
        "mu/2*norm2 and L/2*norm2 - f are convex"
    )
    yield EXISTENCE
    functions = [f for own in problem.samples for f in own]
    if any(f.floor is not None and not (f.mu >= 0 and f.still()) for f in functions):
        yield LARGEST
    if any(f.G is not None for f in functions):
        yield BOUNDED
    room = MOST_SHOWN
    for n, own in enumerate(problem.samples):
        for i, f in enumerate(own):
            G = "" if f.G is None else f", G = {shown(f.G)}"
            if room > 0:
                known = f"L = {shown(f.L)}, mu = {shown(f.mu)}{G}, {len(f.table)} point(s)"
                yield f"client {n + 1}, sample {i + 1}: {known}"
            for x, (g, value) in f.table.items():
                room -= 1
                if room >= 0:
                    yield f"x = {shown_vector(x)}, g = {shown_vector(g)}, f = {shown(value, 60)}"
    if room < 0:
        yield f"and {-room} more points"
