"""False sentences of which a quick check once said `supported`, each with what breaks it: the search's open cases.

    fedproof check benchmarks/missed.py --quick

All are false. What is not `refuted` is still missed: some counts of clients or samples that have to fit a ratio, a sum
that takes many numbers at once, five vectors at once, two integers that have to be large together, hundreds of rounds.
"""

from __future__ import annotations

from theory import Paper, algorithm, claim
from theory.domain import NONNEGATIVE


@algorithm
def one_client(w, x, *, eta):
    """One client's gradient a step."""
    return x - eta * w.average(w.gradient(x), w.choose(1))


@algorithm
def one_sample(w, x, *, eta):
    """One sample's gradient a step."""
    return x - eta * w.mean(w.gradient(x, w.sample()))


@algorithm(x="each grad(f_n, x0)")
def mixing(w, x, *, W):
    """A step of gossip."""
    return w.mix(x, W)


@algorithm
def local(w, x, *, eta, H):
    """H local gradient steps, then the mean."""
    y = w.each(x)
    for _ in w.repeat(H):
        y = y - eta * w.gradient(y)
    return w.mean(y)


@algorithm
def descent(w, x, *, eta):
    """Gradient descent."""
    return x - eta * w.full_gradient(x)


@algorithm(x="x0", g="each grad(f_n, x0)")
def page(w, x, g, *, eta, p):
    """PAGE: a full gradient now and then, differences of one sample's in between."""
    new, i = x - eta * w.mean(g), w.sample()
    return new, w.where(w.coin(p), w.gradient(new), g + w.gradient(new, i) - w.gradient(x, i))


@algorithm(x="each x0", g="each grad(f_n, x0)")
def tracking(w, x, g, *, eta, W):
    """Gradient tracking, adapt then combine."""
    new = w.mix(x - eta * g, W)
    return new, w.mix(g + w.gradient(new) - w.gradient(x), W)


@algorithm(x="x0", g="each grad(f_n, x0)")
def remembered(w, x, g, *, eta, S):
    """S clients a round renew their gradients, which all are remembered."""
    new = w.where(w.choose(S), w.gradient(x), g)
    return x - eta * w.mean(new), new


@algorithm(x="x0", c="each grad(f_n, x0)")
def saga_of_clients(w, x, c, *, eta, S):
    """S clients a round renew what is remembered of them."""
    active, g = w.choose(S), w.gradient(x)
    return x - eta * (w.average(g - c, active) + w.mean(c)), w.where(active, g, c)


@algorithm(x="x0", q="x0")
def heads(w, x, q, *, p):
    """The share of the clients whose coin falls so, times x0."""
    return x, w.mean(w.coins(p) * w.each(x))


@algorithm
def signs(w, x, *, eta):
    """A step along the signs of the gradient."""
    return x - eta * w.sign(w.full_gradient(x))


@algorithm(x="x0", v="each grad(f_n, x0)")
def averaged(w, x, v, *, eta, beta):
    """Descent, beside a moving average of the gradients."""
    return x - eta * w.full_gradient(x), beta * v + (1 - beta) * w.gradient(x)


R = "norm2(x0 - xstar)"
EACH = ("smooth(f_n, L)", "convex(f_n)")
STEP = f"E(norm2(x[1] - xstar)) <= (1 - eta*mu*(2 - 2*eta*L + eta*mu))*{R} + {{0}}*eta**2*s2"
STRONG = (*EACH, "strongly_convex(f, mu)", "eta <= 1/L")
NOISE = {"s2": "mean_n(norm2(grad(f_n, xstar)))"}
SPREAD = {"s2": "mean_n(mean_i(norm2(grad(f_ni, xstar) - grad(f_n, xstar))))"}
SHAPIRO = " + ".join(f"u{i}/(u{(i + 1) % 14} + u{(i + 2) % 14})" for i in range(14))

TURNING = (
    "1/2*max(0, x1 + 3)**2/2 + 1/4*max(0, 3*x2 - 3*x1 - 6)**2/2 + 1/2*max(0, -x1 - 3*x2 - 1)**2/2 from (-3, 2), L < 8"
)
PSI = "E(norm2(x[{0}] - xstar)) + 4*eta**2*E(mean_n(norm2(c[{0}] - grad(f_n, xstar))))"
WHOLE = ("smooth(f, L)", "convex(f)")


