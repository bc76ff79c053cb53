"""Random coordinates, with and without memory."""

from theory import Paper, algorithm, claim


@algorithm
def sparse(w, x, *, eta, m):
    return x - eta * w.mean(w.keep(w.gradient(x), m))


@algorithm
def sparse_server(w, x, *, eta, m):
    return x - eta * w.keep(w.full_gradient(x), m)


@algorithm(x="x0", mem="each 0")
def diana(w, x, mem, *, eta, a, m):
    moved = w.keep(w.gradient(x) - mem, m)
    return x - eta * w.mean(mem + moved), mem + a * moved


LEFT = "E(norm2(x[1] - x0 + eta*grad(f, x0)))"
OM = {"om": "d/m - 1"}
PSI = "E(norm2(x[{k}] - xstar)) + 4*om*eta**2/(N*a)*mean_n(E(norm2(mem[{k}] - grad(f_n, xstar))))"
A, B = PSI.format(k="k+1"), PSI.format(k="k")
BASE = ("smooth(f_n, L)", "convex(f_n)", "strongly_convex(f, mu)", "m <= d", "eta <= 1/(L*(1 + 6*om/N))")

CLAIMS = (
    # TRUE because keep has variance (d/m - 1)|v|^2 exactly, independent over the clients.
    claim("sparse-noise", f"{LEFT} == eta**2*om/N*mean_n(norm2(grad(f_n, x0)))", of=sparse, where=OM),
    # FALSE because the clients compress their own gradients: g = (v, -v). True for identical clients.
    claim("sparse-noise-mean", f"{LEFT} <= eta**2*om/N*norm2(grad(f, x0))", of=sparse, where=OM),
    # TRUE because one draw compresses grad f.
    claim("server-noise", f"{LEFT} == eta**2*om*norm2(grad(f, x0))", of=sparse_server, where=OM),
    # FALSE because one draw of the server is not averaged over the clients. True for N = 1.
    claim("server-noise-averaged", f"{LEFT} <= eta**2*om/N*norm2(grad(f, x0))", of=sparse_server, where=OM),
    # TRUE because E|g|^2 <= 2L(1 + 2om/N)(f - f*) + 2om/N sigma, sigma+ <= (1-a) sigma + 2aL(f - f*) for a <= 1/(1 + om).
    claim("memory", f"{A} <= max(1 - eta*mu, 1 - a/2)*({B})", of=diana, assuming=(*BASE, "a <= 1/(1 + om)"), where=OM),
    # FALSE because a = 1 makes the memory as noisy as the compression: d = 2, m = 1, start at x*, clients with gradients v and -v there.
    claim("memory-greedy", f"{A} <= max(1 - eta*mu, 1 - a/2)*({B})", of=diana, assuming=(*BASE, "a <= 1"), where=OM),
)
PAPER = Paper("differences", "Compressed differences", "a reader", CLAIMS)
