"""Sentences that are nearly others: of schedules, minima, points and steps of one's own."""

from theory import Paper, algorithm, claim


@algorithm
def scheduled(w, x, *, eta):
    return x - eta * w.full_gradient(x)


@algorithm
def partial(w, x, *, gamma, H, S):
    y = w.each(x)
    for h in w.repeat(H):
        w.tap("y", y)
        y = y - gamma * w.gradient(y)
    return w.average(y, w.choose(S))


CLAIMS = (
    # TRUE because each decrease is eta_k/2 |g_k|^2 at least.
    claim(
        "schedule",
        "sum_k(eta_k*norm2(grad(f, x[k]))) <= 2*(f(x0) - fstar)",
        of=scheduled,
        assuming=("smooth(f, L)", "bounded_below(f)", "eta_k <= 1/L"),
    ),
    # FALSE because a mean of products is no product of means: f = x^2/2, eta = (e, e, 1, 1): 2*3/4 <= 1. True for constant steps.
    claim(
        "schedule-split",
        "sum_k(eta_k)*mean_k(norm2(grad(f, x[k]))) <= 2*(f(x0) - fstar)",
        of=scheduled,
        assuming=("smooth(f, L)", "bounded_below(f)", "eta_k <= 1/L"),
    ),
    # FALSE because min over the rounds is not the last: the gradient grows on the way down from a maximum (double well). True on quadratics that are bounded below.
    claim(
        "last-is-least",
        "norm2(grad(f, x[K])) <= min_k(norm2(grad(f, x[k])))",
        of=scheduled,
        assuming=("smooth(f, L)", "bounded_below(f)", "eta_k <= 1/L"),
    ),
    # TRUE because with tied steps eta = 1/L gradient norms of a convex function do not grow, and x[K] comes after all x[k].
    claim(
        "last-is-least-convex",
        "norm2(grad(f, x[K])) <= min_k(norm2(grad(f, x[k])))",
        of=scheduled,
        assuming=("smooth(f, L)", "convex(f)", "eta_k == 1/L"),
    ),
    # TRUE because the cohort is unbiased, and all are averaged in expectation (a vector inside norm2 of E).
    claim(
        "expected-point",
        "norm2(E(x[1]) - E(mean_n(y[0, 1])) + gamma*E(mean_n(grad(f_n, y[0, 1])))) <= 0",
        of=partial,
        assuming=("H == 2", "smooth(f_n, L)"),
    ),
    # FALSE because for an outcome the cohort is not the mean: S < N. True for S = N and identical clients.
    claim(
        "point",
        "norm2(x[1] - mean_n(y[0, 1]) + gamma*mean_n(grad(f_n, y[0, 1]))) <= 0",
        of=partial,
        assuming=("H == 2", "smooth(f_n, L)"),
    ),
    # TRUE because y[k, 0] is x[k], sum over one turn included: every later turn of a convex client is nearer to its own minimiser.
    claim(
        "own-way",
        "sum_h(norm2(y[k, h] - xstar_n)) <= H*norm2(x[k] - xstar_n)",
        of=partial,
        assuming=("smooth(f_n, L)", "convex(f_n)", "gamma <= 2/L"),
    ),
    # FALSE because a client's way leads to xstar_n and not to xstar. True for identical clients, at N = 1 and for H = 1.
    claim(
        "common-way",
        "sum_h(norm2(y[k, h] - xstar)) <= H*norm2(x[k] - xstar)",
        of=partial,
        assuming=("smooth(f_n, L)", "convex(f_n)", "gamma <= 2/L"),
    ),
    # FALSE because 1/2 is too much: K = 1, f = L x^2/2, x0 = 1: (log 2 + 1/2) L^2 <= L^2.
    claim(
        "harmonic-schedule",
        "(log(K + 1) + 1/2)*min_k(norm2(grad(f, x[k]))) <= 2*L*(f(x0) - fstar)",
        of=scheduled,
        assuming=("smooth(f, L)", "bounded_below(f)", "eta_k == 1/(L*(k + 1))"),
    ),
    # TRUE because sum 1/(k+1) >= log(K+1), and the least is at most the weighted mean.
    claim(
        "harmonic-schedule-right",
        "log(K + 1)*min_k(norm2(grad(f, x[k]))) <= 2*L*(f(x0) - fstar)",
        of=scheduled,
        assuming=("smooth(f, L)", "bounded_below(f)", "eta_k == 1/(L*(k + 1))"),
    ),
)
PAPER = Paper("tricky", "Nearly others", "a reader", CLAIMS)
