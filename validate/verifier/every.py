"""Whether a sentence that is assumed for every point is true of a problem, in fractions.

Its sides become polynomials in the coordinates of its points, which are unknown; minimisers that are not unique are
unknown, too. Of quadratics the difference is one quadratic, nowhere negative if its matrix is semidefinite. Of
functions along orthogonal axes it is a sum of functions of one unknown each, or of one for each of two points, between
knots quadratic: their least values are added.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from types import MappingProxyType
from typing import Any

from .pieces import between, gaps
from .points import Points
from .quadratics import Problem, null_space, semidefinite
from .reading import FormatError, Uncheckable, shown
from .ridges import Ridges, along, axes_of
from .scalars import ONE, OPERATIONS, ZERO
from .scalars import square as length2
from .sentences import FUNCTIONS, OVER, WORDS, Node, Sentence, everything, index_of, names_in, read_sentence
from .spoken import World
from .stretches import least_value
from .unknowns import Unknown, certain, of
from .vocabulary import Vocabulary

FOR_EVERY = re.compile(r"\s*for\s+every\b([^:]*):(.*)", re.DOTALL)
CLOSED = ("<=", ">=", "==")
ALLOWED = {"mean_n", "mean_i", "sum_n", "sum_i", "norm2", "norm", "dot", "grad", "number", "name", *FUNCTIONS}
ALLOWED |= {"+", "-", "*", "/", "**", "neg", "abs", "sqrt", "exp", "log", "min", "max"}
MOST_UNKNOWNS = 400


def split(text: str) -> tuple[tuple[str, ...], Sentence] | None:
    """The points and the sentence of ``for every n, x: SENTENCE``; None for other text.

    Raises:
        FormatError: where it begins so, and is none.
    """
    match = FOR_EVERY.fullmatch(text)
    if match is None:
        return None
    listed = [name.strip() for name in match[1].split(",")]
    points = tuple(name for name in listed if name not in ("n", "i"))
    sentence = read_sentence(match[2], "a sentence for every point")
    names = {name for side in (sentence.left, sentence.right) for name in names_in(side)}
    for name in points:
        known = re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) and name not in WORDS and name not in ("N", "d", "K")
        if not known or index_of(name)[1] or name not in names:
            raise FormatError(f"{shown(text)} is for every {shown(name)}, which is no point of it")
    if not points or len(set(listed)) < len(listed) or sentence.relation not in CLOSED:
        raise FormatError(f"{shown(text)} is no sentence for every point with <=, >= or ==")
    for side in (sentence.left, sentence.right):
        for node in everything(side):
            if node.op not in ALLOWED or node.name in ("x0", "K", "k", "h", "j"):
                raise FormatError(f"{shown(text)} speaks of more than functions at its points")
    return points, sentence


def constants_of(points: Sequence[str], sentence: Sentence) -> tuple[Node, ...]:
    """Its names that are no points: parameters and definitions, each once."""
    own = {*points, *WORDS, "N", "d"}
    nodes = [n for side in (sentence.left, sentence.right) for n in everything(side) if n.op == "name"]
    return tuple({node.name: node for node in nodes if node.name not in own}.values())


def check_words(points: Sequence[str], sentence: Sentence, words: Vocabulary) -> frozenset[str]:
    """The indices that are free in a sentence for every point, where it says something among these words.

    Raises:
        FormatError: where it does not.
    """
    if any(names_in(tree) & set(points) for tree in words.definitions.values()):
        raise FormatError(f"a definition has the name of a point of {shown(sentence.text)}")
    within = Vocabulary(vectors=frozenset(points), definitions=words.definitions)
    readings = [within.read(side) for side in (sentence.left, sentence.right)]
    free = frozenset[str]().union(*(one.free for one in readings))
    if any(one.vector or one.random for one in readings) or free - {"n", "i"}:
        raise FormatError(f"a side of {shown(sentence.text)} is no number")
    return free


# --- a sentence with unknown points -----------------------------------------------------------------------------------


class Within:
    """The sentence's names on a problem, its points being polynomials."""

    def __init__(self, problem: Problem, world: World, points: Mapping[str, Any]) -> None:
        self.problem, self.world, self.points = problem, world, points

    def functions(self, name: str, at: Mapping[str, int], v: tuple[Unknown, ...]) -> tuple[Any, Any]:
        """Gradient and value at v."""
        f = self.problem.named(name, at.get("n", 0), at.get("i", 0))
        return f.gradient(v), f.value(v)

    def value(self, node: Node, at: Mapping[str, int]) -> Any:
        """A polynomial, or a tuple of them for a vector."""
        op = node.op
        self.world.work.spend(20)
        if op == "number":
            return of(node.value)
        if op == "name":
            return self.name(node, at)
        if op in OVER:
            how, index = OVER[op]
            count = self.problem.N if index == "n" else len(self.problem.samples[at["n"]])
            values = [self.value(node.args[0], {**at, index: j}) for j in range(count)]
            total = values[0]
            for other in values[1:]:
                total = combined("+", total, other)
            return total if how == "sum" else combined("/", total, of(count))
        args = [self.value(a, at) for a in node.args]
        if op == "grad":
            return tuple(map(of, self.functions(node.name, at, args[0])[0]))
        if op in FUNCTIONS:
            return of(self.functions(op, at, args[0])[1])
        if op in ("norm2", "dot"):
            pairs = list(zip(args[0], args[-1], strict=True))
            self.world.work.spend(20 * sum(len(a.terms) * len(b.terms) for a, b in pairs))
            return sum((a * b for a, b in pairs), of(0))
        if op in ("+", "-", "*", "/"):
            return combined(op, *args)
        if op == "neg":
            return tuple(-x for x in args[0]) if isinstance(args[0], tuple) else -args[0]
        numbers = [None if isinstance(a, tuple) else certain(a) for a in args]
        if None in numbers or op not in OPERATIONS:
            raise Uncheckable(f"{op} in a sentence for every point")
        return of(OPERATIONS[op](*numbers))

    def name(self, node: Node, at: Mapping[str, int]) -> Any:
        """A point, a minimiser, or a number."""
        if node.name in self.points:
            return self.points[node.name]
        if node.name in ("xstar", "xstar_n"):
            return self.points[node.name if node.name == "xstar" else f"xstar_n {at['n']}"]
        if node.name == "fstar":
            return of(self.problem.infimum(self.problem.mean))
        given = self.world.parameters.get(node.name)
        if isinstance(given, tuple):
            raise Uncheckable(f"{node.name} is one number a client, and is to be written {node.name}_n")
        return of(self.world.value(node, dict(at), None))

    def gap(self, sentence: Sentence, at: Mapping[str, int], turned: bool) -> Unknown:
        """What must not be negative: right less left, or turned left less right."""
        sides = (sentence.right, sentence.left)
        if any(node.op == "norm" for side in sides for node in everything(side)):
            right, left = (self.squared(side, at) for side in sides)
        else:
            right, left = (self.value(side, at) for side in sides)
        return left - right if turned else right - left

    def squared(self, node: Node, at: Mapping[str, int]) -> Unknown:
        """The square of a product of norms and numbers that are not negative."""
        if node.op == "norm":
            v = self.value(node.args[0], at)
            return sum((x * x for x in v), of(0))
        if node.op in ("*", "/"):
            return combined(node.op, *(self.squared(a, at) for a in node.args))
        number = certain(self.value(node, at))
        if number is None or number < 0:
            raise Uncheckable("a norm beside what is no norm, in a sentence for every point")
        return of(number * number)


