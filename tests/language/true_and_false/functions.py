"""Lemmas about functions at a few points."""

from theory import Paper, claim

SMOOTH, CONVEX = "smooth(f, L)", "convex(f)"
XY = ("x", "y")

CLAIMS = (
    # TRUE because both sides are the integral of a linear function.
    claim("trapezoid", "f(x) - f(y) == dot(grad(f, x) + grad(f, y), x - y)/2", vectors=XY, assuming=("quadratic(f)",)),
    # FALSE because a Huber function is no quadratic. True on quadratics.
    claim(
        "trapezoid-convex",
        "f(x) - f(y) == dot(grad(f, x) + grad(f, y), x - y)/2",
        vectors=XY,
        assuming=(SMOOTH, CONVEX),
    ),
    # FALSE because of f = 3x_1 + ((x_2 - x_1)_+^2 + (-x_2 - x_1)_+^2)/2, x = (0, 1), y = (0, -1): 9 <= 5. True for d = 1 and for quadratics.
    claim(
        "between",
        "norm2(grad(f, (x + y)/2)) <= max(norm2(grad(f, x)), norm2(grad(f, y)))",
        vectors=XY,
        assuming=(SMOOTH, CONVEX),
    ),
    # FALSE because of f = (x_1 + x_2)^2/2 + (x_1 - x_2)_+^2, x = e_1, z = e_2, y = 0: (-1)*1 >= 0. True for d = 1 and for quadratics.
    claim(
        "signs",
        "dot(grad(f, x) - grad(f, y), z - y)*dot(grad(f, z) - grad(f, y), x - y) >= 0",
        vectors=("x", "y", "z"),
        assuming=(SMOOTH, CONVEX),
    ),
    # TRUE because it is the interpolation condition of smooth convex functions.
    claim(
        "interpolation",
        "f(y) >= f(x) + dot(grad(f, x), y - x) + norm2(grad(f, y) - grad(f, x))/(2*L)",
        vectors=XY,
        assuming=(SMOOTH, CONVEX),
    ),
    # FALSE because without convexity: f = -x^2/2.
    claim(
        "interpolation-anyhow",
        "f(y) >= f(x) + dot(grad(f, x), y - x) + norm2(grad(f, y) - grad(f, x))/(2*L)",
        vectors=XY,
        assuming=(SMOOTH,),
    ),
    # TRUE because <g, u> >= mu|u|^2 and <g, u> >= |g|^2/L, the mean of both.
    claim(
        "half-half",
        "dot(grad(f, x) - grad(f, y), x - y) >= mu/2*norm2(x - y) + norm2(grad(f, x) - grad(f, y))/(2*L)",
        vectors=XY,
        assuming=(SMOOTH, "strongly_convex(f, mu)"),
    ),
    # FALSE because of f = x^2/2, mu = L = 1: 1 >= 5/4. True for L >= 2 mu and curvature mu.
    claim(
        "more-than-half",
        "dot(grad(f, x) - grad(f, y), x - y) >= 3*mu/4*norm2(x - y) + norm2(grad(f, x) - grad(f, y))/(2*L)",
        vectors=XY,
        assuming=(SMOOTH, "strongly_convex(f, mu)"),
    ),
    # TRUE because of Karimireddy et al. 2020, Lemma 5.
    claim(
        "perturbed",
        "dot(grad(f, x), z - y) >= f(z) - f(y) + mu/4*norm2(y - z) - L*norm2(z - x)",
        vectors=("x", "y", "z"),
        assuming=(SMOOTH, "strongly_convex(f, mu)"),
    ),
    # FALSE because of mu/2: f = u^2/2, mu = L = 1, z = 0, x = 1, y = 2: -2 >= 0 - 2 + 2 - 1.
    claim(
        "perturbed-half",
        "dot(grad(f, x), z - y) >= f(z) - f(y) + mu/2*norm2(y - z) - L*norm2(z - x)",
        vectors=("x", "y", "z"),
        assuming=(SMOOTH, "strongly_convex(f, mu)"),
    ),
    # VACUOUS because a strongly convex function is not Lipschitz on the whole space.
    claim("both", "f(x) - f(y) <= G*norm(x - y)/2", vectors=XY, assuming=("strongly_convex(f, mu)", "lipschitz(f, G)")),
    # FALSE in two dimensions, for L above 33.97 mu: at L = 36 mu the least cosine is 2*sqrt(L*mu)/(L + mu) = 12/37 < 1/3.
    claim(
        "angle",
        "dot(grad(f, x) - grad(f, y), x - y) >= norm(grad(f, x) - grad(f, y))*norm(x - y)/3",
        vectors=XY,
        assuming=(SMOOTH, "strongly_convex(f, mu)", "L <= 36*mu"),
    ),
)
PAPER = Paper("functions", "Functions", "a reader", CLAIMS)
