"""Both sides of a sentence by moments: for programs that are linear given their draws, on quadratics of any size.

What stands in an E is a polynomial of second degree in states and taps, and is turned into one: a constant and
products of affine functions, whose expectations `sim.moments` computes. Numbers are float64 (or Fractions on an exact
problem, as long as they are rational). What is no such polynomial (a norm, a maximum) is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any, Literal

import numpy as np

from sim.moments import Moments, Point, Schedule, moments_of
from sim.problems import Quadratic
from theory.claim import Claim
from theory.formula import Apply, Name, UndefinedError, names_in
from theory.program import STACKS, loops_around, with_taps
from theory.sentence import (
    TURNS,
    At,
    Expression,
    Sentence,
    evaluate,
    everything,
    everything_meant,
    index_value,
    read,
    remembered,
)
from validate.instances.relations import holds
from validate.instances.setting import Setting, number

Terms = tuple[tuple[Any, Any, Any], ...]


class NoPolynomialError(ValueError):
    """What stands in an expectation is no polynomial of second degree in the states."""


@dataclass(frozen=True)
class Form:
    """A random number: a constant and products c <u, v> of affine functions of states and taps."""

    constant: Any
    terms: Terms = ()


@dataclass(frozen=True)
class Vector:
    """A random vector: an affine function of states and taps (`sim.moments.Affine`)."""

    parts: Mapping[Point | None, Any]


class Expected:
    """A claim's names on an instance, with expectations by moments: a `theory.sentence.worlds.World`.

    Attributes:
        certain: whether nothing is drawn: then moments tell every number of a run, and not expectations only.
        kept: what `theory.sentence.worlds.evaluate` has found, as nothing changes.
        of_whole_run: whether states are those of a run that is known to its end, and do not change either.
        rooted: whether the root of such a number has been taken.
    """

    of_whole_run = True

    def __init__(self, claim: Claim, problem: Quadratic, setting: Setting, moments: Moments) -> None:
        self.claim, self.problem, self.setting, self.moments = claim, problem, setting, moments
        self.words = claim.vocabulary
        self.certain = claim.program is not None and not claim.program.random
        self.rooted = False
        self.kept: dict[Any, Any] = {}

    # deterministic names are the setting's

    def constant(self, value: Fraction) -> Any:
        """As `World`."""
        return value if self.problem.exact else float(value)

    def parameter(self, name: str, at: Mapping[str, int]) -> Any:
        """As `World`."""
        value = self.setting.parameter(name, at)
        return value if self.problem.exact else float(value)

    def point(self, name: str, at: Mapping[str, int]) -> Any:
        """As `World`."""
        return Vector({None: np.asarray(self.setting.point(name, at), dtype=self.problem.hessian.dtype)})

    def value(self, name: str, indices: tuple[int, ...], at: Mapping[str, int]) -> Any:
        """As `World`."""
        kind = self.words.states.get(name) or self.words.taps[name][0]
        n = at.get("n") if kind in ("client", "table", "client past") else None
        i = at.get("i") if kind == "table" else None
        if name not in self.words.states:
            return Vector({Point(name, indices[0], tuple(indices[1:]), n, i): 1})
        j = indices[1] if kind in STACKS else 0
        if indices[0] == 0:  # as the run begins: drawn from nothing
            return Vector({None: self.moments.mean(0)[self.moments.layout.place(name, (), n, i, j)]})
        return Vector({Point(name, indices[0], (), n, i, j): 1})

    def function(self, name: str, v: Vector, at: Mapping[str, int]) -> Any:
        """As `World`."""
        H, b, c = coefficients(self.problem, name, at)
        half = self.constant(Fraction(1, 2))
        return self._reduced(Form(c, ((half, v, _mapped(H, v)), (-1, v, Vector({None: b})))))

    def gradient(self, name: str, v: Vector, at: Mapping[str, int]) -> Any:
        """As `World`."""
        H, b, _ = coefficients(self.problem, name, at)
        return _plus(_mapped(H, v), Vector({None: -b}))

    def numbers(self, operation: str, arguments: tuple[Any, ...]) -> Any:
        """As `World`; of random numbers sums, differences, and products by others."""
        if not any(isinstance(a, Form) for a in arguments):
            return self.plain(operation, arguments)
        one = arguments[0]
        if operation == "neg":
            return _scaled(one, -1)
        two: Any = arguments[1] if len(arguments) > 1 else None
        if operation in ("+", "-") and len(arguments) == 2:
            return _sum(_form(one), _scaled(_form(two), 1 if operation == "+" else -1))
        if operation == "*" and not (isinstance(one, Form) and isinstance(two, Form)):
            return _scaled(one, two) if isinstance(one, Form) else _scaled(_form(two), one)
        if operation == "/" and not isinstance(two, Form):
            if two == 0:
                raise UndefinedError("division by 0")
            return _scaled(_form(one), 1 / two)
        if self.certain:
            return self.plain(operation, tuple(map(self.settled, arguments)))
        raise NoPolynomialError(f"{operation} of random numbers")

    def plain(self, operation: str, arguments: tuple[Any, ...]) -> Any:
        """An operation on numbers that are not random."""
        return number(operation, arguments)

    def vectors(self, operation: str, arguments: tuple[Any, ...]) -> Any:
        """As `World`."""
        one = arguments[0]
        if operation == "norm2":
            return self._reduced(Form(0, ((1, one, one),)))
        if operation == "dot":
            return self._reduced(Form(0, ((1, one, arguments[1]),)))
        if operation == "norm":
            found = self._reduced(Form(0, ((1, one, one),)))
            if isinstance(found, Form):
                if not self.certain:
                    raise NoPolynomialError("a norm of a random vector")
                self.rooted = True
                found = self.settled(found)
            return self.plain("sqrt", (max(found, 0),))
        if operation == "neg":
            return _times(one, -1)
        two = arguments[1]
        if operation in ("+", "-"):
            return _plus(one, two if operation == "+" else _times(two, -1))
        if isinstance(two, Form):
            if not self.certain:
                raise NoPolynomialError("a random vector times a random number")
            two = self.settled(two)
        if operation == "/" and two == 0:
            raise UndefinedError("division by 0")
        return _times(one, two if operation == "*" else 1 / two)

    def _reduced(self, form: Form) -> Any:
        """A form without states is a number."""
        if all(set(u.parts) | set(v.parts) == {None} for _, u, v in form.terms):
            return form.constant + sum(c * (u.parts[None] * v.parts[None]).sum() for c, u, v in form.terms)
        return form

    def over(self, index: str, e: Expression, at: Mapping[str, int]) -> Iterable[int]:
        """As `World`; of h and j the turns of the loops around the taps."""
        if index in TURNS:
            states, names = remembered(e, index, self.words)
            if states:
                _, _, rows = self.moments.layout.places[next(iter(states)), ()]
                return range(rows // self.moments.layout.dim)
            if not names:
                return range(turns(self.claim, self.setting, e, index))
        return self.setting.over(index, e, at)

    def expectation(self, e: Expression, at: Mapping[str, int]) -> Any:
        """As `World`."""
        return self.settled(evaluate(e, self, at, self.words))

    def quantile(self, e: Expression, q: Any, at: Mapping[str, int]) -> Any:
        """As `World`: moments do not say it."""
        raise NoPolynomialError("a quantile")

    def least(self, weights: tuple[Any, ...], radius: Any = None) -> Any:
        """As `World`."""
        if any(isinstance(q, Form) for q in weights):
            raise NoPolynomialError("argmin_n of random weights")
        found = self.setting.least(weights, radius)
        return Vector({None: np.asarray(found, dtype=self.problem.hessian.dtype)})

    def settled(self, value: Any) -> Any:
        """E of a random number, or the number itself."""
        if isinstance(value, Vector):
            if set(value.parts) <= {None}:
                return value
            return Vector({None: self.moments.expected(value.parts)})
        if not isinstance(value, Form):
            return value
        if self.certain:  # then a product's mean is that of the means
            total = value.constant
            with np.errstate(all="ignore"):  # a run may leave what floats hold
                for c, u, v in value.terms:
                    one = self.settled(u).parts[None]
                    total = total + c * (one @ (one if v is u else self.settled(v).parts[None]))
            return total
        return value.constant + sum(c * self.moments.dot(u.parts, v.parts) for c, u, v in value.terms)


def coefficients(problem: Quadratic, name: str, at: Mapping[str, int]) -> tuple[Any, Any, Any]:
    """H, b and c of ``f``, ``f_n`` or ``f_ni``, which is x'Hx/2 - b'x + c: (d, d), (d,) and a number."""
    if name == "f":
        return problem.mean_hessian, problem.mean_linear, problem.mean_offset
    if name == "f_n":
        return problem.client_hessian[at["n"]], problem.client_linear[at["n"]], problem.client_offset[at["n"]]
    return problem.hessian[at["n"], at["i"]], problem.linear[at["n"], at["i"]], problem.offset[at["n"], at["i"]]


def turns(claim: Claim, setting: Setting, e: Expression, index: str) -> int:
    """How often the loop turns whose turn goes by this index in a tree.

    Raises:
        NoPolynomialError: where that is not one number.
    """
    assert claim.program is not None
    counts = set()
    for part in spoken(e, claim):
        place = next((p for p, i in enumerate(part.indices) if p and Name(index) in everything(i)), None)
        if part.name in claim.vocabulary.taps and place is not None:
            counts.add(_counts(claim, setting, part.name)[place - 1])
    if len(counts) != 1:
        raise NoPolynomialError("turns of several loops")
    return counts.pop()


def _counts(claim: Claim, setting: Setting, tap: str) -> list[int]:
    """How often each of the loops around a tap turns."""
    assert claim.program is not None
    found = []
    for loop in loops_around(claim.program.body, tap) or ():
        if loop.count is None or not names_in(loop.count) <= {*setting.values, "N", "d"}:
            raise NoPolynomialError("turns of a loop over clients or samples, or whose number changes")
        found.append(int(evaluate(loop.count, setting, {}, claim.vocabulary)))
    return found


def tapped(claim: Claim, setting: Setting) -> int:
    """How many values of a round the claim's taps are, those of a client counted once.

    Raises:
        NoPolynomialError: where that changes.
    """
    return sum(prod(_counts(claim, setting, tap)) for tap in taps_of(claim))


def taps_of(claim: Claim) -> frozenset[str]:
    """The taps of which its sentence speaks."""
    sides = claim.sentence.sides
    return frozenset(p.name for side in sides for p in spoken(side, claim)) & frozenset(claim.vocabulary.taps)


def spoken(e: Expression, claim: Claim) -> Iterator[At]:
    """The states and taps of which a tree speaks, through definitions."""
    return (part for part in everything_meant(e, claim.vocabulary) if isinstance(part, At))


def _form(value: Any) -> Form:
    return value if isinstance(value, Form) else Form(value)


def _scaled(form: Form, factor: Any) -> Form:
    return Form(form.constant * factor, tuple((c * factor, u, v) for c, u, v in form.terms))


def _sum(one: Form, two: Form) -> Form:
    return Form(one.constant + two.constant, one.terms + two.terms)


def _plus(one: Vector, two: Vector) -> Vector:
    parts = dict(one.parts)
    for key, matrix in two.parts.items():
        parts[key] = _added(parts[key], matrix) if key in parts else matrix
    return Vector(parts)


def _added(one: Any, two: Any) -> Any:
    """The sum of two maps, numbers standing for multiples of the identity."""
    if np.ndim(one) == np.ndim(two):
        return one + two
    matrix, scalar = (one, two) if np.ndim(one) else (two, one)
    return matrix + np.eye(len(matrix), dtype=int).astype(matrix.dtype) * scalar


def _times(one: Vector, factor: Any) -> Vector:
    return Vector({key: matrix * factor for key, matrix in one.parts.items()})


def _mapped(H: Any, v: Vector) -> Vector:
    return Vector({key: H @ matrix if np.ndim(matrix) else H * matrix for key, matrix in v.parts.items()})


# --- both sides ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """Both sides at one value of the free indices.

    Attributes:
        at: the indices.
        left, right: numbers.
        status: of the relation between them, in floats up to `SLACK`.
    """

    at: Mapping[str, int]
    left: Any
    right: Any
    status: Literal["holds", "broken", "undefined"]


SLACK = 1e-7
"""A break in floats is one by more than this, relative to the larger side, and by more than what cancels rounds."""
ROOTED = 1e-6
"""Of the length of what cancels, where norms of states are taken: the root of what rounds."""


def lines(claim: Claim, problem: Quadratic, setting: Setting) -> list[Line]:
    """Both sides for every value of the free indices, by moments.

    Args:
        claim: with an algorithm.
        problem: float64 for floats, Fractions for exact sides.
        setting: start, rounds and all parameters (Fractions).

    Raises:
        NoPolynomialError, ValueError: where moments do not tell.
    """
    world = world_of(claim, problem, setting)
    scale = 1.0 if problem.exact else _magnitude(claim, problem, np.asarray(setting.start, dtype=float))
    found = []
    for at in indices(claim.sentence, world):
        try:
            left, right = (side_of(side, world, at) for side in claim.sentence.sides)
        except UndefinedError:
            found.append(Line(at, None, None, "undefined"))
            continue
        cancels = 1e-13 * scale + (ROOTED * scale**0.5 if world.rooted else 0)
        true = _true(left, claim.sentence.relation, right, cancels)
        found.append(Line(at, left, right, "holds" if true else "broken"))
    return found


def world_of(claim: Claim, problem: Quadratic, setting: Setting) -> Expected:
    """The claim's names on an instance; arguments and errors as of `lines`."""
    program = claim.program
    if program is None:
        raise NoPolynomialError("the claim has no algorithm")
    _refuse_random_weights(claim)
    schedules = {name for name, index in ((s[:-2], s[-2:]) for s in claim.symbols) if index == "_k"}

    def plain(name: str, value: Any) -> Any:
        if isinstance(value, list):
            rows = [plain(name, v) for v in value]
            return Schedule(tuple(rows)) if name in schedules else rows
        return value if problem.exact else float(value)

    parameters = {name: plain(name, setting.values[name]) for name in program.parameters if name in setting.values}
    start = setting.start if problem.exact else np.asarray(setting.start, dtype=float)
    moments = moments_of(with_taps(program, taps_of(claim)), problem, parameters, start=start, rounds=setting.rounds)
    return Expected(claim, problem, setting, moments)