def combined(op: str, one: Any, two: Any) -> Any:
    """A sum, difference, product or quotient of numbers and vectors."""
    if op == "*" and isinstance(two, tuple):
        one, two = two, one
    if isinstance(one, tuple):
        others = two if isinstance(two, tuple) else (two,) * len(one)
        return tuple(combined(op, x, y) for x, y in zip(one, others, strict=True))
    return {"+": lambda: one + two, "-": lambda: one - two, "*": lambda: one * two, "/": lambda: one / two}[op]()


def everywhere(
    points: Sequence[str],
    sentence: Sentence,
    at: Mapping[str, int],
    world: World,
    constants: Mapping[str, Fraction] = MappingProxyType({}),
) -> bool:
    """Whether a sentence is true for every one of its points.

    Args:
        points: its points.
        sentence: what is said of them.
        at: the client and the sample that it is about, where these are free in it.
        world: the instance.
        constants: names that mean numbers here.

    Raises:
        Uncheckable: where that cannot be told.
    """
    problem = world.given_problem()
    if isinstance(problem, Points):
        raise Uncheckable("what holds everywhere, of functions that are known at points only")
    decide = _along_axes if isinstance(problem, Ridges) else _of_quadratics
    turns = {"<=": (False,), ">=": (True,), "==": (False, True)}[sentence.relation]
    known = {name: of(value) for name, value in constants.items()}
    return all(decide(points, sentence, at, turned, world, known) for turned in turns)


def _minimisers(sentence: Sentence, problem: Problem) -> Iterator[tuple[str, Any]]:
    names = names_in(sentence.left) | names_in(sentence.right)
    if "xstar" in names:
        yield "xstar", problem.mean
    if "xstar_n" in names:
        yield from ((f"xstar_n {n}", f) for n, f in enumerate(problem.own))