CLAIMS = (
    claim("clients-5", STEP.format("(1.97 + 10*(mu/L - 1/5)**2)"), of=one_client, assuming=STRONG, where=NOISE,
          remarks=("five clients, one with curvature L, the others flat, eta = 1/L",)),
    claim("clients-5-two", STEP.format("(1.97 + 10*(mu/L - 2/5)**2)"), of=one_client, assuming=STRONG, where=NOISE,
          remarks=("five clients, two with curvature L, the others flat, eta = 1/L",)),
    claim("samples-5", STEP.format("(1.97 + 5*(eta*L - 0.37)**2 + 10*(mu/L - 1/5)**2)"), of=one_sample, where=SPREAD,
          assuming=("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)", "N == 1", "eta <= 1/L"),
          remarks=("five samples, one with curvature L, the others flat, eta = 0.37/L",)),
    claim("interpolation", f"E(norm2(x[1] - xstar)) <= (1 - 2*eta*mu + eta**2*L*mu "
          f"+ eta**2*((mu - 2/5*L)**2 - L**2/1000))*{R}", of=one_client, assuming=(*STRONG, "same_minimiser(f_n)"),
          remarks=("five clients, two with curvature L, the others flat, eta = 1/L",)),
    claim("seven", "norm2(x[1] - x0) <= (0.98 + (H - 7)**2/40)*H**2*eta**2*mean_n(norm2(grad(f_n, x0)))", of=local,
          assuming=(*EACH, "eta <= 1/L"), remarks=("H = 7, a linear function",)),
    claim("thirteen", "norm2(x[1] - x0) <= (0.98 + (H - 13)**2/40)*H**2*eta**2*mean_n(norm2(grad(f_n, x0)))", of=local,
          assuming=(*EACH, "eta <= 1/L"), remarks=("H = 13, a linear function",)),
    claim("shapiro", f"{SHAPIRO} >= 7", parameters={f"u{i}": NONNEGATIVE for i in range(14)},
          remarks=("0, 42, 2, 42, 4, 41, 5, 39, 4, 38, 2, 38, 0, 40",)),
    claim("angle", "dot(grad(f, x0), grad(f, x[k])) >= 0", of=descent, assuming=(*WHOLE, "eta <= 1/(10*L)"),
          remarks=(f"{TURNING}, eta = 1/80 and k = 96",)),
    claim("angle-slow", "dot(grad(f, x0), grad(f, x[k])) >= 0", of=descent, assuming=(*WHOLE, "eta <= 1/(100*L)"),
          remarks=(f"{TURNING}, eta = 1/800 and k = 964",)),
    claim("away", "norm2(x[k] - x0) <= norm2(x[k+1] - x0)", of=descent, assuming=(*WHOLE, "eta <= 1/(10*L)"),
          remarks=(f"{TURNING}, eta = 1/80 and k = 107",)),
    claim("towards", "norm2(x0 - xstar)*dot(x[k+1] - x[k], x0 - xstar) <= 0", of=descent,
          assuming=(*WHOLE, "eta <= 1/L"), remarks=("without its first factor the worst case breaks it",)),
    claim("page", "E(mean_n(norm2(g[k+1] - grad(f_n, x[k+1])))) <= (1 - p)**2*E(mean_n(norm2(g[k] - grad(f_n, x[k]))))"
          " + (1 - p)*L**2*E(norm2(x[k+1] - x[k]))", of=page,
          assuming=("smooth(f_ni, L)", "convex(f_ni)", "p <= 1", "N <= 1"), remarks=("samples 0 and x^2/2, x0 = 1, "
          "p = 3/10, eta = 1/2, k = 6",)),
    claim("seventeen", "(d**2 - 289)**2*norm2(u) >= norm2(u)", vectors=("u",), remarks=("d = 17",)),
    claim("simplex", "max(dot(u, v), dot(v, w), dot(w, u), dot(u, z), dot(v, z), dot(w, z), dot(u, r), dot(v, r), "
          "dot(w, r), dot(z, r)) >= 0", vectors=("u", "v", "w", "z", "r"),
          remarks=("the corners of a regular simplex around 0 in four dimensions",)),
    claim("tracking", f"mean_n(norm2(x[k] - xstar)) <= 4*{R}", of=tracking,
          assuming=(*EACH, "eta <= (1 - rho)**2/L", "same_minimiser(f_n)", "connected(W)"), remarks=(
              "W = [[1/10, 9/10], [9/10, 1/10]], x^2/2 and 9/20*x^2, eta = 1/25, k = 300",)),
    claim("remembered", f"E(f(x[K])) - fstar <= L*{R}/2", of=remembered,
          assuming=(*EACH, "eta <= 1/(4*L)", "S <= N"), remarks=("N = 16, S = 1, x^2/2, eta = 1/4, K = 15",)),
    claim("remembered-far", f"E(f(x[K])) - fstar <= L*{R}/2", of=remembered,
          assuming=(*EACH, "eta <= 1/L", "S <= N"), remarks=("N = 4, S = 1, x^2/2, eta = 1, K = 3",)),
    claim("leader", "mean_n(norm2(a_n - mean_n(a_n))) <= 0.9*c", vectors=("a_n",),
          assuming=("norm2(first_n(a_n) - a_n) <= c",), remarks=("0, then five times 1 and five times -1",)),
    claim("leader-of-a-graph", "max_n(norm2(x[k+1] - mean_n(x[k+1]))) <= 5/2*rho**2*max_n(norm2(x[k] - mean_n(x[k])))",
          of=mixing, assuming=("connected(W)",),
          remarks=("N = 9, s = (1, -1, .., -1): 9*W is 1, in the first row and column 1 + s, else 1 - (s_i + s_j)/8",)),
    claim("path", "sum_k(norm(x[k+1] - x[k])) <= 1.45*norm(x0 - xstar)", of=descent,
          assuming=("smooth(f, L)", "convex(f)", "quadratic(f)", "eta <= 1/L"),
          remarks=("curvatures 1, 1/5, 1/50, eta = 1, x0 = (3, 2, 5/2), K of some hundreds",)),
    claim("saga", f"{PSI.format('k+1')} <= (1 - min(eta*mu, S/(2*N)))*({PSI.format('k')})", of=saga_of_clients,
          assuming=("smooth(f_n, L)", "convex(f_n)", "strongly_convex(f, mu)", "eta <= 1/(6*L)", "S <= N"),
          remarks=("45 clients x^2/2 and 5 clients 0, S = 1, eta = 1/6, mu = 9/10, k = 26",)),
    claim("hoeffding", "quantile(norm(q[1]), 1 - a) <= norm(x0)*(p + sqrt(5*log(1/a)/(12*N)))", of=heads,
          assuming=("a < 1", "p <= 1"), remarks=("N = 24, a = 7.69e-9, p = 3/10: 7/8 is more than 0.8695",)),
    claim("noise-ball", f"E(norm2(x[k] - xstar)) <= (1 - eta*mu)**k*{R} + 5000*eta**2*s2/N", of=one_sample,
          where=SPREAD, assuming=("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)", "eta <= 1/(2*L)"),
          remarks=("small mu and more than 5,000 rounds: a factor 1/(eta*mu) is missing",)),
    claim("signs", "f(x[k+1]) <= f(x[k]) - eta*norm(grad(f, x[k])) + 25*eta**2*L", of=signs,
          assuming=("smooth(f, L)",), remarks=("d = 100, norm2(x)/2, eta = 1, x0 = (1, .., 1)/10",)),
    claim("harmonic", "sum_k(1/(k + 1)) <= 97/100*log(K) + 1", remarks=("K = 2,000,000",)),
    claim("averaged", "dot(mean_n(v[k]), grad(f, x[k])) >= 0", of=averaged, assuming=(*WHOLE, "eta <= 1/(4*L)",
          "beta < 1"), remarks=("as in angle, where beta is nearly 1",)),
    claim("valley", "dot(grad(f, x), x - xstar) >= 0", vectors=("x",), assuming=("pl(f, mu)", "smooth(f, L)"),
          remarks=("h'Ah/2, A = diag(1, 100), h = x turned by the angle -log(1 + norm2(x))/2: mu = 1/2, L < 300, and "
                   "the left side is down to -19*norm2(x)",)),
)  # fmt: skip

PAPER = Paper("missed", "False sentences that a quick check missed", "outsiders", CLAIMS)