def _refuse_random_weights(claim: Claim) -> None:
    """Weights on the simplex are compared with one another, which random numbers are not."""
    words = claim.vocabulary
    for side in claim.sentence.sides:
        for part in everything_meant(side, words):
            if isinstance(part, Apply) and part.operation == "simplex_n" and read(part, words).random:
                raise NoPolynomialError("simplex_n of random numbers")


def _magnitude(claim: Claim, problem: Quadratic, start: Any) -> float:
    """Of what cancels in sides near the minimiser: squared distances, values and squared gradients of 0, x0, xstar.

    At least 1 where there are vectors that it does not see: noise that is drawn, and those that the claim is about.
    """
    counts = np.asarray(problem.counts, dtype=float)
    hessian = problem.hessian.sum(axis=1) / counts[:, None, None]
    linear = problem.linear.sum(axis=1) / counts[:, None]
    xstar = np.linalg.lstsq(hessian.sum(axis=0), linear.sum(axis=0), rcond=None)[0]
    far = max(float(start @ start), float(xstar @ xstar))
    curvature, slope = float(np.abs(problem.hessian).max()), float(np.abs(problem.linear).max())
    unseen = claim.vectors or (claim.program is not None and "noise" in claim.program.operations)
    least = 1.0 if unseen else 0.0
    return max(least, far, curvature * far, (curvature**2) * far, slope**2, float(np.abs(problem.offset).max()))


