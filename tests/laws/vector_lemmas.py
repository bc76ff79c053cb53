"""Lemmas about vectors that are false, each beside the true one that it was made from: a paper in a file of one's own.

Every label of a false lemma ends in ``-wrong``; without that it is the label of its true neighbour, where it has one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from theory import Convex, Hypothesis, Paper, Smooth, StronglyConvex
from theory.claim import Claim, Parameter, Quantity, VectorLine
from theory.domain import NONNEGATIVE, POSITIVE
from theory.inequality.interpolation import convex, smooth, smooth_convex, smooth_strongly_convex
from theory.inequality.vectors import Space, inner, square

Values = Mapping[str, Fraction]
L = Parameter("L", POSITIVE, "Lipschitz constant of the gradient")
MU = Parameter("mu", POSITIVE, "strong convexity")
C = Parameter("c", POSITIVE, "any positive number")
SMOOTH = Hypothesis("smooth", "the gradient of f is L-Lipschitz", assumption=Smooth("L"))
CONVEX = Hypothesis("convex", "f is convex", assumption=Convex("client"))
STRONG = Hypothesis("strongly convex", "f is mu-strongly convex", assumption=StronglyConvex("mu"))
ORDER = Hypothesis("order", "mu <= L", relation="mu <= L")
SET = Hypothesis("projection", "p and q are the projections of x and y to a closed convex set")
ONE, SOME = ({"L": "1"}, {"L": "3"}), ({"c": "1/3"}, {"c": "2"})
BOTH = ({"mu": "1/2", "L": "2"},)


def pair() -> tuple[Any, ...]:
    """a and b."""
    space = Space(("a", "b"))
    return space, *space.vectors_of()


def points() -> tuple[Any, ...]:
    """A function at x and at y."""
    space = Space(("x", "y", "gx", "gy"), ("fx", "fy"))
    x, y, g, h = space.vectors_of()
    return space, (x, g, space.value("fx")), (y, h, space.value("fy"))


def jensen(turned: bool) -> Callable[[Values], Any]:
    def build(values: Values) -> Any:
        space, a, b = pair()
        left, right = square((a + b) / 2), (square(a) + square(b)) / 2
        return space, right <= left if turned else left <= right, []

    return build


def young(inverse: bool) -> Callable[[Values], Any]:
    def build(values: Values) -> Any:
        space, a, b = pair()
        c = values["c"]
        first, second = (1 / c, 1 / c) if inverse else (c, 1 / c)
        return space, inner(a, b) <= first / 2 * square(a) + second / 2 * square(b), []

    return build


def relaxed(second: Fraction | None) -> Callable[[Values], Any]:
    def build(values: Values) -> Any:
        space, a, b = pair()
        c = values["c"]
        return space, square(a + b) <= (1 + c) * square(a) + (1 + (second or 1 / c)) * square(b), []

    return build


def equality(inequality: bool) -> Callable[[Values], Any]:
    def build(values: Values) -> Any:
        space, a, b = pair()
        left, right = square(a + b), 2 * square(a) + 2 * square(b)
        return space, left <= right if inequality else left.equals(right), []

    return build


def three(factor: int) -> Callable[[Values], Any]:
    def build(values: Values) -> Any:
        space = Space(("a", "b", "c"))
        a, b, c = space.vectors_of()
        return space, square(a + b + c) <= factor * (square(a) + square(b) + square(c)), []

    return build


def cocoercive(is_convex: bool) -> Callable[[Values], Any]:
    def build(values: Values) -> Any:
        space, one, other = points()
        said = inner(one[1] - other[1], one[0] - other[0]) >= square(one[1] - other[1]) / values["L"]
        return space, said, (smooth_convex if is_convex else smooth)(space, (one, other), values["L"])

    return build


def descent(factor: Fraction) -> Callable[[Values], Any]:
    def build(values: Values) -> Any:
        space, one, other = points()
        (x, g, f), (y, _, e) = one, other
        said = e <= f + inner(g, y - x) + factor * values["L"] * square(y - x)
        return space, said, smooth(space, (one, other), values["L"])

    return build


def lipschitz(factor: Fraction) -> Callable[[Values], Any]:
    def build(values: Values) -> Any:
        space, one, other = points()
        said = square(one[1] - other[1]) <= factor * values["L"] ** 2 * square(one[0] - other[0])
        return space, said, smooth(space, (one, other), values["L"])

    return build


def above_tangent(sign: int) -> Callable[[Values], Any]:
    def build(values: Values) -> Any:
        space, one, other = points()
        (x, g, f), (y, _, e) = one, other
        said = e >= f + inner(g, y - x) if sign > 0 else e <= f + inner(g, y - x)
        return space, said, convex(space, (one, other))

    return build


def growth(factor: int) -> Callable[[Values], Any]:
    def build(values: Values) -> Any:
        space, one, other = points()
        (x, g, _), (y, h, _) = one, other
        said = inner(g - h, x - y) >= factor * values["mu"] * square(x - y)
        return space, said, smooth_strongly_convex(space, (one, other), values["mu"], values["L"])

    return build


def step(factor: Fraction) -> Callable[[Values], Any]:
    """One gradient step from both points, of length factor/L, brings them no farther apart."""

    def build(values: Values) -> Any:
        space, one, other = points()
        (x, g, _), (y, h, _) = one, other
        length = factor / values["L"]
        said = square((x - length * g) - (y - length * h)) <= square(x - y)
        return space, said, smooth_convex(space, (one, other), values["L"])

    return build


def projected(factor: Fraction, firm: bool) -> Callable[[Values], Any]:
    def build(values: Values) -> Any:
        space = Space(("x", "y", "p", "q"))
        x, y, p, q = space.vectors_of()
        given = [(inner(x - p, q - p) <= 0).named("p nearest"), (inner(y - q, p - q) <= 0).named("q nearest")]
        return space, square(p - q) <= factor * (inner(p - q, x - y) if firm else square(x - y)), given

    return build


def bounded(factor: Fraction) -> Callable[[Values], Any]:
    """|a + b|^2 <= factor, for a and b in the unit ball."""

    def build(values: Values) -> Any:
        space, a, b = pair()
        given = [(square(v) <= 1).named(f"{name} in the ball") for v, name in ((a, "a"), (b, "b"))]
        return space, square(a + b) <= factor, given

    return build


def lemma(
    label: str,
    statement: str,
    right: str,
    build: Callable[[Values], Any],
    *hypotheses: Hypothesis,
    settings: Any = ({},),
    relation: Any = "<=",
    parameters: tuple[Parameter, ...] = (),
) -> Claim:
    """A lemma whose left side and measured numbers are named as in its statement."""
    return Claim(
        id=f"lemmas/{label}",
        kind="lemma",
        title=label,
        equation=label,
        statement=statement,
        latex="",
        quantity=Quantity("left", statement.split(" <= ")[0].split(" = ")[0].split(" >= ")[0], ""),
        source="written for a test",
        parameters=(*parameters, Parameter("m", NONNEGATIVE, right)),
        hypotheses=hypotheses,
        right="m",
        relation=relation,
        vectors=VectorLine(build, settings, "these numbers"),
    )


def both(
    label: str,
    true: tuple[str, str, Any],
    false: tuple[str, str, Any],
    *hypotheses: Hypothesis,
    without: Hypothesis | None = None,
    relations: tuple[Any, Any] = ("<=", "<="),
    **more: Any,
) -> list[Claim]:
    """A true lemma and a false one; the false one may lack a hypothesis, or have another relation."""
    less = [h for h in hypotheses if h is not without]
    return [
        lemma(label, *true, *hypotheses, relation=relations[0], **more),
        lemma(f"{label}-wrong", *false, *less, relation=relations[1], **more),
    ]


F = Fraction
CLAIMS = (
    *both(
        "jensen",
        ("||(a+b)/2||^2 <= (||a||^2+||b||^2)/2", "(||a||^2+||b||^2)/2", jensen(False)),
        ("(||a||^2+||b||^2)/2 <= ||(a+b)/2||^2", "||(a+b)/2||^2", jensen(True)),
    ),
    *both(
        "young",
        ("<a,b> <= c/2 ||a||^2 + ||b||^2/(2c)", "c/2 ||a||^2 + ||b||^2/(2c)", young(False)),
        ("<a,b> <= 1/(2c) ||a||^2 + ||b||^2/(2c)", "1/(2c) ||a||^2 + ||b||^2/(2c)", young(True)),
        settings=SOME, parameters=(C,),
    ),
    *both(
        "relaxed",
        ("||a+b||^2 <= (1+c)||a||^2 + (1+1/c)||b||^2", "(1+c)||a||^2 + (1+1/c)||b||^2", relaxed(None)),
        ("||a+b||^2 <= (1+c)||a||^2 + (5/4)||b||^2", "(1+c)||a||^2 + (5/4)||b||^2", relaxed(F(1, 4))),
        settings=SOME, parameters=(C,),
    ),
    *both(
        "sum-of-two",
        ("||a+b||^2 <= 2||a||^2 + 2||b||^2", "2||a||^2 + 2||b||^2", equality(True)),
        ("||a+b||^2 = 2||a||^2 + 2||b||^2", "2||a||^2 + 2||b||^2", equality(False)),
        relations=("<=", "="),
    ),
    *both(
        "sum-of-three",
        ("||a+b+c||^2 <= 3(||a||^2+||b||^2+||c||^2)", "3(||a||^2+||b||^2+||c||^2)", three(3)),
        ("||a+b+c||^2 <= 2(||a||^2+||b||^2+||c||^2)", "2(||a||^2+||b||^2+||c||^2)", three(2)),
    ),
    *both(
        "cocoercive",
        ("<gx-gy,x-y> >= ||gx-gy||^2/L", "||gx-gy||^2/L", cocoercive(True)),
        ("<gx-gy,x-y> >= ||gx-gy||^2/L", "||gx-gy||^2/L", cocoercive(False)),
        SMOOTH, CONVEX, without=CONVEX, settings=ONE, parameters=(L,), relations=(">=", ">="),
    ),
    *both(
        "descent",
        ("f(y) <= f(x) + <gx,y-x> + L/2 ||y-x||^2", "f(x) + <gx,y-x> + L/2 ||y-x||^2", descent(F(1, 2))),
        ("f(y) <= f(x) + <gx,y-x> + L/4 ||y-x||^2", "f(x) + <gx,y-x> + L/4 ||y-x||^2", descent(F(1, 4))),
        SMOOTH, settings=ONE, parameters=(L,),
    ),
    *both(
        "lipschitz",
        ("||gx-gy||^2 <= L^2 ||x-y||^2", "L^2 ||x-y||^2", lipschitz(F(1))),
        ("||gx-gy||^2 <= (8/9) L^2 ||x-y||^2", "(8/9) L^2 ||x-y||^2", lipschitz(F(8, 9))),
        SMOOTH, settings=ONE, parameters=(L,),
    ),
    *both(
        "above-the-tangent",
        ("f(y) >= f(x) + <gx,y-x>", "f(x) + <gx,y-x>", above_tangent(1)),
        ("f(y) <= f(x) + <gx,y-x>", "f(x) + <gx,y-x>", above_tangent(-1)),
        CONVEX, relations=(">=", "<="),
    ),
    *both(
        "strongly-monotone",
        ("<gx-gy,x-y> >= mu ||x-y||^2", "mu ||x-y||^2", growth(1)),
        ("<gx-gy,x-y> >= 2 mu ||x-y||^2", "2 mu ||x-y||^2", growth(2)),
        SMOOTH, STRONG, ORDER, settings=BOTH, parameters=(MU, L), relations=(">=", ">="),
    ),
    *both(
        "step",
        ("||x-2gx/L-y+2gy/L||^2 <= ||x-y||^2", "||x-y||^2", step(F(2))),
        ("||x-3gx/L-y+3gy/L||^2 <= ||x-y||^2", "||x-y||^2", step(F(3))),
        SMOOTH, CONVEX, settings=ONE, parameters=(L,),
    ),
    *both(
        "projection",
        ("||p-q||^2 <= ||x-y||^2", "||x-y||^2", projected(F(1), False)),
        ("||p-q||^2 <= (1/2)||x-y||^2", "(1/2)||x-y||^2", projected(F(1, 2), False)),
        SET,
    ),
    *both(
        "firm-projection",
        ("||p-q||^2 <= <p-q,x-y>", "<p-q,x-y>", projected(F(1), True)),
        ("||p-q||^2 <= (9/10)<p-q,x-y>", "(9/10)<p-q,x-y>", projected(F(9, 10), True)),
        SET,
    ),
    *both(
        "ball",
        ("||a+b||^2 <= 4", "4", bounded(F(4))),
        ("||a+b||^2 <= 3", "3", bounded(F(3))),
        Hypothesis("ball", "a and b are in the unit ball"),
    ),
)  # fmt: skip
FALSE = tuple(c.label for c in CLAIMS if c.label.endswith("-wrong"))
PAPER = Paper("lemmas", "Lemmas about vectors, true and false", "a reader", CLAIMS)
