"""SAGA with a table over the samples of one client."""

from theory import Paper, algorithm, claim


@algorithm(x="x0", tab="table grad(f_ni, x0)")
def saga(w, x, tab, *, gamma):
    i = w.sample()
    g = w.gradient(x, i)
    return x - gamma * w.mean(g - w.get(tab, i) + w.get(tab)), w.put(tab, i, g)


BASE = ("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)", "gamma <= 1/(6*L)", "N <= 1")
M = {"m0": "mean_n(sum_i(1))"}
PSI = "E(norm2(x[{k}] - xstar)) + 4*gamma**2*m0*mean_n(mean_i(E(norm2(tab[{k}] - grad(f_ni, xstar)))))"
A, B = PSI.format(k="k+1"), PSI.format(k="k")

CLAIMS = (
    # TRUE because E|step|^2 <= 4L(f - f*) + 2 sigma, sigma+ <= (1 - 1/m) sigma + 2L/m (f - f*); M = 4m; 2 gamma >= 12 L gamma^2.
    claim("lyapunov", f"{A} <= max(1 - gamma*mu, 1 - 1/(2*m0))*({B})", of=saga, assuming=BASE, where=M),
    # FALSE because of one sample, f = x^2/2, mu = L = 1: (1-g)^2 + 4g^2 <= (1 - 2g)(1 + 4g^2) at k = 0 is 5g^2 <= 4g^2 - 8g^3.
    claim("lyapunov-fast", f"{A} <= max(1 - 2*gamma*mu, 1 - 1/m0)*({B})", of=saga, assuming=BASE, where=M),
    # TRUE because at x0 = x* the table is exact and its mean 0: nothing moves, in no outcome.
    claim("rests", "norm2(x[k] - xstar) <= 0", of=saga, assuming=(*BASE, "norm2(x0 - xstar) <= 0")),
)
PAPER = Paper("tables", "SAGA", "a reader", CLAIMS)
