"""Consequences of smoothness and convexity, projections and proximal steps."""

from __future__ import annotations

from theory.claim import FunctionAt, Given, Hypothesis, Parameter, Quantity, Step, VectorLine, VectorSentence
from theory.domain import NONNEGATIVE
from theory.inequality.interpolation import Point, convex, smooth, smooth_convex, smooth_strongly_convex
from theory.inequality.vectors import Condition, Form, Space, Vector, inner, square
from theory.papers.textbook.words import (
    BAUSCHKE,
    CONVEX,
    CONVEX_SAMPLES,
    GRADIENT_PRODUCT,
    IMAGE_DISTANCE,
    JOHNSON_ZHANG,
    KARIMI,
    MODULI,
    NESTEROV,
    SMOOTH,
    SMOOTH_SAMPLES,
    SQUARED_GRADIENT,
    STRONGLY_CONVEX,
    UNBIASED,
    L,
    Values,
    distance2,
    fx,
    gap,
    gradient_distance2,
    mu,
    result,
    slope,
    t,
)

Built = tuple[Space, Condition, list[Condition]]


def two_points() -> tuple[Space, Point, Point]:
    """A function at x and at y."""
    space = Space(("x", "y", "gx", "gy"), ("fx", "fy"))
    x, y, g, h = space.vectors_of()
    return space, (x, g, space.value("fx")), (y, h, space.value("fy"))


def with_minimiser() -> tuple[Space, Point, Point]:
    """A function at x and at its minimiser, which is the origin."""
    space = Space(("x", "gx"), ("fx", "fmin"))
    x, g = space.vectors_of()
    return space, (x, g, space.value("fx")), (space.zero(), space.zero(), space.value("fmin"))


def descent_lemma(values: Values) -> Built:
    """f(y) <= f(x) + <g, y-x> + L/2 |y-x|^2."""
    space, one, other = two_points()
    (x, g, f), (y, _, e) = one, other
    smoothness = values["L"]
    claim = e <= f + inner(g, y - x) + smoothness / 2 * square(y - x)
    return space, claim, smooth(space, (one, other), smoothness)


def gradient_bound(values: Values) -> Built:
    """|g|^2 <= 2L (f(x) - f*), from smoothness at x and at y = x - g/L, where f(y) >= f*."""
    space = Space(("x", "gx", "gy"), ("fx", "fy", "fmin"))
    x, g, h = space.vectors_of()
    f, e, least = (space.value(name) for name in space.values)
    smoothness = values["L"]
    points = ((x, g, f), (x - g / smoothness, h, e))
    return space, square(g) <= 2 * smoothness * (f - least), [*smooth(space, points, smoothness), least <= e]


def convex_lower_bound(values: Values) -> Built:
    """f(y) >= f(x) + <g, y-x> + |gx-gy|^2/(2L), from convexity at x and smoothness at y, seen from a third point."""
    space = Space(("x", "y", "gx", "gy"), ("fx", "fy", "fz"))
    x, y, g, h = space.vectors_of()
    f, e, d = (space.value(name) for name in space.values)
    smoothness = values["L"]
    z = y - (h - g) / smoothness
    given = [d >= f + inner(g, z - x), d <= e + inner(h, z - y) + smoothness / 2 * square(z - y)]
    return space, e >= f + inner(g, y - x) + square(g - h) / (2 * smoothness), given


def cocoercive(values: Values) -> Built:
    """<gx-gy, x-y> >= |gx-gy|^2/L."""
    space, one, other = two_points()
    smoothness = values["L"]
    claim = inner(one[1] - other[1], one[0] - other[0]) >= square(one[1] - other[1]) / smoothness
    return space, claim, smooth_convex(space, (one, other), smoothness)


def strongly_cocoercive(values: Values) -> Built:
    """<gx-gy, x-y> >= mu L/(mu+L) |x-y|^2 + |gx-gy|^2/(mu+L)."""
    space, one, other = two_points()
    m, s = values["mu"], values["L"]
    (x, g, _), (y, h, _) = one, other
    claim = inner(g - h, x - y) >= m * s / (m + s) * square(x - y) + square(g - h) / (m + s)
    return space, claim, smooth_strongly_convex(space, (one, other), m, s)


