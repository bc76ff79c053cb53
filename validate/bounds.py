"""Predicted against measured: a claim's two sides, over every index that it speaks of."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from theory.claim import Claim
from theory.formula import UndefinedError

# Two float64 sides that are equal in exact arithmetic differ by rounding: relative to the larger side, and, where
# something has converged to almost nothing, relative to the largest value of the run. A break must be larger than that,
# and is then confirmed in exact arithmetic before anybody is told.
ROUNDING = 1e-9
CONVERGED = 1e-13

LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True, eq=False)
class Cases:
    """A claim's left side and parameters on one scenario, for C index values.

    Attributes:
        left: shape (C,), float64 or object (Fractions).
        parameters: by name; scalars, or arrays of shape (C,); for vector parameters of shape (C, size).
        index: by index name (k, n, s, m), integer arrays of shape (C,); empty for a claim about the whole run.
        size: the largest value that the left side has in the run, where that may not be among the cases (at the start);
            in floats, what has converged to almost nothing beside it is rounding.
    """

    left: np.ndarray
    parameters: Mapping[str, Any]
    index: Mapping[str, np.ndarray]
    size: float = field(default=0.0, kw_only=True)

    def __len__(self) -> int:
        return len(self.left)

    def parameters_at(self, i: int) -> dict[str, Any]:
        """The parameters of case i, as scalars."""
        return {name: value[i] if np.ndim(value) else value for name, value in self.parameters.items()}

    def index_at(self, i: int) -> dict[str, int]:
        """The index of case i."""
        return {name: int(value[i]) for name, value in self.index.items()}


@dataclass(frozen=True)
class Comparison:
    """How a claim's two sides compare over all cases of a scenario.

    A case at which a side is undefined (a division by zero, the root of a negative number) or beyond float64 says
    nothing: it is counted, and not compared.

    Attributes:
        cases: how many were compared.
        tightness: largest left / right among cases with a positive right side, or None; at most the largest float.
        worst: the case that breaks the claim by most, or, when none does, has the largest ratio.
        left: left side there; not a number where none was compared.
        right: right side there.
        broken: whether the claim is broken (beyond rounding, in floats).
        undefined: cases that say nothing.
        hidden: whether a case seems to break the claim whose sides are so small beside those of the run that rounding
            may be all that floats see of them.
    """

    cases: int
    tightness: float | None
    worst: int
    left: float
    right: float
    broken: bool
    undefined: int = 0
    hidden: bool = False


@dataclass(frozen=True, eq=False)
class Sides(Cases):
    """Both sides of a claim on one scenario, for C index values, beside the index and the parameters of `Cases`.

    Attributes:
        claim: id.
        right: shape (C,), float64; or object (Fractions) as `left`, where an irrational right side is a decimal that is
            rounded in the claim's favour.
        broken: (C,), whether the relation fails there; in floats, by more than rounding.
        worst: the case that breaks the claim by most, or, when none does, has the largest left / right.
        tightness: largest left / right among cases with a positive right side; None where there is none, or the claim
            does not bound from above.
    """

    claim: str
    right: np.ndarray
    broken: np.ndarray
    worst: int
    tightness: float | None


def sides(claim: Claim, cases: Cases, exact: bool = False) -> Sides:
    """Both sides of a claim, in Fractions if `exact`, else in float64.

    Raises:
        ValueError: when there is no case, a parameter is outside its domain, or the right side has no real value.
    """
    if exact:
        return _exact(claim, cases)
    left, right = np.asarray(cases.left, dtype=np.float64), right_sides(claim, cases)
    found = _compare(claim, left, right, cases.size)
    # here a scenario is asked about, not a claim: a side that is not a number is no success
    broken = _broken(claim, left, right, excess(claim.relation, left, right, cases.size))
    worst = found.worst if found.broken or not broken.any() else int(np.argmax(broken))
    return Sides(left, cases.parameters, cases.index, claim.id, right, broken, worst, found.tightness)


def _exact(claim: Claim, cases: Cases) -> Sides:
    if len(cases) == 0:
        raise ValueError("cases is empty: there is nothing to compare")
    pairs = [exact_or_rounded_sides(claim, cases, i) for i in range(len(cases))]
    left, right = (np.array(side, dtype=object) for side in zip(*pairs, strict=True))
    broken = np.array([breaks(claim, *pair) for pair in pairs])
    ratios = {i: left[i] / right[i] for i in range(len(pairs)) if right[i] > 0}
    sizes = {i: abs(left[i] - right[i]) for i in range(len(pairs)) if broken[i]} or ratios
    worst = max(sizes, key=lambda i: sizes[i], default=0)
    bounded = ratios and claim.relation in ("<=", "<")
    tightness = max(0.0, nearest_float(max(ratios.values()))) if bounded else None
    return Sides(left, cases.parameters, cases.index, claim.id, right, broken, worst, tightness)


def nearest_float(value: Any) -> float:
    """A number as a float, infinite beyond their range."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def compare(claim: Claim, cases: Cases) -> Comparison:
    """Both sides on one scenario, in float64; see `compare_all`."""
    return compare_all(claim, [cases])[0]


