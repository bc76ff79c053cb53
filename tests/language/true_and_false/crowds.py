"""Lengths at means of points, what is seldom for many clients at once, levels beside a chance, more coordinates."""

from theory import Paper, algorithm, claim


@algorithm
def descent(w, x, *, eta):
    return x - eta * w.full_gradient(x)


@algorithm
def locally(w, x, *, eta):
    y = x - eta * w.gradient(x)
    w.tap("y", y)
    return w.mean(y)


@algorithm
def sampled(w, x, *, eta):
    g = w.gradient(x, w.sample())
    w.tap("g", g)
    return x - eta * w.mean(g)


@algorithm
def signed(w, x, *, eta):
    return x - eta * w.sign(w.full_gradient(x))


@algorithm
def topped(w, x, *, eta, m):
    t = w.top(w.full_gradient(x), m)
    w.tap("t", t)
    return x - eta * t


PAIR = ("x", "y")
CONVEX = ("smooth(f, L)", "convex(f)")
EACH = ("smooth(f_n, L)", "convex(f_n)", "eta <= 1/L")
NOISY = ("smooth(f_ni, L)", "bounded_variance(sigma2)")
NOISE = "g[k] - grad(f_n, x[k])"
LARGE = "for every x: mean_n(mean_i(norm2(grad(f_ni, x)))) <= rho*norm2(grad(f, x))"
CLAIMS = (
    # FALSE: phi' = min(max(t, 0), 1), f = phi(z1) + phi(z2), at (2, 0) and (0, 2): sqrt(2) in the middle.
    claim("middle", "norm(grad(f, (x + y)/2)) <= max(norm(grad(f, x)), norm(grad(f, y)))",
          vectors=PAIR, assuming=CONVEX),
    # FALSE: the envelope of max(z2, e*abs(z1) - 2): 1 between two points at which it is e.
    claim("middle-thrice", "norm(grad(f, (x + y)/2)) <= 3*max(norm(grad(f, x)), norm(grad(f, y)))",
          vectors=PAIR, assuming=CONVEX),
    # FALSE: so is this.
    claim("middle-sum", "norm(grad(f, (x + y)/2)) <= 2*(norm(grad(f, x)) + norm(grad(f, y)))",
          vectors=PAIR, assuming=CONVEX),
    # FALSE: and with mu*norm2/2 added, for a small mu.
    claim("middle-strongly", "norm(grad(f, (x + y)/2)) <= 2*max(norm(grad(f, x)), norm(grad(f, y)))",
          vectors=PAIR, assuming=(*CONVEX, "strongly_convex(f, mu)")),
    # FALSE: of two clients the same.
    claim("mean-point", "norm(grad(f, mean_n(a_n))) <= 5*max_n(norm(grad(f, a_n)))", vectors=("a_n",), assuming=CONVEX),
    # FALSE: the envelope and a linear term, added for one client and taken off for the other.
    claim("after-local", "norm(grad(f, x[k+1])) <= 4*max_n(norm(grad(f, y[k])))", of=locally, assuming=EACH),
    # TRUE: L times the distance from xstar, which is convex.
    claim("middle-from-xstar", "norm(grad(f, (x + y)/2)) <= L*max(norm(x - xstar), norm(y - xstar))",
          vectors=PAIR, assuming=CONVEX),
    # FALSE: the other point may be at xstar.
    claim("from-xstar-less", "norm(grad(f, x) - grad(f, y)) <= L*norm(x - xstar) + 19/20*L*norm(y - xstar)",
          vectors=PAIR, assuming=CONVEX),
    # TRUE: by the triangle.
    claim("from-xstar", "norm(grad(f, x) - grad(f, y)) <= L*norm(x - xstar) + L*norm(y - xstar)",
          vectors=PAIR, assuming=CONVEX),
    # TRUE: a distance is convex.
    claim("mean-is-nearer", "norm(x[k+1] - xstar) <= max_n(norm(y[k] - xstar))", of=locally, assuming=EACH),
    # FALSE: all clients may have the same y.
    claim("mean-is-nearer-by-a-tenth", "norm(x[k+1] - xstar) <= 9/10*max_n(norm(y[k] - xstar))",
          of=locally, assuming=EACH),
    # FALSE: for each of 13 clients one sample of 260 at 259, the others at -1: (1 - (259/260)^13)*259 = 12.6.
    claim("largest-noise", f"E(max_n(norm2({NOISE}))) <= 12*sigma2", of=sampled, assuming=NOISY),
    # FALSE: 8 clients with one sample of 8: 4.59.
    claim("largest-noise-4", f"E(max_n(norm2({NOISE}))) <= 4*sigma2", of=sampled, assuming=NOISY),
    # FALSE: 11 clients with one of 11: 2.05.
    claim("largest-length", f"E(max_n(norm({NOISE}))) <= 2*sqrt(sigma2)", of=sampled, assuming=NOISY),
    # TRUE: the largest is at most the sum.
    claim("largest-of-N", f"E(max_n(norm2({NOISE}))) <= N*sigma2", of=sampled, assuming=NOISY),
    # FALSE: 39 samples, two at 1 and two at -1, the others at 0: 4/39 > 1/10.
    claim("ninety", f"quantile(norm2({NOISE}), 0.9) <= 9.6*sigma2", of=sampled, assuming=NOISY),
    # TRUE: Markov's inequality.
    claim("ninety-of-ten", f"quantile(norm2({NOISE}), 0.9) <= 10*sigma2", of=sampled, assuming=NOISY),
    # FALSE: norm2/2 in 64 coordinates that are equal: 8 - O(eta).
    claim("sevenfold", "f(x[k]) - f(x[k+1]) <= 7*eta*norm(grad(f, x[k]))", of=signed, assuming=CONVEX),
    # TRUE: the sum of 49 coordinates is at most 7 times the length.
    claim("sevenfold-in-49", "f(x[k]) - f(x[k+1]) <= 7*eta*norm(grad(f, x[k]))", of=signed,
          assuming=(*CONVEX, "d <= 49")),
    # FALSE: 72 coordinates that are equal: 1/72 < 0.014.
    claim("share", "norm2(t[k]) >= 0.014*m*norm2(grad(f, x[k]))", of=topped, assuming=CONVEX),
    # TRUE: m of d coordinates, the largest.
    claim("share-of-d", "norm2(t[k]) >= m/d*norm2(grad(f, x[k]))", of=topped, assuming=(*CONVEX, "m <= d")),
    # TRUE: the descent lemma, E(norm2(g)) <= rho*norm2(grad(f, x)) for the mean of all samples.
    claim("strong-growth", "E(f(x[k+1])) <= E(f(x[k])) - eta/2*E(norm2(grad(f, x[k])))", of=sampled,
          assuming=("smooth(f, L)", LARGE, "eta <= 1/(rho*L)")),
    # VACUOUS: a step of at most 1/L does not ascend.
    claim("ascent", "norm2(x[k] - xstar) <= 1", of=descent, assuming=(*CONVEX, "eta <= 1/L", "f(x[k+1]) > f(x[k])")),
    # VACUOUS: smoothness bounds f(x0) - fstar by half of that.
    claim("steeper", "norm2(x[k] - xstar) <= 1", of=descent,
          assuming=("smooth(f, L)", "f(x0) - fstar > L*norm2(x0 - xstar)")),
    # VACUOUS: strong convexity bounds f(x) - fstar by the gradient.
    claim("flatter", "norm2(x) <= 1", vectors=("x",),
          assuming=("strongly_convex(f, mu)", "smooth(f, L)", "2*mu*(f(x) - fstar) > norm2(grad(f, x))")),
)  # fmt: skip
PAPER = Paper("crowds", "Many at once, and lengths of means", "an outsider", CLAIMS)