def strongly_monotone(values: Values) -> Built:
    """<gx-gy, x-y> >= mu |x-y|^2."""
    space, one, other = two_points()
    (x, g, _), (y, h, _) = one, other
    return space, inner(g - h, x - y) >= values["mu"] * square(x - y), convex(space, (one, other), values["mu"])


def lojasiewicz(values: Values) -> Built:
    """|g|^2 >= 2 mu (f(x) - f*)."""
    space, one, least = with_minimiser()
    claim = square(one[1]) >= 2 * values["mu"] * (one[2] - least[2])
    return space, claim, convex(space, (one, least), values["mu"])


def quadratic_growth(values: Values) -> Built:
    """f(x) - f* >= mu/2 |x-x*|^2."""
    space, one, least = with_minimiser()
    claim = one[2] - least[2] >= values["mu"] / 2 * square(one[0])
    return space, claim, convex(space, (one, least), values["mu"])


def variance_transfer(values: Values) -> Built:
    """(1/3) sum_i |grad f_i(x) - grad f_i(x*)|^2 <= 2L (f(x) - f*) for three functions, x* = 0."""
    space = Space(("x", "g1", "g2", "g3", "h1", "h2"), ("f1", "f2", "f3", "e1", "e2", "e3"))
    x = space.vector("x")
    stars = [space.vector("h1"), space.vector("h2"), -space.vector("h1") - space.vector("h2")]
    left, right, given = Form(space), Form(space), []
    for i, star in enumerate(stars, start=1):
        g, f, e = space.vector(f"g{i}"), space.value(f"f{i}"), space.value(f"e{i}")
        given += smooth_convex(space, ((x, g, f), (space.zero(), star, e)), values["L"], f"f{i}")
        left, right = left + square(g - star) / 3, right + (f - e) / 3
    return space, left <= 2 * values["L"] * right, given


def _projected() -> tuple[Space, list[Vector], list[Condition]]:
    """x and y with their projections p and q on a convex set, and the obtuse angles that characterise these."""
    space = Space(("x", "y", "p", "q"))
    x, y, p, q = space.vectors_of()
    given = [inner(x - p, q - p) <= 0, inner(y - q, p - q) <= 0]
    return space, [x, y, p, q], given


def projection_nonexpansive(values: Values) -> Built:
    """|p-q|^2 <= |x-y|^2."""
    space, (x, y, p, q), given = _projected()
    return space, square(p - q) <= square(x - y), given


def projection_firm(values: Values) -> Built:
    """|p-q|^2 <= <p-q, x-y>."""
    space, (x, y, p, q), given = _projected()
    return space, square(p - q) <= inner(p - q, x - y), given


def projection_pythagoras(values: Values) -> Built:
    """|p-z|^2 <= |x-z|^2 - |x-p|^2 for z in the set."""
    space = Space(("x", "p", "z"))
    x, p, z = space.vectors_of()
    return space, square(p - z) <= square(x - z) - square(x - p), [inner(x - p, z - p) <= 0]


def obtuse_angle(values: Values) -> Built:
    """<x-p, z-p> <= t/2 |z-p|^2, as p is at least as near to x as p + t (z-p) is."""
    space = Space(("x", "p", "z"))
    x, p, z = space.vectors_of()
    step = values["t"]
    nearest = square(x - p) <= square(x - p - step * (z - p))
    return space, inner(x - p, z - p) <= step / 2 * square(z - p), [nearest]


def prox_firm(values: Values) -> Built:
    """|p-q|^2 <= <p-q, x-y> for p = prox(x), q = prox(y), with step t: (x-p)/t is a subgradient at p."""
    space = Space(("x", "y", "p", "q"), ("fp", "fq"))
    x, y, p, q = space.vectors_of()
    step = values["t"]
    points = ((p, (x - p) / step, space.value("fp")), (q, (y - q) / step, space.value("fq")))
    return space, square(p - q) <= inner(p - q, x - y), convex(space, points)


