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


@algorithm(x="x0", s="each x0")
def aged(w, x, s, *, a, p):
    """Gradients at the model that a client had when its coin last fell."""
    now = w.where(w.coins(p), w.each(x), s)
    w.tap("used", now)
    return x - a * w.mean(w.gradient(now)), now


@algorithm(x="x0", v="each 0")
def resting(w, x, v, *, a, p, beta):
    """Momentum that is forgotten when the client leaves."""
    v = w.where(w.coins(p), 0 * v, beta * v + w.gradient(x))
    return x - a * w.mean(v), v


@algorithm
def clipped(w, x, *, a, c):
    return x - a * w.mean(w.clip(w.gradient(x), c))


@algorithm
def pruned(w, x, *, a, m):
    return x - a * w.mean(w.top(w.gradient(x), m))


@algorithm(x="x0", z="x0")
def orders(w, x, z, *, a):
    """x: both clients in random order; z: two draws with replacement."""
    u = z - a * w.average(w.gradient(z), w.choose(1))
    return w.visit(x, lambda v, one: v - a * one.gradient(v)), u - a * w.average(w.gradient(u), w.choose(1))


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
    # FALSE because the same is so of models that are old: x, a = 1, p = 1/4, k = 15: 19.5 > 19.2.
    claim(
        "aged",
        "E(mean_n(norm2(x[k] - used[k]))) <= 8/5*(1 - p)/p**2*a**2*G**2",
        of=aged,
        assuming=("bounded_gradients(f_n, G)", "p <= 1"),
    ),
    # FALSE where p is small and beta near 1: x, a = 1, p = 1/10, beta = 999/1000, k = 52.
    claim(
        "resting",
        "E(mean_n(norm2(v[k]))) <= 9/5*(1 - p)*G**2/(1 - beta*(1 - p))**2",
        of=resting,
        assuming=("bounded_gradients(f_n, G)", "p <= 1", "beta < 1"),
    ),
    # FALSE because three clipped gradients outweigh what they were: three times <v, x>^2/2 and <u, x>^2/2 with v = (7/25, 24/25)
    # and u = (7/25, -24/25), a = 1, c = 1/10, x0 = (55/28, -15/32).
    claim(
        "clipped",
        "f(x[k+1]) <= f(x[k])",
        of=clipped,
        assuming=("smooth(f_n, L)", "convex(f_n)", "same_minimiser(f_n)", "a <= 1/L"),
    ),
    # FALSE because so do largest entries: <v, x>^2/2 with v = (11/10, -1, -1), (-1, 11/10, -1), (-1, -1, 11/10), a = 1/L, m = 1,
    # x0 = (-1, -1, -1).
    claim(
        "pruned",
        "f(x[k+1]) <= f(x[k])",
        of=pruned,
        assuming=("smooth(f_n, L)", "convex(f_n)", "same_minimiser(f_n)", "m <= d", "a <= 1/L"),
    ),
    # FALSE where Hessians do not commute: diag(9/10, 1) and [[1/2, -1/2], [-1/2, 1/2]], a = L = 1, x0 = (1, -1): 1/400 > 51/40000.
    claim(
        "orders",
        "E(norm2(x[1] - xstar)) <= E(norm2(z[1] - xstar))",
        of=orders,
        assuming=(*COMMON[:3], "quadratic(f_n)", "a <= 1/L", "N == 2"),
    ),
)
PAPER = Paper("outsiders", "With one slip", "an outsider", CLAIMS)
