"""Rounds that more than one file of tests speaks of."""

from theory import algorithm


@algorithm
def batched(w, x, *, eta, b):
    return x - eta * w.mean(w.gradient(x, w.sample(b)))


@algorithm
def chosen(w, x, *, eta, S):
    return x - eta * w.average(w.gradient(x), w.choose(S))


@algorithm
def chosen_twice(w, x, *, eta, S):
    return x - eta * w.average(w.gradient(x), w.choose(S, replace=True))


@algorithm
def compressed(w, x, *, eta, m):
    return x - eta * w.mean(w.keep(w.gradient(x), m))


@algorithm
def descent(w, x, *, eta):
    return x - eta * w.full_gradient(x)


@algorithm(x="each x0")
def gossip(w, x, *, eta, W):
    return w.mix(x - eta * w.gradient(x), W)


@algorithm
def local(w, x, *, eta, H):
    y = w.each(x)
    for _ in w.repeat(H):
        y = y - eta * w.gradient(y)
    return w.mean(y)


@algorithm
def local_sgd(w, x, *, eta, H):
    y = w.each(x)
    for _ in w.repeat(H):
        w.tap("y", y)
        y = y - eta * w.gradient(y, w.sample())
    return w.mean(y)


@algorithm(x="x0", s="x0")
def loopless(w, x, s, *, eta, p):
    i = w.sample()
    estimate = w.mean(w.gradient(x, i) - w.gradient(s, i)) + w.full_gradient(s)
    return x - eta * estimate, w.where(w.coin(p), x, s)


@algorithm
def noisy(w, x, *, eta, sigma2):
    return x - eta * w.mean(w.gradient(x) + w.noise(sigma2))


@algorithm
def proximal(w, x, *, eta):
    return w.mean(w.prox(x, eta))


@algorithm
def sampled(w, x, *, eta, t):
    return w.mean(w.prox(x - eta * w.gradient(x, w.sample()), t))


@algorithm(x="x0", c="each grad(f_n, x0)")
def scaffold(w, x, c, *, eta, eta_g, H, S):
    active = w.choose(S)
    cbar = w.mean(c)
    y = w.each(x)
    for _ in w.repeat(H):
        w.tap("y", y)
        y = y - eta * (w.gradient(y) - c + cbar)
    plus = c - cbar + (x - y) / (H * eta)
    return x + eta_g * w.average(y - x, active), w.where(active, plus, c)


@algorithm
def served(w, x, *, eta, m):
    return x - eta * w.keep(w.full_gradient(x), m)


@algorithm
def sgd(w, x, *, eta):
    return x - eta * w.mean(w.gradient(x, w.sample()))
