"""Batches of samples, and passes in random order."""

from theory import Paper, algorithm, claim


@algorithm
def distinct(w, x, *, eta, b):
    return x - eta * w.mean(w.gradient(x, w.sample(b, replace=False)))


@algorithm
def repeated(w, x, *, eta, b):
    return x - eta * w.mean(w.gradient(x, w.sample(b)))


@algorithm
def same_twice(w, x, *, eta):
    i = w.sample()
    return x - eta / 2 * w.mean(w.gradient(x, i) + w.gradient(x, i))


@algorithm
def fresh_twice(w, x, *, eta):
    return x - eta / 2 * w.mean(w.gradient(x, w.sample()) + w.gradient(x, w.sample()))


@algorithm
def passes(w, x, *, eta):
    return w.mean(w.pass_over(w.each(x), lambda v, i: v - eta * w.gradient(v, i)))


@algorithm
def visits(w, x, *, eta):
    return w.visit(x, lambda v, one: v - eta * one.gradient(v))


LEFT = "E(norm2(x[1] - x0 + eta*grad(f, x0)))"
V_N = "mean_i(norm2(grad(f_ni, x0) - grad(f_n, x0)))"

CLAIMS = (
    # TRUE because of the finite population factor, client by client with its own number of samples.
    claim("without", f"{LEFT} == eta**2/N*mean_n((sum_i(1) - b)/(b*(sum_i(1) - 1))*{V_N})", of=distinct),
    # TRUE because the b draws are independent.
    claim("with", f"{LEFT} == eta**2/(N*b)*mean_n({V_N})", of=repeated),
    # FALSE because b draws with replacement have no finite population factor: b = 2 of 2 samples. True for b = 1.
    claim("with-finite", f"{LEFT} <= eta**2/N*mean_n((sum_i(1) - b)/(b*(sum_i(1) - 1))*{V_N})", of=repeated),
    # FALSE because it is the same sample twice: nothing is averaged.
    claim("twice-same", f"{LEFT} <= eta**2/(2*N)*mean_n({V_N})", of=same_twice),
    # TRUE because two calls draw twice.
    claim("twice-fresh", f"{LEFT} == eta**2/(2*N)*mean_n({V_N})", of=fresh_twice),
    # TRUE because each turn is x - eta grad f_ni(x), which comes no farther from a minimiser of f_ni, and so does the mean.
    claim(
        "pass-nearer",
        "norm2(x[k+1] - xstar) <= norm2(x[k] - xstar)",
        of=passes,
        assuming=("smooth(f_ni, L)", "convex(f_ni)", "same_minimiser(f_ni)", "eta <= 2/L"),
    ),
    # FALSE because the second client starts where the first has ended: N = 2, f_n = x^2/2: -(1 - (1-eta)^2) == -2 eta. True for N = 1.
    claim(
        "visit-unbiased",
        "E(dot(x[1] - x0, grad(f, x0))) == -N*eta*norm2(grad(f, x0))",
        of=visits,
        assuming=("smooth(f_n, L)", "convex(f_n)", "eta <= 1/L"),
    ),
    # FALSE because clients with many samples weigh no more in f: f_1 = x (1 sample), f_2 = 0, 0. True for equal numbers of samples.
    claim("pooled", "norm2(grad(f, x) - sum_n(sum_i(grad(f_ni, x)))/sum_n(sum_i(1))) <= 0", vectors=("x",)),
    # FALSE because a factor n is lost: 14 samples x^2/2 -+ x, eta = 1/14, x0 = 0.
    claim(
        "reshuffled-lost",
        "E(norm2(x[1] - xstar)) <= eta**3*L*mean_n(sum_i(1))*mean_n(mean_i(norm2(grad(f_ni, xstar))))/2",
        of=passes,
        assuming=(
            "smooth(f_ni, L)",
            "convex(f_ni)",
            "eta*L*mean_n(sum_i(1)) <= 1",
            "N <= 1",
            "norm2(x0 - xstar) <= 0",
        ),
    ),
)
PAPER = Paper("batches", "Batches", "a reader", CLAIMS)
