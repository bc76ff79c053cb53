"""What all instances had in common that were drawn: infima of 0 or less, Hessians of one local step, matrices that commute."""

from theory import Paper, algorithm, claim


@algorithm
def descent(w, x, *, eta):
    return x - eta * w.full_gradient(x)


@algorithm
def local(w, x, *, eta, H):
    """H local steps, then the mean."""
    y = w.each(x)
    for _ in w.repeat(H):
        y = y - eta * w.gradient(y)
    return w.mean(y)


@algorithm
def chosen(w, x, *, eta, S):
    """S clients a round."""
    return x - eta * w.average(w.gradient(x), w.choose(S))


@algorithm(x="each grad(f_n, x0)")
def two_graphs(w, x, *, W, V):
    """Half a step along each of two graphs."""
    a, b = (x + w.mix(x, W)) / 2, (x + w.mix(x, V)) / 2
    w.tap("a", a)
    w.tap("b", b)
    return a


@algorithm(x="each grad(f_n, x0)")
def mixing(w, x, *, W):
    return w.mix(x, W)


@algorithm
def sgd(w, x, *, eta):
    return x - eta * w.mean(w.gradient(x, w.sample()))


@algorithm
def thresholded(w, x, *, eta, m):
    """The m largest coordinates of a point, and of a gradient step from it."""
    new = x - eta * w.full_gradient(x)
    w.tap("u", w.top(x, m))
    w.tap("v", new)
    w.tap("s", w.top(new, m))
    return new


STEP = ("smooth(f, L)", "strongly_convex(f, mu)", "eta <= 1/L")
SPREAD = "mean_n(norm2(grad(f_n, x0) - grad(f, x0)))"
CHOSEN = "E(norm2(x[1] - x0 + eta*grad(f, x0)))"
CLAIMS = (
    # FALSE: (x - 1)^2/2 and (x + 1)^2/2, eta = 1, x0 = 0: 1/2 > 0. The infimum is missing.
    claim("no-infimum", "f(x[k+1]) <= (1 - eta*mu)*f(x[k])", of=descent, assuming=STEP),
    # TRUE.
    claim("infimum", "f(x[k+1]) - fstar <= (1 - eta*mu)*(f(x[k]) - fstar)", of=descent, assuming=STEP),
    # FALSE: the same two clients.
    claim("no-infimum-above", "f(x[k]) <= L/2*norm2(x0 - xstar)", of=descent,
          assuming=("smooth(f, L)", "convex(f)", "eta <= 1/L")),
    # FALSE: x_1^2/2 and 1/10*(12/13*x_1 + 5/13*x_2)^2/2, eta = 1, H = 20, x0 = (0, 1): f nearly doubles.
    claim("local-steps-descend", "f(x[k+1]) <= f(x[k])", of=local,
          assuming=("smooth(f_n, L)", "convex(f_n)", "quadratic(f_n)", "same_minimiser(f_n)", "eta <= 1/L")),
    # FALSE: it is the spread over S + 1 where N is the square of S: for S = 20 and 400 clients 1/21 > 19/400.
    claim("square", f"{CHOSEN} <= 19/20*eta**2/S*{SPREAD}", of=chosen, assuming=("smooth(f_n, L)", "N == S**2")),
    # TRUE.
    claim("square-exactly", f"{CHOSEN} <= eta**2/(S + 1)*{SPREAD}", of=chosen,
          assuming=("smooth(f_n, L)", "N == S**2")),
    # FALSE: the corners of a regular tetrahedron, (1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1): -1 > -3.
    claim("against-the-first", "min_n(dot(first_n(a_n), a_n)) <= -c", vectors=("a_n",),
          assuming=("norm2(a_n) == c", "norm2(sum_n(a_n)) <= 0", "N == 4")),
    # FALSE: W changes the first two of three clients, V the last two: -549/400.
    claim("two-graphs", "mean_n(dot(a[k], b[k])) >= 0", of=two_graphs, assuming=("connected(W)", "connected(V)")),
    # FALSE: two samples phi + x and phi - x, phi' = x below 0 and 3x above, eta = 1/3, x0 = 0: E x[2] = -1/9.
    claim("mean-model", "norm2(E(x[k]) - xstar) <= (1 - eta*mu)**(2*k)*norm2(x0 - xstar)", of=sgd,
          assuming=("smooth(f_ni, L)", "strongly_convex(f_ni, mu)", "bounded_variance(sigma2)", "eta <= 1/L")),
    # TRUE of quadratics.
    claim("mean-model-quadratic", "norm2(E(x[k]) - xstar) <= (1 - eta*mu)**(2*k)*norm2(x0 - xstar)", of=sgd,
          assuming=("smooth(f_ni, L)", "strongly_convex(f_ni, mu)", "bounded_variance(sigma2)", "eta <= 1/L",
                    "quadratic(f_ni)")),
    # FALSE: x^2/2 and a function of slopes 1, -1/2 from 1/2 and 1 from 23/10, H = 6, x0 = 161/100: 0.70 > 0.56.
    claim("second-well", "norm2(x[k+1] - xstar) <= (1 - eta*mu)**2*norm2(x[k] - xstar)", of=local,
          assuming=("smooth(f_n, L)", "strongly_convex(f, mu)", "same_minimiser(f_n)", "eta <= 1/L")),
    # FALSE: five of ten numbers 199/1000 and five 1/1000.
    claim("half-at-the-cap", "sum_n(q_n**2) <= 19/100", assuming=("sum_n(q_n) == 1", "q_n <= 1/5", "N == 10")),
    # TRUE.
    claim("all-at-the-cap", "sum_n(q_n**2) <= 1/5", assuming=("sum_n(q_n) == 1", "q_n <= 1/5", "N == 10")),
    # FALSE: x^2/2 along one of nine coordinates and flat along the others, eta = 1.
    claim("nine-coordinates", "norm2(x[k+1] - xstar) <= (1 - eta*L/2)*norm2(x[k] - xstar)", of=descent,
          assuming=("smooth(f, L)", "convex(f)", "eta <= 1/L", "d >= 9")),
    # FALSE: f = <(191/500, -31/50), x>, m = eta = 1, x0 = (1, 0): 1.3844 > 1.3258.
    claim("thresholded", "norm2(s[k] - u[k]) <= 5/2*norm2(v[k] - u[k])", of=thresholded,
          assuming=("smooth(f, L)", "convex(f)", "m <= d")),
    # TRUE: the square of the golden ratio is 2.618 (Shen and Li).
    claim("thresholded-golden", "norm2(s[k] - u[k]) <= 27/10*norm2(v[k] - u[k])", of=thresholded,
          assuming=("smooth(f, L)", "convex(f)", "m <= d")),
    # FALSE: nothing is assumed of W: [[1, 0], [1, 0]] and gradients 1 and 0.
    claim("any-graph", "mean_n(norm2(x[k+1])) <= mean_n(norm2(x[k]))", of=mixing),
    # TRUE.
    claim("a-graph", "mean_n(norm2(x[k+1])) <= mean_n(norm2(x[k]))", of=mixing, assuming=("connected(W)",)),
)  # fmt: skip
PAPER = Paper("undrawn", "What was not drawn", "an outsider", CLAIMS)
