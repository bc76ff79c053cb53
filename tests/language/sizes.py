"""Theorems that are false for many clients, large numbers, late rounds or clients that differ only, and true neighbours."""

from theory import Paper, algorithm, claim


@algorithm
def gradient_descent(w, x, *, eta):
    return x - eta * w.full_gradient(x)


@algorithm
def sgd(w, x, *, eta):
    return x - eta * w.mean(w.gradient(x, w.sample()))


@algorithm
def one_pass(w, x, *, eta):
    return w.mean(w.pass_over(w.each(x), lambda v, i: v - eta * w.gradient(x, i)))


@algorithm
def those_there(w, x, *, eta, p):
    return x - eta * w.average(w.gradient(x), w.coins(p))


@algorithm
def some(w, x, *, eta, S):
    return x - eta * w.average(w.gradient(x), w.choose(S))


@algorithm
def local(w, x, *, eta, H):
    y = w.each(x)
    for h in w.repeat(H):
        w.tap("y", y)
        y = y - eta * w.gradient(y)
    return w.mean(y)


ONE = ("sum_n(q_n) == 1",)
BELOW = ("smooth(f, L)", "bounded_below(f)", "eta <= 1/L")
NOISY = ("smooth(f, L)", "bounded_variance(sigma2)", "bounded_below(f)", "eta <= 1/L")
MEAN = "mean_k(E(norm2(grad(f, x[k])))) <= 2*(f(x0) - fstar)/(eta*K)"
DRIFT = "sum_h(mean_n(norm2(y[k, h] - x[k])))"
CONVEX = ("smooth(f_n, L)", "convex(f_n)", "eta <= 2/L")
PAPER = Paper(
    "sizes", "Sizes", "a reader",
    (
        # norm2 of ten and more equal vectors' sum is N times the sum of theirs
        claim("f1", "norm2(sum_n(a_n)) <= 10*sum_n(norm2(a_n))", vectors=("a_n",)),
        claim("t1", "norm2(sum_n(a_n)) <= N*sum_n(norm2(a_n))", vectors=("a_n",)),
        # weights of one vector are not squared; they add up to one, and are not all the same
        claim("f2", "norm2(sum_n(q_n*a_n)) <= sum_n(q_n**2*norm2(a_n))", vectors=("a_n",), assuming=ONE),
        claim("f3", "norm2(sum_n(q_n*a_n)) <= mean_n(norm2(a_n))", vectors=("a_n",), assuming=ONE),
        claim("t2", "norm2(sum_n(q_n*a_n)) <= mean_n(norm2(a_n))", vectors=("a_n",), assuming=(*ONE, "q_n >= 1/N")),
        # (1 - 1/K)^K is about (1 - 1/(2K))/e, and H_K about log(K) + 0.5772 + 1/(2K)
        claim("f4", "(1 - 1/K)**K <= 367/1000"),
        claim("f5", "sum_k(1/(k + 1)) >= log(K) + 58/100"),
        claim("t3", "(1 - 1/K)**K <= exp(-1)"),
        claim("f6", "log(K) <= 9"),
        claim("f7", "a**(1/100) <= 2"),
        claim("f8", "sum_k((1 - q)**k) <= 50", assuming=("q < 1",)),
        claim("t4", "sum_k((1 - q)**k) <= 1/q", assuming=("q < 1",)),
        claim("f9", "K <= 6", assuming=("K*H == 35",)),
        # N and d of claims about numbers alone
        claim("f10", "N**2 <= 20*N"),
        claim("f11", "d <= 2"),
        claim("f12", "sum_n(q_n**2) >= 1/sqrt(N)", assuming=ONE),
        claim("f13", "mean_n(1/p_n) <= 1/mean_n(p_n)", assuming=("p_n <= 1",)),
        claim("t5", "mean_n(1/p_n) >= 1/mean_n(p_n)", assuming=("p_n <= 1",)),
        # false where clients have different numbers of samples
        claim("f14", "norm2(x[1] - x0 + eta*mean_n(sum_i(1))*grad(f, x0)) <= 0", of=one_pass, assuming=("smooth(f_ni, L)",)),
        claim("t6", "norm2(x[1] - x0 + eta*mean_n(sum_i(1)*grad(f_n, x0))) <= 0", of=one_pass, assuming=("smooth(f_ni, L)",)),
        # a run that leaves a maximum has its largest gradient last; quadratics that are bounded below have no maximum
        claim("f15", "norm2(grad(f, x[K-1])) <= 2*(f(x0) - fstar)/(eta*K)", of=gradient_descent, assuming=BELOW),
        # at the end of a long run the mean is eta*L*sigma2/(2*N)
        claim("f16", f"{MEAN} + eta**2*L**2*sigma2/N", of=sgd, assuming=NOISY),
        claim("t7", f"{MEAN} + eta*L*sigma2/N", of=sgd, assuming=NOISY),
        # a thousand clients whose coins decide whether they are there
        claim(
            "t8", "norm2(E(x[1]) - x0 + eta*(1 - (1 - p)**N)*grad(f, x0)) <= 0", of=those_there,
            assuming=("smooth(f_n, L)", "p <= 1"),
        ),
        # the sum over a loop of h^2 is about H^3/3
        claim("t9", f"{DRIFT} <= eta**2*H**3/3*mean_n(norm2(grad(f_n, x[k])))", of=local, assuming=CONVEX),
        claim("f17", f"{DRIFT} <= eta**2*H**2/3*mean_n(norm2(grad(f_n, x[k])))", of=local, assuming=CONVEX),
        # contradict what the algorithm asks of its parameters
        claim("v1", "E(norm2(x[k])) <= 1", of=some, assuming=("smooth(f_n, L)", "S >= N + 1")),
        claim("v2", "E(norm2(x[k])) <= 1", of=those_there, assuming=("smooth(f_n, L)", "p > 1")),
    ),
)  # fmt: skip