def lipschitz_gradient(values: Values) -> Built:
    """|gx-gy|^2 <= L^2 |x-y|^2 from convexity and upper bounds at four points."""
    space = Space(("x", "y", "gx", "gy"), ("fx", "fy", "fu", "fv"))
    x, y, g, h = space.vectors_of()
    f, e, a, b = (space.value(name) for name in space.values)
    s = values["L"]
    u, v = y - (h - g) / s, x - (g - h) / s
    given = [
        a >= f + inner(g, u - x),
        a <= e + inner(h, u - y) + s / 2 * square(u - y),
        b >= e + inner(h, v - y),
        b <= f + inner(g, v - x) + s / 2 * square(v - x),
    ]
    return space, square(g - h) <= s**2 * square(x - y), given


VALUE = Quantity("value", "f(y)", "f(y)")
SAMPLE_GRADIENT_DISTANCE = Quantity(
    "sample_gradient_distance",
    "E_i||grad f_i(x) - grad f_i(x*)||^2",
    r"\mathbb{E}_i\Vert\nabla f_i(x)-\nabla f_i(x^*)\Vert^2",
)
GAP = Quantity("gap", "f(x) - f*", "f(x)-f^*")
ANGLE = Quantity("angle", "<x - p, z - p>", r"\langle x-p,z-p\rangle")
TO_THE_SET = Quantity("to_the_set", "||p - z||^2", r"\Vert p-z\Vert^2")
EVERY_L = "these L; every L, by scaling f"
EVERY_MU = "these mu and L; every L, by scaling f"
ONE = ({"L": "1"}, {"L": "7/2"})
PAIRS = ({"mu": "1/10", "L": "1"}, {"mu": "1/2", "L": "1"}, {"mu": "1", "L": "1000"}, {"mu": "1", "L": "1"})
MODULUS = ({"mu": "1"}, {"mu": "1/10"})
CLOSED = Hypothesis(
    "closed convex set", "p = P(x) is the nearest point to x of a closed convex set, q = P(y) that to y"
)
IN_SET = Hypothesis("inside", "z lies in the set")
PROPER = Hypothesis("closed convex", "f is proper, closed and convex, p = prox(x) with step t, q = prox(y)")
MINIMUM = Hypothesis("minimum", "f is bounded below, and f* = inf f")

SEGMENT = Hypothesis("inside the segment", "t <= 1", relation="t <= 1")
UPPER = Hypothesis("upper bound", "the descent lemma's inequality holds at all pairs of points")
POINTS = ("x", "y", "gx", "gy")
TWO_POINTS = (FunctionAt("f", {"x": ("x", "gx", "fx"), "y": ("y", "gy", "fy")}),)
AT_MINIMISER = (FunctionAt("f", {"x": ("x", "gx", "fx"), "*": ("0", "0", "fmin")}),)
TWO_ANGLES = (
    Given("angle at p", (CLOSED,), "dot(x - p, q - p) <= 0"),
    Given("angle at q", (CLOSED,), "dot(y - q, p - q) <= 0"),
)

product_of_images = Parameter("product_of_images", NONNEGATIVE, "<p - q, x - y>")
to_x = Parameter("to_x", NONNEGATIVE, "||x - z||^2")
moved = Parameter("moved", NONNEGATIVE, "||x - p||^2")

STEPS_T = ({"t": "1"}, {"t": "1/8"}, {"t": "1/1000"})

