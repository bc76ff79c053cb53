"""Claims that no mean nor variance decides: every outcome, largest over the rounds, fourth powers, old models."""

from theory import Paper, algorithm, claim
from theory.domain import NONNEGATIVE


@algorithm
def sgd(w, x, *, eta):
    """One sample of each client."""
    return x - eta * w.mean(w.gradient(x, w.sample()))


@algorithm
def shuffled(w, x, *, eta):
    """All samples in random order."""
    return w.mean(w.pass_over(w.each(x), lambda y, i: y - eta * w.gradient(y, i)))


@algorithm(x="x0", z="x0")
def dropping(w, x, z, *, eta, beta, p):
    """Heavy ball; the gradient gets lost now and then."""
    return x - eta * w.where(w.coin(p), w.full_gradient(x), 0 * x) + beta * (x - z), x


@algorithm(past="J times x0", x="x0")
def old_models(w, past, x, *, eta, alpha):
    """The gradient at a mean of the last J models."""
    new = x - eta * w.full_gradient(w.combine(alpha, past))
    return w.shift(past, new), new


@algorithm(x="x0", z="x0")
def heavy_ball(w, x, z, *, eta, beta):
    """Polyak's."""
    return x - eta * w.full_gradient(x) + beta * (x - z), x


@algorithm
def as_many_as_they_like(w, x, *, eta, H, tau):
    """Local steps, of each client as many as it likes."""
    y = w.each(x)
    for h in w.repeat(H):
        y = y - eta * w.where(w.before(h, tau), w.gradient(y), 0 * y)
    w.tap("last", y)
    return w.mean(y)


@algorithm
def batched(w, x, *, eta, b):
    """b samples of each client."""
    return x - eta * w.mean(w.gradient(x, w.sample(b)))


@algorithm
def one_each(w, x, *, eta):
    """One sample of each client, told."""
    g = w.gradient(x, w.sample())
    w.tap("g", g)
    return x - eta * w.mean(g)


@algorithm
def epochs(w, x, *, eta):
    """All samples of each client in random order; what each client comes to is told."""
    y = w.pass_over(w.each(x), lambda v, i: v - eta * w.gradient(v, i))
    w.tap("own", y)
    return w.mean(y)


@algorithm(x="each x0")
def in_turn(w, x, *, S, t):
    """S clients a round solve nearly what is theirs."""
    return w.where(w.choose(S), w.prox(x, t), x)


@algorithm
def by_coordinate(w, x, *, eta, m):
    """m coordinates of the gradient."""
    return x - eta * w.keep(w.full_gradient(x), m)


