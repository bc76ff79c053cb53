"""The constants that a run of FedMIM leaves open: G and B of (6), and lambda of the theorems."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from sim.problems import Quadratic
from sim.problems.linear_algebra import root
from theory.claim import Claim
from theory.formula import Formula, fold, names_in, parse
from validate.dissimilarity import least_constant, least_relative

# B of the pairs for linear clients, whose gradients are bounded; below 1/2, at it, and 1
LINEAR = (Fraction(0), Fraction(1, 4), Fraction(1))
# where the least B^2 has no G, B^2 is that many times the least one
FACTORS = (Fraction(17, 16), Fraction(2))
# parts of the largest lambda, where a claim has one; else values of lambda
PARTS = (Fraction(99, 100), Fraction(1, 2), Fraction(1, 20))
LAMBDAS = (Fraction(49, 100), Fraction(1, 4), Fraction(1, 100))


def pairs(problem: Quadratic) -> list[dict[str, Any]]:
    """A few pairs of G and B with which (6) holds, none better than another; no pair when there is none.

    In fractions where the problem has fractions, rounded up where a root is irrational.
    """
    least = least_relative(problem)
    if least is None:
        return []
    squares = [_number(factor, problem) * least for factor in FACTORS]
    if not (problem.hessian != 0).any():
        squares = [_number(B * B, problem) for B in LINEAR]
    elif least_constant(problem, least) is not None:
        squares = [least]  # G^2 is then the least for every B
    found = []
    for square in squares:
        B = _root(square)
        constant = least_constant(problem, B * B)
        if constant is not None:
            found.append({"G": _root(constant), "B": B})
    return found


def lambdas(claim: Claim, parameters: Mapping[str, Any], T: int, mu: Any = None) -> list[Any]:
    """Values of lambda that the claim allows.

    Args:
        claim: a theorem. Where one of its hypotheses is a largest lambda (`lam_max`), the values are parts of it.
        parameters: the claim's other parameters.
        T: rounds.
        mu: of a claim about the output with weights (1 - mu eta lambda)^-t; None for the others. The values then
            make that a number in (0, 1), and those that make the run too short, eta_l < 1/(mu lambda K T), are left
            out unless all do.

    Returns:
        Fractions, or floats when the parameters are floats; none when there is no such lambda.
    """
    exact = isinstance(parameters["eta_l"], Fraction)
    found = list(LAMBDAS)
    if any(h.relation is not None and "lam_max" in h.relation for h in claim.conditions):
        limit = Fraction(largest_lambda(claim, parameters))
        found = [_below(part * limit) for part in PARTS] if limit > 0 else []
    values: list[Any] = [lam if exact else float(lam) for lam in found]
    if mu is not None:
        rate = mu * parameters["K"] * parameters["eta_l"]
        values = [lam for lam in values if rate * lam < 1]
        values = [lam for lam in values if rate * lam * T >= 1] or values[:1]
    return values


def largest_lambda(claim: Claim, parameters: Mapping[str, Any]) -> Any:
    """The claim's `lam_max`, in the numbers that are given: a Fraction or a float.

    Only this definition and those that it needs are evaluated, without the checks of `theory.evaluate`: the search for
    counterexamples asks for it thousands of times.

    Args:
        claim: a claim with that definition, a polynomial in its parameters, in quotients and sums over lags.
        parameters: those that it needs; vectors as arrays or lists.
    """
    exact = isinstance(parameters["eta_l"], Fraction)
    values = {name: np.asarray(value) if np.ndim(value) else value for name, value in parameters.items()}
    for name, formula in _needed(tuple(claim.definitions.items())):
        values[name] = fold(formula, lambda v: v if exact else float(v), values.__getitem__, _apply)
    return values["lam_max"]


@lru_cache
def _needed(definitions: tuple[tuple[str, str], ...]) -> tuple[tuple[str, Formula], ...]:
    """`lam_max` and the definitions that it needs, in their order."""
    formulas = [(name, parse(text)) for name, text in definitions]
    wanted = {"lam_max"}
    for name, formula in reversed(formulas):
        if name in wanted:
            wanted |= names_in(formula)
    return tuple((name, formula) for name, formula in formulas if name in wanted)


_OPERATIONS: Mapping[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
    "neg": operator.neg,
    "sum": np.sum,
}


def _apply(operation: str, arguments: tuple[Any, ...]) -> Any:
    return _OPERATIONS[operation](*arguments)


def _number(value: Fraction, problem: Quadratic) -> Any:
    return value if problem.exact else float(value)


def _root(square: Any) -> Any:
    """The root of a square; where it is irrational but the square is a Fraction, a number of about six digits above."""
    found = root(square) if isinstance(square, Fraction) else math.sqrt(max(square, 0))
    if isinstance(found, Fraction) or not isinstance(square, Fraction):
        return found
    scale = _scale(found, 6)
    guess = math.ceil(Fraction(found) * scale) / scale
    return guess if guess * guess >= square else guess + 1 / scale


def above(value: Any) -> Any:
    """A Fraction of six digits that is just above a long positive one; anything else as it is."""
    if not isinstance(value, Fraction) or max(value.numerator, value.denominator) < 10**6:
        return value
    scale = _scale(value, 6)
    return math.ceil(value * scale) / scale


def _below(value: Fraction) -> Fraction:
    """A number of three digits that is just below a positive one."""
    scale = _scale(value, 3)
    return math.floor(value * scale) / scale


def _scale(value: Any, digits: int) -> Fraction:
    """The power of ten that takes a positive number to about `digits` digits before the point."""
    return Fraction(10) ** (digits - 1 - math.floor(math.log10(value)))