def compare_all(claim: Claim, scenarios: Sequence[Cases]) -> list[Comparison]:
    """Both sides on many scenarios, in float64; the right side is evaluated once, over all of them.

    Raises:
        ValueError: when a scenario has no case, or a parameter is outside its domain.
    """
    if not scenarios:
        return []
    if any(len(cases) == 0 for cases in scenarios):
        raise ValueError("cases is empty: there is nothing to compare")
    vectors = [parameter.name for parameter in claim.parameters if parameter.shape == "vector"]
    groups: dict[tuple[int, ...], list[int]] = {}  # a vector has one length in an evaluation
    for i, cases in enumerate(scenarios):
        groups.setdefault(tuple(np.shape(cases.parameters[name])[-1] for name in vectors), []).append(i)
    found: dict[int, Comparison] = {}
    for group in groups.values():
        rights = _right(claim, [scenarios[i] for i in group])
        for i, right in zip(group, rights, strict=True):
            found[i] = _compare(claim, np.asarray(scenarios[i].left, dtype=np.float64), right, scenarios[i].size)
    return [found[i] for i in range(len(scenarios))]


def defined(claim: Claim, cases: Cases) -> Cases | None:
    """The cases, in floats, at which both sides are numbers; None where there is none."""
    known = np.isfinite(np.asarray(cases.left, dtype=np.float64)) & np.isfinite(right_sides(claim, cases))
    if known.all():
        return cases
    if not known.any():
        return None
    return chosen(claim, cases, np.flatnonzero(known))


def chosen(claim: Claim, cases: Cases, places: Sequence[int] | np.ndarray) -> Cases:
    """Some of the cases, by their places."""
    at = np.asarray(places, dtype=np.int64)
    vectors = {parameter.name for parameter in claim.parameters if parameter.shape == "vector"}

    def kept(name: str, value: Any) -> Any:
        axes = 2 if name in vectors else 1
        return np.asarray(value)[at] if np.ndim(value) == axes and len(value) == len(cases) else value

    return replace(
        cases,
        left=np.asarray(cases.left)[at],
        parameters={name: kept(name, value) for name, value in cases.parameters.items()},
        index={name: np.asarray(value)[at] for name, value in cases.index.items()},
    )


def right_sides(claim: Claim, cases: Cases) -> np.ndarray:
    """(C,) float64: the right side of every case; not finite where it is undefined.

    Raises:
        ValueError: when there is no case, or a parameter is outside its domain.
    """
    if len(cases) == 0:
        raise ValueError("cases is empty: there is nothing to compare")
    return _right(claim, [cases])[0]


def _right(claim: Claim, scenarios: Sequence[Cases]) -> list[np.ndarray]:
    """The right sides on scenarios whose vector parameters have the same lengths, one array (C,) each."""
    lengths = [len(cases) for cases in scenarios]
    values = {
        name: _columns([cases.parameters[name] for cases in scenarios], lengths, claim, name)
        for name in scenarios[0].parameters
    }
    try:
        found: Any = claim.bound(**values)
    except UndefinedError:  # of a right side in which nothing varies
        found = np.nan
    right = np.broadcast_to(np.asarray(found, dtype=np.float64), (sum(lengths),))
    return np.split(right, np.cumsum(lengths)[:-1])


def _columns(values: Sequence[Any], lengths: Sequence[int], claim: Claim, name: str) -> np.ndarray:
    """A parameter of every case of every scenario, (C,) or (C, size), from its values on the scenarios."""
    if all(np.ndim(value) == 0 for value in values):  # no vector, whose values have an axis
        return np.repeat(np.array([float(value) for value in values]), lengths)
    parts = zip(values, lengths, strict=True)
    return np.concatenate([_column(value, length, claim, name) for value, length in parts])


