"""Numbers tied to gradients, starts and minimisers at 0, constants of each client, late rounds, coordinates kept."""

from theory import Paper, algorithm, claim


@algorithm
def descent(w, x, *, eta):
    return x - eta * w.full_gradient(x)


@algorithm
def slowing(w, x, *, eta):
    """Steps of eta over the number of the round."""
    return x - eta / (w.k + 1) * w.full_gradient(x)


@algorithm
def sgd(w, x, *, eta):
    return x - eta * w.mean(w.gradient(x, w.sample()))


@algorithm
def noisy(w, x, *, eta, sigma2):
    return x - eta * (w.full_gradient(x) + w.mean(w.noise(sigma2)))


@algorithm
def batched(w, x, *, eta, b):
    return x - eta * w.mean(w.gradient(x, w.sample(b, replace=False)))


@algorithm(x="x0", y="x0")
def inner(w, x, y, *, eta):
    """Steps of SVRG whose reference point stays."""
    i = w.sample()
    return x - eta * w.mean(w.gradient(x, i) - w.gradient(y, i) + w.gradient(y)), y


@algorithm
def important(w, x, *, eta, p):
    """Clients by coins of their chances, weighed by one over these."""
    g = w.gradient(x)
    return x - eta * w.mean(w.where(w.coins(p), g / p, 0 * g))


@algorithm
def steps_of_each(w, x, *, a):
    return x - w.mean(a * w.gradient(x))


@algorithm
def turns_of_each(w, x, *, eta, H, tau):
    """Each client goes on for turns of its own number."""
    y = w.each(x)
    for h in w.repeat(H):
        y = y - eta * w.where(w.before(h, tau), w.gradient(y), 0 * y)
    return w.mean(y)


@algorithm(x="x0", z="x0")
def two_orders(w, x, z, *, eta):
    """Two steps of half the length beside one."""
    y = x - eta / 2 * w.full_gradient(x)
    return y - eta / 2 * w.full_gradient(y), z - eta * w.full_gradient(z)


@algorithm
def chosen(w, x, *, eta):
    return x - eta * w.average(w.gradient(x), w.choose(1))


@algorithm(x="x0", g="grad(f, x0)")
def ef21(w, x, g, *, eta, m):
    new = x - eta * g
    return new, g + w.top(w.full_gradient(new) - g, m)


@algorithm(x="x0", e="each 0")
def fed_back(w, x, e, *, eta, m):
    """Error feedback of clients that send their largest coordinates."""
    total = e + eta * w.gradient(x)
    sent = w.top(total, m)
    return x - w.mean(sent), total - sent


@algorithm
def thresholded(w, x, *, eta, m):
    return w.top(x - eta * w.full_gradient(x), m)


