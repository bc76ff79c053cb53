"""Gradient, subgradient and proximal methods."""

from __future__ import annotations

from theory.claim import FunctionAt, Hypothesis, Parameter, Quantity, VectorLine, VectorSentence
from theory.domain import NONNEGATIVE
from theory.inequality.interpolation import Point, convex, smooth, smooth_convex, smooth_strongly_convex
from theory.inequality.vectors import Condition, Form, Space, square
from theory.papers.textbook.words import (
    BAUSCHKE,
    COMPOSITE,
    CONVEX,
    G2,
    IMAGE_DISTANCE,
    KARIMI,
    MEAN_SQUARED_GRADIENT_NORM,
    MODULI,
    NESTEROV,
    R2,
    SMOOTH,
    STEP_1,
    STEP_2,
    STRONGLY_CONVEX,
    SUBOPTIMALITY,
    K,
    L,
    Values,
    delta,
    distance2,
    f0_gap,
    gradient2,
    k,
    mu,
    result,
)

Built = tuple[Space, Condition, list[Condition]]


def _descent(values: Values, steps: int) -> tuple[Space, list[Point], Point]:
    """x_0 to x_K of gradient steps, and the minimiser, which is the origin."""
    space = Space(("x", *[f"g{i}" for i in range(steps + 1)]), (*[f"f{i}" for i in range(steps + 1)], "fmin"))
    x, points = space.vector("x"), []
    for i in range(steps + 1):
        points.append((x, space.vector(f"g{i}"), space.value(f"f{i}")))
        x = x - values["delta"] * space.vector(f"g{i}")
    return space, points, (space.zero(), space.zero(), space.value("fmin"))


def contraction(values: Values) -> Built:
    """|T x - T y|^2 <= max((1-delta mu)^2, (1-delta L)^2) |x-y|^2 for T = id - delta grad f."""
    space = Space(("x", "y", "gx", "gy"), ("fx", "fy"))
    x, y, g, h = space.vectors_of()
    step, m, s = values["delta"], values.get("mu", 0), values["L"]
    factor = max((1 - step * m) ** 2, (1 - step * s) ** 2)
    points = ((x, g, space.value("fx")), (y, h, space.value("fy")))
    claim = square(x - step * g - (y - step * h)) <= factor * square(x - y)
    return space, claim, smooth_strongly_convex(space, points, m, s)


def sufficient_decrease(values: Values) -> Built:
    """f(x - delta g) <= f(x) - delta (1 - L delta/2) |g|^2."""
    space, (one, other), _ = _descent(values, 1)
    step, s = values["delta"], values["L"]
    claim = other[2] <= one[2] - step * (1 - s * step / 2) * square(one[1])
    return space, claim, smooth(space, (one, other), s)


def average_gradient(values: Values) -> Built:
    """sum_{k<K} |g_k|^2 <= (f_0 - f*)/(delta (1 - L delta/2)), with f_K >= f*."""
    steps = int(values["K"])
    space, points, least = _descent(values, steps)
    step, s = values["delta"], values["L"]
    total = sum([square(g) for _, g, _ in points[:-1]], Form(space))
    claim = total / steps <= (points[0][2] - least[2]) / (steps * step * (1 - s * step / 2))
    return space, claim, [*smooth(space, points, s), least[2] <= points[-1][2]]


def linear_rate(values: Values) -> Built:
    """f(x_k) - f* <= (1 - delta mu)^k (f(x_0) - f*)."""
    steps = int(values["k"])
    space, points, least = _descent(values, steps)
    factor = (1 - values["delta"] * values["mu"]) ** steps
    claim = points[-1][2] - least[2] <= factor * (points[0][2] - least[2])
    return space, claim, smooth_strongly_convex(space, [*points, least], values["mu"], values["L"])


def tight_rate(values: Values) -> Built:
    """f(x_k) - f* <= L |x_0-x*|^2/(4 k L delta + 2)."""
    steps = int(values["k"])
    space, points, least = _descent(values, steps)
    s = values["L"]
    claim = points[-1][2] - least[2] <= s * square(points[0][0]) / (4 * steps * s * values["delta"] + 2)
    return space, claim, smooth_convex(space, [*points, least], s)


def subgradient(values: Values) -> Built:
    """(1/K) sum_{k<K} (f(x_k) - f*) <= R2/(2 delta K) + delta G2/2."""
    steps, step = int(values["K"]), values["delta"]
    space, points, least = _descent(values, steps)
    points = points[:-1]
    average = sum([f - least[2] for _, _, f in points], Form(space)) / steps
    claim = average <= square(points[0][0]) / (2 * step * steps) + step / 2 * values["G2"]
    given = [*convex(space, [*points, least]), *[square(g) <= values["G2"] for _, g, _ in points]]
    return space, claim, given


