"""Clients that toss coins of their own."""

from theory import Paper, algorithm, claim


@algorithm
def weighed(w, x, *, eta, p):
    return x - eta * w.mean(w.coins(p) * w.gradient(x) / p)


@algorithm
def normalised(w, x, *, eta, p):
    return x - eta * w.average(w.gradient(x), w.coins(p))


@algorithm
def summed(w, x, *, eta, p, S):
    return x - eta / S * w.sum(w.coins(p) * w.gradient(x))


@algorithm
def together(w, x, *, eta, p):
    return x - eta / p * w.coin(p) * w.full_gradient(x)


LEFT = "E(norm2(x[1] - x0 + eta*grad(f, x0)))"
TURN = "E(dot(x[1] - x0, grad(f, x0)))"

CLAIMS = (
    # TRUE because the coins are independent: (1/N^2) sum (1/p_n - 1)|g_n|^2.
    claim("thompson", f"{LEFT} == eta**2/N*mean_n((1/p_n - 1)*norm2(grad(f_n, x0)))", of=weighed),
    # FALSE because the mean of a product is no product of means: p = (1/10, 1), g = (10, 0): 225 <= 112.5 (eta = 1). True for equal p_n.
    claim("thompson-split", f"{LEFT} <= eta**2/N*mean_n(1/p_n - 1)*mean_n(norm2(grad(f_n, x0)))", of=weighed),
    # TRUE because given that somebody comes the mean over them is unbiased, by symmetry.
    claim("somebody", f"{TURN} == -eta*(1 - (1 - p)**N)*norm2(grad(f, x0))", of=normalised),
    # FALSE because nobody may come: N = 1, p = 1/2: -1/2 == -1. True for p = 1.
    claim("somebody-always", f"{TURN} == -eta*norm2(grad(f, x0))", of=normalised),
    # FALSE because the p_n weigh the clients: p = (1/4, 3/4), S = 1, g = (2, 0): -1/2 == -1. True for equal p_n.
    claim("expected-number", f"{TURN} == -eta*norm2(grad(f, x0))", of=summed, assuming=("sum_n(p_n) == S", "p_n <= 1")),
    # TRUE because E coin_n = p_n; the tie between p and S is not needed.
    claim(
        "expected-weighted",
        f"{TURN} == -eta/S*dot(sum_n(p_n*grad(f_n, x0)), grad(f, x0))",
        of=summed,
        assuming=("sum_n(p_n) == S",),
    ),
    # TRUE because one coin for all multiplies grad f by coin/p.
    claim("one-coin", f"{LEFT} == eta**2*(1/p - 1)*norm2(grad(f, x0))", of=together),
    # FALSE because one coin for all does not average over the clients: N = 2, p = 1/2. True for N = 1.
    claim("one-coin-averaged", f"{LEFT} <= eta**2*(1/p - 1)/N*norm2(grad(f, x0))", of=together),
    # VACUOUS because probabilities of N clients do not add up to more than N.
    claim("overbooked", f"{TURN} == -eta*norm2(grad(f, x0))", of=summed, assuming=("sum_n(p_n) == S", "S >= N + 1")),
)
PAPER = Paper("willing", "Coins", "a reader", CLAIMS)