STEP = ("smooth(f, L)", "convex(f)", "eta <= 1/L")
NEAR = ("smooth(f, L)", "strongly_convex(f, mu)", "L <= 4*mu", "quadratic(f)", "eta <= 1/L", "m <= d")
BENT = ("smooth(f_ni, L)", "strongly_convex(f_ni, mu)", "bounded_variance(sigma2)")
STILL = ("eta <= 1/L", "norm2(x0 - xstar) <= 0", "N == 1")
MOVED = "E(norm2(x[1] - x0 + eta*grad(f, x0)))"
SQUARES = "mean_n(norm2(grad(f_n, x0)))"
ONE_OF = "E(norm2(x[k+1] - xstar)) <= (1 - eta*mu)*E(norm2(x[k] - xstar)) + 2*eta**2*mean_n(norm2(grad(f_n, xstar)))"
CLAIMS = (
    # FALSE: gradients 1 and 3, S = 1, p = (1/4, 3/4): 3/2 < 5/2.
    claim("chances-by-norms", f"{MOVED} >= eta**2*(1/S - 1/N)*{SQUARES}", of=important,
          assuming=("smooth(f_n, L)", "S*norm(grad(f_n, x0)) == p_n*sum_n(norm(grad(f_n, x0)))", "p_n <= 1")),
    # FALSE: gradients 1 and 3, p = (1/10, 9/10): 5/2 > 3/2.
    claim("chances-by-squares", f"{MOVED} <= eta**2*(mean_n(norm(grad(f_n, x0)))**2 - {SQUARES}/N)", of=important,
          assuming=("smooth(f_n, L)", "norm2(grad(f_n, x0)) == p_n*sum_n(norm2(grad(f_n, x0)))", "N >= 2")),
    # FALSE: gradients 1 and 9, c = 1: 1 > 0.805.
    claim("equal-steps", f"norm2(x[1] - x0) <= c**2*(1/2 + norm2(grad(f, x0))/(2*{SQUARES}))", of=steps_of_each,
          assuming=("smooth(f_n, L)", "a_n*norm(grad(f_n, x0)) == c")),
    # TRUE: a mean of vectors of length c.
    claim("equal-steps-mean", "norm2(x[1] - x0) <= c**2", of=steps_of_each,
          assuming=("smooth(f_n, L)", "a_n*norm(grad(f_n, x0)) == c")),
    # FALSE: three clients with 1, 1 and 4 turns and gradients 1, 1, 4: 36 > 30.
    claim("budget-of-turns", f"norm2(x[1] - x0) <= 5*eta**2*{SQUARES}", of=turns_of_each,
          assuming=("smooth(f_n, L)", "convex(f_n)", "eta <= 1/L", "mean_n(tau_n) == 2", "tau_n <= H")),
    # FALSE: one of a hundred numbers is 67/100, the others are 1/300.
    claim("third-powers", "sum_n(q_n**3) <= 3/10", assuming=("sum_n(q_n) == 1", "sum_n(q_n**2) <= 9/20")),
    # TRUE: the largest is at most 671/1000.
    claim("third-powers-more", "sum_n(q_n**3) <= 31/100", assuming=("sum_n(q_n) == 1", "sum_n(q_n**2) <= 9/20")),
    # FALSE: x^2/2, 0 and 0 with L = (1, 1/10000, 1/10000), eta = 8.
    claim("mean-of-roots", "f(x[k+1]) <= f(x[k])", of=descent,
          assuming=("smooth(f_n, L_n)", "convex(f_n)", "eta*mean_n(sqrt(L_n))**2 <= 1")),
    # TRUE.
    claim("mean-of-constants", "f(x[k+1]) <= f(x[k])", of=descent,
          assuming=("smooth(f_n, L_n)", "convex(f_n)", "eta*mean_n(L_n) <= 1")),
    # FALSE: x^2/2 and 0, eta = 1: E(x[1]^2) = 1/2 > (1 - 1/2) - what 1/L_1 allows; a mean of constants is no largest one.
    claim("one-of-mean", ONE_OF, of=chosen,
          assuming=("smooth(f_n, L_n)", "convex(f_n)", "strongly_convex(f, mu)", "eta <= 1/(2*mean_n(L_n))")),
    # TRUE.
    claim("one-of-largest", ONE_OF, of=chosen,
          assuming=("smooth(f_n, L_n)", "convex(f_n)", "strongly_convex(f, mu)", "eta <= 1/(2*max_n(L_n))")),
    # FALSE: samples phi + x and phi - x, phi' of slopes 1/20 below 0 and 1 above, eta = 1, k = 11: 2.54 > 5/2.
    claim("bias-of-samples", "norm2(E(x[k]) - xstar) <= eta*sigma2/(8*mu)", of=sgd, assuming=(*BENT, *STILL)),
    # FALSE: the same with noise of 1 and -1: 2.63 > 5/2.
    claim("bias-of-noise", "norm2(E(x[k]) - xstar) <= eta*sigma2/(8*mu)", of=noisy,
          assuming=("smooth(f, L)", "strongly_convex(f, mu)", *STILL)),
    # FALSE: one sample x^2/2 and 19 samples 0, eta = 1/4, k = 400: by 0.1 %.
    claim("one-of-twenty", "E(norm2(x[k+1] - xstar)) <= (1 - eta*mu)*E(norm2(x[k] - xstar)) + eta**2*L*(f(x0) - fstar)",
          of=inner, assuming=("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)", "eta <= 1/(4*L)", "N == 1")),
    # FALSE: eight samples with gradients 1 and -1, b = 1: 1 > 7/8.
    claim("batch-of-eight", "E(norm2(x[1] - xstar)) <= norm2(x0 - xstar - eta*grad(f, x0)) "
          "+ eta**2*(1/b - 1/8)*mean_i(norm2(grad(f_ni, x0) - grad(f, x0)))", of=batched,
          assuming=("smooth(f_ni, L)", "N == 1", "sum_i(1) == 8", "b <= 7")),
    # FALSE: x^2/2, eta = 1/20, k = 1000: the exponent is 2*eta*mu.
    claim("late-rounds", "norm2(x[k] - xstar) <= norm2(x0 - xstar)/(k + 1)**(11/5*eta*mu)", of=slowing,
          assuming=("smooth(f, L)", "strongly_convex(f, mu)", "eta <= 1/L")),
    # FALSE: f = x, H = 10: the sum of 1/j over 1024 rounds is 7.509 > 15/2.
    claim("dyadic", "norm(x[K] - x0) <= (1 + 13/20*H)*eta*G", of=slowing, assuming=("lipschitz(f, G)", "K == 2**H")),
    # FALSE: gradients (6, -2) at 0 and (2, 1) at (-6, 2), minimiser (-8, 0): 65 > 64.
    claim("from-zero", "norm2(x[2]) <= norm2(xstar)", of=descent, assuming=(*STEP, "norm2(x0) <= 0")),
    # FALSE: the same; squared hinges along (1, 0) and, a tenth of it, (3/5, 4/5) break it at k = 9.
    claim("implicit-bias", "norm(x[k]) <= norm(xstar)", of=descent, assuming=(*STEP, "norm(x0) <= 0")),
    # TRUE: descent comes no farther from any minimiser.
    claim("from-zero-near", "norm(x[k] - xstar) <= norm(xstar)", of=descent, assuming=(*STEP, "norm(x0) <= 0")),
    # FALSE: five points in the plane, as without the last hypothesis.
    claim("minimiser-at-zero", "f(z[1]) <= f(x[1])", of=two_orders, assuming=(*STEP, "norm(xstar) <= 0")),
    # FALSE: norm2(x)/2 in three dimensions, m = 1, eta = 9/10, x0 = (3, 2, 1): 5.5 times as far at k = 17.
    claim("ef21", "norm2(x[k] - xstar) <= 4*norm2(x0 - xstar)", of=ef21, assuming=NEAR),
    # FALSE: the same coordinates of clients.
    claim("fed-back", "mean_n(E(norm2(x[k] - xstar))) <= 4*norm2(x0 - xstar)", of=fed_back,
          assuming=("strongly_convex(f_n, mu)", "smooth(f_n, L)", "L <= 4*mu", "quadratic(f_n)", "same_minimiser(f_n)",
                    "eta <= 1/L", "m <= d")),
    # FALSE: norm2(x - (9/10, 7/10))/2, eta = 5/4, x0 = (1/10, 7/2).
    claim("thresholds", "f(x[k+2]) <= f(x[k+1])", of=thresholded,
          assuming=("smooth(f, L)", "convex(f)", "quadratic(f)", "m <= d", "eta <= 5/(4*L)")),
)  # fmt: skip
PAPER = Paper("zeros", "Ties, zeros and late rounds", "an outsider", CLAIMS)