INTERPOLATED = ("smooth(f_ni, L)", "convex(f_ni)", "same_minimiser(f_ni)", "eta <= 1/L", "N == 1")
WALK = ("bounded_gradients(f_ni, G)", "quadratic(f_ni)", "norm2(grad(f, x0)) <= 0")
LOST = ("smooth(f, L)", "convex(f)", "quadratic(f)", "eta <= 1/L", "p <= 1")
TUNED = ("eta == 4/(sqrt(L) + sqrt(mu))**2", "beta == ((sqrt(L) - sqrt(mu))/(sqrt(L) + sqrt(mu)))**2", "mu < L")
LEFT = "norm2(x[k] - xstar)"
CLAIMS = (
    # TRUE: each step of one sample comes no farther from the minimiser that all have.
    claim("nearer", f"norm2(x[k+1] - xstar) <= {LEFT}", of=sgd, assuming=INTERPOLATED),
    # FALSE: a step of one sample's row may climb on the mean, where rows are neither along nor across one another.
    claim("descends", "f(x[k+1]) <= f(x[k])", of=sgd, assuming=INTERPOLATED),
    # FALSE: so may a pass over all samples: two rows of length 1 at 153 degrees, eta = 1.
    claim("pass-descends", "f(x[k+1]) <= f(x[k])", of=shuffled, assuming=INTERPOLATED),
    # TRUE by Doob's inequality.
    claim("maximal-4", "E(max_k(norm2(x[k+1] - x0))) <= 4*E(norm2(x[K] - x0))", of=sgd, assuming=WALK),
    # FALSE: samples x and -x, eta = 1: 1.5176 for K = 12 (1.83 in the limit).
    claim("maximal", "E(max_k(norm2(x[k+1] - x0))) <= 3/2*E(norm2(x[K] - x0))", of=sgd, assuming=WALK),
    # FALSE: f_1 of samples x, 0, 0, 0, 0 and f_2 = 0: 1/80 > 4/400.
    claim("fourth", "E(norm2(x[1] - x0)**2) <= 4*E(norm2(x[1] - x0))**2", of=sgd, assuming=("smooth(f_ni, L)", "N >= 2")),
    # FALSE: x^2/2, eta = 1, beta = 4/5; along the worst of all paths 69 times as much after 13 rounds.
    claim("every-path", f"{LEFT} <= 60*norm2(x0 - xstar)", of=dropping, assuming=(*LOST, "beta <= 4/5")),
    # TRUE: with beta <= 1/10 no path grows.
    claim("every-path-light", f"{LEFT} <= 60*norm2(x0 - xstar)", of=dropping, assuming=(*LOST, "beta <= 1/10")),
    # FALSE: all weight on the oldest of six models, eta = 3/10, x^2/2: unstable, 4 times as much after 95 rounds.
    claim("delayed", f"{LEFT} <= 4*norm2(x0 - xstar)", of=old_models, parameters={"alpha": NONNEGATIVE},
          assuming=("smooth(f, L)", "convex(f)", "quadratic(f)", "eta <= 1.8/(J*L)", "sum_j(alpha_j) == 1")),
    # FALSE: three clients with 1, 1 and 10 steps of one gradient: 34 > 32.
    claim("uneven", "mean_n(norm2(last[k] - x[k])) <= 2*eta**2*mean_n(tau_n)**2*max_n(norm2(grad(f_n, x[k])))",
          of=as_many_as_they_like, assuming=("smooth(f_n, L)", "convex(f_n)", "eta <= 1/L", "tau_n <= H")),
    # FALSE: two clients, of one sample x and of eight samples 0: 1/4 > 2/9.
    claim("pooled", "norm2(grad(f, x)) <= 2*sum_n(sum_i(norm2(grad(f_ni, x))))/sum_n(sum_i(1))", vectors=("x",),
          assuming=("smooth(f_ni, L)",)),
    # TRUE: the square of a mean is no more than the mean of the squares.
    claim("pooled-by-client", "norm2(grad(f, x)) <= mean_n(mean_i(norm2(grad(f_ni, x))))", vectors=("x",),
          assuming=("smooth(f_ni, L)",)),
    # FALSE: x^2/2, mu = 1/3600: 487 times as much after 29 rounds; roots of curvatures have to be fractions.
    claim("tuned", f"{LEFT} <= 400*norm2(x0 - xstar)", of=heavy_ball,
          assuming=("smooth(f, L)", "strongly_convex(f, mu)", "quadratic(f)", *TUNED)),
    # FALSE: five clients with 20 samples each, one of gradient 1 and the others 0: 1 - (19/20)^5 = 0.226 > 4/20.
    claim("largest-of-clients", "E(max_n(norm2(g[k]))) <= 4*max_n(E(norm2(g[k])))", of=one_each,
          assuming=("smooth(f_ni, L)",)),
    # TRUE: a maximum is no more than the sum.
    claim("sum-of-clients", "E(max_n(norm2(g[k]))) <= N*max_n(E(norm2(g[k])))", of=one_each,
          assuming=("smooth(f_ni, L)",)),
    # FALSE: samples x, one of two clients and ten of the third, eta = 1: 34 > 32.
    claim("uneven-epochs", "mean_n(norm2(own[k] - x[k])) <= 2*(eta*mean_n(sum_i(1))*G)**2", of=epochs,
          assuming=("bounded_gradients(f_ni, G)",)),
    # FALSE: Hoeffding's constant is 2: samples x and -x, b = 48, q just below P(|S_48| >= 24) = 0.0007: 1/4 > 0.248.
    claim("tail", "quantile(norm2(x[1] - x0), 1 - q) <= 3/2*(eta*G)**2*log(2/q)/b", of=batched,
          assuming=("bounded_gradients(f_ni, G)", "norm2(grad(f, x0)) <= 0", "N == 1", "q < 1")),
    # TRUE by Hoeffding's inequality, in any number of coordinates by Pinelis's.
    claim("tail-2", "quantile(norm2(x[1] - x0), 1 - q) <= 2*(eta*G)**2*log(2/q)/b", of=batched,
          assuming=("bounded_gradients(f_ni, G)", "norm2(grad(f, x0)) <= 0", "N == 1", "q < 1")),
    # FALSE: so is Azuma's, of 48 steps of one sample.
    claim("walk", "quantile(norm2(x[K] - x0), 1 - q) <= 3/2*K*(eta*G)**2*log(2/q)", of=sgd,
          assuming=(*WALK, "N == 1", "q < 1")),
    # FALSE: x^2/2, x0 = 1: of 24 rounds with one of 24 clients each none was this client's with chance 0.36008 > 0.36.
    claim("each-once", "E(mean_n(norm2(x[N] - xstar))) <= (9/25 + 1/(1 + t*mu))*norm2(x0 - xstar)", of=in_turn,
          assuming=("smooth(f_n, L)", "strongly_convex(f_n, mu)", "same_minimiser(f_n)", "S <= 1", "N == K")),
    # TRUE: (1 - 1/N)^N < 1/e.
    claim("each-once-limit", "E(mean_n(norm2(x[N] - xstar))) <= (46/125 + 1/(1 + t*mu))*norm2(x0 - xstar)", of=in_turn,
          assuming=("smooth(f_n, L)", "strongly_convex(f_n, mu)", "same_minimiser(f_n)", "S <= 1", "N == K")),
    # FALSE: the same of one of 24 coordinates.
    claim("coordinates-once", "E(norm2(x[d] - xstar)) <= (34/25 - mu/L)*norm2(x0 - xstar)", of=by_coordinate,
          assuming=("smooth(f, L)", "strongly_convex(f, mu)", "m == 1", "d == K", "eta == 1/(d*L)")),
)  # fmt: skip
PAPER = Paper("chances", "What no variance decides", "an outsider", CLAIMS)
