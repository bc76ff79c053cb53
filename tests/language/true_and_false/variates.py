"""SCAFFOLD's control variates."""

from theory import Paper, algorithm, claim


@algorithm(x="x0", c="each 0")
def cold(w, x, c, *, eta, eta_g, H, S):
    active = w.choose(S)
    cbar = w.mean(c)
    y = w.each(x)
    for h in w.repeat(H):
        y = y - eta * (w.gradient(y) - c + cbar)
    plus = c - cbar + (x - y) / (H * eta)
    return x + eta_g * w.average(y - x, active), w.where(active, plus, c)


@algorithm(x="x0", c="each grad(f_n, x0)")
def option_one(w, x, c, *, eta, eta_g, H, S):
    active = w.choose(S)
    cbar = w.mean(c)
    y = w.each(x)
    for h in w.repeat(H):
        y = y - eta * (w.gradient(y) - c + cbar)
    return x + eta_g * w.average(y - x, active), w.where(active, w.gradient(x), c)


AT = ("smooth(f_n, L)", "strongly_convex(f_n, mu)", "eta <= 1/L", "norm2(x0 - xstar) <= 0")

CLAIMS = (
    # FALSE because cold variates know nothing: N = 2, S = 1, H = 1 moves by a client's own gradient. True for N = 1, and for H = 1 with S = N.
    claim("cold-stays", "E(norm2(x[k] - xstar)) <= 0", of=cold, assuming=AT),
    # TRUE because at the minimiser the corrected gradient is 0 for every client, and the variates are renewed by themselves.
    claim("warm-stays", "E(norm2(x[k] - xstar)) <= 0", of=option_one, assuming=AT),
    # TRUE because the mean of plus is mean(x - y)/(H eta) if all take part.
    claim("bookkeeping", "norm2(x[k+1] - x[k] + eta_g*H*eta*mean_n(c[k+1])) <= 0", of=cold, assuming=("S == N",)),
    # FALSE because who is not chosen keeps an old variate: N = 2, S = 1.
    claim("bookkeeping-some", "norm2(x[k+1] - x[k] + eta_g*H*eta*mean_n(c[k+1])) <= 0", of=cold, assuming=("S <= N",)),
    # FALSE because of H = 2: it is gradient descent for H = 1 only.
    claim(
        "plain",
        "norm2(x[k+1] - x[k] + eta_g*eta*H*grad(f, x[k])) <= 0",
        of=cold,
        assuming=("smooth(f_n, L)", "convex(f_n)", "eta <= 1/L", "S == N", "H <= 2"),
    ),
)
PAPER = Paper("variates", "Control variates", "a reader", CLAIMS)
