"""Proximal steps of the clients."""

from theory import Paper, algorithm, claim


@algorithm
def fedprox(w, x, *, t):
    v = w.prox(x, t)
    w.tap("v", v)
    return w.mean(v)


CLAIMS = (
    # TRUE because prox of a mu-strongly convex function contracts by 1/(1 + t mu) and fixes its minimiser.
    claim(
        "common",
        "norm2(x[k] - xstar) <= norm2(x0 - xstar)/(1 + t*mu)**(2*k)",
        of=fedprox,
        assuming=("strongly_convex(f_n, mu)", "same_minimiser(f_n)"),
    ),
    # FALSE because clients of different curvature: f = x^2/2 - x, 3x^2/2 + x at x* = 0. True for N = 1 and for equal curvatures.
    claim(
        "rests",
        "norm2(x[k] - xstar) <= 0",
        of=fedprox,
        assuming=("smooth(f_n, L)", "strongly_convex(f_n, mu)", "norm2(x0 - xstar) <= 0"),
    ),
    # TRUE because of Taylor, Hendrickx, Glineur 2017: R^2/(4 t K) for the proximal point method, attained by a |x|.
    claim(
        "proximal-point", "f(x[k]) - fstar <= norm2(x0 - xstar)/(4*t*k)", of=fedprox, assuming=("convex(f)", "N <= 1")
    ),
    # FALSE because f = s*Huber(x) with s = R/(2t), small threshold, k = 1: almost R^2/(4t). True on all quadratics (1/8 is attained there).
    claim(
        "proximal-point-half",
        "f(x[k]) - fstar <= norm2(x0 - xstar)/(8*t*k)",
        of=fedprox,
        assuming=("convex(f)", "N <= 1"),
    ),
    # TRUE because x - v = t grad f_n(v), and the gradient at v is no longer than at x (monotone).
    claim(
        "short",
        "norm2(v[k] - x[k]) <= t**2*norm2(grad(f_n, x[k]))",
        of=fedprox,
        assuming=("smooth(f_n, L)", "convex(f_n)"),
    ),
    # FALSE because without convexity: f = -L x^2/2, t L = 1/2: v = 2x, |v - x| = |x| <= |x|/2.
    claim(
        "short-anyhow",
        "norm2(v[k] - x[k]) <= t**2*norm2(grad(f_n, x[k]))",
        of=fedprox,
        assuming=("smooth(f_n, L)", "t*L <= 1/2"),
    ),
    # FALSE because a client goes along its own gradient: x = x*, f_1 = x, f_2 = -x and the like. True for identical clients.
    claim(
        "short-mean",
        "norm2(v[k] - x[k]) <= t**2*norm2(grad(f, x[k]))",
        of=fedprox,
        assuming=("smooth(f_n, L)", "convex(f_n)"),
    ),
)
PAPER = Paper("proximal", "Proximal steps", "a reader", CLAIMS)
