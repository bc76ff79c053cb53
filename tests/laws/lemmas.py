"""Lemmas about vectors, functions and numbers that are false, each beside the true one that it was made from.

Every label of a false lemma ends in ``-wrong``; without that it is the label of its true neighbour.
"""

from theory import Paper, claim
from theory.domain import REAL

AT = ("x", "y")
SMOOTH, CONVEX, STRONG = "smooth(f, L)", "convex(f)", "strongly_convex(f, mu)"
G, D = "grad(f, x) - grad(f, y)", "x - y"
NEAREST = ("dot(x - p, q - p) <= 0", "dot(y - q, p - q) <= 0")
BALL = ("norm2(a) <= 1", "norm2(b) <= 1")
POINTS = ("x", "y", "p", "q")


def both(label, true, false, vectors=("a", "b"), assuming=(), without=(), **more):
    less = tuple(text for text in assuming if text not in without)
    return [
        claim(label, true, vectors=vectors, assuming=assuming, kind="lemma", **more),
        claim(f"{label}-wrong", false, vectors=vectors, assuming=less, kind="lemma", **more),
    ]


CLAIMS = (
    *both(
        "jensen", "norm2((a + b)/2) <= (norm2(a) + norm2(b))/2", "(norm2(a) + norm2(b))/2 <= norm2((a + b)/2)",
    ),
    *both("young", "dot(a, b) <= c/2*norm2(a) + norm2(b)/(2*c)", "dot(a, b) <= norm2(a)/(2*c) + norm2(b)/(2*c)"),
    *both(
        "relaxed", "norm2(a + b) <= (1 + c)*norm2(a) + (1 + 1/c)*norm2(b)",
        "norm2(a + b) <= (1 + c)*norm2(a) + 5/4*norm2(b)",
    ),
    *both(
        "sum-of-two", "norm2(a + b) <= 2*norm2(a) + 2*norm2(b)", "norm2(a + b) == 2*norm2(a) + 2*norm2(b)",
    ),
    *both(
        "sum-of-three", "norm2(a + b + c) <= 3*(norm2(a) + norm2(b) + norm2(c))",
        "norm2(a + b + c) <= 2*(norm2(a) + norm2(b) + norm2(c))", ("a", "b", "c"),
    ),
    *both(
        "sum-of-all", "norm2(sum_n(a_n)) <= N*sum_n(norm2(a_n))", "norm2(sum_n(a_n)) <= sqrt(N)*sum_n(norm2(a_n))",
        ("a_n",),
    ),
    *both(
        "cocoercive", f"dot({G}, {D}) >= norm2({G})/L", f"dot({G}, {D}) >= norm2({G})/L", AT, (SMOOTH, CONVEX),
        without=(CONVEX,),
    ),
    *both(
        "descent", f"f(y) <= f(x) + dot(grad(f, x), y - x) + L/2*norm2({D})",
        f"f(y) <= f(x) + dot(grad(f, x), y - x) + L/4*norm2({D})", AT, (SMOOTH,),
    ),
    *both("lipschitz", f"norm2({G}) <= L**2*norm2({D})", f"norm2({G}) <= 8/9*L**2*norm2({D})", AT, (SMOOTH,)),
    *both(
        "above-the-tangent", "f(y) >= f(x) + dot(grad(f, x), y - x)", "f(y) <= f(x) + dot(grad(f, x), y - x)", AT,
        (CONVEX,),
    ),
    *both(
        "strongly-monotone", f"dot({G}, {D}) >= mu*norm2({D})", f"dot({G}, {D}) >= 2*mu*norm2({D})", AT,
        (SMOOTH, STRONG),
    ),
    *both(
        "step", f"norm2({D} - 2/L*({G})) <= norm2({D})", f"norm2({D} - 3/L*({G})) <= norm2({D})", AT,
        (SMOOTH, CONVEX),
    ),
    *both("projection", "norm2(p - q) <= norm2(x - y)", "norm2(p - q) <= norm2(x - y)/2", POINTS, NEAREST),
    *both(
        "firm-projection", "norm2(p - q) <= dot(p - q, x - y)", "norm2(p - q) <= 9/10*dot(p - q, x - y)", POINTS,
        NEAREST,
    ),
    *both("ball", "norm2(a + b) <= 4", "norm2(a + b) <= 3", assuming=BALL),
    *both("numbers", "t <= t + s", "t < t", ()),
    *both("geometric", "sum_k(q**k) == (1 - q**K)/(1 - q)", "sum_k(q**k) == (1 - q**(K + 1))/(1 - q)", (),
          ("q < 1",)),
    *both("root", "sqrt(t)**2 == t", "sqrt(t**2) == t", (), parameters={"t": REAL}),
)  # fmt: skip
FALSE = tuple(c.label for c in CLAIMS if c.label.endswith("-wrong"))
PAPER = Paper("lemma-sentences", "Lemmas, true and false", "a reader", CLAIMS)
