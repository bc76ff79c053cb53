"""Kind "finite": every client's iterate has a second moment of at most R^2, and their weighted average has not.

The certificate lists everything that can happen: outcomes with their probabilities, and in each the clients' iterates
x_i (vectors) and the weights w_i of the averaging.

Checked, in exact fractions: the probabilities are positive and sum to 1; in every outcome the weights are non-negative
with a positive sum; E||x_i||^2 <= R^2 for every client i; E||sum_i w_i x_i / sum_i w_i||^2 > R^2. The weights are
random together with the iterates: nothing is assumed of their dependence.

What remains for the reader: the claim allows weights that depend on the iterates in this way, and asks no more of the
iterates than these second moments.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .checks import Checks, Report
from .conditions import HEAD, check_conditions, introduce
from .formulas import lookup
from .intervals import root
from .reading import FormatError, fields, limit_length, list_of, number, shown

Vector = tuple[Fraction, ...]


@dataclass(frozen=True)
class Outcome:
    p: Fraction
    x: tuple[Vector, ...]  # one vector a client
    weights: Vector  # one weight a client

    def average(self) -> Vector:
        """sum_i w_i x_i / sum_i w_i."""
        total = sum(self.weights, Fraction(0))
        columns = zip(*self.x, strict=True)
        return tuple(
            sum((w * c for w, c in zip(self.weights, column, strict=True)), Fraction(0)) / total for column in columns
        )


def verify_finite(data: dict[str, Any]) -> Report:
    """Checks a certificate of this kind."""
    fields(data, "the certificate", HEAD + " R2 outcomes left_value right_value", "note")
    square = number(data["R2"], "R2", 0)
    outcomes = read_outcomes(data["outcomes"])

    checks = Checks()
    introduce(data)
    positive = all(o.p > 0 for o in outcomes) and sum(o.p for o in outcomes) == 1
    checks.check(positive, "the probabilities are positive and sum to 1")
    weights = all(min(o.weights) >= 0 and sum(o.weights) > 0 for o in outcomes)
    checks.check(weights, "in every outcome the weights are non-negative and their sum is positive")
    if not checks.valid:
        return Report(False, tuple(checks.lines))
    for i in range(len(outcomes[0].x)):
        moment = sum((o.p * squared_norm(o.x[i]) for o in outcomes), Fraction(0))
        checks.check(moment <= square, f"client {i}: E||x||^2 = {shown(moment)} <= R^2 = {shown(square)}")
    check_conditions(checks, data["hypotheses"], {}, lookup({"R": root(square)}))
    averaged = sum((o.p * squared_norm(o.average()) for o in outcomes), Fraction(0))
    checks.equal("left_value", data["left_value"], averaged)
    checks.equal("right_value", data["right_value"], square)
    exceeds = averaged > square
    says = f"the average's E||.||^2 = {shown(averaged)} {'>' if exceeds else '<='} R^2 = {shown(square)}"
    checks.check(exceeds, says)
    return Report(checks.valid, tuple(checks.lines))


def read_outcomes(data: Any) -> list[Outcome]:
    """The outcomes, all with as many clients and coordinates."""
    result = []
    for item in list_of(data, "outcomes"):
        fields(item, "an outcome", "p x weights")
        x = tuple(
            tuple(number(c, "a coordinate") for c in list_of(vector, "a client's x"))
            for vector in list_of(item["x"], "x")
        )
        weights = tuple(number(w, "a weight") for w in list_of(item["weights"], "weights"))
        result.append(Outcome(number(item["p"], "p"), x, weights))
    shapes = {(len(o.weights), *(len(vector) for vector in o.x)) for o in result}
    if len(shapes) != 1:
        raise FormatError("the outcomes are none, or differ in the number of clients or coordinates")
    clients, *sizes = shapes.pop()
    if not sizes or clients != len(sizes) or len(set(sizes)) != 1 or sizes[0] == 0:
        raise FormatError("an outcome needs one weight and one vector a client, all of the same dimension")
    limit_length(value for o in result for vector in ((o.p,), o.weights, *o.x) for value in vector)
    return result


def squared_norm(x: Vector) -> Fraction:
    return sum((c * c for c in x), Fraction(0))
