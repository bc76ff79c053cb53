"""Bounds as drafts have them: a power of a count is lost, or a factor that only many coordinates show."""

from theory import Paper, algorithm, claim


@algorithm
def local(w, x, *, eta, H):
    y = w.each(x)
    for _ in w.repeat(H):
        y = y - eta * w.gradient(y)
    return w.mean(y)


@algorithm
def shuffled(w, x, *, eta):
    return w.mean(w.pass_over(w.each(x), lambda y, i: y - eta * w.gradient(y, i)))


@algorithm
def signed(w, x, *, eta):
    return x - eta * w.sign(w.full_gradient(x))


@algorithm(y="each x0")
def gossip(w, y, *, W):
    return w.mix(y, W)


@algorithm
def descent(w, x, *, eta):
    return x - eta * w.full_gradient(x)


CURVED = ("smooth(f_n, L)", "strongly_convex(f_n, mu)", "eta <= 1/(4*L*H)")
FROM_XSTAR = ("smooth(f_n, L)", "convex(f_n)", "eta <= 1/(4*L*H)", "norm2(x0 - xstar) <= 0")
AT = {"V": "mean_n(norm2(grad(f_n, xstar)))"}
SAMPLES = ("smooth(f_ni, L)", "strongly_convex(f_ni, mu)", "eta <= 1/L")
OF_SAMPLES = {"V": "mean_n(mean_i(norm2(grad(f_ni, xstar))))"}
CONVEX = ("smooth(f, L)", "convex(f)")
CLAIMS = (
    # FALSE: curvatures 1 and 3/4, with t = eta*H the rest is t**2/784 away and H has to be some hundreds.
    claim(
        "turns",
        "norm2(x[k] - xstar) <= (1 - eta*mu)**(k*H)*norm2(x0 - xstar) + 2*eta**2*H*L/mu*V",
        of=local,
        assuming=CURVED,
        where=AT,
    ),
    # FALSE: likewise.
    claim(
        "turns-at-half",
        "norm2(x[k] - xstar) <= (1 - eta*mu*H/2)**k*norm2(x0 - xstar) + eta**2*H*L/mu*V",
        of=local,
        assuming=CURVED,
        where=AT,
    ),
    # FALSE: curvatures 1 and 1/2 lead eta*H/6 away.
    claim(
        "rest",
        "norm(x[k] - xstar) <= 10*eta*max_n(norm(grad(f_n, xstar)))",
        of=local,
        assuming=(*CURVED, "L <= 3*mu", "norm2(x0 - xstar) <= 0"),
    ),
    # FALSE: x**2/2 - x and x lead (eta*H)**2/4 away, more from H = 41 on.
    claim(
        "first-round",
        "norm(x[1] - xstar) <= 10*eta**2*H*L*max_n(norm(grad(f_n, xstar)))",
        of=local,
        assuming=FROM_XSTAR,
    ),
    # TRUE: turn h is taken at most eta*h*G from xstar, with gradients that differ by L times that from those there.
    claim(
        "first-round-whole",
        "norm(x[1] - xstar) <= eta**2*H**2*L*max_n(norm(grad(f_n, xstar)))",
        of=local,
        assuming=FROM_XSTAR,
    ),
    # FALSE: of x**2/2 - x and x**2/2 + x, as often each, about eta*M/12 remains of a long pass over M samples.
    claim(
        "passes",
        "E(norm2(x[k] - xstar)) <= (1 - eta*mu)**k*norm2(x0 - xstar) + 2*eta**2*L/mu*V",
        of=shuffled,
        assuming=SAMPLES,
        where=OF_SAMPLES,
    ),
    # FALSE: likewise, of more than a hundred samples.
    claim(
        "long-passes",
        "E(norm2(x[k] - xstar)) <= (1 - eta*mu)**k*norm2(x0 - xstar) + 8*eta**2*V",
        of=shuffled,
        assuming=(*SAMPLES, "N == 1"),
        where=OF_SAMPLES,
    ),
    # FALSE: begun at eta/10 in each coordinate a step leads to 9*eta/10, which costs 2/5*d*eta**2 of x**2/2.
    claim("signs", "f(x[k+1]) <= f(x[k]) - eta*norm(grad(f, x[k])) + 2*L*eta**2", of=signed, assuming=CONVEX),
    # FALSE: likewise with d = 12.
    claim("more-signs", "f(x[k+1]) <= f(x[k]) - eta*norm(grad(f, x[k])) + 5*L*eta**2", of=signed, assuming=CONVEX),
    # TRUE: a step is eta*sqrt(d) long, and the sum of absolute values is no less than the norm.
    claim("signs-by-d", "f(x[k+1]) <= f(x[k]) - eta*norm(grad(f, x[k])) + d*L*eta**2/2", of=signed, assuming=CONVEX),
    # TRUE: W leaves the mean as it is, and the rest is multiplied by rho at most.
    claim(
        "consensus",
        "mean_n(norm2(y[k] - x0)) <= rho**(2*k)*mean_n(norm2(y[0] - x0))",
        of=gossip,
        assuming=("connected(W)",),
    ),
    # TRUE: 1/sqrt(k + 1) >= 2*(sqrt(k + 2) - sqrt(k + 1)), or each term is at least 1/sqrt(K).
    claim("roots", "sum_k(1/sqrt(k + 1)) >= sqrt(K)"),
    # TRUE: the sum is between 2*sqrt(K + 1) - 2 and 2*sqrt(K) - 1.
    claim("roots-above", "sum_k(1/sqrt(k + 1)) <= 2*sqrt(K) - 1"),
)
PAPER = Paper("drafts", "Powers of counts that are lost", "a reader", CLAIMS)