def _column(value: Any, length: int, claim: Claim, name: str) -> np.ndarray:
    """A parameter of every case: (length,), or (length, size) for a vector."""
    array = np.asarray(value, dtype=np.float64)
    vector = any(parameter.name == name and parameter.shape == "vector" for parameter in claim.parameters)
    return np.broadcast_to(array, (length, array.shape[-1]) if vector else (length,))


def excess(relation: str, left: np.ndarray, right: np.ndarray, size: float = 0.0) -> np.ndarray:
    """(C,): by how much each case breaks the relation, relative to its larger side and less what has converged.

    `size` is that of `Cases`.

    A case is broken where this is more than `ROUNDING` (and, for a strict relation, where the sides are equal).
    """
    with np.errstate(over="ignore"):
        converged = CONVERGED * max(float(np.max(np.maximum(np.abs(left), np.abs(right)))), size)
        return _relative(relation, left, right, converged)


def _relative(relation: str, left: np.ndarray, right: np.ndarray, converged: float = 0.0) -> np.ndarray:
    beyond = left - right
    if relation in (">=", ">"):
        beyond = -beyond
    elif relation == "=":
        beyond = np.abs(beyond)
    scale = np.maximum(np.abs(left), np.abs(right))
    with np.errstate(over="ignore"):  # beside a run that has been far away, what is left is nothing
        return np.asarray((beyond - converged) / np.where(scale > 0, scale, 1.0))


def _compare(claim: Claim, left: np.ndarray, right: np.ndarray, size: float = 0.0) -> Comparison:
    known = np.flatnonzero(np.isfinite(left) & np.isfinite(right))
    if len(known) == 0:
        return Comparison(0, None, 0, math.nan, math.nan, False, len(left))
    if len(known) < len(left):
        found = _compare(claim, left[known], right[known], size)
        return replace(found, worst=int(known[found.worst]), undefined=len(left) - len(known))
    relative = excess(claim.relation, left, right, size)
    small = ~_broken(claim, left, right, relative) & ~(_relative(claim.relation, left, right) <= ROUNDING)
    positive = (right > 0) & ~small
    with np.errstate(over="ignore"):
        ratios = np.where(positive, left / np.where(positive, right, 1.0), -np.inf)
    broken = bool(_broken(claim, left, right, relative).any())
    worst = int(np.argmax(relative)) if broken or not positive.any() else int(np.argmax(ratios))
    ratio = min(float(np.max(ratios)), LARGEST)
    tightness = ratio if ratio > 0 and claim.relation in ("<=", "<") else None
    hidden = bool(small.any())
    return Comparison(len(left), tightness, worst, float(left[worst]), float(right[worst]), broken, hidden=hidden)


def _broken(claim: Claim, left: np.ndarray, right: np.ndarray, relative: np.ndarray) -> np.ndarray:
    """(C,) bool. A side that is not a number does not hold; nor does a strict relation between the same numbers."""
    broken: np.ndarray = ~(relative <= ROUNDING)
    return broken | (left == right) if claim.relation in ("<", ">") else broken


def exact_sides(claim: Claim, cases: Cases, i: int) -> tuple[Fraction, Fraction]:
    """Both sides of case i as Fractions.

    Raises:
        ValueError: when the formula is not rational at these parameters.
    """
    from theory.evaluate import exact

    return Fraction(cases.left[i]), exact(claim, cases.parameters_at(i))


def exact_or_rounded_sides(claim: Claim, cases: Cases, i: int) -> tuple[Fraction, Fraction]:
    """Both sides of case i; an irrational right side is rounded to a decimal in the claim's favour.

    The claim is then broken for certain when it is broken with that decimal. An irrational right side of an equality is
    rounded towards the left side, or to it when the enclosure holds it.

    Raises:
        ValueError: when the formula has no real value at these parameters.
    """
    from theory.arithmetic import NotRationalError

    try:
        return exact_sides(claim, cases, i)
    except NotRationalError:
        pass
    left, around = Fraction(cases.left[i]), claim.enclose(**cases.parameters_at(i))
    lower, upper = Fraction(around.lower), Fraction(around.upper)
    if claim.relation in ("<=", "<"):
        return left, upper
    return left, lower if claim.relation in (">=", ">") else min(max(left, lower), upper)


def breaks(claim: Claim, left: Fraction, right: Fraction) -> bool:
    """Whether ``left relation right`` fails."""
    return not {
        "<=": left <= right,
        "<": left < right,
        "=": left == right,
        ">=": left >= right,
        ">": left > right,
    }[claim.relation]
