"""How much clients differ, and the minimisers of their own."""

from theory import Paper, claim

X = ("x",)

CLAIMS = (
    # TRUE because of the variance.
    claim(
        "split", "mean_n(norm2(grad(f_n, x))) <= zeta**2 + norm2(grad(f, x))", vectors=X, assuming=("dissimilar(zeta)",)
    ),
    # FALSE because the mean is bounded and not each: N = 3, deviations (2, -1, -1), zeta^2 = 2: 4 <= 2. True for N <= 2.
    claim("each", "norm2(grad(f_n, x) - grad(f, x)) <= zeta**2", vectors=X, assuming=("dissimilar(zeta)",)),
    # TRUE because the deviations add up to 0: the largest square is at most (N - 1)/N of N zeta^2.
    claim(
        "each-corrected",
        "max_n(norm2(grad(f_n, x) - grad(f, x))) <= (N - 1)*zeta**2",
        vectors=X,
        assuming=("dissimilar(zeta)",),
    ),
    # FALSE because the mean over the samples is bounded and not each: three samples. True for two.
    claim(
        "each-sample",
        "norm2(grad(f_ni, x) - grad(f_n, x)) <= sigma2",
        vectors=X,
        assuming=("bounded_variance(sigma2)",),
    ),
    # TRUE because |grad f_n|^2 <= 2L(f_n - f_n*), convex or not.
    claim(
        "own-gap",
        "mean_n(norm2(grad(f_n, x))) <= 2*L*mean_n(f_n(x) - f_n(xstar_n))",
        vectors=X,
        assuming=("smooth(f_n, L)",),
    ),
    # TRUE because f_n(x*) - f_n* >= mu/2 |x* - x_n*|^2.
    claim(
        "own-distance",
        "mu*mean_n(norm2(xstar - xstar_n)) <= 2*(fstar - mean_n(f_n(xstar_n)))",
        assuming=("strongly_convex(f_n, mu)",),
    ),
    # FALSE because L stands for mu: curvatures 1 with L = 2, minimisers 1 and -1: L*1 = 2 <= 2*(1/2).
    claim(
        "own-distance-swapped",
        "L*mean_n(norm2(xstar - xstar_n)) <= 2*(fstar - mean_n(f_n(xstar_n)))",
        assuming=("smooth(f_n, L)", "strongly_convex(f_n, mu)"),
    ),
    # FALSE because of different curvatures: x^2/2 and (x - 1)^2: x* = 2/3. True for equal ones.
    claim("middle", "norm2(xstar - mean_n(xstar_n)) <= 0", assuming=("smooth(f_n, L)", "strongly_convex(f_n, mu)")),
    # TRUE because grad f(x*) = 0, and it is the mean.
    claim("balance", "norm2(mean_n(grad(f_n, xstar))) <= 0", assuming=("smooth(f_n, L)",)),
    # FALSE because the clients' gradients cancel at x*, and are not 0. True for N = 1.
    claim("each-balance", "mean_n(norm2(grad(f_n, xstar))) <= 0", assuming=("smooth(f_n, L)", "convex(f_n)")),
    # FALSE because the clients' functions are not f: a_n = the own minimisers. True for identical clients.
    claim("jensen-own", "f(mean_n(a_n)) <= mean_n(f_n(a_n))", vectors=("a_n",), assuming=("convex(f_n)",)),
    # TRUE because f is convex.
    claim("jensen", "f(mean_n(a_n)) <= mean_n(f(a_n))", vectors=("a_n",), assuming=("convex(f)",)),
)
PAPER = Paper("spread", "Spread", "a reader", CLAIMS)
