"""What the trees of a claim are worth in an instance that is being made: numbers so far, functions, vectors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from theory.claim import Claim
from theory.formula import UndefinedError
from theory.sentence import (
    Expression,
    evaluate,
    index_of,
    remembered,
)
from validate.instances.pieces import Pieces
from validate.instances.points import Points
from validate.instances.problems import weighted_quadratic, which_of
from validate.instances.ridges import Ridges
from validate.instances.world import few_terms

F = Fraction
Values = dict[str, Any]
LIMIT_BITS, SHORT = 4096, 2**64


@dataclass(frozen=True)
class Setting:
    """A problem, a start and parameters as a sentence without states sees them: a `theory.sentence.worlds.World`.

    Numbers are Fractions as long as they are rational, else floats.

    Attributes:
        problem: `sim.problems.Quadratic`, `Pieces`, `Points` or `Ridges`; None for a claim without functions.
        start: x0, (d,).
        values: parameters by name without index: a number, or a list (one a client, or one a round).
        rounds: K.
        claim: whose names these are.
        free: the free vectors, (d,), or of ``a_n`` a list of N of them.
    """

    problem: Any
    start: Any
    values: Mapping[str, Any]
    rounds: int
    claim: Claim
    free: Mapping[str, Any] = field(default_factory=dict)

    @property
    def schedules(self) -> frozenset[str]:
        """The names that are one number a round (``eta_k``)."""
        return schedules_of(self.claim)

    @property
    def clients(self) -> int:
        """N; 1 where nothing says it."""
        if self.problem is not None:
            return int(self.problem.clients)
        return next((len(v) for v in self.free.values() if isinstance(v, list)), int(self.values.get("N", 1)))

    @property
    def dim(self) -> int:
        """d; 1 where nothing says it."""
        if self.problem is not None:
            return int(self.problem.dim)
        sizes = (len(v[0] if isinstance(v, list) else v) for v in self.free.values())
        return next(sizes, int(self.values.get("d", 1)))

    def constant(self, value: Fraction) -> Any:
        """As `World`."""
        return value

    def parameter(self, name: str, at: Mapping[str, int]) -> Any:
        """As `World`."""
        if name == "N":
            return F(self.clients)
        if name == "d":
            return F(self.dim)
        if name == "K":
            return F(self.rounds)
        if name == "fstar":
            return self.problem.optimal_value
        base, index = index_of(name)
        value = self.values[base] if base in self.values else self.values[name]
        if isinstance(value, list):
            one = at[index or ("k" if base in self.schedules else "n")]
            if not 0 <= one < len(value):
                raise UndefinedError(f"{name} has {len(value)} values, and none at {one}")
            return value[one]
        return value

    def point(self, name: str, at: Mapping[str, int]) -> Any:
        """As `World`."""
        if name in self.free:
            found = self.free[name]
            return found[at["n"]] if isinstance(found, list) else found
        if name == "x0":
            return self.start
        if name == "xstar":
            return self.problem.minimiser
        points = self.problem.client_minimisers
        if points is None:
            raise UndefinedError("a client has no minimiser, or more than one")
        return points[at["n"]]

    def value(self, name: str, indices: tuple[int, ...], at: Mapping[str, int]) -> Any:
        """As `World`: there are no states."""
        raise UndefinedError(f"{name} is not known before the algorithm runs")

    def function(self, name: str, v: Any, at: Mapping[str, int]) -> Any:
        """As `World`."""
        if isinstance(self.problem, Pieces):
            return self.problem.function(*which_of(name, at)).value(v[0])
        if isinstance(self.problem, Points | Ridges):
            return self.problem.at(v, *which_of(name, at))[1]
        if name == "f":
            return self.problem.cost(v)
        p, n = self.problem, at["n"]
        if name == "f_n":
            h, b, c = p.client_hessian[n], p.client_linear[n], p.client_offset[n]
        else:
            h, b, c = p.hessian[n, at["i"]], p.linear[n, at["i"]], p.offset[n, at["i"]]
        return (v @ h @ v) / 2 - b @ v + c

    def gradient(self, name: str, v: Any, at: Mapping[str, int]) -> Any:
        """As `World`."""
        if isinstance(self.problem, Pieces):
            return np.array([self.problem.function(*which_of(name, at)).derivative(v[0])], dtype=object)
        if isinstance(self.problem, Points | Ridges):
            return self.problem.at(v, *which_of(name, at))[0]
        if name == "f":
            return self.problem.gradient(v)
        if name == "f_n":
            return self.problem.client_hessian[at["n"]] @ v - self.problem.client_linear[at["n"]]
        return self.problem.hessian[at["n"], at["i"]] @ v - self.problem.linear[at["n"], at["i"]]

    def numbers(self, operation: str, arguments: tuple[Any, ...]) -> Any:
        """As `World`."""
        return number(operation, arguments)

    def vectors(self, operation: str, arguments: tuple[Any, ...]) -> Any:
        """As `World`."""
        one = arguments[0]
        if operation == "norm2":
            return (one * one).sum()
        if operation == "norm":
            return number("sqrt", ((one * one).sum(),))
        if operation == "dot":
            return (one * arguments[1]).sum()
        if operation == "neg":
            return -one
        two = arguments[1]
        if operation == "/":
            if two == 0:
                raise UndefinedError("division by 0")
            return one / two
        return {"+": lambda: one + two, "-": lambda: one - two, "*": lambda: one * two}[operation]()

    def over(self, index: str, e: Expression, at: Mapping[str, int]) -> Iterable[int]:
        """As `World`."""
        if index == "n":
            return range(self.clients)
        if index == "i":
            return range(int(self.problem.counts[at["n"]]))
        if index == "k":
            return range(few_terms(self.rounds))
        lists = (self.values.get(name) for name in remembered(e, index, self.claim.vocabulary)[1])
        sizes = {len(value) for value in lists if isinstance(value, list)}
        if len(sizes) != 1:
            raise UndefinedError("turns of a loop are not known before the algorithm runs")
        return range(sizes.pop())

    def expectation(self, e: Expression, at: Mapping[str, int]) -> Any:
        """As `World`: nothing is random before the algorithm runs."""
        return evaluate(e, self, at, self.claim.vocabulary)

    def quantile(self, e: Expression, q: Any, at: Mapping[str, int]) -> Any:
        """As `World`."""
        return evaluate(e, self, at, self.claim.vocabulary)

    def least(self, weights: tuple[Any, ...], radius: Any = None) -> Any:
        """As `World`."""
        other = isinstance(self.problem, Pieces | Points | Ridges)
        weighted = self.problem.weighted(weights) if other else weighted_quadratic(self.problem, weights)
        point = weighted.minimiser
        if radius is None or (point * point).sum() <= radius * radius:
            return point
        if len(point) > 1:
            raise UndefinedError("the minimiser over a ball that binds, in several dimensions")
        return np.array([radius if point[0] > 0 else -radius], dtype=point.dtype)


def schedules_of(claim: Claim) -> frozenset[str]:
    """The names, without index, of which a claim has one number a round."""
    return claim.by_round


def number(operation: str, arguments: Sequence[Any]) -> Any:
    """An operation on numbers: on Fractions exactly where the result is rational, else in floats.

    Raises:
        UndefinedError: where there is no real value, or none that a float can be.
    """
    if all(isinstance(a, (Fraction, int)) for a in arguments):
        if operation in ("min", "max"):
            return (min if operation == "min" else max)(arguments)
        found = _rational(operation, arguments)
        if found is not None:
            return found
    return in_floats(operation, arguments)


def in_floats(operation: str, arguments: Sequence[Any]) -> float:
    """An operation on numbers in floats. Errors as of `number`."""
    try:
        result = FLOATS[operation](*[float(a) for a in arguments])
    except (ValueError, ZeroDivisionError, OverflowError) as error:
        raise UndefinedError(f"{operation} has no real value: {error}") from None
    if isinstance(result, complex) or not math.isfinite(result):
        raise UndefinedError(f"{operation} has no real value")
    return result


def _rational(operation: str, arguments: Sequence[Fraction | int]) -> Fraction | None:
    """An operation on rationals; None where the result is none, or too long. Short ones need no other arithmetic."""
    short = operation in ("+", "-", "*", "neg", "abs")
    if short and all(-SHORT < a.numerator < SHORT and a.denominator < SHORT for a in arguments):
        found: Fraction = FLOATS[operation](*arguments)
        return F(found)
    from theory.arithmetic import rational

    return rational(operation, [F(a) for a in arguments], LIMIT_BITS)


FLOATS: Mapping[str, Any] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "**": lambda a, b: a**b,
    "neg": lambda a: -a,
    "sqrt": math.sqrt,
    "log": math.log,
    "exp": math.exp,
    "abs": abs,
    "min": min,
    "max": max,
}