def side_of(side: Expression, world: Expected, at: Mapping[str, int]) -> Any:
    """The number that a tree is at indices.

    Raises:
        UndefinedError: where it is none.
        NoPolynomialError: where it is random.
    """
    value = evaluate(side, world, at, world.words)
    if isinstance(value, Form):
        if not world.certain:
            raise NoPolynomialError("a random number outside of E")
        value = world.settled(value)
    return value


def _true(left: Any, relation: str, right: Any, cancels: float) -> bool:
    if isinstance(left, Fraction | int) and isinstance(right, Fraction | int):
        return holds(left, relation, right)
    one, two = float(left), float(right)
    slack = SLACK * max(abs(one), abs(two)) + cancels
    if not np.isfinite(one) or not np.isfinite(two):
        return True
    gap = one - two if relation in ("<=", "<") else two - one
    return bool(abs(gap) <= slack if relation == "==" else gap <= slack)


def indices(sentence: Sentence, world: Expected) -> Iterable[dict[str, int]]:
    """The values of the free indices for which all indices of the sentence lie in the run."""
    words = world.words
    free = read(sentence.left, words).free | read(sentence.right, words).free
    states = [p for side in sentence.sides for p in spoken(side, world.claim)]
    rounds = world.setting.rounds
    taps = {p: _counts(world.claim, world.setting, p.name) for p in states if p.name in words.taps}
    loops = {}
    for index in TURNS:
        places = [(p, place) for p in taps for place, e in enumerate(p.indices[1:]) if Name(index) in everything(e)]
        if index in free and places:
            loops[index] = range(max(taps[p][place] for p, place in places))

    def inside(at: Mapping[str, int]) -> bool:
        for part in states:
            last = rounds - (part.name in words.taps)
            names = {getattr(e, "name", "") for e in everything(part.indices[0])}
            if names <= {"k", "K", ""} and not 0 <= index_value(part.indices[0], world, at, words) <= last:
                return False
        return True

    def turning(at: Mapping[str, int]) -> bool:
        """Whether the turns of all taps, of which no sum is taken, lie in their loops."""
        for part, counts in taps.items():
            for e, count in zip(part.indices[1:], counts, strict=False):
                names = {x.name for x in everything(e) if isinstance(x, Name)}
                bound = names & set(TURNS) <= set(loops) and names <= {*at, "K", "N", "d"}
                if names and bound and not 0 <= index_value(e, world, at, words) < count:
                    return False
        return True

    for k in range(rounds + 1) if "k" in free else (0,):
        if "k" in free and not inside({"k": k, "n": 0, "i": 0}):
            continue
        for n in range(world.problem.clients) if free & {"n", "i"} else (0,):
            for i in range(int(world.problem.counts[n])) if "i" in free else (0,):
                for own in product(*loops.values()):
                    at = {"k": k, "n": n, "i": i, **dict(zip(loops, own, strict=True))}
                    if turning(at):
                        yield {name: at[name] for name in at if name in free}
