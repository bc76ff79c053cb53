"""Ends of domains, weights of both signs, uneven steps."""

from theory import NONNEGATIVE, REAL, Paper, algorithm, claim


@algorithm
def noisy(w, x, *, eta, sigma2):
    return x - eta * w.mean(w.gradient(x) + w.noise(sigma2))


@algorithm
def steps(w, x, *, eta):
    return x - eta * w.full_gradient(x)


ONE = ("sum_n(q_n) == 1",)
SHORT = ("smooth(f, L)", "convex(f)", "eta_k <= 1/L")


CLAIMS = (
    # FALSE because of a = 0 alone.
    claim("end", "a + b*a > 0", parameters={"a": NONNEGATIVE}),
    # TRUE because nothing is negative.
    claim("end-reached", "a + b*a >= 0", parameters={"a": NONNEGATIVE}),
    # FALSE because of a = c = 0 alone.
    claim("both-ends", "a + c > 0", parameters={"a": NONNEGATIVE, "c": NONNEGATIVE}),
    # FALSE because of c = 0 and a = 0, a number and a vector.
    claim("end-and-nothing", "norm2(a) + c > 0", vectors=("a",), parameters={"c": NONNEGATIVE}),
    # FALSE because one client may have no weight at all.
    claim("weightless", "min_n(q_n) > 0", assuming=ONE, parameters={"q_n": NONNEGATIVE}),
    # FALSE because nothing moves at xstar with sigma2 = 0: 0 < 0.
    claim(
        "still-and-silent",
        "E(norm2(x[k+1] - xstar)) < (1 - eta*mu)*E(norm2(x[k] - xstar)) + 2*eta**2*sigma2/N",
        of=noisy,
        assuming=("smooth(f_n, L)", "convex(f_n)", "strongly_convex(f, mu)", "eta <= 1/(2*L)"),
        parameters={"sigma2": NONNEGATIVE},
    ),
    # FALSE because of q = (-1, 2). True for weights that are not negative.
    claim("largest-weight", "max_n(q_n) <= 1", assuming=ONE, parameters={"q_n": REAL}),
    # FALSE because of q = (-1, 2), a = (0, 1): 4 <= 2. True for weights that are not negative.
    claim(
        "jensen-any-sign",
        "norm2(sum_n(q_n*a_n)) <= sum_n(q_n*norm2(a_n))",
        vectors=("a_n",),
        assuming=ONE,
        parameters={"q_n": REAL},
    ),
    # FALSE because of q = (-1, 2), a = (0, 1): -2 >= 0. True for weights that are not negative.
    claim(
        "variance-any-sign",
        "sum_n(q_n*norm2(a_n - sum_n(q_n*a_n))) >= 0",
        vectors=("a_n",),
        assuming=ONE,
        parameters={"q_n": REAL},
    ),
    # TRUE because 1 = abs(sum_n(q_n)) <= sum_n(abs(q_n)).
    claim("total-any-sign", "sum_n(abs(q_n)) >= 1", assuming=ONE, parameters={"q_n": REAL}),
    # FALSE because steps may be small up to the last one, of 1/L: K*norm2(grad) <= L*2*(f - fstar) fails. True for one size.
    claim("largest-step", "min_k(norm2(grad(f, x[k])))*K*max_k(eta_k) <= 2*(f(x0) - fstar)", of=steps, assuming=SHORT),
    # TRUE because each step lowers f by eta_k*norm2(grad)/2 or more.
    claim("all-steps", "min_k(norm2(grad(f, x[k])))*sum_k(eta_k) <= 2*(f(x0) - fstar)", of=steps, assuming=SHORT),
    # FALSE because both sides agree for steps of one size.
    claim("steps-differ", "K*sum_k(eta_k**2) > sum_k(eta_k)**2"),
    # FALSE because of 1, 1/2, ..., 1/7: 6.72 >= 7. True for K <= 2.
    claim("middle-steps", "sum_k(eta_k)**2 >= K**2*min_k(eta_k)*max_k(eta_k)"),
)
PAPER = Paper("ends", "Ends", "a reader", CLAIMS)
