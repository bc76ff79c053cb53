"""The largest coordinates: biased compression."""

from theory import Paper, algorithm, claim


@algorithm
def greedy(w, x, *, eta, m):
    big = w.top(w.gradient(x), m)
    w.tap("big", big)
    return x - eta * w.mean(big)


@algorithm(x="x0", g="each 0")
def ef21(w, x, g, *, gamma, m):
    new = x - gamma * w.mean(g)
    return new, g + w.top(w.gradient(new) - g, m)


WHERE = {
    "r": "sqrt(1 - m/d)",
    "G": "mean_n(norm2(g[k] - grad(f_n, x[k])))",
    "G1": "mean_n(norm2(g[k+1] - grad(f_n, x[k+1])))",
}

CLAIMS = (
    # TRUE because the m largest squares are at least their share m/d.
    claim("share", "norm2(grad(f_n, x[k]) - big[k]) <= (1 - m/d)*norm2(grad(f_n, x[k]))", of=greedy),
    # FALSE because of g = (1, 1), m = 1: 1 <= 1/4*2.
    claim("share-squared", "norm2(grad(f_n, x[k]) - big[k]) <= (1 - m/d)**2*norm2(grad(f_n, x[k]))", of=greedy),
    # FALSE because the kept parts need not cancel: N = 3, g = (2,1), (-2,1), (0,-2), m = 1. True for N <= 2 (the same places are kept) and d = 1.
    claim(
        "rests",
        "norm2(x[k] - xstar) <= 0",
        of=greedy,
        assuming=("smooth(f_n, L)", "strongly_convex(f_n, mu)", "eta <= 1/L", "norm2(x0 - xstar) <= 0"),
    ),
    # TRUE because of Richtarik, Sokolov, Fatkhullin 2021, Theorem 1: theta = 1 - r, beta = r^2/theta, gamma <= 1/(L(1 + sqrt(beta/theta))) = 1/(L(1 + r/(1-r))).
    claim(
        "memory",
        "f(x[k+1]) + gamma/(2*(1 - r))*G1 <= f(x[k]) + gamma/(2*(1 - r))*G - gamma/2*norm2(grad(f, x[k]))",
        of=ef21,
        assuming=("smooth(f_n, L)", "m <= d", "gamma <= (1 - r)/L"),
        where=WHERE,
    ),
    # FALSE because theta is lost: k = 0, g = 0, x1 = x0: G1 = (1 - m/d)|grad|^2 <= 0 for grad = (1, 1), m = 1, N = 1.
    claim(
        "memory-light",
        "f(x[k+1]) + gamma/2*G1 <= f(x[k]) + gamma/2*G - gamma/2*norm2(grad(f, x[k]))",
        of=ef21,
        assuming=("smooth(f_n, L)", "m <= d", "gamma <= (1 - r)/L"),
        where=WHERE,
    ),
)
PAPER = Paper("largest", "Top m", "a reader", CLAIMS)
