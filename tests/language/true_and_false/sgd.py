"""Stochastic gradients, one sample a client."""

from theory import Paper, algorithm, claim


@algorithm
def psgd(w, theta, *, lr):
    return theta - lr * w.mean(w.gradient(theta, w.sample()))


BASE = ("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)")
NOISE = {"V": "mean_n(mean_i(norm2(grad(f_ni, xstar) - grad(f_n, xstar))))"}

CLAIMS = (
    # FALSE because it is true in expectation only: f_i = (x -+ 1)^2/2, theta = 1, lr = 1/4, the sample whose minimiser is 1: 1 <= 3/4 + 1/8.
    claim(
        "every-outcome",
        "norm2(theta[k+1] - xstar) <= (1 - lr*mu)*norm2(theta[k] - xstar) + 2*lr**2*V/N",
        of=psgd,
        assuming=(*BASE, "lr <= 1/(2*L)"),
        where=NOISE,
    ),
    # FALSE because the 2 is lost: f_1 = x, f_2 = x^2/2 - x, mu = 1/2, lr = 1/2, theta = -1: 9/8 <= 3/4 + 1/4.
    claim(
        "lost-two",
        "E(norm2(theta[k+1] - xstar)) <= (1 - lr*mu)*E(norm2(theta[k] - xstar)) + lr**2*V/N",
        of=psgd,
        assuming=(*BASE, "lr <= 1/(2*L)"),
        where=NOISE,
    ),
    # TRUE because each sample's step is nonexpansive and fixes the common minimiser; so does the mean.
    claim(
        "common",
        "norm2(theta[k+1] - xstar) <= norm2(theta[k] - xstar)",
        of=psgd,
        assuming=("smooth(f_ni, L)", "convex(f_ni)", "same_minimiser(f_ni)", "lr <= 2/L"),
    ),
    # TRUE because E|mean g|^2 <= L <grad f, theta - x*> under interpolation, so E|.|^2 <= |.|^2 - lr <grad f, theta - x*>.
    claim(
        "common-rate",
        "E(norm2(theta[k] - xstar)) <= (1 - lr*mu)**k*norm2(x0 - xstar)",
        of=psgd,
        assuming=(*BASE, "same_minimiser(f_ni)", "lr <= 1/L"),
    ),
    # FALSE because of f_1 = 0, f_2 = x^2/2, mu = 1/2, lr = 1, k = 1: 1/2 <= 1/4. True for samples that are all alike.
    claim(
        "common-squared",
        "E(norm2(theta[k] - xstar)) <= (1 - lr*mu)**(2*k)*norm2(x0 - xstar)",
        of=psgd,
        assuming=(*BASE, "same_minimiser(f_ni)", "lr <= 1/L"),
    ),
    # TRUE because of Needell, Srebro, Ward 2016, Theorem 2.1.
    claim(
        "needell",
        "E(norm2(theta[k] - xstar)) <= (1 - 2*lr*mu*(1 - lr*L))**k*norm2(x0 - xstar) + lr*V/(mu*(1 - lr*L))",
        of=psgd,
        assuming=(*BASE, "lr*L < 1", "N <= 1"),
        where=NOISE,
    ),
)
PAPER = Paper("sgd", "Stochastic gradients", "a reader", CLAIMS)
