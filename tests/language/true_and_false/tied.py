"""What hypotheses tie together: vectors of length 1, a variance of 0, steps whose sum is large; starts that say nothing."""

from theory import NONNEGATIVE, Paper, algorithm, claim


@algorithm
def descent(w, x, *, eta):
    return x - eta * w.full_gradient(x)


@algorithm(x="x0", m="0", v="0")
def normed(w, x, m, v, *, eta, beta):
    g = w.full_gradient(x)
    first = beta * m + (1 - beta) * g
    second = beta * v + (1 - beta) * w.times(g, g)
    step = w.over(first, w.sqrt(second))
    w.tap("s", step)
    return x - eta * step, first, second


FRAME = ("norm2(a) == 1", "norm2(b) == 1", "dot(a, b) == 0")
SUBGRADIENT = "mean_k(f(x[k]) - fstar) <= {}*(norm2(x0 - xstar)/(2*eta*K) + eta*G2/2)"
LARGEST = {"G2": "max_k(norm2(grad(f, x[k])))"}

CLAIMS = (
    # TRUE because that is Bessel's inequality.
    claim("bessel", "dot(a, v)**2 + dot(b, v)**2 <= norm2(v)", vectors=("a", "b", "v"), assuming=FRAME),
    # FALSE only for d >= 3: v may be orthogonal to both. In the plane both sides are the same.
    claim("parseval", "dot(a, v)**2 + dot(b, v)**2 >= norm2(v)", vectors=("a", "b", "v"), assuming=FRAME),
    # TRUE because the variance is at most sigma2, which can only be 0.
    claim(
        "no-variance",
        "mean_n(mean_i(norm2(grad(f_ni, x) - grad(f_n, x)))) <= 0",
        vectors=("x",),
        assuming=("bounded_variance(sigma2)", "sigma2 <= 0"),
        parameters={"sigma2": NONNEGATIVE},
    ),
    # TRUE because eleven steps of at most 1 do not add up to 23/2.
    claim("twelve-steps", "K >= 12", assuming=("sum_k(eta_k) >= 23/2", "eta_k <= 1")),
    # TRUE because a weighted mean's square is at most the mean of squares, where that is not 0, as it is at the minimiser.
    claim("normed", "norm2(s[k]) <= d", of=normed, assuming=("smooth(f, L)", "beta < 1")),
    # FALSE because gradients that stay the same are divided by their own length in the end: 7/8 <= 3/4.
    claim("normed-less", "norm2(s[k]) <= 3/4*d", of=normed, assuming=("smooth(f, L)", "beta == 1/2")),
    # FALSE by a thousandth: f = |x| but for a small part around 0, and steps that end there.
    claim("steep-sharper", SUBGRADIENT.format("0.999"), of=descent, assuming=("convex(f)",), where=LARGEST),
    # TRUE because that is the bound of the subgradient method.
    claim("steep", SUBGRADIENT.format("1"), of=descent, assuming=("convex(f)",), where=LARGEST),
)
PAPER = Paper("tied", "Tied", "a reader", CLAIMS)