def proximal_point(values: Values) -> Built:
    """f(x_k) - f* <= R2/(4 k delta) for x_{i+1} = x_i - delta g_{i+1}, g_{i+1} a subgradient at x_{i+1}."""
    steps, step = int(values["k"]), values["delta"]
    space = Space(("x", *[f"g{i}" for i in range(1, steps + 1)]), (*[f"f{i}" for i in range(1, steps + 1)], "fmin"))
    x, points = space.vector("x"), []
    for i in range(1, steps + 1):
        x = x - step * space.vector(f"g{i}")
        points.append((x, space.vector(f"g{i}"), space.value(f"f{i}")))
    least = (space.zero(), space.zero(), space.value("fmin"))
    claim = points[-1][2] - least[2] <= square(space.vector("x")) / (4 * steps * step)
    return space, claim, convex(space, [*points, least])


NEXT_VALUE = Quantity("next_value", "f(x - delta grad f(x))", r"f(x-\delta\nabla f(x))")
MEAN_SUBOPTIMALITY = Quantity(
    "mean_suboptimality", "average over k=0..K-1 of E f(x_k) - f*", r"\frac{1}{K}\sum_{k=0}^{K-1}\mathbb{E}f(x_k)-f^*"
)

cost = Parameter("cost", NONNEGATIVE, "f(x)")

BELOW_2 = Hypothesis("step size", "delta < 2/L", relation="delta < 2/L")

SCALED = "these delta L; every L, by scaling f"
SCALED_2 = "these delta L and mu/L; every L, by scaling f"


def _each(name: str, values: tuple[str, ...], **fixed: str) -> tuple[dict[str, str], ...]:
    return tuple({**fixed, name: value} for value in values)