CLAIMS = (
    result(
        "descent-lemma",
        "descent lemma",
        "f(y) <= f(x) + <grad f(x), y-x> + L/2 ||y-x||^2, convex or not.",
        r"f(y)\leq f(x)+\langle\nabla f(x),y-x\rangle+\frac{L}{2}\Vert y-x\Vert^2",
        VALUE,
        f"{NESTEROV}, Lemma 1.2.3",
        parameters=(L, fx, slope, distance2),
        hypotheses=(SMOOTH,),
        relation="<=",
        right="fx + slope + L/2*distance2",
        vectors=VectorLine(descent_lemma, ONE, EVERY_L),
        sentence=VectorSentence(
            POINTS,
            {"value": "fy", "slope": "dot(gx, y - x)", "distance2": "norm2(y - x)", "fx": "fx"},
            ("fx", "fy"),
            TWO_POINTS,
            multipliers={"f smooth(x,y)": "1"},
        ),
    ),
    result(
        "gradient-bound",
        "the gradient is small where the value is",
        "||grad f(x)||^2 <= 2 L (f(x) - f*), convex or not.",
        SQUARED_GRADIENT.latex + r"\leq 2L(f(x)-f^*)",
        SQUARED_GRADIENT,
        f"{NESTEROV}, Theorem 2.1.5, (2.1.10) at a minimiser, for convex f; without it by the descent lemma at "
        "x - grad f(x)/L",
        parameters=(L, gap),
        hypotheses=(SMOOTH, MINIMUM),
        relation="<=",
        right="2*L*gap",
        vectors=VectorLine(gradient_bound, ONE, EVERY_L),
        sentence=VectorSentence(
            ("x", "gx", "gy"),
            {"squared_gradient": "norm2(gx)", "gap": "fx - fmin"},
            ("fx", "fy", "fmin"),
            (FunctionAt("f", {"x": ("x", "gx", "fx"), "y": ("x - gx/L", "gy", "fy")}),),
            (Given("f* at x - grad f(x)/L", (MINIMUM,), "fmin <= fy"),),
            {"f smooth(x,y)": "2*L", "f* at x - grad f(x)/L": "2*L"},
        ),
    ),
    result(
        "convex-lower-bound",
        "convexity and smoothness in one inequality",
        "f(y) >= f(x) + <grad f(x), y-x> + ||grad f(x) - grad f(y)||^2/(2L).",
        r"f(y)\geq f(x)+\langle\nabla f(x),y-x\rangle+\frac{1}{2L}\Vert\nabla f(x)-\nabla f(y)\Vert^2",
        VALUE,
        f"{NESTEROV}, Theorem 2.1.5, (2.1.10)",
        relation=">=",
        parameters=(L, fx, slope, gradient_distance2),
        hypotheses=(SMOOTH, CONVEX),
        right="fx + slope + gradient_distance2/(2*L)",
        vectors=VectorLine(convex_lower_bound, ONE, EVERY_L),
        sentence=VectorSentence(
            ("x", "y", "gx", "gy", "gz"),
            {"value": "fy", "fx": "fx", "slope": "dot(gx, y - x)", "gradient_distance2": "norm2(gx - gy)"},
            ("fx", "fy", "fz"),
            (FunctionAt("f", {**TWO_POINTS[0].points, "z": ("y - (gy - gx)/L", "gz", "fz")}),),
            multipliers={"f convex(z,x)": "1", "f smooth(y,z)": "1"},
        ),
    ),
    result(
        "cocoercivity",
        "gradients of smooth convex functions are cocoercive (Baillon and Haddad)",
        "<grad f(x) - grad f(y), x-y> >= ||grad f(x) - grad f(y)||^2/L.",
        GRADIENT_PRODUCT.latex + r"\geq\frac{1}{L}\Vert\nabla f(x)-\nabla f(y)\Vert^2",
        GRADIENT_PRODUCT,
        f"{NESTEROV}, Theorem 2.1.5, (2.1.11)",
        relation=">=",
        parameters=(L, gradient_distance2),
        hypotheses=(SMOOTH, CONVEX),
        right="gradient_distance2/L",
        vectors=VectorLine(cocoercive, ONE, EVERY_L),
        sentence=VectorSentence(
            POINTS,
            {"gradient_product": "dot(gx - gy, x - y)", "gradient_distance2": "norm2(gx - gy)"},
            ("fx", "fy"),
            TWO_POINTS,
            multipliers={"f smooth convex(x,y)": "1", "f smooth convex(y,x)": "1"},
        ),
    ),
    result(
        "strong-cocoercivity",
        "gradients of smooth strongly convex functions",
        "<grad f(x) - grad f(y), x-y> >= mu L/(mu+L) ||x-y||^2 + ||grad f(x) - grad f(y)||^2/(mu+L).",
        GRADIENT_PRODUCT.latex
        + r"\geq\frac{\mu L}{\mu+L}\Vert x-y\Vert^2+\frac{1}{\mu+L}\Vert\nabla f(x)-\nabla f(y)\Vert^2",
        GRADIENT_PRODUCT,
        f"{NESTEROV}, Theorem 2.1.12",
        relation=">=",
        parameters=(mu, L, distance2, gradient_distance2),
        hypotheses=(SMOOTH, STRONGLY_CONVEX, MODULI),
        right="mu*L/(mu+L)*distance2 + gradient_distance2/(mu+L)",
        vectors=VectorLine(strongly_cocoercive, PAIRS, EVERY_MU),
        sentence=VectorSentence(
            POINTS,
            {
                "gradient_product": "dot(gx - gy, x - y)",
                "gradient_distance2": "norm2(gx - gy)",
                "distance2": "norm2(x - y)",
            },
            ("fx", "fy"),
            TWO_POINTS,
            multipliers=dict.fromkeys(("f smooth strongly convex(x,y)", "f smooth strongly convex(y,x)"), "1/(mu + L)"),
        ),
    ),
    result(
        "strong-monotonicity",
        "gradients of strongly convex functions are strongly monotone",
        "<grad f(x) - grad f(y), x-y> >= mu ||x-y||^2.",
        GRADIENT_PRODUCT.latex + r"\geq\mu\Vert x-y\Vert^2",
        GRADIENT_PRODUCT,
        f"{NESTEROV}, Theorem 2.1.9",
        relation=">=",
        parameters=(mu, distance2),
        hypotheses=(STRONGLY_CONVEX,),
        right="mu*distance2",
        vectors=VectorLine(strongly_monotone, MODULUS, "these mu; every mu, by scaling f"),
        sentence=VectorSentence(
            POINTS,
            {"gradient_product": "dot(gx - gy, x - y)", "distance2": "norm2(x - y)"},
            ("fx", "fy"),
            TWO_POINTS,
            multipliers={"f strongly convex(x,y)": "1", "f strongly convex(y,x)": "1"},
        ),
    ),
    result(
        "polyak-lojasiewicz",
        "strong convexity implies the Polyak-Lojasiewicz inequality",
        "||grad f(x)||^2 >= 2 mu (f(x) - f*).",
        SQUARED_GRADIENT.latex + r"\geq 2\mu(f(x)-f^*)",
        SQUARED_GRADIENT,
        f"{NESTEROV}, Theorem 2.1.10; {KARIMI}, Theorem 2",
        relation=">=",
        parameters=(mu, gap),
        hypotheses=(STRONGLY_CONVEX,),
        right="2*mu*gap",
        vectors=VectorLine(lojasiewicz, MODULUS, "these mu; every mu, by scaling f"),
        sentence=VectorSentence(
            ("x", "gx"),
            {"squared_gradient": "norm2(gx)", "gap": "fx - fmin"},
            ("fx", "fmin"),
            AT_MINIMISER,
            multipliers={"f strongly convex(*,x)": "2*mu"},
        ),
    ),
    result(
        "quadratic-growth",
        "quadratic growth",
        "f(x) - f* >= mu/2 ||x-x*||^2.",
        r"f(x)-f^*\geq\frac{\mu}{2}\Vert x-x^*\Vert^2",
        GAP,
        f"{NESTEROV}, Theorem 2.1.8",
        relation=">=",
        parameters=(mu, distance2),
        hypotheses=(STRONGLY_CONVEX,),
        right="mu/2*distance2",
        vectors=VectorLine(quadratic_growth, MODULUS, "these mu; every mu, by scaling f"),
        sentence=VectorSentence(
            ("x", "gx"),
            {"gap": "fx - fmin", "distance2": "norm2(x)"},
            ("fx", "fmin"),
            AT_MINIMISER,
            multipliers={"f strongly convex(x,*)": "1"},
        ),
    ),
    result(
        "variance-transfer",
        "sampled gradients are near those at the minimiser where the value is small",
        "f = (1/n) sum_i f_i: E_i||grad f_i(x) - grad f_i(x*)||^2 <= 2 L (f(x) - f*).",
        SAMPLE_GRADIENT_DISTANCE.latex + r"\leq 2L(f(x)-f^*)",
        SAMPLE_GRADIENT_DISTANCE,
        f"{JOHNSON_ZHANG}, (8)",
        parameters=(L, gap),
        hypotheses=(SMOOTH_SAMPLES, CONVEX_SAMPLES, UNBIASED),
        relation="<=",
        right="2*L*gap",
        vectors=VectorLine(
            variance_transfer,
            ({"L": "1"},),
            "three functions; any number, as it is an average over them; every L, by scaling",
        ),
        sentence=VectorSentence(
            ("x", "g", "h"),
            {"sample_gradient_distance": "norm2(g - h)", "gap": "fx - fmin"},
            ("fx", "fmin"),
            (FunctionAt("f_i", {"x": ("x", "g", "fx"), "*": ("0", "h", "fmin")}, "sample"),),
            (Given("E grad f_i(x*) = 0", (UNBIASED,), "dot(h, x) == 0"),),
            {"f_i smooth convex(x,*)": "2*L", "E grad f_i(x*) = 0": "-2*L"},
        ),
    ),
    result(
        "projection-angle",
        "the angle at a projection is obtuse",
        "p nearest to x in a convex set, z in it: <x-p, z-p> <= t/2 ||z-p||^2 for every t in (0,1], hence <= 0.",
        ANGLE.latex + r"\leq\frac{t}{2}\Vert z-p\Vert^2",
        ANGLE,
        f"{BAUSCHKE}, Theorem 3.16 and its proof",
        kind="theorem",
        parameters=(t, distance2),
        hypotheses=(CLOSED, IN_SET, SEGMENT),
        relation="<=",
        right="t/2*distance2",
        vectors=VectorLine(obtuse_angle, STEPS_T, "these t; every t in (0,1] by the proof's line"),
        steps=(
            Step(
                "multiplied out",
                r"\Vert x-p-t(z-p)\Vert^2-\Vert x-p\Vert^2",
                "=",
                r"2t(\frac{t}{2}\Vert z-p\Vert^2-\langle x-p,z-p\rangle)",
                "identity",
                "the left side is not negative, since p + t (z-p) lies in the set",
                identity=("(xp - 2*t*angle + t**2*distance2) - xp", "2*t*(t/2*distance2 - angle)"),
            ),
        ),
        sentence=VectorSentence(
            ("x", "p", "z"),
            {"angle": "dot(x - p, z - p)", "distance2": "norm2(z - p)"},
            given=(Given("p + t (z-p)", (CLOSED, IN_SET, SEGMENT), "norm2(x - p) <= norm2(x - p - t*(z - p))"),),
            multipliers={"p + t (z-p)": "1/(2*t)"},
        ),
    ),
    result(
        "projection-nonexpansive",
        "projections are nonexpansive",
        "||P(x) - P(y)||^2 <= ||x-y||^2.",
        r"\Vert P(x)-P(y)\Vert^2\leq\Vert x-y\Vert^2",
        IMAGE_DISTANCE,
        f"{BAUSCHKE}, Proposition 4.16",
        parameters=(distance2,),
        hypotheses=(CLOSED,),
        relation="<=",
        right="distance2",
        vectors=VectorLine(projection_nonexpansive, scope="every closed convex set"),
        sentence=VectorSentence(
            ("x", "y", "p", "q"), {"image_distance": "norm2(p - q)", "distance2": "norm2(x - y)"}, given=TWO_ANGLES
        ),
    ),
    result(
        "projection-firm",
        "projections are firmly nonexpansive",
        "||P(x) - P(y)||^2 <= <P(x) - P(y), x-y>.",
        r"\Vert P(x)-P(y)\Vert^2\leq\langle P(x)-P(y),x-y\rangle",
        IMAGE_DISTANCE,
        f"{BAUSCHKE}, Proposition 4.16",
        parameters=(product_of_images,),
        hypotheses=(CLOSED,),
        relation="<=",
        right="product_of_images",
        vectors=VectorLine(projection_firm, scope="every closed convex set"),
        sentence=VectorSentence(
            ("x", "y", "p", "q"),
            {"image_distance": "norm2(p - q)", "product_of_images": "dot(p - q, x - y)"},
            given=TWO_ANGLES,
        ),
    ),
    result(
        "projection-pythagoras",
        "a projection brings every point of the set nearer",
        "p = P(x), z in the set: ||p-z||^2 <= ||x-z||^2 - ||x-p||^2.",
        r"\Vert p-z\Vert^2\leq\Vert x-z\Vert^2-\Vert x-p\Vert^2",
        TO_THE_SET,
        f"{NESTEROV}, Lemma 2.2.8",
        parameters=(to_x, moved),
        hypotheses=(CLOSED, IN_SET),
        relation="<=",
        right="to_x - moved",
        vectors=VectorLine(projection_pythagoras, scope="every closed convex set"),
        sentence=VectorSentence(
            ("x", "p", "z"),
            {"to_the_set": "norm2(p - z)", "to_x": "norm2(x - z)", "moved": "norm2(x - p)"},
            given=(Given("angle at p", (CLOSED, IN_SET), "dot(x - p, z - p) <= 0"),),
        ),
    ),
    result(
        "prox-firm",
        "proximal steps are firmly nonexpansive",
        "p = prox(x), q = prox(y): ||p-q||^2 <= <p-q, x-y>, hence ||p-q|| <= ||x-y||.",
        r"\Vert p-q\Vert^2\leq\langle p-q,x-y\rangle",
        IMAGE_DISTANCE,
        f"{BAUSCHKE}, Proposition 12.28",
        parameters=(product_of_images,),
        hypotheses=(PROPER,),
        relation="<=",
        right="product_of_images",
        vectors=VectorLine(prox_firm, STEPS_T[:2], "these steps; every step, by scaling f"),
        sentence=VectorSentence(
            ("x", "y", "p", "q"),
            {"image_distance": "norm2(p - q)", "product_of_images": "dot(p - q, x - y)"},
            given=(
                Given("t times a subgradient at p", (PROPER,), "tfq >= tfp + dot(x - p, q - p)"),
                Given("t times a subgradient at q", (PROPER,), "tfp >= tfq + dot(y - q, p - q)"),
            ),
            values=("tfp", "tfq"),
        ),
    ),
    result(
        "gradient-lipschitz-convex",
        "convexity and the descent lemma give Lipschitz gradients",
        "f convex with f(y) <= f(x) + <grad f(x), y-x> + L/2 ||y-x||^2 everywhere: "
        "||grad f(x) - grad f(y)||^2 <= L^2 ||x-y||^2.",
        r"\Vert\nabla f(x)-\nabla f(y)\Vert^2\leq L^2\Vert x-y\Vert^2",
        Quantity("gradient_distance", "||grad f(x) - grad f(y)||^2", r"\Vert\nabla f(x)-\nabla f(y)\Vert^2"),
        f"{NESTEROV}, Theorem 2.1.5",
        kind="theorem",
        parameters=(L, distance2),
        hypotheses=(CONVEX, UPPER),
        relation="<=",
        right="L**2*distance2",
        vectors=VectorLine(lipschitz_gradient, ONE, EVERY_L),
        sentence=VectorSentence(
            ("x", "y", "gx", "gy", "gu", "gv"),
            {"gradient_distance": "norm2(gx - gy)", "distance2": "norm2(x - y)"},
            ("fx", "fy", "fu", "fv"),
            (
                FunctionAt(
                    "f",
                    {
                        **TWO_POINTS[0].points,
                        "u": ("y - (gy - gx)/L", "gu", "fu"),
                        "v": ("x - (gx - gy)/L", "gv", "fv"),
                    },
                ),
            ),
            (
                Given("above at u", (UPPER,), "fu <= fy + dot(gy, gx - gy)/L + norm2(gx - gy)/(2*L)"),
                Given("above at v", (UPPER,), "fv <= fx + dot(gx, gy - gx)/L + norm2(gx - gy)/(2*L)"),
            ),
            dict.fromkeys(("f convex(u,x)", "f convex(v,y)", "above at u", "above at v"), "2*L"),
        ),
    ),
)