def _of_quadratics(
    points: Sequence[str],
    sentence: Sentence,
    at: Mapping[str, int],
    turned: bool,
    world: World,
    known: Mapping[str, Unknown],
) -> bool:
    problem, size = world.given_problem(), 0
    vectors: dict[str, Any] = {**known}
    for name in points:
        vectors[name] = tuple(Unknown({(size + j,): ONE}) for j in range(problem.d))
        size += problem.d
    for name, f in _minimisers(sentence, problem):
        found = problem.minimum(f)
        if found is None:
            raise Uncheckable("a minimiser that does not exist")
        flat = [] if found[1] else null_space(f.H)
        moving = [[Unknown({(size + j,): v[c]}) for j, v in enumerate(flat)] for c in range(problem.d)]
        vectors[name] = tuple(sum(more, of(x)) for x, more in zip(found[0], moving, strict=True))
        size += len(flat)
    if size > MOST_UNKNOWNS:
        raise FormatError("a sentence for every point has too many unknowns to be checked")
    terms = Within(problem, world, vectors).gap(sentence, at, turned).terms
    matrix = [[ZERO] * (size + 1) for _ in range(size + 1)]
    for m, c in terms.items():
        i, j = (*m, size, size)[:2]
        matrix[i][j] += c / 2
        matrix[j][i] += c / 2
    world.work.spend(size**3 + 1)
    return semidefinite(matrix)


class _Chosen(Within):
    """Functions along axes, at unknowns that each lie in one stretch; of point p along axis j it is that of (p, j)."""

    def __init__(self, world: World, axes: Any, points: Mapping[str, Any], inside: Mapping[int, Fraction]) -> None:
        super().__init__(world.given_problem(), world, points)
        self.axes, self.inside = axes, inside

    def functions(self, name: str, at: Mapping[str, int], v: tuple[Unknown, ...]) -> tuple[Any, Any]:
        f = self.problem.named(name, at.get("n", 0), at.get("i", 0))
        gradient, value = [of(0)] * self.problem.d, of(f.c)
        for j, axis in enumerate(self.axes):
            t = sum((y * x for y, x in zip(axis, v, strict=True)), of(0))
            still = certain(t)
            unknown: tuple[int, ...] = next(iter(t.terms), ())
            if still is None and (t.terms != {unknown: ONE} or len(unknown) > 1 or unknown[0] % len(self.axes) != j):
                raise Uncheckable("a function at another point than those of a sentence for every point")
            line = along(f, axis)
            k = line.segment(self.inside[unknown[0]] if still is None else still)
            start, height, steep = line.places[k]
            gradient = [g + (steep + line.slopes[k] * (t - start)) * y for g, y in zip(gradient, axis, strict=True)]
            value = value + height + (t - start) * (steep + line.slopes[k] * (t - start) / 2)
        return gradient, value


def _along_axes(
    points: Sequence[str],
    sentence: Sentence,
    at: Mapping[str, int],
    turned: bool,
    world: World,
    known: Mapping[str, Unknown],
) -> bool:
    problem: Any = world.given_problem()
    axes = axes_of([f for own in problem.samples for f in own])
    if axes is None or len(points) > 2:
        raise Uncheckable("a sentence for every point, of functions that are neither quadratics nor along common axes")
    vectors: dict[str, Any] = {**known}
    for name, f in _minimisers(sentence, problem):
        found = problem.minimum(f)
        if found is None or not found[1]:
            raise Uncheckable("a minimiser that does not exist, or is not the only one")
        vectors[name] = tuple(map(of, found[0]))
    for p, name in enumerate(points):
        vectors[name] = tuple(
            Unknown({(p * len(axes) + j,): axis[c] / length2(axis) for j, axis in enumerate(axes)})
            for c in range(problem.d)
        )
    stretches = []
    for axis in axes:
        lines = [along(f, axis) for own in problem.samples for f in own]
        stretches.append(list(gaps(sorted({t for line in lines for t in line.knots}))))
    first = {p * len(axes) + j: between(*own[0]) for j, own in enumerate(stretches) for p in range(len(points))}
    base = _Chosen(world, axes, vectors, first).gap(sentence, at, turned)
    total = base.terms.get((), ZERO)
    for j, own in enumerate(stretches):
        least = None
        unknowns = [p * len(axes) + j for p in range(len(points))]
        for ends in product(own, repeat=len(points)):
            inside = first | {u: between(*end) for u, end in zip(unknowns, ends, strict=True)}
            gap = _Chosen(world, axes, vectors, inside).gap(sentence, at, turned)
            if any(len({u % len(axes) for u in m}) > 1 for m in gap.terms):
                raise Uncheckable("a sentence for every point that is no sum over axes")
            moved = gap.terms.get((), ZERO) - base.terms.get((), ZERO)
            bottom = least_value(gap.terms, unknowns, moved, ends)
            if bottom is None:
                return False
            least = bottom if least is None else min(least, bottom)
        total += least or ZERO
    return total >= 0
