"""False only far out: many clients, samples, coordinates, rounds; or in a corner."""

from theory import Paper, algorithm, claim


@algorithm
def sparse(w, x, *, eta, m):
    return x - eta * w.keep(w.full_gradient(x), m)


@algorithm
def greedy(w, x, *, eta, m):
    return x - eta * w.top(w.full_gradient(x), m)


@algorithm
def descent(w, x, *, t):
    return x - t * w.full_gradient(x)


@algorithm
def cohort(w, x, *, eta, S):
    return x - eta * w.average(w.gradient(x), w.choose(S))


@algorithm
def batch(w, x, *, eta, b):
    return x - eta * w.mean(w.gradient(x, w.sample(b)))


CLAIMS = (
    # FALSE because H_616 > 7. True for K <= 615.
    claim("harmonic-seven", "sum_k(1/(k + 1)) <= 7"),
    # FALSE because of d = 7, m = 1: 6 <= 5. True for d <= 6.
    claim("five-coordinates", "E(norm2(x[1] - x0 + eta*grad(f, x0))) <= 5*eta**2*norm2(grad(f, x0))", of=sparse),
    # FALSE because of d = 6, m = 1, equal coordinates: 5/6 <= 4/5. True for d <= 5.
    claim("four-fifths", "norm2(x[1] - x0 + eta*grad(f, x0)) <= 4/5*eta**2*norm2(grad(f, x0))", of=greedy),
    # FALSE because of six samples, one off: 5 sigma2 <= 4 sigma2. True for at most five.
    claim(
        "four-variances",
        "norm2(grad(f_ni, x) - grad(f_n, x)) <= 4*sigma2",
        vectors=("x",),
        assuming=("bounded_variance(sigma2)",),
    ),
    # FALSE because of 13 equal vectors. True for N <= 12.
    claim("dozen", "norm2(sum_n(a_n)) <= 12*sum_n(norm2(a_n))", vectors=("a_n",)),
    # FALSE because a Huber function of threshold R/(2K+1) has L R^2/(4K + 2) exactly. True on all quadratics.
    claim(
        "nearly-exact",
        "f(x[K]) - fstar <= L*norm2(x0 - xstar)/(4*K + 9/4)",
        of=descent,
        assuming=("smooth(f, L)", "convex(f)", "t == 1/L"),
    ),
    # FALSE because the norm's length varies with the cohort: gradients 2 and 0, S = 1: 1 == 2. True for S = N.
    claim("length", "E(norm(x[1] - x0))**2 == E(norm2(x[1] - x0))", of=cohort),
    # TRUE because of Jensen.
    claim("length-right", "E(norm(x[1] - x0))**2 <= E(norm2(x[1] - x0))", of=cohort),
    # VACUOUS because b is an integer, at least 1.
    claim("fraction", "E(norm2(x[1] - x0)) <= eta*norm2(grad(f, x0))", of=batch, assuming=("b < 1",)),
)
PAPER = Paper("far", "Far out", "a reader", CLAIMS)