CLAIMS = (
    result(
        "gradient-step-contraction",
        "a gradient step contracts",
        "T = id - delta grad f: ||T x - T y||^2 <= max((1-delta mu)^2, (1-delta L)^2) ||x-y||^2.",
        IMAGE_DISTANCE.latex + r"\leq\max\{(1-\delta\mu)^2,(1-\delta L)^2\}\Vert x-y\Vert^2",
        IMAGE_DISTANCE,
        "Polyak, Introduction to Optimization (1987), section 1.4, Theorem 3; Taylor, Hendrickx, Glineur, "
        "J. Optim. Theory Appl. 178 (2018), Theorem 2.1",
        kind="theorem",
        parameters=(delta, mu, L, distance2),
        hypotheses=(SMOOTH, STRONGLY_CONVEX, MODULI),
        relation="<=",
        right="max((1-delta*mu)**2, (1-delta*L)**2)*distance2",
        vectors=VectorLine(contraction, _each("delta", ("1/2", "20/11", "1", "3"), mu="1/10", L="1"), SCALED_2),
    ),
    result(
        "gradient-step-nonexpansive",
        "a gradient step of length up to 2/L does not expand",
        "T = id - delta grad f, delta <= 2/L: ||T x - T y||^2 <= ||x-y||^2.",
        IMAGE_DISTANCE.latex + r"\leq\Vert x-y\Vert^2",
        IMAGE_DISTANCE,
        f"{BAUSCHKE}, Corollary 18.17 with Proposition 4.39",
        parameters=(delta, L, distance2),
        hypotheses=(SMOOTH, CONVEX, STEP_2),
        relation="<=",
        right="distance2",
        vectors=VectorLine(contraction, _each("delta", ("2", "1", "1/10"), L="1"), SCALED),
        sentence=VectorSentence(
            ("x", "y", "gx", "gy"),
            {"image_distance": "norm2(x - delta*gx - (y - delta*gy))", "distance2": "norm2(x - y)"},
            ("fx", "fy"),
            (FunctionAt("f", {"x": ("x", "gx", "fx"), "y": ("y", "gy", "fy")}),),
            multipliers={"f smooth convex(x,y)": "2*delta", "f smooth convex(y,x)": "2*delta"},
        ),
    ),
    result(
        "sufficient-decrease",
        "a gradient step decreases the value",
        "f(x - delta grad f(x)) <= f(x) - delta (1 - L delta/2) ||grad f(x)||^2, convex or not.",
        NEXT_VALUE.latex + r"\leq f(x)-\delta(1-\frac{L\delta}{2})\Vert\nabla f(x)\Vert^2",
        NEXT_VALUE,
        f"{NESTEROV}, section 1.2.3, (1.2.19)",
        parameters=(delta, L, cost, gradient2),
        hypotheses=(SMOOTH,),
        relation="<=",
        right="cost - delta*(1-L*delta/2)*gradient2",
        vectors=VectorLine(sufficient_decrease, _each("delta", ("1", "1/3", "5/2"), L="1"), SCALED),
        sentence=VectorSentence(
            ("x", "gx", "gy"),
            {"next_value": "fy", "cost": "fx", "gradient2": "norm2(gx)"},
            ("fx", "fy"),
            (FunctionAt("f", {"x": ("x", "gx", "fx"), "y": ("x - delta*gx", "gy", "fy")}),),
            multipliers={"f smooth(x,y)": "1"},
        ),
    ),
    result(
        "average-gradient",
        "gradient descent finds points of small gradient",
        "x_{k+1} = x_k - delta grad f(x_k): (1/K) sum_k ||grad f(x_k)||^2 <= (f(x_0) - f*)/(K delta (1 - L delta/2)), "
        "f* = inf f, convex or not.",
        MEAN_SQUARED_GRADIENT_NORM.latex + r"\leq\frac{f(x_0)-f^*}{K\delta(1-L\delta/2)}",
        MEAN_SQUARED_GRADIENT_NORM,
        f"{NESTEROV}, section 1.2.3",
        kind="theorem",
        parameters=(delta, L, K, f0_gap),
        hypotheses=(SMOOTH, BELOW_2),
        relation="<=",
        right="f0_gap/(K*delta*(1-L*delta/2))",
        vectors=VectorLine(
            average_gradient,
            (*_each("K", ("1", "2", "3"), delta="1", L="1"), {"K": "3", "delta": "3/2", "L": "1"}),
            "these K and delta L; every K, as the proof is a sum over the steps; every L, by scaling f",
        ),
    ),
    result(
        "gradient-descent-linear",
        "gradient descent under strong convexity: function values",
        "x_{k+1} = x_k - delta grad f(x_k); delta <= 1/L: f(x_k) - f* <= (1 - delta mu)^k (f(x_0) - f*); (1 - mu/L)^k "
        "for delta = 1/L.",
        r"f(x_k)-f^*\leq(1-\delta\mu)^k(f(x_0)-f^*)",
        SUBOPTIMALITY,
        f"{KARIMI}, Theorem 1",
        kind="theorem",
        parameters=(delta, mu, L, k, f0_gap),
        hypotheses=(SMOOTH, STRONGLY_CONVEX, MODULI, STEP_1),
        relation="<=",
        right="(1-delta*mu)**k*f0_gap",
        vectors=VectorLine(
            linear_rate,
            (
                *_each("k", ("1", "2"), delta="1", mu="1/10", L="1"),
                {"k": "1", "delta": "1/2", "mu": "1/3", "L": "1"},
            ),
            "these k, mu/L and delta L; every k, as each step is the case k = 1",
        ),
    ),
    result(
        "gradient-descent-tight",
        "gradient descent under convexity, with the tight constant",
        "x_{k+1} = x_k - delta grad f(x_k); delta <= 1/L: f(x_k) - f* <= L ||x_0-x*||^2/(4 k L delta + 2); L "
        "||x_0-x*||^2/(4k+2) for delta = 1/L.",
        r"f(x_k)-f^*\leq\frac{L\Vert x_0-x^*\Vert^2}{4kL\delta+2}",
        SUBOPTIMALITY,
        "Drori, Teboulle, Math. Program. 145 (2014), Theorem 3.1",
        kind="theorem",
        parameters=(delta, L, k, R2),
        hypotheses=(SMOOTH, CONVEX, STEP_1),
        relation="<=",
        right="L*R2/(4*k*L*delta+2)",
        vectors=VectorLine(
            tight_rate,
            (*_each("k", ("1", "2", "3"), delta="1", L="1"), {"k": "2", "delta": "1/2", "L": "1"}),
            "these k and delta L; every L, by scaling f",
        ),
    ),
    result(
        "subgradient-method",
        "the subgradient method",
        "||g_k|| <= G: (1/K) sum_{k<K} f(x_k) - f* <= ||x_0-x*||^2/(2 delta K) + delta G^2/2.",
        MEAN_SUBOPTIMALITY.latex + r"\leq\frac{\Vert x_0-x^*\Vert^2}{2\delta K}+\frac{\delta G^2}{2}",
        MEAN_SUBOPTIMALITY,
        f"{NESTEROV}, Theorem 3.2.2 and its proof",
        kind="theorem",
        parameters=(delta, K, R2, G2),
        hypotheses=(
            CONVEX,
            Hypothesis("bounded subgradients", "||g_k||^2 <= G2"),
            Hypothesis("subgradient method", "x_{k+1} = x_k - delta g_k, g_k a subgradient at x_k"),
        ),
        relation="<=",
        right="R2/(2*delta*K) + delta*G2/2",
        vectors=VectorLine(
            subgradient,
            (*_each("K", ("1", "2", "3"), delta="1/2", G2="1"), {"K": "2", "delta": "1/10", "G2": "3"}),
            "these K, delta and G2; every K, as the proof is a sum over the steps",
        ),
    ),
    result(
        "proximal-point",
        "the proximal point method, with the tight constant",
        "x_{k+1} = prox(x_k) with step delta: f(x_k) - f* <= ||x_0-x*||^2/(4 k delta).",
        r"f(x_k)-f^*\leq\frac{\Vert x_0-x^*\Vert^2}{4k\delta}",
        SUBOPTIMALITY,
        f"{COMPOSITE}, Theorem 4.1",
        kind="theorem",
        parameters=(delta, k, R2),
        hypotheses=(CONVEX, Hypothesis("proximal point method", "x_{k+1} minimises f(x) + ||x-x_k||^2/(2 delta)")),
        relation="<=",
        right="R2/(4*k*delta)",
        vectors=VectorLine(
            proximal_point, _each("k", ("1", "2", "3"), delta="1"), "these k; every delta, by scaling f"
        ),
    ),
)
