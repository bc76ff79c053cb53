"""Theorems nearly as they are published, each with one slip, by somebody who had not seen the code."""

from theory import Paper, algorithm, claim


@algorithm(x="each x0", z="each x0", g="each 0")
def extra(w, x, z, g, *, a, W):
    """EXTRA with (I + W)/2 for the second matrix; z, g are x and the gradient of the round before."""
    now = w.gradient(x)
    return x + w.mix(x, W) - (z + w.mix(z, W)) / 2 - a * (now - g), x, now


@algorithm(x="each grad(f_n, x0)", z="each grad(f_n, x0)")
def fast_gossip(w, x, z, *, W, beta):
    return (1 + beta) * w.mix(x, W) - beta * z, x


@algorithm(x="each x0", g="each grad(f_n, x0)")
def tracking(w, x, g, *, a, W):
    new = w.mix(x, W) - a * g
    return new, w.mix(g, W) + w.gradient(new) - w.gradient(x)


@algorithm
def local(w, x, *, a, H):
    y = w.each(x)
    for _ in w.repeat(H):
        w.tap("y", y)
        y = y - a * w.gradient(y)
    return w.mean(y)


@algorithm(x="x0", g="each grad(f_n, x0)")
def remembered(w, x, g, *, a, S):
    new = w.where(w.choose(S), w.gradient(x), g)
    return x - a * w.mean(new), new


@algorithm(x="x0", e="each 0")
def lazily_sent(w, x, e, *, a, p):
    total = e + a * w.gradient(x)
    coin = w.coins(p)
    return x - w.mean(w.where(coin, total, 0 * total)), w.where(coin, 0 * total, total)


@algorithm(x="each x0")
def seldom_averaged(w, x, *, a, p):
    moved = x - a * w.gradient(x)
    return w.where(w.coin(p), w.each(w.mean(moved)), moved)


@algorithm(x="x0", e="each 0")
def sent_in_turn(w, x, e, *, a, S):
    total = e + a * w.gradient(x)
    chosen = w.choose(S)
    return x - w.mean(w.where(chosen, total, 0 * total)), w.where(chosen, 0 * total, total)


@algorithm(x="x0", e="each 0")
def some_of_it(w, x, e, *, a, m, d):
    total = e + a * w.gradient(x)
    sent = m / d * w.keep(total, m)
    return x - w.mean(sent), total - sent


NEAR = "mean_n(norm2(x[k] - xstar)) <= 4*norm2(x0 - xstar)"
COMMON = ("smooth(f_n, L)", "convex(f_n)", "same_minimiser(f_n)", "connected(W)")

CLAIMS = (
    # FALSE because the step has to be less than (1 + the least eigenvalue of W)/L: W = [[1/20, 19/20], [19/20, 1/20]], x^2/2 and
    # x^2/4, a = 1, k = 10.
    claim("extra", NEAR, of=extra, assuming=(*COMMON, "a <= 1/L")),
    # FALSE because the constant is twice too large: W = [[1/2, 1/2], [1/2, 1/2]], curvatures 1 and 9/10, a = 9/10, k = 12.
    claim("tracking-square", NEAR, of=tracking, assuming=(*COMMON, "a <= 9*(1 - rho)**2/(10*L)")),
    # FALSE because acceleration does not contract in every round: W = [[1/10, 9/10], [9/10, 1/10]], beta = 1/3, gradients 1, -1.
    claim(
        "fast-gossip",
        "mean_n(norm2(x[k] - mean_n(x[k]))) <= mean_n(norm2(x[0] - mean_n(x[0])))",
        of=fast_gossip,
        assuming=("connected(W)", "beta <= 1/3"),
    ),
    # FALSE because e - 1 is 1.718: -x^2/2, H = 100, a = 1/100, h = 99.
    claim(
        "drift",
        "norm2(y[k, h] - x[k]) <= 1.65**2*H**2*a**2*norm2(grad(f_n, x[k]))",
        of=local,
        assuming=("smooth(f_n, L)", "a*L*H <= 1"),
    ),
    # FALSE because old gradients overshoot: four clients x^2/2, S = 1, a = 1, x0 = 1, K = 3: 0.639 > 1/2.
    claim(
        "remembered",
        "E(f(x[K])) - fstar <= L*norm2(x0 - xstar)/2",
        of=remembered,
        assuming=("smooth(f_n, L)", "convex(f_n)", "a <= 1/L", "S <= N"),
    ),
    # FALSE because what is sent once in twenty rounds is (2 - p)/p**2 long: x, a = 1, p = 1/20, k = 200: 739.9 > 722.
    claim(
        "lazily-sent",
        "E(mean_n(norm2(e[k]))) <= 1.9*(1 - p)/p**2*a**2*G**2",
        of=lazily_sent,
        assuming=("bounded_gradients(f_n, G)", "p <= 1"),
    ),
    # FALSE because there, too, it is (2 - p)/p**2: x and -x, a = 1, p = 1/10, k = 50: 165.5 > 162.
    claim(
        "seldom-averaged",
        "E(mean_n(norm2(x[k] - mean_n(x[k])))) <= 9/5*(1 - p)/p**2*a**2*G**2",
        of=seldom_averaged,
        assuming=("bounded_gradients(f_n, G)", "p <= 1"),
    ),
    # FALSE because the same is so of one client of many, S/N in the place of p.
    claim(
        "sent-in-turn",
        "E(mean_n(norm2(e[k]))) <= 9/5*(1 - S/N)*N**2/S**2*a**2*G**2",
        of=sent_in_turn,
        assuming=("bounded_gradients(f_n, G)", "S <= N"),
    ),
    # FALSE because it is so of one coordinate of many.
    claim(
        "some-of-it",
        "E(mean_n(norm2(e[k]))) <= 9/5*(1 - m/d)*d**2/m**2*a**2*G**2",
        of=some_of_it,
        assuming=("bounded_gradients(f_n, G)", "m <= d"),
    ),
)
PAPER = Paper("outsiders", "With one slip", "an outsider", CLAIMS)
