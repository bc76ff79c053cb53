"""Of several kinds: far indices, weights that cannot be, functions that bend in the plane."""

from theory import Paper, algorithm, claim


@algorithm
def wander(w, x, *, eta, sigma2):
    return x - eta * w.mean(w.noise(sigma2))


@algorithm
def local(w, x, *, eta, H):
    y = w.each(x)
    for h in w.repeat(H):
        w.tap("y", y)
        y = y - eta * w.gradient(y)
    return w.mean(y)


@algorithm
def descent(w, x, *, t):
    return x - t * w.full_gradient(x)


@algorithm
def same_cohort(w, x, *, eta, S):
    active = w.choose(S)
    return x - eta / 2 * (w.average(w.gradient(x), active) + w.average(w.gradient(x), active))


@algorithm
def two_cohorts(w, x, *, eta, S):
    return x - eta / 2 * (w.average(w.gradient(x), w.choose(S)) + w.average(w.gradient(x), w.choose(S)))


LEFT = "E(norm2(x[1] - x0 + eta*grad(f, x0)))"
Z = {"Z": "mean_n(norm2(grad(f_n, x0) - grad(f, x0)))"}

CLAIMS = (
    # FALSE because it is k eta^2 sigma2/N: k = 151. True for k <= 150.
    claim("wander-150", "E(norm2(x[k] - x0)) <= 150*eta**2*sigma2/N", of=wander),
    # FALSE because of h = 61 on a line: 61 steps of the same gradient. True for h <= 60.
    claim(
        "sixty-turns",
        "norm(y[k, h] - x[k]) <= 60*eta*norm(grad(f_n, x[k]))",
        of=local,
        assuming=("smooth(f_n, L)", "convex(f_n)", "eta <= 2/L"),
    ),
    # FALSE because (1 + 1/K)^K tends to e > 2.71: K = 200. True for K <= 163.
    claim("compound", "(1 + 1/K)**K <= 271/100"),
    # TRUE because e < 2.72.
    claim("compound-right", "(1 + 1/K)**K <= 272/100"),
    # FALSE because of sqrt(2) = 1.414213..: a = b.
    claim("root-two", "norm(a) + norm(b) <= 141421/100000*sqrt(norm2(a) + norm2(b))", vectors=("a", "b")),
    # TRUE because of Cauchy and Schwarz, and sqrt(2) < 1.41422.
    claim("root-two-right", "norm(a) + norm(b) <= 141422/100000*sqrt(norm2(a) + norm2(b))", vectors=("a", "b")),
    # FALSE because it is the same cohort twice: N = 2, S = 1: Z <= Z/2.
    claim("same-cohort", f"{LEFT} <= eta**2*(N - S)/(2*S*(N - 1))*Z", of=same_cohort, where=Z),
    # TRUE because two cohorts are independent.
    claim("two-cohorts", f"{LEFT} == eta**2*(N - S)/(2*S*(N - 1))*Z", of=two_cohorts, where=Z),
    # FALSE because of the function of `between` (functions.py), with a_n = (0, 1), (0, -1). True for d = 1 and for quadratics.
    claim(
        "gradient-of-mean",
        "norm2(grad(f, mean_n(a_n))) <= max_n(norm2(grad(f, a_n)))",
        vectors=("a_n",),
        assuming=("smooth(f, L)", "convex(f)"),
    ),
    # TRUE because mu > L leaves constant functions only: |g|^2 >= 2 mu (f - f*) and |g|^2 <= 2L(f - f*).
    claim("flat", "norm2(x[k] - x0) <= 0", of=descent, assuming=("smooth(f, L)", "pl(f, mu)", "mu > L")),
    # VACUOUS because weights of at least 2/N add up to 2.
    claim(
        "heavy",
        "norm2(sum_n(q_n*a_n)) <= sum_n(q_n*norm2(a_n))",
        vectors=("a_n",),
        assuming=("sum_n(q_n) == 1", "q_n >= 2/N"),
    ),
    # VACUOUS because the largest weight is at least the mean.
    claim(
        "light",
        "norm2(sum_n(q_n*a_n)) <= mean_n(norm2(a_n))",
        vectors=("a_n",),
        assuming=("sum_n(q_n) == 1", "max_n(q_n) < 1/N"),
    ),
    # FALSE because a vector can be far from a mean that is 0: a = 1, -1. True for N = 1.
    claim("least", "min_n(norm2(a_n)) <= norm2(mean_n(a_n))", vectors=("a_n",)),
    # FALSE because of strictness: both sides are 0 at a = b = 0.
    claim("strict", "dot(a, b) < c/2*norm2(a) + norm2(b)/(2*c)", vectors=("a", "b")),
    # VACUOUS because a function with curvature at least mu everywhere has no bounded gradients.
    claim(
        "bounded",
        "norm2(x[k] - xstar) <= G**2/mu**2",
        of=descent,
        assuming=("strongly_convex(f_n, mu)", "bounded_gradients(f_n, G)"),
    ),
    # FALSE because of 301 equal vectors. True for N <= 300.
    claim("three-hundred", "norm2(sum_n(a_n)) <= 300*sum_n(norm2(a_n))", vectors=("a_n",)),
)
PAPER = Paper("mixed", "Of several kinds", "a reader", CLAIMS)
