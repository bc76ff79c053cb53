"""Nesterov's methods."""

from theory import Paper, algorithm, claim


@algorithm(x="x0", z="x0")
def fista(w, x, z, *, t):
    y = x + (w.k - 1) / (w.k + 2) * (x - z)
    return y - t * w.full_gradient(y), x


@algorithm(x="x0", z="x0")
def constant(w, x, z, *, t, m0):
    y = x + m0 * (x - z)
    return y - t * w.full_gradient(y), x


CONVEX = ("smooth(f, L)", "convex(f)", "t <= 1/L")
STRONG = ("smooth(f, L)", "strongly_convex(f, mu)", "t <= 1/L", "m0 == (1 - sqrt(mu*t))/(1 + sqrt(mu*t))")

CLAIMS = (
    # TRUE because it is FISTA with t_k = (k+1)/2 (Beck, Teboulle 2009; Su, Boyd, Candes 2016).
    claim("accelerated", "f(x[k]) - fstar <= 2*norm2(x0 - xstar)/(t*(k+1)**2)", of=fista, assuming=CONVEX),
    # FALSE because at k = 1, t = 1/L it is one step of gradient descent: L R^2/6 for a Huber function, and the right side is L R^2/8
    # (quadratics: at most 2/27 there, but more than 1/2/(k+1)^2 for large k).
    claim("accelerated-quarter", "f(x[k]) - fstar <= norm2(x0 - xstar)/(2*t*(k+1)**2)", of=fista, assuming=CONVEX),
    # FALSE because of f = L x^2/2, t = 2/L, k = 1: x1 = -x0, L/2 <= L/4.
    claim(
        "accelerated-long",
        "f(x[k]) - fstar <= 2*norm2(x0 - xstar)/(t*(k+1)**2)",
        of=fista,
        assuming=("smooth(f, L)", "convex(f)", "t <= 2/L"),
    ),
    # TRUE because of Nesterov's estimate sequences with 1/t in place of L.
    claim(
        "root",
        "f(x[k]) - fstar <= (1 - sqrt(mu*t))**k*(f(x0) - fstar + mu/2*norm2(x0 - xstar))",
        of=constant,
        assuming=STRONG,
    ),
    # FALSE because the distance is lost: f = mu x^2/2, mu t = 1/9, k = 1: (8/9)^2 <= 2/3.
    claim("root-lost", "f(x[k]) - fstar <= (1 - sqrt(mu*t))**k*(f(x0) - fstar)", of=constant, assuming=STRONG),
    # FALSE because of 2k for k: f = mu x^2/2, mu t = 1/4, k = 1: mu/2 * (3/4)^2 <= mu/4.
    claim(
        "root-squared",
        "f(x[k]) - fstar <= (1 - sqrt(mu*t))**(2*k)*(f(x0) - fstar + mu/2*norm2(x0 - xstar))",
        of=constant,
        assuming=STRONG,
    ),
)
PAPER = Paper("accelerated", "Acceleration", "a reader", CLAIMS)
