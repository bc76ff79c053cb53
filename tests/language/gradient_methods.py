"""Theorems of gradient methods, true ones (t) and false ones (f), as a hostile reader would try them."""

from theory import Paper, algorithm, claim


@algorithm
def gd(w, x, *, eta):
    return x - eta * w.full_gradient(x)


@algorithm(x="x0", y="x0")
def nesterov(w, x, y, *, eta):
    new = y - eta * w.full_gradient(y)
    return new, new + (w.k / (w.k + 3)) * (new - x)


@algorithm
def sgd(w, x, *, eta, b):
    return x - eta * w.mean(w.gradient(x, w.sample(b, replace=False)))


@algorithm
def fedavg(w, x, *, eta, H, S):
    a = w.choose(S)
    y = w.each(x)
    for h in w.repeat(H):
        y = y - eta * w.gradient(y)
    return w.average(y, a)


@algorithm
def coins(w, x, *, eta, p):
    return x - eta * w.mean(w.coins(p) / p * w.gradient(x))


SC = ("smooth(f, L)", "strongly_convex(f, mu)")
C = ("smooth(f, L)", "convex(f)")
T = []


def c(label, s, of, assuming, **k):
    T.append(claim(label, s, of=of, assuming=assuming, **k))


c("t1", "norm2(x[k]-xstar) <= (1-eta*mu)**k*norm2(x0-xstar)", gd, SC + ("eta <= 1/L",))
c("t2", "f(x[k])-fstar <= norm2(x0-xstar)/(2*eta*k)", gd, C + ("eta <= 1/L",))
c("t3", "f(x[k])-fstar <= L*norm2(x0-xstar)/(4*k+2)", gd, C + ("eta == 1/L",))
c("f3", "f(x[k])-fstar <= L*norm2(x0-xstar)/(4*k+3)", gd, C + ("eta == 1/L",))
c("t10", "norm2(x[k]-xstar) <= (1-eta*mu)**(2*k)*norm2(x0-xstar)", gd, SC + ("eta <= 2/(mu+L)",))
c("f1b", "norm2(x[k]-xstar) <= (1-eta*mu)**(2*k)*norm2(x0-xstar)", gd, SC + ("eta <= 2/L",))
c("t4", "f(x[k+1]) <= f(x[k]) - eta*(1-eta*L/2)*norm2(grad(f,x[k]))", gd, ("smooth(f, L)",))
c("f4", "f(x[k+1]) <= f(x[k]) - eta*norm2(grad(f,x[k]))", gd, ("smooth(f, L)", "eta <= 1/L"))
c("t5", "min_k(norm2(grad(f,x[k]))) <= 2*L*(f(x0)-fstar)/K", gd, ("smooth(f, L)", "bounded_below(f)", "eta == 1/L"))
c("f5", "min_k(norm2(grad(f,x[k]))) <= L*(f(x0)-fstar)/K", gd, ("smooth(f, L)", "bounded_below(f)", "eta == 1/L"))
c("t6", "f(x[k])-fstar <= 2*norm2(x0-xstar)/(eta*(k+1)**2)", nesterov, C + ("eta <= 1/L",))
c("f6", "f(x[k])-fstar <= norm2(x0-xstar)/(4*eta*(k+1)**2)", nesterov, C + ("eta <= 1/L",))
S2 = {"s2": "mean_n(mean_i(norm2(grad(f_ni,xstar)-grad(f_n,xstar))))"}
c(
    "t7",
    "E(norm2(x[k+1]-xstar)) <= (1-eta*mu)*E(norm2(x[k]-xstar)) + 2*eta**2*s2/(N*b)",
    sgd,
    ("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)", "eta <= 1/(2*L)"),
    where=S2,
)
c(
    "f7",
    "E(norm2(x[k+1]-xstar)) <= (1-eta*mu)*E(norm2(x[k]-xstar)) + 2*eta**2*s2/(N*b**2)",
    sgd,
    ("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)", "eta <= 1/(2*L)"),
    where=S2,
)
c(
    "f7n",
    "E(norm2(x[k+1]-xstar)) <= (1-eta*mu)*E(norm2(x[k]-xstar)) + 2*eta**2*s2/(N**2*b)",
    sgd,
    ("smooth(f_ni, L)", "convex(f_ni)", "strongly_convex(f, mu)", "eta <= 1/(2*L)"),
    where=S2,
)
c(
    "t8",
    "E(norm2(x[k+1]-xstar)) <= (1-eta*mu)*E(norm2(x[k]-xstar))",
    fedavg,
    ("smooth(f_n, L)", "strongly_convex(f_n, mu)", "same_minimiser(f_n)", "eta <= 1/L"),
)
c(
    "f8",
    "E(norm2(x[k+1]-xstar)) <= (1-eta*mu)*E(norm2(x[k]-xstar))",
    fedavg,
    ("smooth(f_n, L)", "strongly_convex(f_n, mu)", "eta <= 1/L"),
)
c(
    "f8h",
    "E(norm2(x[k+1]-xstar)) <= (1-eta*mu)**(2*H+1)*E(norm2(x[k]-xstar))",
    fedavg,
    ("smooth(f_n, L)", "strongly_convex(f_n, mu)", "same_minimiser(f_n)", "eta <= 1/L"),
)
c(
    "t9",
    "E(norm2(x[k+1]-xstar)) <= norm2(x0-xstar)",
    coins,
    ("smooth(f_n, L)", "strongly_convex(f, mu)", "same_minimiser(f_n)", "convex(f_n)", "eta <= p_n/L", "p <= 1"),
)
c(
    "f9",
    "E(norm2(x[k+1]-xstar)) <= E(norm2(x[k]-xstar)) - eta*mu*E(norm2(x[k]-xstar)) + eta**2*sum_n((1/p_n-1)*norm2(grad(f_n,xstar)))/N**3",
    coins,
    ("smooth(f_n, L)", "strongly_convex(f, mu)", "convex(f_n)", "eta <= p_n/(2*L)", "p <= 1"),
)
PAPER = Paper("atk", "a", "b", tuple(T))
