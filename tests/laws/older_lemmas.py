"""Three lemmas with a quantity and hypotheses, which the prover of the older claims proves; nobody's paper has them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from tests.laws.vector_lemmas import CONVEX, SMOOTH, L
from theory.claim import Claim, FunctionAt, Hypothesis, Parameter, Quantity, VectorLine, VectorSentence
from theory.domain import NONNEGATIVE, POSITIVE, REAL
from theory.inequality.interpolation import smooth, smooth_convex
from theory.inequality.vectors import Space, inner, square

Values = Mapping[str, Fraction]
DELTA = Parameter("delta", POSITIVE, "step size")
DISTANCE = Parameter("distance2", NONNEGATIVE, "||x-y||^2")
GRADIENTS = Parameter("gradient_distance2", NONNEGATIVE, "||gx-gy||^2")
STEP = Hypothesis("step size", "delta <= 2/L", relation="delta <= 2/L")
POINTS = ("x", "y", "gx", "gy")
TWO = (FunctionAt("f", {"x": ("x", "gx", "fx"), "y": ("y", "gy", "fy")}),)
BOTH_WAYS = ("f smooth convex(x,y)", "f smooth convex(y,x)")


def _space() -> tuple[Any, ...]:
    space = Space(POINTS, ("fx", "fy"))
    x, y, g, h = space.vectors_of()
    return space, x, y, g, h, ((x, g, space.value("fx")), (y, h, space.value("fy")))


def _cocoercive(values: Values) -> Any:
    space, x, y, g, h, points = _space()
    return space, inner(g - h, x - y) >= square(g - h) / values["L"], smooth_convex(space, points, values["L"])


def _nonexpansive(values: Values) -> Any:
    space, x, y, g, h, points = _space()
    step = values["delta"]
    claim = square(x - step * g - (y - step * h)) <= square(x - y)
    return space, claim, smooth_convex(space, points, values["L"])


def _descent(values: Values) -> Any:
    space, x, y, g, _, points = _space()
    f, e = points[0][2], points[1][2]
    claim = e <= f + inner(g, y - x) + values["L"] / 2 * square(y - x)
    return space, claim, smooth(space, points, values["L"])


def _lemma(label: str, name: str, relation: Any, right: str, **rest: Any) -> Claim:
    quantity = Quantity(name, name, name)
    return Claim(
        f"own/{label}", "lemma", label, label, label, "x", quantity, "own", relation=relation, right=right, **rest
    )


COCOERCIVE = _lemma(
    "cocoercive",
    "product",
    ">=",
    "gradient_distance2/L",
    parameters=(L, GRADIENTS),
    hypotheses=(SMOOTH, CONVEX),
    vectors=VectorLine(_cocoercive, ({"L": "1"}, {"L": "7/2"})),
    sentence=VectorSentence(
        POINTS,
        {"product": "dot(gx - gy, x - y)", "gradient_distance2": "norm2(gx - gy)"},
        ("fx", "fy"),
        TWO,
        multipliers=dict.fromkeys(BOTH_WAYS, "1"),
    ),
)
NONEXPANSIVE = _lemma(
    "nonexpansive",
    "image",
    "<=",
    "distance2",
    parameters=(DELTA, L, DISTANCE),
    hypotheses=(SMOOTH, CONVEX, STEP),
    vectors=VectorLine(_nonexpansive, ({"delta": "2", "L": "1"}, {"delta": "1", "L": "1"})),
    sentence=VectorSentence(
        POINTS,
        {"image": "norm2(x - delta*gx - (y - delta*gy))", "distance2": "norm2(x - y)"},
        ("fx", "fy"),
        TWO,
        multipliers=dict.fromkeys(BOTH_WAYS, "2*delta"),
    ),
)
DESCENT = _lemma(
    "descent",
    "value",
    "<=",
    "fx + slope + L/2*distance2",
    parameters=(L, Parameter("fx", REAL, "f(x)"), Parameter("slope", REAL, "<gx, y-x>"), DISTANCE),
    hypotheses=(SMOOTH,),
    vectors=VectorLine(_descent, ({"L": "1"},)),
    sentence=VectorSentence(
        POINTS,
        {"value": "fy", "slope": "dot(gx, y - x)", "distance2": "norm2(y - x)", "fx": "fx"},
        ("fx", "fy"),
        TWO,
        multipliers={"f smooth(x,y)": "1"},
    ),
)
CLAIMS = (COCOERCIVE, NONEXPANSIVE, DESCENT)
