"""Plain gradient descent: convex and nonconvex smooth functions."""

from theory import Paper, algorithm, claim


@algorithm
def descent(w, u, *, t):
    return u - t * w.full_gradient(u)


CLAIMS = (
    # TRUE because it is the descent lemma: f(u - t g) <= f(u) - t (1 - tL/2) |g|^2 and tL <= 1.
    claim(
        "decrease", "f(u[k+1]) <= f(u[k]) - t/2*norm2(grad(f, u[k]))", of=descent, assuming=("smooth(f, L)", "t <= 1/L")
    ),
    # FALSE because tL = 2 reflects: f = L x^2/2, u = 1, u+ = -1, f(u+) = f(u), the right side is less.
    claim(
        "decrease-long",
        "f(u[k+1]) <= f(u[k]) - t/2*norm2(grad(f, u[k]))",
        of=descent,
        assuming=("smooth(f, L)", "t <= 2/L"),
    ),
    # FALSE because the factor 2 is lost: f = L x^2/2, t = 1/L, K = 1, x0 = 1: L^2 <= L/2 * L.
    claim(
        "average-lost",
        "mean_k(norm2(grad(f, u[k]))) <= (f(x0) - fstar)/(t*K)",
        of=descent,
        assuming=("smooth(f, L)", "bounded_below(f)", "t <= 1/L"),
    ),
    # TRUE because the decrease is summed over the run and f(u[K]) >= fstar; the least is at most the mean.
    claim(
        "smallest",
        "min_k(norm2(grad(f, u[k]))) <= 2*(f(x0) - fstar)/(t*K)",
        of=descent,
        assuming=("smooth(f, L)", "bounded_below(f)", "t <= 1/L"),
    ),
    # FALSE because without convexity the last gradient may be the largest: double well f' = -Lx on [-1, 1], slope +L beyond,
    # t = 1/L, x0 = 1/8: iterates 1/8, 1/4, 1/2, 1; |f'(1)|^2 = L^2 and 2 (f(x0) - f*)/(3t) < 2 L^2/3. True for all quadratics bounded below.
    claim(
        "last",
        "norm2(grad(f, u[K])) <= 2*(f(x0) - fstar)/(t*K)",
        of=descent,
        assuming=("smooth(f, L)", "bounded_below(f)", "t <= 1/L"),
    ),
    # TRUE because of Drori and Teboulle 2014, Theorem 3.1 (tL <= 1), attained by a Huber function.
    claim(
        "exact-rate",
        "f(u[K]) - fstar <= L*norm2(x0 - xstar)/(4*K*t*L + 2)",
        of=descent,
        assuming=("smooth(f, L)", "convex(f)", "t <= 1/L"),
    ),
    # FALSE because the Huber function of threshold e = R/(2K+1), f' = L*min(x, e), has L R^2/(4K+2) after K steps. True on all quadratics.
    claim(
        "beyond-exact",
        "f(u[K]) - fstar <= L*norm2(x0 - xstar)/(4*K + 4)",
        of=descent,
        assuming=("smooth(f, L)", "convex(f)", "t == 1/L"),
    ),
    # TRUE because of cocoercivity: |u+ - x*|^2 = |u - x*|^2 - 2t<g, u - x*> + t^2|g|^2, <g, u - x*> >= |g|^2/L.
    claim(
        "nearer",
        "norm2(u[k+1] - xstar) <= norm2(u[k] - xstar)",
        of=descent,
        assuming=("smooth(f, L)", "convex(f)", "t <= 2/L"),
    ),
    # FALSE because a double well has two minimisers, and a step to one goes away from the other. Every quadratic with a minimiser is convex: true there.
    claim(
        "nearer-anyhow",
        "norm2(u[k+1] - xstar) <= norm2(u[k] - xstar)",
        of=descent,
        assuming=("smooth(f, L)", "t <= 1/L"),
    ),
    # TRUE because g+ = (1 - tB) g with B the mean Hessian along the step, tB <= 1.
    claim("same-side", "dot(grad(f, u[k+1]), grad(f, u[k])) >= 0", of=descent, assuming=("smooth(f, L)", "t <= 1/L")),
    # FALSE because g++ = (1 - tB')(1 - tB) g and two positive matrices may turn g by more than a right angle; d = 2, not quadratic
    # (scratch_two.py: three points with the interpolation conditions, -0.073). True in one dimension and on quadratics.
    claim(
        "same-side-twice",
        "dot(grad(f, u[k+2]), grad(f, u[k])) >= 0",
        of=descent,
        assuming=("smooth(f, L)", "convex(f)", "t <= 1/L"),
    ),
)
PAPER = Paper("descent", "Gradient descent", "a reader", CLAIMS)
