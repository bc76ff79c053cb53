"""Functions of one variable at their extremes: curvature or steepness that changes in a few places."""

from theory import Paper, claim

CONVEX = ("smooth(f, L)", "convex(f)")
TRAPEZOID = "abs(f(x) - f(y) - dot(grad(f, x) + grad(f, y), x - y)/2)"
THIRD = "f(x + 3*v) - 3*f(x + 2*v) + 3*f(x + v) - f(x)"

CLAIMS = (
    # FALSE by a hundredth, where the curvature is 0 up to the middle and L from there on: 1/8 <= 1/8.1.
    claim("trapezoid-sharper", f"{TRAPEZOID} <= L/8.1*norm2(x - y)", vectors=("x", "y"), assuming=CONVEX),
    # TRUE because the integral of c(s)(1/2 - s) is at most L/8 for c between 0 and L.
    claim("trapezoid", f"{TRAPEZOID} <= L/8*norm2(x - y)", vectors=("x", "y"), assuming=CONVEX),
    # FALSE by a hundredth, with a kink at x + 2v: 2 <= 1.98.
    claim(
        "third-difference", f"{THIRD} <= 1.98*G*norm(v)", vectors=("x", "v"), assuming=("lipschitz(f, G)", "convex(f)")
    ),
    # FALSE because a function may go up, down and up again: 4 <= 3.99.
    claim("third-zigzag", f"{THIRD} <= 3.99*G*norm(v)", vectors=("x", "v"), assuming=("lipschitz(f, G)",)),
    # TRUE because it is one step twice less, once more, and each is at most G norm(v).
    claim("third-any", f"{THIRD} <= 4*G*norm(v)", vectors=("x", "v"), assuming=("lipschitz(f, G)",)),
)
PAPER = Paper("lines", "Lines", "a reader", CLAIMS)
